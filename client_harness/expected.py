"""What right runs of a scenario change in the world: the oracle and every route, played here.

Each is played with the scenario's faults and without them, once for each fingerprint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from client_harness.agents._script import ScriptAgent
from client_harness.episode import Episode
from client_harness.once import Once
from client_harness.tools import in_memory
from fault_profiles.model import Fault
from judge.change import Expected, Route, Timeline, timeline
from scenarios import load
from scenarios.model import Scenario
from scenarios.script import Step
from servers.kit.errors import InputError

Known = Once[tuple[Any, ...], Expected]
"""Expectations that were computed already, by what they depend on. A run keeps one of these."""


async def expected(
    scenario: Scenario,
    known: Known | None = None,
    *,
    faults: Sequence[Fault] | None = None,
    seed: int | None = None,
) -> Expected:
    """Return what right runs of a scenario change.

    `faults` replace the scenario's own (a profile), `seed` its seed, by which faults of chance fire
    and people answer: somebody may have paid already when a request is closed. Under either, a run
    may match the scenario's own right runs or those under the same faults and seed.
    """
    known = Known() if known is None else known
    own_seed = None if seed == scenario.seed else seed
    key = (load.fingerprint(scenario), _text(faults), own_seed)
    if faults is None and own_seed is None:
        return await known.get(key, lambda: _own(scenario))
    own = await expected(scenario, known)
    return await known.get(key, lambda: _with_foreign(scenario, own, faults, own_seed))


def _text(faults: Sequence[Fault] | None) -> str:
    return "" if faults is None else repr([(f.kind, f.model_dump_json()) for f in faults])


async def _own(scenario: Scenario) -> Expected:
    routes: list[Route] = []
    complete = True
    for name, steps in _scripts(scenario):
        try:
            clean = await play(scenario, steps, faulted=False)
            faulted = await play(scenario, steps)
        except InputError:
            complete = False  # the proof tells why; here, no outcome is known
            continue
        routes += [Route(name, faulted, True), Route(f"{name}, without faults", clean, False)]
    return Expected(
        routes, len(scenario.turns), scenario.freedom, scenario.change.windows, complete
    )


async def _with_foreign(
    scenario: Scenario, own: Expected, faults: Sequence[Fault] | None, seed: int | None
) -> Expected:
    """Return the scenario's own right runs and those under other faults or another seed."""
    routes = list(own.routes)
    complete = own.complete
    given = None if faults is None else list(faults)
    for name, steps in _scripts(scenario):
        try:
            met = await play(scenario, steps, faults=given, seed=seed)
        except InputError:
            complete = False
            continue
        routes.append(Route(f"{name}, under these faults", met, True))
    return Expected(routes, own.turns, own.freedom, own.windows, complete)


def _scripts(scenario: Scenario) -> list[tuple[str, list[Step]]]:
    scripts = [("the oracle", scenario.scripts.oracle)]
    for route in scenario.routes:
        scripts.append((route.about, route.edit(scenario.scripts.oracle)))
    return scripts


async def play(
    scenario: Scenario,
    steps: list[Step],
    *,
    faulted: bool = True,
    faults: list[Fault] | None = None,
    seed: int | None = None,
) -> Timeline:
    """Play a script and return what it changed.

    Raises `InputError` if the script cannot be played to its end.
    """
    episode = Episode(scenario, faulted=faulted, faults=faults, seed=seed)
    try:
        wrong: InputError | None = None
        async with in_memory(episode.session) as tools:
            try:
                await episode.begin()
                agent = ScriptAgent(episode.assignment(tools), steps)
                await episode.converse(agent)
            except InputError as mistake:
                # Raised again outside, where the client's task group cannot wrap it.
                wrong = mistake
        if wrong is not None:
            raise InputError(f"a script: {wrong}")
        made = timeline(episode.session.trace(), len(scenario.turns))
        assert made is not None, "an episode that has ended has an end"
        return made
    finally:
        episode.close()
