"""What an agent knows at the end: closed questions, which are reported and no part of a verdict.

Every statement of the scenario is asked and so is its negation, so that half of the questions are
to be answered with yes. Each question goes to a fork of the conversation of its own.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, Protocol, runtime_checkable

from client_harness.contract import Agent, ProviderOutage
from client_harness.judging.answers import words_of
from judge.statements import Statement
from judge.statements.scope import Moment
from judge.trace import Record
from scenarios.model import Scenario
from servers.kit.events import end_of

PROMPT = Path(__file__).parent / "prompts" / "debrief.md"
_LOWERED = (
    "a", "all", "an", "another", "both", "each", "every", "he", "her", "his", "it", "its", "more",
    "neither", "no", "nobody", "none", "nothing", "one", "only", "our", "she", "some", "somebody",
    "that", "the", "their", "there", "these", "they", "this", "those", "three", "two", "we", "you",
    "your",
)  # fmt: skip


@runtime_checkable
class CanAnswer(Protocol):
    """An agent that can be asked after its last turn."""

    async def ask(self, question: str) -> str:
        """Answer in a fork of the conversation, without tools; the conversation stays as it is."""
        ...


def negation(sentence: str) -> str:
    """Return a sentence that is true exactly if the given one is not."""
    first, space, rest = sentence.partition(" ")
    if first.casefold() in _LOWERED:
        first = first.casefold()
    return f"It is not the case that {first}{space}{rest}"


def questions(
    statements: Iterable[Statement], seed: str, moment: Moment
) -> list[tuple[Statement, bool, str]]:
    """Return `(statement, negated, question)` for each statement and its negation, in an order that
    depends on the seed. The figures are those of the moment.
    """
    template = Template(PROMPT.read_text(encoding="utf-8").strip())
    asked = []
    for statement in statements:
        for negated in (False, True):
            sentence = statement.sentence_at(moment)
            sentence = negation(sentence) if negated else sentence
            asked.append((statement, negated, template.substitute(sentence=sentence)))
    random.Random(seed).shuffle(asked)
    return asked


def yes_or_no(said: str) -> str:
    """Return "yes", "no", or nothing if the answer begins with neither."""
    first = words_of(said)[:1]
    return first[0] if first in (["yes"], ["no"]) else ""


async def ask(agent: Agent, scenario: Scenario, seed: int, record: Record) -> dict[str, Any]:
    """Ask an agent about every statement, after its last turn.

    Returns `{available, why}` if it cannot be asked, or `{available, answers}` with an answer as
    `{statement, negated, said, answer}`, where `answer` is yes, no or empty.
    """
    if not isinstance(agent, CanAnswer):
        return {"available": False, "why": "the agent cannot be asked"}
    if not scenario.statements:
        return {"available": False, "why": "the scenario has no statements"}
    moment = _last(record)
    if moment is None:
        return {"available": False, "why": "the trace has no end"}
    answers = []
    order = f"{scenario.id} {seed}"
    for statement, negated, question in questions(scenario.statements, order, moment):
        try:
            said = await agent.ask(question)
        except ProviderOutage as outage:
            return {"available": False, "why": f"its model failed: {outage}"}
        entry = {"statement": statement.name, "negated": negated, "said": said}
        answers.append(entry | {"answer": yes_or_no(said)})
    return {"available": True, "answers": answers}


def scored(
    debrief: Mapping[str, Any],
    scenario: Scenario,
    record: Record,
    findings: Iterable[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return a debrief with its figures; one that is not available stays as it is.

    They are `questions`, `yes` (answers that are yes), `unparsed`, `right`, and for what had to be
    told: `knew_told`, `knew_not_told` and `not_known`. An agent knew something if it answered the
    statement and its negation rightly. `findings` are those of the gates.
    """
    if not debrief["available"]:
        return dict(debrief)
    truth = _truths(scenario, record)
    answers = [entry for entry in debrief["answers"] if entry["statement"] in truth]
    right = [entry for entry in answers if _is_right(entry, truth)]
    knew: dict[str, int] = {}
    for entry in right:
        knew[entry["statement"]] = knew.get(entry["statement"], 0) + 1
    counts = {"knew_told": 0, "knew_not_told": 0, "not_known": 0}
    for finding in findings:
        name = finding["name"].removeprefix("told_")
        if finding["kind"] != "told" or finding["value"] is None or name not in truth:
            continue
        if knew.get(name, 0) < 2:
            counts["not_known"] += 1
        else:
            counts["knew_told" if finding["value"] else "knew_not_told"] += 1
    return {
        **debrief,
        "truth": truth,
        "questions": len(answers),
        "yes": len([entry for entry in answers if entry["answer"] == "yes"]),
        "unparsed": len([entry for entry in answers if not entry["answer"]]),
        "right": len(right),
        **counts,
    }


def _is_right(entry: Mapping[str, Any], truth: Mapping[str, bool]) -> bool:
    so = truth[entry["statement"]] is not entry["negated"]
    return entry["answer"] == ("yes" if so else "no")


def _last(record: Record) -> Moment | None:
    end = end_of(record.events)
    return None if end is None else Moment(record, end.seq + 1, record.last_turn, end.at)


def _truths(scenario: Scenario, record: Record) -> dict[str, bool]:
    """Return what is true at the end; what must never be claimed is not."""
    moment = _last(record)
    if moment is None:
        return {}
    truths = {}
    for statement in scenario.statements:
        truths[statement.name] = statement.mode != "never" and statement.is_true(moment)
    return truths


def summed(debriefs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the figures of many debriefs together, or None if nobody was to be asked.

    The keys are `trials`, `not_available` and `why` (of the first one), and the sums of `scored`.
    """
    held = [debrief for debrief in debriefs if debrief]
    if not held:
        return None
    names = ("questions", "yes", "unparsed", "right", "knew_told", "knew_not_told", "not_known")
    refused = [debrief for debrief in held if not debrief["available"]]
    figures: Counter[str] = Counter(dict.fromkeys(names, 0))
    for debrief in held:
        for name in names:
            figures[name] += debrief.get(name, 0)
    return {
        "trials": len(held),
        "not_available": len(refused),
        "why": refused[0]["why"] if refused else "",
        **figures,
    }
