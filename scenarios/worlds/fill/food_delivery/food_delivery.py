"""Uber Eats and DoorDash: accounts, and a year of orders from patterns, single rows and the happenings of a life."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from scenarios.worlds.build import Builder
from scenarios.worlds.fill.food_delivery._catalogue import Catalogue
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
    _areas(builder, seeds)
    meals = _told(builder, seeds)
    for name, model in (("uber_eats", uber_eats), ("doordash", doordash)):
        Provider(builder, seeds, name, model, meals).fill()


def _told(builder: Builder, seeds: dict[str, Any]) -> list[int]:
    """Return the moments of the orders that are told one by one, on either provider: nobody orders twice for one meal."""
    lived = [{"at": h["order"].get("at", h["at"])} for h in builder.life if h.get("order")]
    said = [s["at"] for s in [*seeds["singles"], *lived]]
    return [builder.moment(text) for text in said]


def _areas(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write the postal codes where couriers drive: those of all places, each in the middle of them, and more of the seeds."""
    cities = {c["key"]: c for c in builder.person["cities"]}
    found = {}
    for said in [
        *builder.places.values(),
        *seeds.get("kitchens", {}).values(),
        *seeds["stores"].values(),
    ]:
        city = cities[said.get("city", builder.person["cities"][0]["key"])]
        state = said.get("state", builder.person["home"]["state_code"])
        found.setdefault(said["zip"], (city["name"], state, []))[2].append(
            (said["lat"], said["lng"])
        )
    for code, (city, state, lat, lng) in seeds.get("areas", {}).items():
        found.setdefault(code, (city, state, [(lat, lng)]))
    for code, (city, state, spots) in sorted(found.items()):
        lat, lng = (round(sum(s[n] for s in spots) / len(spots), 4) for n in (0, 1))
        builder.add(
            seeds["listed_since"],
            "food_delivery_areas",
            zip=code,
            city=city,
            state=state,
            lat=lat,
            lng=lng,
        )


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
        self.placed = 0

    def fill(self) -> None:
        """Write everything."""
        life = [
            (h, o)
            for h in self.builder.life
            if (o := h.get("order")) and self.name in _names(o["on"])
        ]
        named: dict[str, list[str]] = {}
        for _, order in life:
            named.setdefault(order["place"], []).extend(order["items"])
        self.books.fill(named, self._told())
        self._account()
        for pattern in self.seeds["patterns"]:
            if pattern["app"] == self.name:
                for said in self._expand(pattern):
                    self.order(said)
        for said in self.seeds["singles"]:
            if said["app"] == self.name:
                self.order(said)
        for happening, order in life:
            self.order(self._lived(happening, order))
        if self.name == "uber_eats":
            for said in self.own.get("groups", []):
                self._group(said)
        else:
            for key, day in self.own.get("favorites", {}).items():
                self._add(
                    f"{day}T20:15:00Z",
                    "favorites",
                    restaurant_id=self.books.places[key]["id"],
                    added_at=f"{day}T20:15:00Z",
                )
            for said in self.own.get("gifts", []):
                self._gift(said)

    def _told(self) -> dict[str, list[str]]:
        """Return the items that single rows name, by place: menus hold them."""
        found: dict[str, list[str]] = {}
        for said in [
            *(s for s in self.seeds["singles"] if s["app"] == self.name),
            *self.own.get("gifts", []),
        ]:
            found.setdefault(said["place"], []).extend(said["items"])
        for said in self.own.get("groups", []):
            found.setdefault(said["place"], []).extend(
                name for names in said["members"].values() for name in names
            )
        return found

    def _add(self, at: int | str, table: str, **row: Any) -> dict[str, Any]:
        return self.builder.add(at, f"{self.name}_{table}", **row)

    # -- the account -------------------------------------------------------------------------------
    def _account(self) -> None:
        who = self.person
        begun = iso(self.since)
        row = {
            "name": who["name"],
            "email": who["emails"][self.own.get("email", "personal")],
            "phone": who["phone"],
        }
        self._add(self.seeds["listed_since"], "profile", id="me", **row)
        for n, (key, said) in enumerate(self.own["addresses"].items()):
            spot = (
                {"home": who["home"], "work": who["work"]}.get(key)
                or self.builder.places.get(said.get("place", key))
                or said
            )
            at = (
                parse_time(f"{said['added']}T17:00:00Z") if "added" in said else self.since + n * 60
            )
            city = next(
                (c["name"] for c in who["cities"] if c["key"] == spot["city"]), spot["city"]
            )
            row = {
                "street": said.get("street", spot["street"]),
                "city": city,
                "state": spot.get("state_code") or spot["state"],
            }
            row |= {"zip": spot["zip"], "lat": spot["lat"], "lng": spot["lng"], "added_at": iso(at)}
            made = self.builder.id(self.words.address, key)
            self.addresses[key] = self._add(
                at, "addresses", id=made, default_at=begun if n == 0 else None, **row
            )
            if "removed" in said:
                gone = f"{said['removed']}T18:00:00Z"
                self.builder.change(gone, f"{self.name}_addresses", made, removed_at=gone)
        for n, (key, said) in enumerate(self.own["cards"].items()):
            card = who["cards"].get(key) or said
            at = self.since + 300 + n * 60
            row = {k: card[k] for k in ("brand", "last4")} | {
                "expires": str(card["expires"]),
                "name": who["name"],
                "added_at": iso(at),
            }
            default = iso(at) if key == self.own["default_card"] else None
            self._add(
                at, "cards", id=self.builder.id(self.words.card, key), default_at=default, **row
            )
        for member in self.members:
            self._add(member["since"], "memberships", **member)
        for key, said in self.own["offers"].items():
            place = said.get("place")
            known = min(said["starts_at"], iso(self.builder.start - 86_400))
            row = {"percent": None, "members_only": False, "once": True, "saved_at": known}
            row |= {k: v for k, v in said.items() if k != "place"}
            row |= {
                "discount": cents(said["discount"]),
                "min_order": cents(said.get("min_order", 0)),
            }
            row["restaurant_id"] = self.books.places[place]["id"] if place else None
            made = self._add(
                known, "offers", id=self.builder.id(self.books.prefix["offer"], key), **row
            )
            self.offers[key] = made

    # -- orders ------------------------------------------------------------------------------------
    def _expand(self, pattern: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the orders that a recurring pattern stands for."""
        first = date.fromisoformat(str(pattern.get("from", self.seeds["since"])))
        first += timedelta(days=(pattern["day"] - first.weekday()) % 7)
        number = 0
        while (at := self.builder.moment(f"{first}T{pattern['at']}")) < self.builder.start - 43_200:
            number += 1
            chance = self.builder.chance(self.name, pattern["key"], number)
            key = f"{pattern['key']}-{number}"
            keep = chance.random() >= pattern.get("skip", 0.15) and str(first) <= str(
                pattern.get("until", "9")
            )
            place = (
                chance.choice(pattern["place"])
                if isinstance(pattern["place"], list)
                else pattern["place"]
            )
            at += chance.randrange(1800)
            if keep and catalogue.span_at(self.books.places[place], at) and not self._occupied(at):
                few, many = (int(n) for n in str(pattern["items"]).split("-"))
                sold = [
                    i
                    for i in self.books.sold(place, at)
                    if i["section"] != "Drinks" or chance.random() < 0.3
                ]
                names = [
                    i["name"]
                    for i in chance.sample(sold, min(len(sold), chance.randint(few, many)))
                ]
                said = {
                    "key": key,
                    "place": place,
                    "epoch": at,
                    "items": names,
                    "tip": chance.choice(pattern["tip"]),
                }
                said |= {k: pattern[k] for k in ("to", "card") if k in pattern} | {"chance": chance}
                if chance.random() < 0.3:
                    said |= {
                        "rating": chance.choice([4, 5, 5, 3]),
                        "dasher_rating": chance.choice([4, 5, 5]),
                    }
                self.meals.append(at)
                yield said
            first += timedelta(days=pattern["every"])

    def _occupied(self, at: int) -> bool:
        """Return whether a happening takes the person's time or another meal was ordered, so that nothing is."""
        if any(abs(meal - at) < 4 * 3600 for meal in self.meals):
            return True
        for happening in self.builder.life:
            begins = self.builder.moment(happening["at"])
            if begins - 5400 <= at <= begins + happening.get(
                "hours", 1
            ) * 3600 + 1800 and not happening.get("cancelled"):
                return True
        return False

    def _lived(self, happening: dict[str, Any], order: dict[str, Any]) -> dict[str, Any]:
        paid = happening.get("paid") or {}
        said = {
            "key": happening["key"],
            "place": order["place"],
            "at": order.get("at", happening["at"]),
            "items": order["items"],
        }
        said |= {
            "tip": order.get("tip", 0),
            "total": order["total"],
            "problem": order.get("problem"),
            "refunded": order.get("refunded"),
        }
        where = {"fernhill": "work"}.get(
            happening.get("place", "home"), happening.get("place", "home")
        )
        card = (
            {"card": paid["by"]}
            if isinstance(paid, dict) and paid.get("by") in self.own["cards"]
            else {}
        )
        return (
            said
            | card
            | {"to": where if where in self.addresses else "home"}
            | self.seeds.get("lived", {}).get(happening["key"], {})
        )

    def order(self, said: dict[str, Any], **extra: Any) -> dict[str, Any]:
        """Write one order with its lines, and what happened to it later."""
        at = said["epoch"] if "epoch" in said else self.builder.moment(said["at"])
        place = self.books.places[said["place"]]
        address = self.addresses[said.get("to", "home")]
        window = None
        if "window" in said:
            begin = self.builder.moment(said["window"])
            window = (
                begin,
                begin
                + 60
                * getattr(self.model, "WINDOW_MINUTES", getattr(self.model, "SLOT_MINUTES", 30)),
            )
        moment = window[0] if window else at
        if at < self.builder.start and catalogue.span_at(place, moment) is None:
            raise InputError(
                f"food_delivery.yaml: {said['place']} is closed when {said['key']} is ordered ({iso(moment)})"
            )
        away = catalogue.distance(place, address) or 0.0
        if away > place["radius"]:
            raise InputError(
                f"food_delivery.yaml: {said['place']} does not deliver {away} miles, as {said['key']} wants"
            )
        lines = self._lines(said, at)
        offer = self.offers.get(said.get("offer", ""))
        member = rules.holds(self.members, iso(at)) is not None
        tip = cents(said["tip"])
        while "chance" in said and pricing.subtotal(lines) < place["min_order"]:
            lines[0]["quantity"] += 1
        goods = pricing.subtotal(lines)
        more = {"member": member, "discount": rules.off(offer, goods), "tip": tip}
        cost = pricing.price(self.model.TARIFF, place, goods, away, moment, **more)
        if "total" in said:
            cost = self._fit(said, lines, place, away, moment, more)
        row = self._row(said["key"], place, at, orders.stages(place, away, at, window), cost)
        row |= {"address_id": address["id"], "offer_id": offer["id"] if offer else None, **extra}
        row |= {"window_start": iso(window[0]), "window_end": iso(window[1])} if window else {}
        if "late" in said:
            row["delivered_at"] = iso(parse_time(row["delivered_at"]) + said["late"] * 60)
        row["method_id"] = self.builder.id(
            self.words.card, said.get("card", self.own["default_card"])
        )
        self._write(row, lines, at)
        self._later(said, row, cost.total)
        return row

    def _row(
        self, key: str, place: dict[str, Any], at: int, when: dict[str, str], cost: pricing.Price
    ) -> dict[str, Any]:
        made = self.builder.id(self.words.order, key)
        courier = orders.COURIERS[int(share("courier", made) * len(orders.COURIERS))]
        row = {"id": made, "restaurant_id": place["id"], "placed_at": iso(at), "courier": courier}
        return row | when | orders.fee_columns(cost)

    def _write(self, row: dict[str, Any], lines: list[dict[str, Any]], at: int) -> None:
        self._add(at, "orders", **row)
        for line in lines:
            self.placed += 1
            self._add(
                at,
                "lines",
                id=self.builder.id(self.words.line, self.placed),
                order_id=row["id"],
                **line,
            )

    def _lines(self, said: dict[str, Any], at: int) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = []
        for name in said["items"]:
            item = self.books.find(said["place"], name)
            again = next((r for r in lines if r["item_id"] == item["id"]), None)
            if again is not None:
                again["quantity"] += 1
                continue
            picked, extra = self.books.choices(item, said.get("chance"))
            row = {
                "item_id": item["id"],
                "name": name,
                "quantity": 1,
                "unit_price": self.books.price(item, at) + extra,
            }
            lines.append(row | {"options": picked, "instructions": said.get("instructions")})
        return lines

    def _fit(
        self,
        said: dict[str, Any],
        lines: list[dict[str, Any]],
        place: dict[str, Any],
        away: float,
        moment: int,
        more: dict[str, Any],
    ) -> pricing.Price:
        """Return a price that comes to the total that a happening tells; items cost what they did then, the service fee is the rest."""
        total = cents(said["total"])
        n = 0
        while pricing.subtotal(lines) * 1.45 + 600 < total - more["tip"]:
            lines[n % len(lines)]["quantity"] += 1
            n += 1
        for step in range(400):
            goods = pricing.subtotal(lines)
            cost = pricing.price(self.model.TARIFF, place, goods, away, moment, **more)
            service = cost.service + total - cost.total
            if goods * 0.02 <= service <= goods * 0.24:
                return pricing.Price(
                    goods, cost.delivery, service, cost.tax, cost.tip, cost.discount
                )
            line = lines[step % len(lines)]
            line["unit_price"] += 25 if cost.total < total else -25
        raise InputError(
            f"food_delivery.yaml: the items of {said['key']} cannot come to {said['total']}"
        )

    def _later(self, said: dict[str, Any], row: dict[str, Any], paid: int) -> None:
        table = f"{self.name}_orders"
        changes = []
        if "cancelled" in said:
            gone = said["cancelled"]
            fee = cents(gone.get("fee", 0))
            at = parse_time(row["placed_at"]) + gone["minutes"] * 60
            row = {
                "cancelled_at": iso(at),
                "cancelled_by": gone["by"],
                "cancel_reason": gone["why"],
                "cancel_fee": fee,
            }
            self.builder.change(at, table, self.builder.id(self.words.order, said["key"]), **row)
            return
        done = parse_time(row["delivered_at"])
        if said.get("refunded"):
            back = {
                "refund": min(paid, cents(said["refunded"])),
                "refund_reason": said.get("problem"),
            }
            changes.append((done + 3600, back | {"refunded_at": iso(done + 3600)}))
        if "rating" in said:
            stars = {
                "rating": said["rating"],
                "comment": said.get("comment"),
                "rated_at": iso(done + 7200),
            }
            stars |= {"dasher_rating": said.get("dasher_rating")} if self.name == "doordash" else {}
            changes.append((done + 7200, stars))
        for at, columns in changes:
            if at < self.builder.start:
                self.builder.change(at, table, row["id"], **columns)

    # -- what one provider alone has ---------------------------------------------------------------
    def _group(self, said: dict[str, Any]) -> None:
        at = self.builder.moment(said["at"])
        made = self.builder.id("ueg", said["key"])
        row = {
            "restaurant_id": self.books.places[said["place"]]["id"],
            "host": self.person["name"],
            "created_at": iso(at),
        }
        self._add(
            at, "groups", id=made, deadline_at=iso(at + said["minutes"] * 60), order_id=None, **row
        )
        lines = []
        for n, (who, names) in enumerate(said["members"].items()):
            joined = at + n * 90
            member = {
                "id": self.builder.id("uem", f"{said['key']}/{who}"),
                "group_id": made,
                "name": who,
                "joined_at": iso(joined),
            }
            self._add(joined, "group_members", **member)
            for line in self._lines({"place": said["place"], "items": names}, at):
                self.placed += 1
                self._add(
                    joined + 60,
                    "group_items",
                    id=self.builder.id("uel", self.placed),
                    group_id=made,
                    member=who,
                    **line,
                )
                lines.append(line | {"participant": who})
        if "ordered" in said:
            ordered = at + said["ordered"] * 60
            place = self.books.places[said["place"]]
            address = self.addresses[said["to"]]
            away = catalogue.distance(place, address) or 0.0
            member = rules.holds(self.members, iso(ordered)) is not None
            more = {"member": member, "discount": 0, "tip": cents(said["tip"])}
            cost = pricing.price(
                self.model.TARIFF, place, pricing.subtotal(lines), away, ordered, **more
            )
            order = self._row(
                said["key"], place, ordered, orders.stages(place, away, ordered, None), cost
            )
            order |= {
                "address_id": address["id"],
                "group_id": made,
                "method_id": self.builder.id("uep", self.own["default_card"]),
            }
            self._write(order, lines, ordered)
            self.builder.change(ordered, "uber_eats_groups", made, order_id=order["id"])

    def _gift(self, said: dict[str, Any]) -> None:
        at = self.builder.moment(said["at"])
        who = self.person["people"][said["for"]]
        place = self.books.places[said["place"]]
        lines = self._lines(said, at)
        member = rules.holds(self.members, iso(at)) is not None
        cost = pricing.price(
            self.model.TARIFF,
            place,
            pricing.subtotal(lines),
            GIFT_MILES,
            at,
            member=member,
            discount=0,
            tip=0,
        )
        claim_by = at + CLAIM_DAYS * 86_400
        claims = said.get("claimed_after")
        begins = (
            claim_by
            if claims is None
            else catalogue.opens_next(place, at + claims * 60) or claim_by
        )
        row = self._row(
            said["key"], place, at, orders.stages(place, GIFT_MILES, begins, None), cost
        )
        row |= {"address_id": None, "method_id": self.builder.id("ddp", self.own["default_card"])}
        self._write(row, lines, at)
        gift = {
            "recipient_name": who["name"],
            "recipient_phone": who["phone"],
            "message": said["message"],
            "claim_by": iso(claim_by),
        }
        self._add(
            at,
            "gifts",
            order_id=row["id"],
            claims_at=None if claims is None else iso(at + claims * 60),
            **gift,
        )
        self._later(said, row, cost.total)


def _names(on: Any) -> list[str]:
    return on if isinstance(on, list) else [on]
