"""How commands print: JSON for programs, columns for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any


def as_json(data: Any) -> None:
    """Print data as JSON, indented."""
    print(json.dumps(data, indent=2, ensure_ascii=False, default=str))


def note(text: str) -> None:
    """Print a line beside the output, on stderr."""
    print(text, file=sys.stderr)


def columns(rows: Sequence[Sequence[str]]) -> None:
    """Print rows with all but their last column aligned."""
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]) - 1)] if rows else []
    for row in rows:
        print(
            "  ".join(
                [*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]
            ).rstrip()
        )
