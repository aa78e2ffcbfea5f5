"""The proof of a dialogue: every task wants what it says, and what is hidden matters.

The oracle is right and as short as can be, in the whole dialogue and in each task alone. One who
does the same calls one by one is right and not optimal where they could be made together. One who
forgets fails what is hidden, one who never asks fails where something is missing, and one who calls
or writes fails where an answer was wanted. Mutants and detours are played for the first dialogue of
each story, since all of them share its tasks.
"""

from __future__ import annotations

import json
from contextlib import AbstractAsyncContextManager
from typing import Any

from client_harness.agents._script import ScriptAgent, playing
from client_harness.agents._wild import (
    always_asking,
    always_calling,
    looking_first,
    never_asking,
    one_by_one,
)
from client_harness.contract import Agent, Assignment
from client_harness.proof.play import Played
from client_harness.proof.proof import Proof
from client_harness.wild.tasks import TaskStory, story
from judge.trace import Record
from scenarios.haystack import pieces
from scenarios.script import Step
from scenarios.wild import stories
from scenarios.wild.dialogues import Dialogue, TaskFacts, gold_tasks
from servers.kit.events import Attempt, Message

MUTATED = "/1"
"""How the id of the dialogue ends with which the oracle's mutants and detours are played."""


class DialogueProof(Proof):
    """The proof of one dialogue."""

    def __post_init__(self) -> None:
        super().__post_init__()
        assert isinstance(self.scenario, Dialogue)
        self.dialogue = self.scenario
        self._stories: dict[int, list[TaskStory]] = {}

    async def _run(self) -> None:
        for check in self.scenario.checks:
            self.problems += [f"check {check.name}: {p}" for p in check.problems()]
        base, clean = await self._oracle()
        right = [base, clean, *await self._routes(base, clean)]
        self._answered(base)
        self._types(base)
        for made in gold_tasks(self.dialogue):
            await TaskProof(made, self.problems, self.known).prove()
        self._hidden(base)
        self.problems += self._replies.problems(self.scenario)
        self._used(base, right)
        if self.problems or not self.dialogue.id.endswith(MUTATED):
            return
        await self._detours(base)
        await self._mutants(base, clean)
        self.problems += self.tally.excuse(self.scenario.excused)
        self.problems += [self.tally.problem(name) for name in self.tally.survivors()]

    def _answered(self, base: Played) -> None:
        """Refuse an oracle whose texts the user takes for questions where nothing is missing."""
        for message in base.messages:
            if message.role == "user" and message.about is not None:
                task = self.dialogue.facts.tasks[message.turn - 1]
                problem = (
                    f"task {task.name}: the user took a text of the oracle for a question, "
                    f"and answered {message.text!r}"
                )
                self._need(message.about == f"{task.name}_{task.missing}", problem)

    def _types(self, base: Played) -> None:
        """Compare the declared types with what the graphs are for one who knows what was said."""
        assert base.record is not None
        told = story(self.dialogue, base.record, base.verdicts["base"])
        for task, made in zip(self.dialogue.facts.tasks, told["tasks"], strict=True):
            self._need(made["right"], f"task {task.name}: the oracle's own task is not right")
            if task.task_class == "multi":
                problem = f"task {task.name}: the oracle is not optimal"
                self._need(bool(made["optimal"]), problem)
            if task.task_class in ("single", "multi"):
                shape = _shape(task, base.record)
                problem = f"task {task.name}: is declared {task.type}, but its graph is {shape}"
                self._need(shape == task.type, problem)

    def _hidden(self, base: Played) -> None:
        """Look for each hidden value where it was said, and see that its own turn lacks it."""
        own = stories.story(self.dialogue.facts.story)
        for task in self.dialogue.facts.tasks:
            values = own.tasks[task.name].pieces
            told = own.told([one.name for one in self.dialogue.facts.tasks])[task.position - 1]
            values = {**values, **told.pieces}
            for hidden in task.hidden:
                leaves = pieces.leaves(values[hidden.piece][0])
                turn = task.position - hidden.distance
                there = _said(base.events, turn, hidden.by)
                problem = (
                    f"task {task.name}: {hidden.piece} is not in what the {hidden.by} says in "
                    f"{hidden.said_in}"
                )
                self._need(any(_shows(there, leaf) for leaf in leaves), problem)
                now = self.dialogue.turns[task.position - 1].user
                problem = f"task {task.name}: {hidden.piece} is hidden, but its turn says it"
                telling = [leaf for leaf in leaves if len(str(leaf)) > 2]
                self._need(not any(_shows(now, leaf) for leaf in telling), problem)


class TaskProof(Proof):
    """The proof of one task alone, after the oracle's run of the earlier ones."""

    async def prove(self) -> None:
        """Play what must pass and what must fail, and add the problems."""
        assert isinstance(self.scenario, Dialogue)
        task = self.scenario.facts.tasks[self.scenario.begun]
        own = self.scenario.scripts.oracle
        oracle = await self._told("oracle", own)
        self._must(task, oracle, right=True, who="the oracle")
        if oracle["problem"]:
            return
        serial = await self._told("one by one", one_by_one(own, self.scenario))
        self._must(task, serial, right=True, who="one who calls one by one")
        if task.type in ("parallel", "mixed"):
            problem = f"task {task.name}: one who calls one by one is optimal, too"
            self._need(not serial["task"]["optimal"], problem)
        if (task.hidden and task.type != "talk") or task.missing is not None:
            forgetful = await self._told("forgetful", self.scenario.scripts.naive)
            self._must(task, forgetful, right=False, who="one who forgets what was said")
        if task.missing is not None:
            never = await self._told("never asks", never_asking(own, self.scenario))
            self._must(task, never, right=False, who="one who guesses right and does not ask")
            looker = await self._told("looks first", looking_first(own, self.scenario))
            self._must(task, looker, right=True, who="one who looks around and then asks")
        if task.type == "talk":
            caller = await self._told("always calls", always_calling(own, self.scenario))
            self._must(task, caller, right=False, who="one who calls something")
        silent = await self._told("silent", [Step.model_validate({"say": ""})])
        self._must(task, silent, right=False, who="one who says nothing")
        if task.task_class in ("single", "multi"):
            only = await self._told("always asks", always_asking(own, self.scenario))
            self._must(task, only, right=False, who="one who only asks")

    async def _told(self, name: str, steps: list[Step]) -> dict[str, Any]:
        """Play steps, and return `{task, problem}`: what came of the task, and why it is wrong."""
        assert isinstance(self.scenario, Dialogue)
        made = self.scenario
        found: dict[str, Any] = {}

        def life(given: Assignment) -> AbstractAsyncContextManager[Agent]:
            return playing(ScriptAgent(given, steps))

        done = await self._play(name, life, straight=True, keep=True)
        try:
            assert done.record is not None
            verdict = done.verdicts["base"]
            told = story(made, done.record, verdict)["tasks"][0]
            found = {"task": told, "problem": "" if verdict.value == "pass" else verdict.why}
        finally:
            done.close()
            self._kept.remove(done)
        return found

    def _must(self, task: TaskFacts, found: dict[str, Any], *, right: bool, who: str) -> None:
        """Compare what came of a task alone with what must have come of it."""
        told = found["task"]["right"] and not found["problem"]
        if right:
            self._need(told, f"task {task.name}, alone: {who} fails: {found['problem']}")
        else:
            self._need(not told, f"task {task.name}, alone: {who} passes")


def _shape(task: TaskFacts, record: Record) -> str:
    """Return the type of a task's graph, given what was known before it."""
    from client_harness.wild.labels import progress_of

    made = progress_of(task, record)
    wanted = made.score.required
    if wanted == 1:
        return "single"
    if made.score.longest == 1:
        return "parallel"
    return "sequential" if made.score.longest == wanted else "mixed"


def _said(events: list[Any], turn: int, by: str) -> str:
    """Return what somebody said in a turn: texts, arguments or replies."""
    parts: list[Any] = []
    for event in events:
        if event.turn != turn:
            continue
        if isinstance(event, Message) and event.role == by:
            parts.append(event.text)
        elif isinstance(event, Attempt) and by in ("call", "reply"):
            parts.append(event.args if by == "call" else event.seen)
    return json.dumps(parts, ensure_ascii=False).casefold()


def _shows(text: str, leaf: Any) -> bool:
    if isinstance(leaf, float) and leaf.is_integer():
        leaf = int(leaf)
    return json.dumps(str(leaf), ensure_ascii=False)[1:-1].casefold() in text.casefold()
