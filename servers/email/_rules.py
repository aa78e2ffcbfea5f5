"""What Gmail and Outlook share: addresses, the shape of a message, delivery between accounts, and bounces.

Every message is one row for each account that holds it. A row dated after now has not arrived yet, so a bounce is written when the mail
goes out and is seen a minute later.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.utils import parseaddr
from typing import Annotated, Any

from pydantic import Field

from servers.kit.errors import ServiceError, did_you_mean
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.values import iso, parse_time

MAIL = (
    "id:str account:str thread_id:str conversation:str sender:str sender_name:str recipients:list cc:list bcc:list subject:str body:str "
    "attachments:list read:bool starred:bool important:bool created_at:str people:str"
)
"""Columns of a message that both providers have. `conversation` is the same in every account; `people` is text for search."""

SEARCH = ("subject", "body", "people")
DRAFT = "id:str account:str recipients:list cc:list bcc:list subject:str body:str attachments:list created_at:str"

SHARED_TABLES = {
    "email_accounts": Table(
        "address:str provider:str username:str name:str active:bool", identity=True
    ),
    "email_directory": Table("address:str name:str organisation:str?"),
}
"""Accounts of the person in either provider, and who exists: at a domain with an organisation nobody else does."""

PREFIXES = {"gmail": ("gem", "gth"), "outlook": ("oem", "oth")}
"""Prefixes of message and thread ids."""
DRAFT_PREFIXES = {"gmail": "gdr", "outlook": "odr"}

BOUNCE_SECONDS = 60
_DAEMONS = {
    "gmail": (
        "mailer-daemon@googlemail.com",
        "Mail Delivery Subsystem",
        "Delivery Status Notification (Failure)",
    ),
    "outlook": (
        "mailer-daemon@outlook.office.com",
        "Microsoft Outlook",
        "Undeliverable: {subject}",
    ),
}
_RESERVED = ("invalid", "test", "example", "localhost")
_ADDRESS = re.compile(
    r"^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$"
)
_MOST_RECIPIENTS = 100

Addresses = Annotated[list[str], Field(description="Email addresses, e.g. ['ana@example.com'].")]
Address = Annotated[str, Field(description="One email address, e.g. ana@example.com.")]
Attachments = Annotated[
    list[str], Field(max_length=25, description="File names to attach, e.g. ['agenda.pdf'].")
]
Subject = Annotated[str, Field(max_length=998, description="Subject line.")]
Body = Annotated[str, Field(max_length=100_000, description="Plain text of the message.")]
ReplyBody = Annotated[
    str, Field(min_length=1, max_length=100_000, description="Plain text of the reply.")
]
ReplyAll = Annotated[bool, Field(description="Also reply to everyone else on To and Cc.")]
Note = Annotated[
    str, Field(max_length=100_000, description="Text to put above the forwarded message.")
]


def address(text: str) -> str:
    """Return the bare lower-case address of `a@b.c` or `Name <a@b.c>`. Raises `ServiceError` INVALID_RECIPIENT."""
    bare = parseaddr(text)[1].strip().lower()
    if not _ADDRESS.match(bare) or ".." in bare or bare.startswith("."):
        raise ServiceError(
            "INVALID_RECIPIENT",
            f"{text!r} is not a valid email address.",
            "Use addresses such as name@domain.com, one in each list item.",
            context={"recipient": text},
        )
    return bare


@dataclass(frozen=True)
class Outgoing:
    """A checked message: addresses are bare, valid and each stands once, in the first of to, cc and bcc that names it."""

    to: list[str]
    cc: list[str]
    bcc: list[str]
    subject: str
    body: str
    attachments: list[str] = field(default_factory=list)

    def columns(self) -> dict[str, Any]:
        """Return the message as columns of a row."""
        lists = {
            "recipients": list(self.to),
            "cc": list(self.cc),
            "bcc": list(self.bcc),
            "attachments": list(self.attachments),
        }
        return lists | {"subject": self.subject, "body": self.body}


def drafted(
    to: Sequence[str] | None,
    cc: Sequence[str] | None,
    bcc: Sequence[str] | None,
    subject: str | None,
    body: str | None,
    attachments: Sequence[str] | None = None,
) -> Outgoing:
    """Return a message that need not be complete. Raises `ServiceError` for a bad address or file name."""
    seen: set[str] = set()
    lists: list[list[str]] = []
    for group in (to, cc, bcc):
        fresh = [a for a in dict.fromkeys(address(text) for text in group or ()) if a not in seen]
        seen.update(fresh)
        lists.append(fresh)
    if len(seen) > _MOST_RECIPIENTS:
        raise ServiceError(
            "TOO_MANY_RECIPIENTS",
            f"A message goes to at most {_MOST_RECIPIENTS} recipients.",
            "Send it in several messages.",
        )
    files = list(dict.fromkeys(name.strip() for name in attachments or ()))
    if "" in files:
        raise ServiceError(
            "INVALID_ATTACHMENT",
            "An attachment needs a file name.",
            "Name each file, e.g. 'agenda.pdf'.",
        )
    return Outgoing(*lists, subject=(subject or "").strip(), body=body or "", attachments=files)


def complete(mail: Outgoing) -> Outgoing:
    """Return a message that is fit to send. Raises `ServiceError` for one without recipients and for an empty one."""
    if not (mail.to or mail.cc or mail.bcc):
        raise ServiceError(
            "NO_RECIPIENTS",
            "The message has no recipients.",
            "Name at least one address in 'to', 'cc' or 'bcc'.",
        )
    if not mail.subject and not mail.body.strip():
        raise ServiceError(
            "EMPTY_MESSAGE",
            "Subject and body are both empty.",
            "Give the message a subject or a body.",
        )
    return mail


def active(service: Service) -> dict[str, Any]:
    """Return the signed-in account of a provider."""
    rows = service.db.rows("email_accounts", "provider=? AND active=1", service.name, limit=1)
    if not rows:
        service.fail("NO_ACTIVE_ACCOUNT", f"Nobody is signed in to {service.title}.")
    return rows[0]


def accounts(service: Service) -> list[dict[str, Any]]:
    """Return the person's accounts with a provider for the agent."""
    rows = service.db.rows("email_accounts", "provider=?", service.name, order="address")
    return [
        {
            "username": r["username"],
            "name": r["name"],
            "email_address": r["address"],
            "active": r["active"],
        }
        for r in rows
    ]


def sign_in(service: Service, username: str, lister: str) -> dict[str, Any]:
    """Sign in to the account with a username or address and return it for the agent. `lister` is the tool that lists accounts."""
    known = accounts(service)
    wanted = username.strip().lower()
    chosen = next((a for a in known if wanted in (a["username"], a["email_address"])), None)
    if chosen is None:
        near = did_you_mean(wanted, [a["username"] for a in known])
        service.fail(
            "USER_NOT_FOUND",
            f"There is no account {username!r}{near}",
            f"{lister} shows all accounts.",
        )
    for account in known:
        service.db.update("email_accounts", account["email_address"], active=account is chosen)
    return {
        "username": chosen["username"],
        "name": chosen["name"],
        "email_address": chosen["email_address"],
    }


def arrived(service: Service, where: str = "", *params: Any) -> list[dict[str, Any]]:
    """Return the messages of the signed-in account that have arrived (and fit a condition), newest first."""
    extra = f" AND {where}" if where else ""
    own = active(service)["address"]
    return service.db.rows(
        f"{service.name}_emails",
        f"account=? AND created_at<=?{extra}",
        own,
        service.time,
        *params,
        order="created_at DESC, id",
    )


def people_text(name: str, sender: str, *groups: Sequence[str]) -> str:
    """Return what a search for people looks at."""
    return " ".join([name, sender, *(a for group in groups for a in group)])


def placed(provider: str, *places: str) -> dict[str, Any]:
    """Return the provider's own columns of a new message: in `inbox` or `sent`, with Gmail also in both."""
    if provider == "gmail":
        return {"labels": [*places], "snooze_until": None}
    return {"folder": places[0], "categories": [], "pinned": False}


def send(
    service: Service,
    account: dict[str, Any],
    mail: Outgoing,
    *,
    thread: dict[str, Any] | None = None,
    at: int | None = None,
) -> dict[str, Any]:
    """Send a message from an account of the service's provider and return the sender's row.

    `thread` is a row whose thread it joins. Copies arrive at once in other accounts of the person; what cannot be delivered comes
    back as a bounce a minute later.
    """
    when = iso(service.now if at is None else at)
    message, threads = PREFIXES[service.name]
    own = account["address"]
    everyone = [*mail.to, *mail.cc, *mail.bcc]
    thread_id = thread["thread_id"] if thread else service.new_id(threads)
    base = mail.columns() | {
        "sender": own,
        "sender_name": account["name"],
        "conversation": thread["conversation"] if thread else thread_id,
        "starred": False,
        "important": False,
        "created_at": when,
        "people": people_text(account["name"], own, mail.to, mail.cc),
    }
    place = placed(service.name, "sent")
    read = True
    if own in everyone and service.name == "gmail":
        place = placed(service.name, "inbox", "sent")
        read = False
    sent = service.db.insert(
        f"{service.name}_emails",
        base
        | place
        | {"id": service.new_id(message), "account": own, "thread_id": thread_id, "read": read},
    )
    for target in service.db.rows("email_accounts", order="address"):
        if target["address"] in everyone and not (
            target["address"] == own and service.name == "gmail"
        ):
            _arrive(service, target, base | {"bcc": []})
    for lost in everyone:
        if (reason := undeliverable(service, lost)) is not None:
            _bounce(service, account, sent, lost, reason)
    return sent


def post(service: Service, mail: Outgoing, thread: dict[str, Any] | None = None) -> dict[str, Any]:
    """Send from the signed-in account and return what tools answer."""
    row = send(service, active(service), mail, thread=thread)
    return {"email_id": row["id"], "thread_id": row["thread_id"], "status": "sent"}


def _arrive(service: Service, target: dict[str, Any], base: dict[str, Any]) -> None:
    provider = target["provider"]
    table = f"{target['provider']}_emails"
    message, threads = PREFIXES[provider]
    known = service.db.rows(
        table, "account=? AND conversation=?", target["address"], base["conversation"], limit=1
    )
    service.db.insert(
        table,
        base
        | placed(provider, "inbox")
        | {
            "id": service.new_id(message),
            "account": target["address"],
            "thread_id": known[0]["thread_id"] if known else service.new_id(threads),
            "read": False,
        },
    )


def undeliverable(service: Service, recipient: str) -> str | None:
    """Return why an address cannot be reached, or None. Organisations know their own people; elsewhere anyone may exist."""
    domain = recipient.rpartition("@")[2]
    if domain.rpartition(".")[2] in _RESERVED:
        return f"the domain {domain} could not be found"
    if service.db.get("email_accounts", recipient) or service.db.get("email_directory", recipient):
        return None
    closed = service.db.rows(
        "email_directory", "organisation IS NOT NULL AND address LIKE ?", f"%@{domain}", limit=1
    )
    return f"there is no mailbox {recipient} at {closed[0]['organisation']}" if closed else None


def _bounce(
    service: Service, account: dict[str, Any], sent: dict[str, Any], lost: str, reason: str
) -> None:
    sender, name, subject = _DAEMONS[service.name]
    row = {
        "id": service.new_id(PREFIXES[service.name][0]),
        "account": account["address"],
        "thread_id": sent["thread_id"],
        "conversation": sent["conversation"],
        "sender": sender,
        "sender_name": name,
        "recipients": [account["address"]],
        "cc": [],
        "bcc": [],
        "subject": subject.format(subject=sent["subject"]),
        "body": f"Your message to {lost} was not delivered: {reason}.\n\nOriginal subject: {sent['subject']}",
        "attachments": [],
        "read": False,
        "starred": False,
        "important": False,
        "created_at": iso(parse_time(sent["created_at"]) + BOUNCE_SECONDS),
        "people": people_text(name, sender, [account["address"]], [lost]),
    }
    service.db.insert(f"{service.name}_emails", row | placed(service.name, "inbox"))


def replied(original: dict[str, Any], own: str, body: str, reply_all: bool) -> Outgoing:
    """Return the answer to a message. One's own message is answered to those it went to."""
    mine = original["sender"] == own
    to = list(original["recipients"]) if mine else [original["sender"]]
    others = list(original["cc"]) if mine else [*original["recipients"], *original["cc"]]
    cc = [a for a in others if a != own] if reply_all else []
    kept = [a for a in to if a != own] or to
    return complete(drafted(kept, cc, [], _prefixed("Re: ", original["subject"]), body))


def forwarded(original: dict[str, Any], to: Sequence[str], note: str | None) -> Outgoing:
    """Return a message passed on, with its attachments, below an optional note."""
    quoted = (
        f"---------- Forwarded message ----------\nFrom: {original['sender_name']} <{original['sender']}>\nDate: {original['created_at']}\n"
        f"Subject: {original['subject']}\nTo: {', '.join(original['recipients'])}\n\n{original['body']}"
    )
    body = f"{note}\n\n{quoted}" if note else quoted
    return complete(
        drafted(
            to, None, None, _prefixed("Fwd: ", original["subject"]), body, original["attachments"]
        )
    )


def _prefixed(prefix: str, subject: str) -> str:
    return subject if subject.lower().startswith(prefix.strip().lower()) else prefix + subject


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a message that both providers show alike."""
    return {
        "email_id": row["id"],
        "thread_id": row["thread_id"],
        "from": row["sender"],
        "from_name": row["sender_name"],
        **written(row),
        "read": row["read"],
        "starred": row["starred"],
        "important": row["important"],
        "created_at": row["created_at"],
    }


def shown_draft(row: dict[str, Any], key: str = "draft_id") -> dict[str, Any]:
    """Return a message that has not gone out yet."""
    return {key: row["id"], **written(row), "created_at": row["created_at"]}


def written(row: dict[str, Any]) -> dict[str, Any]:
    """Return what its writer put into a message or draft, by the names that tools have for it."""
    return {
        "to": row["recipients"],
        **{n: row[n] for n in ("cc", "bcc", "subject", "body", "attachments")},
    }


# -- drafts -------------------------------------------------------------------------------------------------------
def save_draft(service: Service, mail: Outgoing) -> dict[str, Any]:
    """Store a draft of the signed-in account and return what tools answer."""
    row = mail.columns() | {
        "id": service.new_id(DRAFT_PREFIXES[service.name]),
        "account": active(service)["address"],
        "created_at": service.time,
    }
    service.db.insert(f"{service.name}_drafts", row)
    return {"draft_id": row["id"], "status": "draft"}


def redraft(service: Service, row: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Put the given arguments (None leaves a field as it is) into a draft and return it for the agent."""
    new = drafted(**(written(row) | {n: v for n, v in changes.items() if v is not None})).columns()
    service.db.update(f"{service.name}_drafts", row["id"], **new)
    return shown_draft(row | new)


def send_draft(service: Service, row: dict[str, Any]) -> dict[str, Any]:
    """Send a draft, which is then none any more, and return what tools answer."""
    mail = complete(drafted(**written(row)))
    service.db.delete(f"{service.name}_drafts", row["id"])
    return post(service, mail)


def drafts(service: Service) -> list[dict[str, Any]]:
    """Return the drafts of the signed-in account, the newest first."""
    return service.db.rows(
        f"{service.name}_drafts",
        "account=?",
        active(service)["address"],
        order="created_at DESC, id",
    )
