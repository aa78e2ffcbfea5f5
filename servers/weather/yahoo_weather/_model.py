"""What every topic of Yahoo Weather needs: its tables, its words, places by name, the profile's units."""

from __future__ import annotations

from datetime import date
from typing import Any

from servers.kit.service import Codes, Service
from servers.kit.store import Table
from servers.weather import _account as account
from servers.weather import _derived as d
from servers.weather import _rules as rules
from servers.weather._physics import Hour
from servers.weather._rules import Place
from servers.weather._units import Units, units

PLACES = "yahoo_weather_places"
ALERTS = "yahoo_weather_alerts"
BOOKMARKS = "yahoo_weather_bookmarks"
PROFILE = "yahoo_weather_profile"
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
ISSUE = 3
"""Outlooks are issued every six hours from 03 UTC on."""

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


class Base(Service):
    """Tables and helpers of the provider."""

    shared_tables = rules.SHARED_TABLES
    tables = {
        PLACES: Table("id:str " + rules.PLACE, index=("city",)),
        ALERTS: rules.ALERTS,
        PROFILE: Table(
            "id:str email:str home_location:str temperature:str wind:str precipitation:str distance:str timezone:str"
        ),
        BOOKMARKS: Table("id:str label:str location:str created:str", index=("location",)),
    }
    codes = Codes(
        invalid="INVALID_PARAMETER",
        rate_limited="TOO_MANY_REQUESTS",
        timeout="GATEWAY_TIMEOUT",
        internal="INTERNAL_SERVER_ERROR",
    )

    def place(self, location: str) -> Place:
        """Return the one place that a text means; see `rules.place_of` for errors."""
        return rules.place_of(self, PLACES, location, "resolve_location", "woeid")

    def unit_words(self) -> dict[str, str]:
        """Return the profile's units in the provider's words."""
        return account.unit_words(self.db, PROFILE)

    def converter(self, words: dict[str, str]) -> Units:
        """Return the converter for units; this provider shows one decimal."""
        temperature, wind, rain, far = (CANONICAL[w] for w in words.values())
        return units(temperature, wind, rain, far, 1)

    def row(self, place: Place, hour: Hour, to: Units, words: dict[str, str]) -> dict[str, Any]:
        """Return a measured hour as the provider shows it."""
        measured = rules.reading(place, hour, to, WORDS, hour.wind_deg)
        return (
            {"place": named(place)}
            | measured
            | {"uv_index": d.uv_index(place.elevation(hour.at), hour.cloud), "units": words}
        )

    def current(self, place: Place) -> dict[str, Any]:
        """Return the last full hour at a place."""
        words = self.unit_words()
        return self.row(
            place, rules.observe(self.db, place, self.now), self.converter(words), words
        )

    def date_of(self, place: Place, text: str | None) -> date:
        """Return the local date that is meant, today by default; refuse one more than a year away."""
        today = place.local(self.now).date()
        when = today if text is None else date.fromisoformat(text)
        if abs((when - today).days) > 366:
            self.fail(
                "DATE_NOT_FOUND",
                f"{text} is more than a year away.",
                f"Ask for a date within a year of {today}.",
            )
        return when


def named(place: Place) -> dict[str, Any]:
    """Return a place as replies name it."""
    return {"woeid": place.id, "name": place.name, "state": place.state}
