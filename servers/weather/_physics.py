"""The weather as it is: a function of city and hour, from the city's climate and its events.

Stored hours (`weather_hours`) were written with this function. An hour that is not stored has the
value that it returns, so time may run past the stored ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from statistics import NormalDist
from time import gmtime
from typing import Any, NamedTuple

from servers.kit.noise import smooth
from servers.kit.values import parse_time

HOUR = 3600
DAY = 86_400
_RAMP = 3 * HOUR
_WET_SPREAD = 0.36  # standard deviation of the mixed noise below


class Hour(NamedTuple):
    """One hour in metric units: °C, %, m/s, degrees, hPa, %, mm, µg/m³.

    `at` is its start in epoch seconds.
    """

    at: int
    temp: float
    humidity: int
    wind: float
    wind_deg: int
    pressure: float
    cloud: int
    rain: float
    pm25: float


def monthly(values: list[float], at: int) -> float:
    """Return the value at a moment between twelve monthly normals.

    Each holds in the middle of its month.
    """
    month, share = divmod((gmtime(at).tm_yday - 15.5) / 30.44, 1)
    first = values[int(month) % 12]
    return first + (values[int(month + 1) % 12] - first) * share


def _diurnal(lon: float, at: int) -> float:
    """Return the course of the day by solar time: 1 at its warmest (15 h), -1 at its coldest."""
    return math.cos(((at / HOUR + lon / 15) % 24 - 15) / 24 * 2 * math.pi)


def normal_temp(city: Mapping[str, Any], at: int) -> float:
    """Return the usual temperature (°C) in a city at this time of year and day."""
    high = monthly(city["climate"]["high"], at)
    low = monthly(city["climate"]["low"], at)
    return (high + low) / 2 + (high - low) / 2 * _diurnal(city["lon"], at)


def truth(city: Mapping[str, Any], events: Iterable[Mapping[str, Any]], at: int) -> Hour:
    """Return the hour that begins at `at`.

    `city` is a row of `weather_cities`, `events` are the rows of `weather_events` of that city.
    """
    climate = city["climate"]
    # Weather is mostly the region's, which cities share, and partly the city's own.
    wide = smooth(climate["region"], at, 18 * HOUR)
    local = smooth(city["id"], at, 9 * HOUR)
    wet, warm, breeze, turn, haze = (
        0.65 * w + 0.35 * n for w, n in zip(wide[:5], local[:5], strict=True)
    )
    high = monthly(climate["high"], at)
    low = monthly(climate["low"], at)
    wet_days = monthly(climate["wet_days"], at)
    # It rains while the noise exceeds the level that gives the climate its share of wet hours.
    share = min(0.6, max(0.005, wet_days / 30 * 0.45))
    over = wet - NormalDist(0, _WET_SPREAD).inv_cdf(1 - share)
    rain = monthly(climate["rain"], at) / (720 * share) * over / 0.13 if over > 0 else 0.0
    cloud = min(100.0, max(0.0, 62 + 130 * over + 12 * local[5]))
    swing = _diurnal(city["lon"], at)
    temp = (high + low) / 2 + 4.5 * warm + (high - low) / 2 * (1.1 - 0.5 * cloud / 100) * swing
    wind = climate["wind"] * (1 + 0.7 * breeze + 0.35 * max(0.0, wet) + 0.15 * swing)
    pm25 = climate["pm25"] * (1 + 0.6 * haze) * (0.6 if rain > 0.2 else 1.0)
    for event in events:
        weight = _weight(event, at)
        if weight > 0:
            temp = temp + event["temp"] * weight
            rain = rain + event["rain"] * weight
            wind = wind + event["wind"] * weight
            pm25 = pm25 + event["pm25"] * weight
            cloud = max(cloud, event["cloud"] * weight)
    humidity = monthly(climate["humidity"], at) + 14 * wet - 13 * swing + (8 if rain > 0.2 else 0)
    pressure = 1017 - 14 * wet - (6 if rain > 1 else 0) + 2 * warm
    # Adding 0.0 turns a rounded -0.0 into 0.0.
    return Hour(
        at=at,
        temp=round(temp, 1) + 0.0,
        humidity=int(min(100, max(8, humidity))),
        wind=round(max(0.3, wind), 1),
        wind_deg=int(climate["wind_deg"] + 80 * turn) % 360,
        pressure=round(pressure, 1),
        cloud=int(cloud),
        rain=round(rain, 1) if rain >= 0.1 else 0.0,
        pm25=round(max(0.5, pm25), 1),
    )


def _weight(event: Mapping[str, Any], at: int) -> float:
    """Return how strongly an event acts at a moment; it comes and goes over some hours."""
    since = at - parse_time(event["starts"])
    left = parse_time(event["ends"]) - at
    if since < 0 or left <= 0:
        return 0.0
    return max(0.3, min(1.0, (since + HOUR) / _RAMP, left / _RAMP))
