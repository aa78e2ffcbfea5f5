"""Orders: placing, listing, tracking, canceling and returning."""

from __future__ import annotations

from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.listing import Listing, Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page, parse_time
from servers.kit.zones import local_day
from servers.shopping import _catalogue as catalogue
from servers.shopping import _coupons as coupons
from servers.shopping import _mail as mail
from servers.shopping import _orders as life
from servers.shopping import _returns as returns
from servers.shopping import _rules as rules
from servers.shopping._rules import (
    AddressId,
    OrderId,
    PaymentId,
    ProductId,
    Query,
    Reason,
    StateFilter,
)
from servers.shopping.amazon import _model as model
from servers.shopping.amazon._model import SHOP, SellerId, VariantId
from servers.shopping.amazon.cart import ADDED, Cart

ReturnId = Annotated[str, Field(max_length=64, description="return_id, from list_returns.")]
HOME = seeded("aza", "home")
VISA = seeded("azm", "visa")
PLACED = (ADDED, Setup("place_order", {"address_id": HOME, "payment_method_id": VISA}, "order"))
ARRIVED = seeded("azo", "kettle-first")


def order_json(svc: Service, row: Row) -> Json:
    """Return an order as JSON."""
    items = life.items(svc, SHOP, row["id"])
    return {
        "order_id": row["id"],
        "user_id": rules.profile(svc, SHOP)["user_id"],
        "status": life.status(row, svc.time),
        "items": [item_json(svc, row, item) for item in items],
        "shipping_option": row["shipping_option"],
        "estimated_delivery_days": _days(svc, row, items),
        "estimated_delivery": row["promised_by"],
        "delivered_at": life.done(row, svc.time),
        "tracking_number": life.tracking_number(row, svc.time),
        "address_id": row["address_id"],
        "payment_method_id": row["method_id"],
        "coupon_code": row["code"],
        "subscription_id": row["plan_id"],
        "pricing": life.sums(svc, SHOP, row),
        "payments": [life.entry_json(e) for e in life.entries(svc, SHOP, row["id"])],
        "placed_at": row["placed_at"],
        "canceled_at": row["canceled_at"],
        "cancel_reason": row["cancel_reason"],
    }


def _days(svc: Service, row: Row, items: list[Row]) -> list[int]:
    """Return the fewest and most days from the order to its promised delivery."""
    zone = ZoneInfo(rules.profile(svc, SHOP)["timezone"])
    ordered_on = local_day(parse_time(row["placed_at"]), zone)
    promised_on = local_day(parse_time(row["promised_by"]), zone)
    most = (promised_on - ordered_on).days
    offers = []
    for item in items:
        where = "product_id=? AND seller_id=?"
        offers += svc.db.rows("amazon_offers", where, item["product_id"], item["seller_id"])
    fewest, _ = model.days(row["shipping_option"], [{"offer": offer} for offer in offers])
    return [min(fewest, most), most]


def item_json(svc: Service, row: Row, item: Row) -> Json:
    """Return an item of an order as JSON, with the last day for returning it."""
    return_by = None
    if life.done(row, svc.time):
        product = catalogue.find_product(svc, SHOP, item["product_id"])
        return_by = returns.return_by(row, returns.return_days(svc, SHOP, product))
    opened = svc.db.rows("amazon_returns", "item_id=?", item["id"])
    return {
        "product_id": item["product_id"],
        "variant_id": item["variant_id"],
        "seller_id": item["seller_id"],
        "title": item["title"],
        "quantity": item["quantity"],
        "unit_price": item["unit_price"],
        "discount": item["discount"],
        "tax": item["tax"],
        "gift_wrap": item["gift_wrap"],
        "gift_message": item["gift_message"],
        "return_by": return_by,
        "return_id": opened[0]["id"] if opened else None,
    }


class Orders(Cart):
    """Orders and returns."""

    @writes(
        example={"address_id": HOME, "payment_method_id": VISA}, setup=(ADDED,), destructive=True
    )
    def place_order(self, address_id: AddressId, payment_method_id: PaymentId) -> Json:
        """Order everything in the cart, charge the payment method, and return the order.

        The order uses the applied coupon, the selected shipping option and current prices, and it
        empties the cart. Nothing is ordered if a product is short, the coupon no longer applies or
        the payment is declined.
        """
        cart = model.lines(self)
        if not cart:
            self.fail(
                "CART_EMPTY",
                "The cart is empty.",
                "Add products with add_to_cart. list_orders shows the orders already placed.",
            )
        for line in cart:
            catalogue.on_sale(self, SHOP, line["product_id"])
            model.check_stock(self, line["row"], line["offer"], line["variant"], line["quantity"])
        model.check_together(self, cart)
        option = model.checkout(self)
        self.require_option(option["shipping_option"], cart)
        code, refusal, shares = model.code_state(self, cart)
        if code is not None and refusal is not None:
            coupons.require(self, SHOP, code, cart)
        row = place(
            self,
            cart,
            shares,
            option["shipping_option"],
            address_id,
            payment_method_id,
            code=code["code"] if code else None,
        )
        for line in cart:
            self.db.delete("amazon_cart", line["id"])
        self.db.update("amazon_checkout", option["id"], code=None, shipping_option="standard")
        return order_json(self, row)

    @reads(example={"query": "kettle"})
    def list_orders(
        self,
        status: StateFilter | None = None,
        query: Query | None = None,
        placed_since: Since | None = None,
        placed_until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return orders, newest first: order_id, status, items, total in cents, dates.

        `query` searches the products in them.
        """

        def show(row: Row) -> Json:
            sums = life.sums(self, SHOP, row)
            items = [
                {"product_id": i["product_id"], "title": i["title"], "quantity": i["quantity"]}
                for i in life.items(self, SHOP, row["id"])
            ]
            return {
                "order_id": row["id"],
                "status": life.status(row, self.time),
                "placed_at": row["placed_at"],
                "items": items,
                "total": sums["total"],
                "refunded": sums["refunded"],
                "estimated_delivery": row["promised_by"],
            }

        orders = life.orders(self, SHOP, status, query, placed_since, placed_until)
        return page(orders, "orders", limit, cursor, show)

    @reads(example={"order_id": ARRIVED})
    def get_order_details(self, order_id: OrderId) -> Json:
        """Return an order: current status, items, address, pricing, charges, refunds, dates.

        Each item shows its price and return_by, the last moment for returning it.
        """
        return order_json(self, life.find_order(self, SHOP, order_id))

    @writes(
        example={"order_id": "${order.order_id}", "reason": "Ordered by mistake"},
        setup=PLACED,
        destructive=True,
    )
    def cancel_order(self, order_id: OrderId, reason: Reason) -> Json:
        """Cancel an order that is still processing and refund it in full.

        An order that has shipped can only be returned.
        """
        row, refunded = life.cancel(self, SHOP, order_id, reason, "NOT_CANCELABLE")
        mail.canceled(self, SHOP, row, refunded)
        return {
            "order_id": row["id"],
            "canceled": True,
            "reason": "OK",
            "status": "canceled",
            "refund_amount": refunded,
        }

    @reads(example={"order_id": ARRIVED})
    def track_shipment(self, order_id: OrderId) -> Json:
        """Return an order's status, promised delivery, and the carrier's events so far.

        It has a tracking number once it has shipped.
        """
        row = life.find_order(self, SHOP, order_id)
        shown = order_json(self, row)
        keys = (
            "order_id",
            "tracking_number",
            "status",
            "shipping_option",
            "estimated_delivery_days",
            "estimated_delivery",
            "delivered_at",
        )
        return {k: shown[k] for k in keys} | {"events": life.events(self, SHOP, row)}

    @writes(
        example={
            "order_id": seeded("azo", "returnable"),
            "product_id": seeded("azp", "desk-lamp"),
            "reason": "Flickers when dimmed",
        },
        destructive=True,
    )
    def request_return(
        self,
        order_id: OrderId,
        product_id: ProductId,
        reason: Reason,
        variant_id: VariantId | None = None,
        seller_id: SellerId | None = None,
    ) -> Json:
        """Return an item of a delivered order by mail, all its units, once.

        The refund follows after the parcel has been received.
        """
        row = life.find_order(self, SHOP, order_id)
        item = self._item_to_return(order_id, product_id, variant_id, seller_id)
        days = returns.return_days(self, SHOP, catalogue.find_product(self, SHOP, product_id))
        opened = returns.open_return(self, SHOP, row, item, reason, "mail", days)
        mail.returned(self, SHOP, opened)
        return self._return_json(opened)

    def _item_to_return(
        self, order_id: str, product_id: str, variant_id: str | None, seller_id: str | None
    ) -> dict[str, Any]:
        """Return the item of an order meant, if possible one not returned yet, or refuse."""
        items = [i for i in life.items(self, SHOP, order_id) if i["product_id"] == product_id]
        if variant_id is not None:
            items = [item for item in items if item["variant_id"] == variant_id]
        if seller_id is not None:
            items = [item for item in items if item["seller_id"] == seller_id]
        if not items:
            message = f"Order {order_id} has no matching item for the product {product_id!r}."
            self.fail(
                "ITEM_NOT_IN_ORDER",
                message,
                "See get_order_details for the items in the order.",
                order_id=order_id,
                product_id=product_id,
            )
        unreturned = [i for i in items if not self.db.rows("amazon_returns", "item_id=?", i["id"])]
        items = unreturned or items
        if len({(item["variant_id"], item["seller_id"]) for item in items}) > 1:
            message = "The order has this product in several variants or from several sellers."
            self.fail(
                "AMBIGUOUS_ITEM",
                message,
                "Pass variant_id and seller_id as shown by get_order_details.",
                order_id=order_id,
            )
        return items[0]

    @reads()
    def list_returns(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the returns that you opened, newest first, with their status and refund."""
        rows = Listing(self.db, "amazon_returns", by="requested_at")
        rows = rows.days(since, until, rules.profile(self, SHOP)["timezone"])
        return page(rows, "returns", limit, cursor, self._return_json)

    @reads(
        example={"return_id": "${opened.returns.0.return_id}"},
        setup=(Setup("list_returns", {}, "opened"),),
    )
    def get_return(self, return_id: ReturnId) -> Json:
        """Return a return: requested, received or refunded, with its refund in cents and dates."""
        return self._return_json(returns.find_return(self, SHOP, return_id))

    def when_due(self, post: Row) -> Json | None:
        """Return what a post of a later moment says by now, or None if it is void."""
        if post["template"] == "order_soon":
            return mail.plan_due(self, "amazon_subscriptions", post)
        return mail.due(self, SHOP, post, post["about"])

    def _return_json(self, row: Row) -> Json:
        item = self.db.get("amazon_order_items", row["item_id"]) or {}
        state = returns.return_status(row, self.time)
        return {
            "return_id": row["id"],
            "order_id": row["order_id"],
            "product_id": item["product_id"],
            "title": item["title"],
            "quantity": item["quantity"],
            "reason": row["reason"],
            "status": state,
            "refund_amount": returns.return_sum(self, SHOP, row["id"]),
            "requested_at": row["requested_at"],
            "received_at": row["received_at"] if state != "requested" else None,
            "refunded_at": row["refunded_at"] if state == "refunded" else None,
            "refund_expected_by": row["refunded_at"],
        }


def place(
    svc: Service,
    cart: list[Row],
    shares: list[int],
    option: str,
    address_id: str,
    method_id: str,
    *,
    code: str | None = None,
    moment: int | None = None,
    plan_id: str | None = None,
) -> dict[str, Any]:
    """Place an order of lines as `_model.lines` gives them and return its row.

    `shares` are the cents off each line, `moment` is when the order is placed (now by default), and
    `plan_id` is the subscription that it belongs to.
    """
    address = rules.find_address(svc, SHOP, address_id)
    method = rules.find_method(svc, SHOP, method_id)
    zone = ZoneInfo(rules.profile(svc, SHOP)["timezone"])
    order_id = svc.new_id("azo")
    placed_at = svc.now if moment is None else moment
    wrapped = sum(line["quantity"] for line in cart if line["gift_wrap"])
    order = {
        "id": order_id,
        "placed_at": life.iso(placed_at),
        "fulfillment": "shipping",
        "shipping_option": option,
        "address_id": address["id"],
        "method_id": method["id"],
        "shipping": 0 if plan_id else model.shipping_cost(svc, option, cart),
        "code": code,
        "plan_id": plan_id,
        "fees": model.GIFT_WRAP * wrapped,
        **life.parcel(placed_at, zone, model.days(option, cart), order_id),
    }
    lines = [_order_line(line, off) for line, off in zip(cart, shares, strict=True)]
    row = life.place(svc, SHOP, order, lines, address["state"])
    mail.placed(svc, SHOP, order_id, plan=plan_id)
    return row


def _order_line(line: Row, off: int) -> Json:
    """Return a line of the cart as `life.place` takes it."""
    return {
        "product_id": line["product_id"],
        "variant_id": line["variant_id"],
        "seller_id": line["seller_id"],
        "title": line["row"]["title"],
        "quantity": line["quantity"],
        "unit_price": line["unit"],
        "discount": off,
        "food": line["food"],
        "gift_wrap": line["gift_wrap"],
        "gift_message": line["gift_message"],
    }
