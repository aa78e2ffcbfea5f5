"""What Venmo and Zelle share: accounts, funding sources, contacts and transactions.

Money requests are in `_requests.py`. Every balance is a sum over entries, so two writes never
overwrite each other. Every status is computed from rows and the current moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.fields import Id
from servers.kit.posts import Movement
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import dollars

SHARED = {
    # `behind` is the account that a debit card draws on.
    # `opening` of a credit card is its free credit. `mail_to` is where the bank writes, if that is
    # not the owner's own address.
    "payments_accounts": Table(
        "id:str type:str name:str last4:str behind:str? opening:int mail_to:str?", catalogue=True
    ),
    # Every entry follows from a transaction.
    "payments_entries": Table(
        "id:str account_id:str/derived amount:int/derived at:str/derived ref:str/derived "
        "what:str/derived",
        index=("account_id", "ref"),
        noun="an entry of {amount:cents} in an account ({what})",
    ),
}
CONTACTS = Table(
    "id:str name:str/matter username:str/matter email:str?/matter phone:str?/matter "
    "added_at:str/stamp removed_at:str?/stamp",
    noun="the contact {name}",
)
SOURCES = Table(
    "id:str account_id:str/ref added_at:str/stamp active:bool/matter",
    noun="the linked account {account_id}",
)

DAY = 86_400
SETTLES = 30 * 60
"""Seconds for which a payment can still be cancelled."""

ContactId = Annotated[
    Id, Field(description="contact_id of the other person, from the contact list.")
]
TransactionId = Annotated[str, Field(description="transaction_id, from the transaction list.")]
SourceId = Annotated[str, Field(description="source_id of a linked account or card.")]
Name = Annotated[str, Field(min_length=1, max_length=80, description="Full name.")]
Username = Annotated[
    str,
    Field(
        pattern=r"^@?[A-Za-z0-9_.-]{2,30}$",
        description="Username: 2 to 30 letters, digits, '-', '_' or '.'.",
    ),
]
Note = Annotated[
    str,
    Field(
        min_length=1, max_length=280, description="What the money is for (up to 280 characters)."
    ),
]
Key = Annotated[
    str,
    Field(
        min_length=1,
        max_length=64,
        description="Your own key for this payment; a repeat with the same key does not pay again.",
    ),
]
Status = Annotated[
    Literal["pending", "completed", "cancelled", "failed", "expired"],
    Field(description="Only transactions in this status."),
]


@dataclass(frozen=True)
class Words:
    """What a provider calls the things that both have.

    These are its table prefix, its ID prefixes, and the tools that hints refer to.
    """

    tables: str
    transactions: str
    contact_id: str
    source_id: str
    request_id: str
    list_contacts: str
    list_sources: str
    link_source: str
    activate_source: str
    list_transactions: str
    list_requests: str


# -- accounts and their entries --------------------------------------------------------------------
def balance(svc: Service, account_id: str) -> int:
    """Return the current balance of an account in cents (for a credit card, its free credit)."""
    account = svc.db.get("payments_accounts", account_id) or {}
    if account.get("behind"):
        return balance(svc, account["behind"])
    entered = svc.db.sql(
        "SELECT coalesce(sum(amount),0) FROM payments_entries WHERE account_id=? AND at<=?",
        account_id,
        svc.time,
    )
    return account["opening"] + entered[0][0]


def post(
    svc: Service, account_id: str, amount: int, ref: str, what: str, at: str | None = None
) -> None:
    """Enter signed cents in an account, or in the account behind a debit card.

    `at` may lie in the future; by default it is now.
    """
    account = svc.db.get("payments_accounts", account_id) or {}
    row = {
        "account_id": account.get("behind") or account_id,
        "amount": amount,
        "at": at or svc.time,
        "ref": ref,
        "what": what,
    }
    svc.db.insert("payments_entries", {"id": svc.new_id("ent"), **row})


def settle(svc: Service, movement: Movement) -> bool:
    """Enter what others took from an account or card, or gave back; return whether there is one."""
    known = svc.db.rows("payments_accounts", "last4=?", movement.last4, limit=1)
    for account in known:
        post(svc, account["id"], movement.amount, movement.about, movement.merchant)
    return bool(known)


def reverse(svc: Service, ref: str) -> None:
    """Undo the entries of a transaction.

    Entries that are still in the future are deleted; the others get a counter-entry.
    """
    for entry in svc.db.rows("payments_entries", "ref=?", ref):
        if entry["at"] > svc.time:
            svc.db.delete("payments_entries", entry["id"])
        else:
            post(svc, entry["account_id"], -entry["amount"], ref, "refund")


# -- linked sources and the charge rule ------------------------------------------------------------
def sources(svc: Service, words: Words, where: str = "1") -> list[dict[str, Any]]:
    """Return linked sources, oldest first, each with `type`, `name`, `last4` of its account."""
    rows = svc.db.rows(f"{words.tables}_sources", where, order="added_at, rowid")
    return [_with_account(svc, row) for row in rows]


def _with_account(svc: Service, row: Row) -> Json:
    account = svc.db.get("payments_accounts", row["account_id"]) or {}
    return {"type": account["type"], "name": account["name"], "last4": account["last4"]} | row


def find_source(svc: Service, words: Words, source_id: str) -> dict[str, Any]:
    """Return a linked source, active or not, or refuse if there is none."""
    row = svc.db.get(f"{words.tables}_sources", source_id)
    if row is None:
        svc.fail(
            "FUNDING_SOURCE_NOT_FOUND",
            f"There is no funding source {source_id!r}.",
            f"Use a source_id from {words.list_sources}.",
            source_id=source_id,
        )
    return _with_account(svc, row)


def active_source(svc: Service, words: Words, source_id: str | None) -> dict[str, Any]:
    """Return the given source, or by default the first active one; refuse if it is not usable.

    The sources are in the order in which they were linked.
    """
    if source_id is None:
        usable = sources(svc, words, "active=1")
        if not usable:
            svc.fail(
                "NO_FUNDING_SOURCE",
                "No active funding source is linked.",
                f"Activate one with {words.activate_source} or link one with {words.link_source}.",
            )
        return usable[0]
    chosen = find_source(svc, words, source_id)
    if not chosen["active"]:
        svc.fail(
            "FUNDING_SOURCE_INACTIVE",
            f"{chosen['name']} (…{chosen['last4']}) is inactive.",
            f"Activate it with {words.activate_source} or use another source.",
            source_id=source_id,
        )
    return chosen


def cover(svc: Service, words: Words, source: Row, total: int) -> None:
    """Refuse unless the source covers the whole sum; payments are never split over sources."""
    available = balance(svc, source["account_id"])
    if available < total:
        svc.fail(
            "INSUFFICIENT_FUNDS",
            f"{source['name']} (…{source['last4']}) holds ${dollars(available):,.2f}; "
            f"${dollars(total):,.2f} is needed.",
            f"Choose another source from {words.list_sources} or pay a smaller amount.",
            source_id=source["id"],
            available=dollars(available),
            required=dollars(total),
        )


def source_json(svc: Service, row: Row) -> Json:
    """Return a source as agents see it; a credit card has free credit instead of a balance."""
    amount = dollars(balance(svc, row["account_id"]))
    credit = row["type"] == "credit_card"
    shown = {
        "source_id": row["id"],
        "type": row["type"],
        "name": row["name"],
        "last4": row["last4"],
    }
    return shown | {
        "balance": None if credit else amount,
        "available_credit": amount if credit else None,
        "active": row["active"],
    }


def source_ref(svc: Service, words: Words, source_id: str) -> Json:
    """Return `{source_id, name, last4}` of a source."""
    row = find_source(svc, words, source_id)
    return {"source_id": source_id, "name": row["name"], "last4": row["last4"]}


def link_source(svc: Service, words: Words, kind: str, name: str, last4: str) -> Json:
    """Link an account or card that the bank confirms, and return it as agents see it.

    The balance comes from the bank, which confirms an account if one word of the name matches.
    """
    known = svc.db.rows("payments_accounts", "type=? AND last4=?", kind, last4)
    if not known or not set(name.lower().split()) & set(known[0]["name"].lower().split()):
        svc.fail(
            "ACCOUNT_VERIFICATION_FAILED",
            f"No {kind.replace('_', ' ')} {name!r} ending in {last4} could be verified.",
            "Check the account's name and last four digits.",
            last4=last4,
        )
    account = known[0]
    for row in sources(svc, words):
        if row["account_id"] == account["id"]:
            svc.fail(
                "DUPLICATE_FUNDING_SOURCE",
                f"{row['name']} (…{last4}) is already linked.",
                f"See {words.list_sources}; activate an inactive source with "
                f"{words.activate_source}.",
                source_id=row["id"],
            )
    source = {
        "id": svc.new_id(words.source_id),
        "account_id": account["id"],
        "added_at": svc.time,
        "active": True,
    }
    svc.db.insert(f"{words.tables}_sources", source)
    return source_json(svc, find_source(svc, words, source["id"]))


def set_active(svc: Service, words: Words, source_id: str, active: bool) -> Json:
    """Activate or deactivate a source and return `{source_id, active, status}`."""
    row = find_source(svc, words, source_id)
    if row["active"] != active:
        svc.db.update(f"{words.tables}_sources", source_id, active=active)
    return {"source_id": source_id, "active": active, "status": "active" if active else "inactive"}


# -- contacts --------------------------------------------------------------------------------------
def find_contact(svc: Service, words: Words, contact_id: str) -> Row:
    """Return a contact that has not been removed, or refuse."""
    row = svc.db.get(f"{words.tables}_contacts", contact_id)
    if row is None or row["removed_at"] is not None:
        svc.fail(
            "CONTACT_NOT_FOUND",
            f"There is no contact {contact_id!r}.",
            f"Use a contact_id from {words.list_contacts}.",
            contact_id=contact_id,
        )
    return row


def party(svc: Service, words: Words, contact_id: str) -> Json:
    """Return `{contact_id, name, username}` of a contact, even a removed one."""
    row = svc.db.get(f"{words.tables}_contacts", contact_id) or {}
    return {"contact_id": contact_id, "name": row["name"], "username": row["username"]}


def contact_json(row: Row) -> Json:
    """Return a contact as agents see it."""
    return {"contact_id": row["id"]} | {k: row[k] for k in ("name", "username", "email", "phone")}


def contacts(svc: Service, words: Words) -> list[Row]:
    """Return the rows of contacts that have not been removed, by name."""
    return svc.db.rows(f"{words.tables}_contacts", "removed_at IS NULL", order="name, id")


def digits(phone: str) -> str:
    """Return the digits of a phone number, with the US country code if it has none."""
    number = "".join(c for c in phone if c.isdigit())
    return "1" + number if len(number) == 10 else number


def _clash(row: Row, username: str, email: str | None, phone: str | None) -> str | None:
    """Return which of username, email and phone a contact already has, or None."""
    if row["username"].lower() == username.lower():
        return "username"
    if email is not None and row["email"] is not None and row["email"].lower() == email:
        return "email"
    if phone is not None and row["phone"] is not None and digits(row["phone"]) == digits(phone):
        return "phone"
    return None


def add_contact(
    svc: Service, words: Words, name: str, username: str, email: str | None, phone: str | None
) -> Row:
    """Add a contact and return its row; refuse a username, email or phone already in use."""
    username = username.removeprefix("@")
    email = email.lower() if email else None
    for row in contacts(svc, words):
        clash = _clash(row, username, email, phone)
        if clash is not None:
            svc.fail(
                "DUPLICATE_CONTACT",
                f"{row['name']} is already a contact with this {clash}.",
                "Use the existing contact_id.",
                contact_id=row["id"],
                field=clash,
            )
    contact = {
        "id": svc.new_id(words.contact_id),
        "name": name,
        "username": username,
        "email": email,
        "phone": phone,
        "added_at": svc.time,
    }
    return svc.db.insert(f"{words.tables}_contacts", contact)


def remove_contact(svc: Service, words: Words, contact_id: str) -> Json:
    """Remove a contact from the list; past payments and requests keep the name."""
    find_contact(svc, words, contact_id)
    svc.db.update(f"{words.tables}_contacts", contact_id, removed_at=svc.time)
    return {"contact_id": contact_id, "status": "removed"}


# -- transactions ----------------------------------------------------------------------------------
def status(row: Row, now: str) -> str:
    """Return pending, completed, cancelled, failed, or expired.

    A transfer expires if nobody claims the money in time.
    """
    if row["cancelled_at"] is not None:
        return "cancelled"
    if row["failure"] is not None:
        return "failed"
    if row.get("claim_by") is not None:
        return "pending" if now < row["claim_by"] else "expired"
    return "pending" if now < row["settles_at"] else "completed"


def find_transaction(svc: Service, words: Words, transaction_id: str) -> Row:
    """Return a transaction, or refuse if there is none."""
    row = svc.db.get(words.transactions, transaction_id)
    if row is None:
        svc.fail(
            "TRANSACTION_NOT_FOUND",
            f"There is no transaction {transaction_id!r}.",
            f"Use a transaction_id from {words.list_transactions}.",
            transaction_id=transaction_id,
        )
    return row


def cancel_transaction(svc: Service, words: Words, transaction_id: str) -> dict[str, Any]:
    """Cancel a pending transaction that the account made, and return its old row.

    The money comes back, and a request that the transaction paid is open again.
    """
    row = find_transaction(svc, words, transaction_id)
    state = status(row, svc.time)
    received = row["type"].endswith("received")
    if received or state != "pending":
        why = "was sent by someone else" if received else f"is {state}"
        svc.fail(
            "TRANSACTION_NOT_CANCELLABLE",
            f"Transaction {transaction_id} {why}.",
            "Only pending payments that you made can be cancelled; "
            "ask the recipient to send the money back.",
            transaction_id=transaction_id,
            status=state,
        )
    svc.db.update(words.transactions, transaction_id, cancelled_at=svc.time)
    reverse(svc, transaction_id)
    if row["request_id"] is not None:
        svc.db.update(
            f"{words.tables}_requests",
            row["request_id"],
            closed_as=None,
            closed_at=None,
            transaction_id=None,
        )
    return row


def repeated(svc: Service, words: Words, key: str | None, **payment: Any) -> Row | None:
    """Return the transaction that was made with this idempotency key, or None.

    Refuses if the key was used for a payment with different values in the given columns.
    """
    if key is None:
        return None
    rows = svc.db.rows(words.transactions, "idempotency_key=?", key)
    if not rows:
        return None
    earlier = rows[0]
    if any(earlier[column] != value for column, value in payment.items()):
        svc.fail(
            "IDEMPOTENCY_KEY_REUSED",
            "This key was already used for another payment.",
            "Use a new key for a new payment.",
            transaction_id=earlier["id"],
        )
    return earlier


# -- days in the account's time zone ---------------------------------------------------------------
def zone(svc: Service, words: Words) -> ZoneInfo:
    """Return the time zone of the signed-in account."""
    return ZoneInfo(svc.db.rows(f"{words.tables}_profile")[0]["timezone"])


def next_day(day: date) -> date:
    """Return the following day."""
    return day + timedelta(days=1)
