"""Travel insurance: the plans, their prices and their payouts."""

from __future__ import annotations

from dataclasses import dataclass

from servers.kit.service import Service
from servers.kit.types import Row
from servers.kit.values import iso, parse_time, round_cents
from servers.travel import _rules as rules

FREE_LOOK = 10 * rules.DAY
"""Seconds after purchase in which a premium is refunded."""


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
    """Return the premium of a plan for a trip of `total` cents, in cents."""
    return max(plan.least, round_cents(total * plan.percent / 100))


def refundable_until(row: Row) -> str:
    """Return the time (in UTC) until which the premium of an insurance is refundable.

    The caller checks that check-in is not over, after which no premium is refunded.
    """
    return iso(parse_time(row["bought_at"]) + FREE_LOOK)


def premium_back(svc: Service, row: Row) -> int:
    """Return the part of a premium that is refunded now, in cents."""
    return row["price"] if svc.time <= refundable_until(row) else 0


def payout(row: Row, lost: int) -> int:
    """Return the insurance payout for a lost prepayment, in cents."""
    return round_cents(lost * PLANS[row["plan_id"]].pays / 100)
