"""What is particular to Vanguard: net asset values, several accounts, limits, and planning."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from servers.finance import _market as market
from servers.finance import _retirement as retirement
from servers.kit.control import make_id
from servers.kit.session import Session
from servers.kit.values import cents, parse_time
from tests.services.finance.support import ROWS, cash, of, until
from tests.support import call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio
BROKERAGE = make_id("vga", "maya", "brokerage")


@pytest.fixture
def session() -> Session:
    return new_session("vanguard")


async def held(session: Session, fund_id: str, **args: Any) -> float:
    positions = (await call_ok(session, "vanguard", "get_positions", **args))["positions"]
    return positions[fund_id]["quantity"] if fund_id in positions else 0.0


# -- funds ----------------------------------------------------------------------------------------


async def test_orders_before_four_get_todays_value_and_later_ones_tomorrows(
    session: Session,
) -> None:
    until(session, "2026-03-16T19:59:00Z")
    early = await call_ok(session, "vanguard", "buy_fund", fund_id="MTBIX", amount=100)
    assert early["status"] == "pending"
    assert early["executed_shares"] == 0.0
    assert early["estimated_shares"] == pytest.approx(9.94, abs=0.2)
    until(session, "2026-03-16T20:00:30Z")
    late = await call_ok(session, "vanguard", "buy_fund", fund_id="MTBIX", amount=100)
    until(session, "2026-03-17T20:00:00Z")
    shown = [
        await call_ok(session, "vanguard", "get_order", order_id=o["order_id"])
        for o in (early, late)
    ]
    assert [s["executed_at"] for s in shown] == ["2026-03-16T20:00:00Z", "2026-03-17T20:00:00Z"]
    for order, day in zip(shown, (date(2026, 3, 16), date(2026, 3, 17)), strict=True):
        assert order["nav_price"] == market.closing(ROWS["MTBIX"], day)
        assert order["executed_shares"] == round(order["executed_shares"], 3)
        assert 0 <= 100 - order["executed_amount"] < 0.02


async def test_an_order_can_be_canceled_until_its_value_is_set(session: Session) -> None:
    before = await cash(session, "vanguard")
    order = await call_ok(session, "vanguard", "buy_fund", fund_id="MTBIX", amount=60)
    assert (await cash(session, "vanguard"))["buying_power"] == before["buying_power"] - 6000
    await call_ok(session, "vanguard", "cancel_order", order_id=order["order_id"])
    assert await cash(session, "vanguard") == before
    late = await call_ok(session, "vanguard", "buy_fund", fund_id="MTBIX", amount=60)
    until(session, "2026-03-16T20:00:00Z")
    error = await call_refused(session, "vanguard", "cancel_order", order_id=late["order_id"])
    assert error["code"] == "ORDER_NOT_CANCELABLE" and error["status"] == "filled"


async def test_share_classes_have_their_own_minimums_for_a_first_purchase(session: Session) -> None:
    await call_ok(session, "vanguard", "contribute", amount=5000)
    admiral = await call_refused(session, "vanguard", "buy_fund", fund_id="MTMAX", amount=2999.99)
    assert admiral["code"] == "MINIMUM_INVESTMENT_NOT_MET"
    assert admiral["minimum_investment"] == 3000.0
    await call_ok(session, "vanguard", "buy_fund", fund_id="MTMAX", amount=3000)
    await call_ok(session, "vanguard", "buy_fund", fund_id="MTMIX", amount=1)
    reply = await call_ok(session, "vanguard", "compare_funds", fund_ids=["mtmix", "MTMAX"])
    compared = reply["funds"]
    assert [f["fund_id"] for f in compared] == ["MTMIX", "MTMAX"]
    assert compared[0]["expense_ratio"] > compared[1]["expense_ratio"]
    error = await call_refused(session, "vanguard", "compare_funds", fund_ids=["MTMAX", "mtmax"])
    assert error["code"] == "DUPLICATE_FUND"
    poor = await call_refused(session, "vanguard", "buy_fund", fund_id="MFHAX", amount=30000)
    assert poor["code"] == "INSUFFICIENT_SETTLEMENT_FUNDS"


async def test_a_sale_is_by_shares_or_by_amount(session: Session) -> None:
    shares = await held(session, "MRFFX")
    for args in ({}, {"shares": 1, "amount": 10}):
        error = await call_refused(session, "vanguard", "sell_fund", fund_id="MRFFX", **args)
        assert error["code"] == "INVALID_AMOUNT"
    error = await call_refused(
        session, "vanguard", "sell_fund", fund_id="MRFFX", shares=shares + 0.001
    )
    assert error["code"] == "INSUFFICIENT_SHARES"
    error = await call_refused(session, "vanguard", "sell_fund", fund_id="MRFFX", shares=0.0005)
    assert error["code"] == "INVALID_QUANTITY"
    before = await cash(session, "vanguard")
    await call_ok(session, "vanguard", "sell_fund", fund_id="MRFFX", amount=200)
    order = await call_ok(session, "vanguard", "sell_fund", fund_id="MRFFX", shares=1.5)
    until(session, "2026-03-16T20:00:00Z")
    sold = (await call_ok(session, "vanguard", "list_orders", limit=2))["orders"]
    assert sold[0]["order_id"] == order["order_id"] and sold[0]["executed_shares"] == 1.5
    total = sum(cents(o["executed_amount"]) for o in sold)
    assert (await cash(session, "vanguard"))["cash_balance"] == before["cash_balance"] + total
    unsettled = await call_refused(
        session, "vanguard", "withdraw", amount=(before["cash_balance"] + total) / 100
    )
    assert unsettled["code"] == "INSUFFICIENT_SETTLED_CASH"
    assert cents(unsettled["unsettled"]) == total
    until(session, "2026-03-17T13:30:00Z")
    gone = await call_ok(
        session, "vanguard", "withdraw", amount=(before["cash_balance"] + total) / 100
    )
    assert gone["early_withdrawal_penalty"] == (before["cash_balance"] + total) // 10 / 100, (
        "she is 34"
    )


@pytest.mark.parametrize(
    ("year", "fund"),
    [(2041, "MRFOX"), (2055, "MRFFX"), (2090, "MRFFX"), (2021, "MRXTX"), (2005, "MRINX")],
)
async def test_the_nearest_target_date_is_found(session: Session, year: int, fund: str) -> None:
    reply = await call_ok(session, "vanguard", "get_target_date_fund", retirement_year=year)
    assert reply["fund_id"] == fund


async def test_search_narrows_to_category_and_share_class(session: Session) -> None:
    reply = await call_ok(
        session,
        "vanguard",
        "search_stocks",
        query="meridian index",
        category="bond",
        share_class="investor",
    )
    assert [f["fund_id"] for f in reply["funds"]] == ["MTBIX"]
    funds = (await call_ok(session, "vanguard", "search_stocks", query="target", limit=20))["funds"]
    assert {f["fund_id"] for f in funds} >= {"MRINX", "MRTHX"}


# -- accounts -------------------------------------------------------------------------------------


async def test_accounts_keep_their_money_apart(session: Session) -> None:
    accounts = (await call_ok(session, "vanguard", "list_accounts"))["accounts"]
    assert [a["account_type"] for a in accounts] == ["rollover_ira", "brokerage"]
    assert accounts[0]["primary"]
    poor = await call_refused(
        session, "vanguard", "buy_fund", fund_id="MMKTX", amount=31, account_id=BROKERAGE
    )
    assert poor["code"] == "INSUFFICIENT_SETTLEMENT_FUNDS" and poor["buying_power"] == 30.0
    order = await call_ok(
        session, "vanguard", "buy_fund", fund_id="MMKTX", amount=30, account_id=BROKERAGE
    )
    assert order["account_id"] == BROKERAGE
    orders = (await call_ok(session, "vanguard", "list_orders", account_id=BROKERAGE))["orders"]
    assert orders[0]["order_id"] == order["order_id"]
    error = await call_refused(session, "vanguard", "get_positions", account_id="vga_none")
    assert error["code"] == "ACCOUNT_NOT_FOUND"


async def test_contributions_stop_at_the_limit_of_their_year(session: Session) -> None:
    await call_ok(session, "vanguard", "contribute", amount=7000, tax_year=2025)
    full = await call_refused(session, "vanguard", "contribute", amount=1, tax_year=2025)
    assert full["code"] == "CONTRIBUTION_LIMIT_EXCEEDED" and full["limit"] == 7000.0
    await call_ok(session, "vanguard", "contribute", amount=7500)
    reply = await call_ok(session, "vanguard", "list_contributions")
    room = {y["tax_year"]: y["remaining"] for y in reply["tax_years"]}
    assert room == {2026: 0.0, 2025: 0.0}
    free = await call_ok(session, "vanguard", "contribute", amount=20000, account_id=BROKERAGE)
    assert free["tax_year"] is None and free["status"] == "pending"
    error = await call_refused(
        session, "vanguard", "contribute", amount=1, tax_year=2026, account_id=BROKERAGE
    )
    assert error["code"] == "NOT_A_RETIREMENT_ACCOUNT"
    until(session, "2026-04-16T12:00:00Z")
    tax_years = (await call_ok(session, "vanguard", "list_contributions"))["tax_years"]
    assert [y["tax_year"] for y in tax_years] == [2026]


async def test_a_contribution_can_be_invested_at_once_but_not_withdrawn(session: Session) -> None:
    before = await cash(session, "vanguard")
    contribution = await call_ok(session, "vanguard", "contribute", amount=500)
    assert (await cash(session, "vanguard"))["buying_power"] == before["buying_power"] + 50_000
    error = await call_refused(
        session, "vanguard", "withdraw", amount=before["cash_balance"] / 100 + 1
    )
    assert error["code"] == "INSUFFICIENT_SETTLED_CASH"
    until(session, contribution["clears_at"])
    await call_ok(session, "vanguard", "withdraw", amount=before["cash_balance"] / 100 + 1)


def test_limits_and_distributions_depend_on_age() -> None:
    young = date(1991, 9, 23)
    fifty = date(1976, 12, 31)
    assert [retirement.limit(y, young) for y in (2025, 2026)] == [700_000, 750_000]
    assert [retirement.limit(y, fifty) for y in (2025, 2026)] == [700_000, 860_000], (
        "from the year of the fiftieth birthday"
    )
    assert retirement.limit(2026, young, "sep_ira") == 7_200_000
    assert retirement.rmd(72, 100_000) == (None, 0)
    assert retirement.rmd(73, 2_650_000) == (26.5, 100_000)
    assert retirement.rmd(120, 640) == (6.4, 100) and retirement.rmd(80, 2_020) == (20.2, 100)
    assert retirement.deadline(2025, date(1952, 4, 19)) == date(2026, 4, 1)
    assert retirement.deadline(2026, date(1952, 4, 19)) == date(2026, 12, 31)
    assert retirement.penalty_ends(date(1991, 9, 23)) == date(2051, 3, 23)
    assert retirement.penalty_ends(date(1960, 8, 31)) == date(2020, 2, 29)


# -- dividends and plans --------------------------------------------------------------------------


@pytest.mark.parametrize("reinvest", [True, False])
async def test_a_dividend_buys_shares_or_is_paid_in_cash(session: Session, reinvest: bool) -> None:
    await call_ok(
        session, "vanguard", "toggle_dividend_reinvestment", fund_id="MTBIX", reinvest=reinvest
    )
    positions = (await call_ok(session, "vanguard", "get_positions"))["positions"]
    assert positions["MTBIX"]["dividend_reinvest"] is reinvest
    until(session, "2026-04-03T16:00:00Z")
    shares = await held(session, "MTBIX")
    before = await cash(session, "vanguard")
    reply = await call_ok(session, "vanguard", "get_dividend_history", fund_id="MTBIX")
    paid = reply["dividends"][0]
    assert (paid["pay_date"], paid["status"], paid["order_id"]) == ("2026-04-06", "announced", None)
    assert paid["reinvested"] is reinvest
    until(session, "2026-04-06T20:01:00Z")
    reply = await call_ok(session, "vanguard", "get_dividend_history", fund_id="MTBIX")
    paid = reply["dividends"][0]
    assert paid["status"] == "paid"
    assert cents(paid["amount"]) == round(shares * paid["per_share"] * 100)
    after = await cash(session, "vanguard")
    if reinvest:
        order = await call_ok(session, "vanguard", "get_order", order_id=paid["order_id"])
        assert order["source"] == "dividend"
        assert order["amount"] == paid["amount"]
        assert order["executed_at"] == "2026-04-06T20:00:00Z"
        assert await held(session, "MTBIX") == pytest.approx(shares + order["executed_shares"])
        assert order["executed_shares"] > 0
        assert after["cash_balance"] - before["cash_balance"] in (0, 1), "a cent may be left over"
    else:
        assert await held(session, "MTBIX") == shares
        assert after["cash_balance"] == before["cash_balance"] + cents(paid["amount"])


async def test_the_reinvestment_choice_on_the_ex_date_applies(session: Session) -> None:
    until(session, "2026-03-26T16:00:00Z")
    await call_ok(
        session, "vanguard", "toggle_dividend_reinvestment", fund_id="MTBIX", reinvest=False
    )
    until(session, "2026-04-06T20:01:00Z")
    reply = await call_ok(session, "vanguard", "get_dividend_history", fund_id="MTBIX")
    dividends = reply["dividends"]
    assert dividends[0]["reinvested"] is True
    none = await call_refused(
        session, "vanguard", "toggle_dividend_reinvestment", fund_id="MTMAX", reinvest=False
    )
    assert none["code"] == "POSITION_NOT_FOUND"


async def test_automatic_purchases_continue_until_they_are_canceled(session: Session) -> None:
    plan = (await call_ok(session, "vanguard", "list_auto_investments"))["investments"][0]
    assert plan["fund_id"] == "MRFFX"
    assert plan["amount"] == 40.0
    assert plan["next_execution"] == "2026-03-23T14:00:00Z", "the 21st is a Saturday"
    until(session, "2026-03-23T20:00:00Z")
    bought = (await call_ok(session, "vanguard", "list_orders", limit=1))["orders"][0]
    assert bought["source"] == "recurring"
    assert bought["investment_id"] == plan["investment_id"]
    assert bought["status"] == "executed"
    again = (await call_ok(session, "vanguard", "list_auto_investments"))["investments"][0]
    assert again["purchases_made"] == plan["purchases_made"] + 1
    assert again["next_execution"] == "2026-04-21T14:00:00Z"
    await call_ok(session, "vanguard", "cancel_auto_invest", investment_id=plan["investment_id"])
    assert (await call_ok(session, "vanguard", "list_auto_investments"))["investments"] == []
    reply = await call_ok(session, "vanguard", "list_auto_investments", include_canceled=True)
    stopped = reply["investments"]
    assert [(p["investment_id"], p["status"]) for p in stopped] == [
        (plan["investment_id"], "canceled")
    ]


# -- allocation -----------------------------------------------------------------------------------


@pytest.mark.parametrize("stocks", [40, 50, 55, 60])
async def test_a_rebalance_reaches_the_target_and_never_overdraws_the_account(
    session: Session, stocks: int
) -> None:
    await call_ok(
        session,
        "vanguard",
        "set_target_allocation",
        stocks_percent=stocks,
        bonds_percent=100 - stocks,
        cash_percent=0,
    )
    preview = await call_ok(session, "vanguard", "get_rebalance_preview")
    sides = {t["action"]: t for t in preview["suggested_trades"]}
    assert sides["sell"]["fund_id"] == "MRFFX" and sides["buy"]["fund_id"] == "MTBIX"
    done = await call_ok(session, "vanguard", "execute_rebalance")
    assert done["trades"] == preview["suggested_trades"] and len(done["orders_placed"]) == 2
    error = await call_refused(session, "vanguard", "execute_rebalance")
    assert error["code"] == "REBALANCE_PENDING"
    until(session, "2026-03-16T20:00:00Z")
    after = await call_ok(session, "vanguard", "get_rebalance_preview")
    for name in ("stocks_percent", "bonds_percent", "cash_percent"):
        assert after["current_allocation"][name] == pytest.approx(
            after["target_allocation"][name], abs=2.5
        )
    reply = await cash(session, "vanguard")
    assert 0 <= reply["cash_balance"] <= 200, "all of it is spent, but not a cent more"


async def test_canceling_one_order_of_a_set_cancels_the_set(session: Session) -> None:
    before = await cash(session, "vanguard")
    order_ids = (await call_ok(session, "vanguard", "execute_rebalance"))["orders_placed"]
    gone = await call_ok(session, "vanguard", "cancel_order", order_id=order_ids[0])
    assert [gone["order_id"], *gone["also_canceled"]] == order_ids
    until(session, "2026-03-16T20:00:00Z")
    assert await cash(session, "vanguard") == before


async def test_targets_add_up_to_100_percent_and_are_set_per_account(session: Session) -> None:
    wrong = await call_refused(
        session,
        "vanguard",
        "set_target_allocation",
        stocks_percent=60,
        bonds_percent=30,
        cash_percent=9.99,
    )
    assert wrong["code"] == "INVALID_ALLOCATION" and wrong["total"] == 99.99
    unset = await call_ok(session, "vanguard", "get_target_allocation", account_id=BROKERAGE)
    assert unset["stocks_percent"] is None
    error = await call_refused(session, "vanguard", "get_rebalance_preview", account_id=BROKERAGE)
    assert error["code"] == "TARGET_ALLOCATION_NOT_SET"


# -- required distributions -----------------------------------------------------------------------


async def test_a_withdrawal_plan_pays_while_there_is_cash_and_records_failures() -> None:
    session = of("eleanor")
    start = await call_ok(session, "vanguard", "get_rmd_status")
    plan = await call_ok(
        session,
        "vanguard",
        "schedule_rmd_withdrawal",
        amount=9000,
        frequency="monthly",
        start_date="2026-10-15",
    )
    assert (plan["status"], plan["next_withdrawal"]) == ("active", "2026-10-15T14:00:00Z")
    until(session, "2026-11-16T16:00:00Z")
    out = (await call_ok(session, "vanguard", "list_withdrawals"))["withdrawals"][:2]
    assert [(w["status"], w["failure"]) for w in out] == [
        ("failed", "INSUFFICIENT_SETTLED_CASH"),
        ("completed", None),
    ]
    assert {w["schedule_id"] for w in out} == {plan["schedule_id"]}
    rmd = await call_ok(session, "vanguard", "get_rmd_status")
    assert rmd["withdrawn_this_year"] == start["withdrawn_this_year"] + 9000
    assert rmd["last_calculated_rmd"] == start["last_calculated_rmd"]
    await call_ok(session, "vanguard", "cancel_rmd_withdrawal", schedule_id=plan["schedule_id"])
    until(session, "2026-12-20T16:00:00Z")
    assert (await call_ok(session, "vanguard", "list_withdrawals"))["withdrawals"][:2] == out
    error = await call_refused(
        session, "vanguard", "cancel_rmd_withdrawal", schedule_id=plan["schedule_id"]
    )
    assert error["code"] == "SCHEDULE_NOT_FOUND"


async def test_the_next_year_requires_its_own_distribution() -> None:
    session = of("eleanor")
    await call_ok(session, "vanguard", "withdraw", amount=5000)
    until(session, "2027-01-04T15:00:00Z")
    status = await call_ok(session, "vanguard", "get_rmd_status")
    worked = await call_ok(session, "vanguard", "calculate_rmd")
    assert status["tax_year"] == 2027
    assert status["withdrawn_this_year"] == 0.0
    assert worked["life_expectancy_factor"] == 24.6
    assert parse_time("2027-01-04T15:00:00Z") <= session.control.now
    assert status["deadline"] == "2027-12-31"


async def test_distributions_can_be_calculated_for_other_people(session: Session) -> None:
    distribution = await call_ok(
        session, "vanguard", "calculate_rmd", birth_date="1953-06-01", account_balance=265000
    )
    assert distribution["age"] == 73
    assert distribution["rmd_amount"] == 10000.0
    assert distribution["deadline"] == "2027-04-01", "the first distribution may wait until April"
    assert (await call_ok(session, "vanguard", "calculate_rmd"))["rmd_amount"] == 0.0
    error = await call_refused(session, "vanguard", "calculate_rmd", birth_date="2030-01-01")
    assert error["code"] == "INVALID_BIRTH_DATE"
    past = await call_refused(
        session,
        "vanguard",
        "schedule_rmd_withdrawal",
        amount=5,
        frequency="monthly",
        start_date="2026-03-14",
    )
    assert past["code"] == "INVALID_START_DATE"
    error = await call_refused(session, "vanguard", "get_rmd_status", account_id=BROKERAGE)
    assert error["code"] == "RMD_NOT_APPLICABLE"
