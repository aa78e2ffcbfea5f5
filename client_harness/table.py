"""Tables of text, for any renderer."""

from __future__ import annotations

from typing import TypedDict


class Table(TypedDict):
    """A table of text: `columns` are its headings; every row has a cell for each of them."""

    title: str
    columns: list[str]
    rows: list[list[str]]
