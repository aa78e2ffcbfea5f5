"""Products: what they are, what they cost at a moment, how many there are, how they are found, and what buyers say of them.

A price is a function of a row and the moment, so that a repeated read agrees, a past price can be told, and a shop's price is the same
whether the shop itself or a competitor looks at it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.values import iso
from servers.shopping._rules import DAY, HOUR, Shop, percent

# One row for each colour or size; `family` is the product_id of its first one, which reviews belong to. `special` is a price for a while.
LISTING = (
    "id:str item_id:str family:str title:str words:str options:dict price:int special:int? special_from:str? special_until:str? "
    "stars:list stock:int counted_at:str restock_on:str? discontinued_at:str? online_only:bool per_order:int"
)
REVIEWS = Table(
    "id:str subject:str rating:int title:str body:str author:str verified:bool mine:bool at:str",
    index=("subject",),
)
RESTOCK = 60
"""How many come in when a product is restocked."""
WEEK = 7 * DAY
MONDAY = 4 * DAY + 8 * HOUR
"""Prices that move do so on Mondays at 08:00 UTC (the first one after the epoch)."""


# -- prices -------------------------------------------------------------------------------------------------------
def week_of(at: int) -> int:
    """Return the number of the week of prices that a moment falls into."""
    return (at - MONDAY) // WEEK


def week_start(week: int) -> int:
    """Return the moment at which a week of prices begins."""
    return week * WEEK + MONDAY


def offer_price(offer: dict[str, Any], at: int) -> int:
    """Return what a seller of the marketplace asks at a moment; `swing` is how many percent the price moves by."""
    if offer["swing"] == 0:
        return offer["price"]
    drawn = share(offer["id"], week_of(at))
    step = next(
        s
        for limit, s in ((0.3, 0), (0.5, -0.5), (0.7, -1), (0.85, 0.5), (0.95, 0.25), (1, -1.6))
        if drawn < limit
    )
    moved = offer["price"] + percent(offer["price"], offer["swing"] * step)
    return max(moved // 10 * 10 + 9, 99) if step else offer["price"]


def on_special(row: dict[str, Any], at: int) -> bool:
    """Whether a listing's special price holds at a moment."""
    return row["special"] is not None and row["special_from"] <= iso(at) < row["special_until"]


def listing_price(row: dict[str, Any], at: int) -> int:
    """Return what a listing costs online at a moment."""
    return row["special"] if on_special(row, at) else row["price"]


# -- products -----------------------------------------------------------------------------------------------------
def find_product(svc: Service, shop: Shop, product_id: str) -> dict[str, Any]:
    """Return a product's row, on sale or not, or refuse."""
    row = svc.db.get(f"{shop.tables}_products", product_id)
    if row is None:
        message = f"{shop.title} has no product {product_id!r}."
        svc.fail(
            "PRODUCT_NOT_FOUND",
            message,
            f"Find the product_id with {shop.search}.",
            product_id=product_id,
        )
    return row


def on_sale(svc: Service, shop: Shop, product_id: str) -> dict[str, Any]:
    """Return the row of a product that is still sold, or refuse."""
    row = find_product(svc, shop, product_id)
    if discontinued(svc, row):
        message = f"{row['title']} has been discontinued."
        svc.fail(
            "PRODUCT_UNAVAILABLE",
            message,
            f"Look for something like it with {shop.search}.",
            product_id=product_id,
        )
    return row


def discontinued(svc: Service, row: dict[str, Any]) -> bool:
    """Whether a product is sold no more."""
    return row["discontinued_at"] is not None and row["discontinued_at"] <= svc.time


def item_of(svc: Service, row: dict[str, Any]) -> dict[str, Any]:
    """Return what a product is: brand, category, department, description, features."""
    found = svc.db.get("shopping_items", row["item_id"])
    assert found is not None
    return found


def matching(
    svc: Service, shop: Shop, query: str | None
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return (product row, what it is) of products on sale, best match first; all by title where there is no query."""
    table = f"{shop.tables}_products"
    found = svc.db.rows(table, order="title, id") if query is None else svc.db.search(table, query)
    items = {i["id"]: i for i in svc.db.rows("shopping_items")}
    return [(row, items[row["item_id"]]) for row in found if not discontinued(svc, row)]


def fits(
    shown: dict[str, Any], price: int, limits: tuple[int | None, int | None, float | None]
) -> bool:
    """Whether a product as shown lies within (lowest price, highest price, lowest rating)."""
    low, high, rating = limits
    return (
        (low is None or price >= low)
        and (high is None or price <= high)
        and (rating is None or (shown["rating"] or 0) >= rating)
    )


def check_range(svc: Service, low: int | None, high: int | None) -> None:
    """Refuse limits of the price that are the wrong way round."""
    if low is not None and high is not None and low > high:
        message = f"min_price {low} is more than max_price {high}."
        svc.fail(
            "INVALID_PRICE_RANGE",
            message,
            "Give the lower price as min_price; both are in cents.",
            min_price=low,
            max_price=high,
        )


def in_order(found: list[dict[str, Any]], sort_by: str | None, price: str) -> list[dict[str, Any]]:
    """Return products as shown in the order asked for: relevance, price_low, price_high, rating or name."""
    keys: dict[str, Any] = {
        "price_low": lambda p: p[price],
        "price_high": lambda p: -p[price],
        "rating": lambda p: -(p["rating"] or 0),
        "name": lambda p: p["name"].casefold(),
    }
    return sorted(found, key=keys[sort_by]) if sort_by in keys else found


def units_ordered(
    svc: Service,
    shop: Shop,
    product_id: str,
    since: str,
    where: str = "o.store_id IS NULL",
    *params: Any,
) -> int:
    """Return how many the user has ordered since a moment, in orders that were not canceled."""
    return svc.db.sql(
        f"SELECT coalesce(sum(i.quantity),0) FROM {shop.tables}_order_items i JOIN {shop.tables}_orders o ON o.id=i.order_id"
        f" WHERE i.product_id=? AND o.placed_at>? AND o.canceled_at IS NULL AND {where}",
        product_id,
        since,
        *params,
    )[0][0]


def in_warehouse(svc: Service, row: dict[str, Any], ordered: int) -> int:
    """Return how many of a row's stock are left to ship, after restocking and what was ordered."""
    restocked = (
        RESTOCK if row["restock_on"] is not None and row["restock_on"] <= svc.time[:10] else 0
    )
    return max(row["stock"] + restocked - ordered, 0)


def online_stock(svc: Service, shop: Shop, row: dict[str, Any]) -> int:
    """Return how many of a listing can be shipped now."""
    return (
        0
        if discontinued(svc, row)
        else in_warehouse(svc, row, units_ordered(svc, shop, row["id"], row["counted_at"]))
    )


def siblings(svc: Service, shop: Shop, row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the listings of all colours and sizes of a product, the first one first."""
    return svc.db.rows(f"{shop.tables}_products", "family=?", row["family"], order="id<>family, id")


# -- reviews ------------------------------------------------------------------------------------------------------
def written(svc: Service, shop: Shop) -> dict[str, tuple[int, int]]:
    """Return (number, sum of stars) of written reviews by product."""
    rows = svc.db.sql(
        f"SELECT subject, count(*), sum(rating) FROM {shop.tables}_reviews GROUP BY subject"
    )
    return {subject: (count, total) for subject, count, total in rows}


def rating_json(stars: Iterable[int], found: tuple[int, int]) -> dict[str, Any]:
    """Return average and counts of written reviews and of ratings without text (`stars`: how many of one star, two, …)."""
    bare = list(stars)
    count = sum(bare) + found[0]
    total = sum(n * (place + 1) for place, n in enumerate(bare)) + found[1]
    return {
        "rating": round(total / count, 1) if count else None,
        "review_count": found[0],
        "rating_count": count,
    }


def reviews(
    svc: Service, shop: Shop, subject: str, minimum: int, maximum: int, verified_only: bool
) -> list[dict[str, Any]]:
    """Return a product's reviews within limits of stars, newest first."""
    where = "subject=? AND rating BETWEEN ? AND ? AND verified>=?"
    return svc.db.rows(
        f"{shop.tables}_reviews",
        where,
        subject,
        minimum,
        maximum,
        int(verified_only),
        order="at DESC, id",
    )


def review_json(row: dict[str, Any], product_id: str) -> dict[str, Any]:
    """Return a review for the agent."""
    shown = {
        "review_id": row["id"],
        "product_id": product_id,
        "rating": row["rating"],
        "title": row["title"],
        "body": row["body"],
    }
    own = {
        "author": row["author"],
        "is_mine": row["mine"],
        "verified_purchase": row["verified"],
        "created_at": row["at"],
    }
    return shown | own


def add_review(
    svc: Service, shop: Shop, subject: str, rating: int, title: str, body: str, author: str
) -> dict[str, Any]:
    """Write the user's one review of a product and return its row; it is verified if the product was delivered to the user."""
    table = f"{shop.tables}_reviews"
    earlier = svc.db.rows(table, "subject=? AND mine=1", subject)
    if earlier:
        message = f"You reviewed this product on {earlier[0]['at'][:10]}."
        svc.fail(
            "REVIEW_EXISTS",
            message,
            "One review for each product; yours is among its reviews.",
            review_id=earlier[0]["id"],
        )
    bought = svc.db.sql(
        f"SELECT 1 FROM {shop.tables}_order_items i JOIN {shop.tables}_orders o ON o.id=i.order_id JOIN {shop.tables}_products p"
        f" ON p.id=i.product_id WHERE {'p.family' if 'family' in svc.db.tables[f'{shop.tables}_products'].columns else 'p.id'}=?"
        " AND o.canceled_at IS NULL AND o.done_at<=? LIMIT 1",
        subject,
        svc.time,
    )
    made = {
        "id": svc.new_id(shop.ids + "r"),
        "subject": subject,
        "rating": rating,
        "title": title,
        "body": body,
        "author": author,
    }
    return svc.db.insert(table, made | {"verified": bool(bought), "mine": True, "at": svc.time})
