"""Yahoo Weather: what is usual here, and how today compares; also the converter of temperatures."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.service import reads
from servers.weather import _derived as d
from servers.weather import _rules as rules
from servers.weather._physics import monthly, normal_temp
from servers.weather._rules import Location, Place
from servers.weather.yahoo_weather._model import Base, named

_MONTHS = (
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
)

Month = Annotated[
    Literal[
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
    ],
    Field(description="Month; this month when left out."),
]
Degrees = Annotated[
    float, Field(ge=-1000, le=100_000, allow_inf_nan=False, description="Temperature to convert.")
]
Scale = Annotated[
    Literal["F", "C"], Field(description="Unit of the value; the answer is in the other one.")
]


class Climate(Base):
    """Monthly normals and comparisons with them."""

    def _climate(self, place: Place) -> dict[str, Any]:
        return self.db.get("weather_cities", place.city) or {}

    @reads(example={"location": "Hood River", "month": "march"})
    def get_historical_average(
        self, location: Location, month: Month | None = None
    ) -> dict[str, Any]:
        """Return the long-term averages of a month: daily high and low, monthly precipitation (profile's units), humidity (percent)."""
        place = self.place(location)
        words = self.unit_words()
        number = place.local(self.now).month - 1 if month is None else _MONTHS.index(month)
        climate = self._climate(place)["climate"]
        to = self.converter(words)
        high, low, rain, wet = (climate[n][number] for n in ("high", "low", "rain", "wet_days"))
        sky = "wet" if wet >= 12 else "changeable" if wet >= 7 else "mostly dry"
        air = (
            "hot"
            if high >= 30
            else "warm"
            if high >= 22
            else "mild"
            if high >= 12
            else "cool"
            if high >= 4
            else "cold"
        )
        return {
            "place": named(place),
            "month": _MONTHS[number],
            "avg_temp_high": to.temp(high),
            "avg_temp_low": to.temp(low),
            "avg_precipitation": to.rain(rain),
            "avg_humidity": climate["humidity"][number],
            "typical_conditions": f"{air.capitalize()} and {sky}, precipitation on about {wet} days",
            "units": words,
        }

    @reads(example={"location": "Chicago"})
    def compare_to_historical(self, location: Location) -> dict[str, Any]:
        """Compare the latest observation with what is usual at this time of year and day; deviations in the profile's unit and %."""
        place = self.place(location)
        words = self.unit_words()
        hour = rules.observe(self.db, place, self.now)
        to = self.converter(words)
        city = self._climate(place)
        usual = normal_temp(city, hour.at)
        damp = monthly(city["climate"]["humidity"], hour.at)
        off = hour.temp - usual
        way = (
            "close to"
            if abs(off) < 1.5
            else ("well " if abs(off) >= 5 else "") + ("above" if off > 0 else "below")
        )
        return {
            "place": named(place),
            "observed_at": place.stamp(hour.at),
            "current": {"temperature": to.temp(hour.temp), "humidity": hour.humidity},
            "historical": {"temperature": to.temp(usual), "humidity": round(damp)},
            "deviation": {
                "temperature": to.difference(off),
                "humidity_pct": round((hour.humidity - damp) / damp * 100),
            },
            "summary": f"The temperature in {place.name} is {way} what is usual at this time.",
            "units": words,
        }

    @reads(example={"value": 50.0, "from_unit": "F"})
    def convert_temperature(self, value: Degrees, from_unit: Scale) -> dict[str, Any]:
        """Convert a temperature from Fahrenheit to Celsius or back, to two decimals. Nothing is colder than absolute zero (-273.15 °C)."""
        cold = d.celsius(value) if from_unit == "F" else value
        if cold < -273.15 - 1e-9:
            self.fail(
                self.codes.invalid,
                f"{value} {from_unit} is below absolute zero.",
                "Give a value from -459.67 F or -273.15 C on.",
            )
        converted = d.celsius(value) if from_unit == "F" else d.fahrenheit(value)
        return {
            "original": value,
            "converted": round(converted, 2) + 0.0,
            "from_unit": from_unit,
            "to_unit": "C" if from_unit == "F" else "F",
        }
