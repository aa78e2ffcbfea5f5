"""Which Python or Node an adapter gets: one of the version that it names, or a clear refusal.

A Python is this one, or else one of the PATH (`python3.13`). A Node is the one that the adapter's
own `package-lock.json` brings (the registry's package `node`), or else the one of the PATH.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from servers.kit.errors import InputError

NEWEST = 15
"""The newest Python 3 that is looked for."""
_BOUND = re.compile(r"(>=|<)\s*(\d+(?:\.\d+)*)")


def bounds(wanted: str) -> list[tuple[str, tuple[int, ...]]]:
    """Return the bounds of a wish such as `>=3.10` or `>=22, <25`.

    Raises `ValueError` for anything else.
    """
    found = []
    for part in wanted.split(","):
        bound = _BOUND.fullmatch(part.strip())
        if bound is None:
            raise ValueError(f"write a version as in '>=3.10' or '>=22, <25', not {wanted!r}")
        found.append((bound[1], tuple(map(int, bound[2].split(".")))))
    return found


def fits(version: tuple[int, ...], wanted: str) -> bool:
    """Return whether a version is as wanted."""
    for sign, bound in bounds(wanted):
        at_least = version[: len(bound)] >= bound
        if at_least != (sign == ">="):
            return False
    return True


def version_of(program: str | Path) -> tuple[int, ...] | None:
    """Return the version that a program says it has, or None if it cannot be started."""
    try:
        done = subprocess.run(
            [str(program), "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
    except OSError:
        return None
    said = re.search(r"(\d+)\.(\d+)\.(\d+)", done.stdout)
    if done.returncode != 0 or said is None:
        return None
    return tuple(map(int, said.groups()))


def python_for(name: str, wanted: str) -> tuple[str, tuple[int, ...]]:
    """Return a Python that is as wanted, with its version. Raises `InputError`."""
    own = tuple(sys.version_info[:3])
    if fits(own, wanted):
        return sys.executable, own
    for minor in range(NEWEST, 9, -1):
        program = shutil.which(f"python3.{minor}")
        version = version_of(program) if program is not None else None
        if program is not None and version is not None and fits(version, wanted):
            return program, version
    raise InputError(
        f"the adapter {name} needs Python {wanted}, and there is none: this is "
        f"{_shown(own)}, and the PATH has no other that fits; install one as `python3.X`"
    )


def node_for(name: str, wanted: str, modules: Path) -> str:
    """Return a Node that is as wanted; `modules` is the adapter's `node_modules`.

    Raises `InputError`.
    """
    own = modules / ".bin" / "node"
    program = str(own) if own.exists() else shutil.which("node")
    version = version_of(program) if program is not None else None
    if program is not None and version is not None and fits(version, wanted):
        return program
    found = f"the one there is has {_shown(version)}" if version else "there is none"
    raise InputError(
        f"the adapter {name} needs Node {wanted}, and {found}; install one on the PATH, or add the "
        "registry's package `node` to the adapter's package.json and lock"
    )


def _shown(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
