"""Faults: the envelope (schedule, arming, clearing, counting) and what each kind does to truth, to
what was seen, and to the world.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from fault_profiles.model import check_together, kinds, parse
from fault_profiles.schedule import Schedule
from servers.kit.control import make_id
from servers.kit.errors import InputError
from servers.kit.events import Attempt
from servers.kit.session import Session
from tests.support import new_session

JORDAN = make_id("vct", "maya", "jordan_park")
MEI = make_id("vct", "maya", "mei_chen")
PAY = {"contact_id": JORDAN, "amount": 5, "note": "tea"}


def session(*faults: dict[str, Any], seed: int = 0) -> Session:
    made = [parse(f) for f in faults]
    return new_session("venmo", "zelle", "weather_com", "clock", seed=seed, faults=made)


def play(s: Session, *calls: tuple[str, dict[str, Any]]) -> list[Attempt]:
    async def run() -> None:
        for name, args in calls:
            await s.call(*name.split("."), args)

    anyio.run(run)
    assert s.bugs == []
    return [e for e in s.trace() if isinstance(e, Attempt)]


def fired(s: Session, *calls: tuple[str, dict[str, Any]]) -> list[int]:
    return [len(a.firings) for a in play(s, *calls)]


BALANCE = ("venmo.get_balance", {})
FRIENDS = ("venmo.list_friends", {})
WAIT = ("clock.wait", {"seconds": 100})


# -- the envelope --------------------------------------------------------------------------------
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
def test_schedules_say_on_which_calls_a_fault_acts(
    schedule: dict[str, Any], expected: list[int]
) -> None:
    assert (
        fired(session({"outage": {"on": "venmo.get_balance", **schedule}}), *[BALANCE] * 6)
        == expected
    )


def test_chance_comes_from_the_seed_and_not_from_other_faults() -> None:
    flaky = {"outage": {"name": "flaky", "on": "venmo.*", "probability": 0.5}}
    other = {"latency": {"name": "slow", "on": "venmo.*", "probability": 0.5, "seconds": 1}}
    alone = [a.is_error for a in play(session(flaky), *[BALANCE] * 30)]
    beside = [a.is_error for a in play(session(other, flaky), *[BALANCE] * 30)]
    assert alone == beside and 5 < sum(alone) < 25
    assert alone != [a.is_error for a in play(session(flaky, seed=9), *[BALANCE] * 30)]


def test_a_fault_looks_at_arguments_and_counts_by_what_it_is_told() -> None:
    only = session({"outage": {"on": "venmo.send_money", "where": {"amount": {"gte": 10}}}})
    assert fired(only, ("venmo.send_money", PAY), ("venmo.send_money", PAY | {"amount": 10})) == [
        0,
        1,
    ]
    each = session({"outage": {"on": "venmo.get_contact", "first": 1, "per": "contact_id"}})
    calls = [("venmo.get_contact", {"contact_id": c}) for c in (JORDAN, JORDAN, MEI, MEI)]
    assert fired(each, *calls) == [1, 0, 1, 0]
    record = session({"outage": {"on": "reads:venmo.*", "first": 1, "per": "record"}})
    assert fired(
        record, calls[0], ("venmo.list_transactions", {"contact_id": JORDAN}), calls[2], calls[2]
    ) == [1, 0, 1, 0]
    by_tool = session({"outage": {"on": "venmo.get_*", "first": 1, "per": "tool"}})
    assert fired(by_tool, BALANCE, calls[0], BALANCE, calls[0]) == [1, 1, 0, 0]


def test_stored_rows_can_be_a_condition() -> None:
    rich = {
        "outage": {
            "on": "venmo.get_balance",
            "stored": {"table": "venmo_contacts", "where": {"name": "Nobody"}},
        }
    }
    assert fired(session(rich), BALANCE) == [0]
    rich["outage"]["stored"]["where"] = {"name": "Jordan Park"}
    assert fired(session(rich), BALANCE) == [1]


def test_events_arm_and_clear_a_fault() -> None:
    armed = session(
        {
            "outage": {
                "on": "venmo.get_balance",
                "after": {"called": "venmo.list_friends", "ok": True},
            }
        }
    )
    assert fired(armed, BALANCE, FRIENDS, BALANCE, BALANCE) == [0, 0, 1, 1]
    cleared = session(
        {"outage": {"on": "venmo.get_balance", "until": {"called": "venmo.list_friends"}}}
    )
    assert fired(cleared, BALANCE, FRIENDS, BALANCE) == [1, 0, 0]
    again = session(
        {
            "outage": {
                "on": "venmo.get_balance",
                "after": {"called": "venmo.list_friends"},
                "until": {"calls": 1},
                "rearm": True,
            }
        }
    )
    assert fired(again, BALANCE, FRIENDS, BALANCE, BALANCE, FRIENDS, BALANCE, BALANCE) == [
        0,
        0,
        1,
        0,
        0,
        1,
        0,
    ]
    linked = session(
        {"outage": {"name": "one", "on": "venmo.list_friends", "first": 1}},
        {"outage": {"name": "two", "on": "venmo.get_balance", "after": {"fired": "one"}}},
    )
    assert fired(linked, BALANCE, FRIENDS, BALANCE) == [0, 1, 1]


def test_priority_says_who_stands_outside() -> None:
    from fault_profiles.model import ordered

    low = parse({"outage": {"name": "low", "on": "venmo.*"}})
    high = parse({"timeout": {"name": "high", "on": "venmo.*", "priority": 5}})
    assert [f.name for f in ordered([low, high])] == ["high", "low"]


def test_values_captured_at_one_firing_are_used_at_another() -> None:
    s = session(
        {
            "dropped_write": {
                "name": "lost",
                "on": "venmo.send_money",
                "capture": {"amount": "${args.amount}"},
            }
        },
        {
            "wrong_value": {
                "name": "echo",
                "on": "venmo.get_balance",
                "reply": [{"set": {"balance": "${faults.lost.amount}"}}],
            }
        },
    )
    assert play(s, ("venmo.send_money", PAY), BALANCE)[1].seen["balance"] == 5


# -- the kinds -----------------------------------------------------------------------------------
def test_an_outage_denies_in_the_providers_words_and_changes_nothing() -> None:
    s = session(
        {
            "outage": {
                "on": "writes:venmo.*",
                "error": {"code": "MAINTENANCE", "retryable": True, "retry_after": 90},
            }
        }
    )
    (denied,) = play(s, ("venmo.send_money", PAY))
    assert denied.seen["error"]["code"] == "MAINTENANCE"
    assert denied.seen["error"]["retry_after_seconds"] == 90
    assert denied.truth is None and denied.effects == []
    assert (
        play(session({"outage": {"on": "venmo.*"}}), BALANCE)[0].seen["error"]["code"]
        == "SERVICE_UNAVAILABLE"
    )


def test_a_rate_limit_resets_with_simulated_time() -> None:
    s = session({"rate_limit": {"on": "venmo.*", "allow": 2, "window_seconds": 60}})
    attempts = play(s, BALANCE, BALANCE, BALANCE, WAIT, BALANCE)
    assert [a.is_error for a in attempts] == [False, False, True, False, False]
    assert attempts[2].seen["error"]["retry_after_seconds"] == 58


def test_a_timeout_runs_nothing_and_a_lost_reply_runs_everything() -> None:
    late = play(
        session({"timeout": {"on": "venmo.send_money", "seconds": 45}}),
        ("venmo.send_money", PAY),
        BALANCE,
    )
    lost = play(
        session({"lost_reply": {"on": "venmo.send_money", "seconds": 45}}),
        ("venmo.send_money", PAY),
        BALANCE,
    )
    assert late[0].seen == lost[0].seen
    assert late[0].at == lost[0].at
    assert late[0].until == lost[0].until
    assert late[0].effects == [] and [e["table"] for e in lost[0].effects] == ["venmo_transactions"]
    assert late[1].seen["balance"] - lost[1].seen["balance"] == 5 and lost[0].truth["amount"] == 5


def test_a_refusal_of_the_services_own_is_passed_on() -> None:
    for kind in ("lost_reply", "dropped_write"):
        s = session({kind: {"on": "venmo.send_money", "first": 1}})
        refused, paid = play(
            s, ("venmo.send_money", PAY | {"contact_id": "vct_nobody"}), ("venmo.send_money", PAY)
        )
        assert refused.seen["error"]["code"] == "CONTACT_NOT_FOUND"
        assert not refused.firings
        assert paid.firings


def test_a_dropped_write_answers_well_and_does_nothing() -> None:
    s = session({"dropped_write": {"on": "venmo.send_money", "first": 1, "tell": "explicit"}})
    before = s.world.digest()
    first, second = play(s, ("venmo.send_money", PAY), ("venmo.send_money", PAY))
    assert first.seen["status"] == "pending"
    assert first.seen["notice"]
    assert first.effects == []
    assert first.truth is None
    assert first.seen["transaction_id"] != second.seen["transaction_id"] and second.effects
    assert {t for t, rows in s.world.digest().items() if rows != before[t]} == {
        "venmo_transactions"
    }


def test_a_stale_read_is_the_past_with_its_own_clock_and_keeps_the_truth_beside() -> None:
    s = session({"stale_read": {"on": "weather_com.get_current_weather", "age": 7200}})
    (read,) = play(s, ("weather_com.get_current_weather", {"location": "Seattle"}))
    assert read.truth["observed_at"] > read.seen["observed_at"]
    assert read.firings[0].detail == {"as_of_seconds_ago": 7200}
    own = session({"stale_read": {"on": "venmo.get_balance", "age": 60}})
    paid, stale = play(own, ("venmo.send_money", PAY), BALANCE)
    assert paid.effects and stale.seen["balance"] == stale.truth["balance"] + 5
    kept = session({"stale_read": {"on": "venmo.get_balance", "age": 60, "keep_own": True}})
    assert (
        play(kept, ("venmo.send_money", PAY), BALANCE)[1].seen["balance"] == stale.truth["balance"]
    )


def test_delayed_visibility_hides_the_agents_own_writes_until_calls_or_time_have_passed() -> None:
    by_time = session({"delayed_visibility": {"on": "reads:venmo.*", "seconds": 90}})
    before, _, hidden, _, shown = play(
        by_time, BALANCE, ("venmo.send_money", PAY), BALANCE, WAIT, BALANCE
    )
    assert hidden.seen["balance"] == before.seen["balance"] == shown.seen["balance"] + 5
    assert hidden.truth != hidden.seen
    by_reads = session({"delayed_visibility": {"on": "reads:venmo.*", "reads": 2, "seconds": 900}})
    seen = [
        a.seen["balance"] for a in play(by_reads, ("venmo.send_money", PAY), *[BALANCE] * 3)[1:]
    ]
    assert seen == [before.seen["balance"]] * 2 + [shown.seen["balance"]]


def test_a_wrong_value_is_in_the_reply_in_the_row_or_in_both() -> None:
    lie = session(
        {"wrong_value": {"on": "venmo.get_balance", "reply": [{"add": {"balance": 100}}]}}
    )
    (read,) = play(lie, BALANCE)
    assert read.seen["balance"] == pytest.approx(read.truth["balance"] + 100)
    row = {
        "table": "venmo_transactions",
        "where": {"id": "${reply.transaction_id}"},
        "edit": [{"scale": {"amount": 2}}],
    }
    stored = session({"wrong_value": {"name": "twice", "on": "venmo.send_money", "row": row}})
    paid, listed = play(
        stored, ("venmo.send_money", PAY), ("venmo.list_transactions", {"limit": 1})
    )
    assert paid.seen["amount"] == 5 and listed.seen["transactions"][0]["amount"] == 10
    assert [e["cause"] for e in paid.effects] == ["agent", "fault:twice"]


def test_a_reply_without_the_places_is_passed_on_and_a_row_that_is_not_there_is_a_firing_that_failed() -> (
    None
):
    s = session(
        {"wrong_value": {"on": "venmo.get_balance", "reply": [{"scale": {"no_such_field": 2}}]}}
    )
    (read,) = play(s, BALANCE)
    assert read.firings == [] and read.seen == read.truth
    row = {
        "table": "venmo_transactions",
        "where": {"note": "never written"},
        "edit": [{"scale": {"amount": 2}}],
    }
    (read,) = play(session({"wrong_value": {"on": "venmo.get_balance", "row": row}}), BALANCE)
    assert read.firings[0].failed == "no row of venmo_transactions to edit"


def test_schema_drift_renames_arguments_in_the_published_schema_and_takes_the_new_name() -> None:
    s = session(
        {"schema_drift": {"on": "weather_com.get_current_weather", "rename": {"location": "place"}}}
    )
    assert list(s.schema("weather_com", "get_current_weather")["properties"]) == ["place"]
    old, new = play(
        s,
        ("weather_com.get_current_weather", {"location": "Seattle"}),
        ("weather_com.get_current_weather", {"place": "Seattle"}),
    )
    assert old.is_error and "list the tools again" in old.seen["error"]["hint"] and not new.is_error
    quiet = session(
        {
            "schema_drift": {
                "on": "weather_com.get_current_weather",
                "rename": {"location": "place"},
                "published": False,
            }
        }
    )
    assert list(quiet.schema("weather_com", "get_current_weather")["properties"]) == ["location"]
    assert (
        "'place' instead of 'location'"
        in play(quiet, ("weather_com.get_current_weather", {"location": "x"}))[0].seen["error"][
            "hint"
        ]
    )


def test_schema_drift_changes_the_replys_shape() -> None:
    s = session(
        {
            "schema_drift": {
                "on": "venmo.get_balance",
                "reply": [{"rename": {"balance": "available"}}],
            }
        }
    )
    (read,) = play(s, BALANCE)
    assert "balance" not in read.seen and read.seen["available"] == read.truth["balance"]


def test_an_ambiguous_match_stores_one_real_twin() -> None:
    twin = {
        "table": "venmo_contacts",
        "like": {"name": "Jordan Park"},
        "change": {"username": "jordan-park-2"},
        "id": "vct",
    }
    s = session(
        {
            "ambiguous_match": {
                "name": "twin",
                "on": "venmo.list_friends",
                "top_of": "friends",
                **twin,
            }
        }
    )
    first, _ = play(s, FRIENDS, FRIENDS)
    jordans = [f for f in first.seen["friends"] if f["name"] == "Jordan Park"]
    assert len(jordans) == 2 and first.seen["friends"][0]["username"] == "jordan-park-2"
    paid = play(s, ("venmo.send_money", PAY | {"contact_id": jordans[0]["contact_id"]}))[-1]
    assert not paid.is_error and [e["cause"] for e in first.effects] == ["fault:twin"]
    assert len(s.world.rows("venmo_contacts", "name=?", "Jordan Park")) == 2


def test_latency_passes_simulated_time() -> None:
    slow, next_one = play(
        session({"latency": {"on": "venmo.get_balance", "seconds": 40, "first": 1}}),
        BALANCE,
        BALANCE,
    )
    assert slow.seen == slow.truth and (slow.until[-3:-1], next_one.at[-3:-1]) == ("41", "42")


def test_every_kind_has_a_test() -> None:
    text = "".join(p.read_text() for p in Path(__file__).parent.glob("test_*.py"))
    assert [k for k in kinds() if f'"{k}"' not in text] == []


def _row(where: dict[str, Any], edit: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "wrong_value": {
            "on": "venmo.send_money",
            "row": {"table": "venmo_transactions", "where": where, "edit": edit},
        }
    }


# -- mistakes ------------------------------------------------------------------------------------
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
            "one schedule; got first and every",
        ),
        ({"outage": {"on": "venmo.*", "until": {}}}, "an event needs one of"),
        ({"outage": {"on": "venmo.*", "tell": "explicit"}}, "tell: outage knows none"),
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
        ({"outage": {"on": "venmo.*", "rearm": True}}, "rearm: needs `after` and `until`"),
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
            _row({"idd": 1}, [{"scale": {"amount": 2}}]),
            "row: unknown column 'idd'; did you mean 'id'",
        ),
        (
            _row({"id": "x"}, [{"scale": {"amout": 2}}]),
            "row: unknown column 'amout'; did you mean 'amount'?",
        ),
        (
            {
                "outage": {
                    "on": "venmo.*",
                    "stored": {"table": "venmo_contacts", "where": {"nam": "x"}},
                }
            },
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
def test_a_mistake_is_one_line_that_says_what_would_be_right(
    item: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as wrong:
        parse(item)
    assert message in str(wrong.value) and "\n" not in str(wrong.value)


def test_faults_that_cannot_stand_together_are_refused() -> None:
    twice = [parse({"outage": {"on": "venmo.*"}}), parse({"outage": {"on": "zelle.*"}})]
    with pytest.raises(InputError, match="two faults are named 'outage'"):
        check_together(twice)
    with pytest.raises(InputError, match="unknown fault 'nobody'"):
        check_together([parse({"outage": {"on": "venmo.*", "after": {"fired": "nobody"}}})])
    covered = [
        parse({"outage": {"on": "venmo.*"}}),
        parse({"dropped_write": {"on": "venmo.send_money"}}),
    ]
    with pytest.raises(
        InputError,
        match=r"fault dropped_write can never act: outage denies every call of venmo\.send_money",
    ):
        check_together(covered)
    check_together([parse({"outage": {"on": "venmo.*", "first": 1}}), covered[1]])
    renames = [
        parse({"schema_drift": {"name": n, "on": "venmo.send_money", "rename": {"note": n}}})
        for n in ("memo", "text")
    ]
    with pytest.raises(InputError, match="both rename 'note'"):
        check_together(renames)
    with pytest.raises(InputError, match="no fault uses what it captures"):
        check_together(
            [parse({"outage": {"on": "venmo.send_money", "capture": {"x": "${args.amount}"}}})]
        )
    echo = parse(
        {
            "wrong_value": {
                "on": "venmo.get_balance",
                "reply": [{"set": {"balance": "${faults.outage.x}"}}],
            }
        }
    )
    with pytest.raises(InputError, match="fault outage captures nothing"):
        check_together([parse({"outage": {"on": "venmo.send_money"}}), echo])


def test_an_error_may_echo_arguments_lie_about_retrying_or_look_like_a_reply() -> None:
    error = {
        "code": "E1",
        "message": "Amount ${args.amount} is too much.",
        "retryable": True,
        "context": {"got": "${args.amount}"},
    }
    (echoed,) = play(
        session({"outage": {"on": "venmo.send_money", "error": error}}), ("venmo.send_money", PAY)
    )
    assert echoed.seen["error"]["message"] == "Amount 5 is too much."
    assert echoed.seen["error"]["got"] == 5
    assert echoed.is_error
    (plain,) = play(
        session({"outage": {"on": "venmo.send_money", "error": {**error, "ordinary": True}}}),
        ("venmo.send_money", PAY),
    )
    assert plain.seen["code"] == "E1" and not plain.is_error


def test_a_fault_may_look_at_the_honest_reply_and_at_corrected_arguments() -> None:
    rich = {"outage": {"on": "venmo.get_contact", "result": {"name": "Jordan Park"}}}
    assert fired(
        session(rich), *[("venmo.get_contact", {"contact_id": c}) for c in (JORDAN, MEI)]
    ) == [1, 0]
    pays = {"outage": {"on": "venmo.send_money", "result": {"status": "pending"}}}
    s = session(pays)
    assert fired(
        s, ("venmo.send_money", PAY), ("venmo.send_money", PAY | {"contact_id": "vct_x"})
    ) == [1, 0]
    assert s.world.shared
    asks = {
        "outage": {
            "on": "venmo.send_money",
            "until": {"corrected": {"note": {"contains": "invoice"}}},
        }
    }
    proper = ("venmo.send_money", PAY | {"note": "invoice 7"})
    assert fired(session(asks), ("venmo.send_money", PAY), proper, ("venmo.send_money", PAY)) == [
        1,
        0,
        0,
    ]


def test_durations_follow_from_the_schedule() -> None:
    named = {"permanent": {}, "transient": {"first": 2}, "intermittent": {"every": 2}}
    assert {n: Schedule.model_validate(f).duration for n, f in named.items()} == {
        n: n for n in named
    }
