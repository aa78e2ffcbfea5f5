"""Codes that lower a price: what they ask for, what they give, and that each works once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from servers.kit.service import Service
from servers.kit.store import Table
from servers.shopping._rules import Shop, percent, split

# Either `percent` (at most `cap` cents) or `amount`; `items` and `departments` say what it is for (all, where both are empty).
COUPONS = Table(
    "code:str description:str percent:int? amount:int? cap:int? minimum:int items:list departments:list starts:str expires:str public:bool"
)
WHY = (
    "is not known",
    "is not valid now",
    "asks for a larger order",
    "is for nothing in the cart",
    "was used before",
)


def find(svc: Service, shop: Shop, code: str) -> dict[str, Any]:
    """Return a code's row, or refuse."""
    row = svc.db.get(f"{shop.tables}_coupons", code.strip().upper())
    if row is None:
        hint = f"Check the spelling; {shop.codes_tool} shows codes that are open to all."
        svc.fail(shop.codes[0], f"There is no code {code!r}.", hint, coupon=code)
    return row


def used(svc: Service, shop: Shop, code: str) -> bool:
    """Whether an order that stands was placed with a code."""
    return bool(
        svc.db.sql(
            f"SELECT 1 FROM {shop.tables}_orders WHERE code=? AND canceled_at IS NULL LIMIT 1", code
        )
    )


def worth(
    svc: Service, shop: Shop, row: dict[str, Any], lines: Sequence[dict[str, Any]]
) -> tuple[int | None, list[int]]:
    """Return (why it does not hold: a place in `WHY`, or None; cents off each line).

    A line has `item_id`, `department` and `net`, its cents before this code.
    """
    nothing = [0] * len(lines)
    if used(svc, shop, row["code"]):
        return 4, nothing
    if not row["starts"] <= svc.time < row["expires"]:
        return 1, nothing
    everything = not row["items"] and not row["departments"]
    nets = [x["net"] if everything or _is_for(row, x) else 0 for x in lines]
    if not any(nets):
        return 3, nothing
    if sum(nets) < row["minimum"]:
        return 2, nothing
    off = (
        row["amount"]
        if row["percent"] is None
        else min(percent(sum(nets), row["percent"]), row["cap"] or 10**9)
    )
    return None, split(min(off, sum(nets)), nets)


def require(
    svc: Service, shop: Shop, row: dict[str, Any], lines: Sequence[dict[str, Any]]
) -> list[int]:
    """Return the cents that a code takes off each line, or refuse in the shop's words."""
    why, shares = worth(svc, shop, row, lines)
    if why is None:
        return shares
    name = "CODE_ALREADY_USED" if why == 4 else shop.codes[why]
    eligible = [
        x["net"] for x in lines if not (row["items"] or row["departments"]) or _is_for(row, x)
    ]
    svc.fail(
        name,
        f"The code {row['code']} {WHY[why]}.",
        f"{row['description']}. To go on without a code, use {shop.drop_code}.",
        coupon=row["code"],
        minimum=row["minimum"],
        eligible_subtotal=sum(eligible),
        eligible_departments=row["departments"],
        expires=row["expires"],
    )


def _is_for(row: dict[str, Any], line: dict[str, Any]) -> bool:
    return line["item_id"] in row["items"] or line["department"] in row["departments"]


def coupon_json(svc: Service, shop: Shop, row: dict[str, Any]) -> dict[str, Any]:
    """Return a code for the agent."""
    shown = {
        "description": row["description"],
        "percent_off": row["percent"],
        "amount_off": row["amount"],
        "maximum_discount": row["cap"],
    }
    shown |= {
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
    shown["product_ids"] = [found[0] for found in products]
    return shown | {"used": used(svc, shop, row["code"])}


def public(svc: Service, shop: Shop) -> list[dict[str, Any]]:
    """Return the codes that are open to all and have not expired, the first to expire first."""
    return svc.db.rows(
        f"{shop.tables}_coupons", "public=1 AND expires>?", svc.time, order="expires, code"
    )
