"""Typed properties of databases: parsing, comparing and sorting values."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from servers.kit.types import Row

Label = Annotated[str, Field(min_length=1, max_length=80)]
NewLabel = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^\S(.*\S)?$")]
NewOption = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^\s,]([^,]*[^\s,])?$")]
Text = Annotated[
    str,
    Field(
        max_length=2000,
        description="As text: 12.5, true, 2026-03-20; commas separate several choices; "
        "empty clears.",
    ),
]


@with_config(extra="forbid")
class Property(TypedDict):
    """A column of a database."""

    name: Annotated[NewLabel, Field(description="Name of the property.")]
    type: Annotated[
        Literal[
            "title",
            "text",
            "number",
            "select",
            "multi_select",
            "date",
            "checkbox",
            "email",
            "url",
            "person",
        ],
        Field(description="Type of value. Exactly one property of a database must be its title."),
    ]
    options: NotRequired[
        Annotated[
            list[NewOption],
            Field(
                max_length=50,
                description="Choices of a select or multi_select; they cannot contain commas.",
            ),
        ]
    ]


@with_config(extra="forbid")
class Value(TypedDict):
    """A value for a property."""

    property: Annotated[Label, Field(description="Name of the property, from get_database.")]
    value: Text


@with_config(extra="forbid")
class Filter(TypedDict):
    """A condition on a property."""

    property: Annotated[Label, Field(description="Name of the property.")]
    op: Annotated[
        Literal[
            "equals",
            "not_equals",
            "contains",
            "greater_than",
            "less_than",
            "is_empty",
            "is_not_empty",
        ],
        Field(description="greater_than and less_than compare numbers and dates."),
    ]
    value: NotRequired[Text]


def blank(prop: Row) -> Any:
    """Return the value of a property that nobody has filled in: None, or False for a checkbox."""
    return False if prop["type"] == "checkbox" else None


def title(table: Row) -> str:
    """Return the name of the title property of a database."""
    return next(p["name"] for p in table["properties"] if p["type"] == "title")


def parse(prop: Row, text: str) -> Any:
    """Return the typed value of a text, or the blank value for an empty text.

    Raises `ValueError` in plain words.
    """
    kind = prop["type"]
    text = text.strip()
    if not text:
        return blank(prop)
    if kind == "number":
        return _number(text)
    if kind == "checkbox":
        if text.lower() not in ("true", "false"):
            raise ValueError(f"{text!r} is neither true nor false")
        return text.lower() == "true"
    if kind == "date":
        return _date(text)
    if kind == "email" and not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", text):
        raise ValueError(f"{text!r} is not an email address")
    if kind == "url" and not re.fullmatch(r"https?://\S+", text):
        raise ValueError(f"{text!r} is not a URL that begins with http:// or https://")
    if kind == "multi_select":
        return [_choice(prop, part.strip()) for part in text.split(",") if part.strip()] or None
    return _choice(prop, text) if kind == "select" else text


def _number(text: str) -> int | float:
    if not re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,6})?", text):
        raise ValueError(f"{text!r} is not a number")
    return float(text) if "." in text else int(text)


def _date(text: str) -> str:
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        try:
            return date.fromisoformat(text).isoformat()
        except ValueError:
            pass
    raise ValueError(f"{text!r} is not a date such as 2026-03-20")


def _choice(prop: Row, text: str) -> str:
    known = {o.lower(): o for o in prop.get("options", [])}
    if known and text.lower() not in known:
        raise ValueError(f"{text!r} is not one of {', '.join(known.values())}")
    return known.get(text.lower(), text)


def holds(prop: Row, have: Any, op: str, text: str | None) -> bool:
    """Return whether a value meets a condition.

    Raises `ValueError` if the condition does not suit the property.
    """
    have = blank(prop) if have is None else have
    empty = have in (None, [], "")
    if op in ("is_empty", "is_not_empty"):
        return empty if op == "is_empty" else not empty
    if text is None:
        raise ValueError(f"{op} needs a value")
    if op == "contains":
        parts = have if isinstance(have, list) else [str(have)]
        return not empty and any(text.strip().lower() in p.lower() for p in parts)
    wanted = parse(prop, text)
    if op in ("greater_than", "less_than"):
        if prop["type"] not in ("number", "date") or wanted is None:
            raise ValueError(f"{op} compares numbers and dates, not {prop['type']}")
        return not empty and (have > wanted if op == "greater_than" else have < wanted)
    if prop["type"] == "multi_select":
        same = set(have or []) == set(wanted or [])
    else:
        same = _plain(have) == _plain(wanted)
    return same if op == "equals" else not same


def _plain(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def order(value: Any) -> tuple[int, Any]:
    """Return a key that sorts the values of one property, with empty ones last."""
    if value in (None, [], ""):
        return 1, ""
    return 0, _plain(", ".join(value) if isinstance(value, list) else value)


def as_text(fields: dict[str, Any]) -> str:
    """Return the values of an entry as text for search."""
    texts = []
    for value in fields.values():
        if value in (None, [], "") or isinstance(value, bool):
            continue
        texts.append(", ".join(value) if isinstance(value, list) else str(value))
    return " · ".join(texts)
