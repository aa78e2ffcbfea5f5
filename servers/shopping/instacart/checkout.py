"""From a cart to the door: checkout, orders, tips, ratings and issues."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.fields import card_expired
from servers.kit.geo import miles
from servers.kit.listing import Listing, Since, Until
from servers.kit.noise import share
from servers.kit.service import Setup, happens, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page, parse_time
from servers.shopping.instacart import _mail as mail
from servers.shopping.instacart import _orders as orders
from servers.shopping.instacart._model import CartId, OrderId, ProductId, find_store, profile
from servers.shopping.instacart.carts import CART, OATS, Carts
from servers.shopping.instacart.stores import RADIUS, Stores

AddressId = Annotated[str, Field(description="address_id, from list_drop_off_addresses.")]
PaymentId = Annotated[str, Field(description="payment_method_id, from list_payment_options.")]
WindowId = Annotated[
    str, Field(description="window_id, from get_delivery_slots of the cart's store.")
]
Tip = Annotated[
    int, Field(ge=0, le=20_000, description="Tip for the shopper in cents (0 to 20000).")
]
Reason = Annotated[
    str, Field(min_length=2, max_length=200, description="Why the order is being canceled.")
]
Stars = Annotated[int, Field(ge=1, le=5, description="Stars from 1 to 5.")]
Comment = Annotated[
    str, Field(max_length=500, description="Comment about the order; empty for none.")
]
Trouble = Annotated[
    Literal["missing_item", "damaged_item", "wrong_item", "poor_quality", "late_delivery", "other"],
    Field(description="What is wrong with the order."),
]
Story = Annotated[
    str,
    Field(
        min_length=5,
        max_length=500,
        description="What happened; call the products what the order calls them.",
    ),
]
Affected = Annotated[
    list[ProductId],
    Field(
        max_length=40,
        description="product_id of each affected item. "
        "Default: the items that the description mentions.",
    ),
]
OrderStatus = Annotated[
    Literal["received", "shopping", "delivering", "delivered", "canceled"],
    Field(description="Only orders with this status."),
]
DELIVERED = seeded("ico", "recent")
FILLED = (
    Setup("add_grocery_item", {"cart_id": CART, "product_id": OATS, "quantity": 6}),
    Setup(
        "get_delivery_slots",
        {"store_id": seeded("ics", "new_seasons"), "date": "2026-03-17"},
        "slots",
    ),
)
ORDER = {
    "cart_id": CART,
    "address_id": seeded("ica", "home"),
    "payment_method_id": seeded("icm", "visa"),
    "delivery_window_id": "${slots.slots.0.window_id}",
}
CANCEL_FEE = 500
TO_SHOP = "shopped=0 AND cancelled_at IS NULL"
"""Condition for orders whose shopper has not finished the list yet."""


class Checkout(Carts, Stores):
    """Orders, tips, ratings and issues."""

    @happens("instacart_orders.leaves_at", where=TO_SHOP)
    def finish_shopping(self, row: Row) -> None:
        """Let a shopper finish an order's list, with the stock level at the time."""
        orders.shop(self, row)
        mail.left_store(self, orders.find(self, row["id"]))

    def when_due(self, post: Row) -> Json | None:
        """Return what a post of a later moment says by now, or None if it is void."""
        return mail.due(self, post)

    @writes(example=ORDER, setup=FILLED)
    def checkout(
        self,
        cart_id: CartId,
        address_id: AddressId,
        payment_method_id: PaymentId,
        delivery_window_id: WindowId,
        tip: Tip = 200,
    ) -> Json:
        """Order a cart for a delivery slot and return the order; this closes the cart.

        Its pricing is in cents. The total is an estimate until the shopper is done: items that are
        not found are replaced or refunded, according to their preferences.
        """
        cart = self._cart(cart_id, change=True)
        shown = self._cart_json(cart)
        store = find_store(self, cart["store_id"])
        if not shown["items"]:
            hint = "Add products with add_grocery_item."
            self.fail("CART_EMPTY", f"Cart {cart_id} is empty.", hint, cart_id=cart_id)
        least = store["min_order"]
        subtotal = shown["subtotal"]
        if subtotal < least:
            message = f"{store['name']} has a minimum order of {least} cents."
            hint = "Add more products with add_grocery_item."
            self.fail("ORDER_MINIMUM_NOT_MET", message, hint, subtotal=subtotal, min_order=least)
        self._reaches(store, address_id)
        self._pays(payment_method_id)
        slot = self._slot(store, delivery_window_id)
        order_id = self.new_id("ico")
        row = {
            "id": order_id,
            "store_id": store["id"],
            "address_id": address_id,
            "card_id": payment_method_id,
            "coupon": cart["coupon"] if shown["discount"] else None,
            "discount": shown["discount"],
            "delivery_fee": slot["fee"],
            "service_fee": orders.service_fee(subtotal),
            "tip": tip,
            "window_id": slot["window_id"],
            "window_start": slot["start"],
            "window_end": slot["end"],
            "created_at": self.time,
            "shopper_id": self._shopper(store, order_id)["id"],
            "shopped": False,
            "cancel_fee": 0,
            **orders.timetable(order_id, self.now, parse_time(slot["start"])),
        }
        self.db.insert("instacart_orders", row)
        wishes = ("product_id", "quantity", "notes", "preference", "replacement_id")
        for item, line in zip(self._items(cart_id), shown["items"], strict=True):
            order_item = {
                "id": self.new_id("ici"),
                "order_id": order_id,
                "price": line["price"],
                **{k: item[k] for k in wishes},
            }
            self.db.insert("instacart_order_items", order_item)
        self.db.update("instacart_carts", cart_id, order_id=order_id)
        mail.placed(self, orders.find(self, order_id))
        return orders.order_json(self, orders.find(self, order_id))

    def _shopper(self, store: Row, order_id: str) -> Row:
        """Return the shopper for an order, from the store's city if there are any."""
        crew = self.db.rows("instacart_shoppers", "city=?", store["city"], order="rowid")
        if not crew:
            crew = self.db.rows("instacart_shoppers", order="rowid")
        return crew[int(share("shopper", order_id) * len(crew))]

    def _reaches(self, store: Row, address_id: str) -> None:
        """Fail if an address does not exist or is too far from the store."""
        row = self.db.get("instacart_addresses", address_id)
        if row is None:
            message = f"There is no address with the ID {address_id!r}."
            hint = "Use an address_id from list_drop_off_addresses."
            self.fail("ADDRESS_NOT_FOUND", message, hint, address_id=address_id)
        away = miles(store["lat"], store["lng"], row["lat"], row["lng"])
        if away > RADIUS:
            message = f"{store['name']} is {away} miles from {row['label']}, too far to deliver."
            hint = "Choose a store near the address with search_stores."
            self.fail("ADDRESS_OUT_OF_RANGE", message, hint, distance_miles=away)

    def _pays(self, payment_method_id: str) -> None:
        """Fail if a card does not exist or has expired."""
        row = self.db.get("instacart_cards", payment_method_id)
        if row is None:
            message = f"There is no card with the ID {payment_method_id!r}."
            hint = "Use a payment_method_id from list_payment_options."
            self.fail(
                "PAYMENT_METHOD_NOT_FOUND", message, hint, payment_method_id=payment_method_id
            )
        if card_expired(row["expires"], self.time):
            message = f"The {row['kind']} ending in {row['last_four']} expired in {row['expires']}."
            hint = "Choose another card or add one with add_payment_option."
            self.fail("PAYMENT_DECLINED", message, hint, expires=row["expires"])

    def _slot(self, store: Row, window_id: str) -> dict[str, Any]:
        """Return a slot that is still available; fail if it is not."""
        slot = next((s for s in self._slots(store) if s["window_id"] == window_id), None)
        if slot is None or not slot["available"]:
            why = "is not available at this store" if slot is None else "is full"
            message = f"Delivery slot {window_id!r} {why}."
            hint = "Choose an available slot from get_delivery_slots for the cart's store."
            self.fail("DELIVERY_WINDOW_UNAVAILABLE", message, hint, delivery_window_id=window_id)
        return slot

    # -- orders -----------------------------------------------------------------------------------
    @reads(example={"status": "delivered", "limit": 5})
    def list_orders(
        self,
        status: OrderStatus | None = None,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return orders, newest first, with status, store, item count, total in cents and slot."""
        rows = Listing(self.db, "instacart_orders", by="created_at")
        rows = rows.days(since, until, profile(self)["timezone"])
        if status is not None:
            rows = rows.keep(lambda row: orders.status(row, self.time) == status)
        return page(rows, "orders", limit, cursor, lambda r: orders.summary(self, r))

    @reads(example={"order_id": DELIVERED})
    def get_order_status(self, order_id: OrderId) -> Json:
        """Return an order in full: current status, shopper, slot, tip, items, rating and issues.

        `pricing` is in cents; `outcome` says what became of each item.
        """
        return orders.order_json(self, orders.find(self, order_id))

    @writes(
        example={"order_id": "${placed.order_id}", "reason": "Ordered twice"},
        setup=(*FILLED, Setup("checkout", ORDER, "placed")),
        destructive=True,
    )
    def cancel_delivery(self, order_id: OrderId, reason: Reason) -> Json:
        """Cancel an order that has not left the store yet.

        This is free until the shopper starts, and costs 500 cents while they shop.
        """
        row = orders.find(self, order_id)
        state = orders.status(row, self.time)
        if state not in ("received", "shopping"):
            if state == "canceled":
                message = f"Order {order_id} is already canceled."
                hint = "There is nothing left to do."
            else:
                message = f"Order {order_id} is {state} and can no longer be canceled."
                hint = "After the delivery, report problems with report_issue."
            self.fail("ORDER_NOT_CANCELLABLE", message, hint, order_id=order_id, order_status=state)
        fee = CANCEL_FEE if state == "shopping" else 0
        self.db.update(
            "instacart_orders",
            order_id,
            cancelled_at=self.time,
            cancel_reason=reason,
            cancel_fee=fee,
        )
        said = mail.fields(self, row) | {"reason": reason, "fee": fee or None}
        mail.tell(self, "order_canceled", said, about=order_id)
        return {"order_id": order_id, "canceled": True, "fee": fee, "status": "canceled"}

    @writes(example={"order_id": DELIVERED, "new_tip": 900}, idempotent=True)
    def update_tip(self, order_id: OrderId, new_tip: Tip) -> Json:
        """Raise or lower the tip of an order, in cents, until 24 hours after its delivery."""
        row = orders.find(self, order_id)
        over = self.now - parse_time(row["arrives_at"]) > orders.DAY
        if row["cancelled_at"] is not None or over:
            if row["cancelled_at"]:
                message = f"Order {order_id} was canceled."
            else:
                message = f"Order {order_id} was delivered at {row['arrives_at']}."
            hint = "A tip can be changed until 24 hours after the delivery."
            self.fail("TIP_WINDOW_CLOSED", message, hint, order_id=order_id, tip=row["tip"])
        if row["tip"] != new_tip:
            self.db.update("instacart_orders", order_id, tip=new_tip)
            said = mail.fields(self, orders.find(self, order_id))
            # Before the delivery, nothing has been charged yet.
            more = new_tip - row["tip"] if self.time >= row["arrives_at"] else 0
            said |= {"before": row["tip"], "after": new_tip}
            said |= {"more": max(more, 0), "back": max(-more, 0)}
            mail.tell(self, "tip_changed", said, about=order_id)
        total = orders.pricing(self, orders.find(self, order_id))["total"]
        return {"order_id": order_id, "old_tip": row["tip"], "new_tip": new_tip, "new_total": total}

    @writes(example={"order_id": DELIVERED, "rating": 4, "comment": "Good pears"}, idempotent=True)
    def rate_order(self, order_id: OrderId, rating: Stars, comment: Comment | None = None) -> Json:
        """Rate an order within 30 days of delivery, replacing any earlier rating and comment."""
        row = orders.delivered(self, order_id, 30 * orders.DAY, "rate it")
        if (row["rating"], row["comment"]) != (rating, comment or None):
            self.db.update(
                "instacart_orders",
                order_id,
                rating=rating,
                comment=comment or None,
                rated_at=self.time,
            )
            row = orders.find(self, order_id)
        return {
            "order_id": order_id,
            "rating": rating,
            "comment": row["comment"],
            "created_at": row["rated_at"],
        }

    # -- issues -----------------------------------------------------------------------------------
    @writes(
        example={
            "order_id": DELIVERED,
            "issue_type": "damaged_item",
            "description": "The eggs were broken, all but two",
        },
    )
    def report_issue(
        self,
        order_id: OrderId,
        issue_type: Trouble,
        description: Story,
        product_ids: Affected | None = None,
    ) -> Json:
        """Report a problem with an order within 7 days of its delivery, once for each item.

        It is decided within two hours. Items that are named are refunded, less their share of a
        coupon; for a late delivery, the delivery fee is refunded if the order came after the slot.
        The issue names items by the product_id that was ordered, even if a replacement came.
        """
        orders.delivered(self, order_id, 7 * orders.DAY, "report an issue")
        lines = [i for i in orders.items(self, order_id) if i["outcome"] != "refunded"]
        # The product_id that was ordered, by what was delivered or ordered. What was ordered wins,
        # because a product may both be ordered and replace another.
        bought = {i["got_id"]: i["product_id"] for i in lines}
        bought |= {i["product_id"]: i["product_id"] for i in lines}
        if product_ids is not None:
            named = product_ids
        elif issue_type == "late_delivery":
            named = []
        else:
            named = orders.named_in(self, lines, description)
        strange = [p for p in named if p not in bought]
        if strange:
            message = f"Product {strange[0]!r} was not delivered with this order."
            hint = "get_order_status shows what was delivered."
            self.fail("ITEM_NOT_IN_ORDER", message, hint, product_id=strange[0])
        named = list(dict.fromkeys(bought[p] for p in named))
        again: set[str] = set()
        late_again = False
        for issue in orders.issues(self, order_id):
            again |= set(issue["product_ids"]) & set(named)
            if issue["issue_type"] == issue_type == "late_delivery":
                late_again = True
        if again or late_again:
            message = "This problem has already been reported."
            hint = "list_issues shows the reported issues."
            self.fail("ALREADY_REPORTED", message, hint, product_ids=sorted(again))
        row = {
            "id": self.new_id("icr"),
            "order_id": order_id,
            "issue_type": issue_type,
            "description": description,
            "product_ids": named,
            "created_at": self.time,
        }
        issue = self.db.insert("instacart_issues", row)
        mail.complained(self, issue)
        return orders.issue_json(self, issue)

    @reads(example={"limit": 5})
    def list_issues(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return reported issues, newest first, each with its refund in cents.

        `status` is received, refunded or declined.
        """
        rows = Listing(self.db, "instacart_issues", by="created_at")
        rows = rows.days(since, until, profile(self)["timezone"])
        return page(rows, "issues", limit, cursor, lambda r: orders.issue_json(self, r))
