"""What Gmail's topics share: tables, argument types, how messages are found, and the labels."""

from __future__ import annotations

import json
from collections import Counter
from typing import Annotated

from pydantic import Field

from servers.email import _rules as rules
from servers.kit.errors import did_you_mean
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row

TABLES = {
    "gmail_emails": Table(
        f"{rules.MAIL} labels:list/matter snooze_until:str?/appointed",
        index=("account, created_at", "thread_id", "conversation", "account, snooze_until"),
        search=rules.SEARCH,
        weights=rules.WEIGHTS,
        outward={"labels": {"contains": "sent"}},
        noun="a mail from {sender_name} to {recipients} ({subject})",
    ),
    "gmail_drafts": Table(
        rules.DRAFT, tentative={}, noun="a draft of a mail to {recipients} ({subject})"
    ),
    "gmail_scheduled": Table(
        f"{rules.DRAFT} send_at:str/appointed",
        index=("send_at",),
        noun="a mail to {recipients} that goes out on {send_at:moment}",
    ),
    "gmail_templates": Table(
        "id:str account:str/ref name:str/matter subject:str/prose body:str/prose",
        noun="the template {name}",
    ),
    "gmail_contacts": Table(
        "id:str account:str/ref name:str/matter email_address:str/matter",
        index=("account",),
        noun="the contact {name}, {email_address}",
    ),
    "gmail_labels": Table("id:str account:str/ref name:str/matter", noun="the label {name}"),
}

# -- arguments --------------------------------------------------------------------------------
EmailId = Annotated[
    str, Field(description="email_id of a message, from list_emails or search_emails.")
]
DraftId = Annotated[str, Field(description="draft_id, from list_drafts.")]
LabelName = Annotated[
    str, Field(min_length=1, max_length=60, description="Name of a label (see list_labels).")
]

# -- system labels ----------------------------------------------------------------------------
STORED = ("inbox", "sent", "spam", "trash", "promotions", "updates")
"""System labels that are stored in rows; the others follow from a message's columns."""

FLAGS = ("starred", "important", "unread")
DERIVED = ("snoozed", "archive", "all")
SYSTEM = (*STORED, *FLAGS, *DERIVED)
_LABELLED = ("labels", "read", "starred", "important")
"""Columns that decide, besides a snooze, which labels list a message."""

LISTED_APART = {"drafts": "list_drafts", "scheduled": "list_scheduled_emails"}
"""Things that other mail programs show as folders, with the Gmail tools that list them."""


# -- rows of the signed-in account ------------------------------------------------------------
def find_email(service: Service, email_id: str) -> Row:
    """Return a message of the signed-in account that has arrived. Raises EMAIL_NOT_FOUND."""
    row = service.db.get("gmail_emails", email_id)
    own = rules.own_address(service)
    if row is None or row["account"] != own or row["created_at"] > service.time:
        service.fail(
            "EMAIL_NOT_FOUND",
            f"There is no message {email_id!r} in {own}.",
            "Use an email_id from list_emails or search_emails; "
            "call switch_user for another account.",
            email_id=email_id,
        )
    return row


def find_owned(
    service: Service, table: str, row_id: str, code: str, what: str, list_tool: str
) -> Row:
    """Return a draft, template or scheduled message of the signed-in account, or fail with `code`.

    `what` is the word for it in the error message, `list_tool` the tool that lists such rows.
    """
    row = service.db.get(table, row_id)
    if row is None or row["account"] != rules.own_address(service):
        service.fail(
            code,
            f"There is no {what} {row_id!r} in {rules.own_address(service)}.",
            f"Call {list_tool} to see them.",
            id=row_id,
        )
    return row


# -- messages ---------------------------------------------------------------------------------
def is_snoozed(service: Service, row: Row) -> bool:
    """Return whether a message is currently hidden from the inbox."""
    return row["snooze_until"] is not None and row["snooze_until"] > service.time


def snoozed_emails(service: Service) -> list[Row]:
    """Return the messages whose snooze is not over, the soonest to return first."""
    return service.db.rows(
        "gmail_emails",
        # The plus leaves the index on snooze_until, which passes over what has returned.
        "account=? AND snooze_until>? AND +created_at<=?",
        rules.own_address(service),
        service.time,
        service.time,
        order="snooze_until, created_at DESC, id",
    )


def email_json(service: Service, row: Row) -> Json:
    """Return a message for the agent; a snoozed one includes `snooze_until`."""
    if not is_snoozed(service, row):
        return rules.message_json(row) | {"labels": list(row["labels"])}
    labels = ["snoozed" if name == "inbox" else name for name in row["labels"]]
    return rules.message_json(row) | {"labels": labels, "snooze_until": row["snooze_until"]}


def has_label(service: Service, row: Row, label: str) -> bool:
    """Return whether a message is listed under a system label or one of the user's.

    Messages in spam or trash are listed only there.
    """
    labels = row["labels"]
    if label in ("spam", "trash"):
        return label in labels
    if "spam" in labels or "trash" in labels:
        return False
    if label == "inbox":
        return "inbox" in labels and not is_snoozed(service, row)
    if label == "snoozed":
        return is_snoozed(service, row)
    if label == "archive":
        return "inbox" not in labels and "sent" not in labels
    if label == "all":
        return True
    if label == "unread":
        return not row["read"]
    if label in FLAGS:
        return row[label]
    return label in labels


# -- labels -----------------------------------------------------------------------------------
def user_labels(service: Service) -> list[str]:
    """Return the labels that the user created in this account, sorted."""
    rows = service.db.rows("gmail_labels", "account=?", rules.own_address(service))
    return sorted(row["name"] for row in rows)


def all_labels(service: Service) -> tuple[str, ...]:
    """Return the system labels and the user's own."""
    return (*SYSTEM, *user_labels(service))


def label_counts(service: Service) -> Counter[tuple[str, bool]]:
    """Return how many messages are listed under each label, by the label and whether read."""
    labels = all_labels(service)
    counted: Counter[tuple[str, bool]] = Counter()

    def count(row: Row, number: int) -> None:
        for label in labels:
            if has_label(service, row, label):
                counted[label, row["read"]] += number

    for values, number in rules.tally(service, *_LABELLED).items():
        row = dict(zip(_LABELLED, values, strict=True))
        count(row | {"labels": json.loads(row["labels"]), "snooze_until": None}, number)
    for row in snoozed_emails(service):
        count(row | {"snooze_until": None}, -1)
        count(row, 1)
    return counted


def find_label(service: Service, name: str) -> str:
    """Return the label with a name, ignoring case. Raises LABEL_NOT_FOUND."""
    wanted = name.strip().lower()
    if wanted in LISTED_APART:
        service.fail(
            "LABEL_NOT_FOUND",
            f"{wanted.capitalize()} messages do not have a label.",
            f"Call {LISTED_APART[wanted]} to see them.",
        )
    known = {n.lower(): n for n in all_labels(service)}
    if wanted not in known:
        service.fail(
            "LABEL_NOT_FOUND",
            f"There is no label {name!r}{did_you_mean(wanted, known)}",
            "Call list_labels to see all labels, or create_label to add one.",
            label=name,
        )
    return known[wanted]
