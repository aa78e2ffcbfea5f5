"""The helper for agents in their own process, spoken to as Haywire does, line by line."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from client_harness.adapters import HERE, About, adapters, runtimes
from client_harness.adapters.install import command_of
from client_harness.lookup import resolve
from servers.kit.declared import validated
from servers.kit.errors import InputError
from tests.commands import ROOT, command
from tests.harness.process_agents import scenario
from tests.support import HISTORY

HELPER = HERE / "_vendor"
AGENT = """
import asyncio, os, sys, time
import haywire_agent as haywire

class Mine(haywire.Agent):
    name = "mine"
    version = "3"
    history = "native"

    async def start(self, session):
        self.session = session
        if session.servers[0].name == "broken":
            raise ValueError("no such server")

    #HERE

haywire.serve(Mine())
"""
ECHO = """
    async def turn(self, text):
        print("loud")
        os.system("echo louder")
        self.used(prompt_tokens=2, model="m")
        self.used(prompt_tokens=3, cost=None)
        return text.upper()
"""


class Talk:
    """A conversation with a process, one line at a time."""

    def __init__(self, process: subprocess.Popen[str], protocol: int) -> None:
        self.process = process
        self.number = 0
        self.hello = self.ask("initialize", protocol=protocol)["result"]

    def send(self, method: str, **params: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"method": method, "params": params}) + "\n")
        self.process.stdin.flush()

    def put(self, method: str, **params: Any) -> None:
        """Send a request without waiting for its answer."""
        assert self.process.stdin is not None
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the agent has ended"
        return json.loads(line)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self.put(method, **params)
        return self.read()

    def begin(self, name: str = "clock", history: Any = (), **more: Any) -> dict[str, Any]:
        server = {"name": name, "url": "http://127.0.0.1:1/mcp", "headers": {}}
        start = {"mcp_servers": [server], "history": list(history), "now": "2026-03-02T09:00:00Z"}
        return self.ask("session/start", **start, **more)

    def turn(self, text: str = "x") -> dict[str, Any]:
        return self.ask("turn", text=text)["result"]


@contextlib.contextmanager
def talking(
    folder: Path, here: str, protocol: int = 2, status: int = 0, **env: str
) -> Generator[Talk]:
    path = folder / "agent.py"
    path.write_text(AGENT.replace("    #HERE", here))
    process = subprocess.Popen(
        [sys.executable, "-S", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={"PYTHONPATH": str(HELPER), **env},
    )
    with process:
        yield Talk(process, protocol)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(10) == status


def test_what_is_printed_is_no_answer_and_usage_is_summed_up(tmp_path: Path) -> None:
    with talking(tmp_path, ECHO) as talk:
        assert talk.hello == {"agent": "mine", "version": "3", "history": "native", "protocol": 2}
        assert talk.begin()["result"] == {"text": "", "usage": {}}
        usage = {"model": "m", "prompt_tokens": 5}
        assert talk.turn("hello") == {"text": "HELLO", "usage": usage}
        assert talk.turn("more") == {"text": "MORE", "usage": usage}
        assert "there is no method 'dance'" in talk.ask("dance")["error"]["message"]


def test_the_first_version_of_the_contract_is_spoken_too(tmp_path: Path) -> None:
    here = ECHO + "\n    def remember(self, past): raise haywire.Limit('full')"
    with talking(tmp_path, here, 1) as talk:
        assert "protocol" not in talk.hello
        past = {"number": 1, "of": 1, "at": "2026-02-03T09:00:00Z", "messages": [], "trial": "t"}
        taken = talk.ask("history/session", **past)["result"]
        assert (taken["status"], taken["detail"]) == ("limit", "full")
        assert talk.begin()["result"]["status"] == "done"
        assert talk.turn("hello")["status"] == "done"
        assert "no such server" in talk.begin("broken")["error"]["message"]


@pytest.mark.parametrize(
    ("code", "kind", "detail"),
    [
        ("raise haywire.Outage('no route')", "outage", "no route"),
        ("raise haywire.Limit('30 steps')", "limit", "30 steps"),
        ("raise haywire.Failure('lost')", "agent", "lost"),
        ("{}['key']", "agent", "KeyError: 'key'"),
        ("time.sleep(1000)", "limit", "it took more than 0.5 s"),
    ],
)
@pytest.mark.parametrize("plain", [False, True])
def test_what_goes_wrong_has_a_kind_and_the_next_turn_works(
    tmp_path: Path, plain: bool, code: str, kind: str, detail: str
) -> None:
    if not plain:
        code = code.replace("time.sleep", "await asyncio.sleep")
    here = f"""
    {"" if plain else "async "}def turn(self, text):
        self.used(prompt_tokens=7)
        if text == "bad":
            {code}
        return text
"""
    with talking(tmp_path, here, HAYWIRE_MAX_SECONDS="0.5") as talk:
        talk.begin()
        bad = talk.turn("bad")
        assert bad["error"] == {"kind": kind, "detail": detail}
        assert bad["usage"] == {"prompt_tokens": 7} and bad["text"] == ""
        assert talk.turn("good") == {"text": "good", "usage": {"prompt_tokens": 7}}


@pytest.mark.parametrize(
    ("status", "words", "error"),
    [
        (None, "no route", {"kind": "outage"}),
        (503, "busy", {"kind": "outage"}),
        (429, "slowly", {"kind": "outage"}),
        (429, "insufficient_quota", {"kind": "outage", "lasting": True}),
        (401, "no key", {"kind": "outage", "lasting": True}),
        (400, "code: context_length_exceeded", {"kind": "limit"}),
    ],
)
def test_a_provider_that_does_not_answer_is_an_outage_or_a_limit(
    tmp_path: Path, status: int | None, words: str, error: dict[str, Any]
) -> None:
    here = f"""
    def turn(self, text):
        problem = RuntimeError({words!r})
        problem.status_code = {status}
        raise haywire.unanswered(problem)
"""
    with talking(tmp_path, here) as talk:
        talk.begin()
        assert talk.turn()["error"] == {**error, "detail": f"RuntimeError: {words}"}


def test_a_connection_that_takes_the_agent_with_it_ends_the_process(tmp_path: Path) -> None:
    """It ends at once, with a status that says so, and not in the middle of an answer."""
    here = """
    async def turn(self, text):
        asyncio.current_task().cancel()
        await asyncio.sleep(60)
"""
    with talking(tmp_path, here, status=1) as talk:
        talk.begin()
        talk.put("turn", text="x")
        assert talk.process.stdout is not None
        assert talk.process.stdout.read() == ""


@pytest.mark.parametrize("wait", ["await asyncio.sleep(1000)", "time.sleep(1000)"])
def test_a_cancelled_turn_is_answered_with_what_it_used(tmp_path: Path, wait: str) -> None:
    here = f"""
    {"async " if "await" in wait else ""}def turn(self, text):
        self.used(prompt_tokens=7)
        self.backoff(20)
        if text == "bad":
            {wait}
        return text
"""
    with talking(tmp_path, here) as talk:
        talk.begin()
        talk.put("turn", text="bad")
        assert talk.read()["params"] == {"seconds": 20}
        talk.send("cancel", id=talk.number)
        cancelled = talk.read()["result"]
        assert cancelled["error"] == {"kind": "agent", "detail": "the turn was cancelled"}
        assert cancelled["usage"] == {"prompt_tokens": 7}
        talk.send("cancel", id=talk.number)  # too late to mean anything
        talk.put("turn", text="good")
        talk.read()
        assert talk.read()["result"]["text"] == "good"


def test_steps_are_numbered_in_each_turn_and_their_texts_are_told(tmp_path: Path) -> None:
    here = """
    async def turn(self, text):
        seen = [dict(self.steps.headers)]
        for said in ("I look.", ""):
            self.steps.begin(said)
            request = type("Request", (), {"headers": {}})()
            await self.steps.number(request)
            seen.append(request.headers)
        return repr(seen)
"""
    seen = [{}, {"x-agent-step": "1"}, {"x-agent-step": "2"}]
    with talking(tmp_path, here) as talk:
        talk.begin()
        for _ in range(2):
            talk.put("turn", text="x")
            assert talk.read()["params"] == {"step": 1, "text": "I look."}
            assert talk.read()["result"]["text"] == repr(seen)


def test_a_session_brings_what_the_run_says_and_a_history_gets_dates(tmp_path: Path) -> None:
    here = """
    async def turn(self, text):
        told = self.session.instructions, self.session.trial, self.session.deadline
        parts = haywire.parts_of(self.session.history)
        return repr([text, *told, *[getattr(p, "text", p) for p in parts]])
"""
    more: dict[str, Any] = {"instructions": "Be brief.", "trial": "t1", "deadline": 9}
    with talking(tmp_path, here) as talk:
        talk.begin(history=HISTORY, **more)
        parts = talk.turn("Hi")["text"]
    assert parts.startswith("['[Conversation of 2026-03-02T09:00:00Z]\\nHi', 'Be brief.', 't1', 9")
    assert "'[Conversation of 2026-02-03T09:00:00Z]\\nHow much is in my Venmo?'" in parts
    call = "PastCall(id='past_1_1_0', name='venmo__get_balance', args={}, reply={'balance': 5}"
    assert call in parts


def test_the_agent_that_the_page_shows_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs/adapters.md").read_text()
    code = re.search(r"```python title=agent.py\n(.*?)```", page, re.DOTALL)
    assert code is not None
    (tmp_path / "agent.py").write_text(code[1])
    (tmp_path / "haywire_agent.py").write_bytes((HELPER / "haywire_agent.py").read_bytes())
    started = ("--agent", "process", "--command", f"{sys.executable} {tmp_path / 'agent.py'}")
    done = command("run", scenario(tmp_path), *started, "--json", "--out", tmp_path / "run")
    (agent,) = done.json["agents"]
    assert (agent["base"]["passed"], agent["agent"]) == (1, "clockwatcher 1"), done
    assert agent["order_inferred"] == 0 and agent["usage"]["prompt_tokens"] == 12


# -- adapter.yaml --------------------------------------------------------------------------------
def test_every_adapter_says_what_it_does() -> None:
    assert adapters()
    for name in adapters():
        assert "model" in getattr(resolve(name), "OPTIONS", ())


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ({"python": "3.10"}, "write a version as in '>=3.10' or '>=22, <25', not '3.10'"),
        ({"options": ["models"]}, "'models' is no option; there are model, api_base"),
        ({"tool_refresh": "often"}, "tool_refresh: expected"),
        ({"comand": []}, "did you mean 'command'"),
    ],
)
def test_a_malformed_description_is_refused_in_one_line(written: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        validated(About, {"about": "x", "command": ["x"], **written}, "adapter.yaml")


def test_versions_are_compared_as_numbers() -> None:
    assert runtimes.fits((3, 10, 1), ">=3.9") and not runtimes.fits((3, 9, 7), ">=3.10")
    assert runtimes.fits((22, 23, 3), ">=22, <25") and not runtimes.fits((25, 0, 0), ">=22, <25")
    own = tuple(sys.version_info[:3])
    assert runtimes.python_for("mine", ">=3.11") == (sys.executable, own)


def test_a_version_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"mine needs Python >=3\.99, and there is none"):
        runtimes.python_for("mine", ">=3.99")
    old = tmp_path / ".bin" / "node"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho v18.20.1\n")
    old.chmod(0o755)
    with pytest.raises(InputError, match=r"needs Node >=22, and the one there is has 18\.20\.1"):
        runtimes.node_for("mine", ">=22", tmp_path)
    assert runtimes.node_for("mine", ">=18", tmp_path) == str(old)


def test_a_command_runs_in_the_environment_of_its_adapter() -> None:
    chosen = resolve("pydantic_ai")
    parts, variables = command_of(chosen)  # ty: ignore[invalid-argument-type]
    assert parts[0].endswith("/adapters/pydantic_ai/bin/python")
    assert Path(parts[1]).name == "agent.py"
    assert variables["PYTHONPATH"] == str(HELPER)
