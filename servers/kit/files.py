"""The files of a checkout that decide what it does, and one hash over them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def shipped(*folders: Path) -> list[Path]:
    """Return every file below some folders that ships, at any depth and of any suffix, sorted.

    Hidden files and compiled Python are left out: neither is part of what a checkout says.
    """
    files = []
    for folder in folders:
        for path in folder.rglob("*"):
            parts = path.relative_to(folder).parts
            ours = not any(part.startswith(".") or part == "__pycache__" for part in parts)
            if ours and path.is_file():
                files.append(path)
    return sorted(files)


def fingerprint(paths: Iterable[Path], root: Path) -> str:
    """Return a short hash of files: of their contents and of their paths below `root`."""
    parts: list[bytes] = []
    for path in paths:
        parts += [path.relative_to(root).as_posix().encode(), path.read_bytes()]
    return hash_of(parts)


def hash_of(parts: Iterable[bytes]) -> str:
    """Return 16 hexadecimal digits for parts in their order; each counts with its length, so none
    runs into the next.
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(len(part).to_bytes(8) + part)
    return digest.hexdigest()
