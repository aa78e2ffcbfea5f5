"""What every topic of The Weather Channel needs: its tables, its words, places by name, the account's units."""

from __future__ import annotations

from typing import Any

from servers.kit.service import Codes, Service
from servers.kit.store import Table
from servers.weather import _account as account
from servers.weather import _derived as d
from servers.weather import _rules as rules
from servers.weather._physics import Hour
from servers.weather._rules import Place
from servers.weather._units import Units, units

PLACES = "weather_com_locations"
ALERTS = "weather_com_alerts"
SAVED = "weather_com_saved"
PROFILE = "weather_com_profile"
CANONICAL = {
    "fahrenheit": "F",
    "celsius": "C",
    "mph": "mph",
    "kmh": "kmh",
    "ms": "ms",
    "knots": "knots",
}
CANONICAL |= {"inches": "in", "mm": "mm", "miles": "mi", "km": "km"}
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


class Base(Service):
    """Tables and helpers of the provider."""

    shared_tables = rules.SHARED_TABLES
    tables = {
        PLACES: Table("id:str number:int " + rules.PLACE, index=("city",)),
        ALERTS: rules.ALERTS,
        PROFILE: Table(
            "id:str email:str default_location:str temperature:str wind:str precipitation:str distance:str timezone:str"
        ),
        SAVED: Table("id:str label:str location:str created:str", index=("location",)),
    }
    codes = Codes()

    def place(self, location: str) -> Place:
        """Return the one place that a text means; see `rules.place_of` for errors."""
        return rules.place_of(self, PLACES, location, "search_location", "location_id")

    def unit_words(self) -> dict[str, str]:
        """Return the account's units in the provider's words."""
        return account.unit_words(self.db, PROFILE)

    def converter(self, words: dict[str, str]) -> Units:
        """Return the converter for units: whole degrees Fahrenheit, tenths of degrees Celsius."""
        temperature, wind, rain, far = (CANONICAL[w] for w in words.values())
        return units(temperature, wind, rain, far, 0 if temperature == "F" else 1)

    def row(self, place: Place, hour: Hour, to: Units, words: dict[str, str]) -> dict[str, Any]:
        """Return a measured hour as the provider shows it."""
        measured = rules.reading(place, hour, to, WORDS, d.compass(hour.wind_deg))
        return (
            {"location": named(place)}
            | measured
            | {"uv_index": round(d.uv_index(place.elevation(hour.at), hour.cloud)), "units": words}
        )

    def current(self, place: Place) -> dict[str, Any]:
        """Return the last full hour at a place."""
        words = self.unit_words()
        return self.row(
            place, rules.observe(self.db, place, self.now), self.converter(words), words
        )


def named(place: Place) -> dict[str, Any]:
    """Return a place as replies name it."""
    return {"location_id": place.id, "name": place.name, "state": place.state}
