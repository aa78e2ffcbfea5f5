"""Products: their details, prices at a moment, stock, search and reviews.

A price is a function of a row and the moment. A repeated read therefore agrees, a past price can be
looked up, and a shop's price is the same whether the shop itself or a competitor looks at it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from servers.kit import search
from servers.kit.errors import did_you_mean
from servers.kit.listing import Listing
from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import iso
from servers.shopping import _rules as rules
from servers.shopping._rules import DAY, HOUR, Shop, percent

# One row for each colour or size. `family` is the product_id of the first of them, which reviews
# belong to. `special` is a temporary price.
LISTING = (
    "id:str item_id:str family:str title:str words:str options:dict price:int "
    "special:int? special_from:str? special_until:str? "
    "stars:list stock:int counted_at:str restock_on:str? discontinued_at:str? "
    "online_only:bool per_order:int"
)
REVIEWS = Table(
    "id:str subject:str/ref rating:int/matter title:str/prose body:str/prose author:str/derived "
    "verified:bool/derived mine:bool/derived at:str/stamp",
    index=("subject, at",),
    outward={},
    noun="a {rating}-star review of {subject}",
)
RESTOCK = 60
"""Units that arrive when a product is restocked."""
WEEK = 7 * DAY
MONDAY = 4 * DAY + 8 * HOUR
"""The first Monday after the epoch at 08:00 UTC; prices move at this time of the week."""
# (limit, factor): a draw below the limit moves a price by this multiple of the offer's swing.
STEPS = ((0.3, 0), (0.5, -0.5), (0.7, -1), (0.85, 0.5), (0.95, 0.25), (1, -1.6))


# -- prices ----------------------------------------------------------------------------------------
def week_of(at: int) -> int:
    """Return the number of the price week that a moment falls into."""
    return (at - MONDAY) // WEEK


def week_start(week: int) -> int:
    """Return the moment at which a price week begins."""
    return week * WEEK + MONDAY


def offer_price(offer: Row, at: int) -> int:
    """Return the price that a marketplace seller asks at a moment.

    `swing` is the percentage by which the price moves.
    """
    if offer["swing"] == 0:
        return offer["price"]
    drawn = share(offer["id"], week_of(at))
    step = next(step for limit, step in STEPS if drawn < limit)
    if step == 0:
        return offer["price"]
    moved = offer["price"] + percent(offer["price"], offer["swing"] * step)
    return max(moved // 10 * 10 + 9, 99)


def on_special(row: Row, at: int) -> bool:
    """Whether a listing's special price applies at a moment."""
    return row["special"] is not None and row["special_from"] <= iso(at) < row["special_until"]


def listing_price(row: Row, at: int) -> int:
    """Return what a listing costs online at a moment."""
    return row["special"] if on_special(row, at) else row["price"]


# -- products --------------------------------------------------------------------------------------
def find_product(svc: Service, shop: Shop, product_id: str) -> Row:
    """Return a product's row, whether it is still sold or not, or refuse."""
    row = svc.db.get(f"{shop.tables}_products", product_id)
    if row is None:
        message = f"{shop.title} has no product with the ID {product_id!r}."
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
            f"Search for a similar product with {shop.search}.",
            product_id=product_id,
        )
    return row


def discontinued(svc: Service, row: Row) -> bool:
    """Whether a product is no longer sold."""
    return row["discontinued_at"] is not None and row["discontinued_at"] <= svc.time


def item_of(svc: Service, row: Row) -> Row:
    """Return the item behind a product, with its brand, category, department and features."""
    item = svc.db.get("shopping_items", row["item_id"])
    assert item is not None
    return item


def matching(
    svc: Service, shop: Shop, query: str | None
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return (product row, item row) of products on sale, best match first.

    Without a query, return all of them by title. Of products that match equally well, the one
    that more people have rated comes first.
    """
    table = f"{shop.tables}_products"
    rows = svc.db.rows(table, order="title, id")
    if query is not None:
        totals = matches(svc, shop, query)
        rows.sort(key=lambda row: -sum(row["stars"]))
        rows = search.in_order(rows, totals)
    items = {i["id"]: i for i in svc.db.rows("shopping_items")}
    return [(row, items[row["item_id"]]) for row in rows if not discontinued(svc, row)]


def matches(svc: Service, shop: Shop, query: str) -> search.Scores:
    """Return how well a shop's products match a query in titles, features and descriptions."""
    table = f"{shop.tables}_products"
    sold = svc.db.sql(f"SELECT id, item_id FROM {table}")

    def of_products(items: search.Scores) -> search.Scores:
        return {product: items[item] for product, item in sold if item in items}

    about = search.Source("shopping_items", spread=of_products)
    return search.scores(svc.db, query, search.Source(table), about)


def departments(svc: Service, shop: Shop) -> dict[str, list[str]]:
    """Return the departments of a shop, each with its categories, by name."""
    kinds = svc.db.sql(
        "SELECT DISTINCT i.department, i.category FROM shopping_items i "
        f"JOIN {shop.tables}_products p ON p.item_id=i.id ORDER BY 1, 2"
    )
    found: dict[str, list[str]] = {}
    for department, category in kinds:
        found.setdefault(department, []).append(category)
    return found


def departments_json(svc: Service, shop: Shop) -> Json:
    """Return the departments of a shop as replies show them."""
    listed = departments(svc, shop).items()
    return {"departments": [{"department": name, "categories": kinds} for name, kinds in listed]}


def check_kinds(svc: Service, shop: Shop, category: str | None, department: str | None) -> None:
    """Refuse a category or department that the shop does not have."""
    known = departments(svc, shop)
    if department is not None:
        _check_kind(svc, "department", department, list(known))
    if category is not None:
        _check_kind(svc, "category", category, list(chain.from_iterable(known.values())))


def _check_kind(svc: Service, what: str, name: str, known: list[str]) -> None:
    if name.casefold() not in {kind.casefold() for kind in known}:
        message = f"There is no {what} {name!r}{did_you_mean(name, known)}"
        hint = "list_departments shows all departments and categories."
        svc.fail(f"{what.upper()}_NOT_FOUND", message, hint, name=name)


def fits(
    shown: dict[str, Any], price: int, limits: tuple[int | None, int | None, float | None]
) -> bool:
    """Whether a product lies within (lowest price, highest price, lowest rating).

    `shown` is the product as JSON.
    """
    low, high, rating = limits
    if low is not None and price < low:
        return False
    if high is not None and price > high:
        return False
    return rating is None or (shown["rating"] or 0) >= rating


def check_range(svc: Service, low: int | None, high: int | None) -> None:
    """Refuse a lowest price above the highest one."""
    if low is not None and high is not None and low > high:
        message = f"min_price ({low}) is greater than max_price ({high})."
        svc.fail(
            "INVALID_PRICE_RANGE",
            message,
            "Pass the lower price as min_price. Both are in cents.",
            min_price=low,
            max_price=high,
        )


def in_order(products: list[Row], sort_by: str | None, price: str) -> list[dict[str, Any]]:
    """Return products (JSON) sorted by relevance, price_low, price_high, rating or name.

    `price` is the key of the price to sort by. Relevance is the order in which they come in.
    """
    keys: dict[str, Any] = {
        "price_low": lambda p: p[price],
        "price_high": lambda p: -p[price],
        "rating": lambda p: -(p["rating"] or 0),
        "name": lambda p: p["name"].casefold(),
    }
    return sorted(products, key=keys[sort_by]) if sort_by in keys else products


def units_ordered(
    svc: Service,
    shop: Shop,
    product_id: str,
    since: str,
    where: str = "o.store_id IS NULL",
    *params: Any,
) -> int:
    """Return how many units the user has ordered since a moment and not canceled.

    `where` is a further condition on the order `o` and the item `i`; without one, only orders from
    the warehouse count.
    """
    query = (
        f"SELECT coalesce(sum(i.quantity),0) FROM {shop.tables}_order_items i"
        f" JOIN {shop.tables}_orders o ON o.id=i.order_id"
        f" WHERE i.product_id=? AND o.placed_at>? AND o.canceled_at IS NULL AND {where}"
    )
    return svc.db.sql(query, product_id, since, *params)[0][0]


def in_warehouse(svc: Service, row: Row, ordered: int) -> int:
    """Return how many units are left to ship, given how many were ordered."""
    stock = row["stock"]
    if row["restock_on"] is not None and row["restock_on"] <= svc.time[:10]:
        stock += RESTOCK
    return max(stock - ordered, 0)


def online_stock(svc: Service, shop: Shop, row: Row) -> int:
    """Return how many units of a listing can be shipped now."""
    if discontinued(svc, row):
        return 0
    return in_warehouse(svc, row, units_ordered(svc, shop, row["id"], row["counted_at"]))


def siblings(svc: Service, shop: Shop, row: Row) -> list[Row]:
    """Return the listings of all colours and sizes of a product, the family's first one first."""
    return svc.db.rows(f"{shop.tables}_products", "family=?", row["family"], order="id<>family, id")


# -- reviews ---------------------------------------------------------------------------------------
def written(svc: Service, shop: Shop) -> dict[str, tuple[int, int]]:
    """Return (count, sum of stars) of the written reviews of each product."""
    rows = svc.db.sql(
        f"SELECT subject, count(*), sum(rating) FROM {shop.tables}_reviews GROUP BY subject"
    )
    return {subject: (count, total) for subject, count, total in rows}


def rating_json(stars: Iterable[int], reviewed: tuple[int, int]) -> Json:
    """Return the average rating and the counts of reviews and ratings.

    `stars` are the counts of other people's ratings, from one star to five, of whom one in nine
    wrote something that the shop does not show; `reviewed` is (count, sum of stars) of the reviews
    that it shows.
    """
    bare = list(stars)
    review_count, review_stars = reviewed
    count = sum(bare) + review_count
    total = sum(n * rating for rating, n in enumerate(bare, 1)) + review_stars
    return {
        "rating": round(total / count, 1) if count else None,
        "review_count": sum(bare) // 9 + review_count,
        "rating_count": count,
    }


def reviews(
    svc: Service,
    shop: Shop,
    subject: str,
    stars: tuple[int, int],
    verified_only: bool,
    days: tuple[str | None, str | None],
) -> Listing:
    """Return a product's reviews, newest first.

    Their `stars` lie within two limits, and the day within the first and the last of `days`.
    """
    rows = Listing(svc.db, f"{shop.tables}_reviews", by="at", tied="id").only("subject=?", subject)
    rows = rows.only("rating BETWEEN ? AND ? AND verified>=?", *stars, int(verified_only))
    return rows.days(*days, rules.profile(svc, shop)["timezone"])


def review_json(row: Row, product_id: str) -> Json:
    """Return a review as JSON."""
    return {
        "review_id": row["id"],
        "product_id": product_id,
        "rating": row["rating"],
        "title": row["title"],
        "body": row["body"],
        "author": row["author"],
        "is_mine": row["mine"],
        "verified_purchase": row["verified"],
        "created_at": row["at"],
    }


def add_review(
    svc: Service, shop: Shop, subject: str, rating: int, title: str, body: str, author: str
) -> Row:
    """Write the user's one review of a product and return its row.

    It counts as verified if the product was delivered to the user.
    """
    table = f"{shop.tables}_reviews"
    earlier = svc.db.rows(table, "subject=? AND mine=1", subject)
    if earlier:
        message = f"You already reviewed this product on {earlier[0]['at'][:10]}."
        svc.fail(
            "REVIEW_EXISTS",
            message,
            "You can write one review per product; yours is listed among its reviews.",
            review_id=earlier[0]["id"],
        )
    review = {
        "id": svc.new_id(shop.ids + "r"),
        "subject": subject,
        "rating": rating,
        "title": title,
        "body": body,
        "author": author,
    }
    verified = _received(svc, shop, subject)
    return svc.db.insert(table, review | {"verified": verified, "mine": True, "at": svc.time})


def _received(svc: Service, shop: Shop, subject: str) -> bool:
    """Whether a product, or another colour or size of it, was delivered to the user."""
    columns = svc.db.tables[f"{shop.tables}_products"].columns
    reviewed = "p.family" if "family" in columns else "p.id"
    orders = svc.db.sql(
        f"SELECT 1 FROM {shop.tables}_order_items i"
        f" JOIN {shop.tables}_orders o ON o.id=i.order_id"
        f" JOIN {shop.tables}_products p ON p.id=i.product_id"
        f" WHERE {reviewed}=? AND o.canceled_at IS NULL AND o.done_at<=? LIMIT 1",
        subject,
        svc.time,
    )
    return bool(orders)
