"""The proof that a scenario carries.

What is right passes: the oracle, the routes, honest detours. What is wrong fails: trust, doing
nothing, stock mistakes, and every mutant of the oracle. Each gate is needed, and all that is
declared is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from client_harness.agents import agent
from client_harness.agents._script import ScriptAgent, playing
from client_harness.contract import Agent, Assignment
from client_harness.expected import Known
from client_harness.proof import detours
from client_harness.proof.actions import Actions, Mutant, blind_retries, unasked
from client_harness.proof.hints import lost_paths, refused
from client_harness.proof.mails import mail_mutants
from client_harness.proof.moves import Call, Moves, Say, Unfit, recorded, replaying, without
from client_harness.proof.play import Life, Played, play
from client_harness.proof.sorts import Sorts, leaves
from client_harness.proof.strangers import Strangers
from client_harness.proof.taken import Replies
from client_harness.proof.tally import Tally
from client_harness.proof.texts import Texts
from client_harness.proof.truths import Truths
from client_harness.user import User
from judge.change.match import Matching
from judge.checks.evidence import Evidence
from judge.trace import Record
from judge.verdict import NamedFinding
from scenarios.model import Scenario
from scenarios.script import Step
from servers.kit.errors import InputError
from servers.kit.events import Message, Notice, to_json
from servers.kit.store import AGENT, POST, Change
from servers.kit.values import parse_time

ROUNDS = 4
"""How often further reads are left out because they settle what those left out had settled."""


@dataclass
class Proof:
    """The proof of one scenario; `problems` is empty if the scenario is proven."""

    scenario: Scenario
    problems: list[str] = field(default_factory=list)
    known: Known = field(default_factory=Known)

    def __post_init__(self) -> None:
        gates = [check.name for check in self.scenario.gates if check.gate]
        self.tally = Tally(gates)
        self._truths = Truths(self.scenario)
        self._kept: list[Played] = []
        self._replies = Replies()

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
            self.problems += self._replies.problems(self.scenario)
        finally:
            for played in self._kept:
                played.close()
        return self.problems

    async def _run(self) -> None:
        for check in self.scenario.checks:
            self.problems += [f"check {check.name}: {p}" for p in check.problems()]
        base, clean = await self._oracle()
        right = [base, clean, *await self._routes(base, clean)]
        await self._naive()
        self.problems += await lost_paths(self.scenario, right)
        for place, violation in enumerate(self.scenario.violations):
            try:
                await self._violation(violation)
            except InputError as wrong:  # its script broke; what else is wrong is still of use
                self.problems.append(f"violations[{place}]: {wrong}")
        for faulted, setting in ((True, "base"), (False, "clean")):
            done = await self._play("noop", agent("noop").agent, faulted=faulted)
            failed = done.verdicts[setting].value == "fail"
            self._need(failed, f"noop: doing nothing passes {setting}")
        await self._stock(base, clean)
        self.problems += self._replies.problems(self.scenario)
        self._used(base, right)
        self._verified(base)
        verdicts = [*base.verdicts.values(), *clean.verdicts.values()]
        if any(verdict.value != "pass" for verdict in verdicts):
            return
        await self._detours(base)
        await self._mutants(base, clean)
        self.problems += self.tally.excuse(self.scenario.excused)
        for name in self.tally.survivors():
            self.problems.append(self.tally.problem(name))
        for gate, runs in self.tally.matrix().items():
            self._need(bool(runs), f"gate {gate}: nothing fails only it")
        self.problems += self._truths.problems()

    # -- playing ---------------------------------------------------------------------------------
    async def _play(
        self, name: str, life: Life, *, faulted: bool = True, keep: bool = False, **how: Any
    ) -> Played:
        def look(record: Record) -> None:
            self._truths.look(name, record)

        try:
            done = await play(
                self.scenario,
                life,
                faulted=faulted,
                known=self.known,
                keep=keep,
                look=look,
                **how,
            )
        except Unfit:
            raise
        except InputError as wrong:
            arm = "with faults" if faulted else "without faults"
            raise InputError(f"{name}, {arm}: {wrong}") from None
        self.tally.run(name, done.verdicts.values())
        self._replies.add(done.events)
        if keep:
            self._kept.append(done)
        return done

    async def _steps(self, name: str, steps: list[Step], *, faulted: bool = True) -> Played:
        def life(given: Assignment) -> AbstractAsyncContextManager[Agent]:
            return playing(ScriptAgent(given, steps))

        return await self._play(name, life, faulted=faulted)

    async def _replay(self, name: str, moves: Moves, faulted: bool = True) -> Played | None:
        """Return a replay of moves, or None if they do not fit."""
        try:
            return await self._play(name, replaying(moves), faulted=faulted, straight=True)
        except Unfit:
            return None

    # -- what is right ---------------------------------------------------------------------------
    async def _oracle(self) -> tuple[Played, Played]:
        life = agent("oracle").agent
        base = await self._play("oracle", life, keep=True)
        clean = await self._play("oracle", life, faulted=False, keep=True)
        for done in (base, clean):
            for setting, verdict in done.verdicts.items():
                problem = f"oracle: {verdict.value} in {setting}: {verdict.why}"
                self._need(verdict.value == "pass", problem)
            self.problems += [f"oracle: bug in Haywire: {b.splitlines()[0]}" for b in done.bugs]
            if any(verdict.value != "pass" for verdict in done.verdicts.values()):
                arm = "with faults" if done is base else "without faults"
                self.problems += refused(f"oracle {arm}", self.scenario.scripts.oracle, done)
        for name, fact in base.end.faults.items():
            fired = not fact["required"] or fact["fired"] > 0
            self._need(fired, f"fault {name}: is required but does not fire under the oracle")
            acted = fact["failed"] == 0
            self._need(acted, f"fault {name}: was due under the oracle but could not act")
        again = await self._play("oracle", life)
        same = [to_json(e) for e in again.events] == [to_json(e) for e in base.events]
        self._need(same, "oracle: two runs give different traces")
        return base, clean

    async def _routes(self, base: Played, clean: Played) -> list[Played]:
        right = []
        for route in self.scenario.routes:
            name = f"route {route.about!r}"
            steps = route.edit(self.scenario.scripts.oracle)
            differs = False
            for faulted, oracle in ((True, base), (False, clean)):
                done = await self._steps(name, steps, faulted=faulted)
                setting = "base" if faulted else "clean"
                verdict = done.verdicts[setting]
                problem = f"{name}: {verdict.value} in {setting}: {verdict.why}"
                self._need(verdict.value == "pass", problem)
                right.append(done)
                differs = differs or recorded(done.events) != recorded(oracle.events)
            self._need(differs, f"{name}: does just what the oracle does")
        return right

    async def _detours(self, base: Played) -> None:
        """Play honest variants of the oracle, which must pass."""
        moves = recorded(base.events)
        looked_again = detours.read_back(moves)
        if looked_again is not None:
            done = await self._replay("detour", looked_again)
            self._passes(done, "an extra read before the text")
        await self._swaps(base, moves)
        spare = self.scenario.limits.questions - detours.questions_asked(moves)
        if spare > 0:
            questions = min(spare, len(self.scenario.turns))
            done = await self._play("detour", detours.asking(questions), straight=True)
            if _answers(done) == _answers(base):  # else the question was not harmless here
                self._passes(done, "a harmless question first")
        if detours.drafts(self.scenario, moves):
            done = await self._play("detour", detours.drafting, straight=True)
            self._passes(done, "each new mail as a draft first")
        for played, setting in zip(self._kept[:2], ("base", "clean"), strict=True):
            assert played.record is not None
            texts = Texts(self.scenario, played.record)
            for plain in texts.plain():
                verdict = texts.judged(plain, setting)
                problem = f"detour {plain.name}: {verdict.value} in {setting}: {verdict.why}"
                self._need(verdict.value == "pass", f"{problem} ({plain.text})")

    def _passes(self, done: Played | None, what: str) -> bool:
        if done is None:
            return True
        verdict = done.verdicts["base"]
        problem = f"detour {what}: {verdict.value} in base: {verdict.why}"
        return self._need(verdict.value == "pass", problem)

    async def _swaps(self, base: Played, moves: Moves) -> None:
        together = detours.all_swapped(moves)
        if together is None:
            return
        done = await self._replay("detour", together)
        if done is None or done.verdicts["base"].value == "pass":
            return
        for name, swapped in detours.swaps(moves):
            done = await self._replay("detour", swapped)
            if done is None or _errors(done) != _errors(base) or not self._equal(done, base):
                continue  # the calls were not independent
            self._passes(done, name)

    # -- what is wrong ---------------------------------------------------------------------------
    async def _naive(self) -> None:
        life = agent("naive").agent
        base = await self._play("naive", life)
        clean = await self._play("naive", life, faulted=False)
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
        # A statement that is not due without faults says nothing there, so it counts as right.
        right = {finding.name for finding in unharmed.findings if _fine(finding)}
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
        edit = violation.model_dump(exclude_none=True, exclude={"fails"}, include=None)
        label = f"violation of {violation.fails} ({next(iter(edit))})"
        done = await self._steps(label, steps, faulted=setting != "clean")
        verdict = done.verdicts[setting]
        failed = done.failed_gates(setting)
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
            life = agent("double_writer").agent
            doubled = await self._play("double_writer", life, faulted=setting == "base")
            if len(_own(doubled)) > len(_own(once)):
                problem = f"double_writer: passes {setting} although a write was repeated"
                self._need(doubled.verdicts[setting].value == "fail", problem)
        if scenario.primary is not None and scenario.fallback is not None:
            await self._must_fail("fallback_first", "the primary provider came first")

    async def _must_fail(self, name: str, because: str) -> None:
        try:
            done = await self._play(name, agent(name).agent)
        except InputError:
            # The oracle's script cannot continue from the state that this agent leaves. It fails,
            # as it must.
            return
        self._need(done.verdicts["base"].value == "fail", f"{name}: passes base although {because}")

    # -- mutants ---------------------------------------------------------------------------------
    async def _mutants(self, base: Played, clean: Played) -> None:
        moves = recorded(base.events)
        assert base.record is not None and base.record.world is not None
        sorts = Sorts(base.record.world)
        actions = Actions(self.scenario, moves, sorts, self.scenario.freedom)
        for place, move in enumerate(moves):
            if isinstance(move, Call) and move.writes:
                for mutant in actions.of(place):
                    await self._action(mutant, base)
        for mutant in blind_retries(moves):
            await self._action(mutant, base, differs=True)
        for mutant in unasked(moves, self._questions(moves)):
            await self._action(mutant, base)
        for mutant in mail_mutants(self.scenario, base.record, moves):
            await self._action(mutant, base, differs=mutant.differs)
        now = parse_time(base.end.at)
        strangers = Strangers(self.scenario, moves, base.record.world, now)
        for candidates in await strangers.mutants():
            for mutant in candidates:
                if await self._action(mutant, base):
                    break
        await self._hidden_writes(base, clean)
        await self._reads(base, moves)
        self._texts(base)

    async def _hidden_writes(self, base: Played, clean: Played) -> None:
        """Drop and double, without faults, the writes that the faulted run does not make."""
        made = {
            (move.name, str(move.args)) for move in recorded(base.events) if isinstance(move, Call)
        }
        moves = recorded(clean.events)
        assert clean.record is not None and clean.record.world is not None
        sorts = Sorts(clean.record.world)
        actions = Actions(self.scenario, moves, sorts, self.scenario.freedom)
        for place, move in enumerate(moves):
            if not isinstance(move, Call) or not move.writes:
                continue
            if (move.name, str(move.args)) not in made:
                for mutant in actions.of(place):
                    named = Mutant(f"{mutant.name} in clean", mutant.tries)
                    await self._action(named, clean, faulted=False)

    def _questions(self, moves: Moves) -> set[int]:
        """Return the places of the questions whose answers a check asks for."""
        mentioned: set[str] = set()
        for check in self.scenario.checks:
            mentioned |= check.mentions().answers
        if not mentioned:
            return set()
        places = set()
        for place, move in enumerate(moves[:-1]):
            if isinstance(move, Say) and moves[place + 1].turn == move.turn:
                places.add(place)
        return places

    async def _action(
        self, mutant: Mutant, oracle: Played, *, faulted: bool = True, differs: bool = False
    ) -> bool:
        """Play a mutant, and return whether it could be played.

        One that `differs` is never equivalent to the oracle, whatever its rows are.
        """
        if mutant.name in self.tally.fates:
            return True
        for moves in mutant.tries:
            done = await self._replay(mutant.name, moves, faulted)
            if done is not None:
                equal = not differs and self._equal(done, oracle)
                self.tally.mutant(mutant.name, done.verdicts.values(), equal)
                return True
        return False

    def _equal(self, done: Played, oracle: Played) -> bool:
        """Return whether a run changed, learned and said what the oracle did."""
        if [m.text for m in done.messages] != [m.text for m in oracle.messages]:
            return False
        if self._settled(done) != self._settled(oracle):
            return False
        turns = len(self.scenario.turns)
        mine = done.timeline(turns)
        right = oracle.timeline(turns)
        for turn in range(1, turns + 1):
            matching = Matching(
                mine.at(turn),
                right.at(turn),
                self.scenario.freedom,
                made=mine.made,
                made_right=right.made,
            )
            if matching.differences():
                return False
        return True

    def _settled(self, done: Played) -> list[list[bool]]:
        """Return at each text whether each evidence check finds nothing left to find out."""
        states = []
        opened: list[str] = []
        settled: set[str] = set()
        checks = self._evidence()
        for event in done.events:
            if isinstance(event, Message):
                states.append([_found_out(check, opened, settled) for check in checks])
            opened += getattr(event, "opened", ())
            settled.update(getattr(event, "evidence", ()))
        return states

    def _evidence(self) -> list[Evidence]:
        """Return the evidence checks that are gates in base."""
        checks = [check for check in self.scenario.checks if isinstance(check, Evidence)]
        gates = [check for check in checks if check.gate]
        return [check for check in gates if "base" in check.settings]

    async def _reads(self, base: Played, moves: Moves) -> None:
        """Leave out, for each obligation, all the reads that settle it."""
        for check in self._evidence():
            own: list[str] = []
            for attempt in base.attempts:
                own += [s for s in attempt.opened if s.rpartition("#")[0] == check.subject]
            groups = [own] if check.each is False else [[s] for s in own]
            if check.each == "last":
                groups = groups[-1:]
            for group in groups:
                if group:
                    await self._unread(base, moves, set(group), check.name)

    async def _unread(self, base: Played, moves: Moves, group: set[str], check: str) -> None:
        name = f"unread {', '.join(sorted(group))}"
        if name in self.tally.fates:
            return
        left = moves
        done: Played | None = base
        for _ in range(ROUNDS):
            assert done is not None
            made = [m for m in left if isinstance(m, Call)]
            settling = set()
            for number, attempt in enumerate(done.attempts):
                if attempt.effect == "read" and group & set(attempt.evidence):
                    settling.add(id(made[number]))
            if not settling:
                break
            left = without(left, lambda at, move, out=settling: id(move) in out)
            done = await self._replay(name, left)
        if left is not moves and done is not None:
            self.tally.mutant(name, done.verdicts.values(), self._equal(done, base))

    def _texts(self, base: Played) -> None:
        assert base.record is not None
        texts = Texts(self.scenario, base.record)
        for mutant in texts.mutants():
            verdict = texts.judged(mutant, "base")
            if self.tally.mutant(mutant.name, [verdict], equal=False) == "survived":
                kept = {"text": mutant.text, "advice": mutant.advice}
                self.tally.texts[mutant.name] = kept

    # -- what is declared ------------------------------------------------------------------------
    def _used(self, base: Played, right: Sequence[Played]) -> None:
        """Check that everything the scenario declares is used: answers, disclosures, turns."""
        given: set[str] = set()
        for played in right:
            for message in played.messages:
                given |= set(message.answered)
        for key, answer in self.scenario.answers.items():
            if answer.question is None:
                self._need(key in given, f"answers: {key!r} is never given under the oracle")
            else:
                heard = User(self.scenario.answers, "", 1).answer(answer.question) or ("", "")
                problem = f"answers: {key!r} is not what the user says to its question"
                self._need(key in heard[0].split("+"), problem)
        shown = set()
        for event in base.events:
            if isinstance(event, Notice) and event.what == "disclosed":
                shown.add(event.detail["service"])
        for disclosure in self.scenario.disclose:
            service = disclosure.service
            problem = f"disclose: {service} never appears under the oracle"
            self._need(service in shown, problem)
        texts = [message for message in base.messages if message.role == "user"]
        played_turns = len([text for text in texts if text.about is None])
        turns = len(self.scenario.turns)
        problem = f"oracle: {played_turns} of {turns} turns were played"
        self._need(played_turns == turns, problem)
        idle = any(change["old"] == change["new"] for change in _own(base))
        self._need(not idle, "oracle: one of its changes leaves a row as it was")

    def _verified(self, base: Played) -> None:
        """Check that a fault behind a good-looking reply has a gate that asks for evidence."""
        hidden = [a for a in base.attempts if _hides(a)]
        expected = self.scenario.verification and not self.scenario.twin
        if hidden and expected and not self._evidence():
            fault = hidden[0].firings[0].fault
            self.problems.append(
                f"fault {fault} hides behind a good-looking reply: have an evidence check that is "
                "a gate in base, or `verification: false` with a reason in `about`"
            )


def _own(done: Played) -> list[Change]:
    """Return the agent's own changes, without what followed from them."""
    return [change for change in done.changes if change["cause"] == AGENT]


def _answers(done: Played) -> list[str]:
    return [m.about for m in done.messages if m.about not in (None, "default")]


def _errors(done: Played) -> list[bool]:
    return [attempt.is_error for attempt in done.attempts]


def _found_out(check: Evidence, opened: Sequence[str], settled: set[str]) -> bool:
    own = [subject in settled for subject in opened if subject.rpartition("#")[0] == check.subject]
    if not own:
        return True
    if check.each == "last":
        return own[-1]
    return all(own) if check.each else any(own)


def _hides(attempt: Any) -> bool:
    fired = [firing for firing in attempt.firings if firing.failed is None]
    if not fired or attempt.is_error:
        return False
    if attempt.effect == "write":
        own = any(change["cause"] == AGENT for change in attempt.effects)
        return not own or any(change["cause"] not in (AGENT, POST) for change in attempt.effects)
    # A reply that only has another shape hides nothing.
    return _values(attempt.seen) != _values(attempt.truth)


def _values(reply: Any) -> list[str]:
    return sorted(repr(value) for _, value in leaves(reply))


def _fine(finding: NamedFinding) -> bool:
    return finding.value is True or not finding.applies
