"""Values of pieces, odd enough to stand nowhere else, with the ways in which they can be told.

A value is a mapping: `value` is what the call takes, `said` is how it is said (if that differs),
and the other parts are what a situation tells, from which it follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from scenarios.haystack.generation.alignment import Chain
from scenarios.haystack.generation.bank import Frame
from scenarios.worlds import build
from servers.kit.service import tool

Value = dict[str, Any]


class Dropped(Exception):
    """A candidate cannot be grounded; the text says why, in a few words."""


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
        source = self.chain.sources.get(self.frame.main)
        if source is None:
            return False
        argument = source.argument
        return tool(self.chain.tool)[1].schema["properties"][argument].get("type") == "integer"


def main(
    frame: Frame,
    chain: Chain,
    names: Mapping[str, str],
    chance: Random,
    costs: tuple[float, ...] = (),
) -> list[Value]:
    """Return two values of the main piece; `costs` are the prices of what the side piece names."""
    made = _MAIN[frame.type]
    drawing = Drawing(frame, chain, names, chance, costs)
    first = made(drawing)
    second = first
    while second["value"] == first["value"]:
        second = made(drawing)
    return [first, second]


def prices(side: list[Value], names: Mapping[str, str]) -> tuple[float, ...]:
    """Return what the things cost that a side piece or what was drawn names, if it is known."""
    costs = [value["price"] for value in side if value.get("price")]
    return tuple(costs) if costs or "cost" not in names else (float(names["cost"]),)


def side(
    frame: Frame,
    chain: Chain,
    names: Mapping[str, str],
    chance: Random,
    rows: Mapping[str, list[dict[str, Any]]],
) -> list[Value]:
    """Return two values of the side piece; `rows` are what it may name, if it is an id."""
    source = chain.sources.get(frame.side)
    if source is not None and source.giver is not None:
        fitting = rows[frame.side]
        if len(fitting) < 2:
            raise Dropped("there are no two things to choose from")
        label = source.giver.label
        field = source.giver.field
        chosen = chance.sample(fitting, 2)
        return [{"value": row[label], "id": row[field], "price": price(row)} for row in chosen]
    slot = frame.slots.get(frame.side)
    if source is not None and slot is not None and slot.type == "choice":
        return _choices(chain.tool, source.argument, frame.of["options"], chance)
    if slot is not None and slot.type in ("count", "number"):
        least = frame.of.get("least", 3)
        numbers = chance.sample(range(least, frame.of.get("most", 30)), 2)
        return [{"value": number} for number in numbers]
    if "sides" in names:
        return [{"value": text} for text in chance.sample(names["sides"].split("|"), 2)]
    return [{"value": text} for text in _numbered(names["notes"], chance)]


def _choices(name: str, argument: str, options: Mapping[str, str], chance: Random) -> list[Value]:
    """Return two options of an argument, in the order in which they were drawn."""
    known = tool(name)[1].schema["properties"][argument]["enum"]
    fitting = [one for one in options if one in known]
    if len(fitting) < 2:
        raise Dropped("there are no two things to choose from")
    return [{"value": one, "said": options[one]} for one in chance.sample(fitting, 2)]


def _numbered(pattern: str, chance: Random) -> list[str]:
    """Return a text with two different numbers in place of `{n}`."""
    return [pattern.replace("{n}", str(number)) for number in chance.sample(range(1103, 9897), 2)]


def price(row: Mapping[str, Any]) -> float | None:
    """Return what a thing costs, in the unit of its row, or None."""
    for field in _PRICES:
        if isinstance(row.get(field), int | float):
            return float(row[field])
    return None


def _money(drawing: Drawing) -> Value:
    chance = drawing.chance
    low = drawing.frame.of.get("low", 20) * 100
    high = drawing.frame.of.get("high", 100) * 100
    if drawing.costs and "band" in drawing.frame.of:
        least, most = drawing.frame.of["band"]
        low = round(min(drawing.costs) * 100 * least)
        high = max(round(min(drawing.costs) * 100 * most), low + 20)
    cents = chance.randrange(low // 10 * 10 + 5, high + 10, 10)
    most = min(cents // 2, 1295)
    extra = chance.randrange(105, max(most, 205), 5)
    off = chance.randrange(155, 1595, 5)
    value: Value = {"value": cents / 100, "said": shown(cents), "dollars": cents / 100}
    if drawing.in_cents:
        value["value"] = cents
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


def _serial(drawing: Drawing) -> Value:
    """Return a name that ends in a number, with the name that has the number before."""
    number = drawing.chance.randrange(14, 68)
    series = drawing.names["series"]
    return {"value": f"{series} {number}", "before": f"{series} {number - 1}"}


def _moment(drawing: Drawing) -> Value:
    """Return a time of day on a day that was drawn, with an earlier time and the minutes since."""
    chance = drawing.chance
    first, last = drawing.frame.of.get("hours", [9, 19])
    minute = chance.randrange(first * 60 + 5, last * 60, 5)
    while minute % 30 == 0:
        minute = chance.randrange(first * 60 + 5, last * 60, 5)
    wait = chance.choice([10, 15, 20, 25, 35, 40])
    zone = ZoneInfo(build.person(drawing.names["person"])["timezone"])
    day = date.fromisoformat(drawing.names["date"])
    moment = datetime.combine(day, time(minute // 60, minute % 60), zone)
    return {
        "value": moment.isoformat(),
        "said": _clock(minute),
        "clock": f"{minute // 60:02}:{minute % 60:02}",
        "before": _clock(minute - wait),
        "wait": f"{wait} minutes",
        "after": _clock(minute + wait),
    }


def _clock(minute: int) -> str:
    """Return a time of day as it is said: 4:50 pm."""
    hour = minute // 60
    return f"{(hour - 1) % 12 + 1}:{minute % 60:02} {'pm' if hour >= 12 else 'am'}"


def _town(drawing: Drawing) -> Value:
    """Return a town with its state."""
    home, *cities = build.person(drawing.names["person"])["cities"]
    called = [city["name"] for city in (home, *cities)]
    fitting = [city for city in cities if called.count(city["name"]) == 1]
    city = drawing.chance.choice(fitting)
    name = city["name"]
    return {"value": f"{name}, {city['state']}", "said": name, "state": city["state"]}


_MAIN: dict[str, Callable[[Drawing], Value]] = {
    "money": _money,
    "text": _serial,
    "moment": _moment,
    "place": _town,
}
