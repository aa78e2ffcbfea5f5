"""Why a task of a dialogue is wrong, as one of a dozen labels, from trace and graph.

They are the errors of WildToolBench (Yu et al. 2026), and what it has no name for: acting without
asking, asking for what was said, and a wrong answer after the right calls.
"""

from __future__ import annotations

import json
from typing import Any

from judge.graph.task import Progress, TaskNode, progress
from judge.pattern import CallPattern, heads
from judge.trace import Record
from scenarios.wild.dialogues import TaskFacts
from servers.kit.events import Attempt
from servers.kit.expr import matches

CALLED = "called though an answer was wanted"
REFUSED = "refused though tools were needed"
ASKED = "asked though it was said"
NOT_ASKED = "acted instead of asking"
NO_SUCH_TOOL = "a tool that does not exist"
WRONG_TOOL = "wrong tool"
MISSING_STEP = "missing step"
STOPPED = "stopped early"
REDUNDANT = "redundant call"
NO_ARGUMENT = "argument missing"
WRONG_TYPE = "argument of the wrong type"
INVENTED = "argument invented"
WRONG_VALUE = "argument of the wrong value"
WRONG_ANSWER = "right calls, wrong answer"
LABELS = (
    CALLED,
    REFUSED,
    ASKED,
    NOT_ASKED,
    NO_SUCH_TOOL,
    WRONG_TOOL,
    MISSING_STEP,
    STOPPED,
    REDUNDANT,
    NO_ARGUMENT,
    WRONG_TYPE,
    INVENTED,
    WRONG_VALUE,
    WRONG_ANSWER,
)
"""The labels, in the order in which tables show them."""


def nodes_of(task: TaskFacts) -> dict[str, TaskNode]:
    """Return the nodes of a task's graph."""
    return {name: TaskNode.model_validate(node) for name, node in task.nodes.items()}


def progress_of(task: TaskFacts, record: Record) -> Progress:
    """Return how far the calls of a task came in its graph."""
    free = task.type == "clarify"
    return progress(nodes_of(task), record, task.position, free_reads=free)


def label(task: TaskFacts, record: Record) -> str:
    """Return why a task is wrong."""
    own = [attempt for attempt in record.attempts if attempt.turn == task.position]
    if task.task_class == "chat":
        wrote = any(attempt.effect == "write" for attempt in own)
        return CALLED if wrote or (own and task.type == "talk") else WRONG_ANSWER
    asked = _asked(record, task.position)
    clarify = task.missing is not None
    told = clarify and f"{task.name}_{task.missing}" in record.asked_about
    if any(_code(attempt) == "UNKNOWN_TOOL" for attempt in own):
        return NO_SUCH_TOOL
    if clarify and own and not told:
        return NOT_ASKED
    if not own:
        return ASKED if asked and not told else REFUSED
    return _of_calls(task, own, record)


def _of_calls(task: TaskFacts, own: list[Attempt], record: Record) -> str:
    score = progress_of(task, record).score
    nodes = nodes_of(task)
    missing = [nodes[name] for name in score.missing if name in nodes]
    for node in missing:
        for pattern in node.calls:
            tried = [a for a in own if pattern.tool.selects(a.service, a.tool)]
            if tried:
                return _of_arguments(pattern, tried[-1], record)
    if missing:
        wrong = any(seq not in score.repeated for seq in score.needless)
        if wrong:
            return WRONG_TOOL
        return STOPPED if all(node.needs for node in missing) else MISSING_STEP
    wrote = {attempt.seq for attempt in own if attempt.effect == "write"}
    return REDUNDANT if wrote & set(score.needless) else WRONG_ANSWER


def _of_arguments(pattern: CallPattern, call: Attempt, record: Record) -> str:
    """Return what is wrong with the arguments of a call that should have been a node's."""
    wanted = pattern.where or {}
    if any(head not in call.args for head in heads(wanted)):
        return NO_ARGUMENT
    if call.is_error and _code(call) == "VALIDATION_ERROR":
        return WRONG_TYPE
    failing = [path for path in wanted if not matches({path: wanted[path]}, call.args)]
    values = [call.args.get(head) for head in heads(dict.fromkeys(failing))]
    known = _known(record, call.seq)
    strange = [value for value in values or call.args.values() if not _stands(value, known)]
    return INVENTED if strange else WRONG_VALUE


def _known(record: Record, before: int) -> str:
    """Return everything that was said, and every reply, before a call."""
    parts: list[Any] = [m.text for m in record.messages if m.seq < before]
    parts += [attempt.seen for attempt in record.attempts if attempt.seq < before]
    return json.dumps(parts, ensure_ascii=False).casefold()


def _stands(value: Any, known: str) -> bool:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return all(_stands(part, known) for part in inner)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(str(value), ensure_ascii=False)[1:-1].casefold() in known


def _asked(record: Record, turn: int) -> bool:
    return any(m.turn == turn and m.about is not None for m in record.messages)


def _code(attempt: Attempt) -> str:
    seen = attempt.seen if isinstance(attempt.seen, dict) else {}
    error = seen.get("error")
    return str(error.get("code", "")) if attempt.is_error and isinstance(error, dict) else ""
