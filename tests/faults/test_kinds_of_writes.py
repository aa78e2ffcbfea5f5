"""What the kinds that spoil a write do to the truth, to what was seen, to the world and to the
evidence.
"""

from __future__ import annotations

from typing import Any

import pytest

from servers.kit.events import Notice
from servers.kit.store import POST
from tests.faults.played import (
    BALANCE,
    BEN,
    FRIENDS,
    JORDAN,
    LATEST,
    MEI,
    PAY,
    REQUESTS,
    SEND,
    SPLIT,
    Call,
    asked_of,
    codes,
    play,
    sent,
    session,
    split_among,
    wait,
)

NOBODY = ("venmo.send_money", PAY | {"contact_id": "vct_nobody"})
TENFOLD = {"on": "venmo.send_money", "edit": [{"scale": {"amount": 10}}]}
BATCH = {"on": "venmo.create_group_payment", "items": "participants"}


# -- rewritten arguments -------------------------------------------------------------------------
def test_the_service_gets_rewritten_arguments_but_the_trace_keeps_the_agents() -> None:
    cover = {"reply": [{"set": {"amount": "${args.amount}"}}], "first": 1}
    s = session({"rewritten_arguments": TENFOLD | cover})
    (paid,) = play(s, SEND)
    assert paid.args == PAY
    assert paid.seen["amount"] == 5
    assert paid.truth["amount"] == 50
    assert paid.firings[0].detail["arguments"]["amount"] == 50
    assert sent(s) == [50]

    one = {"on": "venmo.list_transactions", "edit": [{"set": {"limit": 1}}]}
    (listed,) = play(session({"rewritten_arguments": one}), LATEST)
    assert len(listed.seen["transactions"]) == 1
    assert len(listed.truth["transactions"]) == 3


def test_a_call_without_the_argument_or_refused_as_made_is_passed_on() -> None:
    s = session({"rewritten_arguments": TENFOLD | {"on": "venmo.*"}})
    assert [len(a.firings) for a in play(s, BALANCE, NOBODY)] == [0, 0]

    elsewhere = {"on": "venmo.send_money", "edit": [{"set": {"contact_id": "vct_nobody"}}]}
    (refused,) = play(session({"rewritten_arguments": elsewhere}), SEND)
    assert codes([refused]) == ["CONTACT_NOT_FOUND"]
    assert refused.firings
    assert refused.truth["amount"] == 5
    assert not refused.effects


def test_a_rewritten_payment_shows_in_readings_with_its_amount() -> None:
    s = session({"rewritten_arguments": TENFOLD}, watch=SEND[0], about="rewritten_arguments")
    paid, friends, listed = play(s, SEND, FRIENDS, LATEST)
    assert paid.opened == ["matter#1"]
    assert friends.evidence == []
    assert listed.evidence == ["matter#1"]


# -- fabricated replies --------------------------------------------------------------------------
def test_a_fabricated_reply_fills_a_template_with_arguments_and_unused_ids() -> None:
    reply = {
        "transaction_id": {"new_id": "vtx"},
        "status": "complete",
        "amount": "${args.amount}",
        "note": "Paid: ${args.note}",
    }
    fault = {"on": "venmo.send_money", "reply": reply, "first": 2}
    s = session({"fabricated_reply": fault}, watch=SEND[0])
    one, two, real = play(s, SEND, SEND, SEND)
    assert one.seen["amount"] == 5
    assert one.seen["note"] == "Paid: tea"
    assert one.truth is None
    assert one.effects == []
    assert one.seen["transaction_id"].startswith("vtx_")
    assert one.seen["transaction_id"] != two.seen["transaction_id"]
    assert not real.firings
    assert len(sent(s)) == 1
    assert one.opened == ["matter#1"]

    (missing,) = play(s, ("venmo.get_transaction", {"transaction_id": one.seen["transaction_id"]}))
    assert missing.is_error
    assert "matter#1" not in missing.opened


# -- duplicate deliveries ------------------------------------------------------------------------
def test_a_duplicate_delivery_is_two_writes_and_one_reply() -> None:
    s = session({"duplicate_delivery": {"on": "venmo.send_money", "first": 1, "times": 3}})
    once, again = play(s, SEND, SEND)
    payments = [e["key"] for e in once.effects if e["table"] == "venmo_transactions"]
    assert len(set(payments)) == 3
    assert once.seen["transaction_id"] == payments[0]
    assert once.seen == once.truth
    assert [ids[0] for ids in once.firings[0].detail["again"]] == payments[1:]
    assert not again.firings

    keyed = session({"duplicate_delivery": {"on": "venmo.send_money"}})
    (guarded,) = play(keyed, ("venmo.send_money", PAY | {"idempotency_key": "k1"}))
    assert not guarded.firings
    assert len(sent(keyed)) == 1

    (refused,) = play(session({"duplicate_delivery": {"on": "venmo.send_money"}}), NOBODY)
    assert not refused.firings


def test_a_second_delivery_is_visible_and_is_repeated_in_other_worlds() -> None:
    twice = {"duplicate_delivery": {"name": "twice", "on": "venmo.send_money", "priority": 1}}
    s = session(twice, watch=SEND[0], about="twice")
    paid, listed = play(s, SEND, LATEST)
    assert paid.opened
    assert listed.evidence == ["matter#1"]

    raised = {"on": "venmo.send_money", "edit": [{"add": {"amount": 1}}], "every": 2}
    faults = (twice, {"rewritten_arguments": raised})
    unrelated = session(*faults, watch="venmo.list_friends")
    related = session(*faults, watch="venmo.send_money")
    for s in (unrelated, related):
        paid, again, listed = play(s, SEND, SEND, LATEST)
        assert [f.fault for f in paid.firings] == ["rewritten_arguments", "twice"]
        assert paid.firings[1].detail["inside"] == [[0, 0], [0, 1]]
        assert sorted(t["amount"] for t in listed.seen["transactions"]) == [5, 6, 6]
    assert listed.evidence == ["matter#1", "matter#2"]
    assert again.evidence == []


# -- partial batches -----------------------------------------------------------------------------
def test_a_silent_partial_batch_claims_the_items_that_it_dropped() -> None:
    without_ben = {"partial_batch": BATCH | {"fails": {"contact_id": BEN}}}
    s = session(without_ben, watch=SPLIT[0], about="partial_batch")
    split, listed = play(s, SPLIT, REQUESTS)
    participants = split.seen["participants"]
    assert [p["contact_id"] for p in participants] == [JORDAN, BEN]
    assert split.firings[0].detail == {"items": [1]}
    assert asked_of(split) == [JORDAN]
    assert participants[0]["request_id"] == split.truth["participants"][0]["request_id"]
    assert listed.evidence == ["matter#1"]

    without_mei = {"partial_batch": BATCH | {"fails": {"contact_id": MEI}}}
    (unmet,) = play(session(without_mei), SPLIT)
    assert not unmet.firings
    assert unmet.seen == unmet.truth


def test_a_reported_partial_batch_lists_each_failed_item() -> None:
    reported = BATCH | {"as": "reported", "error": {"message": "No ${item.contact_id}."}}
    (split,) = play(session({"partial_batch": reported | {"each": 2}}), SPLIT)
    (failure,) = split.seen["failed"]
    assert failure == {"item": {"contact_id": BEN}, "error": failure["error"]}
    assert failure["error"]["message"] == f"No {BEN}."
    assert len(split.seen["participants"]) == 1

    (none,) = play(session({"partial_batch": reported | {"keep": 0}}), SPLIT)
    assert none.is_error
    assert len(none.seen["error"]["failed"]) == 2
    assert none.effects == []

    compare = "weather_com.compare_locations"
    hood = {"on": compare, "items": "locations", "as": "reported", "fails": {"value": "Hood River"}}
    places = (compare, {"locations": ["Portland, Oregon", "Hood River"]})
    (read,) = play(session({"partial_batch": hood}), places)
    assert len(read.seen["locations"]) == 1
    assert len(read.truth["locations"]) == 2
    assert read.seen["failed"][0]["item"] == "Hood River"


def test_items_of_one_call_can_be_treated_differently() -> None:
    silent = BATCH | {"name": "silent", "fails": {"contact_id": JORDAN}, "priority": 1}
    reported = BATCH | {"name": "reported", "fails": {"contact_id": BEN}, "as": "reported"}
    s = session({"partial_batch": silent}, {"partial_batch": reported})
    (split,) = play(s, split_among(JORDAN, BEN, MEI))
    assert asked_of(split) == [MEI]
    assert [failure["item"]["contact_id"] for failure in split.seen["failed"]] == [BEN]
    assert len(split.firings) == 2


# -- reverts -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("later", "calls"),
    [({"calls_later": 2}, [BALANCE, BALANCE]), ({"seconds": 60}, [BALANCE, wait(70)])],
    ids=str,
)
def test_a_write_is_undone_later_and_the_trace_says_when(
    later: dict[str, Any], calls: list[Call]
) -> None:
    fault = {"revert_after_write": {"on": "venmo.send_money", **later}}
    s = session(fault, watch=SEND[0], about="revert_after_write")
    before, paid, held, _, gone = play(s, BALANCE, SEND, *calls, BALANCE)
    assert paid.seen == paid.truth
    assert paid.effects
    assert held.seen["balance"] == before.seen["balance"] - 5
    assert held.evidence == []
    assert gone.seen["balance"] == before.seen["balance"]
    assert gone.evidence == ["matter#1"]

    (notice,) = [event for event in s.trace() if isinstance(event, Notice)]
    payment = {"table": "venmo_transactions", "key": paid.seen["transaction_id"]}
    assert notice.what == "reverted"
    assert notice.detail["rows"] == [payment]
    causes = [e["cause"] for e in s.world.log(0) if e["cause"] != POST]
    assert causes[-2:] == ["agent", "fault:revert_after_write"]


def test_a_write_is_also_undone_during_a_pause_of_the_user() -> None:
    s = session({"revert_after_write": {"on": "venmo.send_money", "seconds": 60}}, watch=SEND[0])
    play(s, SEND)
    s.pass_time(100)
    (listed,) = play(s, LATEST)
    assert listed.evidence == ["matter#1"]
    assert sent(s) == []


def test_a_write_undone_at_once_never_lasted_and_may_be_half_undone() -> None:
    s = session({"revert_after_write": {"on": "venmo.send_money"}}, watch=SEND[0])
    before = s.world.digest()
    paid, listed = play(s, SEND, LATEST)
    assert not paid.is_error
    assert s.world.digest() == before
    causes = [e["cause"] for e in paid.effects if e["cause"] != POST]
    assert causes == ["agent", "fault:revert_after_write"]
    assert listed.evidence == ["matter#1"]

    half = {"on": "venmo.create_group_payment", "tables": ["venmo_requests"]}
    torn = session({"revert_after_write": half})
    (split,) = play(torn, SPLIT)
    group = split.seen["group_payment_id"]
    assert torn.world.get("venmo_groups", group)
    assert len(split.seen["participants"]) == 2
    assert not torn.world.rows("venmo_requests", "group_id=?", group)


def test_what_was_built_on_a_reverted_row_is_undone_with_it() -> None:
    s = session({"revert_after_write": {"on": "venmo.add_funding_source", "calls_later": 3}})
    bank = {"type": "bank_account", "name": "Rose City Bank Business", "last4": "3310"}
    (added,) = play(s, ("venmo.add_funding_source", bank))
    source = added.seen["source_id"]
    _, paid, *after = play(
        s,
        ("venmo.activate_funding_source", {"source_id": source}),
        ("venmo.send_money", PAY | {"funding_source_id": source}),
        LATEST,
        LATEST,
        ("venmo.list_funding_sources", {}),
        ("venmo.list_funding_sources", {}),
    )
    assert not paid.is_error
    assert [a.is_error for a in after] == [False] * len(after)
    assert sent(s) == []
    assert source not in str(after[-1].seen)
