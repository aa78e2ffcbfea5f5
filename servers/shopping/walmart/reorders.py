"""Auto reorder: products that Walmart orders again on schedule, until paused or canceled."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.errors import ServiceError
from servers.kit.service import Service, Setup, happens, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page
from servers.shopping import _baskets as baskets
from servers.shopping import _catalogue as catalogue
from servers.shopping import _mail as mail
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
        product = catalogue.on_sale(self, SHOP, product_id)
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
        plan = self.db.insert("walmart_reorders", row)
        said = _mailed(self, plan, product)
        mail.tell(self, SHOP, "reorder_started", said, about=plan["id"])
        mail.remind(self, SHOP, plan, said)
        return self._plan_json(plan)

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
        plan = self._running(reorder_id)
        if plan != row:
            said = _mailed(self, plan, catalogue.find_product(self, SHOP, plan["product_id"]))
            mail.tell(self, SHOP, "reorder_changed", said, about=reorder_id)
            mail.remind(self, SHOP, plan, said)
        return self._plan_json(plan)

    @writes(example={"reorder_id": "${made.reorder_id}"}, setup=(MADE,), destructive=True)
    def cancel_auto_reorder(self, reorder_id: ReorderId) -> Json:
        """Cancel an auto reorder for good. Orders that it has already placed are not affected."""
        plan = self._running(reorder_id)
        said = _mailed(self, plan, catalogue.find_product(self, SHOP, plan["product_id"]))
        mail.tell(self, SHOP, "reorder_canceled", said, about=reorder_id)
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

    @happens("walmart_reorders.next_at")
    def place_reorder(self, plan: Row) -> None:
        """Place the order of an auto reorder.

        One that cannot be placed is skipped, and the auto reorder says why.
        """
        skipped = None
        why = ""
        try:
            self._order(plan, self.now)
        except ServiceError as refusal:
            skipped = refusal.code
            why = refusal.message
        next_at = iso(self.now + plan["frequency_days"] * DAY)
        self.db.update("walmart_reorders", plan["id"], next_at=next_at, skipped=skipped)
        again = plan | {"next_at": next_at}
        said = _mailed(self, again, catalogue.find_product(self, SHOP, plan["product_id"]))
        if skipped is not None:
            mail.tell(self, SHOP, "reorder_skipped", said | {"why": why}, about=plan["id"])
        mail.remind(self, SHOP, again, said)

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


def _mailed(svc: Service, plan: Row, product: Row) -> Json:
    """Return the fields of what is mailed about an auto reorder."""
    return mail.plan_fields(svc, SHOP, plan, product) | how_often(plan)


def how_often(plan: Row) -> Json:
    """Return the fields that say how often an auto reorder orders, and whether it does."""
    return {"frequency": f"{plan['frequency_days']} days", "status": _status(plan)}


def _status(row: Row) -> str:
    if row["canceled_at"]:
        return "canceled"
    return "paused" if row["paused"] else "active"
