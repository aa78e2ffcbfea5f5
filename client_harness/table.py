"""Tables of text, for any renderer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict


class Table(TypedDict):
    """A table of text: `columns` are its headings; every row has a cell for each of them."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def shown_rate(block: Mapping[str, Any] | None) -> str:
    """Return `17/24 71%  (51–85)` for `{passed, of, rate, interval}`, or a dash if nothing ran.

    A narrow table may break a line at the two spaces.
    """
    if block is None or not block["of"]:
        return "–"
    low, high = block["interval"]
    interval = f"({100 * low:.0f}–{100 * high:.0f})"
    return f"{block['passed']}/{block['of']} {block['rate']:.0%}  {interval}"


def share(part: float | None) -> str:
    """Return `71%`, or a dash for nothing."""
    return "–" if part is None else f"{part:.0%}"
