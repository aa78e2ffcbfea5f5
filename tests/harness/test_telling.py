"""What a run tells its agents: instructions, guidance, and the table of what guidance does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from client_harness.agents import agent
from client_harness.contract import Assignment
from client_harness.results import Results
from client_harness.telling import Told, guides, named_instructions, told
from client_harness.telling.schema import ONCE, READS, hints
from client_harness.tools import in_memory
from fault_profiles.model import parse
from servers.kit.errors import InputError, UnknownName
from servers.kit.mcp import tools
from servers.kit.values import parse_time
from tests.commands import command, refusal
from tests.harness.fake_endpoint import playing, say
from tests.harness.process_agents import program, scenario
from tests.support import START, new_session

NOW = parse_time("2026-03-14T16:00:00Z")
HEARS = """if method == "turn":
    (HERE / "heard.txt").open("a").write(request["params"]["text"] + chr(0))"""


# -- texts ---------------------------------------------------------------------------------------
def test_agents_without_a_prompt_of_their_own_are_told_what_they_are_and_others_nothing() -> None:
    assert "Today is Saturday, 14 March 2026." in Told().text("replace", NOW)
    assert Told().text("append", NOW) == Told().text("message", NOW) == ""
    for kind in ("replace", "append", "message"):
        assert Told("none").text(cast(Any, kind), NOW) == ""
        assert "make sure" in Told("careful").text(cast(Any, kind), NOW)


def test_no_default_coaches_to_verify() -> None:
    words = ("check", "verify", "sure", "confirm", "read back", "twice", "fail")
    assert not [word for word in words if word in Told().text("replace", NOW).lower()]


def test_layers_follow_the_instructions_in_one_order() -> None:
    both = told("plain", ["reasoning", "preamble", "preamble", "schema"])
    assert both.guide == ("preamble", "schema", "reasoning") and both.schema
    text = both.text("append", NOW)
    order = [text.index(part) for part in ("personal assistant", "Tools can fail", "step by step")]
    assert order == sorted(order)
    assert guides() == ("preamble", "schema", "exemplars", "reasoning")
    assert named_instructions() == ("none", "careful", "plain")


def test_every_text_is_part_of_the_fingerprint(tmp_path: Path) -> None:
    own = tmp_path / "own.md"
    own.write_text("Be kind. Today is $today.")
    mine = told(str(own))
    before = mine.fingerprint
    assert "Be kind. Today is Saturday, 14 March" in mine.text("replace", NOW)
    prints = [Told().fingerprint, Told("plain").fingerprint, Told("careful").fingerprint, before]
    prints += [Told(None, (name,)).fingerprint for name in guides()]
    assert len(set(prints)) == len(prints)
    own.write_text("Be unkind.")
    assert mine.fingerprint != before


def test_names_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="unknown instructions 'carefull'; did you mean"):
        told("carefull")
    with pytest.raises(UnknownName, match="unknown guide 'shema'; did you mean 'schema'"):
        told(None, ["shema"])
    empty = tmp_path / "empty.md"
    empty.write_text(" \n")
    with pytest.raises(InputError, match="the file is empty"):
        told(str(empty))


# -- hints ---------------------------------------------------------------------------------------
def described(session: Any, name: str) -> str:
    (tool,) = [tool for tool in tools(session) if tool.name == name]
    return tool.description or ""


def test_hints_follow_from_effect_and_counterparts_and_name_nothing_that_is_hidden() -> None:
    session = new_session("venmo", "zelle", hidden=["zelle"])
    plain = described(session, "venmo__send_money")
    session.hint = hints(session)
    hinted = described(session, "venmo__send_money")
    assert hinted.startswith(f"{plain}\n\nHint: {ONCE}") and "zelle" not in hinted
    assert described(session, "venmo__get_balance").endswith(f"Hint: {READS}")
    session.disclose("zelle")
    assert "of zelle does" in described(session, "venmo__send_money")


def test_hints_stand_beside_what_a_fault_changes_and_in_what_a_search_finds() -> None:
    drift = parse({"schema_drift": {"on": "venmo.send_money", "rename": {"note": "memo"}}})
    session = new_session("venmo", faults=[drift])
    before = {tool.name: tool.input_schema for tool in tools(session)}
    session.hint = hints(session)
    after = {tool.name: tool.input_schema for tool in tools(session)}
    assert after == before and "Hint:" in described(session, "venmo__send_money")


@pytest.mark.anyio
async def test_a_search_shows_hints_too() -> None:
    session = new_session("venmo", expose="search")
    session.hint = hints(session)
    async with in_memory(session) as client:
        found, _ = await client.call_named("find_tools", {"query": "send money"})
    assert all("Hint:" in tool["description"] for tool in found["tools"])


# -- agents --------------------------------------------------------------------------------------
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("given", "begins"),
    [
        (Told(), "You are a personal assistant with access"),
        (Told("none"), None),
        (Told("none", ("preamble",)), "Tools can fail"),
    ],
)
async def test_the_prompt_of_a_model_is_the_runs(given: Told, begins: str | None) -> None:
    async with playing([say("Hi.")]) as endpoint, in_memory(new_session("clock")) as client:
        options = {"model": "openai/scripted", "api_base": endpoint.url}
        wanted = Assignment(client, [], cast(Any, None), options, told=given)
        async with agent("model").agent(wanted) as made:
            await made.turn("Hello")
        messages = endpoint.bodies[0]["messages"]
    assert messages[-1] == {"role": "user", "content": "Hello"}
    if begins is None:
        assert len(messages) == 1
    else:
        assert messages[0]["role"] == "system" and messages[0]["content"].startswith(begins)
    assert client.now >= START


def test_a_run_tells_its_agents_and_the_report_says_what_and_how(tmp_path: Path) -> None:
    own = tmp_path / "polite.md"
    own.write_text("Be polite on $today.")
    started = ("--agent", "process", "--agent", "oracle", "--command", program(tmp_path, HEARS))
    options = ("--instructions", own, "--guide", "reasoning")
    done = command("run", scenario(tmp_path), *started, *options, "--out", tmp_path / "run")
    (heard, _) = (tmp_path / "heard.txt").read_text().split("\0")
    assert heard.startswith("Be polite on Saturday, 14 March 2026.\n\nThink step by step")
    assert heard.endswith("\n\nWhat time is it?")
    row = {trial.agent: trial.told for trial in Results.open(tmp_path / "run").trials()}
    said = {"instructions": str(own), "as": "message", "guide": ["reasoning"]}
    assert row == {"process": said, "oracle": {}}
    assert "What agents were told" in done.out and "polite" in done.out
    text = command("report", tmp_path / "run", "--md").out
    assert "| polite | with the first message | reasoning |" in text
    options = ("--agent", "process", "--command", program(tmp_path), "--out", tmp_path / "other")
    command("run", scenario(tmp_path), *options)
    refused = command("report", tmp_path / "run", tmp_path / "other")
    assert "cannot be compared: told differs" in refusal(refused)


LISTS = """body = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": META}}
wanted = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/list",
    **clock["headers"],
}
asked = urllib.request.Request(clock["url"], json.dumps(body).encode(), wanted)
(HERE / "listed.json").write_bytes(urllib.request.urlopen(asked).read())"""


@pytest.mark.parametrize("guide", ["schema", "preamble"])
def test_only_the_guide_schema_adds_hints_to_the_tools_of_a_run(tmp_path: Path, guide: str) -> None:
    started = ("--agent", "process", "--command", program(tmp_path, before=LISTS))
    line = ("run", scenario(tmp_path), *started, "--guide", guide, "--out", tmp_path / "run")
    assert command(*line).status == 0
    listed = json.loads((tmp_path / "listed.json").read_text())["result"]["tools"]
    hinted = [tool["name"] for tool in listed if f"Hint: {READS}" in tool["description"]]
    assert ("get_time" in hinted) == (guide == "schema"), listed


def test_agents_that_take_instructions_differently_are_not_compared(tmp_path: Path) -> None:
    home = tmp_path / "run"
    started = ("--agent", "process", "--agent", "noop", "--agent", "oracle")
    options = ("--command", program(tmp_path), "--json", "--out", home)
    done = command("run", scenario(tmp_path), *started, *options)
    assert len({(d["first"], d["second"]) for d in done.json["differences"]}) == 3
    results = Results.open(home)
    for trial in results.trials():
        if trial.agent == "noop":
            trial.told = {"instructions": "plain", "as": "replace", "guide": []}
            results.store(trial)
    shown = command("report", home, "--json").json
    pairs = {(d["first"], d["second"]) for d in shown["differences"]}
    assert pairs == {("tiny 2.1", "oracle"), ("noop", "oracle")}


# -- ablation ------------------------------------------------------------------------------------
HEEDS = """if "step by step" not in request["params"]["text"]:
    look = lambda: {"now": "noon"}"""


def test_an_ablation_is_one_table_from_one_command(tmp_path: Path) -> None:
    started = ("--agent", "process", "--command", program(tmp_path, before=HEEDS))
    layers = ("--guide", "reasoning", "--guide", "preamble")
    line = ("ablate", scenario(tmp_path), *started, *layers, "--out", tmp_path / "runs")
    done = command(*line, "--json")
    assert done.status == 0, done
    rows = {row["guide"]: row for row in done.json["rows"]}
    assert list(rows) == ["none", "preamble", "reasoning"]
    assert rows["none"]["settings"]["base"]["difference"] is None
    difference = rows["reasoning"]["settings"]["base"]["difference"]
    assert (difference["scenarios"], difference["difference"]) == (1, 1)
    assert rows["preamble"]["settings"]["base"]["difference"]["difference"] == 0
    assert rows["none"]["tokens"] == 100
    shown = command(*line)
    assert shown.status == 0 and "Guidance for tiny 2.1, each layer alone" in shown.out
    words = {line.split()[0]: line.split()[1:3] for line in shown.out.splitlines() if line.strip()}
    assert words["none"] == ["0/1", "0%"] and words["reasoning"] == ["1/1", "100%"]
    homes = sorted((tmp_path / "runs").iterdir())
    guide = {home.name: Results.open(home).request["guide"] for home in homes}
    assert guide == {"none": [], "preamble": ["preamble"], "reasoning": ["reasoning"]}


def test_an_ablation_refuses_what_is_wrong_and_goes_on_only_with_its_own(tmp_path: Path) -> None:
    started = ("--agent", "process", "--command", program(tmp_path), "--guide", "preamble")
    line = ("ablate", scenario(tmp_path), *started, "--out", tmp_path / "runs")
    assert command(*line).status == 0
    assert "holds a run with other trials" in refusal(command(*line, "--trials", 2))
    assert "unknown guide 'preambel'" in refusal(command(*line, "--guide", "preambel"))
    missing = ("ablate", scenario(tmp_path), "--out", tmp_path / "none")
    assert "name a model" in refusal(command(*missing)) and not (tmp_path / "none").exists()


def test_an_ablation_whose_model_is_away_says_what_is_missing(tmp_path: Path) -> None:
    away = 'if method == "turn": result = {"status": "outage", "detail": "no route"}'
    started = ("--agent", "process", "--command", program(tmp_path, away), "--guide", "preamble")
    done = command("ablate", scenario(tmp_path), *started, "--out", tmp_path / "runs", "--json")
    assert done.status == 3 and json.loads(done.out)["rows"][0]["unknown"] == 1
    assert "to go on" in done.err
