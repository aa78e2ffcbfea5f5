"""Payments and money requests between friends."""

from __future__ import annotations

from servers.kit.control import seeded
from servers.kit.listing import Listing, Since, Until
from servers.kit.service import Service, Setup, answers, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Dollars, Limit, dollars, page
from servers.payments import _mail as mail
from servers.payments import _requests as requests
from servers.payments import _rules as rules
from servers.payments._requests import Answer, Direction, RequestId, RequestStatus
from servers.payments._rules import ContactId, Key, Note, Status, TransactionId
from servers.payments.venmo._model import (
    WORDS,
    PayFrom,
    Visibility,
    default_visibility,
    pay,
    request_json,
    transaction_json,
)

PRIYA = seeded("vct", "priya_nair")
CABIN = seeded("vrq", "priya-cabin")
MISTAKE = Setup("send_money", {"contact_id": PRIYA, "amount": 5, "note": "Sent by mistake"}, "sent")


class Payments(Service):
    """Sending, requesting, answering and cancelling."""

    @writes(example={"contact_id": PRIYA, "amount": 12.5, "note": "Coffee and pastries"})
    def send_money(
        self,
        contact_id: ContactId,
        amount: Dollars,
        note: Note,
        funding_source_id: PayFrom | None = None,
        visibility: Visibility | None = None,
        idempotency_key: Key | None = None,
    ) -> Json:
        """Pay a friend and return the transaction, which is pending at first.

        A payment is charged to a single source; a credit card costs an extra 3%.

        Paying this way does not close an open request; use respond_to_request for that.
        """
        row = rules.repeated(
            self, WORDS, idempotency_key, contact_id=contact_id, amount=amount, note=note
        )
        if row is None:
            row = pay(
                self,
                contact_id,
                amount,
                note,
                source_id=funding_source_id,
                visibility=visibility,
                key=idempotency_key,
            )
        return transaction_json(self, row)

    @writes(
        example={
            "contact_id": seeded("vct", "jordan_park"),
            "amount": 18,
            "note": "Half of the gym snacks",
        }
    )
    def request_money(
        self,
        contact_id: ContactId,
        amount: Dollars,
        note: Note,
        visibility: Visibility | None = None,
    ) -> Json:
        """Ask a friend for money and return the pending request, which expires after 30 days."""
        seen_by = visibility or default_visibility(self)
        row = requests.new_request(self, WORDS, contact_id, amount, note, visibility=seen_by)
        return request_json(self, row)

    @writes(example={"request_id": CABIN, "action": "decline"}, destructive=True)
    def respond_to_request(
        self, request_id: RequestId, action: Answer, funding_source_id: PayFrom | None = None
    ) -> Json:
        """Pay or decline a pending incoming request.

        Returns its status and, if it was paid, the transaction_id.
        """
        request = requests.open_request(self, WORDS, request_id, "incoming")
        if action == "decline":
            return requests.answer_request(self, WORDS, request_id, "declined")
        row = pay(
            self,
            request["contact_id"],
            request["amount"],
            request["note"],
            source_id=funding_source_id,
            visibility=request["visibility"],
            request_id=request_id,
        )
        reply = requests.answer_request(self, WORDS, request_id, "paid", row["id"])
        return reply | {"transaction": transaction_json(self, row)}

    @writes(example={"request_id": seeded("vrq", "ana-dog-food")}, destructive=True)
    def cancel_request(self, request_id: RequestId) -> Json:
        """Withdraw a pending request that you made.

        To decline an incoming request, use respond_to_request.
        """
        return requests.withdraw_request(self, WORDS, request_id)

    @answers("request")
    def receive_answer(self, reaction: Row) -> None:
        """Let a friend answer a request."""
        requests.receive_answer(self, WORDS, reaction, self._receive)

    def _receive(self, request: Row) -> Row:
        payment = {
            "id": self.new_id("vtx"),
            "type": "payment_received",
            "contact_id": request["contact_id"],
            "amount": request["amount"],
            "fee": 0,
            "note": request["note"],
            "visibility": request["visibility"],
            "request_id": request["id"],
            "created_at": self.time,
            "settles_at": self.time,
        }
        row = self.db.insert("venmo_transactions", payment)
        said = mail.of_payment(row, None)
        mail.tell(self, WORDS, "payment_received", row["contact_id"], said, about=row["id"])
        return row

    @reads(example={"request_id": CABIN})
    def get_request(self, request_id: RequestId) -> Json:
        """Return one request with its contact, dates and status.

        If it was paid, transaction_id is the payment.
        """
        return request_json(self, requests.find_request(self, WORDS, request_id))

    @reads(example={"direction": "incoming", "status": "pending"})
    def list_requests(
        self,
        direction: Direction | None = None,
        status: RequestStatus | None = None,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return requests, newest first; those of a group payment have its group_payment_id."""
        rows = requests.list_requests(self, WORDS, direction, status)
        rows = rows.days(since, until, rules.zone(self, WORDS))
        return page(rows, "requests", limit, cursor, lambda r: request_json(self, r))

    @reads(example={"transaction_id": seeded("vtx", "rosa-tuneup")})
    def get_transaction(self, transaction_id: TransactionId) -> Json:
        """Return one payment or bank transfer with its current status."""
        return transaction_json(self, rules.find_transaction(self, WORDS, transaction_id))

    @reads(example={"limit": 10})
    def list_transactions(
        self,
        status: Status | None = None,
        contact_id: ContactId | None = None,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return payments sent and received and bank transfers, newest first.

        Debit card purchases are listed by get_debit_card_transactions.
        """
        rows = Listing(self.db, "venmo_transactions", by="created_at")
        rows = rows.days(since, until, rules.zone(self, WORDS))
        if contact_id is not None:
            rows = rows.only("contact_id=?", contact_id)
        if status is not None:
            rows = rows.keep(lambda row: rules.status(row, self.time) == status)
        return page(rows, "transactions", limit, cursor, lambda r: transaction_json(self, r))

    @writes(
        example={"transaction_id": "${sent.transaction_id}"},
        setup=(MISTAKE,),
        destructive=True,
    )
    def cancel_transaction(self, transaction_id: TransactionId) -> Json:
        """Cancel a pending payment or bank transfer that you made.

        The money comes back with any fee, and a request that it paid is open again.
        """
        row = rules.cancel_transaction(self, WORDS, transaction_id)
        refund = row["amount"]
        if row["type"] == "payment_sent":
            refund += row["fee"]
            said = mail.of_payment(row, None)
            contact_id = row["contact_id"]
            mail.tell(self, WORDS, "payment_cancelled", contact_id, said, about=row["id"])
            mail.tell_contact(self, WORDS, "payment_withdrawn", contact_id, said, about=row["id"])
        else:
            self.recall(row["id"])
            source = rules.find_source(self, WORDS, row["source_id"])
            said = mail.of_payment(row, source["name"])
            to = mail.owner(self, WORDS)["email"]
            self.post("transfer_cancelled", to, said, about=row["id"])
        return {
            "transaction_id": transaction_id,
            "status": "cancelled",
            "refunded_amount": dollars(refund),
        }
