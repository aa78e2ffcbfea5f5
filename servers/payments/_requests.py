"""What Venmo and Zelle share about money requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.listing import Listing
from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.kit.values import dollars, iso
from servers.payments import _mail as mail
from servers.payments._rules import DAY, Words, find_contact, party

REQUEST_LIFE = 30 * DAY
"""Seconds after which an unanswered request expires."""

RequestId = Annotated[
    str, Field(description="request_id of a money request, from the request list.")
]
Direction = Annotated[
    Literal["outgoing", "incoming"],
    Field(description="outgoing: you asked for money; incoming: you were asked."),
]
Answer = Annotated[Literal["pay", "decline"], Field(description="Pay the request or decline it.")]
RequestStatus = Annotated[
    Literal["pending", "paid", "declined", "cancelled", "expired", "settled"],
    Field(description="Only requests in this status."),
]


def request_status(row: Row, now: str) -> str:
    """Return how the request was closed; otherwise pending or expired."""
    if row["closed_as"]:
        return row["closed_as"]
    return "pending" if now < row["expires_at"] else "expired"


def request_json(svc: Service, words: Words, row: Row) -> Json:
    """Return a request as agents see it, without the fields that only one provider has."""
    return {
        "request_id": row["id"],
        "direction": row["direction"],
        "status": request_status(row, svc.time),
        "amount": dollars(row["amount"]),
        "note": row["note"],
        "contact": party(svc, words, row["contact_id"]),
        "created_at": row["created_at"],
        "expires_at": row["expires_at"],
        "closed_at": row["closed_at"],
        "transaction_id": row["transaction_id"],
    }


def new_request(
    svc: Service, words: Words, contact_id: str, amount: int, note: str | None, **extra: Any
) -> Row:
    """Ask a contact for money and return the request's row."""
    find_contact(svc, words, contact_id)
    row = {
        "id": svc.new_id(words.request_id),
        "direction": "outgoing",
        "contact_id": contact_id,
        "amount": amount,
        "note": note,
        "created_at": svc.time,
        "expires_at": iso(svc.now + REQUEST_LIFE),
    }
    made = svc.db.insert(f"{words.tables}_requests", row | extra)
    said = mail.of_request(made)
    mail.tell(svc, words, "request_sent", contact_id, said, about=made["id"])
    mail.tell_contact(svc, words, "request_received", contact_id, said, about=made["id"])
    return made


def list_requests(svc: Service, words: Words, direction: str | None, wanted: str | None) -> Listing:
    """Return requests, newest first, of one direction and status unless these are None."""
    rows = Listing(svc.db, f"{words.tables}_requests", by="created_at")
    if direction is not None:
        rows = rows.only("direction=?", direction)
    if wanted is not None:
        rows = rows.keep(lambda row: request_status(row, svc.time) == wanted)
    return rows


def find_request(svc: Service, words: Words, request_id: str) -> Row:
    """Return a request, or refuse if there is none."""
    row = svc.db.get(f"{words.tables}_requests", request_id)
    if row is None:
        svc.fail(
            "REQUEST_NOT_FOUND",
            f"There is no request {request_id!r}.",
            f"Use a request_id from {words.list_requests}.",
            request_id=request_id,
        )
    return row


def open_request(svc: Service, words: Words, request_id: str, direction: str) -> dict[str, Any]:
    """Return a pending request of the given direction, or refuse."""
    row = find_request(svc, words, request_id)
    if row["direction"] != direction:
        could = "answered" if direction == "incoming" else "cancelled"
        svc.fail(
            "WRONG_DIRECTION",
            f"Only {direction} requests can be {could}; this one is {row['direction']}.",
            f"List requests of that direction with {words.list_requests}.",
        )
    state = request_status(row, svc.time)
    if state != "pending":
        svc.fail(
            "REQUEST_NOT_PENDING",
            f"Request {request_id} is {state}.",
            "A closed request cannot be changed.",
            request_id=request_id,
            status=state,
        )
    return row


def close_request(
    svc: Service, words: Words, request_id: str, outcome: str, transaction_id: str | None = None
) -> None:
    """Close a request with an outcome: paid, declined, cancelled or settled."""
    svc.db.update(
        f"{words.tables}_requests",
        request_id,
        closed_as=outcome,
        closed_at=svc.time,
        transaction_id=transaction_id,
    )


def receive_answer(svc: Service, words: Words, reaction: Row, paid: Callable[[Row], Row]) -> None:
    """Let a contact pay or decline a request of the owner's that is still pending.

    `paid` enters the payment of a request and returns its row.
    """
    row = svc.db.get(f"{words.tables}_requests", reaction["about"])
    if row is None or request_status(row, svc.time) != "pending":
        return
    if reaction["does"] == "pay":
        close_request(svc, words, row["id"], "paid", paid(row)["id"])
    elif reaction["does"] == "decline":
        close_request(svc, words, row["id"], "declined")
        said = mail.of_request(row)
        mail.tell(svc, words, "request_declined", row["contact_id"], said, about=row["id"])


def answer_request(
    svc: Service, words: Words, request_id: str, outcome: str, transaction_id: str | None = None
) -> Json:
    """Close an incoming request as paid (by a transaction) or declined; return the reply."""
    close_request(svc, words, request_id, outcome, transaction_id)
    if outcome == "declined":
        row = find_request(svc, words, request_id)
        said = mail.of_request(row)
        mail.tell_contact(svc, words, "request_declined", row["contact_id"], said, about=request_id)
    return {"request_id": request_id, "status": outcome, "transaction_id": transaction_id}


def withdraw_request(svc: Service, words: Words, request_id: str) -> Json:
    """Cancel a pending request that the account made, and return the reply."""
    row = open_request(svc, words, request_id, "outgoing")
    close_request(svc, words, request_id, "cancelled")
    said = mail.of_request(row)
    mail.tell_contact(svc, words, "request_withdrawn", row["contact_id"], said, about=request_id)
    return {"request_id": request_id, "status": "cancelled"}
