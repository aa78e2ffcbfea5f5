"""Sun and moon, by published approximations."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from time import gmtime

SYNODIC = 29.530588853
"""Days from new moon to new moon (mean; Meeus, *Astronomical Algorithms*, chapter 49)."""

_NEW_MOON = 947_182_440  # 2000-01-06T18:14Z
_DAY = 86_400
_PHASES = (
    "New Moon",
    "Waxing Crescent",
    "First Quarter",
    "Waxing Gibbous",
    "Full Moon",
    "Waning Gibbous",
    "Last Quarter",
    "Waning Crescent",
)


# -- sun --------------------------------------------------------------------------------------
def _sun(at: float) -> tuple[float, float]:
    """Return the equation of time (minutes) and the declination (radians).

    From NOAA's *General Solar Position Calculations*.
    """
    moment = gmtime(at)
    g = 2 * math.pi / 365 * (moment.tm_yday - 1 + (moment.tm_hour - 12) / 24)
    sin = math.sin
    cos = math.cos
    equation = 229.18 * (
        0.000075
        + 0.001868 * cos(g)
        - 0.032077 * sin(g)
        - 0.014615 * cos(2 * g)
        - 0.040849 * sin(2 * g)
    )
    declination = (
        0.006918
        - 0.399912 * cos(g)
        + 0.070257 * sin(g)
        - 0.006758 * cos(2 * g)
        + 0.000907 * sin(2 * g)
    )
    return equation, declination - 0.002697 * cos(3 * g) + 0.00148 * sin(3 * g)


def sun_elevation(lat: float, lon: float, at: int) -> float:
    """Return the sun's elevation in degrees at a moment (same source, without refraction)."""
    equation, declination = _sun(at)
    angle = math.radians((at % _DAY / 60 + equation + 4 * lon) / 4 - 180)
    phi = math.radians(lat)
    sine = math.sin(phi) * math.sin(declination)
    sine += math.cos(phi) * math.cos(declination) * math.cos(angle)
    return math.degrees(math.asin(sine))


def solar_noon(lon: float, day: date) -> int:
    """Return the moment when the sun is highest on a local date."""
    midnight = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
    middle = midnight + int((720 - 4 * lon) * 60)
    return middle - int(_sun(middle)[0] * 60)


def sun_crossings(
    lat: float, lon: float, day: date, elevation: float = -0.833
) -> tuple[int, int] | None:
    """Return when the sun rises and sets through an elevation on a local date, or None.

    Moments are whole minutes. The default elevation gives sunrise and sunset by NOAA's
    approximation, which includes refraction and the sun's radius.
    """
    noon = solar_noon(lon, day)
    phi = math.radians(lat)
    declination = _sun(noon)[1]
    sine = math.sin(math.radians(elevation)) - math.sin(phi) * math.sin(declination)
    cosine = sine / (math.cos(phi) * math.cos(declination))
    if not -1 <= cosine <= 1:
        return None
    half = math.degrees(math.acos(cosine)) * 240
    return round((noon - half) / 60) * 60, round((noon + half) / 60) * 60


# -- moon -------------------------------------------------------------------------------------
def moon_age(at: int) -> float:
    """Return the days since the last new moon.

    Counted in mean synodic months from the new moon of 2000-01-06 18:14 UTC.
    """
    return (at - _NEW_MOON) / _DAY % SYNODIC


def moon_phase(at: int) -> str:
    """Return the phase's name. Each of the four main phases lasts a day to either side."""
    age = moon_age(at)
    quarter = SYNODIC / 4
    nearest = round(age / quarter)
    if abs(age - nearest * quarter) < 1:
        return _PHASES[2 * nearest % 8]
    return _PHASES[2 * int(age / quarter) + 1]


def illumination(at: int) -> int:
    """Return the lit part of the mean moon's disc in percent: (1 - cos phase angle) / 2."""
    return round(50 * (1 - math.cos(2 * math.pi * moon_age(at) / SYNODIC)))


def next_phase(at: int, share: float) -> int:
    """Return the next moment of a phase (0 new, 0.5 full), whole minutes."""
    return round((at + (share * SYNODIC - moon_age(at)) % SYNODIC * _DAY) / 60) * 60


def moon_times(lon: float, day: date) -> tuple[int, int]:
    """Return the moonrise and moonset nearest to noon of a local date, to within about an hour.

    The mean moon crosses the meridian after the sun, by its age in synodic months times one day,
    and rises 6 h 12 min before and sets 6 h 12 min after that.
    """
    noon = solar_noon(lon, day)
    transit = noon + int(moon_age(noon) / SYNODIC * _DAY)
    if transit - noon > _DAY // 2:
        transit -= _DAY + 3028
    return (transit - 22_320) // 60 * 60, (transit + 22_320) // 60 * 60
