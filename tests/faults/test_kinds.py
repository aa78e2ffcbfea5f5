"""What the simpler kinds do to the truth, to what was seen and to the world."""

from __future__ import annotations

import pytest

from servers.kit.store import POST
from tests.faults.played import (
    BALANCE,
    BEN,
    FRIENDS,
    JORDAN,
    LATEST,
    PAY,
    REQUESTS,
    SEND,
    SPLIT,
    play,
    session,
    wait,
)

NOBODY = ("venmo.send_money", PAY | {"contact_id": "vct_nobody"})
WEATHER = "weather_com.get_current_weather"
TEA = {"table": "venmo_transactions", "where": {"note": "tea"}}


# -- calls that fail -----------------------------------------------------------------------------
def test_an_outage_refuses_in_the_providers_words_and_changes_nothing() -> None:
    error = {"code": "MAINTENANCE", "retryable": True, "retry_after": 90}
    (denied,) = play(session({"outage": {"on": "writes:venmo.*", "error": error}}), SEND)
    assert denied.seen["error"]["code"] == "MAINTENANCE"
    assert denied.seen["error"]["retry_after_seconds"] == 90
    assert denied.truth is None
    assert denied.effects == []
    (plain,) = play(session({"outage": {"on": "venmo.*"}}), BALANCE)
    assert plain.seen["error"]["code"] == "SERVICE_UNAVAILABLE"


def test_a_rate_limit_resets_with_simulated_time() -> None:
    s = session({"rate_limit": {"on": "venmo.*", "allow": 2, "window_seconds": 60}})
    attempts = play(s, BALANCE, BALANCE, BALANCE, wait(100), BALANCE)
    assert [a.is_error for a in attempts] == [False, False, True, False, False]
    assert attempts[2].seen["error"]["retry_after_seconds"] == 58


def test_a_timeout_runs_nothing_and_a_lost_reply_runs_everything() -> None:
    fields = {"on": "venmo.send_money", "seconds": 45}
    late, after_late = play(session({"timeout": fields}), SEND, BALANCE)
    lost, after_lost = play(session({"lost_reply": fields}), SEND, BALANCE)
    assert late.seen == lost.seen
    assert late.at == lost.at
    assert late.until == lost.until
    assert late.effects == []
    assert [e["table"] for e in lost.effects if e["cause"] != POST] == ["venmo_transactions"]
    assert after_late.seen["balance"] - after_lost.seen["balance"] == 5
    assert lost.truth["amount"] == 5


def test_a_refusal_by_the_service_itself_is_passed_on() -> None:
    for kind in ("lost_reply", "dropped_write"):
        s = session({kind: {"on": "venmo.send_money", "first": 1}})
        refused, paid = play(s, NOBODY, SEND)
        assert refused.seen["error"]["code"] == "CONTACT_NOT_FOUND"
        assert not refused.firings
        assert paid.firings


def test_latency_passes_simulated_time() -> None:
    s = session({"latency": {"on": "venmo.get_balance", "seconds": 40, "first": 1}})
    slow, next_one = play(s, BALANCE, BALANCE)
    assert slow.seen == slow.truth
    assert slow.until[-3:-1] == "41"
    assert next_one.at[-3:-1] == "42"


# -- writes that do nothing, reads of the past ---------------------------------------------------
def test_a_dropped_write_claims_success_and_does_nothing() -> None:
    s = session({"dropped_write": {"on": "venmo.send_money", "first": 1, "tell": "explicit"}})
    before = s.world.digest()
    first, second = play(s, SEND, SEND)
    assert first.seen["status"] == "pending"
    assert first.seen["notice"]
    assert first.effects == []
    assert first.truth is None
    assert first.seen["transaction_id"] != second.seen["transaction_id"]
    assert second.effects
    changed = {table for table, rows in s.world.digest().items() if rows != before[table]}
    assert changed == {"venmo_transactions", "outbox"}


def test_a_stale_read_shows_the_past_with_its_clock_and_records_the_truth() -> None:
    s = session({"stale_read": {"on": WEATHER, "age": 7200}})
    (read,) = play(s, (WEATHER, {"location": "Seattle"}))
    assert read.truth["observed_at"] > read.seen["observed_at"]
    assert read.firings[0].detail == {"as_of_seconds_ago": 7200}

    minute_old = {"on": "venmo.get_balance", "age": 60}
    paid, stale = play(session({"stale_read": minute_old}), SEND, BALANCE)
    assert paid.effects
    assert stale.seen["balance"] == stale.truth["balance"] + 5
    _, own = play(session({"stale_read": minute_old | {"keep_own": True}}), SEND, BALANCE)
    assert own.seen["balance"] == stale.truth["balance"]


def test_delayed_visibility_hides_the_agents_writes_for_some_reads_or_time() -> None:
    by_time = session({"delayed_visibility": {"on": "reads:venmo.*", "seconds": 90}})
    before, _, hidden, _, shown = play(by_time, BALANCE, SEND, BALANCE, wait(100), BALANCE)
    assert hidden.seen["balance"] == before.seen["balance"] == shown.seen["balance"] + 5
    assert hidden.truth != hidden.seen

    by_reads = session({"delayed_visibility": {"on": "reads:venmo.*", "reads": 2, "seconds": 900}})
    _, *reads = play(by_reads, SEND, *[BALANCE] * 3)
    balances = [read.seen["balance"] for read in reads]
    assert balances == [before.seen["balance"]] * 2 + [shown.seen["balance"]]


# -- wrong values --------------------------------------------------------------------------------
def test_a_wrong_value_is_in_the_reply_in_the_row_or_in_both() -> None:
    more = {"on": "venmo.get_balance", "reply": [{"add": {"balance": 100}}]}
    (read,) = play(session({"wrong_value": more}), BALANCE)
    assert read.seen["balance"] == pytest.approx(read.truth["balance"] + 100)

    where = {"id": "${reply.transaction_id}"}
    row = {"table": "venmo_transactions", "where": where, "edit": [{"scale": {"amount": 2}}]}
    stored = session({"wrong_value": {"name": "twice", "on": "venmo.send_money", "row": row}})
    paid, listed = play(stored, SEND, ("venmo.list_transactions", {"limit": 1}))
    assert paid.seen["amount"] == 5
    assert listed.seen["transactions"][0]["amount"] == 10
    causes = [e["cause"] for e in paid.effects if e["cause"] != POST]
    assert causes == ["agent", "fault:twice"]


def test_a_reply_without_the_place_is_passed_on_but_a_missing_row_is_a_failed_firing() -> None:
    nowhere = {"on": "venmo.get_balance", "reply": [{"scale": {"no_such_field": 2}}]}
    (read,) = play(session({"wrong_value": nowhere}), BALANCE)
    assert read.firings == []
    assert read.seen == read.truth

    row = TEA | {"where": {"note": "never written"}, "edit": [{"scale": {"amount": 2}}]}
    (read,) = play(session({"wrong_value": {"on": "venmo.get_balance", "row": row}}), BALANCE)
    assert read.firings[0].failed == (
        "no row of venmo_transactions meets {'note': 'never written'}"
    )


def test_rows_stay_as_they_are_when_the_service_refuses_and_the_call_does_not_count() -> None:
    row = {"table": "venmo_transactions", "edit": [{"scale": {"amount": 2}}]}
    found = {"where": {"id": "${reply.transaction_id}"}}
    twice = {"on": "venmo.send_money", "row": row | found, "first": 1}
    after = session({"wrong_value": twice})
    refused, paid = play(after, NOBODY, SEND)
    assert refused.is_error and not refused.firings
    assert [firing.failed for firing in paid.firings] == [None]

    row = TEA | {"edit": [{"scale": {"amount": 2}}], "when": "before"}
    before = session({"wrong_value": {"on": "venmo.send_money", "row": row, "calls": [2, 2]}})
    _, refused = play(before, SEND, NOBODY)
    assert refused.firings and refused.effects, "the row has changed, whatever the service says"


def test_a_wrong_value_in_a_copy_is_seen_only_by_the_targeted_reads() -> None:
    row = TEA | {"edit": [{"scale": {"amount": 3}}], "when": "copy"}
    s = session({"wrong_value": {"on": "venmo.get_balance", "row": row}})
    none, _, lie, listed = play(s, BALANCE, SEND, BALANCE, LATEST)
    assert not none.firings
    assert lie.seen["balance"] == lie.truth["balance"] - 10
    assert lie.effects == []
    assert listed.seen["transactions"][0]["amount"] == 5
    causes = [e["cause"] for e in s.world.log(0) if e["cause"] != POST]
    assert causes[-1] == "agent"


def test_a_row_can_be_restored_to_what_it_was_before_the_call() -> None:
    row = {"table": "venmo_requests", "where": {"contact_id": BEN}, "restore": True}
    back = {"wrong_value": {"name": "back", "on": SPLIT[0], "row": row}}
    s = session(back, watch=SPLIT[0], about="back")
    split, listed = play(s, SPLIT, REQUESTS)
    assert len(split.seen["participants"]) == 2
    assert listed.evidence == ["matter#1"]
    requests = s.world.rows("venmo_requests", "group_id=?", split.seen["group_payment_id"])
    assert [request["contact_id"] for request in requests] == [JORDAN]
    assert split.firings[0].detail["rows"][0]["is"] is None
    assert split.effects[-1]["cause"] == "fault:back"


def test_expressions_can_use_a_record_an_earlier_reply_and_the_number_of_the_firing() -> None:
    edits = [{"set": {"balance": "${earlier.balance + number}", "owner": "${record.name}"}}]
    fault = {
        "on": "venmo.get_balance",
        "earlier": 60,
        "record": {"table": "venmo_contacts", "where": {"id": JORDAN}},
        "reply": edits,
    }
    before, _, after = play(session({"wrong_value": fault}), BALANCE, SEND, BALANCE)
    assert after.seen["owner"] == "Jordan Park"
    assert after.seen["balance"] == before.truth["balance"] + 2 == after.truth["balance"] + 7


def test_a_stored_lie_is_not_evidence_for_another_matter() -> None:
    row = {
        "table": "venmo_contacts",
        "where": {"name": "Jordan Park"},
        "edit": [{"set": {"username": "nobody"}}],
        "when": "before",
    }
    s = session({"wrong_value": {"on": "venmo.list_friends", "row": row}}, watch=SEND[0])
    _, friends, again, listed = play(s, SEND, FRIENDS, FRIENDS, LATEST)
    assert "nobody" in str(friends.seen)
    assert friends.evidence == again.evidence == []
    assert listed.evidence == ["matter#1"]


# -- other shapes, twins -------------------------------------------------------------------------
def test_schema_drift_renames_arguments_in_the_published_schema_and_accepts_the_new_name() -> None:
    drift = {"on": WEATHER, "rename": {"location": "place"}}
    s = session({"schema_drift": drift})
    assert list(s.schema(*WEATHER.split("."))["properties"]) == ["place"]
    old, new = play(s, (WEATHER, {"location": "Seattle"}), (WEATHER, {"place": "Seattle"}))
    assert old.is_error
    assert "list the tools again" in old.seen["error"]["hint"]
    assert not new.is_error

    quiet = session({"schema_drift": drift | {"published": False}})
    assert list(quiet.schema(*WEATHER.split("."))["properties"]) == ["location"]
    (refused,) = play(quiet, (WEATHER, {"location": "x"}))
    assert "'place' instead of 'location'" in refused.seen["error"]["hint"]


def test_schema_drift_changes_the_replys_shape() -> None:
    drift = {"on": "venmo.get_balance", "reply": [{"rename": {"balance": "available"}}]}
    (read,) = play(session({"schema_drift": drift}), BALANCE)
    assert "balance" not in read.seen
    assert read.seen["available"] == read.truth["balance"]


def test_some_schema_drift_suits_any_reply() -> None:
    drift = {"on": "reads:venmo.*", "style": "camel", "numbers": "text", "wrap": "data"}
    (listed,) = play(session({"schema_drift": drift}), LATEST)
    first = listed.seen["data"]["transactions"][0]
    assert first["transactionId"]
    assert isinstance(first["amount"], str)
    assert set(listed.seen) == {"data"}

    plain = session({"schema_drift": {"on": "clock.get_time", "style": "camel"}})
    (read,) = play(plain, ("clock.get_time", {}))
    assert not read.firings


def test_an_ambiguous_match_stores_one_real_twin() -> None:
    twin = {
        "name": "twin",
        "on": "venmo.list_friends",
        "top_of": "friends",
        "table": "venmo_contacts",
        "like": {"name": "Jordan Park"},
        "change": {"username": "jordan-park-2"},
        "id": "vct",
    }
    s = session({"ambiguous_match": twin})
    first, _ = play(s, FRIENDS, FRIENDS)
    jordans = [friend for friend in first.seen["friends"] if friend["name"] == "Jordan Park"]
    assert len(jordans) == 2
    assert first.seen["friends"][0]["username"] == "jordan-park-2"
    assert [e["cause"] for e in first.effects] == ["fault:twin"]
    (paid,) = play(s, ("venmo.send_money", PAY | {"contact_id": jordans[0]["contact_id"]}))
    assert not paid.is_error
    assert len(s.world.rows("venmo_contacts", "name=?", "Jordan Park")) == 2


def test_a_call_that_gives_a_required_argument_does_not_count_and_is_still_evidence() -> None:
    new = {"name": "reason", "enum": ["audit"]}
    drift = {"on": "venmo.list_transactions", "require": new, "first": 1}
    s = session({"dropped_write": {"on": SEND[0]}}, {"schema_drift": drift}, watch=SEND[0])
    given = (LATEST[0], LATEST[1] | {"reason": "audit"})
    sent, read, refused = play(s, SEND, given, LATEST)
    assert sent.opened and not read.is_error and not read.firings
    assert read.evidence == sent.opened
    assert refused.is_error and refused.firings
