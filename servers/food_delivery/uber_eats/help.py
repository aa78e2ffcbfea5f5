"""Help with a delivered order: missing items and refunds."""

from __future__ import annotations

from servers.food_delivery import _orders as orders
from servers.food_delivery import _refunds as refunds
from servers.food_delivery._catalogue import PlainItem
from servers.food_delivery._orders import OrderId
from servers.food_delivery._refunds import Concerned, Details, Problem
from servers.food_delivery.uber_eats._model import WORDS, outcomes
from servers.kit.control import seeded
from servers.kit.listing import Since, Until
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit

DAYS = 7
"""Days after the delivery in which help can be asked for."""
LUNCH = seeded("ueo", "latest-lunch")
FALAFEL = {"item_id": "uei_f8d039edd0", "quantity": 1}


class Help(Service):
    """What can be asked for after a delivery."""

    def _ask(self, row: Row, problem: str, items: list[PlainItem], details: str | None) -> Json:
        taken_back = []
        for line, result in outcomes(self, row):
            if result is not None and result.state == "refunded":
                taken_back.append(line["item_id"])
        asked = refunds.request(
            self, WORDS, row, problem, items, details, days=DAYS, taken_back=taken_back
        )
        return refunds.request_json(self, WORDS, asked)

    @writes(example={"order_id": LUNCH, "items": [FALAFEL]})
    def report_order_missing_items(
        self, order_id: OrderId, items: Concerned, details: Details | None = None
    ) -> Json:
        """Report what was missing from a delivered order within 7 days, to get it refunded.

        The prices of the items and their tax go back to the card within minutes. Items that a
        shopper has already refunded cannot be reported. list_refund_requests shows the outcome.
        """
        row = orders.find_order(self, WORDS, order_id)
        return self._ask(row, "missing_items", items, details)

    @writes(example={"order_id": LUNCH, "problem": "never_arrived"})
    def request_order_refund(
        self,
        order_id: OrderId,
        problem: Problem,
        items: Concerned | None = None,
        details: Details | None = None,
    ) -> Json:
        """Ask for money back after a delivery, at most 7 days later.

        wrong_items and poor_quality name items, and return all or half of what they cost;
        never_arrived is about everything that was charged. It is decided within a day.
        """
        refunds.need_items(self, WORDS, problem, items)
        row = orders.find_order(self, WORDS, order_id)
        return self._ask(row, problem, items or [], details)

    @reads(example={"limit": 5})
    def list_refund_requests(
        self,
        order_id: OrderId | None = None,
        from_date: Since | None = None,
        to_date: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """List what was asked back, the newest first: status, refund in dollars, decision_by.

        A request is in_review until it is refunded or declined.
        """
        return refunds.listed(self, WORDS, order_id, from_date, to_date, limit, cursor)
