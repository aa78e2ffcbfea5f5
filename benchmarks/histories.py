"""What long histories cost: to live them, to open them again, in memory and in tokens.

`python -m benchmarks.histories` lives 100, 300 and 1,000 past sessions of each person, each history
in a process of its own. The time should grow with the sessions, and not faster. Tokens are those of
what was said and of the calls with their replies.
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
from client_harness.haystack.sizes import counted
from scenarios.haystack import history
from scenarios.haystack.weave import Weave
from scenarios.worlds import build

SIZES = (100, 300, 1000)
SERVICES = ("gmail", "venmo")


def lived(person: str, sessions: int) -> dict[str, Any]:
    """Return what one history costs in this process, and a hash of what was said and done.

    `seconds` (of the processor) are what it takes to live it, or to read it where it was kept;
    `opened` what the first trial on it takes then. `memory` is the most that the process had, in
    MB.
    """
    build.shared(person)
    begun = time.process_time()
    name = Weave(person, sessions, 1).name
    made = history.live(name)
    spent = time.process_time() - begun
    begun = time.process_time()
    history.shared(name, SERVICES).share().rows("venmo_contacts")
    opened = time.process_time() - begun
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    size = counted(made.sessions)
    said = json.dumps(made.sessions, ensure_ascii=False).encode()
    return {
        "seconds": spent,
        "opened": opened,
        "memory": memory,
        "tokens": size["talk"] + size["calls"],
        "digest": hashlib.blake2b(said + made.image).hexdigest(),
    }


def apart(person: str, sessions: int, cache: Path) -> dict[str, Any]:
    """Return `lived` of another process, with a folder of its own for what is kept."""
    environment = {**os.environ, "HAYWIRE_CACHE": str(cache)}
    call = f"print(json.dumps(h.lived({person!r}, {sessions})))"
    code = f"import json; from benchmarks import histories as h; {call}"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return json.loads(run.stdout.splitlines()[-1])


def measure() -> list[Row]:
    """Return the rows for histories."""
    rows = []
    for person in build.names():
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
            rows += _rows(person, Path(folder), Path(other))
    return rows


def _rows(person: str, folder: Path, other: Path) -> list[Row]:
    lives = [apart(person, sessions, folder) for sessions in SIZES]
    first = lives[0]["seconds"] / SIZES[0]
    rows = []
    for sessions, cold in zip(SIZES, lives, strict=True):
        size = f"{cold['tokens']:,.0f} tokens, {cold['memory']} MB"
        each = cold["seconds"] / sessions / first
        aim = "< 30 s, a million tokens" if sessions == SIZES[-1] else ""
        what = f"{person}: {sessions:,} past sessions, {size}"
        rows.append(Row(what, f"{cold['seconds']:.1f} s", "", f"{each:.2f} a session", aim))
    cold = lives[-1]
    warm = apart(person, SIZES[-1], folder)
    again = apart(person, SIZES[-1], other)
    same = len({cold["digest"], warm["digest"], again["digest"]}) == 1
    opened = warm["seconds"] + warm["opened"]
    rows.append(
        Row(
            f"{person}: a trial after {SIZES[-1]:,} opens, {'same' if same else 'OTHER'} bytes",
            f"{opened * 1000:.0f} ms, {warm['memory']} MB",
            f"{cold['seconds']:.1f} s",
            f"{opened / cold['seconds']:.3f}",
            "< 300 ms",
        )
    )
    return rows


if __name__ == "__main__":
    for row in measure():
        print(*filter(None, row), sep=" · ")
