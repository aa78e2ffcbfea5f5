"""Processes that work for this one, and end with it."""

from __future__ import annotations

import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor


def workers(jobs: int) -> ProcessPoolExecutor:
    """Return a pool of fresh processes.

    They end when this process does, however it ends. Otherwise, the workers of a command that was
    killed would go on until nothing is left to do.
    """
    spawning = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=spawning, initializer=_end_with_parent)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
