"""What a store carries, at what price, and how much is left.

All three are functions of the store, the product and the moment; rows hold the exceptions.
"""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.types import Row
from servers.kit.values import iso
from servers.kit.zones import local, local_moment

WEEK = 604_800
DAY = 86_400
SLOT = 7200
"""Length of a delivery slot, in seconds."""
SPECIAL = {
    "pharmacy": ("pharmacy", "personal care", "baby", "snacks", "beverages", "household"),
    "pet_supplies": ("pets",),
}
"""Store types that sell only some categories."""
# How many ounces, fluid ounces or pieces a unit holds.
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
# What a unit measures, for units that are not a measure themselves.
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

Exceptions = dict[str, list[dict[str, Any]]]
"""A store's exceptions by product_id, oldest first."""


def exceptions_of(svc: Service, store_id: str) -> Exceptions:
    """Return a store's exceptions by product, oldest first."""
    by_product: Exceptions = {}
    for row in svc.db.rows("instacart_exceptions", "store_id=?", store_id, order="begins, rowid"):
        by_product.setdefault(row["product_id"], []).append(row)
    return by_product


def _exception(exceptions: Exceptions, product_id: str, column: str, at: int) -> Any:
    """Return the exception in force at a moment, the latest if there are several, or None."""
    moment = iso(at)
    value = None
    for row in exceptions.get(product_id, []):
        if row["begins"] <= moment < row["ends"] and row[column] is not None:
            value = row[column]
    return value


def carries(store: Row, product: Row) -> bool:
    """Return whether a store sells a product at all."""
    if product["id"] in store["also"]:
        return True
    only = SPECIAL.get(store["store_type"])
    if only is not None:
        return product["category"] in only
    if product["category"] == "pharmacy" and store["store_type"] != "supermarket":
        return False
    return share("carries", store["name"], store["street"], product["id"]) < store["breadth"]


def price(store: Row, product: Row, at: int, exceptions: Exceptions) -> int:
    """Return the price in cents: the catalogue's with the store's markup, less any sale."""
    special = _exception(exceptions, product["id"], "price", at)
    if special is not None:
        return special
    own = 97 + int(9 * share("price", store["name"], product["id"]))
    sale = 85 if share("sale", store["name"], product["id"], at // WEEK) < 0.07 else 100
    # The three factors are percentages; prices end in nine.
    cents = product["price"] * store["markup"] * own * sale // 1_000_000
    return max(49, cents // 10 * 10 + 9)


def in_stock(store: Row, product: Row, at: int, exceptions: Exceptions) -> bool:
    """Return whether a store carries a product and has some of it left."""
    return carries(store, product) and level(store, product, at, exceptions) != "out"


def level(store: Row, product: Row, at: int, exceptions: Exceptions) -> str:
    """Return the stock level: high, low or out. It changes every few days."""
    known = _exception(exceptions, product["id"], "stock", at)
    if known is not None:
        return known
    day = local(at, ZoneInfo(store["timezone"])).toordinal()
    lasts = 2 + int(3 * share("pace", product["id"]))
    left = share("left", store["name"], store["street"], product["id"], day // lasts)
    if left < 0.035:
        return "out"
    return "low" if left < 0.15 else "high"


def aisle(store: Row, product: Row) -> str:
    """Return the aisle in which a store keeps a product."""
    return f"Aisle {1 + int(18 * share('aisle', store['name'], product['category']))}"


def per_unit(product: Row, cents: int) -> tuple[float, str]:
    """Return the price per ounce, fluid ounce or piece (cents, to a tenth), and which it is."""
    amount = product["size"] * _OUNCES[product["unit"]]
    return round(cents / amount, 1), measure(product["unit"])


def measure(unit: str) -> str:
    """Return what a unit measures: oz (weight), fl oz (volume) or each (number).

    Only amounts of the same measure can be compared.
    """
    return _KIND.get(unit, unit)


def pieces(product: Row, amount: float, unit: str) -> int:
    """Return how many packages make up an amount; 1 if the units cannot be compared."""
    if measure(unit) != measure(product["unit"]):
        return 1
    needed = amount * _OUNCES[unit] / (product["size"] * _OUNCES[product["unit"]])
    return max(1, min(99, math.ceil(round(needed, 3))))


def nearest(
    svc: Service, store: Row, product: Row, at: int, exceptions: Exceptions
) -> dict[str, Any] | None:
    """Return the product of the same kind, in stock and closest in price, or None."""
    rows = svc.db.rows(
        "instacart_products", "family=? AND id<>?", product["family"], product["id"], order="rowid"
    )
    target = price(store, product, at, exceptions)

    def distance(row: Row) -> tuple[int, str]:
        return abs(price(store, row, at, exceptions) - target), row["id"]

    left = [r for r in rows if in_stock(store, r, at, exceptions)]
    return min(left, key=distance, default=None)


def closed_for_good(store: Row, at: int) -> bool:
    """Return whether a store has closed for good, by its local date."""
    return _gone(store, local(at, ZoneInfo(store["timezone"])).date())


def _gone(store: Row, day: date) -> bool:
    return store["closed_since"] is not None and store["closed_since"] <= day.isoformat()


# -- hours and slots ------------------------------------------------------------------------------
def span(store: Row, day: date) -> tuple[int, int] | None:
    """Return the moments at which a store opens and closes on a local day, or None."""
    text = store["hours"][day.weekday()]
    if text == "closed" or _gone(store, day):
        return None
    zone = ZoneInfo(store["timezone"])
    opens, closes = text.replace("24:00", "23:59").split("-")
    return (
        local_moment(day, time.fromisoformat(opens), zone),
        local_moment(day, time.fromisoformat(closes), zone),
    )


def is_open(store: Row, at: int) -> bool:
    """Return whether a store is open at a moment."""
    hours = span(store, local(at, ZoneInfo(store["timezone"])).date())
    return hours is not None and hours[0] <= at < hours[1]


def slots(store: Row, at: int, days: int) -> list[tuple[int, int]]:
    """Return a store's delivery windows on a number of days, starting with the day of `at`.

    The windows of the first day include those that have passed.
    """
    zone = ZoneInfo(store["timezone"])
    today = local(at, zone).date()
    windows = []
    for number in range(days):
        hours = span(store, today + timedelta(days=number))
        if hours is None:
            continue
        opens, closes = hours
        first = datetime.fromtimestamp(opens, zone).replace(minute=0)
        begin = int(first.timestamp()) + 3600
        while begin + SLOT <= closes:
            windows.append((begin, begin + SLOT))
            begin += SLOT
    return windows


def crowd(store: Row, begin: int) -> int:
    """Return how many of a slot's ten places other customers have taken."""
    return int(11 * share("slot", store["name"], store["street"], begin) ** 1.3)


def slot_fee(store: Row, begin: int) -> int:
    """Return the delivery fee of a slot in cents: the store's, plus a surcharge if it is busy."""
    taken = crowd(store, begin)
    fee = store["delivery_fee"]
    if taken >= 6:
        fee += 100
    if taken >= 8:
        fee += 100
    return fee
