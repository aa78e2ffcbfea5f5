"""The units that a user chose: exact conversion from metric, rounded once."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from servers.weather import _derived as d


@dataclass(slots=True, frozen=True)
class Units:
    """Converts metric values exactly, then rounds.

    Temperature and wind are rounded to `places`, rain to 0.01 in or 0.1 mm, the rest to 0.1. Units
    are F or C; mph, kmh, ms or knots; in or mm; mi or km. Each provider has its own words for them.
    """

    temperature: str
    wind: str
    precipitation: str
    distance: str
    places: int = 1

    def temp(self, celsius: float) -> float:
        """Return a temperature."""
        degrees = d.fahrenheit(celsius) if self.temperature == "F" else celsius
        return round(degrees, self.places) + 0.0  # not -0.0

    def difference(self, celsius: float) -> float:
        """Return a difference of temperatures."""
        degrees = celsius * 9 / 5 if self.temperature == "F" else celsius
        return round(degrees, 1) + 0.0

    def speed(self, ms: float) -> float:
        """Return a wind speed."""
        places = 1 if self.wind == "ms" else self.places
        return round(d.wind_in(ms, self.wind), places)

    def rain(self, mm: float) -> float:
        """Return an amount of precipitation."""
        if self.precipitation == "in":
            return round(d.inches(mm), 2)
        return round(mm, 1)

    def far(self, km: float) -> float:
        """Return a distance."""
        distance = d.miles(km) if self.distance == "mi" else km
        return round(distance, 1)


@functools.lru_cache(256)
def units(temperature: str, wind: str, precipitation: str, distance: str, places: int) -> Units:
    """Return the converter for a choice of units."""
    return Units(temperature, wind, precipitation, distance, places)
