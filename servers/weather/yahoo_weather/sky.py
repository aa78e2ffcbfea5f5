"""Yahoo Weather: sun, moon and stargazing.

Times are local; sunrise is by NOAA's approximation, and the moon is the mean moon.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from servers.kit.service import Service, reads
from servers.kit.types import Json
from servers.kit.values import Date
from servers.weather import _rules as rules
from servers.weather import _stations as stations
from servers.weather._physics import HOUR
from servers.weather._rules import Location, Place
from servers.weather._sky import (
    illumination,
    moon_phase,
    moon_times,
    next_phase,
    solar_noon,
    sun_crossings,
)
from servers.weather.yahoo_weather._model import ISSUE_OFFSET, date_of, find_place, place_json

NIGHTS = 14
_NIGHT_HOURS = 7
"""The number of hours, from 21 h on, whose cloud cover counts."""

_RATINGS = ("Poor", "Fair", "Good", "Excellent")

Nights = Annotated[
    int,
    Field(
        description="How many nights, 1 to 14, including tonight.",
        json_schema_extra={"minimum": 1, "maximum": NIGHTS},
    ),
]


class Sky(Service):
    """Tools for the sun and the moon."""

    @reads(example={"location": "Portland, Oregon"})
    def get_astronomy(self, location: Location) -> Json:
        """Get today's sunrise, solar noon and sunset (local time) and the day length in minutes."""
        place = find_place(self, location)
        today = place.local(self.now).date()
        sun = sun_crossings(place.lat, place.lon, today)
        return {
            "place": place_json(place),
            "date": today.isoformat(),
            "sunrise": place.stamp(sun[0]) if sun else None,
            "solar_noon": place.stamp(solar_noon(place.lon, today) // 60 * 60),
            "sunset": place.stamp(sun[1]) if sun else None,
            "day_length_minutes": (sun[1] - sun[0]) // 60 if sun else None,
        }

    @reads(example={"location": "Hood River", "days": 5})
    def get_astronomy_forecast(self, location: Location, days: Nights = 7) -> Json:
        """Get the moon and a stargazing score of 1 to 10 for tonight and up to 13 more nights.

        The cloud_cover_pct is the mean cloud cover from 9 PM to 3 AM.
        """
        rules.check_horizon(self, "INVALID_DAYS", "days", days, NIGHTS)
        place = find_place(self, location)
        issue = stations.issued(self.now, ISSUE_OFFSET)
        today = place.local(self.now).date()
        dates = [today + timedelta(days=n) for n in range(days)]
        evenings = [(place.day(when)[0] + 21 * HOUR) // HOUR * HOUR for when in dates]
        count = (evenings[-1] - evenings[0]) // HOUR + _NIGHT_HOURS
        outlooks = stations.forecast(self.db, self.name, place, issue, evenings[0], count)
        clouds = {outlook.hour.at: outlook.hour.cloud for outlook in outlooks}
        rows = []
        for when, evening in zip(dates, evenings, strict=True):
            cloud = sum(clouds[evening + i * HOUR] for i in range(_NIGHT_HOURS)) // _NIGHT_HOURS
            lit = illumination(evening)
            score = max(1, round(1 + 9 * (1 - cloud / 100) * (1 - 0.6 * lit / 100)))
            rating = _RATINGS[min(3, (score - 1) // 3)]
            rows.append(
                {
                    "date": when.isoformat(),
                    "moon_phase": moon_phase(evening),
                    "illumination_percent": lit,
                    "cloud_cover_pct": cloud,
                    "stargazing_score": score,
                    "stargazing_rating": rating,
                }
            )
        return {"place": place_json(place), "issued_at": place.stamp(issue), "days": rows}

    @reads(example={"location": "Portland, Oregon", "date": "2026-03-28"})
    def get_moon_phase(self, location: Location, date: Date | None = None) -> Json:
        """Get the moon's phase and illumination, moonrise and moonset on a date (default today).

        Moonrise and moonset are accurate to about an hour, the next phases to a day.
        """
        place = find_place(self, location)
        when = date_of(self, place, date)
        noon = solar_noon(place.lon, when)
        rise, set_ = moon_times(place.lon, when)
        return {
            "place": place_json(place),
            "date": when.isoformat(),
            "phase": moon_phase(noon),
            "illumination_percent": illumination(noon),
            "moonrise": place.stamp(rise),
            "moonset": place.stamp(set_),
            "next_full_moon": place.local(next_phase(noon, 0.5)).date().isoformat(),
            "next_new_moon": place.local(next_phase(noon, 0.0)).date().isoformat(),
        }

    @reads(example={"location": "Hood River", "date": "2026-03-28"})
    def get_golden_hour(self, location: Location, date: Date | None = None) -> Json:
        """Get the golden and blue hours of a date's morning and evening, in local time.

        In the golden hour the sun is between -4 and 6 degrees high, in the blue hour between -6
        and -4. The date defaults to today.
        """
        place = find_place(self, location)
        when = date_of(self, place, date)
        high = sun_crossings(place.lat, place.lon, when, 6)
        low = sun_crossings(place.lat, place.lon, when, -4)
        dark = sun_crossings(place.lat, place.lon, when, -6)
        return {
            "place": place_json(place),
            "date": when.isoformat(),
            "morning": {
                "blue_hour": _span(place, dark, low, 0),
                "golden_hour": _span(place, low, high, 0),
            },
            "evening": {
                "golden_hour": _span(place, high, low, 1),
                "blue_hour": _span(place, low, dark, 1),
            },
        }


def _span(
    place: Place, first: tuple[int, int] | None, last: tuple[int, int] | None, side: int
) -> dict[str, str] | None:
    """Return the span between two crossings of the sun, its rise (`side` 0) or its set (1)."""
    if first is None or last is None:
        return None
    return {"start": place.stamp(first[side]), "end": place.stamp(last[side])}
