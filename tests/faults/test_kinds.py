"""What the kinds of production failures do: to truth, to what was seen, to the world, and to what
the agent could learn from it.
"""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from fault_profiles.model import ordered, parse
from servers.kit.control import make_id
from servers.kit.events import Attempt, Notice
from servers.kit.evidence import Watch
from servers.kit.session import Session
from tests.support import new_session

JORDAN, MEI, BEN = (make_id("vct", "maya", n) for n in ("jordan_park", "mei_chen", "ben_asher"))
PAY = {"contact_id": JORDAN, "amount": 5, "note": "tea"}
SEND = ("venmo.send_money", PAY)
BALANCE = ("venmo.get_balance", {})
FRIENDS = ("venmo.list_friends", {})
LATEST = ("venmo.list_transactions", {"limit": 3})
SPLIT = (
    "venmo.create_group_payment",
    {
        "description": "Pizza",
        "total_amount": 90,
        "participants": [{"contact_id": c} for c in (JORDAN, BEN)],
    },
)
Call = tuple[str, dict[str, Any]]


def wait(seconds: int) -> Call:
    return ("clock.wait", {"seconds": seconds})


def session(
    *faults: dict[str, Any], watch: str = "", about: str | None = None, seed: int = 0
) -> Session:
    """Return a session with faults; `watch` is the tool whose calls open an obligation, `about` the
    fault that it is about.
    """
    made = ordered([parse(f) for f in faults])
    watches = [Watch("matter", lambda call: call.name == watch, about)] if watch else []
    s = new_session(
        "venmo",
        "zelle",
        "gmail",
        "weather_com",
        "clock",
        "sign_in",
        seed=seed,
        faults=made,
        watches=watches,
    )
    return s


def play(s: Session, *calls: Call) -> list[Attempt]:
    async def run() -> None:
        for name, args in calls:
            await s.call(*name.split("."), args)

    anyio.run(run)
    assert s.bugs == []
    return [e for e in s.trace() if isinstance(e, Attempt)][-len(calls) :]


def codes(attempts: list[Attempt]) -> list[str]:
    return [a.seen["error"]["code"] if a.is_error else "" for a in attempts]


def sent(s: Session) -> list[float]:
    return [t["amount"] for t in play(s, LATEST)[0].seen["transactions"] if t["note"] == "tea"]


def asked_of(made: Attempt) -> list[str]:
    """Return the contacts of whom a call requested money."""
    rows = [e["new"] for e in made.effects if e["table"] == "venmo_requests"]
    return [row["contact_id"] for row in rows if row is not None]


# -- rewritten arguments -------------------------------------------------------------------------
def test_rewritten_arguments_are_what_the_service_gets_and_the_agents_own_stay_in_the_trace() -> (
    None
):
    cover = {
        "edit": [{"scale": {"amount": 10}}],
        "reply": [{"set": {"amount": "${args.amount}"}}],
        "first": 1,
    }
    s = session({"rewritten_arguments": {"on": "venmo.send_money", **cover}})
    (paid,) = play(s, SEND)
    assert paid.args == PAY and paid.seen["amount"] == 5 and paid.truth["amount"] == 50
    assert paid.firings[0].detail["arguments"]["amount"] == 50 and sent(s) == [50]
    read = session(
        {"rewritten_arguments": {"on": "venmo.list_transactions", "edit": [{"set": {"limit": 1}}]}}
    )
    (listed,) = play(read, LATEST)
    assert len(listed.seen["transactions"]) == 1 and len(listed.truth["transactions"]) == 3


def test_a_call_without_the_argument_or_refused_as_it_was_made_is_passed_on() -> None:
    s = session({"rewritten_arguments": {"on": "venmo.*", "edit": [{"scale": {"amount": 10}}]}})
    nobody = ("venmo.send_money", PAY | {"contact_id": "vct_nobody"})
    assert [len(a.firings) for a in play(s, BALANCE, nobody)] == [0, 0]
    s = session(
        {
            "rewritten_arguments": {
                "on": "venmo.send_money",
                "edit": [{"set": {"contact_id": "vct_nobody"}}],
            }
        }
    )
    (refused,) = play(s, SEND)
    assert codes([refused]) == ["CONTACT_NOT_FOUND"]
    assert refused.firings
    assert refused.truth["amount"] == 5
    assert not refused.effects


def test_a_rewritten_payment_shows_in_readings_that_tell_its_amount() -> None:
    s = session(
        {"rewritten_arguments": {"on": "venmo.send_money", "edit": [{"scale": {"amount": 10}}]}},
        watch=SEND[0],
        about="rewritten_arguments",
    )
    paid, friends, listed = play(s, SEND, FRIENDS, LATEST)
    assert (paid.opened, friends.evidence, listed.evidence) == (["matter#1"], [], ["matter#1"])


# -- fabricated replies --------------------------------------------------------------------------
def test_a_fabricated_reply_is_a_template_over_the_arguments_with_ids_that_lead_nowhere() -> None:
    reply = {
        "transaction_id": {"new_id": "vtx"},
        "status": "complete",
        "amount": "${args.amount}",
        "note": "Paid: ${args.note}",
    }
    s = session(
        {"fabricated_reply": {"on": "venmo.send_money", "reply": reply, "first": 2}}, watch=SEND[0]
    )
    one, two, real = play(s, SEND, SEND, SEND)
    assert (one.seen["amount"], one.seen["note"], one.truth, one.effects) == (
        5,
        "Paid: tea",
        None,
        [],
    )
    assert one.seen["transaction_id"].startswith("vtx_")
    assert one.seen["transaction_id"] != two.seen["transaction_id"]
    assert not real.firings and len(sent(s)) == 1 and one.opened == ["matter#1"]
    (missing,) = play(s, ("venmo.get_transaction", {"transaction_id": one.seen["transaction_id"]}))
    assert missing.is_error and "matter#1" not in missing.opened


# -- duplicate deliveries ------------------------------------------------------------------------
def test_a_duplicate_delivery_is_two_writes_and_one_reply() -> None:
    s = session({"duplicate_delivery": {"on": "venmo.send_money", "first": 1, "times": 3}})
    once, again = play(s, SEND, SEND)
    made = [e["key"] for e in once.effects if e["table"] == "venmo_transactions"]
    assert len(set(made)) == 3
    assert once.seen["transaction_id"] == made[0]
    assert once.seen == once.truth
    assert [ids[0] for ids in once.firings[0].detail["again"]] == made[1:] and not again.firings
    keyed = session({"duplicate_delivery": {"on": "venmo.send_money"}})
    (guarded,) = play(keyed, ("venmo.send_money", PAY | {"idempotency_key": "k1"}))
    assert not guarded.firings and len(sent(keyed)) == 1
    refused = session({"duplicate_delivery": {"on": "venmo.send_money"}})
    assert not play(refused, ("venmo.send_money", PAY | {"contact_id": "vct_nobody"}))[0].firings


def test_a_second_delivery_shows_and_repeats_itself_in_other_worlds_with_the_faults_inside() -> (
    None
):
    twice = {"duplicate_delivery": {"name": "twice", "on": "venmo.send_money", "priority": 1}}
    s = session(twice, watch=SEND[0], about="twice")
    paid, seen = play(s, SEND, LATEST)
    assert paid.opened and seen.evidence == ["matter#1"]
    more = {
        "rewritten_arguments": {
            "on": "venmo.send_money",
            "edit": [{"add": {"amount": 1}}],
            "every": 2,
        }
    }
    s = session(twice, more, watch="venmo.list_friends")
    other = session(twice, more, watch="venmo.send_money")
    for each in (s, other):
        paid, again, listed = play(each, SEND, SEND, LATEST)
        assert [f.fault for f in paid.firings] == ["rewritten_arguments", "twice"]
        assert paid.firings[1].detail["inside"] == [[0, 0], [0, 1]]
        assert sorted(t["amount"] for t in listed.seen["transactions"]) == [5, 6, 6]
    assert listed.evidence == ["matter#1", "matter#2"] and again.evidence == []


# -- partial batches -----------------------------------------------------------------------------
def test_a_silent_partial_batch_claims_what_it_left_out() -> None:
    fault = {
        "on": "venmo.create_group_payment",
        "items": "participants",
        "fails": {"contact_id": BEN},
    }
    s = session({"partial_batch": fault}, watch=SPLIT[0], about="partial_batch")
    made, asked = play(s, SPLIT, ("venmo.list_requests", {}))
    assert [p["contact_id"] for p in made.seen["participants"]] == [JORDAN, BEN]
    assert made.firings[0].detail == {"items": [1]}
    assert asked_of(made) == [JORDAN]
    assert made.seen["participants"][0]["request_id"] == made.truth["participants"][0]["request_id"]
    assert asked.evidence == ["matter#1"]
    (unmet,) = play(session({"partial_batch": fault | {"fails": {"contact_id": MEI}}}), SPLIT)
    assert not unmet.firings and unmet.seen == unmet.truth


def test_a_reported_partial_batch_tells_each_item_that_failed() -> None:
    fault = {
        "on": "venmo.create_group_payment",
        "items": "participants",
        "as": "reported",
        "error": {"message": "No ${item.contact_id}."},
    }
    (made,) = play(session({"partial_batch": fault | {"each": 2}}), SPLIT)
    assert made.seen["failed"] == [
        {"item": {"contact_id": BEN}, "error": made.seen["failed"][0]["error"]}
    ]
    assert made.seen["failed"][0]["error"]["message"] == f"No {BEN}."
    assert len(made.seen["participants"]) == 1
    (none,) = play(session({"partial_batch": fault | {"keep": 0}}), SPLIT)
    assert none.is_error and len(none.seen["error"]["failed"]) == 2 and none.effects == []
    places = ("weather_com.compare_locations", {"locations": ["Portland, Oregon", "Hood River"]})
    (read,) = play(
        session(
            {
                "partial_batch": {
                    "on": places[0],
                    "items": "locations",
                    "as": "reported",
                    "fails": {"value": "Hood River"},
                }
            }
        ),
        places,
    )
    assert len(read.seen["locations"]) == 1
    assert len(read.truth["locations"]) == 2
    assert read.seen["failed"][0]["item"] == "Hood River"


def test_items_of_one_call_can_fare_differently() -> None:
    fault = {"on": "venmo.create_group_payment", "items": "participants"}
    silent = {
        "partial_batch": {**fault, "name": "silent", "fails": {"contact_id": JORDAN}, "priority": 1}
    }
    reported = {
        "partial_batch": {
            **fault,
            "name": "reported",
            "fails": {"contact_id": BEN},
            "as": "reported",
        }
    }
    everyone = (
        SPLIT[0],
        SPLIT[1] | {"participants": [{"contact_id": c} for c in (JORDAN, BEN, MEI)]},
    )
    (made,) = play(session(silent, reported), everyone)
    assert asked_of(made) == [MEI]
    assert [f["item"]["contact_id"] for f in made.seen["failed"]] == [BEN]
    assert len(made.firings) == 2


# -- reverts -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("later", "calls"),
    [({"calls_later": 2}, [BALANCE, BALANCE]), ({"seconds": 60}, [BALANCE, wait(70)])],
    ids=str,
)
def test_a_write_is_taken_back_later_and_the_trace_says_when(
    later: dict[str, Any], calls: list[Call]
) -> None:
    s = session(
        {"revert_after_write": {"on": "venmo.send_money", **later}},
        watch=SEND[0],
        about="revert_after_write",
    )
    before, paid, held, _, gone = play(s, BALANCE, SEND, *calls, BALANCE)
    assert paid.seen == paid.truth
    assert paid.effects
    assert held.seen["balance"] == before.seen["balance"] - 5
    assert gone.seen["balance"] == before.seen["balance"]
    assert gone.evidence == ["matter#1"]
    assert held.evidence == []
    (notice,) = [e for e in s.trace() if isinstance(e, Notice)]
    assert notice.what == "reverted"
    assert notice.detail["rows"] == [
        {"table": "venmo_transactions", "key": paid.seen["transaction_id"]}
    ]
    assert [e["cause"] for e in s.world.log(0)][-2:] == ["agent", "fault:revert_after_write"]


def test_a_users_pause_takes_back_too_and_a_plain_obligation_sees_that_the_write_is_gone() -> None:
    s = session({"revert_after_write": {"on": "venmo.send_money", "seconds": 60}}, watch=SEND[0])
    play(s, SEND)
    s.pass_time(100)
    assert play(s, LATEST)[0].evidence == ["matter#1"] and sent(s) == []


def test_at_once_is_a_write_that_never_held_and_can_be_torn_in_half() -> None:
    s = session({"revert_after_write": {"on": "venmo.send_money"}}, watch=SEND[0])
    before = s.world.digest()
    paid, listed = play(s, SEND, LATEST)
    assert not paid.is_error
    assert s.world.digest() == before
    assert [e["cause"] for e in paid.effects] == ["agent", "fault:revert_after_write"]
    assert listed.evidence == ["matter#1"]
    torn = session(
        {"revert_after_write": {"on": "venmo.create_group_payment", "tables": ["venmo_requests"]}}
    )
    (made,) = play(torn, SPLIT)
    assert torn.world.get("venmo_groups", made.seen["group_payment_id"])
    assert len(made.seen["participants"]) == 2
    assert not torn.world.rows("venmo_requests", "group_id=?", made.seen["group_payment_id"])


def test_what_was_built_on_a_reverted_row_goes_with_it() -> None:
    s = session({"revert_after_write": {"on": "venmo.add_funding_source", "calls_later": 3}})
    source = {"type": "bank_account", "name": "Rose City Bank Business", "last4": "3310"}
    (added,) = play(s, ("venmo.add_funding_source", source))
    named = {"source_id": added.seen["source_id"]}
    calls = [
        ("venmo.activate_funding_source", named),
        ("venmo.send_money", PAY | {"funding_source_id": added.seen["source_id"]}),
        LATEST,
        LATEST,
        ("venmo.list_funding_sources", {}),
    ]
    _, paid, *after = play(s, *calls, ("venmo.list_funding_sources", {}))
    assert not paid.is_error
    assert [a.is_error for a in after] == [False] * len(after)
    assert sent(s) == []
    assert named["source_id"] not in str(after[-1].seen)


# -- sign-ins ------------------------------------------------------------------------------------
def test_an_expired_sign_in_holds_until_the_agent_signs_in_again() -> None:
    s = session({"credential_expired": {"on": "venmo.*", "after": {"calls": 1}}})
    ok, denied, other, elsewhere, listed, again, after = play(
        s,
        BALANCE,
        BALANCE,
        ("zelle.list_recipients", {}),
        ("sign_in.sign_in", {"service": "zelle"}),
        ("sign_in.list_sign_ins", {}),
        BALANCE,
        BALANCE,
    )
    assert codes([ok, denied, other, elsewhere, again]) == [
        "",
        "ACCESS_TOKEN_EXPIRED",
        "",
        "",
        "ACCESS_TOKEN_EXPIRED",
    ]
    assert after.is_error
    assert {x["service"]: x["status"] for x in listed.seen["sign_ins"]}["venmo"] == "expired"
    signed, back, listed = play(
        s, ("sign_in.sign_in", {"service": "venmo"}), BALANCE, ("sign_in.list_sign_ins", {})
    )
    assert signed.seen["status"] == "active" and not back.is_error and back.firings == []
    assert {x["status"] for x in listed.seen["sign_ins"]} == {"active"} and denied.truth is None


def test_revoked_access_cannot_be_had_again() -> None:
    s = session({"credential_expired": {"on": "venmo.*", "revoked": True}})
    attempts = play(
        s,
        BALANCE,
        ("sign_in.sign_in", {"service": "venmo"}),
        BALANCE,
        ("sign_in.sign_in", {"service": "vemno"}),
    )
    assert codes(attempts) == [
        "ACCESS_TOKEN_EXPIRED",
        "ACCESS_REVOKED",
        "ACCESS_TOKEN_EXPIRED",
        "SERVICE_NOT_CONNECTED",
    ]
    assert "did you mean 'venmo'" in attempts[3].seen["error"]["message"]
    made = parse({"credential_expired": {"on": "venmo.*", "revoked": True}})
    assert not made.repairable and made.recover == [] and made.until is None
    assert [r.tool.patterns for r in parse({"credential_expired": {"on": "venmo.*"}}).recover] == [
        ("sign_in.sign_in",)
    ]


# -- quotas, sunsets, maintenance ----------------------------------------------------------------
def test_a_quota_comes_back_at_the_boundary_of_its_period() -> None:
    s = session({"quota": {"on": "venmo.*", "allow": 2, "warn_at": 1}})
    first, warned, refused, _, early, _, back = play(
        s, BALANCE, FRIENDS, BALANCE, wait(3000), BALANCE, wait(700), BALANCE
    )
    told = {"limit": 2, "remaining": 1, "resets_at": "2026-03-14T17:00:00Z"}
    assert first.seen["quota"] == told
    assert warned.seen["quota"]["remaining"] == 0
    assert "quota" not in first.truth
    error = refused.seen["error"]
    assert (
        error["code"],
        error["remaining"],
        error["resets_at"],
        error["retry_after_seconds"],
    ) == (
        "RATE_LIMIT_EXCEEDED",
        0,
        told["resets_at"],
        3597,
    )
    assert early.is_error and not back.is_error
    per_tool = session({"quota": {"on": "venmo.*", "allow": 1, "per": "tool", "period": "day"}})
    assert codes(play(per_tool, BALANCE, FRIENDS, BALANCE, wait(30_000), BALANCE)) == [
        "",
        "",
        "RATE_LIMIT_EXCEEDED",
        "",
        "",
    ]


def test_a_tool_goes_away_with_a_warning_first() -> None:
    fault = {"on": "venmo.list_transactions", "instead": "venmo.get_transaction"}
    warned, gone, other = play(
        session({"api_sunset": fault | {"warnings": 1}}), LATEST, LATEST, BALANCE
    )
    assert "get_transaction instead" in warned.seen["notice"] and "notice" not in warned.truth
    assert (gone.seen["error"]["code"], gone.seen["error"]["status"], gone.effects) == (
        "GONE",
        410,
        [],
    )
    assert gone.seen["error"]["hint"] == "Use get_transaction instead."
    assert not gone.seen["error"]["retryable"]
    assert not other.firings
    dated = session({"api_sunset": fault | {"date": "2026-03-15"}})
    assert codes(play(dated, LATEST, wait(36_000), LATEST)) == ["", "", "GONE"]
    assert codes(play(session({"api_sunset": {"on": "venmo.list_transactions"}}), LATEST)) == [
        "GONE"
    ]


@pytest.mark.parametrize(
    ("hours", "left"),
    [
        ({"from": "16:00", "to": "16:20"}, 1199),
        ({"from": "22:00", "to": 970}, 599),
        ({"window": [0, 60]}, 59),
    ],
)
def test_maintenance_ends_when_it_says(hours: dict[str, Any], left: int) -> None:
    s = session({"maintenance_window": {"on": "writes:venmo.*", **hours}})
    closed, read, _, still, _, opened = play(s, SEND, BALANCE, wait(left - 4), SEND, wait(2), SEND)
    assert closed.seen["error"]["retry_after_seconds"] == left
    assert closed.seen["error"]["code"] == "SERVICE_UNAVAILABLE"
    assert not read.is_error and still.is_error and not opened.is_error and len(sent(s)) == 1


# -- replicas ------------------------------------------------------------------------------------
def test_replicas_disagree_by_turns_or_by_draw() -> None:
    s = session({"replica_disagreement": {"on": "reads:venmo.*", "lags": [0, 60]}})
    _, *reads = play(s, SEND, *[BALANCE] * 4)
    assert [len(r.firings) for r in reads] == [0, 1, 0, 1]
    assert reads[1].seen["balance"] == reads[1].truth["balance"] + 5
    assert reads[0].seen == reads[0].truth == reads[1].truth
    assert reads[1].firings[0].detail == {"lag": 60}
    by_draw = {"replica_disagreement": {"on": "reads:venmo.*", "lags": [0, 60], "by": "draw"}}
    drawn = [
        [len(r.firings) for r in play(session(by_draw, seed=n), SEND, *[BALANCE] * 12)[1:]]
        for n in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2] and 0 < sum(drawn[0]) < 12
    own = session({"replica_disagreement": {"on": "reads:venmo.*", "lags": [60], "keep_own": True}})
    assert not play(own, SEND, BALANCE)[1].firings


# -- ladders -------------------------------------------------------------------------------------
STEPS = [
    {
        "error": {"code": "NOTE_NEEDED", "message": "Say what ${args.amount} is for."},
        "met": {"note": {"matches": ".{5,}"}},
    },
    {
        "error": {"code": "CONFIRM_CONTACT"},
        "met_by": {"called": "venmo.get_contact", "where": {"contact_id": JORDAN}, "ok": True},
    },
    {"error": {"code": "BUSY", "retryable": True}, "times": 2},
]
NOTED = ("venmo.send_money", PAY | {"note": "tea for two"})
LOOK = ("venmo.get_contact", {"contact_id": JORDAN})


def test_a_ladder_advances_only_when_its_demand_was_met() -> None:
    s = session({"error_ladder": {"on": "venmo.send_money", "steps": STEPS}})
    attempts = play(s, LOOK, SEND, SEND, NOTED, NOTED, LOOK, SEND, SEND, SEND, SEND)
    assert codes(attempts) == [
        "",
        "NOTE_NEEDED",
        "NOTE_NEEDED",
        "CONFIRM_CONTACT",
        "CONFIRM_CONTACT",
        "",
        "BUSY",
        "BUSY",
        "",
        "",
    ]
    assert attempts[1].seen["error"]["message"] == "Say what 5 is for."
    assert attempts[-1].effects
    assert not attempts[-1].firings
    assert [a.firings[0].detail["step"] for a in attempts if a.firings] == [1, 1, 2, 2, 3, 3]


def test_a_ladder_may_forget_what_was_met_or_begin_anew() -> None:
    strict = session(
        {"error_ladder": {"on": "venmo.send_money", "steps": STEPS[:2], "latched": False}}
    )
    assert codes(play(strict, NOTED, LOOK, SEND, NOTED, SEND)) == [
        "CONFIRM_CONTACT",
        "",
        "NOTE_NEEDED",
        "",
        "NOTE_NEEDED",
    ]
    again = session({"error_ladder": {"on": "venmo.send_money", "steps": STEPS[2:], "again": True}})
    assert codes(play(again, *[SEND] * 6)) == ["BUSY", "BUSY", "", "BUSY", "BUSY", ""]


# -- what the older kinds learned ----------------------------------------------------------------
def test_a_wrong_value_in_a_copy_is_seen_by_its_readers_alone() -> None:
    row = {
        "table": "venmo_transactions",
        "where": {"note": "tea"},
        "edit": [{"scale": {"amount": 3}}],
        "when": "copy",
    }
    s = session({"wrong_value": {"on": "venmo.get_balance", "row": row}})
    none, _, lie, listed = play(s, BALANCE, SEND, BALANCE, LATEST)
    assert not none.firings
    assert lie.seen["balance"] == lie.truth["balance"] - 10
    assert lie.effects == []
    assert listed.seen["transactions"][0]["amount"] == 5 and s.world.log(0)[-1]["cause"] == "agent"


def test_a_row_can_be_put_back_to_the_moment_before_the_call() -> None:
    row = {"table": "venmo_requests", "where": {"contact_id": BEN}, "restore": True}
    s = session(
        {"wrong_value": {"name": "back", "on": SPLIT[0], "row": row}}, watch=SPLIT[0], about="back"
    )
    made, asked = play(s, SPLIT, ("venmo.list_requests", {}))
    assert len(made.seen["participants"]) == 2 and asked.evidence == ["matter#1"]
    assert [
        r["contact_id"]
        for r in s.world.rows("venmo_requests", "group_id=?", made.seen["group_payment_id"])
    ] == [JORDAN]
    assert made.firings[0].detail["rows"][0]["is"] is None
    assert made.effects[-1]["cause"] == "fault:back"


def test_expressions_know_a_record_an_earlier_reply_and_the_firings_number() -> None:
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


def test_a_stored_lie_is_no_evidence_of_another_matter() -> None:
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


def test_drift_that_suits_any_reply() -> None:
    drift = {"on": "reads:venmo.*", "style": "camel", "numbers": "text", "wrap": "data"}
    (listed,) = play(session({"schema_drift": drift}), LATEST)
    first = listed.seen["data"]["transactions"][0]
    assert first["transactionId"]
    assert isinstance(first["amount"], str)
    assert set(listed.seen) == {"data"}
    plain = session({"schema_drift": {"on": "clock.get_time", "style": "camel"}})
    assert not play(plain, ("clock.get_time", {}))[0].firings
