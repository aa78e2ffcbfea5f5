"""Every fault kind on every tool that it handles, played on the tool's example call.

Each cell attaches the kind's own sample to one tool and plays its whole life: not armed yet
(nothing may differ), firing once, cleared. The effect of the firing on the truth, on what was seen,
on rows and on evidence is compared with the same call without the fault.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

from fault_profiles.model import Fault, Moment, kinds, parse
from fault_profiles.sample import PROMISES, Example
from fault_profiles.state import State
from servers.kit import events
from servers.kit.errors import InputError
from servers.kit.events import Attempt
from servers.kit.evidence import Watch
from servers.kit.examples import owners, prepared
from servers.kit.service import Service, ToolSpec
from servers.kit.session import Session
from servers.kit.store import CLOCK, POST

Begin = Callable[[tuple[str, ...], Sequence[Fault], Sequence[Watch]], Session]
"""Begins a new session of some services, the same one each time."""

Outcome = Literal["fires", "rests", "senseless", "broken"]
Side = Literal["none", "honest", "other"]
_NAME = "cell"


@dataclass(frozen=True, slots=True)
class Cell:
    """What one kind did on one tool.

    `outcome`: the fault fires; rests (it met nothing to act on, see `why`); is senseless on this
    tool (`why` is in the kind's words); or is broken (see `problems`). `truth`, `seen` and `world`
    compare the firing with the same call without the fault. `settled` is one of the provider's
    readings that could have told the agent how its write turned out, both with the fault and
    without it; "" where none of the example calls does.
    """

    kind: str
    tool: str
    outcome: Outcome
    why: str = ""
    truth: Side = "none"
    seen: Side = "none"
    world: Side = "none"
    settled: str = ""
    problems: tuple[str, ...] = ()
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Matrix:
    """All cells, ordered by kind and then by tool."""

    cells: list[Cell] = field(default_factory=list)

    @property
    def digest(self) -> str:
        """A hash of every cell with the trace of its firing; the same in every process."""
        return _hash(self.cells)

    def by_tool(self) -> dict[str, str]:
        """Return the hash of each tool's cells; it does not depend on the other tools played."""
        cells_of: dict[str, list[Cell]] = {}
        for cell in self.cells:
            cells_of.setdefault(cell.tool, []).append(cell)
        return {tool: _hash(cells) for tool, cells in cells_of.items()}

    def by_kind(self) -> dict[str, dict[str, Any]]:
        """Return for each kind how many tools it handles, on how many it fires, and why not on the
        others.
        """
        by_kind = {}
        for kind in dict.fromkeys(cell.kind for cell in self.cells):
            cells = [cell for cell in self.cells if cell.kind == kind]
            reasons = Counter(c.why for c in cells if c.outcome in ("rests", "senseless"))
            problems: dict[str, list[str]] = {}
            for cell in cells:
                for problem in cell.problems:
                    problems.setdefault(problem, []).append(cell.tool)
            by_kind[kind] = {
                "tools": len(cells),
                "fires": sum(cell.outcome == "fires" for cell in cells),
                "reasons": dict(reasons.most_common()),
                "problems": problems,
            }
        return by_kind


def _hash(cells: Iterable[Cell]) -> str:
    return hashlib.blake2b("\n".join(map(repr, cells)).encode(), digest_size=16).hexdigest()


async def matrix(
    begin: Begin, tools: Sequence[tuple[type[Service], ToolSpec]], only: Sequence[str] = ()
) -> Matrix:
    """Play every kind (or only those named) on every tool that it handles."""
    tried = dict(kinds())
    if only:
        tried = {name: kind for name, kind in tried.items() if name in only}
    cells: dict[str, list[Cell]] = {name: [] for name in tried}
    writers: dict[str, list[tuple[ToolSpec, Session]]] = {}
    for cls, spec in tools:
        honest = await _honest(begin, cls, spec)
        after_write: _Honest | None = None
        handling = {name: kind for name, kind in tried.items() if spec.effect in kind.effects}
        declared = {name: _declared(honest, kind) for name, kind in handling.items()}
        faults = [fault for fault in declared.values() if isinstance(fault, Fault)]
        early = await _unarmed(begin, honest, faults)
        for name, fault in declared.items():
            cell = await _cell(begin, honest, fault, early.get(name, ()))
            if cell.outcome == "rests" and spec.effect == "read":
                if cls.name not in writers:
                    writers[cls.name] = await _writers(begin, cls)
                if after_write is None:
                    after_write = await _after_a_write(begin, honest, writers[cls.name])
                again = _declared(after_write, tried[name])
                cell = await _cell(begin, after_write, again, ())
            cells[name].append(cell)
    return Matrix(list(chain.from_iterable(cells.values())))


@dataclass(slots=True)
class _Play:
    """A session that has made the example call, with that call's attempt and the trace up to it.

    `settled` is the reading made afterwards that told how the call turned out, or "".
    """

    session: Session
    attempt: Attempt
    trace: list[str]
    settled: str


@dataclass(slots=True)
class _Honest(_Play):
    cls: type[Service]
    spec: ToolSpec
    example: Example
    due: int
    earlier: ToolSpec | None
    unrun: str | None = None
    """The reading that settles a call that never ran.

    It is the same whichever fault kept the call from running, so it is looked for only once.
    """


async def _honest(
    begin: Begin, cls: type[Service], spec: ToolSpec, earlier: ToolSpec | None = None
) -> _Honest:
    opening: list[bool] = []
    session = begin(owners(cls, spec), [], _watches(cls, spec, opening))
    args = await _ready(session, cls, spec, earlier)
    before = session.world.scratch()
    due = session.control.now - session.control.start + spec.cost
    plain = [tool for tool in cls.tools.values() if not tool.setup]
    readings = [tool for tool in plain if tool.effect == "read"]
    played = await _play(session, cls, spec, args, opening, readings)
    example = Example(cls, spec, args, played.attempt.seen, before)
    return _Honest(
        session, played.attempt, played.trace, played.settled, cls, spec, example, due, earlier
    )


async def _writers(begin: Begin, cls: type[Service]) -> list[tuple[ToolSpec, Session]]:
    """Return a provider's writes that need no set-up, each with a session in which its example was
    called.
    """
    writers = []
    for write in cls.tools.values():
        if write.effect == "write" and not write.setup:
            session = begin((cls.name,), [], [])
            reply = await session.call(cls.name, write.name, write.example)
            if not reply.is_error:
                writers.append((write, session))
    return writers


async def _after_a_write(
    begin: Begin, honest: _Honest, written: Sequence[tuple[ToolSpec, Session]]
) -> _Honest:
    """Return the same reading after a write of its provider that changes what it reads.

    Where no write does, return the reading as it was.
    """
    for write, session in written:
        if not honest.spec.setup:
            # For most readings, one call after the write shows that it does not change them; that
            # spares a session of their own.
            reply = await session.call(honest.cls.name, honest.spec.name, honest.example.args)
            if reply.data == honest.attempt.seen:
                continue
        after = await _honest(begin, honest.cls, honest.spec, write)
        if not after.attempt.is_error and after.attempt.seen != honest.attempt.seen:
            return after
    return honest


async def _ready(
    session: Session, cls: type[Service], spec: ToolSpec, earlier: ToolSpec | None
) -> dict[str, Any]:
    args = await prepared(session, cls, spec)
    if earlier is not None:
        await session.call(cls.name, earlier.name, earlier.example)
    return args


async def _play(
    session: Session,
    cls: type[Service],
    spec: ToolSpec,
    args: dict[str, Any],
    opening: list[bool],
    readings: list[ToolSpec],
    unrun: str | None = None,
) -> _Play:
    opening.append(True)
    await session.call(cls.name, spec.name, args)
    opening.clear()
    trace = session.control.trace()
    attempt = session.trace()[-1]
    assert isinstance(attempt, Attempt)
    settled = ""
    if unrun is not None and _never_ran(attempt):
        settled = unrun
    elif attempt.opened:
        settled = await _settled(session, cls, readings)
    return _Play(session, attempt, trace, settled)


async def _settled(session: Session, cls: type[Service], readings: list[ToolSpec]) -> str:
    """Return the first of some readings that tells how the write turned out, or ""."""
    for reading in readings:
        await session.call(cls.name, reading.name, reading.example)
        last = events.from_json(session.control.trace(session.out - 1)[-1])
        if isinstance(last, Attempt) and last.evidence:
            return reading.name
    return ""


def _watches(cls: type[Service], spec: ToolSpec, opening: list[bool]) -> list[Watch]:
    if spec.effect != "write":
        return []
    name = f"{cls.name}.{spec.name}"
    return [Watch("outcome", lambda call: bool(opening) and call.name == name)]


# -- one cell ------------------------------------------------------------------------------------
def _declared(honest: _Honest, kind: type[Fault]) -> Fault | Cell:
    """Return a kind's sample on a tool, which fires once, on the next call.

    Where the kind has no sample for the tool, return the cell that says why.
    """
    tool = f"{honest.cls.name}.{honest.spec.name}"
    fields = kind.sample(honest.example)
    if isinstance(fields, str):
        return Cell(kind.kind, tool, "senseless", fields)
    envelope: dict[str, Any] = {"on": tool, "name": _NAME, "until": {"calls": 1}}
    if honest.due:
        envelope["after"] = {"seconds": honest.due}
    try:
        return parse({kind.kind: {**fields, **envelope}})
    except InputError as wrong:
        return Cell(kind.kind, tool, "broken", problems=(f"its sample does not load: {wrong}",))


async def _cell(begin: Begin, honest: _Honest, once: Fault | Cell, early: Sequence[str]) -> Cell:
    if isinstance(once, Cell):
        return once
    kind = type(once)
    tool = f"{honest.cls.name}.{honest.spec.name}"
    problems = list(early)
    opening = []
    watches = _watches(honest.cls, honest.spec, opening)
    session = begin(owners(honest.cls, honest.spec), [once], watches)
    args = await _ready(session, honest.cls, honest.spec, honest.earlier)
    readings = [honest.cls.tools[honest.settled]] if honest.settled else []
    played = await _play(session, honest.cls, honest.spec, args, opening, readings, honest.unrun)
    if _never_ran(played.attempt) and played.attempt.opened:
        honest.unrun = played.settled
    firings = played.attempt.firings
    state = State.load(session.control, _NAME)
    if not firings and not session.bugs:
        why = "it meets nothing to act on"
        quiet: Outcome = "broken" if problems else "rests"
        return Cell(kind.kind, tool, quiet, why, problems=tuple(problems))
    failures = [firing.failed for firing in firings if firing.failed]
    if failures:
        problems.append("; ".join(failures))
    problems += _effects(kind, once, honest, played)
    if honest.settled and not played.settled:
        problems.append(
            "the reading that shows how an honest call turned out does not show it here"
        )
    if state.fired != sum(f.failed is None for f in firings):
        problems.append(f"{len(firings)} firings are recorded but {state.fired} counted")
    problems += await _cleared(session, honest, args)
    problems += [b.splitlines()[0] for b in session.bugs]
    truth, seen, world = _sides(honest, played.attempt)
    digest = hashlib.blake2b("\n".join(session.control.trace()).encode(), digest_size=8).hexdigest()
    outcome: Outcome = "broken" if problems else "fires"
    return Cell(
        kind.kind, tool, outcome, "", truth, seen, world, played.settled, tuple(problems), digest
    )


async def _unarmed(begin: Begin, honest: _Honest, faults: Sequence[Fault]) -> dict[str, list[str]]:
    """Return by kind what differs while the fault is not armed yet.

    All faults are tried at once, and one by one only where something differs.
    """
    later = [
        fault.model_copy(update={"name": fault.kind, "after": Moment(seconds=10**9)})
        for fault in faults
    ]
    if not await _differs(begin, honest, later):
        return {}
    early = {}
    for fault in later:
        problems = await _differs(begin, honest, [fault])
        if problems:
            early[fault.kind] = problems
    return early


async def _differs(begin: Begin, honest: _Honest, faults: list[Fault]) -> list[str]:
    opening: list[bool] = []
    watches = _watches(honest.cls, honest.spec, opening)
    session = begin(owners(honest.cls, honest.spec), faults, watches)
    args = await _ready(session, honest.cls, honest.spec, honest.earlier)
    opening.append(True)
    await session.call(honest.cls.name, honest.spec.name, args)
    if session.schema(honest.cls.name, honest.spec.name) != honest.spec.schema:
        return ["the published schema differs before the fault is armed"]
    return (
        []
        if session.control.trace() == honest.trace
        else ["the trace differs before the fault is armed"]
    )


async def _cleared(session: Session, honest: _Honest, args: dict[str, Any]) -> list[str]:
    await session.call(honest.cls.name, honest.spec.name, args)
    again = session.trace()[-1]
    assert isinstance(again, Attempt)
    problems = ["the fault fires again after it has cleared"] if again.firings else []
    if again.seen != again.truth:
        problems.append("after the fault has cleared, what is seen is not the truth")
    if session.schema(honest.cls.name, honest.spec.name) != honest.spec.schema:
        problems.append("the published schema differs after the fault has cleared")
    return problems


def _never_ran(attempt: Attempt) -> bool:
    return attempt.truth is None and not _changes(attempt)


def _changes(attempt: Attempt) -> list[tuple[Any, ...]]:
    return [
        (e["cause"], e["table"], e["key"], e["old"], e["new"])
        for e in attempt.effects
        if e["cause"] not in (CLOCK, POST)
    ]


def _sides(honest: _Honest, attempt: Attempt) -> tuple[Side, Side, Side]:
    """Return how the truth, what was seen and the rows compare with the honest call's."""
    truth: Side = "none"
    if attempt.truth is not None:
        truth = _side(attempt.truth == honest.attempt.truth)
    expected = (honest.attempt.seen, honest.attempt.is_error)
    seen = _side((attempt.seen, attempt.is_error) == expected)
    world: Side = "none"
    changes = _changes(attempt)
    if changes:
        world = _side(changes == _changes(honest.attempt))
    return truth, seen, world


def _side(equal: bool) -> Side:
    return "honest" if equal else "other"


def _effects(kind: type[Fault], fault: Fault, honest: _Honest, played: _Play) -> list[str]:
    """Return what is wrong with a firing: its record, its rows, its error or its promises."""
    attempt = played.attempt
    changes = _changes(attempt)
    truth, seen, _ = _sides(honest, attempt)
    causes = {cause for cause, *_ in changes}
    problems = []
    if [firing.fault for firing in attempt.firings] != [fault.name]:
        problems.append(f"{len(attempt.firings)} firings on one call")
    if honest.spec.effect == "read" and "agent" in causes:
        problems.append("a read changed rows as if the agent had")
    strange = causes - {"agent", f"fault:{fault.name}"}
    if strange:
        problems.append(f"rows changed by {', '.join(sorted(strange))}")
    if kind.denies and (truth != "none" or changes):
        problems.append("it claims to reply in place of the call, but the call ran")
    if attempt.is_error:
        fields = set(attempt.seen.get("error", ()))
        if not {"code", "message", "hint", "retryable"} <= fields:
            problems.append(f"the error lacks code, message, hint or retryable: {attempt.seen}")
    kept = {
        "unchanged": not changes,
        "committed": changes == _changes(honest.attempt),
        "refused": attempt.is_error,
        "honest": seen == "honest",
        "altered": seen == "other",
        "waits": attempt.until > attempt.at,
    }
    assert set(kept) == set(PROMISES)
    for promise in kind.promises:
        if not kept.get(promise, False):
            problems.append(f"it promises {promise}, but that does not hold: {PROMISES[promise]}")
    return problems
