"""Instacart: the catalogue, stores around the person, carts that wait, and orders from habits and from the person's life."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any

from scenarios.worlds.build import Builder, parsed
from servers.kit.control import make_id
from servers.kit.noise import share
from servers.kit.values import cents, iso, parse_time
from servers.shopping.instacart import _inventory as stock
from servers.shopping.instacart import _orders as orders

CATALOGUE = Path(__file__).with_name("_instacart_products.yaml")
LABELS = {"o": "organic", "v": "vegan", "g": "gluten_free", "d": "dairy_free"}
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
RECENT = 20 * orders.DAY


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write everything, in the order in which it depends on each other."""
    shelf = Shelf(builder, seeds)
    shelf.account()
    book = Book(shelf)
    for said in book.said():
        book.order(said)
    shelf.carts()
    shelf.stock_up()


def slug(text: str) -> str:
    """Return a text as a key: lower case, words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def tokens(text: str) -> set[str]:
    """Return the words of a text, each with and without the s of a plural."""
    words = set(re.findall(r"[a-zñ]+", text.lower()))
    return words | {w.removesuffix("s") for w in words} | {w.removesuffix("es") for w in words}


class Shelf:
    """What can be bought where, and by whom."""

    def __init__(self, builder: Builder, seeds: dict[str, Any]) -> None:
        self.builder = builder
        self.seeds = seeds
        self.first = parse_time(f"{seeds['since']}T00:00:00Z")
        self.products: dict[str, dict[str, Any]] = {}
        self.families: dict[str, list[dict[str, Any]]] = {}
        self.stores: dict[str, dict[str, Any]] = {}
        self.kept: dict[str, stock.Kept] = {}
        self.needed: dict[str, dict[str, None]] = {}
        self._catalogue(parsed(CATALOGUE))
        for key, said in seeds["stores"].items():
            self._store(key, said)
        for number, said in enumerate(seeds["exceptions"]):
            self._exception(number, said)
        for said in seeds["coupons"]:
            self._coupon(said)

    def moment(self, text: str) -> int:
        """Return the moment of a local time at home; a bare date is six in the evening of the day."""
        return self.builder.moment(text, bare=time(18))

    def id(self, kind: str, key: str) -> str:
        """Return the id of a row of a kind, a letter after "ic"."""
        return self.builder.id("ic" + kind, key)

    def _catalogue(self, said: dict[str, Any]) -> None:
        for key, title, summary, diets, servings, minutes, parts, steps in said.pop("recipes"):
            ingredients = [
                {"name": n, "family": f, "quantity": q, "unit": u} for n, (f, q, u) in parts.items()
            ]
            row = {
                "title": title,
                "summary": summary,
                "diets": diets,
                "servings": servings,
                "minutes": minutes,
            }
            self.builder.add(
                self.first,
                "instacart_recipes",
                id=self.id("x", key),
                ingredients=ingredients,
                steps=steps,
                **row,
            )
        words = said.pop("words")
        self.crew = []
        for name in said.pop("shoppers"):
            chance = self.builder.chance("shopper", name)
            row = {
                "name": name,
                "rating": round(chance.uniform(4.6, 5), 2),
                "orders": chance.randrange(40, 3000),
            }
            city = self.builder.person["home"]["city"]
            self.crew.append(
                self.builder.add(
                    self.first, "instacart_shoppers", id=self.id("h", name), city=city, **row
                )
            )
        for category, families in said.items():
            for family, found in families.items():
                for name, brand, size, unit, price, labels in found:
                    key = f"{slug(family)}-{slug(brand)}-{size:g}"
                    while key in self.products:
                        key += "-b"
                    row = {
                        "family": family,
                        "name": name,
                        "brand": brand,
                        "category": category,
                        "size": float(size),
                        "unit": unit,
                    }
                    row |= {
                        "price": price,
                        "labels": [LABELS[c] for c in labels],
                        "words": words.get(family, ""),
                    }
                    self.products[key] = self.builder.add(
                        self.first, "instacart_products", id=self.id("p", key), **row
                    )
                    self.families.setdefault(family, []).append(self.products[key])

    def _store(self, key: str, said: dict[str, Any]) -> None:
        place = self.builder.places.get(key, {}) | said.get("place", {})
        city = next(c for c in self.builder.person["cities"] if c["key"] == place["city"])
        row = {
            "id": self.id("s", key),
            "name": place["name"],
            "store_type": said["type"],
            **{k: place[k] for k in ("street", "state", "zip", "lat", "lng", "rating")},
            "city": city["name"],
            "timezone": city["timezone"],
            "phone": place.get("phone"),
            "hours": _hours(place["hours"]),
            "delivery_fee": cents(said.get("fee", 3.99)),
            "min_order": cents(said.get("minimum", 10)),
            "markup": said.get("markup", 100),
            "breadth": float(said.get("breadth", 0.9)),
            "also": [],
            "closed_since": place.get("closed_since"),
        }
        self.stores[key] = self.builder.add(self.first, "instacart_stores", **row)
        self.kept[key] = {}

    def _exception(self, number: int, said: dict[str, Any]) -> None:
        store = self.stores[said["store"]]
        product = self.products[said["product"]]
        begin = self.moment(said["from"])
        end = self.moment(said["to"])
        row = {
            "store_id": store["id"],
            "product_id": product["id"],
            "price": cents(said["price"]) if "price" in said else None,
        }
        row |= {"stock": said.get("stock"), "begins": iso(begin), "ends": iso(end)}
        made = self.builder.add(
            min(begin, self.builder.start),
            "instacart_exceptions",
            id=self.id("e", str(number)),
            **row,
        )
        self.kept[said["store"]].setdefault(product["id"], []).append(made)

    def _coupon(self, said: dict[str, Any]) -> None:
        begin, end = (self.moment(f"{said[k]}T00:00") for k in ("starts", "expires"))
        money = {k: cents(said[k]) if k in said else None for k in ("amount", "most")}
        row = {
            "title": said["title"],
            "percent": said.get("percent"),
            "minimum": cents(said.get("minimum", 0)),
            **money,
        }
        row |= {
            "store_ids": [self.stores[s]["id"] for s in said.get("stores", [])],
            "starts_at": iso(begin),
            "expires_at": iso(end),
        }
        self.builder.add(
            min(begin, self.builder.start), "instacart_coupons", code=said["code"], **row
        )

    def account(self) -> None:
        """Write who shops, where to, and with which cards."""
        person = self.builder.person
        add = self.builder.add
        first = self.first
        who = {
            "name": person["name"],
            "email": person["emails"]["personal"],
            "phone": person["phone"],
            "timezone": person["timezone"],
        }
        add(first, "instacart_profile", id=self.id("u", "me"), **who)
        for hour, (key, said) in enumerate(self.seeds["addresses"].items()):
            place = self.builder.places[said.get("place", key)]
            city = next(c["name"] for c in person["cities"] if c["key"] == place["city"])
            row = {k: place[k] for k in ("street", "state", "zip", "lat", "lng")} | {
                "city": city,
                "label": said["label"],
            }
            at = first + hour * 3600
            add(
                at,
                "instacart_addresses",
                id=self.id("a", key),
                instructions=said.get("note"),
                added_at=iso(at),
                **row,
            )
        home = person["home"]
        billing = f"{home['street']}, {home['city']}, {home['state_code']} {home['zip']}"
        for hour, (key, said) in enumerate(self.seeds["cards"].items()):
            known = person["cards"].get(key, {}) | said
            row = {
                "kind": known["brand"],
                "last_four": known["last4"],
                "expires": str(known["expires"]),
                "is_default": hour == 0,
            }
            at = first + hour * 3600
            add(
                at,
                "instacart_cards",
                id=self.id("m", key),
                billing_address=billing,
                added_at=iso(at),
                **row,
            )

    def carts(self) -> None:
        """Write the carts that wait for a checkout."""
        for key, said in self.seeds["carts"].items():
            at = self.moment(said["at"])
            cart = self.id("c", key)
            store = self.stores[said["store"]]
            self.builder.add(
                at,
                "instacart_carts",
                id=cart,
                store_id=store["id"],
                created_at=iso(at),
                order_id=None,
                coupon=said.get("coupon"),
            )
            for number, item in enumerate(said["items"]):
                product, quantity, *more = item
                row = {
                    "cart_id": cart,
                    "product_id": self.products[product]["id"],
                    "quantity": quantity,
                    "added_at": iso(at + 40 * number),
                }
                row |= {"preference": more[0] if more else "best_match", "notes": None}
                row["replacement_id"] = self.products[more[1]]["id"] if len(more) > 1 else None
                for wanted in (product, *more[1:2]):
                    self.need(said["store"], self.products[wanted])
                self.builder.add(
                    at + 40 * number,
                    "instacart_cart_items",
                    id=self.id("l", f"{key}-{number}"),
                    **row,
                )

    def need(self, store: str, product: dict[str, Any]) -> None:
        """Remember that an order or cart of a store holds a product, so that the store carries it."""
        if not stock.carries(self.stores[store], product):
            self.needed.setdefault(store, {})[product["id"]] = None

    def stock_up(self) -> None:
        """Let stores carry what was ordered there, after all was chosen."""
        for store, products in self.needed.items():
            self.stores[store]["also"] += list(products)

    def usual(self, family: str, store: dict[str, Any]) -> dict[str, Any]:
        """Return the product of a kind that the person takes in a store."""
        rows = [r for r in self.families[family] if stock.carries(store, r)] or self.families[
            family
        ]
        return rows[int(share("usual", self.builder.name, family) * len(rows))]

    def meant(self, text: str, store: dict[str, Any]) -> dict[str, Any]:
        """Return the product that a word of the person's life means, carried by the store where possible."""
        said = tokens(text)
        raw = set(re.findall(r"[a-zñ]+", text.lower()))

        def fit(row: dict[str, Any]) -> tuple[float, bool, bool]:
            kind = tokens(row["family"])
            name = tokens(row["name"])
            exact = len(raw & set(row["family"].split())) / 10
            near = len(said & kind) / len(set(row["family"].split()))
            return (
                near + exact + len(said & name) / 100,
                stock.carries(store, row),
                row is self.usual(row["family"], store),
            )

        return max(self.products.values(), key=fit)


def _hours(said: dict[str, str]) -> list[str]:
    found = ["closed"] * 7
    for days, hours in said.items():
        first, _, last = days.partition("-")
        for number in range(DAYS.index(first), DAYS.index(last or first) + 1):
            found[number] = "00:00-24:00" if hours == "24h" else hours
    return found


class Book:
    """Writes orders."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.builder = shelf.builder
        self.seeds = shelf.seeds

    def said(self) -> Iterator[dict[str, Any]]:
        """Yield every order as `{key, store, at, window, lines}`: of the person's life, single ones, then of habits."""
        known = []
        for event in self.builder.life:
            buy = event.get("buy", {})
            if buy.get("on") == "instacart":
                made = str(buy.get("made", buy.get("at", event["at"])))
                known.append((event, self.shelf.moment(made)))
                yield self._of_life(event, buy, min(known[-1][1], self.builder.start))
        for single in self.seeds["orders"]:
            at = self.shelf.moment(single["at"])
            yield single | {
                "at": at,
                "window": self.shelf.moment(single["window"]) if "window" in single else at + 9000,
            }
        for number, habit in enumerate(self.seeds["habits"]):
            day = date.fromisoformat(self.seeds["since"]) + timedelta(days=habit.get("after", 0))
            while (
                at := self.shelf.moment(f"{day}T{habit['at']}")
            ) < self.builder.start - 3 * orders.DAY:
                chance = self.builder.chance("shop", number, day)
                if chance.random() < habit.get("chance", 1) and not any(
                    abs(at - t) < orders.DAY for _, t in known
                ):
                    picked = chance.sample(habit["basket"], chance.randrange(*habit["size"]))
                    store = self.shelf.stores[habit["store"]]
                    lines = [
                        (self.shelf.usual(f, store), chance.choices((1, 2, 3), (80, 16, 4))[0])
                        for f in picked
                    ]
                    at += 60 * chance.randrange(-50, 50)
                    key = f"habit-{number}-{day}"
                    yield {
                        "key": key,
                        "store": habit["store"],
                        "at": at,
                        "window": at + 7200 + 3600 * chance.randrange(20),
                        "lines": lines,
                    }
                day += timedelta(days=habit["every"])

    def _of_life(self, event: dict[str, Any], buy: dict[str, Any], made: int) -> dict[str, Any]:
        key = event["place"] if event.get("place") in self.shelf.stores else self.seeds["store"]
        lines = []
        told = []
        for text in buy["items"]:
            lines.append(
                (
                    self.shelf.meant(text, self.shelf.stores[key]),
                    2 if re.search(r"two (?!dozen)", text) else 1,
                )
            )
            told += [lines[-1][0]["id"]] if "two" in text else []
        window = made + 7200
        if "arrives" in buy or event["what"] == "delivery":
            day = str(buy.get("arrives", event["at"]))[:10]
            window = self.shelf.moment(
                f"{day}T{event['at'][11:16] if event['what'] == 'delivery' else '17:00'}"
            )
        card = (
            event["paid"]["by"] if event.get("paid", {}).get("by") in self.seeds["cards"] else None
        )
        back = None
        if "refunded" in buy:
            worth = [
                (row, len(tokens(buy["returned"]) & tokens(row["family"]))) for row, _ in lines
            ]
            back = (max(worth, key=lambda w: w[1])[0], cents(buy["refunded"]), buy["returned"])
        found = {
            "key": event["key"],
            "store": key,
            "at": made,
            "window": window,
            "lines": lines,
            "total": cents(buy["total"]),
        }
        return found | {"card": card, "refund": back, "counted": told}

    # -- one order ----------------------------------------------------------------------------------------------------
    def order(self, said: dict[str, Any]) -> None:
        """Write one order with its items, and its issue if it had one."""
        shelf = self.shelf
        store = self.shelf.stores[said["store"]]
        made = shelf.id("o", said["key"])
        at = said["at"]
        kept = shelf.kept[said["store"]]
        begin, end = min(
            (s for s in stock.slots(store, at, 16) if s[0] >= at + 3600),
            key=lambda s: (abs(s[0] - said["window"]), s),
        )
        lines = [
            (shelf.products[row] if isinstance(row, str) else row, count, *more)
            for row, count, *more in said["lines"]
        ]
        prices = {row["id"]: stock.price(store, row, at, kept) for row, *_ in lines}
        fee = stock.slot_fee(store, begin)
        tip = 200 + 100 * int(6 * share("tip", made))
        if "total" in said:
            lines, fee, tip = self._to_total(said, lines, prices, fee)
        subtotal = sum(prices[row["id"]] * count for row, count, *_ in lines)
        moments = orders.timetable(made, at, begin)
        row: dict[str, Any] = {
            "id": made,
            "store_id": store["id"],
            "address_id": shelf.id("a", said.get("address", "home")),
            "card_id": shelf.id("m", said.get("card") or next(iter(self.seeds["cards"]))),
            "coupon": said.get("coupon"),
            "discount": cents(said.get("discount", 0)),
            **{
                "delivery_fee": fee,
                "service_fee": orders.service_fee(subtotal),
                "tip": said.get("tip", tip),
            },
            **{
                "window_id": make_id("icv", store["id"], begin),
                "window_start": iso(begin),
                "window_end": iso(end),
            },
            "created_at": iso(at),
            "shopper_id": shelf.crew[int(share("shopper", made) * len(shelf.crew))]["id"],
            "cancel_fee": cents(said.get("cancel_fee", 0)),
            **moments,
        }
        cancelled = shelf.moment(said["cancelled"]) if "cancelled" in said else None
        if "late" in said:
            row["arrives_at"] = iso(end + 60 * said["late"])
        done = parse_time(row["leaves_at"]) <= self.builder.start and cancelled is None
        later = done and self.builder.start - at < RECENT
        self.builder.add(at, "instacart_orders", shopped=done and not later, **row)
        if cancelled is not None:
            self.builder.change(
                cancelled,
                "instacart_orders",
                made,
                cancelled_at=iso(cancelled),
                cancel_reason=said["reason"],
            )
        for number, (product, count, *more) in enumerate(lines):
            shelf.need(said["store"], product)
            item = {
                "id": shelf.id("i", f"{said['key']}-{number}"),
                "order_id": made,
                "product_id": product["id"],
                "quantity": count,
            }
            item |= {
                "price": prices[product["id"]],
                "preference": more[0] if more else "best_match",
                "notes": None,
                "replacement_id": None,
            }
            got = self._got(said, store, product, item, parse_time(row["shop_at"])) if done else {}
            self.builder.add(at, "instacart_order_items", **item, **({} if later else got))
            if later:
                self.builder.change(row["leaves_at"], "instacart_order_items", item["id"], **got)
        if later:
            self.builder.change(row["leaves_at"], "instacart_orders", made, shopped=True)
        if done and parse_time(row["arrives_at"]) < self.builder.start:
            self._after(said, row, lines)

    def _to_total(
        self, said: dict[str, Any], lines: list[tuple[Any, ...]], prices: dict[str, int], fee: int
    ) -> tuple[list[tuple[Any, ...]], int, int]:
        """Return lines, delivery fee and tip with which an order comes to the cent that was paid; a refund sets its price."""
        if said["refund"]:
            prices[said["refund"][0]["id"]] = said["refund"][1]
        counts = {row["id"]: count for row, count, *_ in lines}

        def rest() -> int:
            subtotal = sum(prices[key] * count for key, count in counts.items())
            return said["total"] - subtotal - orders.service_fee(subtotal) - fee

        fixed = [*said["counted"], *([said["refund"][0]["id"]] if said["refund"] else [])]
        grow = [key for key in counts if key not in fixed and prices[key] < 2000]
        turn = 0
        while rest() > said["total"] * 0.15 and turn < 40:
            key = grow[turn % len(grow)]
            counts[key] += 1
            counts[key] -= rest() < 200
            turn += 1
        if rest() < 0:
            fee = 0
        while rest() < 0:
            dearest = max(grow, key=lambda k: prices[k])
            prices[dearest] -= max(10, prices[dearest] // 20)
        return [(row, counts[row["id"]]) for row, *_ in lines], fee, rest()

    def _got(
        self,
        said: dict[str, Any],
        store: dict[str, Any],
        product: dict[str, Any],
        item: dict[str, Any],
        at: int,
    ) -> dict[str, Any]:
        """Return what a shopper found of an item; orders of the person's life came as told."""
        kept = self.shelf.kept[said["store"]]
        left = stock.level(store, product, at, kept)
        gone = (
            "counted" not in said
            and share("found", item["order_id"], product["id"]) < orders.MISSED[left]
        )
        if not gone:
            return {"outcome": "found", "got_id": product["id"], "got_price": item["price"]}
        others = [
            r
            for r in self.shelf.families[product["family"]]
            if r is not product and stock.carries(store, r)
        ]
        if item["preference"] == "best_match" and others:
            target = stock.price(store, product, at, kept)
            other = min(
                others, key=lambda r: (abs(stock.price(store, r, at, kept) - target), r["id"])
            )
            return {
                "outcome": "replaced",
                "got_id": other["id"],
                "got_price": stock.price(store, other, at, kept),
            }
        return {"outcome": "refunded", "got_id": None, "got_price": 0}

    def _after(
        self, said: dict[str, Any], row: dict[str, Any], lines: list[tuple[Any, ...]]
    ) -> None:
        """Write what followed a delivery: a rating, an issue."""
        chance = self.builder.chance("after", said["key"])
        over = parse_time(row["arrives_at"])
        if "rating" in said or ("plain" not in said and chance.random() < 0.35):
            at = min(over + chance.randrange(1200, 40_000), self.builder.start)
            stars, words = said.get("rating", [chance.choices((5, 4, 3), (75, 19, 6))[0], None])
            self.builder.change(
                at, "instacart_orders", row["id"], rating=stars, comment=words, rated_at=iso(at)
            )
        told = [(said["refund"][0]["id"], said["refund"][2])] if said.get("refund") else []
        for product, words in said.get("issues", {}).items():
            told.append((self.shelf.products[product]["id"], words))
        for number, (product_id, words) in enumerate(told):
            kind = (
                "missing_item"
                if "missing" in words
                else ("wrong_item" if "wrong" in words else "damaged_item")
            )
            at = min(over + 2400 + 600 * number, self.builder.start)
            key = self.shelf.id("r", f"{said['key']}-{number}")
            issue = {
                "order_id": row["id"],
                "issue_type": kind,
                "description": words,
                "product_ids": [product_id],
            }
            self.builder.add(at, "instacart_issues", id=key, created_at=iso(at), **issue)
