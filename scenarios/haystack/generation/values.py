"""Values of pieces, odd enough to stand nowhere else, with the ways in which they can be told.

A value is a mapping: `is` is what the call takes, `said` is how it is said (if that differs), and
the other parts are what a situation tells, from which it follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from scenarios.haystack.generation.alignment import Chain
from scenarios.haystack.generation.bank import Frame
from servers.kit.service import tool

Value = dict[str, Any]
_PRICES = ("current_price", "last_price", "price", "nav")


@dataclass(frozen=True)
class Drawing:
    """What the values of a main piece are drawn from."""

    frame: Frame
    chain: Chain
    names: Mapping[str, str]
    chance: Random
    costs: tuple[float, ...]

    @property
    def in_cents(self) -> bool:
        """Whether the call takes cents."""
        argument = self.chain.sources[self.frame.main].argument
        return tool(self.chain.tool)[1].schema["properties"][argument].get("type") == "integer"


def main(
    frame: Frame,
    chain: Chain,
    names: Mapping[str, str],
    chance: Random,
    costs: tuple[float, ...] = (),
) -> list[Value]:
    """Return two values of the main piece; `costs` are the prices of what the side piece names."""
    made = _MAIN[frame.slots[frame.main].type]
    drawing = Drawing(frame, chain, names, chance, costs)
    first = made(drawing)
    second = first
    while second["is"] == first["is"]:
        second = made(drawing)
    return [first, second]


def prices(side: list[Value]) -> tuple[float, ...]:
    """Return what the things that a side piece names cost, if that is known."""
    return tuple(value["price"] for value in side if value.get("price"))


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
        chosen = chance.sample(fitting, 2)
        return [
            {"is": row[label], "id": row[field], "price": _price(row)} for row in chosen
        ]
    return [{"is": text} for text in _numbered(names["notes"], chance)]


def _numbered(pattern: str, chance: Random) -> list[str]:
    """Return a text with two different numbers in place of `{n}`."""
    return [pattern.replace("{n}", str(number)) for number in chance.sample(range(1103, 9897), 2)]


def _price(row: Mapping[str, Any]) -> float | None:
    """Return what a thing costs, in the unit of its row, or None."""
    for field in _PRICES:
        if isinstance(row.get(field), int | float):
            return float(row[field])
    return None


def _money(drawing: Drawing) -> Value:
    chance = drawing.chance
    low = drawing.frame.of.get("low", 20) * 100
    high = drawing.frame.of.get("high", 100) * 100
    if drawing.costs and not drawing.in_cents:
        low = round(min(drawing.costs) * 72)
        high = max(round(min(drawing.costs) * 94), low + 40)
    cents = chance.randrange(low // 10 * 10 + 5, high + 10, 10)
    most = min(cents // 2, 1295)
    extra = chance.randrange(105, max(most, 205), 5)
    off = chance.randrange(155, 1595, 5)
    value: Value = {"is": cents / 100, "said": shown(cents), "dollars": cents / 100}
    if drawing.in_cents:
        value["is"] = cents
    return value | {
        "double": shown(2 * cents),
        "base": shown(cents - extra),
        "extra": shown(extra),
        "list": shown(cents + off),
        "off": shown(off),
    }


def shown(cents: int) -> str:
    """Return an amount as it is said: $43.85."""
    return f"${cents // 100:,}.{cents % 100:02}"


_MAIN: dict[str, Callable[[Drawing], Value]] = {"money": _money}
