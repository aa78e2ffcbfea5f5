"""Uber Eats and DoorDash: the accounts, and a year of orders.

Orders come from patterns, from single seeds, and from the happenings of the person's life.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from scenarios.worlds.build import Builder
from scenarios.worlds.fill.food_delivery._areas import areas
from scenarios.worlds.fill.food_delivery._catalogue import Catalogue
from scenarios.worlds.fill.food_delivery._mail import Mail
from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _orders as orders
from servers.food_delivery import _pricing as pricing
from servers.food_delivery import _rules as rules
from servers.food_delivery.doordash import _model as doordash
from servers.food_delivery.doordash.gifts import CLAIM_DAYS, GIFT_MILES
from servers.food_delivery.uber_eats import _model as uber_eats
from servers.kit.errors import InputError
from servers.kit.noise import share
from servers.kit.values import cents, iso, parse_time

PREFIXES = {
    "uber_eats": {
        "restaurant": "uer",
        "store": "ues",
        "item": "uei",
        "option": "uex",
        "group": "ueh",
        "offer": "uef",
    },
    "doordash": {
        "restaurant": "ddr",
        "store": "dds",
        "item": "ddi",
        "option": "ddx",
        "group": "ddh",
        "offer": "ddf",
    },
}


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write the delivery area, both catalogues, both accounts and their orders."""
    areas(builder, seeds)
    meals = _told(builder, seeds)
    for name, model in (("uber_eats", uber_eats), ("doordash", doordash)):
        Provider(builder, seeds, name, model, meals).fill()


def _told(builder: Builder, seeds: dict[str, Any]) -> list[int]:
    """Return the moments of all orders that the seeds name one by one, on either provider.

    Patterns keep clear of them, so that nobody orders twice for one meal.
    """
    lived = [{"at": h["order"].get("at", h["at"])} for h in builder.life if h.get("order")]
    moments = [s["at"] for s in [*seeds["singles"], *lived]]
    return [builder.moment(text) for text in moments]


class Provider:
    """One provider's account and orders."""

    def __init__(
        self, builder: Builder, seeds: dict[str, Any], name: str, model: Any, meals: list[int]
    ) -> None:
        self.builder = builder
        self.name = name
        self.model = model
        self.words = model.WORDS
        self.seeds = seeds
        self.own = seeds[name]
        self.person = builder.person
        self.meals = meals
        self.books = Catalogue(builder, seeds, name, PREFIXES[name])
        self.since = parse_time(self.own["since"])
        self.members: list[dict[str, Any]] = [
            {"id": builder.id("fdm", f"{name}/{n}"), "ends_at": None, **m}
            for n, m in enumerate(self.own.get("member", []))
        ]
        self.addresses: dict[str, dict[str, Any]] = {}
        self.offers: dict[str, dict[str, Any]] = {}
        self.cards: dict[str, dict[str, Any]] = {}
        self.placed = 0

    def fill(self) -> None:
        """Write everything."""
        lived = self._lived_orders()
        named: dict[str, list[str]] = {}
        for _, order in lived:
            named.setdefault(order["place"], []).extend(order["items"])
        self.books.fill(named, self._told())
        self.mail = Mail(self)
        self._account()
        for pattern in self.seeds["patterns"]:
            if pattern["app"] == self.name:
                for seed in self._expand(pattern):
                    self.order(seed)
        for seed in self.seeds["singles"]:
            if seed["app"] == self.name:
                self.order(seed)
        for happening, order in lived:
            self.order(self._lived(happening, order))
        if self.name == "uber_eats":
            for seed in self.own.get("groups", []):
                self._group(seed)
        else:
            for key, day in self.own.get("favorites", {}).items():
                self._favorite(key, f"{day}T20:15:00Z")
            for seed in self.own.get("gifts", []):
                self._gift(seed)

    def _lived_orders(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return the happenings that include an order with this provider, each with that order."""
        lived = []
        for happening in self.builder.life:
            order = happening.get("order")
            if order and self.name in _names(order["on"]):
                lived.append((happening, order))
        return lived

    def _told(self) -> dict[str, list[str]]:
        """Return the items that single orders name, by place, so that menus include them."""
        singles = [seed for seed in self.seeds["singles"] if seed["app"] == self.name]
        items: dict[str, list[str]] = {}
        for seed in [*singles, *self.own.get("gifts", [])]:
            items.setdefault(seed["place"], []).extend(seed["items"])
        for seed in self.own.get("groups", []):
            for names in seed["members"].values():
                items.setdefault(seed["place"], []).extend(names)
        return items

    def _add(self, at: int | str, table: str, **row: Any) -> dict[str, Any]:
        return self.builder.add(at, f"{self.name}_{table}", **row)

    # -- the account -------------------------------------------------------------------------------
    def _account(self) -> None:
        who = self.person
        row = {
            "name": who["name"],
            "email": who["emails"][self.own.get("email", "personal")],
            "phone": who["phone"],
            "timezone": who["timezone"],
        }
        self._add(self.seeds["listed_since"], "profile", id="me", **row)
        for number, (key, seed) in enumerate(self.own["addresses"].items()):
            self._address(key, seed, number)
        for number, (key, seed) in enumerate(self.own["cards"].items()):
            self._card(key, seed, self.since + 300 + number * 60)
        for member in self.members:
            self._add(member["since"], "memberships", **member)
        for key, seed in self.own["offers"].items():
            self._offer(key, seed)

    def _address(self, key: str, seed: dict[str, Any], number: int) -> None:
        """Write a saved address; the first one is the default."""
        who = self.person
        spot = {"home": who["home"], "work": who["work"]}.get(key)
        spot = spot or self.builder.places.get(seed.get("place", key)) or seed
        at = self.since + number * 60
        if "added" in seed:
            at = parse_time(f"{seed['added']}T17:00:00Z")
        cities = {city["key"]: city["name"] for city in who["cities"]}
        row = {
            "id": self.builder.id(self.words.address, key),
            "street": seed.get("street", spot["street"]),
            "city": cities.get(spot["city"], spot["city"]),
            "state": spot.get("state_code") or spot["state"],
            "zip": spot["zip"],
            "lat": spot["lat"],
            "lng": spot["lng"],
            "added_at": iso(at),
            "default_at": iso(self.since) if number == 0 else None,
        }
        self.addresses[key] = self._add(at, "addresses", **row)
        if "removed" in seed:
            gone = f"{seed['removed']}T18:00:00Z"
            self.builder.change(gone, f"{self.name}_addresses", row["id"], removed_at=gone)

    def _card(self, key: str, seed: dict[str, Any], at: int) -> None:
        card = self.person["cards"].get(key) or seed
        row = {
            "id": self.builder.id(self.words.card, key),
            "brand": card["brand"],
            "last4": card["last4"],
            "expires": str(card["expires"]),
            "name": self.person["name"],
            "added_at": iso(at),
            "default_at": iso(at) if key == self.own["default_card"] else None,
        }
        self.cards[row["id"]] = self._add(at, "cards", **row)

    def _offer(self, key: str, seed: dict[str, Any]) -> None:
        known_at = min(seed["starts_at"], iso(self.builder.start - 86_400))
        place = seed.get("place")
        row = {
            "id": self.builder.id(self.books.prefix["offer"], key),
            "percent": None,
            "members_only": False,
            "once": True,
            "saved_at": known_at,
            **{column: value for column, value in seed.items() if column != "place"},
            "discount": cents(seed["discount"]),
            "min_order": cents(seed.get("min_order", 0)),
            "restaurant_id": self.books.places[place]["id"] if place else None,
        }
        self.offers[key] = self._add(known_at, "offers", **row)

    # -- orders ------------------------------------------------------------------------------------
    def _expand(self, pattern: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the orders of a recurring pattern."""
        day = date.fromisoformat(str(pattern.get("from", self.seeds["since"])))
        day += timedelta(days=(pattern["day"] - day.weekday()) % 7)
        number = 0
        while True:
            at = self.builder.moment(f"{day}T{pattern['at']}")
            if at >= self.builder.start - 43_200:
                return
            number += 1
            chance = self.builder.chance(self.name, pattern["key"], number)
            wanted = chance.random() >= pattern.get("skip", 0.15)
            over = str(day) > str(pattern.get("until", "9"))
            place = pattern["place"]
            if isinstance(place, list):
                place = chance.choice(place)
            at += chance.randrange(1800)
            if wanted and not over and self._can_order(place, at):
                self.meals.append(at)
                yield self._patterned(pattern, number, place, at, chance)
            day += timedelta(days=pattern["every"])

    def _can_order(self, place: str, at: int) -> bool:
        """Return whether a place is open at a moment at which the person is free."""
        is_open = catalogue.span_at(self.books.places[place], at) is not None
        return is_open and not self._occupied(at)

    def _patterned(
        self, pattern: dict[str, Any], number: int, place: str, at: int, chance: Any
    ) -> dict[str, Any]:
        """Return one order of a pattern, in the form of a seed."""
        few, many = (int(n) for n in str(pattern["items"]).split("-"))
        sold = []
        for item in self.books.sold(place, at):
            if item["section"] != "Drinks" or chance.random() < 0.3:
                sold.append(item)
        items = chance.sample(sold, min(len(sold), chance.randint(few, many)))
        seed = {
            "key": f"{pattern['key']}-{number}",
            "place": place,
            "epoch": at,
            "items": [item["name"] for item in items],
            "tip": chance.choice(pattern["tip"]),
            **{key: pattern[key] for key in ("to", "card") if key in pattern},
            "chance": chance,
        }
        if chance.random() < 0.3:
            seed["rating"] = chance.choice([4, 5, 5, 3])
            seed["dasher_rating"] = chance.choice([4, 5, 5])
        return seed

    def _occupied(self, at: int) -> bool:
        """Return whether another meal or a happening takes up the person's time."""
        if any(abs(meal - at) < 4 * 3600 for meal in self.meals):
            return True
        for happening in self.builder.life:
            begins = self.builder.moment(happening["at"])
            ends = begins + happening.get("hours", 1) * 3600
            if begins - 5400 <= at <= ends + 1800 and not happening.get("cancelled"):
                return True
        return False

    def _lived(self, happening: dict[str, Any], order: dict[str, Any]) -> dict[str, Any]:
        """Return the order of a happening, in the form of a seed."""
        place = happening.get("place", "home")
        to = "work" if place == "fernhill" else place
        seed = {
            "key": happening["key"],
            "place": order["place"],
            "at": order.get("at", happening["at"]),
            "items": order["items"],
            "tip": order.get("tip", 0),
            "total": order["total"],
            "problem": order.get("problem"),
            "refunded": order.get("refunded"),
            "to": to if to in self.addresses else "home",
        }
        paid = happening.get("paid")
        if isinstance(paid, dict) and paid.get("by") in self.own["cards"]:
            seed["card"] = paid["by"]
        return seed | self.seeds.get("lived", {}).get(happening["key"], {})

    def order(self, seed: dict[str, Any], **extra: Any) -> dict[str, Any]:
        """Write one order with its lines, and what happened to it afterwards."""
        at = seed["epoch"] if "epoch" in seed else self.builder.moment(seed["at"])
        place = self.books.places[seed["place"]]
        address = self.addresses[seed.get("to", "home")]
        window = self._window(seed)
        moment = window[0] if window else at
        away = self._checked_distance(seed, place, address, at, moment)
        lines = self._lines(seed, at)
        offer = self.offers.get(seed.get("offer", ""))
        while "chance" in seed and pricing.subtotal(lines) < place["min_order"]:
            lines[0]["quantity"] += 1
        goods = self._enough(seed, place, lines)
        terms = {
            "member": self._is_member(at),
            "discount": rules.off(offer, goods),
            "tip": cents(seed["tip"]),
        }
        if "total" in seed:
            cost = self._fit(seed, lines, place, away, moment, terms)
        else:
            cost = pricing.price(self.model.TARIFF, place, goods, away, moment, **terms)
        card = seed.get("card", self.own["default_card"])
        row: dict[str, Any] = {
            **self._row(seed["key"], place, at, orders.stages(place, away, at, window), cost),
            "address_id": address["id"],
            "offer_id": offer["id"] if offer else None,
            **extra,
        }
        if window:
            row |= {"window_start": iso(window[0]), "window_end": iso(window[1])}
        if "late" in seed:
            row["delivered_at"] = iso(parse_time(row["delivered_at"]) + seed["late"] * 60)
        row["method_id"] = self.builder.id(self.words.card, card)
        self._write(row, lines, at)
        self._later(seed, row, cost.total)
        self.mail.order(seed, row, lines, place, cost)
        return row

    def _enough(
        self, seed: dict[str, Any], place: dict[str, Any], lines: list[dict[str, Any]]
    ) -> int:
        """Return the cents that lines cost; refuse a seed below the place's minimum order."""
        goods = pricing.subtotal(lines)
        if goods < place["min_order"]:
            least = f"the minimum order of {seed['place']} ({place['min_order']})"
            what = f"{seed['key']} costs {goods} cents, below {least}"
            raise InputError(f"food_delivery.yaml: {what}; order more of something")
        return goods

    def _window(self, seed: dict[str, Any]) -> tuple[int, int] | None:
        if "window" not in seed:
            return None
        minutes = doordash.SLOT_MINUTES if self.name == "doordash" else uber_eats.WINDOW_MINUTES
        begin = self.builder.moment(seed["window"])
        return begin, begin + 60 * minutes

    def _is_member(self, at: int) -> bool:
        return rules.holds(self.members, iso(at)) is not None

    def _checked_distance(
        self,
        seed: dict[str, Any],
        place: dict[str, Any],
        address: dict[str, Any],
        at: int,
        moment: int,
    ) -> float:
        """Return the miles to an address; refuse a seed whose place is closed or too far away."""
        if at < self.builder.start and catalogue.span_at(place, moment) is None:
            raise InputError(
                f"food_delivery.yaml: {seed['place']} is closed "
                f"when {seed['key']} is ordered ({iso(moment)})"
            )
        away = catalogue.distance(place, address) or 0.0
        if away > place["radius"]:
            raise InputError(
                f"food_delivery.yaml: {seed['place']} does not deliver {away} miles, "
                f"as {seed['key']} wants"
            )
        return away

    def _row(
        self, key: str, place: dict[str, Any], at: int, when: dict[str, str], cost: pricing.Price
    ) -> dict[str, Any]:
        order_id = self.builder.id(self.words.order, key)
        courier = orders.COURIERS[int(share("courier", order_id) * len(orders.COURIERS))]
        return {
            "id": order_id,
            "restaurant_id": place["id"],
            "placed_at": iso(at),
            "courier": courier,
            **when,
            **orders.fee_columns(cost),
        }

    def _write(self, row: dict[str, Any], lines: list[dict[str, Any]], at: int) -> None:
        """Write an order and its lines."""
        self._add(at, "orders", **row)
        for line in lines:
            self.placed += 1
            line_id = self.builder.id(self.words.line, self.placed)
            self._add(at, "lines", id=line_id, order_id=row["id"], **line)

    def _lines(self, seed: dict[str, Any], at: int) -> list[dict[str, Any]]:
        lines: dict[str, dict[str, Any]] = {}
        for name in seed["items"]:
            item = self.books.find(seed["place"], name)
            if item["id"] in lines:
                lines[item["id"]]["quantity"] += 1
                continue
            options, extra = self.books.choices(item, seed.get("chance"))
            lines[item["id"]] = {
                "item_id": item["id"],
                "name": name,
                "quantity": 1,
                "unit_price": self.books.price(item, at) + extra,
                "options": options,
                "instructions": seed.get("instructions"),
            }
        return list(lines.values())

    def _fit(
        self,
        seed: dict[str, Any],
        lines: list[dict[str, Any]],
        place: dict[str, Any],
        away: float,
        moment: int,
        terms: dict[str, Any],
    ) -> pricing.Price:
        """Return a price whose total is the one that a happening states.

        Quantities and prices of the lines are changed until the service fee that is left over is
        one that the provider could have charged.
        """
        total = cents(seed["total"])
        number = 0
        while pricing.subtotal(lines) * 1.45 + 600 < total - terms["tip"]:
            lines[number % len(lines)]["quantity"] += 1
            number += 1
        for step in range(400):
            goods = pricing.subtotal(lines)
            cost = pricing.price(self.model.TARIFF, place, goods, away, moment, **terms)
            service = cost.service + total - cost.total
            if goods * 0.02 <= service <= goods * 0.24:
                return dataclasses.replace(cost, service=service)
            line = lines[step % len(lines)]
            line["unit_price"] += 25 if cost.total < total else -25
        raise InputError(
            f"food_delivery.yaml: the items of {seed['key']} cannot come to {seed['total']}"
        )

    def _later(self, seed: dict[str, Any], row: dict[str, Any], paid: int) -> None:
        """Write what happened to an order afterwards: a cancellation, or a refund and a rating."""
        table = f"{self.name}_orders"
        if "cancelled" in seed:
            change = self.cancellation(seed, row)
            self.builder.change(change["cancelled_at"], table, row["id"], **change)
            return
        delivered = parse_time(row["delivered_at"])
        refunded = delivered + 3600
        rated = delivered + 7200
        if seed.get("refunded") and refunded < self.builder.start:
            refund = {
                "refund": min(paid, cents(seed["refunded"])),
                "refund_reason": seed.get("problem"),
                "refunded_at": iso(refunded),
            }
            self.builder.change(refunded, table, row["id"], **refund)
        if "rating" in seed and rated < self.builder.start:
            rating = {
                "rating": seed["rating"],
                "comment": seed.get("comment"),
                "rated_at": iso(rated),
            }
            if self.name == "doordash":
                rating["dasher_rating"] = seed.get("dasher_rating")
            self.builder.change(rated, table, row["id"], **rating)

    def cancellation(self, seed: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
        """Return what the cancellation in a seed changes of its order."""
        gone = seed["cancelled"]
        return {
            "cancelled_at": iso(parse_time(row["placed_at"]) + gone["minutes"] * 60),
            "cancelled_by": gone["by"],
            "cancel_reason": gone["why"],
            "cancel_fee": cents(gone.get("fee", 0)),
        }

    # -- what one provider alone has ---------------------------------------------------------------
    def _group(self, seed: dict[str, Any]) -> None:
        """Write a group order: its members, their items, and the order itself if it was placed."""
        at = self.builder.moment(seed["at"])
        group_id = self.builder.id("ueg", seed["key"])
        place = self.books.places[seed["place"]]
        self._add(
            at,
            "groups",
            id=group_id,
            deadline_at=iso(at + seed["minutes"] * 60),
            order_id=None,
            restaurant_id=place["id"],
            host=self.person["name"],
            created_at=iso(at),
        )
        lines = []
        for number, (who, names) in enumerate(seed["members"].items()):
            joined = at + number * 90
            member = {
                "id": self.builder.id("uem", f"{seed['key']}/{who}"),
                "group_id": group_id,
                "name": who,
                "joined_at": iso(joined),
            }
            self._add(joined, "group_members", **member)
            for line in self._lines({"place": seed["place"], "items": names}, at):
                self.placed += 1
                item_id = self.builder.id("uel", self.placed)
                keys = {"id": item_id, "group_id": group_id, "member": who}
                self._add(joined + 60, "group_items", **keys, **line)
                lines.append(line | {"participant": who})
        if "ordered" not in seed:
            return
        ordered = at + seed["ordered"] * 60
        address = self.addresses[seed["to"]]
        away = catalogue.distance(place, address) or 0.0
        goods = pricing.subtotal(lines)
        terms = {"member": self._is_member(ordered), "discount": 0, "tip": cents(seed["tip"])}
        cost = pricing.price(self.model.TARIFF, place, goods, away, ordered, **terms)
        stages = orders.stages(place, away, ordered, None)
        order = {
            **self._row(seed["key"], place, ordered, stages, cost),
            "address_id": address["id"],
            "group_id": group_id,
            "method_id": self.builder.id("uep", self.own["default_card"]),
        }
        self._write(order, lines, ordered)
        self.mail.order(seed, order, lines, place, cost)
        self.builder.change(ordered, "uber_eats_groups", group_id, order_id=order["id"])

    def _favorite(self, key: str, at: str) -> None:
        place_id = self.books.places[key]["id"]
        self._add(at, "favorites", restaurant_id=place_id, added_at=at)

    def _gift(self, seed: dict[str, Any]) -> None:
        """Write a gift to someone the person knows, claimed or unclaimed."""
        at = self.builder.moment(seed["at"])
        who = self.person["people"][seed["for"]]
        place = self.books.places[seed["place"]]
        lines = self._lines(seed, at)
        goods = self._enough(seed, place, lines)
        terms = {"member": self._is_member(at), "discount": 0, "tip": 0}
        cost = pricing.price(self.model.TARIFF, place, goods, GIFT_MILES, at, **terms)
        claim_by = at + CLAIM_DAYS * 86_400
        claims_at = None
        starts = claim_by
        if seed.get("claimed_after") is not None:
            claims_at = at + seed["claimed_after"] * 60
            starts = catalogue.opens_next(place, claims_at) or claim_by
        stages = orders.stages(place, GIFT_MILES, starts, None)
        row = {
            **self._row(seed["key"], place, at, stages, cost),
            "address_id": None,
            "method_id": self.builder.id("ddp", self.own["default_card"]),
        }
        self._write(row, lines, at)
        gift = {
            "order_id": row["id"],
            "claims_at": None if claims_at is None else iso(claims_at),
            "recipient_name": who["name"],
            "recipient_phone": who["phone"],
            "message": seed["message"],
            "claim_by": iso(claim_by),
        }
        self._add(at, "gifts", **gift)
        self._later(seed, row, cost.total)
        self.mail.gift(seed, row, gift, lines, place, cost)


def _names(on: Any) -> list[str]:
    return on if isinstance(on, list) else [on]
