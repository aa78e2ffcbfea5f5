"""Zelle's tables, words and limits, and how a transfer is made."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import dollars, iso, parse_time
from servers.kit.zones import day_start, local_day, months_later
from servers.payments import _mail as mail
from servers.payments import _rules as rules

TABLES = {
    "zelle_profile": Table(
        "id:str name:str username:str email:str phone:str timezone:str",
        identity=True,
        catalogue=True,
    ),
    "zelle_contacts": rules.CONTACTS,
    "zelle_sources": rules.SOURCES,
    # Emails (lower case) and phone numbers (digits) that are enrolled with Zelle at some bank.
    "zelle_directory": Table("token:str", catalogue=True),
    # claim_by is set if the recipient was not enrolled.
    # source_id is the account that paid or received.
    "zelle_transfers": Table(
        "id:str type:str/matter contact_id:str/ref party:str/derived amount:int/matter "
        "note:str?/prose source_id:str/ref request_id:str?/ref scheduled_id:str?/ref "
        "category:str?/matter created_at:str/stamp settles_at:str/derived claim_by:str?/derived "
        "cancelled_at:str?/stamp failure:str?/derived idempotency_key:str?/session",
        search=("note", "party"),
        index=("contact_id", "created_at", "idempotency_key", "scheduled_id, created_at"),
        outward={"type": "transfer_sent", "failure": {"exists": False}},
        noun="a transfer ({type}) of {amount:cents} with {contact_id}",
    ),
    "zelle_requests": Table(
        "id:str direction:str/matter contact_id:str/ref amount:int/matter note:str?/prose "
        "created_at:str/stamp expires_at:str/derived closed_as:str?/matter closed_at:str?/stamp "
        "transaction_id:str?/ref",
        index=("created_at", "direction, created_at"),
        outward={"direction": "outgoing"},
        noun="the request ({direction}) for {amount:cents} with {contact_id}",
    ),
    "zelle_scheduled": Table(
        "id:str contact_id:str/ref amount:int/matter note:str?/prose source_id:str?/ref "
        "scheduled_date:str/appointed recurring:bool/matter created_at:str/stamp "
        "next_at:str?/derived cancelled_at:str?/stamp",
        index=("next_at", "scheduled_date"),
        noun="a payment of {amount:cents} to {contact_id} scheduled for {scheduled_date:day}",
    ),
}
WORDS = rules.Words(
    tables="zelle",
    transactions="zelle_transfers",
    contact_id="zrc",
    source_id="zbk",
    request_id="zrq",
    list_contacts="list_recipients",
    list_sources="list_enrolled_banks",
    link_source="link_bank_account",
    activate_source="enroll_bank_account",
    list_transactions="list_transfers",
    list_requests="list_transfer_requests",
)
DAILY_LIMIT = 250_000
"""Most cents that can be sent in a day."""
MONTHLY_LIMIT = 2_000_000
"""Most cents that can be sent in a month."""
CLAIM = 14 * rules.DAY
"""Seconds in which a recipient who is not enrolled can claim a transfer."""

BankId = Annotated[
    str,
    Field(description=("source_id of an enrolled bank account; defaults to the one linked first.")),
]
Category = Annotated[
    Literal["rent", "utilities", "food", "entertainment", "travel", "healthcare", "other"],
    Field(description="Spending category."),
]
CATEGORIES = ("rent", "utilities", "food", "entertainment", "travel", "healthcare", "other")


def enrolled(svc: Service, contact: Row) -> bool:
    """Return whether the recipient's email or phone is enrolled with Zelle."""
    tokens = [(contact["email"] or "").lower(), rules.digits(contact["phone"] or "")]
    return any(svc.db.get("zelle_directory", token) is not None for token in tokens if token)


def contact_json(svc: Service, row: Row) -> Json:
    """Return a recipient as agents see it."""
    return rules.contact_json(row) | {"enrolled": enrolled(svc, row)}


def spent(svc: Service, start: str, end: str) -> int:
    """Return the cents sent in a span that count toward the limits.

    Transfers that failed or whose money came back do not count.
    """
    return sum(row["amount"] for row in sent(svc, start, end))


def sent(svc: Service, start: str, end: str) -> list[dict[str, Any]]:
    """Return the transfers sent in a span that are pending or completed."""
    rows = svc.db.rows(
        "zelle_transfers", "type='transfer_sent' AND created_at>=? AND created_at<?", start, end
    )
    return [row for row in rows if rules.status(row, svc.time) in ("pending", "completed")]


class Allowance(NamedTuple):
    """The sending limit of a day or a month, and how much of it is spent, in cents."""

    limit: int
    spent: int
    resets_at: str

    @property
    def remaining(self) -> int:
        """Return the cents that can still be sent."""
        return max(0, self.limit - self.spent)


def allowance(svc: Service, period: str, moment: int) -> Allowance:
    """Return the allowance for the `day` or `month` of a moment."""
    where = rules.zone(svc, WORDS)
    today = local_day(moment, where)
    if period == "day":
        first = today
        after = rules.next_day(today)
        most = DAILY_LIMIT
    else:
        first = today.replace(day=1)
        after = months_later(today.replace(day=1), 1)
        most = MONTHLY_LIMIT
    resets_at = day_start(after, where)
    return Allowance(most, spent(svc, day_start(first, where), resets_at), resets_at)


def transfer(
    svc: Service,
    contact_id: str,
    amount: int,
    note: str | None,
    *,
    source_id: str | None,
    moment: int | None = None,
    **extra: Any,
) -> dict[str, Any]:
    """Send money and return the transfer's row, or refuse.

    `moment` is when a scheduled payment was due; by default it is now.
    """
    contact = rules.find_contact(svc, WORDS, contact_id)
    moment = svc.now if moment is None else moment
    for period, code in (("day", "DAILY_LIMIT_EXCEEDED"), ("month", "MONTHLY_LIMIT_EXCEEDED")):
        allowed = allowance(svc, period, moment)
        if allowed.spent + amount > allowed.limit:
            svc.fail(
                code,
                f"${dollars(amount):,.2f} would exceed the limit of "
                f"${dollars(allowed.limit):,.2f} a {period}.",
                f"Send at most the remaining amount, or wait until {allowed.resets_at}.",
                limit=dollars(allowed.limit),
                spent=dollars(allowed.spent),
                remaining=dollars(allowed.remaining),
                resets_at=allowed.resets_at,
            )
    source = rules.active_source(svc, WORDS, source_id)
    rules.cover(svc, WORDS, source, amount)
    claim_by = None if enrolled(svc, contact) else iso(moment + CLAIM)
    row = _insert(svc, contact, amount, note, source["id"], moment, claim_by=claim_by, **extra)
    account_id = source["account_id"]
    rules.post(svc, account_id, -amount, row["id"], "zelle transfer", row["created_at"])
    if claim_by is not None:
        rules.post(svc, account_id, amount, row["id"], "zelle transfer not claimed", claim_by)
    _tell(svc, row)
    return row


def receive(svc: Service, request: Row) -> Row:
    """Enter the money that pays a request in a bank, and return the transfer."""
    source = _bank_known_to(svc, request["contact_id"])
    contact = svc.db.get("zelle_contacts", request["contact_id"]) or {}
    row = _insert(
        svc,
        contact,
        request["amount"],
        request["note"],
        source["id"],
        svc.now,
        type="transfer_received",
        settles_at=svc.time,
        request_id=request["id"],
    )
    rules.post(svc, source["account_id"], row["amount"], row["id"], "zelle transfer")
    tell(svc, "payment_received", row)
    return row


def _bank_known_to(svc: Service, contact_id: str) -> Row:
    """Return the bank that a contact's money came to the last time, by default the first one."""
    came = "contact_id=? AND type='transfer_received'"
    newest = "created_at DESC, rowid DESC"
    for row in svc.db.rows("zelle_transfers", came, contact_id, order=newest, limit=1):
        bank = rules.find_source(svc, WORDS, row["source_id"])
        if bank["active"]:
            return bank
    return rules.active_source(svc, WORDS, None)


def _tell(svc: Service, row: Row) -> None:
    """Mail both sides about a transfer that was sent."""
    occasions = {"sent": "payment_sent", "theirs": "payment_received"}
    if row["claim_by"] is not None:
        occasions = {"sent": "payment_unclaimed", "theirs": "payment_to_claim"}
        tell(svc, "payment_returned", row, due=parse_time(row["claim_by"]))
    tell(svc, occasions["sent"], row)
    tell_contact(svc, occasions["theirs"], row)


def tell(svc: Service, occasion: str, row: Row, *, due: int | None = None) -> None:
    """Mail the owner about a transfer; notices about a bank account go where that bank writes."""
    source = rules.find_source(svc, WORDS, row["source_id"])
    account = svc.db.get("payments_accounts", source["account_id"]) or {}
    said = mail.of_payment(row, source["name"])
    contact_id = row["contact_id"]
    to = account["mail_to"]
    mail.tell(svc, WORDS, occasion, contact_id, said, about=row["id"], to=to, due=due)


def tell_contact(svc: Service, occasion: str, row: Row) -> None:
    """Mail the recipient of a transfer."""
    said = mail.of_payment(row, None)
    mail.tell_contact(svc, WORDS, occasion, row["contact_id"], said, about=row["id"])


def failed_transfer(
    svc: Service,
    contact_id: str,
    amount: int,
    note: str | None,
    source_id: str,
    moment: int,
    failure: str,
    **extra: Any,
) -> None:
    """Record a scheduled transfer that could not be made."""
    contact = svc.db.get("zelle_contacts", contact_id) or {}
    row = _insert(svc, contact, amount, note, source_id, moment, failure=failure, **extra)
    tell(svc, "payment_failed", row)


def _insert(
    svc: Service,
    contact: Row,
    amount: int,
    note: str | None,
    source_id: str,
    moment: int,
    **extra: Any,
) -> Row:
    row = {
        "id": svc.new_id("ztx"),
        "type": "transfer_sent",
        "contact_id": contact["id"],
        "party": contact["name"],
        "amount": amount,
        "note": note,
        "source_id": source_id,
        "created_at": iso(moment),
        "settles_at": iso(moment + rules.SETTLES),
    }
    return svc.db.insert("zelle_transfers", row | extra)


def transfer_json(svc: Service, row: Row) -> Json:
    """Return a transfer as agents see it; sent and received ones have the same fields."""
    return {
        "transaction_id": row["id"],
        "type": row["type"],
        "status": rules.status(row, svc.time),
        "amount": dollars(row["amount"]),
        "note": row["note"],
        "category": row["category"],
        "contact": rules.party(svc, WORDS, row["contact_id"]),
        "bank": rules.source_ref(svc, WORDS, row["source_id"]),
        "request_id": row["request_id"],
        "scheduled_payment_id": row["scheduled_id"],
        "created_at": row["created_at"],
        "settles_at": None if row["claim_by"] else row["settles_at"],
        "claim_by": row["claim_by"],
        "cancelled_at": row["cancelled_at"],
        "failure": row["failure"],
    }
