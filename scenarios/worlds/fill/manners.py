"""How the people around a person react: to a mail, to a request for money, and so on.

A manner is `{does: pay, after: [1 day, 3 days]}`. `does` is what they do, `nothing` for never; what
they can do depends on what they are asked (`mail`, `request`, `invitation`).
`after` is a delay, or the shortest and the longest, or `next morning`; `hours` are the hours of the
day within which they act (8 to 22 by default); `says` holds the words, one of which is drawn, and
`signs` what they sign them with, which is their first name by default.
"""

from __future__ import annotations

import re
from typing import Any

from scenarios.worlds.build import Builder
from servers.kit import future
from servers.kit.errors import InputError, UnknownName

DOES = {
    "mail": ("answer", future.NOTHING),
    "request": ("pay", "decline", future.NOTHING),
    "invitation": ("accept", "tentative", "decline", future.NOTHING),
}
"""What people can do about what they are asked."""
_UNITS = {"minute": 60, "hour": 3600, "day": 86_400, "week": 7 * 86_400}
_DELAY = re.compile(r"^(\d+) (minute|hour|day|week)s?$")


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Add the manners of people; `default` is that of all who have none of their own."""
    people = builder.person["people"]
    for key in seeds["people"]:
        if key not in people:
            raise UnknownName("person", key, people, "manners")
    for key in people:
        for row in of(builder, key):
            builder.add(builder.stood, "manners", **row)


def of(builder: Builder, key: str) -> list[dict[str, Any]]:
    """Return the manners of a person, who is given by key, as rows."""
    seeds = builder.seeds("manners")
    manners = seeds.get("default", {}) | seeds.get("people", {}).get(key, {})
    return [_row(builder, key, asks, manner) for asks, manner in manners.items()]


def react(
    builder: Builder,
    key: str,
    asks: str,
    provider: str,
    about: str,
    announced: dict[str, Any] | None = None,
) -> None:
    """Let a person react, after the start, to a row of a provider that is open when it begins.

    `announced` is what they said that they would do about it, in place of their manner.
    """
    manners = of(builder, key)
    if announced is not None:
        manners = [_row(builder, key, asks, announced)]
    for manner in manners:
        if manner["asks"] == asks and manner["does"] != future.NOTHING:
            row = future.reaction(
                manner, provider, key=about, about=about, now=builder.start, zone=builder.zone
            )
            builder.add(builder.start, "reactions", **row)


def _row(builder: Builder, key: str, asks: str, manner: dict[str, Any]) -> dict[str, Any]:
    if asks not in DOES:
        raise UnknownName("thing that people are asked", asks, DOES, "manners")
    if manner["does"] not in DOES[asks]:
        raise UnknownName(f"answer to a {asks}", manner["does"], DOES[asks], "manners")
    opens, closes = manner.get("hours", (8, 22))
    after = manner.get("after", ["10 minutes", "8 hours"])
    if after == "next morning":
        opens = 7
        closes = 11
        after = ["12 hours", "13 hours"]
    delays = after if isinstance(after, list) else [after, after]
    least, most = (seconds(delay) for delay in delays)
    who = builder.person["people"][key]
    signs = manner.get("signs", who["name"].partition(" ")[0])
    return {
        "id": builder.id("mnr", f"{who['email']} {asks}"),
        "who": who["email"],
        "asks": asks,
        "does": manner["does"],
        "least": least,
        "most": most,
        "opens": opens,
        "closes": closes,
        "says": [f"{text}\n\n{signs}" for text in manner.get("says", [])],
    }


def seconds(text: str) -> int:
    """Return the seconds of a delay such as `2 days`."""
    found = _DELAY.match(text)
    if found is None:
        raise InputError(f"manners: {text!r} is no delay; write `3 hours`, `2 days` or so")
    return int(found[1]) * _UNITS[found[2]]
