"""What can be bought on Instacart, where, and by whom.

This writes the catalogue, stores near the person, the account, and open carts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import time
from pathlib import Path
from typing import Any

from scenarios.worlds.build import Builder, parsed
from servers.kit.noise import share
from servers.kit.values import cents, iso, parse_time
from servers.shopping.instacart import _inventory as stock

CATALOGUE = Path(__file__).with_name("_instacart_products.yaml")
LABELS = {"o": "organic", "v": "vegan", "g": "gluten_free", "d": "dairy_free"}
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
PLACE = ("street", "state", "zip", "lat", "lng")
"""The fields of a place that say where it is."""


def slug(text: str) -> str:
    """Return a text as a key: lower case, words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def tokens(text: str) -> set[str]:
    """Return the words of a text, each with and without a plural ending."""
    words = _words(text)
    return words | {w.removesuffix("s") for w in words} | {w.removesuffix("es") for w in words}


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-zñ]+", text.lower()))


class Shelf:
    """What can be bought where, and by whom."""

    def __init__(self, builder: Builder, seeds: dict[str, Any]) -> None:
        self.builder = builder
        self.seeds = seeds
        self.first = parse_time(f"{seeds['since']}T00:00:00Z")
        builder.stands(self.first)
        # What life.yaml and habits choose from; the files in `grocery` add to neither.
        self.products: dict[str, dict[str, Any]] = {}
        self.families: dict[str, list[dict[str, Any]]] = {}
        self._keys: set[str] = set()
        self.stores: dict[str, dict[str, Any]] = {}
        self.exceptions: dict[str, stock.Exceptions] = {}
        self.needed: dict[str, dict[str, None]] = {}
        self._catalogue(parsed(CATALOGUE))
        for path in sorted(CATALOGUE.with_name("grocery").glob("*.yaml")):
            self._range(parsed(path))
        for key, seed in seeds["stores"].items():
            self._store(key, seed)
        for number, seed in enumerate(seeds["exceptions"]):
            self._exception(number, seed)
        for seed in seeds["coupons"]:
            self._coupon(seed)

    def moment(self, text: str) -> int:
        """Return the moment of a local time at home; a bare date means six in the evening."""
        return self.builder.moment(text, bare=time(18))

    def id(self, kind: str, key: str) -> str:
        """Return the id of a row; its kind is one letter, which follows "ic" in the prefix."""
        return self.builder.id("ic" + kind, key)

    def _catalogue(self, catalogue: dict[str, Any]) -> None:
        for recipe in catalogue.pop("recipes"):
            self._recipe(*recipe)
        self.words = catalogue.pop("words")
        self.crew = [self._shopper(name) for name in catalogue.pop("shoppers")]
        for key, row in self._rows(catalogue):
            own_key, product = self._product(key, row)
            self.products[own_key] = product
            self.families.setdefault(row["family"], []).append(product)

    def _range(self, catalogue: dict[str, Any]) -> None:
        """Write what stores also carry, but what nobody's habits are made of."""
        self.words |= catalogue.pop("words", {})
        for key, row in self._rows(catalogue):
            self._product(key, row)

    def _rows(self, catalogue: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the key and columns of each product of a list."""
        for category, families in catalogue.items():
            for family, products in families.items():
                for name, brand, size, unit, price, labels in products:
                    row = {
                        "family": family,
                        "name": name,
                        "brand": brand,
                        "category": category,
                        "size": float(size),
                        "unit": unit,
                        "price": price,
                        "labels": [LABELS[c] for c in labels],
                        "words": self.words.get(family, ""),
                    }
                    yield f"{slug(family)}-{slug(brand)}-{size:g}", row

    def _recipe(
        self,
        key: str,
        title: str,
        summary: str,
        diets: list[str],
        servings: int,
        minutes: int,
        parts: dict[str, Any],
        steps: list[str],
    ) -> None:
        ingredients = [
            {"name": name, "family": family, "quantity": quantity, "unit": unit}
            for name, (family, quantity, unit) in parts.items()
        ]
        row = {
            "id": self.id("x", key),
            "title": title,
            "summary": summary,
            "diets": diets,
            "servings": servings,
            "minutes": minutes,
            "ingredients": ingredients,
            "steps": steps,
        }
        self.builder.add(self.first, "instacart_recipes", **row)

    def _shopper(self, name: str) -> dict[str, Any]:
        chance = self.builder.chance("shopper", name)
        row = {
            "id": self.id("h", name),
            "name": name,
            "rating": round(chance.uniform(4.6, 5), 2),
            "orders": chance.randrange(40, 3000),
            "city": self.builder.person["home"]["city"],
        }
        return self.builder.add(self.first, "instacart_shoppers", **row)

    def _product(self, key: str, row: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Write a product and return its key, which no other has, with its row."""
        while key in self._keys:
            key += "-b"
        self._keys.add(key)
        return key, self.builder.add(self.first, "instacart_products", id=self.id("p", key), **row)

    def _store(self, key: str, seed: dict[str, Any]) -> None:
        place = self.builder.places.get(key, {}) | seed.get("place", {})
        city = next(c for c in self.builder.person["cities"] if c["key"] == place["city"])
        row = {
            "id": self.id("s", key),
            "name": place["name"],
            "store_type": seed["type"],
            **{k: place[k] for k in (*PLACE, "rating")},
            "city": city["name"],
            "timezone": city["timezone"],
            "phone": place.get("phone"),
            "hours": _hours(place["hours"]),
            "delivery_fee": cents(seed.get("fee", 3.99)),
            "min_order": cents(seed.get("minimum", 10)),
            "markup": seed.get("markup", 100),
            "breadth": float(seed.get("breadth", 0.9)),
            "also": [],
            "closed_since": place.get("closed_since"),
        }
        self.stores[key] = self.builder.add(self.first, "instacart_stores", **row)
        self.exceptions[key] = {}

    def _exception(self, number: int, seed: dict[str, Any]) -> None:
        store = self.stores[seed["store"]]
        product = self.products[seed["product"]]
        begin = self.moment(seed["from"])
        end = self.moment(seed["to"])
        row = {
            "id": self.id("e", str(number)),
            "store_id": store["id"],
            "product_id": product["id"],
            "price": cents(seed["price"]) if "price" in seed else None,
            "stock": seed.get("stock"),
            "begins": iso(begin),
            "ends": iso(end),
        }
        exception = self.builder.add(min(begin, self.builder.start), "instacart_exceptions", **row)
        self.exceptions[seed["store"]].setdefault(product["id"], []).append(exception)

    def _coupon(self, seed: dict[str, Any]) -> None:
        begin = self.moment(f"{seed['starts']}T00:00")
        end = self.moment(f"{seed['expires']}T00:00")
        row = {
            "code": seed["code"],
            "title": seed["title"],
            "percent": seed.get("percent"),
            "amount": cents(seed["amount"]) if "amount" in seed else None,
            "most": cents(seed["most"]) if "most" in seed else None,
            "minimum": cents(seed.get("minimum", 0)),
            "store_ids": [self.stores[s]["id"] for s in seed.get("stores", [])],
            "starts_at": iso(begin),
            "expires_at": iso(end),
        }
        self.builder.add(min(begin, self.builder.start), "instacart_coupons", **row)

    def account(self) -> None:
        """Write the customer, their addresses and cards."""
        person = self.builder.person
        add = self.builder.add
        first = self.first
        profile = {
            "id": self.id("u", "me"),
            "name": person["name"],
            "email": person["emails"]["personal"],
            "phone": person["phone"],
            "timezone": person["timezone"],
        }
        add(first, "instacart_profile", **profile)
        for hour, (key, seed) in enumerate(self.seeds["addresses"].items()):
            place = self.builder.places[seed.get("place", key)]
            city = next(c["name"] for c in person["cities"] if c["key"] == place["city"])
            at = first + hour * 3600
            address = {
                "id": self.id("a", key),
                "label": seed["label"],
                **{k: place[k] for k in PLACE},
                "city": city,
                "instructions": seed.get("note"),
                "added_at": iso(at),
            }
            add(at, "instacart_addresses", **address)
        home = person["home"]
        billing = f"{home['street']}, {home['city']}, {home['state_code']} {home['zip']}"
        for hour, (key, seed) in enumerate(self.seeds["cards"].items()):
            known = person["cards"].get(key, {}) | seed
            at = first + hour * 3600
            card = {
                "id": self.id("m", key),
                "kind": known["brand"],
                "last_four": known["last4"],
                "expires": str(known["expires"]),
                "billing_address": billing,
                "is_default": hour == 0,
                "added_at": iso(at),
            }
            add(at, "instacart_cards", **card)

    def carts(self) -> None:
        """Write the carts that have not been checked out."""
        for key, seed in self.seeds["carts"].items():
            at = self.moment(seed["at"])
            cart = {
                "id": self.id("c", key),
                "store_id": self.stores[seed["store"]]["id"],
                "created_at": iso(at),
                "order_id": None,
                "coupon": seed.get("coupon"),
            }
            self.builder.add(at, "instacart_carts", **cart)
            for number, (product, quantity, *wish) in enumerate(seed["items"]):
                added = at + 40 * number
                replacement = self.products[wish[1]] if len(wish) > 1 else None
                self.need(seed["store"], self.products[product])
                if replacement is not None:
                    self.need(seed["store"], replacement)
                item = {
                    "id": self.id("l", f"{key}-{number}"),
                    "cart_id": cart["id"],
                    "product_id": self.products[product]["id"],
                    "quantity": quantity,
                    "added_at": iso(added),
                    "preference": wish[0] if wish else "best_match",
                    "notes": None,
                    "replacement_id": replacement["id"] if replacement else None,
                }
                self.builder.add(added, "instacart_cart_items", **item)

    def need(self, store: str, product: dict[str, Any]) -> None:
        """Remember that an order or cart contains a product, so that its store carries it."""
        if not stock.carries(self.stores[store], product):
            self.needed.setdefault(store, {})[product["id"]] = None

    def stock_up(self) -> None:
        """Let stores carry everything that was ordered there, once all orders have been chosen."""
        for store, products in self.needed.items():
            self.stores[store]["also"] += list(products)

    def usual(self, family: str, store: dict[str, Any]) -> dict[str, Any]:
        """Return the product of a family that the person usually takes in a store."""
        rows = [r for r in self.families[family] if stock.carries(store, r)]
        if not rows:
            rows = self.families[family]
        return rows[int(share("usual", self.builder.name, family) * len(rows))]

    def meant(self, text: str, store: dict[str, Any]) -> dict[str, Any]:
        """Return the product that words from the person's life mean.

        If possible, it is one that the store carries.
        """
        wanted = tokens(text)
        literal = _words(text)

        def fit(row: dict[str, Any]) -> tuple[float, bool, bool]:
            family = set(row["family"].split())
            near = len(wanted & tokens(row["family"])) / len(family)
            exact = len(literal & family) / 10
            by_name = len(wanted & tokens(row["name"])) / 100
            usual = row is self.usual(row["family"], store)
            return near + exact + by_name, stock.carries(store, row), usual

        return max(self.products.values(), key=fit)


def _hours(seed: dict[str, str]) -> list[str]:
    """Return the hours of seven days, Monday first, from a mapping such as {mon-fri: 24h}."""
    week = ["closed"] * 7
    for days, hours in seed.items():
        first, _, last = days.partition("-")
        for number in range(DAYS.index(first), DAYS.index(last or first) + 1):
            week[number] = "00:00-24:00" if hours == "24h" else hours
    return week
