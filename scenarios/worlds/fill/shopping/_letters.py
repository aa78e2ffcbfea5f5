"""What the shops have mailed: read off the rows that generators wrote, from the same templates.

Whatever is still to come (a parcel on its way, a reminder) waits in the outbox.
"""

from __future__ import annotations

from typing import Any

from scenarios.worlds.build import Builder
from servers.kit import posts
from servers.kit.values import iso, parse_time
from servers.shopping import _mail as mail
from servers.shopping import _orders as life
from servers.shopping._rules import DAY
from servers.shopping.amazon import subscriptions
from servers.shopping.instacart import _mail as grocery
from servers.shopping.instacart import _orders as groceries
from servers.shopping.walmart import price_match, reorders

KEPT = 45 * DAY
"""How old a notice can be that later ones have overtaken, before the person throws it away."""
OVERTAKEN = {
    "shipped",
    "out_for_delivery",
    "ready",
    "pickup_reminder",
    "delayed",
    "return_started",
    "price_match_requested",
    "shopping_started",
    "on_its_way",
    "issue_received",
}
Rows = dict[str, dict[Any, dict[str, Any]]]
ELSEWHERE = (life.UNCLAIMED, "order canceled", "return", "price match")
"""What refunds are for that other letters tell."""


class Letters:
    """Posts what one provider has mailed to the account's owner."""

    def __init__(self, builder: Builder, provider: str) -> None:
        self.builder = builder
        self.provider = provider
        self.to = builder.person["emails"]["personal"]

    def tell(
        self, occasion: str, said: dict[str, Any], made: str, about: str, due: str | None = None
    ) -> None:
        """Post a letter that was made at a moment, and arrives then or when it is due (ISO)."""
        arrives = parse_time(due or made)
        if occasion in OVERTAKEN and self.builder.start - arrives > KEPT:
            return
        needed = posts.templates(self.provider).fields(occasion)
        data = {name: value for name, value in said.items() if name in needed}
        self.builder.posted(made, self.provider, occasion, self.to, data, about=about, due=arrives)


def mail_shop(builder: Builder, shop: str) -> None:
    """Post what Amazon, Walmart or Target has mailed until the start and will mail after it."""
    _Shop(builder, shop).mail()


class _Shop:
    def __init__(self, builder: Builder, shop: str) -> None:
        names = ["orders", "order_items", "methods", "addresses", "returns", "charges", "reviews"]
        names += ["products", "stores", "subscriptions", "reorders", "matches", "registries"]
        found = builder.rows(*(f"{shop}_{name}" for name in names))
        self.rows: Rows = {name: found[f"{shop}_{name}"] for name in names}
        self.letters = Letters(builder, shop)
        self.start = iso(builder.start)
        self.items: dict[str, list[dict[str, Any]]] = {}
        for item in self.rows["order_items"].values():
            self.items.setdefault(item["order_id"], []).append(item)

    def mail(self) -> None:
        for row in self.rows["orders"].values():
            self._order(row)
        for row in self.rows["charges"].values():
            if row["amount"] < 0:
                self._refund(row)
        for row in self.rows["returns"].values():
            self._return(row)
        for row in self.rows["reviews"].values():
            if row["mine"]:
                said = mail.of_review(row, self.rows["products"][row["subject"]])
                self.letters.tell("review_published", said, row["at"], row["id"])
        for row in self.rows["subscriptions"].values():
            self._plan(row, "subscription", subscriptions.how_often(row))
        for row in self.rows["reorders"].values():
            self._plan(row, "reorder", reorders.how_often({"canceled_at": None, **row}))
        for row in self.rows["matches"].values():
            self._match(row)
        for row in self.rows["registries"].values():
            if row.get("owner") is None:
                said = {"co_registrant": None, "event_date": None, **row, "registry": row["id"]}
                self.letters.tell("registry_created", said, row["created_at"], row["id"])

    def _said(self, row: dict[str, Any]) -> dict[str, Any]:
        return mail.of_order(
            row,
            self.items[row["id"]],
            method=self.rows["methods"][row["method_id"]],
            address=self.rows["addresses"].get(row["address_id"]),
            store=self.rows["stores"].get(row["store_id"]),
        ) | {"plan": row["plan_id"]}

    def _order(self, row: dict[str, Any]) -> None:
        said = self._said(row)
        placed = row["placed_at"]
        self.letters.tell("order_placed", said, placed, row["id"])
        canceled = row["canceled_at"]
        for occasion, at in mail.ahead(row):
            if canceled is None or at < canceled:
                if occasion == "unclaimed":
                    said |= {"refund": self._unclaimed(row["id"])}
                self.letters.tell(occasion, said, placed, row["id"], at)
        if canceled is not None:
            said |= {"refund": said["total"], "reason": row["cancel_reason"]}
            self.letters.tell("order_canceled", said, canceled, row["id"])

    def _unclaimed(self, order_id: str) -> int:
        """Return the cents that come back if nobody collects an order."""
        of_order = [c for c in self.rows["charges"].values() if c["order_id"] == order_id]
        return -sum(c["amount"] for c in of_order if c["what"] == life.UNCLAIMED)

    def _refund(self, charge: dict[str, Any]) -> None:
        if charge["what"] in ELSEWHERE:
            return
        row = self.rows["orders"][charge["order_id"]]
        said = self._said(row) | {"refund": -charge["amount"], "reason": charge["what"]}
        lost = row["lost_at"] is not None
        occasion = "lost_refunded" if lost else "refunded"
        made = min(charge["at"], self.start)
        self.letters.tell(occasion, said, made, charge["id"], charge["at"])

    def _return(self, row: dict[str, Any]) -> None:
        order = self.rows["orders"][row["order_id"]]
        item = self.rows["order_items"][row["item_id"]]
        refunds = [c["amount"] for c in self.rows["charges"].values() if c["ref"] == row["id"]]
        method = self.rows["methods"][order["method_id"]]
        said = mail.of_return(row, item, -sum(refunds), method)
        self.letters.tell("return_started", said, row["requested_at"], row["id"])
        due = row["refunded_at"]
        self.letters.tell("return_refunded", said, row["requested_at"], row["id"], due)

    def _plan(self, row: dict[str, Any], kind: str, often: dict[str, Any]) -> None:
        product = self.rows["products"][row["product_id"]]
        method = self.rows["methods"][row["method_id"]]
        address = self.rows["addresses"][row["address_id"]]
        first = iso(parse_time(row["created_at"]) + DAY)
        said = mail.of_plan(row, product, method=method, address=address) | often
        began = said | {"next_at": first}
        self.letters.tell(f"{kind}_started", began, row["created_at"], row["id"])
        if row["canceled_at"] is not None:
            self.letters.tell(f"{kind}_canceled", said, row["canceled_at"], row["id"])
        elif row["next_at"] is not None:
            due = iso(parse_time(row["next_at"]) - mail.REMINDS)
            made = min(due, self.start)
            self.letters.tell("order_soon", said, made, row["id"], due)

    def _match(self, row: dict[str, Any]) -> None:
        order = self.rows["orders"][row["order_id"]]
        item = self.rows["order_items"][row["item_id"]]
        said = self._said(order) | price_match.of_match(row, item)
        made = row["requested_at"]
        self.letters.tell("price_match_requested", said, made, row["id"])
        self.letters.tell(f"price_match_{row['verdict']}", said, made, row["id"], row["decided_at"])


# -- groceries -------------------------------------------------------------------------------------
def mail_groceries(builder: Builder) -> None:
    """Post what Instacart has mailed until the start and will mail after it."""
    names = ["orders", "order_items", "products", "stores", "addresses", "cards", "issues"]
    found = builder.rows(*(f"instacart_{name}" for name in names))
    rows: Rows = {name: found[f"instacart_{name}"] for name in names}
    called = {key: row["name"] for key, row in rows["products"].items()}
    items: dict[str, list[dict[str, Any]]] = {}
    open_item = {"outcome": None, "got_id": None, "got_price": None}
    for item in rows["order_items"].values():
        items.setdefault(item["order_id"], []).append(open_item | item)
    letters = Letters(builder, "instacart")
    for row in rows["orders"].values():
        about = {
            "store": rows["stores"][row["store_id"]],
            "address": rows["addresses"][row["address_id"]],
            "card": rows["cards"][row["card_id"]],
        }
        listed = [item | open_item for item in items[row["id"]]]
        ordered = grocery.of_order(row, listed, called, **about)
        _groceries(letters, row, ordered, grocery.of_order(row, items[row["id"]], called, **about))
    for issue in rows["issues"].values():
        row = rows["orders"][issue["order_id"]]
        listed = items[row["id"]]
        refund = groceries.refund(issue, row, listed)
        said = {
            "order": row["id"],
            "store": rows["stores"][row["store_id"]]["name"],
            "paid_with": grocery.card_of(rows["cards"][row["card_id"]]),
        }
        said = grocery.of_issue(issue, called, refund, said)
        made = issue["created_at"]
        letters.tell("issue_received", said, made, issue["id"])
        occasion, due = grocery.decided(issue, refund)
        letters.tell(occasion, said, made, issue["id"], due)


def _groceries(
    letters: Letters, row: dict[str, Any], ordered: dict[str, Any], got: dict[str, Any]
) -> None:
    """Post about one order: as it was ordered, and as it was when the shopper was done."""
    made = row["created_at"]
    letters.tell("order_placed", ordered, made, row["id"])
    canceled = row.get("cancelled_at")
    if canceled is None or row["shop_at"] < canceled:
        letters.tell("shopping_started", ordered, made, row["id"], row["shop_at"])
    if canceled is not None:
        said = ordered | {"reason": row["cancel_reason"], "fee": row["cancel_fee"] or None}
        letters.tell("order_canceled", said, canceled, row["id"])
    elif row["shopped"]:
        letters.tell("on_its_way", got, row["leaves_at"], row["id"])
        letters.tell("delivered", got, row["leaves_at"], row["id"], row["arrives_at"])
