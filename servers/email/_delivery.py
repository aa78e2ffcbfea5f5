"""How mail goes out and arrives: delivery between accounts, letters, answers, bounces, drafts."""

from __future__ import annotations

from typing import Any

from servers.email._rules import (
    DRAFT_PREFIXES,
    PREFIXES,
    Outgoing,
    active,
    complete,
    drafted,
    own_address,
    people_text,
    written_json,
)
from servers.kit.posts import Letter
from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.kit.values import iso

BOUNCE_SECONDS = 60


_RESERVED = ("invalid", "test", "example", "localhost")
"""Top-level domains that RFC 2606 reserves, so no mail server answers there."""


# -- sending ----------------------------------------------------------------------------------
def post(service: Service, mail: Outgoing, thread: Row | None = None) -> Json:
    """Send a message from the signed-in account and return the tools' reply."""
    row = send(service, active(service), mail, thread=thread)
    return {"email_id": row["id"], "thread_id": row["thread_id"], "status": "sent"}


def send(
    service: Service,
    account: Row,
    mail: Outgoing,
    *,
    thread: Row | None = None,
    at: int | None = None,
) -> Row:
    """Send a message from an account of the service's provider and return the sender's row.

    `thread` is a row whose thread it joins; `at` is when it goes out (now by default). Copies
    arrive at once in the person's other accounts; what cannot be delivered comes back as a bounce.
    """
    sent_at = iso(service.now if at is None else at)
    message_prefix, thread_prefix = PREFIXES[service.name]
    own = account["address"]
    everyone = [*mail.to, *mail.cc, *mail.bcc]
    thread_id = thread["thread_id"] if thread else service.new_id(thread_prefix)
    common = mail.columns() | {
        "sender": own,
        "sender_name": account["name"],
        "conversation": thread["conversation"] if thread else thread_id,
        "starred": False,
        "important": False,
        "created_at": sent_at,
        "people": people_text(account["name"], own, mail.to, mail.cc),
    }
    # Gmail keeps mail to oneself as one message in two places; Outlook as two messages.
    both_ways = service.name == "gmail" and own in everyone
    places = ("inbox", "sent") if both_ways else ("sent",)
    own_columns = {
        "id": service.new_id(message_prefix),
        "account": own,
        "thread_id": thread_id,
        "read": not both_ways,
    }
    sent = service.db.insert(
        f"{service.name}_emails", common | placed(service.name, *places) | own_columns
    )
    for target in service.db.rows("email_accounts", order="address"):
        has_it_already = both_ways and target["address"] == own
        if target["address"] in everyone and not has_it_already:
            _arrive(service, target, common | {"bcc": []})
    for recipient in everyone:
        reason = undeliverable(service, recipient)
        if reason is not None:
            _bounce(service, account, sent, recipient, reason)
        elif recipient in mail.to:
            service.expect("mail", recipient, about=sent["id"])
    return sent


def placed(provider: str, *places: str) -> Json:
    """Return the provider's own columns of a new message in `inbox` or `sent`.

    Only Gmail can hold it in both.
    """
    if provider == "gmail":
        return {"labels": [*places], "snooze_until": None}
    return {"folder": places[0], "categories": [], "pinned": False}


def _arrive(service: Service, target: Row, common: Row) -> None:
    """Put a message into an account of the person, in the thread where its conversation goes on."""
    provider = target["provider"]
    table = f"{provider}_emails"
    message_prefix, thread_prefix = PREFIXES[provider]
    earlier = service.db.rows(
        table, "account=? AND conversation=?", target["address"], common["conversation"], limit=1
    )
    own_columns = {
        "id": service.new_id(message_prefix),
        "account": target["address"],
        "thread_id": earlier[0]["thread_id"] if earlier else service.new_id(thread_prefix),
        "read": False,
    }
    service.db.insert(table, common | placed(provider, "inbox") | own_columns)


# -- letters of services ----------------------------------------------------------------------
def take_in(service: Service, letter: Letter) -> bool:
    """Put a service's letter into the account that it is addressed to, filed as the person files.

    Returns whether an account of the service's provider has the address. A letter about a message
    of the account joins its thread.
    """
    account = service.db.get("email_accounts", letter.to)
    if account is None or account["provider"] != service.name:
        return False
    table = f"{service.name}_emails"
    message_prefix, thread_prefix = PREFIXES[service.name]
    about = service.db.get(table, letter.about)
    thread_id = about["thread_id"] if about else service.new_id(thread_prefix)
    row = {
        "id": service.new_id(message_prefix),
        "account": letter.to,
        "thread_id": thread_id,
        "conversation": about["conversation"] if about else thread_id,
        "sender": letter.sender,
        "sender_name": letter.sender_name,
        "recipients": [letter.to],
        "cc": [],
        "bcc": [],
        "subject": letter.subject,
        "body": letter.body,
        "attachments": [],
        "read": False,
        "starred": False,
        "important": False,
        "created_at": service.time,
        "people": people_text(letter.sender_name, letter.sender, [letter.to]),
    }
    filed = service.db.rows(
        "email_filing", "account=? AND sender=?", letter.to, letter.sender, order="id", limit=1
    )
    service.db.insert(table, row | placed(service.name, "inbox") | _kept(service.name, filed))
    return True


def _kept(provider: str, filed: list[Row]) -> Json:
    """Return the columns of a new message that the person's filing decides."""
    if not filed:
        return {}
    rule = filed[0]
    if provider == "gmail":
        labels = [name for name in rule["labels"] if name != "archive"]
        return {"labels": labels if "archive" in rule["labels"] else ["inbox", *labels]}
    return {"folder": rule["folder"] or "inbox", "categories": rule["categories"]}


# -- answers of people ------------------------------------------------------------------------
def receive_answer(service: Service, reaction: Row) -> None:
    """Let somebody answer a message of the person's, in its thread and with its words below."""
    table = f"{service.name}_emails"
    sent = service.db.get(table, reaction["about"])
    if sent is None or reaction["does"] != "answer":
        return
    later = service.db.rows(
        table,
        "thread_id=? AND account=sender AND created_at>?",
        sent["thread_id"],
        sent["created_at"],
    )
    if any(reaction["who"] in row["recipients"] for row in later):
        return  # the answer to the later message is the answer to both
    known = service.db.get("email_directory", reaction["who"])
    name = known["name"] if known else reaction["who"]
    quoted = "\n".join(f"> {line}".rstrip() for line in sent["body"].splitlines())
    subject = sent["subject"]
    row = {
        "id": service.new_id(PREFIXES[service.name][0]),
        "account": sent["account"],
        "thread_id": sent["thread_id"],
        "conversation": sent["conversation"],
        "sender": reaction["who"],
        "sender_name": name,
        "recipients": [sent["account"]],
        "cc": [],
        "bcc": [],
        "subject": subject if subject.lower().startswith("re:") else f"Re: {subject}",
        "body": f"{reaction['says']}\n\n{sent['sender_name']} wrote:\n{quoted}",
        "attachments": [],
        "read": False,
        "starred": False,
        "important": False,
        "created_at": service.time,
        "people": people_text(name, reaction["who"], [sent["account"]]),
    }
    service.db.insert(table, row | placed(service.name, "inbox"))


# -- bounces ----------------------------------------------------------------------------------
def undeliverable(service: Service, recipient: str) -> str | None:
    """Return why an address cannot be reached, or None if it can.

    Organisations know their own people; at any other domain everyone may exist.
    """
    domain = recipient.rpartition("@")[2]
    if domain.rpartition(".")[2] in _RESERVED:
        return f"the domain {domain} could not be found"
    if service.db.get("email_accounts", recipient) or service.db.get("email_directory", recipient):
        return None
    colleagues = service.db.rows(
        "email_directory", "organisation IS NOT NULL AND address LIKE ?", f"%@{domain}", limit=1
    )
    if not colleagues:
        return None
    return f"there is no mailbox {recipient} at {colleagues[0]['organisation']}"


def _bounce(service: Service, account: Row, sent: Row, recipient: str, reason: str) -> None:
    """Let the provider tell the sender, a minute later, what could not be delivered."""
    said = {"recipient": recipient, "reason": reason, "subject": sent["subject"]}
    due = service.now + BOUNCE_SECONDS
    service.post("bounce", account["address"], said, about=sent["id"], due=due)


# -- drafts -----------------------------------------------------------------------------------
def save_draft(service: Service, mail: Outgoing) -> Json:
    """Store a draft of the signed-in account and return the tools' reply."""
    row = mail.columns() | {
        "id": service.new_id(DRAFT_PREFIXES[service.name]),
        "account": own_address(service),
        "created_at": service.time,
    }
    service.db.insert(f"{service.name}_drafts", row)
    return {"draft_id": row["id"], "status": "draft"}


def change_draft(service: Service, row: Row, given: dict[str, Any]) -> Json:
    """Put the given arguments into a draft and return it for the agent.

    An argument that is None leaves its field as it is.
    """
    changes = {name: value for name, value in given.items() if value is not None}
    columns = drafted(**(written_json(row) | changes)).columns()
    service.db.update(f"{service.name}_drafts", row["id"], **columns)
    return draft_json(row | columns)


def send_draft(service: Service, row: Row) -> dict[str, Any]:
    """Send a draft, delete it, and return the tools' reply."""
    mail = complete(drafted(**written_json(row)))
    service.db.delete(f"{service.name}_drafts", row["id"])
    return post(service, mail)


def drafts(service: Service) -> list[Row]:
    """Return the drafts of the signed-in account, newest first."""
    return service.db.rows(
        f"{service.name}_drafts",
        "account=?",
        own_address(service),
        order="created_at DESC, id",
    )


def draft_json(row: Row, key: str = "draft_id") -> Json:
    """Return a message that has not gone out yet; `key` is the field that holds its id."""
    return {key: row["id"], **written_json(row), "created_at": row["created_at"]}
