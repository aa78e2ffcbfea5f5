"""Transfers and money requests, with search, categories and spending."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from servers.kit import search
from servers.kit.control import seeded
from servers.kit.listing import Listing, Since, Until
from servers.kit.service import Service, Setup, answers, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Date, Dollars, Limit, dollars, page
from servers.kit.zones import day_start
from servers.payments import _requests as requests
from servers.payments import _rules as rules
from servers.payments._requests import Answer, Direction, RequestId, RequestStatus
from servers.payments._rules import ContactId, Key, Note, Status, TransactionId
from servers.payments.zelle._model import (
    CATEGORIES,
    WORDS,
    BankId,
    Category,
    receive,
    sent,
    tell,
    tell_contact,
    transfer,
    transfer_json,
)

Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description="Words from the note or the other person's name; all must match.",
    ),
]
ANA = seeded("zrc", "ana_reyes")
RENT = seeded("ztx", "rent-2026-03")
MISTAKE = Setup(
    "send_transfer", {"contact_id": ANA, "amount": 5, "note": "Sent by mistake"}, "sent"
)


class Transfers(Service):
    """Sending, requesting, answering, cancelling and searching."""

    @writes(example={"contact_id": ANA, "amount": 42.5, "note": "Internet bill"})
    def send_transfer(
        self,
        contact_id: ContactId,
        amount: Dollars,
        note: Note | None = None,
        funding_source_id: BankId | None = None,
        idempotency_key: Key | None = None,
    ) -> Json:
        """Send money from a bank account and return the transfer.

        It is pending for half an hour. The limits are 2,500 a day and 20,000 a month.

        A recipient who is not enrolled has 14 days to claim it (`claim_by`); after that the money
        comes back. Paying this way does not close an open request; use respond_to_transfer_request
        for that.
        """
        row = rules.repeated(
            self, WORDS, idempotency_key, contact_id=contact_id, amount=amount, note=note
        )
        if row is None:
            row = transfer(
                self,
                contact_id,
                amount,
                note,
                source_id=funding_source_id,
                idempotency_key=idempotency_key,
            )
        return transfer_json(self, row)

    @writes(example={"contact_id": ANA, "amount": 30, "note": "Half of the cleaning supplies"})
    def request_transfer(
        self, contact_id: ContactId, amount: Dollars, note: Note | None = None
    ) -> Json:
        """Ask a recipient for money and return the pending request.

        It expires after 30 days.
        """
        row = requests.new_request(self, WORDS, contact_id, amount, note)
        return requests.request_json(self, WORDS, row)

    @writes(
        example={"request_id": seeded("zrq", "glaze-march"), "action": "decline"}, destructive=True
    )
    def respond_to_transfer_request(
        self, request_id: RequestId, action: Answer, funding_source_id: BankId | None = None
    ) -> Json:
        """Pay or decline a pending incoming request.

        Returns its status and, if it was paid, the transaction_id.
        """
        request = requests.open_request(self, WORDS, request_id, "incoming")
        if action == "decline":
            return requests.answer_request(self, WORDS, request_id, "declined")
        row = transfer(
            self,
            request["contact_id"],
            request["amount"],
            request["note"],
            source_id=funding_source_id,
            request_id=request_id,
        )
        reply = requests.answer_request(self, WORDS, request_id, "paid", row["id"])
        return reply | {"transaction": transfer_json(self, row)}

    @writes(example={"request_id": seeded("zrq", "tom-gift")}, destructive=True)
    def cancel_transfer_request(self, request_id: RequestId) -> Json:
        """Withdraw a pending request that you made.

        To decline an incoming request, use respond_to_transfer_request.
        """
        return requests.withdraw_request(self, WORDS, request_id)

    @answers("request")
    def receive_answer(self, reaction: Row) -> None:
        """Let a recipient answer a request; nobody can pay while no bank takes part."""
        if reaction["does"] == "pay" and not rules.sources(self, WORDS, "active=1"):
            return
        requests.receive_answer(self, WORDS, reaction, lambda row: receive(self, row))

    @reads(example={"request_id": seeded("zrq", "glaze-march")})
    def get_transfer_request(self, request_id: RequestId) -> Json:
        """Return one request with its contact, dates and status.

        If it was paid, transaction_id is the transfer.
        """
        return requests.request_json(self, WORDS, requests.find_request(self, WORDS, request_id))

    @reads(example={"direction": "incoming"})
    def list_transfer_requests(
        self,
        direction: Direction | None = None,
        status: RequestStatus | None = None,
        date_from: Since | None = None,
        date_to: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return requests, newest first."""
        rows = requests.list_requests(self, WORDS, direction, status)
        rows = rows.days(date_from, date_to, rules.zone(self, WORDS))

        def show(row: Row) -> Json:
            return requests.request_json(self, WORDS, row)

        return page(rows, "requests", limit, cursor, show)

    @reads(example={"transaction_id": RENT})
    def get_transfer(self, transaction_id: TransactionId) -> Json:
        """Return one transfer with its current status."""
        return transfer_json(self, rules.find_transaction(self, WORDS, transaction_id))

    @reads(example={"limit": 10})
    def list_transfers(
        self,
        status: Status | None = None,
        date_from: Since | None = None,
        date_to: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return transfers sent and received, newest first.

        To look for a particular one, use search_transactions.
        """
        rows = Listing(self.db, "zelle_transfers", by="created_at")
        rows = rows.days(date_from, date_to, rules.zone(self, WORDS))
        if status is not None:
            rows = rows.keep(lambda row: rules.status(row, self.time) == status)
        return self._page(rows, limit, cursor)

    @writes(
        example={"transaction_id": "${sent.transaction_id}"},
        setup=(MISTAKE,),
        destructive=True,
    )
    def cancel_transfer(self, transaction_id: TransactionId) -> Json:
        """Cancel a pending transfer that you made.

        The money comes back, a request that it paid is open again, and it no longer counts toward
        the limits.
        """
        row = rules.cancel_transaction(self, WORDS, transaction_id)
        self.recall(transaction_id, "payment_returned")
        tell(self, "payment_cancelled", row)
        tell_contact(self, "payment_withdrawn", row)
        return {
            "transaction_id": transaction_id,
            "status": "cancelled",
            "refunded_amount": dollars(row["amount"]),
        }

    @reads(example={"query": "clay", "date_from": "2026-01-01"})
    def search_transactions(
        self,
        query: Query | None = None,
        category: Category | None = None,
        date_from: Date | None = None,
        date_to: Date | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the transfers that match everything given, newest first.

        With a query, those that match more of its words come first. Both dates are inclusive, in
        the account's time zone.
        """
        start, end = self._span(date_from, date_to)
        newest = "created_at DESC, rowid DESC"
        if query is None:
            rows = self.db.rows("zelle_transfers", order=newest)
        else:
            rows = search.find(self.db, "zelle_transfers", query, order=newest)
        rows = [row for row in rows if start <= row["created_at"] < end]
        if category is not None:
            rows = [row for row in rows if row["category"] == category]
        return self._page(rows, limit, cursor)

    @writes(
        example={"transaction_id": seeded("ztx", "bike-fork"), "category": "other"}, idempotent=True
    )
    def categorize_transaction(self, transaction_id: TransactionId, category: Category) -> Json:
        """Assign a transfer to a spending category, replacing its previous one."""
        row = rules.find_transaction(self, WORDS, transaction_id)
        if row["category"] != category:
            self.db.update("zelle_transfers", transaction_id, category=category)
        return {"transaction_id": transaction_id, "category": category, "status": "categorized"}

    @reads(example={"date_from": "2026-02-01", "date_to": "2026-02-28"})
    def get_spending_summary(
        self, date_from: Date | None = None, date_to: Date | None = None
    ) -> Json:
        """Return the dollars sent by category, with the total and the uncategorized amount.

        Money that came back does not count. Both dates are inclusive.
        """
        start, end = self._span(date_from, date_to)
        sums: dict[str | None, int] = dict.fromkeys((*CATEGORIES, None), 0)
        for row in sent(self, start, end):
            sums[row["category"]] += row["amount"]
        return {
            "summary": {name: dollars(sums[name]) for name in CATEGORIES},
            "total": dollars(sum(sums.values())),
            "uncategorized": dollars(sums[None]),
        }

    def _page(self, rows: Listing | list[Row], limit: int, cursor: str | None) -> Json:
        return page(rows, "transactions", limit, cursor, lambda r: transfer_json(self, r))

    def _span(self, date_from: str | None, date_to: str | None) -> tuple[str, str]:
        """Return the start of the first day and the end of the last, as moments."""
        if date_from is not None and date_to is not None and date_from > date_to:
            self.fail(
                "INVALID_DATE_RANGE",
                "date_from is after date_to.",
                "Swap the dates.",
                date_from=date_from,
                date_to=date_to,
            )
        where = rules.zone(self, WORDS)
        start = ""
        end = "~"  # Sorts after every moment.
        if date_from:
            start = day_start(date.fromisoformat(date_from), where)
        if date_to:
            end = day_start(rules.next_day(date.fromisoformat(date_to)), where)
        return start, end
