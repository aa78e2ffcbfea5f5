"""What the two weather providers share: one physical truth, how a place is named, how a station sees and forecasts it, alerts.

Each provider measures the truth through a station of its own (a small bias) and forecasts it with an error of its own that grows with
the lead. Stations agree within 1.5 °C, forecasts up to five days ahead within 4 °C. Editing a place's station row makes one provider
wrong; editing `weather_hours` changes the weather itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Literal, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.noise import draws
from servers.kit.service import Service
from servers.kit.store import Table, World
from servers.kit.values import iso
from servers.weather import _derived as d
from servers.weather._physics import DAY, HOUR, Hour, truth
from servers.weather._sky import sun_elevation
from servers.weather._units import Units

SHARED_TABLES = {
    "weather_cities": Table(
        "id:str name:str state:str abbr:str country:str lat:float lon:float timezone:str climate:dict"
    ),
    "weather_events": Table(
        "id:str city:str starts:str ends:str temp:float rain:float wind:float cloud:int pm25:float",
        index=("city",),
    ),
    "weather_hours": Table(
        "id:str city:str temp:float humidity:int wind:float wind_deg:int pressure:float cloud:int rain:float pm25:float"
    ),
    "weather_days": Table(
        "id:str city:str high:float low:float humidity:int wind:float cloud:int rain:float"
    ),
}
"""Cities with monthly normals; events on top of them; hours (id `city:YYYY-MM-DDTHH`, UTC) and past days (id `city:YYYY-MM-DD`, local)."""

PLACE = "city:str station:str temp_bias:float humidity_bias:int wind_factor:float rain_factor:float pressure_bias:float adjustments:dict"
"""Columns that a provider's table of places has after its id. `adjustments` is `{local date: {temp: °C added, rain, wind: factors}}`."""

ALERTS = Table(
    "id:str city:str event:str severity:str issued:str starts:str ends:str description:str instruction:str",
    index=("city",),
)
"""A provider's alerts. One is public from `issued` on and ends at `ends`."""

Location = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description='Location id, "City" or "City, State", e.g. "Portland, Oregon". Add the state to a shared name.',
    ),
]
Label = Annotated[
    str, Field(min_length=1, max_length=40, description="Name of the saved place, e.g. Cabin.")
]
Sky = Literal[
    "clear",
    "partly_cloudy",
    "mostly_cloudy",
    "cloudy",
    "fog",
    "light_rain",
    "rain",
    "heavy_rain",
    "sleet",
    "light_snow",
    "snow",
    "heavy_snow",
]


# -- places -------------------------------------------------------------------------------------------------------
@dataclass(slots=True)
class Place:
    """A provider's place: its id there, the city, and how its station differs from the truth."""

    id: str
    city: str
    name: str
    state: str
    country: str
    lat: float
    lon: float
    timezone: str
    station: str
    temp_bias: float
    humidity_bias: int
    wind_factor: float
    rain_factor: float
    pressure_bias: float
    adjustments: dict[str, dict[str, float]]

    def local(self, at: int) -> datetime:
        """Return a moment in the place's own time."""
        return datetime.fromtimestamp(at, ZoneInfo(self.timezone))

    def stamp(self, at: int) -> str:
        """Return a moment as local ISO-8601 text with its offset."""
        return self.local(at).isoformat()

    def day(self, when: date) -> tuple[int, int]:
        """Return when a local date begins and ends."""
        zone = ZoneInfo(self.timezone)
        after = when + timedelta(days=1)
        begin, end = (
            int(datetime(x.year, x.month, x.day, tzinfo=zone).timestamp()) for x in (when, after)
        )
        return begin, end

    def elevation(self, at: int) -> float:
        """Return the sun's elevation here."""
        return sun_elevation(self.lat, self.lon, at)


def _places(db: World, table: str, where: str, *params: Any) -> list[Place]:
    found = db.sql(
        "SELECT p.id, p.city, c.name, c.state, c.country, c.lat, c.lon, c.timezone, p.station, p.temp_bias, p.humidity_bias, "
        f"p.wind_factor, p.rain_factor, p.pressure_bias, p.adjustments FROM {table} p JOIN weather_cities c ON c.id=p.city WHERE {where}",
        *params,
    )
    return [Place(*row[:-1], {} if row[-1] == "{}" else json.loads(row[-1])) for row in found]


def match(db: World, table: str, text: str) -> list[Place]:
    """Return the places that a text means: one by id, else all cities of that name (in that state, written out or as two letters)."""
    name, _, state = (part.strip() for part in text.partition(","))
    state = state.partition(",")[0].strip()
    return _places(
        db,
        table,
        "p.id=?1 OR (c.name=?2 COLLATE NOCASE AND (?3='' OR c.state=?3 COLLATE NOCASE OR c.abbr=?3 COLLATE NOCASE)) ORDER BY c.rowid",
        text.strip(),
        name,
        state,
    )


def search(db: World, table: str, query: str) -> list[Place]:
    """Return places of which name, state or country holds a word that begins with each word of the query."""
    wanted = query.casefold().replace(",", " ").split()
    states = dict(db.sql("SELECT id, abbr FROM weather_cities"))

    def fits(place: Place) -> bool:
        words = (
            f"{place.name} {place.state} {states[place.city]} {place.country}".casefold().split()
        )
        return all(any(w.startswith(q) for w in words) for q in wanted)

    return [p for p in _places(db, table, "1 ORDER BY c.rowid") if fits(p)] if wanted else []


def by_id(db: World, table: str, key: str) -> Place:
    """Return the place with an id that a row of ours holds."""
    return _places(db, table, "p.id=?", key)[0]


def place_of(service: Service, table: str, text: str, search_tool: str, key: str) -> Place:
    """Return the one place that a text means. Raises LOCATION_NOT_FOUND, or AMBIGUOUS_LOCATION with the candidates, ids under `key`."""
    found = match(service.db, table, text)
    if len(found) == 1:
        return found[0]
    if not found:
        service.fail(
            "LOCATION_NOT_FOUND",
            f"There is no location '{text}'.",
            f"Call {search_tool} to find it, then pass its {key}.",
            location=text,
        )
    service.fail(
        "AMBIGUOUS_LOCATION",
        f"'{text}' fits {len(found)} locations: "
        + "; ".join(f"{p.name}, {p.state}" for p in found)
        + ".",
        f'Pass "City, State" or the {key} of the one that is meant.',
        candidates=[
            {key: p.id, "name": p.name, "state": p.state, "country": p.country} for p in found
        ],
    )


def past_date(
    service: Service, place: Place, text: str, days: int, unknown: str, later: str
) -> date:
    """Return a local date that is over and at most so many days ago; else refuse with the message `unknown`.

    `later` is the tool for today and what comes.
    """
    when = date.fromisoformat(text)
    today = place.local(service.now).date()
    first = today - timedelta(days=days)
    last = today - timedelta(days=1)
    if not first <= when <= last:
        ahead = f" For today and later call {later}." if when > last else ""
        hint = f"Ask for a date from {first} to {last}.{ahead}"
        service.fail(
            "DATE_NOT_FOUND", unknown, hint, earliest=first.isoformat(), latest=last.isoformat()
        )
    return when


def horizon(service: Service, code: str, what: str, value: int, most: int) -> None:
    """Refuse a number of hours or days that is outside the horizon."""
    if not 1 <= value <= most:
        service.fail(
            code,
            f"{what} must be from 1 to {most}, got {value}.",
            f"Ask for at most {most} {what}.",
            maximum=most,
        )


# -- truth, observation, forecast ---------------------------------------------------------------------------------
def true_hours(db: World, city: str, first: int, count: int) -> list[Hour]:
    """Return hours from `first` (a full hour) on: stored ones, the others computed."""
    last = first + (count - 1) * HOUR
    stored = db.sql(
        "SELECT id, temp, humidity, wind, wind_deg, pressure, cloud, rain, pm25 FROM weather_hours WHERE id BETWEEN ? AND ? ORDER BY id",
        hour_key(city, first),
        hour_key(city, last),
    )
    if len(stored) == count:
        return [Hour(first + i * HOUR, *row[1:]) for i, row in enumerate(stored)]
    kept = {row[0]: row[1:] for row in stored}
    row = db.get("weather_cities", city)
    events = db.rows("weather_events", "city=?", city)
    moments = range(first, last + 1, HOUR)
    return [
        Hour(at, *kept[key])
        if (key := hour_key(city, at)) in kept
        else truth(row or {}, events, at)
        for at in moments
    ]


def hour_key(city: str, at: int) -> str:
    """Return the id of a stored hour."""
    return f"{city}:{iso(at)[:13]}"


def _measured(place: Place, hour: Hour) -> Hour:
    rain = hour.rain * place.rain_factor
    wind = hour.wind * place.wind_factor
    temp = hour.temp + place.temp_bias
    if place.adjustments and (
        extra := place.adjustments.get(place.local(hour.at).date().isoformat())
    ):
        rain = rain * extra.get("rain", 1)
        wind = wind * extra.get("wind", 1)
        temp = temp + extra.get("temp", 0)
    humidity = min(100, max(1, hour.humidity + place.humidity_bias))
    return Hour(
        hour.at,
        temp,
        humidity,
        wind,
        hour.wind_deg,
        hour.pressure + place.pressure_bias,
        hour.cloud,
        rain,
        hour.pm25,
    )


def observe(db: World, place: Place, now: int, hours_ago: int = 0) -> Hour:
    """Return what the place's station measured at the last full hour, or some hours before."""
    return _measured(place, true_hours(db, place.city, (now // HOUR - hours_ago) * HOUR, 1)[0])


def reading(
    place: Place, hour: Hour, to: Units, words: Mapping[str, str], direction: str | int
) -> dict[str, Any]:
    """Return what both providers show of a measured hour, converted. `words` are the provider's for the kinds of weather."""
    return {
        "observed_at": place.stamp(hour.at),
        "condition": words[hour_sky(hour)],
        "temperature": to.temp(hour.temp),
        "feels_like": to.temp(d.feels_like(hour.temp, hour.humidity, hour.wind)),
        "humidity": hour.humidity,
        "wind": {"speed": to.speed(hour.wind), "direction": direction},
        "precipitation": to.rain(hour.rain),
        "visibility": to.far(d.visibility(hour.rain, hour.temp, hour.humidity, hour.wind)),
    }


class Outlook(NamedTuple):
    """A forecast hour and its chance of precipitation (%)."""

    hour: Hour
    chance: int


def issued(now: int, offset: int = 0) -> int:
    """Return when the last forecast was issued: every six hours, `offset` hours after 00 UTC."""
    return (now - offset * HOUR) // (6 * HOUR) * 6 * HOUR + offset * HOUR


def forecast(
    db: World, provider: str, place: Place, issue: int, first: int, count: int
) -> list[Outlook]:
    """Return a provider's forecast, as issued at `issue`, of hours from `first` on; hours before the issue are as measured.

    The error is drawn by provider, city, issue and day of lead and grows with the lead: 0.2 to 2.5 °C at ten days.
    """
    return [
        _expected(provider, place, issue, _measured(place, hour))
        for hour in true_hours(db, place.city, first, count)
    ]


def _expected(provider: str, place: Place, issue: int, hour: Hour) -> Outlook:
    wet = (
        50 + 45 * min(1.0, hour.rain / 1.5)
        if hour.rain >= 0.1
        else max(0.0, (hour.cloud - 60) * 0.6)
    )
    if hour.at < issue:
        return Outlook(hour, 100 if hour.rain >= 0.1 else 0)
    lead = (hour.at - issue) / DAY
    day = int(lead)
    share = lead % 1
    early = draws(provider, place.city, issue, day)
    late = draws(provider, place.city, issue, day + 1)
    warm, damp, windy, grey = (
        a + (b - a) * share for a, b in zip(early[:4], late[:4], strict=True)
    )
    chance = wet + (30 - wet) * min(0.6, lead * 0.06) + 5 * damp
    rain = hour.rain * (1 + damp * (0.08 + 0.025 * lead))
    seen = Hour(
        hour.at,
        hour.temp + warm * (0.2 + 0.16 * lead),
        hour.humidity,
        hour.wind * (1 + windy * (0.05 + 0.02 * lead)),
        hour.wind_deg,
        hour.pressure,
        int(min(100, max(0, hour.cloud + grey * (3 + 1.5 * lead)))),
        max(0.0, rain),
        hour.pm25 * (1 + grey * (0.05 + 0.03 * lead)),
    )
    return Outlook(seen, int(min(100, max(0, chance)) / 5 + 0.5) * 5)


@dataclass(slots=True)
class Day:
    """A local date in metric units; `chance` is None for a date that is over."""

    date: str
    high: float
    low: float
    humidity: int
    wind: float
    rain: float
    cloud: int
    chance: int | None = None
    sky_day: Sky = "clear"
    sky_night: Sky = "clear"


def forecast_days(
    db: World, provider: str, place: Place, issue: int, now: int, count: int
) -> list[Day]:
    """Return local dates from today on; the hours of today that have passed are as measured."""
    today = place.local(now).date()
    found = []
    bounds = [place.day(today + timedelta(days=n)) for n in range(count)]
    first = bounds[0][0] // HOUR * HOUR
    hours = forecast(db, provider, place, issue, first, (bounds[-1][1] - first) // HOUR)
    for number, (begin, end) in enumerate(bounds):
        part = hours[(begin - first) // HOUR : (end - first) // HOUR]
        made = _summary((today + timedelta(days=number)).isoformat(), [o.hour for o in part])
        made.chance = max(o.chance for o in part)
        found.append(made)
    return found


def past_day(db: World, place: Place, when: date) -> Day:
    """Return a local date that is over, as the place's station measured it: the stored day, else summed up from its hours."""
    row = db.get("weather_days", f"{place.city}:{when.isoformat()}")
    if row is None:
        begin, end = place.day(when)
        return _summary(
            when.isoformat(),
            [
                _measured(place, h)
                for h in true_hours(db, place.city, begin // HOUR * HOUR, (end - begin) // HOUR)
            ],
        )
    rain = row["rain"] * place.rain_factor
    sky = sky_of(
        (row["high"] + row["low"]) / 2, row["cloud"], rain / 12, row["humidity"], row["wind"]
    )
    high = row["high"] + place.temp_bias
    low = row["low"] + place.temp_bias
    humidity = min(100, row["humidity"] + place.humidity_bias)
    return Day(
        when.isoformat(),
        high,
        low,
        humidity,
        row["wind"] * place.wind_factor,
        rain,
        row["cloud"],
        None,
        sky,
        sky,
    )


def _summary(when: str, hours: list[Hour]) -> Day:
    n = len(hours)
    light = [h for i, h in enumerate(hours) if 6 <= i < 18] or hours
    dark = [h for i, h in enumerate(hours) if not 6 <= i < 18] or hours
    temps = [h.temp for h in hours]
    rain = sum(h.rain for h in hours)
    wind = sum(h.wind for h in hours) / n
    humidity = sum(h.humidity for h in hours) // n
    cloud = sum(h.cloud for h in hours) // n
    return Day(
        when,
        max(temps),
        min(temps),
        humidity,
        wind,
        rain,
        cloud,
        None,
        _mean_sky(light),
        _mean_sky(dark),
    )


def _mean_sky(hours: list[Hour]) -> Sky:
    def mean(field: str) -> float:
        return sum(getattr(h, field) for h in hours) / len(hours)

    return sky_of(mean("temp"), mean("cloud"), mean("rain"), mean("humidity"), mean("wind"))


def sky_of(temp: float, cloud: float, rain: float, humidity: float, wind: float) -> Sky:
    """Return the kind of weather: from mm an hour, then fog, then cover in eighths as US forecasts word it."""
    if rain >= 0.1:
        if temp <= 0.5:
            return "light_snow" if rain < 0.5 else "snow" if rain < 2 else "heavy_snow"
        if temp <= 1.5:
            return "sleet"
        return "light_rain" if rain < 1 else "rain" if rain < 4 else "heavy_rain"
    if d.is_fog(rain, humidity, wind):
        return "fog"
    return (
        "clear"
        if cloud < 20
        else "partly_cloudy"
        if cloud < 50
        else "mostly_cloudy"
        if cloud < 85
        else "cloudy"
    )


def hour_sky(hour: Hour) -> Sky:
    """Return the kind of weather of an hour."""
    return sky_of(hour.temp, hour.cloud, hour.rain, hour.humidity, hour.wind)


# -- alerts -------------------------------------------------------------------------------------------------------
def alerts(db: World, table: str, city: str, time: str) -> list[dict[str, Any]]:
    """Return alerts that are public and not over, by their beginning."""
    return db.rows(table, "city=? AND issued<=? AND ends>?", city, time, time, order="starts, id")
