"""Traces to judge: real sessions with two small faults, and hand-written events where no session is
needed.
"""

from __future__ import annotations

from typing import Any

import anyio

from judge.checks import parse
from judge.finding import FaultFacts, Finding
from judge.trace import Record
from servers.kit.call import Call, Layer, Next, Reply
from servers.kit.control import make_id
from servers.kit.events import Attempt, Firing, Message
from servers.kit.evidence import Watch, fired
from servers.kit.service import Service, ToolSpec
from servers.kit.session import Session
from tests.support import new_session

PRIYA = make_id("vct", "maya", "priya_nair")
KAI = make_id("vct", "maya", "kai_tanaka")
PAY = ("venmo", "send_money", {"contact_id": PRIYA, "amount": 25, "note": "tickets"})
OTHER = ("venmo", "send_money", {"contact_id": KAI, "amount": 3, "note": "coffee"})
LIST = ("venmo", "list_transactions", {})
BALANCE = ("venmo", "get_balance", {})
FRIENDS = ("venmo", "list_friends", {})
TO_PRIYA = {"tool": "venmo.send_money", "where": {"contact_id": PRIYA}}
SEEN = {"evidence": {"name": "paid_seen", "of": {"write": TO_PRIYA}}}
BLIND = {
    "forbidden": {"name": "blind", "call": "venmo.send_money", "until": {"evidence": "paid_seen"}}
}


class Dropped:
    """A fault: the first payment runs on a copy that is dropped, but the reply claims success."""

    name = "dropped"

    def handles(self, cls: type[Service], spec: ToolSpec) -> bool:
        return spec.name == "send_money"

    def publish(
        self, session: Session, cls: type[Service], spec: ToolSpec, schema: dict[str, Any]
    ) -> dict[str, Any]:
        return schema

    def listen(self, session: Session) -> None:
        pass

    def layer(self, session: Session) -> Layer:
        async def run(call: Call, call_next: Next) -> Reply:
            if call.shadow:
                due = fired(call, self.name) is not None
            else:
                due = session.control.count("dropped") == 1
            if not due:
                return await call_next(call)
            if not call.shadow:
                call.journal.firings.append(Firing(self.name, "dropped_write", 1))
            return await call_next(call.on(call.world.scratch()))

        return run


class Lie(Dropped):
    """A fault: the first two balances that are read are wrong, only in the reply."""

    name = "lie"

    def handles(self, cls: type[Service], spec: ToolSpec) -> bool:
        return spec.name == "get_balance"

    def listen(self, session: Session) -> None:
        pass

    def layer(self, session: Session) -> Layer:
        async def run(call: Call, call_next: Next) -> Reply:
            if call.shadow:
                due = fired(call, self.name) is not None
            else:
                due = session.control.count("lie") <= 2
            reply = await call_next(call)
            if not due:
                return reply
            if not call.shadow:
                call.journal.firings.append(Firing(self.name, "wrong_reply", 1))
            return Reply({"balance": 1.0})

        return run


Called = tuple[str, str, dict[str, Any]]
Step = Called | list[Called] | str


def _watches(checks: list[dict[str, Any]]) -> list[Watch]:
    watches: list[Watch] = []
    for check in checks:
        watches += parse(check).watches()
    return watches


def _facts(fault: Any, attempts: list[Attempt]) -> FaultFacts:
    count = 0
    for made in attempts:
        count += len([firing for firing in made.firings if firing.fault == fault.name])
    return FaultFacts(fault.name, "test", required=True, fired=count, near=count)


def play(
    checks: list[dict[str, Any]],
    *steps: Step,
    faults: tuple[Any, ...] = (),
    known: bool = True,
    ended: bool = True,
) -> Record:
    """Run steps in a session and return its record.

    A step is a call, a list of calls made as one batch, or a text (`user:<key>` is an answer).
    """
    session = new_session("venmo", faults=faults, watches=_watches(checks))
    mark = session.world.last_change()

    async def run() -> None:
        session.turn = 1
        for number, step in enumerate(steps, 1):
            if isinstance(step, str):
                if step.startswith("user:"):
                    session.message("user", step, step.removeprefix("user:"))
                else:
                    session.message("assistant", step, None)
                continue
            arrived = session.out
            told_step = number if known else None
            batch = step if isinstance(step, list) else [step]
            for service, tool, args in batch:
                await session.call(service, tool, args, step=told_step, arrived=arrived)

    anyio.run(run)
    if ended:
        session.record_end("done", changes=session.world.log(mark))
    attempts = [event for event in session.trace() if isinstance(event, Attempt)]
    facts = {fault.name: _facts(fault, attempts) for fault in faults}
    return Record(session.trace(), session.world, facts)


def find(check: dict[str, Any], record: Record) -> Finding:
    return parse(check).judge(record)


def attempt(
    seq: int,
    tool: str = "get_balance",
    *,
    step: int | None = None,
    arrived: int = 0,
    turn: int = 1,
    **rest: Any,
) -> Attempt:
    failed = rest.pop("is_error", False)
    moment = ""
    return Attempt(
        seq, turn, step, arrived, moment, moment, "venmo", tool, "read", {}, {}, failed, **rest
    )


def text(
    seq: int, words: str, turn: int = 1, role: Any = "assistant", about: str | None = None
) -> Message:
    return Message(seq, turn, role, words, "", about)
