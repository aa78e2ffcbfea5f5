"""Runs the command line: in this process where that is quick, or in a process of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from client_harness import cli

ROOT = Path(__file__).parent.parent
PAY = "recovery/silent_no_op/venmo_pay_dropped"
RENT = "recovery/availability/zelle_rent_outage"


class Done(NamedTuple):
    """The result of a command."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The output as JSON."""
        return json.loads(self.out)


def command(*arguments: object) -> Done:
    """Run a command in this process and return its result.

    An exception other than an exit is raised.
    """
    out = io.StringIO()
    err = io.StringIO()
    before = sys.argv
    sys.argv = ["client_harness", *(str(a) for a in arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.main()
    except SystemExit as ended:
        return Done(int(ended.code or 0), out.getvalue(), err.getvalue())
    finally:
        sys.argv = before
    raise AssertionError("a command must exit")


def process(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    """Start a command in a process of its own."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)} | options.pop("env", {})
    line = [sys.executable, "-m", "client_harness", *(str(a) for a in arguments)]
    return subprocess.Popen(
        line, text=True, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


def refusal(done: Done) -> str:
    """Check that a command refused as people expect, and return its error message.

    It must print one line and exit with status 2.
    """
    assert (done.status, done.out) == (2, ""), done
    assert done.err.startswith("error: ") and done.err.count("\n") == 1, done.err
    return done.err


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of every file in a folder."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
