"""Target's tables and words; prices online and in stores; the cart with Circle offers, promo code and RedCard."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.service import Service
from servers.kit.store import Table
from servers.shopping import _baskets as baskets
from servers.shopping import _catalogue as catalogue
from servers.shopping import _coupons as coupons
from servers.shopping import _orders as life
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
    ),
    "target_settings": Table("id:str preferred_store:str?"),
    "target_addresses": rules.ADDRESSES,
    "target_methods": rules.METHODS,
    "target_gift_cards": rules.GIFT_CARDS,
    "target_products": Table(
        catalogue.LISTING + " in_store:int?", search=("title", "words"), index=("family", "item_id")
    ),
    "target_reviews": catalogue.REVIEWS,
    "target_stores": stores.STORES,
    "target_shelves": stores.SHELVES,
    "target_coupons": coupons.COUPONS,
    "target_cart": Table(baskets.LINE + " registry_id:str?"),
    "target_checkout": Table("id:str code:str?"),
    # What an offer is for: items (UPCs), categories, departments; `kind` is percent or amount (cents off, once).
    "target_offers": Table(
        "id:str description:str kind:str worth:int items:list categories:list departments:list minimum:int starts:str expires:str"
    ),
    "target_clips": Table("id:str offer_id:str clipped_at:str", index=("offer_id",)),
    "target_points": Table("id:str at:str what:str points:int order_id:str?", index=("order_id",)),
    "target_orders": Table(life.ORDER, index=life.ORDER_INDEX),
    # `discount` of an item is what Circle, the promo code and the RedCard take off together; the first two are told apart.
    "target_order_items": Table(
        life.ITEM + " circle:int promo:int offer_id:str? registry_id:str?",
        index=("order_id", "product_id"),
    ),
    "target_charges": life.CHARGES,
    "target_returns": life.RETURNS,
    # `owner` is null where the registry is the user's own; `slug` is the end of its link, once it was shared.
    "target_registries": Table(
        "id:str name:str kind:str event_date:str? co_registrant:str? owner:str? created_at:str slug:str?"
    ),
    "target_wanted": Table(
        "id:str registry_id:str product_id:str quantity:int added_at:str", index=("registry_id",)
    ),
    # What others gave; what the user gave is among the items of orders.
    "target_gifts": Table(
        "id:str registry_id:str product_id:str quantity:int buyer:str at:str",
        index=("registry_id",),
    ),
}
FREE_FROM = 3500
SHIPPING = 599
SAME_DAY = 999
"""Cents: from which shipping is free; what it costs below; what a same-day delivery costs."""
RED_CARD = 5
"""Percent off with a RedCard."""
BIRTHDAY = 5
"""Percent off one order in the month of the birthday."""

Fulfillment = Annotated[
    Literal["shipping", "order_pickup", "drive_up", "same_day_delivery"],
    Field(
        description="shipping: a parcel; order_pickup: collected in a store; drive_up: brought to the car; same_day_delivery: by courier"
    ),
]
LineId = Annotated[str, Field(max_length=64, description="line_item_id, from view_cart.")]
AtStore = Annotated[
    str,
    Field(max_length=64, description="store_id it comes from; the preferred store when left out."),
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
    """Return the store of an item, the preferred one unless another is named; None for shipping."""
    return baskets.store_for(svc, SHOP, fulfillment, store_id, preferred_store(svc))


def in_store_price(row: dict[str, Any], at: int) -> int:
    """Return what a product costs in stores, pickup and same-day delivery included: a sale holds there too."""
    if catalogue.on_special(row, at) or row["in_store"] is None:
        return catalogue.listing_price(row, at)
    return row["in_store"]


def lines(svc: Service) -> list[dict[str, Any]]:
    """Return the cart's lines at the prices of now."""

    def price(row: dict[str, Any], store: dict[str, Any] | None) -> int:
        if store is None:
            return catalogue.listing_price(row, svc.now)
        own = stores.shelf(svc, SHOP, row, store)["price"]
        return in_store_price(row, svc.now) if own is None else own

    return baskets.lines(svc, SHOP, price)


# -- offers -------------------------------------------------------------------------------------------------------
def birthday_month(svc: Service) -> tuple[str, str]:
    """Return the first moments of the present or next birthday month, and of the month after it (ISO)."""
    month = int(rules.profile(svc, SHOP)["born"][5:7])
    year = int(svc.time[:4])
    year += int(svc.time[5:7]) > month
    after = (year + 1, 1) if month == 12 else (year, month + 1)
    return f"{year}-{month:02d}-01T00:00:00Z", f"{after[0]}-{after[1]:02d}-01T00:00:00Z"


def birthday_offer(svc: Service) -> dict[str, Any]:
    """Return the offer of the birthday month as if it were a row."""
    starts, expires = birthday_month(svc)
    made: dict[str, Any] = {
        "id": f"birthday-{starts[:4]}",
        "description": f"{BIRTHDAY} percent off one order",
        "kind": "percent",
        "worth": BIRTHDAY,
    }
    made |= {"items": [], "categories": [], "departments": [], "minimum": 0}
    return made | {"starts": starts, "expires": expires}


def find_offer(svc: Service, offer_id: str) -> dict[str, Any] | None:
    """Return a Circle offer's row or the birthday offer."""
    born = birthday_offer(svc)
    return born if offer_id == born["id"] else svc.db.get("target_offers", offer_id)


def offer_used(svc: Service, offer_id: str) -> bool:
    """Whether an order that stands has used an offer."""
    where = "i.offer_id=? AND o.canceled_at IS NULL"
    return bool(
        svc.db.sql(
            f"SELECT 1 FROM target_order_items i JOIN target_orders o ON o.id=i.order_id WHERE {where} LIMIT 1",
            offer_id,
        )
    )


def offer_shares(offer: dict[str, Any], found: list[dict[str, Any]]) -> list[int]:
    """Return the cents that an offer takes off each line."""
    everything = not (offer["items"] or offer["categories"] or offer["departments"])
    nets = [
        line["net"]
        if everything
        or line["item_id"] in offer["items"]
        or line["category"] in offer["categories"]
        or line["department"] in offer["departments"]
        else 0
        for line in found
    ]
    if sum(nets) < max(offer["minimum"], 1):
        return [0] * len(found)
    if offer["kind"] == "amount":
        return rules.split(min(offer["worth"], sum(nets)), nets)
    return [percent(net, offer["worth"]) for net in nets]


def clipped(svc: Service) -> list[dict[str, Any]]:
    """Return the clipped offers that hold now and have not been used."""
    ids = [r["offer_id"] for r in svc.db.rows("target_clips", order="clipped_at, rowid")]
    known = [o for o in (find_offer(svc, i) for i in ids) if o is not None]
    return [
        o for o in known if o["starts"] <= svc.time < o["expires"] and not offer_used(svc, o["id"])
    ]


def circle(svc: Service, found: list[dict[str, Any]]) -> list[tuple[int, str | None]]:
    """Return (cents off, offer_id) of each line: offers do not add up on a line, the one that is worth most goes first."""
    worth = [(offer_shares(o, found), o["id"]) for o in clipped(svc)]
    given: list[tuple[int, str | None]] = [(0, None)] * len(found)
    for shares, offer_id in sorted(worth, key=lambda w: (-sum(w[0]), w[1])):
        if all(given[n][1] is None for n, cents in enumerate(shares) if cents):
            given = [(cents, offer_id) if cents else given[n] for n, cents in enumerate(shares)]
    return given


# -- the cart -----------------------------------------------------------------------------------------------------
def checkout(svc: Service) -> dict[str, Any]:
    """Return the promo code of the next order."""
    return svc.db.rows("target_checkout")[0]


def priced(
    svc: Service, method: dict[str, Any] | None
) -> tuple[list[dict[str, Any]], dict[str, Any] | None, str | None]:
    """Return the lines with `circle`, `offer_id`, `promo` and `red_card` (cents off, in this order), the code's row, why it fails."""
    found = lines(svc)
    for line, (cents, offer_id) in zip(found, circle(svc, found), strict=True):
        line |= {
            "full": line["net"],
            "circle": cents,
            "offer_id": offer_id,
            "net": line["net"] - cents,
        }
    code = checkout(svc)["code"]
    why = None
    row = svc.db.get("target_coupons", code) if code else None
    shares = [0] * len(found)
    if row is not None:
        place, shares = coupons.worth(svc, SHOP, row, found)
        why = None if place is None else (*SHOP.codes, "CODE_ALREADY_USED")[place]
    red = method is not None and method["type"] == "red_card"
    for line, cents in zip(found, shares, strict=True):
        rest = line["net"] - cents
        line |= {"promo": cents, "red_card": percent(rest, RED_CARD) if red else 0}
    return found, row, why


def cart_json(svc: Service) -> dict[str, Any]:
    """Return the cart for the agent at the prices of now."""
    found, promo, why = priced(svc, None)
    ways = {line["fulfillment"] for line in found}
    taken = {line["offer_id"]: 0 for line in found if line["offer_id"]}
    for line in found:
        if line["offer_id"]:
            taken[line["offer_id"]] += line["circle"]
    return {
        "items": [
            baskets.line_json(line | {"net": line["full"]}) | {"registry_id": line["registry_id"]}
            for line in found
        ],
        "circle_offers_applied": [{"offer_id": k, "discount": v} for k, v in taken.items()],
        "subtotal": sum(line["full"] for line in found),
        "circle_discount": sum(line["circle"] for line in found),
        "applied_promo": {"promo_code": promo["code"], "holds": why is None, "reason": why or "OK"}
        if promo
        else None,
        "promo_discount": sum(line["promo"] for line in found),
        "shipping_option": "standard" if ways == {"shipping"} else None,
        "total_before_tax": sum(line["net"] - line["promo"] for line in found),
    }
