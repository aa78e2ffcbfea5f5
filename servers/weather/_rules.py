"""What the two weather providers share: tables, argument types, places, dates and alerts.

`_stations.py` is about how their stations measure and forecast the one physical truth.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit import search as words_search
from servers.kit import towns
from servers.kit.service import Service
from servers.kit.store import Table, World
from servers.kit.types import Row
from servers.weather._sky import sun_elevation

# -- tables -----------------------------------------------------------------------------------
SHARED_TABLES = {
    "weather_cities": Table(
        "id:str name:str state:str abbr:str country:str lat:float lon:float timezone:str "
        "climate:dict",
        catalogue=True,
    ),
    "weather_events": Table(
        "id:str city:str starts:str ends:str temp:float rain:float wind:float cloud:int pm25:float",
        index=("city",),
        catalogue=True,
    ),
    "weather_hours": Table(
        "id:str city:str temp:float humidity:int wind:float wind_deg:int pressure:float "
        "cloud:int rain:float pm25:float",
        catalogue=True,
    ),
    "weather_days": Table(
        "id:str city:str high:float low:float humidity:int wind:float cloud:int rain:float",
        catalogue=True,
    ),
}
"""Cities with monthly normals, events on top of them, stored hours and past days.

The id of an hour is `city:YYYY-MM-DDTHH` (UTC), that of a day `city:YYYY-MM-DD` (local).
"""

PLACE = (
    "city:str station:str temp_bias:float humidity_bias:int wind_factor:float rain_factor:float "
    "pressure_bias:float adjustments:dict"
)
"""Columns that a provider's table of places has after its id.

`adjustments` is `{local date: {temp: °C added, rain: factor, wind: factor}}`.
"""

ALERTS = Table(
    "id:str city:str event:str severity:str issued:str starts:str ends:str description:str "
    "instruction:str",
    index=("city",),
    catalogue=True,
)
"""A provider's alerts. One is public from `issued` on and ends at `ends`."""

# -- arguments --------------------------------------------------------------------------------
Location = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description='Location id, "City" or "City, State", e.g. "Portland, Oregon". '
        "Add the state if several places share the name.",
    ),
]
Label = Annotated[
    str, Field(min_length=1, max_length=40, description="Label of the saved place, e.g. Cabin.")
]


# -- places -----------------------------------------------------------------------------------
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
        """Return a moment in the place's local time."""
        return datetime.fromtimestamp(at, ZoneInfo(self.timezone))

    def stamp(self, at: int) -> str:
        """Return a moment as local ISO-8601 text with its offset."""
        return self.local(at).isoformat()

    def day(self, when: date) -> tuple[int, int]:
        """Return when a local date begins and ends."""
        return self._midnight(when), self._midnight(when + timedelta(days=1))

    def _midnight(self, when: date) -> int:
        start = datetime(when.year, when.month, when.day, tzinfo=ZoneInfo(self.timezone))
        return int(start.timestamp())

    def elevation(self, at: int) -> float:
        """Return the sun's elevation here, in degrees."""
        return sun_elevation(self.lat, self.lon, at)


_PLACE_COLUMNS = (
    "p.id, p.city, c.name, c.state, c.country, c.lat, c.lon, c.timezone, p.station, p.temp_bias, "
    "p.humidity_bias, p.wind_factor, p.rain_factor, p.pressure_bias, p.adjustments"
)
"""Columns in the order of the fields of `Place`."""


def _places(db: World, table: str, where: str, *params: Any) -> list[Place]:
    rows = db.sql(
        f"SELECT {_PLACE_COLUMNS} FROM {table} p "
        f"JOIN weather_cities c ON c.id=p.city WHERE {where}",
        *params,
    )
    places = []
    for *columns, adjustments in rows:
        # Nearly all places have none, and every call reads them.
        parsed = {} if adjustments == "{}" else json.loads(adjustments)
        places.append(Place(*columns, parsed))
    return places


def match(db: World, table: str, text: str) -> list[Place]:
    """Return the places that a text names: one by id, or all towns that it may mean.

    `City, State` narrows them to a state, written out or as two letters.
    """
    known = _places(db, table, "p.id=?1", text.strip())
    return known or _towns(db, table, text)


def _towns(db: World, table: str, text: str) -> list[Place]:
    codes = dict(db.sql("SELECT id, abbr FROM weather_cities"))
    every = _places(db, table, "1 ORDER BY c.rowid")
    return towns.matching(
        text, every, lambda place: towns.Named(place.name, codes[place.city], place.state)
    )


def search(db: World, table: str, query: str, home: str) -> list[Place]:
    """Return the places that a query means or whose names begin like it, the person's home first.

    Where it means none, each word of it may be the beginning of a word of a place's name, state or
    country; those with the most such words are returned.
    """
    found = _towns(db, table, query) or _begun(db, table, query)
    return sorted(found, key=lambda place: place.id != home)


def _begun(db: World, table: str, query: str) -> list[Place]:
    """Return the places of which most words of a query are beginnings."""
    wanted = words_search.meaningful(query)
    matches = []
    for place in _places(db, table, "1 ORDER BY c.rowid"):
        words = words_search.words(f"{place.name} {place.state} {place.country}")
        # A state or country alone tells nothing if the query has a name as well.
        in_name = [w for w in wanted if _begins_a_word(w, words_search.words(place.name))]
        begun = [w for w in wanted if _begins_a_word(w, words)]
        matches.append((len(begun), len(in_name), place))
    most = max((counts[:2] for counts in matches), default=(0, 0))
    if most == (0, 0):
        return []
    return [place for *counts, place in matches if tuple(counts) == most]


def _begins_a_word(beginning: str, words: list[str]) -> bool:
    return any(word.startswith(beginning) for word in words)


def by_id(db: World, table: str, place_id: str) -> Place:
    """Return the place with an id that is known to exist."""
    return _places(db, table, "p.id=?", place_id)[0]


def place_of(
    service: Service, table: str, text: str, home: str, search_tool: str, id_name: str
) -> Place:
    """Return the one place that a text names; of several, the person's home.

    Raises LOCATION_NOT_FOUND, or AMBIGUOUS_LOCATION with the candidates; `id_name` is the
    provider's name for the id of a place.
    """
    places = match(service.db, table, text)
    if len(places) == 1:
        return places[0]
    for place in places:
        if place.id == home:
            return place
    if not places:
        service.fail(
            "LOCATION_NOT_FOUND",
            f"There is no location called '{text}'.",
            f"Call {search_tool} to find the location, then pass its {id_name}.",
            location=text,
        )
    names = "; ".join(f"{p.name}, {p.state}" for p in places)
    service.fail(
        "AMBIGUOUS_LOCATION",
        f"'{text}' matches {len(places)} locations: {names}.",
        f'Pass "City, State" or the {id_name} of the one you mean.',
        candidates=[
            {id_name: p.id, "name": p.name, "state": p.state, "country": p.country} for p in places
        ],
    )


# -- dates and horizons -----------------------------------------------------------------------
def past_date(
    service: Service, place: Place, text: str, days: int, unknown: str, forecast_tool: str
) -> date:
    """Return a local date that is over and at most so many days ago.

    Any other date is refused with the message `unknown`; `forecast_tool` is the tool for today and
    later.
    """
    when = date.fromisoformat(text)
    today = place.local(service.now).date()
    first = today - timedelta(days=days)
    last = today - timedelta(days=1)
    if not first <= when <= last:
        hint = f"Ask for a date from {first} to {last}."
        if when > last:
            hint += f" For today and later, call {forecast_tool}."
        service.fail(
            "DATE_NOT_FOUND", unknown, hint, earliest=first.isoformat(), latest=last.isoformat()
        )
    return when


def check_horizon(service: Service, code: str, what: str, value: int, most: int) -> None:
    """Refuse a number of hours or days that the forecast does not cover."""
    if not 1 <= value <= most:
        service.fail(
            code,
            f"{what} must be between 1 and {most}, not {value}.",
            f"Ask for at most {most} {what}.",
            maximum=most,
        )


# -- alerts -----------------------------------------------------------------------------------
def alerts(db: World, table: str, city: str, time: str) -> list[Row]:
    """Return the alerts that are public and not over, by start."""
    return db.rows(table, "city=? AND issued<=? AND ends>?", city, time, time, order="starts, id")
