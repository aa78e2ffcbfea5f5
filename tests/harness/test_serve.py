"""Serving: what a client sees over stdio and HTTP.

Also worlds that are kept in files, and the configurations from which clients start the servers.
"""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import sqlite3
import subprocess
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from client_harness import connect
from client_harness.serve import open_session
from scenarios import load
from scenarios.script import flat
from servers.kit.errors import InputError
from servers.kit.mcp import reply_of
from servers.kit.service import providers, services
from servers.kit.session import Session
from tests.commands import PAY, ROOT, command, process, refusal


def clock_tool() -> str:
    """Return the name of the clock's reading tool."""
    return next(t.name for t in services()["clock"].tools.values() if t.effect == "read")


def started(**entry: Any) -> StdioServerParameters:
    """Return the parameters that start the server of a client's entry."""
    env = {"PYTHONPATH": str(ROOT)}  # clients pass on little of their own environment
    return StdioServerParameters(command=entry["command"], args=entry["args"], env=env, cwd="/")


def prefixed(service: str) -> set[str]:
    """Return the names of a service's tools on a server with several services."""
    return {f"{service}__{tool}" for tool in services()[service].tools}


async def listed(server: Any) -> set[str]:
    """Return the names of a server's tools, after one call that succeeds."""
    async with Client(server) as client:
        names = {t.name for t in (await client.list_tools()).tools}
        timely = next(n for n in sorted(names) if n.endswith(clock_tool()))
        _, wrong = reply_of(await client.call_tool(timely, {}))
        assert not wrong
        return names


def test_stdio_serves_all_services_with_prefixed_tools() -> None:
    entry = connect.entry(connect.client("claude-code"), ["--services", "clock,venmo"])
    names = anyio.run(listed, started(**entry))
    assert names == prefixed("clock") | prefixed("venmo")


def test_http_serves_each_service_at_its_own_url() -> None:
    async def look(ways: dict[str, Any]) -> None:
        by_name = {w["name"]: w for w in ways["servers"]}
        assert set(by_name) == {"clock", "venmo"}
        async with httpx2.AsyncClient(headers=by_name["clock"]["headers"]) as web:
            clock = streamable_http_client(by_name["clock"]["url"], http_client=web)
            assert await listed(clock) == set(services()["clock"].tools)
            every = streamable_http_client(ways["all"]["url"], http_client=web)
            assert len(await listed(every)) > 20
        async with httpx2.AsyncClient() as stranger:
            assert (await stranger.post(by_name["clock"]["url"], json={})).status_code == 401

    with served("--services", "clock,venmo") as ways:
        anyio.run(look, ways)


def test_http_serves_a_search_at_one_url() -> None:
    async def look(ways: dict[str, Any]) -> None:
        assert ways["servers"] == []
        every = ways["all"]
        async with (
            httpx2.AsyncClient(headers=every["headers"]) as web,
            Client(streamable_http_client(every["url"], http_client=web)) as client,
        ):
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == ["find_tools", "call_tool"]
            call = {"name": "venmo__list_friends", "arguments": {}}
            friends, wrong = reply_of(await client.call_tool("call_tool", call))
            assert not wrong and friends["friends"]

    with served("--expose", "search", "--services", "venmo") as ways:
        anyio.run(look, ways)


@contextlib.contextmanager
def served(*options: str) -> Generator[dict[str, Any]]:
    """Serve over HTTP in another process, yield what it prints about its servers, and stop it.

    It is stopped with an interrupt, as people do.
    """
    with process("serve", *options, "--port", 0, "--json") as host:
        assert host.stdout is not None
        text = ""
        while not text.endswith("}\n") or text.count("{") != text.count("}"):
            line = host.stdout.readline()
            assert line, host.communicate()
            text += line
        try:
            yield json.loads(text)
        finally:
            host.send_signal(signal.SIGINT)
            _, err = host.communicate()
    assert (host.returncode, err) == (0, "stopped\n")


@pytest.mark.parametrize("category", sorted({c.category for c in providers().values()})[::3])
def test_stdio_serves_a_category(category: str) -> None:
    async def look(server: Any) -> None:
        async with Client(server) as client:
            names = {t.name for t in (await client.list_tools()).tools}
            expected: set[str] = set()
            for name, cls in providers().items():
                if cls.category == category:
                    expected |= prefixed(name)
            assert names == expected
            for name, args in readers(category):
                _, wrong = reply_of(await client.call_tool(name.replace(".", "__"), args))
                assert not wrong, name

    entry = connect.entry(connect.client("claude-code"), ["--services", category])
    anyio.run(look, started(**entry))


@pytest.mark.long
def test_http_serves_every_category() -> None:
    async def look(ways: dict[str, Any]) -> None:
        for way in ways["servers"]:
            async with (
                httpx2.AsyncClient(headers=way["headers"]) as web,
                Client(streamable_http_client(way["url"], http_client=web)) as client,
            ):
                names = {tool.name for tool in (await client.list_tools()).tools}
                assert names == set(services()[way["name"]].tools)
                for name, args in readers(way["name"]):
                    _, wrong = reply_of(await client.call_tool(name.partition(".")[2], args))
                    assert not wrong, name
        assert {w["name"] for w in ways["servers"]} == set(services())

    with served("--services", "all") as ways:
        anyio.run(look, ways)


def readers(place: str) -> list[tuple[str, dict[str, Any]]]:
    """Return a reading tool and its example for each provider with that name or category."""
    calls = []
    for name, cls in providers().items():
        if place in (name, cls.category):
            reading = [tool for tool in cls.tools.values() if tool.effect == "read"]
            spec = next(tool for tool in reading if not tool.setup)
            calls.append((f"{name}.{spec.name}", spec.example))
    return calls


def test_people_read_urls_the_header_and_what_to_say() -> None:
    with process("serve", PAY, "--port", 0, "--token", "open-sesame") as host:
        assert host.stdout is not None
        lines = [host.stdout.readline() for _ in range(6)]
        host.send_signal(signal.SIGINT)
        host.communicate()
    assert [line.split()[0] for line in lines[:3]] == ["venmo", "zelle", "all"]
    assert "/play/venmo/mcp" in lines[0]
    assert lines[3] == "Header: Authorization: Bearer open-sesame\n"
    assert lines[4].startswith("Say to your agent: Jordan Park")


def test_a_port_in_use_is_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = command("serve", "--services", "clock", "--port", port)
        assert f"cannot listen on 127.0.0.1:{port}" in refusal(done)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("serve --services venmoo", "did you mean 'venmo'"),
        (f"serve {PAY} --services gmail", "unknown service 'gmail'"),
        ("serve --services payment", "did you mean 'payments'"),
        ("serve --world rafaella", "unknown world 'rafaella'; did you mean 'rafael'"),
        (f"serve {PAY} --world rafael", "has its own world"),
        ("serve --faults flakey", "did you mean 'flaky'"),
        ("serve recovery/silent_no_op", "scenarios; serve one of them"),
        (f"serve {PAY} --db x.db", "always begins afresh"),
        ("connect claude", "did you mean 'claude-code' or 'claude-desktop'"),
        ("connect cursor no_such_scenario", "unknown suite or scenario"),
    ],
)
def test_a_mistake_is_told_before_anything_is_served(line: str, message: str) -> None:
    assert message in refusal(command(*line.split()))


def test_a_scenario_is_served_with_its_faults() -> None:
    async def play() -> None:
        session, made = open_session(PAY)
        assert made is not None and set(session.classes) == set(made.services)
        friends = (await session.call("venmo", "list_friends", {})).data["friends"]
        jordan = next(f for f in friends if f["name"] == "Jordan Park")
        payment = {"contact_id": jordan["contact_id"], "amount": 27.5, "note": "day pass"}
        paid = await session.call("venmo", "send_money", payment)
        assert not paid.is_error
        receipt = {"transaction_id": paid.data["transaction_id"]}
        seen = await session.call("venmo", "get_transaction", receipt)
        assert seen.is_error

    anyio.run(play)


def test_a_world_to_play_with_may_be_plagued_by_a_profile() -> None:
    async def play() -> None:
        session, _ = open_session(None, ["venmo"], faults="flaky", seed=3)
        errors = 0
        for _ in range(60):
            reply = await session.call("venmo", "list_friends", {})
            if reply.is_error:
                errors += 1
        assert 2 <= errors <= 20

    anyio.run(play)


def test_a_kept_world_goes_on_where_it_was(tmp_path: Path) -> None:
    async def wait(db: Path) -> tuple[str, int]:
        session, _ = open_session(None, ["venmo"], db=db)
        before = session.control.now
        friends = (await session.call("venmo", "list_friends", {})).data["friends"]
        payment = {"contact_id": friends[0]["contact_id"], "amount": 1.0, "note": "tea"}
        paid = await session.call("venmo", "send_money", payment)
        session.world.close()
        session.control.close()
        return paid.data["transaction_id"], before

    first = anyio.run(wait, tmp_path / "mine.db")
    then = anyio.run(wait, tmp_path / "mine.db")
    assert first[0] != then[0] and then[1] > first[1]
    session, _ = open_session(None, ["venmo"], db=tmp_path / "mine.db")
    assert {first[0], then[0]} <= {r["id"] for r in session.world.rows("venmo_transactions")}


def test_connect_can_keep_the_world_between_restarts(tmp_path: Path) -> None:
    async def pay(server: Any) -> str:
        async with Client(server) as client:
            friends, _ = reply_of(await client.call_tool("venmo__list_friends", {}))
            payment = {
                "contact_id": friends["friends"][0]["contact_id"],
                "amount": 1,
                "note": "tea",
            }
            _, wrong = reply_of(await client.call_tool("venmo__send_money", payment))
            assert not wrong
            found, _ = reply_of(await client.call_tool("venmo__list_transactions", {"limit": 5}))
            noted = [one["transaction_id"] for one in found["transactions"] if one["note"] == "tea"]
            return ",".join(sorted(noted))

    db = tmp_path / "mine.db"
    options = ("--services", "venmo", "--world", "eleanor", "--db", db)
    done = command("connect", "claude-desktop", *options)
    assert list(tmp_path.iterdir()) == []  # printing makes no file
    server = started(**done.json["mcpServers"]["haywire"])
    first = anyio.run(pay, server)
    second = anyio.run(pay, server)
    assert len(second.split(",")) == 2 and first in second.split(",")
    assert "not of maya" in refusal(
        command("connect", "claude-desktop", "--world", "maya", "--db", db)
    )
    assert "always begins afresh" in refusal(command("connect", "cursor", PAY, "--db", db))


def test_a_kept_world_is_one_persons(tmp_path: Path) -> None:
    session, _ = open_session(None, ["venmo"], world="eleanor", db=tmp_path / "hers.db")
    assert session.world.rows("venmo_profile")[0]["name"] == "Eleanor Whitfield"
    session, _ = open_session(None, ["venmo"], db=tmp_path / "hers.db")
    assert session.world.rows("venmo_profile")[0]["name"] == "Eleanor Whitfield"
    with pytest.raises(InputError, match="holds the world of eleanor, not of rafael"):
        open_session(None, ["venmo"], world="rafael", db=tmp_path / "hers.db")


def test_a_file_that_is_no_world_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ana,\n" * 100)
    letter = tmp_path / "letter.txt"
    assert "is not a world database" in refusal(command("serve", "--stdio", "--db", letter))
    assert letter.read_text() == "Dear Ana,\n" * 100
    assert "cannot hold a world" in refusal(command("serve", "--stdio", "--db", tmp_path))


def test_processes_that_begin_a_kept_world_at_once_share_its_clock(tmp_path: Path) -> None:
    (tmp_path / "mine.db.control").write_bytes(b"")  # as left by a world that no longer exists

    def begin(number: int) -> Session:
        session, _ = open_session(None, ["venmo"], db=tmp_path / "mine.db")
        return session

    with ThreadPoolExecutor(6) as pool:
        begun = list(pool.map(begin, range(6)))
    assert len({session.control.advance(1) for session in begun}) == 6
    assert len({session.control.new_id("vtx") for session in begun}) == 6


def test_a_kept_world_that_no_longer_fits_is_refused(tmp_path: Path) -> None:
    db = tmp_path / "mine.db"
    session, _ = open_session(None, ["venmo"], db=db)
    session.world.close()
    session.control.close()
    clock = tmp_path / "mine.db.control"
    clock.rename(tmp_path / "elsewhere")
    # Without its clock, the world would use ids twice.
    with pytest.raises(InputError, match="has no clock next to it"):
        open_session(None, ["venmo"], db=db)
    (tmp_path / "elsewhere").rename(clock)
    with contextlib.closing(sqlite3.connect(db)) as old:
        old.execute("ALTER TABLE venmo_card RENAME COLUMN last4 TO ending")
    with pytest.raises(InputError, match="another version"):
        open_session(None, ["venmo"], db=db)


@pytest.mark.parametrize(
    ("name", "key"),
    [("claude-desktop", "mcpServers"), ("cursor", "mcpServers"), ("vscode", "servers")],
)
def test_connect_prints_a_configuration(name: str, key: str) -> None:
    done = command("connect", name, PAY)
    entry = done.json[key]["haywire"]
    assert Path(entry["command"]).is_absolute()
    place = str(Path("runs/played").resolve())
    assert entry["args"][-5:] == ["serve", PAY, "--traces", place, "--stdio"]
    assert done.err.startswith("# for ")


def test_connect_warns_of_more_tools_than_a_client_takes() -> None:
    assert "choose some with --services" in command("connect", "cursor", "--services", "all").err
    assert "choose some" not in command("connect", "cursor", "--services", "venmo").err


def test_a_scenario_stays_under_the_cap_of_the_client() -> None:
    async def listed(server: Any) -> int:
        async with Client(server) as client:
            return len((await client.list_tools()).tools)

    name = "hazards/cascade/plates_in_the_drizzle"
    entry = command("connect", "cursor", name).json["mcpServers"]["haywire"]
    assert entry["args"][2:4] == ["--most-tools", "80"]
    offered = load.offer(load.load(name)).values()
    assert sum(len(cls.tools) for cls in offered) > 80
    assert 40 < anyio.run(listed, started(**entry)) <= 80


@pytest.mark.parametrize("name", load.written())
def test_a_narrowed_scenario_keeps_what_its_scripts_call(name: str) -> None:
    made = load.fewer(load.load(name), 50)
    offered = load.offer(made)
    assert sum(len(c.tools) for c in offered.values()) <= 50
    assert made.services == load.load(name).services
    tools: set[str] = set()
    for service, cls in offered.items():
        tools |= {f"{service}.{tool}" for tool in cls.tools}
    steps = [*flat(made.scripts.oracle), *flat(made.scripts.naive)]
    assert {step.call for step in steps if step.call is not None} <= tools


def test_more_tools_than_were_asked_for_are_refused() -> None:
    done = command("serve", "--services", "payments", "--most-tools", 50)
    assert "these services have 55 tools, more than 50" in refusal(done)
    assert "its scripts call" in refusal(command("serve", PAY, "--most-tools", 2))


def test_connect_keeps_what_is_there_and_is_started_from_what_it_wrote(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "mcp.json"
    place.parent.mkdir()
    place.write_text('{"theme": "dark", "mcpServers": {"other": {"command": "x"}}}')
    options = ("--services", "clock", "--write", "--path", place)
    for _ in range(2):
        assert command("connect", "claude-code", *options).status == 0
    known = json.loads(place.read_text())
    assert known["theme"] == "dark" and known["mcpServers"]["other"] == {"command": "x"}
    assert list(place.parent.iterdir()) == [place]
    assert anyio.run(listed, started(**known["mcpServers"]["haywire"])) == prefixed("clock")


@pytest.mark.parametrize("text", ['{"mcpServers": {', "[]", '{"mcpServers": []}', "// mine\n{}"])
def test_a_broken_configuration_is_refused_and_left_alone(tmp_path: Path, text: str) -> None:
    place = tmp_path / "mcp.json"
    place.write_text(text)
    done = command("connect", "claude-code", "--write", "--path", place)
    assert "it was not changed" in refusal(done)
    assert place.read_text() == text


def test_stdio_prints_nothing_but_protocol() -> None:
    with process("serve", PAY, "--stdio", stdin=subprocess.PIPE, cwd=ROOT) as host:
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        out, err = host.communicate(json.dumps(ping) + "\n")
    assert [json.loads(line)["id"] for line in out.splitlines()] == [1]
    assert err == ""
    assert host.returncode == 0


def test_a_scenario_may_be_served_in_part() -> None:
    session, made = open_session(PAY, ["venmo"])
    assert list(session.classes) == ["venmo"]
    assert made is not None
    assert load.load(PAY).services == ["venmo", "zelle"]
    with pytest.raises(InputError, match="unknown service"):
        open_session(PAY, ["gmail"])
