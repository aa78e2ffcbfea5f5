"""Runs: every trial of some agents over some scenarios.

Each trial is stored as it ends, so a run can be resumed after an interruption at any moment.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from client_harness import fingerprints
from client_harness._host import Host, Servers
from client_harness.agents._script import ScriptAgent
from client_harness.contract import Agent, Assignment, CanRemember, Delivery
from client_harness.delivery import check_delivery
from client_harness.episode import DisclosureMode, Episode, final_world, record
from client_harness.expected import Known, expected
from client_harness.haystack.labels import story
from client_harness.judging import debrief
from client_harness.judging.answers import Answers
from client_harness.judging.model_reader import FILE, Asker, JudgeModel, judged
from client_harness.lookup import resolve
from client_harness.results import JUDGED, Arm, Results, Trial
from client_harness.tools import Tools, Transport, in_memory, over_http
from fault_profiles.profiles import Profile, profile
from judge.change import Expected
from judge.metrics import needless_calls
from judge.reading import Reader
from judge.trace import Record
from judge.verdict import judge
from scenarios import load
from scenarios.haystack.instances import Instance, crossed
from scenarios.model import Scenario
from scenarios.offered import Offered, narrowed_to
from servers.kit.errors import InputError
from servers.kit.events import Attempt, Event, end_of, read_trace, to_json
from servers.kit.session import ALL
from servers.kit.store import World

Tell = Callable[[int, int, Trial | None], None]
"""Called with the number of stored trials, the number of all trials, and the last one stored."""


@dataclass(frozen=True)
class RunRequest:
    """What a run was asked to do, kept in its results so that `resume` needs nothing else.

    `scenarios` are ids or absolute paths. Trial k of a scenario has the seed `scenario.seed + seed
    + k - 1`. `history` holds the numbers of a weave that precedes every scenario (see
    `scenarios.haystack.weave`), `expose` says which tools agents are offered (see
    `scenarios.offered`), `deliver` how they get histories: as one context, or session by session.
    `faults` names a profile that replaces the scenarios' own faults. `transport` is how agents in
    this process reach their tools. `options` go to the agents and are stored, so never put a secret
    there. `judge` holds the fields of a `JudgeModel` that reads the texts, or None for phrases.
    `debrief` asks agents at the end what is so.
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
    faults: str | None = None
    transport: Transport = "memory"
    options: dict[str, Any] = field(default_factory=dict)
    judge: dict[str, Any] | None = None
    debrief: bool = False

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


def _jobs(request: RunRequest, scenarios: Iterable[str]) -> Iterator[Job]:
    for scenario in scenarios:
        for number in range(1, request.trials + 1):
            for agent in request.agents:
                for arm in request.arms():
                    yield Job(scenario, agent, number, arm)


def start(request: RunRequest, home: Path | Callable[[], Path]) -> Run:
    """Return a new run in a folder.

    A callable `home` makes the folder, and is called only after all names have been checked. Raises
    `InputError` if a name is wrong or the folder already holds a run.
    """
    faults = _profile(request)
    request = _checked(request, faults)
    scenarios = _scenarios(request)
    prints = _fingerprints(request, scenarios, faults)
    if request.deliver == "sessions":
        check_delivery(request.agents, request.options, scenarios.values())
    folder = home if isinstance(home, Path) else home()
    return Run(Results.create(folder, asdict(request), prints), request, scenarios, faults)


def reopen(home: Path, jobs: int | None = None) -> Run:
    """Return a run that was begun, so that it can be finished (with another number of `jobs`).

    Raises `InputError` if what it runs has changed since.
    """
    results = Results.open(home)
    request = RunRequest(**results.request)
    scenarios = _scenarios(request)
    faults = _profile(request)
    prints = _fingerprints(request, scenarios, faults)
    changed = [part for part, value in prints.items() if results.fingerprints.get(part) != value]
    if changed:
        raise InputError(
            f"{home}: {', '.join(changed)} changed since the run began, "
            "so its trials would not be comparable; begin a new run"
        )
    if jobs is not None:
        request = replace(request, jobs=max(1, jobs))
    return Run(results, request, scenarios, faults)


def _fingerprints(
    request: RunRequest, scenarios: dict[str, Scenario], faults: Profile | None
) -> dict[str, str]:
    return fingerprints.fingerprints(
        scenarios.values(),
        request.disclosure,
        faults,
        _reader(request.judge_model),
        exposure=request.expose,
        delivery=request.deliver,
    )


def _reader(model: JudgeModel | None) -> str:
    return fingerprints.PHRASES if model is None else model.fingerprint


def _asker(model: JudgeModel | None, home: Path) -> Asker | None:
    return None if model is None else Asker(model, Answers(home / FILE))


def new_home(parent: Path = Path("runs")) -> Path:
    """Make the next numbered folder and return it."""
    parent.mkdir(parents=True, exist_ok=True)
    number = max((int(p.name) for p in parent.iterdir() if p.name.isdigit()), default=0)
    while True:
        number += 1
        home = parent / f"{number:04}"
        try:
            home.mkdir()
        except FileExistsError:
            continue  # another run has taken the number
        return home


def _profile(request: RunRequest) -> Profile | None:
    return profile(request.faults) if request.faults is not None else None


def _checked(request: RunRequest, faults: Profile | None) -> RunRequest:
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
    for option in request.options:
        if option.lower().endswith(("key", "secret", "password")):
            raise InputError(
                f"option {option}: options are stored with the results; "
                "pass secrets through the environment"
            )
    for agent in agents:
        resolve(agent)
    named = faults.name if faults is not None else None
    return replace(request, scenarios=names, agents=agents, faults=named)


def _scenarios(request: RunRequest) -> dict[str, Scenario]:
    scenarios: dict[str, Scenario] = {}
    for name in request.scenarios:
        scenario = load.load(Path(name) if Path(name).is_absolute() else name)
        if scenario.id in scenarios:
            raise InputError(f"two scenarios are called {scenario.id!r}; rename one of the files")
        after = [scenario] if request.history is None else crossed(scenario, request.history)
        scenarios |= {one.id: narrowed_to(one, request.expose) for one in after}
    return scenarios


class Run:
    """A run: its results so far, and the means to finish it."""

    def __init__(
        self,
        results: Results,
        request: RunRequest,
        scenarios: dict[str, Scenario],
        profile: Profile | None,
    ) -> None:
        self.results = results
        self.request = request
        self.scenarios = scenarios
        self.faults = profile.faults if profile is not None else None
        self.jobs = list(_jobs(request, scenarios))
        self._asker = _asker(request.judge_model, results.home)
        self._known: Known = {}
        self._oracle: dict[tuple[str, Arm], Counter[str] | None] = {}

    def finish(self, tell: Tell = lambda done, total, trial: None) -> None:
        """Run the trials that have no row yet, `request.jobs` at a time.

        Raises `InputError` for a mistake in the request that only shows when an agent runs.
        """
        try:
            anyio.run(self._finish, tell)
        except BaseExceptionGroup as group:
            if isinstance(leaf(group), InputError | KeyboardInterrupt):
                raise leaf(group) from None
            raise

    async def _finish(self, tell: Tell) -> None:
        done = self.results.done()
        todo = [job for job in self.jobs if job not in done]
        stored = len(self.jobs) - len(todo)
        tell(stored, len(self.jobs), None)
        places = anyio.CapacityLimiter(self.request.jobs)
        if self._asker is not None and todo:
            await self._asker.start()

        async def one(job: Job) -> None:
            nonlocal stored
            try:
                trial = await self._trial(job, host)
            finally:
                places.release_on_behalf_of(job)
            stored += 1
            tell(stored, len(self.jobs), trial)

        async with anyio.create_task_group() as around:
            host = Host(around)
            async with anyio.create_task_group() as trials:
                for job in todo:
                    await places.acquire_on_behalf_of(job)
                    trials.start_soon(one, job)
            host.close()

    async def _trial(self, job: Job, host: Host) -> Trial:
        for tries in (1, 2):
            trial, lines = await self._once(job, host)
            trial.tries = tries
            if not trial.unknown:
                break
        self.results.write_trace(self.results.home / trial.trace, lines)
        self.results.add(trial)
        return trial

    async def _once(self, job: Job, host: Host) -> tuple[Trial, list[str]]:
        scenario = self.scenarios[job.scenario]
        seed = scenario.seed + self.request.seed + job.trial - 1
        episode = self._episode(scenario, job.arm, seed)
        try:
            clean = "clean-" if job.arm == "clean" else ""
            name = f"{job.agent}-{clean}{job.trial}"
            asked: dict[str, Any] = {}
            wanted = asked if self.request.debrief else None
            crash = await self._converse(episode, job.agent, host, f"{job.scenario}/{name}", wanted)
            if crash is not None:
                episode.finish("crash")
            events = episode.session.trace()
            trial = Trial(
                **job._asdict(),
                seed=seed,
                status=episode.status if crash is None else "crash",
                reason=crash if crash is not None else _reason(episode, events),
                seconds=episode.control.now - episode.control.start,
                usage=episode.usage,
                trace=f"traces/{job.scenario}/{name}.jsonl",
                disclosure=self.request.disclosure,
                failure=scenario.failure,
                temporary=scenario.temporary,
                twin=scenario.twin,
                calls=_by_tool(events).total(),
                fingerprints=self.results.fingerprints,
                **_unjudged(job.arm, crash or ""),
            )
            if crash is None:
                right = await expected(scenario, self._known, faults=self.faults, seed=seed)
                last, trial.reading = await judged(
                    self._asker,
                    lambda reader: _judge(trial, scenario, episode.record(right, reader)),
                )
                if asked:
                    findings = trial.verdicts[JUDGED[job.arm][0]]["findings"]
                    trial.debrief = debrief.scored(asked, scenario, last, findings)
        finally:
            episode.close()
        needed = await self._oracle_calls(scenario, job.arm, host)
        if needed is not None:
            trial.oracle_calls = needed.total()
            trial.needless = needless_calls(_by_tool(events), needed)
        return trial, [to_json(e) for e in events]

    def _episode(self, scenario: Scenario, arm: Arm, seed: int) -> Episode:
        faulted = arm == "faulted"
        return Episode(
            scenario,
            seed=seed,
            faulted=faulted,
            disclose=self.request.disclosure,
            faults=self.faults,
            expose="search" if self.request.expose == "search" else "all",
        )

    async def _converse(
        self,
        episode: Episode,
        agent: str,
        host: Host,
        trial: str,
        asked: dict[str, Any] | None = None,
    ) -> str | None:
        """Play an episode and, if `asked` is given, ask the agent afterwards and put its answers
        there.

        Returns how Haywire or a model's provider failed, or None if the episode came to its end.
        """
        crash: BaseException | None = None
        ended = False
        try:
            with host.offers(episode.session) as servers:
                async with await self._tools(episode, servers) as tools:
                    given = self._assignment(episode, tools, servers, trial)
                    try:
                        async with resolve(agent).agent(given) as playing:
                            await _play(episode, playing, given.to_remember > 0)
                            ended = True
                            if asked is not None:
                                seed = episode.control.seed
                                asked |= await debrief.ask(
                                    playing, episode.scenario, seed, episode.record()
                                )
                    except Exception as problem:
                        # Raised later: the client's task group would wrap it here.
                        crash = problem
        except Exception as problem:
            crash = crash or problem
        if crash is not None and isinstance(leaf(crash), InputError):
            raise leaf(crash)
        if crash is None or ended:
            return None
        return f"{type(leaf(crash)).__name__}: {leaf(crash)}"

    def _assignment(
        self, episode: Episode, tools: Tools, servers: Servers, trial: str
    ) -> Assignment:
        given = Assignment(tools, [], episode.scenario, self.request.options, servers, trial)
        if self.request.deliver == "sessions":
            given.to_remember = len(episode.sessions)
        else:
            given.history = episode.sessions
        return given

    async def _tools(
        self, episode: Episode, servers: Servers
    ) -> AbstractAsyncContextManager[Tools]:
        if self.request.transport == "memory":
            return in_memory(episode.session)
        first = (await servers())[0]
        url = first["url"].replace(f"/{first['name']}/mcp", f"/{ALL}/mcp")
        return over_http(episode.session, {**first, "url": url})

    async def _oracle_calls(self, scenario: Scenario, arm: Arm, host: Host) -> Counter[str] | None:
        key = scenario.id, arm
        if key not in self._oracle:
            episode = self._episode(scenario, arm, scenario.seed + self.request.seed)
            try:
                crash = await self._converse(episode, "oracle", host, "")
                self._oracle[key] = None if crash is not None else _by_tool(episode.session.trace())
            finally:
                episode.close()
        return self._oracle[key]


def rejudge(
    home: Path,
    tell: Tell = lambda done, total, trial: None,
    model: JudgeModel | None = None,
) -> Results:
    """Judge a run's recorded traces again with the current checks and store the verdicts.

    No agent is run: the final worlds are rebuilt from the traces. `model` reads the texts; without
    it, phrases do. Returns the results. Raises `InputError` if a trace is missing, the world has
    changed or the model is of no use.
    """
    results = Results.open(home)
    request = RunRequest(**results.request)
    scenarios = _scenarios(request)
    if results.fingerprints["world"] != fingerprints.world(scenarios.values()):
        raise InputError(
            f"{home}: its world has changed since, so the final worlds of its traces "
            "cannot be rebuilt; begin a new run"
        )
    anyio.run(_rejudge, results, scenarios, _profile(request), model, tell)
    return results


async def _rejudge(
    results: Results,
    scenarios: dict[str, Scenario],
    faults: Profile | None,
    model: JudgeModel | None,
    tell: Tell,
) -> None:
    asker = _asker(model, results.home)
    known: Known = {}
    prints = {"judge": fingerprints.judging(scenarios.values()), "reader": _reader(model)}
    trials = results.trials()
    for number, trial in enumerate(trials, 1):
        if trial.status != "crash":
            scenario = scenarios[trial.scenario]
            events, world = _recorded(results.trace_of(trial), scenario)
            right = await expected(
                scenario, known, faults=faults.faults if faults else None, seed=trial.seed
            )
            try:
                await _judge_again(trial, scenario, asker, events, world, right)
            finally:
                world.close()
            trial.fingerprints |= prints
            results.replace(trial)
        tell(number, len(trials), trial)
    results.refingerprint(**prints)


def _recorded(path: Path, scenario: Scenario) -> tuple[list[Event], World]:
    """Return a recorded trace and the world at its end. Raises `InputError`."""
    events = read_trace(path)
    try:
        return events, final_world(scenario, events)
    except (InputError, StopIteration) as wrong:
        raise InputError(f"{path}: not a complete trace ({wrong})") from None


async def _judge_again(
    trial: Trial,
    scenario: Scenario,
    asker: Asker | None,
    events: list[Event],
    world: World,
    right: Expected,
) -> None:
    def once(reader: Reader | None) -> Record:
        return _judge(trial, scenario, record(events, world, right, reader))

    last, trial.reading = await judged(asker, once)
    if trial.debrief:
        findings = trial.verdicts[JUDGED[trial.arm][0]]["findings"]
        trial.debrief = debrief.scored(trial.debrief, scenario, last, findings)


async def _play(episode: Episode, agent: Agent, by_session: bool) -> None:
    """Play an episode with an agent that, if it is `by_session`, first gets the past so."""
    try:
        if by_session and isinstance(agent, CanRemember) and not await episode.hand_over(agent):
            return
        await episode.converse(agent)
    except InputError as stuck:
        if not isinstance(agent, ScriptAgent):
            raise
        # Under a profile, a script may meet a reply that its own scenario never gives. That is the
        # script's failure, not Haywire's.
        episode.status = "error"
        episode.finish("error", reason=f"the script cannot go on: {stuck}")


def _unjudged(arm: Arm, why: str) -> dict[str, Any]:
    unknown = {"value": "unknown", "score": None, "why": why, "findings": []}
    return {
        "verdicts": {name: dict(unknown) for name in JUDGED[arm]},
        "exposed": True,
        "order_inferred": False,
    }


def _judge(trial: Trial, scenario: Scenario, recorded: Record) -> Record:
    """Judge a record, put the verdicts into a trial, and return the record."""
    trial.__dict__ |= _unjudged(trial.arm, "")
    for name in JUDGED[trial.arm]:
        verdict = judge(scenario.gates, recorded, name)
        data = verdict.as_json()
        trial.verdicts[name] = {part: data[part] for part in ("value", "score", "why", "findings")}
        trial.exposed = trial.exposed and verdict.exposed
        trial.order_inferred = trial.order_inferred or verdict.order_inferred
    if isinstance(scenario, Instance):
        passed = trial.verdicts[JUDGED[trial.arm][0]]["value"] == "pass"
        trial.story = dict(story(scenario, recorded, passed=passed))
    return recorded


def _reason(episode: Episode, events: list[Event]) -> str | None:
    """Return why an episode did not end with done: a bug in Haywire, or what its end says."""
    end = end_of(events)
    reasons = [*episode.session.bugs, end.reason if end is not None else None]
    return next((r for r in reasons if r), None)


def _by_tool(events: list[Event]) -> Counter[str]:
    return Counter(e.name for e in events if isinstance(e, Attempt))


def leaf(problem: BaseException) -> BaseException:
    """Return the exception inside nested groups.

    An `InputError` takes precedence over the first exception.
    """
    while isinstance(problem, BaseExceptionGroup):
        inner = [leaf(e) for e in problem.exceptions]
        problem = next((e for e in inner if isinstance(e, InputError)), inner[0])
    return problem
