"""Price match: what competitors ask for the same product, and the difference back after an order."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.values import Cursor, Limit, iso, page, parse_time
from servers.shopping import _catalogue as catalogue
from servers.shopping import _orders as life
from servers.shopping._rules import DAY, HOUR, OrderId, ProductId
from servers.shopping.walmart._model import SHOP
from servers.shopping.walmart.orders import find_item

ClaimedPrice = Annotated[
    int, Field(ge=1, le=10_000_000, description="The competitor's price for one unit, in cents.")
]
Competitor = Annotated[
    str,
    Field(
        min_length=2,
        max_length=60,
        description="Name of the competitor as check_price_match shows it.",
    ),
]
RequestId = Annotated[str, Field(max_length=64, description="request_id, from list_price_matches.")]
WINDOW = 7 * DAY
DECIDES = 2 * HOUR
"""Seconds after an order in which a match can be asked for, and until it is decided."""
ORDER = seeded("wmo", "match-me")
ITEM = seeded("wmp", "airfryer-8")


class PriceMatch(Service):
    """Competitors' prices and requests to match them."""

    @reads(example={"product_id": ITEM})
    def check_price_match(self, product_id: ProductId) -> dict[str, Any]:
        """Return what competitors ask now for the identical product (same upc), in cents, and the lowest one that has it in stock."""
        row = catalogue.find_product(self, SHOP, product_id)
        found = self._competitors(row)
        usable = [c for c in found if c["in_stock"]]
        best = min(usable, key=lambda c: c["price"], default=None)
        return {
            "product_id": product_id,
            "upc": row["item_id"],
            "walmart_price": catalogue.listing_price(row, self.now),
            "competitors": found,
            "best_competitor": best,
        }

    def _competitors(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the offers of the competitors themselves, in the same colour or size where that is told apart."""
        found = []
        offers = self.db.rows(
            "amazon_offers",
            "condition='new' AND product_id IN (SELECT id FROM amazon_products WHERE item_id=?)"
            " AND seller_id IN (SELECT id FROM amazon_sellers WHERE own=1)",
            row["item_id"],
            order="id",
        )
        for offer in offers:
            price = catalogue.offer_price(offer, self.now)
            found.append(
                {
                    "competitor_name": "Amazon",
                    "price": price,
                    "in_stock": catalogue.in_warehouse(self, offer, 0) > 0,
                }
            )
        for other in self.db.rows(
            "target_products", "item_id=?", row["item_id"], order="id<>family, id"
        ):
            if other["options"] == row["options"] and not catalogue.discontinued(self, other):
                price = catalogue.listing_price(other, self.now)
                found.append(
                    {
                        "competitor_name": "Target",
                        "price": price,
                        "in_stock": catalogue.in_warehouse(self, other, 0) > 0,
                    }
                )
        return found

    @writes(
        example={
            "order_id": ORDER,
            "product_id": ITEM,
            "competitor_price": 8000,
            "competitor_name": "Target",
        }
    )
    def request_price_match(
        self,
        order_id: OrderId,
        product_id: ProductId,
        competitor_price: ClaimedPrice,
        competitor_name: Competitor,
    ) -> dict[str, Any]:
        """Ask, within 7 days of an order, for the difference to a competitor's lower price; once for each item. Decided within two hours.

        Walmart looks the price up itself: it must be no higher than claimed, for the identical product, in stock at that competitor.
        """
        row = life.find_order(self, SHOP, order_id)
        item = find_item(self, row, product_id)
        state = life.status(row, self.time)
        if (
            state in ("canceled", "expired", "lost")
            or self.now > parse_time(row["placed_at"]) + WINDOW
        ):
            message = (
                f"Order {order_id} of {row['placed_at'][:10]} is {state} or older than 7 days."
            )
            self.fail(
                "PRICE_MATCH_WINDOW_CLOSED",
                message,
                "Only recent orders that stand are matched.",
                order_id=order_id,
                status=state,
            )
        earlier = self.db.rows("walmart_matches", "item_id=?", item["id"])
        if earlier:
            message = "A price match was asked for this item before."
            self.fail(
                "PRICE_MATCH_EXISTS",
                message,
                "See get_price_match_status.",
                request_id=earlier[0]["id"],
            )
        paid = (item["unit_price"] * item["quantity"] - item["discount"]) // item["quantity"]
        if competitor_price >= paid:
            message = f"You paid {paid} cents; {competitor_price} is not lower."
            self.fail("PRICE_NOT_LOWER", message, "There is nothing to match.", paid=paid)
        if item["settled_at"] is not None and item["settled_at"] <= self.time:
            message = f"{item['title']} was {item['outcome']} when the order was put together."
            self.fail(
                "PRICE_MATCH_NOT_ALLOWED",
                message,
                "Only what you received is matched.",
                outcome=item["outcome"],
            )
        returned = self.db.rows("walmart_returns", "item_id=?", item["id"])
        if returned:
            message = (
                f"A return of {item['title']} was opened on {returned[0]['requested_at'][:10]}."
            )
            hint = "It is refunded whole; see get_return_request."
            self.fail("ALREADY_RETURNED", message, hint, return_id=returned[0]["id"])
        verdict, why, found = self._judge(
            catalogue.find_product(self, SHOP, product_id), competitor_name, competitor_price
        )
        if item["outcome"] is not None:
            verdict = "denied"
            why = f"The store could not keep {item['title']} for this order."
            found = None
        refund = 0
        if verdict == "approved" and found is not None:
            net = item["unit_price"] * item["quantity"] - item["discount"]
            less = max(net - found * item["quantity"], 0)
            refund = less + item["tax"] * less // net
        decided = iso(self.now + DECIDES)
        made = {
            "id": self.new_id("wmk"),
            "order_id": order_id,
            "item_id": item["id"],
            "competitor": competitor_name,
            "found": found,
        }
        made |= {"claimed": competitor_price, "verdict": verdict, "why": why, "refund": refund}
        made |= {"requested_at": self.time, "decided_at": decided}
        if refund:
            life.charge(self, SHOP, row, -refund, "price match", at=decided, ref=item["id"])
            life.lower_hold(self, SHOP, order_id, refund)
        return self._match_json(self.db.insert("walmart_matches", made))

    def _judge(
        self, product: dict[str, Any], name: str, claimed: int
    ) -> tuple[str, str, int | None]:
        same = [
            c
            for c in self._competitors(product)
            if name.casefold().startswith(c["competitor_name"].casefold())
        ]
        if not same:
            return (
                "denied",
                f"{name} is no competitor that sells the identical product itself.",
                None,
            )
        best = min(same, key=lambda c: (not c["in_stock"], c["price"]))
        if not best["in_stock"]:
            return "denied", f"{best['competitor_name']} has it out of stock.", best["price"]
        if best["price"] > claimed:
            return (
                "denied",
                f"{best['competitor_name']} asks {best['price']} cents, more than was claimed.",
                best["price"],
            )
        return "approved", f"{best['competitor_name']} asks {best['price']} cents.", best["price"]

    @reads(
        example={"request_id": "${made.request_id}"},
        setup=(
            Setup(
                "request_price_match",
                {
                    "order_id": ORDER,
                    "product_id": ITEM,
                    "competitor_price": 8000,
                    "competitor_name": "Target",
                },
                "made",
            ),
        ),
    )
    def get_price_match_status(self, request_id: RequestId) -> dict[str, Any]:
        """Return one request: pending, approved or denied, with the reason and the refund in cents once it is decided."""
        row = self.db.get("walmart_matches", request_id)
        if row is None:
            message = f"There is no price match request {request_id!r}."
            self.fail(
                "REQUEST_NOT_FOUND",
                message,
                "Take a request_id from list_price_matches.",
                request_id=request_id,
            )
        return self._match_json(row)

    @reads()
    def list_price_matches(self, limit: Limit = 20, cursor: Cursor | None = None) -> dict[str, Any]:
        """Return all price match requests, newest first."""
        return page(
            self.db.rows("walmart_matches", order="requested_at DESC, rowid DESC"),
            "requests",
            limit,
            cursor,
            self._match_json,
        )

    def _match_json(self, row: dict[str, Any]) -> dict[str, Any]:
        item = self.db.get("walmart_order_items", row["item_id"]) or {}
        order = self.db.get("walmart_orders", row["order_id"]) or {}
        verdict = row["verdict"]
        why = row["why"]
        if order["canceled_at"] is not None and order["canceled_at"] < row["decided_at"]:
            verdict = "denied"
            why = "The order was canceled."
        decided = row["decided_at"] <= self.time
        return {
            "request_id": row["id"],
            "order_id": row["order_id"],
            "product_id": item["product_id"],
            "competitor_name": row["competitor"],
            "competitor_price": row["claimed"],
            "status": verdict if decided else "pending",
            "reason": why if decided else None,
            "refund_amount": (row["refund"] if verdict == "approved" else 0) if decided else None,
            "requested_at": row["requested_at"],
            "decided_at": row["decided_at"] if decided else None,
        }
