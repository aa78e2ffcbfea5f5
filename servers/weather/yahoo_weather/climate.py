"""Yahoo Weather: climate averages, how today compares, and a temperature converter."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from servers.kit.service import Service, reads
from servers.kit.types import Json
from servers.weather import _derived as d
from servers.weather import _stations as stations
from servers.weather._physics import monthly, normal_temp
from servers.weather._rules import Location, Place
from servers.weather.yahoo_weather._model import converter, find_place, place_json, unit_words

_WARMTH = ((30, "Hot"), (22, "Warm"), (12, "Mild"), (4, "Cool"), (-math.inf, "Cold"))
"""Words for a month, each from a daily high (°C) on."""

_WETNESS = ((12, "wet"), (7, "changeable"), (0, "mostly dry"))
"""Words for a month, each from a number of wet days on."""

_MonthName = Literal[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTHS: tuple[str, ...] = get_args(_MonthName)

Month = Annotated[_MonthName, Field(description="Month; defaults to the current month.")]
Degrees = Annotated[
    float, Field(ge=-1000, le=100_000, allow_inf_nan=False, description="Temperature to convert.")
]
Scale = Annotated[
    Literal["F", "C"], Field(description="Unit of the value; the result is in the other unit.")
]


def _way(difference: float) -> str:
    """Return how a temperature compares with the usual one, given the difference in °C."""
    size = abs(difference)
    if size < 1.5:
        return "close to"
    way = "above" if difference > 0 else "below"
    return f"well {way}" if size >= 5 else way


class Climate(Service):
    """Tools for monthly averages and comparisons with them."""

    def _climate(self, place: Place) -> dict[str, Any]:
        return self.db.get("weather_cities", place.city) or {}

    @reads(example={"location": "Hood River", "month": "march"})
    def get_historical_average(self, location: Location, month: Month | None = None) -> Json:
        """Get the long-term averages of a month, in the profile's units.

        They are the daily high and low, the precipitation of the month, and humidity in percent.
        """
        place = find_place(self, location)
        words = unit_words(self)
        number = place.local(self.now).month - 1 if month is None else _MONTHS.index(month)
        climate = self._climate(place)["climate"]
        to = converter(words)
        high = climate["high"][number]
        wet_days = climate["wet_days"][number]
        warmth = next(word for least, word in _WARMTH if high >= least)
        wetness = next(word for least, word in _WETNESS if wet_days >= least)
        days = "day" if wet_days == 1 else "days"
        typical = f"{warmth} and {wetness}, precipitation on about {wet_days} {days}"
        return {
            "place": place_json(place),
            "month": _MONTHS[number],
            "avg_temp_high": to.temp(high),
            "avg_temp_low": to.temp(climate["low"][number]),
            "avg_precipitation": to.rain(climate["rain"][number]),
            "avg_humidity": climate["humidity"][number],
            "typical_conditions": typical,
            "units": words,
        }

    @reads(example={"location": "Chicago"})
    def compare_to_historical(self, location: Location) -> Json:
        """Compare the latest observation with the average for this time of year and day.

        The temperature deviation is in the profile's unit, that of humidity in percent.
        """
        place = find_place(self, location)
        words = unit_words(self)
        hour = stations.observe(self.db, place, self.now)
        to = converter(words)
        city = self._climate(place)
        usual = normal_temp(city, hour.at)
        usual_humidity = monthly(city["climate"]["humidity"], hour.at)
        difference = hour.temp - usual
        way = _way(difference)
        humidity_change = (hour.humidity - usual_humidity) / usual_humidity * 100
        return {
            "place": place_json(place),
            "observed_at": place.stamp(hour.at),
            "current": {"temperature": to.temp(hour.temp), "humidity": hour.humidity},
            "historical": {"temperature": to.temp(usual), "humidity": round(usual_humidity)},
            "deviation": {
                "temperature": to.difference(difference),
                "humidity_pct": round(humidity_change),
            },
            "summary": f"The temperature in {place.name} is {way} what is usual at this time.",
            "units": words,
        }

    @reads(example={"value": 50.0, "from_unit": "F"})
    def convert_temperature(self, value: Degrees, from_unit: Scale) -> Json:
        """Convert a temperature between Fahrenheit and Celsius, to two decimals.

        Temperatures below absolute zero (-273.15 °C) are refused.
        """
        cold = d.celsius(value) if from_unit == "F" else value
        if cold < -273.15 - 1e-9:
            self.fail(
                self.codes.invalid,
                f"{value} {from_unit} is below absolute zero.",
                "Give a value of at least -459.67 F or -273.15 C.",
            )
        converted = d.celsius(value) if from_unit == "F" else d.fahrenheit(value)
        return {
            "original": value,
            "converted": round(converted, 2) + 0.0,
            "from_unit": from_unit,
            "to_unit": "C" if from_unit == "F" else "F",
        }
