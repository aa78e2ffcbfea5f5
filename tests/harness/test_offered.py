"""Fewer tools than a scenario's services have: those that are needed, and those nearest to them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from client_harness.agents._script import ScriptAgent
from client_harness.contract import Assignment
from client_harness.episode import Episode
from client_harness.results import Results
from client_harness.tools import in_memory
from scenarios import load
from scenarios.haystack.nearness import nearest, similarity, text_of
from scenarios.model import Scenario
from scenarios.offered import narrowed_to, needed
from servers.kit.events import to_json
from servers.kit.service import services
from servers.kit.yaml import read
from tests.commands import PAY, ROOT, command, refusal
from tests.harness.fake_endpoint import playing, say

QUERIES: dict[str, list[str]] = read(Path(__file__).parent.parent / "kit" / "tool_queries.yaml")
SPREAD = (
    PAY,
    "recovery/cascade/zelle_down_venmo_drops",
    "hazards/cascade/plates_in_the_drizzle",
    "hazards/availability/closed_till_ten",
)


def tools_of(made: Scenario) -> set[str]:
    """Return the tools that a scenario offers, as `service.tool`."""
    offered: set[str] = set()
    for name, cls in load.offer(made).items():
        offered |= {f"{name}.{tool}" for tool in cls.tools}
    return offered


async def listed(made: Scenario) -> set[str]:
    """Return the tools that an agent lists at the start."""
    episode = Episode(made)
    try:
        async with in_memory(episode.session) as tools:
            return {tool.name.replace("__", ".") for tool in await tools.list_tools()}
    finally:
        episode.close()


async def trace(made: Scenario, faulted: bool) -> list[str]:
    """Return what the oracle's run leaves behind."""
    episode = Episode(made, faulted=faulted)
    try:
        async with in_memory(episode.session) as tools:
            given = Assignment(tools, [], made)
            await episode.converse(ScriptAgent(given, made.scripts.oracle))
        return [to_json(event) for event in episode.session.trace()]
    finally:
        episode.close()


@pytest.mark.parametrize("offered", ["needed", "oracle5"])
@pytest.mark.parametrize("name", SPREAD)
def test_what_is_right_with_all_tools_is_the_same_run_with_fewer(name: str, offered: Any) -> None:
    made = load.load(name)
    narrow = narrowed_to(made, offered)
    assert tools_of(narrow) < tools_of(made)
    for faulted in (True, False):
        assert anyio.run(trace, narrow, faulted) == anyio.run(trace, made, faulted)


@pytest.mark.parametrize("name", SPREAD)
def test_needed_are_the_calls_of_right_runs_and_nothing_else(name: str) -> None:
    made = load.load(name)
    narrow = narrowed_to(made, "needed")
    assert tools_of(narrow) == needed(made)
    held_back = {disclosure.service for disclosure in made.disclose}
    at_first = {tool for tool in needed(made) if tool.partition(".")[0] not in held_back}
    assert anyio.run(listed, narrow) == at_first
    # The services stay, so that their part of the world does.
    assert narrow.services == made.services


def test_routes_and_branches_are_needed_too() -> None:
    for name in load.written():
        made = load.load(name)
        for route in made.routes:
            inner: set[str] = set()
            for step in route.edit(made.scripts.oracle):
                inner |= {within.call for within in step.inner() if within.call is not None}
            assert inner <= needed(made)
            if inner - {step.call for step in made.scripts.oracle}:
                return
    raise AssertionError("no scenario has a route with a branch that calls another tool")


@pytest.mark.parametrize("name", SPREAD)
def test_oracle5_are_five_or_four_more_than_needed(name: str) -> None:
    made = load.load(name)
    offered = tools_of(narrowed_to(made, "oracle5"))
    others = offered - needed(made)
    assert needed(made) < offered
    assert len(others) == max(5 - len(needed(made)), 4)
    held_back = {disclosure.service for disclosure in made.disclose}
    assert not {tool.partition(".")[0] for tool in others} & held_back
    said = [turn.user for turn in made.turns]
    rest = tools_of(made) - offered
    texts = {}
    for tool in tools_of(made):
        cls = services()[tool.partition(".")[0]]
        texts[tool] = text_of(cls, cls.tools[tool.partition(".")[2]])
    order = nearest(said, texts)
    left_out = [tool for tool in rest if tool.partition(".")[0] not in held_back]
    assert max(map(order.index, others)) < min(map(order.index, left_out))


def test_a_run_offers_what_it_says_to_agents_in_and_out_of_this_process(tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    program.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    result = {}\n"
        "    if asked['method'] == 'session/start':\n"
        "        names = [server['name'] for server in asked['params']['mcp_servers']]\n"
        "    if asked['method'] == 'turn':\n"
        "        result = {'text': ' '.join(names)}\n"
        "    answer = {'jsonrpc': '2.0', 'id': asked['id'], 'result': result}\n"
        "    print(json.dumps(answer), flush=True)\n"
    )
    texts = {}

    async def run() -> set[str]:
        async with playing([say("ok")]) as endpoint:
            for offered in ("all", "needed"):
                home = tmp_path / offered
                asked = ["run", "recovery/cascade/zelle_down_venmo_drops", "--expose", offered]
                asked += ["--agent", "process", "--command", f"{sys.executable} {program}"]
                asked += ["--agent", "model", "--model", "openai/m", "--api-base", endpoint.url]
                done = await anyio.to_thread.run_sync(command, *asked, "--out", home)
                assert done.status == 0, done.err
                results = Results.open(home)
                assert results.fingerprints["exposure"] == offered
                trials = {trial.agent: trial for trial in results.trials()}
                trace = (home / trials["process"].trace).read_text().splitlines()
                said = [json.loads(line) for line in trace]
                texts[offered] = next(m["text"] for m in said if m.get("role") == "assistant")
            return named(endpoint.bodies[-1])

    made = load.load("recovery/cascade/zelle_down_venmo_drops")
    shown = anyio.run(run)
    assert shown == {tool for tool in needed(made) if tool.startswith("zelle")}
    having = {tool.partition(".")[0] for tool in needed(made)}
    assert set(texts["needed"].split()) == having
    assert set(texts["all"].split()) == set(made.services)


def named(body: dict[str, Any]) -> set[str]:
    """Return the tools that a request to a model lists."""
    return {tool["function"]["name"].replace("__", ".") for tool in body["tools"]}


def test_what_a_run_offered_is_in_its_report_and_runs_do_not_mix(tmp_path: Path) -> None:
    for offered in ("needed", "oracle5"):
        asked = ["run", PAY, "--agent", "oracle", "--expose", offered, "--http"]
        done = command(*asked, "--out", tmp_path / offered)
        assert done.status == 0, done.err
        (trial,) = Results.open(tmp_path / offered).trials()
        assert trial.verdicts["base"]["value"] == "pass"
        shown = {"needed": "needed tools", "oracle5": "needed and nearest tools"}[offered]
        assert f"1 scenario, {shown} (95%" in " ".join(done.out.split())
    said = refusal(command("report", tmp_path / "needed", tmp_path / "oracle5"))
    assert "exposure" in said and "differ" in said


def test_the_former_word_is_explained() -> None:
    for asked in (["run", "smoke"], ["serve"], ["connect", "claude-code"]):
        done = command(*asked, "--expose", "tools")
        assert done.status == 2
        assert "what was called 'tools' is now called 'all'" in done.err
        assert "is not one of all" in command(*asked, "--expose", "tool").err


# -- nearness --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("said", "near", "far"),
    [
        ("are my cars reserved?", "uber.get_reservations", "weather_com.get_daily_forecast"),
        ("pay Hannah back", "venmo.send_money", "spotify.create_new_playlist"),
        ("get me a ride at six", "uber.request_ride", "gmail.send_email"),
        ("will it rain?", "weather_com.get_daily_forecast", "venmo.get_balance"),
        ("move the dentist", "google_calendar.move_event", "doordash.place_dash"),
    ],
)
def test_what_one_would_use_is_nearer(said: str, near: str, far: str) -> None:
    def about(name: str) -> str:
        cls = services()[name.partition(".")[0]]
        return text_of(cls, cls.tools[name.partition(".")[2]])

    assert similarity(said, about(near)) > similarity(said, about(far))


def test_a_table_is_reserved_and_not_forecast() -> None:
    wanted = "Make a reservation at a restaurant."
    assert similarity("reserve a table", wanted) > similarity("reserve a table", "Get a forecast.")


def test_the_nearest_tools_are_mostly_those_that_would_do_it() -> None:
    texts = {}
    for name, cls in services().items():
        for spec in cls.tools.values():
            texts[f"{name}.{spec.name}"] = text_of(cls, spec)
    found = 0
    for query, wanted in QUERIES.items():
        found += bool(set(nearest([query], texts)[:4]) & set(wanted))
    assert found >= 0.8 * len(QUERIES)


def test_similarity_is_between_nothing_and_the_same_and_has_no_direction() -> None:
    assert similarity("Send money to a friend", "send money to a friend") == 1
    assert similarity("Send money", "the weather in Maine") == 0
    assert similarity("", "") == similarity("", "money") == 0
    one = "Book a taxi to the airport for six"
    other = "Request a ride that picks up the rider"
    assert 0 < similarity(one, other) == similarity(other, one) < 1


def test_another_process_finds_the_same_figures() -> None:
    code = (
        "from scenarios.haystack.nearness import similarity; "
        "print(similarity('Book a taxi to the airport', 'Request a ride with an estimate'))"
    )
    printed = set()
    for seed in ("1", "2"):
        env = {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        printed.add(subprocess.check_output([sys.executable, "-c", code], env=env, text=True))
    assert len(printed) == 1
