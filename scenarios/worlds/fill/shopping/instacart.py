"""Instacart: what can be bought where, and orders from the person's life and habits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any, NamedTuple

from scenarios.worlds.build import Builder
from scenarios.worlds.fill.shopping._instacart_shelf import Shelf, tokens
from scenarios.worlds.fill.shopping._letters import mail_groceries
from servers.kit.control import make_id
from servers.kit.noise import share
from servers.kit.values import cents, iso, parse_time
from servers.shopping.instacart import _inventory as stock
from servers.shopping.instacart import _orders as orders

RECENT = 20 * orders.DAY
"""How long before the start of the world (seconds) outcomes are dated changes in the log."""


class Line(NamedTuple):
    """An order line: a product, its quantity, and what to do if it is out of stock."""

    product: dict[str, Any]
    quantity: int
    preference: str = "best_match"


class Refund(NamedTuple):
    """A refund after an order: the product, the cents paid for it, and the complaint."""

    product: dict[str, Any]
    paid: int
    complaint: str


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write everything, in order of dependence."""
    shelf = Shelf(builder, seeds)
    shelf.account()
    book = Book(shelf)
    for plan in book.plans():
        book.order(plan)
    shelf.carts()
    shelf.stock_up()
    mail_groceries(builder)


class Book:
    """Writes orders."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.builder = shelf.builder
        self.seeds = shelf.seeds

    def plans(self) -> Iterator[dict[str, Any]]:
        """Yield every order as `{key, store, at, window, lines}`.

        Orders from the person's life come first, then single ones, then habitual ones.
        """
        known: list[int] = []  # no habitual order is made around these moments
        for happening in self.builder.life:
            buy = happening.get("buy", {})
            if buy.get("on") == "instacart":
                at = self.shelf.moment(str(buy.get("made", buy.get("at", happening["at"]))))
                known.append(at)
                yield self._of_life(happening, buy, min(at, self.builder.start))
        for seed in self.seeds["orders"]:
            at = self.shelf.moment(seed["at"])
            window = self.shelf.moment(seed["window"]) if "window" in seed else at + 9000
            lines = [Line(self.shelf.products[product], *wish) for product, *wish in seed["lines"]]
            yield seed | {"at": at, "window": window, "lines": lines}
        for number, habit in enumerate(self.seeds["habits"]):
            yield from self._of_habit(number, habit, known)

    def _of_habit(
        self, number: int, habit: dict[str, Any], known: list[int]
    ) -> Iterator[dict[str, Any]]:
        store = self.shelf.stores[habit["store"]]
        end = self.builder.start - 3 * orders.DAY
        day = date.fromisoformat(self.seeds["since"]) + timedelta(days=habit.get("after", 0))
        while True:
            at = self.shelf.moment(f"{day}T{habit['at']}")
            if at >= end:
                return
            chance = self.builder.chance("shop", number, day)
            shops = chance.random() < habit.get("chance", 1)
            if shops and not any(abs(at - moment) < orders.DAY for moment in known):
                families = chance.sample(habit["basket"], chance.randrange(*habit["size"]))
                lines = []
                for family in families:
                    quantity = chance.choices((1, 2, 3), (80, 16, 4))[0]
                    lines.append(Line(self.shelf.usual(family, store), quantity))
                at += 60 * chance.randrange(-50, 50)
                yield {
                    "key": f"habit-{number}-{day}",
                    "store": habit["store"],
                    "at": at,
                    "window": at + 7200 + 3600 * chance.randrange(20),
                    "lines": lines,
                }
            day += timedelta(days=habit["every"])

    def _of_life(self, happening: dict[str, Any], buy: dict[str, Any], at: int) -> dict[str, Any]:
        key = (
            happening["place"]
            if happening.get("place") in self.shelf.stores
            else self.seeds["store"]
        )
        lines = []
        counted = []  # products whose quantity is given, so that it must not change
        for text in buy["items"]:
            quantity = 2 if re.search(r"two (?!dozen)", text) else 1
            product = self.shelf.meant(text, self.shelf.stores[key])
            lines.append(Line(product, quantity))
            if "two" in text:
                counted.append(product["id"])
        payer = happening.get("paid", {}).get("by")
        return {
            "key": happening["key"],
            "store": key,
            "at": at,
            "window": self._window(happening, buy, at),
            "lines": lines,
            "total": cents(buy["total"]),
            "card": payer if payer in self.seeds["cards"] else None,
            "refund": self._refund(buy, lines),
            "counted": counted,
        }

    def _window(self, happening: dict[str, Any], buy: dict[str, Any], at: int) -> int:
        """Return the moment at which an order from the person's life should arrive."""
        if "arrives" not in buy and happening["what"] != "delivery":
            return at + 7200
        day = str(buy.get("arrives", happening["at"]))[:10]
        clock = happening["at"][11:16] if happening["what"] == "delivery" else "17:00"
        return self.shelf.moment(f"{day}T{clock}")

    def _refund(self, buy: dict[str, Any], lines: list[Line]) -> Refund | None:
        """Return the refund, if any, for the product whose kind best matches what was returned."""
        if "refunded" not in buy:
            return None
        returned = tokens(buy["returned"])
        line = max(lines, key=lambda line: len(returned & tokens(line.product["family"])))
        return Refund(line.product, cents(buy["refunded"]), buy["returned"])

    # -- one order --------------------------------------------------------------------------------
    def order(self, plan: dict[str, Any]) -> None:
        """Write one order with its items, and its issues if there were any."""
        shelf = self.shelf
        store = shelf.stores[plan["store"]]
        order_id = shelf.id("o", plan["key"])
        at = plan["at"]
        begin, end = self._slot(store, at, plan["window"])
        lines = plan["lines"]
        exceptions = shelf.exceptions[plan["store"]]
        prices = {
            line.product["id"]: stock.price(store, line.product, at, exceptions) for line in lines
        }
        fee = stock.slot_fee(store, begin)
        tip = 200 + 100 * int(6 * share("tip", order_id))
        if "total" in plan:
            lines, fee, tip = self._to_total(plan, lines, prices, fee)
        else:
            lines = _enough(lines, prices, store["min_order"])
        subtotal = sum(prices[line.product["id"]] * line.quantity for line in lines)
        row: dict[str, Any] = {
            "id": order_id,
            "store_id": store["id"],
            "address_id": shelf.id("a", plan.get("address", "home")),
            "card_id": shelf.id("m", plan.get("card") or next(iter(self.seeds["cards"]))),
            "coupon": plan.get("coupon"),
            "discount": cents(plan.get("discount", 0)),
            "delivery_fee": fee,
            "service_fee": orders.service_fee(subtotal),
            "tip": plan.get("tip", tip),
            "window_id": make_id("icv", store["id"], begin),
            "window_start": iso(begin),
            "window_end": iso(end),
            "created_at": iso(at),
            "shopper_id": shelf.crew[int(share("shopper", order_id) * len(shelf.crew))]["id"],
            "cancel_fee": cents(plan.get("cancel_fee", 0)),
            **orders.timetable(order_id, at, begin),
        }
        if "late" in plan:
            row["arrives_at"] = iso(end + 60 * plan["late"])
        left_store = parse_time(row["leaves_at"]) <= self.builder.start
        shopped = left_store and "cancelled" not in plan
        # The outcome of a recent order is written as a change, so that the log has its date.
        later = shopped and self.builder.start - at < RECENT
        self.builder.add(at, "instacart_orders", shopped=shopped and not later, **row)
        if "cancelled" in plan:
            cancelled = shelf.moment(plan["cancelled"])
            self.builder.change(
                cancelled,
                "instacart_orders",
                order_id,
                cancelled_at=iso(cancelled),
                cancel_reason=plan["reason"],
            )
        for number, line in enumerate(lines):
            shelf.need(plan["store"], line.product)
            item = {
                "id": shelf.id("i", f"{plan['key']}-{number}"),
                "order_id": order_id,
                "product_id": line.product["id"],
                "quantity": line.quantity,
                "price": prices[line.product["id"]],
                "preference": line.preference,
                "notes": None,
                "replacement_id": None,
            }
            outcome: dict[str, Any] = {}
            if shopped:
                outcome = self._outcome(plan, line.product, item, parse_time(row["shop_at"]))
            if later:
                self.builder.add(at, "instacart_order_items", **item)
                self.builder.change(
                    row["leaves_at"], "instacart_order_items", item["id"], **outcome
                )
            else:
                self.builder.add(at, "instacart_order_items", **item, **outcome)
        if later:
            self.builder.change(row["leaves_at"], "instacart_orders", order_id, shopped=True)
        if shopped and parse_time(row["arrives_at"]) < self.builder.start:
            self._after(plan, row)

    def _slot(self, store: dict[str, Any], at: int, window: int) -> tuple[int, int]:
        """Return the slot closest to `window` of those open to an order placed at `at`."""
        slots = [slot for slot in stock.slots(store, at, 16) if slot[0] >= at + 3600]
        return min(slots, key=lambda slot: (abs(slot[0] - window), slot))

    def _to_total(
        self, plan: dict[str, Any], lines: list[Line], prices: dict[str, int], fee: int
    ) -> tuple[list[Line], int, int]:
        """Return lines, delivery fee and tip that make an order total exactly what was paid.

        Prices are changed in place; a refund sets the price of its product.
        """
        fixed = list(plan["counted"])
        if plan["refund"]:
            refunded = plan["refund"].product["id"]
            prices[refunded] = plan["refund"].paid
            fixed.append(refunded)
        counts = {line.product["id"]: line.quantity for line in lines}

        def rest() -> int:
            subtotal = sum(prices[key] * count for key, count in counts.items())
            return plan["total"] - subtotal - orders.service_fee(subtotal) - fee

        free = [key for key in counts if key not in fixed]
        grow = [key for key in free if prices[key] < 2000]
        turn = 0
        while rest() > plan["total"] * 0.15 and turn < 40:
            key = grow[turn % len(grow)]
            counts[key] += 1
            if rest() < 200:
                counts[key] -= 1
            turn += 1
        if rest() < 0:
            fee = 0
        while rest() < 0:
            dearest = max(grow, key=lambda key: prices[key])
            prices[dearest] -= max(10, prices[dearest] // 20)
        fitted = [Line(line.product, counts[line.product["id"]]) for line in lines]
        return fitted, fee, rest()

    def _outcome(
        self, plan: dict[str, Any], product: dict[str, Any], item: dict[str, Any], at: int
    ) -> dict[str, Any]:
        """Return the outcome of an item; orders from the person's life arrive as ordered."""
        store = self.shelf.stores[plan["store"]]
        exceptions = self.shelf.exceptions[plan["store"]]
        level = stock.level(store, product, at, exceptions)
        as_told = "counted" in plan
        if as_told or not orders.missed(item["order_id"], product["id"], level):
            return {"outcome": "found", "got_id": product["id"], "got_price": item["price"]}
        family = self.shelf.families[product["family"]]
        others = [r for r in family if r is not product]
        others = [r for r in others if stock.carries(store, r)]
        if item["preference"] != "best_match" or not others:
            return {"outcome": "refunded", "got_id": None, "got_price": 0}
        target = stock.price(store, product, at, exceptions)

        def distance(row: dict[str, Any]) -> tuple[int, str]:
            return abs(stock.price(store, row, at, exceptions) - target), row["id"]

        other = min(others, key=distance)
        paid = stock.price(store, other, at, exceptions)
        return {"outcome": "replaced", "got_id": other["id"], "got_price": paid}

    def _after(self, plan: dict[str, Any], row: dict[str, Any]) -> None:
        """Write what followed a delivery: a rating or issues."""
        chance = self.builder.chance("after", plan["key"])
        arrived = parse_time(row["arrives_at"])
        if "rating" in plan or ("plain" not in plan and chance.random() < 0.35):
            at = min(arrived + chance.randrange(1200, 40_000), self.builder.start)
            stars, words = plan.get("rating", [chance.choices((5, 4, 3), (75, 19, 6))[0], None])
            self.builder.change(
                at, "instacart_orders", row["id"], rating=stars, comment=words, rated_at=iso(at)
            )
        complaints: list[tuple[str, str]] = []
        if plan.get("refund"):
            complaints.append((plan["refund"].product["id"], plan["refund"].complaint))
        for product, words in plan.get("issues", {}).items():
            complaints.append((self.shelf.products[product]["id"], words))
        for number, (product_id, words) in enumerate(complaints):
            at = min(arrived + 2400 + 600 * number, self.builder.start)
            issue = {
                "id": self.shelf.id("r", f"{plan['key']}-{number}"),
                "order_id": row["id"],
                "issue_type": _issue_type(words),
                "description": words,
                "product_ids": [product_id],
                "created_at": iso(at),
            }
            self.builder.add(at, "instacart_issues", **issue)


def _enough(lines: list[Line], prices: dict[str, int], least: int) -> list[Line]:
    """Return lines with more of the cheapest product, as far as a store's minimum order asks."""
    short = least - sum(prices[line.product["id"]] * line.quantity for line in lines)
    if short <= 0:
        return lines
    cheapest = min(lines, key=lambda line: prices[line.product["id"]])
    more = -(-short // prices[cheapest.product["id"]])
    filled = cheapest._replace(quantity=cheapest.quantity + more)
    return [filled if line is cheapest else line for line in lines]


def _issue_type(words: str) -> str:
    if "missing" in words:
        return "missing_item"
    return "wrong_item" if "wrong" in words else "damaged_item"
