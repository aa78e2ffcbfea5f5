"""Dialogues: the scenarios that stories stand for.

`wild/maya/coast_weekend/2` is the second dialogue of the story `maya/coast_weekend`. In gold mode,
`wild/maya/coast_weekend/2@task=3` is its third task alone, after the oracle's run of the first two.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from judge.model import Check
from scenarios.haystack import pieces
from scenarios.haystack.instances import POINT
from scenarios.model import Scenario
from scenarios.wild import stories
from scenarios.wild.stories import CLASSES, FAR, Task, Telling, Type
from servers.kit.declared import Declared
from servers.kit.errors import InputError, UnknownName, explain

SUITE = "wild"
TASK = f"{POINT}task="
CALLS = 25
"""How many calls a dialogue allows for each of its tasks."""
QUESTIONS = 3
"""How many questions a dialogue allows for each of its tasks."""


QUESTION = "_question"
"""How the id of the step ends with which the oracle asks for what is missing."""
TOLD = "_told"
"""How the id of the last step of each of the oracle's tasks ends."""


class HiddenFact(Declared):
    """A piece that a message leaves out; `kind` may be long_range, `distance` counts tasks."""

    piece: str
    kind: str
    said_in: str
    by: str
    distance: int


class TaskFacts(Declared):
    """What a report needs to know of a task; `position` counts from 1."""

    name: str
    type: Type
    position: int
    services: tuple[str, ...]
    hidden: tuple[HiddenFact, ...]
    missing: str | None
    nodes: dict[str, Any]

    @property
    def task_class(self) -> str:
        """single, multi, clarify or chat."""
        return CLASSES[self.type]


class DialogueFacts(Declared):
    """What a dialogue is made of.

    `dialogue` is its id without the task, `gold` the task that is played alone, or None.
    """

    story: str
    person: str
    dialogue: str
    gold: int | None
    tasks: tuple[TaskFacts, ...]

    @property
    def switches(self) -> int:
        """How often the class of task changes."""
        return switches([task.task_class for task in self.tasks])


def switches(classes: Sequence[str]) -> int:
    """Return how often the class changes from one task to the next."""
    return len([one for one, other in itertools.pairwise(classes) if one != other])


class Dialogue(Scenario):
    """A scenario that is a dialogue of a story, or one task of it."""

    facts: DialogueFacts

    @functools.cached_property
    def gates(self) -> list[Check]:
        """The gates of a scenario, with those of honesty told apart by turn."""
        from judge.statements.checks import Truthful

        made: list[Check] = []
        for check in super().gates:
            if not isinstance(check, Truthful):
                made.append(check)
                continue
            for turn in range(self.begun + 1, len(self.turns) + 1):
                name = f"truthful_{turn}"
                made.append(Truthful(name=name, statements=check.statements, turn=turn))
        return made


@dataclass(frozen=True)
class _Part:
    """A task in its place: how it is told, and its pieces with the right values and wrong ones."""

    name: str
    task: Task
    telling: Telling
    turn: int
    before: tuple[str, ...]

    @property
    def right(self) -> dict[str, Any]:
        return pieces.scope({**self.task.pieces, **self.telling.pieces}, 0)

    def filled(self, value: Any) -> Any:
        return pieces.filled(value, self.right)

    def oracle(self) -> list[Any]:
        question = []
        if self.task.question is not None:
            question = [{"id": f"{self.name}{QUESTION}", "say": self.task.question}]
        told = {"id": f"{self.name}{TOLD}", **self.task.oracle[-1]}
        return self.filled([*question, *self.task.oracle[:-1], told])

    def forgetful(self) -> list[Any]:
        """Return what an agent does that remembers nothing and asks nothing."""
        right = self.right
        lost = [*self.telling.hides, *([self.task.missing] if self.task.missing else [])]
        wrong = {name: right[pieces.OTHER][name] for name in lost}
        return pieces.filled(self.task.oracle, {**right, **wrong})

    def answers(self) -> dict[str, Any]:
        return {f"{self.name}_{key}": self.filled(one) for key, one in self.task.answers.items()}

    def statements(self) -> list[dict[str, Any]]:
        made = []
        for statement in self.filled(self.task.statements):
            name = f"{self.name}_{statement.get('name')}"
            made.append({**statement, "name": name, "turn": self.turn})
        return made

    def checks(self) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        turn = self.turn
        clarify = self.task.type == "clarify"
        if self.task.needed:
            graph = {"nodes": self.filled(self.task.needed), "free_reads": clarify}
            made.append({"graph": {"name": f"needed_{turn}", "turn": turn, **graph}})
        if self.task.type == "talk":
            made.append({"graph": {"name": f"no_call_{turn}", "turn": turn, "strict": True}})
        if self.task.is_chat:
            made.append({"replied": {"name": f"replied_{turn}", "turn": turn}})
        if clarify:
            about = f"{self.name}_{self.task.missing}"
            made.append({"asked": {"name": f"asked_{turn}", "about": about}})
        return made

    def facts(self) -> dict[str, Any]:
        hidden = []
        for piece, mark in self.telling.hides.items():
            distance = len(self.before) - self.before.index(mark.said_in)
            hidden.append(
                {
                    "piece": piece,
                    "kind": "long_range" if distance >= FAR else mark.kind,
                    "said_in": mark.said_in,
                    "by": mark.by,
                    "distance": distance,
                }
            )
        return {
            "name": self.name,
            "type": self.task.type,
            "position": self.turn,
            "services": sorted({call.partition(".")[0] for call in _calls(self.task.oracle)}),
            "hidden": hidden,
            "missing": self.task.missing,
            "nodes": self.filled(self.task.needed),
        }


def _calls(steps: Any) -> list[str]:
    calls: list[str] = []
    for step in steps if isinstance(steps, list) else []:
        calls += [step["call"]] if isinstance(step.get("call"), str) else []
        for part in ("batch", "then", "else", "do"):
            calls += _calls(step.get(part))
    return calls


@functools.cache
def index() -> dict[str, Path]:
    """Return the dialogues: id → file of the story."""
    files = {}
    for name, path in stories.index().items():
        for number in range(1, len(stories.story(name).dialogues) + 1):
            files[f"{SUITE}/{name}/{number}"] = path
    return files


def is_dialogue(name: str) -> bool:
    """Return whether an id is that of a dialogue, or of one of its tasks."""
    return name.startswith(f"{SUITE}/") and name.partition(TASK)[0] in index()


def dialogue(name: str) -> Dialogue:
    """Return a dialogue by its id, or a task of it. Raises `InputError`."""
    whole, gold, task = name.partition(TASK)
    if whole not in index():
        raise UnknownName("dialogue", whole, index())
    _, person, story, number = whole.split("/")
    tasks = stories.story(f"{person}/{story}").dialogues[int(number) - 1]
    if gold and not (task.isdigit() and 1 <= int(task) <= len(tasks)):
        raise InputError(f"{name}: {whole} has the tasks 1 to {len(tasks)}")
    return compiled(f"{person}/{story}", tasks, whole, gold=int(task) if gold else None)


def composed(raw: dict[str, Any], name: str, where: str) -> Dialogue:
    """Return the dialogue of a file that names a `story` and its `tasks` in order.

    Raises `InputError`.
    """
    try:
        made = _Composed.model_validate(raw)
        return compiled(made.story, made.tasks, name, gold=None)
    except ValidationError as wrong:
        raise InputError(f"{where}: {explain(wrong, _Composed)}") from None
    except InputError as wrong:
        raise InputError(f"{where}: {wrong}") from None


class _Composed(Declared):
    story: str
    tasks: Annotated[list[str], Field(min_length=2)]


def is_composed(raw: Any) -> bool:
    """Return whether parsed YAML names a story, and so is a dialogue."""
    return isinstance(raw, dict) and "story" in raw


def gold_tasks(made: Dialogue) -> list[Dialogue]:
    """Return each task of a dialogue alone, after the oracle's run of the earlier ones."""
    facts = made.facts
    tasks = [task.name for task in facts.tasks]
    alone = []
    for number in range(1, len(tasks) + 1):
        alone.append(compiled(facts.story, tasks, facts.dialogue, gold=number))
    return alone


def compiled(name: str, tasks: Sequence[str], whole: str, *, gold: int | None) -> Dialogue:
    """Return tasks of a story, in this order, as a scenario. Raises `InputError`.

    `name` is that of the story, `whole` the dialogue's id, `gold` the task to play alone, if only
    one is to be.
    """
    from scenarios.load import parse

    story = stories.story(name)
    parts = []
    for place, (task, telling) in enumerate(zip(tasks, story.told(tasks), strict=True)):
        part = _Part(task, story.tasks[task], telling, place + 1, tuple(tasks[:place]))
        parts.append(part)
    played = parts if gold is None else parts[:gold]
    own = played if gold is None else played[-1:]
    person = name.partition("/")[0]
    raw = {
        "title": story.title,
        "about": story.about,
        "failure": "none",
        "world": person,
        "services": story.services,
        "tools": story.tools,
        "setup": story.setup,
        "turns": [{"user": part.filled(part.telling.user)} for part in played],
        "answers": _together([part.answers() for part in played]),
        "checks": _listed([part.checks() for part in own]),
        "statements": _listed([part.statements() for part in played]),
        "change": _varied([part.filled(part.task.change) for part in played]),
        "scripts": {
            "oracle": _listed([part.oracle() for part in own]),
            "naive": _listed([part.forgetful() for part in own]),
        },
        "routes": _routes(own),
        "limits": {"calls": CALLS * len(played), "questions": QUESTIONS * len(played)},
        "tags": [SUITE],
        "facts": {
            "story": name,
            "person": person,
            "dialogue": whole,
            "gold": gold,
            "tasks": [part.facts() for part in parts],
        },
    }
    if gold is not None and gold > 1:
        steps = _listed([part.oracle() for part in played[:-1]])
        raw["prefix"] = {"turns": gold - 1, "steps": steps}
    where = str(stories.index()[name])
    made = parse(raw, whole if gold is None else f"{whole}{TASK}{gold}", where, Dialogue)
    assert isinstance(made, Dialogue)
    return made


def _together(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for part in parts:
        made |= part
    return made


def _listed(parts: Sequence[list[Any]]) -> list[Any]:
    made: list[Any] = []
    for part in parts:
        made += part
    return made


def _varied(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what may vary in any of the tasks."""
    made: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            joined = made.get(key, type(value)())
            made[key] = {**joined, **value} if isinstance(value, dict) else [*joined, *value]
    return made


def _routes(parts: Sequence[_Part]) -> list[dict[str, Any]]:
    """Return the other right ways: one task done in another way, the others as the oracle does."""
    made = []
    for part in parts:
        for way in part.task.ways:
            steps: list[Any] = []
            for one in parts:
                steps += part.filled(way.steps) if one is part else one.oracle()
            made.append({"about": f"{part.name}: {way.about}", "steps": steps})
    return made
