"""Auto reorder: products that Walmart orders again on schedule, until paused or canceled."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.errors import ServiceError
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page, parse_time
from servers.shopping import _baskets as baskets
from servers.shopping import _catalogue as catalogue
from servers.shopping import _rules as rules
from servers.shopping._rules import DAY, AddressId, ProductId
from servers.shopping.walmart._model import SHOP
from servers.shopping.walmart.orders import place

Every = Annotated[int, Field(ge=7, le=180, description="Days between orders, 7 to 180.")]
Units = Annotated[int, Field(ge=1, le=12, description="Units per order.")]
Payment = Annotated[
    str,
    Field(
        max_length=64, description="payment_method_id to charge; defaults to the default method."
    ),
]
Paused = Annotated[
    bool, Field(description="true pauses the orders until it is set to false again.")
]
ReorderId = Annotated[str, Field(max_length=64, description="reorder_id, from list_auto_reorders.")]
BISCUITS = seeded("wmp", "dog-biscuits")
MADE = Setup("setup_auto_reorder", {"product_id": BISCUITS, "frequency_days": 21}, "made")


class Reorders(Service):
    """Products that are ordered again regularly."""

    @writes(example={"product_id": BISCUITS, "frequency_days": 30, "quantity": 2})
    def setup_auto_reorder(
        self,
        product_id: ProductId,
        frequency_days: Every,
        quantity: Units = 1,
        address_id: AddressId | None = None,
        payment_method_id: Payment | None = None,
    ) -> Json:
        """Order a product regularly, with free shipping, at the price of the day.

        The first order is placed one interval from now.
        """
        catalogue.on_sale(self, SHOP, product_id)
        where = "product_id=? AND canceled_at IS NULL"
        running = self.db.rows("walmart_reorders", where, product_id)
        if running:
            hint = "Change it with update_auto_reorder."
            self.fail(
                "REORDER_EXISTS",
                "You already have an auto reorder for this product.",
                hint,
                reorder_id=running[0]["id"],
            )
        address = rules.find_address(self, SHOP, address_id)
        method = rules.find_method(self, SHOP, payment_method_id)
        rules.authorize(self, SHOP, method, 0)
        row = {
            "id": self.new_id("wmb"),
            "product_id": product_id,
            "frequency_days": frequency_days,
            "quantity": quantity,
            "paused": False,
            "address_id": address["id"],
            "method_id": method["id"],
            "created_at": self.time,
            "next_at": iso(self.now + frequency_days * DAY),
        }
        return self._plan_json(self.db.insert("walmart_reorders", row))

    @reads()
    def list_auto_reorders(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return auto reorders, running ones first, with their interval, status and orders so far.

        Shows the current price in cents, when the next order is due, and why the last order was
        skipped if it was.
        """
        rows = self.db.rows("walmart_reorders", order="canceled_at IS NOT NULL, created_at, rowid")
        return page(rows, "auto_reorders", limit, cursor, self._plan_json)

    @writes(example={"reorder_id": "${made.reorder_id}", "paused": True}, setup=(MADE,))
    def update_auto_reorder(
        self,
        reorder_id: ReorderId,
        frequency_days: Every | None = None,
        quantity: Units | None = None,
        paused: Paused | None = None,
    ) -> Json:
        """Change the interval or quantity of an auto reorder, or pause or resume it; returns it.

        A new interval counts from now, and so does the interval after resuming.
        """
        row = self._running(reorder_id)
        if all(value is None for value in (frequency_days, quantity, paused)):
            self.fail(
                "NOTHING_TO_CHANGE",
                "No changes were given.",
                "Pass frequency_days, quantity or paused.",
            )
        days = frequency_days or row["frequency_days"]
        stopped = row["paused"] if paused is None else paused
        next_at = row["next_at"]
        if stopped:
            next_at = None
        elif row["paused"] or next_at is None or days != row["frequency_days"]:
            next_at = iso(self.now + days * DAY)
        self.db.update(
            "walmart_reorders",
            reorder_id,
            frequency_days=days,
            quantity=quantity or row["quantity"],
            paused=stopped,
            next_at=next_at,
        )
        return self._plan_json(self._running(reorder_id))

    @writes(example={"reorder_id": "${made.reorder_id}"}, setup=(MADE,), destructive=True)
    def cancel_auto_reorder(self, reorder_id: ReorderId) -> Json:
        """Cancel an auto reorder for good. Orders that it has already placed are not affected."""
        self._running(reorder_id)
        self.db.update("walmart_reorders", reorder_id, canceled_at=self.time, next_at=None)
        return {"reorder_id": reorder_id, "canceled": True, "status": "canceled"}

    def _running(self, reorder_id: str) -> Row:
        row = self.db.get("walmart_reorders", reorder_id)
        if row is None:
            message = f"There is no auto reorder with the ID {reorder_id!r}."
            self.fail(
                "REORDER_NOT_FOUND",
                message,
                "Use a reorder_id from list_auto_reorders.",
                reorder_id=reorder_id,
            )
        if row["canceled_at"] is not None:
            message = f"This auto reorder was canceled on {row['canceled_at'][:10]}."
            self.fail(
                "REORDER_CANCELED",
                message,
                "Create a new one with setup_auto_reorder.",
                reorder_id=reorder_id,
            )
        return row

    def due(self) -> bool:
        """Whether an auto reorder should have been placed by now."""
        query = "SELECT 1 FROM walmart_reorders WHERE next_at<=? LIMIT 1"
        return bool(self.db.sql(query, self.time))

    def tick(self) -> None:
        """Place the orders that are due, oldest first.

        One that cannot be placed is skipped, and the auto reorder says why.
        """
        while plan := self._next_due():
            skipped = None
            at = parse_time(plan["next_at"])
            try:
                self._order(plan, at)
            except ServiceError as refusal:
                skipped = refusal.code
            next_at = iso(at + plan["frequency_days"] * DAY)
            self.db.update("walmart_reorders", plan["id"], next_at=next_at, skipped=skipped)

    def _next_due(self) -> Row | None:
        """Return the auto reorder whose order has been due for longest, or None."""
        rows = self.db.rows(
            "walmart_reorders", "next_at<=?", self.time, order="next_at, rowid", limit=1
        )
        return rows[0] if rows else None

    def _order(self, plan: Row, at: int) -> None:
        row = catalogue.on_sale(self, SHOP, plan["product_id"])
        baskets.require_stock(self, SHOP, row, None, plan["quantity"])
        price = catalogue.listing_price(row, at)
        line = {
            "product_id": row["id"],
            "quantity": plan["quantity"],
            "substitution": "no_substitution",
            "fulfillment": "shipping",
            "row": row,
            "unit": price,
            "net": price * plan["quantity"],
            "food": catalogue.item_of(self, row)["food"],
        }
        place(
            self,
            [line],
            [0],
            plan["address_id"],
            plan["method_id"],
            moment=at,
            plan_id=plan["id"],
        )

    def _plan_json(self, row: Row) -> Json:
        product = catalogue.find_product(self, SHOP, row["product_id"])
        query = "SELECT id FROM walmart_orders WHERE plan_id=? ORDER BY placed_at"
        order_ids = [order_id for (order_id,) in self.db.sql(query, row["id"])]
        return {
            "reorder_id": row["id"],
            "product_id": row["product_id"],
            "name": product["title"],
            "frequency_days": row["frequency_days"],
            "quantity": row["quantity"],
            "paused": row["paused"],
            "address_id": row["address_id"],
            "created_at": row["created_at"],
            "status": _status(row),
            "payment_method_id": row["method_id"],
            "next_reorder_at": row["next_at"],
            "current_price": catalogue.listing_price(product, self.now),
            "last_skipped": row["skipped"],
            "order_ids": order_ids,
        }


def _status(row: Row) -> str:
    if row["canceled_at"]:
        return "canceled"
    return "paused" if row["paused"] else "active"
