"""The Venmo debit card, which is paid from the balance."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from servers.kit.listing import Listing, Since, Until
from servers.kit.posts import Movement
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, cents, dollars, page
from servers.kit.zones import day_start, local_day
from servers.payments import _rules as rules
from servers.payments.venmo._model import WORDS

Enabled = Annotated[bool, Field(description="true turns the card on, false turns it off.")]
DailyLimit = Annotated[
    float,
    Field(
        ge=0, le=3000, description="Most that the card can spend in a day, in dollars (0 to 3000)."
    ),
    AfterValidator(cents),
]


def _purchase_json(row: Row) -> Json:
    return {
        "purchase_id": row["id"],
        "merchant": row["merchant"],
        "category": row["category"],
        "amount": dollars(row["amount"]),
        "at": row["at"],
    }


class Card(Service):
    """The debit card and its purchases."""

    def _card(self) -> Row:
        return self.db.rows("venmo_card")[0]

    def _card_json(self) -> Json:
        card = self._card()
        where = rules.zone(self, WORDS)
        midnight = day_start(local_day(self.now, where), where)
        today = self.db.rows("venmo_card_purchases", "at>=? AND at<=?", midnight, self.time)
        spent = sum(purchase["amount"] for purchase in today)
        return {
            "last4": card["last4"],
            "status": "active" if card["enabled"] else "paused",
            "enabled": card["enabled"],
            "daily_limit": dollars(card["daily_limit"]),
            "current_daily_spent": dollars(spent),
            "reward_category": card["reward_category"],
        }

    @reads()
    def get_debit_card_info(self) -> Json:
        """Return the debit card: last4, status, limit, today's spending, reward category."""
        return self._card_json()

    @reads(example={"limit": 5})
    def get_debit_card_transactions(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return purchases made with the debit card, newest first.

        Money that a merchant gave back has a negative amount.
        """
        rows = Listing(self.db, "venmo_card_purchases", by="at").only("at<=?", self.time)
        rows = rows.days(since, until, rules.zone(self, WORDS))
        return page(rows, "purchases", limit, cursor, _purchase_json)

    @writes(example={"enabled": False}, idempotent=True)
    def toggle_debit_card(self, enabled: Enabled) -> Json:
        """Turn the debit card on or off."""
        card = self._card()
        if card["enabled"] != enabled:
            self.db.update("venmo_card", card["id"], enabled=enabled)
        return {"enabled": enabled, "status": "active" if enabled else "paused"}

    @writes(example={"daily_limit": 250}, idempotent=True)
    def set_debit_card_spending_limit(self, daily_limit: DailyLimit) -> Json:
        """Set the most that the card can spend in a day; 0 blocks all purchases."""
        limit = round(daily_limit)
        card = self._card()
        if card["daily_limit"] != limit:
            self.db.update("venmo_card", card["id"], daily_limit=limit)
        return {"daily_limit": dollars(limit), "status": "updated"}

    def settle(self, movement: Movement) -> bool:
        """Enter what was paid with the debit card, or with another card or account of the owner."""
        if movement.last4 != self._card()["last4"]:
            return rules.settle(self, movement)
        purchase = {
            "id": self.new_id("vdc"),
            "merchant": movement.merchant,
            "category": movement.category,
            "amount": -movement.amount,
            "at": self.time,
        }
        self.db.insert("venmo_card_purchases", purchase)
        return True
