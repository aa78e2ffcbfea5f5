"""Any agent in its own process.

The process speaks JSON-RPC on stdin and stdout, and MCP over HTTP with the episode's services.

    → initialize {protocol}
      ← {agent, version, history: messages|native|text, tool_refresh, remembers?: true}
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

`outage` means that the agent's model could not be reached, and makes the trial unknown; it may
also be the answer to `session/start`. Whatever else goes wrong with the process, from its start
on, is the agent's error. An agent that knows its steps numbers them, starting from 1 in each turn,
in the header `x-agent-step` of its MCP requests. Tool use is scored only from the services' trace.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Literal, get_args

from client_harness.agents import _history
from client_harness.agents._rpc import NotStarted, Peer, PeerError, peer
from client_harness.contract import AgentError, Assignment, ProviderOutage, TurnResult
from scenarios.haystack.history import LivedSession
from servers.kit.errors import InputError, quoted
from servers.kit.values import iso

ABOUT = "any agent in its own process, speaking JSON-RPC (--command 'python agent.py')"
PROTOCOL = 1
LONGEST_NAME = 80
"""How many characters an agent's name, and its version, may have."""
STATUSES = ("done", "limit", "error", "outage")
HistoryForm = Literal["messages", "native", "text"]
"""The form in which an agent asks for earlier sessions."""
Refresh = Literal["call", "notify", "turn", "process", "never"]
"""When an agent lists tools again."""
Instructions = Literal["replace", "append", "message"]
"""What an agent can do with instructions: put them in place of its prompt, or after it, or only
pass them on with the user's first message.
"""
SETTINGS = ("model", "api_base", "max_steps", "max_seconds", "max_tokens", "temperature", "refresh")
"""Options that the process receives as `HAYWIRE_MODEL` and so on."""
NUMBERS = {"max_steps": int, "max_seconds": float, "max_tokens": int, "temperature": float}
OPTIONS = ("command", "turn_seconds", *SETTINGS)


class ProcessAgent:
    """A conversation with a started process.

    `kind` is the form in which it wants earlier sessions.
    """

    def __init__(self, peer: Peer, given: Assignment, kind: str, seconds: float) -> None:
        self.identity: dict[str, str] = {}
        self._peer = peer
        self._given = given
        self._kind = kind
        self._seconds = seconds

    async def start(self) -> None:
        """Begin the conversation: give the process the history and the servers.

        Raises `PeerError` and `ProviderOutage`.
        """
        assert self._given.servers is not None
        start = {
            "history": _history.rendered(self._given.history, self._kind),
            "mcp_servers": await self._given.servers(),
            "now": iso(self._given.tools.now),
        }
        ready = await self._peer.request("session/start", start, self._seconds)
        if ready.get("status") == "outage":
            raise _outage(ready.get("detail"))

    async def remember(self, session: LivedSession, number: int, of: int) -> TurnResult:
        """Send the process a past session; the conversation begins after the last one.

        A process that fails at a session, or to begin the conversation, has failed as an agent.
        Raises `ProviderOutage`.
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
            if number == of and result.status == "done":
                await self.start()
            return result
        except PeerError as failure:
            return _failed(failure)

    async def turn(self, text: str) -> TurnResult:
        """Send the process a turn and return its result.

        A process that fails at this point has failed as an agent.
        """
        if self._peer.lost:
            return TurnResult("", "error", detail="the process has exited")
        try:
            answer = await self._peer.request("turn", {"text": text}, self._seconds)
            return _result(answer, "turn")
        except PeerError as failure:
            return _failed(failure)


def _failed(failure: PeerError) -> TurnResult:
    return TurnResult("", "late" if failure.late else "error", detail=str(failure))


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
    amounts = {}
    for name, amount in usage.items():
        if isinstance(amount, int | float) and not isinstance(amount, bool):
            amounts[str(name)] = amount
    if status == "outage":
        outage = _outage(detail)
        outage.usage = amounts
        raise outage
    return TurnResult(said, status, amounts, str(detail))


def _outage(detail: Any) -> ProviderOutage:
    said = "the agent reports that its model cannot be reached"
    return ProviderOutage(f"{said}: {detail}" if detail else said, cause=said)


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


def check_settings(agent: str, options: Mapping[str, Any]) -> None:
    """Raise `InputError` if a setting that is a number has another value."""
    for name, number in {**NUMBERS, "turn_seconds": float}.items():
        try:
            number(options.get(name) or 0)
        except (TypeError, ValueError):
            kind = "whole number" if number is int else "number"
            given = quoted(options[name])
            raise InputError(f"agent {agent}: {name} must be a {kind}, not {given}") from None


def check(options: Mapping[str, Any]) -> None:
    """Raise `InputError` if options name no command, or no number where there must be one."""
    _command(options.get("command"))
    check_settings("process", options)


@asynccontextmanager
async def agent(given: Assignment) -> AsyncGenerator[ProcessAgent]:
    """Converse with the agent that the option `command` starts; see `conversing`."""
    check(given.options)
    command = _command(given.options.get("command"))
    async with conversing(given, command) as made:
        yield made


@asynccontextmanager
async def conversing(
    given: Assignment,
    command: list[str],
    variables: Mapping[str, str] | None = None,
    declared: Mapping[str, Any] | None = None,
) -> AsyncGenerator[ProcessAgent]:
    """Start a command, give it the history and the servers, and end it afterwards.

    `variables` are added to its environment, and `declared` is what its answer to `initialize` need
    not say. If past sessions come one by one, it gets the servers after the last one. If it fails
    before it is given anything, raises `AgentError`, or `ProviderOutage` if it cannot be started or
    says that its model is away. Raises `InputError` for options that it cannot work with.
    """
    seconds = float(given.options.get("turn_seconds") or 300)
    if given.servers is None:
        raise InputError("agent process: this run has no HTTP host that the agent could connect to")
    env = {**os.environ, **(variables or {})}
    for name in SETTINGS:
        if given.options.get(name) is not None:
            env[f"HAYWIRE_{name.upper()}"] = str(given.options[name])
    program = command[0].rpartition("/")[2]
    name = f"the agent's process ({program})"
    async with _started(command, env, name, given.stderr) as started:
        yield await _begin(started, given, seconds, declared or {})
        if not started.lost:
            with suppress(PeerError):
                await started.request("close", {}, 5)


@asynccontextmanager
async def _started(
    command: list[str], env: dict[str, str], name: str, stderr: Path | None
) -> AsyncGenerator[Peer]:
    try:
        async with peer(command, env, name, stderr) as started:
            yield started
    except NotStarted as missing:
        raise ProviderOutage(str(missing), lasting=True) from None
    except PeerError as failure:
        raise AgentError(str(failure)) from None


def _identity(hello: dict[str, Any]) -> dict[str, str]:
    """Return the name and version that an agent says it has. Raises `PeerError`."""
    identity = {}
    for key, part in (("agent", "name"), ("version", "version")):
        said = hello.get(key, "")
        if not isinstance(said, str) or len(said) > LONGEST_NAME:
            raise PeerError(
                "the agent's process gave an invalid answer to initialize: "
                f"{key} must be a text of at most {LONGEST_NAME} characters, not {quoted(said)}"
            )
        if said.strip():
            identity[part] = " ".join(said.split())
    return identity


async def _begin(
    started: Peer, given: Assignment, seconds: float, declared: Mapping[str, Any]
) -> ProcessAgent:
    answer = await started.request("initialize", {"protocol": PROTOCOL}, seconds)
    hello = _declaring(answer, declared)
    kind = hello.get("history", "messages")
    refresh = hello.get("tool_refresh", "call")
    if kind not in get_args(HistoryForm) or refresh not in get_args(Refresh):
        kinds = ", ".join(get_args(HistoryForm))
        refreshes = ", ".join(get_args(Refresh))
        raise PeerError(
            "the agent's process gave an invalid answer to initialize: history must be one of "
            f"{kinds} and tool_refresh one of {refreshes}, not {kind!r} and {refresh!r}"
        )
    made = ProcessAgent(started, given, kind, seconds)
    made.identity = _identity(hello)
    if not given.to_remember:
        await made.start()
    elif hello.get("remembers") is not True:
        raise InputError(
            f"{started.name} cannot take past sessions one by one: its answer to initialize must "
            "say `remembers: true`, and it must answer `history/session`; or use --deliver context"
        )
    return made


def _declaring(answer: dict[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a process says, with what was declared for it. Raises `PeerError`."""
    for name, value in declared.items():
        if answer.get(name, value) != value:
            raise PeerError(
                f"the agent's process says that {name} is {quoted(answer[name])}, "
                f"but its adapter.yaml says {quoted(value)}"
            )
    return {**declared, **answer}
