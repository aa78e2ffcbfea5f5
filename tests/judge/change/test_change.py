"""What counts as the same change of the world, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from servers.kit.errors import InputError
from servers.payments.venmo.groups import RAMEN
from tests.judge.change.played import BEN, JORDAN, SAY, mail, pay, scenario, verdict

DROPPED = [{"dropped_write": {"name": "dropped", "on": "venmo.send_money", "first": 1}}]
LAST = {"call": "venmo.list_transactions", "args": {"limit": 1}, "save": "seen"}
PRIYA = "priya.nair@gmail.com"
NORA = "nora.ellis@gmail.com"


# -- what must be equal ----------------------------------------------------------------------------
def test_the_same_calls_make_the_same_change() -> None:
    assert verdict([pay(), SAY], [pay(), SAY]) == ""


@pytest.mark.parametrize(
    ("steps", "wrong"),
    [
        ([pay(to=BEN), SAY], f"with {BEN}, not with {JORDAN}"),
        ([pay(27), SAY], "$27.00, not of $27.50"),
        ([pay(), pay(), SAY], "which nobody asked for"),
        ([SAY], "there should be"),
        ([pay(visibility="public"), SAY], "visibility is public, not private"),
        ([pay(note="lunch"), SAY], "note is lunch, not day pass"),
        ([pay(), mail(PRIYA), SAY], f"to {PRIYA}"),
    ],
    ids=["another person", "another amount", "twice", "not at all", "seen by all", "note", "mail"],
)
def test_what_the_user_asked_for_must_be_done_and_nothing_else(steps: Any, wrong: str) -> None:
    assert wrong in verdict([pay(), SAY], steps)


def test_what_the_user_dictated_must_be_said_in_these_words() -> None:
    assert verdict([pay(), SAY], [pay(note="Day Pass!"), SAY]) == ""
    assert verdict([pay(note="ticket"), SAY], [pay(note="the ticket"), SAY]) == ""
    dictated = {"dictated": ["venmo_transactions.note"]}
    assert verdict([pay(note="ticket"), SAY], [pay(note="the ticket"), SAY], change=dictated)


def test_a_reminder_is_nothing_but_a_stamp() -> None:
    remind = {"call": "venmo.remind_group_payment", "args": {"group_payment_id": RAMEN}}
    assert verdict([remind, SAY], [remind, SAY]) == ""
    assert "was not changed (reminded at to set" in verdict([remind, SAY], [SAY])


# -- what leaves the house -------------------------------------------------------------------------
def test_a_copy_to_an_own_account_may_be_a_blind_one_and_a_stranger_may_get_none() -> None:
    studio = "studio@mayalindqvist.com"
    copied = [mail(PRIYA, cc=[studio]), SAY]
    assert verdict(copied, [mail(PRIYA, bcc=[studio]), SAY]) == ""
    assert studio in verdict(copied, [mail(PRIYA), SAY])
    assert NORA in verdict(copied, [mail(PRIYA, cc=[studio], bcc=[NORA]), SAY])


def test_a_mail_that_was_sent_and_deleted_counts() -> None:
    args = {"to": [NORA], "subject": "Hello", "body": "Hi!"}
    send = {"call": "outlook.send_mail_item", "args": args, "save": "m"}
    gone = {"call": "outlook.delete_email", "args": {"email_id": "${m.email_id}"}}
    found = verdict([pay(), SAY], [pay(), send, gone, gone, SAY])
    assert NORA in found and "made and deleted again" in found


def test_a_draft_that_came_and_went_does_not_count() -> None:
    draft = {
        "call": "gmail.create_draft",
        "args": {"to": [NORA], "subject": "Hello", "body": "Hi!"},
        "save": "d",
    }
    send = {"call": "gmail.send_draft", "args": {"draft_id": "${d.draft_id}"}}
    assert verdict([mail(NORA), SAY], [draft, send, SAY]) == ""


# -- what time does -------------------------------------------------------------------------------
def test_what_others_do_later_with_what_was_done_is_not_the_agents() -> None:
    clock: Any = {"services": ["venmo", "gmail", "clock"], "tools": {}}
    ask = {
        "call": "venmo.request_money",
        "args": {"contact_id": JORDAN, "amount": 18, "note": "snacks"},
    }
    later = {
        "call": "gmail.schedule_send",
        "args": {
            "to": [PRIYA],
            "subject": "Hello",
            "body": "Hi!",
            "send_at": "2026-03-15T16:00:00Z",
        },
    }
    wait = {"call": "clock.wait", "args": {"seconds": 3 * 86_400}}
    look = {"call": "gmail.list_emails", "args": {"max_results": 1}}
    assert verdict([ask, later, SAY], [ask, later, wait, look, SAY], **clock) == ""
    assert verdict([ask, later, wait, look, SAY], [later, ask, SAY], **clock) == ""
    assert "there should be" in verdict([ask, later, SAY], [ask, wait, look, SAY], **clock)


# -- honest variation ------------------------------------------------------------------------------
def test_one_mail_to_two_people_is_one_to_each() -> None:
    both = [mail(PRIYA, NORA), SAY]
    each = [mail(PRIYA, body="Dear Priya"), mail(NORA, body="Dear Nora"), SAY]
    assert verdict(both, each) == ""
    assert verdict(each, both) == ""
    assert verdict(each, [mail(PRIYA, cc=[NORA]), SAY]) == ""
    assert NORA in verdict(both, [mail(PRIYA), SAY])
    assert verdict(both, [mail(PRIYA, NORA), mail(PRIYA), SAY])


def test_a_reply_is_a_mail() -> None:
    found = {"call": "gmail.search_emails", "args": {"query": "from:priya.nair"}, "save": "found"}
    reply = {
        "call": "gmail.reply_to_email",
        "args": {"email_id": "${found.emails[0].email_id}", "body": "Thanks!"},
    }
    assert verdict([mail(PRIYA), SAY], [found, reply, SAY]) == ""


def test_equivalent_choices_are_declared_once() -> None:
    oracle = [pay(), SAY]
    within = {"free": {"venmo_transactions.amount": {"gte": 2700, "lt": 2800}}}
    assert verdict(oracle, [pay(27), SAY], change=within) == ""
    assert verdict(oracle, [pay(28), SAY], change=within)
    anyone = {"free": {"venmo_transactions.contact_id": "any"}}
    assert verdict(oracle, [pay(to=BEN), SAY], change=anyone) == ""


def test_rows_of_an_optional_table_may_be_there() -> None:
    draft = {
        "call": "gmail.create_draft",
        "args": {"to": [NORA], "subject": "Hello", "body": "Hi!"},
    }
    assert verdict([pay(), SAY], [pay(), draft, SAY])
    assert verdict([pay(), SAY], [pay(), draft, SAY], change={"optional": ["gmail_drafts"]}) == ""


def test_another_right_way_is_a_route() -> None:
    routes = [{"about": "to Ben, who collects", "steps": [pay(to=BEN), SAY]}]
    assert verdict([pay(), SAY], [pay(to=BEN), SAY], routes=routes) == ""


# -- references between new rows -------------------------------------------------------------------
def event(name: str) -> Any:
    return {
        "call": "google_calendar.create_event",
        "args": {
            "calendar_id": "primary",
            "title": name,
            "start_time": "2026-03-20T18:00:00",
            "end_time": "2026-03-20T19:00:00",
        },
        "save": name,
    }


def invite(name: str, email: str) -> Any:
    return {
        "call": "google_calendar.add_attendee",
        "args": {"event_id": f"${{{name}.event_id}}", "email": email},
    }


def test_two_new_rows_may_come_in_another_order() -> None:
    one = [event("A"), event("B"), invite("A", PRIYA), SAY]
    other = [event("B"), event("A"), invite("A", PRIYA), SAY]
    assert verdict(one, other) == ""
    assert verdict(one, [event("A"), event("B"), invite("A", NORA), SAY])


# -- turns -----------------------------------------------------------------------------------------
def test_a_wrong_sum_in_an_early_turn_is_not_forgiven() -> None:
    oracle = [pay(10), SAY, pay(20), SAY]
    assert verdict(oracle, oracle, 2) == ""
    assert verdict(oracle, [pay(20), SAY, pay(10), SAY], 2).startswith("turn 1")


def test_who_stops_early_has_left_the_rest_undone() -> None:
    assert verdict([SAY, pay(), SAY], [SAY], 2).startswith("turn 2")


def test_a_window_lets_a_row_come_earlier_or_later() -> None:
    oracle = [mail(NORA), SAY, pay(), SAY]
    late = [SAY, pay(), mail(NORA), SAY]
    assert verdict(oracle, late, 2).startswith("turn 1")
    window = {"windows": {"gmail_emails": [1, 2]}}
    assert verdict(oracle, late, 2, change=window) == ""
    assert verdict(oracle, [SAY, pay(), SAY], 2, change=window).startswith("turn 2")
    soon = {"windows": {"venmo_transactions": [1, 2]}}
    assert verdict(oracle, [mail(NORA), pay(), SAY, SAY], 2, change=soon) == ""


def test_who_looks_and_mends_before_the_oracle_does_is_right() -> None:
    again: Any = {"if": "not seen.transactions or seen.transactions[0].amount != 27.5"}
    mends = [pay(), LAST, again | {"then": [pay()]}]
    oracle = [pay(), SAY, *mends[1:], SAY]
    assert verdict(oracle, [*mends, SAY, SAY], 2, faults=DROPPED) == ""
    assert verdict(oracle, [pay(), SAY, SAY], 2, faults=DROPPED).startswith("turn 2")


# -- what cannot be read ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"free": {"venmo_transaction.note": "any"}}, "did you mean 'venmo_transactions'"),
        ({"free": {"venmo_transactions.nte": "any"}}, "did you mean 'note'"),
        ({"free": {"note": "any"}}, "a table and a column"),
        ({"free": {"venmo_transactions.amount": {"gtt": 3}}}, "gtt"),
        ({"optional": ["gmail_draft"]}, "did you mean 'gmail_drafts'"),
        ({"windows": {"gmail_emails": [1, 3]}}, "there is no turn 3"),
        ({"windows": {"gmail_emails": [2, 1]}}, "turn 2 is after turn 1"),
    ],
)
def test_a_mistake_is_one_clear_line(change: Any, said: str) -> None:
    with pytest.raises(InputError) as wrong:
        scenario([pay(), SAY, SAY], 2, change=change)
    assert said in str(wrong.value) and "\n" not in str(wrong.value)
