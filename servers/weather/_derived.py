"""Quantities derived from measured ones by published formulas, and exact unit conversion.

Arguments are metric unless their name says otherwise.
"""

from __future__ import annotations

import math
from typing import NamedTuple

_POINTS = (
    "N",
    "NNE",
    "NE",
    "ENE",
    "E",
    "ESE",
    "SE",
    "SSE",
    "S",
    "SSW",
    "SW",
    "WSW",
    "W",
    "WNW",
    "NW",
    "NNW",
)
_WIND = {"ms": 1.0, "mph": 3600 / 1609.344, "kmh": 3.6, "knots": 3600 / 1852}
BEAUFORT = (
    (0.5, "Calm"),
    (1.6, "Light air"),
    (3.4, "Light breeze"),
    (5.5, "Gentle breeze"),
    (8.0, "Moderate breeze"),
    (10.8, "Fresh breeze"),
    (13.9, "Strong breeze"),
    (17.2, "Near gale"),
    (20.8, "Gale"),
    (24.5, "Strong gale"),
    (28.5, "Storm"),
    (32.7, "Violent storm"),
    (math.inf, "Hurricane"),
)
_AQI = (
    ("Good", 50),
    ("Moderate", 100),
    ("Unhealthy for Sensitive Groups", 150),
    ("Unhealthy", 200),
    ("Very Unhealthy", 300),
    ("Hazardous", 500),
)


class _Bands(NamedTuple):
    """A pollutant's bands: the step of its scale, how many steps a unit has, and the upper ends."""

    step: float
    steps_per_unit: float
    ends: tuple[float, ...]


# EPA-454/B-24-002 (May 2024), table 6; PM in µg/m³ (24 h), ozone in ppm (8 h), NO2 in ppb (1 h)
_BANDS = {
    "pm25": _Bands(0.1, 10, (9.0, 35.4, 55.4, 125.4, 225.4, 325.4)),
    "pm10": _Bands(1, 1, (54, 154, 254, 354, 424, 604)),
    "ozone": _Bands(0.001, 1000, (0.054, 0.070, 0.085, 0.105, 0.200, 0.604)),
    "no2": _Bands(1, 1, (53, 100, 360, 649, 1249, 2049)),
}
_UV_CATEGORIES = (
    (2, "Low"),
    (5, "Moderate"),
    (7, "High"),
    (10, "Very High"),
    (99, "Extreme"),
)
_TREND_PACES = (
    (1.5, " slowly"),
    (3.5, ""),
    (6.0, " quickly"),
    (math.inf, " very rapidly"),
)


# -- units ------------------------------------------------------------------------------------


def fahrenheit(celsius: float) -> float:
    """Convert °C to °F."""
    return celsius * 9 / 5 + 32


def celsius(fahrenheit: float) -> float:
    """Convert °F to °C."""
    return (fahrenheit - 32) * 5 / 9


def wind_in(speed: float, unit: str) -> float:
    """Convert m/s to `ms`, `mph`, `kmh` or `knots`."""
    return speed * _WIND[unit]


def inches(mm: float) -> float:
    """Convert millimetres to inches."""
    return mm / 25.4


def miles(km: float) -> float:
    """Convert kilometres to statute miles."""
    return km / 1.609344


# -- felt temperature, wind and sight ---------------------------------------------------------
def feels_like(temp: float, humidity: float, wind: float) -> float:
    """Return the felt temperature (°C).

    NWS wind chill (2001) up to 50 °F, NWS heat index (Rothfusz 1990) from 80 °F, else `temp`.
    """
    t = fahrenheit(temp)
    speed = wind_in(wind, "mph")
    if t <= 50 and speed > 3:
        power = speed**0.16
        return celsius(35.74 + 0.6215 * t - 35.75 * power + 0.4275 * t * power)
    if t < 80:
        return temp
    r = humidity
    index = (
        -42.379
        + 2.04901523 * t
        + 10.14333127 * r
        - 0.22475541 * t * r
        - 6.83783e-3 * t * t
        - 5.481717e-2 * r * r
    )
    index += 1.22874e-3 * t * t * r + 8.5282e-4 * t * r * r - 1.99e-6 * t * t * r * r
    return celsius(max(t, index)) if r >= 40 else temp


def compass(degrees: float) -> str:
    """Return one of the sixteen points of the compass."""
    return _POINTS[int((degrees + 11.25) // 22.5) % 16]


def beaufort(speed: float) -> tuple[int, str]:
    """Return the force and name of a speed in m/s on the Beaufort scale.

    From WMO-No. 306, code table 1100.
    """
    return next((force, name) for force, (end, name) in enumerate(BEAUFORT) if speed < end)


def gust(speed: float, rain: float) -> float:
    """Return the gust (m/s) that goes with a mean wind: 1.4 times it, and more in showers."""
    return speed * (1.4 + min(0.4, rain * 0.1))


def visibility(rain: float, temp: float, humidity: float, wind: float) -> float:
    """Return the visibility in km, at most 16 (10 miles, the most that US stations report)."""
    if is_fog(rain, humidity, wind):
        return 0.8
    return 16 / (1 + rain * (4 if temp <= 1 else 0.9))


def is_fog(rain: float, humidity: float, wind: float) -> bool:
    """Return whether damp, still air without rain hangs as fog."""
    return rain == 0 and humidity >= 97 and wind < 1.5


# -- sun --------------------------------------------------------------------------------------
def uv_index(elevation: float, cloud: float) -> float:
    """Return the UV index for a sun elevation (degrees) and a cloud cover (%).

    12.5 cos(zenith)^2.42 at 300 DU (Madronich 2007), less the clouds' share by Kasten and Czeplak
    (1980).
    """
    height = math.sin(math.radians(elevation))
    if height <= 0:
        return 0.0
    return round(12.5 * height**2.42 * (1 - 0.75 * (cloud / 100) ** 3.4), 1)


def uv_category(index: float) -> str:
    """Return the WHO's exposure category (Global Solar UV Index, 2002) for the rounded index."""
    whole = int(index + 0.5)
    return next(name for end, name in _UV_CATEGORIES if whole <= end)


def burn_minutes(index: float) -> int | None:
    """Return the minutes to a sunburn of fair skin, or None without UV.

    Fair skin is Fitzpatrick II, which burns at 250 J/m²; one index point is 25 mW/m².
    """
    return int(250 / (0.025 * index) / 60) if index >= 0.1 else None


# -- air --------------------------------------------------------------------------------------
class Air(NamedTuple):
    """Air quality: pollutants (PM in µg/m³, gases in ppb), and the index of the worst of them.

    `primary` is that pollutant and `category` the EPA's word for the index.
    """

    pm25: float
    pm10: int
    ozone: int
    no2: int
    aqi: int
    category: str
    primary: str


def air(pm25: float, elevation: float, cloud: float, wind: float) -> Air:
    """Return air quality from fine dust and the weather.

    Coarse dust and NO2 follow fine dust and the wind; ozone follows sunlight.
    """
    sun = max(0.0, math.sin(math.radians(elevation))) * (1 - 0.5 * cloud / 100)
    pm10 = int(pm25 * 1.8 + wind)
    ozone = int(24 + 26 * sun)
    no2 = int(6 + pm25 * 0.8 / (1 + wind / 4))
    indices = {
        "pm25": aqi("pm25", pm25),
        "pm10": aqi("pm10", pm10),
        "ozone": aqi("ozone", ozone / 1000),
        "no2": aqi("no2", no2),
    }
    primary = max(indices, key=lambda n: indices[n])
    return Air(pm25, pm10, ozone, no2, indices[primary], aqi_category(indices[primary]), primary)


def aqi(pollutant: str, amount: float) -> int:
    """Return the US EPA's air quality index of one pollutant (`pm25`, `pm10`, `ozone`, `no2`).

    Amounts are truncated as the EPA prescribes.
    """
    bands = _BANDS[pollutant]
    amount = math.floor(amount * bands.steps_per_unit + 1e-9) / bands.steps_per_unit
    low = 0.0
    index_low = 0
    for end, (_, index_high) in zip(bands.ends, _AQI, strict=True):
        if amount <= end:
            slope = (index_high - index_low) / (end - low)
            return round(slope * max(0.0, amount - low) + index_low)
        low = end + bands.step
        index_low = index_high + 1
    return 500


def aqi_category(index: int) -> str:
    """Return the EPA's category for an index."""
    return next(name for name, end in _AQI if index <= end)


# -- pressure ---------------------------------------------------------------------------------
class Trend(NamedTuple):
    """How the pressure changes: `steady`, `rising` or `falling`, and a description."""

    way: str
    description: str


def pressure_trend(change: float) -> Trend:
    """Return the trend of a change in hPa over three hours.

    The terms are those of the UK Met Office's marine glossary.
    """
    size = abs(change)
    if size < 0.1:
        return Trend("steady", "Steady")
    pace = next(word for end, word in _TREND_PACES if size <= end)
    way = "rising" if change > 0 else "falling"
    return Trend(way, (way + pace).capitalize())


# -- pollen -----------------------------------------------------------------------------------
POLLEN_SCALES = {"tree": (15, 90, 1500), "grass": (5, 20, 200), "ragweed": (10, 50, 500)}
"""Grains/m³ from which the US National Allergy Bureau rates pollen moderate, high and very high."""


def pollen_level(kind: str, grains: int) -> str:
    """Return the National Allergy Bureau's level for a count."""
    if grains == 0:
        return "none"
    moderate, high, very_high = POLLEN_SCALES[kind]
    if grains < moderate:
        return "low"
    if grains < high:
        return "moderate"
    return "high" if grains < very_high else "very high"
