"""Target Circle: offers to clip, a ledger of points, and the birthday offer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.listing import Listing, Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.shopping import _mail as mail
from servers.shopping import _orders as life
from servers.shopping import _rules as rules
from servers.shopping._rules import OrderId
from servers.shopping.target import _model as model
from servers.shopping.target._model import SHOP, OfferId
from servers.shopping.target.orders import PLACED, POINTS_RETURNED, REDEEMED, keep_points

OfferState = Annotated[
    Literal["active", "upcoming", "expired", "used"],
    Field(description="Only offers that currently have this state."),
]
Points = Annotated[
    int,
    Field(
        ge=100,
        le=1_000_000,
        multiple_of=100,
        description="Points to redeem, a multiple of 100; 100 points are worth one dollar.",
    ),
]
REWARD = 500
"""Points from one reward to the next."""


def balance(svc: Service) -> int:
    """Return the points that can be spent now."""
    query = "SELECT coalesce(sum(points),0) FROM target_points WHERE at<=?"
    return svc.db.sql(query, svc.time)[0][0]


class Circle(Service):
    """The loyalty programme."""

    @reads()
    def get_circle_offers(
        self, state: OfferState | None = None, limit: Limit = 30, cursor: Cursor | None = None
    ) -> Json:
        """Return Circle offers, the first to expire first; each can be used in one order.

        Each shows the products it is for, its expiry, its state, and whether you have clipped it.
        """
        rows = self.db.rows("target_offers", order="expires, id")
        if state is not None:
            rows = [row for row in rows if self._state(row) == state]
        return page(rows, "offers", limit, cursor, self._offer_json)

    def _offer_json(self, row: Row) -> Json:
        marks = ",".join("?" * len(row["items"]))
        products = self.db.sql(
            f"SELECT id FROM target_products WHERE item_id IN ({marks}) ORDER BY id", *row["items"]
        )
        return {
            "offer_id": row["id"],
            "description": row["description"],
            "discount_type": row["kind"],
            "discount_value": row["worth"],
            "applicable_product_ids": [product_id for (product_id,) in products],
            "categories": row["categories"],
            "department": row["departments"][0] if row["departments"] else None,
            "minimum": row["minimum"],
            "starts": row["starts"],
            "expiry": row["expires"],
            "clipped": self._clipped(row["id"]),
            "state": self._state(row),
        }

    def _state(self, row: Row) -> str:
        if model.offer_used(self, row["id"]):
            return "used"
        if self.time >= row["expires"]:
            return "expired"
        return "upcoming" if self.time < row["starts"] else "active"

    def _clipped(self, offer_id: str) -> bool:
        return bool(self.db.rows("target_clips", "offer_id=?", offer_id))

    @writes(
        example={"offer_id": seeded("tgf", "circle-toys")},
        setup=(Setup("put_in_cart", {"product_id": seeded("tgp", "rc-car"), "quantity": 1}),),
    )
    def apply_circle_offer(self, offer_id: OfferId) -> Json:
        """Clip an offer for the next order and return its discount on the current cart, in cents.

        Only one offer applies to each line of the cart.
        """
        row = model.find_offer(self, offer_id)
        if row is None:
            message = f"There is no offer with the ID {offer_id!r}."
            self.fail(
                "OFFER_NOT_FOUND",
                message,
                "Use an offer_id from get_circle_offers.",
                offer_id=offer_id,
            )
        if rules.profile(self, SHOP)["circle_since"] is None:
            self.fail(
                "CIRCLE_MEMBERSHIP_REQUIRED",
                "This account is not a member of Target Circle.",
                "Use a code from get_promotions instead.",
            )
        if self.time >= row["expires"]:
            self.fail(
                "OFFER_EXPIRED",
                f"The offer expired on {row['expires'][:10]}.",
                "See get_circle_offers for active offers.",
                offer_id=offer_id,
            )
        if self.time < row["starts"]:
            message = f"The offer starts on {row['starts'][:10]}."
            self.fail(
                "OFFER_NOT_STARTED",
                message,
                "Apply it on or after that date.",
                offer_id=offer_id,
                valid_from=row["starts"],
            )
        if self._clipped(offer_id) or model.offer_used(self, offer_id):
            message = "The offer has already been clipped or used."
            self.fail(
                "ALREADY_APPLIED",
                message,
                "See view_cart for its discount.",
                offer_id=offer_id,
            )
        cart = model.lines(self)
        if sum(model.offer_shares(row, cart)) == 0:
            message = f"Nothing in the cart qualifies for this offer: {row['description']}."
            self.fail(
                "NOT_APPLICABLE",
                message,
                "Add a product that qualifies to the cart, then apply the offer.",
                offer_id=offer_id,
                minimum=row["minimum"],
                categories=row["categories"],
                departments=row["departments"],
            )
        clip = {"id": self.new_id("tgk"), "offer_id": offer_id, "clipped_at": self.time}
        self.db.insert("target_clips", clip)
        applied = model.circle(self, cart)
        discount = sum(cents for cents, applied_id in applied if applied_id == offer_id)
        return {
            "applied": True,
            "offer_id": offer_id,
            "discount_preview": discount,
            "reason": "OK" if discount else "A better offer is applied.",
        }

    @reads()
    def get_birthday_offer(self) -> Json:
        """Return the offer for your birthday month and whether it is available now.

        Its dates are in UTC. Use its offer_id in apply_circle_offer.
        """
        row = model.birthday_offer(self)
        used = model.offer_used(self, row["id"])
        member = rules.profile(self, SHOP)["circle_since"] is not None
        return {
            "offer_id": row["id"],
            "available": member and not used and row["starts"] <= self.time < row["expires"],
            "discount_type": "percent",
            "discount_value": row["worth"],
            "valid_from": row["starts"],
            "valid_until": row["expires"],
            "clipped": self._clipped(row["id"]),
            "redeemed": used,
        }

    @reads()
    def get_circle_points(self) -> Json:
        """Return the points you can spend now and those pending from orders on their way.

        Also returns all points ever earned and the balance of the next reward.
        """
        me = rules.profile(self, SHOP)
        points = balance(self)
        pending, earned = self.db.sql(
            "SELECT coalesce(sum(points) FILTER (WHERE at>?1),0),"
            " coalesce(sum(points) FILTER (WHERE at<=?1 AND points>0),0)"
            " FROM target_points WHERE what<>?2",
            self.time,
            POINTS_RETURNED,
        )[0]
        return {
            "user_id": me["user_id"],
            "circle_member": me["circle_since"] is not None,
            "points_balance": points,
            "points_pending": pending,
            "lifetime_earnings": earned,
            "next_reward_threshold": (points // REWARD + 1) * REWARD,
        }

    @writes(example={"points": 100, "order_id": "${order.order_id}"}, setup=PLACED)
    def redeem_circle_points(self, points: Points, order_id: OrderId) -> Json:
        """Spend points on an order that is still processing or preparing.

        Its payment method gets back their value: 100 points are worth one dollar.
        """
        row = life.find_order(self, SHOP, order_id)
        available = balance(self)
        state = life.status(row, self.time)
        if state not in ("processing", "preparing"):
            message = f"Order {order_id} is {state}."
            self.fail(
                "ORDER_NOT_ELIGIBLE",
                message,
                "Points can only be used on orders that are processing or preparing.",
                status=state,
            )
        if available < points:
            self.fail(
                "INSUFFICIENT_POINTS",
                f"Your balance is {available} points.",
                "Redeem no more than the balance in get_circle_points.",
                points_balance=available,
                requested=points,
            )
        owed = sum(e["amount"] for e in life.entries(self, SHOP, order_id))
        if owed < points:
            message = f"Only {owed} cents of order {order_id} can still be paid with points."
            self.fail(
                "POINTS_EXCEED_TOTAL",
                message,
                "Redeem fewer points.",
                order_id=order_id,
                amount_due=owed,
            )
        life.charge(self, SHOP, row, -points, "Circle points")
        life.lower_unclaimed_refund(self, SHOP, order_id, points)
        spent = keep_points(self, order_id, self.time, -points, REDEEMED)
        if row["hold_until"] is not None:
            keep_points(self, order_id, row["hold_until"], points, POINTS_RETURNED)
        said = mail.order_fields(self, SHOP, row)
        said |= {"points": points, "value": points, "left": str(balance(self))}
        mail.tell(self, SHOP, "points_redeemed", said, about=spent["id"])
        return {
            "redeemed": True,
            "order_id": order_id,
            "points_used": points,
            "dollar_value": points / 100,
            "remaining_points": balance(self),
        }

    @reads()
    def get_circle_earnings_history(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the ledger of points, newest first: date, description, points, order_id.

        Points are negative when they were spent or taken back.
        """
        rows = Listing(self.db, "target_points", by="at").only("at<=?", self.time)
        rows = rows.days(since, until, rules.profile(self, SHOP)["timezone"])

        def show(row: Row) -> Json:
            return {
                "date": row["at"],
                "description": row["what"],
                "points": row["points"],
                "order_id": row["order_id"],
            }

        return page(rows, "history", limit, cursor, show)
