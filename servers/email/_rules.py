"""What Gmail and Outlook share: addresses, accounts, and the shape of a message.

Each account that holds a message has a row of its own for it. A row dated after now has not
arrived yet.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.utils import parseaddr
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.errors import ServiceError, did_you_mean
from servers.kit.listing import Listing
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import iso
from servers.kit.zones import epoch

# -- tables -----------------------------------------------------------------------------------
MAIL = (
    "id:str account:str/ref thread_id:str/manner conversation:str/manner sender:str/matter "
    "sender_name:str/derived recipients:list/recipients cc:list/recipients bcc:list/recipients "
    "subject:str/prose body:str/prose attachments:list/matter read:bool/matter "
    "starred:bool/matter important:bool/matter created_at:str/stamp people:str/derived"
)
"""Columns of a message that both providers have.

`conversation` is the same in every account; `people` is the text that people searches look at.
"""

SEARCH = ("subject", "people", "body")
WEIGHTS = (3, 3, 1)
DRAFT = (
    "id:str account:str/ref recipients:list/recipients cc:list/recipients bcc:list/recipients "
    "subject:str/prose body:str/prose attachments:list/matter created_at:str/stamp"
)

SHARED_TABLES = {
    "email_accounts": Table(
        "address:str/matter provider:str/matter username:str/matter name:str/matter "
        "active:bool/session timezone:str/derived",
        identity=True,
        noun="the mail account {address}",
    ),
    "email_directory": Table("address:str name:str organisation:str?", catalogue=True),
    "email_filing": Table(
        "id:str account:str sender:str labels:list folder:str? categories:list", catalogue=True
    ),
}
"""The person's accounts with either provider, and a directory of the people who exist.

A domain that belongs to an organisation has no addresses besides those in the directory. The filing
says where the person keeps what a sender writes: its labels in Gmail (`archive` keeps it out of the
inbox), its folder and categories in Outlook.
"""

PREFIXES = {"gmail": ("gem", "gth"), "outlook": ("oem", "oth")}
"""Prefixes of message and thread ids."""

DRAFT_PREFIXES = {"gmail": "gdr", "outlook": "odr"}

# -- arguments --------------------------------------------------------------------------------
Addresses = Annotated[list[str], Field(description="Email addresses, e.g. ['ana@example.com'].")]
Address = Annotated[str, Field(description="An email address, e.g. ana@example.com.")]
Attachments = Annotated[
    list[str],
    Field(max_length=25, description="Names of the files to attach, e.g. ['agenda.pdf']."),
]
Subject = Annotated[str, Field(max_length=998, description="Subject line.")]
Body = Annotated[str, Field(max_length=100_000, description="Plain text of the message.")]
ReplyBody = Annotated[
    str, Field(min_length=1, max_length=100_000, description="Plain text of the reply.")
]
ReplyAll = Annotated[bool, Field(description="Whether to copy everyone else on To and Cc.")]
Note = Annotated[
    str, Field(max_length=100_000, description="Text to add above the forwarded message.")
]

# -- addresses --------------------------------------------------------------------------------
_DOMAIN_PART = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_ADDRESS = re.compile(rf"^[a-z0-9.!#$%&'*+/=?^_`{{|}}~-]+@{_DOMAIN_PART}(?:\.{_DOMAIN_PART})+$")
_MOST_RECIPIENTS = 100


def address(text: str) -> str:
    """Return the bare lower-case address of `a@b.c` or `Name <a@b.c>`.

    Raises `ServiceError` INVALID_RECIPIENT.
    """
    bare = parseaddr(text)[1].strip().lower()
    if not _ADDRESS.match(bare) or ".." in bare or bare.startswith("."):
        raise ServiceError(
            "INVALID_RECIPIENT",
            f"{text!r} is not a valid email address.",
            "Pass addresses such as name@domain.com, one per list item.",
            context={"recipient": text},
        )
    return bare


def _new_addresses(texts: Sequence[str] | None, taken: set[str]) -> list[str]:
    """Return the bare addresses of a list, each once, leaving out those already taken."""
    addresses = dict.fromkeys(address(text) for text in texts or ())
    return [a for a in addresses if a not in taken]


# -- messages being written -------------------------------------------------------------------
@dataclass(frozen=True)
class Outgoing:
    """A checked message. Its addresses are bare and valid.

    An address appears only once, in the first of to, cc and bcc that names it.
    """

    to: list[str]
    cc: list[str]
    bcc: list[str]
    subject: str
    body: str
    attachments: list[str] = field(default_factory=list)

    def columns(self) -> Json:
        """Return the message as columns of a row."""
        return {
            "recipients": list(self.to),
            "cc": list(self.cc),
            "bcc": list(self.bcc),
            "attachments": list(self.attachments),
            "subject": self.subject,
            "body": self.body,
        }


def drafted(
    to: Sequence[str] | None,
    cc: Sequence[str] | None,
    bcc: Sequence[str] | None,
    subject: str | None,
    body: str | None,
    attachments: Sequence[str] | None = None,
) -> Outgoing:
    """Return a message that may be incomplete.

    Raises `ServiceError` for a bad address, too many recipients, or a bad file name.
    """
    everyone: set[str] = set()
    groups: list[list[str]] = []
    for texts in (to, cc, bcc):
        addresses = _new_addresses(texts, everyone)
        everyone.update(addresses)
        groups.append(addresses)
    if len(everyone) > _MOST_RECIPIENTS:
        raise ServiceError(
            "TOO_MANY_RECIPIENTS",
            f"A message can have at most {_MOST_RECIPIENTS} recipients.",
            "Split the recipients over several messages.",
        )
    files = list(dict.fromkeys(name.strip() for name in attachments or ()))
    if "" in files:
        raise ServiceError(
            "INVALID_ATTACHMENT",
            "An attachment has a blank file name.",
            "Give each attachment a file name, e.g. 'agenda.pdf'.",
        )
    return Outgoing(*groups, subject=(subject or "").strip(), body=body or "", attachments=files)


def complete(mail: Outgoing) -> Outgoing:
    """Return a message that is fit to send.

    Raises `ServiceError` if it has no recipients, or neither a subject nor a body.
    """
    if not (mail.to or mail.cc or mail.bcc):
        raise ServiceError(
            "NO_RECIPIENTS",
            "The message has no recipients.",
            "Give at least one address in 'to', 'cc' or 'bcc'.",
        )
    if not mail.subject and not mail.body.strip():
        raise ServiceError(
            "EMPTY_MESSAGE",
            "The subject and the body are both empty.",
            "Give the message a subject or a body.",
        )
    return mail


def reply_to(original: Row, own: str, body: str, reply_all: bool) -> Outgoing:
    """Return the reply to a message. A reply to one's own message goes to its recipients."""
    if original["sender"] == own:
        to = list(original["recipients"])
        others = list(original["cc"])
    else:
        to = [original["sender"]]
        others = [*original["recipients"], *original["cc"]]
    cc = [a for a in others if a != own] if reply_all else []
    # Someone who writes only to themselves still gets the reply.
    to = [a for a in to if a != own] or to
    return complete(drafted(to, cc, [], _prefixed("Re: ", original["subject"]), body))


def forward_of(original: Row, to: Sequence[str], note: str | None) -> Outgoing:
    """Return a message that passes another on, with its attachments, below an optional note."""
    quoted = (
        "---------- Forwarded message ----------\n"
        f"From: {original['sender_name']} <{original['sender']}>\n"
        f"Date: {original['created_at']}\n"
        f"Subject: {original['subject']}\n"
        f"To: {', '.join(original['recipients'])}\n\n"
        f"{original['body']}"
    )
    body = f"{note}\n\n{quoted}" if note else quoted
    subject = _prefixed("Fwd: ", original["subject"])
    return complete(drafted(to, None, None, subject, body, original["attachments"]))


def _prefixed(prefix: str, subject: str) -> str:
    if subject.lower().startswith(prefix.strip().lower()):
        return subject
    return prefix + subject


# -- accounts ---------------------------------------------------------------------------------
def active(service: Service) -> Row:
    """Return the signed-in account of a provider."""
    rows = service.db.rows("email_accounts", "provider=? AND active=1", service.name, limit=1)
    if not rows:
        service.fail("NO_ACTIVE_ACCOUNT", f"No account is signed in to {service.title}.")
    return rows[0]


def moment(service: Service, text: str) -> str:
    """Return a moment in UTC (ISO); without an offset, it is in the account's time zone."""
    return iso(epoch(text, ZoneInfo(active(service)["timezone"])))


def own_address(service: Service) -> str:
    """Return the address of the signed-in account."""
    return active(service)["address"]


def accounts(service: Service) -> list[Json]:
    """Return the person's accounts with this provider, for the agent."""
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


def sign_in(service: Service, username: str, list_tool: str) -> Json:
    """Sign in to the account with a username or address and return it for the agent.

    `list_tool` is the tool that lists the accounts.
    """
    known = accounts(service)
    wanted = username.strip().lower()
    chosen = next((a for a in known if wanted in (a["username"], a["email_address"])), None)
    if chosen is None:
        near = did_you_mean(wanted, [a["username"] for a in known])
        service.fail(
            "USER_NOT_FOUND",
            f"There is no account {username!r}{near}",
            f"Call {list_tool} to see all accounts.",
        )
    for account in known:
        service.db.update("email_accounts", account["email_address"], active=account is chosen)
    return {
        "username": chosen["username"],
        "name": chosen["name"],
        "email_address": chosen["email_address"],
    }


# -- messages that an account holds -----------------------------------------------------------
def listed(service: Service, since: str | None = None, until: str | None = None) -> Listing:
    """Return the list of the signed-in account's messages, newest first, of some local days."""
    rows = Listing(service.db, f"{service.name}_emails", by="created_at")
    rows = rows.only("account=? AND created_at<=?", own_address(service), service.time)
    return rows.days(since, until, active(service)["timezone"])


def arrived(service: Service, where: str = "", *params: Any) -> list[Row]:
    """Return the messages of the signed-in account that have arrived, newest first.

    `where` narrows them by an SQL condition with `params`.
    """
    conditions = "account=? AND created_at<=?"
    if where:
        conditions += f" AND {where}"
    return service.db.rows(
        f"{service.name}_emails",
        conditions,
        own_address(service),
        service.time,
        *params,
        order="created_at DESC, id",
    )


def tally(service: Service, *columns: str) -> Counter[tuple[Any, ...]]:
    """Return how many of the signed-in account's messages have arrived, by values of columns.

    The values are as SQLite stores them.
    """
    table = f"{service.name}_emails"
    own = own_address(service)
    counted: Counter[tuple[Any, ...]] = Counter()
    for (account, *values), number in service.db.count(table, "account", *columns).items():
        if account == own:
            counted[tuple(values)] = number
    coming = f"SELECT {', '.join(columns)} FROM {table} WHERE account=? AND created_at>?"
    counted.subtract(service.db.sql(coming, own, service.time))
    return counted


def people_text(name: str, sender: str, *groups: Sequence[str]) -> str:
    """Return the text that people searches look at: the sender and all the addresses."""
    words = [name, sender]
    for addresses in groups:
        words.extend(addresses)
    return " ".join(words)


def written_json(row: Row) -> Json:
    """Return what the writer put into a message or draft, under the tools' argument names."""
    return {
        "to": row["recipients"],
        "cc": row["cc"],
        "bcc": row["bcc"],
        "subject": row["subject"],
        "body": row["body"],
        "attachments": row["attachments"],
    }


def message_json(row: Row) -> Json:
    """Return the fields of a message that both providers show in the same way."""
    return {
        "email_id": row["id"],
        "thread_id": row["thread_id"],
        "from": row["sender"],
        "from_name": row["sender_name"],
        **written_json(row),
        "read": row["read"],
        "starred": row["starred"],
        "important": row["important"],
        "created_at": row["created_at"],
    }
