"""Environments of adapters, separate from ours so that their pins and ours need not agree.

`python -m client_harness.adapters.install pydantic_ai` builds one ahead of its first use.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from client_harness.adapters import HERE, adapter, adapters
from servers.kit.errors import InputError

HOME = HERE.parent.parent / ".venv" / "adapters"
"""Where the environments are: inside our own."""


def ensure(name: str) -> Path:
    """Return the Python interpreter of an adapter's environment.

    Builds the environment if it is missing or was built from another lock. Raises `UnknownName`,
    and `InputError` if it cannot be built.
    """
    return environment(name, adapter(name).folder / "requirements.lock")


def environment(name: str, lock: Path) -> Path:
    """Return the Python interpreter of an environment that holds exactly what a lock names.

    See `ensure`.
    """
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    wanted = f"{digest} {sys.version_info[0]}.{sys.version_info[1]}"
    folder = HOME / name
    python = folder / "bin" / "python"
    stamp = folder / "lock.sha256"
    with _alone(HOME / f"{name}.lock"):
        if not (python.exists() and stamp.exists() and stamp.read_text() == wanted):
            _make(folder, lock)
            stamp.write_text(wanted)
    return python


def _make(folder: Path, lock: Path) -> None:
    _run_for(folder, [sys.executable, "-m", "venv", "--clear", str(folder)])
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install"]
    options = ["--quiet", "--disable-pip-version-check", "--require-hashes"]
    _run_for(folder, [*pip, *options, "-r", str(lock)])


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
            print(f"{name}: {ensure(name)}")
        except InputError as wrong:
            print(f"error: {wrong}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
