"""Restaurants, stores and their menus on Uber Eats and DoorDash.

They are made from the world's places, the kitchens in the seeds, and menus by kind of food.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from scenarios.worlds.build import Builder, parsed
from servers.food_delivery import _catalogue as catalogue
from servers.kit.errors import InputError
from servers.kit.values import cents, iso, parse_time

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DIET = {"v": "vegetarian", "n": "vegan", "g": "gluten-free", "h": "hot", "u": "nuts"}
MENUS = Path(__file__).with_name("_menus.yaml")
ALWAYS = 5
"""Items at the top of a menu that every restaurant of the kind sells and that never sell out."""
LEVELS = (0.92, 1.0, 1.12, 1.25)
"""Factors by which the price level of a restaurant, 1 to 4, changes its prices."""
STORE_LEVELS = (0.94, 1.0, 1.1, 1.2)
"""Factors by which the price level of a store, 1 to 4, changes its prices."""
SPECIALS = ("Spring special", "Chef's plate", "Winter stew", "Anniversary plate", "Cook's choice")


def slug(name: str) -> str:
    """Return the key of an item, unique within its place."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def week(hours: dict[str, Any]) -> list[str]:
    """Return opening hours as seven texts, given hours by day or range of days."""
    texts = [""] * 7
    for days, hours_text in hours.items():
        text = {"closed": "", "24h": "00:00-24:00"}.get(str(hours_text), str(hours_text))
        first, _, last = days.partition("-")
        for day in range(DAYS.index(first), DAYS.index(last or first) + 1):
            texts[day] = text.replace(" ", "")
    return texts


def _cells(line: str) -> list[str]:
    """Return the cells of a line of the menus, padded to four."""
    cells = [cell.strip() for cell in line.split("|")]
    return cells + [""] * (4 - len(cells))


class Catalogue:
    """One provider's listing: places by key, and the items of each place with their past prices."""

    def __init__(
        self, builder: Builder, seeds: dict[str, Any], name: str, prefixes: dict[str, str]
    ) -> None:
        self.builder = builder
        self.seeds = seeds
        self.name = name
        self.prefix = prefixes
        self.menus = parsed(MENUS)
        self.cities = {c["key"]: c for c in builder.person["cities"]}
        self.home = builder.person["cities"][0]["key"]
        self.first = parse_time(seeds["listed_since"])
        self.places: dict[str, dict[str, Any]] = {}
        self.items: dict[str, list[dict[str, Any]]] = {}
        self.before: dict[str, tuple[int, int]] = {}

    def fill(self, named: dict[str, list[str]], told: dict[str, list[str]]) -> None:
        """Write option groups, places and items.

        `named` are the items that happenings name, by place; `told` are those that single orders
        name.
        """
        for key, group in self.menus["options"].items():
            self._options(key, group)
        stale = self.seeds["stale"].get(self.name, [])
        for key, place in {**self.builder.places, **self.seeds.get("kitchens", {})}.items():
            if self.name in (place.get("food") or []) or key in stale:
                self._restaurant(key, place, named.get(key, []), told.get(key, []))
        if self.name == "uber_eats":
            kind = "grocery"
            goods = "groceries"
        else:
            kind = "add_on"
            goods = "corner"
        for key in self.seeds[goods]:
            store = self._store(key)
            self._place(key, store, kind, "store", store["category"])
            self._goods(key, goods)

    def _options(self, key: str, group: dict[str, Any]) -> None:
        """Write an option group."""
        choices = [
            {
                "id": self.builder.id(self.prefix["option"], f"{key}/{slug(str(name))}"),
                "name": str(name),
                "delta": cents(delta),
            }
            for name, delta in group["choices"].items()
        ]
        self._add(
            "options",
            id=self.builder.id(self.prefix["group"], key),
            name=group["name"],
            required=group.get("required", False),
            most=group.get("most", 1),
            choices=choices,
        )

    def _store(self, key: str) -> dict[str, Any]:
        """Return the description of a store in the world or in the seeds."""
        store = self.builder.places.get(key) or self.seeds["stores"].get(key)
        if store is None:
            raise InputError(f"food_delivery.yaml: there is no place or store {key!r}")
        return store

    def _add(self, table: str, **row: Any) -> dict[str, Any]:
        return self.builder.add(self.first, f"{self.name}_{table}", **row)

    def _place(
        self, key: str, place: dict[str, Any], kind: str, prefix: str, category: str
    ) -> None:
        """Write a restaurant or store, given its description in the world or in the seeds."""
        # The order of these draws matters: each one depends on those before it.
        chance = self.builder.chance(self.name, key)
        reach = round(chance.uniform(4.2, 6.8), 1)
        rating = round(place.get("rating", 4.2) + chance.choice([-0.2, -0.1, 0, 0, 0.1, 0.2]), 1)
        ratings = chance.randrange(40, 2400)
        quick = kind != "restaurant" or "Coffee" in category
        prep = chance.choice([8, 10, 12] if quick else [12, 15, 18, 20, 25])
        level = place.get("price", 2)
        min_order = chance.choice([0, 0, 800, 1000, 1200] if level < 3 else [1500, 2000])
        city = self.cities[place.get("city", self.home)]
        row = self._add(
            "restaurants",
            id=self.builder.id(self.prefix[prefix], key),
            kind=kind,
            name=place["name"],
            category=category,
            tags=f"{place['category']} {place.get('cuisine', '')}".strip(),
            price=level,
            rating=min(5.0, max(1.0, rating)),
            ratings=ratings,
            **{column: place[column] for column in ("street", "zip", "lat", "lng", "phone")},
            city=city["name"],
            state=place.get("state", self.builder.person["home"]["state_code"]),
            timezone=city["timezone"],
            hours=week(place["hours"]),
            prep=prep,
            min_order=min_order,
            radius=self.seeds.get("reach", {}).get(key, reach if kind != "grocery" else 8.0),
        )
        row["closed_on"] = None
        closed_on = None
        if place.get("closed_since") is not None:
            closed_on = str(place["closed_since"])
            table = f"{self.name}_restaurants"
            self.builder.change(f"{closed_on}T18:00:00Z", table, row["id"], closed_on=closed_on)
        self.places[key] = row | {"closed_on": closed_on}
        self.items[key] = []

    def _restaurant(
        self, key: str, place: dict[str, Any], named: list[str], told: list[str]
    ) -> None:
        """Write a restaurant and its menu, which includes all `named` and `told` items."""
        cuisine = self.seeds.get("cuisines", {}).get(key)
        if not cuisine:
            cuisine = "Sushi" if "Sushi" in place["category"] else place["cuisine"]
        self._place(key, place, "restaurant", "restaurant", cuisine)
        menu = self._menu(cuisine, place.get("chain") or key, named, told)
        own = self.builder.chance(self.name, key, "prices")
        factor = LEVELS[place.get("price", 2) - 1] * own.uniform(0.97, 1.08)
        set_prices = self.seeds.get("prices", {}).get(key, {})
        for number, (section, line) in enumerate(menu):
            name, price, diet, options = _cells(line)[:4]
            worth = round(float(price) * factor * own.uniform(0.97, 1.03) * 4) * 25
            groups = [self.builder.id(self.prefix["group"], g) for g in options.split()]
            row = self._item(key, section, name, worth, options=groups)
            row["diet"] = " ".join(DIET[letter] for letter in diet)
            fixed = name in (*named, *told) or name in set_prices
            if number >= ALWAYS and not fixed:
                row["scarce"] = own.random() < 0.12
                out_since = None
                if own.random() < 0.05:
                    out_since = iso(self.builder.start - own.randrange(1, 9) * 43_200)
                row["out_since"] = out_since
            if not fixed and own.random() < 0.08:
                by = own.choice([25, 50, 75])
                self._raise(row, by, self.builder.start - own.randrange(15, 120) * 86_400)
        if own.random() < 0.4 and not named:
            gone = self.builder.start - own.randrange(30, 200) * 86_400
            name = own.choice(SPECIALS)
            row = self._item(key, "Specials", name, 25 * own.randrange(40, 70))
            self.builder.change(gone, f"{self.name}_items", row["id"], removed_at=iso(gone))
            self.items[key][-1] = row | {"removed_at": iso(gone)}

    def _menu(
        self, cuisine: str, kitchen: str, named: list[str], told: list[str]
    ) -> list[tuple[str, str]]:
        """Return a menu as (section, line) pairs; branches of a chain share one."""
        chance = self.builder.chance("menu", kitchen)
        sections = self.menus["kinds"][self.menus["same"].get(cuisine, cuisine)]
        wanted = {*named, *told}
        menu = []
        number = 0
        for section, lines in sections.items():
            for line in lines:
                certain = number < ALWAYS or chance.random() < 0.75
                if certain or line.split(" | ")[0] in wanted:
                    menu.append((section, line))
                number += 1
        menu += [("Drinks", line) for line in chance.sample(self.menus["drinks"], 2)]
        names = {line.split(" | ")[0] for _, line in menu}
        specials = [name for name in dict.fromkeys(named) if name not in names]
        return menu + [("Specials", f"{name} | 14") for name in specials]

    def _item(
        self, key: str, section: str, name: str, worth: int, **columns: Any
    ) -> dict[str, Any]:
        """Write an item and return its row; the seeds may set a price other than `worth`."""
        price = cents(self.seeds.get("prices", {}).get(key, {}).get(name, worth / 100))
        row = {
            "id": self.builder.id(self.prefix["item"], f"{key}/{slug(name)}"),
            "restaurant_id": self.places[key]["id"],
            "section": section,
            "name": name,
            "price": price,
            "options": [],
            "diet": "",
            "scarce": False,
            "out_since": None,
            "removed_at": None,
            **columns,
        }
        item = self._add("items", **row)
        self.items[key].append(item)
        return item

    def _raise(self, row: dict[str, Any], by: int, at: int) -> None:
        """Make an item cheaper until a moment, at which its price is raised."""
        price = row["price"]
        row["price"] = price - by
        self.before[row["id"]] = (at, price)
        self.builder.change(at, f"{self.name}_items", row["id"], price=price)

    def _goods(self, key: str, goods: str) -> None:
        """Write the items of a store."""
        store = self._store(key)
        own = self.builder.chance(self.name, key, "goods")
        level = STORE_LEVELS[store.get("price", 2) - 1]
        for section, lines in self.menus[goods].items():
            for line in lines:
                name, price, unit, *kinds = (cell.strip() for cell in line.split("|"))
                staple = name in self.seeds["staples"]
                if kinds and store.get("sells", "p") not in kinds[0]:
                    continue
                if not kinds and own.random() < 0.12 and not staple:
                    continue
                worth = round(float(price) * level * own.uniform(0.95, 1.06) * 20) * 5 - 1
                scarce = own.random() < 0.2
                out_since = None
                if not scarce and own.random() < 0.04:
                    out_since = iso(self.builder.start - own.randrange(1, 5) * 43_200)
                stock = {} if staple else {"scarce": scarce, "out_since": out_since}
                self._item(key, section, name, worth, unit=unit, **stock)

    # -- for orders --------------------------------------------------------------------------------
    def price(self, item: dict[str, Any], at: int) -> int:
        """Return the price of an item at a moment."""
        if item["id"] in self.before:
            raised_at, price = self.before[item["id"]]
            if at >= raised_at:
                return price
        return item["price"]

    def find(self, key: str, name: str) -> dict[str, Any]:
        """Return an item of a place by its name."""
        for item in self.items[key]:
            if item["name"] == name:
                return item
        sold = ", ".join(i["name"] for i in self.items[key])
        raise InputError(
            f"food_delivery.yaml: {key} sells no {name!r} on {self.name}; it sells {sold}"
        )

    def sold(self, key: str, at: int) -> list[dict[str, Any]]:
        """Return the items that a place had available at a moment."""
        return [i for i in self.items[key] if catalogue.available(i, at)]

    def choices(self, item: dict[str, Any], chance: Any) -> tuple[list[str], int]:
        """Return options for an item, one of each required group, and what they add in cents.

        Without `chance`, the first option of each group is chosen.
        """
        keys = {self.builder.id(self.prefix["group"], key): key for key in self.menus["options"]}
        picked = []
        extra = 0
        for group_id in item["options"]:
            key = keys[group_id]
            group = self.menus["options"][key]
            if group.get("required"):
                choices = list(group["choices"].items())
                name, delta = chance.choice(choices) if chance else choices[0]
                picked.append(self.builder.id(self.prefix["option"], f"{key}/{slug(str(name))}"))
                extra += cents(delta)
        return picked, extra
