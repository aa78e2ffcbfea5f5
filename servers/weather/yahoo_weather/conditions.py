"""Yahoo Weather: places, observations, outlooks, the past, alerts, wind and pressure."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.kit.service import Service, reads
from servers.kit.types import Json
from servers.kit.values import Date, parse_time
from servers.weather import _derived as d
from servers.weather import _rules as rules
from servers.weather import _stations as stations
from servers.weather._physics import HOUR
from servers.weather._rules import Location
from servers.weather.yahoo_weather._model import (
    ALERTS,
    ISSUE_OFFSET,
    PLACES,
    WORDS,
    converter,
    current_json,
    find_place,
    home,
    place_json,
    unit_words,
)

HOURS = 12
DAYS = 5
HISTORY_DAYS = 30
_HPA_PER_INHG = 33.8639
_IMPLIES = {
    "steady": "Little change is expected over the next 12 hours.",
    "rising": "Fairer and drier weather is likely over the next 12 to 24 hours.",
    "falling": "Clouds, wind or precipitation are likely over the next 12 to 24 hours.",
}

Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description="Part of a city's, state's or country's name, e.g. Portland.",
    ),
]
Several = Annotated[
    list[Location], Field(min_length=1, max_length=3, description="One to three locations.")
]
Hours = Annotated[
    int,
    Field(
        description="How many hours, 1 to 12.", json_schema_extra={"minimum": 1, "maximum": HOURS}
    ),
]
Days = Annotated[
    int,
    Field(
        description="How many days, 1 to 5, including today.",
        json_schema_extra={"minimum": 1, "maximum": DAYS},
    ),
]


class Conditions(Service):
    """Tools for places and their weather. New outlooks are issued at 03, 09, 15 and 21 UTC."""

    @reads(example={"query": "Portland"})
    def resolve_location(self, query: Query) -> Json:
        """Find all places that match a name, your home first, then by name and state.

        Each has its woeid, state, country and coordinates; there may be none.
        """
        own = home(self)
        matches = rules.search(self.db, PLACES, query, own)
        matches.sort(key=lambda place: (place.id != own, place.name, place.state))
        places = [
            place_json(place) | {"country": place.country, "lat": place.lat, "lon": place.lon}
            for place in matches
        ]
        return {"places": places, "total": len(places)}

    @reads(example={"location": "Portland, Oregon"})
    def get_current_observation(self, location: Location) -> Json:
        """Get the latest hourly observation, in the profile's units, which the reply names.

        The time observed_at is local; the wind direction is in degrees.
        """
        return current_json(self, find_place(self, location))

    @reads(example={"locations": ["Portland, Oregon", "Seattle"]})
    def compare_weather(self, locations: Several) -> Json:
        """Get the latest observations of one to three locations, in the order given.

        Values are in the profile's units.
        """
        return {"places": [current_json(self, find_place(self, text)) for text in locations]}

    @reads(example={"location": "Portland, Oregon", "hours": 6})
    def get_hourly_outlook(self, location: Location, hours: Hours = HOURS) -> Json:
        """Get the outlook for each of the next 1 to 12 hours, in the profile's units.

        Times are local; humidity and the chance of precipitation are in percent.
        """
        rules.check_horizon(self, "INVALID_HOURS", "hours", hours, HOURS)
        place = find_place(self, location)
        words = unit_words(self)
        issue = stations.issued(self.now, ISSUE_OFFSET)
        to = converter(words)
        next_hour = (self.now // HOUR + 1) * HOUR
        outlooks = stations.forecast(self.db, self.name, place, issue, next_hour, hours)
        rows = [
            {
                "time": place.stamp(hour.at),
                "condition": WORDS[stations.hour_sky(hour)],
                "temperature": to.temp(hour.temp),
                "humidity": hour.humidity,
                "precipitation_chance": chance,
                "precipitation_amount": to.rain(hour.rain),
                "wind": {"speed": to.speed(hour.wind), "direction": hour.wind_deg},
            }
            for hour, chance in outlooks
        ]
        return {
            "place": place_json(place),
            "issued_at": place.stamp(issue),
            "hours": rows,
            "units": words,
        }

    @reads(example={"location": "Chicago", "days": 5})
    def get_5day_forecast(self, location: Location, days: Days = DAYS) -> Json:
        """Get the forecast for today and up to four more days, in the profile's units.

        Dates are local; the chance of precipitation is in percent.
        """
        rules.check_horizon(self, "INVALID_DAYS", "days", days, DAYS)
        place = find_place(self, location)
        words = unit_words(self)
        issue = stations.issued(self.now, ISSUE_OFFSET)
        to = converter(words)
        rows = [
            {
                "date": day.date,
                "condition": WORDS[day.sky],
                "condition_night": WORDS[day.sky_night],
                "temp_high": to.temp(day.high),
                "temp_low": to.temp(day.low),
                "precipitation_chance": day.chance,
                "precipitation_amount": to.rain(day.rain),
            }
            for day in stations.forecast_days(self.db, self.name, place, issue, self.now, days)
        ]
        return {
            "place": place_json(place),
            "issued_at": place.stamp(issue),
            "days": rows,
            "units": words,
        }

    @reads(example={"location": "Portland, Oregon", "date": "2026-03-10"})
    def get_past_weather(self, location: Location, date: Date) -> Json:
        """Get a past day's condition, high, low and precipitation, in the profile's units.

        The local date can be from 30 days ago to yesterday.
        """
        place = find_place(self, location)
        unknown = f"There are no observations of {date} for {place.name}."
        when = rules.past_date(self, place, date, HISTORY_DAYS, unknown, "get_5day_forecast")
        day = stations.past_day(self.db, place, when)
        words = unit_words(self)
        to = converter(words)
        return {
            "place": place_json(place),
            "date": day.date,
            "condition": WORDS[day.sky],
            "temp_high": to.temp(day.high),
            "temp_low": to.temp(day.low),
            "precipitation": to.rain(day.rain),
            "units": words,
        }

    @reads(example={"location": "Chicago"})
    def get_weather_alerts(self, location: Location) -> Json:
        """List the active and upcoming alerts for a location in full, by start (local time)."""
        place = find_place(self, location)
        alerts = [
            {
                "alert_id": a["id"],
                "title": a["event"],
                "severity": a["severity"],
                "issued_at": place.stamp(parse_time(a["issued"])),
                "starts_at": place.stamp(parse_time(a["starts"])),
                "ends_at": place.stamp(parse_time(a["ends"])),
                "description": f"{a['description']} {a['instruction']}",
            }
            for a in rules.alerts(self.db, ALERTS, place.city, self.time)
        ]
        return {"place": place_json(place), "alerts": alerts, "total": len(alerts)}

    @reads(example={"location": "Hood River"})
    def get_wind_details(self, location: Location) -> Json:
        """Get the last hour's mean wind, gust, direction and force on the Beaufort scale.

        Speeds are in the profile's unit; the direction is in degrees and as a compass point.
        """
        place = find_place(self, location)
        words = unit_words(self)
        hour = stations.observe(self.db, place, self.now)
        to = converter(words)
        force, name = d.beaufort(hour.wind)
        return {
            "place": place_json(place),
            "observed_at": place.stamp(hour.at),
            "speed": to.speed(hour.wind),
            "gust": to.speed(d.gust(hour.wind, hour.rain)),
            "unit": words["wind"],
            "direction": {"degrees": hour.wind_deg, "compass": d.compass(hour.wind_deg)},
            "beaufort_scale": force,
            "beaufort_description": name,
        }

    @reads(example={"location": "Portland, Oregon"})
    def get_pressure_trend(self, location: Location) -> Json:
        """Get the sea-level pressure, its change over three hours, and what that implies.

        Values are in inHg if the profile measures precipitation in inches, else in hPa.
        """
        place = find_place(self, location)
        words = unit_words(self)
        hour = stations.observe(self.db, place, self.now)
        before = stations.observe(self.db, place, self.now, 3)
        change = round(hour.pressure - before.pressure, 1)
        trend = d.pressure_trend(change)
        if words["precipitation"] == "in":
            unit = "inHg"
            shown_pressure = round(hour.pressure / _HPA_PER_INHG, 2)
            shown_change = round(change / _HPA_PER_INHG, 2)
        else:
            unit = "hPa"
            shown_pressure = round(hour.pressure, 1)
            shown_change = change + 0.0  # not -0.0
        return {
            "place": place_json(place),
            "observed_at": place.stamp(hour.at),
            "current_pressure": shown_pressure,
            "change_3h": shown_change,
            "unit": unit,
            "trend": trend.way,
            "trend_description": trend.description,
            "forecast_implication": _IMPLIES[trend.way],
        }
