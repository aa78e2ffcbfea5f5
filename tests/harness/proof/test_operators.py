"""Each operator makes from a tiny scenario the mutants that it should, and no others."""

from __future__ import annotations

import anyio
import pytest

from client_harness.proof import detours
from client_harness.proof.actions import Actions, Mutant, blind_retries, unasked
from client_harness.proof.mails import mail_mutants
from client_harness.proof.moves import (
    Call,
    Moves,
    Say,
    Unfit,
    changed,
    recorded,
    replaying,
    without,
)
from client_harness.proof.play import Played, play
from client_harness.proof.sorts import Sorts, next_day, next_hour, other_numbers
from client_harness.proof.strangers import Strangers
from judge.change.match import Matching
from scenarios.load import load
from scenarios.model import Scenario
from servers.kit.events import to_json
from servers.kit.values import parse_time
from tests.harness.proof.tiny import BODY, call, oracle, tiny

DROPPED = "recovery/silent_no_op/venmo_pay_dropped"


def replayed(scenario: Scenario, moves: Moves) -> Played:
    async def go() -> Played:
        return await play(scenario, replaying(moves), straight=True)

    return anyio.run(go)


def test_a_mail_may_be_a_draft_first_and_what_was_not_sent_is_sent_from_there() -> None:
    drafts = ["*draft*", "list_emails", "send_email", "trash_email", "search_emails"]
    tools = {"gmail": drafts, "google_calendar": ["list_calendars", "create_event"]}
    busy = {"outage": {"on": "gmail.send_draft", "first": 1}}
    scenario = tiny(tools=tools, faults=[busy], failure="availability")
    mail = next(step for step in scenario.scripts.oracle if step.call == "gmail.send_email")
    scenario.scripts.oracle.insert(-1, mail)

    async def go() -> Played:
        return await play(scenario, detours.drafting, straight=True)

    played = anyio.run(go)
    mails = [a.tool for a in played.attempts if a.service == "gmail"]
    assert mails == ["create_draft", "send_draft", "send_draft"]
    assert len(played.timeline(2).at(2)) == 4  # a payment, an event, a mail to each of two
    with oracle(tiny()) as (_, moves):
        assert detours.drafts(scenario, moves) and not detours.drafts(tiny(), moves)


def mutants(scenario: Scenario, name: str) -> dict[str, Mutant]:
    """Return the mutants of one call by name."""
    with oracle(scenario) as (played, moves):
        assert played.record is not None and played.record.world is not None
        sorts = Sorts(played.record.world)
        actions = Actions(scenario, moves, sorts, scenario.freedom)
        place = moves.index(call(moves, name))
        return {mutant.name: mutant for mutant in actions.of(place)}


def test_a_replay_gives_the_same_trace() -> None:
    for scenario in (tiny(), load(DROPPED)):
        with oracle(scenario) as (played, moves):
            again = replayed(scenario, moves)
            assert [to_json(e) for e in again.events] == [to_json(e) for e in played.events]


def test_a_payment_has_every_mutant_of_its_arguments() -> None:
    made = mutants(tiny(), "venmo.send_money")
    kinds = [name.partition(" ")[0] for name in made]
    assert sorted(set(kinds)) == sorted(
        ["drop", "double", "misdirect", "other", "counterpart", "number", "dictated", "choice"]
    )
    assert "number venmo.send_money #1: amount 27.5 → 31.5" in made
    assert "dictated venmo.send_money #1: note" in made
    assert "other source venmo.send_money #1: funding_source_id" in made
    assert "counterpart venmo.send_money #1 → zelle.send_transfer" in made
    assert any(name.startswith("misdirect venmo.send_money #1: contact_id Jordan") for name in made)


def test_an_event_is_put_on_another_day_and_at_another_time() -> None:
    made = mutants(tiny(), "google_calendar.create_event")
    (day,) = [m for name, m in made.items() if name.startswith("day ")]
    (hour,) = [m for name, m in made.items() if name.startswith("time ")]
    moved = call(day.tries[0], "google_calendar.create_event").args
    assert (moved["start_time"][:13], moved["end_time"][:13]) == ("2026-03-23T10", "2026-03-23T11")
    later = call(hour.tries[0], "google_calendar.create_event").args
    assert (later["start_time"][:13], later["end_time"][:13]) == ("2026-03-22T11", "2026-03-22T12")


def test_a_mail_loses_a_recipient_and_goes_to_others() -> None:
    made = mutants(tiny(), "gmail.send_email")
    fewer = [m for name, m in made.items() if name.startswith("fewer ")]
    left = [call(m.tries[0], "gmail.send_email").args["to"] for m in fewer]
    assert left == [["priya.nair@gmail.com"], ["lucas.weber@fernhill.design"]]
    assert len([name for name in made if name.startswith("misdirect ")]) == 2
    assert not [name for name in made if name.startswith("dictated")]


def test_a_mail_says_another_figure_name_and_nothing_else() -> None:
    scenario = tiny()
    with oracle(scenario) as (played, moves):
        assert played.record is not None
        made = {m.name: m for m in mail_mutants(scenario, played.record, moves)}
    name = "mail gmail.send_email #1: mailed_sum: figure 27.5 → 31.5"
    omitted = "mail gmail.send_email #1: without mailed_sum"
    assert len(made) == 3 and {name, omitted} <= made.keys()
    body = call(made[name].tries[0], "gmail.send_email").args["body"]
    assert body == BODY.replace("27.50", "31.50")


def test_a_changed_call_that_is_refused_is_of_no_use() -> None:
    scenario = tiny()
    with oracle(scenario) as (_, moves):
        place = moves.index(call(moves, "venmo.send_money"))
    args = {"contact_id": "vct_0000000000", "amount": 27.5, "note": "day pass"}
    with pytest.raises(Unfit):
        replayed(scenario, changed(moves, place, args))


def test_ids_are_translated_where_an_earlier_call_was_added() -> None:
    scenario = tiny()
    with oracle(scenario) as (_, moves):
        pay = call(moves, "venmo.send_money")
        place = moves.index(pay)
        other = Call("venmo", "send_money", pay.args | {"amount": 3}, number=9)
        done = replayed(scenario, [*moves[:place], other, *moves[place:]])
    look = next(a for a in done.attempts if a.tool == "get_transaction")
    was = call(moves, "venmo.get_transaction").args
    assert not look.is_error and look.args != was
    assert look.seen["amount"] == 27.5


def test_what_stood_before_the_run_is_never_translated() -> None:
    scenario = load(DROPPED)
    with oracle(scenario) as (played, moves):
        assert played.record is not None and played.record.world is not None
        place = moves.index(call(moves, "venmo.send_money"))
        args = call(moves, "venmo.send_money").args
        other = Sorts(played.record.world).others(args["contact_id"])[0]
        done = replayed(scenario, changed(moves, place, args | {"contact_id": other}))
    paid = [a.args["contact_id"] for a in done.attempts if a.tool == "send_money"]
    assert paid == [other, args["contact_id"]]


def test_unrelated_deeds_succeed_and_leave_a_trace() -> None:
    scenario = tiny()
    with oracle(scenario) as (played, moves):
        assert played.record is not None and played.record.world is not None
        now = parse_time(played.end.at)
        strangers = Strangers(scenario, moves, played.record.world, now)
        groups = anyio.run(strangers.mutants)
        right = played.timeline(2)
        firsts = [group[0] for group in groups if group]
        kinds = {mutant.name.partition(" ")[0] for mutant in firsts}
        assert kinds == {"unrelated", "delete", "message", "payment", "leak"}
        for mutant in firsts:
            done = replayed(scenario, mutant.tries[0]).timeline(2)
            found = Matching(done.at(2), right.at(2), scenario.freedom, made=done.made)
            assert found.differences(), mutant.name


def test_a_blind_retry_leaves_out_the_look_between() -> None:
    with oracle(load(DROPPED)) as (_, moves):
        (blind,) = blind_retries(moves)
    names = [move.name for move in blind.tries[0] if isinstance(move, Call)]
    assert blind.name == "blind retry venmo.send_money #2"
    assert names == [
        "venmo.list_friends", "venmo.send_money", "venmo.send_money", "venmo.list_transactions",
    ]  # fmt: skip


def test_a_question_is_left_out() -> None:
    moves: Moves = [Say("Which?", 1), Call("venmo", "get_balance", {}), Say("Done.", 1)]
    (silent,) = unasked(moves, {0})
    assert silent.tries[0] == moves[1:]
    assert detours.questions_asked(moves) == 1


def test_a_detour_reads_once_more_at_the_end_of_each_turn() -> None:
    with oracle(tiny()) as (_, moves):
        longer = detours.read_back(moves)
    assert longer is not None and len(longer) == len(moves) + 1
    told = next(place for place, move in enumerate(longer) if isinstance(move, Say))
    names = [move.name for move in longer[:told] if isinstance(move, Call)]
    assert names[-2:] == ["venmo.get_transaction"] * 2


def test_only_independent_neighbours_are_swapped() -> None:
    with oracle(tiny()) as (_, moves):
        names = [name for name, _ in detours.swaps(moves)]
        together = detours.all_swapped(moves)
    assert names == [
        "google_calendar.list_calendars #1 before venmo.list_friends #1",
        "gmail.send_email #1 before google_calendar.create_event #1",
    ]
    assert together is not None and together != moves
    assert sorted(map(repr, without(together, lambda at, m: isinstance(m, Call)))) == sorted(
        map(repr, without(moves, lambda at, m: isinstance(m, Call)))
    )


def test_a_question_first_is_answered_and_then_the_oracle_goes_on() -> None:
    scenario = tiny()

    async def go() -> Played:
        return await play(scenario, detours.asking(2))

    done = anyio.run(go)
    said = [(m.turn, m.about) for m in done.messages if m.role == "user"]
    assert said == [(1, None), (1, "default"), (2, None), (2, "default")]
    assert len(recorded(done.events)) == 6 + 4


@pytest.mark.parametrize(
    ("text", "day", "hour"),
    [
        ("2026-02-28", "2026-03-01", None),
        ("2026-12-31T23:30:00Z", "2027-01-01T23:30:00Z", "2026-12-31T00:30:00Z"),
        ("19:00", None, "20:00"),
        ("2026-13-45", None, None),
        ("day pass", None, None),
    ],
)
def test_days_and_times_move_on(text: str, day: str | None, hour: str | None) -> None:
    assert (next_day(text), next_hour(text)) == (day, hour)


def test_amounts_move_by_dollars_and_counts_by_one() -> None:
    assert other_numbers("amount", 27.5)[0] == 31.5
    assert other_numbers("num_guests", 6)[0] == 7
    assert other_numbers("daily_limit", 80)[0] == 84
