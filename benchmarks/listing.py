"""What the list of tools costs an agent, in tokens: everything, the everyday offer, and a search.

Run it alone with `python -m benchmarks.listing`.
"""

from __future__ import annotations

import json

import anyio
from mcp import Client

from benchmarks.timing import Row
from client_harness.haystack.sizes import tokens
from client_harness.serve import open_session
from servers.kit.mcp import session_server
from servers.kit.session import Session


async def listing(session: Session) -> tuple[int, int]:
    """Return how many tools a session lists, and the tokens of the list as JSON."""
    async with Client(session_server(session)) as client:
        listed = (await client.list_tools()).tools
        shown = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed]
        return len(shown), tokens(json.dumps(shown, ensure_ascii=False, separators=(",", ":")))


async def found(session: Session, query: str) -> int:
    """Return the tokens of what a search answers."""
    async with Client(session_server(session)) as client:
        result = await client.call_tool("find_tools", {"query": query})
        return tokens(str(getattr(result.content[0], "text", "")))


async def measure() -> list[Row]:
    """Return the rows for listings."""
    tools, whole = await listing(open_session(None, ["all"])[0])
    rows = [Row(f"list of all {tools} tools", f"{whole:,} tokens", "", "", "")]
    for what, session in (
        ("list of the everyday offer", open_session()[0]),
        ("list of a search", open_session(expose="search")[0]),
    ):
        tools, cost = await listing(session)
        against = f"all {whole:,}"
        ratio = f"{cost / whole:.3f}"
        rows.append(Row(f"{what}, {tools} tools", f"{cost:,} tokens", against, ratio, ""))
    session, _ = open_session(expose="search")
    queries = ("send money to a friend", "what is on my calendar", "book a hotel room")
    costs = [await found(session, query) for query in queries]
    mean = sum(costs) / len(costs)
    rows.append(Row("reply to a search", f"{mean:,.0f} tokens", "", "", "< 2,000 tokens"))
    return rows


if __name__ == "__main__":
    for row in anyio.run(measure):
        print(*row[:2], sep=": ")
