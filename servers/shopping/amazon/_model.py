"""Amazon's tables and words; offers and the buy box; the cart's lines and what they cost."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.service import Service
from servers.kit.store import Table
from servers.shopping import _catalogue as catalogue
from servers.shopping import _coupons as coupons
from servers.shopping import _orders as orders
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
TABLES = {
    "amazon_profile": Table(
        "id:str user_id:str name:str email:str phone:str timezone:str prime_until:str?",
        identity=True,
    ),
    "amazon_addresses": rules.ADDRESSES,
    "amazon_methods": rules.METHODS,
    "amazon_products": Table(
        "id:str item_id:str title:str words:str stars:list discontinued_at:str? per_order:int",
        search=("title", "words"),
    ),
    "amazon_variants": Table(
        "id:str product_id:str attributes:dict extra:int stock:int counted_at:str",
        index=("product_id",),
    ),
    "amazon_sellers": Table("id:str name:str rating:float ratings:int since:str own:bool"),
    # `prime` offers are shipped by Amazon; the others take `days` (fewest, most) and cost `shipping` a unit.
    "amazon_offers": Table(
        "id:str product_id:str seller_id:str condition:str price:int swing:int shipping:int prime:bool days:list stock:int counted_at:str "
        "restock_on:str?",
        index=("product_id",),
    ),
    "amazon_reviews": catalogue.REVIEWS,
    "amazon_coupons": coupons.COUPONS,
    "amazon_cart": Table(
        "id:str product_id:str variant_id:str? seller_id:str quantity:int gift_wrap:bool gift_message:str? seen_price:int added_at:str"
    ),
    "amazon_checkout": Table("id:str code:str? shipping_option:str"),
    "amazon_orders": Table(orders.ORDER, index=orders.ORDER_INDEX),
    "amazon_order_items": Table(
        orders.ITEM + " variant_id:str? seller_id:str gift_wrap:bool gift_message:str?",
        index=("order_id", "product_id"),
    ),
    "amazon_charges": orders.CHARGES,
    "amazon_returns": orders.RETURNS,
    "amazon_wishlists": Table("id:str name:str is_public:bool created_at:str first:bool"),
    "amazon_wishes": Table(
        "id:str wishlist_id:str product_id:str variant_id:str? note:str? added_at:str",
        index=("wishlist_id",),
    ),
    "amazon_subscriptions": Table(
        "id:str product_id:str frequency:str quantity:int address_id:str method_id:str created_at:str next_at:str? canceled_at:str? "
        "skipped:str?"
    ),
    "amazon_alerts": Table("id:str product_id:str target_price:int created_at:str removed_at:str?"),
}
GIFT_WRAP = 499
"""Cents for wrapping one unit."""
FREE_FROM = 3500
"""Cents from which standard shipping of what Amazon ships is free."""

VariantId = Annotated[
    str,
    Field(
        max_length=64,
        description="variant_id, from get_product_details; needed where has_variations is true.",
    ),
]
SellerId = Annotated[
    str,
    Field(
        max_length=64,
        description="seller_id, from get_product_offers; the buy box's seller when left out.",
    ),
]
GiftMessage = Annotated[
    str,
    Field(
        min_length=1, max_length=240, description="Message on the gift card, up to 240 characters."
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
    """Whether the account's Prime membership runs now."""
    until = rules.profile(svc, SHOP)["prime_until"]
    return until is not None and svc.time < until


# -- offers -------------------------------------------------------------------------------------------------------
def offers(svc: Service, product_id: str | None = None) -> dict[str, list[dict[str, Any]]]:
    """Return offers by product (of one, or of all), cheapest landed price first; each with `now`, its price, and `left`, its stock."""
    rows = svc.db.rows("amazon_offers", "?1 IS NULL OR product_id=?1", product_id)
    sold = {
        (product, seller): count
        for product, seller, count in svc.db.sql(
            "SELECT i.product_id, i.seller_id, sum(i.quantity) FROM amazon_order_items i JOIN amazon_orders o ON o.id=i.order_id"
            " JOIN amazon_offers f ON f.product_id=i.product_id AND f.seller_id=i.seller_id"
            " WHERE o.placed_at>f.counted_at AND o.canceled_at IS NULL GROUP BY 1,2"
        )
    }
    trusted = {row[0] for row in svc.db.sql("SELECT id FROM amazon_sellers WHERE rating>=4")}
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        row["trusted"] = row["seller_id"] in trusted
        row["now"] = catalogue.offer_price(row, svc.now)
        row["left"] = catalogue.in_warehouse(
            svc, row, sold.get((row["product_id"], row["seller_id"]), 0)
        )
        found.setdefault(row["product_id"], []).append(row)
    for listed in found.values():
        listed.sort(key=lambda o: (o["now"] + o["shipping"], o["id"]))
    return found


def buy_box(listed: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the offer of the buy box: the cheapest new one in stock of a well-rated seller; within 5 % one that Amazon ships."""
    new = [o for o in listed if o["condition"] == "new" and o["left"] > 0 and o["trusted"]]
    if not new:
        return None
    cheapest = new[0]["now"] + new[0]["shipping"]
    near = [o for o in new if o["prime"] and (o["now"] + o["shipping"]) * 100 <= cheapest * 105]
    return near[0] if near else new[0]


def trusted_new(svc: Service, product_id: str) -> list[dict[str, Any]]:
    """Return the offers of new ones by well-rated sellers, in stock or not: what histories and alerts look at."""
    return [
        o
        for o in offers(svc, product_id).get(product_id, [])
        if o["condition"] == "new" and o["trusted"]
    ]


def find_offer(svc: Service, product_id: str, seller_id: str | None) -> dict[str, Any]:
    """Return the offer of a seller, or of the buy box, or refuse."""
    listed = offers(svc, product_id).get(product_id, [])
    found = (
        buy_box(listed)
        if seller_id is None
        else next((o for o in listed if o["seller_id"] == seller_id), None)
    )
    if found is None and seller_id is not None:
        message = f"The seller {seller_id!r} does not offer this product."
        svc.fail(
            "SELLER_NOT_FOUND",
            message,
            "Take a seller_id from get_product_offers of this product.",
            seller_id=seller_id,
        )
    if found is None:
        hint = "See get_product_offers for used ones and for when it is back, or set_price_alert."
        svc.fail(
            "OUT_OF_STOCK", "Nobody has this product new and in stock.", hint, product_id=product_id
        )
    return found


def variants(svc: Service, product_id: str) -> list[dict[str, Any]]:
    """Return the colours and sizes of a product, each with `left`, its stock."""
    rows = svc.db.rows("amazon_variants", "product_id=?", product_id, order="rowid")
    for row in rows:
        gone = catalogue.units_ordered(
            svc, SHOP, product_id, row["counted_at"], "i.variant_id=?", row["id"]
        )
        row["left"] = max(row["stock"] - gone, 0)
    return rows


def find_variant(svc: Service, product_id: str, variant_id: str | None) -> dict[str, Any] | None:
    """Return the chosen variant (None where the product has none), or refuse."""
    known = variants(svc, product_id)
    chosen = next((v for v in known if v["id"] == variant_id), None)
    if variant_id is None and known:
        message = "This product comes in several colours or sizes."
        svc.fail(
            "VARIANT_REQUIRED",
            message,
            "Pass a variant_id from get_product_details.",
            product_id=product_id,
        )
    if variant_id is not None and chosen is None:
        message = f"This product has no variant {variant_id!r}."
        svc.fail(
            "VARIANT_NOT_FOUND",
            message,
            "Take the variant_id from get_product_details of this product.",
            variant_id=variant_id,
        )
    return chosen


def unit_price(offer: dict[str, Any], variant: dict[str, Any] | None) -> int:
    """Return what one unit costs now."""
    return offer["now"] + (variant["extra"] if variant else 0)


def check_stock(
    svc: Service,
    row: dict[str, Any],
    offer: dict[str, Any],
    variant: dict[str, Any] | None,
    quantity: int,
) -> None:
    """Refuse more units than there are or than one order may hold."""
    left = min(offer["left"], variant["left"] if variant else offer["left"])
    if left < quantity:
        code, message = (
            ("OUT_OF_STOCK", "is out of stock")
            if left == 0
            else ("INSUFFICIENT_STOCK", f"is left {left} times")
        )
        hint = "Choose another variant, or another seller from get_product_offers, or fewer units."
        svc.fail(
            code,
            f"{row['title']} {message} at this seller.",
            hint,
            product_id=row["id"],
            available=left,
        )
    if quantity > row["per_order"]:
        message = f"{row['title']} is limited to {row['per_order']} in one order."
        svc.fail(
            "QUANTITY_LIMIT_EXCEEDED",
            message,
            "Order fewer.",
            product_id=row["id"],
            limit=row["per_order"],
        )


def check_together(svc: Service, found: list[dict[str, Any]]) -> None:
    """Refuse lines that are each good but together more than a seller has of a product, or than one order may hold."""
    for line in found:
        alike = [x for x in found if x["product_id"] == line["product_id"]]
        check_stock(
            svc,
            line["row"],
            line["offer"],
            None,
            sum(x["quantity"] for x in alike if x["seller_id"] == line["seller_id"]),
        )
        if sum(x["quantity"] for x in alike) > line["row"]["per_order"]:
            message = f"{line['row']['title']} is limited to {line['row']['per_order']} in one order, whatever its colour, size and seller."
            hint = "Take some out with update_cart_item or remove_from_cart."
            svc.fail(
                "QUANTITY_LIMIT_EXCEEDED",
                message,
                hint,
                product_id=line["product_id"],
                limit=line["row"]["per_order"],
            )


# -- the cart -----------------------------------------------------------------------------------------------------
def lines(svc: Service) -> list[dict[str, Any]]:
    """Return the cart's lines, each with the `row` of its product, its `offer`, `variant`, `unit`, `net` and what codes ask for."""
    found = svc.db.rows("amazon_cart", order="added_at, rowid")
    for line in found:
        row = catalogue.find_product(svc, SHOP, line["product_id"])
        listed = offers(svc, row["id"]).get(row["id"], [])
        line["row"], line["offer"] = (
            row,
            next((o for o in listed if o["seller_id"] == line["seller_id"]), _withdrawn(line)),
        )
        line["variant"] = next(
            (v for v in variants(svc, row["id"]) if v["id"] == line["variant_id"]), None
        )
        line["unit"] = unit_price(line["offer"], line["variant"])
        line["net"] = line["unit"] * line["quantity"]
        what = catalogue.item_of(svc, row)
        line |= {"item_id": row["item_id"], "department": what["department"], "food": what["food"]}
    return found


def _withdrawn(line: dict[str, Any]) -> dict[str, Any]:
    """Return what stands for the offer of a seller that no longer makes it."""
    return {
        "condition": "new",
        "now": line["seen_price"],
        "shipping": 0,
        "prime": False,
        "days": [1, 1],
        "left": 0,
    }


def checkout(svc: Service) -> dict[str, Any]:
    """Return what was chosen for the next order."""
    return svc.db.rows("amazon_checkout")[0]


def seller_shipping(found: list[dict[str, Any]]) -> int:
    """Return what sellers that ship themselves charge for a cart's lines."""
    return sum(line["offer"]["shipping"] * line["quantity"] for line in found)


def shipping_cost(svc: Service, option: str, found: list[dict[str, Any]]) -> int:
    """Return what shipping a cart costs with an option: Amazon's own part, and what other sellers charge."""
    own = sum(line["net"] for line in found if line["offer"]["prime"])
    cost = OPTIONS[option][0] if own else 0
    if option == "standard" and (own >= FREE_FROM or prime(svc)):
        cost = 0
    return cost + seller_shipping(found)


def days(option: str, found: list[dict[str, Any]]) -> tuple[int, int]:
    """Return (fewest, most) days until a cart has arrived: the slowest seller's."""
    spans = [
        OPTIONS[option][1] if line["offer"]["prime"] else tuple(line["offer"]["days"])
        for line in found
    ]
    spans = spans or [OPTIONS[option][1]]
    return max(s[0] for s in spans), max(s[1] for s in spans)


def code_state(
    svc: Service, found: list[dict[str, Any]]
) -> tuple[dict[str, Any] | None, str | None, list[int]]:
    """Return the applied code's row, why it does not hold now (None where it does), and the cents off each line."""
    code = checkout(svc)["code"]
    if code is None:
        return None, None, [0] * len(found)
    row = coupons.find(svc, SHOP, code)
    why, shares = coupons.worth(svc, SHOP, row, found)
    return (
        row,
        None if why is None else "CODE_ALREADY_USED" if why == 4 else SHOP.codes[why],
        shares,
    )


def cart_json(svc: Service) -> dict[str, Any]:
    """Return the cart for the agent; prices are those of now."""
    found = lines(svc)
    code, why, shares = code_state(svc, found)
    option = checkout(svc)["shipping_option"]
    subtotal = sum(line["net"] for line in found)
    wrap = sum(GIFT_WRAP * line["quantity"] for line in found if line["gift_wrap"])
    shipping = shipping_cost(svc, option, found)
    coupon = (
        None
        if code is None
        else {"coupon_code": code["code"], "holds": why is None, "reason": why or "OK"}
    )
    return {
        "items": [line_json(svc, line) for line in found],
        "item_count": sum(line["quantity"] for line in found),
        "subtotal": subtotal,
        "coupon": coupon,
        "discount": sum(shares),
        "gift_wrap_fee": wrap,
        "shipping_option": option,
        "shipping_cost": shipping,
        "total_before_tax": subtotal - sum(shares) + wrap + shipping,
    }


def line_json(svc: Service, line: dict[str, Any]) -> dict[str, Any]:
    """Return a line of the cart for the agent."""
    seller = svc.db.get("amazon_sellers", line["seller_id"]) or {}
    variant = line["variant"]
    left = min(line["offer"]["left"], variant["left"] if variant else line["offer"]["left"])
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
