"""Fill Amazon, Walmart and Target: catalogues, stores, accounts, and a year of orders that agrees with the person's life."""

from __future__ import annotations

from typing import Any

from scenarios.worlds.build import Builder
from scenarios.worlds.fill.shopping._orders import Orders
from scenarios.worlds.fill.shopping._products import PREFIX, SHOPS, Products, catalogue
from servers.kit.values import cents, iso
from servers.shopping._rules import DAY

_HOME = {"walmart": "home_store", "target": "preferred_store"}
_OPENED = 5 * 365
"""Days before the start at which shops and accounts are there already: longer than anybody looks back."""
_RATES = {"biweekly": 5, "monthly": 10, "quarterly": 5}
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
        self.addresses = {key: self._address(said) for key, said in seeds["addresses"].items()}
        self.states = {key: place["state"] for key, place in self.addresses.items()}
        self.states["home"] = builder.person["home"]["state_code"]

    def fill(self) -> None:
        """Write what there is, then what was done with it."""
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
        for said in self.seeds["walmart"].get("matches", []):
            orders.match(said)
        self._plans(orders)
        self._own_reviews(orders)
        self._wishes(orders)
        self._registries(orders)
        for points, days, why in self.seeds["target"].get("points", []):
            at = self.builder.start + days * DAY
            orders.points(at, iso(at), why, points, None)

    def _address(self, said: dict[str, Any]) -> dict[str, Any]:
        if "place" not in said:
            return said
        place = self.builder.places[said["place"]]
        return {k: place[k] for k in ("street", "state", "zip")} | {
            "name": said["name"],
            "city": self._city(place["city"])["name"],
        }

    def id(self, prefix: str, key: str) -> str:
        """Return a row's id."""
        return self.builder.id(prefix, key)

    def _city(self, key: str) -> dict[str, Any]:
        return next(c for c in self.builder.person["cities"] if c["key"] == key)

    # -- places -----------------------------------------------------------------------------------------------
    def _areas(self) -> None:
        found: dict[str, list[dict[str, Any]]] = {}
        home = self.builder.person["home"]
        near = {
            "zip": home["zip"],
            "state": home["state_code"],
            "lat": home["lat"],
            "lng": home["lng"],
            "city": self.builder.person["cities"][0]["key"],
        }
        shops = [s for shop in _SERVICES for s in self.seeds[shop]["stores"] if "zip" in s]
        for place in [near, *self.builder.places.values(), *shops]:
            if "zip" in place and "lat" in place:
                found.setdefault(str(place["zip"]), []).append(place)
        for code, places in sorted(found.items()):
            city = self._city(places[0]["city"])
            spot = {k: round(sum(p[k] for p in places) / len(places), 4) for k in ("lat", "lng")}
            row = {
                "city": city["name"],
                "state": places[0]["state"],
                "timezone": city["timezone"],
            } | spot
            self.builder.add(self.opened, "shopping_areas", id=code, **row)

    def _stores(self, shop: str) -> None:
        for said in self.seeds[shop]["stores"]:
            place = self.builder.places[said["place"]] | said if "place" in said else said
            city = self._city(place["city"])
            row = {k: place[k] for k in ("street", "state", "lat", "lng", "phone")} | {
                "zip": str(place["zip"]),
                "city": city["name"],
            }
            row |= {"name": f"{shop.title()} {said['name']}", "timezone": city["timezone"]}
            row |= {
                "opens": said.get("opens", 8 if shop == "target" else 6),
                "closes": said.get("closes", 22 if shop == "target" else 23),
            }
            row |= {
                "services": said.get("services", _SERVICES[shop]),
                "closed_on": str(said["closed"]) if "closed" in said else None,
            }
            store = self.id(PREFIX[shop] + "s", said["key"])
            self.builder.add(self.opened, f"{shop}_stores", id=store, **row)
            self.states[said["key"]] = place["state"]
            self._shelves(shop, said["key"], store)

    def _shelves(self, shop: str, key: str, store: str) -> None:
        chance = self.builder.chance("shelves", shop, key)
        rows = [
            r
            for family in self.products.sold[shop].values()
            for r in family
            if not r["online_only"]
        ]
        special = self.seeds[shop].get("shelves", {}).get(key, {})
        picked = {r["id"]: r for r in chance.sample(rows, 8)}
        for row in picked.values():
            price = (
                int(row["price"] * 0.9) // 100 * 100 + 47
                if chance.random() < 0.6 and shop == "walmart" and row["price"] > 1000
                else None
            )
            self._shelf(
                shop, store, row["id"], None if price else chance.choice([0, 0, 1, 2]), price
            )
        for product, said in special.items():
            row = self.products.sold[shop][product][0]
            if row["id"] not in picked:
                self._shelf(
                    shop,
                    store,
                    row["id"],
                    said.get("quantity"),
                    cents(said["price"]) if "price" in said else None,
                )

    def _shelf(
        self, shop: str, store: str, product: str, quantity: int | None, price: int | None
    ) -> None:
        row = {"store_id": store, "product_id": product, "quantity": quantity, "price": price}
        self.builder.add(self.opened, f"{shop}_shelves", id=f"{store}:{product}", note=None, **row)

    # -- the account ------------------------------------------------------------------------------------------
    def _account(self, shop: str) -> None:
        builder = self.builder
        person = self.builder.person
        said = self.seeds[shop]
        prefix = PREFIX[shop]
        own: dict[str, Any] = {
            "amazon": {"prime_until": said.get("prime_until")},
            "walmart": {"plus_until": said.get("plus_until")},
        }.get(shop, {})
        if shop == "target":
            own = {"born": str(person["born"]), "circle_since": said.get("circle_since")}
        me = {
            "user_id": self.id(prefix + "u", "me"),
            "name": person["name"],
            "email": person["emails"]["personal"],
            "phone": person["phone"],
        }
        builder.add(
            self.opened, f"{shop}_profile", id="me", timezone=person["timezone"], **me, **own
        )
        home = person["home"]
        places = {
            "home": {
                "name": person["name"],
                "street": home["street"],
                "city": home["city"],
                "state": home["state_code"],
                "zip": home["zip"],
            }
        }
        places |= {k: self.addresses[k] for k in said["addresses"]}
        for number, (key, place) in enumerate(places.items()):
            at = self.opened + number * 600
            row = {k: str(place[k]) for k in ("name", "street", "city", "state", "zip")} | {
                "country": "US",
                "added_at": iso(at),
            }
            default = iso(at) if number == 0 else None
            builder.add(
                at, f"{shop}_addresses", id=self.id(prefix + "a", key), default_since=default, **row
            )
        self._cards(shop)
        if shop in _SERVICES:
            builder.add(
                self.opened,
                f"{shop}_settings",
                id="me",
                **{_HOME[shop]: self.id(prefix + "s", said["store"])},
            )
        checkout = {
            "amazon": {"shipping_option": "standard"},
            "walmart": {"updated_at": iso(self.opened)},
        }.get(shop, {})
        builder.add(self.opened, f"{shop}_checkout", id="next", **checkout)
        for number, (key, chosen, count) in enumerate(said.get("cart", [])):
            self._in_cart(shop, number, key, chosen, count)

    def _cards(self, shop: str) -> None:
        said = self.seeds[shop]
        prefix = PREFIX[shop]
        person = self.builder.person
        rows = []
        for key in said["cards"]:
            card = person["cards"][key]
            kind = "debit" if "Debit" in card["name"] else "credit"
            rows.append(
                (
                    key,
                    {
                        "type": kind,
                        "brand": card["brand"],
                        "last4": card["last4"],
                        "expires": str(card["expires"]),
                    },
                )
            )
        for key, card in said.get("other_cards", {}).items():
            rows.append((key, {k: str(v) for k, v in card.items()}))
        for key, card in said.get("gift_cards", {}).items():
            issued = {
                "number": str(card["number"]),
                "loaded": cents(card["loaded"]),
                "issued_at": iso(self.opened),
            }
            self.builder.add(
                self.opened, f"{shop}_gift_cards", id=self.id(prefix + "h", key), **issued
            )
            if card.get("saved"):
                row = {
                    "type": "gift_card",
                    "brand": f"{shop.title()} gift card",
                    "last4": issued["number"][-4:],
                }
                rows.append((key, row | {"gift_card": self.id(prefix + "h", key)}))
        for number, (key, row) in enumerate(rows):
            at = self.opened + number * 900
            default = iso(at) if key == said["pay"] else None
            self.builder.add(
                at,
                f"{shop}_methods",
                id=self.id(prefix + "m", key),
                added_at=iso(at),
                default_since=default,
                **row,
            )

    def _in_cart(self, shop: str, number: int, key: str, chosen: str | None, count: int) -> None:
        at = self.builder.start - (number + 1) * 29 * 3600
        item = self.products.find(shop, key, chosen)
        row = {"product_id": item["product_id"], "quantity": count, "added_at": iso(at)}
        if shop == "amazon":
            row |= {
                "variant_id": item["variant_id"],
                "seller_id": item["seller_id"],
                "gift_wrap": False,
                "gift_message": None,
            }
            row["seen_price"] = self.products.price_at(shop, key, at)
        else:
            row |= {"fulfillment": "shipping", "store_id": None}
            row |= {"substitution": "allow_substitution"} if shop == "walmart" else {}
        table = {"amazon": "amazon_cart", "walmart": "walmart_basket", "target": "target_cart"}[
            shop
        ]
        self.builder.add(at, table, id=self.id(PREFIX[shop] + "l", f"left-{number}"), **row)

    # -- what the shops offer ---------------------------------------------------------------------------------
    def _coupons(self, shop: str) -> None:
        for short, code, text, terms, public in catalogue()["coupons"]:
            if SHOPS[short] == shop:
                first, last = (iso(self.builder.start + d * DAY) for d in terms["days"])
                row: dict[str, Any] = {
                    "description": text,
                    "percent": terms.get("percent"),
                    "starts": first,
                    "expires": last,
                    "public": public,
                }
                row |= {k: cents(terms[k]) if k in terms else None for k in ("amount", "cap")}
                row |= {
                    "minimum": cents(terms["minimum"]) if "minimum" in terms else 0,
                    "departments": terms.get("departments", []),
                }
                row["items"] = [self.products.upc(k) for k in terms.get("items", [])]
                self.builder.add(self.opened, f"{shop}_coupons", code=code, **row)

    def _offers(self) -> None:
        for key, text, kind, worth, what, days in catalogue()["offers"]:
            first, last = (iso(self.builder.start + d * DAY) for d in days)
            row = {
                "description": text,
                "kind": kind,
                "worth": worth,
                "starts": first,
                "expires": last,
            }
            row |= {
                "items": [self.products.upc(k) for k in what.get("items", [])],
                "categories": what.get("categories", []),
            }
            row |= {
                "departments": what.get("departments", []),
                "minimum": cents(what["minimum"]) if "minimum" in what else 0,
            }
            self.builder.add(self.opened, "target_offers", id=self.id("tgf", key), **row)
        for key in self.seeds["target"].get("clipped", []):
            at = self.builder.start - 20 * 3600
            self.builder.add(
                at,
                "target_clips",
                id=self.id("tgk", key),
                offer_id=self.id("tgf", key),
                clipped_at=iso(at),
            )

    def _reviews(self, shop: str) -> None:
        authors = catalogue()["authors"]
        texts = catalogue()["reviews"]
        for key, rows in self.products.sold[shop].items():
            chance = self.builder.chance("reviews", shop, key)
            department = self.products.items[key]["department"]
            left = {
                s: [x for x in found if x[0] in (None, department)] for s, found in texts.items()
            }
            for number in range(chance.choice([0, 0, 0, 1, 1, 2])):
                stars = chance.choice(catalogue()["review_stars"])
                place = self.builder.chance("words", shop, key, number).randrange(len(left[stars]))
                _, title, body = left[stars].pop(place)
                at = self.since + chance.randrange(self.builder.start - self.since - DAY)
                name = self.products.items[key]["name"].split(",")[0]
                row = {
                    "subject": rows[0]["id"],
                    "rating": stars,
                    "title": title,
                    "body": body.format(p=name[0].lower() + name[1:], n=chance.randint(2, 20)),
                }
                row |= {
                    "author": chance.choice(authors),
                    "verified": chance.random() < 0.75,
                    "mine": False,
                    "at": iso(at),
                }
                self.builder.add(
                    at, f"{shop}_reviews", id=self.id(PREFIX[shop] + "r", f"{key}-{number}"), **row
                )

    # -- what the person did ----------------------------------------------------------------------------------
    def _own_reviews(self, orders: Orders) -> None:
        for said in self.seeds.get("reviews", []):
            shop = said["shop"]
            at = orders.moment(said["at"])
            row = self.products.sold[shop][said["product"]][0]
            made = {
                "subject": row["id"],
                "rating": said["rating"],
                "title": said["title"],
                "body": said["body"],
                "author": self.builder.person["name"],
            }
            made |= {"verified": row["id"] in orders.placed[shop], "mine": True, "at": iso(at)}
            self.builder.add(
                at,
                f"{shop}_reviews",
                id=self.id(PREFIX[shop] + "r", f"mine-{said['product']}"),
                **made,
            )

    def _plans(self, orders: Orders) -> None:
        """Write subscriptions and auto reorders with the orders that they placed so far."""
        for shop, table, prefix in (
            ("amazon", "amazon_subscriptions", "azb"),
            ("walmart", "walmart_reorders", "wmb"),
        ):
            for said in self.seeds[shop].get("plans", []):
                key = said["product"]
                every = said["every"]
                upcoming = self.builder.start + said["next"] * 3600
                upcoming -= said.get("canceled", 0) * DAY
                first = upcoming - said["times"] * every * DAY
                row: dict[str, Any] = {
                    "product_id": self.products.find(shop, key, None)["product_id"],
                    "quantity": said.get("quantity", 1),
                }
                row |= {
                    "address_id": self.id(PREFIX[shop] + "a", "home"),
                    "created_at": iso(first - DAY),
                    "canceled_at": None,
                    "skipped": None,
                }
                row["method_id"] = self.id(
                    PREFIX[shop] + "m", said.get("pay", self.seeds[shop]["pay"])
                )
                row["next_at"] = iso(upcoming)
                row |= (
                    {"frequency": said["frequency"]}
                    if shop == "amazon"
                    else {"frequency_days": every, "paused": False}
                )
                plan = self.id(prefix, key)
                self.builder.add(max(first - DAY, self.since), table, id=plan, **row)
                if "canceled" in said:
                    end = self.builder.start - said["canceled"] * DAY
                    self.builder.change(end, table, plan, canceled_at=iso(end), next_at=None)
                if said.get("paused"):
                    self.builder.change(
                        self.builder.start - 5 * DAY, table, plan, paused=True, next_at=None
                    )
                more = {"plan": plan, "pay": said.get("pay")} | (
                    {"rate": _RATES[said["frequency"]]} if shop == "amazon" else {}
                )
                for number in range(said["times"]):
                    at = first + number * every * DAY
                    if self.since < at:
                        orders.order(
                            shop, f"plan-{key}-{number}", at, [(key, None, row["quantity"])], more
                        )

    def _wishes(self, orders: Orders) -> None:
        for number, (key, said) in enumerate(self.seeds["amazon"]["wishlists"].items()):
            made = self.since + (number + 1) * 5 * DAY
            row = {
                "name": said["name"],
                "is_public": said.get("public", False),
                "created_at": iso(made),
                "first": number == 0,
            }
            self.builder.add(made, "amazon_wishlists", id=self.id("azw", key), **row)
            for place, product in enumerate(said["items"]):
                at = min(made + (place + 1) * 9 * DAY, self.builder.start - DAY)
                item = self.products.find("amazon", product, None)
                wish = {
                    "wishlist_id": self.id("azw", key),
                    "product_id": item["product_id"],
                    "variant_id": item["variant_id"],
                    "note": None,
                }
                self.builder.add(
                    at,
                    "amazon_wishes",
                    id=self.id("aze", f"{key}-{product}"),
                    added_at=iso(at),
                    **wish,
                )
        for product, (target, days) in self.seeds["amazon"].get("alerts", {}).items():
            at = self.builder.start - days * DAY
            row = {
                "product_id": self.id("azp", product),
                "target_price": cents(target),
                "created_at": iso(at),
            }
            self.builder.add(at, "amazon_alerts", id=self.id("azt", product), **row)

    def _registries(self, orders: Orders) -> None:
        for key, said in self.seeds["target"]["registries"].items():
            made = orders.moment(said["created"])
            row = {
                "name": said["name"],
                "kind": said["kind"],
                "event_date": str(said["date"]) if "date" in said else None,
                "co_registrant": said.get("with"),
                "slug": said.get("slug"),
            }
            registry = self.id("tgg", key)
            self.builder.add(
                made,
                "target_registries",
                id=registry,
                owner=said.get("owner"),
                created_at=iso(made),
                **row,
            )
            for product, count in said["items"].items():
                wish = {
                    "registry_id": registry,
                    "product_id": self.id("tgp", product),
                    "quantity": count,
                    "added_at": iso(made),
                }
                self.builder.add(
                    made, "target_wanted", id=self.id("tgn", f"{key}-{product}"), **wish
                )
            for number, (product, count, buyer, at) in enumerate(said.get("given", [])):
                gift = {
                    "registry_id": registry,
                    "product_id": self.id("tgp", product),
                    "quantity": count,
                    "buyer": buyer,
                }
                when = orders.moment(at)
                self.builder.add(
                    when, "target_gifts", id=self.id("tgw", f"{key}-{number}"), at=iso(when), **gift
                )
