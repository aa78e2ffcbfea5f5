"""How Venmo and Zelle differ, and the rules about money that they share."""

from __future__ import annotations

from typing import Any

import pytest

from servers.kit.control import make_id
from servers.kit.session import Session
from servers.kit.values import cents, iso
from tests.support import START, at, call_ok, call_refused, new_session, pages, session_of

pytestmark = pytest.mark.anyio
HOUR = 3600
DAY = 86_400


@pytest.fixture
def session() -> Session:
    return new_session("venmo", "zelle")


async def venmo(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await call_ok(session, "venmo", tool, **args)


async def zelle(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await call_ok(session, "zelle", tool, **args)


async def wallet(session: Session) -> int:
    return cents((await venmo(session, "get_balance"))["balance"])


async def checking(session: Session, service: str = "zelle") -> int:
    if service == "zelle":
        linked = (await zelle(session, "list_enrolled_banks"))["banks"]
    else:
        linked = (await venmo(session, "list_funding_sources"))["sources"]
    return cents(next(b["balance"] for b in linked if b["last4"] == "4421")) - elsewhere(session)


def elsewhere(session: Session) -> int:
    """Return what shops and others have moved in the checking account since the start."""
    query = (
        "SELECT coalesce(sum(amount),0) FROM payments_entries WHERE at BETWEEN ? AND ?"
        " AND account_id=? AND what NOT LIKE 'venmo%' AND what NOT LIKE 'zelle%' AND what<>'refund'"
    )
    now = iso(session.control.now)
    return session.world.sql(query, iso(START), now, at("acct", "checking"))[0][0]


async def transfer_status(session: Session, transaction_id: str) -> str:
    return (await zelle(session, "get_transfer", transaction_id=transaction_id))["status"]


async def spent_on_the_first_day(session: Session) -> float:
    day = {"date_from": "2026-03-14", "date_to": "2026-03-14"}
    return (await zelle(session, "get_spending_summary", **day))["total"]


PRIYA = at("vct", "priya_nair")
BEN = at("vct", "ben_asher")
JORDAN = at("vct", "jordan_park")
ANA = at("zrc", "ana_reyes")
SAMIRA = at("zrc", "samira_oduya")


# -- the world -------------------------------------------------------------------------------------


async def test_nine_months_of_payments_are_there(session: Session) -> None:
    sent = session.world.sql(
        "SELECT (SELECT count(*) FROM venmo_transactions) + (SELECT count(*) FROM zelle_transfers)"
    )[0][0]
    assert sent >= 150
    rent = await zelle(session, "search_transactions", query="rent reyes", category="rent")
    assert len(rent["transactions"]) == 9 and {t["amount"] for t in rent["transactions"]} == {920.0}
    for status in ("pending", "completed", "cancelled", "failed"):
        assert (await venmo(session, "list_transactions", status=status))["transactions"]
        assert (await zelle(session, "list_transfers", status=status))["transactions"]
    assert len((await zelle(session, "list_transfers", status="expired"))["transactions"]) == 1


async def test_pages_hold_every_transaction_once(session: Session) -> None:
    listed = await pages(session, "venmo", "list_transactions", "transactions", limit=50)
    seen = [t["transaction_id"] for t in listed]
    count = session.world.sql("SELECT count(*) FROM venmo_transactions")[0][0]
    assert len(seen) == len(set(seen)) == count


# -- balances and funding sources ------------------------------------------------------------------


async def test_the_wallet_pays_if_it_covers_everything_otherwise_the_default_source_does(
    session: Session,
) -> None:
    assert await wallet(session) == 21460
    small = await venmo(session, "send_money", contact_id=PRIYA, amount=128, note="Cabin")
    assert small["source"]["name"] == "Venmo balance" and await wallet(session) == 21460 - 12800
    before = await checking(session)
    large = await venmo(session, "send_money", contact_id=PRIYA, amount=128, note="Cabin again")
    assert large["source"]["last4"] == "4421"
    assert await wallet(session) == 21460 - 12800, "never split over wallet and bank"
    assert await checking(session) == before - 12800
    assert await checking(session, "venmo") == before - 12800, "both providers see one account"


async def test_a_named_source_is_charged_and_a_credit_card_costs_three_percent(
    session: Session,
) -> None:
    card = at("vfs", "amex")
    paid = await venmo(
        session, "send_money", contact_id=PRIYA, amount=33.5, note="Snacks", funding_source_id=card
    )
    assert paid["fee"] == 1.0 and await wallet(session) == 21460
    back = await venmo(session, "cancel_transaction", transaction_id=paid["transaction_id"])
    assert back["refunded_amount"] == 34.5
    listed = (await venmo(session, "list_funding_sources"))["sources"]
    assert next(s for s in listed if s["source_id"] == card)["available_credit"] == 5180.0


async def test_a_debit_card_draws_on_its_bank_account(session: Session) -> None:
    before = await checking(session)
    coffee = {"contact_id": PRIYA, "amount": 10, "note": "Coffee"}
    await venmo(session, "send_money", **coffee, funding_source_id=at("vfs", "visa"))
    assert await checking(session) == before - 1000


async def test_inactive_or_insufficient_sources_are_refused(session: Session) -> None:
    to_priya = {"contact_id": PRIYA, "note": "x"}
    savings = at("vfs", "savings")
    off = await call_refused(
        session, "venmo", "send_money", **to_priya, amount=5, funding_source_id=savings
    )
    assert off["code"] == "FUNDING_SOURCE_INACTIVE" and "activate_funding_source" in off["hint"]
    broke = await call_refused(session, "venmo", "send_money", **to_priya, amount=9000)
    assert broke["code"] == "INSUFFICIENT_FUNDS"
    assert broke["available"] == 4286.17 and broke["required"] == 9000.0
    await zelle(session, "unenroll_bank_account", source_id=at("zbk", "checking"))
    sent = await zelle(session, "send_transfer", contact_id=ANA, amount=5)
    assert sent["bank"]["last4"] == "3310", "the next source becomes the default"
    await zelle(session, "unenroll_bank_account", source_id=at("zbk", "studio"))
    none = await call_refused(session, "zelle", "send_transfer", contact_id=ANA, amount=5)
    assert none["code"] == "NO_FUNDING_SOURCE" and "enroll_bank_account" in none["hint"]


async def test_only_the_bank_determines_the_balance_of_an_account(session: Session) -> None:
    error = await call_refused(
        session, "zelle", "link_bank_account", name="First Made Up Bank", last4="0000"
    )
    assert error["code"] == "ACCOUNT_VERIFICATION_FAILED"
    linked = await zelle(session, "link_bank_account", name="Cascade Savings", last4="9087")
    assert linked["balance"] == 12450.0
    again = await call_refused(
        session, "zelle", "link_bank_account", name="Cascade Savings", last4="9087"
    )
    assert again["code"] == "DUPLICATE_FUNDING_SOURCE" and again["source_id"] == linked["source_id"]


# -- the life of a payment -------------------------------------------------------------------------


async def test_a_payment_can_be_cancelled_until_it_settles(session: Session) -> None:
    one = await venmo(session, "send_money", contact_id=PRIYA, amount=20, note="One")
    assert one["status"] == "pending"
    done = await venmo(session, "cancel_transaction", transaction_id=one["transaction_id"])
    assert done == {
        "transaction_id": one["transaction_id"],
        "status": "cancelled",
        "refunded_amount": 20.0,
    }
    assert await wallet(session) == 21460
    two = await venmo(session, "send_money", contact_id=PRIYA, amount=20, note="Two")
    session.pass_time(HOUR)
    settled = await venmo(session, "get_transaction", transaction_id=two["transaction_id"])
    assert settled["status"] == "completed"
    for transaction in (one, two):
        error = await call_refused(
            session, "venmo", "cancel_transaction", transaction_id=transaction["transaction_id"]
        )
        assert error["code"] == "TRANSACTION_NOT_CANCELLABLE"


async def test_the_same_idempotency_key_pays_once(session: Session) -> None:
    for service, tool, contact in (("venmo", "send_money", PRIYA), ("zelle", "send_transfer", ANA)):
        payment = {"contact_id": contact, "amount": 12, "note": "Once", "idempotency_key": "k1"}
        first = await call_ok(session, service, tool, **payment)
        mark = session.world.last_change()
        assert await call_ok(session, service, tool, **payment) == first
        assert session.world.last_change() == mark
        other = await call_refused(session, service, tool, **{**payment, "amount": 13})
        assert other["code"] == "IDEMPOTENCY_KEY_REUSED"
        assert other["transaction_id"] == first["transaction_id"]


async def test_unclaimed_money_to_someone_not_enrolled_comes_back(session: Session) -> None:
    before = await checking(session)
    sent = await zelle(session, "send_transfer", contact_id=SAMIRA, amount=50)
    session.pass_time(2 * DAY)
    assert await transfer_status(session, sent["transaction_id"]) == "pending"
    assert sent["claim_by"] and sent["settles_at"] is None
    assert await spent_on_the_first_day(session) == 236.4
    assert await checking(session) < before
    session.pass_time(13 * DAY)
    assert await transfer_status(session, sent["transaction_id"]) == "expired"
    assert await spent_on_the_first_day(session) == 186.4
    error = await call_refused(
        session, "zelle", "cancel_transfer", transaction_id=sent["transaction_id"]
    )
    assert error["code"] == "TRANSACTION_NOT_CANCELLABLE"


# -- requests --------------------------------------------------------------------------------------


async def test_who_pays_a_request_pays_into_the_bank_that_they_paid_into_before() -> None:
    session = session_of("rafael", "zelle")
    dana = make_id("zrc", "rafael", "dana_newman")
    banks = (await zelle(session, "list_enrolled_banks"))["banks"]
    asked = await zelle(session, "request_transfer", contact_id=dana, amount=24, note="Samples")
    session.pass_time(4 * DAY)
    answer = await zelle(session, "get_transfer_request", request_id=asked["request_id"])
    paid = await zelle(session, "get_transfer", transaction_id=answer["transaction_id"])
    assert paid["bank"]["last4"] == "4045" != banks[0]["last4"]


async def test_nobody_can_pay_a_request_while_no_bank_takes_part() -> None:
    session = session_of("rafael", "zelle")
    dana = make_id("zrc", "rafael", "dana_newman")
    asked = await zelle(session, "request_transfer", contact_id=dana, amount=24, note="Samples")
    for bank in (await zelle(session, "list_enrolled_banks"))["banks"]:
        await zelle(session, "unenroll_bank_account", source_id=bank["source_id"])
    session.pass_time(4 * DAY)
    answer = await zelle(session, "get_transfer_request", request_id=asked["request_id"])
    assert answer["status"] == "pending"


async def test_paying_a_request_closes_it_and_cancelling_the_payment_reopens_it(
    session: Session,
) -> None:
    cabin = at("vrq", "priya-cabin")
    paid = await venmo(session, "respond_to_request", request_id=cabin, action="pay")
    assert paid["transaction"]["amount"] == 128.0
    again = await call_refused(
        session, "venmo", "respond_to_request", request_id=cabin, action="pay"
    )
    assert again["code"] == "REQUEST_NOT_PENDING" and again["status"] == "paid"
    shown = await venmo(session, "get_request", request_id=cabin)
    assert shown["transaction_id"] == paid["transaction_id"]
    await venmo(session, "cancel_transaction", transaction_id=paid["transaction_id"])
    assert (await venmo(session, "get_request", request_id=cabin))["status"] == "pending"
    session.pass_time(40 * DAY)
    assert (await venmo(session, "get_request", request_id=cabin))["status"] == "expired"


async def test_a_request_can_only_be_handled_by_the_right_side(session: Session) -> None:
    error = await call_refused(
        session, "zelle", "cancel_transfer_request", request_id=at("zrq", "glaze-march")
    )
    assert error["code"] == "WRONG_DIRECTION"
    error = await call_refused(
        session, "venmo", "respond_to_request", request_id=at("vrq", "ana-dog-food"), action="pay"
    )
    assert error["code"] == "WRONG_DIRECTION"


async def test_contacts_are_unique_and_past_requests_keep_them(session: Session) -> None:
    error = await call_refused(session, "venmo", "add_friend", name="Priya N.", username="@Priya-N")
    assert error["code"] == "DUPLICATE_CONTACT" and error["contact_id"] == PRIYA
    error = await call_refused(
        session, "zelle", "add_recipient", name="Ana", username="ana.r", phone="(503) 555-0110"
    )
    assert error["code"] == "DUPLICATE_CONTACT" and error["field"] == "phone"
    error = await call_refused(session, "zelle", "add_recipient", name="Kai", username="kai")
    assert error["code"] == "CONTACT_METHOD_REQUIRED"
    await venmo(session, "remove_contact", contact_id=PRIYA)
    error = await call_refused(session, "venmo", "send_money", contact_id=PRIYA, amount=1, note="x")
    assert error["code"] == "CONTACT_NOT_FOUND"
    request = await venmo(session, "get_request", request_id=at("vrq", "priya-cabin"))
    assert request["contact"]["name"] == "Priya Nair"
    error = await call_refused(
        session, "zelle", "remove_recipient", contact_id=at("zrc", "hannah_cole")
    )
    assert error["code"] == "CONTACT_IN_USE"


# -- Venmo's own -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("amount", "fee"), [(100, 1.75), (10, 0.25), (12.34, 0.25), (200, 3.5)])
async def test_an_instant_cash_out_costs_a_fee_and_arrives_at_once(
    session: Session, amount: float, fee: float
) -> None:
    bank = await checking(session)
    args = {"amount": amount, "source_id": at("vfs", "checking"), "transfer_type": "instant"}
    moved = await venmo(session, "transfer_to_bank", **args)
    assert (moved["fee"], moved["status"]) == (fee, "completed")
    assert await wallet(session) == 21460 - cents(amount)
    assert await checking(session) == bank + cents(amount) - cents(fee)


async def test_a_standard_cash_out_is_free_takes_two_days_and_can_be_cancelled(
    session: Session,
) -> None:
    bank = await checking(session)
    to = at("vfs", "checking")
    moved = await venmo(session, "transfer_to_bank", amount=50, source_id=to)
    second = await venmo(session, "transfer_to_bank", amount=60, source_id=to)
    cancelled = await venmo(session, "cancel_transaction", transaction_id=second["transaction_id"])
    assert cancelled["refunded_amount"] == 60.0
    assert moved["fee"] == 0
    assert await wallet(session) == 21460 - 5000
    assert await checking(session) == bank
    session.pass_time(2 * DAY)
    assert await checking(session, "venmo") == bank + 5000
    card = await call_refused(
        session, "venmo", "transfer_to_bank", amount=5, source_id=at("vfs", "amex")
    )
    assert card["code"] == "UNSUPPORTED_DESTINATION"
    more = await call_refused(session, "venmo", "transfer_to_bank", amount=500, source_id=to)
    # Meanwhile friends have paid what they were asked for.
    left = await wallet(session)
    assert left > 21460 - 5000
    assert more["code"] == "INSUFFICIENT_BALANCE" and cents(more["available"]) == left


@pytest.mark.parametrize("total", [100, 0.04, 88.41, 10.01])
@pytest.mark.parametrize("mine", [True, False])
async def test_a_group_split_adds_up_to_the_cent(
    session: Session, total: float, mine: bool
) -> None:
    people = [{"contact_id": c} for c in (PRIYA, BEN, JORDAN)]
    group = await venmo(
        session,
        "create_group_payment",
        description="Split",
        total_amount=total,
        participants=people,
        include_me=mine,
    )
    shares = [cents(p["amount"]) for p in group["participants"]]
    if mine:
        shares.append(cents(group["own_share"]))
    assert sum(shares) == cents(total) and max(shares) - min(shares) <= 1
    listed = await venmo(session, "list_requests", direction="outgoing", status="pending")
    groups = [r["group_payment_id"] for r in listed["requests"]]
    assert groups.count(group["group_payment_id"]) == 3


async def test_named_shares_must_fit_the_total_and_settling_withdraws_the_rest(
    session: Session,
) -> None:
    people = [{"contact_id": PRIYA, "amount": 30}, {"contact_id": BEN, "amount": 30}]
    args = {"description": "Dinner", "total_amount": 90, "participants": people}
    short = await call_refused(session, "venmo", "create_group_payment", **args)
    assert short["assigned"] == 60.0
    twice = await call_refused(
        session, "venmo", "create_group_payment", **{**args, "participants": people[:1] * 2}
    )
    assert twice["code"] == "DUPLICATE_PARTICIPANT"
    group = await venmo(session, "create_group_payment", **args, include_me=True)
    assert group["own_share"] == 30.0
    one = group["group_payment_id"]
    await venmo(session, "cancel_request", request_id=group["participants"][0]["request_id"])
    assert (await venmo(session, "remind_group_payment", group_payment_id=one))["reminded"] == [BEN]
    assert (await venmo(session, "remind_group_payment", group_payment_id=one))["skipped"] == [BEN]
    done = await venmo(session, "settle_group_payment", group_payment_id=one)
    assert [p["status"] for p in done["participants"]] == ["cancelled", "settled"]
    assert await wallet(session) == 21460
    again = await call_refused(session, "venmo", "settle_group_payment", group_payment_id=one)
    assert again["code"] == "GROUP_PAYMENT_CLOSED"


async def test_daily_card_spending_resets_the_next_day(session: Session) -> None:
    assert (await venmo(session, "get_debit_card_info"))["current_daily_spent"] == 9.4
    session.pass_time(DAY)
    assert (await venmo(session, "get_debit_card_info"))["current_daily_spent"] == 0.0


# -- Zelle's own -----------------------------------------------------------------------------------


async def test_the_daily_limit_counts_sent_money_but_not_cancelled_transfers(
    session: Session,
) -> None:
    assert (await zelle(session, "get_daily_limit"))["daily_remaining"] == 2313.6
    sent = await zelle(session, "send_transfer", contact_id=ANA, amount=2000, note="Deposit")
    over = await call_refused(session, "zelle", "send_transfer", contact_id=ANA, amount=400)
    assert over["code"] == "DAILY_LIMIT_EXCEEDED" and over["remaining"] == 313.6
    await zelle(session, "cancel_transfer", transaction_id=sent["transaction_id"])
    assert (await zelle(session, "get_daily_limit"))["daily_remaining"] == 2313.6
    session.pass_time(16 * HOUR)  # past midnight in Portland, 07:00 UTC
    assert (await zelle(session, "get_daily_limit"))["daily_spent"] == 0.0
    assert (await zelle(session, "get_monthly_limit"))["monthly_spent"] == 418.3


async def test_scheduled_payments_are_made_on_their_day(session: Session) -> None:
    plan = await zelle(
        session,
        "schedule_payment",
        contact_id=ANA,
        amount=40,
        scheduled_date="2026-03-16",
        note="Soap",
        recurring=True,
    )
    before = await checking(session)
    session.pass_time(DAY)
    assert await checking(session) == before
    session.pass_time(62 * DAY)  # until 2026-05-16
    listed = (await zelle(session, "list_scheduled_payments", status="all"))["scheduled_payments"]
    scheduled = {s["scheduled_payment_id"]: s for s in listed}
    soap = scheduled[plan["scheduled_payment_id"]]
    made_at = [
        (await zelle(session, "get_transfer", transaction_id=t))["created_at"]
        for t in soap["transaction_ids"]
    ]
    assert made_at == ["2026-03-16T13:00:00Z", "2026-04-16T13:00:00Z", "2026-05-16T13:00:00Z"]
    assert soap["next_date"] == "2026-06-16"
    assert scheduled[at("zsp", "hannah-chicago")]["status"] == "completed"
    start = iso(START)
    got = session.world.rows("zelle_transfers", "type='transfer_received' AND created_at>?", start)
    received = sum(row["amount"] for row in got)
    assert await checking(session) == before - 3 * 4000 - 13500 - 2 * 3500 + received
    later = [e for e in session.world.log(0) if e["at"] > "2026-03-15"]
    assert {e["cause"] for e in later if e["table"] == "zelle_scheduled"} == {"clock"}


async def test_scheduled_payments_that_are_over_are_listed_only_if_asked_for(
    session: Session,
) -> None:
    default = await zelle(session, "list_scheduled_payments")
    every = await zelle(session, "list_scheduled_payments", status="all")
    shown = [payment["status"] for payment in every["scheduled_payments"]]
    assert {"scheduled", "completed"} <= set(shown)
    still = [p for p in every["scheduled_payments"] if p["status"] == "scheduled"]
    assert default["scheduled_payments"] == still


async def test_a_scheduled_payment_beyond_the_limit_is_recorded_as_failed(session: Session) -> None:
    plan = await zelle(
        session, "schedule_payment", contact_id=ANA, amount=9000, scheduled_date="2026-03-15"
    )
    late = await call_refused(
        session, "zelle", "schedule_payment", contact_id=ANA, amount=1, scheduled_date="2026-03-14"
    )
    assert late["code"] == "INVALID_SCHEDULED_DATE" and late["today"] == "2026-03-14"
    before = await checking(session)
    session.pass_time(2 * DAY)
    listed = await zelle(session, "list_scheduled_payments", status="failed")
    (payment,) = listed["scheduled_payments"]
    assert payment["scheduled_payment_id"] == plan["scheduled_payment_id"]
    failed = await zelle(session, "get_transfer", transaction_id=payment["transaction_ids"][0])
    assert failed["status"] == "failed" and failed["failure"] == "DAILY_LIMIT_EXCEEDED"
    assert await checking(session) == before


async def test_a_cancelled_scheduled_payment_is_not_made(session: Session) -> None:
    await zelle(
        session, "cancel_scheduled_payment", scheduled_payment_id=at("zsp", "hannah-chicago")
    )
    before = await checking(session)
    session.pass_time(4 * DAY)
    assert await checking(session) == before
    error = await call_refused(
        session, "zelle", "cancel_scheduled_payment", scheduled_payment_id=at("zsp", "retreat-rest")
    )
    assert error["code"] == "SCHEDULED_PAYMENT_NOT_CANCELLABLE"


async def test_search_and_summary_agree(session: Session) -> None:
    both = {"date_from": "2026-02-17", "date_to": "2026-02-18"}
    hits = (await zelle(session, "search_transactions", query="ruiz", **both))["transactions"]
    assert [t["amount"] for t in hits] == [74.5, 74.5]
    assert [t["category"] for t in hits] == [None, "other"]
    before = await zelle(session, "get_spending_summary", **both)
    first = hits[0]["transaction_id"]
    await zelle(session, "categorize_transaction", transaction_id=first, category="other")
    after = await zelle(session, "get_spending_summary", **both)
    assert (before["total"], before["uncategorized"]) == (149.0, 74.5)
    assert (after["summary"]["other"], after["uncategorized"]) == (149.0, 0.0)
    error = await call_refused(
        session, "zelle", "search_transactions", date_from="2026-02-02", date_to="2026-02-01"
    )
    assert error["code"] == "INVALID_DATE_RANGE"
