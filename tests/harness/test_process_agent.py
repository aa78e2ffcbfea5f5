"""The process agent: a well-behaved process, and every way in which one can misbehave."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.lowlevel
import pytest

from client_harness.agents import agent
from client_harness.contract import AgentError, Assignment, ProviderOutage
from client_harness.tools import in_memory
from servers.kit.errors import InputError
from tests.support import HISTORY, new_session

pytestmark = pytest.mark.anyio
SERVERS = [{"name": "clock", "url": "http://127.0.0.1:1/e/clock/mcp", "headers": {}}]
LOOP = """
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    method, params = request["method"], request["params"]
    result = {}
    if method == "initialize":
        result = {"agent": "test", "history": "messages", "tool_refresh": "call"}
    if method == "session/start":
        started = params
    if method == "turn":
        usage = {"prompt_tokens": 7, "note": "x"}
        result = {"status": "done", "text": params["text"].upper(), "usage": usage}
    #HERE
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


def written(folder: Path, here: str, body: str = LOOP) -> list[str]:
    """Write a process whose loop also runs `here`, and return its command."""
    path = folder / "agent.py"
    path.write_text(body.replace("#HERE", here.replace("\n", "\n    ")))
    return [sys.executable, "-I", "-S", str(path)]


async def nothing() -> list[dict[str, Any]]:
    return SERVERS


@contextlib.asynccontextmanager
async def talking(command: Any, **options: Any) -> AsyncGenerator[Any]:
    """Yield the process agent; an exception at its start is raised unwrapped."""
    problem: BaseException | None = None
    async with in_memory(new_session("clock")) as tools:
        options = {"command": command, "turn_seconds": 20, **options}
        given = Assignment(tools, HISTORY, cast(Any, None), options, nothing)
        try:
            async with agent("process").agent(given) as made:
                yield made
        except (AgentError, ProviderOutage, InputError, AssertionError) as wrong:
            problem = wrong
    if problem is not None:
        raise problem


async def test_a_good_process_answers_every_turn(tmp_path: Path) -> None:
    async with talking(written(tmp_path, "")) as made:
        first = await made.turn("hello")
        second = await made.turn("more")
    assert (first.text, first.status, first.usage) == ("HELLO", "done", {"prompt_tokens": 7})
    assert second.text == "MORE"


@pytest.mark.parametrize("kind", ["messages", "native", "text"])
async def test_history_comes_as_the_agent_asked_for_it(tmp_path: Path, kind: str) -> None:
    here = (
        f'if method == "initialize": result["history"] = "{kind}"\n'
        'if method == "turn": result["text"] = json.dumps(started)'
    )
    async with talking(written(tmp_path, here)) as made:
        text = (await made.turn("x")).text
    started = json.loads(text)
    assert started["mcp_servers"] == SERVERS and started["now"].startswith("2026-")
    history = started["history"]
    if kind == "native":
        assert history == HISTORY
    elif kind == "messages":
        assert [m["role"] for m in history] == ["user", "assistant", "assistant"]
        opening = "[Conversation of 2026-02-03T09:00:00Z]\nHow much is in my Venmo?"
        assert history[0]["text"] == opening
        assert 'venmo.get_balance {} and got {"balance": 5}' in history[1]["text"]
    else:
        opening = "[Conversation of 2026-02-03T09:00:00Z]\nUser: How much is in my Venmo?\n"
        assert history.startswith(opening)


async def test_settings_reach_the_process(tmp_path: Path) -> None:
    settings = 'os.environ["HAYWIRE_MODEL"] + os.environ["HAYWIRE_MAX_STEPS"]'
    here = f'if method == "turn": result["text"] = {settings}'
    async with talking(written(tmp_path, here), model="m", max_steps=3) as made:
        assert (await made.turn("x")).text == "m3"


DIES = 'if method == "METHOD": print("out of memory", file=sys.stderr); sys.exit(3)'
HANGS = 'if method == "METHOD": print("thinking", file=sys.stderr, flush=True); sys.stdin.read()'
NO_RPC = "something other than JSON-RPC"
CLOSED = "closed its output before it answered"
RUBBISH = [
    ('print("Loading model…", flush=True)', NO_RPC),
    ('print("[]", flush=True)', NO_RPC),
    ('request["id"] += 7', r"with the id \d+ instead of"),
    ("result = 5", "with a result that is not an object"),
    ('sys.stdout.write("x" * 17_000_000); sys.stdout.flush()', "a line of more than"),
    (r"sys.stdout.buffer.write(b'\xff\xfe\n'); sys.stdout.flush()", NO_RPC),
    ("os.close(1); sys.stdin.read()", CLOSED),
]
FAILURES = [
    (DIES, rf"{CLOSED} METHOD \(exit code 3\); its stderr ends with: out of memory"),
    (HANGS, "did not answer METHOD within"),
]
FAILURES += [(f'if method == "METHOD": {code}', text) for code, text in RUBBISH]


def limit(code: str, method: str) -> float:
    """Return the seconds for a request: few if it hangs, but enough for the ones before it."""
    if code is not HANGS:
        return 20
    return 0.2 if method == "initialize" else 2


@pytest.mark.parametrize("method", ["initialize", "session/start"])
@pytest.mark.parametrize(("code", "text"), FAILURES)
async def test_a_process_that_fails_before_its_first_turn_is_the_agents_error(
    tmp_path: Path, method: str, code: str, text: str
) -> None:
    command = written(tmp_path, code.replace("METHOD", method))
    with pytest.raises(AgentError, match=text.replace("METHOD", method)):
        async with talking(command, turn_seconds=limit(code, method)):
            raise AssertionError("the agent must not start")


@pytest.mark.parametrize(("code", "text"), FAILURES)
async def test_a_process_that_fails_in_a_turn_ends_as_an_error(
    tmp_path: Path, code: str, text: str
) -> None:
    command = written(tmp_path, code.replace("METHOD", "turn"))
    async with talking(command, turn_seconds=limit(code, "turn")) as made:
        first = await made.turn("x")
        second = await made.turn("y")
    assert first.status == ("late" if code is HANGS else "error")
    assert second.status == "error"
    assert re.search(text.replace("METHOD", "turn"), first.detail), first.detail


@pytest.mark.parametrize(
    ("result", "status", "text"),
    [
        ('{"status": "limit", "text": "so far", "detail": "30 steps"}', "limit", "30 steps"),
        ('{"status": "finished", "text": "x"}', "error", "status: done"),
        ('{"status": "done", "text": 5}', "error", "status: done"),
        ('{"text": "x"}', "done", ""),
    ],
)
async def test_what_a_turn_may_answer(tmp_path: Path, result: str, status: str, text: str) -> None:
    async with talking(written(tmp_path, f'if method == "turn": result = {result}')) as made:
        answer = await made.turn("x")
    assert answer.status == status and text in answer.detail


async def test_an_answered_error_is_the_agents_and_the_next_turn_works(tmp_path: Path) -> None:
    here = """if method == "turn" and params["text"] == "bad":
    error = {"code": -1, "message": "cannot"}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}), flush=True)
    continue"""
    async with talking(written(tmp_path, here)) as made:
        bad = await made.turn("bad")
        good = await made.turn("good")
    assert (bad.status, good.status) == ("error", "done") and "cannot" in bad.detail


async def test_an_agent_whose_model_is_away_is_an_outage(tmp_path: Path) -> None:
    here = 'if method == "turn": result = {"status": "outage", "detail": "no route"}'
    with pytest.raises(ProviderOutage, match="no route"):
        async with talking(written(tmp_path, here)) as made:
            await made.turn("x")


async def test_notifications_are_passed_over(tmp_path: Path) -> None:
    here = 'print(json.dumps({"jsonrpc": "2.0", "method": "log"}))'
    async with talking(written(tmp_path, here)) as made:
        assert (await made.turn("x")).text == "X"


async def test_nothing_of_it_is_left(tmp_path: Path) -> None:
    here = """if method == "turn":
    import signal, subprocess
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    waiting = [sys.executable, "-S", "-c", "import sys; sys.stdin.read()"]
    child = subprocess.Popen(waiting, stdin=subprocess.PIPE)
    result["text"] = f"{os.getpid()} {child.pid}"
if method == "close": time.sleep(1000)"""
    with anyio.fail_after(30):
        async with talking(written(tmp_path, here), turn_seconds=20) as made:
            own, child = map(int, (await made.turn("x")).text.split())
            await made.turn("x")
            made._peer.lost = True  # as if it had hung
    with anyio.fail_after(10):  # a signal takes a moment to arrive
        while alive(own) or alive(child):
            await anyio.lowlevel.checkpoint()


def alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True
    return state not in "ZX"


async def test_what_cannot_be_started_is_said() -> None:
    mistakes = [
        (None, InputError, "say what to start"),
        ("python 'agent", InputError, "is not a command"),
        (["/no/such/agent"], ProviderOutage, "cannot be started: No such file"),
    ]
    for command, kind, text in mistakes:
        with pytest.raises(kind, match=text):
            async with talking(command):
                raise AssertionError("the agent must not start")
