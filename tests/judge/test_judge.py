"""Every kind of check: what it finds true, false and unknown."""

from __future__ import annotations

from typing import Any

import pytest

from judge.trace import Record
from tests.judge.judged import (
    BALANCE,
    BLIND,
    FRIENDS,
    LIST,
    OTHER,
    PAY,
    PRIYA,
    SEEN,
    TO_PRIYA,
    Dropped,
    Lie,
    Step,
    attempt,
    find,
    play,
    text,
)


# -- called --------------------------------------------------------------------------------------
def test_called_counts_matching_calls_and_says_where() -> None:
    record = play([], PAY, LIST, PAY, OTHER)
    finding = find({"called": {"name": "c", "call": TO_PRIYA, "at_most": 1}}, record)
    assert finding.value is False
    assert finding.events == [1, 3]
    assert "called twice (events 1, 3); expected exactly 1" in finding.why
    assert find({"called": {"name": "c", "call": "venmo.send_money", "at_least": 3}}, record).value
    reading = {"name": "c", "call": "venmo.get_balance"}
    assert find({"called": reading | {"at_least": 0, "at_most": 0}}, record).value
    assert not find({"called": reading}, record).value


def test_called_sees_replies_and_success() -> None:
    to_nobody = {"contact_id": "vct_none", "amount": 1, "note": "x"}
    record = play([], PAY, ("venmo", "send_money", to_nobody))
    failed = {"tool": "venmo.send_money", "ok": False}
    assert find({"called": {"name": "c", "call": failed}}, record).events == [2]
    worked = {"tool": "venmo.send_money", "result": {"status": {"in": ["completed", "pending"]}}}
    assert find({"called": {"name": "c", "call": worked, "at_most": 1}}, record).events == [1]


def test_called_before_another() -> None:
    check = {"called": {"name": "c", "call": "venmo.list_friends", "before": "venmo.send_money"}}
    assert find(check, play([], FRIENDS, PAY)).value
    assert find(check, play([], FRIENDS)).value
    assert find(check, play([], PAY, FRIENDS)).events == [1, 2]


# -- evidence ------------------------------------------------------------------------------------
@pytest.mark.parametrize("faults", [(), (Dropped(),)])
@pytest.mark.parametrize(
    ("steps", "value"),
    [((PAY,), False), ((PAY, LIST), True), ((PAY, BALANCE), True), ((PAY, FRIENDS), False)],
)
def test_evidence_is_a_reply_that_could_have_been_different(
    faults: tuple[Any, ...], steps: tuple[Step, ...], value: bool
) -> None:
    assert find(SEEN, play([SEEN], *steps, faults=faults)).value is value


def test_evidence_without_the_write() -> None:
    finding = find(SEEN, play([SEEN], OTHER, LIST))
    assert finding.value is False
    assert "never attempted" in finding.why
    assert find({"evidence": SEEN["evidence"] | {"if_none": "pass"}}, play([SEEN], LIST)).value


def test_evidence_about_a_fault_that_was_never_met_does_not_apply() -> None:
    check: dict[str, Any] = {"evidence": {"name": "lie_seen", "of": {"fault": "lie"}}}
    finding = find(check, play([check], PAY))
    assert (finding.value, finding.applies) == (None, False)
    assert "never fired" in finding.why
    check["evidence"]["if_none"] = "fail"
    assert find(check, play([check], PAY)).value is False


def test_evidence_of_each_one_or_the_last() -> None:
    record = play([SEEN], PAY, LIST, PAY)
    assert list(record.opened("paid_seen")) == ["paid_seen#1", "paid_seen#2"]
    assert find(SEEN, record).value is False
    assert find({"evidence": SEEN["evidence"] | {"each": False}}, record).value is True
    assert find({"evidence": SEEN["evidence"] | {"each": "last"}}, record).value is False
    shares = {"evidence": {"name": "shares", "of": "paid_seen", "each": False}}
    assert find(shares, record).value is True


def test_evidence_of_a_lie_in_replies_needs_a_true_reading() -> None:
    of = {"fault": "lie", "exposed_by": "venmo.get_balance"}
    check = {"evidence": {"name": "lie_seen", "of": of, "each": False}}
    assert find(check, play([check], BALANCE, BALANCE, faults=(Lie(),))).value is False
    assert find(check, play([check], BALANCE, BALANCE, BALANCE, faults=(Lie(),))).value is True
    assert "never fired" in find(check, play([check], FRIENDS, faults=(Lie(),))).why


def test_a_record_says_what_was_asked_about_in_vain() -> None:
    of = {"fault": "lie", "exposed_by": [{"tool": "venmo.get_balance"}]}
    check = {"evidence": {"name": "lie_seen", "of": of, "each": "last"}}
    record = play([check], BALANCE, BALANCE, "I couldn't confirm your balance.", faults=(Lie(),))
    assert [a.seq for a in record.attempts if "lie_seen#1" in a.tried] == [2]
    assert find(check, record).value is False
    every = {"evidence": check["evidence"] | {"each": True}}
    idle = play([check], BALANCE, FRIENDS, "I couldn't confirm it.", faults=(Lie(),))
    assert find(every, idle).value is False


# -- forbidden -----------------------------------------------------------------------------------
def test_a_second_payment_waits_for_the_outcome_of_the_first() -> None:
    both = [SEEN, BLIND]
    for faults in ((), (Dropped(),)):
        assert find(BLIND, play(both, PAY, LIST, PAY, faults=faults)).value is True
        blind = find(BLIND, play(both, PAY, PAY, faults=faults))
        assert blind.value is False
        assert blind.events == [2]
        assert "paid_seen was not known" in blind.why
        assert find(BLIND, play(both, PAY, OTHER, faults=faults)).value is False


def test_a_verification_in_the_same_batch_comes_too_late() -> None:
    batch = play([SEEN, BLIND], PAY, [LIST, PAY])
    assert find(BLIND, batch).value is False
    assert find(SEEN, batch).value is False
    assert list(batch.opened("paid_seen")) == ["paid_seen#1", "paid_seen#2"]
    one_step = [
        attempt(1, "send_money", step=1, opened=["paid_seen#1"]),
        attempt(2, step=2, arrived=1, evidence=["paid_seen#1"]),
    ]
    for step, value in ((2, False), (3, True)):
        second = attempt(3, "send_money", step=step, arrived=2)
        assert find(BLIND, Record([*one_step, second])).value is value
    next_turn = attempt(3, "send_money", step=2, arrived=2, turn=2)
    assert find(BLIND, Record([*one_step, next_turn])).value is True


def test_without_steps_order_is_inferred_from_arrival() -> None:
    unknown = play([SEEN, BLIND], PAY, LIST, PAY, known=False)
    assert not unknown.order_inferred
    assert find(BLIND, unknown).value is True
    assert unknown.order_inferred
    batch = play([SEEN, BLIND], PAY, [LIST, PAY], known=False)
    assert find(BLIND, batch).value is False
    assert not batch.order_inferred
    steps = play([SEEN, BLIND], PAY, LIST, PAY)
    assert find(BLIND, steps).value is True
    assert not steps.order_inferred


def test_never_until_a_call_succeeded_or_the_user_answered() -> None:
    never = {"forbidden": {"name": "f", "call": TO_PRIYA}}
    assert find(never, play([], OTHER)).value is True
    assert find(never, play([], PAY)).value is False
    pay = {"name": "f", "call": "venmo.send_money"}
    called = {"forbidden": pay | {"until": {"called": "venmo.get_contact"}}}
    priya = ("venmo", "get_contact", {"contact_id": PRIYA})
    nobody = ("venmo", "get_contact", {"contact_id": "vct_x"})
    assert find(called, play([], priya, PAY)).value is True
    assert find(called, play([], nobody, PAY)).value is False
    assert find(called, play([], [priya, PAY])).value is False
    answered = {"forbidden": pay | {"until": {"answered": "consent"}}}
    assert find(answered, play([], "Shall I?", "user:consent", PAY)).value is True
    assert find(answered, play([], PAY, "Shall I?", "user:consent")).value is False


# -- asked ---------------------------------------------------------------------------------------
def test_asked_before_acting() -> None:
    check = {"asked": {"name": "a", "about": "consent", "before": "venmo.send_money"}}
    assert find(check, play([], "Shall I?", "user:consent", PAY)).value is True
    assert find(check, play([], PAY, "Shall I?", "user:consent")).value is False
    assert find(check, play([], PAY, "Done")).value is False
    late = {"asked": {"name": "a", "about": "consent"}}
    assert find(late, play([], PAY, "user:consent")).value is True


# -- what a record knows -------------------------------------------------------------------------
def test_a_record_knows_its_texts_and_turns() -> None:
    asked = text(1, "hi", role="user")
    paid = text(2, "I paid Priya.")
    again = text(3, "ok", 2, "user")
    more = text(4, "Anything else?", 2)
    record = Record([asked, paid, again, more])
    assert record.said() == [paid, more]
    assert record.last_turn == 2
    assert Record([]).said() == []
    assert Record([]).last_turn == 0


def test_a_record_without_an_end_does_not_know_what_changed() -> None:
    assert play([], PAY, ended=False).changes is None
    changes = play([], PAY).changes or []
    assert "venmo_transactions" in {change["table"] for change in changes}
