"""How wide the catalogues are: everyday searches, descriptions, and numbers of ratings."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from scenarios.worlds.build import shared
from scenarios.worlds.fill.shopping._products import catalogue
from tests.services.shopping.instacart import STORE
from tests.services.shopping.support import SEARCH, SHOPS
from tests.support import call_ok, new_session

pytestmark = pytest.mark.anyio

EVERYDAY = (
    "usb-c cable",
    "phone case",
    "running shoes",
    "birthday card",
    "dishwasher tablets",
    "air fryer",
    "cat litter",
    "printer ink",
    "school supply",
    "vitamin c",
    "garden hose",
    "car phone mount",
    "baby wipes",
    "cookbook",
    "bed sheets",
    "screwdriver set",
    "granola bars",
    "board game",
    "sunscreen",
)
GROCERIES = (
    "oat milk",
    "eggs",
    "bananas",
    "bread",
    "chicken breast",
    "frozen pizza",
    "pasta sauce",
    "rotisserie chicken",
    "cat food",
    "diapers",
    "cough drops",
    "birthday cake",
)


async def test_everyday_searches_find_something_in_every_shop() -> None:
    session = new_session(*SHOPS)
    nothing = []
    for shop in SHOPS:
        for words in EVERYDAY:
            reply = await call_ok(session, shop, SEARCH[shop], query=words, limit=1)
            if not reply["products"]:
                nothing.append((shop, words))
    assert nothing == []


async def test_everyday_groceries_are_found() -> None:
    session = new_session("instacart")
    nothing = []
    for words in GROCERIES:
        reply = await call_ok(
            session,
            "instacart",
            "search_grocery_items",
            store_id=STORE,
            query=words,
            in_stock_only=False,
            limit=1,
        )
        if not reply["items"]:
            nothing.append(words)
    assert nothing == []


@pytest.mark.parametrize("name", ["maya", "eleanor", "rafael"])
def test_shops_sell_the_same_wide_range_in_every_world(name: str) -> None:
    sold = {}
    for shop in ("amazon", "walmart", "target", "instacart"):
        sold[shop] = shared(name).sql(f"SELECT count(*) FROM {shop}_products")[0][0]
    assert sold["amazon"] > 5 * 232
    assert sold["walmart"] > 5 * 284
    assert sold["target"] > 5 * 260
    assert sold["instacart"] > 5 * 243


def test_every_product_has_a_description_of_its_own() -> None:
    items = shared("maya").sql("SELECT name, brand, description FROM shopping_items")
    described = Counter(description for _, _, description in items)
    assert [text for text, times in described.items() if times > 1] == []
    assert [name for name, brand, text in items if text == f"{name} by {brand}."] == []


def test_popular_things_have_thousands_of_ratings_and_odd_ones_few() -> None:
    rated = {}
    for title, stars in shared("maya").sql("SELECT title, stars FROM amazon_products"):
        rated[title] = sum(json.loads(stars))
    assert min(rated.values()) > 0
    assert rated["Ordine Wireless mouse"] > 20_000
    assert rated["Setwell Tile leveling clips 1/8 in 400-pack"] < 500
    few = [title for title, count in rated.items() if count < 1000]
    many = [title for title, count in rated.items() if count > 10_000]
    assert len(few) > len(rated) / 10
    assert len(many) > len(rated) / 10


def test_what_lives_refer_to_is_among_the_staples() -> None:
    """Habits and life.yaml choose from the staples, so a wider range changes no order."""
    lists = catalogue()
    said = {key if isinstance(key, str) else key[0] for key in lists["said"].values()}
    assert said <= lists["staples"]
    assert len(lists["staples"]) < len(lists["products"]) / 5
