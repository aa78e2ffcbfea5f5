"""Target's tables and words; prices; the cart with Circle offers, promo code and RedCard."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.shopping import _baskets as baskets
from servers.shopping import _catalogue as catalogue
from servers.shopping import _coupons as coupons
from servers.shopping import _orders as life
from servers.shopping import _returns as returns
from servers.shopping import _rules as rules
from servers.shopping import _stores as stores
from servers.shopping._rules import Shop, percent

SHOP = Shop(
    title="Target",
    tables="target",
    ids="tg",
    search="search_merchandise",
    product="get_merchandise_info",
    view_cart="view_cart",
    add="put_in_cart",
    orders="list_order_history",
    returns="list_my_returns",
    addresses="get_address_book",
    add_address="save_address",
    methods="get_saved_payments",
    add_method="save_payment_method",
    codes_tool="get_promotions",
    drop_code="clear_discount_code",
    stores="search_stores",
    codes=("PROMO_NOT_FOUND", "PROMO_EXPIRED", "MIN_ORDER_NOT_MET", "NOT_APPLICABLE"),
    return_days=90,
    electronics_days=30,
    lines="target_cart",
    set_store="set_preferred_store",
    availability="check_in_store_availability",
    apart="registry_id",
)
TABLES = {
    "target_profile": Table(
        "id:str user_id:str name:str email:str phone:str timezone:str born:str circle_since:str?",
        identity=True,
        catalogue=True,
    ),
    "target_settings": Table(
        "id:str preferred_store:str?/ref", noun="the preferred Target store, {preferred_store}"
    ),
    "target_addresses": rules.ADDRESSES,
    "target_methods": rules.METHODS,
    "target_gift_cards": rules.GIFT_CARDS,
    "target_products": Table(
        catalogue.LISTING + " in_store:int?",
        search=("title", "words"),
        weights=(4, 2),
        index=("family", "item_id"),
        catalogue=True,
    ),
    "target_reviews": catalogue.REVIEWS,
    "target_stores": stores.STORES,
    "target_shelves": stores.SHELVES,
    "target_coupons": coupons.COUPONS,
    "target_cart": Table(
        baskets.LINE + " registry_id:str?/ref",
        tentative={},
        noun="the item {product_id} (quantity {quantity}) in the cart at Target",
    ),
    "target_checkout": Table(
        "id:str code:str?/matter",
        tentative={},
        noun="the checkout at Target with the promo code {code}",
    ),
    # An offer is for items (UPCs), categories and departments. `kind` is percent or amount (cents
    # off, once).
    "target_offers": Table(
        "id:str description:str kind:str worth:int "
        "items:list categories:list departments:list minimum:int starts:str expires:str",
        catalogue=True,
    ),
    "target_clips": Table(
        "id:str offer_id:str/ref clipped_at:str/stamp",
        index=("offer_id",),
        tentative={},
        noun="the clipped Circle offer {offer_id}",
    ),
    "target_points": Table(
        "id:str at:str/stamp what:str/matter points:int/matter order_id:str?/ref",
        index=("order_id", "at"),
        noun="an entry ({what}) of {points} Circle points for the order {order_id}",
    ),
    "target_orders": Table(
        life.ORDER,
        index=life.ORDER_INDEX,
        outward={},
        noun="a Target order ({fulfillment}) placed on {placed_at:moment}",
    ),
    # `discount` of an item is what Circle, the promo code and the RedCard take off together;
    # `circle` and `promo` are the first two of them.
    "target_order_items": Table(
        f"{life.ITEM} circle:int/derived promo:int/derived offer_id:str?/derived "
        "registry_id:str?/ref",
        index=("order_id", "product_id", "offer_id", "registry_id"),
        outward={},
        noun="the item {product_id} (quantity {quantity}) in a Target order",
    ),
    "target_charges": life.CHARGES,
    "target_returns": returns.RETURNS,
    # `owner` is null where the registry is the user's own; `slug` is the end of its link, once it
    # has been shared.
    "target_registries": Table(
        "id:str name:str/matter kind:str/matter event_date:str?/appointed "
        "co_registrant:str?/matter owner:str?/derived created_at:str/stamp slug:str?/stamp",
        index=("created_at",),
        noun="the {kind} registry {name}",
    ),
    "target_wanted": Table(
        "id:str registry_id:str/ref product_id:str/ref quantity:int/matter added_at:str/stamp",
        index=("registry_id",),
        noun="the product {product_id} (quantity {quantity}) in the registry {registry_id}",
    ),
    # Gifts of others; those of the user are among the items of orders.
    "target_gifts": Table(
        "id:str registry_id:str product_id:str quantity:int buyer:str at:str",
        index=("registry_id",),
        catalogue=True,
    ),
}
FREE_FROM = 3500
"""Cents from which shipping is free."""
SHIPPING = 599
"""Cents for shipping an order below `FREE_FROM`."""
SAME_DAY = 999
"""Cents for a same-day delivery."""
RED_CARD = 5
"""Percent off with a RedCard."""
BIRTHDAY = 5
"""Percent off one order in the month of the guest's birthday."""

Fulfillment = Annotated[
    Literal["shipping", "order_pickup", "drive_up", "same_day_delivery"],
    Field(
        description="shipping: by parcel; order_pickup: picked up inside a store; "
        "drive_up: brought out to your car; same_day_delivery: by courier."
    ),
]
LineId = Annotated[str, Field(max_length=64, description="line_item_id, from view_cart.")]
AtStore = Annotated[
    str,
    Field(
        max_length=64,
        description="store_id of the store it comes from; defaults to the preferred store.",
    ),
]
RegistryId = Annotated[
    str,
    Field(max_length=64, description="registry_id, from list_registries or open_registry_link."),
]
OfferId = Annotated[
    str, Field(max_length=64, description="offer_id, from get_circle_offers or get_birthday_offer.")
]


def preferred_store(svc: Service) -> str | None:
    """Return the store_id of the preferred store."""
    return svc.db.rows("target_settings")[0]["preferred_store"]


def choose_store(svc: Service, fulfillment: str, store_id: str | None) -> dict[str, Any] | None:
    """Return the store of an item: the preferred one by default; None for shipping."""
    return baskets.store_for(svc, SHOP, fulfillment, store_id, preferred_store(svc))


def in_store_price(row: Row, at: int) -> int:
    """Return the price in stores, for pickup and same-day delivery too.

    A sale price applies there as well.
    """
    if catalogue.on_special(row, at) or row["in_store"] is None:
        return catalogue.listing_price(row, at)
    return row["in_store"]


def lines(svc: Service) -> list[dict[str, Any]]:
    """Return the cart's lines at current prices."""

    def price(row: Row, store: Row | None) -> int:
        if store is None:
            return catalogue.listing_price(row, svc.now)
        own = stores.shelf(svc, SHOP, row, store)["price"]
        return in_store_price(row, svc.now) if own is None else own

    return baskets.lines(svc, SHOP, price)


# -- offers ----------------------------------------------------------------------------------------
def birthday_month(svc: Service) -> tuple[str, str]:
    """Return the start and end of the current or next birthday month (ISO)."""
    month = int(rules.profile(svc, SHOP)["born"][5:7])
    year = int(svc.time[:4])
    this_month = int(svc.time[5:7])
    if this_month > month:
        year += 1
    next_year, next_month = (year + 1, 1) if month == 12 else (year, month + 1)
    return f"{year}-{month:02d}-01T00:00:00Z", f"{next_year}-{next_month:02d}-01T00:00:00Z"


def birthday_offer(svc: Service) -> Json:
    """Return the birthday offer in the shape of an offer's row."""
    starts, expires = birthday_month(svc)
    return {
        "id": f"birthday-{starts[:4]}",
        "description": f"{BIRTHDAY} percent off one order",
        "kind": "percent",
        "worth": BIRTHDAY,
        "items": [],
        "categories": [],
        "departments": [],
        "minimum": 0,
        "starts": starts,
        "expires": expires,
    }


def find_offer(svc: Service, offer_id: str) -> Row | None:
    """Return the row of a Circle offer, or the birthday offer, or None."""
    birthday = birthday_offer(svc)
    if offer_id == birthday["id"]:
        return birthday
    return svc.db.get("target_offers", offer_id)


def offer_used(svc: Service, offer_id: str) -> bool:
    """Whether an order that was not canceled has used an offer."""
    query = (
        "SELECT 1 FROM target_order_items i JOIN target_orders o ON o.id=i.order_id"
        " WHERE i.offer_id=? AND o.canceled_at IS NULL LIMIT 1"
    )
    return bool(svc.db.sql(query, offer_id))


def offer_shares(offer: Row, cart: list[Row]) -> list[int]:
    """Return the cents that an offer takes off each line."""
    nets = [line["net"] if _is_for(offer, line) else 0 for line in cart]
    if sum(nets) < max(offer["minimum"], 1):
        return [0] * len(cart)
    if offer["kind"] == "amount":
        return rules.split(min(offer["worth"], sum(nets)), nets)
    return [percent(net, offer["worth"]) for net in nets]


def _is_for(offer: Row, line: Row) -> bool:
    if not (offer["items"] or offer["categories"] or offer["departments"]):
        return True
    return (
        line["item_id"] in offer["items"]
        or line["category"] in offer["categories"]
        or line["department"] in offer["departments"]
    )


def clipped(svc: Service) -> list[dict[str, Any]]:
    """Return the clipped offers that are valid now and have not been used."""
    usable = []
    for clip in svc.db.rows("target_clips", order="clipped_at, rowid"):
        offer = find_offer(svc, clip["offer_id"])
        if offer is None or not offer["starts"] <= svc.time < offer["expires"]:
            continue
        if not offer_used(svc, offer["id"]):
            usable.append(offer)
    return usable


def circle(svc: Service, cart: list[Row]) -> list[tuple[int, str | None]]:
    """Return (cents off, offer_id) of each line.

    A line takes one offer only; the offer that is worth most in all goes first.
    """
    offers = [(offer_shares(offer, cart), offer["id"]) for offer in clipped(svc)]
    applied: list[tuple[int, str | None]] = [(0, None)] * len(cart)
    for shares, offer_id in sorted(offers, key=lambda offer: (-sum(offer[0]), offer[1])):
        places = [place for place, cents in enumerate(shares) if cents]
        if any(applied[place][1] is not None for place in places):
            continue
        for place in places:
            applied[place] = (shares[place], offer_id)
    return applied


# -- the cart --------------------------------------------------------------------------------------
def checkout(svc: Service) -> Row:
    """Return the promo code of the next order."""
    return svc.db.rows("target_checkout")[0]


class Priced(NamedTuple):
    """A cart with all that is taken off."""

    lines: list[dict[str, Any]]
    """The lines of `lines`, with `full` (the price before), `circle`, `promo` and `red_card` (cents
    off, in this order), `offer_id`, and `net` (the price after Circle offers)."""
    promo: dict[str, Any] | None
    """The row of the promo code."""
    refusal: str | None
    """The error code of why the promo code does not apply."""


def priced(svc: Service, method: Row | None) -> Priced:
    """Return the cart as it is charged to a payment method."""
    cart = lines(svc)
    for line, (cents, offer_id) in zip(cart, circle(svc, cart), strict=True):
        line |= {
            "full": line["net"],
            "circle": cents,
            "offer_id": offer_id,
            "net": line["net"] - cents,
        }
    promo, refusal, shares = coupons.applied(svc, SHOP, checkout(svc)["code"], cart)
    by_red_card = method is not None and method["type"] == "red_card"
    for line, cents in zip(cart, shares, strict=True):
        rest = line["net"] - cents
        line |= {"promo": cents, "red_card": percent(rest, RED_CARD) if by_red_card else 0}
    return Priced(cart, promo, refusal)


def cart_json(svc: Service) -> Json:
    """Return the cart as JSON, at current prices."""
    cart, promo, refusal = priced(svc, None)
    items = []
    discounts: dict[str, int] = {}
    for line in cart:
        shown = baskets.line_json(line | {"net": line["full"]})
        items.append(shown | {"registry_id": line["registry_id"]})
        if line["offer_id"]:
            total = discounts.get(line["offer_id"], 0) + line["circle"]
            discounts[line["offer_id"]] = total
    applied_promo = None
    if promo is not None:
        applied_promo = {
            "promo_code": promo["code"],
            "holds": refusal is None,
            "reason": refusal or "OK",
        }
    all_shipped = {line["fulfillment"] for line in cart} == {baskets.SHIPPING}
    return {
        "items": items,
        "circle_offers_applied": [
            {"offer_id": offer_id, "discount": cents} for offer_id, cents in discounts.items()
        ],
        "subtotal": sum(line["full"] for line in cart),
        "circle_discount": sum(line["circle"] for line in cart),
        "applied_promo": applied_promo,
        "promo_discount": sum(line["promo"] for line in cart),
        "shipping_option": "standard" if all_shipped else None,
        "total_before_tax": sum(line["net"] - line["promo"] for line in cart),
    }
