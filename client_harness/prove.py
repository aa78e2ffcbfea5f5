"""The proof that every scenario carries.

The oracle passes, trust fails, each gate is needed, and doing nothing and stock mistakes fail.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from client_harness.agents import agent
from client_harness.agents._script import ScriptAgent, playing
from client_harness.contract import Agent, Assignment
from client_harness.episode import Episode
from client_harness.expected import Known, expected
from client_harness.tools import in_memory
from judge.verdict import Verdict, judge
from scenarios.load import load, path_of
from scenarios.model import Scenario
from scenarios.worlds import build
from servers.kit.errors import InputError
from servers.kit.events import Attempt, End, Event, Message, Notice, to_json
from servers.kit.store import AGENT, Change

Life = Callable[[Assignment], AbstractAsyncContextManager[Agent]]


@dataclass
class Played:
    """One play of a scenario as the proof sees it.

    It holds the verdicts by setting, the trace, and any bugs in Haywire itself.
    """

    verdicts: dict[str, Verdict]
    events: list[Event]
    bugs: list[str] = field(default_factory=list)

    @property
    def attempts(self) -> list[Attempt]:
        """The attempts of the trace."""
        return [e for e in self.events if isinstance(e, Attempt)]

    @property
    def answered(self) -> set[str]:
        """The keys of the answers that the user gave."""
        keys: set[str] = set()
        for event in self.events:
            if isinstance(event, Message):
                keys |= set(event.answered)
        return keys

    @property
    def end(self) -> End:
        """The trace's last event."""
        return next(e for e in reversed(self.events) if isinstance(e, End))

    @property
    def changes(self) -> list[Change]:
        """The changes in the world, oldest first."""
        return self.end.changes or []

    def failed_gates(self, setting: str) -> list[str]:
        """Return the names of the gates that failed in a setting."""
        return [finding.name for finding in self.verdicts[setting].findings if finding.failed]


async def play(
    scenario: Scenario, life: Life, *, faulted: bool = True, known: Known | None = None
) -> Played:
    """Play a scenario with an agent in this process and judge it.

    With faults it is judged in base and relaxed, without them in clean. `known` keeps what right
    runs change from one play to the next.
    """
    episode = Episode(scenario, faulted=faulted)
    try:
        wrong: InputError | None = None
        async with (
            in_memory(episode.session) as tools,
            life(Assignment(tools, episode.sessions, scenario)) as playing_agent,
        ):
            try:
                await episode.converse(playing_agent)
            except InputError as mistake:
                # Raised again outside, where the client's task group cannot wrap it.
                wrong = mistake
        if wrong is not None:
            raise InputError(f"a script: {wrong}")
        record = episode.record(await expected(scenario, known))
        settings = ("base", "relaxed") if faulted else ("clean",)
        verdicts = {setting: judge(scenario.gates, record, setting) for setting in settings}
        return Played(verdicts, episode.session.trace(), episode.session.bugs)
    finally:
        episode.close()


@dataclass
class Proof:
    """The proof of one scenario; `problems` is empty if the scenario is proven."""

    scenario: Scenario
    problems: list[str] = field(default_factory=list)

    def _need(self, holds: bool, problem: str) -> bool:
        if not holds:
            self.problems.append(problem)
        return holds

    async def run(self) -> list[str]:
        """Play every episode that the proof needs and return the problems."""
        try:
            await self._run()
        except InputError as wrong:  # a script that cannot be played ends the proof
            self.problems.append(str(wrong))
        return self.problems

    async def _run(self) -> None:
        for check in self.scenario.checks:
            self.problems += [f"check {check.name}: {p}" for p in check.problems()]
        base, clean = await self._oracle()
        await self._naive()
        for violation in self.scenario.violations:
            await self._violation(violation)
        for faulted, setting in ((True, "base"), (False, "clean")):
            done = await play(self.scenario, agent("noop").agent, faulted=faulted)
            failed = done.verdicts[setting].value == "fail"
            self._need(failed, f"noop: doing nothing passes {setting}")
        await self._stock(base, clean)
        self._used(base, clean)

    async def _oracle(self) -> tuple[Played, Played]:
        life = agent("oracle").agent
        base = await play(self.scenario, life)
        clean = await play(self.scenario, life, faulted=False)
        for done in (base, clean):
            for setting, verdict in done.verdicts.items():
                problem = f"oracle: {verdict.value} in {setting}: {verdict.why}"
                self._need(verdict.value == "pass", problem)
            self.problems += [f"oracle: bug in Haywire: {b.splitlines()[0]}" for b in done.bugs]
        for name, fact in base.end.faults.items():
            fired = not fact["required"] or fact["fired"] > 0
            self._need(fired, f"fault {name}: is required but does not fire under the oracle")
            acted = fact["failed"] == 0
            self._need(acted, f"fault {name}: was due under the oracle but could not act")
        again = await play(self.scenario, life)
        same = [to_json(e) for e in again.events] == [to_json(e) for e in base.events]
        self._need(same, "oracle: two runs give different traces")
        return base, clean

    async def _naive(self) -> None:
        life = agent("naive").agent
        base = await play(self.scenario, life)
        clean = await play(self.scenario, life, faulted=False)
        trusted = base.verdicts["base"]
        unharmed = clean.verdicts["clean"]
        self._need(unharmed.value == "pass", f"naive: {unharmed.value} in clean: {unharmed.why}")
        if self.scenario.twin:
            problem = f"naive: an honest twin must let trust pass: {trusted.why}"
            self._need(trusted.value == "pass", problem)
            return
        fooled = trusted.value == "fail"
        if not self._need(fooled, f"naive: {trusted.value} in base, but must fail"):
            return
        right = {finding.name for finding in unharmed.findings if finding.value is True}
        wrong = [finding for finding in trusted.findings if finding.failed]
        telling = [finding for finding in wrong if finding.aspect in ("outcome", "honesty")]
        problem = (
            "naive: no outcome or honesty check that fails in base passes "
            "once the faults are removed"
        )
        self._need(any(finding.name in right for finding in telling), problem)

    async def _violation(self, violation: Any) -> None:
        check = next(c for c in self.scenario.gates if c.name == violation.fails)
        setting = next(s for s in ("base", "relaxed", "clean") if s in check.settings)
        steps = violation.edit(self.scenario.scripts.oracle)

        def life(given: Assignment) -> AbstractAsyncContextManager[Agent]:
            return playing(ScriptAgent(given, steps))

        done = await play(self.scenario, life, faulted=setting != "clean")
        verdict = done.verdicts[setting]
        failed = done.failed_gates(setting)
        edit = violation.model_dump(exclude_none=True, exclude={"fails"}, include=None)
        what = next(iter(edit))
        label = f"violation of {violation.fails} ({what})"
        self._need(verdict.value != "unknown", f"{label}: unknown: {verdict.why}")
        problem = f"{label}: the gate {violation.fails} does not fail in {setting}"
        self._need(violation.fails in failed, problem)
        others = [gate for gate in failed if gate != violation.fails]
        problem = f"{label}: only the named gate may fail, but {', '.join(others)} fails too"
        self._need(not others, problem)

    async def _stock(self, base: Played, clean: Played) -> None:
        scenario = self.scenario
        if scenario.repairable and any(a.is_error for a in base.attempts):
            await self._must_fail("refuser", "the task could be repaired")
        for once, setting in ((base, "base"), (clean, "clean")):
            doubled = await play(scenario, agent("double_writer").agent, faulted=setting == "base")
            if len(doubled.changes) > len(once.changes):
                problem = f"double_writer: passes {setting} although a write was repeated"
                self._need(doubled.verdicts[setting].value == "fail", problem)
        if scenario.primary is not None and scenario.fallback is not None:
            await self._must_fail("fallback_first", "the primary provider came first")

    async def _must_fail(self, name: str, because: str) -> None:
        try:
            done = await play(self.scenario, agent(name).agent)
        except InputError:
            # The oracle's script cannot continue from the state that this agent leaves. It fails,
            # as it must.
            return
        self._need(done.verdicts["base"].value == "fail", f"{name}: passes base although {because}")

    def _used(self, base: Played, clean: Played) -> None:
        """Check that everything the scenario declares is used: answers, disclosures, turns."""
        given: set[str] = set()
        for played in (base, clean):
            given |= played.answered
        for key in self.scenario.answers:
            self._need(key in given, f"answers: {key!r} is never given under the oracle")
        shown = set()
        for event in base.events:
            if isinstance(event, Notice) and event.what == "disclosed":
                shown.add(event.detail["service"])
        for disclosure in self.scenario.disclose:
            service = disclosure.service
            problem = f"disclose: {service} never appears under the oracle"
            self._need(service in shown, problem)
        messages = [e for e in base.events if isinstance(e, Message)]
        texts = [message for message in messages if message.role == "user"]
        played_turns = len([text for text in texts if text.about is None])
        turns = len(self.scenario.turns)
        problem = f"oracle: {played_turns} of {turns} turns were played"
        self._need(played_turns == turns, problem)
        own = [change for change in base.changes if change["cause"] == AGENT]
        idle = any(change["old"] == change["new"] for change in own)
        self._need(not idle, "oracle: one of its changes leaves a row as it was")


async def prove(name: str | Path) -> list[str]:
    """Return the problems of a scenario, one line each; none if it is proven."""
    try:
        scenario = load(name)
    except InputError as wrong:
        return [str(wrong)]
    text = path_of(name).read_text(encoding="utf-8")
    problems = []
    for seed in build.lost(text, scenario.world):
        row = f"{seed} names no row of the world {scenario.world}"
        problems.append(f"{row}; use a key from its seeds")
    return problems + await Proof(scenario).run()


def check(names: list[str | Path]) -> list[dict[str, str]]:
    """Prove scenarios and return their problems as `{scenario, problem}`."""
    problems = []
    for name in names:
        for problem in anyio.run(prove, name):
            problems.append({"scenario": str(name), "problem": problem})
    return problems
