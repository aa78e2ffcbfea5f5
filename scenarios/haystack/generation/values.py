"""Values of pieces, odd enough to stand nowhere else, with the ways in which they can be told.

A value is a mapping: `is` is what the call takes, `said` is how it is said (if that differs), and
the other parts are what a situation tells, from which it follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from scenarios.haystack.generation.alignment import Chain
from scenarios.haystack.generation.bank import Frame
from servers.kit.service import tool

Value = dict[str, Any]


def main(frame: Frame, chain: Chain, names: Mapping[str, str], chance: Random) -> list[Value]:
    """Return two values of the main piece."""
    made = _MAIN[frame.slots[frame.main].type]
    first = made(frame, chain, names, chance)
    second = first
    while second["is"] == first["is"]:
        second = made(frame, chain, names, chance)
    return [first, second]


def side(
    frame: Frame,
    chain: Chain,
    names: Mapping[str, str],
    chance: Random,
    rows: Mapping[str, list[dict[str, Any]]],
) -> list[Value]:
    """Return two values of the side piece; `rows` are what it may name, if it is an id."""
    source = chain.sources[frame.side]
    if source.giver is not None:
        from scenarios.haystack.generation.grounding import Dropped

        fitting = rows[frame.side]
        if len(fitting) < 2:
            raise Dropped("there are no two things to choose from")
        label = source.giver.label
        field = source.giver.field
        return [{"is": row[label], "id": row[field]} for row in chance.sample(fitting, 2)]
    return [{"is": text} for text in _numbered(names["notes"], chance)]


def _numbered(pattern: str, chance: Random) -> list[str]:
    """Return a text with two different numbers in place of `{n}`."""
    return [pattern.replace("{n}", str(number)) for number in chance.sample(range(1103, 9897), 2)]


def _money(frame: Frame, chain: Chain, names: Mapping[str, str], chance: Random) -> Value:
    low = frame.of.get("low", 20)
    high = frame.of.get("high", 100)
    cents = chance.randrange(low * 100 + 5, high * 100, 5)
    while cents % 50 == 0:
        cents = chance.randrange(low * 100 + 5, high * 100, 5)
    extra = chance.randrange(405, 1295, 5)
    off = chance.randrange(505, 1595, 5)
    value: Value = {"is": cents / 100, "said": shown(cents)}
    if _in_cents(chain, frame):
        value |= {"is": cents, "dollars": cents / 100}
    return value | {
        "double": shown(2 * cents),
        "base": shown(cents - extra),
        "extra": shown(extra),
        "list": shown(cents + off),
        "off": shown(off),
    }


def _in_cents(chain: Chain, frame: Frame) -> bool:
    about = tool(chain.tool)[1].schema["properties"][chain.sources[frame.main].argument]
    return about.get("type") == "integer"


def shown(cents: int) -> str:
    """Return an amount as it is said: $43.85."""
    return f"${cents // 100:,}.{cents % 100:02}"


_MAIN: dict[str, Callable[[Frame, Chain, Mapping[str, str], Random], Value]] = {"money": _money}
