"""What faults can say: conditions over the scope, captured values, stored rows, new arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fault_profiles.model import check_together, parse
from fault_profiles.profiles import profile
from servers.kit.errors import InputError
from servers.kit.session import Session
from servers.kit.store import World
from tests.faults.played import (
    BALANCE,
    BEN,
    FRIENDS,
    JORDAN,
    LATEST,
    MEI,
    PAY,
    SEND,
    codes,
    fired,
    play,
    session,
)

Fields = dict[str, Any]
LOST = {
    "dropped_write": {
        "name": "lost",
        "on": "venmo.send_money",
        "capture": {"id": "${reply.transaction_id}", "to": "${args.contact_id}"},
    }
}


def outage(on: str, **fields: Any) -> Fields:
    return {"outage": {"on": on, **fields}}


def wrong(on: str, **fields: Any) -> Fields:
    return {"wrong_value": {"on": on, **fields}}


def look_up(contact: str) -> tuple[str, Fields]:
    return ("venmo.get_contact", {"contact_id": contact})


def pay(contact: str) -> tuple[str, Fields]:
    return ("venmo.send_money", PAY | {"contact_id": contact})


def refusal(*items: Fields) -> str:
    with pytest.raises(InputError) as refused:
        check_together([parse(item) for item in items])
    assert "\n" not in str(refused.value)
    return str(refused.value)


def named(world: World, name: str) -> list[Fields]:
    return [row for row in world.rows("venmo_contacts") if row["name"] == name]


# -- conditions over the scope -------------------------------------------------------------------
def test_what_arms_clears_and_corrects_sees_captured_values() -> None:
    seen = {"called": "venmo.get_contact", "where": {"contact_id": "${faults.lost.to}"}}
    cleared = session(LOST, outage("venmo.get_balance", until=seen))
    calls = (look_up(MEI), SEND, look_up(MEI), BALANCE, look_up(JORDAN), BALANCE)
    assert fired(cleared, *calls) == [0, 1, 0, 1, 0, 0]

    armed = session(LOST, outage("venmo.get_balance", after=seen))
    assert fired(armed, SEND, BALANCE, look_up(JORDAN), BALANCE) == [1, 0, 0, 1]

    proper = {"corrected": {"contact_id": {"ne": "${faults.lost.to}"}}}
    asks = session(LOST, outage("venmo.request_money", until=proper))
    ask = ("venmo.request_money", PAY)
    elsewhere = ("venmo.request_money", PAY | {"contact_id": MEI})
    assert fired(asks, SEND, ask, elsewhere, ask) == [1, 1, 0, 0]


def test_a_condition_that_cannot_be_computed_does_not_hold_and_is_told() -> None:
    text = {"called": "venmo.get_contact", "where": {"contact_id": "${args.contact_id - 1}"}}
    s = session(outage("venmo.get_balance", until=text))
    assert fired(s, look_up(MEI), BALANCE) == [0, 1]
    assert any("fault_failed" in line for line in s.control.trace())

    where = {"amount": {"gt": "${args.note * 1.5}"}}
    (paid,) = play(session(outage("venmo.send_money", where=where)), SEND)
    assert not paid.is_error
    assert "can't multiply" in (paid.firings[0].failed or "")

    waiting = {"amount": {"gt": "${faults.lost.amount * 2}"}}
    capture = {"name": "lost", "first": 1, "capture": {"amount": "${args.amount}"}}
    later = outage("venmo.request_money", where=waiting)
    s = session({"dropped_write": {"on": "venmo.send_money", **capture}}, later)
    ask = ("venmo.request_money", PAY | {"amount": 11})
    assert fired(s, ask, SEND, ask) == [0, 1, 1]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"where": {"amount": "${reply.total}"}}, "where: expression: unknown name 'reply'"),
        ({"until": {"corrected": {"note": "${arg.x}"}}}, "corrected: expression: unknown name"),
        (
            {"after": {"called": "venmo.get_contact", "where": {"contact_id": "${fault.x}"}}},
            "where: expression: unknown name 'fault'; did you mean 'faults'",
        ),
        ({"error": {"message": "${reply.x}"}}, "error: expression: unknown name 'reply'"),
        ({"capture": {"all": "${args.note}"}}, "'all' cannot be the name of a value"),
        ({"capture": {"x y": "${args.note}"}}, "'x y' cannot be the name"),
        ({"after": {"fired": "other", "where": {"a": 1}}}, "say which one: `called`"),
        ({"after": {"corrected": {"note": "x"}}}, "belongs under `until`"),
        ({"where": {"amount": {"gtt": 5}}}, "unknown operator 'gtt'; did you mean 'gt'"),
        ({"where": {"amount": "20"}}, "where: amount: it is a number, so it is never '20'"),
        ({"where": {"amount": {"has": {"x": 1}}}}, "it is a number, so it has no field 'x'"),
        ({"where": {"any_of": [{"ammount": 5}]}}, "unknown argument 'ammount'"),
        ({"per": "contact"}, "per: unknown argument 'contact'; did you mean 'contact_id'?"),
        ({"first": True}, "first: "),
        ({"where": {"note": "${args.note"}}, "a `${` is not closed"),
        ({"calls": [3, 2]}, "ends before it begins"),
        ({"window": [60, 6]}, "ends before it begins"),
        ({"stored": [{"table": "venmo_contacts", "where": {"nam": 1}}]}, "unknown column 'nam'"),
        ({"stored": {"any_of": [{"table": "venmo_contact"}]}}, "did you mean 'venmo_contacts'"),
        ({"stored": {"not": {"table": "venmo_contacts"}, "any_of": []}}, "any_of"),
        (
            {"stored": {"table": "venmo_contacts", "where": {"name": 5}}},
            "stored: where: name: it is a string, so it is never 5",
        ),
    ],
    ids=str,
)
def test_a_condition_that_no_call_could_meet_is_refused(fields: Fields, message: str) -> None:
    assert message in refusal(outage("venmo.send_money", name="down", **fields), outage("zelle.*"))


def test_names_of_captured_values_are_checked() -> None:
    def uses(text: str) -> Fields:
        return wrong("venmo.get_balance", reply=[{"set": {"note": text}}])

    assert "unknown value 'idd'; did you mean 'id'?" in refusal(LOST, uses("${faults.lost.idd}"))
    assert "unknown value 'idd'" in refusal(LOST, uses("${pluck(faults.lost.all, 'idd')}"))
    assert "unknown value 'idd'" in refusal(LOST, uses("${first(faults.lost.all, idd=1)}"))
    assert "say which value: faults.lost.id" in refusal(LOST, uses("${faults.lost}"))
    assert "unknown fault 'lots'" in refusal(LOST, uses("${faults.lots.id}"))


def test_every_firing_keeps_what_the_service_honestly_said() -> None:
    echo = [
        {"set": {"ids": "${pluck(faults.lost.all, 'id')}"}},
        {"set": {"of_mei": f"${{first(faults.lost.all, to='{MEI}').id}}"}},
        {"set": {"latest": "${faults.lost.id}"}},
    ]
    told = wrong("venmo.get_balance", name="told", reply=echo)
    first, second, read = play(session(LOST, told), pay(MEI), pay(JORDAN), BALANCE)
    made = [first.seen["transaction_id"], second.seen["transaction_id"]]
    assert read.seen["ids"] == made
    assert read.seen["of_mei"] == made[0]
    assert read.seen["latest"] == made[1]

    capture = {"honest": "${reply.balance}", "lie": "${seen.balance}"}
    lie = wrong("venmo.get_balance", name="lie", reply=[{"set": {"balance": 1}}], capture=capture)
    show = [{"set": {"kept": "${[faults.lie.honest, faults.lie.lie]}"}}]
    shown = wrong("venmo.list_friends", name="shown", reply=show)
    balance, friends = play(session(lie, shown), BALANCE, FRIENDS)
    assert friends.seen["kept"] == [balance.truth["balance"], 1]

    down = outage("venmo.get_balance", name="lie", capture={"honest": "${reply.balance}"})
    kept = [{"set": {"kept": "${faults.lie.honest}"}}]
    _, friends = play(session(down, wrong("venmo.list_friends", reply=kept)), BALANCE, FRIENDS)
    assert friends.seen["kept"] == balance.truth["balance"]


def test_a_fault_that_does_not_fit_its_data_fails_and_never_crashes() -> None:
    misfits = [
        [{"retype": {"balance": "boolean"}}, {"set": {"x": "${whole.balance + 'x'}"}}],
        [{"retype": {"balance": "string"}}, {"set": {"x": "${whole.balance - 1}"}}],
        [{"set": {"balance": "${value - args}"}}],
    ]
    for reply in misfits:
        (read,) = play(session(wrong("venmo.get_balance", reply=reply)), BALANCE)
        assert read.firings[0].failed
        assert read.seen == read.truth


def test_a_schedule_may_have_no_end() -> None:
    assert fired(session(outage("venmo.*", calls=[3, None])), *[BALANCE] * 4) == [0, 0, 1, 1]
    dropped = {"dropped_write": {"on": "venmo.send_money"}}
    check_together([parse(outage("venmo.*", calls=[3, None])), parse(dropped)])


# -- stored rows ---------------------------------------------------------------------------------
def contact(name: str) -> Fields:
    return {"table": "venmo_contacts", "where": {"name": name}}


@pytest.mark.parametrize(
    ("stored", "acts"),
    [
        ([contact("Jordan Park"), contact("Mei Chen")], True),
        ([contact("Jordan Park"), contact("Nobody")], False),
        ({"any_of": [contact("Nobody"), contact("Mei Chen")]}, True),
        ({"not": contact("Jordan Park")}, False),
        ({"not": contact("Nobody")}, True),
        ([contact("Mei Chen"), {"not": {"any_of": [contact("Nobody")]}}], True),
    ],
    ids=str,
)
def test_conditions_on_rows_combine(stored: Any, acts: bool) -> None:
    assert fired(session(outage("venmo.get_balance", stored=stored)), BALANCE) == [int(acts)]


def test_records_are_the_rows_of_a_list_of_conditions() -> None:
    reply = [{"set": {"who": "${record.name}, ${records[1].name}"}}]
    record = [contact("Jordan Park"), contact("Mei Chen")]
    (read,) = play(session(wrong("venmo.get_balance", reply=reply, record=record)), BALANCE)
    assert read.seen["who"] == "Jordan Park, Mei Chen"


CONTACTS = {"table": "venmo_contacts"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"where": {}, "edit": [{"set": {"name": 5}}]}, "name: it is a string, so it is never 5"),
        ({"where": {}, "edit": [{"set": {"name": None}}]}, "name: must not be null"),
        ({"where": {}, "edit": [{"scale": {"name": 2}}]}, "holds a str, but scale acts on int"),
        ({"where": {}, "edit": [{"drop": ["name"]}]}, "a row keeps its columns"),
        ({"where": {}, "edit": [{"set": {"id": "x"}}]}, "is the key of the row and stays"),
        ({"where": {}, "edit": [{"set": {"name.x": 1}}]}, "with nothing inside"),
        ({"where": {}, "edit": [{"set": {"": {}}}]}, "name a column of the table"),
        ({"where": {"name": {"gtt": 1}}, "delete": True}, "unknown operator 'gtt'"),
        ({"where": {"name": {"has": {"x": 1}}}, "delete": True}, "so it has no field 'x'"),
        ({"delete": True}, "a row needs `where`"),
        ({"where": {}}, "a row needs one of edit, insert, delete, restore; got none"),
        ({"where": {}, "delete": True, "insert": {"name": "x"}}, "got insert and delete"),
        ({"insert": {"nam": "x"}}, "unknown column 'nam'"),
        ({"insert": {"name": "x"}}, "insert: missing"),
        (
            {"where": {"id": "${reply.id}"}, "delete": True, "when": "before"},
            "unknown name 'reply'",
        ),
    ],
    ids=str,
)
def test_a_change_of_rows_that_does_not_fit_the_table_is_refused(row: Fields, message: str) -> None:
    assert message in refusal(wrong("venmo.get_balance", row={**CONTACTS, **row}))


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (
            {"rewritten_arguments": {"on": "venmo.send_money", "edit": [{"set": {"amount": "5"}}]}},
            "edit: set: amount: it is a number, so it is never '5'",
        ),
        (
            {
                "ambiguous_match": {
                    "on": "venmo.list_friends",
                    "table": "venmo_contacts",
                    "like": {"name": 5},
                    "change": {"username": "x"},
                }
            },
            "like: where: name: it is a string, so it is never 5",
        ),
        (
            {
                "ambiguous_match": {
                    "on": "venmo.list_friends",
                    "table": "venmo_contacts",
                    "like": {"name": "x"},
                    "change": {"username": None},
                }
            },
            "change: username: must not be null",
        ),
        (
            {"delayed_visibility": {"on": "reads:venmo.*", "writes_of": ["venmo_contact"]}},
            "did you mean 'venmo_contacts'",
        ),
        (
            {"dropped_write": {"on": "venmo.send_money", "edit": [{"sett": {"a": 1}}]}},
            "edit: unknown operation 'sett'; did you mean 'set'",
        ),
    ],
    ids=str,
)
def test_values_that_a_kind_writes_are_checked(item: Fields, message: str) -> None:
    assert message in refusal(item)


def test_what_a_firing_keeps_is_shared_by_processes(tmp_path: Path) -> None:
    from scenarios.worlds.build import shared
    from servers.kit.control import Control
    from tests.support import START, WORLD

    echo = wrong("venmo.get_balance", reply=[{"set": {"to": "${faults.lost.to}"}}])
    control = Control(START, 0, tmp_path / "control")
    faults = [parse(LOST), parse(echo)]
    s = Session(("venmo",), shared(WORLD, ("venmo",)).share(), control, faults=faults)
    *_, read = play(s, SEND, BALANCE)
    assert read.seen["to"] == JORDAN


def test_a_record_is_looked_up_before_anything_has_replied() -> None:
    record = {"table": "venmo_contacts", "where": {"id": "${reply.id}"}}
    fields = {"record": record, "reply": [{"set": {"x": "${record.name}"}}]}
    assert "record: expression: unknown name 'reply'" in refusal(
        wrong("venmo.get_balance", **fields)
    )


def test_rows_are_inserted_and_deleted_and_a_clash_leaves_all_as_it_was() -> None:
    twin = {**CONTACTS, "where": {"id": JORDAN}, "insert": {"name": "${item.name} II"}}
    s = session(wrong("venmo.get_balance", row=twin))
    (read,) = play(s, BALANCE)
    (made,) = named(s.world, "Jordan Park II")
    assert read.firings[0].detail["rows"][0] == {
        "table": "venmo_contacts",
        "key": made["id"],
        "was": None,
        "is": made,
    }
    assert [change["cause"] for change in read.effects] == ["fault:wrong_value"]

    again = {**CONTACTS, "where": {"id": JORDAN}, "insert": {"id": MEI}}
    s = session(wrong("venmo.get_balance", rows=[twin, again]))
    (read,) = play(s, BALANCE)
    assert "already" in (read.firings[0].failed or "")
    assert named(s.world, "Jordan Park II") == []
    assert read.effects == []


def test_references_must_name_rows() -> None:
    ghost = [{"set": {"contact_id": "vct_0000000000"}}]
    payment = {"table": "venmo_transactions", "where": {"note": "tea"}, "edit": ghost}
    s = session(wrong("venmo.send_money", row=payment))
    (paid,) = play(s, SEND)
    assert "there is no row 'vct_0000000000' in venmo_contacts" in (paid.firings[0].failed or "")

    gone = {**CONTACTS, "where": {"id": JORDAN}, "delete": True}
    (paid,) = play(session(wrong("venmo.send_money", row=gone)), SEND)
    assert "refer to" in (paid.firings[0].failed or "")
    assert "delete them, too" in (paid.firings[0].failed or "")


def test_rows_of_several_tables_change_as_one_and_show_in_the_other_world() -> None:
    lie = wrong(
        "venmo.send_money",
        rows=[
            {
                "table": "venmo_transactions",
                "where": {"id": "${reply.transaction_id}"},
                "edit": [{"set": {"note": "rent"}}],
            },
            {
                "table": "venmo_contacts",
                "where": {"id": "${args.contact_id}"},
                "edit": [{"set": {"username": "jordan-p"}}],
            },
        ],
    )
    s = session(lie, watch="venmo.send_money", about="wrong_value")
    paid, balance, friends = play(s, SEND, BALANCE, FRIENDS)
    tables = [row["table"] for row in paid.firings[0].detail["rows"]]
    assert tables == ["venmo_transactions", "venmo_contacts"]
    assert paid.opened == ["matter#1"]
    assert balance.evidence == []
    assert friends.evidence == ["matter#1"]


def test_an_inserted_row_has_the_same_key_in_every_world() -> None:
    twin = {**CONTACTS, "where": {"id": JORDAN}, "insert": {"name": "Jordan Prak"}, "when": "after"}
    s = session(wrong("venmo.request_money", row=twin), watch="venmo.send_money")
    ask = ("venmo.request_money", PAY | {"contact_id": MEI})
    _, asked, friends, listed = play(s, SEND, ask, FRIENDS, LATEST)
    assert asked.firings[0].failed is None
    assert friends.evidence == []
    assert listed.evidence == ["matter#1"]


# -- evidence ------------------------------------------------------------------------------------
def phantoms(s: Session, *calls: tuple[str, Fields]) -> list[list[str]]:
    return [attempt.evidence for attempt in play(s, *calls)]


def test_an_honest_error_is_evidence_and_a_malformed_call_is_not() -> None:
    from fault_profiles.model import ordered
    from servers.kit.evidence import Watch
    from tests.support import new_session

    ghost = [{"insert": {"friends": {"value": {"id": "vct_0", "name": "Al"}, "like_first": True}}}]
    lie = parse(wrong("venmo.list_friends", reply=ghost))
    watch = Watch(
        "ghost",
        lambda call: call.name == "venmo.list_friends",
        "wrong_value",
        lambda service, tool, args: tool == "get_contact",
    )
    s = new_session("venmo", faults=ordered([lie]), watches=[watch])
    calls = (FRIENDS, ("venmo.get_contact", {"contact": "vct_0"}), look_up("vct_0"))
    listed, malformed, looked = play(s, *calls)
    assert listed.opened == ["ghost#1"]
    assert codes([malformed, looked])[1] != ""
    assert malformed.evidence == []
    assert looked.evidence == ["ghost#1"]


# -- drifting schemas and demands ----------------------------------------------------------------
def drift(**fields: Any) -> Fields:
    return {"schema_drift": {"on": "venmo.send_money", **fields}}


REASON = {"name": "purpose", "description": "What it is for.", "enum": ["goods", "friends"]}


def test_a_new_argument_is_required_published_and_taken_off() -> None:
    s = session(drift(require=REASON))
    schema = s.schema("venmo", "send_money")
    assert schema["properties"]["purpose"] == {
        "type": "string",
        "description": "What it is for.",
        "enum": ["goods", "friends"],
    }
    assert "purpose" in schema["required"]
    given = ("venmo.send_money", PAY | {"purpose": "friends"})
    odd = ("venmo.send_money", PAY | {"purpose": "tea"})
    wrong_type = ("venmo.send_money", PAY | {"purpose": 7})
    missing, other, number, paid = play(s, SEND, odd, wrong_type, given)
    assert missing.seen["error"]["message"] == "Missing required argument 'purpose'."
    assert "list the tools again" in missing.seen["error"]["hint"]
    assert other.seen["error"]["message"] == "Argument 'purpose' should be 'goods' or 'friends'."
    assert number.seen["error"]["message"] == "Argument 'purpose' should be a valid string."
    assert not paid.is_error
    assert paid.seen == paid.truth

    secret = session(drift(require=REASON, published=False))
    assert "purpose" not in secret.schema("venmo", "send_money")["properties"]
    (missing,) = play(secret, SEND)
    assert missing.seen["error"]["hint"] == "Give 'purpose': What it is for."


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (drift(require={"name": "note"}), "venmo.send_money has an argument 'note' already"),
        (drift(require={"name": "x", "type": "text"}), "require[0].type"),
        (drift(require={"name": "x", "type": "integer", "enum": ["a"]}), "it is an integer"),
        (drift(require={"name": "x"}, rename={"note": "x"}), "two arguments would be named 'x'"),
        (drift(require={"nme": "x"}), "did you mean 'name'"),
    ],
    ids=str,
)
def test_a_new_argument_with_a_mistake_is_refused(item: Fields, message: str) -> None:
    assert message in refusal(item)


def ladder(**step: Any) -> Fields:
    return {"error_ladder": {"on": "venmo.send_money", "steps": [step]}}


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (ladder(met={"memo": {"exists": True}}), "steps[0]: met: unknown argument 'memo'"),
        (ladder(met={"amount": "20"}), "amount: it is a number, so it is never '20'"),
        (ladder(met={"amount": -5}), "so never -5"),
        (ladder(met={"visibility": "secret"}), "it can only be"),
        (ladder(met={"note": {"gt": 5}}), "cannot be compared with the number 5"),
        (ladder(met={"note": {"type": "number"}}), "it is a string, never number"),
        (
            ladder(met_by={"called": "venmo.get_contact", "where": {"contact": "x"}}),
            "steps[0]: met_by: unknown argument 'contact'",
        ),
        (ladder(met_by={"called": "venmo.get_contact", "seconds": 5}), "got seconds"),
    ],
    ids=str,
)
def test_a_demand_that_no_call_can_meet_is_refused(item: Fields, message: str) -> None:
    assert message in refusal(item)


def test_a_demand_may_be_about_an_argument_that_another_fault_brings() -> None:
    check_together([parse(drift(require=REASON)), parse(ladder(met={"purpose": "goods"}))])
    assert "it can only be" in refusal(drift(require=REASON), ladder(met={"purpose": "tea"}))


def test_a_profile_with_a_condition_that_nothing_meets_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("- outage: {on: venmo.send_money, until: {called: venmo.pay_requst}}\n")
    with pytest.raises(InputError, match="did you mean"):
        profile(str(path))


def test_only_a_part_of_a_reply_is_kept() -> None:
    keep = [{"keep": ["friends[:2].name"]}]
    (read,) = play(session(wrong("venmo.list_friends", reply=keep)), FRIENDS)
    assert list(read.seen) == ["friends"]
    assert [list(friend) for friend in read.seen["friends"]] == [["name"], ["name"]]
    assert BEN not in str(read.seen)
