"""The catalogues of the three shops: products, variants, offers, prices and stock."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from scenarios.worlds.build import Builder, parsed
from servers.kit.control import make_id
from servers.kit.values import cents, iso
from servers.shopping import _catalogue as rules
from servers.shopping._rules import DAY

SHOPS = {"a": "amazon", "w": "walmart", "t": "target"}
PREFIX = {"amazon": "az", "walmart": "wm", "target": "tg"}
_SPREAD = {
    "amazon": (0.94, 1.06, (99,)),
    "walmart": (0.92, 1.02, (97, 88, 98)),
    "target": (0.98, 1.08, (99,)),
}
"""By shop: the lowest and highest factor on the list price, and the endings of its prices."""
_RATED = {"amazon": 1, "walmart": 0.35, "target": 0.2}
"""By shop: how many people rate a product there, as a share of those who do on Amazon."""
PER_ORDER = 12
"""Units of a product that one order may hold, unless seeds say otherwise."""


@functools.cache
def catalogue() -> dict[str, Any]:
    """Return the parsed lists of products, coupons, offers and reviews.

    `staples` are the keys of the products that the lives of the persons refer to.
    """
    lists: dict[str, Any] = {}
    for name in ("_catalogue.yaml", "_descriptions.yaml", "_reviews.yaml"):
        lists |= parsed(Path(__file__).with_name(name))
    categories = dict(lists["categories"])
    products = list(lists["products"])
    for path in sorted(Path(__file__).with_name("range").glob("*.yaml")):
        part = parsed(path)
        categories |= part.get("categories", {})
        for category, rows in part["products"].items():
            products += [_wide(category, *row) for row in rows]
    staples = frozenset(row[0] for row in lists["products"])
    return lists | {"categories": categories, "products": products, "staples": staples}


def _wide(
    category: str,
    key: str,
    name: str,
    brand: str,
    price: float,
    shops: str,
    about: str,
    features: Sequence[str] = (),
    more: dict[str, Any] | None = None,
) -> list[Any]:
    """Return a product of the files in `range` as one of `_catalogue.yaml`."""
    extras = {"about": about, "f": list(features)} | (more or {})
    return [key, name, brand, category, price, shops, extras]


class Products:
    """Writes items and products; remembers what each shop sells, for orders and carts."""

    def __init__(self, builder: Builder, since: int) -> None:
        self.builder = builder
        self.since = since
        self.sold: dict[str, dict[str, list[dict[str, Any]]]] = {name: {} for name in PREFIX}
        self.items: dict[str, dict[str, Any]] = {}
        self.offers: dict[str, list[dict[str, Any]]] = {}
        self.variants: dict[str, list[dict[str, Any]]] = {}

    def id(self, prefix: str, key: str) -> str:
        """Return a row's id."""
        return self.builder.id(prefix, key)

    def upc(self, key: str) -> str:
        """Return the UPC of a product, the same in every world."""
        return f"{int(make_id('upc', key)[4:], 16) % 10**12:012d}"

    def fill(self) -> None:
        """Write everything that is for sale."""
        for key, name, rating, ratings, since in catalogue()["sellers"]:
            row = {
                "name": name,
                "rating": rating,
                "ratings": ratings,
                "since": since,
                "own": key == "amazon",
            }
            self.builder.add(self.since, "amazon_sellers", id=self.id("azs", key), **row)
        for key, name, brand, category, price, shops, more in catalogue()["products"]:
            self._product(key, name, brand, category, price, shops, more)

    def _product(
        self,
        key: str,
        name: str,
        brand: str,
        category: str,
        price: float,
        shops: str,
        more: dict[str, Any],
    ) -> None:
        kind = catalogue()["categories"][category]
        item = {
            "name": name,
            "brand": brand,
            "category": category,
            "department": kind["department"],
            "description": more.get("about") or catalogue()["descriptions"][key],
            "features": more.get("f", []),
            "food": kind.get("food", False),
            "final_sale": more.get("final", False),
        }
        self.items[key] = self.builder.add(self.since, "shopping_items", id=self.upc(key), **item)
        words = " ".join([brand, category, kind["words"], *more.get("s", [])])
        for short in shops:
            shop = SHOPS[short]
            common = {
                "item_id": self.upc(key),
                "title": more.get(short, f"{brand} {name[0].upper()}{name[1:]}"),
                "words": words,
                "stars": self._stars(shop, key, more.get("r"), kind["rated"]),
                "per_order": more.get("limit", PER_ORDER),
            }
            discontinued = short in more.get("gone", "")
            common["discontinued_at"] = iso(self.builder.start - 40 * DAY) if discontinued else None
            base = self.price(shop, key, price, more)
            if shop == "amazon":
                options = [value for _, value in _options(more)]
                common["words"] = " ".join([words, *options])
                self._on_amazon(key, common, base, more)
            else:
                self._listings(short, key, common, base, more)

    def price(self, shop: str, key: str, price: float, more: dict[str, Any]) -> int:
        """Return the regular price in cents at a shop."""
        own = more.get("p", {}).get(shop[0])
        if own is not None:
            return cents(own)
        if price != int(price):
            return cents(price)
        if more.get("steady"):
            return _dollars_below(price) * 100 + 99
        low, high, endings = _SPREAD[shop]
        chance = self.builder.chance("price", shop, key)
        dollars = _dollars_below(price * chance.uniform(low, high))
        return dollars * 100 + chance.choice(endings)

    def _stars(self, shop: str, key: str, known: int | None, usual: int) -> list[int]:
        """Return how many ratings without text a product has, from one star to five.

        `known` is about how many it has on Amazon, if its seeds say so; `usual` is what the better
        known products of its category have.
        """
        chance = self.builder.chance("stars", shop, key)
        drawn = chance.random()
        many = known * (0.8 + 0.4 * drawn) if known else usual * 10 ** (1.8 * drawn - 1.5)
        many *= _RATED[shop]
        good = chance.uniform(0.45, 0.75)
        shares = (0.05, 0.04, (1 - good) * 0.25, (1 - good) * 0.55, good)
        return [int(many * s * chance.uniform(0.7, 1.3)) for s in shares]

    # -- Amazon ------------------------------------------------------------------------------------
    def _on_amazon(self, key: str, common: dict[str, Any], base: int, more: dict[str, Any]) -> None:
        row = self.builder.add(self.since, "amazon_products", id=self.id("azp", key), **common)
        self.sold["amazon"][key] = [row]
        chance = self.builder.chance("offers", key)
        for number, (name, value) in enumerate(_options(more)):
            stock = 0 if chance.random() < 0.08 and number else chance.randint(4, 60)
            variant = {
                "id": self.id("azv", f"{key}-{value}"),
                "product_id": row["id"],
                "attributes": {name: value},
                "extra": 0 if number < 3 else 200,
                "stock": stock,
                "counted_at": iso(self.builder.start),
            }
            variant = self.builder.add(self.since, "amazon_variants", **variant)
            self.variants.setdefault(key, []).append(variant)
        if row["discontinued_at"] is None:
            self._new_offers(key, row["title"], base, more, chance)
        if more.get("used"):
            self._used_offers(key, base, chance)

    def _new_offers(
        self, key: str, title: str, base: int, more: dict[str, Any], chance: Random
    ) -> None:
        swing = 0 if more.get("steady") else chance.choice([0, 4, 6, 8, 12])
        out = "a" in more.get("out", "")
        self._offer(
            key,
            "amazon",
            "new",
            base,
            swing=swing,
            shipping=0,
            prime=True,
            days=[1, 2],
            stock=0 if out else chance.choice([2, 14, 40, 90, 160]),
            back=self._back_on(more) if out else None,
        )
        if title.startswith("Norvane"):
            self._offer(
                key,
                "norvane",
                "new",
                base - 100,
                swing=0,
                shipping=0,
                prime=True,
                days=[1, 3],
                stock=25,
            )
        others = ["brightdeal", "cascade", "hillmark", "northgate"]
        for seller in chance.sample(others, chance.choice([0, 0, 1, 1, 2])):
            price = int(base * chance.uniform(0.9, 1.12)) // 10 * 10 + 5
            self._offer(
                key,
                seller,
                "new",
                price,
                swing=5,
                shipping=chance.choice([0, 399, 599]),
                prime=False,
                days=[3, 6],
                stock=chance.choice([0, 3, 12]),
            )
        if chance.random() < 0.08:
            self._offer(
                key,
                "quickbay",
                "new",
                int(base * 0.6),
                swing=0,
                shipping=699,
                prime=False,
                days=[9, 18],
                stock=30,
            )

    def _used_offers(self, key: str, base: int, chance: Random) -> None:
        self._offer(
            key,
            "renewly",
            "renewed",
            int(base * 0.74),
            swing=0,
            shipping=0,
            prime=True,
            days=[2, 4],
            stock=chance.randint(1, 9),
        )
        if chance.random() < 0.5:
            taken = {offer["seller_id"] for offer in self.offers[key]}
            candidates = ("cascade", "hillmark", "northgate")
            seller = next(s for s in candidates if self.id("azs", s) not in taken)
            self._offer(
                key,
                seller,
                "used_good",
                int(base * 0.55),
                swing=0,
                shipping=499,
                prime=False,
                days=[4, 7],
                stock=1,
            )

    def _back_on(self, more: dict[str, Any]) -> str | None:
        """Return the day on which a product is restocked, if its seeds give one."""
        if "back" not in more:
            return None
        return iso(self.builder.start + more["back"] * DAY)[:10]

    def _offer(
        self,
        key: str,
        seller: str,
        condition: str,
        price: int,
        *,
        back: str | None = None,
        **more: Any,
    ) -> None:
        row = {
            "id": self.id("azf", f"{key}-{seller}-{condition}"),
            "product_id": self.id("azp", key),
            "seller_id": self.id("azs", seller),
            "condition": condition,
            "price": price,
            "counted_at": iso(self.builder.start),
            "restock_on": back,
            **more,
        }
        self.offers.setdefault(key, []).append(self.builder.add(self.since, "amazon_offers", **row))

    # -- Walmart and Target ------------------------------------------------------------------------
    def _listings(
        self, short: str, key: str, common: dict[str, Any], base: int, more: dict[str, Any]
    ) -> None:
        shop = SHOPS[short]
        builder = self.builder
        prefix = PREFIX[shop] + "p"
        table = f"{shop}_products"
        names = list(more.get("v", {}))
        combinations = list(product(*more.get("v", {}).values()))
        chance = builder.chance("listing", shop, key)
        special = self._special(short, chance, base, more)
        family = self.id(prefix, key)
        changed = chance.random() < 0.07 and special["special"] is None and not more.get("steady")
        moved = builder.start - chance.choice([3, 7, 11, 30, 200, 700]) * 3600
        for number, chosen in enumerate(combinations):
            out = short in more.get("out", "") or (number > 0 and chance.random() < 0.1)
            suffix = f" - {', '.join(chosen)}" if chosen else ""
            row = common | {
                "title": common["title"] + suffix,
                "options": dict(zip(names, chosen, strict=True)),
                "family": family,
                "id": family if number == 0 else self.id(prefix, f"{key}-{'-'.join(chosen)}"),
                "price": base,
                **special,
                "stock": 0 if out else chance.choice([1, 9, 30, 75, 140]),
                "counted_at": iso(builder.start),
                "restock_on": self._back_on(more) if out else None,
                "online_only": more.get("online", False),
            }
            if shop == "target":
                row["in_store"] = self._in_store(base, more, chance)
            if changed:
                row["price"] = int(base * 1.09) // 100 * 100 + 99
                builder.change(moved, table, row["id"], price=base)
            # Orders read prices from here, so this has the price after the change.
            listing = builder.add(self.since, table, **row) | {"price": base}
            self.sold[shop].setdefault(key, []).append(listing)

    def _in_store(self, base: int, more: dict[str, Any], chance: Random) -> int | None:
        """Return a product's price in stores, or None if it is the online price."""
        drawn = chance.random()
        share = 0
        if "shelf" in more:
            share = more["shelf"]
        elif drawn < 0.06:
            share = -0.08
        elif drawn > 0.93:
            share = 0.05
        return int(base * (1 + share)) // 10 * 10 + 9 if share else None

    def _special(
        self, short: str, chance: Random, base: int, more: dict[str, Any]
    ) -> dict[str, Any]:
        share, first, last = more.get("cut", {}).get(short, (0, 0, 0))
        if not share and short == "w" and chance.random() < 0.06 and not more.get("steady"):
            share = 0.1
            first = -chance.randint(2, 20)
            last = chance.randint(3, 40)
        if not share:
            return {"special": None, "special_from": None, "special_until": None}
        start = self.builder.start
        price = int(base * (1 - share)) // 100 * 100 + 99
        return {
            "special": min(price, base - 50),
            "special_from": iso(start + first * DAY),
            "special_until": iso(start + last * DAY),
        }

    # -- for orders --------------------------------------------------------------------------------
    def find(self, shop: str, key: str, chosen: str | None) -> dict[str, Any]:
        """Return the columns of an order item that name a product: its ids and title."""
        if shop == "amazon":
            row = self.sold["amazon"][key][0]
            variants = self.variants.get(key, [])
            first = variants[0] if variants else None
            variant = next((v for v in variants if chosen in v["attributes"].values()), first)
            seller = self.offers[key][0]["seller_id"]
            return {
                "product_id": row["id"],
                "title": row["title"],
                "variant_id": variant["id"] if variant else None,
                "seller_id": seller,
            }
        family = self.sold[shop][key]
        row = next((r for r in family if chosen in r["options"].values()), family[0])
        return {"product_id": row["id"], "title": row["title"]}

    def price_at(self, shop: str, key: str, at: int) -> int:
        """Return what a product cost at a moment."""
        if shop == "amazon":
            return rules.offer_price(self.offers[key][0], at)
        return rules.listing_price(self.sold[shop][key][0], at)


def _options(more: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (name, value) of each colour or size in a product's seeds."""
    options = []
    for name, values in more.get("v", {}).items():
        options += [(name, value) for value in values]
    return options


def _dollars_below(price: float) -> int:
    return max(int(price) - 1, 1)
