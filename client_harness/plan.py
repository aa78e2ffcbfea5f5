"""What a run is to do: the request, its checks, and the trials that follow from it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from client_harness import fingerprints, terms
from client_harness.budget import Budget
from client_harness.chosen import name_of, own_options
from client_harness.contract import Delivery
from client_harness.episode import DisclosureMode
from client_harness.haystack import published
from client_harness.judging.model_reader import JudgeModel
from client_harness.lookup import resolve
from client_harness.results import Arm
from client_harness.telling import Told, told
from client_harness.terms import Reasoning, RunProtocol
from client_harness.tools import Transport
from client_harness.user.voice import SCRIPT, VoiceModel
from fault_profiles.profiles import Profile, profile
from scenarios import load
from scenarios.haystack.instances import crossed
from scenarios.model import Scenario
from scenarios.offered import Offered, narrowed_to
from scenarios.wild.dialogues import Dialogue, gold_tasks
from servers.kit.errors import InputError, did_you_mean, quoted


@dataclass(frozen=True)
class RunRequest:
    """What a run was asked to do, kept in its results so that `resume` needs nothing else.

    `scenarios` are ids or absolute paths. Trial k of a scenario has the seed `scenario.seed + seed
    + k - 1`. `history` holds the numbers of a weave that precedes every scenario (see
    `scenarios.haystack.weave`), `expose` says which tools agents are offered (see
    `scenarios.offered`), `deliver` how they get histories: as one context, or session by session.
    `prefix` says whether the earlier turns of a dialogue are the agent's own, or the oracle's.
    `user` holds the fields of a `VoiceModel` that words what the user says, or None.
    `protocol` and `reasoning` are the terms on which agents play (see `client_harness.terms`).
    `faults` names a profile that replaces the scenarios' own faults. `transport` is how agents in
    this process reach their tools. `agents` are keys (see `chosen`). `options` go to all agents
    that take them and are stored, as the keys are, so never put a secret there. `instructions` (a
    name, or the absolute path of a file) and `guide` are what agents are told (see `telling`).
    `judge` holds the fields of a `JudgeModel` that reads the texts, or None for phrases. `debrief`
    asks agents at the end what is so. `max_cost` (dollars) and `max_tokens` bound what the run may
    spend, and `fail_under` is the rate that agents must reach; like `jobs`, they change no trial,
    and another session of the run may have others.
    """

    scenarios: list[str]
    agents: list[str]
    faulted: bool = True
    clean: bool = False
    trials: int = 1
    seed: int = 0
    jobs: int = 1
    disclosure: DisclosureMode = "notify"
    expose: Offered = "all"
    history: str | None = None
    deliver: Delivery = "context"
    prefix: Literal["own", "gold"] = "own"
    instructions: str | None = None
    guide: list[str] = field(default_factory=list)
    protocol: RunProtocol = "own"
    reasoning: Reasoning = "free"
    faults: str | None = None
    transport: Transport = "memory"
    options: dict[str, Any] = field(default_factory=dict)
    user: dict[str, Any] | None = None
    judge: dict[str, Any] | None = None
    debrief: bool = False
    max_cost: float | None = None
    max_tokens: int | None = None
    fail_under: float | None = None

    @property
    def budget(self) -> Budget:
        """What the run may spend. Raises `InputError` for a bound of 0 or less."""
        return Budget(self.max_cost, self.max_tokens)

    @property
    def voice_model(self) -> VoiceModel | None:
        """The model that words what the user says, or None for the script's words."""
        return None if self.user is None else VoiceModel(**self.user)

    @property
    def told(self) -> Told:
        """What agents are told. Raises `InputError` for what there is not."""
        return told(self.instructions, self.guide)

    @property
    def judge_model(self) -> JudgeModel | None:
        """The model that reads the texts, or None for phrases."""
        return None if self.judge is None else JudgeModel(**self.judge)

    def arms(self) -> tuple[Arm, ...]:
        """Return the arms in which each trial is played."""
        arms: list[Arm] = []
        if self.faulted:
            arms.append("faulted")
        if self.clean:
            arms.append("clean")
        return tuple(arms)


class Job(NamedTuple):
    """The key of a trial to run."""

    scenario: str
    agent: str
    trial: int
    arm: Arm


def jobs_of(request: RunRequest, scenarios: Iterable[str]) -> Iterator[Job]:
    """Yield every trial of a request, in the order in which they are begun."""
    for scenario in scenarios:
        for number in range(1, request.trials + 1):
            for agent in request.agents:
                for arm in request.arms():
                    yield Job(scenario, agent, number, arm)


def profile_of(request: RunRequest) -> Profile | None:
    """Return the profile that replaces the scenarios' faults, or None."""
    return profile(request.faults) if request.faults is not None else None


def checked(request: RunRequest, faults: Profile | None) -> RunRequest:
    """Return a request whose names are valid from any folder.

    Raises `InputError` for a request that cannot be run.
    """
    names = []
    for scenario in load.resolve(request.scenarios):
        names.append(scenario if isinstance(scenario, str) else os.path.realpath(scenario))
    agents = list(dict.fromkeys(request.agents))
    for what, chosen in (("scenario", names), ("agent", agents), ("arm", request.arms())):
        if not chosen:
            raise InputError(f"there is no {what} to run")
    if min(request.trials, request.jobs) < 1:
        raise InputError("--trials and --jobs must be at least 1")
    _ = request.budget
    if request.protocol == "published":
        published.check(request.debrief, request.told, faults)
    instructions = request.told.instructions
    options = list(request.options)
    for key in agents:
        options += own_options(key)
    for option in options:
        if option.lower().endswith(("key", "secret", "password")):
            raise InputError(
                f"option {option}: options are stored with the results; "
                "pass secrets through the environment"
            )
    check_options(agents, request.options)
    named = faults.name if faults is not None else None
    return replace(request, scenarios=names, agents=agents, faults=named, instructions=instructions)


def options_of(agent: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of a run's options that an agent takes, and its own, which come first."""
    known = getattr(resolve(agent), "OPTIONS", ())
    common = {name: value for name, value in options.items() if name in known}
    return common | own_options(agent)


def check_options(agents: Sequence[str], options: Mapping[str, Any]) -> None:
    """Raise `InputError` for an option that no agent takes, or that one cannot work with."""
    known: set[str] = set()
    for agent in agents:
        takes = getattr(resolve(agent), "OPTIONS", ())
        for option in own_options(agent):
            if option not in takes:
                raise _untaken(f"the agent {name_of(agent)} takes", option, takes)
        known |= set(takes)
    for option in options:
        if option not in known:
            named = f"the agent {agents[0]} takes" if len(agents) == 1 else "the agents take"
            raise _untaken(named, option, known)
    for agent in agents:
        check = getattr(resolve(agent), "check", None)
        if check is not None:
            check(options_of(agent, options))


def _untaken(named: str, option: str, known: Collection[str]) -> InputError:
    hint = did_you_mean(option, known) if known else ", nor any other"
    return InputError(f"{named} no option {quoted(option)}{hint}")


def scenarios_of(request: RunRequest) -> dict[str, Scenario]:
    """Return the scenarios of a request by id, after the history that it weaves.

    The published protocol leaves out those that it cannot judge. Raises `InputError`.
    """
    scenarios: dict[str, Scenario] = {}
    for name in request.scenarios:
        scenario = load.load(Path(name) if Path(name).is_absolute() else name)
        if scenario.id in scenarios:
            raise InputError(f"two scenarios are called {scenario.id!r}; rename one of the files")
        for part in _parts(scenario, request):
            after = [part] if request.history is None else crossed(part, request.history)
            scenarios |= {one.id: narrowed_to(one, request.expose) for one in after}
    return published.played(scenarios) if request.protocol == "published" else scenarios


def _parts(scenario: Scenario, request: RunRequest) -> list[Dialogue] | list[Scenario]:
    """Return the tasks of a dialogue if each is to be a trial of its own, or the scenario itself.

    Raises `InputError` for a scenario that has no tasks.
    """
    if request.prefix == "own":
        return [scenario]
    if not isinstance(scenario, Dialogue):
        raise InputError(
            f"--prefix gold: {scenario.id} is no dialogue; `client_harness list tasks` shows them"
        )
    return gold_tasks(scenario) if scenario.facts.gold is None else [scenario]


def fingerprints_of(
    request: RunRequest, scenarios: dict[str, Scenario], faults: Profile | None
) -> dict[str, str]:
    """Return the fingerprints of a run: nothing about budgets, jobs or retries is in them."""
    prints = fingerprints.fingerprints(
        scenarios.values(),
        request.disclosure,
        faults,
        reader_of(request.judge_model),
        exposure=request.expose,
        delivery=request.deliver,
        user=SCRIPT if request.voice_model is None else request.voice_model.fingerprint,
        told=request.told.fingerprint,
    )
    return prints | terms.fingerprints(request.protocol, request.reasoning)


def reader_of(model: JudgeModel | None) -> str:
    """Return the fingerprint of what reads the texts."""
    return fingerprints.PHRASES if model is None else model.fingerprint
