"""What Notion and Confluence share: levels of access, and snippets of search results."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field

Query = Annotated[
    str,
    Field(min_length=1, max_length=200, description='Words to find; put phrases in "quotes".'),
]
PageTitle = Annotated[
    str, Field(min_length=1, max_length=200, pattern=r"\S", description="Title of the page.")
]
Remark = Annotated[
    str, Field(min_length=1, max_length=5000, pattern=r"\S", description="Text of the comment.")
]
# -- search ----------------------------------------------------------------------------------------
AROUND = 90
"""Characters shown before and after a match."""


def best(levels: list[str], order: tuple[str, ...]) -> str | None:
    """Return the strongest of some access levels, or None if there are none."""
    return max(levels, key=order.index, default=None)


def allows(level: str | None, needed: str, order: tuple[str, ...]) -> bool:
    """Return whether an access level is at least the one that is needed."""
    return level is not None and order.index(level) >= order.index(needed)


def snippet(text: str, query: str) -> str:
    """Return a piece of a text around the first word of the query, on one line."""
    plain = " ".join(text.split())
    words = [re.escape(w) for w in re.findall(r"\w+", query)]
    match = re.search(rf"\b(?:{'|'.join(words)})", plain, re.IGNORECASE) if words else None
    place = match.start() if match else 0
    first = max(0, place - AROUND)
    last = min(len(plain), place + AROUND)
    before = "…" if first > 0 else ""
    after = "…" if last < len(plain) else ""
    return f"{before}{plain[first:last].strip()}{after}"


# -- mentions --------------------------------------------------------------------------------------
def mentions(text: str, name: str) -> bool:
    """Return whether a text names a person after an @, in full or by first name."""
    first = name.partition(" ")[0]
    return bool(re.search(rf"@(?:{re.escape(name)}|{re.escape(first)})\b", text, re.IGNORECASE))
