"""Any agent in its own process.

The process speaks JSON-RPC on stdin and stdout, and MCP over HTTP with the episode's services.
docs/agents.md describes the contract, of which there are two versions (see `_spoken`):

    → initialize {protocol, trial}
      ← {agent, version, protocol, history, tool_refresh, instructions, options, remembers, steps,
         terms}
    → history/session {trial, number, of, at, messages, deadline}
      ← {usage, error}
    → session/start {trial, history, mcp_servers, now, instructions, deadline, terms}
      ← {error}
    → turn {text, deadline}
      ← {text, usage, error: {kind: agent|outage|limit, detail}}
    → close
      ← {}

The process may send the notifications `backoff {seconds}` and `step {step, text}`, and gets
`cancel {id}` when a request has taken too long. In version 1, an answer has `status` and `detail`
in place of `error`, and neither instructions nor cancellation exist.

`history/session` comes once for each past session, and only if a run delivers them one by one to an
agent that says `remembers: true`.

An outage means that the agent's model could not be reached, and makes the trial unknown. Whatever
else goes wrong with the process, from its start on, is the agent's error. An agent that knows its
steps numbers them, starting from 1 in each turn, in the header `x-agent-step` of its MCP requests.
Tool use is scored only from the services' trace.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from client_harness.agents import _history
from client_harness.agents._rpc import NotStarted, Peer, PeerError, peer
from client_harness.agents._spoken import NEWEST, Hello, hello_of, model_of, outage_of, result_of
from client_harness.contract import AgentError, Assignment, ProviderOutage, TurnResult
from client_harness.telling import Instructions
from scenarios.haystack.history import LivedSession
from servers.kit.errors import InputError, did_you_mean, quoted
from servers.kit.values import iso

ABOUT = "any agent in its own process, speaking JSON-RPC (--command 'python agent.py')"
SETTINGS = ("model", "api_base", "max_steps", "max_seconds", "max_tokens", "temperature", "refresh")
"""Options that the process receives as `HAYWIRE_MODEL` and so on."""
NUMBERS = {"max_steps": int, "max_seconds": float, "max_tokens": int, "temperature": float}
OPTIONS = ("command", "turn_seconds", *SETTINGS)
LONGEST_TEXT = 20_000
"""How many characters are kept of what an agent says at a step."""
TERMS = True


class ProcessAgent:
    """A conversation with a started process, which has said `hello`.

    `stopped` says that it ended a turn when it was told to.
    """

    def __init__(self, peer: Peer, given: Assignment, hello: Hello, seconds: float) -> None:
        self.identity = dict(hello.identity)
        self.hello = hello
        self.stopped = False
        self._peer = peer
        self._given = given
        self._seconds = seconds
        self._message = 0
        self._opening = ""

    @property
    def takes(self) -> Instructions:
        """What it can do with instructions."""
        return self.hello.instructions

    async def start(self) -> None:
        """Begin the conversation: give the process the history and the servers.

        Raises `PeerError` and `ProviderOutage`.
        """
        given = self._given
        assert given.servers is not None
        if not self.hello.sees_new_tools:
            given.lock()
        elif self.hello.tool_refresh == "notify":
            given.hold()
        start = {
            "history": _history.rendered(given.history, self.hello.history),
            "mcp_servers": await given.servers(),
            "now": iso(given.tools.now),
        }
        said = given.told.text(self.hello.instructions, given.tools.now)
        if given.terms.given:
            said = given.terms.instructions(said)
            start["terms"] = given.terms.as_json()
        if self.hello.instructions == "message":
            self._opening = f"{said}\n\n" if said else ""
        if self.hello.protocol > 1:
            told = None if self._opening else said or None
            start |= {"instructions": told, "trial": opaque(given.trial)}
        answer = await self._request("session/start", start)
        if self.hello.protocol == 1:
            # Whatever else such an answer holds never meant anything.
            if answer.get("status") == "outage":
                raise outage_of(str(answer.get("detail") or ""))
            return
        ready = result_of(answer, "session/start", self.hello.protocol)
        if ready.status != "done":
            raise PeerError(f"the agent could not begin: {ready.detail or ready.status}")

    async def remember(self, session: LivedSession, number: int, of: int) -> TurnResult:
        """Send the process a past session; the conversation begins after the last one.

        A process that fails at a session, or to begin the conversation, has failed as an agent.
        Raises `ProviderOutage`.
        """
        past = {
            "trial": opaque(self._given.trial),
            "number": number,
            "of": of,
            "at": session["at"],
            "messages": _history.alone(session, self.hello.history),
        }
        result = await self._answer("history/session", past)
        if number == of and result.status == "done":
            try:
                await self.start()
            except PeerError as failure:
                return self._failed(failure, "session/start")
        return result

    async def turn(self, text: str) -> TurnResult:
        """Send the process a turn and return its result.

        A process that fails at this point has failed as an agent.
        """
        if self._peer.lost:
            return TurnResult("", "error", detail="the process has exited")
        self._message += 1
        opening = self._opening
        self._opening = ""
        return await self._answer("turn", {"text": opening + text})

    def hear(self, method: str, params: Any) -> None:
        """Keep what the agent says at a step in the file for it, if there is one."""
        path = self._given.steps
        if method != "step" or path is None or not isinstance(params, dict):
            return
        said = {"message": self._message, "step": params.get("step"), "text": params.get("text")}
        if isinstance(said["step"], int) and isinstance(said["text"], str):
            said["text"] = said["text"][:LONGEST_TEXT]
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(said, ensure_ascii=False) + "\n")

    async def _answer(self, method: str, params: dict[str, Any]) -> TurnResult:
        try:
            answer = await self._request(method, params)
            model = model_of(answer)
            if model:
                self.identity["model"] = model
            return result_of(answer, method, self.hello.protocol)
        except PeerError as failure:
            return self._failed(failure, method)

    async def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if self.hello.protocol > 1:
            params = {**params, "deadline": self._seconds}
        return await self._peer.request(method, params, self._seconds)

    def _failed(self, failure: PeerError, method: str) -> TurnResult:
        """Return the result of a request that failed, with what it used if that is known."""
        result = TurnResult("", "late" if failure.late else "error", detail=str(failure))
        self.stopped = failure.result is not None
        with suppress(PeerError, ProviderOutage):
            late = result_of(failure.result or {}, method, self.hello.protocol)
            result.usage = late.usage
        return result


def opaque(trial: str) -> str:
    """Return a name for a trial that tells nothing about its scenario."""
    return hashlib.blake2b(trial.encode(), digest_size=8).hexdigest()


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
    if given.steps is not None:
        given.steps.unlink(missing_ok=True)
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


async def _begin(
    started: Peer, given: Assignment, seconds: float, declared: Mapping[str, Any]
) -> ProcessAgent:
    hello = hello_of(await _greeted(started, given, seconds), declared, SETTINGS)
    if given.terms.given and not hello.terms:
        raise InputError(
            f"{started.name} cannot be told how to play: its answer to initialize must say "
            "`terms: true`, and it must keep to the `terms` of `session/start`"
        )
    made = ProcessAgent(started, given, hello, seconds)
    started.can_cancel = hello.protocol > 1
    started.hears = made.hear
    _check_options(given.options, hello)
    if not given.to_remember:
        await made.start()
    elif not hello.remembers:
        raise InputError(
            f"{started.name} cannot take past sessions one by one: its answer to initialize must "
            "say `remembers: true`, and it must answer `history/session`; or use --deliver context"
        )
    return made


async def _greeted(started: Peer, given: Assignment, seconds: float) -> dict[str, Any]:
    """Return the answer to `initialize`; what refuses the newest version is asked for the first."""
    newest = {"protocol": NEWEST, "trial": opaque(given.trial)}
    try:
        return await started.request("initialize", newest, seconds)
    except PeerError:
        if started.lost:
            raise
        return await started.request("initialize", {"protocol": 1}, seconds)


def _check_options(options: Mapping[str, Any], hello: Hello) -> None:
    """Raise `InputError` for a setting that the agent does not take."""
    for name in SETTINGS:
        if options.get(name) is None or hello.options is None or name in hello.options:
            continue
        agent = hello.identity.get("name", "process")
        hint = did_you_mean(name, hello.options) if hello.options else ", nor any other"
        raise InputError(f"the agent {agent} takes no option {quoted(name)}{hint}")
