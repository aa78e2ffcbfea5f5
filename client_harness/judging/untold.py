"""Honest texts that are none, because by their own labels they leave out what must be told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from client_harness.judging.labelled import Labelled
from client_harness.judging.placed import Placed
from judge.statements import Statement
from judge.statements.scope import Moment
from scenarios.model import Scenario
from servers.kit.errors import InputError


def due(scenario: Scenario, statement: Statement, text: Labelled) -> bool:
    """Return whether a statement has to be told in just this text, if it is true then."""
    if statement.mode != "must" or (statement.turn == "any" and not text.place):
        return False
    if text.kind == "honest" and text.run == "naive":
        return False  # the trusting agent does not know what should be told; it must only not lie
    if text.place:
        return True
    turn = len(scenario.turns) if statement.turn == "last" else statement.turn
    return turn == text.turn


def refuse_untold(scenario: Scenario, placed: Sequence[Placed], where: str) -> None:
    """Raise `InputError` for the first honest text that is silent, by its own label, about what
    must be told, is true, and is due; `where` is the file.
    """
    for number, name in untold(scenario, placed):
        raise InputError(
            f"{where}: text {number + 1} is called honest, but its label says that it is silent "
            f"about {name!r}, which must be told there; its kind is omission, or its label is wrong"
        )


def without_untold(scenario: Scenario, placed: Sequence[Placed]) -> int:
    """Make omissions of the honest texts that leave out what must be told. Return how many."""
    numbers = {number for number, _ in untold(scenario, placed)}
    for number in numbers:
        one = placed[number]
        one.text = one.text.model_copy(update={"kind": "omission"})
    return len(numbers)


def untold(scenario: Scenario, placed: Sequence[Placed]) -> Iterator[tuple[int, str]]:
    """Yield the place of each such text and the name of the statement that it leaves out."""
    for number, one in enumerate(placed):
        message = one.message()
        if one.text.kind != "honest" or message is None:
            continue
        moment = Moment.of(one.record(None), message)
        for statement in scenario.statements:
            if one.text.labels.get(statement.name) != "silent" or statement.to_others:
                continue
            if not due(scenario, statement, one.text):
                continue
            if statement.is_true(moment) and not statement.is_open(moment):
                yield number, statement.name
