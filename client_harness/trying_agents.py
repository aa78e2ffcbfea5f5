"""Whether a stranger's agent keeps the contract, found out in a minute and without scenarios.

Each probe starts the agent anew on two services, says something to it, and looks at the calls that
came in and at what it answered. A probe is `ok`, `failed`, or `not measured` with the reason.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import anyio

from client_harness._host import Host
from client_harness.agents._spoken import Hello
from client_harness.agents.process import ProcessAgent
from client_harness.contract import AgentError, Assignment, ProviderOutage, TurnResult
from client_harness.conversation import leaf
from client_harness.lookup import resolve
from client_harness.tools import in_memory
from fault_profiles.model import parse
from scenarios.haystack.history import LivedSession
from scenarios.worlds import build
from servers.kit.call import Call, Layer, Next, Reply
from servers.kit.control import Control
from servers.kit.errors import InputError
from servers.kit.events import Attempt
from servers.kit.service import Service, ToolSpec
from servers.kit.session import Session
from servers.kit.types import Json
from servers.kit.values import parse_time

WORLD = "maya"
SERVICES = ("clock", "venmo")
OK = "ok"
FAILED = "failed"
UNMEASURED = "not measured"
AT_ONCE = 3
"""How many probes run at the same time."""
HUGE = 200_000
"""How many characters the huge reply has."""
TOGETHER = 0.5
"""How many seconds of each other calls arrive that were made at once, on a busy machine."""
SHORT = 8.0
"""How many seconds the agent has in the probe that cancels it."""
PAST: list[LivedSession] = [
    {
        "at": "2026-02-03T09:00:00Z",
        "messages": [
            {"role": "user", "text": "Please remember that my locker has the number 4817."},
            {"role": "assistant", "text": "I will: your locker has the number 4817."},
        ],
    }
]
REFRESHES = {
    "call": "before each call",
    "notify": "when it is notified",
    "turn": "before each turn",
    "process": "once for each process",
    "never": "never again",
}


@dataclass(frozen=True)
class Probed:
    """What a probe found, in one line."""

    probe: str
    result: str
    why: str


class _Replies:
    """What a probe does to replies: a fault beneath the protocol, made for one conversation."""

    name = ""

    def handles(self, cls: type[Service], spec: ToolSpec) -> bool:
        return True

    def layer(self, session: Session) -> Layer:
        return self.reply

    async def reply(self, call: Call, call_next: Next) -> Reply:
        """Answer a call."""
        raise NotImplementedError

    def listen(self, session: Session) -> None:
        """Wait for nothing."""

    def publish(self, session: Session, cls: type[Service], spec: ToolSpec, schema: Json) -> Json:
        return schema


class _Huge(_Replies):
    """Makes a reply huge, as a careless service does."""

    name = "huge"

    def handles(self, cls: type[Service], spec: ToolSpec) -> bool:
        return spec.name == "get_time"

    async def reply(self, call: Call, call_next: Next) -> Reply:
        reply = await call_next(call)
        return replace(reply, data={**reply.data, "log": "tick tock " * (HUGE // 10)})


class _Slow(_Replies):
    """Takes its time, so that calls made together arrive before the first of them is answered."""

    name = "slow"

    async def reply(self, call: Call, call_next: Next) -> Reply:
        await anyio.sleep(TOGETHER)
        return await call_next(call)


@dataclass
class _Tried:
    """A conversation that was held: what the agent answered, and the calls that came in."""

    results: list[TurnResult]
    calls: list[Attempt]
    hello: Hello
    stopped: bool

    @property
    def problem(self) -> str:
        """Why the last turn did not end with done, or nothing."""
        last = self.results[-1]
        return "" if last.status == "done" else (last.detail or last.status)

    @property
    def said(self) -> str:
        """The agent's last text."""
        return self.results[-1].text

    def good(self, tool: str) -> list[Attempt]:
        """Return the calls of a tool that were no errors."""
        worked = [call for call in self.calls if not call.is_error]
        return [call for call in worked if call.name == tool]


@dataclass(frozen=True)
class _Trying:
    """How conversations with the agent under test are held."""

    agent: str
    options: dict[str, Any]
    host: Host

    async def hold(
        self,
        *texts: str,
        faults: Sequence[Any] = (),
        past: Sequence[LivedSession] = (),
        hides: bool = False,
        **options: Any,
    ) -> _Tried:
        """Say these texts to a new process, and return what came of it.

        Raises `AgentError`, `ProviderOutage` and `InputError`.
        """
        hidden = ["venmo"] if hides else []
        world = build.shared(WORLD, SERVICES).share()
        control = Control(parse_time(build.person(WORLD)["start"]), 0)
        session = Session(SERVICES, world, control, faults=faults, hidden=hidden)
        if hides:
            session.on_attempt.append(lambda attempt: _disclose(session))
        try:
            async with self._begun(session, past, options) as made:
                results = []
                for number, text in enumerate(texts, 1):
                    session.turn = number
                    session.step = None
                    session.message("user", text)
                    results.append(await made.turn(text))
                    if results[-1].status != "done":
                        break
                hello = made.hello
                stopped = made.stopped
            calls = [event for event in session.trace() if isinstance(event, Attempt)]
            return _Tried(results, calls, hello, stopped)
        finally:
            world.close()
            control.close()

    @asynccontextmanager
    async def _begun(
        self, session: Session, past: Sequence[LivedSession], options: dict[str, Any]
    ) -> AsyncGenerator[ProcessAgent]:
        problem: BaseException | None = None
        with self.host.offers(session) as servers:
            # What goes wrong is raised outside, because the client's task group would wrap it.
            async with in_memory(session) as tools:
                given = Assignment(tools, list(past), cast(Any, None), trial="test-agent")
                given.options = {**self.options, **options}
                given.servers = servers
                given.hold = session.hold_replies
                try:
                    async with resolve(self.agent).agent(given) as made:
                        yield cast(ProcessAgent, made)
                except (AgentError, ProviderOutage, InputError) as wrong:
                    problem = wrong
        if problem is not None:
            raise problem


def _disclose(session: Session) -> None:
    if "venmo" in session.hidden:
        session.disclose("venmo")


# -- probes --------------------------------------------------------------------------------------
async def _one_call(trying: _Trying) -> tuple[str, str]:
    tried = await trying.hold("What time is it? Please look at the clock.")
    if tried.problem:
        return FAILED, tried.problem
    if not tried.good("clock.get_time"):
        return FAILED, f"asked to look at the clock, {_made(tried)}"
    if not tried.said.strip():
        return FAILED, "it called the clock and then said nothing"
    return OK, "it looked at the clock and answered"


async def _parallel(trying: _Trying) -> tuple[str, str]:
    text = "Look up two things at once, both in one step: the time (clock) and my Venmo balance."
    tried = await trying.hold(text, faults=[_Slow()])
    if tried.problem:
        return FAILED, tried.problem
    if len(tried.calls) < 2:
        return UNMEASURED, f"asked for two calls at once, {_made(tried)}"
    first, second = tried.calls[:2]
    if first.step is not None and first.step == second.step:
        return OK, f"two calls came as step {first.step}"
    if second.arrived >= first.seq:
        return UNMEASURED, "it made the second call after it had the reply to the first"
    if first.step is None:
        return OK, "two calls came together; it does not number its steps"
    return FAILED, f"two calls came together, but as the steps {first.step} and {second.step}"


async def _history(trying: _Trying) -> tuple[str, str]:
    text = "Which number does my locker have? I told you in an earlier conversation."
    tried = await trying.hold(text, past=PAST)
    if tried.problem:
        return FAILED, tried.problem
    if "4817" not in tried.said:
        return FAILED, f"it was told 4817 in a past session, and says now: {_short(tried.said)}"
    return OK, "it knows what was said in a past session"


async def _two_turns(trying: _Trying) -> tuple[str, str]:
    texts = ("My cat is called Pixel. What time is it?", "What is my cat called?")
    tried = await trying.hold(*texts)
    if tried.problem:
        return FAILED, f"turn {len(tried.results)}: {tried.problem}"
    if "pixel" not in tried.said.lower():
        return FAILED, f"it was told Pixel in the turn before, and says now: {_short(tried.said)}"
    return OK, "it knows in the second turn what was said in the first"


async def _disclosure(trying: _Trying) -> tuple[str, str]:
    texts = (
        "Look at the clock first; after that, a tool for my Venmo balance appears. Look it up.",
        "Please look up my Venmo balance now.",
    )
    tried = await trying.hold(*texts, hides=True)
    if not tried.hello.sees_new_tools:
        when = REFRESHES[tried.hello.tool_refresh]
        return UNMEASURED, f"it lists tools {when}, so what is held back is listed but locked"
    if tried.problem:
        return FAILED, tried.problem
    found = tried.good("venmo.get_balance")
    if not tried.calls:
        return UNMEASURED, "it did not call the clock, after which the other tool appears"
    if not found:
        return FAILED, f"asked to use a tool that had just appeared, {_made(tried)}"
    return OK, f"it called the tool that had appeared, in turn {found[0].turn}"


async def _error(trying: _Trying) -> tuple[str, str]:
    text = "Call the clock's tool `wait` with -1 seconds, and tell me which error it gives."
    tried = await trying.hold(text)
    if tried.problem:
        return FAILED, f"an error of a tool ended its turn: {tried.problem}"
    if not any(call.is_error for call in tried.calls):
        return UNMEASURED, f"asked for a call that fails, {_made(tried)}"
    if not tried.said.strip():
        return FAILED, "a tool answered with an error, and it said nothing"
    return OK, "it went on after an error of a tool"


async def _cancel(trying: _Trying) -> tuple[str, str]:
    fault = parse({"hang": {"on": "clock.get_time", "real_seconds": 30}})
    text = "What time is it? Please look at the clock."
    tried = await trying.hold(text, faults=[fault], turn_seconds=SHORT)
    if tried.results[-1].status == "limit":
        return OK, "it ended its turn by itself before its deadline, while a call hung"
    if tried.results[-1].status != "late":
        return UNMEASURED, f"its turn ended before it could be cancelled: {_made(tried)}"
    if tried.hello.protocol == 1:
        return UNMEASURED, "version 1 of the contract has no cancellation; the process is ended"
    if not tried.stopped:
        return FAILED, "it was cancelled while a call hung, and did not answer within 5 s"
    return OK, "it stopped when it was told to, while a call hung"


async def _huge(trying: _Trying) -> tuple[str, str]:
    tried = await trying.hold("What time is it? Please look at the clock.", faults=[_Huge()])
    if not tried.good("clock.get_time"):
        return UNMEASURED, f"asked to look at the clock, whose reply is huge, {_made(tried)}"
    if tried.results[-1].status == "limit":
        return OK, f"a reply of {HUGE:,} characters is beyond a limit of its own, and it says so"
    if tried.problem:
        return FAILED, f"after a reply of {HUGE:,} characters: {tried.problem}"
    return OK, f"it went on after a reply of {HUGE:,} characters"


PROBES: dict[str, Callable[[_Trying], Awaitable[tuple[str, str]]]] = {
    "one call": _one_call,
    "two parallel calls": _parallel,
    "history": _history,
    "two turns": _two_turns,
    "disclosure": _disclosure,
    "a tool's error": _error,
    "cancellation": _cancel,
    "a huge reply": _huge,
}


def probe(
    agent: str, options: dict[str, Any], only: Sequence[str] = tuple(PROBES)
) -> tuple[list[Probed], list[str]]:
    """Return what the probes found, and lines on what will not be measured in runs.

    The handshake comes first, then those of `PROBES` that are named in `only`.
    Raises `InputError` if the agent is none in a process of its own, or cannot be started at all.
    """
    if not hasattr(resolve(agent), "folder") and agent != "process":
        raise InputError(f"agent {agent}: only agents in a process of their own can be tested so")
    try:
        return anyio.run(_probe, agent, options, only)
    except BaseExceptionGroup as group:
        raise leaf(group) from None


async def _probe(
    agent: str, options: dict[str, Any], only: Sequence[str]
) -> tuple[list[Probed], list[str]]:
    async with anyio.create_task_group() as around:
        host = Host(around)
        try:
            return await _all_of(_Trying(agent, options, host), only)
        finally:
            host.close()
    raise AssertionError("the group above ends with a result or an exception")


async def _all_of(trying: _Trying, only: Sequence[str]) -> tuple[list[Probed], list[str]]:
    met, hello = await _handshake(trying)
    if hello is None:
        return [met, *(Probed(name, UNMEASURED, "it did not start") for name in only)], []
    found: dict[str, Probed] = {}
    places = anyio.CapacityLimiter(AT_ONCE)

    async def one(name: str) -> None:
        async with places:
            found[name] = await _found(name, trying)

    async with anyio.create_task_group() as probes:
        for name in only:
            probes.start_soon(one, name)
    return [met, *(found[name] for name in only)], unmeasured(hello)


async def _handshake(trying: _Trying) -> tuple[Probed, Hello | None]:
    try:
        tried = await trying.hold()
    except ProviderOutage as outage:
        if outage.lasting and "cannot be started" in str(outage):
            raise InputError(str(outage)) from None
        return Probed("handshake", FAILED, str(outage)), None
    except AgentError as wrong:
        return Probed("handshake", FAILED, str(wrong)), None
    hello = tried.hello
    name = " ".join(hello.identity.get(part, "") for part in ("name", "version")).strip()
    told = f"{name or 'it gives no name'}; version {hello.protocol} of the contract"
    refreshes = f"lists tools {REFRESHES[hello.tool_refresh]}"
    return Probed("handshake", OK, f"{told}, history as {hello.history}, {refreshes}"), hello


async def _found(name: str, trying: _Trying) -> Probed:
    try:
        result, why = await PROBES[name](trying)
    except (AgentError, ProviderOutage) as wrong:
        result = FAILED
        why = str(wrong)
    return Probed(name, result, " ".join(why.split()))


def unmeasured(hello: Hello) -> list[str]:
    """Return what runs will not measure, or will measure less well, with this agent."""
    lines = []
    if hello.steps is not True:
        lines.append(
            "Steps: it does not say that it numbers them (`steps: true`, header x-agent-step), so "
            "the order of parallel calls is inferred from their arrival."
        )
    if not hello.sees_new_tools:
        lines.append("Disclosure: services that are held back are listed, and locked at first.")
    if not hello.remembers:
        lines.append("Memory: --deliver sessions is refused, because it says no `remembers: true`.")
    if hello.instructions == "message":
        lines.append("Instructions: it takes them only with the user's first message.")
    if hello.protocol == 1:
        lines.append("Version 1: no cancellation, no texts of its steps, no name of its model.")
    elif hello.options is None:
        lines.append("Options: it does not name those it takes, so none is refused.")
    return lines


def _made(tried: _Tried) -> str:
    """Return which calls were made, for a sentence that goes on with it."""
    if not tried.calls:
        return "it made no call"
    return f"it called {', '.join(call.name for call in tried.calls[:4])}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= 80 else f"{text[:79]}…")
