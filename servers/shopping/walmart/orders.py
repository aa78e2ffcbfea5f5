"""Orders: submitting, finding, canceling, collecting, returning; items that a store runs out of."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.listing import Listing, Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page, parse_time
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
from servers.shopping.walmart import _model as model
from servers.shopping.walmart._model import SHOP, SlotId
from servers.shopping.walmart.basket import ADDED, DETERGENT, SLOTS
from servers.shopping.walmart.products import EASTPORT

ReturnId = Annotated[str, Field(max_length=64, description="return_id, from list_return_requests.")]
Way = Annotated[
    Literal["store", "mail"],
    Field(description="store: take it to any store; mail: send it by parcel."),
]
VISA = seeded("wmm", "visa")
PLACED = (ADDED, Setup("submit_order", {"payment_method_id": VISA}, "order"))
DELIVERY_HOURS = 3
"""Hours that a delivery window lasts."""
SHORT = 3
"""A store with fewer units than this runs out before an order is put together."""
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


def order_json(svc: Service, row: Row) -> Json:
    """Return an order as JSON."""
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


def _bill(svc: Service, row: Row) -> dict[str, int]:
    sums = life.sums(svc, SHOP, row)
    return {
        "subtotal": sums["subtotal"],
        "discount": sums["discount"],
        "shipping_fee": sums["shipping"],
        "tax": sums["tax"],
        "total": sums["total"],
        "charged": sums["charged"],
        "refunded": sums["refunded"],
    }


def item_json(svc: Service, row: Row, item: Row) -> Json:
    """Return an item of an order as JSON.

    It shows what became of the item at the store, and the last moment for returning it.
    """
    until = min(svc.time, row["canceled_at"] or svc.time)
    settled = item["settled_at"] is not None and item["settled_at"] <= until
    return_by = None
    if life.done(row, svc.time):
        product = catalogue.find_product(svc, SHOP, item["product_id"])
        return_by = returns.return_by(row, returns.return_days(svc, SHOP, product))
    opened = svc.db.rows("walmart_returns", "item_id=?", item["id"])
    return {
        "product_id": item["product_id"],
        "title": item["title"],
        "quantity": item["quantity"],
        "unit_price": item["unit_price"],
        "discount": item["discount"],
        "tax": item["tax"],
        "substitution_pref": item["substitution"],
        "outcome": item["outcome"] if settled else None,
        "substitute_product_id": item["substitute_id"] if settled else None,
        "return_by": return_by,
        "return_id": opened[0]["id"] if opened else None,
    }


class Orders(Service):
    """Orders and returns."""

    @writes(example={"payment_method_id": VISA}, setup=(ADDED,), destructive=True)
    def submit_order(
        self,
        payment_method_id: PaymentId,
        address_id: AddressId | None = None,
        pickup_slot_id: SlotId | None = None,
    ) -> Json:
        """Order the whole basket at current prices, charge it, and return the order, in cents.

        All lines must have the same fulfilment and store. Pickup needs a slot, either passed or
        reserved. If the store has fewer than 3 units of an item left, the item may run out; it is
        then substituted or refunded according to its substitution_pref.
        """
        basket = model.lines(self)
        baskets.require_one_way(self, SHOP, basket, "BASKET_EMPTY", "choose_fulfillment")
        promo, refusal, shares = model.code_state(self, basket)
        if promo is not None and refusal is not None:
            coupons.require(self, SHOP, promo, basket)
        store = basket[0]["store"]
        how = basket[0]["fulfillment"]
        if pickup_slot_id is not None and how != "pickup":
            self.fail(
                "SLOT_NOT_NEEDED",
                "Only pickup orders use a slot.",
                "Leave out pickup_slot_id, or switch to pickup with choose_fulfillment.",
            )
        slot = self._slot(store, pickup_slot_id) if how == "pickup" else None
        row = place(
            self,
            basket,
            shares,
            address_id,
            payment_method_id,
            store=store,
            slot=slot,
            code=promo["code"] if promo else None,
        )
        for line in basket:
            self.db.delete("walmart_basket", line["id"])
        self.db.update(
            "walmart_checkout",
            model.checkout(self)["id"],
            updated_at=self.time,
            code=None,
            slot_store=None,
            slot_at=None,
            slot_until=None,
        )
        return order_json(self, row)

    def _slot(self, store: Row, slot_id: str | None) -> Json:
        """Return the requested or reserved pickup slot, or refuse."""
        chosen = model.checkout(self)
        reserved = chosen["slot_at"] is not None and chosen["slot_until"] > self.time
        if reserved and chosen["slot_store"] == store["id"]:
            # A reserved slot stays valid even if it is full or no longer listed.
            start = parse_time(chosen["slot_at"])
            if slot_id in (None, stores.window_id(SHOP, store["id"], "pickup", start)):
                return {"start": start, "end": start + HOUR}
        if slot_id is None:
            message = "Pickup requires a slot at the store."
            self.fail(
                "SLOT_REQUIRED",
                message,
                "Pass a pickup_slot_id from get_pickup_slots, or call reserve_pickup_slot.",
                store_id=store["id"],
            )
        return stores.find_window(self, SHOP, store, "pickup", slot_id, "get_pickup_slots")

    @reads(example={"status": "delivered"})
    def list_purchases(
        self,
        query: Query | None = None,
        ordered_since: Since | None = None,
        ordered_until: Until | None = None,
        status: StateFilter | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return orders, newest first: order_id, status, items, total in cents.

        `query` searches the products in them.
        """
        rows = life.orders(self, SHOP, status, query, ordered_since, ordered_until)
        return page(rows, "orders", limit, cursor, self._summary)

    def _summary(self, row: Row) -> Json:
        bill = _bill(self, row)
        items = [
            {"product_id": i["product_id"], "title": i["title"], "quantity": i["quantity"]}
            for i in life.items(self, SHOP, row["id"])
        ]
        return {
            "order_id": row["id"],
            "status": life.status(row, self.time),
            "fulfillment_type": row["fulfillment"],
            "placed_at": row["placed_at"],
            "items": items,
            "total": bill["total"],
            "refunded": bill["refunded"],
        }

    @reads(example={"order_id": seeded("wmo", "first-fryer")})
    def get_purchase_details(self, order_id: OrderId) -> Json:
        """Return an order in full: current status, items, sums, charges, refunds, and events.

        Each item shows its outcome if the store ran out of it. Pickup orders show their slot.
        """
        return order_json(self, life.find_order(self, SHOP, order_id))

    @writes(
        example={"order_id": "${order.order_id}", "reason": "Found it at home"},
        setup=PLACED,
        destructive=True,
    )
    def cancel_purchase(self, order_id: OrderId, reason: Reason) -> Json:
        """Cancel an order that is still processing or preparing and refund it in full."""
        row, refunded = life.cancel(self, SHOP, order_id, reason, "ORDER_NOT_CANCELABLE")
        mail.canceled(self, SHOP, row, refunded)
        return {
            "order_id": row["id"],
            "canceled": True,
            "status": life.status(row, self.time),
            "refund_amount": refunded,
        }

    @writes(example={"order_id": seeded("wmo", "ready-now")}, destructive=True)
    def check_in_for_pickup(self, order_id: OrderId) -> Json:
        """Tell the store that you have arrived for an order that is ready; it is handed over.

        An order that is not collected within 3 days is refunded.
        """
        row = life.hand_over(self, SHOP, order_id)
        mail.collected(self, SHOP, row)
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
    ) -> Json:
        """Return an item of an order, all its units, once.

        A store refunds it the next day; by mail it takes eight days.
        """
        row = life.find_order(self, SHOP, order_id)
        item = find_item(self, row, product_id)
        days = returns.return_days(self, SHOP, catalogue.find_product(self, SHOP, product_id))
        opened = returns.open_return(self, SHOP, row, item, reason, return_method, days)
        mail.returned(self, SHOP, opened)
        return self._return_json(opened)

    @reads()
    def list_return_requests(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the returns that you opened, newest first, with status and refund in cents."""
        rows = Listing(self.db, "walmart_returns", by="requested_at")
        rows = rows.days(since, until, rules.profile(self, SHOP)["timezone"])
        return page(rows, "returns", limit, cursor, self._return_json)

    @reads(
        example={"return_id": "${all.returns.0.return_id}"},
        setup=(Setup("list_return_requests", {}, "all"),),
    )
    def get_return_request(self, return_id: ReturnId) -> Json:
        """Return a return with its current status and the date of its refund."""
        return self._return_json(returns.find_return(self, SHOP, return_id))

    def when_due(self, post: Row) -> Json | None:
        """Return what a post of a later moment says by now, or None if it is void."""
        about = post["about"]
        if post["template"] == "order_soon":
            return mail.plan_due(self, "walmart_reorders", post)
        for table in ("walmart_order_items", "walmart_matches"):
            about = (self.db.get(table, about) or {"order_id": about})["order_id"]
        return mail.due(self, SHOP, post, about)

    def _return_json(self, row: Row) -> Json:
        item = self.db.get("walmart_order_items", row["item_id"]) or {}
        return {
            "return_id": row["id"],
            "order_id": row["order_id"],
            "product_id": item["product_id"],
            "name": item["title"],
            "reason": row["reason"],
            "method": row["method"],
            "status": returns.return_status(row, self.time),
            "refund_amount": returns.return_sum(self, SHOP, row["id"]),
            "requested_at": row["requested_at"],
            "refund_due": row["refunded_at"],
        }


def find_item(svc: Service, row: Row, product_id: str) -> dict[str, Any]:
    """Return the item of an order that is this product, or refuse."""
    items = life.items(svc, SHOP, row["id"])
    item = next((i for i in items if i["product_id"] == product_id), None)
    if item is None:
        message = f"The product {product_id!r} is not part of order {row['id']}."
        svc.fail(
            "ITEM_NOT_IN_ORDER",
            message,
            "See get_purchase_details for the items in the order.",
            order_id=row["id"],
            product_id=product_id,
        )
    return item


def place(
    svc: Service,
    basket: list[Row],
    shares: list[int],
    address_id: str | None,
    method_id: str,
    *,
    store: Row | None = None,
    slot: Row | None = None,
    code: str | None = None,
    moment: int | None = None,
    plan_id: str | None = None,
) -> dict[str, Any]:
    """Place an order of lines as `_model.lines` gives them and return its row.

    `shares` are the cents off each line, `moment` is when the order is placed (now by default), and
    `plan_id` is the auto reorder that it belongs to.
    """
    how = basket[0]["fulfillment"]
    placed_at = svc.now if moment is None else moment
    address = rules.find_address(svc, SHOP, address_id) if how != "pickup" else None
    method = rules.find_method(svc, SHOP, method_id)
    subtotal = sum(line["net"] for line in basket) - sum(shares)
    order: dict[str, Any] = {
        "id": svc.new_id("wmo"),
        "placed_at": iso(placed_at),
        "fulfillment": how,
        "store_id": store["id"] if store else None,
        "fees": 0,
        "address_id": address["id"] if address else None,
        "method_id": method["id"],
        "code": code,
        "plan_id": plan_id,
        "shipping": 0 if plan_id else model.shipping_fee(svc, how, subtotal),
    }
    if how == "shipping":
        zone = ZoneInfo(rules.profile(svc, SHOP)["timezone"])
        order |= life.parcel(placed_at, zone, (2, 4), order["id"])
    elif slot is not None:
        order |= {"slot_at": iso(slot["start"]), **life.pickup(slot["start"])}
    elif store is not None and address is not None:
        order |= _delivery(svc, store, address, subtotal, placed_at)
    lines = []
    for line, off in zip(basket, shares, strict=True):
        item = {
            "product_id": line["product_id"],
            "quantity": line["quantity"],
            "substitution": line["substitution"],
            "food": line["food"],
            "title": line["row"]["title"],
            "unit_price": line["unit"],
            "discount": off,
        }
        lines.append(item)
    taxed_in = address or store or {"state": ""}
    row = life.place(svc, SHOP, order, lines, taxed_in["state"])
    mail.placed(svc, SHOP, row["id"], plan=plan_id)
    if store is not None:
        _settle_short(svc, row, basket, store)
    return row


def _delivery(
    svc: Service, store: Row, address: dict[str, Any], subtotal: int, placed_at: int
) -> dict[str, str]:
    """Return the moments of a delivery from a store, or refuse it."""
    if subtotal < model.DELIVERY_MINIMUM:
        message = f"Delivery requires a subtotal of at least {model.DELIVERY_MINIMUM} cents."
        svc.fail(
            "MIN_ORDER_NOT_MET",
            message,
            "Add more items, or choose pickup.",
            minimum=model.DELIVERY_MINIMUM,
            subtotal=subtotal,
        )
    baskets.require_reach(svc, SHOP, store, address)
    start = stores.next_opening(svc, store, placed_at + HOUR, DELIVERY_HOURS)
    return life.courier(placed_at, start, start + DELIVERY_HOURS * HOUR)


def _settle_short(svc: Service, row: Row, basket: list[Row], store: Row) -> None:
    """Decide what becomes of the items that the store runs out of.

    The outcome and its refund count from the moment at which the order is put together.
    """
    at = row["ready_at"] or row["out_at"]
    refunded = 0
    for item, line in zip(life.items(svc, SHOP, row["id"]), basket, strict=True):
        if line["left"] >= SHORT:
            continue
        substitute = None
        if line["substitution"] == "allow_substitution":
            substitute = _substitute(svc, line, store)
        refund = _refund(svc, item, substitute, store)
        if refund:
            why = f"{item['title']} was out"
            life.charge(svc, SHOP, row, -refund, why, at=at, ref=item["id"])
        refunded += refund
        svc.db.update(
            "walmart_order_items",
            item["id"],
            outcome="substituted" if substitute else "refunded",
            substitute_id=substitute["id"] if substitute else None,
            settled_at=at,
        )
        _tell_short(svc, row, item, substitute, refund, at)
    life.lower_unclaimed_refund(svc, SHOP, row["id"], refunded)


def _tell_short(
    svc: Service, row: Row, item: Row, substitute: Row | None, refund: int, at: str
) -> None:
    """Mail what became of an item that a store ran out of, when the order is put together."""
    said = mail.order_fields(svc, SHOP, row) | {
        "item": f"{item['quantity']} x {item['title']}",
        "substitute": f"{item['quantity']} x {substitute['title']}" if substitute else None,
        "refund": refund or None,
    }
    occasion = "item_substituted" if substitute else "item_refunded"
    mail.tell(svc, SHOP, occasion, said, about=item["id"], at=at)


def _refund(svc: Service, item: Row, substitute: Row | None, store: Row) -> int:
    """Return the refund of an item that is out: all of it, or what its substitute costs less."""
    paid = item["unit_price"] * item["quantity"] - item["discount"]
    if substitute is None:
        return paid + item["tax"]
    cheaper = max(paid - model.unit_price(svc, substitute, store) * item["quantity"], 0)
    if not paid:
        return cheaper
    return cheaper + item["tax"] * cheaper // paid


def _substitute(svc: Service, line: Row, store: Row) -> dict[str, Any] | None:
    """Return the product of the same category in the store that is nearest in price, or None."""
    category = catalogue.item_of(svc, line["row"])["category"]
    needed = max(line["quantity"], SHORT)
    candidates = []
    for row, item in catalogue.matching(svc, SHOP, None):
        if item["category"] != category or row["id"] == line["row"]["id"]:
            continue
        if stores.shelf(svc, SHOP, row, store)["quantity"] >= needed:
            candidates.append(row)

    def distance(row: Row) -> tuple[int, str]:
        return abs(model.unit_price(svc, row, store) - line["unit"]), row["id"]

    return min(candidates, key=distance, default=None)
