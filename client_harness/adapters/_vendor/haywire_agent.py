"""Puts an agent behind Haywire's process contract: a copy of this file is all that it needs.

A subclass of `Agent` says what the agent is and has `start` and `turn`; `serve` speaks the rest:
JSON-RPC on stdin and stdout, step numbers, waiting, errors, deadlines and cancellation. It needs
Python 3.10 and nothing else.

    from haywire_agent import Agent, Session, serve

    class Mine(Agent):
        name = "mine"
        history = "text"

        async def start(self, session: Session) -> None:
            self.tools = await connect(session.servers, hook=self.steps.number)

        async def turn(self, text: str) -> str:
            return await run(text, self.tools)

    serve(Mine())
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TextIO

PROTOCOLS = (1, 2)
"""The versions of the contract that this file speaks."""
HEADER = "x-agent-step"
"""The header of MCP requests that holds the number of the agent's step."""
BUSY = (429, 503, 529)
"""The HTTP statuses with which a provider says that it is busy."""
TOO_LONG = (
    "context_length_exceeded",
    "maximum context length",
    "exceeds the maximum number of tokens",
)
"""How providers say that a request is too long for a model."""


class Failure(Exception):
    """What ends a turn; the message says why. It is the agent's own error.

    A `lasting` one will not pass by itself, such as a key that is missing.
    """

    kind = "agent"

    def __init__(self, detail: str, *, lasting: bool = False) -> None:
        super().__init__(detail)
        self.lasting = lasting


class Outage(Failure):
    """The agent's model cannot be reached, so the trial says nothing about the agent."""

    kind = "outage"


class Limit(Failure):
    """The agent reached a limit of its own, and the trial is judged as it then is."""

    kind = "limit"


@dataclass(frozen=True)
class Server:
    """An MCP server (streamable HTTP) of one service. All its requests need `headers`."""

    name: str
    url: str
    headers: dict[str, str]


@dataclass(frozen=True)
class Session:
    """What a conversation begins with.

    `history` has the form that the agent asked for; `now` is the simulated moment. `instructions`
    is what the run tells the agent, or None if that is nothing; if the agent declares
    `instructions = "message"`, they come with the user's first message instead. `trial` names the
    trial and tells nothing about it, and `deadline` is how many seconds a turn may take, or None.
    `terms` come only to an agent that says that it keeps to them.
    """

    servers: list[Server]
    history: Any
    now: str
    instructions: str | None = None
    trial: str = ""
    deadline: float | None = None
    terms: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Past:
    """One past session, the `number`th `of` all, with its messages in the agent's form."""

    number: int
    of: int
    at: str
    messages: Any
    trial: str = ""


@dataclass(frozen=True)
class Said:
    """A part of a native history: a text of the `user` or the `assistant`."""

    role: str
    text: str


@dataclass(frozen=True)
class Called:
    """A part of a native history: the assistant's calls of one step, with their replies."""

    calls: list[PastCall]


@dataclass(frozen=True)
class PastCall:
    """A call of the past. `name` is `service__tool`, `id` is unique in its history."""

    id: str
    name: str
    args: dict[str, Any]
    reply: Any
    is_error: bool

    @property
    def text(self) -> str:
        """The reply as a text."""
        return self.reply if isinstance(self.reply, str) else json.dumps(self.reply)


@dataclass(frozen=True)
class Settings:
    """What the run sets, read from the environment; None is what it leaves to the agent."""

    model: str | None = None
    api_base: str | None = None
    max_steps: int = 30
    max_seconds: float = 300.0
    max_tokens: int = 1_000_000
    temperature: float | None = None
    refresh: str | None = None

    @classmethod
    def read(cls) -> Settings:
        """Return the settings in `HAYWIRE_MODEL` and so on."""
        numbers = {"max_steps": int, "max_seconds": float, "max_tokens": int, "temperature": float}
        given: dict[str, Any] = {}
        for name in cls.__dataclass_fields__:
            written = os.environ.get(f"HAYWIRE_{name.upper()}")
            if written:
                given[name] = numbers.get(name, str)(written)
        return cls(**given)


class Steps:
    """Numbers the agent's steps: calls of one step were made before any of their replies was read.

    `begin` each step, and let the HTTP client of the MCP servers call `number` or `number_now` (an
    event hook for requests in httpx) before each request, or send `headers` yourself.
    """

    def __init__(self, tell: Callable[[str, dict[str, Any]], None]) -> None:
        self.current = 0
        self._tell = tell

    def begin(self, text: str = "") -> None:
        """Begin the next step; `text` is what the agent said before it acts, if anything."""
        self.at(self.current + 1, text)

    def at(self, number: int, text: str = "") -> None:
        """Say which step this is, for a framework that counts by itself from 1 in each turn."""
        self.current = number
        if text.strip():
            self._tell("step", {"step": number, "text": text})

    @property
    def headers(self) -> dict[str, str]:
        """The header to send now."""
        return {HEADER: str(self.current)} if self.current else {}

    def number_now(self, request: Any) -> None:
        """Put the step's number on a request that has `headers`."""
        request.headers.update(self.headers)

    async def number(self, request: Any) -> None:
        """Do as `number_now`, for clients that await their hooks."""
        self.number_now(request)


class Waits:
    """Tells how long the agent waits for a provider that is busy; that does not count as its time.

    `hooks` are event hooks for an httpx client of the model, `hooks_now` for one that is plain.
    """

    def __init__(self, tell: Callable[[float], None]) -> None:
        self._tell = tell
        self._since: float | None = None
        self.hooks_now = {"request": [self.asks], "response": [self.hears]}
        self.hooks = {"request": [self._asks], "response": [self._hears]}

    def refused(self) -> None:
        """Say that the provider has just refused a request."""
        self._since = time.monotonic()

    def asks(self, request: Any = None) -> None:
        """Say that a request begins: until now, the agent has waited if the last was refused."""
        if self._since is not None:
            self._tell(time.monotonic() - self._since)
            self._since = None

    def hears(self, response: Any) -> None:
        """Say that a response has come, which may be a refusal."""
        if response.status_code in BUSY:
            self.refused()

    async def _asks(self, request: Any) -> None:
        self.asks()

    async def _hears(self, response: Any) -> None:
        self.hears(response)


class Agent:
    """An agent. A subclass has `start` and `turn`, each either a coroutine or a plain method.

    Plain methods run in a thread. What a subclass leaves as None is not declared, because the
    `adapter.yaml` says it, or the default of the contract is right.
    """

    name = "agent"
    version = ""
    history: str | None = None
    """The form in which the agent wants earlier sessions: messages, native or text."""
    tool_refresh: str | None = None
    """When the agent lists tools again: call, notify, turn, process or never."""
    instructions: str | None = None
    """Whether it can replace its prompt by the run's, append them to it, or only pass a message."""
    steps_are_numbered: bool | None = None
    """Whether it numbers its steps."""
    remembers: bool | None = None
    """Whether it takes past sessions one by one (a `Past` each, see `remember`)."""
    terms: bool | None = None
    """Whether it keeps to the terms of a run, such as a single request to its model."""
    options: tuple[str, ...] | None = None
    """The settings that it takes; others are refused."""

    settings: Settings
    steps: Steps
    waits: Waits
    stack: contextlib.AsyncExitStack
    """What is entered here in `start` or in a turn is left when the conversation is over."""
    backoff: Callable[[float], None]
    """Tells that the agent waits that many seconds for its provider, which do not count."""

    def start(self, session: Session) -> Any:
        """Begin a conversation."""
        raise NotImplementedError

    def turn(self, text: str) -> Any:
        """Answer a message of the user: return the text, or raise a `Failure`."""
        raise NotImplementedError

    def remember(self, past: Past) -> Any:
        """Take a past session, and keep what may be needed later.

        By itself, an agent keeps all of it, for the `history` with which the conversation begins.
        """
        if past.number == 1:
            self._kept.clear()
        self._kept.append({"at": past.at, "messages": past.messages})

    def used(self, model: str | None = None, **amounts: float | None) -> None:
        """Count what the turn uses: prompt_tokens, completion_tokens, cost and others by name."""
        if model:
            self._usage["model"] = model
        for name, amount in amounts.items():
            if amount:
                self._usage[name] = self._usage.get(name, 0) + amount
                self._spent += amount if name in ("prompt_tokens", "completion_tokens") else 0

    @property
    def left(self) -> int:
        """How many tokens the conversation may still use; less than 0 if it used too many."""
        return int(self.settings.max_tokens - self._spent)

    def check_limits(self) -> None:
        """Raise a `Limit` if it may not ask its model again. Each answer has to begin a step."""
        if self.steps.current >= self.settings.max_steps:
            raise Limit(f"it made {self.settings.max_steps} requests to its model")
        if self.left <= 0:
            raise Limit(f"it used {self.settings.max_tokens} tokens")

    _usage: dict[str, Any]
    _kept: list[dict[str, Any]]
    _spent: float


def opening(at: str) -> str:
    """Return the line that opens a session in a history."""
    return f"[Conversation of {at}]"


def parts_of(sessions: list[dict[str, Any]], first: int = 1) -> Iterator[Said | Called]:
    """Yield a native history, a text or a step at a time, with a dated line before each session.

    The beginning of the present conversation has none, if there is no past to tell it from.
    `first` is the number of the first session, if they come one by one.
    """
    for number, session in enumerate(sessions, first):
        alone = session.get("goes_on") and len(sessions) == 1
        header = "" if alone else opening(session["at"])
        for place, message in enumerate(session["messages"]):
            if header and message["role"] != "user":
                yield Said("user", header)
                header = ""
            if "calls" not in message:
                text = f"{header}\n{message['text']}" if header else message["text"]
                yield Said(message["role"], text)
                header = ""
                continue
            calls = []
            for index, call in enumerate(message["calls"]):
                key = f"past_{number}_{place}_{index}"
                name = f"{call['server']}__{call['tool']}"
                calls.append(PastCall(key, name, call["args"], call["reply"], call["is_error"]))
            yield Called(calls)


def explained(problem: BaseException) -> str:
    """Return an exception in one line; of a group, its first leaf."""
    while inner := getattr(problem, "exceptions", None):
        problem = inner[0]
    if isinstance(problem, Failure):
        return str(problem)
    return f"{type(problem).__name__}: {problem}"


def unanswered(problem: BaseException) -> Failure:
    """Return what it means that a provider did not answer, for an adapter to raise.

    A context that is too long is a limit, anything else an outage. It is lasting if the error's
    HTTP status says that asking again will not help.
    """
    line = explained(problem)
    if any(words in line for words in TOO_LONG):
        return Limit(line)
    status = getattr(problem, "status_code", None) or getattr(problem, "code", None)
    refused = isinstance(status, int) and 400 <= status < 500 and status not in (408, 409, 429)
    return Outage(line, lasting=refused or "insufficient_quota" in line)


def serve(agent: Agent) -> None:
    """Answer requests until stdin closes or a `close` request arrives.

    Whatever else is printed, by whom ever, goes to stderr, so that it is no answer.
    """
    sys.stdout.flush()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    status = 1
    try:
        asyncio.run(_Service(agent, answers).run())
        status = 0
    except BaseException:
        # A broken connection in `stack` ends the agent's task, and the loop with it.
        traceback.print_exc()
    # A thread that waits for something, such as one that was given up, must not keep the process.
    answers.flush()
    sys.stderr.flush()
    os._exit(status)


@dataclass
class _Service:
    """The loop: one task works on one request after another, a thread reads them."""

    agent: Agent
    out: TextIO
    protocol: int = 1
    opening: str = ""
    working_on: Any = None
    given_up: Failure | None = None
    deadline: float | None = None
    waited: float = 0.0
    task: Any = None
    lock: Any = field(default_factory=threading.Lock)
    requests: Any = field(default_factory=asyncio.Queue)

    async def run(self) -> None:
        agent = self.agent
        agent.steps = Steps(self.tell)
        agent.backoff = self._back_off
        agent.waits = Waits(self._back_off)
        agent._usage = {}
        agent._kept = []
        agent._spent = 0
        loop = asyncio.get_running_loop()
        self.requests = asyncio.Queue()
        self.task = asyncio.current_task()
        threading.Thread(target=self._read, args=(loop,), daemon=True).start()
        async with contextlib.AsyncExitStack() as stack:
            agent.stack = stack
            while (request := await self.requests.get()) is not None:
                answer = await self._answer(request)
                self._write({"jsonrpc": "2.0", "id": request.get("id"), **answer})
                if request["method"] == "close":
                    return

    def tell(self, method: str, params: dict[str, Any], since: int = 2) -> None:
        """Send a notification, unless the contract in use does not know it."""
        if self.protocol >= since:
            self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def _back_off(self, seconds: float) -> None:
        self.tell("backoff", {"seconds": seconds}, 1)
        self.waited += seconds

    def _write(self, message: dict[str, Any]) -> None:
        with self.lock:
            self.out.write(json.dumps(message, default=str) + "\n")
            self.out.flush()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            for line in sys.stdin.buffer:
                request = json.loads(line)
                if request["method"] == "cancel":
                    wrong = Failure("the turn was cancelled")
                    number = (request.get("params") or {}).get("id")
                    loop.call_soon_threadsafe(self._give_up, number, wrong)
                elif "id" in request:
                    loop.call_soon_threadsafe(self.requests.put_nowait, request)
        finally:
            loop.call_soon_threadsafe(self.requests.put_nowait, None)

    def _give_up(self, number: Any, why: Failure) -> None:
        if self.working_on == number and self.given_up is None:
            self.given_up = why
            self.task.cancel()

    async def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        params = request.get("params") or {}
        if request["method"] == "close":
            return {"result": {}}
        handler = {
            "initialize": self._initialize,
            "history/session": self._remember,
            "session/start": self._start,
            "turn": self._turn,
        }.get(request["method"])
        if handler is None:
            text = f"there is no method {request['method']!r}"
            return {"error": {"code": -32601, "message": text}}
        try:
            return {"result": await handler(request.get("id"), params)}
        except Exception as wrong:
            return {"error": {"code": -32000, "message": explained(wrong)}}

    async def _initialize(self, _: Any, params: dict[str, Any]) -> dict[str, Any]:
        self.protocol = min(params.get("protocol", 1), PROTOCOLS[-1])
        agent = self.agent
        agent.settings = Settings.read()
        declared: dict[str, Any] = {"agent": agent.name, "version": agent.version}
        for name in ("history", "tool_refresh", "remembers", "terms"):
            declared[name] = getattr(agent, name)
        if self.protocol >= 2:
            declared |= {"protocol": self.protocol, "instructions": agent.instructions}
            declared |= {"steps": agent.steps_are_numbered, "options": agent.options}
        return {name: value for name, value in declared.items() if value is not None}

    async def _remember(self, number: Any, params: dict[str, Any]) -> dict[str, Any]:
        fields = Past.__dataclass_fields__
        past = Past(**{name: params[name] for name in fields if name in params})
        return await self._guarded(number, self.agent.remember, past)

    async def _start(self, number: Any, params: dict[str, Any]) -> dict[str, Any]:
        servers = []
        for server in params["mcp_servers"]:
            servers.append(Server(server["name"], server["url"], server.get("headers") or {}))
        history = params["history"] or self.agent._kept
        last = history[-1] if history and isinstance(history, list) else {}
        if history and not last.get("goes_on"):
            self.opening = f"{opening(params['now'])}\n"
        names = ("instructions", "trial", "deadline", "terms")
        more = {name: params[name] for name in names if params.get(name)}
        session = Session(servers, history, params["now"], **more)
        answer = await self._guarded(number, self.agent.start, session)
        if answer.get("status") in ("error", "limit"):
            raise Failure(answer["detail"])  # version 1 has no other way to say it here
        return answer

    async def _turn(self, number: Any, params: dict[str, Any]) -> dict[str, Any]:
        text = self.opening + params["text"]
        self.opening = ""
        self.agent.steps.current = 0
        self.deadline = params.get("deadline")
        return await self._guarded(number, self.agent.turn, text)

    async def _guarded(self, number: Any, act: Callable[[Any], Any], given: Any) -> dict[str, Any]:
        """Return the result of what the agent does, whatever becomes of it."""
        self.agent._usage = {}
        failure: Failure | None = None
        text = ""
        try:
            text = str(await self._limited(number, act, given) or "")
        except Failure as wrong:
            failure = wrong
        except Exception as wrong:
            failure = Failure(explained(wrong))
        answer: dict[str, Any] = {"text": text, "usage": dict(self.agent._usage)}
        if self.protocol >= 2:
            if failure is not None:
                error: dict[str, Any] = {"kind": failure.kind, "detail": str(failure)}
                answer["error"] = {**error, "lasting": True} if failure.lasting else error
            return answer
        answer["status"] = "done"
        if failure is not None:
            answer["status"] = "error" if failure.kind == "agent" else failure.kind
            answer["detail"] = str(failure)
        return answer

    async def _limited(self, number: Any, act: Callable[[Any], Any], given: Any) -> Any:
        """Return what the agent returns, unless it is cancelled or takes too long."""
        seconds = self.agent.settings.max_seconds
        if self.deadline is not None:
            # A limit of its own is no error, but a deadline that it misses is.
            seconds = min(seconds, 0.95 * self.deadline)
        late = Limit(f"it took more than {seconds:g} s")
        self.waited = 0.0
        self.working_on = number
        watch = asyncio.create_task(self._watch(number, seconds, late))
        try:
            if inspect.iscoroutinefunction(act):
                return await act(given)
            return await _in_thread(act, given)
        except BaseException:
            # Frameworks turn a cancellation into exceptions of their own.
            if self.given_up is None:
                raise
            if hasattr(self.task, "uncancel"):
                self.task.uncancel()
            raise self.given_up from None
        finally:
            watch.cancel()
            self.working_on = None
            self.given_up = None

    async def _watch(self, number: Any, seconds: float, late: Failure) -> None:
        """Give up a request after some seconds, those not counted in which it waited."""
        slept = 0.0
        while slept < seconds + self.waited:
            tick = min(0.25, seconds + self.waited - slept)
            await asyncio.sleep(tick)
            slept += tick
        self._give_up(number, late)


async def _in_thread(act: Callable[[Any], Any], given: Any) -> Any:
    """Return what a plain method returns. Its thread is given up with whoever waits for it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, problem: BaseException | None) -> None:
        if done.done():
            return
        if problem is None:
            done.set_result(result)
        else:
            done.set_exception(problem)

    def work() -> None:
        result = None
        problem: BaseException | None = None
        try:
            result = act(given)
        except Exception as wrong:
            problem = wrong
        loop.call_soon_threadsafe(settle, result, problem)

    threading.Thread(target=work, daemon=True).start()
    return await done
