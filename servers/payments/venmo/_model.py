"""Venmo's tables and words, its wallet, and how a payment is made."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import dollars, iso, round_cents
from servers.payments import _mail as mail
from servers.payments import _requests as requests
from servers.payments import _rules as rules

TABLES = {
    "venmo_profile": Table(
        "id:str name:str username:str email:str phone:str timezone:str",
        identity=True,
        catalogue=True,
    ),
    "venmo_settings": Table(
        "id:str default_visibility:str/matter",
        noun="the default visibility {default_visibility}",
    ),
    "venmo_wallet": Table("id:str opening:int", catalogue=True),
    "venmo_contacts": rules.CONTACTS,
    "venmo_sources": rules.SOURCES,
    # source_id is the source that paid (null: the wallet) or, for a bank transfer, the destination.
    # The fee is matter: it alone tells an instant bank transfer from a standard one.
    "venmo_transactions": Table(
        "id:str type:str/matter contact_id:str?/ref amount:int/matter fee:int/matter "
        "note:str/prose visibility:str/matter source_id:str?/ref request_id:str?/ref "
        "created_at:str/stamp settles_at:str/derived cancelled_at:str?/stamp "
        "failure:str?/derived idempotency_key:str?/session",
        index=("contact_id, created_at", "created_at", "idempotency_key"),
        outward={"type": {"in": ["payment_sent", "bank_transfer"]}},
        noun="a transaction ({type}) of {amount:cents} with {contact_id}",
    ),
    "venmo_requests": Table(
        "id:str direction:str/matter contact_id:str/ref amount:int/matter note:str/prose "
        "visibility:str/matter created_at:str/stamp expires_at:str/derived "
        "closed_as:str?/matter closed_at:str?/stamp transaction_id:str?/ref "
        "reminded_at:str?/stamp group_id:str?/ref",
        index=("group_id", "created_at", "direction, created_at"),
        outward={"direction": "outgoing"},
        noun="the request ({direction}) for {amount:cents} with {contact_id}",
    ),
    "venmo_groups": Table(
        "id:str description:str/prose total:int/matter own_share:int/matter "
        "created_at:str/stamp settled_at:str?/stamp",
        noun="a shared bill of {total:cents} ({description})",
    ),
    "venmo_card": Table(
        "id:str last4:str/matter enabled:bool/matter daily_limit:int/matter "
        "reward_category:str/matter",
        noun="the debit card ending in {last4}",
    ),
    # A purchase follows from what was paid with the card elsewhere.
    "venmo_card_purchases": Table(
        "id:str merchant:str/derived category:str/derived amount:int/derived at:str/derived",
        index=("at",),
        noun="a card purchase of {amount:cents} ({merchant})",
    ),
}
WORDS = rules.Words(
    tables="venmo",
    transactions="venmo_transactions",
    contact_id="vct",
    source_id="vfs",
    request_id="vrq",
    list_contacts="list_friends",
    list_sources="list_funding_sources",
    link_source="add_funding_source",
    activate_source="activate_funding_source",
    list_transactions="list_transactions",
    list_requests="list_requests",
)
BANK_SETTLES = rules.DAY
"""Seconds after which a payment drawn on a bank account is complete."""

# A received payment counts once it has settled; a payment with a source was charged there.
_WALLET = """
SELECT (SELECT coalesce(sum(opening), 0) FROM venmo_wallet)
     - (SELECT coalesce(sum(amount), 0) FROM venmo_card_purchases WHERE at <= ?1)
     + (SELECT coalesce(sum(CASE
            WHEN type = 'payment_received' THEN amount * (settles_at <= ?1)
            WHEN type = 'bank_transfer' THEN -amount
            WHEN source_id IS NULL THEN -amount
            ELSE 0 END), 0)
        FROM venmo_transactions WHERE cancelled_at IS NULL AND failure IS NULL)
"""

Visibility = Annotated[
    Literal["public", "friends", "private"],
    Field(description="Who sees the payment; defaults to the account's setting."),
]
PayFrom = Annotated[
    str,
    Field(
        description=(
            "source_id of the linked bank account or card to charge. Default: "
            "the balance if it covers the whole amount, otherwise the default source."
        )
    ),
]


def wallet(svc: Service) -> int:
    """Return the balance in cents: the opening amount and everything that came and went since."""
    return svc.db.sql(_WALLET, svc.time)[0][0]


def default_visibility(svc: Service) -> str:
    """Return who sees payments by default."""
    return svc.db.rows("venmo_settings")[0]["default_visibility"]


def pay(
    svc: Service,
    contact_id: str,
    amount: int,
    note: str,
    *,
    source_id: str | None,
    visibility: str | None,
    request_id: str | None = None,
    key: str | None = None,
) -> Row:
    """Pay a contact and return the transaction's row.

    The money comes from the named source; without one, from the wallet if it covers the whole
    amount, otherwise from the default source.
    """
    rules.find_contact(svc, WORDS, contact_id)
    fee = 0
    source = None
    settles_after = rules.SETTLES
    if source_id is not None or wallet(svc) < amount:
        source = rules.active_source(svc, WORDS, source_id)
        if source["type"] == "credit_card":
            fee = round_cents(Decimal(amount) * 3 / 100)
        elif source["type"] == "bank_account":
            settles_after = BANK_SETTLES
        rules.cover(svc, WORDS, source, amount + fee)
    payment = {
        "id": svc.new_id("vtx"),
        "type": "payment_sent",
        "contact_id": contact_id,
        "amount": amount,
        "fee": fee,
        "note": note,
        "visibility": visibility or default_visibility(svc),
        "source_id": source["id"] if source else None,
        "request_id": request_id,
        "created_at": svc.time,
        "settles_at": iso(svc.now + settles_after),
        "idempotency_key": key,
    }
    if source is not None:
        rules.post(svc, source["account_id"], -(amount + fee), payment["id"], "venmo payment")
    row = svc.db.insert("venmo_transactions", payment)
    said = mail.of_payment(row, source["name"] if source else "Venmo balance")
    mail.tell(svc, WORDS, "payment_sent", contact_id, said, about=row["id"])
    mail.tell_contact(svc, WORDS, "payment_received", contact_id, said, about=row["id"])
    return row


def transaction_json(svc: Service, row: Row) -> Json:
    """Return a transaction as agents see it; all types have the same fields."""
    source = None
    if row["source_id"] is not None:
        source = rules.source_ref(svc, WORDS, row["source_id"])
    elif row["type"] == "payment_sent":
        source = {"source_id": None, "name": "Venmo balance", "last4": None}
    return {
        "transaction_id": row["id"],
        "type": row["type"],
        "status": rules.status(row, svc.time),
        "amount": dollars(row["amount"]),
        "fee": dollars(row["fee"]),
        "note": row["note"],
        "visibility": row["visibility"],
        "contact": rules.party(svc, WORDS, row["contact_id"]) if row["contact_id"] else None,
        "source": source,
        "request_id": row["request_id"],
        "created_at": row["created_at"],
        "settles_at": row["settles_at"],
        "cancelled_at": row["cancelled_at"],
        "failure": row["failure"],
    }


def request_json(svc: Service, row: Row) -> Json:
    """Return a request as agents see it, with Venmo's own fields."""
    own = {
        "visibility": row["visibility"],
        "group_payment_id": row["group_id"],
        "reminded_at": row["reminded_at"],
    }
    return requests.request_json(svc, WORDS, row) | own
