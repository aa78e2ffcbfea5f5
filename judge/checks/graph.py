"""`graph`: the calls of a turn did a task's work, each once its inputs were known."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import StrictInt, model_validator

from judge.finding import Finding, at_events
from judge.graph.task import Progress, TaskNode, nodes_of, progress
from judge.model import Aspect, Check, Mentions
from judge.trace import Record
from servers.kit.errors import InputError


class Graph(Check):
    """Every required node of a graph was accomplished in a turn (by default the last one).

    `nodes` maps names to needed calls and lookups (`judge.graph.task.TaskNode`). Calls may come in
    any order that the needs allow; needless ones are named in the finding, and are no failure
    unless `strict`. With `free_reads`, no read is needless: who has to ask may look first.
    """

    kind: ClassVar[str] = "graph"
    default_aspect: ClassVar[Aspect] = "outcome"

    nodes: dict[str, TaskNode] = {}
    turn: StrictInt | Literal["last"] = "last"
    strict: bool = False
    free_reads: bool = False

    @model_validator(mode="after")
    def _possible(self) -> Self:
        nodes_of(self.nodes)
        if not self.nodes and not self.strict:
            raise InputError("a graph without nodes is always true, unless it is `strict`")
        return self

    def judge(self, record: Record) -> Finding:
        """See `Check.judge`."""
        made = self.progress(record)
        score = made.score
        turn = self._turn(record)
        calls = [attempt.seq for attempt in record.attempts if attempt.turn == turn]
        unwanted = list(score.needless) if self.nodes else calls
        if self.strict and unwanted:
            return Finding(False, f"calls that nobody needed{at_events(unwanted)}", unwanted)
        if not self.nodes:
            return Finding(True, "no call was needed, and none was made")
        done = len(self.nodes) - len(score.missing)
        why = f"{done} of {len(self.nodes)} steps of the task were done"
        if score.missing:
            why = f"not done: {', '.join(score.missing)}"
            if score.early:
                why += f"; {score.early} of the calls came before what they need was known"
        if score.needless:
            why += f"; needless calls{at_events(list(score.needless))}"
        if score.complete and not made.inferred:
            fewest = "as few as can be" if score.steps <= score.longest else f"not {score.longest}"
            why += f", in {score.steps} steps ({fewest})"
        return Finding(score.complete, why, list(score.needless))

    def progress(self, record: Record) -> Progress:
        """Return how far the turn came, with the figures that reports use."""
        return progress(self.nodes, record, self._turn(record), free_reads=self.free_reads)

    def _turn(self, record: Record) -> int:
        return record.last_turn if self.turn == "last" else self.turn

    def mentions(self) -> Mentions:
        """See `Check.mentions`."""
        targets = []
        for node in self.nodes.values():
            targets += [pattern.tool for pattern in node.calls]
        return super().mentions().add(Mentions(targets=targets))
