"""Restaurants, stores and their menus on Uber Eats and DoorDash, from places, kitchens of the seeds and menus by kind of food."""

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
"""Items at the head of a kind of food that every restaurant of the kind sells and never runs out of."""


def slug(name: str) -> str:
    """Return the key of an item within its place."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def week(hours: dict[str, Any]) -> list[str]:
    """Return opening hours as seven texts, from hours by day or range of days."""
    found = [""] * 7
    for days, text in hours.items():
        first, _, last = days.partition("-")
        for day in range(DAYS.index(first), DAYS.index(last or first) + 1):
            found[day] = {"closed": "", "24h": "00:00-24:00"}.get(str(text), str(text)).replace(
                " ", ""
            )
    return found


class Catalogue:
    """What one provider lists: rows by key, and the items of each place with the prices they had."""

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
        """Write options, places and items; `named` are items that happenings name, by place, `told` those of single orders."""
        for key, group in self.menus["options"].items():
            choices = [
                {
                    "id": self.builder.id(self.prefix["option"], f"{key}/{slug(str(c))}"),
                    "name": str(c),
                    "delta": cents(d),
                }
                for c, d in group["choices"].items()
            ]
            row = {
                "name": group["name"],
                "required": group.get("required", False),
                "most": group.get("most", 1),
                "choices": choices,
            }
            self._add("options", id=self.builder.id(self.prefix["group"], key), **row)
        for key, said in {**self.builder.places, **self.seeds.get("kitchens", {})}.items():
            listed = self.name in (said.get("food") or []) or key in self.seeds["stale"].get(
                self.name, []
            )
            if listed:
                self._restaurant(key, said, named.get(key, []), told.get(key, []))
        kind, prefix, goods = (
            ("grocery", "store", "groceries")
            if self.name == "uber_eats"
            else ("add_on", "store", "corner")
        )
        for key in self.seeds[goods]:
            self._place(key, self._said(key), kind, prefix, self._said(key)["category"])
            self._goods(key, goods)

    def _said(self, key: str) -> dict[str, Any]:
        found = self.builder.places.get(key) or self.seeds["stores"].get(key)
        if found is None:
            raise InputError(f"food_delivery.yaml: there is no place or store {key!r}")
        return found

    def _add(self, table: str, **row: Any) -> dict[str, Any]:
        return self.builder.add(self.first, f"{self.name}_{table}", **row)

    def _place(self, key: str, said: dict[str, Any], kind: str, prefix: str, category: str) -> None:
        chance = self.builder.chance(self.name, key)
        city = self.cities[said.get("city", self.home)]
        prices = said.get("price", 2)
        radius = round(chance.uniform(4.2, 6.8), 1)
        rating = min(
            5.0,
            max(
                1.0, round(said.get("rating", 4.2) + chance.choice([-0.2, -0.1, 0, 0, 0.1, 0.2]), 1)
            ),
        )
        closed = said.get("closed_since")
        row = {
            "name": said["name"],
            "category": category,
            "tags": f"{said['category']} {said.get('cuisine', '')}".strip(),
            "price": prices,
            "rating": rating,
            "ratings": chance.randrange(40, 2400),
            **{k: said[k] for k in ("street", "zip", "lat", "lng", "phone")},
            "city": city["name"],
            "state": said.get("state", self.builder.person["home"]["state_code"]),
            "timezone": city["timezone"],
            "hours": week(said["hours"]),
            "prep": chance.choice([8, 10, 12])
            if kind != "restaurant" or "Coffee" in category
            else chance.choice([12, 15, 18, 20, 25]),
            "min_order": chance.choice([0, 0, 800, 1000, 1200])
            if prices < 3
            else chance.choice([1500, 2000]),
            "radius": self.seeds.get("reach", {}).get(key, radius if kind != "grocery" else 8.0),
        }
        made = self._add(
            "restaurants", id=self.builder.id(self.prefix[prefix], key), kind=kind, **row
        )
        made["closed_on"] = None
        if closed is not None:
            self.builder.change(
                f"{closed}T18:00:00Z", f"{self.name}_restaurants", made["id"], closed_on=str(closed)
            )
        self.places[key], self.items[key] = (
            made | {"closed_on": str(closed) if closed else None},
            [],
        )

    def _restaurant(
        self, key: str, said: dict[str, Any], named: list[str], told: list[str]
    ) -> None:
        cuisine = self.seeds.get("cuisines", {}).get(key) or (
            "Sushi" if "Sushi" in said["category"] else said["cuisine"]
        )
        self._place(key, said, "restaurant", "restaurant", cuisine)
        chance = self.builder.chance("menu", said.get("chain") or key)
        kind = self.menus["kinds"][self.menus["same"].get(cuisine, cuisine)]
        lines = [(section, line) for section, some in kind.items() for line in some]
        kept = [
            x
            for n, x in enumerate(lines)
            if n < ALWAYS or chance.random() < 0.75 or x[1].split(" | ")[0] in (*named, *told)
        ]
        kept += [("Drinks", line) for line in chance.sample(self.menus["drinks"], 2)]
        have = {line.split(" | ")[0] for _, line in kept}
        kept += [("Specials", f"{name} | 14") for name in dict.fromkeys(named) if name not in have]
        level = (0.92, 1.0, 1.12, 1.25)[said.get("price", 2) - 1]
        own = self.builder.chance(self.name, key, "prices")
        factor = level * own.uniform(0.97, 1.08)
        for place, (section, line) in enumerate(kept):
            name, price, diet, options = ([p.strip() for p in line.split("|")] + ["", ""])[:4]
            worth = round(float(price) * factor * own.uniform(0.97, 1.03) * 4) * 25
            row = self._item(
                key,
                section,
                name,
                worth,
                options=[self.builder.id(self.prefix["group"], g) for g in options.split()],
            )
            row["diet"] = " ".join(DIET[d] for d in diet)
            fixed = name in (*named, *told) or name in self.seeds.get("prices", {}).get(key, {})
            if place >= ALWAYS and not fixed:
                row["scarce"] = own.random() < 0.12
                row["out_since"] = (
                    iso(self.builder.start - own.randrange(1, 9) * 43_200)
                    if own.random() < 0.05
                    else None
                )
            if not fixed and own.random() < 0.08:
                self._raise(
                    row,
                    own.choice([25, 50, 75]),
                    self.builder.start - own.randrange(15, 120) * 86_400,
                )
        if own.random() < 0.4 and not named:
            gone = self.builder.start - own.randrange(30, 200) * 86_400
            name = own.choice(
                [
                    "Spring special",
                    "Chef's plate",
                    "Winter stew",
                    "Anniversary plate",
                    "Cook's choice",
                ]
            )
            row = self._item(key, "Specials", name, 25 * own.randrange(40, 70))
            self.builder.change(gone, f"{self.name}_items", row["id"], removed_at=iso(gone))
            self.items[key][-1] = row | {"removed_at": iso(gone)}

    def _item(self, key: str, section: str, name: str, worth: int, **more: Any) -> dict[str, Any]:
        worth = cents(self.seeds.get("prices", {}).get(key, {}).get(name, worth / 100))
        row = {
            "restaurant_id": self.places[key]["id"],
            "section": section,
            "name": name,
            "price": worth,
            "options": [],
            "diet": "",
        }
        more = {"scarce": False, "out_since": None, "removed_at": None, **more}
        made = self._add(
            "items", id=self.builder.id(self.prefix["item"], f"{key}/{slug(name)}"), **(row | more)
        )
        self.items[key].append(made)
        return made

    def _raise(self, row: dict[str, Any], by: int, at: int) -> None:
        """Let an item have been cheaper until a moment."""
        dear = row["price"]
        row["price"] = dear - by
        self.before[row["id"]] = (at, dear)
        self.builder.change(at, f"{self.name}_items", row["id"], price=dear)

    def _goods(self, key: str, goods: str) -> None:
        said = self._said(key)
        own = self.builder.chance(self.name, key, "goods")
        level = (0.94, 1.0, 1.1, 1.2)[said.get("price", 2) - 1]
        for section, lines in self.menus[goods].items():
            for line in lines:
                name, price, unit, *kinds = (p.strip() for p in line.split("|"))
                if kinds and said.get("sells", "p") not in kinds[0]:
                    continue
                if not kinds and own.random() < 0.12 and name not in self.seeds["staples"]:
                    continue
                worth = round(float(price) * level * own.uniform(0.95, 1.06) * 20) * 5 - 1
                scarce = own.random() < 0.2
                out = (
                    iso(self.builder.start - own.randrange(1, 5) * 43_200)
                    if not scarce and own.random() < 0.04
                    else None
                )
                stock = (
                    {} if name in self.seeds["staples"] else {"scarce": scarce, "out_since": out}
                )
                self._item(key, section, name, worth, unit=unit, **stock)

    # -- for orders --------------------------------------------------------------------------------
    def price(self, item: dict[str, Any], at: int) -> int:
        """Return the price of an item at a moment."""
        changed = self.before.get(item["id"])
        return changed[1] if changed and at >= changed[0] else item["price"]

    def find(self, key: str, name: str) -> dict[str, Any]:
        """Return an item of a place by its name."""
        found = next((i for i in self.items[key] if i["name"] == name), None)
        if found is None:
            sold = ", ".join(i["name"] for i in self.items[key])
            raise InputError(
                f"food_delivery.yaml: {key} sells no {name!r} on {self.name}; it sells {sold}"
            )
        return found

    def sold(self, key: str, at: int) -> list[dict[str, Any]]:
        """Return the items that a place had at a moment."""
        return [i for i in self.items[key] if catalogue.available(i, at)]

    def choices(self, item: dict[str, Any], chance: Any) -> tuple[list[str], int]:
        """Return options that fit an item and what they add: one of each required group."""
        groups = {
            self.builder.id(self.prefix["group"], k): (k, g)
            for k, g in self.menus["options"].items()
        }
        picked = []
        extra = 0
        for key, group in (groups[g] for g in item["options"]):
            if group.get("required"):
                name, delta = (
                    chance.choice(list(group["choices"].items()))
                    if chance
                    else next(iter(group["choices"].items()))
                )
                picked.append(self.builder.id(self.prefix["option"], f"{key}/{slug(str(name))}"))
                extra += cents(delta)
        return picked, extra
