"""A session runs calls: it ticks lifecycles, sends each call through its layers, and records it.

It is the one place where clock, world, layers, evidence and trace meet. It knows no scenario and no
fault kind.
"""

from __future__ import annotations

import contextlib
import json
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Literal, Protocol

import anyio

from servers.kit import events
from servers.kit.agenda import agenda
from servers.kit.aside import Aside
from servers.kit.briefing import Briefing
from servers.kit.call import Call, Journal, Layer, Next, Reply, chain
from servers.kit.control import Control, make_id
from servers.kit.errors import InputError, ServiceError, cut, did_you_mean, quoted, sentence
from servers.kit.evidence import Obligations, Watch
from servers.kit.plain import is_plain, made_plain
from servers.kit.service import Ids, Service, ToolSpec, categories_of, narrowed, service
from servers.kit.store import AGENT, Change, World
from servers.kit.types import Json
from servers.kit.values import iso

ALL = "all"
"""In a URL, in place of a service's name: all services of the episode on one server."""

SEPARATOR = "__"
"""Separates service and tool in the tool names of a server with several services."""

HOLD = 0.5
"""How many seconds a reply after which a service appears is held, so that lists are renewed."""

Exposure = Literal["all", "search"]
"""What a session lists: all its tools, or a search for them."""


class FaultLike(Protocol):
    """What a session needs of a fault, which it otherwise treats as opaque."""

    @property
    def name(self) -> str:
        """Its name in the episode."""
        ...

    def handles(self, cls: type[Service], spec: ToolSpec) -> bool:
        """Return whether the fault is in the chain of this tool."""
        ...

    def layer(self, session: Session) -> Layer:
        """Return the layer for a session."""
        ...

    def listen(self, session: Session) -> None:
        """Subscribe to the session's attempts, if the fault waits for any."""
        ...

    def publish(self, session: Session, cls: type[Service], spec: ToolSpec, schema: Json) -> Json:
        """Return the schema to publish for a tool."""
        ...


class Session:
    """The calls of one episode over one world and one control record.

    `services` are names. `tools` restricts some services to the tools that match patterns. `faults`
    are in order, outermost first. `watches` are future obligations. A `hidden` service answers as
    if it did not exist or, with `locked`, that it is not available yet. `on_attempt` is called with
    each recorded attempt, `on_time` with the moment before each call. `briefing` is what servers
    tell clients beside the tools, and `aside` a server beside the services. `hint`, if there is
    one, says what to add to the description of a service's tool. `bugs` collects exceptions of
    ours. `hanging` is the number of requests that a fault keeps waiting at this moment.
    """

    def __init__(
        self,
        services: Sequence[str],
        world: World,
        control: Control,
        *,
        faults: Sequence[FaultLike] = (),
        watches: Sequence[Watch] = (),
        hidden: Sequence[str] = (),
        tools: Mapping[str, Sequence[str]] | None = None,
        locked: bool = False,
        call_limit: int | None = None,
        expose: Exposure = "all",
    ) -> None:
        self.world = world
        self.control = control
        self.faults = tuple(faults)
        self.classes = {name: service(name) for name in services}
        for name, patterns in (tools or {}).items():
            self.classes[name] = narrowed(self.classes[name], patterns)
        self.agenda = agenda(frozenset(world.tables), categories_of(self.classes))
        self.hidden = set(hidden)
        self.locked = locked
        self.call_limit = call_limit
        self.expose: Exposure = expose
        self.briefing: Briefing | None = None
        self.hint: Callable[[str, ToolSpec], str] | None = None
        self.aside: Aside | None = None
        self._calls = 0
        self.held_back = frozenset(hidden)
        self.evidence = Obligations(tuple(watches))
        self.turn = 0
        self.step = None
        self.bugs: list[str] = []
        self.hanging = 0
        self.on_attempt: list[Callable[[events.Attempt], None]] = []
        self.on_time: list[Callable[[int], None]] = []
        self._lock = anyio.Lock(fast_acquire=True)
        self._chains: dict[tuple[str, str], tuple[Next, frozenset[str]]] = {}
        self.out = control.next_seq() - 1
        self.hold = HOLD if self.hidden else 0.0
        for fault in self.faults:
            fault.listen(self)

    @contextlib.contextmanager
    def as_usual(self) -> Generator[None]:
        """Do without faults, and with all tools of each service, in what happens meanwhile."""
        faults = self.faults
        classes = self.classes
        self.faults = ()
        self.classes = {name: service(name) for name in classes}
        self._chains.clear()
        try:
            yield
        finally:
            self.faults = faults
            self.classes = classes
            self._chains.clear()

    # -- services and tools ----------------------------------------------------------------------
    def listed(self) -> list[str]:
        """Return the services whose tools are listed now."""
        if self.locked:
            return list(self.classes)
        return [name for name in self.classes if name not in self.hidden]

    def servers(self) -> list[str]:
        """Return the names of all servers: one for each service, and the one beside them."""
        return [*self.classes, *([self.aside.name] if self.aside is not None else [])]

    @contextlib.contextmanager
    def hung(self) -> Generator[None]:
        """Count a request as hanging."""
        self.hanging += 1
        try:
            yield
        finally:
            self.hanging -= 1

    def hold_replies(self) -> None:
        """Hold replies after which a service appears, for a client that waits for notifications."""
        self.hold = HOLD if self.hidden else 0.0

    def disclose(self, name: str) -> None:
        """Make a held-back service available."""
        self.hidden.discard(name)
        self.notice("disclosed", service=name)

    def schema(self, service_name: str, tool: str) -> Json:
        """Return the schema that a tool publishes now, which a fault may have changed."""
        cls = self.classes[service_name]
        spec = cls.tools[tool]
        schema = spec.schema
        for fault in self.faults:
            if fault.handles(cls, spec):
                schema = fault.publish(self, cls, spec, schema)
        return schema

    def forget_calls(self) -> None:
        """Let the limit of calls begin anew."""
        self._calls = 0

    def description(self, service_name: str, spec: ToolSpec) -> str:
        """Return the description that a tool publishes now, with a hint if there are any."""
        if self.hint is None:
            return spec.description
        return f"{spec.description}\n\n{self.hint(service_name, spec)}"

    # -- events other than calls -----------------------------------------------------------------
    def message(self, role: Any, text: str, about: str | None = None) -> events.Message:
        """Record a text between user and agent."""
        seq = self.control.next_seq()
        message = events.Message(seq, self.turn, role, text, iso(self.control.now), about)
        self._record(message)
        return message

    def notice(self, what: str, **detail: Any) -> None:
        """Record something that the episode did by itself."""
        seq = self.control.next_seq()
        self._record(events.Notice(seq, self.turn, iso(self.control.now), what, detail))

    def record_end(
        self,
        status: str,
        *,
        changes: list[Change],
        faults: dict[str, Json] | None = None,
        reason: str | None = None,
    ) -> None:
        """Record the end of the episode; see `events.End`."""
        self._record(self.ending(status, changes, faults or {}, reason))

    def ending(
        self, status: str, changes: list[Change], faults: dict[str, Json], reason: str | None = None
    ) -> events.End:
        """Return the event with which the trace would end now."""
        seq = self.control.next_seq()
        return events.End(seq, self.turn, iso(self.control.now), status, faults, changes, reason)

    def trace(self) -> list[events.Event]:
        """Return the events so far."""
        return [events.from_json(line) for line in self.control.trace()]

    def _record(self, event: events.Event) -> None:
        self.control.record(event.seq, events.to_json(event))
        self.out = event.seq

    # -- calls -----------------------------------------------------------------------------------
    async def call(
        self,
        service_name: str,
        tool: str,
        args: Any,
        *,
        step: int | None = None,
        arrived: int | None = None,
        refused: ServiceError | None = None,
    ) -> Reply:
        """Run one call and return what the agent sees.

        `step` is the agent's step, if known. `arrived` is the last event whose reply was out when
        the call came in. `refused` is the answer to what is no call of a service; it is recorded.
        While the services are closed, calls are refused and leave no trace. Nothing that an agent
        can send makes this raise.
        """
        arrived = self.out if arrived is None else arrived
        service_name, tool, args = _encodable([service_name, tool, args])
        async with self._lock:
            closed = self._closed()
            if closed is not None:
                return Reply(closed.as_json(), True)
            step = self.step if step is None else step
            if not self.control.shared:
                return await self._call(service_name, tool, args, step, arrived, refused)
            with self.control.order():
                return await self._call(service_name, tool, args, step, arrived, refused)

    async def looked(self, query: str, tools: Sequence[str]) -> None:
        """Record that the agent looked for tools, and which ones it was shown."""
        (query,) = _encodable([query])
        async with self._lock:
            if self._closed() is not None:
                return
            with self.control.order() if self.control.shared else contextlib.nullcontext():
                self.notice("looked_for_tools", query=query, tools=list(tools))

    def _closed(self) -> ServiceError | None:
        return self.aside.closed() if self.aside is not None else None

    def between_calls(self) -> anyio.Lock:
        """Return what to hold (`async with`) to do something while no call is in progress."""
        return self._lock

    async def _call(
        self,
        service_name: str,
        tool: str,
        args: Any,
        step: int | None,
        arrived: int,
        refused: ServiceError | None,
    ) -> Reply:
        cls = self.classes.get(service_name)
        spec = cls.tools.get(tool) if cls is not None else None
        self._calls += 1
        refusal = self._refusal(service_name, tool, args, cls, spec)
        if refused is not None:
            refusal = Reply(refused.as_json(), True)
        at = self.control.advance(spec.cost if spec is not None else 1)
        attempt = events.Attempt(
            seq=0,
            turn=self.turn,
            step=step,
            arrived=arrived,
            at=iso(at),
            until="",
            service=service_name,
            tool=tool,
            effect=spec.effect if spec is not None else "read",
            args=args if isinstance(args, dict) else {"_": args},
            seen=None,
            is_error=False,
        )
        if refusal is None and cls is not None and spec is not None:
            reply = await self._attempt(cls, spec, attempt, at)
        else:
            reply = refusal or Reply(None)
        attempt.seq = self.control.next_seq()
        attempt.until = iso(self.control.now)
        attempt.seen = reply.data
        attempt.is_error = reply.is_error
        self._record(attempt)
        for hear in self.on_attempt:
            hear(attempt)
        return reply

    async def _attempt(
        self, cls: type[Service], spec: ToolSpec, attempt: events.Attempt, now: int
    ) -> Reply:
        self._tick(now)
        journal = Journal(firings=attempt.firings)
        call = Call(cls.name, spec.name, attempt.args, spec, self.world, now, journal)
        run, present = self._chain(cls, spec)
        opening = self.evidence.before(call, present)
        may_write = spec.effect == "write" or bool(present)
        mark = self.world.last_change() if may_write else 0
        try:
            reply = await run(call)
            attempt.seen = reply.data
            attempt.is_error = reply.is_error
            attempt.truth = journal.truth.data if journal.truth is not None else None
            attempt.effects = self.world.log(mark) if may_write else []
            if self.evidence.watches:
                changed = any(e["cause"] == AGENT for e in attempt.effects)
                await self.evidence.after(call, attempt, opening, changed, run, self.perform)
        except Exception as crash:
            # A bug of ours must be loud in the trace and must never be scored.
            self.world.rollback()
            attempt.bug = f"{type(crash).__name__}: {crash}"
            told = f"{call.name}: {attempt.bug}"
            # A mistake in a file needs no traceback: its line says where it is.
            by_hand = isinstance(crash, InputError)
            self.bugs.append(told if by_hand else f"{told}\n{traceback.format_exc()}")
            reply = Reply(ServiceError(cls.codes.internal, "Internal error.").as_json(), True)
        if journal.extra_time:
            self.control.advance(journal.extra_time)
        return reply

    def _refusal(
        self,
        service_name: str,
        tool: str,
        args: Any,
        cls: type[Service] | None,
        spec: ToolSpec | None,
    ) -> Reply | None:
        if cls is None or (service_name in self.hidden and not self.locked):
            near = did_you_mean(service_name, [n for n in self.classes if n not in self.hidden])
            message = sentence(f"There is no service {quoted(service_name)}{near}")
            hint = "Use the full name of the tool as listed, which begins with its service."
            hint = hint if not service_name else ""
            wrong = ServiceError("UNKNOWN_SERVICE", message, hint)
        elif self.call_limit is not None and self._calls > self.call_limit:
            message = f"The limit of {self.call_limit} calls has been reached."
            wrong = ServiceError("CALL_LIMIT_REACHED", message, "Answer the user now.")
        elif service_name in self.hidden:
            message = f"{cls.title} is not available yet."
            hint = "Use the services that are available first."
            wrong = ServiceError("NOT_AVAILABLE_YET", message, hint, retryable=True)
        elif spec is None:
            near = did_you_mean(tool, cls.tools)
            message = sentence(f"{cls.title} has no tool {quoted(tool)}{near}")
            wrong = ServiceError("UNKNOWN_TOOL", message, "List the tools again.")
        elif not isinstance(args, dict):
            message = "Arguments must be a JSON object."
            hint = "Send one JSON object that maps argument names to values."
            wrong = ServiceError(cls.codes.invalid, message, hint)
        else:
            return None
        return Reply(wrong.as_json(), True)

    def _chain(self, cls: type[Service], spec: ToolSpec) -> tuple[Next, frozenset[str]]:
        key = (cls.name, spec.name)
        if key not in self._chains:
            faults = [fault for fault in self.faults if fault.handles(cls, spec)]
            run = chain([fault.layer(self) for fault in faults], self.perform)
            self._chains[key] = (run, frozenset(fault.name for fault in faults))
        return self._chains[key]

    async def perform(self, call: Call) -> Reply:
        """Run a call on its world without layers, as one transaction.

        The arguments are validated, then the service's method runs.
        """
        cls = self.classes[call.service]
        world = call.world
        spec = call.spec
        journal = call.journal
        ids = Ids(self.control.new_id, self._peek, journal.ids, replay=call.shadow)
        instance = cls(world, call.now, ids)
        world.stamp(call.now, AGENT)
        world.read_only = spec.effect == "read"
        try:
            reply = Reply(spec.run(instance, **spec.arguments(call.args, cls.codes)))
            world.commit()
        except ServiceError as refusal:
            world.rollback()
            reply = Reply(refusal.repeating_little_of(call.args).as_json(), True)
        except BaseException:
            world.rollback()
            raise
        finally:
            world.read_only = False
        if not call.shadow:
            if instance.elapsed:
                journal.extra_time += instance.elapsed
            if not call.scratch:
                journal.truth = reply
        return reply

    async def peek(self, call: Call) -> Reply:
        """Return the honest answer of the service, without effects and without spending ids."""
        world = call.world.scratch() if call.effect == "write" else call.world
        return await self.perform(call.shadowed(world, Journal()))

    def _peek(self, prefix: str, ahead: int) -> str:
        # This must never be an id that the true world will spend later. A retry is replayed in the
        # other world, next to rows that were made there with ids from here.
        number = self.control.count("other:" + prefix)
        return make_id(prefix, self.control.seed, "other", number, ahead)

    # -- time ------------------------------------------------------------------------------------
    def pass_time(self, seconds: int) -> None:
        """Let simulated time pass between calls (a user's pause)."""
        self._tick(self.control.advance(seconds))

    def _tick(self, now: int) -> None:
        """Let everything happen that is due by now, in the true world and in the other ones."""
        while (moment := self._next_due()) is not None and moment <= now:
            for hear in self.on_time:
                hear(moment)
            for world in self._worlds():
                while self.agenda.next(world) == moment:
                    self.agenda.step(world, moment)
        for hear in self.on_time:
            hear(now)

    def _next_due(self) -> int | None:
        anew = self.control.shared
        first = None
        for world in self._worlds():
            moment = self.agenda.next(world, anew=anew)
            if moment is not None and (first is None or moment < first):
                first = moment
        return first

    def _worlds(self) -> list[World]:
        return [self.world, *self.evidence.others()]


def split(name: str) -> tuple[str, str]:
    """Return the service and tool of a prefixed name; the service of an unprefixed name is ''."""
    service_name, separator, tool = name.partition(SEPARATOR)
    return (service_name, tool) if separator else ("", name)


def as_text(reply: Reply) -> str:
    """Return a reply as the compact JSON text that goes over the wire."""
    return events.encode(reply.data)


def _encodable(value: Any) -> Any:
    """Return a JSON value that can be stored and sent.

    A lone surrogate becomes a question mark, and a number that JSON or a row cannot hold becomes
    what `made_plain` makes of it. What is nested too deeply to follow is no arguments at all.
    """
    try:
        value = value if is_plain(value) else made_plain(value)
        text = events.encode(value)
    except RecursionError:
        return [cut(part) if isinstance(part, str) else "nested too deeply" for part in value]
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.loads(text.encode(errors="replace"))
    return value
