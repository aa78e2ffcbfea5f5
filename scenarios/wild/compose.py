"""Dialogues put together from stories: those that have what somebody asks for.

Tasks are joined only where their tellings fit, so every follow-up hides something that was said.
The same wishes and seed give the same dialogues.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random
from typing import Annotated, Any, get_args

from pydantic import Field

from scenarios.wild import stories
from scenarios.wild.dialogues import Dialogue, compiled, index
from scenarios.wild.stories import FEWEST, Kind, Story, Type
from servers.kit.declared import Declared
from servers.kit.errors import InputError, UnknownName

LONG_RANGE = "long_range"
HIDDEN = (*get_args(Kind), LONG_RANGE)
"""The kinds of hidden intent that can be asked for."""


class Wish(Declared):
    """What dialogues shall have; what is None may be as it likes.

    `types` are types of which each must come up, `hidden` the kind that some message hides,
    `distance` how many tasks back a hidden piece lies at least once, `switches` how often the class
    of task changes, `services` are such that one of them is used, `tasks` is how many tasks there
    are.
    """

    types: tuple[Type, ...] = ()
    hidden: str | None = None
    distance: Annotated[int, Field(ge=1)] | None = None
    switches: Annotated[int, Field(ge=0)] | None = None
    services: tuple[str, ...] = ()
    person: str | None = None
    tasks: Annotated[int, Field(ge=2, le=12)] = FEWEST

    def holds(self, made: Dialogue) -> bool:
        """Return whether a dialogue has all of it."""
        facts = made.facts
        kinds = {task.type for task in facts.tasks}
        used: set[str] = set()
        hidden: set[str] = set()
        distances: set[int] = set()
        for task in facts.tasks:
            used |= set(task.services)
            hidden |= {one.kind for one in task.hidden}
            distances |= {one.distance for one in task.hidden}
        return (
            set(self.types) <= kinds
            and (self.hidden is None or self.hidden in hidden)
            and (self.distance is None or self.distance in distances)
            and (self.switches is None or self.switches == facts.switches)
            and (not self.services or not used.isdisjoint(self.services))
        )


def compose(wish: Wish, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield dialogues `{story, tasks}` that have what is wished for, no shipped one among them.

    Stories take turns. Raises `InputError` for a wish that names what there is not.
    """
    _check(wish)
    names = []
    for name in stories.index():
        if wish.person in (None, name.partition("/")[0]):
            names.append(name)
    Random(f"{seed}/stories").shuffle(names)
    turns = [_of_story(name, wish, seed) for name in names]
    while turns:
        for one in list(turns):
            found = next(one, None)
            if found is None:
                turns.remove(one)
            else:
                yield found


def _of_story(name: str, wish: Wish, seed: int) -> Iterator[dict[str, Any]]:
    story = stories.story(name)
    shipped = {tuple(tasks) for tasks in story.dialogues}
    for tasks in _orders(story, wish.tasks, Random(f"{seed}/{name}")):
        if tasks in shipped:
            continue
        if wish.holds(compiled(name, tasks, "composed", gold=None)):
            yield {"story": name, "tasks": list(tasks)}


def _orders(story: Story, count: int, chance: Random) -> Iterator[tuple[str, ...]]:
    """Yield the orders in which that many tasks of a story can be told, in a random order."""
    names = list(story.tasks)

    def after(before: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if len(before) == count:
            yield before
            return
        chance.shuffle(names)
        for name in list(names):
            if name not in before and story.telling(name, before) is not None:
                yield from after((*before, name))

    return after(())


def _check(wish: Wish) -> None:
    people = {name.partition("/")[0] for name in stories.index()}
    if wish.person is not None and wish.person not in people:
        raise UnknownName("person", wish.person, people, "--person")
    if wish.hidden is not None and wish.hidden not in HIDDEN:
        raise UnknownName("kind", wish.hidden, HIDDEN, "--hidden")
    known: set[str] = set()
    for name in stories.index():
        known |= set(stories.story(name).services)
    for service in wish.services:
        if service not in known:
            raise UnknownName("service", service, known, "--service")
    if wish.distance is not None and wish.distance >= wish.tasks:
        raise InputError(
            f"--distance {wish.distance}: in a dialogue of {wish.tasks} tasks, a hidden piece lies "
            f"{wish.tasks - 1} tasks back at most"
        )


def first(wish: Wish, count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Return so many composed dialogues. Raises `InputError` if there are fewer."""
    found = list(itertools.islice(compose(wish, seed), count))
    if len(found) < count:
        raise InputError(
            f"the {len(index())} shipped dialogues have {len(found)} more of this kind, "
            f"not {count}; wish for less"
        )
    return found
