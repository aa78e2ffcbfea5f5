"""The `graph` check over real sessions: calls, lookups, repeated nodes and steps."""

from __future__ import annotations

from typing import Any

import pytest

from judge.checks import parse
from judge.checks.graph import Graph
from judge.graph.task import Progress, holds
from judge.trace import Record
from servers.kit.errors import InputError
from tests.judge.judged import BALANCE, FRIENDS, LIST, OTHER, PAY, PRIYA, find, play

PAID = {"tool": "venmo.send_money", "where": {"contact_id": PRIYA, "amount": 25}}
TASK: dict[str, Any] = {
    "who": {"holds": PRIYA},
    "enough": {"call": "venmo.get_balance"},
    "paid": {"call": PAID, "needs": ["who", "enough"]},
}


def graph(nodes: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"graph": {"name": "work", "nodes": nodes, **rest}}


def came(nodes: dict[str, Any], record: Record) -> Progress:
    check = parse(graph(nodes))
    assert isinstance(check, Graph)
    return check.progress(record)


def test_calls_in_any_order_that_their_needs_allow_do_the_task() -> None:
    record = play([], [BALANCE, FRIENDS], PAY, "Paid.")
    finding = find(graph(TASK), record)
    assert finding.value is True
    assert "in 2 steps (as few as can be)" in finding.why
    assert find(graph(TASK), play([], FRIENDS, BALANCE, PAY, "Paid.")).value is True


def test_a_payment_before_its_inputs_were_known_is_not_done() -> None:
    finding = find(graph(TASK), play([], [BALANCE, FRIENDS, PAY], "Paid."))
    assert finding.value is False
    assert "not done: paid; 1 of the calls came before what they need was known" in finding.why


def test_a_read_back_is_free_and_a_call_for_nothing_is_named() -> None:
    read_back = came(TASK, play([], [BALANCE, FRIENDS], PAY, LIST, "Paid."))
    assert read_back.score.optimal
    finding = find(graph(TASK), play([], BALANCE, [BALANCE, FRIENDS], PAY, "Paid."))
    assert finding.value is True and "needless calls (event 2)" in finding.why


def test_paying_somebody_else_too_is_needless() -> None:
    score = came(TASK, play([], [BALANCE, FRIENDS], [PAY, OTHER], "Paid.")).score
    assert score.complete and not score.optimal and len(score.needless) == 1


def test_steps_are_inferred_where_the_agent_does_not_tell_them() -> None:
    made = came(TASK, play([], [BALANCE, FRIENDS], PAY, "Paid.", known=False))
    assert made.inferred and made.score.steps == 2
    finding = find(graph(TASK), play([], [BALANCE, FRIENDS], PAY, "Paid.", known=False))
    assert "steps" not in finding.why.partition("done")[2]


def test_a_node_is_repeated_over_the_list_that_another_returned() -> None:
    listed = play([], FRIENDS, "There they are.").attempts[0].seen
    first, second = [friend["contact_id"] for friend in listed["friends"]][:2]
    each = {"of": "who", "path": "friends[*].contact_id", "argument": "contact_id"}
    all_of_them = {"call": "venmo.send_money", "each": each}
    nodes = {"who": {"call": "venmo.list_friends"}, "all": all_of_them}
    one = ("venmo", "send_money", {"contact_id": first, "amount": 1, "note": "a"})
    two = ("venmo", "send_money", {"contact_id": second, "amount": 1, "note": "a"})
    score = came(nodes, play([], FRIENDS, [two, one], "Done.")).score
    assert {"who", "all[0]", "all[1]"} <= score.met
    assert len(score.missing) == len(listed["friends"]) - 2


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ({"a": {"call": "venmo.get_balance", "needs": ["b"]}}, "unknown node 'b'"),
        ({"a": {}}, "either `call` or `holds`"),
        ({"a": {"call": "venmo.get_balance", "holds": 5}}, "either `call` or `holds`"),
        ({"a": {"call": "venmo.get_balanse"}}, "did you mean 'get_balance'"),
        (
            {
                "a": {"call": "venmo.get_balance", "needs": ["b"]},
                "b": {"call": "venmo.list_friends", "needs": ["a"]},
            },
            "need each other",
        ),
        ({}, "nodes"),
    ],
)
def test_a_graph_that_cannot_be_is_refused(nodes: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        parse(graph(nodes))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Priya Nair", True),
        ("priya", True),
        ("Pri", False),
        (27.5, True),
        (27, False),
        (1288, True),
        (1, False),
        (True, False),
    ],
)
def test_a_reply_holds_a_value_as_people_read_it(value: Any, expected: bool) -> None:
    reply = {"to": [{"name": "Priya Nair"}], "amount": 27.5, "ok": True, "text": "$1,288.00 due"}
    assert holds(reply, value) is expected
