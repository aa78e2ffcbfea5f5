"""Price match: competitors' prices, and refunds of the difference after an order."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page, parse_time
from servers.shopping import _catalogue as catalogue
from servers.shopping import _mail as mail
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
        description="Name of the competitor, as shown by check_price_match.",
    ),
]
RequestId = Annotated[str, Field(max_length=64, description="request_id, from list_price_matches.")]
WINDOW = 7 * DAY
"""Seconds after an order in which a match can be requested."""
DECIDES = 2 * HOUR
"""Seconds from a request to its decision."""
ORDER = seeded("wmo", "match-me")
ITEM = seeded("wmp", "airfryer-8")


class Decision(NamedTuple):
    """How a request is decided."""

    verdict: str
    """approved or denied."""
    why: str
    price: int | None
    """The competitor's price in cents, where it sells the product itself."""


class PriceMatch(Service):
    """Competitors' prices, and requests to match them."""

    @reads(example={"product_id": ITEM})
    def check_price_match(self, product_id: ProductId) -> Json:
        """Return competitors' current prices for the identical product (same upc), in cents.

        The best_competitor is the cheapest one that has it in stock.
        """
        row = catalogue.find_product(self, SHOP, product_id)
        competitors = self._competitors(row)
        usable = [c for c in competitors if c["in_stock"]]
        best = min(usable, key=lambda c: c["price"], default=None)
        return {
            "product_id": product_id,
            "upc": row["item_id"],
            "walmart_price": catalogue.listing_price(row, self.now),
            "competitors": competitors,
            "best_competitor": best,
        }

    def _competitors(self, row: Row) -> list[dict[str, Any]]:
        """Return the competitors' own offers, as JSON, of the same product in the same options."""
        competitors = []
        offers = self.db.rows(
            "amazon_offers",
            "condition='new' AND product_id IN (SELECT id FROM amazon_products WHERE item_id=?)"
            " AND seller_id IN (SELECT id FROM amazon_sellers WHERE own=1)",
            row["item_id"],
            order="id",
        )
        for offer in offers:
            price = catalogue.offer_price(offer, self.now)
            competitors.append(self._competitor_json("Amazon", offer, price))
        listings = self.db.rows(
            "target_products", "item_id=?", row["item_id"], order="id<>family, id"
        )
        for listing in listings:
            if listing["options"] == row["options"] and not catalogue.discontinued(self, listing):
                price = catalogue.listing_price(listing, self.now)
                competitors.append(self._competitor_json("Target", listing, price))
        return competitors

    def _competitor_json(self, name: str, stocked: Row, price: int) -> Json:
        return {
            "competitor_name": name,
            "price": price,
            "in_stock": catalogue.in_warehouse(self, stocked, 0) > 0,
        }

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
    ) -> Json:
        """Request the difference to a competitor's lower price, within 7 days of an order.

        You can ask once for each item; the decision follows within two hours. Walmart looks up the
        price itself: the competitor must have the identical product in stock for no more than you
        claim.
        """
        row = life.find_order(self, SHOP, order_id)
        item = find_item(self, row, product_id)
        self._require_matchable(row, item, competitor_price)
        product = catalogue.find_product(self, SHOP, product_id)
        decision = self._decide(product, item, competitor_name, competitor_price)
        refund = 0
        if decision.verdict == "approved" and decision.price is not None:
            refund = _difference(item, decision.price)
        decided_at = iso(self.now + DECIDES)
        request = {
            "id": self.new_id("wmk"),
            "order_id": order_id,
            "item_id": item["id"],
            "competitor": competitor_name,
            "found": decision.price,
            "claimed": competitor_price,
            "verdict": decision.verdict,
            "why": decision.why,
            "refund": refund,
            "requested_at": self.time,
            "decided_at": decided_at,
        }
        if refund:
            life.charge(self, SHOP, row, -refund, "price match", at=decided_at, ref=item["id"])
            life.lower_unclaimed_refund(self, SHOP, order_id, refund)
        made = self.db.insert("walmart_matches", request)
        said = match_fields(self, made, row, item)
        mail.tell(self, SHOP, "price_match_requested", said, about=made["id"])
        decided = f"price_match_{decision.verdict}"
        mail.tell(self, SHOP, decided, said, about=made["id"], at=decided_at)
        return self._match_json(made)

    def _require_matchable(self, row: Row, item: Row, competitor_price: int) -> None:
        """Refuse an item that cannot be matched, or not at this price."""
        state = life.status(row, self.time)
        too_late = self.now > parse_time(row["placed_at"]) + WINDOW
        if too_late or state in ("canceled", "expired", "lost"):
            placed_on = row["placed_at"][:10]
            message = f"Order {row['id']} is {state}."
            if too_late:
                message = f"Order {row['id']} was placed on {placed_on}, more than 7 days ago."
            self.fail(
                "PRICE_MATCH_WINDOW_CLOSED",
                message,
                "Only orders of the last 7 days that are not canceled or lost qualify.",
                order_id=row["id"],
                status=state,
            )
        earlier = self.db.rows("walmart_matches", "item_id=?", item["id"])
        if earlier:
            message = "You have already requested a price match for this item."
            self.fail(
                "PRICE_MATCH_EXISTS",
                message,
                "Check the request with get_price_match_status.",
                request_id=earlier[0]["id"],
            )
        paid = _net_price(item) // item["quantity"]
        if competitor_price >= paid:
            message = f"You paid {paid} cents per unit; {competitor_price} cents is not lower."
            self.fail("PRICE_NOT_LOWER", message, "There is nothing to match.", paid=paid)
        if item["settled_at"] is not None and item["settled_at"] <= self.time:
            message = f"{item['title']} was out of stock, so it was {item['outcome']}."
            self.fail(
                "PRICE_MATCH_NOT_ALLOWED",
                message,
                "Only items that you received can be matched.",
                outcome=item["outcome"],
            )
        opened = self.db.rows("walmart_returns", "item_id=?", item["id"])
        if opened:
            returned_on = opened[0]["requested_at"][:10]
            message = f"You opened a return of {item['title']} on {returned_on}."
            hint = "It is refunded in full; see get_return_request."
            self.fail("ALREADY_RETURNED", message, hint, return_id=opened[0]["id"])

    def _decide(self, product: Row, item: Row, name: str, claimed: int) -> Decision:
        """Decide on a request by what the named competitor asks now."""
        if item["outcome"] is not None:
            why = f"The store could not keep {item['title']} for this order."
            return Decision("denied", why, None)
        offers = []
        for offer in self._competitors(product):
            # A name such as "Target Hollywood" means Target.
            if name.casefold().startswith(offer["competitor_name"].casefold()):
                offers.append(offer)
        if not offers:
            why = f"{name} is no competitor that sells the identical product itself."
            return Decision("denied", why, None)
        best = min(offers, key=lambda offer: (not offer["in_stock"], offer["price"]))
        competitor = best["competitor_name"]
        price = best["price"]
        if not best["in_stock"]:
            return Decision("denied", f"{competitor} has it out of stock.", price)
        if price > claimed:
            why = f"{competitor} asks {price} cents, more than was claimed."
            return Decision("denied", why, price)
        return Decision("approved", f"{competitor} asks {price} cents.", price)

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
    def get_price_match_status(self, request_id: RequestId) -> Json:
        """Return a request: pending, approved or denied.

        Once it is decided, it shows the reason and the refund in cents.
        """
        row = self.db.get("walmart_matches", request_id)
        if row is None:
            message = f"There is no price match request with the ID {request_id!r}."
            self.fail(
                "REQUEST_NOT_FOUND",
                message,
                "Use a request_id from list_price_matches.",
                request_id=request_id,
            )
        return self._match_json(row)

    @reads()
    def list_price_matches(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return all price match requests, newest first."""
        rows = self.db.rows("walmart_matches", order="requested_at DESC, rowid DESC")
        return page(rows, "requests", limit, cursor, self._match_json)

    def _match_json(self, row: Row) -> Json:
        item = self.db.get("walmart_order_items", row["item_id"]) or {}
        order = self.db.get("walmart_orders", row["order_id"]) or {}
        verdict = row["verdict"]
        why = row["why"]
        if order["canceled_at"] is not None and order["canceled_at"] < row["decided_at"]:
            verdict = "denied"
            why = "The order was canceled."
        decided = row["decided_at"] <= self.time
        refund = row["refund"] if verdict == "approved" else 0
        return {
            "request_id": row["id"],
            "order_id": row["order_id"],
            "product_id": item["product_id"],
            "competitor_name": row["competitor"],
            "competitor_price": row["claimed"],
            "status": verdict if decided else "pending",
            "reason": why if decided else None,
            "refund_amount": refund if decided else None,
            "requested_at": row["requested_at"],
            "decided_at": row["decided_at"] if decided else None,
        }


def match_fields(svc: Service, request: Row, row: Row, item: Row) -> Json:
    """Return the fields of what is mailed about a price match of an order's item."""
    return mail.order_fields(svc, SHOP, row) | of_match(request, item)


def of_match(request: Row, item: Row) -> Json:
    """Return the fields of a price match, without those of the order."""
    return {
        "item": item["title"],
        "competitor": request["competitor"],
        "claimed": request["claimed"],
        "why": request["why"],
        "refund": request["refund"] or None,
        "request": request["id"],
    }


def _net_price(item: Row) -> int:
    """Return the cents paid for an item, without tax."""
    return item["unit_price"] * item["quantity"] - item["discount"]


def _difference(item: Row, price: int) -> int:
    """Return the refund of an item for a competitor's unit price, tax included."""
    net = _net_price(item)
    less = max(net - price * item["quantity"], 0)
    return less + item["tax"] * less // net
