"""Faults of the transport: what goes over HTTP in both protocol eras, the error reply elsewhere,
and that nothing else is touched.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError

from client_harness.tools import Tools, in_memory, over_http
from fault_profiles.model import check_together, parse
from servers.kit.control import make_id
from servers.kit.errors import InputError
from servers.kit.evidence import Watch
from servers.kit.session import Session
from tests.kit.test_http import ERAS, ask, attempts, connected, serving
from tests.support import START, new_session

pytestmark = pytest.mark.anyio
PAY = {"contact_id": make_id("vct", "maya", "jordan_park"), "amount": 5, "note": "tea"}
KINDS: list[tuple[str, dict[str, Any], str]] = [
    ("connection_drop", {}, "CONNECTION_LOST"),
    ("http_error", {"status": 502}, "SERVICE_UNAVAILABLE"),
    ("http_error", {"status": 429, "retry_after": 7}, "RATE_LIMIT_EXCEEDED"),
    ("hang", {"seconds": 45, "real_seconds": 20}, "REQUEST_TIMEOUT"),
    ("malformed_frame", {"as": "truncated"}, "UNREADABLE_REPLY"),
    ("malformed_frame", {"as": "not_json"}, "UNREADABLE_REPLY"),
    ("malformed_frame", {"as": "empty"}, "UNREADABLE_REPLY"),
]


def case_id(kind: str, fields: dict[str, Any]) -> str:
    return f"{kind}-{'-'.join(str(value) for value in fields.values())}"


kinds = pytest.mark.parametrize(
    ("kind", "fields", "code"), KINDS, ids=[case_id(kind, fields) for kind, fields, _ in KINDS]
)


def plagued(
    kind: str, fields: dict[str, Any], on: str = "venmo.send_money", watches: tuple[Watch, ...] = ()
) -> Session:
    """Return a session with a fault that acts on the first call of its target."""
    fault = parse({kind: {"on": on, "first": 1, **fields}})
    return new_session("venmo", "clock", faults=[fault], watches=watches)


def paid(session: Session) -> int:
    """Return how many payments for tea are stored."""
    return len(session.world.rows("venmo_transactions", "note=?", "tea"))


class Line(httpx2.AsyncHTTPTransport):
    """Records the response to each tool call; keeps the client alive where none comes."""

    def __init__(self) -> None:
        super().__init__(verify=False)
        self.came: list[httpx2.Response | httpx2.TransportError] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        called = b'"tools/call"' in await request.aread()
        try:
            response = await super().handle_async_request(request)
            if called:
                await response.aread()
        except httpx2.TransportError as broken:
            self.came.append(broken)
            return httpx2.Response(502, request=request)
        if called:
            self.came.append(response)
        return response


@contextlib.asynccontextmanager
async def line() -> AsyncGenerator[tuple[Line, httpx2.AsyncClient]]:
    made = Line()
    async with httpx2.AsyncClient(transport=made, timeout=20) as client:
        yield made, client


def assert_came(
    came: httpx2.Response | httpx2.TransportError, kind: str, fields: dict[str, Any]
) -> None:
    """Check what went over the wire."""
    if kind == "connection_drop":
        assert isinstance(came, httpx2.RemoteProtocolError | httpx2.ReadError)
        return
    assert isinstance(came, httpx2.Response)
    if kind == "http_error":
        assert came.status_code == fields["status"]
        assert came.headers["content-type"] == "text/html"
        assert "<h1>" in came.text
        retry_after = str(fields["retry_after"]) if "retry_after" in fields else None
        assert came.headers.get("retry-after") == retry_after
        return
    assert came.status_code == 200
    assert came.headers["content-type"] == "application/json"
    assert "outcome" not in came.text
    with pytest.raises(ValueError):
        json.loads(came.content)
    assert (came.content == b"") is (fields["as"] == "empty")
    assert came.text.startswith("{") is (fields["as"] == "truncated")


# -- in band -------------------------------------------------------------------------------------
@pytest.mark.parametrize("when", ["before", "after"])
@kinds
async def test_in_memory_it_is_an_error_that_leaves_the_outcome_open(
    kind: str, fields: dict[str, Any], code: str, when: str
) -> None:
    session = plagued(kind, fields | {"when": when})
    reply = await session.call("venmo", "send_money", PAY)
    assert reply.is_error
    assert reply.data["error"]["code"] == code
    assert reply.data["error"]["retryable"]
    (attempt,) = attempts(session)
    assert attempt.seen == reply.data
    assert (attempt.truth is not None) is (when == "after")
    at_first = 1 if when == "after" else 0
    assert paid(session) == at_first
    assert attempt.firings[0].detail == {"when": when, "wire": reply.wire}
    assert session.control.now == START + 1 + fields.get("seconds", 1)
    again = await session.call("venmo", "send_money", PAY)
    assert not again.is_error
    assert again.wire is None
    assert paid(session) == at_first + 1
    assert not session.bugs


@kinds
async def test_before_and_after_look_the_same_to_the_agent(
    kind: str, fields: dict[str, Any], code: str
) -> None:
    before = await plagued(kind, fields | {"when": "before"}).call("venmo", "send_money", PAY)
    after = await plagued(kind, fields | {"when": "after"}).call("venmo", "send_money", PAY)
    assert before == after


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_later_reading_shows_how_it_turned_out(when: str) -> None:
    watch = Watch("paid", lambda call: call.name == "venmo.send_money")
    session = plagued("connection_drop", {"when": when}, watches=(watch,))
    await session.call("venmo", "send_money", PAY)
    await session.call("venmo", "list_friends", {})
    await session.call("venmo", "list_transactions", {})
    assert [a.opened for a in attempts(session)] == [["paid#1"], [], []]
    assert [a.evidence for a in attempts(session)] == [[], [], ["paid#1"]]
    assert not session.bugs


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (
            {"http_error": {"on": "venmo.*", "status": 200}},
            "status: it should be greater than or equal to 400",
        ),
        (
            {"hang": {"on": "venmo.*", "real_seconds": 0}},
            "real_seconds: it should be greater than 0",
        ),
        (
            {"malformed_frame": {"on": "venmo.*", "as": "odd"}},
            "as: expected 'truncated', 'not_json' or 'empty', got 'odd'",
        ),
        (
            {"connection_drop": {"on": "venmo.*", "when": "during"}},
            "when: expected 'before' or 'after', got 'during'",
        ),
    ],
)
async def test_mistakes_are_one_line(item: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as wrong:
        check_together([parse(item)])
    assert message in str(wrong.value)
    assert "\n" not in str(wrong.value)


async def test_a_fault_that_can_never_act_behind_a_lost_call_is_refused() -> None:
    def beside(when: str) -> None:
        hang = parse({"hang": {"on": "venmo.*", "when": when}})
        latency = parse({"latency": {"on": "venmo.send_money"}})
        check_together([hang, latency])

    beside("after")
    with pytest.raises(InputError, match="latency can never act: hang, which is further out"):
        beside("before")


# -- over HTTP -----------------------------------------------------------------------------------
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("era", ERAS)
@kinds
async def test_over_http_it_happens_for_real(
    kind: str, fields: dict[str, Any], code: str, when: str, era: str
) -> None:
    session = plagued(kind, fields | {"when": when})
    other = new_session("venmo", "clock")
    near = plagued(kind, fields | {"when": when})
    async with serving(one=session, two=other) as base, line() as (wire, http):
        url = f"{base}/one/venmo/mcp"
        timeout = 0.4 if kind == "hang" else 10
        async with connected(url, http, mode=era, read_timeout_seconds=timeout) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(beside, base, era)
                with pytest.raises(MCPError):
                    await client.call_tool("send_money", PAY)
            if kind != "hang":
                assert_came(wire.came[-1], kind, fields)
            assert (await ask(client, "send_money", **PAY))["transaction_id"]
        async with connected(url, http, mode=era) as client:
            assert (await ask(client, "get_balance"))["balance"] is not None
    for args in ("send_money", PAY), ("send_money", PAY), ("get_balance", {}):
        await near.call("venmo", *args)
    assert session.control.trace() == near.control.trace()
    assert paid(session) == (2 if when == "after" else 1)
    assert [a.tool for a in attempts(other)] == ["wait"] * 5
    assert not any(a.is_error for a in attempts(other))
    assert not session.bugs and not other.bugs


async def beside(base: str, era: str) -> None:
    """Meanwhile, make calls in another episode."""
    async with line() as (_, http), connected(f"{base}/two/clock/mcp", http, mode=era) as client:
        for seconds in range(1, 6):
            assert (await ask(client, "wait", seconds=seconds))["waited_seconds"] == seconds


@pytest.mark.parametrize("era", ERAS)
async def test_other_calls_of_the_episode_continue_during_a_hang(era: str) -> None:
    session = plagued("hang", {"real_seconds": 20}, "venmo.list_friends")
    async with (
        serving(one=session) as base,
        line() as (_, http),
        connected(f"{base}/one/all/mcp", http, mode=era) as client,
    ):
        await client.list_tools()

        async def hanging() -> None:
            with pytest.raises(MCPError, match="timed out"):
                await client.call_tool("venmo__list_friends", {}, read_timeout_seconds=1.0)
            told.append("gave up")

        told: list[str] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hanging)
            with anyio.fail_after(0.9):
                while not attempts(session):
                    await anyio.lowlevel.checkpoint()
                await ask(client, "clock__get_time")
            assert told == []


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_whose_client_gave_up_is_finished_and_recorded(era: str) -> None:
    session = plagued("latency", {"seconds": 20, "real_seconds": 0.5})
    async with (
        serving(one=session) as base,
        line() as (_, http),
        connected(f"{base}/one/venmo/mcp", http, mode=era) as client,
    ):
        with pytest.raises(MCPError, match="timed out"):
            await client.call_tool("send_money", PAY, read_timeout_seconds=0.2)
        await ask(client, "get_balance")
    assert [a.tool for a in attempts(session)] == ["send_money", "get_balance"]
    assert paid(session) == 1
    assert not session.bugs


@pytest.mark.parametrize("era", ERAS)
async def test_a_patient_client_is_eventually_cut_off(era: str) -> None:
    session = plagued("hang", {"real_seconds": 0.2})
    async with (
        serving(one=session) as base,
        line() as (wire, http),
        connected(f"{base}/one/venmo/mcp", http, mode=era) as client,
    ):
        with pytest.raises(MCPError), anyio.fail_after(10):
            await client.call_tool("send_money", PAY)
    assert isinstance(wire.came[-1], httpx2.RemoteProtocolError | httpx2.ReadError)


async def test_a_closing_host_does_not_wait_for_a_hang() -> None:
    session = plagued("hang", {"real_seconds": 600})

    async def hanging(base: str) -> None:
        async with line() as (_, http), connected(f"{base}/one/venmo/mcp", http) as client:
            with pytest.raises(MCPError):
                await client.call_tool("send_money", PAY)

    async with anyio.create_task_group() as tasks:
        with anyio.fail_after(2.5):  # the web server would cut it off after 3 s
            async with serving(one=session) as base:
                tasks.start_soon(hanging, base)
                while not attempts(session):
                    await anyio.lowlevel.checkpoint()
    assert len(attempts(session)) == 1


async def test_a_request_that_is_sent_again_is_another_call() -> None:
    """Some clients repeat a request by themselves after the connection broke."""
    session = plagued("connection_drop", {"when": "after"})

    class Again(Line):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            response = await super().handle_async_request(request)
            if response.status_code == 502:
                return await super().handle_async_request(request)
            return response

    made = Again()
    async with (
        serving(one=session) as base,
        httpx2.AsyncClient(transport=made, timeout=20) as http,
        connected(f"{base}/one/venmo/mcp", http) as client,
    ):
        await ask(client, "send_money", **PAY)
    assert [len(a.firings) for a in attempts(session)] == [1, 0]
    assert paid(session) == 2


@kinds
async def test_agents_see_the_same_in_memory_and_over_http(
    kind: str, fields: dict[str, Any], code: str
) -> None:
    async def act(tools: Tools) -> list[Any]:
        paid = await tools.call("venmo", "send_money", PAY)
        balance = await tools.call("venmo", "get_balance", {})
        return [paid, balance]

    fields = fields | ({"real_seconds": 0.2} if kind == "hang" else {})
    near = plagued(kind, fields)
    far = plagued(kind, fields)
    async with in_memory(near) as tools:
        seen = await act(tools)
    async with (
        serving(one=far) as base,
        over_http(far, {"url": f"{base}/one/all/mcp", "headers": {}}) as tools,
    ):
        assert await act(tools) == seen
    assert seen[0][0]["error"]["code"] == code
    assert near.control.trace() == far.control.trace()


async def test_a_client_that_dies_of_a_dropped_connection_leaves_the_session_usable() -> None:
    session = plagued("connection_drop", {})
    async with serving(one=session) as base:
        url = f"{base}/one/venmo/mcp"
        with pytest.raises(BaseExceptionGroup):
            async with Client(url) as client:
                await client.call_tool("send_money", PAY)
        async with Client(url) as client:
            await ask(client, "send_money", **PAY)
    assert [a.is_error for a in attempts(session)] == [True, False]
    assert paid(session) == 1
