"""The Weather Channel: forecasts by hour and day, and how well they suit an activity."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.service import reads
from servers.weather import _derived as d
from servers.weather import _rules as rules
from servers.weather._physics import HOUR
from servers.weather._rules import Location, Outlook, Place
from servers.weather._sky import illumination, sun_crossings
from servers.weather.weather_com._model import WORDS, Base, named

HOURS = 48
DAYS = 10
# comfortable from and to (°C), and the wind (m/s) from which it is a nuisance
_ACTIVITIES = {
    "running": (4, 18, 7),
    "cycling": (10, 25, 6),
    "golf": (12, 28, 6),
    "bbq": (15, 30, 5),
    "fishing": (8, 26, 6),
    "skiing": (-12, 1, 8),
    "hiking": (8, 24, 8),
    "stargazing": (2, 25, 6),
}

Hours = Annotated[
    int,
    Field(
        description="How many hours, 1 to 48.", json_schema_extra={"minimum": 1, "maximum": HOURS}
    ),
]
Days = Annotated[
    int,
    Field(
        description="How many days, 1 to 10, today included.",
        json_schema_extra={"minimum": 1, "maximum": DAYS},
    ),
]
Activity = Annotated[
    Literal["running", "cycling", "golf", "bbq", "fishing", "skiing", "hiking", "stargazing"],
    Field(description="What is planned outdoors."),
]


class Forecasts(Base):
    """What the weather will be. New forecasts are issued at 00, 06, 12 and 18 UTC."""

    def _coming(self, place: Place, count: int) -> list[Outlook]:
        first = (self.now // HOUR + 1) * HOUR
        return rules.forecast(self.db, self.name, place, rules.issued(self.now), first, count)

    @reads(example={"location": "Portland, Oregon", "hours": 6})
    def get_hourly_forecast(self, location: Location, hours: Hours = HOURS) -> dict[str, Any]:
        """Return the forecast of each of the next hours (at most 48) in the account's units; times are local, chance and humidity in %."""
        rules.horizon(self, "INVALID_HOURS", "hours", hours, HOURS)
        place = self.place(location)
        words = self.unit_words()
        to = self.converter(words)
        rows = [
            {
                "time": place.stamp(hour.at),
                "condition": WORDS[rules.hour_sky(hour)],
                "temperature": to.temp(hour.temp),
                "feels_like": to.temp(d.feels_like(hour.temp, hour.humidity, hour.wind)),
                "humidity": hour.humidity,
                "precipitation_chance": chance,
                "precipitation_amount": to.rain(hour.rain),
                "wind": {"speed": to.speed(hour.wind), "direction": d.compass(hour.wind_deg)},
            }
            for hour, chance in self._coming(place, hours)
        ]
        return {
            "location": named(place),
            "issued_at": place.stamp(rules.issued(self.now)),
            "hours": rows,
            "units": words,
        }

    @reads(example={"location": "Hood River", "days": 5})
    def get_daily_forecast(self, location: Location, days: Days = DAYS) -> dict[str, Any]:
        """Return the forecast for today and the next days (at most 10): conditions, low and high, precipitation, sunrise and sunset.

        Units are the account's, times and dates local, the chance in percent.
        """
        rules.horizon(self, "INVALID_DAYS", "days", days, DAYS)
        place = self.place(location)
        words = self.unit_words()
        issue = rules.issued(self.now)
        to = self.converter(words)
        rows = []
        for day in rules.forecast_days(self.db, self.name, place, issue, self.now, days):
            sun = sun_crossings(place.lat, place.lon, date.fromisoformat(day.date))
            rows.append(
                {
                    "date": day.date,
                    "condition_day": WORDS[day.sky_day],
                    "condition_night": WORDS[day.sky_night],
                    "temp_min": to.temp(day.low),
                    "temp_max": to.temp(day.high),
                    "precipitation_chance": day.chance,
                    "precipitation_amount": to.rain(day.rain),
                    "wind": to.speed(day.wind),
                    "sunrise": place.stamp(sun[0]) if sun else None,
                    "sunset": place.stamp(sun[1]) if sun else None,
                }
            )
        return {
            "location": named(place),
            "issued_at": place.stamp(issue),
            "days": rows,
            "units": words,
        }

    @reads(example={"location": "Hood River", "activity": "hiking"})
    def get_activity_forecast(self, location: Location, activity: Activity) -> dict[str, Any]:
        """Score from 1 (poor) to 10 (ideal) how the next 12 hours suit an activity: its daylight hours, for stargazing its dark ones."""
        place = self.place(location)
        words = self.unit_words()
        to = self.converter(words)
        coming = self._coming(place, 12)
        dark = activity == "stargazing"
        fit = [
            o
            for o in coming
            if (place.elevation(o.hour.at) < -6 if dark else place.elevation(o.hour.at) > 0)
        ] or coming
        low, high, wind_limit = _ACTIVITIES[activity]
        temp = sum(o.hour.temp for o in fit) / len(fit)
        wind = sum(o.hour.wind for o in fit) / len(fit)
        cloud = sum(o.hour.cloud for o in fit) / len(fit)
        chance = max(o.chance for o in fit)
        loss = max(0.0, low - temp, temp - high) * 0.5 + max(0.0, wind - wind_limit) * 0.7
        loss += cloud / 14 + illumination(self.now) / 40 if dark else 0.0
        loss += chance / (60 if activity in ("skiing", "fishing") else 18)
        score = max(1, min(10, round(10 - loss)))
        return {
            "location": named(place),
            "activity": activity,
            "score": score,
            "description": ("Poor", "Fair", "Good", "Excellent")[min(3, (score - 1) // 3)],
            "conditions": {
                "from": place.stamp(fit[0].hour.at),
                "to": place.stamp(fit[-1].hour.at + HOUR),
                "temperature": to.temp(temp),
                "wind": to.speed(wind),
                "precipitation_chance": chance,
                "cloud_cover": round(cloud),
            },
            "units": words,
        }
