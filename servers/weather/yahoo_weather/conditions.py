"""Yahoo Weather: places, observations, outlooks, the past, alerts, wind and pressure."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.kit.service import reads
from servers.kit.values import Date, parse_time
from servers.weather import _derived as d
from servers.weather import _rules as rules
from servers.weather._physics import HOUR
from servers.weather._rules import Location
from servers.weather.yahoo_weather._model import ALERTS, ISSUE, PLACES, WORDS, Base, named

HOURS = 12
DAYS = 5
HISTORY_DAYS = 30
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
        description="How many days, 1 to 5, today included.",
        json_schema_extra={"minimum": 1, "maximum": DAYS},
    ),
]


class Conditions(Base):
    """Places and the weather there. New outlooks are issued at 03, 09, 15 and 21 UTC."""

    @reads(example={"query": "Portland"})
    def resolve_location(self, query: Query) -> dict[str, Any]:
        """Resolve a name to places: every match with woeid, state, country and coordinates, by name and state; none is an empty list."""
        found = sorted(rules.search(self.db, PLACES, query), key=lambda p: (p.name, p.state))
        return {
            "places": [
                named(p) | {"country": p.country, "lat": p.lat, "lon": p.lon} for p in found
            ],
            "total": len(found),
        }

    @reads(example={"location": "Portland, Oregon"})
    def get_current_observation(self, location: Location) -> dict[str, Any]:
        """Return the latest hourly observation (local time) in the profile's units, which the reply names; wind direction is in degrees."""
        return self.current(self.place(location))

    @reads(example={"locations": ["Portland, Oregon", "Seattle"]})
    def compare_weather(self, locations: Several) -> dict[str, Any]:
        """Return the latest observation of one to three locations, in the order asked and in the profile's units."""
        return {"places": [self.current(self.place(text)) for text in locations]}

    @reads(example={"location": "Portland, Oregon", "hours": 6})
    def get_hourly_outlook(self, location: Location, hours: Hours = HOURS) -> dict[str, Any]:
        """Return the outlook for each of the next hours (at most 12) in the profile's units; times are local, chance and humidity in %."""
        rules.horizon(self, "INVALID_HOURS", "hours", hours, HOURS)
        place = self.place(location)
        words = self.unit_words()
        issue = rules.issued(self.now, ISSUE)
        to = self.converter(words)
        rows = [
            {
                "time": place.stamp(hour.at),
                "condition": WORDS[rules.hour_sky(hour)],
                "temperature": to.temp(hour.temp),
                "humidity": hour.humidity,
                "precipitation_chance": chance,
                "precipitation_amount": to.rain(hour.rain),
                "wind": {"speed": to.speed(hour.wind), "direction": hour.wind_deg},
            }
            for hour, chance in rules.forecast(
                self.db, self.name, place, issue, (self.now // HOUR + 1) * HOUR, hours
            )
        ]
        return {
            "place": named(place),
            "issued_at": place.stamp(issue),
            "hours": rows,
            "units": words,
        }

    @reads(example={"location": "Chicago", "days": 5})
    def get_5day_forecast(self, location: Location, days: Days = DAYS) -> dict[str, Any]:
        """Return the forecast for today and up to four more days (local dates) in the profile's units; chance of rain or snow in %."""
        rules.horizon(self, "INVALID_DAYS", "days", days, DAYS)
        place = self.place(location)
        words = self.unit_words()
        issue = rules.issued(self.now, ISSUE)
        to = self.converter(words)
        rows = [
            {
                "date": day.date,
                "condition": WORDS[day.sky_day],
                "condition_night": WORDS[day.sky_night],
                "temp_high": to.temp(day.high),
                "temp_low": to.temp(day.low),
                "precipitation_chance": day.chance,
                "precipitation_amount": to.rain(day.rain),
            }
            for day in rules.forecast_days(self.db, self.name, place, issue, self.now, days)
        ]
        return {
            "place": named(place),
            "issued_at": place.stamp(issue),
            "days": rows,
            "units": words,
        }

    @reads(example={"location": "Portland, Oregon", "date": "2026-03-10"})
    def get_past_weather(self, location: Location, date: Date) -> dict[str, Any]:
        """Return a past day's condition, high, low and precipitation in the profile's units; yesterday back to 30 days ago, local dates."""
        place = self.place(location)
        unknown = f"No observations of {date} are kept for {place.name}."
        when = rules.past_date(self, place, date, HISTORY_DAYS, unknown, "get_5day_forecast")
        day = rules.past_day(self.db, place, when)
        words = self.unit_words()
        to = self.converter(words)
        return {
            "place": named(place),
            "date": day.date,
            "condition": WORDS[day.sky_day],
            "temp_high": to.temp(day.high),
            "temp_low": to.temp(day.low),
            "precipitation": to.rain(day.rain),
            "units": words,
        }

    @reads(example={"location": "Chicago"})
    def get_weather_alerts(self, location: Location) -> dict[str, Any]:
        """Return official alerts that are active or upcoming at a location, whole, by start time (local); often none."""
        place = self.place(location)
        found = [
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
        return {"place": named(place), "alerts": found, "total": len(found)}

    @reads(example={"location": "Hood River"})
    def get_wind_details(self, location: Location) -> dict[str, Any]:
        """Return the last hour's mean wind, gust (profile's unit), direction (degrees and compass) and force on the Beaufort scale."""
        place = self.place(location)
        words = self.unit_words()
        hour = rules.observe(self.db, place, self.now)
        to = self.converter(words)
        force, name = d.beaufort(hour.wind)
        return {
            "place": named(place),
            "observed_at": place.stamp(hour.at),
            "speed": to.speed(hour.wind),
            "gust": to.speed(d.gust(hour.wind, hour.rain)),
            "unit": words["wind"],
            "direction": {"degrees": hour.wind_deg, "compass": d.compass(hour.wind_deg)},
            "beaufort_scale": force,
            "beaufort_description": name,
        }

    @reads(example={"location": "Portland, Oregon"})
    def get_pressure_trend(self, location: Location) -> dict[str, Any]:
        """Return sea-level pressure and its change over three hours (inHg if precipitation is in inches, else hPa) and what it implies."""
        place = self.place(location)
        words = self.unit_words()
        hour = rules.observe(self.db, place, self.now)
        before = rules.observe(self.db, place, self.now, 3)
        change = round(hour.pressure - before.pressure, 1)
        trend, description = d.pressure_trend(change)
        inches = words["precipitation"] == "in"
        return {
            "place": named(place),
            "observed_at": place.stamp(hour.at),
            "current_pressure": round(hour.pressure / 33.8639, 2)
            if inches
            else round(hour.pressure, 1),
            "change_3h": round(change / 33.8639, 2) if inches else change + 0.0,
            "unit": "inHg" if inches else "hPa",
            "trend": trend,
            "trend_description": description,
            "forecast_implication": _IMPLIES[trend],
        }
