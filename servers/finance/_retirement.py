"""The law of individual retirement accounts: contribution limits and required distributions."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from servers.finance import _calendar as calendar
from servers.finance._brokerage import Words
from servers.kit.service import Service
from servers.kit.types import Json
from servers.kit.values import dollars, round_cents
from servers.kit.zones import local_day, months_later

KINDS = ("traditional_ira", "roth_ira", "rollover_ira", "sep_ira")
DISTRIBUTED = ("traditional_ira", "rollover_ira", "sep_ira")
"""The kinds of accounts with required distributions."""
LIMITS = {2024: (700_000, 800_000), 2025: (700_000, 800_000), 2026: (750_000, 860_000)}
"""Contribution limits by tax year in cents: up to age 49, and from the year of turning 50."""
SEP_LIMITS = {2024: 6_900_000, 2025: 7_000_000, 2026: 7_200_000}
"""Cents that a business may contribute to its owner's SEP IRA, by tax year."""
CATCH_UP_AGE = 50
FIRST_RMD_AGE = 73
FACTORS = (
    *(27.4, 26.5, 25.5, 24.6, 23.7, 22.9, 22.0, 21.1, 20.2, 19.4, 18.5, 17.7, 16.8, 16.0, 15.2),
    *(14.4, 13.7, 12.9, 12.2, 11.5, 10.8, 10.1, 9.5, 8.9, 8.4, 7.8, 7.3, 6.8, 6.4),
)
"""Years from the uniform lifetime table for ages 72 to 100; the last applies to later ages too."""


def today(svc: Service) -> date:
    """Return today's date in New York."""
    return local_day(svc.now, calendar.NEW_YORK)


def limit(year: int, born: date, kind: str = "traditional_ira") -> int:
    """Return the cents that may be contributed for a tax year, across all accounts."""
    known = min(max(year, min(LIMITS)), max(LIMITS))
    if kind == "sep_ira":
        return SEP_LIMITS[known]
    younger, older = LIMITS[known]
    return older if year - born.year >= CATCH_UP_AGE else younger


def open_years(day: date) -> list[int]:
    """Return the tax years for which contributions can be made on a day.

    These are the current year and, until April 15, the previous one.
    """
    if (day.month, day.day) <= (4, 15):
        return [day.year, day.year - 1]
    return [day.year]


def contributed(svc: Service, words: Words, year: int) -> int:
    """Return the cents contributed for a tax year."""
    query = (
        f"SELECT coalesce(sum(amount),0) FROM {words.tables}_transfers "
        "WHERE direction='deposit' AND tax_year=? AND failed_at IS NULL"
    )
    return svc.db.sql(query, year)[0][0]


def check_contribution(
    svc: Service, words: Words, amount: int, tax_year: int | None, born: date, kind: str
) -> int:
    """Return the tax year of a contribution; fail if the year is closed or the limit exceeded."""
    years = open_years(today(svc))
    year = years[0] if tax_year is None else tax_year
    if year not in years:
        message = f"Contributions for {year} cannot be made today."
        hint = f"tax_year may be {' or '.join(map(str, years))}."
        svc.fail("INVALID_TAX_YEAR", message, hint, tax_year=year)
    paid_in = contributed(svc, words, year)
    most = limit(year, born, kind)
    if paid_in + amount > most:
        room = dollars(most - paid_in)
        message = (
            f"The contribution limit for {year} is ${dollars(most):,.2f}; "
            f"${dollars(paid_in):,.2f} has been contributed, which leaves ${room:,.2f}."
        )
        if year == years[0] and len(years) > 1:
            hint = f"Contribute less, or contribute for {years[1]} until April 15."
        else:
            hint = "Contribute less."
        svc.fail(
            "CONTRIBUTION_LIMIT_EXCEEDED",
            message,
            hint,
            tax_year=year,
            limit=dollars(most),
            remaining=room,
        )
    return year


def first_rmd_age(born: date) -> int:
    """Return the age from which distributions are required.

    It is 73, or 75 for people born in 1960 or later.
    """
    return FIRST_RMD_AGE + (2 if born.year >= 1960 else 0)


def rmd(age: int, balance: int, first_age: int = FIRST_RMD_AGE) -> tuple[float | None, int]:
    """Return (life expectancy factor, cents to withdraw) for the age reached in a year.

    Before the first age, the factor is None and the amount 0.
    """
    if age < first_age:
        return None, 0
    factor = FACTORS[min(age, 100) - 72]
    return factor, round_cents(Decimal(balance) / Decimal(str(factor)))


def deadline(year: int, born: date) -> date:
    """Return the day by which a year's distribution must be taken.

    This is the end of the year, except that the first distribution may wait until April 1 of the
    next year.
    """
    is_first = year - born.year == first_rmd_age(born)
    return date(year + 1, 4, 1) if is_first else date(year, 12, 31)


def penalty_ends(born: date) -> date:
    """Return the day from which withdrawals carry no penalty: the age of 59 and a half."""
    return months_later(born, 59 * 12 + 6)


def row_of_year(year: int, svc: Service, words: Words, born: date) -> Json:
    """Return the limit and the contributions for a tax year, in dollars."""
    paid_in = contributed(svc, words, year)
    most = limit(year, born)
    return {
        "tax_year": year,
        "limit": dollars(most),
        "contributed": dollars(paid_in),
        "remaining": dollars(max(most - paid_in, 0)),
    }
