"""The Weather Channel: air quality, UV and pollen."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.kit.noise import smooth
from servers.kit.service import Service, reads
from servers.kit.types import Json
from servers.weather import _derived as d
from servers.weather import _rules as rules
from servers.weather import _stations as stations
from servers.weather._physics import HOUR, monthly
from servers.weather._rules import Location
from servers.weather.weather_com._model import find_place, place_json

AIR_HOURS = 72
_ADVICE = {
    "Good": "Air quality is satisfactory; enjoy the outdoors.",
    "Moderate": "Unusually sensitive people should shorten long or heavy exertion outdoors.",
    "Unhealthy for Sensitive Groups": (
        "Children, older adults and people with heart or lung disease "
        "should reduce exertion outdoors."
    ),
    "Unhealthy": "Everyone should reduce exertion outdoors; sensitive groups should avoid it.",
    "Very Unhealthy": (
        "Everyone should avoid exertion outdoors; sensitive groups should stay indoors."
    ),
    "Hazardous": "Everyone should stay indoors and keep windows closed.",
}
_SUN = {
    "Low": ["No protection needed; sunglasses on bright days."],
    "Moderate": ["Seek shade around midday.", "Wear a hat and sunscreen SPF 30+."],
    "High": [
        "Reduce time in the sun between 10 and 16.",
        "Wear a shirt, hat, sunglasses and sunscreen SPF 30+.",
    ],
    "Very High": [
        "Avoid the midday sun.",
        "Shirt, hat, sunglasses and sunscreen SPF 50 are a must.",
    ],
    "Extreme": [
        "Stay indoors around midday.",
        "Unprotected skin burns within minutes: cover up and use SPF 50+.",
    ],
}
_RISK = ("none", "low", "moderate", "high", "very high")

AirHours = Annotated[
    int,
    Field(
        description="How many hours, 1 to 72.",
        json_schema_extra={"minimum": 1, "maximum": AIR_HOURS},
    ),
]


class AirAndSun(Service):
    """Tools for the air and the sun."""

    @reads(example={"location": "Phoenix"})
    def get_uv_index(self, location: Location) -> Json:
        """Get the current UV index, its WHO category and today's peak.

        The safe_exposure_minutes are how long fair skin takes to burn, or null if it does not.
        """
        place = find_place(self, location)
        hour = stations.observe(self.db, place, self.now)
        index = d.uv_index(place.elevation(self.now), hour.cloud)
        category = d.uv_category(index)
        begin, end = place.day(place.local(self.now).date())
        first = begin // HOUR * HOUR
        issue = stations.issued(self.now)
        today = stations.forecast(self.db, self.name, place, issue, first, (end - begin) // HOUR)
        peak = max(d.uv_index(place.elevation(o.hour.at), o.hour.cloud) for o in today)
        return {
            "location": place_json(place),
            "uv_index": round(index),
            "category": category,
            "peak_today": round(peak),
            "safe_exposure_minutes": d.burn_minutes(index),
            "recommendations": list(_SUN[category]),
        }

    @reads(example={"location": "Phoenix"})
    def get_air_quality(self, location: Location) -> Json:
        """Get the US EPA air quality index (0 to 500) and pollutants of the last hour.

        The units are µg/m³ for pm25 and pm10, and ppb for ozone and no2.
        """
        place = find_place(self, location)
        hour = stations.observe(self.db, place, self.now)
        air = d.air(hour.pm25, place.elevation(hour.at), hour.cloud, hour.wind)
        return {
            "location": place_json(place),
            "observed_at": place.stamp(hour.at),
            "aqi": air.aqi,
            "category": air.category,
            "primary_pollutant": air.primary,
            "pm25": round(air.pm25, 1),
            "pm10": air.pm10,
            "ozone": air.ozone,
            "no2": air.no2,
            "health_advice": _ADVICE[air.category],
        }

    @reads(example={"location": "Phoenix", "hours": 12})
    def get_air_quality_forecast(self, location: Location, hours: AirHours = 24) -> Json:
        """Forecast the US EPA air quality index for each of the next 1 to 72 hours (local time)."""
        rules.check_horizon(self, "INVALID_HOURS", "hours", hours, AIR_HOURS)
        place = find_place(self, location)
        issue = stations.issued(self.now)
        next_hour = (self.now // HOUR + 1) * HOUR
        rows = []
        for hour, _ in stations.forecast(self.db, self.name, place, issue, next_hour, hours):
            air = d.air(hour.pm25, place.elevation(hour.at), hour.cloud, hour.wind)
            rows.append(
                {
                    "time": place.stamp(hour.at),
                    "aqi": air.aqi,
                    "category": air.category,
                    "primary_pollutant": air.primary,
                }
            )
        return {"location": place_json(place), "issued_at": place.stamp(issue), "hours": rows}

    @reads(example={"location": "Portland, Oregon"})
    def get_pollen_count(self, location: Location) -> Json:
        """Get today's tree, grass and ragweed pollen counts and the overall risk.

        Counts are grains per m³; levels are those of the National Allergy Bureau.
        """
        place = find_place(self, location)
        today = place.local(self.now).date()
        noon = sum(place.day(today)) // 2
        usual = (self.db.get("weather_cities", place.city) or {})["climate"]["pollen"]
        is_wet = stations.observe(self.db, place, self.now).rain >= 0.1
        washed_out = 0.4 if is_wet else 1
        noise = smooth("pollen:" + place.city, noon, 36 * HOUR)
        reply: dict[str, Any] = {"location": place_json(place), "date": today.isoformat()}
        levels = []
        for kind, swing in zip(d.POLLEN_SCALES, noise, strict=False):
            grains = int(monthly(usual[kind], noon) * (1 + 0.5 * swing) * washed_out)
            level = d.pollen_level(kind, grains)
            levels.append(level)
            reply[f"{kind}_pollen"] = {"grains": grains, "level": level}
        return reply | {"overall_risk": max(levels, key=_RISK.index)}
