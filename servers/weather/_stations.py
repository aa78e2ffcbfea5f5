"""How the providers' stations measure and forecast the one physical truth.

Each provider measures the truth through a station of its own (a small bias) and forecasts it with
its own error, which grows with the lead. Stations agree within 1.5 °C, forecasts up to five days
ahead within 4 °C. Editing a place's station row makes one provider wrong; editing `weather_hours`
changes the weather itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, NamedTuple

from servers.kit.noise import draws
from servers.kit.store import World
from servers.kit.types import Json
from servers.kit.values import iso
from servers.weather import _derived as d
from servers.weather._physics import DAY, HOUR, Hour, truth
from servers.weather._rules import Place
from servers.weather._units import Units

_HOUR_COLUMNS = "id, temp, humidity, wind, wind_deg, pressure, cloud, rain, pm25"
"""An hour's id, and then the fields of `Hour` after its moment, in their order."""

_WET = 0.1
"""Millimetres an hour from which it counts as raining."""

MEASURABLE = 0.05
"""Millimetres from which the rain of a day or night is shown, and names the weather."""

Sky = Literal[
    "clear",
    "partly_cloudy",
    "mostly_cloudy",
    "cloudy",
    "fog",
    "light_rain",
    "rain",
    "heavy_rain",
    "sleet",
    "light_snow",
    "snow",
    "heavy_snow",
]


# -- kinds of weather -------------------------------------------------------------------------
def sky_of(temp: float, cloud: float, rain: float, humidity: float, wind: float) -> Sky:
    """Return the kind of weather: precipitation first, then fog, then cloud cover.

    The steps of the cloud cover are those of US forecasts, in eighths of the sky.
    """
    if rain >= _WET:
        return _precipitation(temp, rain)
    if d.is_fog(rain, humidity, wind):
        return "fog"
    if cloud < 20:
        return "clear"
    if cloud < 50:
        return "partly_cloudy"
    return "mostly_cloudy" if cloud < 85 else "cloudy"


def _precipitation(temp: float, rain: float) -> Sky:
    if temp <= 0.5:
        if rain < 0.5:
            return "light_snow"
        return "snow" if rain < 2 else "heavy_snow"
    if temp <= 1.5:
        return "sleet"
    if rain < 1:
        return "light_rain"
    return "rain" if rain < 4 else "heavy_rain"


def hour_sky(hour: Hour) -> Sky:
    """Return the kind of weather of an hour."""
    return sky_of(hour.temp, hour.cloud, hour.rain, hour.humidity, hour.wind)


def _whole_sky(hours: list[Hour]) -> Sky:
    """Return the kind of weather of several hours.

    Rain that can be measured names them, however few of them it fell in.
    """
    if sum(hour.rain for hour in hours) >= MEASURABLE:
        wet = [hour for hour in hours if hour.rain > 0]
        rain = sum(hour.rain for hour in wet) / len(wet)
        return _precipitation(sum(hour.temp * hour.rain for hour in wet) / (rain * len(wet)), rain)

    def mean(field: str) -> float:
        return sum(getattr(hour, field) for hour in hours) / len(hours)

    return sky_of(mean("temp"), mean("cloud"), 0.0, mean("humidity"), mean("wind"))


# -- truth ------------------------------------------------------------------------------------
def hour_key(city: str, at: int) -> str:
    """Return the id of a stored hour."""
    return f"{city}:{iso(at)[:13]}"


def true_hours(db: World, city: str, first: int, count: int) -> list[Hour]:
    """Return a number of hours from `first` (a full hour) on, as stored or else computed."""
    last = first + (count - 1) * HOUR
    stored = db.sql(
        f"SELECT {_HOUR_COLUMNS} FROM weather_hours WHERE id BETWEEN ? AND ? ORDER BY id",
        hour_key(city, first),
        hour_key(city, last),
    )
    if len(stored) == count:
        return [Hour(first + i * HOUR, *row[1:]) for i, row in enumerate(stored)]
    stored_values = {row[0]: row[1:] for row in stored}
    city_row = db.get("weather_cities", city) or {}
    events = db.rows("weather_events", "city=?", city)
    hours = []
    for at in range(first, last + 1, HOUR):
        values = stored_values.get(hour_key(city, at))
        hours.append(truth(city_row, events, at) if values is None else Hour(at, *values))
    return hours


# -- observation ------------------------------------------------------------------------------
def _measured(place: Place, hour: Hour) -> Hour:
    """Return an hour as the place's station measures it."""
    rain = hour.rain * place.rain_factor
    wind = hour.wind * place.wind_factor
    temp = hour.temp + place.temp_bias
    if place.adjustments:
        adjustment = place.adjustments.get(place.local(hour.at).date().isoformat(), {})
        rain = rain * adjustment.get("rain", 1)
        wind = wind * adjustment.get("wind", 1)
        temp = temp + adjustment.get("temp", 0)
    return Hour(
        at=hour.at,
        temp=temp,
        humidity=min(100, max(1, hour.humidity + place.humidity_bias)),
        wind=wind,
        wind_deg=hour.wind_deg,
        pressure=hour.pressure + place.pressure_bias,
        cloud=hour.cloud,
        rain=rain,
        pm25=hour.pm25,
    )


def _measured_hours(db: World, place: Place, first: int, count: int) -> list[Hour]:
    return [_measured(place, hour) for hour in true_hours(db, place.city, first, count)]


def observe(db: World, place: Place, now: int, hours_ago: int = 0) -> Hour:
    """Return what the place's station measured at the last full hour, or some hours before it."""
    return _measured_hours(db, place, (now // HOUR - hours_ago) * HOUR, 1)[0]


def reading(
    place: Place, hour: Hour, to: Units, words: Mapping[str, str], direction: str | int
) -> Json:
    """Return the fields of a measured hour that both providers show, converted.

    `words` are the provider's words for the kinds of weather.
    """
    return {
        "observed_at": place.stamp(hour.at),
        "condition": words[hour_sky(hour)],
        "temperature": to.temp(hour.temp),
        "feels_like": to.temp(d.feels_like(hour.temp, hour.humidity, hour.wind)),
        "humidity": hour.humidity,
        "wind": {"speed": to.speed(hour.wind), "direction": direction},
        "precipitation": to.rain(hour.rain),
        "visibility": to.far(d.visibility(hour.rain, hour.temp, hour.humidity, hour.wind)),
    }


# -- forecast ---------------------------------------------------------------------------------
class Outlook(NamedTuple):
    """A forecast hour and its chance of precipitation (%)."""

    hour: Hour
    chance: int


def issued(now: int, offset: int = 0) -> int:
    """Return when the last forecast was issued: every six hours, `offset` hours after 00 UTC."""
    return (now - offset * HOUR) // (6 * HOUR) * 6 * HOUR + offset * HOUR


def forecast(
    db: World, provider: str, place: Place, issue: int, first: int, count: int
) -> list[Outlook]:
    """Return a provider's forecast, as issued at `issue`, of a number of hours from `first` on.

    Hours before the issue are as measured. The error is drawn by provider, city, issue and day of
    lead, and grows with the lead: 0.2 to 2.5 °C at ten days.
    """
    hours = _measured_hours(db, place, first, count)
    return [_expected(provider, place, issue, hour) for hour in hours]


def _expected(provider: str, place: Place, issue: int, hour: Hour) -> Outlook:
    """Return the provider's forecast of an hour, given what its station will measure then."""
    is_wet = hour.rain >= _WET
    if hour.at < issue:
        return Outlook(hour, 100 if is_wet else 0)
    lead = (hour.at - issue) / DAY
    day = int(lead)
    share = lead % 1
    # The error moves smoothly from that of the day of lead to that of the next.
    early = draws(provider, place.city, issue, day)
    late = draws(provider, place.city, issue, day + 1)
    warm, damp, windy, grey = (
        a + (b - a) * share for a, b in zip(early[:4], late[:4], strict=True)
    )
    if is_wet:
        likelihood = 50 + 45 * min(1.0, hour.rain / 1.5)
    else:
        likelihood = max(0.0, (hour.cloud - 60) * 0.6)
    # The further ahead, the closer the chance is to 30 %, which says nothing.
    chance = likelihood + (30 - likelihood) * min(0.6, lead * 0.06) + 5 * damp
    rain = hour.rain * (1 + damp * (0.08 + 0.025 * lead))
    cloud = hour.cloud + grey * (3 + 1.5 * lead)
    expected = Hour(
        at=hour.at,
        temp=hour.temp + warm * (0.2 + 0.16 * lead),
        humidity=hour.humidity,
        wind=hour.wind * (1 + windy * (0.05 + 0.02 * lead)),
        wind_deg=hour.wind_deg,
        pressure=hour.pressure,
        cloud=int(min(100, max(0, cloud))),
        rain=max(0.0, rain),
        pm25=hour.pm25 * (1 + grey * (0.05 + 0.03 * lead)),
    )
    return Outlook(expected, int(min(100, max(0, chance)) / 5 + 0.5) * 5)


# -- days -------------------------------------------------------------------------------------
@dataclass(slots=True)
class Day:
    """A local date in metric units; `chance` is None for a date that is over.

    `sky` is the weather of the whole date, as `rain` is its rain, for whoever shows one kind only.
    """

    date: str
    high: float
    low: float
    humidity: int
    wind: float
    rain: float
    cloud: int
    chance: int | None = None
    sky: Sky = "clear"
    sky_day: Sky = "clear"
    sky_night: Sky = "clear"


def forecast_days(
    db: World, provider: str, place: Place, issue: int, now: int, count: int
) -> list[Day]:
    """Return a number of local dates from today on.

    The hours of today that have passed are as measured.
    """
    today = place.local(now).date()
    dates = [today + timedelta(days=n) for n in range(count)]
    first = place.day(dates[0])[0] // HOUR * HOUR
    end_of_last = place.day(dates[-1])[1]
    outlooks = forecast(db, provider, place, issue, first, (end_of_last - first) // HOUR)
    days = []
    for when in dates:
        begin, end = place.day(when)
        part = outlooks[(begin - first) // HOUR : (end - first) // HOUR]
        day = _summary(when, [outlook.hour for outlook in part])
        day.chance = max(outlook.chance for outlook in part)
        days.append(day)
    return days


def past_day(db: World, place: Place, when: date) -> Day:
    """Return a local date that is over, as the place's station measured it.

    It is the stored day, or else the sum of its hours.
    """
    row = db.get("weather_days", f"{place.city}:{when.isoformat()}")
    if row is None:
        begin, end = place.day(when)
        hours = _measured_hours(db, place, begin // HOUR * HOUR, (end - begin) // HOUR)
        return _summary(when, hours)
    rain = row["rain"] * place.rain_factor
    mean_temp = (row["high"] + row["low"]) / 2
    if rain >= MEASURABLE:
        sky = _precipitation(mean_temp, rain / 12)
    else:
        sky = sky_of(mean_temp, row["cloud"], 0.0, row["humidity"], row["wind"])
    return Day(
        date=when.isoformat(),
        high=row["high"] + place.temp_bias,
        low=row["low"] + place.temp_bias,
        humidity=min(100, row["humidity"] + place.humidity_bias),
        wind=row["wind"] * place.wind_factor,
        rain=rain,
        cloud=row["cloud"],
        sky=sky,
        sky_day=sky,
        sky_night=sky,
    )


def _summary(when: date, hours: list[Hour]) -> Day:
    """Sum up the measured or expected hours of a local date."""
    count = len(hours)
    temps = [hour.temp for hour in hours]
    # Daytime is 6 to 18 h. A date on which the clocks change has 23 or 25 hours.
    daytime = hours[6:18]
    night = hours[:6] + hours[18:]
    return Day(
        date=when.isoformat(),
        high=max(temps),
        low=min(temps),
        humidity=sum(hour.humidity for hour in hours) // count,
        wind=sum(hour.wind for hour in hours) / count,
        rain=sum(hour.rain for hour in hours),
        cloud=sum(hour.cloud for hour in hours) // count,
        sky=_whole_sky(hours),
        sky_day=_whole_sky(daytime or hours),
        sky_night=_whole_sky(night or hours),
    )
