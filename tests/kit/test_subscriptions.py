"""Clients of protocol 2026-07-28, which subscribe to hear that a list of tools has changed."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncGenerator

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.subscriptions import ToolsListChanged

from tests.commands import ROOT
from tests.kit.test_http import ask, bare, connected, disclosing, http, listed, serving

pytestmark = pytest.mark.anyio
STDIO = """
import anyio
from servers.kit.mcp import serve_stdio
from tests.kit.test_http import disclosing

anyio.run(serve_stdio, disclosing())
"""


@contextlib.asynccontextmanager
async def hearing(client: Client) -> AsyncGenerator[list[set[str]]]:
    """Yield the lists that a client asks for, one for each time that it hears of a change."""
    lists: list[set[str]] = []

    async def hear() -> None:
        async for event in subscription:
            assert event == ToolsListChanged()
            lists.append(await listed(client))

    async with (
        client.listen(tools_list_changed=True, prompts_list_changed=True) as subscription,
        anyio.create_task_group() as tasks,
    ):
        assert subscription.honored.tools_list_changed
        assert not subscription.honored.prompts_list_changed
        tasks.start_soon(hear)
        yield lists
        tasks.cancel_scope.cancel()


def promises(client: Client) -> None:
    """Check that the server says of lists of tools, and of no others, that they change."""
    said = client.server_capabilities
    assert client.protocol_version == "2026-07-28"
    assert said.tools is not None and said.tools.list_changed
    assert said.prompts is not None and not said.prompts.list_changed
    assert said.resources is not None
    assert not said.resources.list_changed and not said.resources.subscribe


async def test_a_subscriber_over_http_hears_of_a_disclosure_before_the_result() -> None:
    """The list of the disclosed service changes; those of the others, and of all, do not."""
    async with (
        serving(one=disclosing()) as base,
        http() as plain,
        connected(f"{base}/one/all/mcp", plain) as both,
        connected(f"{base}/one/venmo/mcp", plain) as venmo,
        connected(f"{base}/one/clock/mcp", plain) as clock,
        hearing(both) as of_both,
        hearing(venmo) as of_venmo,
        hearing(clock) as of_clock,
    ):
        for client in (both, venmo, clock):
            promises(client)
        assert await listed(clock) == set()
        assert (await both.call_tool("venmo__nothing", {})).is_error
        assert of_clock == [{"get_time", "wait"}]
        assert (await ask(clock, "get_time"))["now"]
        assert of_both == of_venmo == []


async def test_a_subscriber_on_stdio_hears_of_a_disclosure_before_the_result() -> None:
    program = StdioServerParameters(
        command=sys.executable, args=["-c", STDIO], env={"PYTHONPATH": str(ROOT)}, cwd=ROOT
    )
    async with Client(program) as client, hearing(client) as lists:
        promises(client)
        assert not await listed(client) & {"clock__get_time"}
        assert (await client.call_tool("venmo__nothing", {})).is_error
        assert len(lists) == 1 and "clock__get_time" in lists[0]


async def test_nobody_is_told_where_a_search_stands_for_the_list() -> None:
    session = disclosing()
    session.expose = "search"
    async with (
        serving(one=session) as base,
        http() as plain,
        connected(f"{base}/one/clock/mcp", plain) as client,
        hearing(client) as lists,
    ):
        call = {"name": "venmo__nothing", "arguments": {}}
        with anyio.fail_after(session.hold * 20):
            assert (await client.call_tool("call_tool", call)).is_error
        assert not session.hidden and lists == []


async def test_subscriptions_end_with_the_host_and_do_not_hold_it_up() -> None:
    async with contextlib.AsyncExitStack() as host:
        base = await host.enter_async_context(serving(one=bare("clock")))
        async with (
            http() as plain,
            connected(f"{base}/one/clock/mcp", plain) as client,
            client.listen(tools_list_changed=True) as subscription,
        ):
            # The web server itself would cut the stream off after 3 s.
            with anyio.fail_after(2.5):
                await host.aclose()
            # A stream that is cut off raises instead.
            assert [event async for event in subscription] == []
