"""Fill Amazon, Walmart and Target: catalogues, stores, accounts, and a year of orders.

The orders agree with the person's life.
"""

from __future__ import annotations

from typing import Any

from scenarios.worlds.build import Builder
from scenarios.worlds.fill.shopping._letters import mail_shop
from scenarios.worlds.fill.shopping._opinions import Opinions
from scenarios.worlds.fill.shopping._orders import Orders
from scenarios.worlds.fill.shopping._products import PREFIX, SHOPS, Products, catalogue
from servers.kit.values import cents, iso
from servers.shopping._catalogue import week_of, week_start
from servers.shopping._rules import DAY

_HOME = {"walmart": "home_store", "target": "preferred_store"}
"""Columns of the settings that name the user's store."""
_OPENED = 5 * 365
"""Days before the start at which shops and accounts began: longer than anybody looks back."""
_RATES = {"biweekly": 5, "monthly": 10, "quarterly": 5}
"""Percent off a subscription, by frequency."""
_CARTS = {"amazon": "amazon_cart", "walmart": "walmart_basket", "target": "target_cart"}
_PLANS = {"amazon": ("amazon_subscriptions", "azb"), "walmart": ("walmart_reorders", "wmb")}
"""By shop: the table of subscriptions or auto reorders, and the prefix of its ids."""
_SERVICES = {
    "walmart": ["pickup", "delivery"],
    "target": ["order_pickup", "drive_up", "same_day_delivery"],
}


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write the three shops."""
    Shops(builder, seeds).fill()


class Shops:
    """The shops of one world."""

    def __init__(self, builder: Builder, seeds: dict[str, Any]) -> None:
        self.builder = builder
        self.seeds = seeds
        self.since = builder.start - seeds.get("days", 365) * DAY
        self.opened = builder.start - _OPENED * DAY
        self.products = Products(builder, self.opened)
        self.opinions = Opinions()
        self.addresses = {key: self._address(seed) for key, seed in seeds["addresses"].items()}
        # The states of addresses and stores, by key; `_stores` adds those of the stores.
        self.states = {key: place["state"] for key, place in self.addresses.items()}
        self.states["home"] = builder.person["home"]["state_code"]

    def fill(self) -> None:
        """Write the shops and the account, then the person's orders and what followed them."""
        self.products.fill()
        self._areas()
        for shop in PREFIX:
            self._account(shop)
            self._coupons(shop)
            self._reviews(shop)
            if shop in _SERVICES:
                self._stores(shop)
        self._offers()
        accounts = {shop: self.seeds[shop] for shop in PREFIX}
        orders = Orders(self.builder, self.products, accounts, self.states)
        orders.singles(self.seeds["orders"])
        orders.routines(self.seeds["routines"], self.since)
        orders.strays(self.seeds["strays"], self.seeds["likes"], self.since)
        orders.life(self.seeds.get("life", {}))
        for seed in self.seeds["walmart"].get("matches", []):
            orders.match(seed)
        self._plans(orders)
        self._own_reviews(orders)
        self._wishes()
        self._registries(orders)
        for points, days, why in self.seeds["target"].get("points", []):
            at = self.builder.start + days * DAY
            orders.points(at, iso(at), why, points, None)
        for shop in PREFIX:
            mail_shop(self.builder, shop)

    def _address(self, seed: dict[str, Any]) -> dict[str, Any]:
        if "place" not in seed:
            return seed
        place = self.builder.places[seed["place"]]
        return {
            "street": place["street"],
            "state": place["state"],
            "zip": place["zip"],
            "name": seed["name"],
            "city": self._city(place["city"])["name"],
        }

    def id(self, prefix: str, key: str) -> str:
        """Return a row's id."""
        return self.builder.id(prefix, key)

    def _city(self, key: str) -> dict[str, Any]:
        return next(c for c in self.builder.person["cities"] if c["key"] == key)

    # -- places ------------------------------------------------------------------------------------
    def _areas(self) -> None:
        home = self.builder.person["home"]
        near_home = {
            "zip": home["zip"],
            "state": home["state_code"],
            "lat": home["lat"],
            "lng": home["lng"],
            "city": self.builder.person["cities"][0]["key"],
        }
        stores = []
        for shop in _SERVICES:
            stores += [store for store in self.seeds[shop]["stores"] if "zip" in store]
        by_zip: dict[str, list[dict[str, Any]]] = {}
        for place in [near_home, *self.builder.places.values(), *stores]:
            if "zip" in place and "lat" in place:
                by_zip.setdefault(str(place["zip"]), []).append(place)
        for code, places in sorted(by_zip.items()):
            city = self._city(places[0]["city"])
            row = {
                "city": city["name"],
                "state": places[0]["state"],
                "timezone": city["timezone"],
                "lat": round(sum(place["lat"] for place in places) / len(places), 4),
                "lng": round(sum(place["lng"] for place in places) / len(places), 4),
            }
            self.builder.add(self.opened, "shopping_areas", id=code, **row)

    def _stores(self, shop: str) -> None:
        opens, closes = (8, 22) if shop == "target" else (6, 23)
        for seed in self.seeds[shop]["stores"]:
            place = self.builder.places[seed["place"]] | seed if "place" in seed else seed
            city = self._city(place["city"])
            row = {
                "street": place["street"],
                "state": place["state"],
                "lat": place["lat"],
                "lng": place["lng"],
                "phone": place["phone"],
                "zip": str(place["zip"]),
                "city": city["name"],
                "name": f"{shop.title()} {seed['name']}",
                "timezone": city["timezone"],
                "opens": seed.get("opens", opens),
                "closes": seed.get("closes", closes),
                "services": seed.get("services", _SERVICES[shop]),
                "closed_on": str(seed["closed"]) if "closed" in seed else None,
            }
            store = self.id(PREFIX[shop] + "s", seed["key"])
            self.builder.add(self.opened, f"{shop}_stores", id=store, **row)
            self.states[seed["key"]] = place["state"]
            self._shelves(shop, seed["key"], store)

    def _shelves(self, shop: str, key: str, store: str) -> None:
        """Write some shelves by chance, then those that seeds describe."""
        chance = self.builder.chance("shelves", shop, key)
        # The draw from staples does not depend on how wide the range is.
        staples = []
        others = []
        for product, family in self.products.sold[shop].items():
            rows = staples if product in catalogue()["staples"] else others
            rows += [row for row in family if not row["online_only"]]
        drawn = chance.sample(staples, 8)
        drawn += self.builder.chance("more shelves", shop, key).sample(others, len(others) // 32)
        picked = {row["id"]: row for row in drawn}
        for row in picked.values():
            price = None
            # Draw first: skipping the draw for some rows would change what follows for the others.
            if chance.random() < 0.6 and shop == "walmart" and row["price"] > 1000:
                price = int(row["price"] * 0.9) // 100 * 100 + 47
            quantity = None if price else chance.choice([0, 0, 1, 2])
            self._shelf(shop, store, row["id"], quantity, price)
        shelves = self.seeds[shop].get("shelves", {}).get(key, {})
        for product, seed in shelves.items():
            row = self.products.sold[shop][product][0]
            if row["id"] not in picked:
                price = cents(seed["price"]) if "price" in seed else None
                self._shelf(shop, store, row["id"], seed.get("quantity"), price)

    def _shelf(
        self, shop: str, store: str, product: str, quantity: int | None, price: int | None
    ) -> None:
        row = {"store_id": store, "product_id": product, "quantity": quantity, "price": price}
        self.builder.add(self.opened, f"{shop}_shelves", id=f"{store}:{product}", note=None, **row)

    # -- the account -------------------------------------------------------------------------------
    def _account(self, shop: str) -> None:
        builder = self.builder
        person = self.builder.person
        seed = self.seeds[shop]
        prefix = PREFIX[shop]
        profile: dict[str, Any] = {
            "timezone": person["timezone"],
            "user_id": self.id(prefix + "u", "me"),
            "name": person["name"],
            "email": person["emails"]["personal"],
            "phone": person["phone"],
        }
        checkout = {}
        if shop == "amazon":
            profile["prime_until"] = seed.get("prime_until")
            checkout["shipping_option"] = "standard"
        elif shop == "walmart":
            profile["plus_until"] = seed.get("plus_until")
            checkout["updated_at"] = iso(self.opened)
        else:
            profile["born"] = str(person["born"])
            profile["circle_since"] = seed.get("circle_since")
        builder.add(self.opened, f"{shop}_profile", id="me", **profile)
        self._addresses(shop)
        self._cards(shop)
        if shop in _SERVICES:
            store = {_HOME[shop]: self.id(prefix + "s", seed["store"])}
            builder.add(self.opened, f"{shop}_settings", id="me", **store)
        builder.add(self.opened, f"{shop}_checkout", id="next", **checkout)
        for number, (key, chosen, count) in enumerate(seed.get("cart", [])):
            self._in_cart(shop, number, key, chosen, count)

    def _addresses(self, shop: str) -> None:
        person = self.builder.person
        home = {
            "name": person["name"],
            "street": person["home"]["street"],
            "city": person["home"]["city"],
            "state": person["home"]["state_code"],
            "zip": person["home"]["zip"],
        }
        places = {"home": home}
        for key in self.seeds[shop]["addresses"]:
            places[key] = self.addresses[key]
        for number, (key, place) in enumerate(places.items()):
            at = self.opened + number * 600
            row = {
                "id": self.id(PREFIX[shop] + "a", key),
                "default_since": iso(at) if number == 0 else None,
                "name": str(place["name"]),
                "street": str(place["street"]),
                "city": str(place["city"]),
                "state": str(place["state"]),
                "zip": str(place["zip"]),
                "country": "US",
                "added_at": iso(at),
            }
            self.builder.add(at, f"{shop}_addresses", **row)

    def _cards(self, shop: str) -> None:
        seed = self.seeds[shop]
        methods = {}
        for key in seed["cards"]:
            card = self.builder.person["cards"][key]
            methods[key] = {
                "type": "debit" if "Debit" in card["name"] else "credit",
                "brand": card["brand"],
                "last4": card["last4"],
                "expires": str(card["expires"]),
            }
        for key, card in seed.get("other_cards", {}).items():
            methods[key] = {column: str(value) for column, value in card.items()}
        for key, card in seed.get("gift_cards", {}).items():
            gift_card = {
                "id": self.id(PREFIX[shop] + "h", key),
                "number": str(card["number"]),
                "loaded": cents(card["loaded"]),
                "issued_at": iso(self.opened),
            }
            self.builder.add(self.opened, f"{shop}_gift_cards", **gift_card)
            if card.get("saved"):
                methods[key] = {
                    "type": "gift_card",
                    "brand": f"{shop.title()} gift card",
                    "last4": gift_card["number"][-4:],
                    "gift_card": gift_card["id"],
                }
        for number, (key, method) in enumerate(methods.items()):
            at = self.opened + number * 900
            row = {
                "id": self.id(PREFIX[shop] + "m", key),
                "added_at": iso(at),
                "default_since": iso(at) if key == seed["pay"] else None,
                **method,
            }
            self.builder.add(at, f"{shop}_methods", **row)

    def _in_cart(self, shop: str, number: int, key: str, chosen: str | None, count: int) -> None:
        at = self.builder.start - (number + 1) * 29 * 3600
        item = self.products.find(shop, key, chosen)
        row = {
            "id": self.id(PREFIX[shop] + "l", f"left-{number}"),
            "product_id": item["product_id"],
            "quantity": count,
            "added_at": iso(at),
        }
        if shop == "amazon":
            row |= {
                "variant_id": item["variant_id"],
                "seller_id": item["seller_id"],
                "gift_wrap": False,
                "gift_message": None,
                "seen_price": self.products.price_at(shop, key, at),
            }
        else:
            row |= {"fulfillment": "shipping", "store_id": None}
        if shop == "walmart":
            row["substitution"] = "allow_substitution"
            self.builder.change(at, "walmart_checkout", "next", updated_at=iso(at))
        self.builder.add(at, _CARTS[shop], **row)

    # -- what the shops offer ----------------------------------------------------------------------
    def _coupons(self, shop: str) -> None:
        for short, code, text, terms, public in catalogue()["coupons"]:
            if SHOPS[short] != shop:
                continue
            first, last = terms["days"]
            row = {
                "code": code,
                "description": text,
                "percent": terms.get("percent"),
                "starts": self._day(first),
                "expires": self._day(last),
                "public": public,
                "amount": cents(terms["amount"]) if "amount" in terms else None,
                "cap": cents(terms["cap"]) if "cap" in terms else None,
                "minimum": cents(terms["minimum"]) if "minimum" in terms else 0,
                "departments": terms.get("departments", []),
                "items": [self.products.upc(key) for key in terms.get("items", [])],
            }
            self.builder.add(self.opened, f"{shop}_coupons", **row)

    def _day(self, days: int) -> str:
        """Return the moment so many days after the start of the world (ISO)."""
        return iso(self.builder.start + days * DAY)

    def _offers(self) -> None:
        for key, text, kind, worth, what, (first, last) in catalogue()["offers"]:
            row = {
                "id": self.id("tgf", key),
                "description": text,
                "kind": kind,
                "worth": worth,
                "starts": self._day(first),
                "expires": self._day(last),
                "items": [self.products.upc(product) for product in what.get("items", [])],
                "categories": what.get("categories", []),
                "departments": what.get("departments", []),
                "minimum": cents(what["minimum"]) if "minimum" in what else 0,
            }
            self.builder.add(self.opened, "target_offers", **row)
        for key in self.seeds["target"].get("clipped", []):
            at = self.builder.start - 20 * 3600
            clip = {
                "id": self.id("tgk", key),
                "offer_id": self.id("tgf", key),
                "clipped_at": iso(at),
            }
            self.builder.add(at, "target_clips", **clip)

    def _reviews(self, shop: str) -> None:
        for key, rows in self.products.sold[shop].items():
            chance = self.builder.chance("reviews", shop, key)
            product = self.products.items[key]
            titles: set[str] = set()
            for number in range(chance.choice([0, 0, 0, 1, 1, 2])):
                stars = chance.choice(catalogue()["review_stars"])
                wording = self.builder.chance("words", shop, key, number)
                title, body = self.opinions.review(product, stars, titles, wording)
                at = self.since + chance.randrange(self.builder.start - self.since - DAY)
                row = {
                    "id": self.id(PREFIX[shop] + "r", f"{key}-{number}"),
                    "subject": rows[0]["id"],
                    "rating": stars,
                    "title": title,
                    "body": body,
                    "author": chance.choice(catalogue()["authors"]),
                    "verified": chance.random() < 0.75,
                    "mine": False,
                    "at": iso(at),
                }
                self.builder.add(at, f"{shop}_reviews", **row)

    # -- the person's reviews, plans and lists -----------------------------------------------------
    def _own_reviews(self, orders: Orders) -> None:
        for seed in self.seeds.get("reviews", []):
            shop = seed["shop"]
            at = orders.moment(seed["at"])
            row = self.products.sold[shop][seed["product"]][0]
            review = {
                "id": self.id(PREFIX[shop] + "r", f"mine-{seed['product']}"),
                "subject": row["id"],
                "rating": seed["rating"],
                "title": seed["title"],
                "body": seed["body"],
                "author": self.builder.person["name"],
                "verified": row["id"] in orders.bought[shop],
                "mine": True,
                "at": iso(at),
            }
            self.builder.add(at, f"{shop}_reviews", **review)

    def _plans(self, orders: Orders) -> None:
        """Write subscriptions and auto reorders with the orders that they placed so far."""
        for shop in _PLANS:
            for seed in self.seeds[shop].get("plans", []):
                self._plan(orders, shop, seed)

    def _plan(self, orders: Orders, shop: str, seed: dict[str, Any]) -> None:
        table, prefix = _PLANS[shop]
        key = seed["product"]
        interval = seed["every"] * DAY
        next_at = self.builder.start + seed["next"] * 3600 - seed.get("canceled", 0) * DAY
        first = next_at - seed["times"] * interval
        plan_id = self.id(prefix, key)
        row: dict[str, Any] = {
            "id": plan_id,
            "product_id": self.products.find(shop, key, None)["product_id"],
            "quantity": seed.get("quantity", 1),
            "address_id": self.id(PREFIX[shop] + "a", "home"),
            "created_at": iso(first - DAY),
            "canceled_at": None,
            "skipped": None,
            "method_id": self.id(PREFIX[shop] + "m", seed.get("pay", self.seeds[shop]["pay"])),
        }
        order_seed = {"plan": plan_id, "pay": seed.get("pay")}
        if shop == "amazon":
            row["frequency"] = seed["frequency"]
            order_seed["rate"] = _RATES[seed["frequency"]]
        else:
            row |= {"frequency_days": seed["every"], "paused": False}
        begun = max(first - DAY, self.since)
        moments = [first + number * interval for number in range(seed["times"] + 1)]
        row["next_at"] = iso(next(at for at in moments if at > begun))
        self.builder.add(begun, table, **row)
        if "canceled" in seed:
            end = self.builder.start - seed["canceled"] * DAY
            self.builder.change(end, table, plan_id, canceled_at=iso(end), next_at=None)
        if seed.get("paused"):
            paused_at = self.builder.start - 5 * DAY
            self.builder.change(paused_at, table, plan_id, paused=True, next_at=None)
        for number, at in enumerate(moments[:-1]):
            if self.since < at:
                lines = [(key, None, row["quantity"])]
                orders.order(shop, f"plan-{key}-{number}", at, lines, order_seed)
                self.builder.change(at, table, plan_id, next_at=iso(moments[number + 1]))

    def _wishes(self) -> None:
        """Write wish lists and price alerts."""
        for number, (key, seed) in enumerate(self.seeds["amazon"]["wishlists"].items()):
            created_at = self.since + (number + 1) * 5 * DAY
            row = {
                "id": self.id("azw", key),
                "name": seed["name"],
                "is_public": seed.get("public", False),
                "created_at": iso(created_at),
                "first": number == 0,
            }
            self.builder.add(created_at, "amazon_wishlists", **row)
            for place, product in enumerate(seed["items"]):
                at = min(created_at + (place + 1) * 9 * DAY, self.builder.start - DAY)
                item = self.products.find("amazon", product, None)
                wish = {
                    "id": self.id("aze", f"{key}-{product}"),
                    "added_at": iso(at),
                    "wishlist_id": self.id("azw", key),
                    "product_id": item["product_id"],
                    "variant_id": item["variant_id"],
                    "note": None,
                }
                self.builder.add(at, "amazon_wishes", **wish)
        for product, (target, days) in self.seeds["amazon"].get("alerts", {}).items():
            at = self.builder.start - days * DAY
            alert = {
                "id": self.id("azt", product),
                "product_id": self.id("azp", product),
                "target_price": cents(target),
                "created_at": iso(at),
                "looks_at": iso(week_start(week_of(self.builder.start) + 1)),
            }
            self.builder.add(at, "amazon_alerts", **alert)

    def _registries(self, orders: Orders) -> None:
        for key, seed in self.seeds["target"]["registries"].items():
            created_at = orders.moment(seed["created"])
            registry_id = self.id("tgg", key)
            row = {
                "id": registry_id,
                "owner": seed.get("owner"),
                "created_at": iso(created_at),
                "name": seed["name"],
                "kind": seed["kind"],
                "event_date": str(seed["date"]) if "date" in seed else None,
                "co_registrant": seed.get("with"),
                "slug": seed.get("slug"),
            }
            self.builder.add(created_at, "target_registries", **row)
            for product, count in seed["items"].items():
                wish = {
                    "id": self.id("tgn", f"{key}-{product}"),
                    "registry_id": registry_id,
                    "product_id": self.id("tgp", product),
                    "quantity": count,
                    "added_at": iso(created_at),
                }
                self.builder.add(created_at, "target_wanted", **wish)
            for number, (product, count, buyer, when) in enumerate(seed.get("given", [])):
                at = orders.moment(when)
                gift = {
                    "id": self.id("tgw", f"{key}-{number}"),
                    "at": iso(at),
                    "registry_id": registry_id,
                    "product_id": self.id("tgp", product),
                    "quantity": count,
                    "buyer": buyer,
                }
                self.builder.add(at, "target_gifts", **gift)
