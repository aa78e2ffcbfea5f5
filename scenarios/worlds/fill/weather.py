"""Fill the weather: cities with their climates, what happens there, stored hours and days, and the person's two accounts.

The truth is added before everything else: a stale read tells moments apart by its clock. What people and offices did is added when they
did it.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from scenarios.worlds.build import Builder
from servers.kit.values import iso, parse_time
from servers.weather._physics import DAY, HOUR, Hour, truth
from servers.weather._rules import hour_key

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
    events = defaultdict(list)
    for event in seeds["events"]:
        row = {"id": builder.id("event", event["key"])} | {
            k: v for k, v in event.items() if k != "key"
        }
        events[event["city"]].append(builder.add(dawn, "weather_events", **row))
    for number, city in enumerate(builder.person["cities"]):
        climate = dict(seeds["climates"][city["key"]])
        own = {name: climate.pop(name) for name in ("abbr", "woeid", "station")}
        climate["pollen"] = seeds["pollen"][climate["region"]]
        place = {k: v for k, v in city.items() if k != "key"}
        row = builder.add(
            dawn, "weather_cities", id=city["key"], abbr=own["abbr"], climate=climate, **place
        )
        _truth(builder, dawn, row, events[city["key"]])
        for provider in _PLACES:
            _place(builder, dawn, provider, city["key"], number, own, seeds)
    for provider in _PLACES:
        _account(builder, dawn, provider, seeds)


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
        begin, end = (
            int(datetime(d.year, d.month, d.day, tzinfo=zone).timestamp())
            for d in (when, when + timedelta(days=1))
        )
        builder.add(
            dawn,
            "weather_days",
            id=f"{city['id']}:{when}",
            city=city["id"],
            **_day([truth(city, events, t) for t in range(begin, end, HOUR)]),
        )


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
    return (
        builder.id("loc", city) if provider == "weather_com" else seeds["climates"][city]["woeid"]
    )


def _place(
    builder: Builder,
    dawn: int,
    provider: str,
    city: str,
    number: int,
    own: dict[str, Any],
    seeds: dict[str, Any],
) -> None:
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
        "adjustments": {
            str(day): change for day, change in seeds["adjustments"][provider].get(city, {}).items()
        },
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
        location = _place_id(builder, provider, saved["city"], seeds)
        key = f"{provider}:{saved['label']}"
        builder.add(
            saved["created"],
            table,
            id=builder.id(prefix, key),
            label=saved["label"],
            location=location,
            created=saved["created"],
        )
    prefix, table = _ALERTS[provider]
    for alert in seeds["alerts"]:
        row = {k: v for k, v in alert.items() if k != "key"}
        known = min(parse_time(alert["issued"]), builder.start - 6 * HOUR)
        builder.add(iso(known), table, id=builder.id(prefix, alert["key"]), **row)
