"""The published scorer's odd scores, on cases that were worked by hand."""

from __future__ import annotations

from typing import Any

from client_harness.wild.published import published
from judge.graph.task import TaskNode
from servers.kit.events import Attempt

FIVE: dict[str, Any] = {
    "a": {"call": {"tool": "venmo.send_money", "where": {"note": "a"}}},
    "b": {"call": {"tool": "venmo.send_money", "where": {"note": "b"}}, "needs": ["a"]},
    "c": {"call": {"tool": "venmo.send_money", "where": {"note": "c"}}, "needs": ["a"]},
    "d": {"call": {"tool": "venmo.send_money", "where": {"note": "d"}}, "needs": ["b", "c"]},
    "e": {"call": {"tool": "venmo.send_money", "where": {"note": "e"}}, "needs": ["d"]},
}
"""Five calls, of which the second and the third can be made together."""


def nodes(raw: dict[str, Any]) -> dict[str, TaskNode]:
    return {name: TaskNode.model_validate(node) for name, node in raw.items()}


def calls(*steps: str | dict[str, Any]) -> list[Attempt]:
    """Return calls: a letter for each note, the letters of one text in one step."""
    made: list[Attempt] = []
    for step, part in enumerate(steps, 1):
        for args in [part] if isinstance(part, dict) else [{"note": letter} for letter in part]:
            made.append(_call(len(made) + 1, step, args))
    return made


def _call(seq: int, step: int, args: dict[str, Any]) -> Attempt:
    return Attempt(
        seq=seq,
        turn=1,
        service="venmo",
        tool="send_money",
        args=args,
        at="2026-03-14T16:00:00Z",
        until="2026-03-14T16:00:01Z",
        arrived=0,
        step=step,
        effect="write",
        truth={},
        seen={},
        is_error=False,
    )


def test_a_whole_task_with_calls_made_together_has_less_than_all_progress() -> None:
    score = published(nodes(FIVE), calls("a", "bc", "d", "e"))
    assert (score.right, score.optimal, score.progress) == (True, True, 0.8)


def test_a_wrong_first_call_has_some_progress() -> None:
    score = published(nodes(FIVE), calls("x"))
    assert (score.right, score.optimal, score.progress) == (False, False, 0.2)


def test_one_call_at_a_time_is_right_and_not_optimal() -> None:
    score = published(nodes(FIVE), calls("a", "b", "c", "d", "e"))
    assert (score.right, score.optimal, score.progress) == (True, False, 1.0)


def test_calls_of_one_step_have_to_come_in_the_order_of_the_graph() -> None:
    assert not published(nodes(FIVE), calls("a", "cb", "d", "e")).right


def test_a_number_has_to_be_written_as_in_the_graph() -> None:
    wanted = {"pay": {"call": {"tool": "venmo.send_money", "where": {"amount": 1}}}}
    assert published(nodes(wanted), calls({"amount": 1})).right
    assert not published(nodes(wanted), calls({"amount": 1.0})).right


def test_any_call_is_wrong_where_none_is_needed() -> None:
    assert published({}, []).right
    assert not published({}, calls("a")).right
