"""Several agents in one run, each with a model and options of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from client_harness.chosen import own_options, slugs
from client_harness.report import report
from client_harness.results import Results
from client_harness.run import RunRequest, reopen, start
from tests.commands import PAY, command, refusal
from tests.harness.fake_endpoint import Endpoint, playing, say
from tests.harness.process_agents import program

FIRST = "model:openai/small"
SECOND = "model:openai/large,temperature=0.5,answer_tokens=70"
OUTSIDE = "process:openai/other"


def test_a_key_holds_a_model_and_options() -> None:
    assert own_options("oracle") == {}
    assert own_options("model:ollama/llama3:8b") == {"model": "ollama/llama3:8b"}
    wanted = {"model": "openai/large", "temperature": 0.5, "answer_tokens": 70}
    assert own_options(SECOND) == wanted
    assert own_options("process:command=node a.js") == {"command": "node a.js"}


def test_slugs_are_parts_of_paths_and_never_the_same() -> None:
    names = ["oracle", FIRST, "model:openai/Small", "model:a b/../c", "model:" + "x" * 300]
    found = slugs(names)
    assert found["oracle"] == "oracle" and found["model:a b/../c"] == "model-a-b-..-c"
    assert len({slug.casefold() for slug in found.values()}) == len(names)
    assert all("/" not in slug and len(slug) < 100 for slug in found.values())
    assert slugs([FIRST]) == {FIRST: "model-openai-small"}
    assert slugs(reversed(names)) == found


def test_each_agent_of_a_run_asks_its_own_model_with_its_own_options(tmp_path: Path) -> None:
    home = tmp_path / "run"
    agents = ["oracle", FIRST, SECOND, OUTSIDE]

    def run(url: str) -> None:
        options = {"api_base": url, "retries": 0, "command": program(tmp_path)}
        begun = start(RunRequest([PAY], agents, options=options), home)
        begun.finish()
        reopen(home).finish()

    async def served() -> Endpoint:
        async with playing([say("I cannot.")]) as endpoint:
            await anyio.to_thread.run_sync(run, endpoint.url)
            return endpoint

    endpoint = anyio.run(served)
    asked = [_told(body) for body in endpoint.bodies]
    assert asked == [("small", None, None), ("large", 0.5, 70)]
    results = Results.open(home)
    traces = {trial.agent: trial.trace for trial in results.trials()}
    assert list(traces) == sorted(agents)
    assert traces[FIRST] == f"traces/{PAY}/model-openai-small-1.jsonl"
    assert all((home / trace).is_file() for trace in traces.values())
    told = {agent["run_as"]: agent for agent in report([results])["agents"]}
    assert told[FIRST]["agent"] == "model openai/small"
    assert told[SECOND]["agent"] == "model openai/large"
    assert [told[agent]["trials"] for agent in agents] == [1, 1, 1, 1]


def _told(body: dict[str, Any]) -> tuple[Any, ...]:
    return body["model"], body.get("temperature"), body.get("max_tokens")


@pytest.mark.parametrize(
    ("agent", "wrong"),
    [
        ("model:", "--agent 'model:': write a model after the colon, or only model"),
        ("oracle:openai/a", "the agent oracle takes no option 'model', nor any other"),
        ("model:openai/a,temprature=1", "no option 'temprature'; did you mean 'temperature'?"),
        ("model:openai/a,temperature", "write KEY=VALUE, not 'temperature'"),
        ("model:openai/a,model=openai/b", "'model' is given twice"),
        ("model:openai/a,temperature=hot", "temperature must be a number, not 'hot'"),
        ("model:openai/a,api_key=abc", "pass secrets through the environment"),
        ("modle:openai/a", "unknown agent 'modle'; did you mean 'model'?"),
    ],
)
def test_what_is_wrong_with_an_agent_is_said_in_one_line(
    agent: str, wrong: str, tmp_path: Path
) -> None:
    assert wrong in refusal(command("run", PAY, "--agent", agent, "--out", tmp_path / "run"))
    assert not (tmp_path / "run").exists()
