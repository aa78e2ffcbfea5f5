"""Checkout and what follows: order history, pickup, cancelation, returns."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.listing import Listing, Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page
from servers.shopping import _baskets as baskets
from servers.shopping import _catalogue as catalogue
from servers.shopping import _coupons as coupons
from servers.shopping import _mail as mail
from servers.shopping import _orders as life
from servers.shopping import _returns as returns
from servers.shopping import _rules as rules
from servers.shopping import _stores as stores
from servers.shopping._rules import (
    HOUR,
    AddressId,
    OrderId,
    PaymentId,
    ProductId,
    Query,
    Reason,
    StateFilter,
)
from servers.shopping.target import _model as model
from servers.shopping.target._model import SHOP
from servers.shopping.target.cart import ADDED
from servers.shopping.target.products import life_days

WindowId = Annotated[
    str,
    Field(
        max_length=64, description="window_id, from get_delivery_windows; for same_day_delivery."
    ),
]
DriveUpId = Annotated[
    str, Field(max_length=64, description="slot_id, from get_drive_up_times; for drive_up.")
]
ReturnId = Annotated[str, Field(max_length=64, description="return_id, from list_my_returns.")]
ReturnWay = Annotated[
    Literal["in_store", "mail", "drive_up"],
    Field(description="How to return it: at a store's service desk, by mail, or from your car."),
]
VISA = seeded("tgm", "visa")
PLACED = (ADDED, Setup("checkout_order", {"payment_method_id": VISA}, "order"))
PREPARES = 2 * HOUR
"""Seconds until an order for pickup inside a store is ready."""
REDEEMED = "Redeemed"
"""What the ledger of points calls points spent on an order."""
POINTS_RETURNED = "Points returned"
"""What the ledger calls points that were spent and came back."""
LONGER = 30
"""Days by which a RedCard extends the time for returns."""
TO_AN_ADDRESS = ("shipping", "same_day_delivery")
"""Fulfilments that need an address."""


def keep_points(svc: Service, order_id: str, at: str, points: int, what: str) -> Row:
    """Enter points for an order in the ledger, now or at a later moment; return the entry."""
    entry = {
        "id": svc.new_id("tgq"),
        "at": at,
        "what": what,
        "points": points,
        "order_id": order_id,
    }
    return svc.db.insert("target_points", entry)


def points_of(svc: Service, row: Row) -> int:
    """Return the points that an order earns: one for each dollar spent on products.

    Orders paid with a RedCard, or by an account without Circle membership, earn none.
    """
    method = svc.db.get("target_methods", row["method_id"]) or {}
    if method["type"] == "red_card" or rules.profile(svc, SHOP)["circle_since"] is None:
        return 0
    items = life.items(svc, SHOP, row["id"])
    return sum(net_price(item) for item in items) // 100


def net_price(item: Row) -> int:
    """Return the cents paid for an item, without tax."""
    return item["unit_price"] * item["quantity"] - item["discount"]


def order_json(svc: Service, row: Row) -> Json:
    """Return an order as JSON."""
    items = life.items(svc, SHOP, row["id"])
    sums = life.sums(svc, SHOP, row)
    done = life.done(row, svc.time)
    status = life.status(row, svc.time)
    circle = sum(item["circle"] for item in items)
    promo = sum(item["promo"] for item in items)
    earns = status not in ("canceled", "expired", "lost")
    return {
        "order_id": row["id"],
        "status": status,
        "fulfillment_type": row["fulfillment"],
        "items": [_item_json(svc, row, i, done is not None) for i in items],
        "subtotal": sums["subtotal"],
        "circle_discount": circle,
        "promo_discount": promo,
        "redcard_discount": sums["discount"] - circle - promo,
        "fees": row["shipping"] + row["fees"],
        "tax": sums["tax"],
        "total": sums["total"],
        "charged": sums["charged"],
        "refunded": sums["refunded"],
        "transactions": [life.entry_json(e) for e in life.entries(svc, SHOP, row["id"])],
        "promo_code": row["code"],
        "circle_points_earned": points_of(svc, row) if earns else 0,
        "payment_method_id": row["method_id"],
        "address_id": row["address_id"],
        "store_id": row["store_id"],
        "window": stores.slot_json(svc, SHOP, row),
        "ready_at": row["ready_at"],
        "pick_up_by": row["hold_until"],
        "expected_by": row["promised_by"],
        "completed_at": done,
        "tracking_number": life.tracking_number(row, svc.time),
        "timeline": life.events(svc, SHOP, row),
        "placed_at": row["placed_at"],
        "canceled_at": row["canceled_at"],
        "cancel_reason": row["cancel_reason"],
    }


def _item_json(svc: Service, row: Row, item: Row, done: bool) -> Json:
    opened = svc.db.rows("target_returns", "item_id=?", item["id"])
    return {
        "product_id": item["product_id"],
        "title": item["title"],
        "quantity": item["quantity"],
        "unit_price": item["unit_price"],
        "discount": item["discount"],
        "tax": item["tax"],
        "registry_id": item["registry_id"],
        "return_by": returns.return_by(row, return_days(svc, row, item)) if done else None,
        "return_id": opened[0]["id"] if opened else None,
    }


def return_days(svc: Service, row: Row, item: Row) -> int | None:
    """Return the number of days in which an item can be returned, or None for never.

    It is longer for the own brand and for orders paid with a RedCard.
    """
    days = life_days(svc, catalogue.find_product(svc, SHOP, item["product_id"]))
    method = svc.db.get("target_methods", row["method_id"]) or {}
    if days is not None and method["type"] == "red_card":
        days += LONGER
    return days


def _order_line(line: Row) -> Json:
    """Return a line of the cart as `life.place` takes it."""
    return {
        "product_id": line["product_id"],
        "quantity": line["quantity"],
        "food": line["food"],
        "circle": line["circle"],
        "promo": line["promo"],
        "offer_id": line["offer_id"],
        "registry_id": line["registry_id"],
        "title": line["row"]["title"],
        "unit_price": line["unit"],
        "discount": line["circle"] + line["promo"] + line["red_card"],
    }


class Orders(Service):
    """Orders and returns."""

    @writes(example={"payment_method_id": VISA}, setup=(ADDED,), destructive=True)
    def checkout_order(
        self,
        payment_method_id: PaymentId,
        address_id: AddressId | None = None,
        delivery_window_id: WindowId | None = None,
        drive_up_slot_id: DriveUpId | None = None,
    ) -> Json:
        """Check out the whole cart, charge the payment method, and return the order.

        All lines must have the same fulfilment and store. Circle offers are taken off first, then
        the promo code, then 5 percent with a RedCard. drive_up needs a slot and same_day_delivery a
        window. An order for pickup is held for three days and refunded if nobody collects it.
        """
        method = rules.find_method(self, SHOP, payment_method_id)
        cart, promo, refusal = model.priced(self, method)
        baskets.require_one_way(self, SHOP, cart, "CART_EMPTY", "set_fulfillment_method")
        if promo is not None and refusal is not None:
            coupons.require(self, SHOP, promo, cart)
        how = cart[0]["fulfillment"]
        store = cart[0]["store"]
        address = None
        if how in TO_AN_ADDRESS:
            address = rules.find_address(self, SHOP, address_id)
        order_id = self.new_id("tgo")
        order: dict[str, Any] = {
            "id": order_id,
            "placed_at": self.time,
            "fulfillment": how,
            "method_id": method["id"],
            "shipping": 0,
            "fees": 0,
            "store_id": store["id"] if store else None,
            "address_id": address["id"] if address else None,
            "code": promo["code"] if promo else None,
        }
        order |= self._moments(order_id, how, store, address, delivery_window_id, drive_up_slot_id)
        net = sum(line["net"] - line["promo"] for line in cart)
        if how == "shipping" and net < model.FREE_FROM and method["type"] != "red_card":
            order["shipping"] = model.SHIPPING
        if how == "same_day_delivery":
            order["fees"] = model.SAME_DAY
        state = (address or store or {})["state"]
        row = life.place(self, SHOP, order, [_order_line(line) for line in cart], state)
        self._after(row, cart)
        mail.placed(self, SHOP, order_id)
        self._tell_gifts(row, cart)
        return order_json(self, row)

    def _tell_gifts(self, row: Row, cart: list[Row]) -> None:
        """Mail which gifts of a registry an order holds."""
        by_registry: dict[str, list[str]] = {}
        for line in cart:
            if line["registry_id"] is not None:
                bought = f"{line['quantity']} x {line['row']['title']}"
                by_registry.setdefault(line["registry_id"], []).append(bought)
        for registry_id, bought in by_registry.items():
            registry = self.db.get("target_registries", registry_id) or {}
            said = {
                "name": registry["name"],
                "owner": registry["owner"] or "Your own registry",
                "items": bought,
                "order": row["id"],
            }
            mail.tell(self, SHOP, "gift_bought", said, about=row["id"])

    def _moments(
        self,
        order_id: str,
        how: str,
        store: Row | None,
        address: dict[str, Any] | None,
        window_id: str | None,
        slot_id: str | None,
    ) -> Json:
        """Return the moments of an order's life, or refuse a missing or unneeded time slot."""
        window_misplaced = window_id is not None and how != "same_day_delivery"
        slot_misplaced = slot_id is not None and how != "drive_up"
        if window_misplaced or slot_misplaced:
            message = f"{how} does not use this kind of time slot."
            self.fail(
                "WINDOW_NOT_NEEDED",
                message,
                "Leave it out, or change the fulfillment with set_fulfillment_method.",
                fulfillment_type=how,
            )
        if store is None:
            zone = ZoneInfo(rules.profile(self, SHOP)["timezone"])
            return dict(life.parcel(self.now, zone, (2, 5), order_id))
        if how == "order_pickup":
            return dict(life.pickup(stores.next_opening(self, store, self.now + PREPARES)))
        if how == "drive_up":
            window = self._window(how, store, address, "pickup", slot_id, "get_drive_up_times")
            moments = life.pickup(window["start"])
        else:
            window = self._window(
                how, store, address, "delivery", window_id, "get_delivery_windows"
            )
            moments = life.courier(self.now, window["start"], window["end"])
        return {"slot_at": iso(window["start"]), **moments}

    def _window(
        self,
        how: str,
        store: Row,
        address: dict[str, Any] | None,
        kind: stores.Kind,
        window_id: str | None,
        tool: str,
    ) -> dict[str, Any]:
        """Return the chosen window of a store, or refuse; `tool` shows the windows of this kind."""
        if window_id is None:
            message = f"{how} requires a time slot at {store['name']}."
            self.fail("WINDOW_REQUIRED", message, f"Choose one from {tool}.", store_id=store["id"])
        if address is not None:
            baskets.require_reach(self, SHOP, store, address)
        return stores.find_window(self, SHOP, store, kind, window_id, tool)

    def _after(self, row: Row, cart: list[Row]) -> None:
        """Empty the cart and enter the points that an order earns when it is delivered."""
        for line in cart:
            self.db.delete("target_cart", line["id"])
        self.db.update("target_checkout", model.checkout(self)["id"], code=None)
        if row["done_at"] is not None:
            self._earn(row, row["done_at"])

    def _earn(self, row: Row, at: str) -> None:
        points = points_of(self, row)
        if points:
            keep_points(self, row["id"], at, points, "Purchase")

    @reads(example={"since": "2026-01-01"})
    def list_order_history(
        self,
        since: Since | None = None,
        until: Until | None = None,
        status: StateFilter | None = None,
        query: Query | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return past and current orders, latest first: order_id, status, fulfilment, items bought.

        Totals are in cents.
        """
        rows = life.orders(self, SHOP, status, query, since, until)
        keys = ("order_id", "status", "fulfillment_type", "placed_at", "total", "refunded")

        def brief(row: Row) -> dict[str, Any]:
            shown = order_json(self, row)
            bought = [f"{item['quantity']} x {item['title']}" for item in shown["items"]]
            return {key: shown[key] for key in keys} | {"bought": bought}

        return page(rows, "orders", limit, cursor, brief)

    @reads(example={"order_id": seeded("tgo", "windstorm")})
    def get_order_info(self, order_id: OrderId) -> Json:
        """Return an order in full: status, items, discounts, charges and refunds, points, timeline.

        It also shows the window of a pickup or delivery, or the tracking number of a parcel.
        """
        return order_json(self, life.find_order(self, SHOP, order_id))

    @writes(
        example={"order_id": "${order.order_id}", "reason": "Wrong colour"},
        setup=PLACED,
        destructive=True,
    )
    def void_order(self, order_id: OrderId, reason: Reason) -> Json:
        """Cancel an order that is processing or preparing and refund it.

        Pending points are reversed, and points spent on the order are returned.
        """
        row, refunded = life.cancel(self, SHOP, order_id, reason, "ORDER_NOT_VOIDABLE")
        mail.canceled(self, SHOP, row, refunded)
        earned = 0
        spent = 0
        for entry in self.db.rows("target_points", "order_id=?", order_id):
            if entry["at"] <= self.time:
                spent -= entry["points"]
                continue
            if entry["what"] != POINTS_RETURNED:
                earned += entry["points"]
            self.db.delete("target_points", entry["id"])
        if spent:
            keep_points(self, order_id, self.time, spent, POINTS_RETURNED)
        return {
            "order_id": order_id,
            "canceled": True,
            "status": life.status(row, self.time),
            "refund_amount": refunded,
            "circle_points_reversed": earned,
        }

    @writes(example={"order_id": seeded("tgo", "ready-now")}, destructive=True)
    def check_in_at_store(self, order_id: OrderId) -> Json:
        """Tell the store that you have arrived for an order_pickup or drive_up order that is ready.

        The order is handed over, and its points are credited.
        """
        row = life.hand_over(self, SHOP, order_id)
        mail.collected(self, SHOP, row)
        # Points spent on the order would have come back if nobody had collected it.
        where = "order_id=? AND at>? AND what=?"
        for entry in self.db.rows("target_points", where, order_id, self.time, POINTS_RETURNED):
            self.db.delete("target_points", entry["id"])
        self._earn(row, self.time)
        return {
            "order_id": order_id,
            "status": life.status(row, self.time),
            "handed_over_at": row["done_at"],
        }

    # -- returns -----------------------------------------------------------------------------------
    @writes(
        example={
            "order_id": seeded("tgo", "returnable"),
            "product_id": seeded("tgp", "frames-4"),
            "reason": "One frame is bent",
        },
        destructive=True,
    )
    def begin_return(
        self,
        order_id: OrderId,
        product_id: ProductId,
        reason: Reason,
        return_method: ReturnWay = "in_store",
    ) -> Json:
        """Return all units of an item, once.

        The refund follows when Target has received the item: the next day at a store or by
        drive-up, after eight days by mail. Whatever was paid with Circle points is returned as
        points.
        """
        row = life.find_order(self, SHOP, order_id)
        item = self._item_to_return(order_id, product_id)
        way = "store" if return_method == "in_store" else return_method
        days = return_days(self, row, item)
        opened = returns.open_return(self, SHOP, row, item, reason, way, days)
        mail.returned(self, SHOP, opened)
        if points_of(self, row):
            lost = net_price(item) // 100
            keep_points(self, order_id, opened["refunded_at"], -lost, "Return")
        # Any part of the price that the refund does not cover was paid with points.
        unrefunded = returns.item_paid(item) - returns.return_sum(self, SHOP, opened["id"])
        points = min(unrefunded, self._points_spent(order_id))
        if points > 0:
            keep_points(self, order_id, opened["refunded_at"], points, POINTS_RETURNED)
        return self._return_json(opened)

    def _item_to_return(self, order_id: str, product_id: str) -> dict[str, Any]:
        """Return the item of an order that is this product, one not returned yet if possible."""
        items = [i for i in life.items(self, SHOP, order_id) if i["product_id"] == product_id]
        if not items:
            message = f"The product {product_id!r} is not part of order {order_id}."
            self.fail(
                "ITEM_NOT_IN_ORDER",
                message,
                "See get_order_info for the items in the order.",
                order_id=order_id,
            )
        for item in items:
            if not self.db.rows("target_returns", "item_id=?", item["id"]):
                return item
        return items[0]

    def _points_spent(self, order_id: str) -> int:
        """Return the points spent on an order, less those that came back or are about to."""
        where = "order_id=? AND what IN (?,?)"
        entries = self.db.rows("target_points", where, order_id, REDEEMED, POINTS_RETURNED)
        return -sum(entry["points"] for entry in entries)

    @reads()
    def list_my_returns(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the returns that you have begun, newest first."""
        rows = Listing(self.db, "target_returns", by="requested_at")
        rows = rows.days(since, until, rules.profile(self, SHOP)["timezone"])
        return page(rows, "returns", limit, cursor, self._return_json)

    @reads(
        example={"return_id": "${mine.returns.0.return_id}"},
        setup=(Setup("list_my_returns", {}, "mine"),),
    )
    def get_return_info(self, return_id: ReturnId) -> Json:
        """Return a return's status (requested, received or refunded), refund in cents, due date."""
        return self._return_json(returns.find_return(self, SHOP, return_id))

    def when_due(self, post: Row) -> Json | None:
        """Return what a post of a later moment says by now, or None if it is void."""
        return mail.due(self, SHOP, post, post["about"])

    def _return_json(self, row: Row) -> Json:
        item = self.db.get("target_order_items", row["item_id"]) or {}
        way = "in_store" if row["method"] == "store" else row["method"]
        return {
            "return_id": row["id"],
            "order_id": row["order_id"],
            "product_id": item["product_id"],
            "quantity": item["quantity"],
            "return_method": way,
            "reason": row["reason"],
            "status": returns.return_status(row, self.time),
            "refund_amount": returns.return_sum(self, SHOP, row["id"]),
            "refund_due_at": row["refunded_at"],
            "begun_at": row["requested_at"],
        }
