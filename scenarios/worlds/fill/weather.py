"""Fill the weather: cities with climates and events, stored hours and days, and two accounts.

The truth is added before everything else: a stale read tells moments apart by its clock. What the
person and the weather offices did is added at the moment when they did it.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from scenarios.worlds.build import Builder
from servers.kit.values import iso, parse_time
from servers.weather._physics import DAY, HOUR, Hour, truth
from servers.weather._stations import hour_key

_BACK = DAY
_AHEAD = 6 * DAY
_HISTORY = 41
_PLACES = {"weather_com": "weather_com_locations", "yahoo_weather": "yahoo_weather_places"}
_ALERTS = {
    "weather_com": ("alert", "weather_com_alerts"),
    "yahoo_weather": ("yalert", "yahoo_weather_alerts"),
}
_SAVED = {
    "weather_com": ("saved", "weather_com_saved"),
    "yahoo_weather": ("bookmark", "yahoo_weather_bookmarks"),
}
_HOME = {"weather_com": "default_location", "yahoo_weather": "home_location"}


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Add the weather of a person's cities and what the person keeps at each provider."""
    dawn = builder.start - 150 * DAY
    builder.stands(dawn)
    events = defaultdict(list)
    for event in seeds["events"]:
        row = {"id": builder.id("event", event["key"])} | _without_key(event)
        events[event["city"]].append(builder.add(dawn, "weather_events", **row))
    for number, city in enumerate(builder.person["cities"]):
        climate = dict(seeds["climates"][city["key"]])
        own = {name: climate.pop(name) for name in ("abbr", "woeid", "station")}
        climate["pollen"] = seeds["pollen"][climate["region"]]
        row = builder.add(
            dawn,
            "weather_cities",
            id=city["key"],
            abbr=own["abbr"],
            climate=climate,
            **_without_key(city),
        )
        _truth(builder, dawn, row, events[city["key"]])
        for provider in _PLACES:
            _place(builder, dawn, provider, city["key"], number, own, seeds)
    for provider in _PLACES:
        _account(builder, dawn, provider, seeds)


def _without_key(seed: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in seed.items() if name != "key"}


def _truth(builder: Builder, dawn: int, city: dict[str, Any], events: list[dict[str, Any]]) -> None:
    first = builder.start // HOUR * HOUR - _BACK
    last = builder.start // HOUR * HOUR + _AHEAD
    for at in range(first, last, HOUR):
        values = truth(city, events, at)._asdict()
        del values["at"]
        builder.add(dawn, "weather_hours", id=hour_key(city["id"], at), city=city["id"], **values)
    zone = ZoneInfo(city["timezone"])
    today = datetime.fromtimestamp(first, zone).date()
    for back in range(1, _HISTORY):
        when = today - timedelta(days=back)
        begin = _midnight(when, zone)
        end = _midnight(when + timedelta(days=1), zone)
        day = _day([truth(city, events, at) for at in range(begin, end, HOUR)])
        builder.add(dawn, "weather_days", id=f"{city['id']}:{when}", city=city["id"], **day)


def _midnight(when: date, zone: ZoneInfo) -> int:
    return int(datetime(when.year, when.month, when.day, tzinfo=zone).timestamp())


def _day(hours: list[Hour]) -> dict[str, Any]:
    count = len(hours)
    return {
        "high": max(h.temp for h in hours),
        "low": min(h.temp for h in hours),
        "humidity": sum(h.humidity for h in hours) // count,
        "wind": round(sum(h.wind for h in hours) / count, 1),
        "cloud": sum(h.cloud for h in hours) // count,
        "rain": round(sum(h.rain for h in hours), 1),
    }


def _place_id(builder: Builder, provider: str, city: str, seeds: dict[str, Any]) -> str:
    if provider == "weather_com":
        return builder.id("loc", city)
    return seeds["climates"][city]["woeid"]


def _place(
    builder: Builder,
    dawn: int,
    provider: str,
    city: str,
    number: int,
    own: dict[str, Any],
    seeds: dict[str, Any],
) -> None:
    adjustments = seeds["adjustments"][provider].get(city, {})
    chance = builder.chance("station", provider, city)
    row: dict[str, Any] = {
        "id": _place_id(builder, provider, city, seeds),
        "city": city,
        "station": own["station"] if provider == "weather_com" else f"Y-{own['station']}",
        "temp_bias": round(chance.uniform(-0.5, 0.5), 1) + 0.0,
        "humidity_bias": chance.randint(-3, 3),
        "wind_factor": round(chance.uniform(0.93, 1.07), 2),
        "rain_factor": round(chance.uniform(0.92, 1.08), 2),
        "pressure_bias": round(chance.uniform(-0.4, 0.4), 1) + 0.0,
        "adjustments": {str(day): change for day, change in adjustments.items()},
    }
    if provider == "weather_com":
        row["number"] = 101 + number
    builder.add(dawn, _PLACES[provider], **row)


def _account(builder: Builder, dawn: int, provider: str, seeds: dict[str, Any]) -> None:
    settings = dict(seeds["accounts"][provider])
    settings[_HOME[provider]] = _place_id(builder, provider, settings.pop("home"), seeds)
    builder.add(
        dawn,
        f"{provider}_profile",
        id=builder.id("account", provider),
        email=builder.person["emails"]["personal"],
        timezone=builder.person["timezone"],
        **settings,
    )
    prefix, table = _SAVED[provider]
    for saved in seeds["saved"][provider]:
        row = {
            "id": builder.id(prefix, f"{provider}:{saved['label']}"),
            "label": saved["label"],
            "location": _place_id(builder, provider, saved["city"], seeds),
            "created": saved["created"],
        }
        builder.add(saved["created"], table, **row)
    prefix, table = _ALERTS[provider]
    for alert in seeds["alerts"]:
        known_at = min(parse_time(alert["issued"]), builder.start - 6 * HOUR)
        alert_id = builder.id(prefix, alert["key"])
        builder.add(iso(known_at), table, id=alert_id, **_without_key(alert))
