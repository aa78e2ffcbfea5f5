"""Orders: submitting, finding, canceling, collecting, and sending back; what happens when a store runs out."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.values import Cursor, Date, Limit, iso, page, parse_time
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
from servers.shopping.walmart import _model as model
from servers.shopping.walmart._model import SHOP, SlotId
from servers.shopping.walmart.basket import ADDED, DETERGENT, SLOTS
from servers.shopping.walmart.products import EASTPORT

ReturnId = Annotated[str, Field(max_length=64, description="return_id, from list_return_requests.")]
Way = Annotated[
    Literal["store", "mail"],
    Field(description="store: bring it to any store; mail: send it by parcel."),
]
VISA = seeded("wmm", "visa")
PLACED = (ADDED, Setup("submit_order", {"payment_method_id": VISA}, "order"))
DELIVERY_HOURS = 3
"""Hours within which a delivery comes."""
SHORT = 3
"""A store that holds fewer than this of an item may have sold it by the time the order is put together."""
FOR_PICKUP = (
    SLOTS,
    Setup(
        "add_item_to_basket",
        {
            "product_id": DETERGENT,
            "quantity": 1,
            "fulfillment_type": "pickup",
            "store_id": EASTPORT,
        },
    ),
)


def order_json(svc: Service, row: dict[str, Any]) -> dict[str, Any]:
    """Return an order for the agent."""
    return {
        "order_id": row["id"],
        "status": life.status(row, svc.time),
        "fulfillment_type": row["fulfillment"],
        "items": [item_json(svc, row, i) for i in life.items(svc, SHOP, row["id"])],
        **_bill(svc, row),
        "promo_code": row["code"],
        "address_id": row["address_id"],
        "store_id": row["store_id"],
        "pickup_slot": stores.slot_json(svc, SHOP, row),
        "ready_at": row["ready_at"],
        "held_until": row["hold_until"],
        "estimated_delivery": row["promised_by"],
        "completed_at": life.done(row, svc.time),
        "tracking_number": life.tracking_number(row, svc.time),
        "events": life.events(svc, SHOP, row),
        "payment_method_id": row["method_id"],
        "payments": [life.entry_json(e) for e in life.entries(svc, SHOP, row["id"])],
        "reorder_id": row["plan_id"],
        "placed_at": row["placed_at"],
        "canceled_at": row["canceled_at"],
        "cancel_reason": row["cancel_reason"],
    }


def _bill(svc: Service, row: dict[str, Any]) -> dict[str, int]:
    sums = life.sums(svc, SHOP, row)
    return {"shipping_fee" if k == "shipping" else k: v for k, v in sums.items() if k != "fees"}


def item_json(svc: Service, row: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
    """Return an item of an order: what became of it at the store, and until when it can be sent back."""
    product = catalogue.find_product(svc, SHOP, item["product_id"])
    settled = item["settled_at"] is not None and item["settled_at"] <= min(
        svc.time, row["canceled_at"] or svc.time
    )
    returned = svc.db.rows("walmart_returns", "item_id=?", item["id"])
    shown = {
        k: item[k] for k in ("product_id", "title", "quantity", "unit_price", "discount", "tax")
    }
    shown |= {
        "substitution_pref": item["substitution"],
        "outcome": item["outcome"] if settled else None,
    }
    shown["substitute_product_id"] = item["substitute_id"] if settled else None
    shown["return_by"] = (
        life.return_by(row, life.return_days(svc, SHOP, product))
        if life.done(row, svc.time)
        else None
    )
    return shown | {"return_id": returned[0]["id"] if returned else None}


class Orders(Service):
    """What was ordered."""

    @writes(example={"payment_method_id": VISA}, setup=(ADDED,), destructive=True)
    def submit_order(
        self,
        payment_method_id: PaymentId,
        address_id: AddressId | None = None,
        pickup_slot_id: SlotId | None = None,
    ) -> dict[str, Any]:
        """Order the whole basket at the prices of now, charge it and empty the basket; returns the order, all money in cents.

        Every line must have the same fulfilment and store. Pickup needs a slot, given or reserved. An item of which the store holds
        fewer than 3 may run out and is then substituted or refunded, as its substitution_pref says.
        """
        found = model.lines(self)
        baskets.require_one_way(self, SHOP, found, "BASKET_EMPTY", "choose_fulfillment")
        promo, why, off = model.code_state(self, found)
        if promo is not None and why is not None:
            coupons.require(self, SHOP, promo, found)
        store = found[0]["store"]
        if pickup_slot_id is not None and found[0]["fulfillment"] != "pickup":
            self.fail(
                "SLOT_NOT_NEEDED",
                "Only pickup takes a slot.",
                "Leave pickup_slot_id out or use choose_fulfillment.",
            )
        slot = self._slot(store, pickup_slot_id) if found[0]["fulfillment"] == "pickup" else None
        row = place(
            self,
            found,
            off,
            address_id,
            payment_method_id,
            store,
            slot,
            promo["code"] if promo else None,
        )
        for line in found:
            self.db.delete("walmart_basket", line["id"])
        cleared = {"code": None, "slot_store": None, "slot_at": None, "slot_until": None}
        self.db.update(
            "walmart_checkout", model.checkout(self)["id"], updated_at=self.time, **cleared
        )
        return order_json(self, row)

    def _slot(self, store: dict[str, Any], slot_id: str | None) -> dict[str, Any]:
        held = model.checkout(self)
        if (
            held["slot_at"] is not None
            and held["slot_until"] > self.time
            and held["slot_store"] == store["id"]
        ):
            start = parse_time(held["slot_at"])
            if slot_id in (None, stores.window_id(SHOP, store["id"], "pickup", start)):
                return {"start": start, "end": start + HOUR}
        if slot_id is None:
            message = "Pickup needs a slot of that store."
            self.fail(
                "SLOT_REQUIRED",
                message,
                "Pass pickup_slot_id from get_pickup_slots, or reserve one.",
                store_id=store["id"],
            )
        return stores.find_window(self, SHOP, store, "pickup", slot_id, "get_pickup_slots")

    @reads(example={"status": "delivered"})
    def list_purchases(
        self,
        query: Query | None = None,
        ordered_since: Date | None = None,
        status: StateFilter | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> dict[str, Any]:
        """Return orders from the newest on, each with order_id, status, items and total in cents; `query` is for what was bought."""
        found = life.orders(self, SHOP, status, query, ordered_since)
        return page(found, "orders", limit, cursor, self._summary)

    def _summary(self, row: dict[str, Any]) -> dict[str, Any]:
        bill = _bill(self, row)
        kept = ("product_id", "title", "quantity")
        return {
            "order_id": row["id"],
            "status": life.status(row, self.time),
            "fulfillment_type": row["fulfillment"],
            "placed_at": row["placed_at"],
            "items": [{k: i[k] for k in kept} for i in life.items(self, SHOP, row["id"])],
            "total": bill["total"],
            "refunded": bill["refunded"],
        }

    @reads(example={"order_id": seeded("wmo", "first-fryer")})
    def get_purchase_details(self, order_id: OrderId) -> dict[str, Any]:
        """Return one order whole: status now, items and what became of them, sums, charges and refunds, slot or parcel with its events."""
        return order_json(self, life.find_order(self, SHOP, order_id))

    @writes(
        example={"order_id": "${order.order_id}", "reason": "Found it at home"},
        setup=PLACED,
        destructive=True,
    )
    def cancel_purchase(self, order_id: OrderId, reason: Reason) -> dict[str, Any]:
        """Cancel an order that has not shipped, or is still being prepared, and refund it whole."""
        row, refunded = life.cancel(self, SHOP, order_id, reason, "ORDER_NOT_CANCELABLE")
        return {
            "order_id": row["id"],
            "canceled": True,
            "status": life.status(row, self.time),
            "refund_amount": refunded,
        }

    @writes(example={"order_id": seeded("wmo", "ready-now")}, destructive=True)
    def check_in_for_pickup(self, order_id: OrderId) -> dict[str, Any]:
        """Tell the store that you are there for an order that is ready; it is handed over. One not collected in 3 days is refunded."""
        row = life.hand_over(self, SHOP, order_id)
        return {
            "order_id": order_id,
            "status": life.status(row, self.time),
            "picked_up_at": row["done_at"],
        }

    @writes(
        example={
            "order_id": seeded("wmo", "returnable"),
            "product_id": seeded("wmp", "toaster-2"),
            "reason": "Burns one side",
        },
        destructive=True,
    )
    def initiate_return(
        self, order_id: OrderId, product_id: ProductId, reason: Reason, return_method: Way = "store"
    ) -> dict[str, Any]:
        """Open the return of an item, all its units, once; a store refunds on receipt, the next day; mail takes eight days."""
        row = life.find_order(self, SHOP, order_id)
        item = find_item(self, row, product_id)
        days = life.return_days(self, SHOP, catalogue.find_product(self, SHOP, product_id))
        return self._return_json(
            life.open_return(self, SHOP, row, item, reason, return_method, days)
        )

    @reads()
    def list_return_requests(
        self, limit: Limit = 20, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return every return that was opened, newest first: return_id, order, product, method, status and refund in cents."""
        found = self.db.rows("walmart_returns", order="requested_at DESC, rowid DESC")
        return page(found, "returns", limit, cursor, self._return_json)

    @reads(
        example={"return_id": "${all.returns.0.return_id}"},
        setup=(Setup("list_return_requests", {}, "all"),),
    )
    def get_return_request(self, return_id: ReturnId) -> dict[str, Any]:
        """Return one return with its status now and when its refund is due or was made."""
        return self._return_json(life.find_return(self, SHOP, return_id))

    def _return_json(self, row: dict[str, Any]) -> dict[str, Any]:
        item = self.db.get("walmart_order_items", row["item_id"]) or {}
        shown = {
            "return_id": row["id"],
            "order_id": row["order_id"],
            "product_id": item["product_id"],
            "name": item["title"],
        }
        shown |= {
            "reason": row["reason"],
            "method": row["method"],
            "status": life.return_status(row, self.time),
        }
        shown["refund_amount"] = life.return_sum(self, SHOP, row["id"])
        return shown | {"requested_at": row["requested_at"], "refund_due": row["refunded_at"]}


def find_item(svc: Service, row: dict[str, Any], product_id: str) -> dict[str, Any]:
    """Return the item of an order that is this product, or refuse."""
    found = next(
        (i for i in life.items(svc, SHOP, row["id"]) if i["product_id"] == product_id), None
    )
    if found is None:
        message = f"Product {product_id!r} is not part of order {row['id']}."
        svc.fail(
            "ITEM_NOT_IN_ORDER",
            message,
            "See get_purchase_details for its items.",
            order_id=row["id"],
            product_id=product_id,
        )
    return found


def place(
    svc: Service,
    found: list[dict[str, Any]],
    off: list[int],
    address_id: str | None,
    method_id: str,
    store: dict[str, Any] | None,
    slot: dict[str, Any] | None,
    code: str | None,
    *,
    moment: int | None = None,
    plan_id: str | None = None,
) -> dict[str, Any]:
    """Place an order of lines as `_model.lines` gives them, with cents off each, and return its row."""
    how = found[0]["fulfillment"]
    now = svc.now if moment is None else moment
    address = rules.find_address(svc, SHOP, address_id) if how != "pickup" else None
    rules.find_method(svc, SHOP, method_id)
    subtotal = sum(line["net"] for line in found) - sum(off)
    order: dict[str, Any] = {
        "id": svc.new_id("wmo"),
        "placed_at": iso(now),
        "fulfillment": how,
        "store_id": store["id"] if store else None,
        "fees": 0,
    }
    order |= {
        "address_id": address["id"] if address else None,
        "method_id": method_id,
        "code": code,
        "plan_id": plan_id,
    }
    order["shipping"] = 0 if plan_id else model.shipping_fee(svc, how, subtotal)
    if how == "shipping":
        order |= life.parcel(
            now, ZoneInfo(rules.profile(svc, SHOP)["timezone"]), (2, 4), order["id"]
        )
    elif slot is not None:
        order |= {"slot_at": iso(slot["start"])} | life.pickup(slot["start"])
    elif store is not None and address is not None:
        if subtotal < model.DELIVERY_MINIMUM:
            message = f"Delivery needs items for {model.DELIVERY_MINIMUM} cents."
            svc.fail(
                "MIN_ORDER_NOT_MET",
                message,
                "Add items, or choose pickup.",
                minimum=model.DELIVERY_MINIMUM,
                subtotal=subtotal,
            )
        baskets.require_reach(svc, SHOP, store, address)
        start = stores.next_opening(svc, store, now + HOUR, DELIVERY_HOURS)
        order |= life.courier(now, start, start + DELIVERY_HOURS * HOUR)
    lines = [
        {k: line[k] for k in ("product_id", "quantity", "substitution", "food")}
        | {"title": line["row"]["title"], "unit_price": line["unit"], "discount": cut}
        for line, cut in zip(found, off, strict=True)
    ]
    state = address["state"] if address else store["state"] if store else ""
    row = life.place(svc, SHOP, order, lines, state)
    if store is not None:
        _settle_short(svc, row, found, store)
    return row


def _settle_short(
    svc: Service, row: dict[str, Any], found: list[dict[str, Any]], store: dict[str, Any]
) -> None:
    """Decide what becomes of items that the store may run out of, for the moment at which the order is put together."""
    at = row["ready_at"] or row["out_at"]
    given = 0
    for item, line in zip(life.items(svc, SHOP, row["id"]), found, strict=True):
        if line["left"] >= SHORT:
            continue
        other = (
            _substitute(svc, line, store) if line["substitution"] == "allow_substitution" else None
        )
        paid = item["unit_price"] * item["quantity"] - item["discount"]
        back = paid + item["tax"]
        if other is not None:
            cheaper = max(paid - model.unit_price(svc, other, store) * item["quantity"], 0)
            back = cheaper + (item["tax"] * cheaper // paid if paid else 0)
        if back:
            life.charge(svc, SHOP, row, -back, f"{item['title']} was out", at=at, ref=item["id"])
        given += back
        outcome = {
            "outcome": "substituted" if other else "refunded",
            "substitute_id": other["id"] if other else None,
            "settled_at": at,
        }
        svc.db.update("walmart_order_items", item["id"], **outcome)
    life.lower_hold(svc, SHOP, row["id"], given)


def _substitute(svc: Service, line: dict[str, Any], store: dict[str, Any]) -> dict[str, Any] | None:
    """Return the product of the same category in the store whose price is nearest, None where there is none."""
    category = catalogue.item_of(svc, line["row"])["category"]
    rows = [
        r
        for r, what in catalogue.matching(svc, SHOP, None)
        if what["category"] == category and r["id"] != line["row"]["id"]
    ]
    rows = [
        r
        for r in rows
        if stores.shelf(svc, SHOP, r, store)["quantity"] >= max(line["quantity"], SHORT)
    ]
    return min(
        rows,
        key=lambda r: (abs(model.unit_price(svc, r, store) - line["unit"]), r["id"]),
        default=None,
    )
