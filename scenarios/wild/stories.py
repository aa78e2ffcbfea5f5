"""Stories: what a person does over an afternoon, as tasks that can be told in different orders.

A story is `stories/<person>/<name>.yaml`; the folder is the registry. Its dialogues are lists of
its tasks. A task that comes later is told as people do then: what was said before is left out, and
the telling marks what is hidden, where it was said, and by whom. The classes of tasks and the kinds
of hidden intent are those of WildToolBench (Yu et al. 2026).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, ValidationError, model_validator

from scenarios.haystack import pieces
from scenarios.worlds import build
from servers.kit.declared import Declared
from servers.kit.errors import InputError, UnknownName, explain, placing
from servers.kit.yaml import read

HERE = Path(__file__).parent / "stories"
Type = Literal["single", "parallel", "sequential", "mixed", "clarify", "talk", "known"]
TYPES: tuple[Type, ...] = get_args(Type)
CLASSES: dict[Type, str] = {
    "single": "single",
    "parallel": "multi",
    "sequential": "multi",
    "mixed": "multi",
    "clarify": "clarify",
    "talk": "chat",
    "known": "chat",
}
"""Type → the class between which users switch."""
Kind = Literal["partial", "coreference"]
Speaker = Literal["user", "assistant", "call", "reply"]
FAR = 3
"""How many tasks back a hidden piece lies at least if it is a long-range dependency."""
SHARED = 2
"""How many tasks two dialogues of a story share at most."""
FEWEST = 4
"""How many tasks a dialogue has at least."""


class Hidden(Declared):
    """What a message leaves out: a piece that was said in an earlier task, and by whom.

    `kind` is partial (it is simply not said again) or coreference ("there", "the second one"). What
    lies three tasks back or more counts as a long-range dependency, whatever its kind.
    """

    kind: Kind
    said_in: Annotated[str, Field(alias="in")]
    by: Speaker


class Telling(Declared):
    """One way to tell a task. One that `hides` nothing can only be told first.

    `after` names further tasks that must have come before, `pieces` replaces some of the task's.
    """

    user: Annotated[str, Field(min_length=2)]
    hides: dict[str, Hidden] = {}
    after: list[str] = []
    pieces: dict[str, list[Any]] = {}

    @property
    def needs(self) -> set[str]:
        """The tasks that must have come before."""
        return {*self.after, *(hidden.said_in for hidden in self.hides.values())}


class OtherWay(Declared):
    """Other right steps for a task; `about` says in words what is different."""

    about: str
    steps: Annotated[list[Any], Field(min_length=1)]


class Task(Declared):
    """A task as written in a story.

    `pieces` are what the agent has to know, each with the right value and a wrong one. `needed`
    (nodes of a graph), `oracle`, `statements`, `answers` and `change` are as in a scenario, and may
    hold pieces; the oracle ends with what it says. In a `clarify`, the piece `missing` was said
    nowhere, and `question` is how a good assistant asks for it. `talk` wants no call at all,
    `known` an answer that is in what was said.
    """

    type: Type
    pieces: dict[str, list[Any]] = {}
    needed: dict[str, Any] = {}
    oracle: Annotated[list[Any], Field(min_length=1)]
    ways: list[OtherWay] = []
    statements: list[dict[str, Any]] = []
    missing: str | None = None
    question: str | None = None
    answers: dict[str, Any] = {}
    change: dict[str, Any] = {}
    tellings: Annotated[list[Telling], Field(min_length=1)]

    @property
    def is_chat(self) -> bool:
        """Whether it needs no call."""
        return CLASSES[self.type] == "chat"

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for name, values in self.pieces.items():
            if name == pieces.OTHER or len(values) != 2 or values[0] == values[1]:
                raise InputError(f"piece {name}: wants the right value and a wrong one")
        if self.is_chat == bool(self.needed):
            has = "needs no call, so it has no `needed`" if self.is_chat else "wants `needed` calls"
            raise InputError(f"a task of type {self.type} {has}")
        clarify = self.type == "clarify"
        asks = self.missing is not None and self.question is not None
        if clarify != asks:
            raise InputError("`missing` and `question` belong to a task of type clarify")
        if clarify and self.missing not in self.pieces:
            raise UnknownName("piece", str(self.missing), self.pieces, "missing")
        if clarify and self.missing not in self.answers:
            raise InputError(f"piece {self.missing} is missing, so `answers` must have it")
        if not isinstance(self.oracle[-1], dict) or "say" not in self.oracle[-1]:
            raise InputError("oracle: the last step of a task is a `say`")
        for number, telling in enumerate(self.tellings):
            with placing(f"tellings[{number}]"):
                self._check(telling)
        return self

    def _check(self, telling: Telling) -> None:
        for name in (*telling.hides, *telling.pieces):
            if name not in self.pieces:
                raise UnknownName("piece", name, self.pieces)
        said = pieces.told(telling.user, self.pieces)[0]
        for name in telling.hides:
            if name in said or name == self.missing:
                raise InputError(f"piece {name} cannot be hidden, since it is said or missing")
        if not telling.hides:
            return
        for name in self.pieces:
            if name not in said and name not in telling.hides and name != self.missing:
                raise InputError(f"piece {name} is neither said nor hidden")


class Story(Declared):
    """A story: the tasks, and the dialogues that are told of them, each a list of tasks in order.

    `services`, `tools` and `setup` are as in a scenario.
    """

    title: str
    about: str
    services: Annotated[list[str], Field(min_length=1)]
    tools: dict[str, list[str]] = {}
    setup: list[Any] = []
    tasks: dict[str, Task]
    dialogues: Annotated[list[list[str]], Field(min_length=1)]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for name, task in self.tasks.items():
            for telling in task.tellings:
                for needed in telling.needs:
                    if needed not in self.tasks:
                        raise UnknownName("task", needed, self.tasks, f"tasks.{name}")
                    if needed == name:
                        raise InputError(f"tasks.{name}: a piece cannot be hidden in its own turn")
        for number, tasks in enumerate(self.dialogues):
            with placing(f"dialogues[{number}]"):
                if len(tasks) < FEWEST:
                    raise InputError(f"a dialogue has at least {FEWEST} tasks")
                self.told(tasks)
        for one, other in itertools.combinations(self.dialogues, 2):
            both = sorted({*one} & {*other})
            if len(both) > SHARED:
                raise InputError(
                    f"dialogues: two share {', '.join(both)}; they may share {SHARED} tasks"
                )
        return self

    def told(self, tasks: Sequence[str]) -> list[Telling]:
        """Return how tasks are told in this order: each by its first telling that fits.

        Raises `InputError` if one cannot be told in its place.
        """
        tellings = []
        for place, name in enumerate(tasks):
            if name not in self.tasks:
                raise UnknownName("task", name, self.tasks)
            if name in tasks[:place]:
                raise InputError(f"the task {name} comes twice")
            fitting = self.telling(name, tasks[:place])
            if fitting is None:
                before = ", ".join(tasks[:place]) or "nothing"
                raise InputError(f"no telling of {name} fits after {before}")
            tellings.append(fitting)
        return tellings

    def telling(self, name: str, before: Sequence[str]) -> Telling | None:
        """Return the first telling of a task that fits after others, or None."""
        for telling in self.tasks[name].tellings:
            opens = not before and not telling.hides
            follows = bool(before) and bool(telling.hides)
            if (opens or follows) and telling.needs <= set(before):
                return telling
        return None


@functools.cache
def index() -> dict[str, Path]:
    """Return the stories: `<person>/<name>` → file."""
    paths = sorted(HERE.glob("*/*.yaml"))
    return {path.relative_to(HERE).with_suffix("").as_posix(): path for path in paths}


@functools.cache
def story(name: str) -> Story:
    """Return a story by its name, e.g. `maya/coast_weekend`. Raises `InputError`."""
    if name not in index():
        raise UnknownName("story", name, index())
    return read_story(index()[name], name.partition("/")[0])


def read_story(path: Path, person: str) -> Story:
    """Return the story in a file, in a person's world. Raises `InputError`."""
    try:
        return Story.model_validate(build.with_ids(read(path), person))
    except ValidationError as wrong:
        raise InputError(f"{path}: {explain(wrong, Story)}") from None
    except InputError as wrong:
        raise InputError(f"{path}: {wrong}") from None
