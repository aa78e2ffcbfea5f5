"""Walmart's tables and words; prices online and in stores; the basket and its cost."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import iso, parse_time
from servers.shopping import _baskets as baskets
from servers.shopping import _catalogue as catalogue
from servers.shopping import _coupons as coupons
from servers.shopping import _orders as life
from servers.shopping import _returns as returns
from servers.shopping import _rules as rules
from servers.shopping import _stores as stores
from servers.shopping._rules import Shop

SHOP = Shop(
    title="Walmart",
    tables="walmart",
    ids="wm",
    search="browse_products",
    product="get_item_details",
    view_cart="get_basket",
    add="add_item_to_basket",
    orders="list_purchases",
    returns="list_return_requests",
    addresses="list_shipping_addresses",
    add_address="add_shipping_address",
    methods="list_wallet_payments",
    add_method="add_wallet_payment",
    codes_tool="list_promo_codes",
    drop_code="remove_promo_code",
    stores="find_stores",
    codes=("PROMO_NOT_FOUND", "PROMO_EXPIRED", "MIN_ORDER_NOT_MET", "DEPARTMENT_NOT_ELIGIBLE"),
    return_days=90,
    electronics_days=30,
    lines="walmart_basket",
    set_store="set_home_store",
    availability="check_store_availability",
)
TABLES = {
    "walmart_profile": Table(
        "id:str user_id:str name:str email:str phone:str timezone:str plus_until:str?",
        identity=True,
        catalogue=True,
    ),
    "walmart_settings": Table(
        "id:str home_store:str?/ref", noun="the home store at Walmart, {home_store}"
    ),
    "walmart_addresses": rules.ADDRESSES,
    "walmart_methods": rules.METHODS,
    "walmart_gift_cards": rules.GIFT_CARDS,
    "walmart_products": Table(
        catalogue.LISTING,
        search=("title", "words"),
        weights=(4, 2),
        index=("family", "item_id"),
        catalogue=True,
    ),
    "walmart_reviews": catalogue.REVIEWS,
    "walmart_stores": stores.STORES,
    "walmart_shelves": stores.SHELVES,
    "walmart_coupons": coupons.COUPONS,
    "walmart_basket": Table(
        baskets.LINE + " substitution:str/matter",
        tentative={},
        noun="the item {product_id} (quantity {quantity}) in the basket at Walmart",
    ),
    "walmart_checkout": Table(
        "id:str code:str?/matter slot_store:str?/ref slot_at:str?/appointed "
        "slot_until:str?/derived updated_at:str/derived",
        tentative={},
        noun="the checkout at Walmart with the promo code {code} and the slot {slot_at:moment}",
    ),
    "walmart_orders": Table(
        life.ORDER,
        index=life.ORDER_INDEX,
        outward={},
        noun="a Walmart order ({fulfillment}) placed on {placed_at:moment}",
    ),
    # `outcome` is substituted or refunded for an item that the store ran out of; it is known from
    # the moment `settled_at` on.
    "walmart_order_items": Table(
        f"{life.ITEM} substitution:str/matter outcome:str?/derived substitute_id:str?/derived "
        "settled_at:str?/derived",
        index=("order_id", "product_id"),
        outward={},
        noun="the item {product_id} (quantity {quantity}) in a Walmart order",
    ),
    "walmart_charges": life.CHARGES,
    "walmart_returns": returns.RETURNS,
    "walmart_reorders": Table(
        "id:str product_id:str/ref frequency_days:int/matter quantity:int/matter "
        "address_id:str/ref method_id:str/ref created_at:str/stamp next_at:str?/derived "
        "paused:bool/matter canceled_at:str?/stamp skipped:str?/derived",
        noun="an auto reorder of {product_id} every {frequency_days} days (quantity {quantity})",
    ),
    "walmart_matches": Table(
        "id:str order_id:str/ref item_id:str/ref competitor:str/matter claimed:int/matter "
        "found:int?/derived verdict:str/derived why:str/derived refund:int/derived "
        "requested_at:str/stamp decided_at:str/derived",
        index=("order_id",),
        outward={},
        noun="a request to match {competitor}'s price of {claimed:cents} for {item_id}",
    ),
}
FREE_FROM = 3500
"""Cents from which shipping is free."""
SHIPPING = 699
"""Cents for shipping an order below `FREE_FROM`."""
DELIVERY = 995
"""Cents for delivery from a store without Walmart+."""
DELIVERY_MINIMUM = 3500
"""The least subtotal in cents for a delivery from a store."""

Fulfillment = Literal["shipping", "pickup", "delivery"]
HowFulfilled = Annotated[
    Fulfillment,
    Field(
        description="shipping: by parcel; pickup: picked up at a store; "
        "delivery: delivered from a store within hours, or the next morning."
    ),
]
Substitution = Annotated[
    Literal["allow_substitution", "no_substitution", "contact_me"],
    Field(
        description="What to do if the store runs out: send a similar product, refund it, "
        "or contact you (refunded if you do not answer)."
    ),
]
LineId = Annotated[str, Field(max_length=64, description="line_item_id, from get_basket.")]
SlotId = Annotated[
    str, Field(max_length=64, description="slot_id, from get_pickup_slots for the store.")
]
AtStore = Annotated[
    str,
    Field(
        max_length=64, description="store_id for pickup or delivery; defaults to the home store."
    ),
]


def plus(svc: Service) -> bool:
    """Whether the account has a Walmart+ membership now."""
    until = rules.profile(svc, SHOP)["plus_until"]
    return until is not None and svc.time < until


def price_json(row: Row, at: int) -> Json:
    """Return the regular price, the rollback price (None if there is none now) and its end."""
    rolled = catalogue.on_special(row, at)
    return {
        "price": row["price"],
        "rollback_price": row["special"] if rolled else None,
        "rollback_until": row["special_until"] if rolled else None,
    }


# -- the basket ------------------------------------------------------------------------------------
def home_store(svc: Service) -> str | None:
    """Return the store_id of the home store."""
    return svc.db.rows("walmart_settings")[0]["home_store"]


def checkout(svc: Service) -> Row:
    """Return the promo code and the reserved slot of the next order."""
    return svc.db.rows("walmart_checkout")[0]


def choose_store(svc: Service, fulfillment: str, store_id: str | None) -> dict[str, Any] | None:
    """Return the store of an item: the home store by default; None for shipping."""
    return baskets.store_for(svc, SHOP, fulfillment, store_id, home_store(svc))


def unit_price(svc: Service, row: Row, store: Row | None) -> int:
    """Return the price of one unit now: a store's own price where it has one."""
    if store is not None:
        own = stores.shelf(svc, SHOP, row, store)["price"]
        if own is not None:
            return own
    return catalogue.listing_price(row, svc.now)


def lines(svc: Service) -> list[dict[str, Any]]:
    """Return the basket's lines at current prices."""
    return baskets.lines(svc, SHOP, lambda row, store: unit_price(svc, row, store))


def shipping_fee(svc: Service, fulfillment: str, subtotal: int) -> int:
    """Return the cents for shipping or delivering an order."""
    if fulfillment == "pickup" or plus(svc):
        return 0
    if fulfillment == "delivery":
        return DELIVERY
    return 0 if subtotal >= FREE_FROM else SHIPPING


def code_state(svc: Service, basket: list[Row]) -> coupons.Applied:
    """Return what the applied promo code does for the basket."""
    return coupons.applied(svc, SHOP, checkout(svc)["code"], basket)


def basket_json(svc: Service) -> Json:
    """Return the basket as JSON, at current prices."""
    basket = lines(svc)
    row, refusal, shares = code_state(svc, basket)
    promo = None
    if row is not None:
        promo = {"promo_code": row["code"], "holds": refusal is None, "reason": refusal or "OK"}
    items = []
    for line in basket:
        items.append(baskets.line_json(line) | {"substitution_pref": line["substitution"]})
    chosen = checkout(svc)
    return {
        "items": items,
        "subtotal": sum(line["net"] for line in basket),
        "promo": promo,
        "discount": sum(shares),
        "reserved_slot": _reserved_slot(svc, chosen),
        "updated_at": chosen["updated_at"],
    }


def _reserved_slot(svc: Service, chosen: Row) -> Json | None:
    if chosen["slot_at"] is None or chosen["slot_until"] <= svc.time:
        return None
    start = parse_time(chosen["slot_at"])
    return {
        "slot_id": stores.window_id(SHOP, chosen["slot_store"], "pickup", start),
        "store_id": chosen["slot_store"],
        "starts_at": chosen["slot_at"],
        "held_until": chosen["slot_until"],
    }


def touch(svc: Service) -> Json:
    """Note that the basket changed and return it as JSON."""
    svc.db.update("walmart_checkout", checkout(svc)["id"], updated_at=iso(svc.now))
    return basket_json(svc)
