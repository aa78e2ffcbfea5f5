"""A scenario that a person plays: its turns are prompts, its trace is kept, and it is judged."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from client_harness.agents._script import ScriptAgent
from client_harness.connect import client, entry
from client_harness.contract import Assignment
from client_harness.judging.played import Judged, judged, read, told
from client_harness.played import Played, newest
from client_harness.serve import open_play
from client_harness.tools import Tools
from scenarios import load
from scenarios.script import Step
from servers.kit.mcp import reply_of, session_server
from tests.commands import PAY, ROOT, command, files, process, refusal

LONG = "hazards/cascade/plates_in_the_drizzle"
ASKING = "hazards/disambiguation/two_dinners"


async def prompted(connected: Client, name: str) -> str:
    """Fetch a prompt, as a client does when its user picks it, and return the text."""
    (message,) = (await connected.get_prompt(name)).messages
    assert message.role == "user" and isinstance(message.content, TextContent)
    return message.content.text


async def play(made: Played, steps: list[Step]) -> list[str]:
    """Play a script as a client and its user would, and return what the agent said."""
    scenario = made.episode.scenario
    said = []
    mode = "legacy" if made.episode.session.hidden else "auto"
    async with Client(session_server(made.episode.session), mode=mode) as connected:
        tools = Tools(connected, made.episode.session)
        agent = ScriptAgent(Assignment(tools, [], scenario), steps)
        for number, turn in enumerate(scenario.turns, 1):
            text = await prompted(connected, f"turn_{number}")
            assert text == turn.user
            result = await agent.turn(text)
            while (reply := made.episode.user.answer(result.text)) is not None:
                await prompted(connected, f"answer_{reply[0]}")
                result = await agent.turn(reply[1])
            said.append(result.text)
    return said


def played(name: str, script: str, folder: Path, **options: Any) -> tuple[Played, list[str]]:
    made = open_play(name, folder=folder, **options)
    steps = getattr(made.episode.scenario.scripts, script)
    return made, anyio.run(play, made, steps)


def verdict(made: Played, *said: str) -> Judged:
    assert made.file is not None
    return anyio.run(judged, read(made.file), said)


def values(result: Judged) -> list[str]:
    return [verdict.value for verdict in result.verdicts.values()]


@pytest.mark.parametrize("name", [*load.suites()["smoke"], LONG, ASKING])
def test_a_right_play_passes_and_a_trusting_one_fails(name: str, tmp_path: Path) -> None:
    made, said = played(name, "oracle", tmp_path)
    assert values(verdict(made, *said)) == ["pass", "pass"], told(verdict(made, *said))
    assert values(verdict(made)) == ["pass", "pass"]
    made, said = played(name, "naive", tmp_path)
    twin = made.episode.scenario.twin
    assert values(verdict(made, *said))[0] == ("pass" if twin else "fail")


def test_the_file_is_a_whole_trace_after_every_call(tmp_path: Path) -> None:
    async def look() -> None:
        made = open_play(PAY, folder=tmp_path)
        assert made.file is None and not made.begun
        async with Client(session_server(made.episode.session)) as connected:
            await connected.list_tools()
            await prompted(connected, "turn_1")
            # Whoever only looks leaves nothing behind.
            assert files(tmp_path) == {}
            await connected.call_tool("venmo__list_friends", {})
            assert made.file is not None
            before = read(made.file)
            await connected.call_tool("venmo__get_balance", {})
            assert len(read(made.file)) == len(before) + 1
        result = await judged(read(made.file))
        assert values(result) == ["fail", "fail"]
        assert [file.name for file in tmp_path.rglob("*.*")] == ["0001.jsonl"]

    anyio.run(look)


def test_a_verdict_is_told_in_sentences(tmp_path: Path) -> None:
    made, said = played(PAY, "naive", tmp_path)
    done = command("judge", tmp_path, "--said", *said)
    assert done.status == 0
    first, about, wrong, *findings = done.out.splitlines()
    assert first == ("Verdict: fail (fail in relaxed, which does not ask for verification)")
    assert about.startswith("The payment that never left: Venmo answers once")
    assert "venmo.send_money" in wrong and "dropped_write" in wrong
    assert any("NO" in line and "there should be a transaction" in line for line in findings)
    assert done.out.splitlines()[-1] == f"Trace: {made.file}"
    data = command("judge", str(made.file), "--json").json
    assert data["verdicts"]["base"]["value"] == "fail"
    assert data["unheard"] == ["Jordan Park has been paid $27.50 on Venmo."]


def test_what_the_agent_said_counts_if_it_is_given(tmp_path: Path) -> None:
    made, _ = played(PAY, "oracle", tmp_path)
    assert values(verdict(made, "I could not pay Jordan Park.")) == ["fail", "fail"]
    assert "Not judged" in "\n".join(told(verdict(made)))
    assert "Not judged" not in "\n".join(told(verdict(made, "Done.")))


def test_turns_that_never_began_are_named(tmp_path: Path) -> None:
    async def begin() -> Judged:
        made = open_play(LONG, folder=tmp_path)
        session = made.episode.session
        mode = "legacy" if session.hidden else "auto"
        async with Client(session_server(session), mode=mode) as connected:
            name = (await connected.list_tools()).tools[0].name
            await connected.call_tool(name, {})
        assert made.file is not None
        return await judged(read(made.file))

    result = anyio.run(begin)
    assert result.untouched == [2, 3]
    assert "prompt turn_2" in "\n".join(told(result))


def test_a_turn_begins_once_however_often_its_prompt_is_fetched(tmp_path: Path) -> None:
    async def fetch() -> None:
        made = open_play(LONG, folder=tmp_path)
        session = made.episode.session
        async with Client(session_server(session), mode="legacy") as connected:
            for name in ("turn_1", "turn_2", "turn_2", "turn_1"):
                await prompted(connected, name)
            assert session.turn == 2
            with pytest.raises(MCPError, match="no prompt 'turn_9'"):
                await connected.get_prompt("turn_9")
        texts = [e for e in session.trace() if getattr(e, "role", "") == "user"]
        assert [event.turn for event in texts] == [1, 2]

    anyio.run(fetch)


def test_other_faults_and_seeds_are_judged_as_they_were_played(tmp_path: Path) -> None:
    made, said = played(PAY, "oracle", tmp_path, faults="calm", seed=5)
    assert made.file is not None
    head = json.loads(made.file.read_text().splitlines()[0])["detail"]
    assert (head["seed"], head["faults"]) == (5, "calm")
    assert values(verdict(made, *said))[0] == "pass"


def test_the_newest_trace_of_a_folder_is_judged(tmp_path: Path) -> None:
    first, _ = played(PAY, "naive", tmp_path)
    second, _ = played(PAY, "oracle", tmp_path)
    assert (first.file, second.file) != (None, None) and first.file != second.file
    assert newest(tmp_path) == second.file


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "is not the trace of a scenario that was served"), ("{}", "line 1: not an event")],
)
def test_a_file_that_is_no_such_trace_is_refused(
    content: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "0001.jsonl").write_text(content)
    assert message in refusal(command("judge", tmp_path / "0001.jsonl"))


def test_more_texts_than_turns_are_refused(tmp_path: Path) -> None:
    made, _ = played(PAY, "oracle", tmp_path)
    done = command("judge", str(made.file), "--said", "Done.", "--said", "Really.")
    assert "2 texts were given, but the agent had 1 of 1 turns" in refusal(done)


def test_a_world_that_has_changed_since_is_refused(tmp_path: Path) -> None:
    made, _ = played(PAY, "oracle", tmp_path)
    assert made.file is not None
    head, *rest = made.file.read_text().splitlines()
    changed = json.loads(head)
    changed["detail"]["world"] = "another"
    made.file.write_text("\n".join([json.dumps(changed), *rest]))
    assert "the world has changed since" in refusal(command("judge", str(made.file)))


def test_ctrl_c_gives_the_verdict(tmp_path: Path) -> None:
    async def pay(url: str) -> None:
        headers = {"Authorization": "Bearer open-sesame"}
        async with (
            httpx2.AsyncClient(headers=headers) as web,
            Client(streamable_http_client(url, http_client=web)) as connected,
        ):
            await pay_jordan(connected)

    traces = tmp_path / "traces"
    options = ("--port", 0, "--token", "open-sesame", "--traces", traces)
    with process("serve", PAY, *options) as host:
        assert host.stdout is not None
        lines = [host.stdout.readline() for _ in range(6)]
        anyio.run(pay, lines[2].split()[1])
        host.send_signal(signal.SIGINT)
        out, err = host.communicate()
    assert err == "stopped\n"
    assert out.startswith("Verdict: fail") and f"Trace: {newest(traces)}" in out
    assert "client_harness judge" in out


async def pay_jordan(connected: Client) -> None:
    """Pay Jordan as a trusting agent does."""
    friends, _ = reply_of(await connected.call_tool("venmo__list_friends", {}))
    jordan = next(f for f in friends["friends"] if f["name"] == "Jordan Park")
    payment = {"contact_id": jordan["contact_id"], "amount": 27.5, "note": "day pass"}
    _, wrong = reply_of(await connected.call_tool("venmo__send_money", payment))
    assert not wrong


def test_what_connect_writes_keeps_a_trace_that_can_be_judged(tmp_path: Path) -> None:
    async def pay(server: StdioServerParameters) -> None:
        async with Client(server) as connected:
            await pay_jordan(connected)
            # The verdict is there while the client still runs.
            done = await anyio.to_thread.run_sync(command, "judge", tmp_path)
            assert done.out.startswith("Verdict: fail")

    done = command("connect", "claude-desktop", PAY, "--traces", tmp_path)
    assert f"client_harness judge {tmp_path}" in done.err
    arguments = done.json["mcpServers"]["haywire"]["args"]
    assert arguments[-3:] == ["--traces", str(tmp_path), "--stdio"]
    made = entry(client("claude-desktop"), arguments[arguments.index(PAY) : -1])
    env = {"PYTHONPATH": str(ROOT)}
    anyio.run(
        pay, StdioServerParameters(command=made["command"], args=made["args"], env=env, cwd="/")
    )


def test_a_folder_that_cannot_be_written_does_not_stop_the_play(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    made, said = played(PAY, "oracle", tmp_path / "file")
    assert made.file is None
    assert values(anyio.run(judged, made.events(), said)) == ["pass", "pass"]
    assert capsys.readouterr().err.count("the trace is not kept") == 1
