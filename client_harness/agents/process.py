"""Any agent in its own process.

The process speaks JSON-RPC on stdin and stdout, and MCP over HTTP with the episode's services.

    → initialize {protocol}
      ← {agent, history: messages|native|text, tool_refresh}
    → session/start {history, mcp_servers, now}
      ← {}
    → turn {text}
      ← {status: done|limit|error|outage, text, usage, detail?}
    → close
      ← {}

`outage` means that the agent's model could not be reached, and makes the trial unknown. An agent
that knows its steps numbers them, starting from 1 in each turn, in the header `x-agent-step` of its
MCP requests. Tool use is scored only from the services' trace.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

from client_harness.agents import _history
from client_harness.agents._rpc import Peer, PeerError, peer
from client_harness.contract import Assignment, ProviderOutage, TurnResult
from servers.kit.errors import InputError
from servers.kit.values import iso

ABOUT = "any agent in its own process, speaking JSON-RPC (--command 'python agent.py')"
PROTOCOL = 1
STATUSES = ("done", "limit", "error", "outage")
REFRESHES = ("call", "notify", "turn", "process", "never")
SETTINGS = ("model", "api_base", "max_steps", "max_seconds", "max_tokens", "temperature", "refresh")
"""Options that the process receives as `HAYWIRE_MODEL` and so on."""


class ProcessAgent:
    """A conversation with a started process."""

    def __init__(self, peer: Peer, seconds: float) -> None:
        self._peer = peer
        self._seconds = seconds

    async def turn(self, text: str) -> TurnResult:
        """Send the process a turn and return its result.

        A process that fails at this point has failed as an agent: the turn is an error, and is
        judged.
        """
        if self._peer.lost:
            return TurnResult("", "error", detail="the process has exited")
        try:
            answer = await self._peer.request("turn", {"text": text}, self._seconds)
            return _result(answer)
        except PeerError as failure:
            return TurnResult("", "error", detail=str(failure))


def _result(answer: dict[str, Any]) -> TurnResult:
    status = answer.get("status", "done")
    said = answer.get("text", "")
    usage = answer.get("usage", {})
    detail = answer.get("detail", "")
    if status not in STATUSES or not isinstance(said, str) or not isinstance(usage, dict):
        shape = f"{{status: {'|'.join(STATUSES)}, text, usage}}"
        raise PeerError(f"a turn's answer must be {shape}, not {str(answer)[:300]}")
    if status == "outage":
        raise ProviderOutage(str(detail) or "the agent reports that its model cannot be reached")
    amounts = {}
    for name, amount in usage.items():
        if isinstance(amount, int | float) and not isinstance(amount, bool):
            amounts[str(name)] = amount
    return TurnResult(said, status, amounts, str(detail))


def _command(given: Any) -> list[str]:
    try:
        parts = shlex.split(given) if isinstance(given, str) else list(given or [])
    except ValueError as wrong:
        raise InputError(f"agent process: {given!r} is not a command: {wrong}") from None
    if not parts:
        raise InputError(
            "agent process: say what to start, for example --command 'python my_agent.py'"
        )
    return [str(p) for p in parts]


def _seconds(given: Any) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        raise InputError(f"agent process: turn_seconds must be a number, not {given!r}") from None


@asynccontextmanager
async def agent(given: Assignment) -> AsyncGenerator[ProcessAgent]:
    """Start the command, give it the history and the servers, and end it afterwards.

    Raises `ProviderOutage` if it fails before its first turn, and `InputError` for invalid options.
    """
    command = _command(given.options.get("command"))
    seconds = _seconds(given.options.get("turn_seconds") or 300)
    if given.servers is None:
        raise InputError("agent process: this run has no HTTP host that the agent could connect to")
    env = dict(os.environ)
    for name in SETTINGS:
        if given.options.get(name) is not None:
            env[f"HAYWIRE_{name.upper()}"] = str(given.options[name])
    program = command[0].rpartition("/")[2]
    async with _started(command, env, f"the agent's process ({program})") as started:
        yield await _begin(started, given, seconds)
        if not started.lost:
            with suppress(PeerError):
                await started.request("close", {}, 5)


@asynccontextmanager
async def _started(command: list[str], env: dict[str, str], name: str) -> AsyncGenerator[Peer]:
    try:
        async with peer(command, env, name) as started:
            yield started
    except PeerError as failure:
        raise ProviderOutage(str(failure)) from None


async def _begin(started: Peer, given: Assignment, seconds: float) -> ProcessAgent:
    assert given.servers is not None
    hello = await started.request("initialize", {"protocol": PROTOCOL}, seconds)
    kind = hello.get("history", "messages")
    refresh = hello.get("tool_refresh", "call")
    if kind not in _history.KINDS or refresh not in REFRESHES:
        kinds = ", ".join(_history.KINDS)
        wants = f"history must be one of {kinds} and tool_refresh one of {', '.join(REFRESHES)}"
        raise PeerError(
            "the agent's process gave an invalid answer to initialize: "
            f"{wants}, not {kind!r} and {refresh!r}"
        )
    servers = await given.servers()
    start = {
        "history": _history.rendered(given.history, kind),
        "mcp_servers": servers,
        "now": iso(given.tools.now),
    }
    await started.request("session/start", start, seconds)
    return ProcessAgent(started, seconds)
