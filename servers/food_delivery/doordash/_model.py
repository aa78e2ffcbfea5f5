"""DoorDash's tables, words and fees, and how it shows orders."""

from __future__ import annotations

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _mail as mail
from servers.food_delivery import _orders as orders
from servers.food_delivery import _refunds as refunds
from servers.food_delivery import _rules as rules
from servers.food_delivery._pricing import Tariff, price_json
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import dollars, parse_time

TABLES = {
    "doordash_profile": rules.PROFILE,
    "doordash_addresses": rules.ADDRESSES,
    "doordash_cards": rules.CARDS,
    "doordash_memberships": rules.MEMBERSHIPS,
    "doordash_offers": rules.OFFERS,
    "doordash_restaurants": catalogue.RESTAURANTS,
    "doordash_items": catalogue.ITEMS,
    "doordash_options": catalogue.OPTIONS,
    "doordash_orders": orders.orders_table("dasher_rating:int?/matter reordered_from:str?/manner"),
    "doordash_refund_requests": refunds.REQUESTS,
    "doordash_lines": orders.lines_table("store_id:str?/ref"),
    "doordash_favorites": Table(
        "restaurant_id:str/matter added_at:str/stamp", noun="the favorite {restaurant_id}"
    ),
    # `claims_at` is when the recipient claims the gift and says where it should go (null: never).
    # The order starts then, or when the restaurant opens.
    "doordash_gifts": Table(
        "order_id:str/ref recipient_name:str/matter recipient_phone:str/matter message:str/prose "
        "claims_at:str?/derived claim_by:str/derived",
        outward={},
        noun="a gift to {recipient_name} at {recipient_phone}",
    ),
}
WORDS = rules.Words(
    tables="doordash",
    address="dda",
    card="ddp",
    order="ddo",
    line="ddl",
    window="ddw",
    shop="STORE",
    offer="PROMO",
    slot="SLOT",
    member="DashPass",
    statuses={
        "scheduled": "scheduled",
        "placed": "received",
        "confirmed": "confirmed",
        "preparing": "being_prepared",
        "assigned": "dasher_assigned",
        "on_the_way": "on_the_way",
        "delivered": "delivered",
        "cancelled": "cancelled",
        "awaiting_claim": "awaiting_claim",
        "expired": "expired",
    },
    list_addresses="list_delivery_locations",
    add_address="add_delivery_location",
    list_cards="list_dash_payments",
    add_card="add_dash_payment",
    search="search_stores",
    menu="get_store_menu or get_doubledash_catalog",
    list_offers="get_promos",
    save_offer="save_promo",
    list_orders="get_dash_history",
    windows="get_scheduled_slots",
    quote="preview_dash",
    refund="ddq",
    list_refunds="get_refund_requests",
)
TARIFF = Tariff(
    base=199,
    per_mile=55,
    miles_free=1.5,
    rush=100,
    service=1500,
    service_least=300,
    service_most=1000,
    member_service=500,
    free_from=1200,
    grocery_free_from=3500,
)
SLOT_MINUTES = 20
"""The length of a delivery slot."""
SLOT_DAYS = 7
"""Days for which slots are offered, including today."""
FEE_CONFIRMED = 25
"""Per cent of the items that cancelling costs once the store has confirmed."""
FEE_PREPARING = 60
"""Per cent of the items that cancelling costs once the store is preparing the order."""
BENEFITS = (
    "No delivery fee from $12",
    "Service fee of 5 % instead of 15 %",
    "Promotions for members only",
)
STAGE_TEXTS = {
    "scheduled": "We will send this order to the store in time for your slot.",
    "placed": "Order received; waiting for the store.",
    "confirmed": "The store has accepted your order.",
    "preparing": "The store is preparing your order.",
    "assigned": "A Dasher was found and is on the way to the store.",
    "on_the_way": "Your Dasher is on the way to you.",
    "delivered": "Your order has arrived.",
    "cancelled": "This order was cancelled.",
    "awaiting_claim": "We wait for the recipient to claim the gift and say where to bring it.",
    "expired": "The gift was not claimed in time; it was refunded in full.",
}


def confirm(svc: Service, row: Row) -> None:
    """Mail that an order was placed, and send its final receipt when it is delivered."""
    said = mail.letter(svc, WORDS, row)
    mail.tell(svc, WORDS, "ordered", said)
    mail.tell(svc, WORDS, "delivered", said, due=parse_time(row["delivered_at"]))


def gift_of(svc: Service, row: Row) -> Row | None:
    """Return the gift of an order, if the order is one."""
    return svc.db.get("doordash_gifts", row["id"])


def claimed(svc: Service, gift: Row) -> bool:
    """Return whether the recipient has claimed a gift."""
    return gift["claims_at"] is not None and gift["claims_at"] <= svc.time


def status(svc: Service, row: Row) -> str:
    """Return the state of an order.

    A gift first waits for its recipient, and expires if nobody claims it.
    """
    gift = gift_of(svc, row)
    if gift is None or row["cancelled_at"] is not None or claimed(svc, gift):
        return orders.status(row, svc.time)
    if gift["claims_at"] is not None or svc.time < gift["claim_by"]:
        return "awaiting_claim"
    return "expired"


def cancel_fee(svc: Service, row: Row) -> int | None:
    """Return the cents that cancelling costs now, or None if it is too late."""
    state = status(svc, row)
    if state == "awaiting_claim":
        return 0
    if state == "expired":
        return None
    return orders.cancel_fee(svc, WORDS, row, FEE_CONFIRMED, FEE_PREPARING)


def eta(svc: Service, row: Row) -> int | None:
    """Return the minutes until delivery, or None if they are not known."""
    if status(svc, row) in ("awaiting_claim", "expired"):
        return None
    return orders.eta_min(row, svc.now)


def extra_time(store: Row, restaurant: Row) -> int:
    """Return the minutes that a stop at an add-on store takes."""
    return 5 + round((catalogue.distance(store, restaurant) or 0.0) * 5)


def order_json(svc: Service, row: Row) -> Json:
    """Return an order as the agent sees it."""
    paid = orders.charged(svc, WORDS, row)
    gift = gift_of(svc, row)
    fee = cancel_fee(svc, row)
    state = status(svc, row)
    place = orders.place_of(svc, WORDS, row)
    items = [
        orders.line_json(svc, WORDS, line) | {"store_id": line["store_id"]}
        for line in orders.lines(svc, WORDS, row["id"])
    ]
    refund = refunds.refund_json(svc, WORDS, row, paid.total)
    if gift is not None and state == "expired":
        amount = dollars(paid.total)
        refund = {"amount": amount, "reason": "Gift not claimed", "at": gift["claim_by"]}
    return {
        "order_id": row["id"],
        "status": WORDS.statuses[state],
        "restaurant_id": place["id"],
        "restaurant_name": place["name"],
        "items": items,
        **price_json(paid),
        "promo": orders.promo_json(svc, WORDS, row),
        "payment": rules.card_ref(svc, WORDS, row["method_id"]),
        "drop_off": orders.drop_off(svc, WORDS, row),
        "slot": orders.window_of(row),
        "created_at": row["placed_at"],
        "estimated_minutes": eta(svc, row),
        "arrived_at": row["delivered_at"] if state == "delivered" else None,
        "cancel_fee": None if fee is None else dollars(fee),
        "cancelled_by": row["cancelled_by"],
        "refund": refund,
        "is_gift": gift is not None,
        "reordered_from": row["reordered_from"],
        "store_rating": row["rating"],
        "dasher_rating": row["dasher_rating"],
        "comment": row["comment"],
    }
