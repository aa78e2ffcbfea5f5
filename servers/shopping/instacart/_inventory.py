"""What a store carries, at which price, and how much is left: a function of store, product and moment, with rows for exceptions."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.values import iso
from servers.kit.zones import local, local_moment

WEEK = 604_800
DAY = 86_400
SPECIAL = {
    "pharmacy": ("pharmacy", "personal care", "baby", "snacks", "beverages", "household"),
    "pet_supplies": ("pets",),
}
"""Store types that sell some categories only."""
_OUNCES = {
    "oz": 1.0,
    "lb": 16.0,
    "fl oz": 1.0,
    "pt": 16.0,
    "qt": 32.0,
    "gal": 128.0,
    "each": 1.0,
    "ct": 1.0,
    "dozen": 12.0,
    "bunch": 1.0,
}
_KIND = {
    "oz": "oz",
    "lb": "oz",
    "fl oz": "fl oz",
    "pt": "fl oz",
    "qt": "fl oz",
    "gal": "fl oz",
    "dozen": "each",
    "ct": "each",
    "bunch": "each",
}

Kept = dict[str, list[dict[str, Any]]]


def exceptions(svc: Service, store_id: str) -> Kept:
    """Return a store's exceptions by product, oldest first."""
    found: Kept = {}
    for row in svc.db.rows("instacart_exceptions", "store_id=?", store_id, order="begins, rowid"):
        found.setdefault(row["product_id"], []).append(row)
    return found


def _now(kept: Kept, product_id: str, column: str, at: int) -> Any:
    moment = iso(at)
    value = None
    for row in kept.get(product_id, []):
        if row["begins"] <= moment < row["ends"] and row[column] is not None:
            value = row[column]
    return value


def carries(store: dict[str, Any], product: dict[str, Any]) -> bool:
    """Return whether a store has a product on its shelves at all."""
    if product["id"] in store["also"]:
        return True
    only = SPECIAL.get(store["store_type"])
    if only is not None:
        return product["category"] in only
    if product["category"] == "pharmacy" and store["store_type"] != "supermarket":
        return False
    return share("carries", store["name"], store["street"], product["id"]) < store["breadth"]


def price(store: dict[str, Any], product: dict[str, Any], at: int, kept: Kept) -> int:
    """Return the price in cents: the catalogue's, with the store's markup, in some weeks on sale."""
    special = _now(kept, product["id"], "price", at)
    if special is not None:
        return special
    own = 97 + int(9 * share("price", store["name"], product["id"]))
    sale = 85 if share("sale", store["name"], product["id"], at // WEEK) < 0.07 else 100
    return max(49, product["price"] * store["markup"] * own * sale // 1_000_000 // 10 * 10 + 9)


def level(store: dict[str, Any], product: dict[str, Any], at: int, kept: Kept) -> str:
    """Return high, low or out, which changes from day to day."""
    known = _now(kept, product["id"], "stock", at)
    if known is not None:
        return known
    day = local(at, ZoneInfo(store["timezone"])).toordinal()
    left = share(
        "left",
        store["name"],
        store["street"],
        product["id"],
        day // (2 + int(3 * share("pace", product["id"]))),
    )
    return "out" if left < 0.035 else ("low" if left < 0.15 else "high")


def aisle(store: dict[str, Any], product: dict[str, Any]) -> str:
    """Return where in the store a product stands."""
    return f"Aisle {1 + int(18 * share('aisle', store['name'], product['category']))}"


def per_unit(product: dict[str, Any], cents: int) -> tuple[float, str]:
    """Return the price in cents of one ounce, fluid ounce or piece, to a tenth, and which of them it is."""
    return round(cents / (product["size"] * _OUNCES[product["unit"]]), 1), measure(product["unit"])


def measure(unit: str) -> str:
    """Return what a unit counts: oz (weight), fl oz (volume) or each; amounts of one of them can be compared."""
    return _KIND.get(unit, unit)


def pieces(product: dict[str, Any], amount: float, unit: str) -> int:
    """Return how many pieces hold an amount; one where the units cannot be compared."""
    if measure(unit) != measure(product["unit"]):
        return 1
    needed = amount * _OUNCES[unit] / (product["size"] * _OUNCES[product["unit"]])
    return max(1, min(99, int(-(-round(needed, 3) // 1))))


def nearest(
    svc: Service, store: dict[str, Any], product: dict[str, Any], at: int, kept: Kept
) -> dict[str, Any] | None:
    """Return the product of the same kind that is in stock and nearest in price, or None."""
    rows = svc.db.rows(
        "instacart_products", "family=? AND id<>?", product["family"], product["id"], order="rowid"
    )
    left = [r for r in rows if carries(store, r) and level(store, r, at, kept) != "out"]
    target = price(store, product, at, kept)
    return min(left, key=lambda r: (abs(price(store, r, at, kept) - target), r["id"]), default=None)


def closed_for_good(store: dict[str, Any], at: int) -> bool:
    """Return whether a store has closed for good, by its own calendar."""
    return _gone(store, local(at, ZoneInfo(store["timezone"])).date())


def _gone(store: dict[str, Any], day: date) -> bool:
    return store["closed_since"] is not None and store["closed_since"] <= day.isoformat()


# -- hours and slots ----------------------------------------------------------------------------------------------
def span(store: dict[str, Any], day: date) -> tuple[int, int] | None:
    """Return the moments at which a store opens and closes on a local day, or None."""
    text = store["hours"][day.weekday()]
    if text == "closed" or _gone(store, day):
        return None
    zone = ZoneInfo(store["timezone"])
    begin, end = (
        time.fromisoformat("23:59" if part == "24:00" else part) for part in text.split("-")
    )
    return local_moment(day, begin, zone), local_moment(day, end, zone)


def is_open(store: dict[str, Any], at: int) -> bool:
    """Return whether a store is open at a moment."""
    found = span(store, local(at, ZoneInfo(store["timezone"])).date())
    return found is not None and found[0] <= at < found[1]


def slots(store: dict[str, Any], at: int, days: int) -> list[tuple[int, int]]:
    """Return the two-hour windows in which a store's orders arrive, of the days from a moment on, those past included."""
    today = local(at, ZoneInfo(store["timezone"])).date()
    found = []
    for day in (today + timedelta(days=n) for n in range(days)):
        hours = span(store, day)
        if hours is None:
            continue
        first = datetime.fromtimestamp(hours[0], ZoneInfo(store["timezone"])).replace(minute=0)
        begin = int(first.timestamp()) + 3600
        while begin + 7200 <= hours[1]:
            found.append((begin, begin + 7200))
            begin += 7200
    return found


def crowd(store: dict[str, Any], begin: int) -> int:
    """Return how many of a slot's ten places others have taken."""
    return int(11 * share("slot", store["name"], store["street"], begin) ** 1.3)


def slot_fee(store: dict[str, Any], begin: int) -> int:
    """Return the delivery fee of a slot in cents: the store's, and a dollar or two when many want it."""
    return (
        store["delivery_fee"] + 100 * (crowd(store, begin) >= 6) + 100 * (crowd(store, begin) >= 8)
    )
