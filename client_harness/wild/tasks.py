"""What a report needs to know of each task of a dialogue, from the trace alone."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, TypedDict

from client_harness.wild.labels import label, nodes_of, progress_of
from client_harness.wild.published import published
from judge.graph.task import Progress
from judge.trace import Record
from judge.verdict import Verdict
from scenarios.wild.dialogues import Dialogue, TaskFacts, switches


class TaskStory(TypedDict):
    """One task of a trial.

    `right` is whether its change, its statements and its graph are. `optimal` is given for several
    calls, None where the agent's steps are not known; `progress` is the share of its needed calls
    that were made once their inputs were known, `needless` counts calls that nobody needed.
    `published` are the scores of the published scorer (`client_harness.wild.published`).
    `previous` is the class of the task before it, `switches` how often the class has changed by
    then. `hidden` are the kinds of what its message leaves out, `distance` the farthest of them in
    tasks. `label` says why it is wrong.
    """

    name: str
    type: str
    task_class: str
    position: int
    previous: str | None
    switches: int
    hidden: list[str]
    distance: int
    services: list[str]
    right: bool
    optimal: bool | None
    progress: float | None
    published: dict[str, Any]
    needless: int
    label: str | None


class DialogueStory(TypedDict):
    """A trial of a dialogue: `gold` is the task that was played alone, or None for all of them."""

    story: str
    dialogue: str
    person: str
    gold: int | None
    switches: int
    tasks: list[TaskStory]


def story(made: Dialogue, record: Record, verdict: Verdict) -> DialogueStory:
    """Return what a report needs to know of a trial."""
    wrong = wrong_turns(made, record, verdict)
    classes = [task.task_class for task in made.facts.tasks]
    tasks: list[TaskStory] = []
    for task in played(made):
        right = task.position not in wrong
        before = classes[: task.position]
        made_so_far = progress_of(task, record)
        steps = task.task_class == "multi"
        own = [attempt for attempt in record.attempts if attempt.turn == task.position]
        tasks.append(
            {
                "name": task.name,
                "type": task.type,
                "task_class": task.task_class,
                "position": task.position,
                "previous": before[-2] if len(before) > 1 else None,
                "switches": switches(before),
                "hidden": sorted({hidden.kind for hidden in task.hidden}),
                "distance": max((hidden.distance for hidden in task.hidden), default=0),
                "services": list(task.services),
                "right": right,
                "optimal": _optimal(made_so_far, right=right) if steps else None,
                "progress": _share(made_so_far, len(task.nodes)),
                "published": asdict(published(nodes_of(task), own)),
                "needless": len(made_so_far.score.needless),
                "label": None if right else label(task, record),
            }
        )
    return {
        "story": made.facts.story,
        "dialogue": made.facts.dialogue,
        "person": made.facts.person,
        "gold": made.facts.gold,
        "switches": made.facts.switches,
        "tasks": tasks,
    }


def played(made: Dialogue) -> list[TaskFacts]:
    """Return the tasks that the agent played itself."""
    return [task for task in made.facts.tasks if made.begun < task.position <= len(made.turns)]


def wrong_turns(made: Dialogue, record: Record, verdict: Verdict) -> set[int]:
    """Return the turns whose task is not right, given the verdict on the whole."""
    turns = _turns_of_gates(made)
    failed = [found.name for found in verdict.findings if found.failed]
    wrong = {turns[name] for name in failed if name in turns}
    run = record.timeline
    if record.expected is not None and run is not None and record.expected.complete:
        wrong |= record.expected.wrong_turns(run, faulted=bool(record.faults))
    return wrong


def _turns_of_gates(made: Dialogue) -> dict[str, int]:
    """Return the turn that each gate but `change` is about."""
    turns = {}
    for statement in made.statements:
        if isinstance(statement.turn, int):
            turns[f"told_{statement.name}"] = statement.turn
    for gate in made.gates:
        _, _, last = gate.name.rpartition("_")
        if gate.name not in turns and last.isdigit():
            turns[gate.name] = int(last)
    return turns


def _optimal(made: Progress, *, right: bool) -> bool | None:
    if made.inferred:
        return None
    return right and made.score.optimal


def _share(made: Progress, nodes: int) -> float | None:
    if not nodes:
        return None
    return (nodes - len(made.score.missing)) / nodes
