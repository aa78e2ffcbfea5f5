"""Checkout and what follows: history, pickup, cancelation, returns."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.values import Cursor, Date, Limit, iso, page
from servers.shopping import _baskets as baskets
from servers.shopping import _catalogue as catalogue
from servers.shopping import _coupons as coupons
from servers.shopping import _orders as life
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
    Field(max_length=64, description="window_id of get_delivery_windows, for same_day_delivery."),
]
DriveUpId = Annotated[
    str, Field(max_length=64, description="slot_id of get_drive_up_times, for drive_up.")
]
ReturnId = Annotated[str, Field(max_length=64, description="return_id, from list_my_returns.")]
ReturnWay = Annotated[
    Literal["in_store", "mail", "drive_up"],
    Field(description="Where it is handed in: at the desk, by mail, or from the car."),
]
VISA = seeded("tgm", "visa")
PLACED = (ADDED, Setup("checkout_order", {"payment_method_id": VISA}, "order"))
PREPARES = 2 * HOUR
"""Seconds until an order for pickup inside a store is ready."""
REDEEMED = "Redeemed"
GIVEN_BACK = "Points returned"
"""What the ledger calls points that were spent on an order, and those of them that came back."""
LONGER = 30
"""Days by which a RedCard prolongs the time for returns."""


def keep_points(svc: Service, order_id: str, at: str, points: int, what: str) -> None:
    """Enter points for an order, now or at a moment ahead."""
    svc.db.insert(
        "target_points",
        {"id": svc.new_id("tgq"), "at": at, "what": what, "points": points, "order_id": order_id},
    )


def points_of(svc: Service, row: dict[str, Any]) -> int:
    """Return the points that an order earns: one for each dollar spent on products, none with a RedCard or as no member."""
    method = svc.db.get("target_methods", row["method_id"]) or {}
    if method["type"] == "red_card" or rules.profile(svc, SHOP)["circle_since"] is None:
        return 0
    spent = sum(
        i["unit_price"] * i["quantity"] - i["discount"] for i in life.items(svc, SHOP, row["id"])
    )
    return spent // 100


def order_json(svc: Service, row: dict[str, Any]) -> dict[str, Any]:
    """Return an order for the agent."""
    found = life.items(svc, SHOP, row["id"])
    sums = life.sums(svc, SHOP, row)
    done = life.done(row, svc.time)
    cut = {"circle": sum(i["circle"] for i in found), "promo": sum(i["promo"] for i in found)}
    return {
        "order_id": row["id"],
        "status": life.status(row, svc.time),
        "fulfillment_type": row["fulfillment"],
        "items": [_item_json(svc, row, i, done is not None) for i in found],
        "subtotal": sums["subtotal"],
        "circle_discount": cut["circle"],
        "promo_discount": cut["promo"],
        "redcard_discount": sums["discount"] - sum(cut.values()),
        "fees": row["shipping"] + row["fees"],
        "tax": sums["tax"],
        "total": sums["total"],
        "charged": sums["charged"],
        "refunded": sums["refunded"],
        "transactions": [life.entry_json(e) for e in life.entries(svc, SHOP, row["id"])],
        "promo_code": row["code"],
        "circle_points_earned": 0
        if life.status(row, svc.time) in ("canceled", "expired", "lost")
        else points_of(svc, row),
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


def _item_json(
    svc: Service, row: dict[str, Any], item: dict[str, Any], done: bool
) -> dict[str, Any]:
    kept = ("product_id", "title", "quantity", "unit_price", "discount", "tax", "registry_id")
    opened = svc.db.rows("target_returns", "item_id=?", item["id"])
    last = life.return_by(row, return_days(svc, row, item)) if done else None
    return {k: item[k] for k in kept} | {
        "return_by": last,
        "return_id": opened[0]["id"] if opened else None,
    }


def return_days(svc: Service, row: dict[str, Any], item: dict[str, Any]) -> int | None:
    """Return for how many days an item can be returned: longer for the own brand, and for what a RedCard paid."""
    days = life_days(svc, catalogue.find_product(svc, SHOP, item["product_id"]))
    method = svc.db.get("target_methods", row["method_id"]) or {}
    return days + LONGER if days is not None and method["type"] == "red_card" else days


class Orders(Service):
    """What was checked out."""

    @writes(example={"payment_method_id": VISA}, setup=(ADDED,), destructive=True)
    def checkout_order(
        self,
        payment_method_id: PaymentId,
        address_id: AddressId | None = None,
        delivery_window_id: WindowId | None = None,
        drive_up_slot_id: DriveUpId | None = None,
    ) -> dict[str, Any]:
        """Check out the whole cart, which must have one fulfilment and store; charges the method, empties the cart, returns the order.

        Offers, then the promo code, then 5 percent with a RedCard are taken off. drive_up needs a slot, same_day_delivery a window;
        what is collected is held for three days and refunded if nobody comes.
        """
        method = rules.find_method(self, SHOP, payment_method_id)
        found, promo, why = model.priced(self, method)
        baskets.require_one_way(self, SHOP, found, "CART_EMPTY", "set_fulfillment_method")
        if promo is not None and why is not None:
            coupons.require(self, SHOP, promo, found)
        how = found[0]["fulfillment"]
        store = found[0]["store"]
        to = (
            rules.find_address(self, SHOP, address_id)
            if how in ("shipping", "same_day_delivery")
            else None
        )
        key = self.new_id("tgo")
        row: dict[str, Any] = {
            "id": key,
            "placed_at": self.time,
            "fulfillment": how,
            "method_id": method["id"],
            "shipping": 0,
            "fees": 0,
        }
        row |= {
            "store_id": store["id"] if store else None,
            "address_id": to["id"] if to else None,
            "code": promo["code"] if promo else None,
        }
        row |= self._moments(key, how, store, to, delivery_window_id, drive_up_slot_id)
        net = sum(x["net"] - x["promo"] for x in found)
        if how == "shipping" and net < model.FREE_FROM and method["type"] != "red_card":
            row["shipping"] = model.SHIPPING
        if how == "same_day_delivery":
            row["fees"] = model.SAME_DAY
        made = life.place(
            self, SHOP, row, [self._line(x) for x in found], (to or store or {})["state"]
        )
        self._after(made, found)
        return order_json(self, made)

    def _line(self, x: dict[str, Any]) -> dict[str, Any]:
        kept = {
            k: x[k]
            for k in (
                "product_id",
                "quantity",
                "food",
                "circle",
                "promo",
                "offer_id",
                "registry_id",
            )
        }
        return kept | {
            "title": x["row"]["title"],
            "unit_price": x["unit"],
            "discount": x["circle"] + x["promo"] + x["red_card"],
        }

    def _moments(
        self,
        key: str,
        how: str,
        store: dict[str, Any] | None,
        to: dict[str, Any] | None,
        window_id: str | None,
        slot_id: str | None,
    ) -> dict[str, Any]:
        if (window_id is not None and how != "same_day_delivery") or (
            slot_id is not None and how != "drive_up"
        ):
            message = f"{how} takes no such window."
            self.fail(
                "WINDOW_NOT_NEEDED",
                message,
                "Leave it out, or change the fulfilment with set_fulfillment_method.",
                fulfillment_type=how,
            )
        if store is None:
            return dict(
                life.parcel(self.now, ZoneInfo(rules.profile(self, SHOP)["timezone"]), (2, 5), key)
            )
        if how == "order_pickup":
            return dict(life.pickup(stores.next_opening(self, store, self.now + PREPARES)))
        tool = "get_drive_up_times" if how == "drive_up" else "get_delivery_windows"
        chosen = slot_id if how == "drive_up" else window_id
        if chosen is None:
            message = f"{how} needs a window of {store['name']}."
            self.fail("WINDOW_REQUIRED", message, f"Take one from {tool}.", store_id=store["id"])
        if to is not None:
            baskets.require_reach(self, SHOP, store, to)
        window = stores.find_window(
            self, SHOP, store, "pickup" if how == "drive_up" else "delivery", chosen, tool
        )
        moments = (
            life.pickup(window["start"])
            if how == "drive_up"
            else life.courier(self.now, window["start"], window["end"])
        )
        return {"slot_at": iso(window["start"])} | moments

    def _after(self, made: dict[str, Any], found: list[dict[str, Any]]) -> None:
        """Empty the cart, give points for what is delivered (at that moment)."""
        for x in found:
            self.db.delete("target_cart", x["id"])
        self.db.update("target_checkout", model.checkout(self)["id"], code=None)
        if made["done_at"] is not None:
            self._earn(made, made["done_at"])

    def _earn(self, row: dict[str, Any], at: str) -> None:
        points = points_of(self, row)
        if points:
            keep_points(self, row["id"], at, points, "Purchase")

    @reads(example={"since": "2026-01-01"})
    def list_order_history(
        self,
        since: Date | None = None,
        status: StateFilter | None = None,
        query: Query | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> dict[str, Any]:
        """Return past and present orders, latest first, in short: order_id, status, fulfilment, what was bought, total in cents."""
        rows = life.orders(self, SHOP, status, query, since)
        keys = ("order_id", "status", "fulfillment_type", "placed_at", "total", "refunded")

        def brief(row: dict[str, Any]) -> dict[str, Any]:
            whole = order_json(self, row)
            return {k: whole[k] for k in keys} | {
                "bought": [f"{i['quantity']} x {i['title']}" for i in whole["items"]]
            }

        return page(rows, "orders", limit, cursor, brief)

    @reads(example={"order_id": seeded("tgo", "windstorm")})
    def get_order_info(self, order_id: OrderId) -> dict[str, Any]:
        """Return an order in full: status, items, each kind of discount, charges and refunds, points, window or parcel, timeline."""
        return order_json(self, life.find_order(self, SHOP, order_id))

    @writes(
        example={"order_id": "${order.order_id}", "reason": "Wrong colour"},
        setup=PLACED,
        destructive=True,
    )
    def void_order(self, order_id: OrderId, reason: Reason) -> dict[str, Any]:
        """Cancel an order that is processing or preparing: the money goes back, points on their way are reversed, spent ones returned."""
        row, back = life.cancel(self, SHOP, order_id, reason, "ORDER_NOT_VOIDABLE")
        spent = earned = 0
        for entry in self.db.rows("target_points", "order_id=?", order_id):
            if entry["at"] > self.time:
                earned += entry["points"] if entry["what"] != GIVEN_BACK else 0
                self.db.delete("target_points", entry["id"])
            else:
                spent -= entry["points"]
        if spent:
            keep_points(self, order_id, self.time, spent, GIVEN_BACK)
        shown = {"order_id": order_id, "canceled": True, "status": life.status(row, self.time)}
        return shown | {"refund_amount": back, "circle_points_reversed": earned}

    @writes(example={"order_id": seeded("tgo", "ready-now")}, destructive=True)
    def check_in_at_store(self, order_id: OrderId) -> dict[str, Any]:
        """Say that you have arrived for a pickup or drive-up order that is ready; it is handed over and its points are credited."""
        row = life.hand_over(self, SHOP, order_id)
        for entry in self.db.rows(
            "target_points", "order_id=? AND at>? AND what=?", order_id, self.time, GIVEN_BACK
        ):
            self.db.delete("target_points", entry["id"])
        self._earn(row, self.time)
        return {
            "order_id": order_id,
            "status": life.status(row, self.time),
            "handed_over_at": row["done_at"],
        }

    # -- returns --------------------------------------------------------------------------------------------------
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
    ) -> dict[str, Any]:
        """Return all units of an item, once. The refund follows when Target has it: next day at a store or drive-up, eight days by mail.

        What was paid with Circle points comes back as points.
        """
        row = life.find_order(self, SHOP, order_id)
        mine = [i for i in life.items(self, SHOP, order_id) if i["product_id"] == product_id]
        if not mine:
            message = f"{product_id!r} was not bought with order {order_id}."
            self.fail(
                "ITEM_NOT_IN_ORDER", message, "get_order_info lists its items.", order_id=order_id
            )
        item = next(
            (i for i in mine if not self.db.rows("target_returns", "item_id=?", i["id"])), mine[0]
        )
        way = "store" if return_method == "in_store" else return_method
        made = life.open_return(self, SHOP, row, item, reason, way, return_days(self, row, item))
        if points_of(self, row):
            lost = (item["unit_price"] * item["quantity"] - item["discount"]) // 100
            keep_points(self, order_id, made["refunded_at"], -lost, "Return")
        spent = -sum(
            e["points"]
            for e in self.db.rows(
                "target_points", "order_id=? AND what IN (?,?)", order_id, REDEEMED, GIVEN_BACK
            )
        )
        short = min(life.item_paid(item) - life.return_sum(self, SHOP, made["id"]), spent)
        if short > 0:
            keep_points(self, order_id, made["refunded_at"], short, GIVEN_BACK)
        return self._return_json(made)

    @reads()
    def list_my_returns(self, limit: Limit = 20, cursor: Cursor | None = None) -> dict[str, Any]:
        """Return the returns begun so far, the latest first."""
        rows = self.db.rows("target_returns", order="requested_at DESC, rowid DESC")
        return page([self._return_json(r) for r in rows], "returns", limit, cursor)

    @reads(
        example={"return_id": "${mine.returns.0.return_id}"},
        setup=(Setup("list_my_returns", {}, "mine"),),
    )
    def get_return_info(self, return_id: ReturnId) -> dict[str, Any]:
        """Return how far a return is: requested, received or refunded, with the refund in cents and the day it is due."""
        return self._return_json(life.find_return(self, SHOP, return_id))

    def _return_json(self, row: dict[str, Any]) -> dict[str, Any]:
        item = self.db.get("target_order_items", row["item_id"]) or {}
        way = "in_store" if row["method"] == "store" else row["method"]
        shown = {
            "return_id": row["id"],
            "order_id": row["order_id"],
            "product_id": item["product_id"],
            "quantity": item["quantity"],
        }
        shown |= {
            "return_method": way,
            "reason": row["reason"],
            "status": life.return_status(row, self.time),
        }
        money = {
            "refund_amount": life.return_sum(self, SHOP, row["id"]),
            "refund_due_at": row["refunded_at"],
        }
        return shown | money | {"begun_at": row["requested_at"]}
