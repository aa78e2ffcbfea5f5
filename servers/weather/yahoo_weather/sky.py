"""Yahoo Weather: sun, moon and nights for the stars. Times are local; sunrise is by NOAA's approximation, the moon is the mean moon."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from pydantic import Field

from servers.kit.service import reads
from servers.kit.values import Date
from servers.weather import _rules as rules
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
from servers.weather.yahoo_weather._model import ISSUE, Base, named

NIGHTS = 14

Nights = Annotated[
    int,
    Field(
        description="How many days, 1 to 14, tonight included.",
        json_schema_extra={"minimum": 1, "maximum": NIGHTS},
    ),
]


class Sky(Base):
    """Sun and moon."""

    @reads(example={"location": "Portland, Oregon"})
    def get_astronomy(self, location: Location) -> dict[str, Any]:
        """Return today's sunrise, solar noon, sunset (local times) and the length of the day in minutes."""
        place = self.place(location)
        today = place.local(self.now).date()
        sun = sun_crossings(place.lat, place.lon, today)
        return {
            "place": named(place),
            "date": today.isoformat(),
            "sunrise": place.stamp(sun[0]) if sun else None,
            "solar_noon": place.stamp(solar_noon(place.lon, today) // 60 * 60),
            "sunset": place.stamp(sun[1]) if sun else None,
            "day_length_minutes": (sun[1] - sun[0]) // 60 if sun else None,
        }

    @reads(example={"location": "Hood River", "days": 5})
    def get_astronomy_forecast(self, location: Location, days: Nights = 7) -> dict[str, Any]:
        """Return for tonight and up to 13 more nights the moon, the cloud cover (21 to 3 h, %) and a stargazing score of 1 to 10."""
        rules.horizon(self, "INVALID_DAYS", "days", days, NIGHTS)
        place = self.place(location)
        issue = rules.issued(self.now, ISSUE)
        today = place.local(self.now).date()
        rows = []
        evenings = [
            (place.day(today + timedelta(days=n))[0] + 21 * HOUR) // HOUR * HOUR
            for n in range(days)
        ]
        hours = {
            o.hour.at: o.hour.cloud
            for o in rules.forecast(
                self.db,
                self.name,
                place,
                issue,
                evenings[0],
                (evenings[-1] - evenings[0]) // HOUR + 7,
            )
        }
        for number, evening in enumerate(evenings):
            cloud = sum(hours[evening + i * HOUR] for i in range(7)) // 7
            lit = illumination(evening)
            score = max(1, round(1 + 9 * (1 - cloud / 100) * (1 - 0.6 * lit / 100)))
            rows.append(
                {
                    "date": (today + timedelta(days=number)).isoformat(),
                    "moon_phase": moon_phase(evening),
                    "illumination_percent": lit,
                    "cloud_cover_pct": cloud,
                    "stargazing_score": score,
                    "stargazing_rating": ("Poor", "Fair", "Good", "Excellent")[
                        min(3, (score - 1) // 3)
                    ],
                }
            )
        return {"place": named(place), "issued_at": place.stamp(issue), "days": rows}

    @reads(example={"location": "Portland, Oregon", "date": "2026-03-28"})
    def get_moon_phase(self, location: Location, date: Date | None = None) -> dict[str, Any]:
        """Return the moon's phase and lit share on a date (default today), moonrise and moonset to about an hour, next phases to a day."""
        place = self.place(location)
        when = self.date_of(place, date)
        noon = solar_noon(place.lon, when)
        rise, set_ = moon_times(place.lon, when)
        return {
            "place": named(place),
            "date": when.isoformat(),
            "phase": moon_phase(noon),
            "illumination_percent": illumination(noon),
            "moonrise": place.stamp(rise),
            "moonset": place.stamp(set_),
            "next_full_moon": place.local(next_phase(noon, 0.5)).date().isoformat(),
            "next_new_moon": place.local(next_phase(noon, 0.0)).date().isoformat(),
        }

    @reads(example={"location": "Hood River", "date": "2026-03-28"})
    def get_golden_hour(self, location: Location, date: Date | None = None) -> dict[str, Any]:
        """Return golden hour (sun at -4 to 6 degrees) and blue hour (-6 to -4) of a date's morning and evening, local; today by default."""
        place = self.place(location)
        when = self.date_of(place, date)
        high, low, dark = (
            sun_crossings(place.lat, place.lon, when, angle) for angle in (6, -4, -6)
        )
        return {
            "place": named(place),
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
    return (
        {"start": place.stamp(first[side]), "end": place.stamp(last[side])}
        if first and last
        else None
    )
