"""What a connecting client is told beside the tools: instructions, a profile, the day's agenda."""

from __future__ import annotations

import json
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextResourceContents

from client_harness.briefing import AGENDA, PROFILE
from client_harness.serve import open_session
from scenarios import load
from servers.kit.app import Episodes, make_app, run_app
from servers.kit.events import Attempt
from servers.kit.mcp import make_server, session_server
from servers.kit.session import Session
from tests.commands import PAY

ERAS = ["auto", "legacy"]


async def over_memory(session: Session, only: str | None, mode: str) -> tuple[str, dict[str, Any]]:
    server = make_server(lambda ctx: session, "haywire", only)
    async with Client(server, mode=mode) as client:
        return await heard(client)


async def over_http(session: Session, only: str | None, mode: str) -> tuple[str, dict[str, Any]]:
    episodes = Episodes()
    episodes.add("play", session, "secret")
    other, _ = open_session(None, ["venmo"], world="eleanor")
    episodes.add("other", other, "secret")
    headers = {"Authorization": "Bearer secret"}
    async with run_app(make_app(episodes)) as port, httpx2.AsyncClient(headers=headers) as web:
        url = f"http://127.0.0.1:{port}/other/all/mcp"
        async with Client(streamable_http_client(url, http_client=web), mode=mode) as client:
            assert "Eleanor Whitfield" in (await heard(client))[0]
        url = f"http://127.0.0.1:{port}/play/{only or 'all'}/mcp"
        async with Client(streamable_http_client(url, http_client=web), mode=mode) as client:
            return await heard(client)


async def heard(client: Client) -> tuple[str, dict[str, Any]]:
    """Return a server's instructions, and its resources by address."""
    documents = {}
    for one in (await client.list_resources()).resources:
        assert one.title and one.description
        documents[str(one.uri)] = await document(client, str(one.uri))
    return client.instructions or "", documents


async def document(client: Client, uri: str) -> Any:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return json.loads(content.text)


@pytest.mark.parametrize("way", [over_memory, over_http])
@pytest.mark.parametrize("era", ERAS)
def test_a_client_learns_whose_accounts_these_are_and_what_day_it_is(way: Any, era: str) -> None:
    session, _ = open_session()
    told, documents = anyio.run(way, session, None, era)
    assert "the accounts of Maya Lindqvist" in told
    assert "Saturday, 14 March 2026, 09:00 in Portland, Oregon" in told
    for name, cls in session.classes.items():
        assert f"{cls.title} (`{name}`)" in told
    assert documents[PROFILE]["emails"]["work"] == "maya.lindqvist@fernhill.design"
    assert documents[AGENDA]["day"] == "2026-03-14"
    calendars = documents[AGENDA]["calendars"]
    assert set(calendars) == {"google_calendar", "outlook_calendar"}
    titles = [event["title"] for event in calendars["google_calendar"]["events"]]
    assert "Ana: farmers market" in titles


@pytest.mark.parametrize("way", [over_memory, over_http])
@pytest.mark.parametrize("era", ERAS)
def test_the_server_of_one_service_speaks_of_that_service(way: Any, era: str) -> None:
    session, _ = open_session(None, ["venmo", "google_calendar"])
    told, documents = anyio.run(way, session, "venmo", era)
    assert "Venmo (`venmo`)" in told and "Google" not in told
    assert set(documents) == {PROFILE}
    _, documents = anyio.run(way, session, "google_calendar", era)
    assert set(documents[AGENDA]["calendars"]) == {"google_calendar"}


def test_the_agenda_is_a_look_into_the_calendar_like_any_other() -> None:
    async def look() -> None:
        session, _ = open_session(None, ["google_calendar"], faults="brownout", seed=1)
        async with Client(session_server(session)) as client:
            shown = [await document(client, AGENDA) for _ in range(12)]
        attempts = [event for event in session.trace() if isinstance(event, Attempt)]
        assert [one.name for one in attempts] == ["google_calendar.list_events"] * 12
        assert [one.seen for one in attempts] == [
            one["calendars"]["google_calendar"] for one in shown
        ]
        # What a fault does to the calendar's tool, it does here.
        assert {one.is_error for one in attempts} == {True, False}

    anyio.run(look)


def test_a_service_that_is_held_back_is_not_spoken_of() -> None:
    name = next(n for n in load.written() if load.load(n).disclose)
    session, made = open_session(name)
    assert made is not None
    told, documents = anyio.run(over_memory, session, None, "legacy")
    for later in made.disclose:
        assert session.classes[later.service].title not in told
        assert later.service not in json.dumps(documents)


def test_a_scenario_does_not_give_away_what_is_to_be_looked_up() -> None:
    session, _ = open_session(PAY)
    told, documents = anyio.run(over_memory, session, None, "auto")
    assert documents == {
        PROFILE: {
            "name": "Maya Lindqvist",
            "city": "Portland",
            "state": "Oregon",
            "timezone": "America/Los_Angeles",
        }
    }
    assert "fault" not in told.lower() and "drop" not in told.lower()


def test_a_kept_world_is_introduced_as_its_own_persons(tmp_path: Any) -> None:
    open_session(None, ["venmo"], world="rafael", db=tmp_path / "his.db")
    session, _ = open_session(None, ["venmo"], db=tmp_path / "his.db")
    told, _ = anyio.run(over_memory, session, None, "auto")
    assert "the accounts of Rafael Ortega" in told and "San Antonio, Texas" in told


def test_a_resource_that_is_not_there_is_refused_by_name() -> None:
    async def ask() -> None:
        session, _ = open_session(None, ["venmo"])
        async with Client(session_server(session)) as client:
            with pytest.raises(MCPError, match="no resource 'account://secrets'"):
                await client.read_resource("account://secrets")

    anyio.run(ask)


def test_instructions_of_a_search_say_how_to_find_tools() -> None:
    session, _ = open_session(expose="search")
    told, _ = anyio.run(over_memory, session, None, "auto")
    assert "`find_tools`" in told and "`call_tool`" in told
    assert "Robinhood (`robinhood`)" in told
