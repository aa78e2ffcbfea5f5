"""A task's graph as it is declared, and how a turn of a trace is matched with it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from pydantic import Field, model_validator

from judge.graph.matcher import Matcher, Node, Score
from judge.pattern import CallPattern
from judge.trace import Record
from servers.kit.declared import Declared
from servers.kit.errors import InputError, UnknownName
from servers.kit.events import Attempt
from servers.kit.expr.paths import values

Scalar = str | int | float


class Each(Declared):
    """One call for each value that `path` finds in the reply to node `of`, as `argument`."""

    of: str
    path: str = Field(min_length=1)
    argument: str


class TaskNode(Declared):
    """A node: a `call` (or several, of which any will do), or a lookup of what a reply `holds`.

    `holds` is a value, or several that one reply has to hold together. `needs` names nodes whose
    replies this one needs; `each` repeats the call over a list that another node returned.
    """

    call: CallPattern | tuple[CallPattern, ...] = ()
    holds: Scalar | tuple[Scalar, ...] = ()
    needs: tuple[str, ...] = ()
    optional: bool = False
    each: Each | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if bool(self.calls) == bool(self.held):
            raise InputError("a node has either `call` or `holds`")
        if self.each is not None and not self.calls:
            raise InputError("`each` repeats a call, and this node has none")
        return self

    @property
    def calls(self) -> tuple[CallPattern, ...]:
        """The calls of which any will do; none for a lookup."""
        return (self.call,) if isinstance(self.call, CallPattern) else self.call

    @property
    def held(self) -> tuple[Scalar, ...]:
        """The values that a reply has to hold; none for a call."""
        return self.holds if isinstance(self.holds, tuple) else (self.holds,)


@dataclass(frozen=True)
class _Wanted:
    """A node of the matcher with what it is met by; `item` is its value of an `each`."""

    node: Node
    task: TaskNode
    item: Any = None

    def fits(self, attempt: Attempt) -> bool:
        """Return whether a call stands for this node; a refused one does not."""
        each = self.task.each
        if each is not None and attempt.args.get(each.argument) != self.item:
            return False
        if attempt.is_error:
            return any(p.ok is False and p.matches(attempt) for p in self.task.calls)
        return any(pattern.matches(attempt) for pattern in self.task.calls)

    def answered_by(self, attempt: Attempt) -> bool:
        """Return whether a reply holds what this node looks up."""
        held = self.task.held
        return bool(held) and not attempt.is_error and all(holds(attempt.seen, v) for v in held)


@dataclass(frozen=True)
class Progress:
    """How far a turn came; `inferred` says that the agent's steps are not known."""

    score: Score
    inferred: bool


def nodes_of(tasks: Mapping[str, TaskNode]) -> list[Node]:
    """Return the matcher's nodes. Raises `InputError` if the graph cannot be."""
    nodes = _nodes_of(tasks)
    Matcher(nodes)
    return nodes


def _nodes_of(tasks: Mapping[str, TaskNode]) -> list[Node]:
    nodes = []
    for name, task in tasks.items():
        needs = task.needs
        if task.each is not None:
            if task.each.of not in tasks:
                raise UnknownName("node", task.each.of, tasks, f"graph, {name}.each.of")
            needs = (*needs, task.each.of)
        needed = tuple(dict.fromkeys(needs))
        nodes.append(Node(name, needed, lookup=bool(task.held), optional=task.optional))
    return nodes


def progress(
    tasks: Mapping[str, TaskNode], record: Record, turn: int, *, free_reads: bool = False
) -> Progress:
    """Return how far the calls of a turn came in a task's graph.

    Reads after a write of this turn are free, and with `free_reads` all of them.
    """
    own = [attempt for attempt in record.attempts if attempt.turn == turn]
    earlier = [attempt for attempt in record.attempts if attempt.turn < turn]
    wanted = list(_expanded(tasks, own))
    known = []
    for each in wanted:
        if any(each.answered_by(attempt) for attempt in earlier):
            known.append(each.node.name)
    matcher = Matcher([each.node for each in wanted], known)
    wrote = free_reads
    steps, inferred = steps_of(own)
    for attempt, step in zip(own, steps, strict=True):
        # A read after a write looks what became of it; a fault's victim may try again.
        free = bool(attempt.firings) if attempt.is_error else wrote and attempt.effect == "read"
        fits = [each.node.name for each in wanted if each.fits(attempt)]
        held = [each.node.name for each in wanted if each.answered_by(attempt)]
        matcher.take(attempt.seq, step, fits, held, free=free)
        wrote = wrote or _writes(attempt)
    return Progress(matcher.score(), inferred)


def _expanded(tasks: Mapping[str, TaskNode], own: Sequence[Attempt]) -> Iterator[_Wanted]:
    """Yield a node for each value of an `each`, or the node itself before its list is known."""
    replaced: dict[str, list[str]] = {}
    nodes = _nodes_of(tasks)
    for node in nodes:
        task = tasks[node.name]
        if task.each is None:
            replaced[node.name] = [node.name]
            continue
        items = _items(task.each, tasks[task.each.of], own)
        replaced[node.name] = [f"{node.name}[{number}]" for number in range(len(items))]
        replaced[node.name] = replaced[node.name] or [node.name]
    for node in nodes:
        task = tasks[node.name]
        needs = tuple(itertools.chain.from_iterable(replaced[need] for need in node.needs))
        items = _items(task.each, tasks[task.each.of], own) if task.each is not None else []
        for number, name in enumerate(replaced[node.name]):
            item = items[number] if items else None
            wanted = Node(name, needs, lookup=node.lookup, optional=node.optional)
            yield _Wanted(wanted, task, item)


def _items(each: Each, source: TaskNode, own: Iterable[Attempt]) -> list[Any]:
    """Return the list that the first reply of the node `each.of` in this turn gave."""
    listed = _Wanted(Node(each.of), source)
    for attempt in own:
        if listed.fits(attempt) or listed.answered_by(attempt):
            return values(attempt.seen, each.path)
    return []


def _writes(attempt: Attempt) -> bool:
    return attempt.effect == "write" and not attempt.is_error


def steps_of(own: Sequence[Attempt]) -> tuple[list[int], bool]:
    """Return the step of each call, and whether they are inferred from the order of arrival."""
    declared = [attempt.step for attempt in own]
    known = [step for step in declared if step is not None]
    if len(known) == len(own) and known == sorted(known):
        return known, False
    steps: list[int] = []
    begun = 0
    for attempt in own:
        # A call that came in after the reply to one of the present step begins a new step.
        if not steps or attempt.arrived >= begun:
            steps.append(steps[-1] + 1 if steps else 1)
            begun = attempt.seq
        else:
            steps.append(steps[-1])
    return steps, True


def holds(reply: Any, value: Scalar) -> bool:
    """Return whether a reply holds a value: a number anywhere, or a text as whole words."""
    if isinstance(reply, dict):
        return any(holds(part, value) for part in reply.values())
    if isinstance(reply, list):
        return any(holds(part, value) for part in reply)
    if isinstance(reply, bool) or reply is None:
        return False
    if isinstance(value, str):
        return re.search(_as_words(value), str(reply), re.IGNORECASE) is not None
    if isinstance(reply, str):
        figures = re.findall(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?!\w)", reply)
        return any(float(figure.replace(",", "")) == value for figure in figures)
    return bool(reply == value)


def _as_words(text: str) -> str:
    """Return a pattern of a text that is not a part of a longer word or figure."""
    before = _boundary(text[:1])
    after = _boundary(text[-1:])
    return f"(?<!{before}){re.escape(text)}(?!{after})"


def _boundary(edge: str) -> str:
    if edge.isdigit():
        return r"\d"
    return r"\w" if edge.isalpha() else r"(?!)"
