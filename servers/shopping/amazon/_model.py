"""Amazon's tables and words; offers and the buy box; the cart's lines and their cost."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.shopping import _catalogue as catalogue
from servers.shopping import _coupons as coupons
from servers.shopping import _orders as orders
from servers.shopping import _returns as returns
from servers.shopping import _rules as rules
from servers.shopping._rules import Shop

SHOP = Shop(
    title="Amazon",
    tables="amazon",
    ids="az",
    search="search_products",
    product="get_product_details",
    view_cart="get_cart",
    add="add_to_cart",
    orders="list_orders",
    returns="list_returns",
    addresses="list_addresses",
    add_address="add_address",
    methods="list_payment_methods",
    add_method="add_payment_method",
    codes_tool="list_coupons",
    drop_code="remove_coupon",
    stores="",
    codes=("COUPON_NOT_FOUND", "COUPON_EXPIRED", "MIN_ORDER_NOT_MET", "PRODUCT_NOT_ELIGIBLE"),
    return_days=30,
    electronics_days=30,
)
RUNNING_FIRST = "(canceled_at IS NULL) || created_at"
"""Sorts subscriptions: those that run come after those that were canceled, the newest last."""
TABLES = {
    "amazon_profile": Table(
        "id:str user_id:str name:str email:str phone:str timezone:str prime_until:str?",
        identity=True,
        catalogue=True,
    ),
    "amazon_addresses": rules.ADDRESSES,
    "amazon_methods": rules.METHODS,
    "amazon_products": Table(
        "id:str item_id:str title:str words:str stars:list discontinued_at:str? per_order:int",
        search=("title", "words"),
        weights=(4, 2),
        catalogue=True,
    ),
    "amazon_variants": Table(
        "id:str product_id:str attributes:dict extra:int stock:int counted_at:str",
        index=("product_id",),
        catalogue=True,
    ),
    "amazon_sellers": Table(
        "id:str name:str rating:float ratings:int since:str own:bool", catalogue=True
    ),
    # `prime` offers are shipped by Amazon; the others take `days` (fewest, most) and cost
    # `shipping` a unit.
    "amazon_offers": Table(
        "id:str product_id:str seller_id:str condition:str price:int swing:int shipping:int "
        "prime:bool days:list stock:int counted_at:str restock_on:str?",
        index=("product_id", "counted_at"),
        catalogue=True,
    ),
    "amazon_reviews": catalogue.REVIEWS,
    "amazon_coupons": coupons.COUPONS,
    "amazon_cart": Table(
        "id:str product_id:str/ref variant_id:str?/ref seller_id:str/ref quantity:int/matter "
        "gift_wrap:bool/matter gift_message:str?/prose seen_price:int/derived added_at:str/stamp",
        tentative={},
        noun="the item {product_id} (quantity {quantity}) in the cart at Amazon",
    ),
    "amazon_checkout": Table(
        "id:str code:str?/matter shipping_option:str/matter",
        tentative={},
        noun="the checkout at Amazon with {shipping_option} shipping",
    ),
    "amazon_orders": Table(
        orders.ORDER,
        index=orders.ORDER_INDEX,
        outward={},
        noun="an Amazon order placed on {placed_at:moment}",
    ),
    "amazon_order_items": Table(
        f"{orders.ITEM} variant_id:str?/ref seller_id:str/ref gift_wrap:bool/matter "
        "gift_message:str?/prose",
        index=("order_id", "product_id"),
        outward={},
        noun="the item {product_id} (quantity {quantity}) in an Amazon order",
    ),
    "amazon_charges": orders.CHARGES,
    "amazon_returns": returns.RETURNS,
    "amazon_wishlists": Table(
        "id:str name:str/matter is_public:bool/matter created_at:str/stamp first:bool/derived",
        noun="the wish list {name}",
    ),
    "amazon_wishes": Table(
        "id:str wishlist_id:str/ref product_id:str/ref variant_id:str?/ref note:str?/prose "
        "added_at:str/stamp",
        index=("wishlist_id",),
        noun="the product {product_id} on the wish list {wishlist_id}",
    ),
    "amazon_subscriptions": Table(
        "id:str product_id:str/ref frequency:str/matter quantity:int/matter address_id:str/ref "
        "method_id:str/ref created_at:str/stamp next_at:str?/derived canceled_at:str?/stamp "
        "skipped:str?/derived",
        index=(RUNNING_FIRST,),
        noun="a {frequency} subscription to {product_id} (quantity {quantity})",
    ),
    # `looks_at` is when the price may next have met the target of an alert that has not triggered.
    "amazon_alerts": Table(
        "id:str product_id:str/ref target_price:int/matter created_at:str/stamp "
        "removed_at:str?/stamp looks_at:str?/derived",
        index=("created_at",),
        noun="a price alert for {product_id} at {target_price:cents}",
    ),
}
GIFT_WRAP = 499
"""Cents for wrapping one unit."""
FREE_FROM = 3500
"""Cents from which standard shipping by Amazon is free."""

VariantId = Annotated[
    str,
    Field(
        max_length=64,
        description="variant_id, from get_product_details; required if has_variations is true.",
    ),
]
SellerId = Annotated[
    str,
    Field(
        max_length=64,
        description="seller_id, from get_product_offers; defaults to the seller in the buy box.",
    ),
]
GiftMessage = Annotated[
    str,
    Field(
        min_length=1, max_length=240, description="Message for the recipient, up to 240 characters."
    ),
]
Option = Literal["standard", "expedited", "prime_two_day", "prime_one_day", "prime_same_day"]
OPTIONS: dict[str, tuple[int, tuple[int, int]]] = {
    "standard": (599, (3, 5)),
    "expedited": (999, (2, 3)),
    "prime_two_day": (0, (1, 2)),
    "prime_one_day": (299, (1, 1)),
    "prime_same_day": (499, (0, 0)),
}
"""Shipping options: cents and (fewest, most) days."""
SAME_DAY_UNTIL = 12
"""Local hour before which same-day orders must be placed."""


def prime(svc: Service) -> bool:
    """Whether the account has a Prime membership now."""
    until = rules.profile(svc, SHOP)["prime_until"]
    return until is not None and svc.time < until


# -- offers ----------------------------------------------------------------------------------------
class Offers:
    """The offers of products at this moment, each looked up when it is asked for."""

    def __init__(self, svc: Service) -> None:
        self._svc = svc
        self._sold = _sold(svc)
        well_rated = svc.db.sql("SELECT id FROM amazon_sellers WHERE rating>=4")
        self._trusted = {row[0] for row in well_rated}

    def of(self, product_id: str) -> list[Json]:
        """Return the offers of a product, cheapest landed price first.

        Each adds `now`, its price, `left`, its stock, and `trusted`, whether the seller is well
        rated.
        """
        listed = self._svc.db.rows("amazon_offers", "product_id=?", product_id)
        for row in listed:
            units = self._sold.get((product_id, row["seller_id"]), 0)
            row["trusted"] = row["seller_id"] in self._trusted
            row["now"] = catalogue.offer_price(row, self._svc.now)
            row["left"] = catalogue.in_warehouse(self._svc, row, units)
        return sorted(listed, key=lambda offer: (landed_price(offer), offer["id"]))


def _sold(svc: Service) -> dict[tuple[str, str], int]:
    """Return the units ordered since the stock was counted, by (product, seller)."""
    # The cross joins keep to this order of tables: the few latest orders lead to their items.
    rows = svc.db.sql(
        "SELECT i.product_id, i.seller_id, sum(i.quantity) FROM amazon_orders o"
        " CROSS JOIN amazon_order_items i ON i.order_id=o.id"
        " CROSS JOIN amazon_offers f ON f.product_id=i.product_id AND f.seller_id=i.seller_id"
        " WHERE o.placed_at>(SELECT min(counted_at) FROM amazon_offers)"
        " AND o.placed_at>f.counted_at AND o.canceled_at IS NULL GROUP BY 1,2"
    )
    return {(product, seller): units for product, seller, units in rows}


def landed_price(offer: Row) -> int:
    """Return the price of one unit now with the seller's shipping."""
    return offer["now"] + offer["shipping"]


def buy_box(listed: list[Row]) -> dict[str, Any] | None:
    """Return the offer of the buy box, or None.

    It is the cheapest new one in stock of a well-rated seller, unless Amazon ships one that costs
    at most 5 % more.
    """
    in_stock = [offer for offer in filter(_trusted_new, listed) if offer["left"] > 0]
    if not in_stock:
        return None
    cheapest = landed_price(in_stock[0])
    for offer in in_stock:
        if offer["prime"] and landed_price(offer) * 100 <= cheapest * 105:
            return offer
    return in_stock[0]


def _trusted_new(offer: Row) -> bool:
    return offer["condition"] == "new" and offer["trusted"]


def trusted_new(svc: Service, product_id: str) -> list[dict[str, Any]]:
    """Return the new offers of well-rated sellers, in stock or not.

    Price histories and alerts look at these.
    """
    return [offer for offer in Offers(svc).of(product_id) if _trusted_new(offer)]


def find_offer(svc: Service, product_id: str, seller_id: str | None) -> dict[str, Any]:
    """Return a seller's offer, or that of the buy box by default, or refuse."""
    listed = Offers(svc).of(product_id)
    if seller_id is None:
        offer = buy_box(listed)
    else:
        offer = offer_of(listed, seller_id)
    if offer is None and seller_id is not None:
        message = f"No seller with the ID {seller_id!r} offers this product."
        svc.fail(
            "SELLER_NOT_FOUND",
            message,
            "Use a seller_id from get_product_offers for this product.",
            seller_id=seller_id,
        )
    if offer is None:
        hint = "See get_product_offers for used units and restock dates, or call set_price_alert."
        svc.fail(
            "OUT_OF_STOCK",
            "No seller has this product new and in stock.",
            hint,
            product_id=product_id,
        )
    return offer


def offer_of(listed: list[Row], seller_id: str) -> dict[str, Any] | None:
    """Return a seller's offer among those of one product."""
    return next((offer for offer in listed if offer["seller_id"] == seller_id), None)


def variants(svc: Service, product_id: str) -> list[Row]:
    """Return the colours and sizes of a product, each with `left`, its stock."""
    rows = svc.db.rows("amazon_variants", "product_id=?", product_id, order="rowid")
    for row in rows:
        ordered = catalogue.units_ordered(
            svc, SHOP, product_id, row["counted_at"], "i.variant_id=?", row["id"]
        )
        row["left"] = max(row["stock"] - ordered, 0)
    return rows


def variant_of(svc: Service, product_id: str, variant_id: str | None) -> dict[str, Any] | None:
    """Return a variant of a product, or None where it has no such variant."""
    return next((v for v in variants(svc, product_id) if v["id"] == variant_id), None)


def find_variant(svc: Service, product_id: str, variant_id: str | None) -> dict[str, Any] | None:
    """Return the chosen variant, or None where the product has none, or refuse."""
    offered = variants(svc, product_id)
    chosen = next((v for v in offered if v["id"] == variant_id), None)
    if variant_id is None and offered:
        message = "This product comes in several colors or sizes."
        svc.fail(
            "VARIANT_REQUIRED",
            message,
            "Pass a variant_id from get_product_details.",
            product_id=product_id,
        )
    if variant_id is not None and chosen is None:
        message = f"This product has no variant with the ID {variant_id!r}."
        svc.fail(
            "VARIANT_NOT_FOUND",
            message,
            "Use a variant_id from get_product_details for this product.",
            variant_id=variant_id,
        )
    return chosen


def unit_price(offer: Row, variant: Row | None) -> int:
    """Return the price of one unit now."""
    return offer["now"] + (variant["extra"] if variant else 0)


def units_left(offer: Row, variant: Row | None) -> int:
    """Return how many units of a variant a seller has left."""
    return min(offer["left"], variant["left"]) if variant else offer["left"]


def check_stock(
    svc: Service,
    row: Row,
    offer: Row,
    variant: Row | None,
    quantity: int,
) -> None:
    """Refuse more units than are left or than one order may hold."""
    left = units_left(offer, variant)
    if left < quantity:
        if left == 0:
            code = "OUT_OF_STOCK"
            message = f"{row['title']} is out of stock at this seller."
        else:
            code = "INSUFFICIENT_STOCK"
            message = f"This seller has only {left} units of {row['title']} left."
        hint = "Choose a different variant, another seller from get_product_offers, or fewer units."
        svc.fail(code, message, hint, product_id=row["id"], available=left)
    if quantity > row["per_order"]:
        message = f"{row['title']} is limited to {row['per_order']} per order."
        svc.fail(
            "QUANTITY_LIMIT_EXCEEDED",
            message,
            "Order a smaller quantity.",
            product_id=row["id"],
            limit=row["per_order"],
        )


def check_together(svc: Service, cart: list[Row]) -> None:
    """Refuse lines that are fine one by one, but not together.

    Lines of the same product may together ask for more than the seller has, or than one order may
    hold.
    """
    for line in cart:
        row = line["row"]
        alike = [x for x in cart if x["product_id"] == line["product_id"]]
        at_seller = sum(x["quantity"] for x in alike if x["seller_id"] == line["seller_id"])
        check_stock(svc, row, line["offer"], None, at_seller)
        limit = row["per_order"]
        if sum(x["quantity"] for x in alike) > limit:
            message = (
                f"{row['title']} is limited to {limit} per order, "
                "counting all colors, sizes and sellers."
            )
            hint = "Reduce the quantity with update_cart_item or remove_from_cart."
            svc.fail("QUANTITY_LIMIT_EXCEEDED", message, hint, product_id=row["id"], limit=limit)


# -- the cart --------------------------------------------------------------------------------------
def lines(svc: Service) -> list[Row]:
    """Return the cart's lines with everything that pricing and coupon codes need.

    To its columns each line adds its product's `row`, its `offer`, its `variant`, its `unit` and
    `net` price, and its item's `item_id`, `department` and `food`.
    """
    cart = svc.db.rows("amazon_cart", order="added_at, rowid")
    for line in cart:
        row = catalogue.find_product(svc, SHOP, line["product_id"])
        item = catalogue.item_of(svc, row)
        listed = Offers(svc).of(row["id"])
        offer = offer_of(listed, line["seller_id"]) or _withdrawn(line)
        variant = variant_of(svc, row["id"], line["variant_id"])
        unit = unit_price(offer, variant)
        line |= {
            "row": row,
            "offer": offer,
            "variant": variant,
            "unit": unit,
            "net": unit * line["quantity"],
            "item_id": row["item_id"],
            "department": item["department"],
            "food": item["food"],
        }
    return cart


def _withdrawn(line: Row) -> Json:
    """Return a stand-in for the offer of a seller that no longer makes it."""
    return {
        "condition": "new",
        "now": line["seen_price"],
        "shipping": 0,
        "prime": False,
        "days": [1, 1],
        "left": 0,
    }


def checkout(svc: Service) -> Row:
    """Return the coupon code and the shipping option of the next order."""
    return svc.db.rows("amazon_checkout")[0]


def seller_shipping(cart: list[Row]) -> int:
    """Return what the sellers that ship for themselves charge for shipping a cart."""
    return sum(line["offer"]["shipping"] * line["quantity"] for line in cart)


def shipping_cost(svc: Service, option: str, cart: list[Row]) -> int:
    """Return what shipping a cart costs: Amazon's own part and that of other sellers."""
    own = sum(line["net"] for line in cart if line["offer"]["prime"])
    cost = OPTIONS[option][0] if own else 0
    if option == "standard" and (own >= FREE_FROM or prime(svc)):
        cost = 0
    return cost + seller_shipping(cart)


def days(option: str, cart: list[Row]) -> tuple[int, int]:
    """Return the (fewest, most) days until a cart arrives: those of the slowest seller."""
    by_amazon = OPTIONS[option][1]
    spans = [by_amazon if line["offer"]["prime"] else line["offer"]["days"] for line in cart]
    spans = spans or [by_amazon]
    return max(fewest for fewest, _ in spans), max(most for _, most in spans)


def code_state(svc: Service, cart: list[Row]) -> coupons.Applied:
    """Return what the applied coupon does for the cart."""
    return coupons.applied(svc, SHOP, checkout(svc)["code"], cart)


def cart_json(svc: Service) -> Json:
    """Return the cart as JSON, at current prices."""
    cart = lines(svc)
    code, refusal, shares = code_state(svc, cart)
    option = checkout(svc)["shipping_option"]
    subtotal = sum(line["net"] for line in cart)
    wrap = sum(GIFT_WRAP * line["quantity"] for line in cart if line["gift_wrap"])
    shipping = shipping_cost(svc, option, cart)
    coupon = None
    if code is not None:
        coupon = {
            "coupon_code": code["code"],
            "holds": refusal is None,
            "reason": refusal or "OK",
        }
    return {
        "items": [line_json(svc, line) for line in cart],
        "item_count": sum(line["quantity"] for line in cart),
        "subtotal": subtotal,
        "coupon": coupon,
        "discount": sum(shares),
        "gift_wrap_fee": wrap,
        "shipping_option": option,
        "shipping_cost": shipping,
        "total_before_tax": subtotal - sum(shares) + wrap + shipping,
    }


def line_json(svc: Service, line: Row) -> Json:
    """Return a line of the cart as JSON."""
    seller = svc.db.get("amazon_sellers", line["seller_id"]) or {}
    variant = line["variant"]
    left = units_left(line["offer"], variant)
    return {
        "product_id": line["product_id"],
        "variant_id": line["variant_id"],
        "attributes": variant["attributes"] if variant else None,
        "title": line["row"]["title"],
        "seller_id": line["seller_id"],
        "seller_name": seller["name"],
        "condition": line["offer"]["condition"],
        "quantity": line["quantity"],
        "unit_price": line["unit"],
        "price_when_added": line["seen_price"],
        "line_total": line["net"],
        "in_stock": left >= line["quantity"] and not catalogue.discontinued(svc, line["row"]),
        "prime_eligible": line["offer"]["prime"],
        "gift_wrap": line["gift_wrap"],
        "gift_message": line["gift_message"],
    }
