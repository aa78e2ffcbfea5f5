"""Environments of adapters, separate from ours so that their pins and ours need not agree.

`python -m client_harness.adapters.install pydantic_ai` builds one ahead of its first use.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from client_harness.adapters import HERE, Adapter, adapter, adapters
from client_harness.adapters.runtimes import node_for, python_for
from servers.kit.errors import InputError

HOME = HERE.parent.parent / ".venv" / "adapters"
"""Where the environments are: inside our own."""
HELPERS = HERE / "_vendor"
"""What adapters of all kinds use."""
PIP_LOCK = "requirements.lock"
NPM_LOCK = "package-lock.json"
LOCKS = (PIP_LOCK, "package.json", NPM_LOCK)
"""The files of an adapter that say what its environment holds."""
ANY_PYTHON = ">=3.11"
SCRIPTS = (".mjs", ".js", ".cjs")
"""Programs for Node. They are copied next to `node_modules`, where their imports are looked up, and
the helper for agents beside them.
"""


def ensure(name: str) -> Path:
    """Return the Python interpreter of an adapter's environment.

    Builds the environment if it is missing or was built from another lock. Raises `UnknownName`,
    and `InputError` if it cannot be built.
    """
    chosen = adapter(name)
    return environment(name, chosen.folder / PIP_LOCK, chosen.about.python or ANY_PYTHON)


def environment(name: str, lock: Path, wanted: str = ANY_PYTHON) -> Path:
    """Return the Python interpreter of an environment that holds exactly what a lock names.

    The locks for npm beside it count, too. Raises `InputError` if there is no such Python, or the
    environment cannot be built.
    """
    python = python_for(name, wanted)
    locks = [lock.parent / file for file in LOCKS if (lock.parent / file).exists()]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in locks)).hexdigest()
    stamped = f"{digest} {python[1][0]}.{python[1][1]}"
    folder = HOME / name
    stamp = folder / "lock.sha256"
    interpreter = folder / "bin" / "python"
    with _alone(HOME / f"{name}.lock"):
        if not (interpreter.exists() and stamp.exists() and stamp.read_text() == stamped):
            print(f"making the environment of {name} …", file=sys.stderr)
            _make(folder, python[0], lock.parent)
            stamp.write_text(stamped)
    return interpreter


def command_of(chosen: Adapter) -> tuple[list[str], dict[str, str]]:
    """Return the command that starts an adapter, and the variables that it wants beside.

    Builds its environment if that is missing or out of date. Raises `InputError` if something is
    missing that cannot be built.
    """
    here = chosen.folder
    folder = HOME / chosen.name
    values = {"{here}": str(here), "{env}": str(folder), "{python}": sys.executable}
    variables = {"PYTHONPATH": str(HELPERS), "PYTHONNOUSERSITE": "1"}
    if any((here / lock).exists() for lock in LOCKS):
        values["{python}"] = str(ensure(chosen.name))
        _copy_scripts(here, folder)
    elif chosen.about.python is not None:
        values["{python}"] = python_for(chosen.name, chosen.about.python)[0]
    modules = folder / "node_modules"
    if chosen.about.node is not None:
        values["{node}"] = node_for(chosen.name, chosen.about.node, modules)
    if modules.exists():
        variables["PATH"] = f"{modules / '.bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    parts = []
    for part in chosen.about.command:
        for key, value in values.items():
            part = part.replace(key, value)
        parts.append(part)
    return parts, variables


def _copy_scripts(source: Path, target: Path) -> None:
    scripts = [path for path in source.iterdir() if path.suffix in SCRIPTS]
    if scripts:
        scripts += HELPERS.glob("*.mjs")
    for path in scripts:
        copy = target / path.name
        if not copy.exists() or differ(path, copy):
            shutil.copy(path, copy)


def differ(one: Path, other: Path) -> bool:
    """Return whether two files have different contents."""
    return one.read_bytes() != other.read_bytes()


def _make(folder: Path, python: str, source: Path) -> None:
    _run_for(folder, [python, "-m", "venv", "--clear", str(folder)])
    lock = source / PIP_LOCK
    if lock.exists():
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install"]
        # The lock is complete. If pip resolved it again, it would look at the newest release of a
        # package that another one wants with an extra, and refuse it because it is not locked.
        options = ["--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps"]
        _run_for(folder, [*pip, *options, "-r", str(lock)])
    if not (source / NPM_LOCK).exists():
        return
    npm = shutil.which("npm")
    if npm is None:
        raise InputError(
            f"the environment {folder.name} could not be built: it needs npm on the PATH"
        )
    for name in ("package.json", NPM_LOCK):
        shutil.copy(source / name, folder / name)
    options = ["--no-audit", "--no-fund", "--loglevel=error"]
    _run_for(folder, [npm, "ci", "--prefix", str(folder), *options])


def _run_for(folder: Path, command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        output = (done.stderr or done.stdout).strip().splitlines()
        why = " ".join(output[-3:])[-600:] or f"exit code {done.returncode}"
        raise InputError(f"the environment {folder.name} could not be built: {why}")


@contextmanager
def _alone(path: Path) -> Generator[None]:
    """Hold a lock across processes and threads, so that concurrent trials build only once."""
    import fcntl

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def main(names: list[str]) -> int:
    """Build the environments of the named adapters, or of all adapters if none is named."""
    for name in names or adapters():
        try:
            print(f"{name}: {' '.join(command_of(adapter(name))[0])}")
        except InputError as wrong:
            print(f"error: {wrong}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
