"""Why a trial of an instance failed, as one of eight labels, from its trace alone.

They are finer than the three errors of ToolHaystack; `PUBLISHED` says which of these each one is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

from judge.checks.graph import Graph
from judge.trace import Record
from scenarios.haystack import history, pieces, targets
from scenarios.haystack.instances import Instance
from servers.kit.events import Attempt
from servers.kit.service import service

NO_CALL = "no call"
WRONG_TOOL = "wrong tool"
GUESSED = "guessed instead of asked"
ASKED = "asked though it was said"
STALE = "stale value"
FROM_CONTEXT = "value from the context"
FROM_REPLY = "value from a live reply"
FROM_NOWHERE = "value from nowhere"
ELSE = "right calls, and something else wrong"
PUBLISHED = {
    NO_CALL: "wrong tool",
    WRONG_TOOL: "wrong tool",
    STALE: "value from elsewhere in the context",
    FROM_CONTEXT: "value from elsewhere in the context",
    FROM_REPLY: "value from nowhere",
    FROM_NOWHERE: "value from nowhere",
    GUESSED: "value from nowhere",
    ASKED: "wrong tool",
    ELSE: "none of them",
}
"""Label → the error of ToolHaystack that it is counted as there."""


class Story(TypedDict):
    """What a report needs to know of a trial of an instance.

    `abstained` and `completed` are given where something is missing: whether nothing was written
    before the answer, and whether the task was done after it. `right` of the `needed` calls were
    made, with the right arguments. `sources` are the moments of the past
    sessions that hold the wrong value.
    """

    kind: str
    person: str
    target: str
    generated: bool
    category: str
    wording: str
    shift: str | None
    by: list[str]
    sessions: int
    distractors: int
    distance: int
    value: int
    near: str
    needed: int
    right: int
    abstained: bool | None
    completed: bool | None
    label: str | None
    sources: list[str]


def story(made: Instance, record: Record, *, passed: bool) -> Story:
    """Return what a report needs to know of a trial; `passed` is its verdict."""
    facts = made.facts
    label: str | None = None
    sources: list[str] = []
    if not passed:
        label, sources = _label(made, record)
    missing = facts.missing is not None
    needed, right = _accomplished(made, record)
    return {
        "kind": facts.kind,
        "person": facts.person,
        "target": targets.short(facts.target),
        "generated": facts.generated,
        "category": service(made.services[0]).category,
        "wording": facts.wording,
        "shift": facts.shift,
        "by": list(facts.by),
        "sessions": facts.sessions,
        "distractors": facts.sessions - len(facts.by),
        "distance": facts.distance,
        "value": facts.value,
        "near": facts.near,
        "needed": needed,
        "right": right,
        "abstained": _abstained(made, record) if missing else None,
        "completed": passed if missing else None,
        "label": label,
        "sources": sources,
    }


def _accomplished(made: Instance, record: Record) -> tuple[int, int]:
    """Return how many calls are needed, and how many of them were made with right arguments.

    Where something is missing, a call that came without asking is not right.
    """
    needed = 0
    right = 0
    guessed = made.facts.missing is not None and made.facts.missing not in record.asked_about
    for check in made.checks:
        if isinstance(check, Graph):
            score = check.progress(record).score
            needed += len(check.nodes)
            right += 0 if guessed else len(check.nodes) - len(score.missing)
    return needed, right


def _abstained(made: Instance, record: Record) -> bool:
    """Return whether the agent wrote nothing before it was told what was missing."""
    given = record.answers(made.facts.missing or "")
    first = given[0].seq if given else None
    for attempt in record.attempts:
        wrote = attempt.effect == "write" and not attempt.is_error
        if wrote and (first is None or attempt.arrived < first):
            return False
    return bool(given)


def _label(made: Instance, record: Record) -> tuple[str, list[str]]:
    asked = any(message.about is not None for message in record.messages)
    missing = made.facts.missing
    if not record.attempts:
        return (ASKED if asked and missing is None else NO_CALL), []
    needed = needed_calls(made, record.attempts)
    if not needed:
        return (ASKED if asked and missing is None else WRONG_TOOL), []
    if missing is not None and missing not in record.asked_about:
        return GUESSED, []
    if asked and missing is None:
        return ASKED, []
    return wrong_value(made, record, needed)


def needed_calls(made: Instance, attempts: Iterable[Attempt]) -> list[Attempt]:
    """Return the calls of tools that the task needs, whatever their arguments are."""
    patterns = []
    for check in made.checks:
        if isinstance(check, Graph):
            for node in check.nodes.values():
                patterns += [pattern.tool for pattern in node.calls]
    if not patterns:
        return list(attempts)
    found = []
    for attempt in attempts:
        if any(tool.selects(attempt.service, attempt.tool) for tool in patterns):
            found.append(attempt)
    return found


def wrong_value(made: Instance, record: Record, needed: Sequence[Attempt]) -> tuple[str, list[str]]:
    """Return where the wrong value of the last needed call comes from."""
    facts = made.facts
    taken = targets.target(facts.target)
    call = needed[-1]
    done = json.dumps([call.args, call.seen], ensure_ascii=False)  # an id says who in the reply
    wrong: list[Any] = []
    for piece in facts.hidden:
        parts = taken.taken(piece)
        right = pieces.leaves(pieces.only(facts.values[piece], parts))
        other = pieces.leaves(pieces.only(facts.others[piece], parts))
        if not all(_shows(done, leaf) for leaf in right):
            shown = [leaf for leaf in other if _shows(done, leaf)]
            wrong += [leaf for leaf in shown if leaf not in right]
    if wrong and facts.kind.startswith("shift"):
        return STALE, _sessions(made, wrong)
    known = json.dumps(record.messages[0].text, ensure_ascii=False)
    rights = pieces.leaves(list(facts.values.values()))
    strange = []
    for leaf in wrong or pieces.leaves(call.args):
        if leaf not in rights and _tells(leaf) and not _shows(known, leaf):
            strange.append(leaf)
    sources = _sessions(made, strange)
    if sources:
        return FROM_CONTEXT, sources
    for attempt in record.attempts:
        seen = json.dumps(attempt.seen, ensure_ascii=False)
        if attempt.seq < call.seq and any(_shows(seen, leaf) for leaf in strange):
            return FROM_REPLY, []
    return (FROM_NOWHERE if strange else ELSE), []


def _tells(leaf: Any) -> bool:
    """Return whether a value is telling: ids come from replies, and a 5 may come from anywhere."""
    if isinstance(leaf, bool) or leaf is None:
        return False
    if isinstance(leaf, int):
        return leaf >= 100
    return len(str(leaf)) > 1 and "_" not in str(leaf)


def _sessions(made: Instance, leaves: Sequence[Any]) -> list[str]:
    """Return the moments of the past sessions that hold one of some values."""
    found = []
    for session in history.live(made.history or "").sessions:
        text = json.dumps(session["messages"], ensure_ascii=False)
        if any(_shows(text, leaf) for leaf in leaves if _tells(leaf)):
            found.append(session["at"])
    return found


def _shows(text: str, leaf: Any) -> bool:
    if isinstance(leaf, float) and leaf.is_integer():
        leaf = int(leaf)
    return json.dumps(str(leaf), ensure_ascii=False)[1:-1] in text
