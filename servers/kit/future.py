"""What is still to come in a world: dated rows, and people who react in their manner.

Dated rows (`future`) come from the person's whole life and are applied at their moment. A manner
says what a person does when asked for something, and how long it takes. When something that asks
reaches that person, the reaction is dated at once, at a moment drawn from the id of what asked.
"""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from servers.kit.control import make_id
from servers.kit.noise import share
from servers.kit.store import CLOCK, POST, World
from servers.kit.tables import Table
from servers.kit.types import Row
from servers.kit.values import iso
from servers.kit.zones import local

TABLES = {
    "person": Table("id:str name:str email:str timezone:str", catalogue=True),
    # `what` is add or change, `place` the table, `row` what is added or the columns that change.
    # A row that names an `absent` service is for worlds without that service's tables.
    "future": Table(
        "id:str due_at:str/derived what:str/derived place:str/derived key:str?/derived "
        "row:dict/derived absent:str?/derived",
        index=("due_at",),
        noun="an event of {due_at:day}",
    ),
    # `does` is what the person does about `asks` (mail, request …), `least` to `most` seconds
    # later, within the hours of the day from `opens` to `closes`, with one of the texts in `says`.
    "manners": Table(
        "id:str who:str asks:str does:str least:int most:int opens:int closes:int says:list",
        index=("who",),
        catalogue=True,
    ),
    "reactions": Table(
        "id:str due_at:str?/derived provider:str/derived asks:str/derived does:str/derived "
        "who:str/derived about:str/derived made_at:str/derived says:str?/derived",
        index=("due_at", "about"),
        noun="an answer of {who} on {due_at:day}",
    ),
}
"""Whose world it is, and what is still to come in it."""
HOUR = 3600
NOTHING = "nothing"
"""What somebody does who never answers."""


def apply(world: World, row: Row) -> None:
    """Add or change what a dated row says, unless there is no such row to change any more."""
    place = row["place"]
    with world.caused_by(POST if place == "outbox" else CLOCK):
        if row["what"] == "change":
            world.update(place, row["key"], **row["row"])
        elif world.get(place, row["row"][world.tables[place].key]) is None:
            world.insert(place, row["row"])
    world.delete("future", row["id"])


def person(world: World) -> Row:
    """Return the person whose world it is: `name`, `email` and `timezone`."""
    rows = world.rows("person", limit=1)
    return rows[0] if rows else {"id": "me", "name": "", "email": "", "timezone": "UTC"}


# -- reactions ------------------------------------------------------------------------------------
def expect(
    world: World, provider: str, asks: str, who: str, *, key: str, about: str, now: int
) -> None:
    """Date the reaction of a person, if the world knows their manner.

    `key` is the id of what asks, from which the moment and the words are drawn; `about` is the row
    that it is about.
    """
    manner = manner_of(world, who, asks)
    if manner is None or manner["does"] == NOTHING:
        return
    zone = ZoneInfo(person(world)["timezone"])
    row = reaction(manner, provider, key=key, about=about, now=now, zone=zone)
    with world.caused_by(POST):
        world.insert("reactions", row)


def manner_of(world: World, who: str, asks: str) -> Row | None:
    """Return what a person does when asked for something, or None if the world does not say."""
    manners = world.rows("manners", "who=? AND asks=?", who, asks, limit=1)
    return manners[0] if manners else None


def reaction(
    manner: Row, provider: str, *, key: str, about: str, now: int, zone: ZoneInfo
) -> dict[str, Any]:
    """Return the row of a reaction in somebody's manner; see `expect`."""
    says = manner["says"]
    return {
        "id": make_id("rct", key, manner["who"]),
        "due_at": iso(drawn(manner, key, now, zone)),
        "provider": provider,
        "asks": manner["asks"],
        "does": manner["does"],
        "who": manner["who"],
        "about": about,
        "made_at": iso(now),
        "says": says[int(share("says", key) * len(says))] if says else None,
    }


def drawn(manner: Row, key: str, now: int, zone: ZoneInfo) -> int:
    """Return when a person reacts: after the manner's delay, at an hour at which they do."""
    late = manner["least"] + (manner["most"] - manner["least"]) * share("late", key)
    moment = now + int(late)
    hour = local(moment, zone).hour
    if manner["opens"] <= hour < manner["closes"]:
        return moment
    # The next time that the hours open, give or take what keeps people from being punctual.
    midnight = moment - hour * HOUR - moment % HOUR
    opening = midnight + manner["opens"] * HOUR
    if hour >= manner["closes"]:
        opening += 24 * HOUR
    return opening + int(share("minutes", key) * 90 * 60)


def call_off(world: World, about: Any, since: str) -> None:
    """Delete the reactions to something about a row since a moment (ISO) that are still to come."""
    where = "about=? AND made_at>=? AND due_at IS NOT NULL"
    for row in world.rows("reactions", where, about, since, order="rowid"):
        with world.caused_by(POST):
            world.delete("reactions", row["id"])
