"""How commands print: JSON for programs, columns for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any


def as_json(data: Any) -> None:
    """Print data as indented JSON."""
    print(json.dumps(data, indent=2, ensure_ascii=False, default=str))


def note(text: str) -> None:
    """Print a line on stderr, apart from the output."""
    print(text, file=sys.stderr)


def columns(rows: Sequence[Sequence[str]]) -> None:
    """Print rows with all but their last column aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        *aligned, last = row
        cells = [cell.ljust(width) for cell, width in zip(aligned, widths, strict=False)]
        print("  ".join([*cells, last]).rstrip())
