"""Any agent in its own process.

The process speaks JSON-RPC on stdin and stdout, and MCP over HTTP with the episode's services.

    → initialize {protocol}
      ← {agent, history: messages|native|text, tool_refresh, remembers?: true}
    → history/session {trial, number, of, at, messages}
      ← {status?, usage?, detail?}
    → session/start {history, mcp_servers, now}
      ← {}
    → turn {text}
      ← {status: done|limit|error|outage, text, usage, detail?}
    → close
      ← {}

`history/session` comes once for each past session, and only if a run delivers them one by one to an
agent that says `remembers: true`.

`outage` means that the agent's model could not be reached, and makes the trial unknown. An agent
that knows its steps numbers them, starting from 1 in each turn, in the header `x-agent-step` of its
MCP requests. Tool use is scored only from the services' trace.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

from client_harness.agents import _history
from client_harness.agents._rpc import Peer, PeerError, peer
from client_harness.contract import Assignment, ProviderOutage, TurnResult
from scenarios.haystack.history import LivedSession
from servers.kit.errors import InputError
from servers.kit.values import iso

ABOUT = "any agent in its own process, speaking JSON-RPC (--command 'python agent.py')"
PROTOCOL = 1
STATUSES = ("done", "limit", "error", "outage")
REFRESHES = ("call", "notify", "turn", "process", "never")
SETTINGS = ("model", "api_base", "max_steps", "max_seconds", "max_tokens", "temperature", "refresh")
"""Options that the process receives as `HAYWIRE_MODEL` and so on."""


class ProcessAgent:
    """A conversation with a started process.

    `kind` is the form in which it wants earlier sessions.
    """

    def __init__(self, peer: Peer, given: Assignment, kind: str, seconds: float) -> None:
        self._peer = peer
        self._given = given
        self._kind = kind
        self._seconds = seconds

    async def start(self) -> None:
        """Begin the conversation: give the process the history and the servers.

        Raises `PeerError`.
        """
        assert self._given.servers is not None
        start = {
            "history": _history.rendered(self._given.history, self._kind),
            "mcp_servers": await self._given.servers(),
            "now": iso(self._given.tools.now),
        }
        await self._peer.request("session/start", start, self._seconds)

    async def remember(self, session: LivedSession, number: int, of: int) -> TurnResult:
        """Send the process a past session; the conversation begins after the last one.

        A process that fails at a session has failed as an agent, one that fails to begin the
        conversation is an outage, as it is without sessions. Raises `ProviderOutage`.
        """
        past = {
            "trial": _opaque(self._given.trial),
            "number": number,
            "of": of,
            "at": session["at"],
            "messages": _history.alone(session, self._kind),
        }
        try:
            taken = await self._peer.request("history/session", past, self._seconds)
            result = _result(taken, "history/session")
        except PeerError as failure:
            return TurnResult("", "error", detail=str(failure))
        if number == of and result.status == "done":
            try:
                await self.start()
            except PeerError as failure:
                raise ProviderOutage(str(failure)) from None
        return result

    async def turn(self, text: str) -> TurnResult:
        """Send the process a turn and return its result.

        A process that fails at this point has failed as an agent: the turn is an error, and is
        judged.
        """
        if self._peer.lost:
            return TurnResult("", "error", detail="the process has exited")
        try:
            answer = await self._peer.request("turn", {"text": text}, self._seconds)
            return _result(answer, "turn")
        except PeerError as failure:
            return TurnResult("", "error", detail=str(failure))


def _opaque(trial: str) -> str:
    """Return a name for a trial that tells nothing about its scenario."""
    return hashlib.blake2b(trial.encode(), digest_size=8).hexdigest()


def _result(answer: dict[str, Any], method: str) -> TurnResult:
    status = answer.get("status", "done")
    said = answer.get("text", "")
    usage = answer.get("usage", {})
    detail = answer.get("detail", "")
    if status not in STATUSES or not isinstance(said, str) or not isinstance(usage, dict):
        shape = f"{{status: {'|'.join(STATUSES)}, text, usage}}"
        raise PeerError(f"the answer to {method} must be {shape}, not {str(answer)[:300]}")
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

    If past sessions come one by one, it gets the servers after the last one. Raises
    `ProviderOutage` if it fails before it is given anything, and `InputError` for invalid options.
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
    made = ProcessAgent(started, given, kind, seconds)
    if not given.to_remember:
        await made.start()
    elif hello.get("remembers") is not True:
        raise InputError(
            f"{started.name} cannot take past sessions one by one: its answer to initialize must "
            "say `remembers: true`, and it must answer `history/session`; or use --deliver context"
        )
    return made
