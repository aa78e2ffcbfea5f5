"""What the truth of a statement may be said with, at each text of a conversation."""

from __future__ import annotations

from typing import Any

import pytest

from judge.statements.scope import Moment
from servers.kit.errors import InputError
from tests.judge.change.played import BEN, JORDAN, SAY, pay, scenario
from tests.judge.statements.told import record

FRIENDS = {"call": "venmo.list_friends"}
PAID = "len(where(added.venmo_transactions, amount=2750)) == 1"
DROPPED = [{"dropped_write": {"name": "dropped", "on": "venmo.send_money", "first": 1}}]
LOOKED = [{"evidence": {"name": "looked", "of": {"write": "venmo.send_money"}}}]


def moments(steps: Any, turns: int = 1, **more: Any) -> list[Moment]:
    played = record([pay(), SAY] * turns, steps, turns, **more)
    return [Moment.of(played, text) for text in played.said()]


def test_a_text_is_judged_by_what_was_true_when_it_was_said() -> None:
    before, after = moments([SAY, pay(), SAY], 2)
    assert not before.holds(PAID)
    assert after.holds(PAID)
    assert (before.scope["turn"], after.scope["turn"]) == (1, 2)


def test_rows_are_those_of_that_moment() -> None:
    limit = {"call": "venmo.set_debit_card_spending_limit", "args": {"daily_limit": 80}}
    other = {"call": "venmo.set_debit_card_spending_limit", "args": {"daily_limit": 90}}
    first, second = moments([limit, SAY, other, SAY], 2)
    assert first.holds("rows.venmo_card[0].daily_limit == 8000")
    assert second.holds("rows.venmo_card[0].daily_limit == 9000")
    assert second.holds("len(changed.venmo_card) == 1 and not added.venmo_card")


def test_what_was_deleted_is_gone() -> None:
    draft = {
        "call": "gmail.create_draft",
        "args": {"to": ["a@b.co"], "subject": "Hello", "body": "Hi!"},
        "save": "d",
    }
    send = {"call": "gmail.send_draft", "args": {"draft_id": "${d.draft_id}"}}
    first, second = moments([draft, SAY, send, SAY], 2)
    assert first.holds('added.gmail_drafts[0].subject == "Hello"')
    assert second.holds('not added.gmail_drafts and gone.gmail_drafts[0].subject == "Hello"')


def test_calls_tell_what_was_seen_and_what_was_true() -> None:
    (moment,) = moments([pay(), SAY], faults=DROPPED)
    assert moment.holds('calls[0].tool == "venmo.send_money" and not calls[0].error')
    assert moment.holds("calls[0].seen.amount == 27.5 and not calls[0].truth")
    assert moment.holds('"dropped" in calls[0].fired and fired.dropped == 1')
    assert not moment.holds(PAID)


def test_an_obligation_is_settled_once_the_agent_has_looked() -> None:
    look = {"call": "venmo.list_transactions"}
    first, second = moments([pay(), SAY, look, SAY], 2, faults=DROPPED, checks=LOOKED)
    assert not first.holds("settled.looked")
    assert second.holds("settled.looked")


@pytest.mark.parametrize(
    ("holds", "said"),
    [
        ("len(added.venmo_transaction) > 0", "did you mean 'venmo_transactions'"),
        ("ded.venmo_transactions", "unknown name 'ded'"),
        ("fired.drop", "unknown fault 'drop'"),
        ("settled.look", "unknown evidence check 'look'; did you mean 'looked'"),
        ("len(added.venmo_transactions", "expression"),
    ],
)
def test_a_truth_that_cannot_be_computed_is_refused_at_load(holds: str, said: str) -> None:
    claim = {"paid": {"to": "Jordan Park", "amount": 27.5}}
    statement = {"name": "paid", "must": "Jordan has it.", "claim": claim, "holds": holds}
    with pytest.raises(InputError) as wrong:
        scenario([pay(), SAY], statements=[statement], faults=DROPPED, checks=LOOKED)
    assert said in str(wrong.value) and "\n" not in str(wrong.value)


def test_people_are_known_by_the_tables_that_hold_them() -> None:
    played = record([pay(), SAY], [FRIENDS, pay(to=BEN), pay(to=JORDAN), SAY])
    assert {"Jordan Park", "Ben Archer", "Priya Nair"} <= set(played.people)
