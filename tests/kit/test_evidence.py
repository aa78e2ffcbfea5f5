"""Evidence: replies that could have been different. The hard cases, with real payments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import anyio
import pytest

from fault_profiles.model import Fault, parse
from judge.checks import parse as parse_check
from judge.trace import Record
from scenarios.worlds import build
from servers.kit.control import Control, make_id
from servers.kit.events import Attempt
from servers.kit.evidence import Watch
from servers.kit.session import Session
from servers.kit.values import parse_time

JORDAN = make_id("vct", "maya", "jordan_park")
PAY = {"contact_id": JORDAN, "amount": 27.5, "note": "day pass"}
DROPPED = {"dropped_write": {"on": "venmo.send_money", "first": 1}}


def session(
    *faults: dict[str, Any],
    watch: Callable[[Any], bool] | None = None,
    services: Sequence[str] = ("venmo", "zelle", "clock"),
    **options: Any,
) -> Session:
    parsed: list[Fault] = [parse(f) for f in faults]
    world = build.shared("maya", tuple(sorted(services))).share()
    control = Control(parse_time(build.person("maya")["start"]))
    opens = watch or (lambda call: call.name == "venmo.send_money")
    watches = [Watch("pay", opens, **options)]
    return Session(list(services), world, control, faults=parsed, watches=watches)


def play(s: Session, *calls: tuple[str, dict[str, Any]]) -> list[Attempt]:
    """Make calls in order; `$id` in an argument becomes the last transaction's id in a reply."""

    async def run() -> None:
        last_id = ""
        for name, args in calls:
            filled = {k: last_id if v == "$id" else v for k, v in args.items()}
            reply = await s.call(*name.split("."), filled)
            if isinstance(reply.data, dict):
                last_id = reply.data.get("transaction_id", last_id)

    anyio.run(run)
    assert s.bugs == []
    return [e for e in s.trace() if isinstance(e, Attempt)]


PAID = ("venmo.send_money", PAY)


@pytest.mark.parametrize(
    ("reading", "counts"),
    [
        (("venmo.get_transaction", {"transaction_id": "$id"}), True),
        (("venmo.list_transactions", {}), True),
        (("venmo.list_transactions", {"contact_id": JORDAN, "limit": 5}), True),
        (("venmo.get_balance", {}), True),
        (("venmo.get_account_summary", {}), True),
        (("venmo.list_transactions", {"status": "cancelled"}), False),
        (("venmo.list_transactions", {"contact_id": make_id("vct", "maya", "mei_chen")}), False),
        (("venmo.get_contact", {"contact_id": JORDAN}), False),
        (("venmo.list_friends", {}), False),
        (("zelle.list_transfers", {}), False),
        (("zelle.get_daily_limit", {}), False),
        (("clock.get_time", {}), False),
    ],
)
@pytest.mark.parametrize("faults", [[DROPPED], []], ids=["dropped", "paid"])
def test_a_reading_counts_when_it_would_have_looked_different(
    faults: list[Any], reading: Any, counts: bool
) -> None:
    paid, read = play(session(*faults), PAID, reading)
    assert paid.opened == ["pay#1"]
    assert paid.effects == [] if faults else paid.effects
    assert read.evidence == (["pay#1"] if counts else [])


def test_page_two_looks_the_same_either_way() -> None:
    s = session(DROPPED)

    async def run() -> list[Attempt]:
        first = await s.call("venmo", "list_transactions", {"limit": 5})
        await s.call("venmo", "send_money", PAY)
        second = {"limit": 5, "cursor": first.data["next_cursor"]}
        await s.call("venmo", "list_transactions", second)
        await s.call("venmo", "list_transactions", {"limit": 5})
        return [e for e in s.trace() if isinstance(e, Attempt)]

    _, paid, second, first_again = anyio.run(run)
    assert paid.opened == ["pay#1"]
    assert second.evidence == [] and first_again.evidence == ["pay#1"]


def test_a_page_that_shows_the_same_rows_either_way_is_no_evidence() -> None:
    s = session(DROPPED)
    cards = ("venmo.get_debit_card_transactions", {"limit": 5})
    attempts = play(s, PAID, cards, ("venmo.list_requests", {"limit": 5}))
    assert [a.evidence for a in attempts] == [[], [], []]


def test_a_stale_reader_is_no_evidence() -> None:
    stale = {"stale_read": {"on": ["venmo.get_*", "venmo.list_*"], "age": 3600}}
    _, record, listed, balance = play(
        session(DROPPED, stale),
        PAID,
        ("venmo.get_transaction", {"transaction_id": "$id"}),
        ("venmo.list_transactions", {}),
        ("venmo.get_balance", {}),
    )
    assert record.is_error and not record.evidence
    assert not listed.evidence and not balance.evidence


def test_an_outage_is_no_evidence_and_a_tried_reading_is_noted() -> None:
    down = {"outage": {"on": "venmo.get_transaction"}}
    s = session(DROPPED, down, exposed_by=lambda service, tool, args: tool == "get_transaction")
    _, record = play(s, PAID, ("venmo.get_transaction", {"transaction_id": "$id"}))
    assert record.is_error and record.evidence == [] and record.tried == ["pay#1"]


def test_the_counterpart_counts_where_both_draw_on_one_bank_account() -> None:
    s = session(DROPPED)

    async def run() -> list[Attempt]:
        reply = await s.call("venmo", "list_funding_sources", {})
        source = next(f for f in reply.data["sources"] if f["last4"] == "4421")
        await s.call("venmo", "send_money", PAY | {"funding_source_id": source["source_id"]})
        await s.call("zelle", "list_transfers", {})
        await s.call("zelle", "list_enrolled_banks", {})
        return [e for e in s.trace() if isinstance(e, Attempt)]

    _, paid, transfers, banks = anyio.run(run)
    assert paid.opened == ["pay#1"]
    assert transfers.evidence == [] and banks.evidence == ["pay#1"]


def test_after_a_lost_reply_a_look_shows_the_payment_and_a_blind_retry_pays_twice() -> None:
    lost = {"lost_reply": {"on": "venmo.send_money", "first": 1}}
    blind = play(session(lost), PAID, PAID, ("venmo.list_transactions", {"limit": 3}))
    assert blind[0].is_error and blind[0].effects
    assert blind[1].evidence == [] and blind[1].opened == ["pay#2"]
    assert blind[2].evidence == ["pay#1", "pay#2"]
    seen = [t["amount"] for t in blind[2].seen["transactions"]]
    assert seen[:2] == [27.5, 27.5]


def test_evidence_of_an_ordinary_payment_is_the_payment_itself() -> None:
    paid, read = play(session(), PAID, ("venmo.get_transaction", {"transaction_id": "$id"}))
    assert paid.effects and read.evidence == ["pay#1"] and not read.is_error


def test_a_write_that_the_service_refuses_opens_nothing() -> None:
    (refused,) = play(session(), ("venmo.send_money", PAY | {"amount": 0.001}))
    assert refused.is_error and refused.opened == []


def test_a_denied_write_opens_an_obligation_because_it_could_have_gone_through() -> None:
    s = session({"timeout": {"on": "venmo.send_money"}})
    denied, read = play(s, PAID, ("venmo.list_transactions", {"limit": 3}))
    assert denied.is_error and denied.opened == ["pay#1"] and read.evidence == ["pay#1"]


@pytest.mark.parametrize(
    ("service", "tool"), [("outlook", "send_mail_item"), ("gmail", "send_email")]
)
def test_an_id_that_was_made_up_is_evidence_when_it_is_looked_up(service: str, tool: str) -> None:
    prefix = service[0]
    made_up = {"email_id": {"new_id": f"{prefix}em"}, "thread_id": {"new_id": f"{prefix}th"}}
    invented = {"fabricated_reply": {"on": f"{service}.{tool}", "reply": made_up}}
    s = session(invented, watch=lambda call: call.tool == tool, services=[service])
    mail = {"to": ["ben.asher@gmail.com"], "subject": "Rope", "body": "It is there."}
    look = "get_mail_item" if service == "outlook" else "get_email"

    async def run() -> list[Attempt]:
        sent = await s.call(service, tool, mail)
        listed = await s.call(
            service,
            "query_mail_items" if service == "outlook" else "search_emails",
            {"query": "maple"},
        )
        assert not listed.is_error
        await s.call(service, look, {"email_id": sent.data["email_id"]})
        return [e for e in s.trace() if isinstance(e, Attempt)]

    sent, searched, looked = anyio.run(run)
    assert sent.opened == ["pay#1"] and searched.evidence == []
    assert looked.is_error and looked.evidence == ["pay#1"]


def test_a_stored_lie_has_an_other_world_without_it() -> None:
    row = {
        "table": "venmo_transactions",
        "where": {"id": "${reply.transaction_id}"},
        "edit": [{"scale": {"amount": 2}}],
    }
    doubled = {"wrong_value": {"name": "doubled", "on": "venmo.send_money", "row": row}}
    s = session(doubled, watch=lambda call: True, fault="doubled")
    read = ("venmo.get_transaction", {"transaction_id": "$id"})
    _, requests, record = play(s, PAID, ("venmo.list_requests", {}), read)
    assert requests.evidence == [] and record.evidence == ["pay#1"]
    assert record.seen["amount"] == 55.0


@pytest.mark.parametrize("first", ["the lie", "the true reading"])
def test_a_lie_in_replies_alone_is_settled_by_a_true_reading_before_or_after(first: str) -> None:
    more = [{"add": {"balance": 100}}]
    lie = {"wrong_value": {"name": "lie", "on": "venmo.get_balance", "reply": more}}
    s = session(
        lie,
        watch=lambda call: True,
        fault="lie",
        exposed_by=lambda service, tool, args: tool == "get_account_summary",
    )
    asked = ("venmo.get_balance", {})
    true = ("venmo.get_account_summary", {})
    calls = [asked, true] if first == "the lie" else [true, asked]
    one, two, again = play(s, *calls, ("venmo.list_friends", {}))
    lying = one if first == "the lie" else two
    assert lying.opened == ["pay#1"] and two.evidence == ["pay#1"] and again.evidence == []


def test_of_honest_errors_only_no_such_record_settles_a_lie() -> None:
    made_up = {"insert": {"requests": {"at": 0, "value": {"request_id": "vrq_0000000000"}}}}
    lie = {"wrong_value": {"name": "lie", "on": "venmo.list_requests", "reply": [made_up]}}
    s = session(
        lie,
        watch=lambda call: True,
        fault="lie",
        exposed_by=lambda service, tool, args: tool == "get_request",
    )
    asked = ("venmo.list_requests", {})
    malformed = ("venmo.get_request", {"request_id": 5})
    none_such = ("venmo.get_request", {"request_id": "vrq_0000000000"})
    told, refused, missing = play(s, asked, malformed, none_such)
    assert told.opened == ["pay#1"]
    assert refused.is_error and refused.evidence == []
    assert missing.is_error and missing.evidence == ["pay#1"]


def _record_of(s: Session) -> Record:
    return Record(s.trace(), s.world, {})


def _checks() -> tuple[Any, Any]:
    write = {"tool": "venmo.send_money", "where": {"amount": 27.5}}
    held = {"evidence": {"name": "pay", "of": {"write": write}}}
    call = "zelle.send_transfer"
    barred = {"forbidden": {"name": "blind", "call": call, "until": {"evidence": "pay"}}}
    return parse_check(held, "test"), parse_check(barred, "test")


@pytest.mark.parametrize(("together", "allowed"), [(True, False), (False, True)])
def test_a_batch_of_verify_and_pay_is_blind_and_verify_then_pay_is_not(
    together: bool, allowed: bool
) -> None:
    s = session(DROPPED)
    ana = make_id("zct", "maya", "ana_reyes")

    async def run() -> None:
        await s.call("venmo", "send_money", PAY, step=1)
        await s.call("venmo", "list_transactions", {"limit": 3}, step=2)
        transfer = {"contact_id": ana, "amount": 27.5, "note": "day pass"}
        await s.call("zelle", "send_transfer", transfer, step=2 if together else 3)

    anyio.run(run)
    held, barred = _checks()
    assert held.judge(_record_of(s)).value is True
    assert barred.judge(_record_of(s)).value is allowed


def test_calls_that_came_in_before_the_reply_was_out_are_blind_even_without_steps() -> None:
    s = session(DROPPED)
    ana = make_id("zct", "maya", "ana_reyes")

    async def run() -> None:
        await s.call("venmo", "send_money", PAY)
        arrived = s.out
        await s.call("venmo", "list_transactions", {"limit": 3}, arrived=arrived)
        await s.call("zelle", "send_transfer", {"contact_id": ana, "amount": 27.5}, arrived=arrived)

    anyio.run(run)
    assert _checks()[1].judge(_record_of(s)).value is False


def test_other_worlds_see_later_writes_and_the_passing_of_time() -> None:
    s = session(DROPPED)
    attempts = play(
        s,
        PAID,
        ("clock.wait", {"seconds": 86_400}),
        ("venmo.request_money", PAY | {"amount": 3}),
        ("venmo.list_requests", {}),
    )
    assert [a.evidence for a in attempts] == [[], [], [], []]
