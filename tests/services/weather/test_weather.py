"""What makes the two weather providers unlike each other, and the rules they share."""

from __future__ import annotations

import asyncio
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
    return build.shared("maya").scratch()


def calls(
    name: str, *steps: tuple[str, dict[str, Any]], at: int = START, on: World | None = None
) -> list[Any]:
    """Return the replies' data of calls made one after another."""
    session = Session([name], on or build.shared("maya").share(), Control(at))

    async def run() -> list[Any]:
        return [(await session.call(name, tool, args)).data for tool, args in steps]

    found = asyncio.run(run())
    assert not session.bugs, session.bugs
    return found


def call(name: str, tool: str, *, at: int = START, on: World | None = None, **args: Any) -> Any:
    return calls(name, (tool, args), at=at, on=on)[0]


def temperature(name: str, *, at: int = START, on: World | None = None, place: str = PDX) -> float:
    return call(name, NOW[name], location=place, at=at, on=on)["temperature"]


@pytest.mark.parametrize(
    ("name", "hours", "days", "history"),
    [("weather_com", 48, 10, 40), ("yahoo_weather", 12, 5, 30)],
)
def test_horizons_differ_and_end_with_the_providers_own_code(
    name: str, hours: int, days: int, history: int
) -> None:
    assert len(call(name, HOURLY[name], location=PDX)["hours"]) == hours
    assert len(call(name, DAILY[name], location=PDX)["days"]) == days
    for wrong in (0, hours + 1):
        error = call(name, HOURLY[name], location=PDX, hours=wrong)["error"]
        assert error["code"] == "INVALID_HOURS" and error["maximum"] == hours
    assert call(name, DAILY[name], location=PDX, days=days + 1)["error"]["code"] == "INVALID_DAYS"
    error = call(name, PAST[name], location=PDX, date="2026-03-14")["error"]
    assert (
        error["code"] == "DATE_NOT_FOUND"
        and DAILY[name] in error["hint"]
        and error["latest"] == "2026-03-13"
    )
    assert "temp_high" in call(name, PAST[name], location=PDX, date=error["earliest"])
    assert (
        parse_time("2026-03-14T00:00Z") - parse_time(error["earliest"] + "T00:00Z") == history * DAY
    )
    assert (
        call(name, PAST[name], location=PDX, date="2025-03-14")["error"]["code"] == "DATE_NOT_FOUND"
    )


@pytest.mark.parametrize("name", BOTH)
def test_a_shared_name_is_refused_with_the_candidates(name: str) -> None:
    error = call(name, NOW[name], location="portland")["error"]
    assert error["code"] == "AMBIGUOUS_LOCATION"
    assert {c["state"] for c in error["candidates"]} == {"Oregon", "Maine"}
    maine = next(c[ID[name]] for c in error["candidates"] if c["state"] == "Maine")
    by_id, *by_name = (
        call(name, NOW[name], location=text)
        for text in (maine, "Portland, Maine", "portland, ME", "Portland, ME, US")
    )
    assert all(reply == by_id for reply in by_name)
    assert call(name, NOW[name], location="Gotham")["error"]["code"] == "LOCATION_NOT_FOUND"


def test_search_orders_namesakes_differently() -> None:
    states = [
        p["state"] for p in call("weather_com", "search_location", query="portl")["locations"]
    ]
    assert states == ["Oregon", "Maine"]
    assert [
        p["state"] for p in call("yahoo_weather", "resolve_location", query="portland")["places"]
    ] == ["Maine", "Oregon"]
    assert call("yahoo_weather", "resolve_location", query="zzz") == {"places": [], "total": 0}


def test_the_same_label_means_another_city_at_the_other_provider() -> None:
    here = {
        s["label"]: s["location"]["state"]
        for s in call("weather_com", "get_saved_locations")["saved_locations"]
    }
    there = {
        s["label"]: s["place"]["state"]
        for s in call("yahoo_weather", "get_bookmarked_locations")["bookmarks"]
    }
    assert (here["Portland"], there["Portland"]) == ("Oregon", "Maine")


@pytest.mark.parametrize("name", BOTH)
def test_the_observation_is_the_last_full_hour(name: str) -> None:
    first, same, later = (
        call(name, NOW[name], location=PDX, at=START + s) for s in (0, 3000, 5 * HOUR)
    )
    earlier = call(name, NOW[name], location=PDX, at=START - DAY)
    assert first == same and first["observed_at"] == "2026-03-14T09:00:00-07:00"
    assert (
        later["observed_at"] == "2026-03-14T14:00:00-07:00"
        and later["temperature"] != first["temperature"]
    )
    assert earlier["observed_at"] == "2026-03-13T09:00:00-07:00"


@pytest.mark.parametrize(
    ("name", "first", "later"), [("weather_com", 5, 11), ("yahoo_weather", 8, 14)]
)
def test_forecasts_are_issued_every_six_hours(name: str, first: int, later: int) -> None:
    replies = [
        call(name, DAILY[name], location="Chicago, IL", at=START + s) for s in (0, 60, 6 * HOUR)
    ]
    assert replies[0] == replies[1] != replies[2]
    replies = [
        call(name, HOURLY[name], location=PDX, at=START + s)["issued_at"] for s in (0, 6 * HOUR)
    ]
    assert replies == [f"2026-03-14T{h:02}:00:00-07:00" for h in (first, later)]


@pytest.mark.parametrize(
    "city", ["Portland, OR", "Hood River", "Chicago", "Honolulu", "Phoenix", "New York"]
)
def test_providers_agree_within_bounds_but_are_not_the_same(city: str) -> None:
    here, there = (call(n, NOW[n], location=city) for n in BOTH)
    assert abs(here["temperature"] - there["temperature"]) <= 1.5 * 1.8 + 0.5
    assert abs(here["humidity"] - there["humidity"]) <= 6
    mine = call("weather_com", DAILY["weather_com"], location=city)["days"]
    theirs = call("yahoo_weather", DAILY["yahoo_weather"], location=city)["days"]
    for a, b in zip(mine, theirs, strict=False):
        assert a["date"] == b["date"]
        assert (
            abs(a["temp_max"] - b["temp_high"]) <= 4 * 1.8
            and abs(a["temp_min"] - b["temp_low"]) <= 4 * 1.8
        )
        assert abs(a["precipitation_chance"] - b["precipitation_chance"]) <= 25
    assert any(a["temp_max"] != round(b["temp_high"]) for a, b in zip(mine, theirs, strict=False))


@pytest.mark.parametrize("name", BOTH)
def test_a_forecast_comes_true_within_its_error(name: str) -> None:
    for lead in (1, 4):
        day = call(name, DAILY[name], location="Chicago")["days"][lead]
        past = call(
            name, PAST[name], location="Chicago", date=day["date"], at=START + (lead + 1) * DAY
        )
        assert (
            abs(day.get("temp_max", day.get("temp_high")) - past["temp_high"])
            <= (0.7 + 0.2 * lead) * 1.8 + 1
        )


def test_a_stations_row_makes_one_provider_wrong_and_a_true_hour_both() -> None:
    before = {n: temperature(n) for n in BOTH}
    broken = world()
    broken.update("weather_com_locations", make_id("loc", "maya", "portland"), temp_bias=20.0)
    assert temperature("weather_com", on=broken) > before["weather_com"] + 30
    assert temperature("yahoo_weather", on=broken) == before["yahoo_weather"]
    warm = world()
    warm.update("weather_hours", "portland:2026-03-14T16", temp=35.0)
    assert all(temperature(n, on=warm) > 90 for n in BOTH)
    assert all(temperature(n, on=warm, at=START + HOUR) < 70 for n in BOTH)
    snowy = world()
    day = {"2026-03-16": {"temp": -25.0}}
    snowy.update("yahoo_weather_places", "2475687", adjustments=day)
    assert (
        call("yahoo_weather", "get_5day_forecast", location=PDX, on=snowy)["days"][2]["temp_high"]
        < 40
    )
    assert temperature("yahoo_weather", on=snowy) == before["yahoo_weather"]


@pytest.mark.parametrize("name", BOTH)
def test_hours_that_are_not_stored_continue_the_stored_ones(name: str) -> None:
    stored = call(name, DAILY[name], location=PDX)
    bare = world()
    for row in bare.rows("weather_hours", "city='portland'"):
        bare.delete("weather_hours", row["id"])
    assert call(name, DAILY[name], location=PDX, on=bare) == stored
    for far in (START - 90 * DAY, START + 60 * DAY):
        assert call(name, NOW[name], location=PDX, at=far)["humidity"] > 0


def test_units_convert_every_later_reading_exactly() -> None:
    change = (
        "configure_units",
        {"temperature": "C", "wind": "m/s", "precipitation": "mm", "distance": "km"},
    )
    before, _, after, wind = calls(
        "yahoo_weather", ("get_current_observation", {"location": PDX}), change, ("get_current_observation", {"location": PDX}),
        ("get_wind_details", {"location": PDX}),
    )  # fmt: skip
    assert before["units"]["temperature"] == "F" and after["units"] == change[1]
    assert before["temperature"] == pytest.approx(after["temperature"] * 1.8 + 32, abs=0.15)
    assert before["wind"]["speed"] == pytest.approx(after["wind"]["speed"] / 0.44704, abs=0.2)
    assert before["precipitation"] == pytest.approx(after["precipitation"] / 25.4, abs=0.01)
    assert before["visibility"] == pytest.approx(after["visibility"] / 1.609344, abs=0.1)
    assert wind["unit"] == "m/s" and wind["speed"] == after["wind"]["speed"]
    assert call("weather_com", "set_unit_preferences")["error"]["code"] == "INVALID_ARGUMENT"
    assert (
        call("yahoo_weather", "configure_units", temperature="celsius")["error"]["code"]
        == "INVALID_PARAMETER"
    )


@pytest.mark.parametrize("name", BOTH)
def test_alerts_appear_when_issued_and_end(name: str) -> None:
    def names(city: str, at: int = START) -> list[str]:
        return [
            a.get("event") or a["title"]
            for a in call(name, ALERTS[name], location=city, at=at)["alerts"]
        ]

    assert names("Chicago") == ["Winter Storm Watch"] and names("Phoenix") == ["Air Quality Alert"]
    assert (
        names("Chicago", START - DAY) == [] and names(PDX, parse_time("2026-03-15T20:00:00Z")) == []
    )
    assert names("Hood River") == [] and names(
        "Hood River", parse_time("2026-03-27T00:00:00Z")
    ) == ["Wind and Snow Advisory"]


def test_an_alert_of_another_place_is_not_found() -> None:
    wrong = call(
        "weather_com",
        "get_alert_details",
        location="Phoenix",
        alert_id=make_id("alert", "maya", "chicago_storm"),
    )
    assert wrong["error"]["code"] == "ALERT_NOT_FOUND"


@pytest.mark.parametrize(
    ("name", "add", "remove"),
    [
        ("weather_com", "add_saved_location", "remove_saved_location"),
        ("yahoo_weather", "bookmark_location", "unbookmark_location"),
    ],
)
def test_labels_are_unique_whatever_their_case(name: str, add: str, remove: str) -> None:
    replies = calls(
        name,
        (add, {"label": "cabin", "location": "Bend"}),
        (remove, {"label": "CABIN"}),
        (remove, {"label": "Cabin"}),
    )
    assert [r.get("error", {}).get("code") for r in replies] == [
        "LABEL_EXISTS",
        None,
        "LABEL_NOT_FOUND",
    ]


@pytest.mark.parametrize("name", BOTH)
def test_hints_name_only_tools_of_the_provider(name: str) -> None:
    other = service(next(n for n in BOTH if n != name))
    tools = [NOW[name], HOURLY[name], DAILY[name], PAST[name]]
    wrong: list[dict[str, Any]] = [
        {"location": "Gotham"},
        {"location": PDX, "hours": 99},
        {"location": PDX, "days": 99},
        {"location": PDX, "date": "2030-01-01"},
    ]
    for tool, args in zip(tools, wrong, strict=True):
        text = str(call(name, tool, **args)["error"])
        assert other.title not in text and other.name not in text
        assert not any(t in text for t in set(other.tools) - set(service(name).tools))


def test_air_of_a_haze_is_unhealthy_only_there() -> None:
    assert call("weather_com", "get_air_quality", location="Phoenix")["aqi"] > 100
    assert call("weather_com", "get_air_quality", location="Honolulu")["category"] == "Good"


def test_derived_quantities_follow_their_sources() -> None:
    assert [d.aqi("pm25", x) for x in (0, 9.0, 9.1, 35.4, 35.5, 55.44, 1000)] == [
        0,
        50,
        51,
        100,
        101,
        150,
        500,
    ]
    assert d.aqi("ozone", 0.070) == 100 and d.aqi("no2", 101) == 101
    chill = d.fahrenheit(d.feels_like(d.celsius(0), 50, 15 / 2.236936))
    assert chill == pytest.approx(-19, abs=0.5)
    assert d.fahrenheit(d.feels_like(d.celsius(90), 70, 1)) == pytest.approx(105.9, abs=0.2)
    assert [d.beaufort(x)[0] for x in (0.2, 8.0, 32.7)] == [0, 5, 12]
    assert [d.uv_category(x) for x in (2.4, 2.5, 7.9, 11)] == [
        "Low",
        "Moderate",
        "Very High",
        "Extreme",
    ]
    assert (d.compass(0), d.compass(350), d.compass(225)) == ("N", "N", "SW")


def test_sun_and_moon_stand_where_almanacs_put_them() -> None:
    sun = call("yahoo_weather", "get_astronomy", location=PDX)
    assert abs(parse_time(sun["sunrise"]) - parse_time("2026-03-14T07:27:00-07:00")) <= 120
    assert abs(parse_time(sun["sunset"]) - parse_time("2026-03-14T19:14:00-07:00")) <= 120
    for eclipse, phase in (
        ("2024-04-08T18:21:00Z", "New Moon"),
        ("2025-03-14T06:55:00Z", "Full Moon"),
    ):
        assert sky.moon_phase(parse_time(eclipse)) == phase
    assert sky.sun_crossings(78.2, 15.6, date(2026, 6, 21)) is None
    assert (
        call("yahoo_weather", "get_moon_phase", location=PDX, date="2029-01-01")["error"]["code"]
        == "DATE_NOT_FOUND"
    )
    assert (
        call("yahoo_weather", "convert_temperature", value=-500.0, from_unit="F")["error"]["code"]
        == "INVALID_PARAMETER"
    )
