"""Missing items and refunds: what is asked for after a delivery, and what comes of it.

A request is decided some time after it was made. Neither the decision nor the amount is stored:
both follow from the request, its order and the current time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Annotated, Literal

from pydantic import Field

from servers.food_delivery import _mail as mail
from servers.food_delivery import _orders as orders
from servers.food_delivery import _rules as rules
from servers.food_delivery._catalogue import PlainItem
from servers.food_delivery._rules import Words
from servers.kit.listing import Listing
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import dollars, iso, page, parse_time

REQUESTS = Table(
    "id:str order_id:str/ref problem:str/matter items:list/matter details:str?/prose "
    "requested_at:str/stamp",
    index=("order_id", "requested_at"),
    outward={},
    noun="a refund request ({problem}) for the order {order_id}",
)
DAY = 86_400
DECIDED_AFTER = {"missing_items": 300, "wrong_items": 1800, "poor_quality": 7200}
"""Seconds from a request to its decision; what is not listed takes a day."""
HALF = "poor_quality"
"""The problem for which half of an item's price is refunded."""
Problem = Annotated[
    Literal["wrong_items", "poor_quality", "never_arrived"],
    Field(description="What was wrong; for missing items, there is a tool of its own."),
]
Concerned = Annotated[
    list[PlainItem],
    Field(min_length=1, max_length=40, description="The items that it is about, by item_id."),
]
Details = Annotated[
    str, Field(min_length=1, max_length=1000, description="What happened, in a few words.")
]


def request(
    svc: Service,
    words: Words,
    row: Row,
    problem: str,
    items: Collection[PlainItem],
    details: str | None,
    *,
    days: int,
    taken_back: Collection[str] = (),
) -> Row:
    """Ask for a refund for items of a delivered order, and return the request's row.

    It is refused more than `days` days after the delivery, for items that the order does not have,
    and for what was asked for before. `taken_back` are items that were refunded before the
    delivery.
    """
    _delivered(svc, words, row, days)
    if problem == "never_arrived":
        wanted = Counter(_ordered(svc, words, row, taken_back))
    else:
        wanted = Counter[str]()
        for item in items:
            wanted[item["item_id"]] += item["quantity"]
        _in_order(svc, words, row, wanted, taken_back)
    asked = Counter[str]()
    for earlier in of_order(svc, words, row["id"]):
        for item in earlier["items"]:
            asked[item["item_id"]] += item["quantity"]
    left = Counter(_ordered(svc, words, row, taken_back))
    left.subtract(asked)
    twice = sorted(item for item, count in wanted.items() if count > left[item])
    if twice:
        message = "A refund for these items has already been requested."
        hint = f"See {words.list_refunds} for what became of it."
        svc.fail("ALREADY_REQUESTED", message, hint, order_id=row["id"], items=twice)
    made = svc.db.insert(
        f"{words.tables}_refund_requests",
        {
            "id": svc.new_id(words.refund),
            "order_id": row["id"],
            "problem": problem,
            "items": [{"item_id": item, "quantity": count} for item, count in wanted.items()],
            "details": details,
            "requested_at": svc.time,
        },
    )
    _tell(svc, words, row, made)
    return made


def _tell(svc: Service, words: Words, row: Row, asked: Row) -> None:
    """Mail that a refund was asked for, and what was decided once that is known."""
    amount = worth(svc, words, asked)
    decided = decided_at(asked)
    said = mail.letter(svc, words, row) | {
        "request": asked["id"],
        "reason": asked["problem"].replace("_", " "),
        "decided_at": iso(decided),
        "refund": amount,
    }
    mail.tell(svc, words, "refund_requested", said, about=asked["id"])
    outcome = "refunded" if amount else "refund_declined"
    mail.tell(svc, words, outcome, said, about=asked["id"], due=decided)


def _delivered(svc: Service, words: Words, row: Row, days: int) -> None:
    state = orders.status(row, svc.time)
    if state != "delivered":
        shown = words.statuses[state]
        message = f"Order {row['id']} is {shown}."
        hint = "A refund can be requested once the order has been delivered."
        svc.fail("ORDER_NOT_DELIVERED", message, hint, order_id=row["id"], status=shown)
    if svc.now - parse_time(row["delivered_at"]) > days * DAY:
        message = f"Order {row['id']} was delivered on {row['delivered_at']}."
        hint = f"A refund can be requested within {days} days of the delivery."
        svc.fail("REFUND_WINDOW_CLOSED", message, hint, order_id=row["id"])


def _ordered(svc: Service, words: Words, row: Row, taken_back: Collection[str]) -> dict[str, int]:
    """Return item_id → quantity of what an order brought."""
    counts = Counter[str]()
    for line in orders.lines(svc, words, row["id"]):
        if line["item_id"] not in taken_back:
            counts[line["item_id"]] += line["quantity"]
    return counts


def _in_order(
    svc: Service, words: Words, row: Row, wanted: Counter[str], taken_back: Collection[str]
) -> None:
    ordered = _ordered(svc, words, row, taken_back)
    for item, count in wanted.items():
        if item not in ordered:
            message = f"Order {row['id']} did not bring the item {item!r}."
            hint = "Use the item_ids of the order's items."
            svc.fail("ITEM_NOT_IN_ORDER", message, hint, item_id=item)
        if count > ordered[item]:
            message = f"Order {row['id']} has the item {item!r} {ordered[item]} times, not {count}."
            hint = "Ask for at most as many as were ordered."
            svc.fail("QUANTITY_NOT_IN_ORDER", message, hint, item_id=item, ordered=ordered[item])


def of_order(svc: Service, words: Words, order_id: str) -> list[Row]:
    """Return the requests for an order, oldest first."""
    return svc.db.rows(
        f"{words.tables}_refund_requests", "order_id=?", order_id, order="requested_at, rowid"
    )


def worth(svc: Service, words: Words, asked: Row) -> int:
    """Return the cents that a request is worth.

    The items' prices with their tax and without their share of the promotion, or everything that
    was charged if nothing arrived; never more than is left after earlier refunds.
    """
    row = orders.find_order(svc, words, asked["order_id"])
    paid = orders.charged(svc, words, row)
    left = paid.total - (row["refund"] or 0)
    for earlier in of_order(svc, words, row["id"]):
        if earlier["id"] == asked["id"]:
            break
        left -= worth(svc, words, earlier)
    if asked["problem"] == "never_arrived":
        return max(0, left)
    counts = {item["item_id"]: item["quantity"] for item in asked["items"]}
    goods = 0
    for line in orders.lines(svc, words, row["id"]):
        count = min(counts.get(line["item_id"], 0), line["quantity"])
        goods += count * line["unit_price"]
        counts[line["item_id"]] = counts.get(line["item_id"], 0) - count
    whole = max(1, paid.subtotal)
    amount = goods * (paid.subtotal + paid.tax - paid.discount) // whole
    if asked["problem"] == HALF:
        amount //= 2
    return max(0, min(left, amount))


def decided_at(asked: Row) -> int:
    """Return the moment at which a request is decided."""
    return parse_time(asked["requested_at"]) + DECIDED_AFTER.get(asked["problem"], DAY)


def request_json(svc: Service, words: Words, asked: Row) -> Json:
    """Return a request as the agent sees it, in dollars."""
    moment = decided_at(asked)
    amount = worth(svc, words, asked)
    status = "in_review"
    if svc.now >= moment:
        status = "refunded" if amount else "declined"
    return {
        "request_id": asked["id"],
        "order_id": asked["order_id"],
        "problem": asked["problem"],
        "items": asked["items"],
        "status": status,
        "refund": dollars(amount) if status == "refunded" else None,
        "requested_at": asked["requested_at"],
        "decision_by": iso(moment),
    }


def refund_json(svc: Service, words: Words, row: Row, paid: int) -> Json | None:
    """Return all that was refunded for an order, with the reasons and the last moment."""
    refund = orders.refund_json(row, paid)
    for asked in of_order(svc, words, row["id"]):
        if svc.now < decided_at(asked):
            continue
        amount = worth(svc, words, asked)
        if amount == 0:
            continue
        reason = asked["problem"].replace("_", " ")
        before = refund or {"amount": 0.0, "reason": "", "at": ""}
        refund = {
            "amount": round(before["amount"] + dollars(amount), 2),
            "reason": f"{before['reason']}; {reason}" if before["reason"] else reason,
            "at": max(before["at"], iso(decided_at(asked))),
        }
    return refund


def listed(
    svc: Service,
    words: Words,
    order_id: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    cursor: str | None,
) -> Json:
    """Return a page of requests, newest first, of one order or of all."""
    rows = Listing(svc.db, f"{words.tables}_refund_requests", by="requested_at")
    rows = rows.days(since, until, rules.zone(svc, words))
    if order_id is not None:
        orders.find_order(svc, words, order_id)
        rows = rows.only("order_id=?", order_id)
    return page(rows, "requests", limit, cursor, lambda row: request_json(svc, words, row))


def need_items(svc: Service, words: Words, problem: str, items: list[PlainItem] | None) -> None:
    """Refuse a request that leaves open which items it is about."""
    if problem != "never_arrived" and items is None:
        message = f"Say which items it is about: 'items' is needed for {problem}."
        hint = f"Take item_ids from the order; {words.list_orders} lists orders."
        svc.fail(svc.codes.invalid, message, hint, field="items")
    if problem == "never_arrived" and items is not None:
        message = "If nothing arrived, the request is about the whole order."
        svc.fail(svc.codes.invalid, message, "Leave 'items' out.", field="items")
