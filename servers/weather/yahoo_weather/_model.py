"""What Yahoo Weather's topics share: tables, words, place look-up, the profile's units."""

from __future__ import annotations

from datetime import date

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json
from servers.weather import _account as account
from servers.weather import _derived as d
from servers.weather import _rules as rules
from servers.weather import _stations as stations
from servers.weather._rules import Place
from servers.weather._units import Units, units

PLACES = "yahoo_weather_places"
ALERTS = "yahoo_weather_alerts"
BOOKMARKS = "yahoo_weather_bookmarks"
PROFILE = "yahoo_weather_profile"

TABLES = {
    PLACES: Table("id:str " + rules.PLACE, index=("city",), catalogue=True),
    ALERTS: rules.ALERTS,
    PROFILE: Table(
        f"id:str email:str/matter home_location:str/ref {account.UNITS} timezone:str/matter",
        noun=account.PROFILE_NOUN,
    ),
    BOOKMARKS: account.SAVED,
}

CANONICAL = {
    "F": "F",
    "C": "C",
    "mph": "mph",
    "km/h": "kmh",
    "m/s": "ms",
    "kt": "knots",
    "in": "in",
    "mm": "mm",
    "mi": "mi",
    "km": "km",
}
"""The provider's words for units, as `Units` knows them."""

ISSUE_OFFSET = 3
"""Outlooks are issued every six hours from this hour (UTC) on."""

WORDS: dict[str, str] = {
    "clear": "Clear skies",
    "partly_cloudy": "Some clouds",
    "mostly_cloudy": "Mostly cloudy",
    "cloudy": "Overcast",
    "fog": "Foggy",
    "light_rain": "Drizzle",
    "rain": "Rain showers",
    "heavy_rain": "Heavy rain",
    "sleet": "Mixed rain and snow",
    "light_snow": "Snow flurries",
    "snow": "Snow showers",
    "heavy_snow": "Heavy snow",
}
"""The provider's words for the kinds of weather."""


def home(service: Service) -> str:
    """Return the id of the person's own place."""
    return account.profile(service.db, PROFILE)["home_location"]


def find_place(service: Service, location: str) -> Place:
    """Return the one place that a text names; see `rules.place_of` for errors."""
    return rules.place_of(service, PLACES, location, home(service), "resolve_location", "woeid")


def place_json(place: Place) -> Json:
    """Return the fields by which replies identify a place."""
    return {"woeid": place.id, "name": place.name, "state": place.state}


def unit_words(service: Service) -> dict[str, str]:
    """Return the profile's units in the provider's words."""
    return account.unit_words(service.db, PROFILE)


def converter(words: dict[str, str]) -> Units:
    """Return the converter to units; this provider shows one decimal."""
    temperature, wind, rain, distance = (CANONICAL[word] for word in words.values())
    return units(temperature, wind, rain, distance, 1)


def current_json(service: Service, place: Place) -> Json:
    """Return the last full hour at a place, as the provider shows it."""
    words = unit_words(service)
    hour = stations.observe(service.db, place, service.now)
    return {
        "place": place_json(place),
        **stations.reading(place, hour, converter(words), WORDS, hour.wind_deg),
        "uv_index": d.uv_index(place.elevation(hour.at), hour.cloud),
        "units": words,
    }


def date_of(service: Service, place: Place, text: str | None) -> date:
    """Return the local date that a text means, today by default.

    Refuses a date more than a year away.
    """
    today = place.local(service.now).date()
    when = today if text is None else date.fromisoformat(text)
    if abs((when - today).days) > 366:
        service.fail(
            "DATE_NOT_FOUND",
            f"{text} is more than a year from today.",
            f"Choose a date within a year of {today}.",
        )
    return when
