"""The envelope of a fault: its schedule, what arms and clears it, how it counts calls, and mistakes
in its declaration.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fault_profiles.model import check_together, kinds, ordered, parse
from fault_profiles.schedule import Schedule
from servers.kit.errors import InputError
from tests.faults.played import BALANCE, FRIENDS, JORDAN, MEI, PAY, SEND, fired, play, session

TO_STRANGER = ("venmo.send_money", PAY | {"contact_id": "vct_x"})


def look_up(contact: str) -> tuple[str, dict[str, Any]]:
    return ("venmo.get_contact", {"contact_id": contact})


def outage(on: str, **fields: Any) -> dict[str, Any]:
    return {"outage": {"on": on, **fields}}


# -- schedules, arming, counting -----------------------------------------------------------------
@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ({}, [1, 1, 1, 1, 1, 1]),
        ({"first": 2}, [1, 1, 0, 0, 0, 0]),
        ({"calls": [2, 3]}, [0, 1, 1, 0, 0, 0]),
        ({"every": 3}, [0, 0, 1, 0, 0, 1]),
        ({"sequence": [False, True, False, True]}, [0, 1, 0, 1, 1, 1]),
        ({"window": [3, 5]}, [0, 0, 1, 1, 0, 0]),
        ({"probability": 0.0}, [0, 0, 0, 0, 0, 0]),
        ({"probability": 1.0}, [1, 1, 1, 1, 1, 1]),
        ({"until": {"calls": 2}}, [1, 1, 0, 0, 0, 0]),
        ({"until": {"seconds": 3}}, [1, 1, 1, 0, 0, 0]),
        ({"after": {"calls": 4}}, [0, 0, 0, 0, 1, 1]),
        ({"after": {"seconds": 5}}, [0, 0, 0, 0, 1, 1]),
    ],
    ids=str,
)
def test_a_schedule_says_on_which_calls_a_fault_acts(
    schedule: dict[str, Any], expected: list[int]
) -> None:
    s = session(outage("venmo.get_balance", **schedule))
    assert fired(s, *[BALANCE] * 6) == expected


def test_chance_comes_from_the_seed_and_not_from_other_faults() -> None:
    flaky = {"outage": {"name": "flaky", "on": "venmo.*", "probability": 0.5}}
    slow = {"latency": {"name": "slow", "on": "venmo.*", "probability": 0.5, "seconds": 1}}
    calls = [BALANCE] * 30
    alone = [a.is_error for a in play(session(flaky), *calls)]
    beside = [a.is_error for a in play(session(slow, flaky), *calls)]
    other_seed = [a.is_error for a in play(session(flaky, seed=9), *calls)]
    assert alone == beside
    assert 5 < sum(alone) < 25
    assert alone != other_seed


def test_a_fault_looks_at_arguments_and_counts_as_declared() -> None:
    only = session(outage("venmo.send_money", where={"amount": {"gte": 10}}))
    assert fired(only, SEND, ("venmo.send_money", PAY | {"amount": 10})) == [0, 1]

    each = session(outage("venmo.get_contact", first=1, per="contact_id"))
    jordan = look_up(JORDAN)
    mei = look_up(MEI)
    assert fired(each, jordan, jordan, mei, mei) == [1, 0, 1, 0]

    record = session(outage("reads:venmo.*", first=1, per="record"))
    payments = ("venmo.list_transactions", {"contact_id": JORDAN})
    assert fired(record, jordan, payments, mei, mei) == [1, 0, 1, 0]

    by_tool = session(outage("venmo.get_*", first=1, per="tool"))
    assert fired(by_tool, BALANCE, jordan, BALANCE, jordan) == [1, 1, 0, 0]


def test_stored_rows_can_be_a_condition() -> None:
    for name, firings in (("Nobody", 0), ("Jordan Park", 1)):
        stored = {"table": "venmo_contacts", "where": {"name": name}}
        assert fired(session(outage("venmo.get_balance", stored=stored)), BALANCE) == [firings]


def test_events_arm_and_clear_a_fault() -> None:
    listed = {"called": "venmo.list_friends"}
    armed = session(outage("venmo.get_balance", after=listed | {"ok": True}))
    assert fired(armed, BALANCE, FRIENDS, BALANCE, BALANCE) == [0, 0, 1, 1]

    cleared = session(outage("venmo.get_balance", until=listed))
    assert fired(cleared, BALANCE, FRIENDS, BALANCE) == [1, 0, 0]

    again = session(outage("venmo.get_balance", after=listed, until={"calls": 1}, rearm=True))
    calls = (BALANCE, FRIENDS, BALANCE, BALANCE, FRIENDS, BALANCE, BALANCE)
    assert fired(again, *calls) == [0, 0, 1, 0, 0, 1, 0]

    linked = session(
        outage("venmo.list_friends", name="one", first=1),
        outage("venmo.get_balance", name="two", after={"fired": "one"}),
    )
    assert fired(linked, BALANCE, FRIENDS, BALANCE) == [0, 1, 1]


def test_a_higher_priority_is_further_out() -> None:
    low = parse({"outage": {"name": "low", "on": "venmo.*"}})
    high = parse({"timeout": {"name": "high", "on": "venmo.*", "priority": 5}})
    assert [fault.name for fault in ordered([low, high])] == ["high", "low"]


def test_values_captured_at_one_firing_are_used_at_another() -> None:
    capture = {"amount": "${args.amount}"}
    lost = {"name": "lost", "on": "venmo.send_money", "capture": capture}
    reply = [{"set": {"balance": "${faults.lost.amount}"}}]
    echo = {"name": "echo", "on": "venmo.get_balance", "reply": reply}
    _, read = play(session({"dropped_write": lost}, {"wrong_value": echo}), SEND, BALANCE)
    assert read.seen["balance"] == 5


def test_every_kind_has_a_test() -> None:
    text = "".join(p.read_text() for p in Path(__file__).parent.glob("test_*.py"))
    assert [k for k in kinds() if f'"{k}"' not in text] == []


def test_an_error_may_echo_arguments_or_look_like_an_ordinary_reply() -> None:
    error = {
        "code": "E1",
        "message": "Amount ${args.amount} is too much.",
        "retryable": True,
        "context": {"got": "${args.amount}"},
    }
    (echoed,) = play(session(outage("venmo.send_money", error=error)), SEND)
    assert echoed.seen["error"]["message"] == "Amount 5 is too much."
    assert echoed.seen["error"]["got"] == 5
    assert echoed.is_error
    (plain,) = play(session(outage("venmo.send_money", error={**error, "ordinary": True})), SEND)
    assert plain.seen["code"] == "E1"
    assert not plain.is_error


def test_a_fault_may_look_at_the_honest_reply_and_at_corrected_arguments() -> None:
    about_jordan = session(outage("venmo.get_contact", result={"name": "Jordan Park"}))
    assert fired(about_jordan, look_up(JORDAN), look_up(MEI)) == [1, 0]

    pays = session(outage("venmo.send_money", result={"status": "pending"}))
    assert fired(pays, SEND, TO_STRANGER) == [1, 0]
    assert pays.world.shared

    corrected = {"corrected": {"note": {"contains": "invoice"}}}
    asks = session(outage("venmo.send_money", until=corrected))
    proper = ("venmo.send_money", PAY | {"note": "invoice 7"})
    assert fired(asks, SEND, proper, SEND) == [1, 0, 0]


def test_the_duration_follows_from_the_schedule() -> None:
    schedules = {"permanent": {}, "transient": {"first": 2}, "intermittent": {"every": 2}}
    for duration, fields in schedules.items():
        assert Schedule.model_validate(fields).duration == duration


# -- mistakes ------------------------------------------------------------------------------------
def row_edit(where: dict[str, Any], edit: list[dict[str, Any]]) -> dict[str, Any]:
    row = {"table": "venmo_transactions", "where": where, "edit": edit}
    return {"wrong_value": {"on": "venmo.send_money", "row": row}}


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"outtage": {"on": "venmo.*"}}, "unknown fault kind 'outtage'; did you mean 'outage'?"),
        ({"outage": {}}, "missing 'on'"),
        ({"outage": {"on": "venmo.send_monney"}}, "did you mean 'send_money'"),
        ({"outage": {"on": "vemno.*"}}, "did you mean 'venmo'"),
        ({"outage": {"on": "venmo"}}, "write `service.tool`"),
        ({"outage": {"on": "venmo.*", "frist": 1}}, "unknown key 'frist'; did you mean 'first'?"),
        (
            {"outage": {"on": "venmo.*", "first": 1, "every": 2}},
            "at most one schedule; got first and every",
        ),
        ({"outage": {"on": "venmo.*", "until": {}}}, "an event needs at least one of"),
        ({"outage": {"on": "venmo.*", "tell": "explicit"}}, "tell: outage has none"),
        (
            {"outage": {"on": "venmo.send_money", "where": {"ammount": 5}}},
            "unknown argument 'ammount'; did you mean 'amount'?",
        ),
        (
            {"outage": {"on": "venmo.send_money", "error": {"message": "${args.amuont}"}}},
            "unknown argument 'amuont'",
        ),
        (
            {"outage": {"on": "venmo.send_money", "capture": {"x": "${arg.amount}"}}},
            "unknown name 'arg'; did you mean 'args'?",
        ),
        ({"outage": {"on": "venmo.*", "rearm": True}}, "rearm: needs both `after` and `until`"),
        ({"dropped_write": {"on": "venmo.get_balance"}}, "dropped_write acts on writes"),
        (
            {"dropped_write": {"on": ["venmo.send_money", "venmo.get_balance"]}},
            "cannot act on venmo.get_balance (a read)",
        ),
        (
            {"stale_read": {"on": "venmo.get_balance", "tables": ["venmo_transaction"]}},
            "did you mean 'venmo_transactions'",
        ),
        ({"wrong_value": {"on": "venmo.get_balance"}}, "needs `reply`"),
        (
            row_edit({"idd": 1}, [{"scale": {"amount": 2}}]),
            "row: unknown column 'idd'; did you mean 'id'",
        ),
        (
            row_edit({"id": "x"}, [{"scale": {"amout": 2}}]),
            "row: unknown column 'amout'; did you mean 'amount'?",
        ),
        (
            outage("venmo.*", stored={"table": "venmo_contacts", "where": {"nam": "x"}}),
            "stored: unknown column 'nam'",
        ),
        (
            {"wrong_value": {"on": "venmo.get_balance", "reply": [{"sett": {"a": 1}}]}},
            "did you mean 'set'",
        ),
        (
            {"wrong_value": {"on": "venmo.get_balance", "reply": [{"set": {"a": "${1 +}"}}]}},
            "expression '1 +'",
        ),
        (
            {"schema_drift": {"on": "venmo.send_money", "rename": {"amont": "sum"}}},
            "did you mean 'amount'",
        ),
        (
            {"outage": {"on": "venmo.*", "where": {"amount": {"gtee": 5, "lt": 2}}}},
            "unknown operator 'gtee'",
        ),
    ],
)
def test_a_mistake_is_reported_in_one_line_that_says_what_is_right(
    item: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as wrong:
        parse(item)
    assert message in str(wrong.value) and "\n" not in str(wrong.value)


def test_faults_that_cannot_be_used_together_are_refused() -> None:
    def refused(*items: dict[str, Any], match: str) -> None:
        with pytest.raises(InputError, match=match):
            check_together([parse(item) for item in items])

    refused(outage("venmo.*"), outage("zelle.*"), match="two faults are named 'outage'")
    refused(outage("venmo.*", after={"fired": "nobody"}), match="unknown fault 'nobody'")

    dropped = {"dropped_write": {"on": "venmo.send_money"}}
    never = (
        r"fault dropped_write can never act: outage, which is further out,"
        r" denies every call of venmo\.send_money"
    )
    refused(outage("venmo.*"), dropped, match=never)
    check_together([parse(outage("venmo.*", first=1)), parse(dropped)])

    memo, text = (
        {"schema_drift": {"name": new, "on": "venmo.send_money", "rename": {"note": new}}}
        for new in ("memo", "text")
    )
    refused(memo, text, match="both rename 'note'")

    unused = outage("venmo.send_money", capture={"x": "${args.amount}"})
    refused(unused, match="no fault uses what it captures")
    reply = [{"set": {"balance": "${faults.outage.x}"}}]
    echo = {"wrong_value": {"on": "venmo.get_balance", "reply": reply}}
    refused(outage("venmo.send_money"), echo, match="fault outage captures nothing")
