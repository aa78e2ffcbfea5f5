"""Payments that Zelle makes on a later day, once or every month."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.errors import ServiceError
from servers.kit.listing import Listing, Since, Until
from servers.kit.service import Service, happens, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Date, Dollars, Limit, dollars, page, parse_time
from servers.kit.zones import day_start, local_day, months_later
from servers.payments import _mail as mail
from servers.payments import _rules as rules
from servers.payments._rules import ContactId, Note
from servers.payments.zelle._model import WORDS, BankId, failed_transfer, transfer

Recurring = Annotated[
    bool,
    Field(description="true repeats the payment monthly on the same day until it is cancelled."),
]
ScheduledId = Annotated[
    str, Field(description="scheduled_payment_id, from list_scheduled_payments.")
]
ScheduledStatus = Annotated[
    Literal["scheduled", "completed", "failed", "cancelled", "all"],
    Field(description="Only scheduled payments in this status; all: whatever their status."),
]
HOUR = 6
"""Local hour at which scheduled payments are made."""
STATUSES = {
    "scheduled": "id IN (SELECT id FROM zelle_scheduled WHERE next_at>'')",
    "cancelled": "cancelled_at IS NOT NULL",
    "completed": "next_at IS NULL AND cancelled_at IS NULL",
    "failed": "next_at IS NULL AND cancelled_at IS NULL",
}
"""What the columns of a scheduled payment say about its status; its transfers say the rest."""


class Scheduled(Service):
    """Scheduled and recurring payments."""

    @writes(
        example={
            "contact_id": seeded("zrc", "ana_reyes"),
            "amount": 920,
            "scheduled_date": "2026-04-01",
            "note": "April rent",
        }
    )
    def schedule_payment(
        self,
        contact_id: ContactId,
        amount: Dollars,
        scheduled_date: Date,
        note: Note | None = None,
        funding_source_id: BankId | None = None,
        recurring: Recurring = False,
    ) -> Json:
        """Schedule a transfer for 6 a.m. on a later day and return the scheduled payment.

        Funds and limits are checked on that day.
        """
        rules.find_contact(self, WORDS, contact_id)
        if funding_source_id is not None:
            rules.active_source(self, WORDS, funding_source_id)
        where = rules.zone(self, WORDS)
        today = local_day(self.now, where).isoformat()
        if scheduled_date <= today:
            self.fail(
                "INVALID_SCHEDULED_DATE",
                f"{scheduled_date} is not after today ({today}).",
                "Choose a later day, or send it now with send_transfer.",
                today=today,
            )
        row = {
            "id": self.new_id("zsp"),
            "contact_id": contact_id,
            "amount": amount,
            "note": note,
            "source_id": funding_source_id,
            "scheduled_date": scheduled_date,
            "recurring": recurring,
            "created_at": self.time,
            "next_at": day_start(date.fromisoformat(scheduled_date), where, HOUR),
        }
        made = self.db.insert("zelle_scheduled", row)
        self._tell("scheduled", made)
        return self._json(made)

    @reads(example={"limit": 5})
    def list_scheduled_payments(
        self,
        status: ScheduledStatus = "scheduled",
        date_from: Since | None = None,
        date_to: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return scheduled payments by their first date: by default, those still to be made.

        Each has its status, its next date, and the transaction_ids of the payments made so far.
        """
        rows = Listing(self.db, "zelle_scheduled", by="scheduled_date", newest=False)
        rows = rows.days(date_from, date_to, None)
        if status != "all":
            rows = rows.only(STATUSES[status]).keep(lambda row: self._status(row) == status)
        return page(rows, "scheduled_payments", limit, cursor, self._json)

    @writes(example={"scheduled_payment_id": seeded("zsp", "mum-phone")}, destructive=True)
    def cancel_scheduled_payment(self, scheduled_payment_id: ScheduledId) -> Json:
        """Cancel a scheduled payment with all its repeats; transfers already made stay."""
        row = self.db.get("zelle_scheduled", scheduled_payment_id)
        if row is None:
            self.fail(
                "SCHEDULED_PAYMENT_NOT_FOUND",
                f"There is no scheduled payment {scheduled_payment_id!r}.",
                "Use a scheduled_payment_id from list_scheduled_payments.",
                scheduled_payment_id=scheduled_payment_id,
            )
        if row["next_at"] is None:
            state = self._json(row)["status"]
            hint = "There is nothing to cancel."
            if state == "completed":
                hint = "Cancel its transfer with cancel_transfer while it is still pending."
            self.fail(
                "SCHEDULED_PAYMENT_NOT_CANCELLABLE",
                f"The scheduled payment is {state}.",
                hint,
                status=state,
            )
        self.db.update(
            "zelle_scheduled", scheduled_payment_id, next_at=None, cancelled_at=self.time
        )
        self._tell("schedule_cancelled", row)
        return {"scheduled_payment_id": scheduled_payment_id, "status": "cancelled"}

    def _tell(self, occasion: str, row: Row) -> None:
        said = {
            "amount": row["amount"],
            "note": row["note"],
            "reference": row["id"],
            "day": row["scheduled_date"],
            "monthly": "every month" if row["recurring"] else None,
        }
        mail.tell(self, WORDS, occasion, row["contact_id"], said, about=row["id"])

    @happens("zelle_scheduled.next_at")
    def make_scheduled(self, row: Row) -> None:
        """Make a scheduled payment; a refused one leaves a failed transfer."""
        self._pay(row, self.now)
        self.db.update("zelle_scheduled", row["id"], next_at=self._next(row))

    def _pay(self, row: Row, moment: int) -> None:
        payment = (row["contact_id"], row["amount"], row["note"])
        source_id = row["source_id"]
        try:
            transfer(self, *payment, source_id=source_id, moment=moment, scheduled_id=row["id"])
        except ServiceError as refusal:
            bank = source_id or self._any_bank()
            failed_transfer(self, *payment, bank, moment, refusal.code, scheduled_id=row["id"])

    def _any_bank(self) -> str:
        linked = rules.sources(self, WORDS)
        return next((r["id"] for r in linked if r["active"]), linked[0]["id"])

    def _next(self, row: Row) -> str | None:
        if not row["recurring"]:
            return None
        # Months are counted from the first date, so a payment on the 31st returns to the 31st.
        day = months_later(date.fromisoformat(row["scheduled_date"]), len(self._transfer_ids(row)))
        return day_start(day, rules.zone(self, WORDS), HOUR)

    def _transfer_ids(self, row: Row) -> list[str]:
        """Return the transfers that a scheduled payment has made so far, including failed ones."""
        query = "SELECT id FROM zelle_transfers WHERE scheduled_id=? ORDER BY created_at, rowid"
        return [transfer_id for (transfer_id,) in self.db.sql(query, row["id"])]

    def _status(self, row: Row) -> str:
        if row["cancelled_at"] is not None:
            return "cancelled"
        if row["next_at"] is not None:
            return "scheduled"
        newest = "created_at DESC, rowid DESC"
        last = self.db.rows("zelle_transfers", "scheduled_id=?", row["id"], order=newest, limit=1)
        if last and rules.status(last[0], self.time) == "failed":
            return "failed"
        return "completed"

    def _json(self, row: Row) -> Json:
        next_date = None
        if row["next_at"]:
            next_at = parse_time(row["next_at"])
            next_date = local_day(next_at, rules.zone(self, WORDS)).isoformat()
        return {
            "scheduled_payment_id": row["id"],
            "status": self._status(row),
            "contact": rules.party(self, WORDS, row["contact_id"]),
            "amount": dollars(row["amount"]),
            "note": row["note"],
            "bank": rules.source_ref(self, WORDS, row["source_id"]) if row["source_id"] else None,
            "scheduled_date": row["scheduled_date"],
            "recurring": row["recurring"],
            "next_date": next_date,
            "transaction_ids": self._transfer_ids(row),
        }
