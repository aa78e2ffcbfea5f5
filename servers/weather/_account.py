"""A user's account with either weather provider: its units and saved places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from servers.kit.service import Service
from servers.kit.store import Table, World
from servers.kit.types import Row
from servers.weather._rules import Place

UNITS = "temperature:str/matter wind:str/matter precipitation:str/matter distance:str/matter"
"""Columns of the account's row that hold its units."""

SAVED = Table(
    "id:str label:str/matter location:str/ref created:str/stamp",
    index=("location",),
    noun="the saved location {label}",
)
PROFILE_NOUN = "the weather settings of {email}"


def profile(db: World, table: str) -> Row:
    """Return the account's one row."""
    return db.rows(table, limit=1)[0]


def unit_words(db: World, table: str) -> dict[str, str]:
    """Return the account's units in the provider's words.

    Keys are temperature, wind, precipitation and distance, in this order.
    """
    row = db.sql(f"SELECT temperature, wind, precipitation, distance FROM {table}")[0]
    return {"temperature": row[0], "wind": row[1], "precipitation": row[2], "distance": row[3]}


def set_units(service: Service, table: str, nothing: str, given: Mapping[str, str | None]) -> None:
    """Store the given units. If there are none, fail with the message `nothing`."""
    changes = {name: unit for name, unit in given.items() if unit is not None}
    if not changes:
        service.fail(service.codes.invalid, nothing, f"Give at least one of {', '.join(given)}.")
    service.db.update(table, profile(service.db, table)["id"], **changes)


@dataclass(frozen=True)
class Saved:
    """A provider's saved places: their table, id prefix, messages, and the tools for hints.

    `exists` and `missing` are the messages of refusals, with the placeholder `{label}`.
    """

    table: str
    prefix: str
    exists: str
    missing: str
    list_tool: str
    remove_tool: str


def save(service: Service, saved: Saved, label: str, place: Place) -> str:
    """Save a place under a new label and return the stored label."""
    label = label.strip()
    if not label:
        service.fail(service.codes.invalid, "The label is blank.", "Give a label, such as Cabin.")
    if _labelled(service.db, saved, label):
        service.fail(
            "LABEL_EXISTS",
            saved.exists.format(label=label),
            f"Choose another label, or remove the old one with {saved.remove_tool}.",
        )
    row = {
        "id": service.new_id(saved.prefix),
        "label": label,
        "location": place.id,
        "created": service.time,
    }
    service.db.insert(saved.table, row)
    return label


def remove(service: Service, saved: Saved, label: str) -> str:
    """Remove the place saved under a label, ignoring case, and return the stored label."""
    row = _labelled(service.db, saved, label)
    if row is None:
        service.fail(
            "LABEL_NOT_FOUND",
            saved.missing.format(label=label),
            f"Call {saved.list_tool} to see all labels.",
        )
    service.db.delete(saved.table, row["id"])
    return row["label"]


def _labelled(db: World, saved: Saved, label: str) -> Row | None:
    rows = db.rows(saved.table, "label=? COLLATE NOCASE", label.strip())
    return rows[0] if rows else None
