"""How well readers read: each labelled text judged on the recorded run that it belongs to."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from client_harness.episode import Episode
from client_harness.expected import Known, expected
from client_harness.judging.figures import (
    Pair,
    agreement,
    correlation,
    correlation_interval,
    rate,
)
from client_harness.judging.honest import CannotReplay, Trajectory, replayed
from client_harness.judging.labelled import KINDS, Labelled, Sample
from client_harness.judging.model_reader import Asker, judged
from client_harness.judging.placed import Placed, played
from client_harness.judging.trajectories import Case, CaseVerdict, cases
from client_harness.judging.untold import due, refuse_untold, without_untold
from judge.model import Check
from judge.reading import Claim, Phrases, Reader, Reading, Spoken
from judge.statements import Statement
from judge.statements.checks import Told, Truthful
from judge.statements.scope import Moment
from judge.verdict import judge
from scenarios.model import Scenario

Tell = Callable[[int, int], None]
"""Called with the number of samples that are done, and the number of all."""


@dataclass(frozen=True)
class Scored:
    """What a reader made of one text.

    `accepted` is None if a check broke down. `right` says whether the text had to be accepted; None
    where no statement decides that. `why` holds the reasons of a refusal. `pairs` holds label and
    reading for each labelled statement, by its name. `broken` are the kinds of claim that the text
    gets wrong by its labels. `unclear` tells that it is accepted only because it is unclear what
    it says.
    """

    text: Labelled
    accepted: bool | None
    right: bool | None
    why: str
    pairs: dict[str, Pair] = field(default_factory=dict)
    broken: frozenset[str] = frozenset()
    unclear: bool = False


@dataclass
class Result:
    """What one reader made of all samples and of all honest trajectories.

    `families` are the kinds of claim of the scenarios' statements. `stuck` holds the trajectories
    that cannot be replayed, with the reason.
    """

    reader: str
    texts: list[tuple[str, Scored]] = field(default_factory=list)
    families: dict[tuple[str, str], str] = field(default_factory=dict)
    trajectories: list[tuple[Case, CaseVerdict]] = field(default_factory=list)
    honest: list[tuple[Case, CaseVerdict]] = field(default_factory=list)
    stuck: list[tuple[Trajectory, str]] = field(default_factory=list)
    tally: Counter[str] = field(default_factory=Counter)
    unread: int = 0
    untold: int = 0


class _Noting:
    """A reader that notes what another one reads."""

    def __init__(self, inner: Reader) -> None:
        self.name = inner.name
        self.notes: list[tuple[str, str, Reading]] = []
        self._inner = inner

    def read(self, sentence: str, claim: Claim, spoken: Spoken) -> Reading:
        reading = self._inner.read(sentence, claim, spoken)
        self.notes.append((sentence, spoken.text, reading))
        return reading


async def measure(
    read: Sequence[Sample],
    askers: Iterable[Asker | None],
    honest: Sequence[Trajectory] = (),
    tell: Tell = lambda done, all_: None,
    *,
    unseen: bool = False,
) -> list[Result]:
    """Return what each reader makes of samples and of honest trajectories.

    An asker of None stands for phrases. Texts that nobody may look at are `unseen`: an honest one
    that leaves out what must be told counts as an omission, and is counted in `untold`.

    Raises `InputError` for a text that cannot be put into its run, for an honest text that leaves
    out, by its own label, what must be told, and for a model of no use.
    """
    readers = list(askers)
    results = [Result("phrases" if asker is None else asker.judge.name) for asker in readers]
    for number, sample in enumerate(read, 1):
        episodes: dict[str, Episode] = {}
        try:
            for text in sample.texts:
                if text.run not in episodes:
                    episodes[text.run] = await played(sample.scenario, text.run)
            placed = [Placed(episodes[text.run], text) for text in sample.texts]
            if unseen:
                for result in results:
                    result.untold += without_untold(sample.scenario, placed)
            else:
                refuse_untold(sample.scenario, placed, str(sample.path))
            mutated = await cases(sample.scenario)
            try:
                for asker, result in zip(readers, results, strict=True):
                    await _one(sample.scenario, placed, mutated, asker, result)
            finally:
                for case in mutated:
                    case.close()
        finally:
            for episode in episodes.values():
                episode.close()
        tell(number, len(read))
    await _measure_honest(honest, readers, results)
    return results


async def _measure_honest(
    honest: Sequence[Trajectory], readers: Sequence[Asker | None], results: Sequence[Result]
) -> None:
    known = Known()
    for trajectory in honest:
        right = await expected(trajectory.scenario, known)
        try:
            case = await replayed(trajectory, right)
        except CannotReplay as stuck:
            for result in results:
                result.stuck.append((trajectory, str(stuck)))
            continue
        try:
            for asker, result in zip(readers, results, strict=True):
                verdict, tally = await judged(
                    asker, lambda reader, case=case: case.judged(reader or Phrases())
                )
                result.honest.append((case, verdict))
                result.tally.update(tally)
        finally:
            case.close()


async def _one(
    scenario: Scenario,
    placed: Sequence[Placed],
    mutated: Sequence[Case],
    asker: Asker | None,
    result: Result,
) -> None:
    def once(given: Reader | None) -> tuple[list[Scored], list[CaseVerdict]]:
        reader = given or Phrases()
        scored = [score(scenario, text, reader) for text in placed if not text.unread]
        return scored, [case.judged(reader) for case in mutated]

    began = time.perf_counter()
    (scored, verdicts), tally = await judged(asker, once)
    if asker is None:
        tally = {"seconds": time.perf_counter() - began}
    result.texts += [(scenario.id, one) for one in scored]
    result.trajectories += zip(mutated, verdicts, strict=True)
    result.unread += len([text for text in placed if text.unread])
    result.tally.update(tally)
    for statement in scenario.statements:
        result.families[scenario.id, statement.name] = next(iter(statement.claim))


def score(scenario: Scenario, placed: Placed, reader: Reader) -> Scored:
    """Return what a reader makes of one text."""
    text = placed.text
    own = _own(scenario, placed)
    findings = []
    for alone, checks in ((True, _checks(scenario, own, text)), (False, _anywhere(own, text))):
        if checks:
            verdict = judge(checks, placed.record(reader, alone=alone), "base")
            findings += verdict.findings
    accepted: bool | None = not any(finding.failed for finding in findings)
    if any(finding.crashed for finding in findings):
        accepted = None
    reasons = []
    for finding in findings:
        if finding.failed or finding.crashed:
            reasons.append(f"{finding.name}: {finding.why}")
    broken = _broken(scenario, placed, own)
    unclear = accepted is True and any(finding.unclear for finding in findings)
    return Scored(
        text,
        accepted,
        _must_accept(text, broken),
        "; ".join(reasons),
        _pairs(placed, own, reader),
        frozenset(broken or ()),
        unclear,
    )


def _own(scenario: Scenario, placed: Placed) -> list[Statement]:
    """Return the statements that are about a text: its mail's, or those to the user."""
    return [s for s in scenario.statements if s.in_mail_to == placed.address]


def _checks(scenario: Scenario, own: Sequence[Statement], text: Labelled) -> list[Check]:
    checks: list[Check] = [Truthful(name="truthful", statements=tuple(own))]
    for statement in own:
        if due(scenario, statement, text):
            checks.append(Told(name=f"told_{statement.name}", statement=statement))
    return checks


def _anywhere(own: Sequence[Statement], text: Labelled) -> list[Check]:
    """Return the checks that other turns' texts may meet."""
    checks: list[Check] = []
    for statement in own:
        if statement.mode == "must" and statement.turn == "any" and not text.place:
            checks.append(Told(name=f"told_{statement.name}", statement=statement))
    return checks


def _pairs(placed: Placed, own: Sequence[Statement], reader: Reader) -> dict[str, Pair]:
    pairs = {}
    for statement in own:
        label = placed.text.labels.get(statement.name)
        if label is None:
            continue
        noting = _Noting(reader)
        # One statement at a time, because the check stops at the first that is false.
        Truthful(statements=(statement,)).judge(placed.record(noting))
        for _, said, reading in noting.notes:
            if placed.text.text in said:
                pairs[statement.name] = (label, reading.stance)
    return pairs


def _broken(
    scenario: Scenario, placed: Placed, own: Sequence[Statement]
) -> dict[str, Statement] | None:
    """Return the statements that a text gets wrong by its labels, by kind of claim.

    None if it has no labels, or it is a mail.
    """
    message = placed.message()
    if message is None or not placed.text.labels:
        return None
    record = placed.record(None)
    moment = Moment.of(record, message)
    broken = {}
    for statement in own:
        label = placed.text.labels.get(statement.name)
        if label is not None and _is_wrong(scenario, statement, label, moment, placed.text):
            broken[next(iter(statement.claim))] = statement
    return broken


def _is_wrong(
    scenario: Scenario, statement: Statement, label: str, moment: Moment, text: Labelled
) -> bool:
    so = statement.mode != "never" and statement.is_true(moment)
    if label == "claims":
        return not so
    if not so or statement.mode != "must":
        return False
    open_ = statement.is_open(moment)
    return label == "denies" or (due(scenario, statement, text) and not open_)


def _must_accept(text: Labelled, broken: dict[str, Statement] | None) -> bool | None:
    """Return whether a text must be accepted, by its kind and its labels.

    A text that leaves something out, or open, is wrong only where a statement wants it told; None
    if none does.
    """
    if text.kind == "honest":
        return True
    if text.kind in ("omission", "hedge") and broken is not None and not broken:
        return None
    return False


# -- figures -------------------------------------------------------------------------------------
def figures(result: Result) -> dict[str, Any]:
    """Return a reader's figures as JSON data.

    `honest` and `false` are rates of texts accepted and refused, as they should be; `by_kind` and
    `by_claim` divide `false`. `stance` compares readings with labels: `pairs`, `raw` (the share
    that is equal), `mcc` and its `interval`. `trajectories` are whole runs whose verdict is known,
    `honest_trajectories` those that others wrote; `stuck` ones cannot be replayed and do not count.
    `unclear` counts those of each that are accepted only because it is unclear what they say.
    `undecided` texts are not counted in any rate, since no statement is about what they lack.
    """
    judged_texts = [s for _, s in result.texts if s.accepted is not None]
    decided = [s for s in judged_texts if s.right is not None]
    honest = [s for s in decided if s.right]
    wrong = [s for s in decided if not s.right]
    by_kind = {}
    for kind in KINDS[1:]:
        by_kind[kind] = _caught([s for s in wrong if s.text.kind == kind])
    return {
        "reader": result.reader,
        "texts": len(result.texts),
        "honest": rate(len([s for s in honest if s.accepted]), len(honest)),
        "false": _caught(wrong),
        "by_kind": by_kind,
        "by_claim": _by_claim(result, wrong),
        "stance": _stance(result),
        "trajectories": _trajectories(result),
        "honest_trajectories": _honest(result),
        "unclear": {
            "honest": sum(scored.unclear for scored in honest),
            "false": sum(scored.unclear for scored in wrong),
            "honest_trajectories": sum(verdict.unclear for _, verdict in result.honest),
        },
        "undecided": len([s for _, s in result.texts if s.right is None]),
        "broken_down": _broken_down(result),
        "unread": result.unread,
        "untold": result.untold,
        "cost": _cost(result.tally),
    }


def _caught(texts: Sequence[Scored]) -> dict[str, Any]:
    return rate(len([s for s in texts if not s.accepted]), len(texts))


def _by_claim(result: Result, wrong: Sequence[Scored]) -> dict[str, Any]:
    """Return, for each kind of claim, how many texts that get it wrong were refused, and how many
    readings are as labelled.
    """
    pairs: dict[str, Counter[Pair]] = {}
    for scenario, scored in result.texts:
        for name, pair in scored.pairs.items():
            family = result.families[scenario, name]
            pairs.setdefault(family, Counter())[pair] += 1
    table = {}
    for family in sorted(pairs):
        caught = _caught([s for s in wrong if family in s.broken])
        table[family] = {"false": caught, "readings": _equal(pairs[family])}
    return table


def _equal(pairs: Counter[Pair]) -> dict[str, Any]:
    same = sum(count for (label, reading), count in pairs.items() if label == reading)
    return rate(same, pairs.total())


def _stance(result: Result) -> dict[str, Any]:
    groups: dict[str, Counter[Pair]] = {}
    for scenario, scored in result.texts:
        groups.setdefault(scenario, Counter()).update(scored.pairs.values())
    held = [group for group in groups.values() if group]
    every: Counter[Pair] = Counter()
    for group in held:
        every.update(group)
    mcc = correlation(every)
    return {
        **_equal(every),
        "mcc": None if mcc is None else round(mcc, 4),
        "mcc_interval": correlation_interval(held),
    }


def _trajectories(result: Result) -> dict[str, Any]:
    right = [verdict.passes for case, verdict in result.trajectories if case.right]
    wrong = [verdict.passes for case, verdict in result.trajectories if not case.right]
    return {
        "right": rate(right.count(True), len(right)),
        "wrong": rate(wrong.count(False), len(wrong)),
    }


def _honest(result: Result) -> dict[str, Any]:
    accepted = [verdict.passes for _, verdict in result.honest if verdict.passes is not None]
    return {**rate(accepted.count(True), len(accepted)), "stuck": len(result.stuck)}


def _broken_down(result: Result) -> int:
    texts = [scored for _, scored in result.texts if scored.accepted is None]
    runs = [case for case, verdict in result.honest if verdict.passes is None]
    return len(texts) + len(runs)


def _cost(tally: Counter[str]) -> dict[str, Any]:
    names = ("questions", "abstain", "nonsense", "unreachable", "tokens")
    cost: dict[str, Any] = {name: tally[name] for name in names}
    return cost | {"seconds": round(tally["seconds"], 2), "dollars": round(tally["cost"], 4)}


def labellings(read: Iterable[Sample]) -> dict[str, Any]:
    """Return how well the two labellings agree."""
    pairs: Counter[Pair] = Counter()
    for sample in read:
        for text in sample.texts:
            for name in text.labels.keys() & text.second.keys():
                pairs[text.labels[name], text.second[name]] += 1
    return agreement(pairs)


def mistakes(result: Result) -> list[dict[str, Any]]:
    """Return the texts and runs that a reader judged wrongly, each with the reason."""
    listed: list[dict[str, Any]] = []
    for scenario, scored in result.texts:
        if scored.right is not None and scored.accepted is not scored.right:
            text = scored.text
            said = {"text": text.text, "reason": scored.why or text.why}
            place = {"scenario": scenario, "run": text.run, "turn": text.turn}
            listed.append({**place, "kind": text.kind, **said})
    for case, (passes, why, _) in result.trajectories:
        if passes is not None and passes is not case.right:
            kind = "right run" if case.right else "wrong run"
            said = {"text": case.name, "reason": why}
            listed.append({"scenario": case.scenario.id, "kind": kind, **said})
    for case, (passes, why, _) in result.honest:
        if not passes:
            kind = "honest trajectory" if passes is False else "honest trajectory, broke down"
            said = {"text": case.name, "reason": why}
            listed.append({"scenario": case.scenario.id, "kind": kind, **said})
    for stuck, why in result.stuck:
        said = {"text": stuck.title, "reason": why}
        listed.append({"scenario": stuck.scenario.id, "kind": "cannot be replayed", **said})
    return listed
