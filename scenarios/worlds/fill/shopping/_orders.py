"""Past and running orders of the three shops: single ones, routines, and those of life.yaml."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time, timedelta
from random import Random
from typing import Any

from scenarios.worlds.build import Builder
from scenarios.worlds.fill.shopping._products import PREFIX, Products, catalogue
from servers.kit.values import cents, iso, parse_time
from servers.shopping import _orders as rules
from servers.shopping._returns import TRAVEL
from servers.shopping._rules import DAY, HOUR, percent, split, tax_shares

REFUND_AFTER = 3 * DAY
"""Seconds from the loss of a parcel to its refund."""
_DAYS = {"amazon": (1, 3), "walmart": (2, 4), "target": (2, 5)}
"""Fewest and most days of a parcel."""
_SHIPPING = {"amazon": 599, "walmart": 699, "target": 599}
"""Cents for a parcel that is not free."""
_NOT_YET = (
    "ships_at",
    "out_at",
    "ready_at",
    "hold_until",
    "done_at",
    "lost_at",
    "canceled_at",
    "cancel_reason",
)
"""Columns of an order that are empty unless something fills them."""
Line = tuple[str, str | None, int]
"""Product, colour or size, quantity."""


class Orders:
    """Writes orders with items, charges, returns and points.

    `accounts` are the seeds of each shop's account; `states` maps the keys of addresses and stores
    to their state.
    """

    def __init__(
        self,
        builder: Builder,
        products: Products,
        accounts: dict[str, dict[str, Any]],
        states: dict[str, str],
    ) -> None:
        self.builder = builder
        self.products = products
        self.accounts = accounts
        self.states = states
        self._charges = 0
        # What was written, for the reviews and price matches that refer to it: the product ids that
        # were bought, by shop, and the rows of orders and their items, by shop and key.
        self.bought: dict[str, set[str]] = {name: set() for name in PREFIX}
        self.written: dict[tuple[str, str], tuple[dict[str, Any], list[dict[str, Any]]]] = {}

    def moment(self, text: str) -> int:
        """Return the epoch seconds of a local time (`2026-03-01T19:20`) or date (its evening)."""
        return self.builder.moment(text, bare=time(19, 40))

    def later(self, at: int, days: int, hour: int) -> int:
        """Return a local hour some days after a moment."""
        day = datetime.fromtimestamp(at, self.builder.zone).date() + timedelta(days=days)
        return int(datetime.combine(day, time(hour, 20), self.builder.zone).timestamp())

    def _next_slot(self, after: int) -> int:
        """Return the next full hour in the daytime, when stores hand orders over."""
        when = datetime.fromtimestamp(after - 1, self.builder.zone) + timedelta(hours=1)
        day = when.date()
        hour = max(when.hour, 9)
        if when.hour >= 20:
            day += timedelta(days=1)
            hour = 9
        return int(datetime.combine(day, time(hour), self.builder.zone).timestamp())

    # -- one order ---------------------------------------------------------------------------------
    def order(
        self, shop: str, key: str, at: int, lines: Sequence[Line], seed: dict[str, Any]
    ) -> None:
        """Write an order of `lines`.

        `seed` may have pay, how, to (address), store, days, took, arrives, total, rate (percent
        off), option, plan, code, off, slot, waits, late, lost, double, cancel, why, back, refund.
        """
        prefix = PREFIX[shop]
        chance = self.builder.chance("order", shop, key)
        order_id = self.builder.id(prefix + "o", key)
        how = seed.get("how", "shipping")
        method = self.builder.id(prefix + "m", seed.get("pay") or self.accounts[shop]["pay"])
        to = seed.get("to", "home")
        store = str(seed.get("store") or self.accounts[shop].get("store"))
        by_parcel = how not in rules.PICKUP
        row: dict[str, Any] = {
            "id": order_id,
            "placed_at": iso(at),
            "fulfillment": how,
            "shipping_option": seed.get("option", "standard") if shop == "amazon" else None,
            "store_id": self.builder.id(prefix + "s", store) if how != "shipping" else None,
            "slot_at": None,
            "address_id": self.builder.id(prefix + "a", to) if by_parcel else None,
            "method_id": method,
            "shipping": 0,
            "fees": 0,
            "code": seed.get("code"),
            "plan_id": seed.get("plan"),
        }
        row |= dict.fromkeys(_NOT_YET)
        if how in rules.PICKUP:
            row |= self._pickup(how, at, seed, chance)
        else:
            row |= self._parcel(shop, at, seed, chance)
        items = self._items(shop, key, at, lines, seed, self.states[to if by_parcel else store])
        net = sum(_net(item) for item in items)
        if how == "shipping" and "total" not in seed and not seed.get("plan"):
            row["shipping"] = self._shipping(shop, at, seed, net)
        self.builder.add(at, f"{shop}_orders", **row)
        self.bought[shop] |= {item["product_id"] for item in items}
        self.written[shop, key] = row, items
        for item in items:
            self.builder.add(at, f"{shop}_order_items", **item)
        total = net + sum(item["tax"] for item in items) + row["shipping"]
        self._money(shop, row, at, total, seed)
        if "cancel" in seed:
            return
        self._aftermath(shop, key, row, items, seed)
        paid_with = seed.get("pay") or self.accounts[shop]["pay"]
        if shop == "target" and row["done_at"] is not None and paid_with != "red_card":
            self.points(at, row["done_at"], "Purchase", net // 100, order_id)

    def _money(
        self, shop: str, row: dict[str, Any], at: int, total: int, seed: dict[str, Any]
    ) -> None:
        """Write an order's charge and full refunds; cancel the order if its seeds say so."""
        self.charge(shop, row, at, at, total, "order")
        if seed.get("double"):
            self.charge(shop, row, at + 20, at + 20, total, "order")
            self.charge(shop, row, at + 2 * DAY, at + 4 * DAY, -total, "charged twice")
        if row["lost_at"] is not None:
            refunded_at = parse_time(row["lost_at"]) + REFUND_AFTER
            self.charge(shop, row, at, refunded_at, -total, "lost by the carrier")
        if "cancel" in seed:
            canceled_at = self.moment(seed["cancel"])
            changes = {
                "canceled_at": iso(canceled_at),
                "cancel_reason": seed.get("why", "Ordered by mistake"),
            }
            self.builder.change(canceled_at, f"{shop}_orders", row["id"], **changes)
            self.charge(shop, row, canceled_at, canceled_at, -total, "order canceled")
        elif row["hold_until"] is not None and row["done_at"] is None:
            self.charge(shop, row, at, parse_time(row["hold_until"]), -total, rules.UNCLAIMED)

    def _shipping(self, shop: str, at: int, seed: dict[str, Any], net: int) -> int:
        """Return the cents for a parcel: free for members and from 35 dollars on."""
        account = self.accounts[shop]
        member_until = account.get("prime_until") or account.get("plus_until") or ""
        if member_until > iso(at) or seed.get("pay") == "red_card" or net >= 3500:
            return 0
        return _SHIPPING[shop]

    def _pickup(self, how: str, at: int, seed: dict[str, Any], chance: Random) -> dict[str, Any]:
        """Return the moments of an order that is collected at a store."""
        ready = self.moment(seed["slot"]) if "slot" in seed else self._next_slot(at + 19 * HOUR)
        moments: dict[str, Any] = dict(rules.pickup(ready))
        if how != "order_pickup":
            moments["slot_at"] = iso(ready)
        waits = seed.get("waits") or "cancel" in seed
        if not waits and ready + 2 * HOUR < self.builder.start:
            moments["done_at"] = iso(ready + chance.randint(20, 110) * 60)
        return moments

    def _parcel(self, shop: str, at: int, seed: dict[str, Any], chance: Random) -> dict[str, Any]:
        """Return the moments of a parcel."""
        low, high = seed.get("days", _DAYS[shop])
        promised = self.later(at, high, 21)
        if "arrives" in seed:
            arrives = self.moment(f"{seed['arrives']}T14:20")
            promised = max(promised, self.moment(f"{seed['arrives']}T21:00"))
        else:
            days = seed.get("took", chance.randint(low, high))
            arrives = self.later(at, days, chance.randint(11, 18))
        if seed.get("late"):
            arrives = promised + seed["late"] * DAY - 5 * HOUR
        ships = min(at + chance.randint(8, 20) * HOUR, arrives - 9 * HOUR)
        if arrives - at > 8 * DAY:
            ships = arrives - 5 * DAY
        moments = {"promised_by": iso(promised), "ships_at": iso(max(ships, at + 300))}
        if seed.get("lost"):
            return moments | {"lost_at": iso(promised + 6 * DAY)}
        out = max(arrives - 5 * HOUR, at + 400)
        return moments | {"out_at": iso(out), "done_at": iso(arrives)}

    def _items(
        self, shop: str, key: str, at: int, lines: Sequence[Line], seed: dict[str, Any], state: str
    ) -> list[dict[str, Any]]:
        food = [self.products.items[product]["food"] for product, _, _ in lines]
        quantities = [quantity for _, _, quantity in lines]
        prices = [self.products.price_at(shop, product, at) for product, _, _ in lines]
        grosses = [price * n for price, n in zip(prices, quantities, strict=True)]
        discounts = [0] * len(lines)
        if "rate" in seed or seed.get("pay") == "red_card":
            discounts = [percent(gross, seed.get("rate", 5)) for gross in grosses]
        elif "off" in seed:
            discounts = split(cents(seed["off"]), grosses)
        if "total" in seed:
            prices, taxes = self._fit(quantities, prices, food, seed, state)
        else:
            nets = [gross - off for gross, off in zip(grosses, discounts, strict=True)]
            taxes = tax_shares(state, list(zip(nets, food, strict=True)))
        items = []
        for number, (product, chosen, quantity) in enumerate(lines):
            discount = discounts[number]
            item = self.products.find(shop, product, chosen) | {
                "id": self.builder.id(PREFIX[shop] + "i", f"{key}-{number}"),
                "order_id": self.builder.id(PREFIX[shop] + "o", key),
                "quantity": quantity,
                "unit_price": prices[number],
                "discount": discount,
                "tax": taxes[number],
                **_own_columns(shop, discount if "code" in seed else 0),
            }
            items.append(item)
        return items

    def _fit(
        self,
        quantities: Sequence[int],
        prices: list[int],
        food: list[bool],
        seed: dict[str, Any],
        state: str,
    ) -> tuple[list[int], list[int]]:
        """Return unit prices and taxes that bring an order to its total.

        An item that was returned comes to its refund on its own, the others to the rest.
        """
        places = list(range(len(quantities)))
        groups = [(places, cents(seed["total"]))]
        if "back" in seed:
            returned = seed["back"]["line"]
            refund = cents(seed["back"]["refund"])
            others = [place for place in places if place != returned]
            groups = [(others, cents(seed["total"]) - refund), ([returned], refund)]
        fitted = list(prices)
        taxes = [0] * len(quantities)
        for group, gross in groups:
            if not group:
                continue
            shares, owed = _nets_and_taxes(
                gross,
                [quantities[place] for place in group],
                [prices[place] for place in group],
                [food[place] for place in group],
                state,
            )
            for place, share, tax in zip(group, shares, owed, strict=True):
                fitted[place] = share // quantities[place]
                taxes[place] = tax
        return fitted, taxes

    # -- what follows an order ---------------------------------------------------------------------
    def charge(
        self,
        shop: str,
        row: dict[str, Any],
        made: int,
        at: int,
        amount: int,
        what: str,
        ref: str | None = None,
    ) -> None:
        """Write money that moved, or will move, for an order.

        `made` is when the entry is written, `at` when the money moves.
        """
        self._charges += 1
        entry = {
            "id": self.builder.id(PREFIX[shop] + "c", f"seed-{self._charges}"),
            "order_id": row["id"],
            "method_id": row["method_id"],
            "amount": amount,
            "at": iso(at),
            "what": what,
            "ref": ref,
        }
        self.builder.add(made, f"{shop}_charges", **entry)

    def points(self, made: int, at: str, what: str, points: int, order_id: str | None) -> None:
        """Write an entry of the Circle ledger."""
        self._charges += 1
        entry = {
            "id": self.builder.id("tgq", f"seed-{self._charges}"),
            "at": at,
            "what": what,
            "points": points,
            "order_id": order_id,
        }
        self.builder.add(made, "target_points", **entry)

    def _aftermath(
        self,
        shop: str,
        key: str,
        row: dict[str, Any],
        items: list[dict[str, Any]],
        seed: dict[str, Any],
    ) -> None:
        """Write the refund and the return that seeds give an order."""
        if "refund" in seed:
            amount, why = seed["refund"]
            received = parse_time(row["done_at"] or row["promised_by"])
            refunded = min(received + DAY, self.builder.start - HOUR)
            self.charge(shop, row, refunded, refunded, -cents(amount), why, items[0]["id"])
        if "back" in seed:
            self._return(shop, key, row, items[seed["back"]["line"]], seed["back"])

    def _return(
        self,
        shop: str,
        key: str,
        row: dict[str, Any],
        item: dict[str, Any],
        back: dict[str, Any],
    ) -> None:
        """Write the return of an item and its refund."""
        done = parse_time(row["done_at"])
        if "at" in back:
            asked = self.moment(back["at"])
        else:
            asked = min(done + DAY, self.builder.start - 30 * HOUR)
        asked = max(asked, done + HOUR)
        method = back.get("method", "mail")
        travel, handling = TRAVEL[method]
        received = asked + travel
        refunded = asked + travel + handling
        if back.get("done"):
            refunded = min(refunded, self.builder.start - HOUR)
            received = min(received, refunded - HOUR)
        return_id = self.builder.id(PREFIX[shop] + "x", key)
        opened = {
            "id": return_id,
            "order_id": row["id"],
            "item_id": item["id"],
            "reason": back.get("why", "Not what I wanted"),
            "method": method,
            "requested_at": iso(asked),
            "received_at": iso(received),
            "refunded_at": iso(refunded),
        }
        self.builder.add(asked, f"{shop}_returns", **opened)
        net = _net(item)
        self.charge(shop, row, asked, refunded, -(net + item["tax"]), "return", return_id)
        if shop == "target":
            self.points(asked, iso(refunded), "Return", -(net // 100), row["id"])

    def match(self, seed: dict[str, Any]) -> None:
        """Write a request to match a competitor's price, decided long ago."""
        row, items = self.written["walmart", seed["order"]]
        item = items[0]
        at = parse_time(row["placed_at"]) + seed["after"] * DAY
        back = cents(seed["back"]) if "back" in seed else 0
        request = {
            "order_id": row["id"],
            "item_id": item["id"],
            "competitor": seed["who"],
            "claimed": item["unit_price"] - cents(seed["less"]),
            "found": item["unit_price"] - back if back else item["unit_price"],
            "verdict": "approved" if back else "denied",
            "why": seed["why"],
            "refund": back,
            "requested_at": iso(at),
            "decided_at": iso(at + 2 * HOUR),
        }
        self.builder.add(at, "walmart_matches", id=self.builder.id("wmk", seed["order"]), **request)
        if back:
            self.charge("walmart", row, at, at + 2 * HOUR, -back, "price match", item["id"])

    # -- many orders -------------------------------------------------------------------------------
    def singles(self, seeds: list[dict[str, Any]]) -> None:
        """Write the orders that seeds describe one by one."""
        for seed in seeds:
            more = {k: v for k, v in seed.items() if k not in ("shop", "key", "at", "items")}
            at = self.moment(seed["at"])
            self.order(seed["shop"], seed["key"], at, _lines(seed["items"]), more)

    def routines(self, seeds: list[dict[str, Any]], since: int) -> None:
        """Write orders that were repeated every few days or weeks until the start of the world."""
        own = ("shop", "key", "items", "every", "first", "hour", "skip")
        for seed in seeds:
            chance = self.builder.chance("routine", seed["key"])
            more = {k: v for k, v in seed.items() if k not in own}
            number = 0
            first = seed.get("first", chance.randint(3, seed["every"]))
            at = self.later(since, first, seed.get("hour", 19))
            while at < self.builder.start - 6 * HOUR:
                number += 1
                if chance.random() >= seed.get("skip", 0.1):
                    key = f"{seed['key']}-{number}"
                    self.order(seed["shop"], key, at, _lines(seed["items"]), more)
                days = seed["every"] + chance.randint(-2, 2)
                at = self.later(at, days, chance.randint(8, 21)) + chance.randint(0, 3000)

    def strays(self, counts: dict[str, int], likes: list[str], since: int) -> None:
        """Write orders of one to three things that the person likes, on random days."""
        span = self.builder.start - 3 * DAY - since
        for shop, count in counts.items():
            liked = [key for key in likes if self._is_sold(shop, key)]
            for number in range(count):
                chance = self.builder.chance("stray", shop, number)
                at = since + int(span * (number + chance.random()) / count)
                picked = chance.sample(liked, min(chance.choice([1, 1, 2, 3]), len(liked)))
                lines: list[Line] = [(k, None, chance.choice([1, 1, 1, 2])) for k in picked]
                self.order(shop, f"stray-{shop}-{number}", at, lines, {})

    def _is_sold(self, shop: str, key: str) -> bool:
        if shop == "amazon":
            return key in self.products.sold[shop] and key in self.products.offers
        return key in self.products.sold[shop]

    def life(self, given: dict[str, dict[str, Any]]) -> None:
        """Write the purchases of life.yaml; `given` adds to them by the happening's key."""
        for happening in self.builder.life:
            purchases = happening.get("buy") or []
            if not isinstance(purchases, list):
                purchases = [purchases]
            for buy in purchases:
                if buy["on"] in PREFIX:
                    self._bought(happening, buy, given.get(happening["key"], {}))

    def _bought(self, happening: dict[str, Any], buy: dict[str, Any], more: dict[str, Any]) -> None:
        lines: list[Line] = []
        for name in buy["items"]:
            key, chosen = _two(catalogue()["said"].get(name, "candles-6"))
            lines.append((key, chosen, 1))
        seed: dict[str, Any] = {"total": buy["total"]} | more
        if "arrives" in buy:
            seed["arrives"] = str(buy["arrives"])
        if "cancelled" in buy:
            seed["cancel"] = f"{buy['cancelled']}T09:30"
        if "returned" in buy and "refunded" in buy:
            line = len(lines) - 1
            if buy["returned"] in buy["items"]:
                line = buy["items"].index(buy["returned"])
            seed["back"] = {
                "line": line,
                "refund": buy["refunded"],
                "done": True,
                **more.get("returned", {}),
            }
        elif "refunded" in buy:
            seed["refund"] = [buy["refunded"], "refund"]
        card = self._card(happening, buy["total"])
        if card is not None:
            seed["pay"] = card
        seed.pop("returned", None)
        at = self.moment(buy.get("made") or buy.get("at") or happening["at"])
        self.order(buy["on"], happening["key"], at, lines, seed)

    def _card(self, happening: dict[str, Any], total: Any) -> str | None:
        """Return the card that a happening says was charged this total, or None."""
        paid = happening.get("paid", {})
        if not isinstance(paid, dict) or paid.get("amount") != total:
            return None
        return paid["by"] if paid["by"] in self.builder.person["cards"] else None


def _net(item: dict[str, Any]) -> int:
    """Return the cents for an item, without tax."""
    return item["unit_price"] * item["quantity"] - item["discount"]


def _own_columns(shop: str, promo: int) -> dict[str, Any]:
    """Return the columns of an order item that one shop alone has."""
    if shop == "amazon":
        return {"gift_wrap": False, "gift_message": None}
    if shop == "walmart":
        return {
            "substitution": "allow_substitution",
            "outcome": None,
            "substitute_id": None,
            "settled_at": None,
        }
    return {"circle": 0, "promo": promo, "offer_id": None, "registry_id": None}


def _nets_and_taxes(
    gross: int, quantities: list[int], prices: list[int], food: list[bool], state: str
) -> tuple[list[int], list[int]]:
    """Return the net cents and the tax of lines that come to `gross` together.

    Net cents are divisible by the quantities, so that unit prices are whole cents. Whatever is left
    over goes to the tax of the first line.
    """
    weights = [price * n for price, n in zip(prices, quantities, strict=True)]
    shares: list[int] = []
    taxes: list[int] = []
    for net in range(gross, 0, -1):
        shares = split(net, weights)
        taxes = tax_shares(state, list(zip(shares, food, strict=True)))
        whole = all(share % n == 0 for share, n in zip(shares, quantities, strict=True))
        if whole and net + sum(taxes) <= gross:
            taxes[0] += gross - net - sum(taxes)
            break
    return shares, taxes


def _lines(items: list[Any]) -> list[Line]:
    lines: list[Line] = []
    for item in items:
        key, chosen, quantity = _three(item)
        lines.append((str(key), str(chosen) if chosen is not None else None, quantity))
    return lines


def _two(seed: Any) -> tuple[str, str | None]:
    return (seed[0], str(seed[1])) if isinstance(seed, list) else (seed, None)


def _three(seed: Any) -> Line:
    """Return the product, colour or size, and quantity of an item in seeds.

    Its forms are `key`, `[key, 2]`, `[key, Black]` and `[key, Black, 2]`.
    """
    if not isinstance(seed, list):
        return seed, None, 1
    if len(seed) == 3:
        return seed[0], str(seed[1]), seed[2]
    if isinstance(seed[1], int):
        return seed[0], None, seed[1]
    return seed[0], str(seed[1]), 1
