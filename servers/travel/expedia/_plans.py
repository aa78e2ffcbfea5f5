"""Travel insurance: the plans, what they cost and what they pay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from servers.kit.service import Service
from servers.kit.values import iso, parse_time, round_cents
from servers.travel import _rules as rules

FREE_LOOK = 10 * rules.DAY
"""Seconds in which a premium is given back."""


@dataclass(frozen=True)
class Plan:
    """A plan of travel insurance.

    It costs `percent` of the trip, at least `least` cents, and pays `pays` percent of a lost
    prepayment.
    """

    name: str
    coverage: str
    percent: float
    least: int
    pays: int


PLANS = {
    "plan_medical": Plan(
        "Medical Only",
        "Medical emergencies up to $50,000; pays nothing for a cancelled stay.",
        3.5,
        900,
        0,
    ),
    "plan_cancel": Plan(
        "Cancellation Plan",
        "75% of what the hotel does not refund, for any reason, before check-in.",
        6.0,
        1400,
        75,
    ),
    "plan_complete": Plan(
        "Complete Protection",
        "All that the hotel does not refund, and medical emergencies up to $100,000.",
        9.5,
        2200,
        100,
    ),
}


def premium(plan: Plan, total: int) -> int:
    """Return what a plan costs, in cents, for a trip of `total` cents."""
    return max(plan.least, round_cents(total * plan.percent / 100))


def refundable_until(row: dict[str, Any]) -> str:
    """Return until when the premium of an insurance is refunded, as a time in UTC.

    It is never refunded after check-in, which the caller checks.
    """
    return iso(parse_time(row["bought_at"]) + FREE_LOOK)


def premium_back(svc: Service, row: dict[str, Any]) -> int:
    """Return the premium, in cents, that comes back now."""
    return row["price"] if svc.time <= refundable_until(row) else 0


def payout(row: dict[str, Any], lost: int) -> int:
    """Return what an insurance pays of a lost prepayment, in cents."""
    return round_cents(lost * PLANS[row["plan_id"]].pays / 100)
