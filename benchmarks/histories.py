"""What long histories cost: to live them, to open them again, in memory and in tokens.

`python -m benchmarks.histories` lives 100, 300 and all past sessions of a person, each in a process
of its own. The time should grow with the sessions, and not faster.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.timing import Row
from client_harness.haystack.sizes import tokens
from scenarios.haystack import history, pool
from scenarios.haystack.weave import Weave
from scenarios.worlds import build

PERSON = "eleanor"
SMALL = (100, 300)


def lived(sessions: int) -> dict[str, Any]:
    """Return what one history costs in this process, and a hash of what was said."""
    build.shared(PERSON)
    begun = time.process_time()
    name = Weave(PERSON, sessions, 1).name
    made = history.live(name)
    spent = time.process_time() - begun
    text = json.dumps(made.sessions, ensure_ascii=False, separators=(",", ":"))
    begun = time.process_time()
    history.shared(name, ["gmail", "venmo"]).share().rows("venmo_contacts")
    return {
        "seconds": spent,
        "opened": time.process_time() - begun,
        "tokens": tokens(text),
        "digest": hashlib.blake2b(text.encode() + made.image).hexdigest(),
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def apart(sessions: int, cache: Path) -> dict[str, Any]:
    """Return `lived` of another process, with a cache of its own for histories."""
    place = cache / "worlds"
    environment = {**os.environ, "HAYWIRE_CACHE": str(place)}
    call = f"print(json.dumps(h.lived({sessions})))"
    code = f"import json; from benchmarks import histories as h; {call}"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return json.loads(run.stdout.splitlines()[-1])


def measure() -> list[Row]:
    """Return the rows for histories."""
    every = len(pool.uses(PERSON))
    rows = []
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        for sessions in (*SMALL, every):
            cold = apart(sessions, Path(folder))
            figures = f"{cold['tokens']:,} tokens, {cold['memory']} MB"
            aim = "< 30 s for 1,000 sessions"
            seconds = f"{cold['seconds']:.1f} s"
            rows.append(Row(f"{sessions:,} past sessions, {figures}", seconds, "", "", aim))
        warm = apart(every, Path(folder))
        again = apart(every, Path(other))
        same = len({cold["digest"], warm["digest"], again["digest"]}) == 1
        opened = f"{(warm['seconds'] + warm['opened']) * 1000:.0f} ms"
        what = f"a trial after {every:,} sessions opens, {'same' if same else 'OTHER'} bytes"
        rows.append(
            Row(what, opened, seconds, f"{warm['seconds'] / cold['seconds']:.3f}", "< 0.3 s")
        )
    return rows


if __name__ == "__main__":
    for row in measure():
        print(*filter(None, row), sep=" · ")
