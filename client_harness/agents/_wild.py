"""Solvers of dialogues without any model: each plays the oracle's tasks with one bad habit.

They show what the tasks measure: who forgets fails what is hidden, who never asks fails where
something is missing, who always asks fails the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from client_harness.agents._script import ScriptAgent, playing
from client_harness.contract import Assignment
from scenarios.load import offer
from scenarios.script import Step
from scenarios.wild.dialogues import QUESTION, TOLD, Dialogue
from servers.kit.errors import InputError
from servers.kit.service import tool

Habit = Callable[[list[Step], Dialogue], list[Step]]
"""Returns what is done instead of the oracle's steps of a task."""


def solver(habit: Habit) -> Callable[[Assignment], AbstractAsyncContextManager[ScriptAgent]]:
    """Return the `agent` of a file of `agents/` that plays every task with a habit."""

    def agent(given: Assignment) -> AbstractAsyncContextManager[ScriptAgent]:
        made = given.scenario
        if not isinstance(made, Dialogue):
            raise InputError(
                f"{made.id} is no dialogue; this agent plays only those of "
                "`client_harness list tasks`"
            )
        steps: list[Step] = []
        for task in tasks_of(made):
            steps += habit(task, made)
        return playing(ScriptAgent(given, steps))

    return agent


def tasks_of(made: Dialogue) -> list[list[Step]]:
    """Return the oracle's steps of each task."""
    tasks: list[list[Step]] = [[]]
    for step in made.scripts.oracle:
        tasks[-1].append(step)
        if (step.id or "").endswith(TOLD):
            tasks.append([])
    return tasks[:-1]


def one_by_one(task: list[Step], made: Dialogue) -> list[Step]:
    """Make the calls of each batch one after another."""
    steps: list[Step] = []
    for step in task:
        steps += step.batch if step.batch is not None else [step]
    return steps


def never_asking(task: list[Step], made: Dialogue) -> list[Step]:
    """Do what is right, as if by chance, without asking for what is missing."""
    return [step for step in task if not is_question(step)]


def always_calling(task: list[Step], made: Dialogue) -> list[Step]:
    """Look something up before every answer, even where none of the tools is wanted."""
    if any(step.call or step.batch for step in task):
        return task
    return [_some_read(made), *task]


def always_asking(task: list[Step], made: Dialogue) -> list[Step]:
    """Ask before everything, and act only after an answer that the question foresaw."""
    if any(is_question(step) for step in task):
        return task
    return [Step.model_validate({"say": "What exactly do you mean?"})] * 4


def looking_first(task: list[Step], made: Dialogue) -> list[Step]:
    """Look around before asking for what is missing."""
    question = [step for step in task if is_question(step)]
    if not question:
        return task
    rest = [step for step in task if not is_question(step)]
    place = 0
    while place < len(rest) and _reads(rest[place]):
        place += 1
    looked = rest[:place] or [_some_read(made)]
    return [*looked, *question, *rest[place:]]


def is_question(step: Step) -> bool:
    """Return whether a step of the oracle asks for what is missing."""
    return (step.id or "").endswith(QUESTION)


def _reads(step: Step) -> bool:
    calls: Sequence[Step] = step.batch or [step]
    return all(one.call is not None and tool(one.call)[1].effect == "read" for one in calls)


def _some_read(made: Dialogue) -> Step:
    """Return a call that reads and needs no argument."""
    for name, cls in offer(made).items():
        for spec in cls.tools.values():
            if spec.effect == "read" and not spec.schema.get("required"):
                return Step.model_validate({"call": f"{name}.{spec.name}"})
    raise InputError(f"{made.id}: no tool can be called without arguments")
