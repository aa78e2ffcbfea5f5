"""Coupon codes: their conditions, their discounts, and the rule that each works once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.shopping._rules import Shop, percent, split

# Either `percent` (at most `cap` cents) or `amount`. `items` and `departments` say which products
# the code is for: all of them where both are empty.
COUPONS = Table(
    "code:str description:str percent:int? amount:int? cap:int? minimum:int "
    "items:list departments:list starts:str expires:str public:bool",
    catalogue=True,
)
UNKNOWN = 0
NOT_VALID_NOW = 1
BELOW_MINIMUM = 2
NOT_ELIGIBLE = 3
ALREADY_USED = 4
# Indexed by the reasons above; the first four are also the places in `Shop.codes`.
WHY = (
    "does not exist",
    "is not valid right now",
    "requires a larger order",
    "does not apply to anything in the cart",
    "has already been used",
)


def find(svc: Service, shop: Shop, code: str) -> Row:
    """Return a code's row, or refuse."""
    row = svc.db.get(f"{shop.tables}_coupons", code.strip().upper())
    if row is None:
        hint = f"Check the spelling. {shop.codes_tool} lists the codes that anyone can use."
        svc.fail(shop.codes[UNKNOWN], f"The code {code!r} does not exist.", hint, coupon=code)
    return row


def used(svc: Service, shop: Shop, code: str) -> bool:
    """Whether an order that was not canceled has used a code."""
    query = f"SELECT 1 FROM {shop.tables}_orders WHERE code=? AND canceled_at IS NULL LIMIT 1"
    return bool(svc.db.sql(query, code))


def worth(svc: Service, shop: Shop, row: Row, lines: Sequence[Row]) -> tuple[int | None, list[int]]:
    """Return (why a code does not apply: a place in `WHY`, or None; cents off each line).

    A line has `item_id`, `department` and `net`, its cents before this code.
    """
    nothing = [0] * len(lines)
    if used(svc, shop, row["code"]):
        return ALREADY_USED, nothing
    if not row["starts"] <= svc.time < row["expires"]:
        return NOT_VALID_NOW, nothing
    nets = [line["net"] if _is_for(row, line) else 0 for line in lines]
    if not any(nets):
        return NOT_ELIGIBLE, nothing
    if sum(nets) < row["minimum"]:
        return BELOW_MINIMUM, nothing
    if row["percent"] is None:
        off = row["amount"]
    else:
        off = min(percent(sum(nets), row["percent"]), row["cap"] or 10**9)
    return None, split(min(off, sum(nets)), nets)


class Applied(NamedTuple):
    """The coupon code of a cart."""

    row: Row | None
    """The row of the code; None where none is applied."""
    refusal: str | None
    """The error code that says why it does not apply now; None where it does."""
    shares: list[int]
    """Cents off each line."""


def applied(svc: Service, shop: Shop, code: str | None, lines: Sequence[Row]) -> Applied:
    """Return what a code takes off a cart's lines; see `worth` for what a line has."""
    row = svc.db.get(f"{shop.tables}_coupons", code) if code else None
    if row is None:
        return Applied(None, None, [0] * len(lines))
    why, shares = worth(svc, shop, row, lines)
    return Applied(row, None if why is None else _error(shop, why), shares)


def _error(shop: Shop, why: int) -> str:
    return "CODE_ALREADY_USED" if why == ALREADY_USED else shop.codes[why]


def require(svc: Service, shop: Shop, row: Row, lines: Sequence[Row]) -> list[int]:
    """Return the cents that a code takes off each line, or refuse in the shop's words."""
    why, shares = worth(svc, shop, row, lines)
    if why is None:
        return shares
    eligible = [line["net"] for line in lines if _is_for(row, line)]
    svc.fail(
        _error(shop, why),
        f"The code {row['code']} {WHY[why]}.",
        f"{row['description']}. To continue without a code, call {shop.drop_code}.",
        coupon=row["code"],
        minimum=row["minimum"],
        eligible_subtotal=sum(eligible),
        eligible_departments=row["departments"],
        expires=row["expires"],
    )


def _is_for(row: Row, line: Row) -> bool:
    if not row["items"] and not row["departments"]:
        return True
    return line["item_id"] in row["items"] or line["department"] in row["departments"]


def coupon_json(svc: Service, shop: Shop, row: Row) -> Json:
    """Return a code as JSON."""
    shown = {
        "description": row["description"],
        "percent_off": row["percent"],
        "amount_off": row["amount"],
        "maximum_discount": row["cap"],
        "minimum": row["minimum"],
        "departments": row["departments"],
        "starts": row["starts"],
        "expires": row["expires"],
    }
    marks = ",".join("?" * len(row["items"]))
    products = svc.db.sql(
        f"SELECT id FROM {shop.tables}_products WHERE item_id IN ({marks}) ORDER BY id",
        *row["items"],
    )
    shown["product_ids"] = [product_id for (product_id,) in products]
    return shown | {"used": used(svc, shop, row["code"])}


def public(svc: Service, shop: Shop) -> list[Row]:
    """Return the unexpired codes that anyone can use, the first to expire first."""
    return svc.db.rows(
        f"{shop.tables}_coupons", "public=1 AND expires>?", svc.time, order="expires, code"
    )
