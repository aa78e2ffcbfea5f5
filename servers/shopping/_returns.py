"""Returns of items: how long they are possible, their progress, and what they refund."""

from __future__ import annotations

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import iso, parse_time
from servers.shopping import _orders as life
from servers.shopping._rules import DAY, Shop

RETURNS = Table(
    "id:str order_id:str/ref item_id:str/ref reason:str/prose method:str/matter "
    "requested_at:str/stamp received_at:str/derived refunded_at:str/derived",
    index=("order_id", "item_id", "requested_at"),
    outward={},
    noun="a return of {item_id} from the order {order_id}",
)
TRAVEL = {"mail": (6 * DAY, 2 * DAY), "store": (DAY, 0), "drive_up": (DAY, 0)}
"""By method: seconds until a return is received, and from then until it is refunded."""


def return_days(svc: Service, shop: Shop, product: Row) -> int | None:
    """Return the number of days in which a product can be returned, or None for never."""
    item = svc.db.get("shopping_items", product["item_id"]) or {}
    if item["final_sale"] or item["food"]:
        return None
    return shop.electronics_days if item["department"] == "Electronics" else shop.return_days


def return_by(row: Row, days: int | None) -> str | None:
    """Return the last moment at which a return can be requested, or None."""
    if days is None or row["done_at"] is None:
        return None
    return iso(parse_time(row["done_at"]) + days * DAY)


def open_return(
    svc: Service,
    shop: Shop,
    row: Row,
    item: Row,
    reason: str,
    method: str,
    days: int | None,
) -> Json:
    """Open a return of an order's item and return its row.

    Its refund is entered for the day on which it is due.
    """
    _require_returnable(svc, shop, row, item, days)
    travel, handling = TRAVEL[method]
    received = svc.now + travel
    opened = {
        "id": svc.new_id(shop.ids + "x"),
        "order_id": row["id"],
        "item_id": item["id"],
        "reason": reason,
        "method": method,
        "requested_at": svc.time,
        "received_at": iso(received),
        "refunded_at": iso(received + handling),
    }
    svc.db.insert(f"{shop.tables}_returns", opened)
    unrefunded = item_paid(item) + item_refunds(svc, shop, item["id"])
    refund = max(min(unrefunded, left_to_refund(svc, shop, row)), 0)
    life.charge(svc, shop, row, -refund, "return", at=opened["refunded_at"], ref=opened["id"])
    return opened


def _require_returnable(svc: Service, shop: Shop, row: Row, item: Row, days: int | None) -> None:
    state = life.status(row, svc.time)
    if state not in ("delivered", "picked_up"):
        message = f"Order {row['id']} is {state}; only items you have received can be returned."
        svc.fail(
            "RETURN_NOT_ALLOWED",
            message,
            "Wait until you have received it, or cancel it before it ships.",
            status=state,
        )
    if days is None:
        svc.fail(
            "ITEM_NOT_RETURNABLE",
            f"{item['title']} cannot be returned.",
            "Food and final-sale products cannot be returned.",
        )
    if item.get("outcome") is not None:
        message = f"{item['title']} was out of stock, so it was {item['outcome']}."
        svc.fail(
            "ITEM_NOT_RETURNABLE",
            message,
            "If you received a substitute, take it back to the store.",
            outcome=item["outcome"],
        )
    last = return_by(row, days) or ""
    if svc.time > last:
        message = f"{item['title']} could only be returned until {last[:10]}."
        svc.fail(
            "RETURN_WINDOW_CLOSED",
            message,
            f"Returns are accepted for {days} days after delivery or pickup.",
            return_by=last,
        )
    earlier = svc.db.rows(f"{shop.tables}_returns", "item_id=?", item["id"])
    if earlier:
        opened_on = earlier[0]["requested_at"][:10]
        message = f"You already opened a return of {item['title']} on {opened_on}."
        svc.fail(
            "ALREADY_RETURNED",
            message,
            f"Check its status with {shop.returns}.",
            return_id=earlier[0]["id"],
        )


def item_paid(item: Row) -> int:
    """Return what an item cost, less its discount and with its tax."""
    return item["unit_price"] * item["quantity"] - item["discount"] + item["tax"]


def left_to_refund(svc: Service, shop: Shop, row: Row) -> int:
    """Return the cents paid for an order's products and not refunded, now or later."""
    return life.entered(svc, shop, "order_id", row["id"]) - row["shipping"] - row["fees"]


def item_refunds(svc: Service, shop: Shop, item_id: str) -> int:
    """Return what was refunded for an item other than by a return, e.g. by a price match.

    The result is zero or a negative number of cents.
    """
    return life.entered(svc, shop, "ref", item_id)


def find_return(svc: Service, shop: Shop, return_id: str) -> Row:
    """Return a return's row, or refuse."""
    row = svc.db.get(f"{shop.tables}_returns", return_id)
    if row is None:
        svc.fail(
            "RETURN_NOT_FOUND",
            f"There is no return with the ID {return_id!r}.",
            f"Use a return_id from {shop.returns}.",
            return_id=return_id,
        )
    return row


def return_status(row: Row, now: str) -> str:
    """Return requested (on its way back), received or refunded."""
    if now < row["received_at"]:
        return "requested"
    return "received" if now < row["refunded_at"] else "refunded"


def return_sum(svc: Service, shop: Shop, return_id: str) -> int:
    """Return the cents that a return refunds."""
    return -life.entered(svc, shop, "ref", return_id)
