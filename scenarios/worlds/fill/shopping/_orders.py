"""Past and running orders of the three shops: single ones, routines, what life.yaml speaks of, and how they went."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time, timedelta
from typing import Any

from scenarios.worlds.build import Builder
from scenarios.worlds.fill.shopping._products import PREFIX, Products, catalogue
from servers.kit.values import cents, iso, parse_time
from servers.shopping import _orders as rules
from servers.shopping._rules import DAY, HOUR, percent, split, tax_shares

REFUND_AFTER = 3 * DAY
_DAYS = {"amazon": (1, 3), "walmart": (2, 4), "target": (2, 5)}
Line = tuple[str, str | None, int]
"""Product, colour or size, quantity."""


class Orders:
    """Writes orders with items, charges, returns, points.

    `addresses` maps a shop's address keys to their state, `stores` the keys of stores to their state.
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
        self.placed: dict[str, set[str]] = {name: set() for name in PREFIX}
        self.known: dict[tuple[str, str], tuple[dict[str, Any], list[dict[str, Any]]]] = {}

    def moment(self, text: str) -> int:
        """Return the epoch seconds of a local time (`2026-03-01T19:20`, or a date: in the evening)."""
        return self.builder.moment(text, bare=time(19, 40))

    def later(self, at: int, days: int, hour: int) -> int:
        """Return a local hour some days after a moment."""
        day = datetime.fromtimestamp(at, self.builder.zone).date() + timedelta(days=days)
        return int(datetime.combine(day, time(hour, 20), self.builder.zone).timestamp())

    def _next_slot(self, after: int) -> int:
        """Return the next full hour, by day, at which a store hands over."""
        when = datetime.fromtimestamp(after - 1, self.builder.zone) + timedelta(hours=1)
        ahead, hour = (0, max(when.hour, 9)) if when.hour < 20 else (1, 9)
        return int(
            datetime.combine(
                when.date() + timedelta(days=ahead), time(hour), self.builder.zone
            ).timestamp()
        )

    # -- one order --------------------------------------------------------------------------------------------
    def order(
        self, shop: str, key: str, at: int, lines: Sequence[Line], said: dict[str, Any]
    ) -> None:
        """Write an order of `lines`.

        `said` may hold pay, how, to (address), store, days, took, arrives, total, rate (percent off), option, plan, code, off, slot, waits,
        late, lost, double, cancel, why, back, refund.
        """
        prefix = PREFIX[shop]
        chance = self.builder.chance("order", shop, key)
        order_id = self.builder.id(prefix + "o", key)
        how = said.get("how", "shipping")
        method = self.builder.id(prefix + "m", said.get("pay") or self.accounts[shop]["pay"])
        to = said.get("to", "home")
        store = str(said.get("store") or self.accounts[shop].get("store"))
        by_parcel = how not in rules.PICKUP
        row: dict[str, Any] = {
            "id": order_id,
            "placed_at": iso(at),
            "fulfillment": how,
            "shipping_option": said.get("option", "standard") if shop == "amazon" else None,
            "store_id": self.builder.id(prefix + "s", store) if how != "shipping" else None,
            "slot_at": None,
            "address_id": self.builder.id(prefix + "a", to) if by_parcel else None,
            "method_id": method,
            "shipping": 0,
            "fees": 0,
            "code": said.get("code"),
            "plan_id": said.get("plan"),
        }
        row |= dict.fromkeys(
            (
                "ships_at",
                "out_at",
                "ready_at",
                "hold_until",
                "done_at",
                "lost_at",
                "canceled_at",
                "cancel_reason",
            )
        )
        if how in rules.PICKUP:
            ready = self.moment(said["slot"]) if "slot" in said else self._next_slot(at + 19 * HOUR)
            row |= rules.pickup(ready) | {"slot_at": iso(ready) if how != "order_pickup" else None}
            if (
                not said.get("waits")
                and ready + 2 * HOUR < self.builder.start
                and "cancel" not in said
            ):
                row["done_at"] = iso(ready + chance.randint(20, 110) * 60)
        else:
            row |= self._parcel(shop, at, said, chance)
        items = self._items(shop, key, at, lines, said, self.states[to if by_parcel else store])
        if how == "shipping" and "total" not in said and not said.get("plan"):
            row["shipping"] = self._shipping(
                shop, at, said, sum(i["unit_price"] * i["quantity"] - i["discount"] for i in items)
            )
        canceled = self.moment(said["cancel"]) if "cancel" in said else None
        if canceled is not None:
            row |= {"canceled_at": None, "done_at": None if how in rules.PICKUP else row["done_at"]}
        self.builder.add(at, f"{shop}_orders", **row)
        self.placed[shop] |= {i["product_id"] for i in items}
        self.known[shop, key] = row, items
        for item in items:
            self.builder.add(at, f"{shop}_order_items", **item)
        net = sum(i["unit_price"] * i["quantity"] - i["discount"] for i in items)
        total = net + sum(i["tax"] for i in items) + row["shipping"]
        self.charge(shop, row, at, at, total, "order")
        if said.get("double"):
            self.charge(shop, row, at + 20, at + 20, total, "order")
            self.charge(shop, row, at + 2 * DAY, at + 4 * DAY, -total, "charged twice")
        if row["lost_at"] is not None:
            self.charge(
                shop,
                row,
                at,
                parse_time(row["lost_at"]) + REFUND_AFTER,
                -total,
                "lost by the carrier",
            )
        if row["hold_until"] is not None and row["done_at"] is None and canceled is None:
            self.charge(shop, row, at, parse_time(row["hold_until"]), -total, rules.UNCLAIMED)
        if canceled is not None:
            why = {
                "canceled_at": iso(canceled),
                "cancel_reason": said.get("why", "Ordered by mistake"),
            }
            self.builder.change(canceled, f"{shop}_orders", order_id, **why)
            self.charge(shop, row, canceled, canceled, -total, "order canceled")
        else:
            self._aftermath(shop, key, row, items, at, said)
            if (
                shop == "target"
                and row["done_at"] is not None
                and (said.get("pay") or self.accounts[shop]["pay"]) != "red_card"
            ):
                self.points(at, row["done_at"], "Purchase", net // 100, order_id)

    def _shipping(self, shop: str, at: int, said: dict[str, Any], net: int) -> int:
        """Return what a parcel cost: nothing for members and from 35 dollars on."""
        own = self.accounts[shop]
        member = (own.get("prime_until") or own.get("plus_until") or "") > iso(at) or said.get(
            "pay"
        ) == "red_card"
        return 0 if member or net >= 3500 else {"amazon": 599, "walmart": 699, "target": 599}[shop]

    def _parcel(self, shop: str, at: int, said: dict[str, Any], chance: Any) -> dict[str, Any]:
        low, high = said.get("days", _DAYS[shop])
        promised = self.later(at, high, 21)
        if "arrives" in said:
            arrives = self.moment(f"{said['arrives']}T14:20")
            promised = max(promised, self.moment(f"{said['arrives']}T21:00"))
        else:
            arrives = self.later(
                at, said.get("took", chance.randint(low, high)), chance.randint(11, 18)
            )
        if said.get("late"):
            arrives = promised + said["late"] * DAY - 5 * HOUR
        ships = min(at + chance.randint(8, 20) * HOUR, arrives - 9 * HOUR)
        if arrives - at > 8 * DAY:
            ships = arrives - 5 * DAY
        row: dict[str, Any] = {"promised_by": iso(promised), "ships_at": iso(max(ships, at + 300))}
        if said.get("lost"):
            return row | {"lost_at": iso(promised + 6 * DAY)}
        return row | {"out_at": iso(max(arrives - 5 * HOUR, at + 400)), "done_at": iso(arrives)}

    def _items(
        self, shop: str, key: str, at: int, lines: Sequence[Line], said: dict[str, Any], state: str
    ) -> list[dict[str, Any]]:
        food = [self.products.items[k]["food"] for k, _, _ in lines]
        prices = [self.products.price_at(shop, k, at) for k, _, _ in lines]
        off = (
            split(cents(said["off"]), [p * n for p, (_, _, n) in zip(prices, lines, strict=True)])
            if "off" in said
            else [0] * len(lines)
        )
        if "rate" in said or said.get("pay") == "red_card":
            off = [
                percent(p * n, said.get("rate", 5))
                for p, (_, _, n) in zip(prices, lines, strict=True)
            ]
        taxes = tax_shares(
            state,
            [(p * n - o, f) for p, (_, _, n), o, f in zip(prices, lines, off, food, strict=True)],
        )
        if "total" in said:
            prices, taxes = self._fit(lines, prices, food, said, state)
        found = []
        for number, (product, chosen, quantity) in enumerate(lines):
            item = self.products.find(shop, product, chosen) | {
                "id": self.builder.id(PREFIX[shop] + "i", f"{key}-{number}")
            }
            item |= {
                "order_id": self.builder.id(PREFIX[shop] + "o", key),
                "quantity": quantity,
                "unit_price": prices[number],
            }
            item |= {"discount": off[number], "tax": taxes[number]}
            if shop == "amazon":
                item |= {"gift_wrap": False, "gift_message": None}
            elif shop == "walmart":
                item |= {
                    "substitution": "allow_substitution",
                    "outcome": None,
                    "substitute_id": None,
                    "settled_at": None,
                }
            else:
                item |= {
                    "circle": 0,
                    "promo": 0 if "code" not in said else off[number],
                    "offer_id": None,
                    "registry_id": None,
                }
            found.append(item)
        return found

    def _fit(
        self,
        lines: Sequence[Line],
        prices: list[int],
        food: list[bool],
        said: dict[str, Any],
        state: str,
    ) -> tuple[list[int], list[int]]:
        """Return prices and taxes with which the order comes to its total, and the item that went back to its refund."""
        apart = said.get("back", {}).get("line")
        groups = [[n for n in range(len(lines)) if n != apart]] + (
            [[apart]] if apart is not None else []
        )
        sums = [cents(said["total"]) - (cents(said["back"]["refund"]) if apart is not None else 0)]
        sums += [cents(said["back"]["refund"])] if apart is not None else []
        found = list(prices)
        taxes = [0] * len(lines)
        for group, gross in zip(groups, sums, strict=True):
            if not group:
                continue
            weights = [prices[n] * lines[n][2] for n in group]
            for net in range(gross, 0, -1):
                shares = split(net, weights)
                owed = tax_shares(state, [(s, food[n]) for s, n in zip(shares, group, strict=True)])
                if (
                    all(s % lines[n][2] == 0 for s, n in zip(shares, group, strict=True))
                    and net + sum(owed) <= gross
                ):
                    owed[0] += gross - net - sum(owed)
                    break
            for place, n in enumerate(group):
                found[n], taxes[n] = shares[place] // lines[n][2], owed[place]
        return found, taxes

    # -- what came after --------------------------------------------------------------------------------------
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
        """Write money that moved, or will, for an order."""
        self._charges += 1
        entry = {
            "order_id": row["id"],
            "method_id": row["method_id"],
            "amount": amount,
            "at": iso(at),
            "what": what,
            "ref": ref,
        }
        self.builder.add(
            made,
            f"{shop}_charges",
            id=self.builder.id(PREFIX[shop] + "c", f"seed-{self._charges}"),
            **entry,
        )

    def points(self, made: int, at: str, what: str, points: int, order_id: str | None) -> None:
        """Write an entry of the Circle ledger."""
        self._charges += 1
        row = {"at": at, "what": what, "points": points, "order_id": order_id}
        self.builder.add(
            made, "target_points", id=self.builder.id("tgq", f"seed-{self._charges}"), **row
        )

    def _aftermath(
        self,
        shop: str,
        key: str,
        row: dict[str, Any],
        items: list[dict[str, Any]],
        at: int,
        said: dict[str, Any],
    ) -> None:
        if "refund" in said:
            amount, why = said["refund"]
            when = min(
                parse_time(row["done_at"] or row["promised_by"]) + DAY, self.builder.start - HOUR
            )
            self.charge(shop, row, when, when, -cents(amount), why, items[0]["id"])
        if "back" not in said:
            return
        back = said["back"]
        done = parse_time(row["done_at"])
        asked = (
            self.moment(back["at"])
            if "at" in back
            else min(done + DAY, self.builder.start - 30 * HOUR)
        )
        asked = max(asked, done + HOUR)
        method = back.get("method", "mail")
        travel, handling = rules.TRAVEL[method]
        received = asked + travel
        refunded = asked + travel + handling
        if back.get("done"):
            refunded = min(refunded, self.builder.start - HOUR)
            received = min(received, refunded - HOUR)
        item = items[back["line"]]
        return_id = self.builder.id(PREFIX[shop] + "x", key)
        made = {
            "order_id": row["id"],
            "item_id": item["id"],
            "reason": back.get("why", "Not what I wanted"),
            "method": method,
        }
        made |= {
            "requested_at": iso(asked),
            "received_at": iso(received),
            "refunded_at": iso(refunded),
        }
        self.builder.add(asked, f"{shop}_returns", id=return_id, **made)
        worth = item["unit_price"] * item["quantity"] - item["discount"] + item["tax"]
        self.charge(shop, row, asked, refunded, -worth, "return", return_id)
        if shop == "target":
            lost = (item["unit_price"] * item["quantity"] - item["discount"]) // 100
            self.points(asked, iso(refunded), "Return", -lost, row["id"])

    def match(self, said: dict[str, Any]) -> None:
        """Write a request to match a competitor's price, decided long ago."""
        row, items = self.known["walmart", said["order"]]
        item = items[0]
        at = parse_time(row["placed_at"]) + said["after"] * DAY
        back = cents(said["back"]) if "back" in said else 0
        made = {
            "order_id": row["id"],
            "item_id": item["id"],
            "competitor": said["who"],
            "claimed": item["unit_price"] - cents(said["less"]),
        }
        made |= {
            "found": item["unit_price"] - back if back else item["unit_price"],
            "verdict": "approved" if back else "denied",
        }
        made |= {
            "why": said["why"],
            "refund": back,
            "requested_at": iso(at),
            "decided_at": iso(at + 2 * HOUR),
        }
        self.builder.add(at, "walmart_matches", id=self.builder.id("wmk", said["order"]), **made)
        if back:
            self.charge("walmart", row, at, at + 2 * HOUR, -back, "price match", item["id"])

    # -- many orders ------------------------------------------------------------------------------------------
    def singles(self, found: list[dict[str, Any]]) -> None:
        """Write the orders that seeds describe one by one."""
        for said in found:
            lines = [
                (str(k), str(v) if v is not None else None, n)
                for k, v, n in ((*_three(i),) for i in said["items"])
            ]
            more = {k: v for k, v in said.items() if k not in ("shop", "key", "at", "items")}
            self.order(said["shop"], said["key"], self.moment(said["at"]), lines, more)

    def routines(self, found: list[dict[str, Any]], since: int) -> None:
        """Write orders that came back every so many days until the start of the world."""
        for said in found:
            chance = self.builder.chance("routine", said["key"])
            number = 0
            at = self.later(
                since, said.get("first", chance.randint(3, said["every"])), said.get("hour", 19)
            )
            more = {
                k: v
                for k, v in said.items()
                if k not in ("shop", "key", "items", "every", "first", "hour", "skip")
            }
            while at < self.builder.start - 6 * HOUR:
                number += 1
                if chance.random() >= said.get("skip", 0.1):
                    lines = [
                        (str(k), str(v) if v is not None else None, n)
                        for k, v, n in ((*_three(i),) for i in said["items"])
                    ]
                    self.order(said["shop"], f"{said['key']}-{number}", at, lines, more)
                at = self.later(
                    at, said["every"] + chance.randint(-2, 2), chance.randint(8, 21)
                ) + chance.randint(0, 3000)

    def strays(self, counts: dict[str, int], likes: list[str], since: int) -> None:
        """Write orders of one to three things that the person likes, on any day."""
        span = self.builder.start - 3 * DAY - since
        for shop, count in counts.items():
            known = [
                k
                for k in likes
                if k in self.products.sold[shop] and (shop != "amazon" or k in self.products.offers)
            ]
            for number in range(count):
                chance = self.builder.chance("stray", shop, number)
                at = since + int(span * (number + chance.random()) / count)
                picked = chance.sample(known, min(chance.choice([1, 1, 2, 3]), len(known)))
                lines: list[Line] = [(k, None, chance.choice([1, 1, 1, 2])) for k in picked]
                self.order(shop, f"stray-{shop}-{number}", at, lines, {})

    def life(self, given: dict[str, dict[str, Any]]) -> None:
        """Write what life.yaml says was bought; `given` adds to it by the happening's key."""
        for happening in self.builder.life:
            found = happening.get("buy") or []
            for buy in found if isinstance(found, list) else [found]:
                if buy["on"] in PREFIX:
                    self._bought(happening, buy, given.get(happening["key"], {}))

    def _bought(self, happening: dict[str, Any], buy: dict[str, Any], more: dict[str, Any]) -> None:
        lines: list[Line] = []
        for name in buy["items"]:
            key, chosen = _two(catalogue()["said"].get(name, "candles-6"))
            lines.append((key, chosen, 1))
        said: dict[str, Any] = {"total": buy["total"]} | more
        said |= {"arrives": str(buy["arrives"])} if "arrives" in buy else {}
        said |= {"cancel": str(buy["cancelled"]) + "T09:30"} if "cancelled" in buy else {}
        if "returned" in buy and "refunded" in buy:
            line = (
                buy["items"].index(buy["returned"])
                if buy["returned"] in buy["items"]
                else len(lines) - 1
            )
            said["back"] = {
                "line": line,
                "refund": buy["refunded"],
                "done": True,
                **more.get("returned", {}),
            }
        elif "refunded" in buy:
            said["refund"] = [buy["refunded"], "refund"]
        paid = happening.get("paid", {})
        if (
            isinstance(paid, dict)
            and paid.get("amount") == buy["total"]
            and paid["by"] in self.builder.person["cards"]
        ):
            said["pay"] = paid["by"]
        said.pop("returned", None)
        self.order(
            buy["on"],
            happening["key"],
            self.moment(buy.get("made") or buy.get("at") or happening["at"]),
            lines,
            said,
        )


def _two(said: Any) -> tuple[str, str | None]:
    return (said[0], str(said[1])) if isinstance(said, list) else (said, None)


def _three(said: Any) -> tuple[str, str | None, int]:
    """Return product, colour or size, quantity of `key`, `[key, 2]` or `[key, Black]` or `[key, Black, 2]`."""
    if not isinstance(said, list):
        return said, None, 1
    if len(said) == 3:
        return said[0], str(said[1]), said[2]
    return (said[0], None, said[1]) if isinstance(said[1], int) else (said[0], str(said[1]), 1)
