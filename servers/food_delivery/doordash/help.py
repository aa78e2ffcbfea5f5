"""Help with a delivered order: missing items and refunds."""

from __future__ import annotations

from servers.food_delivery import _orders as orders
from servers.food_delivery import _refunds as refunds
from servers.food_delivery._orders import OrderId
from servers.food_delivery._refunds import Concerned, Details, Problem
from servers.food_delivery.doordash._model import WORDS, status
from servers.kit.control import seeded
from servers.kit.listing import Since, Until
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit

DAYS = 14
"""Days after the delivery in which help can be asked for."""
CAFE = seeded("ddo", "cafe-again")
LATTE = {"item_id": seeded("ddi", "hazel_hawthorne/latte"), "quantity": 1}


class Help(Service):
    """What can be asked for after a delivery."""

    def _order(self, order_id: str) -> Row:
        row = orders.find_order(self, WORDS, order_id)
        if status(self, row) in ("awaiting_claim", "expired"):
            message = f"Gift {order_id} was not delivered."
            hint = "A refund can be requested once the order has been delivered."
            self.fail("ORDER_NOT_DELIVERED", message, hint, order_id=order_id)
        return row

    @writes(example={"order_id": CAFE, "items": [LATTE]})
    def report_missing_items(
        self, order_id: OrderId, items: Concerned, details: Details | None = None
    ) -> Json:
        """Report items of a delivered order that were not in the bag, to have them refunded.

        It is possible within 14 days of the delivery. The items' prices with tax are refunded to
        the card, usually within minutes; get_refund_requests shows the outcome.
        """
        row = self._order(order_id)
        asked = refunds.request(self, WORDS, row, "missing_items", items, details, days=DAYS)
        return refunds.request_json(self, WORDS, asked)

    @writes(example={"order_id": CAFE, "problem": "wrong_items", "items": [LATTE]})
    def request_refund(
        self,
        order_id: OrderId,
        problem: Problem,
        items: Concerned | None = None,
        details: Details | None = None,
    ) -> Json:
        """Ask for a refund for a delivered order, within 14 days of the delivery.

        wrong_items refunds the named items, poor_quality half of their price, and never_arrived,
        which names no items, the whole order. The decision takes from half an hour to a day.
        """
        refunds.need_items(self, WORDS, problem, items)
        row = self._order(order_id)
        asked = refunds.request(self, WORDS, row, problem, items or [], details, days=DAYS)
        return refunds.request_json(self, WORDS, asked)

    @reads(example={"order_id": CAFE})
    def get_refund_requests(
        self,
        order_id: OrderId | None = None,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return refund requests, newest first, with status and refund in dollars.

        `status` is in_review, refunded or declined; decision_by is when it is decided.
        """
        return refunds.listed(self, WORDS, order_id, since, until, limit, cursor)
