"""An order's life: placed, confirmed, prepared, fetched by a courier, delivered; or cancelled, for a fee once the restaurant has confirmed.

The moments of its stages are worked out when it is placed, so that a status is what those moments and the clock say.
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
from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.values import dollars, iso, parse_time

_ORDER = (
    "id:str restaurant_id:str address_id:str? method_id:str offer_id:str? delivery_fee:int service_fee:int tax:int tip:int discount:int "
    "placed_at:str starts_at:str confirmed_at:str preparing_at:str assigned_at:str picked_up_at:str delivered_at:str courier:str "
    "window_start:str? window_end:str? cancelled_at:str? cancelled_by:str? cancel_reason:str? cancel_fee:int? refund:int? "
    "refund_reason:str? refunded_at:str? rating:int? comment:str? rated_at:str?"
)
_LINE = "id:str order_id:str item_id:str name:str quantity:int unit_price:int options:list instructions:str?"
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
    "Marisol T.", "Devon K.", "Imani W.", "Piotr S.", "Leila H.", "Andre B.", "Noor A.", "Casey M.", "Tuan P.", "Greta L.",
    "Omar F.", "Bianca R.", "Wes D.", "Yuki N.", "Pilar G.", "Hugo V.", "Marisol V.", "Jonas E.", "Ada C.", "Rico J.",
)  # fmt: skip

OrderId = Annotated[str, Field(description="order_id, from the order history.")]


def orders_table(extra: str) -> Any:
    """Return the table of a provider's orders, with columns of its own."""
    return rules.Table(f"{_ORDER} {extra}".strip(), index=("placed_at", "offer_id"))


def lines_table(extra: str) -> Any:
    """Return the table of what orders hold, with columns of its own."""
    return rules.Table(f"{_LINE} {extra}".strip(), index=("order_id",))


# -- stages ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Pace:
    """How long an order takes, in seconds from its start to each later stage."""

    confirm: int
    prepare: int
    assign: int
    pick_up: int
    deliver: int


def pace(place: dict[str, Any], away: float, moment: int) -> Pace:
    """Return how long an order for a moment takes: the kitchen's time, longer while it is busy, and the drive."""
    confirm = 90 + int(share("confirm", place["id"], moment // 900) * 150)
    kitchen = place["prep"] * 60 + int(catalogue.busy(place, moment) * 720)
    prepare = confirm + 60
    return Pace(
        confirm,
        prepare,
        prepare + kitchen // 2,
        prepare + kitchen,
        prepare + kitchen + 240 + int(away * pricing.PER_MILE),
    )


def stages(
    place: dict[str, Any], away: float, moment: int, window: tuple[int, int] | None
) -> dict[str, str]:
    """Return the moments of an order's stages; one for a window is delivered within it."""
    steps = pace(place, away, window[0] if window else moment)
    start = moment
    if window is not None:
        late = int(share("late", place["id"], window[0]) * (window[1] - window[0]))
        start = max(moment, window[0] + late - steps.deliver)
    after = (0, steps.confirm, steps.prepare, steps.assign, steps.pick_up, steps.deliver)
    return {stage: iso(start + seconds) for stage, seconds in zip(STAGES, after, strict=True)}


def status(row: dict[str, Any], now: str) -> str:
    """Return the state of an order (one of STATES, or cancelled) at a moment (ISO)."""
    if row["cancelled_at"] is not None:
        return "cancelled"
    return STATES[sum(row[s] <= now for s in STAGES)]


def active(row: dict[str, Any], now: str) -> bool:
    """Return whether an order is still to be delivered."""
    return status(row, now) not in ("delivered", "cancelled")


def eta_min(row: dict[str, Any], now: int) -> int | None:
    """Return the minutes until delivery, none where there is nothing to come."""
    return (
        max(1, -(-(parse_time(row["delivered_at"]) - now) // 60)) if active(row, iso(now)) else None
    )


# -- orders ----------------------------------------------------------------------------------------
def find_order(svc: Service, words: Words, order_id: str) -> dict[str, Any]:
    """Return an order, or refuse."""
    row = svc.db.get(f"{words.tables}_orders", order_id)
    if row is None:
        hint = f"Take an order_id from {words.list_orders}."
        svc.fail("ORDER_NOT_FOUND", f"There is no order {order_id!r}.", hint, order_id=order_id)
    return row


def orders(svc: Service, words: Words) -> list[dict[str, Any]]:
    """Return all orders, newest first."""
    return svc.db.rows(f"{words.tables}_orders", order="placed_at DESC, rowid DESC")


def lines(svc: Service, words: Words, order_id: str) -> list[dict[str, Any]]:
    """Return what an order holds."""
    return svc.db.rows(f"{words.tables}_lines", "order_id=?", order_id, order="rowid")


def place_of(svc: Service, words: Words, row: dict[str, Any]) -> dict[str, Any]:
    """Return the restaurant or store of an order."""
    return svc.db.get(f"{words.tables}_restaurants", row["restaurant_id"]) or {}


def charged(svc: Service, words: Words, row: dict[str, Any]) -> Price:
    """Return what was charged for an order."""
    goods = pricing.subtotal(lines(svc, words, row["id"]))
    return Price(
        goods, row["delivery_fee"], row["service_fee"], row["tax"], row["tip"], row["discount"]
    )


def fee_columns(found: Price) -> dict[str, int]:
    """Return a price as the columns of an order."""
    fees = {"delivery_fee": found.delivery, "service_fee": found.service, "tax": found.tax}
    return fees | {"tip": found.tip, "discount": found.discount}


def submit(
    svc: Service,
    words: Words,
    made: Draft,
    method_id: str,
    when: dict[str, str] | None = None,
    **extra: Any,
) -> dict[str, Any]:
    """Charge a card for a draft, write order and lines, and return the order's row. `when`: stages, where they are not those of now."""
    card = rules.usable_card(svc, words, method_id)
    away = catalogue.distance(made.place, made.address) or 0.0
    order = svc.new_id(words.order)
    row = {
        "id": order,
        "restaurant_id": made.place["id"],
        "address_id": made.address["id"] if made.address else None,
        "method_id": card["id"],
        "offer_id": made.offer["id"] if made.offer else None,
        "placed_at": svc.time,
        "courier": COURIERS[int(share("courier", order) * len(COURIERS))],
        "window_start": iso(made.window[0]) if made.window else None,
        "window_end": iso(made.window[1]) if made.window else None,
    }
    times = when or stages(made.place, away, svc.now, made.window)
    done = svc.db.insert(f"{words.tables}_orders", row | times | fee_columns(made.price) | extra)
    add_lines(svc, words, order, made.lines)
    return done


def add_lines(svc: Service, words: Words, order_id: str, found: list[dict[str, Any]]) -> None:
    """Write lines of an order."""
    for line in found:
        svc.db.insert(
            f"{words.tables}_lines", {"id": svc.new_id(words.line), "order_id": order_id} | line
        )


def waiting_at(svc: Service, words: Words, address_id: str) -> list[str]:
    """Return the ids of orders still on their way to an address."""
    return [
        r["id"] for r in orders(svc, words) if r["address_id"] == address_id and active(r, svc.time)
    ]


# -- cancelling and rating -------------------------------------------------------------------------
def cancel_fee(
    svc: Service, words: Words, row: dict[str, Any], confirmed: int, preparing: int
) -> int | None:
    """Return what cancelling costs now, in cents: none before the restaurant confirms, then per cent of the items; None: too late.

    It is never more than what was charged.
    """
    state = status(row, svc.time)
    if state in ("scheduled", "placed"):
        return 0
    if state not in ("confirmed", "preparing", "assigned"):
        return None
    paid = charged(svc, words, row)
    return min(
        paid.total, paid.subtotal * (confirmed if state == "confirmed" else preparing) // 100
    )


def cancel(svc: Service, words: Words, row: dict[str, Any], fee: int | None, reason: str) -> None:
    """Cancel an order of one's own for a fee, or refuse where it is too late."""
    if fee is None:
        shown = words.statuses[status(row, svc.time)]
        message = f"Order {row['id']} is {shown}."
        hint = "Orders can be cancelled until the courier has picked them up."
        svc.fail("ORDER_NOT_CANCELLABLE", message, hint, order_id=row["id"], status=shown)
    svc.db.update(
        f"{words.tables}_orders",
        row["id"],
        cancelled_at=svc.time,
        cancelled_by="customer",
        cancel_reason=reason,
        cancel_fee=fee,
    )


def cancelled_json(row: dict[str, Any], fee: int, paid: int) -> dict[str, Any]:
    """Return what cancelling answers."""
    return {
        "order_id": row["id"],
        "canceled": True,
        "fee": dollars(fee),
        "refunded": dollars(paid - fee),
    }


def rate(svc: Service, words: Words, row: dict[str, Any], **given: Any) -> None:
    """Rate a delivered order, once and within 30 days."""
    shown = words.statuses[status(row, svc.time)]
    if status(row, svc.time) != "delivered":
        message = f"Order {row['id']} is {shown}."
        hint = "Rate it once it is delivered."
        svc.fail("ORDER_NOT_DELIVERED", message, hint, order_id=row["id"], status=shown)
    if row["rated_at"] is not None:
        message = f"Order {row['id']} was rated with {row['rating']}."
        hint = "A rating cannot be changed."
        svc.fail("ALREADY_RATED", message, hint, order_id=row["id"], rating=row["rating"])
    if svc.now - parse_time(row["delivered_at"]) > 30 * 86_400:
        message = f"Order {row['id']} was delivered on {row['delivered_at']}."
        hint = "Orders can be rated for 30 days."
        svc.fail("RATING_WINDOW_CLOSED", message, hint, order_id=row["id"])
    svc.db.update(f"{words.tables}_orders", row["id"], rated_at=svc.time, **given)


# -- for the agent ---------------------------------------------------------------------------------
def line_json(svc: Service, words: Words, line: dict[str, Any]) -> dict[str, Any]:
    """Return a line of an order for the agent."""
    return {
        "item_id": line["item_id"],
        "name": line["name"],
        "quantity": line["quantity"],
        "unit_price": dollars(line["unit_price"]),
        "options": catalogue.option_names(svc, words, line["item_id"], line["options"]),
        "special_instructions": line["instructions"],
    }


def drop_off(svc: Service, words: Words, row: dict[str, Any]) -> dict[str, Any] | None:
    """Return where an order goes; the address_id only while the address is saved."""
    found = (
        svc.db.get(f"{words.tables}_addresses", row["address_id"]) if row["address_id"] else None
    )
    if found is None:
        return None
    return rules.address_json(found) | {"address_id": None if found["removed_at"] else found["id"]}


def promo_json(svc: Service, words: Words, row: dict[str, Any]) -> dict[str, Any] | None:
    """Return the promotion that an order used, with what it took off."""
    if row["offer_id"] is None:
        return None
    offer = rules.find_offer(svc, words, row["offer_id"])
    return {"offer_id": offer["id"], "title": offer["title"], "discount": dollars(row["discount"])}


def window_of(row: dict[str, Any]) -> dict[str, Any] | None:
    """Return the window that an order was scheduled for."""
    return (
        None
        if row["window_start"] is None
        else {"start_time": row["window_start"], "end_time": row["window_end"]}
    )


def refund_json(row: dict[str, Any], paid: int) -> dict[str, Any] | None:
    """Return what was given back for an order, why and when."""
    if row["cancelled_at"] is not None:
        fee = row["cancel_fee"] or 0
        return {
            "amount": dollars(paid - fee),
            "reason": row["cancel_reason"],
            "at": row["cancelled_at"],
        }
    if row["refund"] is None:
        return None
    return {
        "amount": dollars(row["refund"]),
        "reason": row["refund_reason"],
        "at": row["refunded_at"],
    }


def timeline(row: dict[str, Any], words: Words, now: str) -> list[dict[str, str]]:
    """Return the stages that an order has been through, with their moments."""
    end = row["cancelled_at"] or now
    done = [
        {"status": words.statuses[s], "at": row[c]}
        for s, c in zip(STATES[1:], STAGES, strict=True)
        if row[c] <= end
    ]
    return (
        [*done, {"status": words.statuses["cancelled"], "at": end}] if row["cancelled_at"] else done
    )


def courier_of(row: dict[str, Any], now: str) -> str | None:
    """Return the courier's name once one was assigned."""
    return row["courier"] if row["assigned_at"] <= (row["cancelled_at"] or now) else None
