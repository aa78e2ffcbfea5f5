"""What the kinds that block access to a service do (sign-ins, quotas, sunsets, maintenance, ladders
of demands), and replicas that disagree.
"""

from __future__ import annotations

from typing import Any

import pytest

from fault_profiles.model import parse
from tests.faults.played import (
    BALANCE,
    FRIENDS,
    JORDAN,
    LATEST,
    PAY,
    SEND,
    codes,
    fired,
    play,
    sent,
    session,
    wait,
)

EXPIRED = "ACCESS_TOKEN_EXPIRED"
LIMITED = "RATE_LIMIT_EXCEEDED"
SIGN_INS = ("sign_in.list_sign_ins", {})


def sign_in(service: str) -> tuple[str, dict[str, Any]]:
    return ("sign_in.sign_in", {"service": service})


# -- sign-ins ------------------------------------------------------------------------------------
def test_a_sign_in_stays_expired_until_the_agent_signs_in_again() -> None:
    s = session({"credential_expired": {"on": "venmo.*", "after": {"calls": 1}}})
    recipients = ("zelle.list_recipients", {})
    ok, denied, other, elsewhere, listed, again, after = play(
        s, BALANCE, BALANCE, recipients, sign_in("zelle"), SIGN_INS, BALANCE, BALANCE
    )
    assert codes([ok, denied, other, elsewhere, again]) == ["", EXPIRED, "", "", EXPIRED]
    assert after.is_error
    assert denied.truth is None
    statuses = {entry["service"]: entry["status"] for entry in listed.seen["sign_ins"]}
    assert statuses["venmo"] == "expired"

    signed, back, listed = play(s, sign_in("venmo"), BALANCE, SIGN_INS)
    assert signed.seen["status"] == "active"
    assert not back.is_error
    assert back.firings == []
    assert {entry["status"] for entry in listed.seen["sign_ins"]} == {"active"}


def test_revoked_access_cannot_be_regained() -> None:
    revoked = {"credential_expired": {"on": "venmo.*", "revoked": True}}
    attempts = play(session(revoked), BALANCE, sign_in("venmo"), BALANCE, sign_in("vemno"))
    assert codes(attempts) == [EXPIRED, "ACCESS_REVOKED", EXPIRED, "SERVICE_NOT_CONNECTED"]
    assert "did you mean 'venmo'" in attempts[3].seen["error"]["message"]

    fault = parse(revoked)
    assert not fault.repairable
    assert fault.recover == []
    assert fault.until is None
    (way,) = parse({"credential_expired": {"on": "venmo.*"}}).recover
    assert way.tool.patterns == ("sign_in.sign_in",)


# -- quotas, sunsets, maintenance ----------------------------------------------------------------
def test_a_quota_is_reset_at_the_boundary_of_its_period() -> None:
    s = session({"quota": {"on": "venmo.*", "allow": 2, "warn_at": 1}})
    first, warned, refused, _, early, _, back = play(
        s, BALANCE, FRIENDS, BALANCE, wait(3000), BALANCE, wait(700), BALANCE
    )
    resets_at = "2026-03-14T17:00:00Z"
    assert first.seen["quota"] == {"limit": 2, "remaining": 1, "resets_at": resets_at}
    assert warned.seen["quota"]["remaining"] == 0
    assert "quota" not in first.truth
    error = refused.seen["error"]
    assert error["code"] == LIMITED
    assert error["remaining"] == 0
    assert error["resets_at"] == resets_at
    assert error["retry_after_seconds"] == 3597
    assert early.is_error
    assert not back.is_error

    per_tool = session({"quota": {"on": "venmo.*", "allow": 1, "per": "tool", "period": "day"}})
    attempts = play(per_tool, BALANCE, FRIENDS, BALANCE, wait(30_000), BALANCE)
    assert codes(attempts) == ["", "", LIMITED, "", ""]


def test_a_tool_gives_notice_before_it_goes_away() -> None:
    fault = {"on": "venmo.list_transactions", "instead": "venmo.get_transaction"}
    s = session({"api_sunset": fault | {"warnings": 1}})
    warned, gone, other = play(s, LATEST, LATEST, BALANCE)
    assert "get_transaction instead" in warned.seen["notice"]
    assert "notice" not in warned.truth
    error = gone.seen["error"]
    assert error["code"] == "GONE"
    assert error["status"] == 410
    assert error["hint"] == "Use get_transaction instead."
    assert not error["retryable"]
    assert gone.effects == []
    assert not other.firings

    dated = session({"api_sunset": fault | {"date": "2026-03-15"}})
    assert codes(play(dated, LATEST, wait(36_000), LATEST)) == ["", "", "GONE"]
    undated = session({"api_sunset": {"on": "venmo.list_transactions"}})
    assert codes(play(undated, LATEST)) == ["GONE"]


@pytest.mark.parametrize(
    ("hours", "left"),
    [
        ({"from": "16:00", "to": "16:20"}, 1199),
        ({"from": "22:00", "to": 970}, 599),
        ({"window": [0, 60]}, 59),
    ],
)
def test_maintenance_ends_at_the_announced_time(hours: dict[str, Any], left: int) -> None:
    s = session({"maintenance_window": {"on": "writes:venmo.*", **hours}})
    closed, read, _, still, _, opened = play(s, SEND, BALANCE, wait(left - 4), SEND, wait(2), SEND)
    assert closed.seen["error"]["retry_after_seconds"] == left
    assert closed.seen["error"]["code"] == "SERVICE_UNAVAILABLE"
    assert not read.is_error
    assert still.is_error
    assert not opened.is_error
    assert len(sent(s)) == 1


# -- replicas ------------------------------------------------------------------------------------
def test_replicas_take_turns_or_are_drawn() -> None:
    lags = {"on": "reads:venmo.*", "lags": [0, 60]}
    _, *reads = play(session({"replica_disagreement": lags}), SEND, *[BALANCE] * 4)
    assert [len(read.firings) for read in reads] == [0, 1, 0, 1]
    fresh, lagging = reads[:2]
    assert lagging.seen["balance"] == lagging.truth["balance"] + 5
    assert fresh.seen == fresh.truth == lagging.truth
    assert lagging.firings[0].detail == {"lag": 60}

    by_draw = {"replica_disagreement": lags | {"by": "draw"}}
    one, again, other = (
        fired(session(by_draw, seed=seed), SEND, *[BALANCE] * 12)[1:] for seed in (1, 1, 2)
    )
    assert one == again != other
    assert 0 < sum(one) < 12

    own = session({"replica_disagreement": lags | {"lags": [60], "keep_own": True}})
    _, read = play(own, SEND, BALANCE)
    assert not read.firings


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


def ladder(**fields: Any) -> dict[str, Any]:
    return {"error_ladder": {"on": "venmo.send_money", **fields}}


def test_a_ladder_advances_only_when_its_demand_is_met() -> None:
    s = session(ladder(steps=STEPS))
    attempts = play(s, LOOK, SEND, SEND, NOTED, NOTED, LOOK, SEND, SEND, SEND, SEND)
    assert codes(attempts[:3]) == ["", "NOTE_NEEDED", "NOTE_NEEDED"]
    assert codes(attempts[3:6]) == ["CONFIRM_CONTACT", "CONFIRM_CONTACT", ""]
    assert codes(attempts[6:]) == ["BUSY", "BUSY", "", ""]
    assert attempts[1].seen["error"]["message"] == "Say what 5 is for."
    assert attempts[-1].effects
    assert not attempts[-1].firings
    assert [a.firings[0].detail["step"] for a in attempts if a.firings] == [1, 1, 2, 2, 3, 3]


def test_a_ladder_may_recheck_arguments_or_start_over() -> None:
    strict = session(ladder(steps=STEPS[:2], latched=False))
    attempts = play(strict, NOTED, LOOK, SEND, NOTED, SEND)
    assert codes(attempts) == ["CONFIRM_CONTACT", "", "NOTE_NEEDED", "", "NOTE_NEEDED"]
    again = session(ladder(steps=STEPS[2:], again=True))
    assert codes(play(again, *[SEND] * 6)) == ["BUSY", "BUSY", "", "BUSY", "BUSY", ""]
