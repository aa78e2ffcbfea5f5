"""The Weather Channel: forecasts by hour and day, and how well they suit an activity."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from servers.kit.service import Service, reads
from servers.kit.types import Json
from servers.weather import _derived as d
from servers.weather import _rules as rules
from servers.weather import _stations as stations
from servers.weather._physics import HOUR
from servers.weather._rules import Location, Place
from servers.weather._sky import illumination, sun_crossings
from servers.weather._stations import Outlook
from servers.weather.weather_com._model import WORDS, converter, find_place, place_json, unit_words

HOURS = 48
DAYS = 10


class _Comfort(NamedTuple):
    """The temperatures (°C) and the highest wind (m/s) at which an activity is comfortable."""

    low: float
    high: float
    wind: float


_ACTIVITIES = {
    "running": _Comfort(4, 18, 7),
    "cycling": _Comfort(10, 25, 6),
    "golf": _Comfort(12, 28, 6),
    "bbq": _Comfort(15, 30, 5),
    "fishing": _Comfort(8, 26, 6),
    "skiing": _Comfort(-12, 1, 8),
    "hiking": _Comfort(8, 24, 8),
    "stargazing": _Comfort(2, 25, 6),
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
        description="How many days, 1 to 10, including today.",
        json_schema_extra={"minimum": 1, "maximum": DAYS},
    ),
]
Activity = Annotated[
    Literal["running", "cycling", "golf", "bbq", "fishing", "skiing", "hiking", "stargazing"],
    Field(description="The activity that is planned."),
]


class Forecasts(Service):
    """Tools for forecasts. New ones are issued at 00, 06, 12 and 18 UTC."""

    def _coming(self, place: Place, count: int) -> list[Outlook]:
        first = (self.now // HOUR + 1) * HOUR
        return stations.forecast(self.db, self.name, place, stations.issued(self.now), first, count)

    @reads(example={"location": "Portland, Oregon", "hours": 6})
    def get_hourly_forecast(self, location: Location, hours: Hours = HOURS) -> Json:
        """Get the forecast for each of the next 1 to 48 hours, in the account's units.

        Times are local; humidity and the chance of precipitation are in percent.
        """
        rules.check_horizon(self, "INVALID_HOURS", "hours", hours, HOURS)
        place = find_place(self, location)
        words = unit_words(self)
        to = converter(words)
        rows = [
            {
                "time": place.stamp(hour.at),
                "condition": WORDS[stations.hour_sky(hour)],
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
            "location": place_json(place),
            "issued_at": place.stamp(stations.issued(self.now)),
            "hours": rows,
            "units": words,
        }

    @reads(example={"location": "Hood River", "days": 5})
    def get_daily_forecast(self, location: Location, days: Days = DAYS) -> Json:
        """Get the forecast for today and the following days, 10 days at most.

        Each day has conditions, low, high, precipitation, wind, sunrise and sunset. Values are in
        the account's units, the chance of precipitation in percent; dates and times are local.
        """
        rules.check_horizon(self, "INVALID_DAYS", "days", days, DAYS)
        place = find_place(self, location)
        words = unit_words(self)
        issue = stations.issued(self.now)
        to = converter(words)
        rows = []
        for day in stations.forecast_days(self.db, self.name, place, issue, self.now, days):
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
            "location": place_json(place),
            "issued_at": place.stamp(issue),
            "days": rows,
            "units": words,
        }

    @reads(example={"location": "Hood River", "activity": "hiking"})
    def get_activity_forecast(self, location: Location, activity: Activity) -> Json:
        """Score how well the next 12 hours suit an activity, from 1 (poor) to 10 (ideal).

        Only daylight counts; for stargazing, only darkness.
        """
        place = find_place(self, location)
        words = unit_words(self)
        to = converter(words)
        coming = self._coming(place, 12)
        is_dark = activity == "stargazing"
        if is_dark:
            fit = [o for o in coming if place.elevation(o.hour.at) < -6] or coming
        else:
            fit = [o for o in coming if place.elevation(o.hour.at) > 0] or coming
        comfort = _ACTIVITIES[activity]
        temp = sum(o.hour.temp for o in fit) / len(fit)
        wind = sum(o.hour.wind for o in fit) / len(fit)
        cloud = sum(o.hour.cloud for o in fit) / len(fit)
        rain = sum(o.hour.rain for o in fit)
        chance = max(o.chance for o in fit)
        loss = max(0.0, comfort.low - temp, temp - comfort.high) * 0.5
        loss += max(0.0, wind - comfort.wind) * 0.7
        if is_dark:
            loss += cloud / 14 + illumination(self.now) / 40
        # Snow makes the slope, and an angler is dressed for rain.
        bears = 0.3 if activity in ("skiing", "fishing") else 1.0
        loss += bears * (chance / 18 + rain * 0.3)
        score = max(1, min(10, round(10 - loss)))
        return {
            "location": place_json(place),
            "activity": activity,
            "score": score,
            "description": ("Poor", "Fair", "Good", "Excellent")[min(3, (score - 1) // 3)],
            "conditions": {
                "from": place.stamp(fit[0].hour.at),
                "to": place.stamp(fit[-1].hour.at + HOUR),
                "temperature": to.temp(temp),
                "wind": to.speed(wind),
                "precipitation_chance": chance,
                "precipitation_amount": to.rain(rain),
                "cloud_cover": round(cloud),
            },
            "units": words,
        }
