"""The hours of foul weather in a city, from the same climate and events as the weather services."""

from __future__ import annotations

from typing import Any

from scenarios.worlds.build import Builder
from servers.kit.values import iso
from servers.weather._physics import DAY, HOUR, Hour, truth

BACK = 30 * DAY
"""Seconds before the start from which the weather counts; older rides were priced without it."""
AHEAD = 60 * DAY


def storms(builder: Builder, city: dict[str, Any]) -> list[list[Any]]:
    """Return `[from, until, how bad]` for each spell of foul weather around the start, in order."""
    seeds = builder.seeds("weather")
    climate = seeds.get("climates", {}).get(city["key"])
    if climate is None:
        return []
    place = {"id": city["key"], "lon": city["lon"], "climate": climate}
    events = [event for event in seeds["events"] if event["city"] == city["key"]]
    spells: list[list[Any]] = []
    first = builder.start // HOUR * HOUR
    for at in range(first - BACK, first + AHEAD, HOUR):
        level = _how_bad(truth(place, events, at))
        if level == 0:
            continue
        if spells and spells[-1][1:] == [iso(at), level]:
            spells[-1][1] = iso(at + HOUR)
        else:
            spells.append([iso(at), iso(at + HOUR), level])
    return spells


def _how_bad(hour: Hour) -> int:
    """Return 2 for a storm, 1 for heavy rain or strong wind, else 0."""
    if hour.rain >= 5 or hour.wind >= 14:
        return 2
    return 1 if hour.rain >= 2.5 or hour.wind >= 11 else 0
