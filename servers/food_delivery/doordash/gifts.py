"""Gifts: paid for now, delivered to wherever the recipient says."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _mail as mail
from servers.food_delivery import _orders as orders
from servers.food_delivery import _pricing as pricing
from servers.food_delivery._catalogue import Items, RestaurantId
from servers.food_delivery._orders import OrderId
from servers.food_delivery._rules import MethodId
from servers.food_delivery.doordash._model import TARIFF, WORDS, claimed, eta, gift_of, status
from servers.food_delivery.doordash.dashes import COFFEE, DASH
from servers.kit.control import seeded
from servers.kit.fields import PersonName, Phone
from servers.kit.listing import Since, Until
from servers.kit.noise import share
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json
from servers.kit.values import Cursor, Limit, dollars, iso, page, parse_time

Message = Annotated[
    str, Field(min_length=1, max_length=300, description="A message to the recipient.")
]
CLAIM_DAYS = 2
"""Days in which a gift can be claimed."""
GIFT_MILES = 3.0
"""The distance charged for a gift, as its address is not known when it is paid for."""


def claims(phone: str, order_id: str, now: int) -> int | None:
    """Return when a recipient claims a gift: within 45 minutes, or never (one in eight)."""
    luck = share("claim", phone, order_id)
    if luck >= 0.875:
        return None
    return now + 240 + int(luck * 2700)


class Gifts(Service):
    """Food for somebody else."""

    @writes(
        example={
            "restaurant_id": COFFEE["restaurant_id"],
            "items": COFFEE["items"],
            "recipient_name": "Priya Nair",
            "recipient_phone": "+1-503-555-0119",
            "gift_message": "Congratulations! Coffee is on me.",
            "payment_method_id": DASH["payment_method_id"],
        }
    )
    def send_gift_order(
        self,
        restaurant_id: RestaurantId,
        items: Items,
        recipient_name: PersonName,
        recipient_phone: Phone,
        gift_message: Message,
        payment_method_id: MethodId,
    ) -> Json:
        """Pay for a gift order, and return its order_id, total and claim_by.

        The recipient gets a text message and can claim the gift within two days. Delivery is
        charged for three miles. An unclaimed gift is refunded in full.
        """
        place = catalogue.find_place(self, WORDS, restaurant_id)
        draft = pricing.draft(self, WORDS, TARIFF, place, items, None, tip=0, away=GIFT_MILES)
        claim_by = self.now + CLAIM_DAYS * 86_400
        # Until a gift is claimed, its stages are set to after the deadline for claiming it.
        unclaimed = orders.stages(place, GIFT_MILES, claim_by, None)
        row = orders.submit(self, WORDS, draft, payment_method_id, unclaimed)
        claims_at = claims(recipient_phone, row["id"], self.now)
        if claims_at is not None:
            starts = catalogue.opens_next(place, claims_at) or claims_at
            stages = orders.stages(place, GIFT_MILES, starts, None)
            self.db.update("doordash_orders", row["id"], **stages)
        gift = {
            "order_id": row["id"],
            "recipient_name": recipient_name,
            "recipient_phone": recipient_phone,
            "message": gift_message,
            "claims_at": None if claims_at is None else iso(claims_at),
            "claim_by": iso(claim_by),
        }
        self.db.insert("doordash_gifts", gift)
        row = orders.find_order(self, WORDS, row["id"])
        said = mail.letter(self, WORDS, row) | mail.of_gift(gift)
        mail.tell(self, WORDS, "gift_sent", said)
        if claims_at is None:
            mail.tell(self, WORDS, "gift_expired", said, due=claim_by)
        else:
            mail.tell(self, WORDS, "gift_claimed", said, due=claims_at)
            mail.tell(self, WORDS, "gift_delivered", said, due=parse_time(row["delivered_at"]))
        return self._gift(row["id"]) | pricing.price_json(draft.price)

    @reads(example={"order_id": seeded("ddo", "gift-thanks")})
    def get_gift_order_status(self, order_id: OrderId) -> Json:
        """Return the state of a gift.

        Returns whether and when it was claimed, claim_by, the status of its delivery, the recipient
        and the message.
        """
        row = orders.find_order(self, WORDS, order_id)
        if gift_of(self, row) is None:
            message = f"Order {order_id} is not a gift."
            hint = "Use an order_id from list_gift_orders; for your own orders, use get_dash."
            self.fail("NOT_A_GIFT_ORDER", message, hint, order_id=order_id)
        return self._gift(order_id)

    @reads()
    def list_gift_orders(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the gifts you sent, newest first, each as in get_gift_order_status."""
        sent = orders.orders(self, WORDS, since, until)
        sent = sent.only("id IN (SELECT order_id FROM doordash_gifts)")
        return page(sent, "gifts", limit, cursor, lambda r: self._gift(r["id"]))

    def _gift(self, order_id: str) -> Json:
        row = orders.find_order(self, WORDS, order_id)
        gift = gift_of(self, row) or {}
        taken = claimed(self, gift)
        if taken and row["cancelled_at"] is not None:
            taken = gift["claims_at"] <= row["cancelled_at"]
        return {
            "order_id": order_id,
            "status": WORDS.statuses[status(self, row)],
            "recipient_name": gift["recipient_name"],
            "recipient_phone": gift["recipient_phone"],
            "gift_message": gift["message"],
            "claimed": taken,
            "claimed_at": gift["claims_at"] if taken else None,
            "claim_by": gift["claim_by"],
            "restaurant_name": orders.place_of(self, WORDS, row)["name"],
            "estimated_minutes": eta(self, row),
            "total": dollars(orders.charged(self, WORDS, row).total),
            "created_at": row["placed_at"],
        }
