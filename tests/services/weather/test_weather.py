"""What makes the two weather providers unlike each other, and the rules they share."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from scenarios.worlds import build
from servers.kit.control import Control, make_id
from servers.kit.service import service
from servers.kit.session import Session
from servers.kit.store import World
from servers.kit.values import parse_time
from servers.weather import _derived as d
from servers.weather import _sky as sky
from servers.weather.weather_com import _model as weather_com
from servers.weather.yahoo_weather import _model as yahoo_weather
from tests.support import call_ok, call_refused, session_of

pytestmark = pytest.mark.anyio
START = parse_time("2026-03-14T16:00:00Z")
HOUR = 3600
DAY = 86_400
BOTH = ("weather_com", "yahoo_weather")
NOW = {"weather_com": "get_current_weather", "yahoo_weather": "get_current_observation"}
DAILY = {"weather_com": "get_daily_forecast", "yahoo_weather": "get_5day_forecast"}
HOURLY = {"weather_com": "get_hourly_forecast", "yahoo_weather": "get_hourly_outlook"}
PAST = {"weather_com": "get_historical_weather", "yahoo_weather": "get_past_weather"}
ALERTS = {"weather_com": "get_alerts", "yahoo_weather": "get_weather_alerts"}
ID = {"weather_com": "location_id", "yahoo_weather": "woeid"}
PDX = "Portland, Oregon"


def world() -> World:
    """Return a world of one's own to change."""
    return build.shared("maya").scratch()


def session_at(name: str, at: int, on: World | None) -> Session:
    return Session([name], on or build.shared("maya").share(), Control(at))


async def call(
    name: str, tool: str, *, at: int = START, on: World | None = None, **args: Any
) -> dict[str, Any]:
    """Return what a tool answers at a moment, in a session of its own."""
    return await call_ok(session_at(name, at, on), name, tool, **args)


async def error(name: str, tool: str, **args: Any) -> dict[str, Any]:
    """Return the error of a call that must be refused at the start."""
    return await call_refused(session_at(name, START, None), name, tool, **args)


async def temperature(
    name: str, *, at: int = START, on: World | None = None, place: str = PDX
) -> float:
    return (await call(name, NOW[name], location=place, at=at, on=on))["temperature"]


@pytest.mark.parametrize(
    ("name", "hours", "days", "history"),
    [("weather_com", 48, 10, 40), ("yahoo_weather", 12, 5, 30)],
)
async def test_horizons_differ_and_end_with_the_providers_own_code(
    name: str, hours: int, days: int, history: int
) -> None:
    assert len((await call(name, HOURLY[name], location=PDX))["hours"]) == hours
    assert len((await call(name, DAILY[name], location=PDX))["days"]) == days
    for wrong in (0, hours + 1):
        refusal = await error(name, HOURLY[name], location=PDX, hours=wrong)
        assert refusal["code"] == "INVALID_HOURS" and refusal["maximum"] == hours
    refusal = await error(name, DAILY[name], location=PDX, days=days + 1)
    assert refusal["code"] == "INVALID_DAYS"
    refusal = await error(name, PAST[name], location=PDX, date="2026-03-14")
    assert refusal["code"] == "DATE_NOT_FOUND"
    assert DAILY[name] in refusal["hint"]
    assert refusal["latest"] == "2026-03-13"
    earliest = refusal["earliest"]
    assert "temp_high" in await call(name, PAST[name], location=PDX, date=earliest)
    assert parse_time("2026-03-14T00:00Z") - parse_time(f"{earliest}T00:00Z") == history * DAY
    refusal = await error(name, PAST[name], location=PDX, date="2025-03-14")
    assert refusal["code"] == "DATE_NOT_FOUND"


@pytest.mark.parametrize("name", BOTH)
async def test_a_shared_name_is_refused_with_the_candidates(name: str) -> None:
    session = session_of("eleanor", name)
    refusal = await call_refused(session, name, NOW[name], location="charleston")
    assert refusal["code"] == "AMBIGUOUS_LOCATION"
    ids = {c["state"]: c[ID[name]] for c in refusal["candidates"]}
    assert set(ids) == {"South Carolina", "West Virginia"}
    by_id = await call_ok(session, name, NOW[name], location=ids["West Virginia"])
    for text in ("Charleston, West Virginia", "charleston WV", "Charleston, WV, US", "CRW"):
        assert await call_ok(session, name, NOW[name], location=text) == by_id
    assert (await error(name, NOW[name], location="Gotham"))["code"] == "LOCATION_NOT_FOUND"


@pytest.mark.parametrize("name", BOTH)
async def test_of_towns_that_share_a_name_the_person_means_the_own_one(name: str) -> None:
    at_home = await call(name, NOW[name], location="Portland, Oregon")
    for text in ("portland", "PDX", "Portland OR", "Rose City"):
        assert await call(name, NOW[name], location=text) == at_home


async def test_search_puts_the_own_town_first() -> None:
    here = (await call("weather_com", "search_location", query="portl"))["locations"]
    assert [place["state"] for place in here] == ["Oregon", "Maine"]
    there = (await call("yahoo_weather", "resolve_location", query="portland"))["places"]
    assert [place["state"] for place in there] == ["Oregon", "Maine"]
    nothing = await call("yahoo_weather", "resolve_location", query="zzz")
    assert nothing == {"places": [], "total": 0}


async def test_the_same_label_means_another_city_at_the_other_provider() -> None:
    saved = (await call("weather_com", "get_saved_locations"))["saved_locations"]
    here = {item["label"]: item["location"]["state"] for item in saved}
    bookmarks = (await call("yahoo_weather", "get_bookmarked_locations"))["bookmarks"]
    there = {item["label"]: item["place"]["state"] for item in bookmarks}
    assert (here["Portland"], there["Portland"]) == ("Oregon", "Maine")


@pytest.mark.parametrize("name", BOTH)
async def test_the_observation_is_the_last_full_hour(name: str) -> None:
    first = await call(name, NOW[name], location=PDX)
    same = await call(name, NOW[name], location=PDX, at=START + 3000)
    later = await call(name, NOW[name], location=PDX, at=START + 5 * HOUR)
    earlier = await call(name, NOW[name], location=PDX, at=START - DAY)
    assert first == same and first["observed_at"] == "2026-03-14T09:00:00-07:00"
    assert later["observed_at"] == "2026-03-14T14:00:00-07:00"
    assert later["temperature"] != first["temperature"]
    assert earlier["observed_at"] == "2026-03-13T09:00:00-07:00"


@pytest.mark.parametrize(
    ("name", "first", "later"), [("weather_com", 5, 11), ("yahoo_weather", 8, 14)]
)
async def test_forecasts_are_issued_every_six_hours(name: str, first: int, later: int) -> None:
    now = await call(name, DAILY[name], location="Chicago, IL")
    assert await call(name, DAILY[name], location="Chicago, IL", at=START + 60) == now
    assert await call(name, DAILY[name], location="Chicago, IL", at=START + 6 * HOUR) != now
    for hour, at in ((first, START), (later, START + 6 * HOUR)):
        forecast = await call(name, HOURLY[name], location=PDX, at=at)
        assert forecast["issued_at"] == f"2026-03-14T{hour:02}:00:00-07:00"


@pytest.mark.parametrize(
    "city", ["Portland, OR", "Hood River", "Chicago", "Honolulu", "Phoenix", "New York"]
)
async def test_providers_agree_within_bounds_but_are_not_the_same(city: str) -> None:
    here, there = [await call(name, NOW[name], location=city) for name in BOTH]
    assert abs(here["temperature"] - there["temperature"]) <= 1.5 * 1.8 + 0.5
    assert abs(here["humidity"] - there["humidity"]) <= 6
    mine = (await call("weather_com", DAILY["weather_com"], location=city))["days"]
    theirs = (await call("yahoo_weather", DAILY["yahoo_weather"], location=city))["days"]
    for a, b in zip(mine, theirs, strict=False):
        assert a["date"] == b["date"]
        assert abs(a["temp_max"] - b["temp_high"]) <= 4 * 1.8
        assert abs(a["temp_min"] - b["temp_low"]) <= 4 * 1.8
        assert abs(a["precipitation_chance"] - b["precipitation_chance"]) <= 25
    assert any(a["temp_max"] != round(b["temp_high"]) for a, b in zip(mine, theirs, strict=False))


@pytest.mark.parametrize("name", BOTH)
async def test_a_forecast_comes_true_within_its_error(name: str) -> None:
    days = (await call(name, DAILY[name], location="Chicago"))["days"]
    for lead in (1, 4):
        day = days[lead]
        at = START + (lead + 1) * DAY
        past = await call(name, PAST[name], location="Chicago", date=day["date"], at=at)
        expected = day.get("temp_max", day.get("temp_high"))
        assert abs(expected - past["temp_high"]) <= (0.7 + 0.2 * lead) * 1.8 + 1


async def test_a_station_affects_one_provider_and_a_true_hour_affects_both() -> None:
    before = {name: await temperature(name) for name in BOTH}
    broken = world()
    broken.update("weather_com_locations", make_id("loc", "maya", "portland"), temp_bias=20.0)
    assert await temperature("weather_com", on=broken) > before["weather_com"] + 30
    assert await temperature("yahoo_weather", on=broken) == before["yahoo_weather"]
    warm = world()
    warm.update("weather_hours", "portland:2026-03-14T16", temp=35.0)
    for name in BOTH:
        assert await temperature(name, on=warm) > 90
        assert await temperature(name, on=warm, at=START + HOUR) < 70
    snowy = world()
    day = {"2026-03-16": {"temp": -25.0}}
    snowy.update("yahoo_weather_places", "2475687", adjustments=day)
    days = (await call("yahoo_weather", "get_5day_forecast", location=PDX, on=snowy))["days"]
    assert days[2]["temp_high"] < 40
    assert await temperature("yahoo_weather", on=snowy) == before["yahoo_weather"]


@pytest.mark.parametrize("name", BOTH)
async def test_hours_that_are_not_stored_continue_the_stored_ones(name: str) -> None:
    stored = await call(name, DAILY[name], location=PDX)
    bare = world()
    for row in bare.rows("weather_hours", "city='portland'"):
        bare.delete("weather_hours", row["id"])
    assert await call(name, DAILY[name], location=PDX, on=bare) == stored
    for far in (START - 90 * DAY, START + 60 * DAY):
        assert (await call(name, NOW[name], location=PDX, at=far))["humidity"] > 0


async def test_units_convert_every_later_reading_exactly() -> None:
    session = session_at("yahoo_weather", START, None)

    async def read(tool: str) -> dict[str, Any]:
        return await call_ok(session, "yahoo_weather", tool, location=PDX)

    units = {"temperature": "C", "wind": "m/s", "precipitation": "mm", "distance": "km"}
    before = await read("get_current_observation")
    await call_ok(session, "yahoo_weather", "configure_units", **units)
    after = await read("get_current_observation")
    wind = await read("get_wind_details")
    assert before["units"]["temperature"] == "F" and after["units"] == units
    assert before["temperature"] == pytest.approx(after["temperature"] * 1.8 + 32, abs=0.15)
    assert before["wind"]["speed"] == pytest.approx(after["wind"]["speed"] / 0.44704, abs=0.2)
    assert before["precipitation"] == pytest.approx(after["precipitation"] / 25.4, abs=0.01)
    assert before["visibility"] == pytest.approx(after["visibility"] / 1.609344, abs=0.1)
    assert wind["unit"] == "m/s" and wind["speed"] == after["wind"]["speed"]
    refusal = await error("weather_com", "set_unit_preferences")
    assert refusal["code"] == "INVALID_ARGUMENT"
    refusal = await error("yahoo_weather", "configure_units", temperature="celsius")
    assert refusal["code"] == "INVALID_PARAMETER"


@pytest.mark.parametrize("name", BOTH)
async def test_alerts_appear_when_issued_and_end(name: str) -> None:
    async def names(city: str, at: int = START) -> list[str]:
        alerts = (await call(name, ALERTS[name], location=city, at=at))["alerts"]
        return [alert.get("event") or alert["title"] for alert in alerts]

    assert await names("Chicago") == ["Winter Storm Watch"]
    assert await names("Phoenix") == ["Air Quality Alert"]
    assert await names("Chicago", START - DAY) == []
    assert await names(PDX, parse_time("2026-03-15T20:00:00Z")) == []
    assert await names("Hood River") == []
    later = parse_time("2026-03-27T00:00:00Z")
    assert await names("Hood River", later) == ["Wind and Snow Advisory"]


async def test_an_alert_of_another_place_is_not_found() -> None:
    alert_id = make_id("alert", "maya", "chicago_storm")
    wrong = {"location": "Phoenix", "alert_id": alert_id}
    assert (await error("weather_com", "get_alert_details", **wrong))["code"] == "ALERT_NOT_FOUND"


@pytest.mark.parametrize(
    ("name", "add", "remove"),
    [
        ("weather_com", "add_saved_location", "remove_saved_location"),
        ("yahoo_weather", "bookmark_location", "unbookmark_location"),
    ],
)
async def test_labels_are_unique_regardless_of_case(name: str, add: str, remove: str) -> None:
    session = session_at(name, START, None)
    taken = await call_refused(session, name, add, label="cabin", location="Bend")
    assert taken["code"] == "LABEL_EXISTS"
    await call_ok(session, name, remove, label="CABIN")
    gone = await call_refused(session, name, remove, label="Cabin")
    assert gone["code"] == "LABEL_NOT_FOUND"


@pytest.mark.parametrize("name", BOTH)
async def test_hints_name_only_tools_of_the_provider(name: str) -> None:
    other = service(next(n for n in BOTH if n != name))
    foreign_tools = set(other.tools) - set(service(name).tools)
    tools = [NOW[name], HOURLY[name], DAILY[name], PAST[name]]
    wrong: list[dict[str, Any]] = [
        {"location": "Gotham"},
        {"location": PDX, "hours": 99},
        {"location": PDX, "days": 99},
        {"location": PDX, "date": "2030-01-01"},
    ]
    for tool, args in zip(tools, wrong, strict=True):
        text = str(await error(name, tool, **args))
        assert other.title not in text and other.name not in text
        assert not any(foreign in text for foreign in foreign_tools)


async def test_haze_makes_the_air_unhealthy_only_where_it_is() -> None:
    phoenix = await call("weather_com", "get_air_quality", location="Phoenix")
    assert phoenix["aqi"] > 100
    honolulu = await call("weather_com", "get_air_quality", location="Honolulu")
    assert honolulu["category"] == "Good"


def test_derived_quantities_follow_their_sources() -> None:
    indices = [d.aqi("pm25", amount) for amount in (0, 9.0, 9.1, 35.4, 35.5, 55.44, 1000)]
    assert indices == [0, 50, 51, 100, 101, 150, 500]
    assert d.aqi("ozone", 0.070) == 100 and d.aqi("no2", 101) == 101
    chill = d.fahrenheit(d.feels_like(d.celsius(0), 50, 15 / 2.236936))
    assert chill == pytest.approx(-19, abs=0.5)
    assert d.fahrenheit(d.feels_like(d.celsius(90), 70, 1)) == pytest.approx(105.9, abs=0.2)
    assert [d.beaufort(speed)[0] for speed in (0.2, 8.0, 32.7)] == [0, 5, 12]
    categories = [d.uv_category(index) for index in (2.4, 2.5, 7.9, 11)]
    assert categories == ["Low", "Moderate", "Very High", "Extreme"]
    assert (d.compass(0), d.compass(350), d.compass(225)) == ("N", "N", "SW")


async def test_sun_and_moon_agree_with_almanacs() -> None:
    sun = await call("yahoo_weather", "get_astronomy", location=PDX)
    assert abs(parse_time(sun["sunrise"]) - parse_time("2026-03-14T07:27:00-07:00")) <= 120
    assert abs(parse_time(sun["sunset"]) - parse_time("2026-03-14T19:14:00-07:00")) <= 120
    assert sky.moon_phase(parse_time("2024-04-08T18:21:00Z")) == "New Moon"  # solar eclipse
    assert sky.moon_phase(parse_time("2025-03-14T06:55:00Z")) == "Full Moon"  # lunar eclipse
    assert sky.sun_crossings(78.2, 15.6, date(2026, 6, 21)) is None
    refusal = await error("yahoo_weather", "get_moon_phase", location=PDX, date="2029-01-01")
    assert refusal["code"] == "DATE_NOT_FOUND"
    frozen = {"value": -500.0, "from_unit": "F"}
    refusal = await error("yahoo_weather", "convert_temperature", **frozen)
    assert refusal["code"] == "INVALID_PARAMETER"


@pytest.mark.parametrize("name", build.names())
async def test_a_day_with_rain_that_can_be_measured_is_not_called_dry(name: str) -> None:
    kinds = ("clear", "partly_cloudy", "mostly_cloudy", "cloudy", "fog")
    dry = {weather_com.WORDS[kind] for kind in kinds}
    dry |= {yahoo_weather.WORDS[kind] for kind in kinds}
    here = build.shared(name, BOTH)
    start = parse_time(build.person(name)["start"])
    session = Session(BOTH, here.share(), Control(start))
    for city in here.rows("weather_cities"):
        for provider in BOTH:
            table = "weather_com_locations" if provider == "weather_com" else "yahoo_weather_places"
            place = here.rows(table, "city=?", city["id"])[0]["id"]
            days = (await call_ok(session, provider, DAILY[provider], location=place))["days"]
            for back in range(1, 30):
                when = date.fromtimestamp(start - back * DAY).isoformat()
                past = await call_ok(session, provider, PAST[provider], location=place, date=when)
                days.append(past)
            for day in days:
                said = {value for key, value in day.items() if key.startswith("condition")}
                amount = day.get("precipitation", day.get("precipitation_amount"))
                assert amount is not None
                assert amount == 0 or not said <= dry, (city["id"], day)


@pytest.mark.parametrize("activity", ["running", "bbq"])
async def test_rain_spoils_what_people_do_outside(activity: str) -> None:
    session = session_of("maya", "weather_com")
    args = {"location": "Portland, OR"}
    suits = await call_ok(
        session, "weather_com", "get_activity_forecast", activity=activity, **args
    )
    assert suits["conditions"]["precipitation_amount"] > 1
    assert suits["score"] == 1 and suits["description"] == "Poor"
    fishing = await call_ok(
        session, "weather_com", "get_activity_forecast", activity="fishing", **args
    )
    assert fishing["score"] > 1
