"""What Venmo and Zelle mail about payments and requests, to the account's owner and to a contact.

The functions that return fields are for generators, too, which write the past from the same
templates.
"""

from __future__ import annotations

from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.payments._rules import Words


def tell(
    svc: Service,
    words: Words,
    occasion: str,
    contact_id: str,
    said: Json,
    *,
    about: str,
    to: str | None = None,
    due: int | None = None,
) -> None:
    """Mail the account's owner about something that was done with a contact.

    It goes to the owner's address, unless `to` is another one.
    """
    contact = svc.db.get(f"{words.tables}_contacts", contact_id) or {}
    data = said | {"name": contact["name"]}
    svc.post(occasion, to or owner(svc, words)["email"], data, about=about, due=due)


def tell_contact(
    svc: Service, words: Words, occasion: str, contact_id: str, said: Json, *, about: str
) -> None:
    """Mail a contact about something that the account's owner did."""
    contact = svc.db.get(f"{words.tables}_contacts", contact_id) or {}
    data = said | {"name": owner(svc, words)["name"]}
    svc.post(occasion, contact["email"], data, about=about)


def owner(svc: Service, words: Words) -> Row:
    """Return the profile of the signed-in account."""
    return svc.db.rows(f"{words.tables}_profile", limit=1)[0]


def of_payment(row: Row, source: str | None) -> Json:
    """Return the fields of a payment, except the other person's name; `source` is what paid."""
    return {
        "amount": row["amount"],
        "note": row["note"],
        "at": row["created_at"],
        "reference": row["id"],
        "source": source,
        "fee": row.get("fee") or None,
        "claim_by": row.get("claim_by"),
        "arrives_at": row["settles_at"],
    }


def of_request(row: Row) -> Json:
    """Return the fields of a request, except the other person's name."""
    return {
        "amount": row["amount"],
        "note": row["note"],
        "at": row["created_at"],
        "expires_at": row["expires_at"],
        "reference": row["id"],
    }
