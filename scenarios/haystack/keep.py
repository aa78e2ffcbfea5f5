"""Long histories that were lived, kept in the cache folder beside the worlds.

A history of a thousand sessions is lived in twenty seconds or so and read in a tenth of a second.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from scenarios.worlds import build
from servers.kit import files

HERE = Path(__file__).parent
_COUNT = 8
"""Bytes that say how long the sessions are; the world's image follows them."""


def place(name: str, person: str, text: str) -> Path:
    """Return the file of a history; `text` is all that it is made of."""
    code = [path.read_bytes() for path in sorted(HERE.glob("*.py"))]
    parts = [name.encode(), text.encode(), build.fingerprint(person).encode(), *code]
    return build.cache() / "histories" / f"{person}-{files.hash_of(parts)}.db"


def read(path: Path) -> tuple[dict[str, Any], bytes] | None:
    """Return what was said in a history, as plain data, and its world's image; None if it is lost.

    A file that cannot be read is as good as none, because the history is lived anew.
    """
    with contextlib.suppress(OSError, ValueError):
        kept = path.read_bytes()
        until = _COUNT + int.from_bytes(kept[:_COUNT])
        said = from_json(kept[_COUNT:until], cache_strings="keys")
        image = kept[until:]
        if image:
            return said, image
    return None


def write(path: Path, said: dict[str, Any], image: bytes) -> None:
    """Keep a history. If the folder cannot be written, the only cost is another life next time."""
    with contextlib.suppress(OSError):
        text = json.dumps(said, ensure_ascii=False).encode()
        build.keep(path, len(text).to_bytes(_COUNT) + text + image)
