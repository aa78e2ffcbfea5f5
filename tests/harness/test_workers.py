"""Workers end with the command that started them."""

from __future__ import annotations

import signal
import subprocess
import sys

START = """
import os, time
from client_harness.workers import workers
if __name__ == "__main__":
    with workers(1) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        pool.submit(time.sleep, 600)
        time.sleep(600)
"""


def test_workers_end_with_a_command_that_is_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", START], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = parent.stdout.readline()
    assert int(worker) != parent.pid
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    # The worker holds the pipe, too: its end is the end of the output.
    assert parent.stdout.read() == ""
    parent.stdout.close()
