"""Every fault kind on every tool that it handles, from the tool's example call.

Each cell attaches the kind's own sample to one tool and plays its life: not armed yet (nothing may
differ), firing once, cleared. What the firing did to the truth, to what was seen, to rows and to
evidence is compared with the same call without the fault.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
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
from servers.kit.store import CLOCK

Begin = Callable[[tuple[str, ...], Sequence[Fault], Sequence[Watch]], Session]
"""Makes a new session of some services; each call must begin it alike."""

Outcome = Literal["fires", "rests", "senseless", "broken"]
Side = Literal["none", "honest", "other"]
_NAME = "cell"


@dataclass(frozen=True, slots=True)
class Cell:
    """What one kind did on one tool.

    `outcome`: it fires; rests (`why`: it met nothing to act on); is senseless there (`why` in the
    kind's words); or is broken (`problems`). `truth`, `seen` and `world` compare the firing with
    the same call without the fault. `settled` is a reading of the provider's that could have told
    the agent how its write turned out, with the fault and without it; "" where no example is one.
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
    """All cells, in the order of kinds and tools."""

    cells: list[Cell] = field(default_factory=list)

    @property
    def digest(self) -> str:
        """One hash of every cell, with the trace of each firing; the same in every process."""
        return _hash(self.cells)

    def by_tool(self) -> dict[str, str]:
        """Return for each tool the hash of its cells, which does not depend on what else was tried."""
        found: dict[str, list[Cell]] = {}
        for cell in self.cells:
            found.setdefault(cell.tool, []).append(cell)
        return {tool: _hash(cells) for tool, cells in found.items()}

    def by_kind(self) -> dict[str, dict[str, Any]]:
        """Return for each kind how many tools it handles, how many cells fire, and why the others
        do not.
        """
        told = {}
        for kind in dict.fromkeys(c.kind for c in self.cells):
            mine = [c for c in self.cells if c.kind == kind]
            quiet = Counter(c.why for c in mine if c.outcome in ("rests", "senseless"))
            told[kind] = {
                "tools": len(mine),
                "fires": sum(c.outcome == "fires" for c in mine),
                "reasons": dict(quiet.most_common()),
                "problems": {
                    p: [c.tool for c in mine if p in c.problems]
                    for p in dict.fromkeys(q for c in mine for q in c.problems)
                },
            }
        return told


def _hash(cells: Iterable[Cell]) -> str:
    return hashlib.blake2b("\n".join(map(repr, cells)).encode(), digest_size=16).hexdigest()


async def matrix(
    begin: Begin, tools: Sequence[tuple[type[Service], ToolSpec]], only: Sequence[str] = ()
) -> Matrix:
    """Play every kind (or only those named) on every tool that it handles."""
    found: dict[str, list[Cell]] = {kind: [] for kind in kinds() if not only or kind in only}
    written: dict[str, list[tuple[ToolSpec, Session]]] = {}
    for cls, spec in tools:
        honest = await _honest(begin, cls, spec)
        stirred: list[_Honest] = []
        declared = {
            k: _declared(honest, kinds()[k]) for k in found if spec.effect in kinds()[k].effects
        }
        early = await _unarmed(
            begin, honest, [d for d in declared.values() if isinstance(d, Fault)]
        )
        for kind, fault in declared.items():
            cell = await _cell(begin, honest, fault, early.get(kind, ()))
            if cell.outcome == "rests" and spec.effect == "read":
                if cls.name not in written:
                    written[cls.name] = await _writers(begin, cls)
                stirred = stirred or [await _after_a_write(begin, honest, written[cls.name])]
                cell = await _cell(begin, stirred[0], _declared(stirred[0], kinds()[kind]), ())
            found[kind].append(cell)
    return Matrix([cell for cells in found.values() for cell in cells])


@dataclass(slots=True)
class _Play:
    """A session that has come to the example call, with that call's attempt and its readings
    afterwards.
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
    """What settles a call that never ran: the same, whichever fault stood in its way, so that it is
    read once.
    """


async def _honest(
    begin: Begin, cls: type[Service], spec: ToolSpec, earlier: ToolSpec | None = None
) -> _Honest:
    opening: list[bool] = []
    session = begin(owners(cls, spec), [], _watches(cls, spec, opening))
    args = await _ready(session, cls, spec, earlier)
    before = session.world.scratch()
    due = session.control.now - session.control.start + spec.cost
    readings = [t for t in cls.tools.values() if t.effect == "read" and not t.setup]
    played = await _play(session, cls, spec, args, opening, readings)
    example = Example(cls, spec, args, played.attempt.seen, before)
    return _Honest(
        session, played.attempt, played.trace, played.settled, cls, spec, example, due, earlier
    )


async def _writers(begin: Begin, cls: type[Service]) -> list[tuple[ToolSpec, Session]]:
    """Return a provider's writes that need no set-up, each with a session in which its example was
    called.
    """
    found = []
    for write in cls.tools.values():
        if write.effect == "write" and not write.setup:
            session = begin((cls.name,), [], [])
            if not (await session.call(cls.name, write.name, write.example)).is_error:
                found.append((write, session))
    return found


async def _after_a_write(
    begin: Begin, honest: _Honest, written: Sequence[tuple[ToolSpec, Session]]
) -> _Honest:
    """Return the same reading after a write of its provider that makes it read otherwise, or as it
    was where none does.
    """
    for write, session in written:
        if (
            not honest.spec.setup
        ):  # one look where the write was made tells for most readings that they read the same
            reply = await session.call(honest.cls.name, honest.spec.name, honest.example.args)
            if reply.data == honest.attempt.seen:
                continue
        found = await _honest(begin, honest.cls, honest.spec, write)
        if not found.attempt.is_error and found.attempt.seen != honest.attempt.seen:
            return found
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
    settled = (
        unrun
        if unrun is not None and _never_ran(attempt)
        else await _settled(session, cls, readings)
        if attempt.opened
        else ""
    )
    return _Play(session, attempt, trace, settled)


async def _settled(session: Session, cls: type[Service], readings: list[ToolSpec]) -> str:
    """Return the first of some readings that settles how the write turned out."""
    for reading in readings:
        await session.call(cls.name, reading.name, reading.example)
        last = events.from_json(session.control.trace(session.out - 1)[-1])
        if isinstance(last, Attempt) and last.evidence:
            return reading.name
    return ""


def _watches(cls: type[Service], spec: ToolSpec, opening: list[bool]) -> list[Watch]:
    name = f"{cls.name}.{spec.name}"
    return (
        [Watch("outcome", lambda call: bool(opening) and call.name == name)]
        if spec.effect == "write"
        else []
    )


# -- one cell ----------------------------------------------------------------------------------------------------
def _declared(honest: _Honest, kind: type[Fault]) -> Fault | Cell:
    """Return a kind's sample on a tool, to fire once on the call to come, or the cell that says why
    there is none.
    """
    tool = f"{honest.cls.name}.{honest.spec.name}"
    fields = kind.sample(honest.example)
    if isinstance(fields, str):
        return Cell(kind.kind, tool, "senseless", fields)
    now = {"after": {"seconds": honest.due}} if honest.due else {}
    try:
        return parse(
            {kind.kind: {**fields, "on": tool, "name": _NAME, "until": {"calls": 1}, **now}}
        )
    except InputError as wrong:
        return Cell(kind.kind, tool, "broken", problems=(f"its sample does not load: {wrong}",))


async def _cell(begin: Begin, honest: _Honest, once: Fault | Cell, early: Sequence[str]) -> Cell:
    if isinstance(once, Cell):
        return once
    kind = type(once)
    tool = f"{honest.cls.name}.{honest.spec.name}"
    problems = list(early)
    opening = []
    session = begin(
        owners(honest.cls, honest.spec), [once], _watches(honest.cls, honest.spec, opening)
    )
    args = await _ready(session, honest.cls, honest.spec, honest.earlier)
    readings = [honest.cls.tools[honest.settled]] if honest.settled else []
    played = await _play(session, honest.cls, honest.spec, args, opening, readings, honest.unrun)
    honest.unrun = (
        played.settled if _never_ran(played.attempt) and played.attempt.opened else honest.unrun
    )
    firings = played.attempt.firings
    state = State.load(session.control, _NAME)
    if not firings and not session.bugs:
        why = "it meets nothing to act on"
        return Cell(
            kind.kind, tool, "broken" if problems else "rests", why, problems=tuple(problems)
        )
    problems += (
        [f"{'; '.join(f.failed for f in firings if f.failed)}"]
        if any(f.failed for f in firings)
        else []
    )
    problems += _effects(kind, once, honest, played)
    if honest.settled and not played.settled:
        problems.append("the reading that tells how an honest call turned out does not tell here")
    if state.fired != sum(f.failed is None for f in firings):
        problems.append(f"{len(firings)} firings are recorded and {state.fired} counted")
    problems += await _cleared(session, honest, args)
    problems += [b.splitlines()[0] for b in session.bugs]
    truth, seen, world = _sides(honest, played.attempt)
    digest = hashlib.blake2b("\n".join(session.control.trace()).encode(), digest_size=8).hexdigest()
    outcome: Outcome = "broken" if problems else "fires"
    return Cell(
        kind.kind, tool, outcome, "", truth, seen, world, played.settled, tuple(problems), digest
    )


async def _unarmed(begin: Begin, honest: _Honest, faults: Sequence[Fault]) -> dict[str, list[str]]:
    """Return by kind what differs while it is not armed yet; all are tried at once, and one by one
    where something does.
    """
    later = [
        fault.model_copy(update={"name": fault.kind, "after": Moment(seconds=10**9)})
        for fault in faults
    ]
    if not await _differs(begin, honest, later):
        return {}
    return {
        fault.kind: found for fault in later if (found := await _differs(begin, honest, [fault]))
    }


async def _differs(begin: Begin, honest: _Honest, faults: list[Fault]) -> list[str]:
    opening: list[bool] = []
    session = begin(
        owners(honest.cls, honest.spec), faults, _watches(honest.cls, honest.spec, opening)
    )
    args = await _ready(session, honest.cls, honest.spec, honest.earlier)
    opening.append(True)
    await session.call(honest.cls.name, honest.spec.name, args)
    if session.schema(honest.cls.name, honest.spec.name) != honest.spec.schema:
        return ["the published schema differs before it arms"]
    return [] if session.control.trace() == honest.trace else ["the trace differs before it arms"]


async def _cleared(session: Session, honest: _Honest, args: dict[str, Any]) -> list[str]:
    await session.call(honest.cls.name, honest.spec.name, args)
    again = session.trace()[-1]
    assert isinstance(again, Attempt)
    problems = ["it fires again after it was cleared"] if again.firings else []
    if again.seen != again.truth:
        problems.append("what is seen after it was cleared is not the truth")
    if session.schema(honest.cls.name, honest.spec.name) != honest.spec.schema:
        problems.append("the published schema differs after it was cleared")
    return problems


def _never_ran(attempt: Attempt) -> bool:
    return attempt.truth is None and not _changes(attempt)


def _changes(attempt: Attempt) -> list[tuple[Any, ...]]:
    return [
        (e["cause"], e["table"], e["key"], e["old"], e["new"])
        for e in attempt.effects
        if e["cause"] != CLOCK
    ]


def _sides(honest: _Honest, attempt: Attempt) -> tuple[Side, Side, Side]:
    changes = _changes(attempt)
    truth: Side = (
        "none"
        if attempt.truth is None
        else "honest"
        if attempt.truth == honest.attempt.truth
        else "other"
    )
    seen: Side = (
        "honest"
        if (attempt.seen, attempt.is_error) == (honest.attempt.seen, honest.attempt.is_error)
        else "other"
    )
    world: Side = (
        "none" if not changes else "honest" if changes == _changes(honest.attempt) else "other"
    )
    return truth, seen, world


def _effects(kind: type[Fault], fault: Fault, honest: _Honest, played: _Play) -> list[str]:
    attempt = played.attempt
    changes = _changes(played.attempt)
    truth, seen, _ = _sides(honest, attempt)
    causes = {c[0] for c in changes}
    found = []
    if [f.fault for f in attempt.firings] != [fault.name]:
        found.append(f"{len(attempt.firings)} firings on one call")
    if honest.spec.effect == "read" and "agent" in causes:
        found.append("a reading changed rows in the agent's name")
    if strange := causes - {"agent", f"fault:{fault.name}"}:
        found.append(f"rows changed by {', '.join(sorted(strange))}")
    if kind.denies and (truth != "none" or changes):
        found.append("it says that it answers in place of the call, and the call ran")
    if attempt.is_error and not {"code", "message", "hint", "retryable"} <= set(
        attempt.seen.get("error", ())
    ):
        found.append(f"the error has no shape to rely on: {attempt.seen}")
    kept = {
        "unchanged": not changes,
        "committed": changes == _changes(honest.attempt),
        "refused": attempt.is_error,
        "honest": seen == "honest",
        "altered": seen == "other",
        "waits": attempt.until > attempt.at,
    }
    assert set(kept) == set(PROMISES)
    return found + [
        f"it promises {p}, and that does not hold: {PROMISES[p]}"
        for p in kind.promises
        if not kept.get(p, False)
    ]
