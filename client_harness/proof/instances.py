"""The proof of an instance of a target: it can be done by who knows the past, and by no one else.

The oracle passes with either value of each piece, and its calls differ. With one wrong piece the
trial fails, and so does a guess where nothing was said. Mutants and detours are played for one kind
of each target, since all kinds share the oracle.
"""

from __future__ import annotations

import json
from typing import Any

from client_harness.agents import agent
from client_harness.proof.play import Played, play
from client_harness.proof.proof import Proof
from client_harness.proof.standing import Standing, nowhere, standing
from scenarios.haystack import history
from scenarios.haystack.instances import Instance, of, script
from servers.kit.errors import InputError

MUTATED = "recall_single"
"""The kind with which the oracle's mutants and detours are played."""


class InstanceProof(Proof):
    """The proof of one instance. `stands` says where each hidden piece can be found."""

    def __post_init__(self) -> None:
        super().__post_init__()
        assert isinstance(self.scenario, Instance)
        self.instance = self.scenario
        self.stands: dict[str, Standing] = {}

    async def _run(self) -> None:
        for check in self.scenario.checks:
            self.problems += [f"check {check.name}: {p}" for p in check.problems()]
        base, clean = await self._oracle()
        right = [base, clean, *await self._routes(base, clean)]
        await self._wrong_pieces()
        done = await self._play("noop", agent("noop").agent)
        self._need(done.verdicts["base"].value == "fail", "noop: doing nothing passes base")
        await self._other_value(base)
        self._past()
        self.problems += self._replies.problems(self.scenario)
        self._used(base, right)
        if self.problems or self.instance.facts.kind != MUTATED:
            return
        await self._detours(base)
        await self._mutants(base, clean)
        self.problems += self.tally.excuse(self.scenario.excused)
        self.problems += [self.tally.problem(name) for name in self.tally.survivors()]

    async def _wrong_pieces(self) -> None:
        """Play the oracle with each piece wrong that the last message does not hold."""
        facts = self.instance.facts
        for piece in facts.hidden:
            steps = script(self.instance, {piece: facts.others[piece]})
            done = await self._steps(f"wrong {piece}", steps)
            failed = done.verdicts["base"].value == "fail"
            self._need(failed, f"piece {piece}: the trial passes with the wrong value")
        if facts.missing is not None:
            done = await self._steps("guess", script(self.instance, {}))
            failed = done.verdicts["base"].value == "fail"
            self._need(failed, "guess: the right value passes without a question")

    async def _other_value(self, base: Played) -> None:
        """Weave the other value: the oracle passes there, too, and its calls differ."""
        facts = self.instance.facts
        numbers = {"sessions": facts.sessions, "seed": facts.seed}
        if facts.by:
            numbers["distance"] = facts.distance
        numbers["wording"] = 1 if facts.wording == "plain" else 0
        other = of(facts.kind, facts.target, {**numbers, "value": 1})
        try:
            done = await play(other, agent("oracle").agent, known=self.known)
        except InputError as wrong:
            raise InputError(f"oracle, with the other value: {wrong}") from None
        verdict = done.verdicts["base"]
        problem = f"oracle, with the other value: {verdict.value}: {verdict.why}"
        self._need(verdict.value == "pass", problem)
        problem = "oracle: makes the same calls with either value, so nothing is needed"
        self._need(_calls(done) != _calls(base), problem)

    def _past(self) -> None:
        """Look for the pieces in the past sessions and in the world as it begins."""
        assert self.scenario.history is not None
        facts = self.instance.facts
        world = history.shared(self.scenario.history, self.scenario.services)
        for piece in facts.hidden:
            if piece != facts.missing:
                self.stands[piece] = standing(self.instance, world, piece)
                continue
            sessions = history.live(self.scenario.history).sessions
            said = json.dumps([one["messages"] for one in sessions], ensure_ascii=False)
            found = nowhere(self.instance, world, piece, said)
            self._need(found is None, f"piece {piece} is missing, but its value stands {found}")


def _calls(done: Played) -> list[Any]:
    return [(attempt.service, attempt.tool, attempt.args) for attempt in done.attempts]
