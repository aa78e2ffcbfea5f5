"""The life of an order: stages, cancellation, rating, and how an order is shown.

An order is placed, confirmed, prepared, picked up by a courier and delivered, or it is cancelled;
once the restaurant has confirmed it, cancelling costs a fee. The moments of all stages are fixed
when the order is placed, so that its status follows from those moments and the clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _pricing as pricing
from servers.food_delivery import _rules as rules
from servers.food_delivery._pricing import Draft, Price
from servers.food_delivery._rules import Words
from servers.kit.listing import Listing
from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.kit.values import dollars, iso, parse_time

_ORDER = (
    "id:str restaurant_id:str/ref address_id:str?/ref method_id:str/ref offer_id:str?/ref "
    "delivery_fee:int/derived service_fee:int/derived tax:int/derived tip:int/matter "
    "discount:int/derived placed_at:str/stamp starts_at:str/derived confirmed_at:str/derived "
    "preparing_at:str/derived assigned_at:str/derived picked_up_at:str/derived "
    "delivered_at:str/derived courier:str/derived window_start:str?/appointed "
    "window_end:str?/appointed cancelled_at:str?/stamp cancelled_by:str?/derived "
    "cancel_reason:str?/prose cancel_fee:int?/derived refund:int?/derived "
    "refund_reason:str?/derived refunded_at:str?/derived rating:int?/matter comment:str?/prose "
    "rated_at:str?/stamp"
)
_LINE = (
    "id:str order_id:str/ref item_id:str/ref name:str/derived quantity:int/matter "
    "unit_price:int/derived options:list/matter instructions:str?/prose"
)
# The columns of an order's moments, and below them the states: one before each moment and one after
# the last.
STAGES = (
    "starts_at",
    "confirmed_at",
    "preparing_at",
    "assigned_at",
    "picked_up_at",
    "delivered_at",
)
STATES = ("scheduled", "placed", "confirmed", "preparing", "assigned", "on_the_way", "delivered")
COURIERS = (
    "Marisol T.", "Devon K.", "Imani W.", "Piotr S.", "Leila H.", "Andre B.", "Noor A.",
    "Casey M.", "Tuan P.", "Greta L.", "Omar F.", "Bianca R.", "Wes D.", "Yuki N.", "Pilar G.",
    "Hugo V.", "Marisol V.", "Jonas E.", "Ada C.", "Rico J.",
)  # fmt: skip

OrderId = Annotated[str, Field(description="order_id, from the order history.")]


def orders_table(extra: str) -> Any:
    """Return the table of a provider's orders, with that provider's `extra` columns."""
    return rules.Table(
        f"{_ORDER} {extra}".strip(),
        index=("placed_at", "offer_id"),
        outward={},
        noun="an order from {restaurant_id} placed on {placed_at:moment}",
    )


def lines_table(extra: str) -> Any:
    """Return the table of the lines of orders, with the provider's `extra` columns."""
    return rules.Table(
        f"{_LINE} {extra}".strip(),
        index=("order_id",),
        outward={},
        noun="the item {item_id} (quantity {quantity}) in an order of food",
    )


# -- stages ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Pace:
    """How long an order takes, in seconds from its start to each later stage."""

    confirm: int
    prepare: int
    assign: int
    pick_up: int
    deliver: int


def pace(place: Row, away: float, moment: int) -> Pace:
    """Return the pace of an order for a moment, `away` miles from the kitchen.

    It depends on the kitchen's time, which is longer when it is busy, and on the drive.
    """
    confirm = 90 + int(share("confirm", place["id"], moment // 900) * 150)
    prepare = confirm + 60
    kitchen = place["prep"] * 60 + int(catalogue.busy(place, moment) * 720)
    pick_up = prepare + kitchen
    return Pace(
        confirm=confirm,
        prepare=prepare,
        assign=prepare + kitchen // 2,
        pick_up=pick_up,
        deliver=pick_up + 240 + int(away * pricing.PER_MILE),
    )


def stages(place: Row, away: float, moment: int, window: tuple[int, int] | None) -> dict[str, str]:
    """Return the moments of an order's stages; an order for a window is delivered within it."""
    steps = pace(place, away, window[0] if window else moment)
    start = moment
    if window is not None:
        opens, closes = window
        into_window = int(share("late", place["id"], opens) * (closes - opens))
        start = max(moment, opens + into_window - steps.deliver)
    after = (0, steps.confirm, steps.prepare, steps.assign, steps.pick_up, steps.deliver)
    return {stage: iso(start + seconds) for stage, seconds in zip(STAGES, after, strict=True)}


def status(row: Row, now: str) -> str:
    """Return the state of an order (one of STATES, or cancelled) at a moment (ISO)."""
    if row["cancelled_at"] is not None:
        return "cancelled"
    passed = [stage for stage in STAGES if row[stage] <= now]
    return STATES[len(passed)]


def active(row: Row, now: str) -> bool:
    """Return whether an order is still to be delivered."""
    return status(row, now) not in ("delivered", "cancelled")


def eta_min(row: Row, now: int) -> int | None:
    """Return the minutes until delivery, or None if no delivery is to come."""
    if not active(row, iso(now)):
        return None
    seconds = parse_time(row["delivered_at"]) - now
    return max(1, -(-seconds // 60))


# -- orders ----------------------------------------------------------------------------------------
def find_order(svc: Service, words: Words, order_id: str) -> Row:
    """Return an order, or refuse."""
    row = svc.db.get(f"{words.tables}_orders", order_id)
    if row is None:
        message = f"There is no order with the ID {order_id!r}."
        hint = f"Use an order_id from {words.list_orders}."
        svc.fail("ORDER_NOT_FOUND", message, hint, order_id=order_id)
    return row


def orders(
    svc: Service, words: Words, since: str | None = None, until: str | None = None
) -> Listing:
    """Return orders, newest first: all, or those of some local days."""
    listed = Listing(svc.db, f"{words.tables}_orders", by="placed_at")
    return listed.days(since, until, rules.zone(svc, words))


def lines(svc: Service, words: Words, order_id: str) -> list[Row]:
    """Return the lines of an order."""
    return svc.db.rows(f"{words.tables}_lines", "order_id=?", order_id, order="rowid")


def place_of(svc: Service, words: Words, row: Row) -> dict[str, Any]:
    """Return the restaurant or store of an order."""
    return svc.db.get(f"{words.tables}_restaurants", row["restaurant_id"]) or {}


def charged(svc: Service, words: Words, row: Row) -> Price:
    """Return what was charged for an order."""
    return Price(
        subtotal=pricing.subtotal(lines(svc, words, row["id"])),
        delivery=row["delivery_fee"],
        service=row["service_fee"],
        tax=row["tax"],
        tip=row["tip"],
        discount=row["discount"],
    )


def fee_columns(price: Price) -> dict[str, int]:
    """Return a price as the columns of an order."""
    return {
        "delivery_fee": price.delivery,
        "service_fee": price.service,
        "tax": price.tax,
        "tip": price.tip,
        "discount": price.discount,
    }


def submit(
    svc: Service,
    words: Words,
    draft: Draft,
    method_id: str,
    when: dict[str, str] | None = None,
    **extra: Any,
) -> Row:
    """Charge a card for a draft, write the order and its lines, and return the order's row.

    `when` holds the moments of its stages, if they differ from those of an order placed now;
    `extra` holds the provider's own columns.
    """
    card = rules.usable_card(svc, words, method_id)
    away = catalogue.distance(draft.place, draft.address) or 0.0
    order_id = svc.new_id(words.order)
    row = {
        "id": order_id,
        "restaurant_id": draft.place["id"],
        "address_id": draft.address["id"] if draft.address else None,
        "method_id": card["id"],
        "offer_id": draft.offer["id"] if draft.offer else None,
        "placed_at": svc.time,
        "courier": COURIERS[int(share("courier", order_id) * len(COURIERS))],
        "window_start": iso(draft.window[0]) if draft.window else None,
        "window_end": iso(draft.window[1]) if draft.window else None,
        **(when or stages(draft.place, away, svc.now, draft.window)),
        **fee_columns(draft.price),
        **extra,
    }
    order = svc.db.insert(f"{words.tables}_orders", row)
    add_lines(svc, words, order_id, draft.lines)
    return order


def add_lines(svc: Service, words: Words, order_id: str, rows: list[Row]) -> None:
    """Write lines of an order."""
    for row in rows:
        line = {"id": svc.new_id(words.line), "order_id": order_id} | row
        svc.db.insert(f"{words.tables}_lines", line)


def waiting_at(svc: Service, words: Words, address_id: str) -> list[str]:
    """Return the ids of orders still on their way to an address."""
    there = svc.db.rows(
        f"{words.tables}_orders", "address_id=?", address_id, order="placed_at DESC, rowid DESC"
    )
    return [row["id"] for row in there if active(row, svc.time)]


# -- cancelling and rating -------------------------------------------------------------------------
def cancel_fee(svc: Service, words: Words, row: Row, confirmed: int, preparing: int) -> int | None:
    """Return the cents that cancelling costs now, or None if it is too late.

    It is free until the restaurant confirms; then it costs the given per cent of the items, but
    never more than was charged.
    """
    state = status(row, svc.time)
    if state in ("scheduled", "placed"):
        return 0
    if state not in ("confirmed", "preparing", "assigned"):
        return None
    paid = charged(svc, words, row)
    percent = confirmed if state == "confirmed" else preparing
    return min(paid.total, paid.subtotal * percent // 100)


def cancel(svc: Service, words: Words, row: Row, fee: int | None, reason: str) -> None:
    """Cancel one of the customer's orders for a fee, or refuse if it is too late."""
    if fee is None:
        shown = words.statuses[status(row, svc.time)]
        message = f"Order {row['id']} is {shown}."
        hint = "An order can be canceled until the courier picks it up."
        svc.fail("ORDER_NOT_CANCELLABLE", message, hint, order_id=row["id"], status=shown)
    svc.db.update(
        f"{words.tables}_orders",
        row["id"],
        cancelled_at=svc.time,
        cancelled_by="customer",
        cancel_reason=reason,
        cancel_fee=fee,
    )


def cancelled_json(row: Row, fee: int, paid: int) -> Json:
    """Return the reply to a cancellation; `fee` and `paid` are in cents."""
    refunded = dollars(paid - fee)
    return {"order_id": row["id"], "canceled": True, "fee": dollars(fee), "refunded": refunded}


def rate(svc: Service, words: Words, row: Row, **given: Any) -> None:
    """Rate a delivered order, once and within 30 days."""
    shown = words.statuses[status(row, svc.time)]
    if status(row, svc.time) != "delivered":
        message = f"Order {row['id']} is {shown}."
        hint = "You can rate it once it has been delivered."
        svc.fail("ORDER_NOT_DELIVERED", message, hint, order_id=row["id"], status=shown)
    if row["rated_at"] is not None:
        message = f"You already gave order {row['id']} a rating of {row['rating']}."
        hint = "A rating cannot be changed."
        svc.fail("ALREADY_RATED", message, hint, order_id=row["id"], rating=row["rating"])
    if svc.now - parse_time(row["delivered_at"]) > 30 * 86_400:
        message = f"Order {row['id']} was delivered on {row['delivered_at']}."
        hint = "Orders can be rated within 30 days of delivery."
        svc.fail("RATING_WINDOW_CLOSED", message, hint, order_id=row["id"])
    svc.db.update(f"{words.tables}_orders", row["id"], rated_at=svc.time, **given)


# -- for the agent ---------------------------------------------------------------------------------
def line_json(svc: Service, words: Words, line: Row) -> Json:
    """Return a line of an order as the agent sees it."""
    return {
        "item_id": line["item_id"],
        "name": line["name"],
        "quantity": line["quantity"],
        "unit_price": dollars(line["unit_price"]),
        "options": catalogue.option_names(svc, words, line["item_id"], line["options"]),
        "special_instructions": line["instructions"],
    }


def drop_off(svc: Service, words: Words, row: Row) -> Json | None:
    """Return the address of an order; its address_id is null once the address was removed."""
    if not row["address_id"]:
        return None
    address = svc.db.get(f"{words.tables}_addresses", row["address_id"])
    if address is None:
        return None
    saved = address["removed_at"] is None
    return rules.address_json(address) | {"address_id": address["id"] if saved else None}


def promo_json(svc: Service, words: Words, row: Row) -> Json | None:
    """Return the promotion that an order used, with the discount."""
    if row["offer_id"] is None:
        return None
    offer = rules.find_offer(svc, words, row["offer_id"])
    return {"offer_id": offer["id"], "title": offer["title"], "discount": dollars(row["discount"])}


def window_of(row: Row) -> Json | None:
    """Return the window that an order was scheduled for."""
    if row["window_start"] is None:
        return None
    return {"start_time": row["window_start"], "end_time": row["window_end"]}


def refund_json(row: Row, paid: int) -> Json | None:
    """Return what was refunded for an order, with the reason and the moment."""
    if row["cancelled_at"] is not None:
        amount = paid - (row["cancel_fee"] or 0)
        reason = row["cancel_reason"]
        return {"amount": dollars(amount), "reason": reason, "at": row["cancelled_at"]}
    if row["refund"] is None:
        return None
    amount = dollars(row["refund"])
    return {"amount": amount, "reason": row["refund_reason"], "at": row["refunded_at"]}


def timeline(row: Row, words: Words, now: str) -> list[dict[str, str]]:
    """Return the stages that an order has reached, with their moments."""
    end = row["cancelled_at"] or now
    passed = [
        {"status": words.statuses[state], "at": row[stage]}
        for state, stage in zip(STATES[1:], STAGES, strict=True)
        if row[stage] <= end
    ]
    if row["cancelled_at"]:
        passed.append({"status": words.statuses["cancelled"], "at": end})
    return passed


def courier_of(row: Row, now: str) -> str | None:
    """Return the courier's name once one has been assigned."""
    return row["courier"] if row["assigned_at"] <= (row["cancelled_at"] or now) else None
