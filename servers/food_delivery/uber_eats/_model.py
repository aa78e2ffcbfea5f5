"""Uber Eats' tables, words and fees; how shoppers fill grocery orders; how orders are shown."""

from __future__ import annotations

from typing import Any, NamedTuple

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _mail as mail
from servers.food_delivery import _orders as orders
from servers.food_delivery import _refunds as refunds
from servers.food_delivery import _rules as rules
from servers.food_delivery._pricing import Tariff, price_json
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import dollars, iso, parse_time

TABLES = {
    "uber_eats_profile": rules.PROFILE,
    "uber_eats_addresses": rules.ADDRESSES,
    "uber_eats_cards": rules.CARDS,
    "uber_eats_memberships": rules.MEMBERSHIPS,
    "uber_eats_offers": rules.OFFERS,
    "uber_eats_restaurants": catalogue.RESTAURANTS,
    "uber_eats_items": catalogue.ITEMS,
    "uber_eats_options": catalogue.OPTIONS,
    "uber_eats_orders": orders.orders_table("group_id:str?/ref idempotency_key:str?/session"),
    "uber_eats_refund_requests": refunds.REQUESTS,
    "uber_eats_lines": orders.lines_table("participant:str?/matter"),
    "uber_eats_substitutions": Table(
        "id:str order_id:str/ref item_id:str/ref preference:str/matter substitute_id:str?/ref "
        "set_at:str/stamp",
        index=("order_id",),
        noun="the choice {preference} for {item_id} if it is out of stock",
    ),
    "uber_eats_groups": Table(
        "id:str restaurant_id:str/ref host:str/derived created_at:str/stamp "
        "deadline_at:str/derived order_id:str?/ref",
        index=("created_at",),
        tentative={"order_id": {"exists": False}},
        noun="a group order from {restaurant_id} created on {created_at:moment}",
    ),
    "uber_eats_group_members": Table(
        "id:str group_id:str/ref name:str/matter joined_at:str/stamp",
        index=("group_id",),
        tentative={},
        noun="the participant {name} of a group order",
    ),
    "uber_eats_group_items": Table(
        "id:str group_id:str/ref member:str/matter item_id:str/ref name:str/derived "
        "quantity:int/matter unit_price:int/derived options:list/matter instructions:str?/prose",
        index=("group_id",),
        tentative={},
        noun="the item {item_id} (quantity {quantity}) of {member} in a group order",
    ),
}
WORDS = rules.Words(
    tables="uber_eats",
    address="uea",
    card="uep",
    order="ueo",
    line="uel",
    window="uew",
    shop="RESTAURANT",
    offer="OFFER",
    slot="WINDOW",
    member="Uber One",
    statuses={
        "scheduled": "scheduled",
        "placed": "placed",
        "confirmed": "confirmed",
        "preparing": "preparing",
        "assigned": "courier_assigned",
        "on_the_way": "picked_up",
        "delivered": "delivered",
        "cancelled": "canceled",
    },
    list_addresses="list_delivery_addresses",
    add_address="register_delivery_address",
    list_cards="get_registered_payments",
    add_card="register_payment_method",
    search="search_restaurants or search_grocery_stores",
    menu="get_menu or get_grocery_catalog",
    list_offers="get_available_offers",
    save_offer="save_offer",
    list_orders="get_order_history",
    windows="get_delivery_windows",
    quote="get_order_quote",
    refund="ueq",
    list_refunds="list_refund_requests",
)
TARIFF = Tariff(
    base=149,
    per_mile=70,
    miles_free=1.0,
    rush=150,
    service=1500,
    service_least=199,
    service_most=1200,
    member_service=1000,
    free_from=1500,
    grocery_free_from=3500,
)
WINDOW_MINUTES = 30
"""The length of a delivery window."""
WINDOW_DAYS = 2
"""Local days, including today, that the next 24 hours can touch."""
FEE_CONFIRMED = 40
"""Per cent of the items that cancelling costs once the restaurant has confirmed."""
FEE_PREPARING = 40
"""Per cent of the items that cancelling costs once the order is being prepared."""
ASKS_FOR = 480
"""Seconds that the shopper waits for an answer, unless the bags leave the store earlier."""
BENEFITS = (
    "No delivery fee on restaurant orders from $15",
    "No delivery fee on grocery orders from $35",
    "Service fee of 10 % instead of 15 %",
    "Offers for members only",
)
STAGE_TEXTS = {
    "scheduled": "Your order waits for its delivery window.",
    "placed": "The restaurant is about to confirm your order.",
    "confirmed": "The restaurant has confirmed your order.",
    "preparing": "Your order is being prepared.",
    "assigned": "Your courier is heading to the restaurant.",
    "on_the_way": "Your courier has picked up your order and is on the way.",
    "delivered": "Your order was delivered.",
    "cancelled": "Your order was canceled.",
}


# -- places ----------------------------------------------------------------------------------------
def any_place(svc: Service, place_id: str) -> Row:
    """Return a restaurant or grocery store by its id, or refuse."""
    row = svc.db.get("uber_eats_restaurants", place_id)
    return row if row is not None else catalogue.find_place(svc, WORDS, place_id)


def place_ref(place: Row) -> Json:
    """Return the restaurant_id or store_id (the other is null) and the name of a place."""
    grocery = place["kind"] == "grocery"
    return {
        "restaurant_id": None if grocery else place["id"],
        "store_id": place["id"] if grocery else None,
        "restaurant_name": place["name"],
    }


# -- how a shopper fills a grocery order -----------------------------------------------------------
# None of this is stored: the outcome of a line is a function of what is on the shelf when the
# shopper gets to it, and of the preference set by then.
class Outcome(NamedTuple):
    """The outcome of a line: `change` is its effect on the price in cents, `item` the substitute.

    `state` is pending, found, asking, refunded or substituted.
    """

    state: str
    change: int = 0
    item: dict[str, Any] | None = None


def is_grocery(svc: Service, row: Row) -> bool:
    """Return whether an order is a grocery order."""
    return orders.place_of(svc, WORDS, row).get("kind") == "grocery"


def picked_at(row: Row, place: int, count: int) -> int:
    """Return when the shopper gets to the line at a place among `count` lines.

    The lines are spread evenly over the shopping time.
    """
    first = parse_time(row["preparing_at"])
    last = parse_time(row["picked_up_at"])
    return first + (last - first) * (place + 1) // (count + 1)


def preference_for(svc: Service, order_id: str, item_id: str, until: str) -> Row | None:
    """Return the latest preference for an item that was set by a moment (ISO)."""
    rows = svc.db.rows(
        "uber_eats_substitutions",
        "order_id=? AND item_id=? AND set_at<=?",
        order_id,
        item_id,
        until,
        order="rowid",
    )
    return rows[-1] if rows else None


def outcome(svc: Service, row: Row, line: Row, moment: int) -> Outcome:
    """Return the outcome of a line as of now; `moment` is when the shopper gets to it.

    Without a preference, an item that is out of stock is refunded.
    """
    cancelled_first = row["cancelled_at"] is not None and row["cancelled_at"] < iso(moment)
    if svc.now < moment or cancelled_first:
        return Outcome("pending")
    wanted = svc.db.get("uber_eats_items", line["item_id"]) or {}
    if catalogue.available(wanted, moment):
        return Outcome("found")
    wish = preference_for(svc, row["id"], line["item_id"], iso(moment))
    if _asks(wish):
        deadline = min(moment + ASKS_FOR, parse_time(row["picked_up_at"]))
        wish = preference_for(svc, row["id"], line["item_id"], iso(deadline))
        if _asks(wish) and svc.now < deadline:
            return Outcome("asking")
    substitute = None
    if wish is not None and wish["preference"] == "substitute":
        if wish["substitute_id"] is None:
            substitute = best(svc, wanted, moment)
        else:
            substitute = svc.db.get("uber_eats_items", wish["substitute_id"])
    if substitute is None or not catalogue.available(substitute, moment):
        return Outcome("refunded", -line["unit_price"] * line["quantity"])
    change = (substitute["price"] - line["unit_price"]) * line["quantity"]
    return Outcome("substituted", change, substitute)


def _asks(wish: Row | None) -> bool:
    return wish is not None and wish["preference"] == "contact_me"


def best(svc: Service, wanted: Row, moment: int) -> dict[str, Any] | None:
    """Return the available item of the same section whose price is closest."""
    shelf = svc.db.rows(
        "uber_eats_items",
        "restaurant_id=? AND section=? AND id<>?",
        wanted["restaurant_id"],
        wanted["section"],
        wanted["id"],
    )
    items = [item for item in shelf if catalogue.available(item, moment)]
    return min(items, key=lambda i: (abs(i["price"] - wanted["price"]), i["id"]), default=None)


def outcomes(svc: Service, row: Row) -> list[tuple[dict[str, Any], Outcome | None]]:
    """Return the lines of an order, each with its outcome (None if it is an order of meals)."""
    lines = orders.lines(svc, WORDS, row["id"])
    if not is_grocery(svc, row):
        return [(line, None) for line in lines]
    results = []
    for number, line in enumerate(lines):
        result = outcome(svc, row, line, picked_at(row, number, len(lines)))
        if row["cancelled_at"] is not None:
            result = result._replace(change=0)
        results.append((line, result))
    return results


def adjustment(svc: Service, row: Row) -> int:
    """Return the cents by which replaced and missing items change what was charged.

    A promotion never takes off more than the items that were bought cost.
    """
    if row["cancelled_at"] is not None:
        return 0
    changes = 0
    bought = 0
    for line, result in outcomes(svc, row):
        change = result.change if result is not None else 0
        changes += change
        bought += line["unit_price"] * line["quantity"] + change
    return changes + max(0, row["discount"] - bought)


# -- mail ------------------------------------------------------------------------------------------
def confirm(svc: Service, row: Row) -> None:
    """Mail that an order was placed, and when its time has come that it was delivered."""
    mail.tell(svc, WORDS, "ordered", mail.letter(svc, WORDS, row))
    moment = parse_time(row["delivered_at"])
    mail.tell(svc, WORDS, "delivered", delivered(svc, row), due=moment)


def delivered(svc: Service, row: Row) -> Json:
    """Return the fields of the mail about a delivery, with what the shopper has found by now."""
    changes = []
    for line, result in outcomes(svc, row):
        if result is not None and result.item is not None:
            changes.append(f"{line['name']} was replaced with {result.item['name']}.")
        elif result is not None and result.state == "refunded":
            changes.append(f"{line['name']} was out of stock.")
    said = mail.letter(svc, WORDS, row)
    change = adjustment(svc, row)
    return said | {
        "changes": changes,
        "taken_off": -change if change < 0 else None,
        "added": change if change > 0 else None,
        "total": said["total"] + change,
    }


# -- for the agent ---------------------------------------------------------------------------------
def lines_json(svc: Service, row: Row) -> list[dict[str, Any]]:
    """Return the lines of an order as the agent sees them.

    Lines of groceries include the preference and the outcome.
    """
    shown = []
    for line, result in outcomes(svc, row):
        item = orders.line_json(svc, WORDS, line) | {"participant_name": line["participant"]}
        if result is not None:
            item |= _fulfillment_json(svc, row, line, result)
        shown.append(item)
    return shown


def _fulfillment_json(svc: Service, row: Row, line: Row, result: Outcome) -> Json:
    wish = preference_for(svc, row["id"], line["item_id"], svc.time)
    replaced_by = None
    if result.item is not None:
        replaced_by = {
            "item_id": result.item["id"],
            "name": result.item["name"],
            "price": dollars(result.item["price"]),
        }
    return {
        "substitution_preference": wish["preference"] if wish else "refund",
        "substitute_item_id": wish["substitute_id"] if wish else None,
        "fulfillment": result.state,
        "replaced_by": replaced_by,
        "adjustment": dollars(result.change),
    }


def order_json(svc: Service, row: Row) -> Json:
    """Return an order as the agent sees it."""
    place = orders.place_of(svc, WORDS, row)
    state = orders.status(row, svc.time)
    paid = orders.charged(svc, WORDS, row)
    change = adjustment(svc, row)
    fee = orders.cancel_fee(svc, WORDS, row, FEE_CONFIRMED, FEE_PREPARING)
    return {
        "order_id": row["id"],
        **place_ref(place),
        "items": lines_json(svc, row),
        **price_json(paid),
        "adjustment": dollars(change),
        "total": dollars(paid.total + change),
        "status": WORDS.statuses[state],
        "created_at": row["placed_at"],
        "scheduled_for": orders.window_of(row),
        "applied_promo": orders.promo_json(svc, WORDS, row),
        "delivery_address": orders.drop_off(svc, WORDS, row),
        "payment_method": rules.card_ref(svc, WORDS, row["method_id"]),
        "group_order_id": row["group_id"],
        "eta_min": orders.eta_min(row, svc.now),
        "delivered_at": row["delivered_at"] if state == "delivered" else None,
        "cancellation_fee": None if fee is None else dollars(fee),
        "canceled_by": row["cancelled_by"],
        "refund": refunds.refund_json(svc, WORDS, row, paid.total),
        "rating": row["rating"],
        "comment": row["comment"],
    }


def summary_json(svc: Service, row: Row) -> Json:
    """Return an order as the history shows it."""
    total = orders.charged(svc, WORDS, row).total + adjustment(svc, row)
    return {
        "order_id": row["id"],
        **place_ref(orders.place_of(svc, WORDS, row)),
        "total": dollars(total),
        "status": WORDS.statuses[orders.status(row, svc.time)],
        "created_at": row["placed_at"],
    }
