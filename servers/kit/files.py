"""The files that determine what a checkout does, and one hash over them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path


def shipped(*folders: Path) -> list[Path]:
    """Return every file that ships below some folders, at any depth and with any suffix, sorted.

    Hidden files and compiled Python are left out, because they do not determine what a checkout
    does.
    """
    files = []
    for folder in folders:
        for inner, below, names in os.walk(folder):
            below[:] = [name for name in below if not _is_left_out(name)]
            for name in names:
                path = Path(inner, name)
                if name[0] != "." and path.is_file():
                    files.append(path)
    return sorted(files)


def _is_left_out(folder: str) -> bool:
    return folder.startswith(".") or folder == "__pycache__"


def fingerprint(paths: Iterable[Path], root: Path) -> str:
    """Return a short hash of files, made from their contents and their paths below `root`."""
    parts: list[bytes] = []
    for path in paths:
        parts += [path.relative_to(root).as_posix().encode(), path.read_bytes()]
    return hash_of(parts)


def hash_of(parts: Iterable[bytes]) -> str:
    """Return 16 hexadecimal digits for parts in the given order.

    The length of each part is hashed with it, so that parts cannot run into each other.
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(len(part).to_bytes(8) + part)
    return digest.hexdigest()
