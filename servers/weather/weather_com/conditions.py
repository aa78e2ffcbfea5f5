"""The Weather Channel: places, current weather, history, alerts and radar."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.service import Service, reads
from servers.kit.types import Json, Row
from servers.kit.values import Date, parse_time
from servers.weather import _rules as rules
from servers.weather import _stations as stations
from servers.weather._rules import Location, Place
from servers.weather.weather_com._model import (
    ALERTS,
    PLACES,
    WORDS,
    converter,
    current_json,
    find_place,
    home,
    place_json,
    unit_words,
)

HISTORY_DAYS = 40
# Each intensity, from 0 on, holds below this many millimetres per hour.
_RADAR = (
    (0.1, "No precipitation"),
    (0.5, "Very light precipitation"),
    (2.0, "Light precipitation"),
    (5.0, "Moderate precipitation"),
    (10.0, "Heavy precipitation"),
    (float("inf"), "Extreme precipitation"),
)

Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description="Part of a city's, state's or country's name, e.g. Portland.",
    ),
]
Several = Annotated[
    list[Location], Field(min_length=1, max_length=5, description="One to five locations.")
]
AlertId = Annotated[str, Field(description="alert_id, from get_alerts.")]


def _location_json(place: Place) -> Json:
    return place_json(place) | {"country": place.country, "lat": place.lat, "lon": place.lon}


def _alert_json(place: Place, alert: Row) -> Json:
    return {
        "alert_id": alert["id"],
        "event": alert["event"],
        "severity": alert["severity"],
        "start_time": place.stamp(parse_time(alert["starts"])),
        "end_time": place.stamp(parse_time(alert["ends"])),
        "description": alert["description"],
    }


class Conditions(Service):
    """Tools for places and their weather now and in the past."""

    @reads(example={"query": "Portland"})
    def search_location(self, query: Query) -> Json:
        """Find locations by name, your own first, then larger cities first.

        Each match has its location_id, state, country and coordinates; there may be none.
        """
        found = rules.search(self.db, PLACES, query, home(self))
        locations = [_location_json(place) for place in found]
        return {"locations": locations, "total": len(locations)}

    @reads(example={"location_name": "Portland, Oregon"})
    def get_location(self, location_name: Location) -> Json:
        """Get a location's id, numeric index, state, country, coordinates and time zone.

        A name that several locations share is refused.
        """
        place = find_place(self, location_name)
        number = self.db.sql(f"SELECT number FROM {PLACES} WHERE id=?", place.id)[0][0]
        return _location_json(place) | {"numeric_index": number, "timezone": place.timezone}

    @reads(example={"location": "Portland, Oregon"})
    def get_current_weather(self, location: Location) -> Json:
        """Get the latest hourly observation, in the account's units, which the reply names.

        The time observed_at is local; humidity is in percent.
        """
        return current_json(self, find_place(self, location))

    @reads(example={"locations": ["Portland, Oregon", "Hood River"]})
    def compare_locations(self, locations: Several) -> Json:
        """Get the latest observations of one to five locations, in the order given.

        Values are in the account's units.
        """
        return {"locations": [current_json(self, find_place(self, text)) for text in locations]}

    @reads(example={"location": "Portland, Oregon", "date": "2026-03-10"})
    def get_historical_weather(self, location: Location, date: Date) -> Json:
        """Get a past day's high, low, precipitation, mean humidity (percent) and mean wind.

        The date can be from 40 days ago to yesterday.
        """
        place = find_place(self, location)
        unknown = f"There are no records of {date} for {place.name}."
        when = rules.past_date(self, place, date, HISTORY_DAYS, unknown, "get_daily_forecast")
        day = stations.past_day(self.db, place, when)
        words = unit_words(self)
        to = converter(words)
        return {
            "location": place_json(place),
            "date": day.date,
            "condition": WORDS[day.sky],
            "temp_high": to.temp(day.high),
            "temp_low": to.temp(day.low),
            "precipitation": to.rain(day.rain),
            "humidity": day.humidity,
            "wind": to.speed(day.wind),
            "units": words,
        }

    @reads(example={"location": "Chicago"})
    def get_alerts(self, location: Location) -> Json:
        """List the active and upcoming weather alerts for a location, by start (local time)."""
        place = find_place(self, location)
        rows = rules.alerts(self.db, ALERTS, place.city, self.time)
        alerts = [_alert_json(place, row) for row in rows]
        return {"location": place_json(place), "alerts": alerts, "total": len(alerts)}

    @reads(example={"location": "Chicago", "alert_id": seeded("alert", "chicago_storm")})
    def get_alert_details(self, location: Location, alert_id: AlertId) -> Json:
        """Get an active or upcoming alert with its instructions and time of issue (local time)."""
        place = find_place(self, location)
        for alert in rules.alerts(self.db, ALERTS, place.city, self.time):
            if alert["id"] == alert_id:
                details = _alert_json(place, alert) | {
                    "issued_at": place.stamp(parse_time(alert["issued"])),
                    "instruction": alert["instruction"],
                }
                return {"location": place_json(place), "alert": details}
        self.fail(
            "ALERT_NOT_FOUND",
            f"There is no active or upcoming alert with the ID '{alert_id}' for {place.name}.",
            "Call get_alerts to see the alerts for this location.",
        )

    @reads(example={"location": "Portland, Oregon"})
    def get_precipitation_radar(self, location: Location) -> Json:
        """Get the latest radar sweep; there is one every 10 minutes.

        The radar_intensity goes from 0 (none) to 5 (extreme); coverage_pct is the percentage of
        the area with precipitation.
        """
        place = find_place(self, location)
        hour = stations.observe(self.db, place, self.now)
        level = next(n for n, (end, _) in enumerate(_RADAR) if hour.rain < end)
        return {
            "location": place_json(place),
            "timestamp": place.stamp(self.now // 600 * 600),
            "radar_intensity": level,
            "coverage_pct": min(100, round(25 + hour.rain * 30)) if level else 0,
            "description": _RADAR[level][1],
        }
