"""What The Weather Channel's topics share: tables, words, place look-up, the account's units."""

from __future__ import annotations

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json
from servers.weather import _account as account
from servers.weather import _derived as d
from servers.weather import _rules as rules
from servers.weather import _stations as stations
from servers.weather._rules import Place
from servers.weather._units import Units, units

PLACES = "weather_com_locations"
ALERTS = "weather_com_alerts"
SAVED = "weather_com_saved"
PROFILE = "weather_com_profile"

TABLES = {
    PLACES: Table("id:str number:int " + rules.PLACE, index=("city",), catalogue=True),
    ALERTS: rules.ALERTS,
    PROFILE: Table(
        f"id:str email:str/matter default_location:str/ref {account.UNITS} timezone:str/matter",
        noun=account.PROFILE_NOUN,
    ),
    SAVED: account.SAVED,
}

CANONICAL = {
    "fahrenheit": "F",
    "celsius": "C",
    "mph": "mph",
    "kmh": "kmh",
    "ms": "ms",
    "knots": "knots",
    "inches": "in",
    "mm": "mm",
    "miles": "mi",
    "km": "km",
}
"""The provider's words for units, as `Units` knows them."""

WORDS: dict[str, str] = {
    "clear": "Clear",
    "partly_cloudy": "Partly Cloudy",
    "mostly_cloudy": "Mostly Cloudy",
    "cloudy": "Cloudy",
    "fog": "Fog",
    "light_rain": "Light Rain",
    "rain": "Rain",
    "heavy_rain": "Heavy Rain",
    "sleet": "Wintry Mix",
    "light_snow": "Light Snow",
    "snow": "Snow",
    "heavy_snow": "Heavy Snow",
}
"""The provider's words for the kinds of weather."""


def home(service: Service) -> str:
    """Return the id of the person's own place."""
    return account.profile(service.db, PROFILE)["default_location"]


def find_place(service: Service, location: str) -> Place:
    """Return the one place that a text names; see `rules.place_of` for errors."""
    return rules.place_of(
        service, PLACES, location, home(service), "search_location", "location_id"
    )


def place_json(place: Place) -> Json:
    """Return the fields by which replies identify a place."""
    return {"location_id": place.id, "name": place.name, "state": place.state}


def unit_words(service: Service) -> dict[str, str]:
    """Return the account's units in the provider's words."""
    return account.unit_words(service.db, PROFILE)


def converter(words: dict[str, str]) -> Units:
    """Return the converter to units: whole degrees Fahrenheit, tenths of degrees Celsius."""
    temperature, wind, rain, distance = (CANONICAL[word] for word in words.values())
    return units(temperature, wind, rain, distance, 0 if temperature == "F" else 1)


def current_json(service: Service, place: Place) -> Json:
    """Return the last full hour at a place, as the provider shows it."""
    words = unit_words(service)
    hour = stations.observe(service.db, place, service.now)
    return {
        "location": place_json(place),
        **stations.reading(place, hour, converter(words), WORDS, d.compass(hour.wind_deg)),
        "uv_index": round(d.uv_index(place.elevation(hour.at), hour.cloud)),
        "units": words,
    }
