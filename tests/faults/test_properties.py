"""Random compositions of faults on random calls: nothing crashes, every firing is accounted for,
and other episodes are untouched.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fault_profiles.model import Fault, check_together, kinds, ordered, parse
from fault_profiles.sample import Example
from fault_profiles.state import State
from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.errors import InputError
from servers.kit.events import Attempt, Firing
from servers.kit.evidence import Watch
from servers.kit.examples import owners, prepared, resolve
from servers.kit.service import tool
from servers.kit.session import Session
from tests.support import IDS, START, WORLD, new_session

PROPERTY = settings(
    max_examples=80,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
Number = st.integers(1, 4)


@dataclass(frozen=True)
class Case:
    """Declared faults, the tools whose examples are called in order, and the seed."""

    faults: list[dict[str, Any]]
    calls: list[str]
    seed: int

    @property
    def services(self) -> tuple[str, ...]:
        called = set().union(*(owners(*tool(name)) for name in self.calls))
        return tuple(sorted(called))


# -- drawing -------------------------------------------------------------------------------------
@functools.cache
def example(name: str) -> Example:
    """Return a tool's example call, as fault kinds get it."""

    async def run() -> Example:
        cls, spec = tool(name)
        session = new_session(*owners(cls, spec))
        args = await prepared(session, cls, spec)
        before = session.world.scratch()
        reply = await session.call(cls.name, spec.name, args)
        return Example(cls, spec, args, reply.data, before)

    return anyio.run(run)


SCHEDULES = st.one_of(
    st.just({}),
    st.fixed_dictionaries({"first": Number}),
    st.fixed_dictionaries({"every": Number}),
    st.tuples(Number, Number).map(lambda ends: {"calls": sorted(ends)}),
    st.sampled_from([0.0, 0.5, 1.0]).map(lambda p: {"probability": p}),
    st.lists(st.booleans(), min_size=1, max_size=4).map(lambda s: {"sequence": s}),
    st.tuples(st.integers(0, 9), st.integers(0, 30)).map(lambda ends: {"window": sorted(ends)}),
)


def moments(calls: Sequence[str], names: Sequence[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Return events over these calls and faults."""
    known: list[st.SearchStrategy[dict[str, Any]]] = [
        st.fixed_dictionaries({"calls": Number}),
        st.fixed_dictionaries({"seconds": st.integers(1, 12)}),
        st.fixed_dictionaries({"called": st.sampled_from(calls), "times": st.integers(1, 2)}),
        st.fixed_dictionaries({"called": st.sampled_from(calls), "ok": st.booleans()}),
    ]
    if names:
        known.append(st.fixed_dictionaries({"fired": st.sampled_from(names)}))
    return st.one_of(known)


def service_of(name: str) -> str:
    return name.partition(".")[0]


def fitting_kinds(target: str) -> list[str]:
    """Return the kinds that handle a tool and have a sample for its example call."""
    fitting = []
    for name, kind in kinds().items():
        if tool(target)[1].effect not in kind.effects:
            continue
        if isinstance(kind.sample(example(target)), dict):
            fitting.append(name)
    return fitting


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Return one to five faults and up to six calls on tools of one or two of their services."""
    about = service_of(draw(st.sampled_from(IDS)))
    every = sorted({service_of(name) for name in IDS})
    beside = draw(st.sampled_from([about, about, *every]))
    callable_tools = [name for name in IDS if service_of(name) in (about, beside)]
    calls = draw(st.lists(st.sampled_from(callable_tools), min_size=1, max_size=6))
    calls += draw(st.lists(st.sampled_from(calls), max_size=3))
    faults: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 5))):
        name = f"f{number}"
        target = draw(st.sampled_from(calls))
        kind = draw(st.sampled_from(fitting_kinds(target)))
        fields = kinds()[kind].sample(example(target))
        assert isinstance(fields, dict)
        own = {**fields, "name": name, "on": target}
        selectors = [target, f"{service_of(target)}.*", "reads:*.*", "writes:*.*", "*.*"]
        wide = {"on": draw(st.sampled_from(selectors))}
        rest = draw(SCHEDULES) | {
            "priority": draw(st.integers(-1, 1)),
            "per": draw(st.sampled_from(["fault", "tool", "service"])),
        }
        for part in ("after", "until"):
            if draw(st.booleans()):
                names = [next(iter(fault.values()))["name"] for fault in faults]
                rest[part] = draw(moments(calls, names))
        if "after" in rest and "until" in rest:
            rest["rearm"] = draw(st.booleans())
        for declared in (own | rest | wide, own | rest, own):
            if loads([*faults, {kind: declared}]):
                faults.append({kind: declared})
                break
    return Case(faults, calls, draw(st.integers(0, 3)))


def loads(items: list[dict[str, Any]]) -> bool:
    """Whether these faults load, each alone and all together."""
    try:
        check_together([parse(item) for item in items])
    except InputError:
        return False
    return True


# -- playing -------------------------------------------------------------------------------------
def begin(case: Case, faults: Sequence[Fault]) -> Session:
    """Return a session that watches how every write and every fault's lie turns out."""
    watches = [Watch("write", lambda call: call.effect == "write")]
    watches += [Watch(f.name, lambda call: True, f.name, lambda s, t, a: True) for f in faults]
    world = build.shared(WORLD, case.services).share()
    return Session(
        case.services,
        world,
        Control(START, case.seed),
        faults=ordered(list(faults)),
        watches=watches,
    )


async def step(session: Session, name: str) -> None:
    """Call a tool's example after its set-up.

    If a fault spoiled the set-up, the arguments keep their placeholders.
    """
    cls, spec = tool(name)
    saved: dict[str, Any] = {}

    def arguments(template: dict[str, Any]) -> dict[str, Any]:
        try:
            return resolve(template, saved)
        except (KeyError, IndexError, TypeError):
            return template

    for part in spec.setup:
        owner, _, short = part.tool.rpartition(".")
        reply = await session.call(owner or cls.name, short, arguments(part.args))
        if part.save:
            saved[part.save] = reply.data
    await session.call(cls.name, spec.name, arguments(spec.example))


def play(*sessions: tuple[Session, Case]) -> None:
    """Play cases of equal length side by side, taking turns call by call."""

    async def run() -> None:
        for number in range(len(sessions[0][1].calls)):
            for session, case in sessions:
                await step(session, case.calls[number])

    anyio.run(run)


def left(session: Session, begun: int, tables: set[str]) -> tuple[Any, ...]:
    """Return what an episode leaves behind: its trace, its log and all rows of some tables."""
    rows = {table: session.world.rows(table, order="rowid") for table in sorted(tables)}
    return session.control.trace(), session.world.log(begun), rows


def firings_of(fault: Fault, attempts: Sequence[Attempt]) -> list[Firing]:
    """Return what a fault did on some calls."""
    every = itertools.chain.from_iterable(attempt.firings for attempt in attempts)
    return [firing for firing in every if firing.fault == fault.name]


# -- properties ----------------------------------------------------------------------------------
@PROPERTY
@given(cases())
def test_faults_crash_nothing_and_every_firing_is_accounted_for(case: Case) -> None:
    faults = [parse(item) for item in case.faults]
    session = begin(case, faults)
    play((session, case))
    assert session.bugs == [], session.bugs[0]
    attempts = [e for e in session.trace() if isinstance(e, Attempt)]
    for fault in faults:
        state = State.load(session.control, fault.name)
        firings = firings_of(fault, attempts)
        assert state.fired == sum(f.failed is None for f in firings), fault
        assert state.failed == sum(f.failed is not None for f in firings), fault
        assert len(firings) <= state.near, fault
        for attempt in attempts:
            if firings_of(fault, [attempt]):
                assert fault.handles(*tool(attempt.name)), (
                    "a fault fired on a tool that it does not handle"
                )
    causes = {"agent", "clock", "post", *(f"fault:{fault.name}" for fault in faults)}
    for attempt in attempts:
        assert {change["cause"] for change in attempt.effects} <= causes
    for attempt in attempts:
        if not attempt.firings:
            assert attempt.seen == attempt.truth or attempt.truth is None, "a lie without a firing"


@pytest.mark.long
@PROPERTY
@given(cases())
def test_a_replay_is_the_same_and_another_episode_is_untouched(case: Case) -> None:
    faults = [parse(item) for item in case.faults]
    first = begin(case, faults)
    again = begin(case, faults)
    beside = begin(case, [])
    alone = begin(case, [])
    play((alone, case))
    play((first, case), (beside, case))
    play((again, case))
    begun = build.shared(WORLD, case.services).last_change()
    written = {change["table"] for change in [*first.world.log(begun), *alone.world.log(begun)]}
    assert left(beside, begun, written) == left(alone, begun, written)
    assert left(first, begun, written) == left(again, begun, written)
