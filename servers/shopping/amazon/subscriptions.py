"""Subscribe & Save: orders that are placed on schedule."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.errors import ServiceError
from servers.kit.listing import Listing
from servers.kit.service import Service, Setup, happens, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page, parse_time
from servers.shopping import _catalogue as catalogue
from servers.shopping import _mail as mail
from servers.shopping import _rules as rules
from servers.shopping._rules import DAY, AddressId, ProductId
from servers.shopping.amazon import _model as model
from servers.shopping.amazon._model import SHOP
from servers.shopping.amazon.orders import place

Frequency = Annotated[
    Literal["monthly", "biweekly", "quarterly"],
    Field(description="How often it is delivered: every 30, 14 or 90 days."),
]
Units = Annotated[int, Field(ge=1, le=12, description="Units per delivery.")]
SubscriptionId = Annotated[
    str, Field(max_length=64, description="subscription_id, from list_subscriptions.")
]
MyPayment = Annotated[
    str,
    Field(
        max_length=64,
        description="payment_method_id to charge each time; defaults to the default method.",
    ),
]
FREQUENCIES = {"biweekly": (14, 5), "monthly": (30, 10), "quarterly": (90, 5)}
"""By frequency: days between deliveries, percent off."""
CONSUMABLES = ("Beauty & Health", "Pets", "Baby", "Grocery")
"""Departments whose products can be subscribed to."""
LEAD = 4 * DAY
"""Seconds from the order to the promised delivery."""
TEA = seeded("azp", "tea-earl")


class Subscriptions(Service):
    """Products that are delivered regularly."""

    @reads(example={"product_id": TEA})
    def get_subscribe_save_options(self, product_id: ProductId) -> Json:
        """Return whether you can subscribe to a product, at which intervals and discounts.

        Also returns its current price, in cents.
        """
        row = catalogue.find_product(self, SHOP, product_id)
        offer = self._offer(row)
        options = []
        if offer is not None:
            options = [
                {"frequency": name, "every_days": days, "discount_percent": rate}
                for name, (days, rate) in FREQUENCIES.items()
            ]
        return {
            "product_id": product_id,
            "available": offer is not None,
            "frequencies": options,
            "base_price": offer["now"] if offer else None,
        }

    @writes(example={"product_id": TEA, "frequency": "monthly", "quantity": 2})
    def create_subscription(
        self,
        product_id: ProductId,
        frequency: Frequency,
        quantity: Units = 1,
        address_id: AddressId | None = None,
        payment_method_id: MyPayment | None = None,
    ) -> Json:
        """Subscribe to regular deliveries of a product, with free shipping.

        The first order is placed tomorrow, at that day's price less the discount.
        """
        row = catalogue.on_sale(self, SHOP, product_id)
        if self._offer(row) is None:
            message = f"Subscribe & Save is not available for {row['title']}."
            self.fail(
                "SUBSCRIPTION_UNAVAILABLE",
                message,
                "Check get_subscribe_save_options before subscribing.",
                product_id=product_id,
            )
        running = self.db.rows(
            "amazon_subscriptions", "product_id=? AND canceled_at IS NULL", product_id
        )
        if running:
            message = "You already have a subscription for this product."
            self.fail(
                "SUBSCRIPTION_EXISTS",
                message,
                "To change it, cancel it with cancel_subscription first.",
                subscription_id=running[0]["id"],
            )
        address = rules.find_address(self, SHOP, address_id)
        method = rules.find_method(self, SHOP, payment_method_id)
        rules.authorize(self, SHOP, method, 0)
        subscription = {
            "id": self.new_id("azb"),
            "product_id": product_id,
            "frequency": frequency,
            "quantity": quantity,
            "address_id": address["id"],
            "method_id": method["id"],
            "created_at": self.time,
            "next_at": iso(self.now + DAY),
        }
        plan = self.db.insert("amazon_subscriptions", subscription)
        said = self._mailed(plan, row)
        mail.tell(self, SHOP, "subscription_started", said, about=plan["id"])
        mail.remind(self, SHOP, plan, said)
        return self._plan_json(plan)

    @reads()
    def list_subscriptions(self, limit: Limit = 10, cursor: Cursor | None = None) -> Json:
        """Return subscriptions, active ones first, with prices in cents and their orders so far.

        Shows when the next order and delivery are due, and why the last order was skipped if it
        was.
        """
        rows = Listing(self.db, "amazon_subscriptions", by=model.RUNNING_FIRST)
        return page(rows, "subscriptions", limit, cursor, self._plan_json)

    @writes(
        example={"subscription_id": "${made.subscription_id}"},
        setup=(Setup("create_subscription", {"product_id": TEA, "frequency": "biweekly"}, "made"),),
        destructive=True,
    )
    def cancel_subscription(self, subscription_id: SubscriptionId) -> Json:
        """Cancel a subscription. Orders that it has already placed are not affected.

        Use cancel_order for those, while they are processing.
        """
        row = self.db.get("amazon_subscriptions", subscription_id)
        if row is None:
            message = f"There is no subscription with the ID {subscription_id!r}."
            self.fail(
                "SUBSCRIPTION_NOT_FOUND",
                message,
                "Use a subscription_id from list_subscriptions.",
                subscription_id=subscription_id,
            )
        if row["canceled_at"] is not None:
            message = f"This subscription was canceled on {row['canceled_at'][:10]}."
            self.fail(
                "SUBSCRIPTION_NOT_ACTIVE",
                message,
                "There is nothing left to cancel.",
                subscription_id=subscription_id,
            )
        said = self._mailed(row, catalogue.find_product(self, SHOP, row["product_id"]))
        self.db.update("amazon_subscriptions", subscription_id, canceled_at=self.time, next_at=None)
        mail.tell(self, SHOP, "subscription_canceled", said, about=subscription_id)
        return {"subscription_id": subscription_id, "canceled": True, "status": "canceled"}

    @happens("amazon_subscriptions.next_at")
    def place_subscribed(self, row: Row) -> None:
        """Place a subscription's order.

        One that cannot be placed is skipped, and the subscription says why.
        """
        skipped = None
        why = ""
        try:
            self._order(row, self.now)
        except ServiceError as refusal:
            skipped = refusal.code
            why = refusal.message
        days = FREQUENCIES[row["frequency"]][0]
        next_at = iso(self.now + days * DAY)
        self.db.update("amazon_subscriptions", row["id"], next_at=next_at, skipped=skipped)
        plan = row | {"next_at": next_at}
        said = self._mailed(plan, catalogue.find_product(self, SHOP, row["product_id"]))
        if skipped is not None:
            said |= {"why": why}
            mail.tell(self, SHOP, "subscription_skipped", said, about=row["id"])
        mail.remind(self, SHOP, plan, said)

    def _mailed(self, plan: Row, product: Row) -> Json:
        """Return the fields of what is mailed about a subscription."""
        return mail.plan_fields(self, SHOP, plan, product) | how_often(plan)

    def _offer(self, row: Row) -> dict[str, Any] | None:
        """Return the offer to subscribe to, or None.

        Only consumables without variants can be subscribed to, and only while Amazon itself ships
        the buy box.
        """
        item = catalogue.item_of(self, row)
        if catalogue.discontinued(self, row) or model.variants(self, row["id"]):
            return None
        if not item["food"] and item["department"] not in CONSUMABLES:
            return None
        box = model.buy_box(model.Offers(self).of(row["id"]))
        return box if box is not None and box["prime"] else None

    def _order(self, row: Row, moment: int) -> None:
        product = catalogue.on_sale(self, SHOP, row["product_id"])
        offer = model.find_offer(self, product["id"], None)
        model.check_stock(self, product, offer, None, row["quantity"])
        price = catalogue.offer_price(offer, moment)
        rate = FREQUENCIES[row["frequency"]][1]
        off = rules.percent(price, rate) * row["quantity"]
        line = {
            "product_id": product["id"],
            "variant_id": None,
            "seller_id": offer["seller_id"],
            "row": product,
            "offer": offer,
            "quantity": row["quantity"],
            "unit": price,
            "net": price * row["quantity"],
            "gift_wrap": False,
            "gift_message": None,
            "food": catalogue.item_of(self, product)["food"],
        }
        place(
            self,
            [line],
            [off],
            "standard",
            row["address_id"],
            row["method_id"],
            moment=moment,
            plan_id=row["id"],
        )

    def _plan_json(self, row: Row) -> Json:
        product = catalogue.find_product(self, SHOP, row["product_id"])
        box = model.buy_box(model.Offers(self).of(product["id"]))
        rate = FREQUENCIES[row["frequency"]][1]
        price = box["now"] if box else None
        query = "SELECT id FROM amazon_orders WHERE plan_id=? ORDER BY placed_at"
        order_ids = [order_id for (order_id,) in self.db.sql(query, row["id"])]
        return {
            "subscription_id": row["id"],
            "product_id": row["product_id"],
            "title": product["title"],
            "frequency": row["frequency"],
            "quantity": row["quantity"],
            "status": "canceled" if row["canceled_at"] else "active",
            "base_price": price,
            "discounted_price": price - rules.percent(price, rate) if price is not None else None,
            "discount_percent": rate,
            "address_id": row["address_id"],
            "payment_method_id": row["method_id"],
            "next_order_at": row["next_at"],
            "next_delivery_at": iso(parse_time(row["next_at"]) + LEAD) if row["next_at"] else None,
            "last_skipped": row["skipped"],
            "order_ids": order_ids,
            "created_at": row["created_at"],
            "canceled_at": row["canceled_at"],
        }


def how_often(plan: Row) -> Json:
    """Return the fields that say how often a subscription orders, and what it saves."""
    days, rate = FREQUENCIES[plan["frequency"]]
    return {"frequency": f"every {days} days", "saves": f"{rate}% on each order"}
