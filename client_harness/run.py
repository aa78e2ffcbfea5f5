"""Runs: every trial of some agents over some scenarios.

Each trial is stored as it ends, so a run can be resumed after an interruption at any moment.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio

from client_harness._host import Host, Servers
from client_harness.budget import Spent
from client_harness.chosen import slugs
from client_harness.collecting import seldom_collecting
from client_harness.contract import AgentError, Assignment, ProviderOutage
from client_harness.conversation import Outage, converse, crashed, failed, identity_of, leaf
from client_harness.delivery import check_delivery, check_terms
from client_harness.episode import Episode, record
from client_harness.expected import Known, expected
from client_harness.judging import debrief
from client_harness.judging.model_reader import Unreachable, asker, judged
from client_harness.lookup import resolve
from client_harness.once import Once
from client_harness.plan import (
    Job,
    RunRequest,
    checked,
    fingerprints_of,
    jobs_of,
    options_of,
    profile_of,
    scenarios_of,
)
from client_harness.results import JUDGED, Arm, Results, Trial
from client_harness.telling.schema import hints
from client_harness.terms import terms
from client_harness.tools import Tools, in_memory, over_http
from client_harness.user.voice import Voice
from client_harness.verdicts import judge_into, unjudged
from fault_profiles.profiles import Profile
from judge.metrics import needless_calls
from scenarios.model import Scenario
from scenarios.worlds import build
from servers.kit.errors import InputError
from servers.kit.events import Attempt, Event, Message, end_of, from_json
from servers.kit.session import ALL

FIRST = 3
"""How many trials of an agent must fail to start for one reason before a run stops."""
Tell = Callable[[int, int, Trial | None], None]
"""Called with the number of stored trials, the number of all trials, and the last one stored."""


def start(request: RunRequest, home: Path | Callable[[], Path]) -> Run:
    """Return a new run in a folder.

    A callable `home` makes the folder, and is called only after all names have been checked. Raises
    `InputError` if a name is wrong or the folder already holds a run.
    """
    faults = profile_of(request)
    request = checked(request, faults)
    scenarios = scenarios_of(request)
    prints = fingerprints_of(request, scenarios, faults)
    if request.deliver == "sessions":
        check_delivery(request.agents, request.options, scenarios.values())
    check_terms(request, scenarios.values())
    folder = home if isinstance(home, Path) else home()
    planned = len(list(jobs_of(request, scenarios)))
    results = Results.create(folder, asdict(request), prints, planned)
    return Run(results, request, scenarios, faults)


def reopen(home: Path, **changes: Any) -> Run:
    """Return a run that was begun, so that it can be finished.

    `changes` are fields of the request that change no trial: `jobs`, `max_cost`, `max_tokens`,
    `fail_under`; None leaves one as it was. Raises `InputError` if what the run plays has changed
    since.
    """
    results = Results.open(home)
    request = RunRequest(**results.request)
    scenarios = scenarios_of(request)
    faults = profile_of(request)
    prints = fingerprints_of(request, scenarios, faults)
    changed = [part for part, value in prints.items() if results.fingerprints.get(part) != value]
    if changed:
        raise InputError(
            f"{home}: {', '.join(changed)} changed since the run began, "
            "so its trials would not be comparable; begin a new run"
        )
    given = {name: value for name, value in changes.items() if value is not None}
    request = replace(request, **given)
    if request.jobs < 1:
        raise InputError("--jobs must be at least 1")
    return Run(results, request, scenarios, faults)


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


class Run:
    """A run: its results so far, and the means to finish it.

    `spent` is what it has used until now, and `stopped` says why it stopped before its time;
    `failed_to_start` whether that is because agents, or the judge model, could not start.
    """

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
        self.jobs = list(jobs_of(request, scenarios))
        self._slugs = slugs(request.agents)
        self._asker = asker(request.judge_model, results.home)
        self._told = request.told
        self._known = Known()
        self._oracle: Once[tuple[str, Arm], Counter[str] | None] = Once()
        self._budget = request.budget
        self.spent = Spent()
        self.stopped = ""
        self.failed_to_start = False
        self._starts: dict[str, list[str]] = {}

    def finish(self, tell: Tell = lambda done, total, trial: None) -> None:
        """Run the trials that have no row yet or are unknown, `request.jobs` at a time.

        It stops early if the budget is spent, or if the first trials of an agent could not start
        for one reason outside of it. Raises `InputError` for a mistake in the request that only
        shows when an agent runs.
        """
        try:
            with seldom_collecting():
                anyio.run(self._finish, tell)
        except BaseExceptionGroup as group:
            if isinstance(leaf(group), InputError | KeyboardInterrupt):
                raise leaf(group) from None
            raise

    async def _finish(self, tell: Tell) -> None:
        known = {trial.key: trial for trial in self.results.trials()}
        settled = {key for key, trial in known.items() if not trial.unknown}
        todo = [job for job in self.jobs if job not in settled]
        stored = len(self.jobs) - len(todo)
        self.spent = Spent.of(known.values())
        tell(stored, len(self.jobs), None)
        places = anyio.CapacityLimiter(self.request.jobs)
        if self._asker is not None and todo:
            try:
                await self._asker.start()
            except Unreachable as away:
                self._stop(str(away))
                return

        async def one(job: Job) -> None:
            nonlocal stored
            try:
                trial, outage = await self._trial(job, host, known.get(job))
            finally:
                places.release_on_behalf_of(job)
            stored += 1
            self._look_at(trial, known.get(job), outage)
            tell(stored, len(self.jobs), trial)

        async with anyio.create_task_group() as around:
            host = Host(around)
            async with anyio.create_task_group() as trials:
                for job in todo:
                    await places.acquire_on_behalf_of(job)
                    self.stopped = self.stopped or self._budget.exceeded(self.spent)
                    if self.stopped:
                        places.release_on_behalf_of(job)
                        break
                    trials.start_soon(one, job)
            host.close()

    def _look_at(self, trial: Trial, before: Trial | None, outage: Outage | None) -> None:
        """Count what a trial used, and see whether it makes sense to go on.

        `before` is its row until now, which is counted already. Raises `InputError` if the budget
        cannot work.
        """
        self.spent.add(trial)
        if before is not None:
            self.spent.take_back(before)
        self._budget.must_bind(trial)
        starts = self._starts.setdefault(trial.agent, [])
        if len(starts) == FIRST:
            return
        starts.append(outage.cause if outage is not None and outage.at_start else "")
        if outage is not None and starts == [outage.cause] * FIRST and not self.stopped:
            first = f"the first {FIRST} trials of {trial.agent} could not start"
            self._stop(f"{first}: {outage.reason}")

    def _stop(self, why: str) -> None:
        self.stopped = why
        self.failed_to_start = True

    async def _trial(
        self, job: Job, host: Host, unknown: Trial | None
    ) -> tuple[Trial, Outage | None]:
        """Play a trial and store it.

        What is unknown is played a second time, unless its cause is lasting. `unknown` is the
        stored trial of an earlier session: it is kept among the earlier tries of the new one.
        """
        earlier = list(unknown.earlier) if unknown is not None else []
        if unknown is not None:
            earlier.append(_kept(unknown))
        trial, outage = await self._once(job, host, earlier)
        if trial.unknown and not (outage is not None and outage.lasting):
            earlier.append(_kept(trial))
            trial, outage = await self._once(job, host, earlier)
        self.results.store(trial)
        return trial, outage

    async def _once(
        self, job: Job, host: Host, earlier: list[dict[str, Any]]
    ) -> tuple[Trial, Outage | None]:
        """Play a trial once and write its trace."""
        scenario = self.scenarios[job.scenario]
        seed = scenario.seed + self.request.seed + job.trial - 1
        clean = "clean-" if job.arm == "clean" else ""
        name = f"{job.scenario}/{self._slugs[job.agent]}-{clean}{job.trial}"
        tries = 1 + len(earlier)
        file = f"traces/{name}" if tries == 1 else f"traces/{name}.try-{tries}"
        began = datetime.now(UTC)
        clock = time.monotonic()
        episode = self._episode(scenario, job.arm, seed)
        try:
            asked: dict[str, Any] = {}
            beside = self.results.home / file
            played = _Played(asked if self.request.debrief else None, beside)
            await self._converse(episode, job.agent, host, name, played)
            outage = played.outage
            if outage is not None:
                episode.finish("crash")
            lines = episode.control.trace()
            events = [from_json(line) for line in lines]
            own = [event for event in events if event.turn > scenario.begun]
            if outage is not None and not any(_is_of_agent(event) for event in own):
                outage = replace(outage, at_start=True)
            trial = Trial(
                **job._asdict(),
                seed=seed,
                status=episode.status if outage is None else "crash",
                reason=outage.reason if outage is not None else _reason(episode, events),
                seconds=episode.control.now - episode.control.start,
                usage=episode.usage | (episode.voice.usage if episode.voice else {}),
                trace=f"{file}.jsonl",
                disclosure=episode.disclose_mode,
                failure=scenario.failure,
                temporary=scenario.temporary,
                twin=scenario.twin,
                calls=_by_tool(own).total(),
                fingerprints=self.results.fingerprints,
                identity=played.identity,
                told=played.told,
                tries=tries,
                earlier=list(earlier),
                began=began.isoformat(timespec="seconds"),
                **unjudged(job.arm, outage.reason if outage is not None else ""),
            )
            if outage is None:
                try:
                    await self._judge(trial, episode, events, asked)
                except InputError:
                    raise
                except Exception as bug:
                    # One trial that cannot be judged must not end a run of hundreds.
                    trial.reason = Outage.of(bug).reason
                    trial.__dict__ |= unjudged(job.arm, trial.reason)
        finally:
            episode.close()
        needed = await self._oracle_calls(scenario, job.arm, host)
        if needed is not None:
            trial.oracle_calls = needed.total()
            trial.needless = needless_calls(_by_tool(own), needed)
        trial.wall_seconds = round(time.monotonic() - clock, 3)
        trial.ended = datetime.now(UTC).isoformat(timespec="seconds")
        trace = self.results.home / trial.trace
        self.results.write_trace(trace, lines)
        return trial, outage

    async def _judge(
        self, trial: Trial, episode: Episode, events: list[Event], asked: dict[str, Any]
    ) -> None:
        scenario = episode.scenario
        right = await expected(scenario, self._known, faults=self.faults, seed=trial.seed)
        last, trial.reading = await judged(
            self._asker,
            lambda reader: judge_into(
                trial, scenario, record(events, episode.world, right, reader)
            ),
        )
        if asked:
            findings = trial.verdicts[JUDGED[trial.arm][0]]["findings"]
            trial.debrief = debrief.scored(asked, scenario, last, findings)

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
        self, episode: Episode, agent: str, host: Host, trial: str, played: _Played
    ) -> None:
        """Play an episode and say in `played` what came of it.

        If `played.wanted` is given, the agent is asked afterwards, and its answers go there.
        """
        problem: BaseException | None = None
        starting = False
        ended = False
        try:
            await episode.begin()
            if self.request.voice_model is not None and played.voiced:
                name = build.person(episode.scenario.world)["name"]
                episode.voice = Voice(self.request.voice_model, name)
            with host.offers(episode.session) as servers:
                async with await self._tools(episode, servers) as tools:
                    given = self._assignment(episode, tools, servers, agent, trial)
                    if played.beside is not None:
                        given.stderr = played.beside.with_name(f"{played.beside.name}.stderr.txt")
                        given.steps = played.beside.with_name(f"{played.beside.name}.steps.jsonl")
                    given.lock = episode.lock
                    given.hold = episode.session.hold_replies
                    given.told = self._told
                    if self._told.schema:
                        episode.session.hint = hints(episode.session)
                    module = resolve(agent)
                    try:
                        starting = True
                        async with module.agent(given) as playing:
                            starting = False
                            kind = getattr(playing, "takes", None)
                            played.told = given.told.as_json(kind) if kind is not None else {}
                            try:
                                await converse(episode, playing, by_session=given.to_remember > 0)
                            finally:
                                # Some agents know only then which model answered them.
                                played.identity = identity_of(playing)
                            ended = True
                            if played.wanted is not None:
                                seed = episode.control.seed
                                played.wanted |= await debrief.ask(
                                    playing, episode.scenario, seed, episode.record()
                                )
                    except Exception as raised:
                        # Looked at later: the client's task group would wrap it here.
                        problem = raised
        except Exception as raised:
            problem = problem or raised
        if problem is None:
            return
        cause = leaf(problem)
        if isinstance(cause, InputError):
            raise cause
        if ended:
            return
        if isinstance(cause, AgentError):
            failed(episode, str(cause))
        elif starting and isinstance(cause, Exception) and not isinstance(cause, ProviderOutage):
            failed(episode, crashed(cause))
        else:
            played.outage = Outage.of(cause)

    def _assignment(
        self, episode: Episode, tools: Tools, servers: Servers, agent: str, trial: str
    ) -> Assignment:
        return episode.assignment(
            tools,
            by_session=self.request.deliver == "sessions",
            options=options_of(agent, self.request.options),
            servers=servers,
            trial=trial,
            terms=terms(self.request.protocol, self.request.reasoning),
        )

    async def _tools(
        self, episode: Episode, servers: Servers
    ) -> AbstractAsyncContextManager[Tools]:
        if self.request.transport == "memory":
            return in_memory(episode.session)
        first = (await servers())[0]
        url = first["url"].replace(f"/{first['name']}/mcp", f"/{ALL}/mcp")
        return over_http(episode.session, {**first, "url": url})

    async def _oracle_calls(self, scenario: Scenario, arm: Arm, host: Host) -> Counter[str] | None:
        async def play() -> Counter[str] | None:
            episode = self._episode(scenario, arm, scenario.seed + self.request.seed)
            try:
                played = _Played(voiced=False)
                await self._converse(episode, "oracle", host, "", played)
                events = episode.session.trace()
                calls = _by_tool([event for event in events if event.turn > scenario.begun])
                return None if played.outage is not None else calls
            finally:
                episode.close()

        return await self._oracle.get((scenario.id, arm), play)


@dataclass
class _Played:
    """What came of a conversation beside its trace.

    `wanted` takes the answers of a debrief, or is None if there is to be none. `beside` is the path
    of the trace without its suffix: other files about the trial begin with it. `voiced` says
    whether a model may word what the user says. `told` is what the agent was told
    (`Told.as_json`).
    """

    wanted: dict[str, Any] | None = None
    beside: Path | None = None
    voiced: bool = True
    outage: Outage | None = None
    identity: dict[str, str] = field(default_factory=dict)
    told: dict[str, Any] = field(default_factory=dict)


def _is_of_agent(event: Event) -> bool:
    return isinstance(event, Attempt) or (isinstance(event, Message) and event.role == "assistant")


def _kept(trial: Trial) -> dict[str, Any]:
    """Return what is kept of a try that was unknown."""
    return {
        "trace": trial.trace,
        "reason": trial.reason,
        "usage": trial.usage,
        "wall_seconds": trial.wall_seconds,
    }


def _reason(episode: Episode, events: list[Event]) -> str | None:
    """Return why an episode did not end with done: a bug in Haywire, or what its end says."""
    end = end_of(events)
    reasons = [*episode.session.bugs, end.reason if end is not None else None]
    return next((r for r in reasons if r), None)


def _by_tool(events: list[Event]) -> Counter[str]:
    return Counter(e.name for e in events if isinstance(e, Attempt))
