"""Histories: past sessions are executed, and life goes on around them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from scenarios import load
from scenarios.haystack import history
from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.errors import InputError
from servers.kit.examples import owners, prepared
from servers.kit.service import Service, ToolSpec, all_tables, services
from servers.kit.session import Session
from servers.kit.store import World
from servers.kit.values import iso, parse_time
from servers.kit.yaml import read

YEAR = 365 * 86400
LUNCH = {
    "at": "2026-03-01T17:00:00Z",
    "key": "lunch",
    "turns": [
        {"user": "Put lunch with Ana on my calendar."},
        {
            "call": "google_calendar.create_event",
            "args": {
                "calendar_id": "primary",
                "title": "Lunch with Ana",
                "start_time": "2026-03-20T12:00:00",
                "end_time": "2026-03-20T13:00:00",
            },
            "save": "made",
        },
        {"assistant": "Done."},
    ],
}


@pytest.fixture
def haystack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of histories in place of the shipped ones."""
    monkeypatch.setattr(history, "HERE", tmp_path)
    for cached in (history.live, history._written):
        cached.cache_clear()
    return tmp_path


def written(folder: Path, name: str, sessions: list[Any], world: str = "maya") -> str:
    (folder / f"{name}.yaml").write_text(yaml.safe_dump({"world": world, "sessions": sessions}))
    return name


def world_after(name: str) -> World:
    return World.open(history.live(name).image, all_tables())


@pytest.mark.parametrize("name", history.names())
def test_the_log_of_a_lived_world_stands_in_order_of_time(name: str) -> None:
    log = world_after(name).log()
    moments = [entry["at"] for entry in log]
    assert moments == sorted(moments)
    assert "agent" not in {entry["cause"] for entry in log}


@pytest.mark.long
@pytest.mark.parametrize("name", build.names())
def test_life_goes_back_a_year_and_comes_true_again(name: str) -> None:
    world = build.shared(name).scratch()
    undone = world.rewind(parse_time(build.person(name)["start"]) - YEAR)
    assert len(undone) > 1000
    assert [entry["at"] for entry in world.log()][-1] <= undone[0]["at"]
    world.redo(undone)
    assert world.digest() == build.shared(name).digest()


@pytest.mark.long
def test_as_of_any_moment_is_the_plain_world_and_the_sessions_until_then(haystack: Path) -> None:
    world = world_after(written(haystack, "one", [LUNCH]))
    made = history.live("one").saved["lunch"]["made"]["event_id"]
    plain = build.shared("maya")
    for moment in ("2026-03-01T16:59:00", "2026-03-02T00:00:00"):
        at = parse_time(f"{moment}Z")
        then = world.as_of(at, world.tables).digest()
        expected = plain.as_of(at, plain.tables).digest()
        extra = then["google_calendar_events"].pop(made, None)
        assert (extra is not None) == (moment > "2026-03-01T17")
        assert then == expected


def test_ids_of_the_past_depend_on_the_session_and_not_on_its_place(haystack: Path) -> None:
    earlier = LUNCH | {"key": "brunch", "at": "2026-02-01T17:00:00Z"}
    written(haystack, "one", [LUNCH])
    written(haystack, "one_more", [earlier, LUNCH])
    alone = history.live("one").saved["lunch"]["made"]["event_id"]
    assert alone.startswith("gev_")
    saved = history.live("one_more").saved
    assert saved["brunch"]["made"]["event_id"] != saved["lunch"]["made"]["event_id"]
    (haystack / "one.yaml").unlink()
    written(haystack, "one", [earlier, LUNCH])
    history.live.cache_clear()
    history._written.cache_clear()
    assert history.live("one").saved["lunch"]["made"]["event_id"] == alone


def test_life_does_not_overwrite_what_a_session_wrote(haystack: Path) -> None:
    world = build.shared("maya")
    log = world.log_since("2026-03-05T00:00:00Z")
    events = [entry for entry in log if entry["table"] == "google_calendar_events"]
    event = next(entry["key"] for entry in events if entry["old"])
    call = {
        "call": "google_calendar.update_event",
        "args": {"event_id": event, "description": "Bring the plans."},
    }
    session = {"at": "2026-03-04T17:00:00Z", "key": "moved", "turns": [call]}
    with pytest.raises(InputError, match=f"the session moved writes {event} .* which life changes"):
        history.live(written(haystack, "overwritten", [session]))
    goes_on = history.live(written(haystack, "goes_on", [session | {"goes_on": [event]}]))
    assert len(goes_on.sessions) == 1


def test_a_scenario_names_what_a_session_saved(haystack: Path) -> None:
    name = written(haystack, "one", [LUNCH])
    made = history.live(name).saved["lunch"]["made"]["event_id"]
    said = {"event_id": "lived:lunch.made.event_id", "say": "It is lived:lunch.made.title."}
    found = history.with_lived(said, name)
    assert found == {"event_id": made, "say": "It is Lunch with Ana."}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("lived:lunhc.made.event_id", "unknown session 'lunhc'.*lunch"),
        ("lived:lunch.maid.event_id", "unknown saved reply 'maid'.*made"),
        ("lived:lunch.made.event", "unknown field 'event'.*event_id"),
    ],
)
def test_a_name_that_no_session_saved_is_refused(haystack: Path, said: str, why: str) -> None:
    name = written(haystack, "one", [LUNCH])
    with pytest.raises(InputError, match=why):
        history.with_lived({"id": said}, name)


def test_what_was_lived_needs_a_history() -> None:
    with pytest.raises(InputError, match="needs a history"):
        history.with_lived("lived:lunch.made.event_id", None)


@pytest.mark.parametrize(
    ("sessions", "why"),
    [
        ([LUNCH, LUNCH | {"key": "b", "at": "2026-02-01T17:00:00Z"}], "b stands after lunch"),
        ([LUNCH | {"at": "2026-03-14T16:00:00Z"}], "lunch is not in the past"),
        ([LUNCH, LUNCH | {"at": "2026-03-02T17:00:00Z"}], "two sessions are called lunch"),
    ],
)
def test_sessions_that_cannot_have_been_are_refused(
    haystack: Path, sessions: list[Any], why: str
) -> None:
    with pytest.raises(InputError, match=why):
        history.live(written(haystack, "wrong", sessions))


@pytest.mark.parametrize(
    "turn",
    [
        {"assistant": "It is ${made.titel}."},
        {
            "call": "google_calendar.quick_add_event",
            "args": {"calendar_id": "primary", "text": "${made.titel} again tomorrow at 5pm"},
        },
    ],
)
def test_an_expression_that_stands_for_nothing_is_refused(
    haystack: Path, turn: dict[str, Any]
) -> None:
    name = written(haystack, "wrong", [LUNCH | {"turns": [*LUNCH["turns"], turn]}])
    with pytest.raises(InputError, match=r"\$\{made.titel\} stands for nothing"):
        history.live(name)


def test_a_history_of_another_person_is_refused() -> None:
    raw = read(load.path_of("recovery/silent_no_op/rent_history"))
    with pytest.raises(InputError, match="the history friday_alerts is maya's, but the world is"):
        load.parse(raw | {"history": "friday_alerts", "world": "rafael"}, "x", "x.yaml")


@pytest.mark.long
@pytest.mark.parametrize("name", build.names())
def test_every_service_can_be_called_a_year_earlier(name: str) -> None:
    world = build.shared(name).scratch()
    then = parse_time(build.person(name)["start"]) - YEAR
    now_world = build.shared(name)
    world.rewind(then)
    now = parse_time(build.person(name)["start"])

    async def answers(world: World, at: int, cls: type[Service], spec: ToolSpec) -> bool:
        session = Session(owners(cls, spec), world.scratch(), Control(at))
        try:
            args = await prepared(session, cls, spec)
        except (AssertionError, LookupError, TypeError):
            # The example speaks of what is not in this world, or was not there yet.
            assert not session.bugs, session.bugs
            return False
        reply = await session.call(cls.name, spec.name, args)
        assert not session.bugs, (iso(at), session.bugs)
        return not reply.is_error

    async def play() -> None:
        for cls in services().values():
            reads = [spec for spec in cls.tools.values() if spec.effect == "read"][::2]
            today = [spec for spec in reads if await answers(now_world, now, cls, spec)]
            earlier = [spec for spec in reads if await answers(world, then, cls, spec)]
            assert len(earlier) * 2 >= len(today), (cls.name, len(earlier), len(today))

    anyio.run(play)
