"""An episode: one agent on one world in one scenario.

It owns the session, stages disclosure, plays the user and closes the trace.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from client_harness.agents._script import ScriptAgent
from client_harness.contract import Agent, Assignment, CanRemember, TurnResult
from client_harness.tools import Straight, Tools
from fault_profiles.decide import waits
from fault_profiles.model import CallShape, Fault, ordered
from fault_profiles.schedule import Moment
from fault_profiles.state import State, scope_of
from judge.change import Expected
from judge.finding import FaultFacts
from judge.trace import Record
from scenarios.haystack import history
from scenarios.model import Scenario
from scenarios.setup import beginning
from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.errors import InputError
from servers.kit.events import Attempt, End, Event, Message, end_of
from servers.kit.evidence import Watch
from servers.kit.session import Exposure, Session
from servers.kit.store import World
from servers.kit.values import parse_time

if TYPE_CHECKING:
    from client_harness.user import User
    from client_harness.user.voice import Voice
    from judge.reading import Reader

DisclosureMode = Literal["notify", "locked"]
PAUSE = 30
"""How many simulated seconds the user takes for an answer."""
HISTORY = "history_"
"""What the names of usage begin with that past sessions took."""


class Episode:
    """One play of one scenario.

    `faulted=False` leaves the faults out; `faults` replaces the scenario's own. `disclose` says how
    held-back services appear: `notify` adds them to the tool list when they are disclosed, `locked`
    lists them from the start and refuses calls until then. `expose` says whether the agent is
    offered the tools or a search for them.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        seed: int | None = None,
        faulted: bool = True,
        disclose: DisclosureMode = "notify",
        faults: list[Fault] | None = None,
        expose: Exposure = "all",
    ) -> None:
        self.scenario = scenario
        self.disclose_mode = disclose
        self.world = beginning(scenario)
        start = parse_time(build.person(scenario.world)["start"])
        self.control = Control(start, scenario.seed if seed is None else seed)
        self.faults: list[Fault] = []
        if faulted:
            self.faults = ordered(scenario.faults if faults is None else faults)
        self.mark = self.world.last_change()
        self.session = Session(
            scenario.services,
            self.world,
            self.control,
            faults=self.faults,
            watches=_watches(scenario, self.faults),
            hidden=[d.service for d in scenario.disclose],
            tools=scenario.tools,
            locked=disclose == "locked",
            call_limit=scenario.limits.calls,
            expose=expose,
        )
        self.session.on_attempt.append(self._heard)
        self._heard_of = dict.fromkeys((d.service for d in scenario.disclose), 0)
        self.user = self._user()
        self.status = "running"
        self.usage: dict[str, float] = {}
        self.saved: dict[str, Any] = {}
        self._begun: list[history.LivedSession] = []
        self.voice: Voice | None = None

    @property
    def sessions(self) -> list[history.LivedSession]:
        """The history to replay to the agent."""
        return history.live(self.scenario.history).sessions if self.scenario.history else []

    def assignment(self, tools: Tools, *, by_session: bool = False, **rest: Any) -> Assignment:
        """Return what an agent is given, with the conversation as it has begun.

        With `by_session`, past sessions are delivered one by one, and are not in it. `rest` are
        further fields of `Assignment`.
        """
        past = self.sessions
        given = Assignment(tools, list(self._begun), self.scenario, saved=self.saved, **rest)
        if by_session:
            given.to_remember = len(past)
        else:
            given.history = [*past, *self._begun]
        return given

    def lock(self) -> None:
        """List what is held back from the start, for an agent that never lists tools again.

        It is refused until it is disclosed.
        """
        if self.scenario.disclose:
            self.disclose_mode = "locked"
            self.session.locked = True

    async def begin(self) -> None:
        """Play the turns that are over when the agent begins, without faults and with all tools.

        Raises `InputError` if their script cannot be played.
        """
        prefix = self.scenario.prefix
        if prefix is None:
            return
        script = ScriptAgent(self.assignment(Straight(self.session)), prefix.steps)
        with self.session.as_usual():
            for number in range(1, prefix.turns + 1):
                await self._turn(number, script)
        self.saved = script.scope
        self._begun = [conversation(self.session.trace())]
        self.user = self._user()
        self.session.forget_calls()

    def _user(self) -> User:
        # Its patterns take long to compile, and a server that only serves needs none of them.
        from client_harness.user import User

        scenario = self.scenario
        return User(scenario.answers, scenario.default_answer, scenario.limits.questions)

    def _heard(self, attempt: Attempt) -> None:
        for disclosure in self.scenario.disclose:
            service = disclosure.service
            moment = disclosure.after
            if service not in self._heard_of:
                continue
            self._heard_of[service] += self._times_in(moment, attempt)
            calls = moment.calls is not None and attempt.seq >= moment.calls
            seconds = self.control.now - self.control.start
            elapsed = moment.seconds is not None and seconds >= moment.seconds
            if calls or elapsed or self._heard_of[service] >= moment.times:
                del self._heard_of[service]
                self.session.disclose(service)

    def _times_in(self, moment: Moment, attempt: Attempt) -> int:
        try:
            return moment.times_in(attempt, scope_of(self.control, attempt))
        except InputError as wrong:
            if not waits(moment.where, self.control):
                self.session.bugs.append(f"disclose: {wrong}")
            return 0

    async def hand_over(self, agent: CanRemember) -> bool:
        """Hand an agent the history session by session, ahead of the conversation.

        Its usage is counted apart, as `history_<name>`. Returns whether the agent took everything;
        if not, the trace is closed.
        """
        sessions = self.sessions
        for number, session in enumerate(sessions, 1):
            result = await agent.remember(session, number, len(sessions))
            for name, amount in result.usage.items():
                self._count(HISTORY + name, amount)
            if result.status != "done":
                self.status = result.status
                why = f"past session {number} of {len(sessions)}: {result.detail or result.status}"
                self.finish(self.status, why)
                return False
        return True

    async def converse(self, agent: Agent) -> str:
        """Play every turn with an agent and close the trace.

        Returns the status: done, limit, error, late, or hung if the agent was out of time while a
        fault still kept it waiting.
        """
        self.status = "done"
        reason = ""
        for number in range(self.scenario.begun + 1, len(self.scenario.turns) + 1):
            result = await self._turn(number, agent)
            if result.status != "done":
                self.status = result.status
                reason = result.detail
                break
        self.finish(self.status, reason or None)
        return self.status

    async def _turn(self, number: int, agent: Agent) -> TurnResult:
        """Play one turn, with the answers to what the agent asks in it."""
        turn = self.scenario.turns[number - 1]
        result = await self._say(agent, self.begin_turn(number, await self._worded(turn.user)))
        while result.status == "done" and (reply := self.user.answer(result.text)) is not None:
            about, said = reply
            result = await self._say(agent, self._answered(about, await self._worded(said)))
        return result

    async def _worded(self, line: str) -> str:
        """Return what the user says for a line of the script."""
        return line if self.voice is None else await self.voice.worded(line)

    def begin_turn(self, number: int, said: str | None = None) -> str:
        """Begin a turn (from 1), and return what the user says: `said`, or the scenario's text."""
        turn = self.scenario.turns[number - 1]
        self.session.turn = number
        self.session.step = None
        self.session.pass_time(turn.gap)
        text = turn.user if said is None else said
        self.session.message("user", text)
        return text

    def answer(self, text: str) -> str | None:
        """Return what the user answers to a text that asks something, or None if it asks nothing.

        The user takes a moment for it, and the trace has what was said.
        """
        reply = self.user.answer(text)
        if reply is None:
            return None
        return self._answered(*reply)

    def _answered(self, about: str, said: str) -> str:
        self.session.pass_time(PAUSE)
        self.session.message("user", said, about)
        return said

    async def _say(self, agent: Agent, text: str) -> TurnResult:
        result = await agent.turn(text)
        if result.status == "late" and self.session.hanging:
            result.status = "hung"
            result.detail = f"it never gave up a call that hung: {result.detail}"
        for name, amount in result.usage.items():
            self._count(name, amount)
        self.session.message("assistant", result.text)
        return result

    def _count(self, name: str, amount: float) -> None:
        self.usage[name] = self.usage.get(name, 0) + amount

    def finish(self, status: str, reason: str | None = None) -> None:
        """Write the trace's last event: the status, the changes, and the facts about each fault."""
        end = self.ending(status, reason)
        self.session.record_end(status, faults=end.faults, changes=end.changes or [], reason=reason)

    def ending(self, status: str, reason: str | None = None) -> End:
        """Return the event with which the trace would end now."""
        facts = {f.name: _facts(self.control, f) for f in self.faults}
        return self.session.ending(status, self.world.log(self.mark), facts, reason)

    def record(self, expected: Expected | None = None, reader: Reader | None = None) -> Record:
        """Return the record that the judge reads; `expected` is what right runs change."""
        return record(self.session.trace(), self.world, expected, reader)

    def close(self) -> None:
        """Release the databases."""
        self.world.close()
        self.control.close()


def conversation(events: Iterable[Event]) -> history.LivedSession:
    """Return what was said and called so far, as a conversation that goes on."""
    messages: list[history.PastMessage] = []
    began = ""
    for event in events:
        if isinstance(event, Message):
            began = began or event.at
            messages.append({"role": event.role, "text": event.text})
        elif isinstance(event, Attempt):
            call: history.PastCall = {
                "server": event.service,
                "tool": event.tool,
                "args": event.args,
                "reply": event.seen,
                "is_error": event.is_error,
            }
            messages.append({"role": "assistant", "calls": [call]})
    return {"at": began, "messages": messages, "goes_on": True}


def record(
    events: list[Event],
    world: World | None,
    expected: Expected | None = None,
    reader: Reader | None = None,
) -> Record:
    """Return the judge's record of a finished trace."""
    end = end_of(events)
    facts = end.faults if end is not None else {}
    faults = {name: FaultFacts(name=name, **fact) for name, fact in facts.items()}
    return Record(events, world, faults, expected=expected, reader=reader)


def final_world(scenario: Scenario, events: list[Event]) -> World:
    """Rebuild the final world of a recorded trace.

    The recorded changes are made again on the world as it began. Raises `InputError` for a trace
    that has no end.
    """
    world = beginning(scenario)
    end = end_of(events)
    if end is None or end.changes is None:
        raise InputError("the trace has no end")
    world.redo(end.changes)
    return world


def _facts(control: Control, fault: Fault) -> dict[str, Any]:
    state = State.load(control, fault.name)
    counts = {"near": state.near, "fired": state.fired, "failed": state.failed}
    said = fault.model_dump(mode="json", include={"repairable", "recover", "exposed_by"})
    return {"kind": fault.kind, "required": fault.required, **counts, **said}


def _watches(scenario: Scenario, faults: list[Fault]) -> list[Watch]:
    """Return the obligations to watch; a fault's own `exposed_by` applies to those about it."""
    by_name = {fault.name: fault for fault in faults}
    watches: dict[str, Watch] = {}
    for check in scenario.checks:
        for watch in check.watches():
            fault = by_name.get(watch.fault or "")
            if watch.exposed_by is None and fault is not None and fault.exposed_by:
                exposed_by = functools.partial(_any_fits, fault.exposed_by)
                watch = Watch(watch.name, watch.opens, watch.fault, exposed_by)
            watches[watch.name] = watch
    return list(watches.values())


def _any_fits(shapes: list[CallShape], service: str, tool: str, args: dict[str, Any]) -> bool:
    return any(shape.fits(service, tool, args) for shape in shapes)
