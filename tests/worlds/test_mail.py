"""Mail of the worlds: it tells what life.yaml tells, and it agrees with the payments' rows.

None of it is from the future.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest

from scenarios.worlds.build import folder, parsed, person, shared
from servers.kit.control import make_id
from servers.kit.store import World

PEOPLE = ("maya", "eleanor", "rafael")
TABLES = {"gmail_emails": "gem", "outlook_emails": "oem"}
UNSENT = ("gmail_drafts", "outlook_drafts", "gmail_scheduled")
NOTICES = {"zelle": "notify@zellepay-mail.com", "venmo": "venmo@venmo-mail.com"}
LEDGERS = ("venmo_transactions", "venmo_requests", "zelle_transfers", "zelle_requests")
SENT = ("payment_sent", "transfer_sent")
QUOTED = (
    " wrote:\n> ",
    "\n-----Original Message-----\nFrom: ",
    "\n---------- Forwarded message ----------\nFrom: ",
)
"""What introduces an earlier mail below a new one, by mail program."""


class Aspect(NamedTuple):
    """What life says about one mail, and its moment in UTC as rows write it."""

    said: dict[str, Any]
    at: str


def seeds(name: str, file: str) -> dict[str, Any]:
    return parsed(folder(name) / f"{file}.yaml")


def rows_of(world: World, tables: tuple[str, ...]) -> list[dict[str, Any]]:
    rows = []
    for table in tables:
        rows.extend(world.rows(table))
    return rows


def mails(world: World) -> list[dict[str, Any]]:
    return rows_of(world, tuple(TABLES))


def aspects(name: str) -> list[Aspect]:
    """Return what life says about mail until the start."""
    zone = ZoneInfo(person(name)["timezone"])
    aspects = []
    for happening in seeds(name, "life")["happenings"]:
        single = [happening["mail"]] if "mail" in happening else []
        for said in happening.get("mails", single):
            local = datetime.fromisoformat(said.get("at", happening["at"])).replace(tzinfo=zone)
            at = local.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            if "existing" in said or at <= person(name)["start"]:
                aspects.append(Aspect(said, at))
    return aspects


def is_told_by(mail: dict[str, Any], said: dict[str, Any]) -> bool:
    """Return whether a mail is what life says; a signature or quotation may stand below."""
    return mail["subject"] == said["subject"] and mail["body"].startswith(said["body"].strip("\n"))


@pytest.mark.parametrize("name", PEOPLE)
def test_mail_in_life_is_in_the_right_mailbox_once(name: str) -> None:
    everything = mails(shared(name))
    who = person(name)
    addresses = who["emails"] | {key: p["email"] for key, p in who["people"].items()}
    assert len(aspects(name)) > 25
    for said, at in aspects(name):
        if "existing" in said:
            ids = [make_id(prefix, name, said["existing"]) for prefix in TABLES.values()]
            assert len([m for m in everything if m["id"] in ids]) == 1, said
            continue
        copies = [m for m in everything if is_told_by(m, said)]
        expected = [(addresses[said["account"]], at)]
        assert [(m["account"], m["created_at"]) for m in copies] == expected, said
        mail = copies[0]
        assert mail["sender"] == addresses.get(said["from"], mail["sender"]), said
        assert said["from"] in addresses or mail["sender"] in said["from"], said
        assert mail.get("folder") == "inbox" or "inbox" in mail.get("labels", []), said


@pytest.mark.parametrize("name", PEOPLE)
def test_notices_match_the_payments(name: str) -> None:
    world = shared(name)
    dawn = seeds(name, "email_bulk")["from"]
    contacts = rows_of(world, ("venmo_contacts", "zelle_contacts"))
    names = {contact["id"]: contact["name"] for contact in contacts}
    rows = rows_of(world, LEDGERS)
    rows_by_notice = {}
    later = []
    for row in rows:
        for prefix in TABLES.values():
            rows_by_notice[make_id(prefix, name, f"notice {row['id']}")] = row
    told: Counter[str] = Counter()
    for mail in mails(world):
        if mail["sender"] not in NOTICES.values():
            continue
        if mail["id"] not in rows_by_notice:
            later.append(mail)  # about what became of a payment or a request
            continue
        row = rows_by_notice[mail["id"]]
        told[row["id"]] += 1
        assert f"${row['amount'] / 100:,.2f}" in mail["subject"] + mail["body"]
        assert row["contact_id"] is None or names[row["contact_id"]] in mail["subject"]
        assert row["id"] in mail["body"]
        assert mail["created_at"][:16] >= row["created_at"][:16] >= dawn[:16]
    expected = set()
    for row in rows:
        is_told = row.get("type") in SENT or row.get("direction") == "incoming"
        if is_told and row["created_at"] >= dawn:
            expected.add(row["id"])
    assert set(told.values()) == {1}
    for mail in later:
        assert any(row["id"] in mail["body"] for row in rows), mail
    assert expected <= set(told)


@pytest.mark.parametrize("name", PEOPLE)
def test_no_mail_is_from_the_future(name: str) -> None:
    world = shared(name)
    start = person(name)["start"]
    written = [*mails(world), *rows_of(world, UNSENT)]
    assert all(row["created_at"] <= start for row in written)
    assert all(row["send_at"] > start for row in world.rows("gmail_scheduled"))


@pytest.mark.parametrize("name", PEOPLE)
def test_nobody_answers_mail_that_they_have_not_read(name: str) -> None:
    everything = mails(shared(name))
    answered: dict[tuple[str, str], str] = {}
    for mail in everything:
        if mail["sender"] == mail["account"]:
            key = mail["account"], mail["thread_id"]
            answered[key] = max(mail["created_at"], answered.get(key, ""))
    answered_unread = []
    for mail in everything:
        last_answer = answered.get((mail["account"], mail["thread_id"]), "")
        if not mail["read"] and mail["created_at"] < last_answer:
            answered_unread.append(mail["subject"])
    assert answered_unread == []


@pytest.mark.parametrize("name", ["maya", "eleanor"])
def test_the_answers_that_a_person_sends_quote_what_they_answer(name: str) -> None:
    answers = []
    for mail in mails(shared(name)):
        is_own = mail["sender"] == mail["account"]
        if is_own and mail["subject"].startswith("Re: "):
            answers.append(mail["body"])
    assert len(answers) > 30
    for body in answers:
        assert any(mark in body for mark in QUOTED), body
