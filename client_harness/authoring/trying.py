"""Try calls on a world, with faults if wanted, and tell what an author wants to know of each.

That is the reply that the agent sees, the truth where it differs, the rows that changed, which
fault fired, and why one that was near did not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from client_harness.agents._script import ScriptAgent
from client_harness.authoring import seeds
from client_harness.authoring.nearness import Miss, counters, misses
from client_harness.authoring.steps import parsed, services_of
from client_harness.authoring.touching import notes
from client_harness.contract import Assignment
from fault_profiles.model import Fault, ordered
from fault_profiles.profiles import profile
from scenarios import load
from scenarios.script import Step
from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.errors import InputError
from servers.kit.events import Attempt
from servers.kit.service import chosen
from servers.kit.session import Session
from servers.kit.values import iso, parse_time

DEFAULT_WORLD = "maya"


@dataclass
class Tried:
    """One call as it went. `saved` is the name under which its reply is kept, or "".

    `misses` are faults that did not fire, `notes` what is wrong with the paths of those that did.
    """

    attempt: Attempt
    saved: str = ""
    misses: list[Miss] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return plain data; `truth` is there only where it differs from what was seen."""
        one = self.attempt
        shape: dict[str, Any] = {
            "call": one.name,
            "args": one.args,
            "at": one.at,
            "is_error": one.is_error,
            "seen": one.seen,
        }
        if differs(one):
            shape["truth"] = one.truth
        shape["effects"] = list(one.effects)
        shape["firings"] = [
            {"fault": f.fault, "kind": f.kind, "number": f.number, "failed": f.failed}
            for f in one.firings
        ]
        shape["notes"] = self.notes
        shape["not_fired"] = [vars(miss) for miss in self.misses]
        if self.saved:
            shape["as"] = self.saved
        if one.bug is not None:
            shape["bug"] = one.bug
        return shape


def differs(attempt: Attempt) -> bool:
    """Return whether what the agent saw is not what is so, or the call never ran."""
    return bool(attempt.firings) and attempt.truth != attempt.seen


def try_calls(
    calls: Sequence[str],
    *,
    world: str | None = None,
    services: Sequence[str] = (),
    faults: str | None = None,
    scenario: str | None = None,
    clean: bool = False,
    at: str | None = None,
    seed: int | None = None,
) -> list[Tried]:
    """Run calls one after another in one episode. Raises `InputError`.

    `calls` are read by `steps.parsed`. Without a scenario the world is that of `world`, with the
    `services` that are named and those of the calls. `faults` names a profile or a file, in place
    of the scenario's own; `clean` leaves faults out. `at` is the moment of the first call, as ISO
    time or `+seconds`.
    """
    if not calls:
        raise InputError("try: name a call, e.g. 'venmo.list_friends {}'")
    if clean and faults is not None:
        raise InputError("--clean leaves faults out, so it does not go with --faults")
    steps = parsed(calls)
    if scenario is not None:
        if world is not None:
            raise InputError("a scenario has its own world; leave --world out")
        session, present, person = _of_scenario(scenario, faults, clean, seed)
    else:
        person = world or DEFAULT_WORLD
        plagued = ordered(profile(faults).faults) if faults is not None else []
        names = list(dict.fromkeys([*chosen(services), *services_of(steps)]))
        shared = build.shared(person, names)
        start = parse_time(build.person(person)["start"])
        session = Session(names, shared.share(), Control(start, seed or 0), faults=plagued)
        present = plagued
    try:
        session.turn = 1
        if at is not None:
            session.pass_time(_until(at, session.control.now))
        trier = Trier(session, present, person, steps)
        anyio.run(trier.play)
        return trier.tried
    finally:
        session.world.close()
        session.control.close()


def _of_scenario(
    name: str, faults: str | None, clean: bool, seed: int | None
) -> tuple[Session, list[Fault], str]:
    from client_harness.episode import Episode

    named = load.resolve([name])
    if len(named) != 1:
        raise InputError(f"{name} names {len(named)} scenarios; try one of them")
    made = load.load(named[0])
    plagued = profile(faults).faults if faults is not None else None
    episode = Episode(made, seed=seed, faulted=not clean, faults=plagued)
    episode.session.pass_time(made.turns[0].gap)
    return episode.session, episode.faults, made.world


def _until(at: str, now: int) -> int:
    """Return the seconds from now to a moment."""
    if at.startswith("+") and at[1:].isdigit():
        return int(at[1:])
    try:
        moment = parse_time(at)
    except (InputError, ValueError):
        raise InputError(
            f"--at {at}: write +600 (seconds) or a moment such as {iso(now)}"
        ) from None
    if moment < now:
        raise InputError(f"--at {at}: the episode begins at {iso(now)}, which is later")
    return moment - now


class _Straight:
    """Tools that go straight to the session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def now(self) -> int:
        """The simulated moment."""
        return self._session.control.now

    def step(self) -> None:
        """Begin the next step."""
        self._session.step = (self._session.step or 0) + 1


class Trier(ScriptAgent):
    """Plays steps and keeps of each call what an author wants to know."""

    def __init__(
        self, session: Session, faults: Sequence[Fault], world: str, steps: list[Step]
    ) -> None:
        given: Any = Assignment(_Straight(session), [], None)  # ty: ignore[invalid-argument-type]
        super().__init__(given, steps)
        self.session = session
        self.faults = list(faults)
        self.world = world
        self.tried: list[Tried] = []
        self._saved = ""

    async def play(self) -> None:
        """Play all steps; what they say is left out."""
        now = iso(self.session.control.now)
        self.scope |= {"now": now, "today": now[:10], "user": ""}
        async for _ in self._steps:
            pass

    async def _call(self, step: Step) -> None:
        self._saved = step.save or ""
        await super()._call(step)

    async def perform(self, service: str, tool: str, args: dict[str, Any]) -> Any:
        """Make one call and return its data."""
        session = self.session
        owners = [service] if service in session.classes else list(session.classes)
        try:
            args = seeds.resolved(args, self.world, owners)
        except InputError as wrong:
            raise InputError(f"{service}.{tool}: {wrong}") from None
        before = counters(session, self.faults)
        reply = await session.call(service, tool, args)
        attempt = next(e for e in reversed(session.trace()) if isinstance(e, Attempt))
        missed = misses(session, self.faults, before, attempt)
        noted = notes(self.faults, attempt)
        self.tried.append(Tried(attempt, self._saved, missed, noted))
        return reply.data
