"""Mail of the worlds: it tells what life.yaml tells, agrees with the payments' rows, and none of it is from the future."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from scenarios.worlds.build import folder, parsed, person, shared
from servers.kit.control import make_id
from servers.kit.store import World

PEOPLE = ("maya", "eleanor", "rafael")
TABLES = {"gmail_emails": "gem", "outlook_emails": "oem"}
NOTICES = {"zelle": "notify@zellepay-mail.com", "venmo": "venmo@venmo-mail.com"}
SENT = ("payment_sent", "transfer_sent")


def seeds(name: str, file: str) -> dict[str, Any]:
    return parsed(folder(name) / f"{file}.yaml")


def mails(world: World) -> list[dict[str, Any]]:
    return [row for table in TABLES for row in world.rows(table)]


def aspects(name: str) -> list[tuple[dict[str, Any], str]]:
    """Return what life says about mail until the start, with its moment in UTC (as rows write it)."""
    zone = ZoneInfo(person(name)["timezone"])
    found = []
    for happening in seeds(name, "life")["happenings"]:
        for said in happening.get("mails", [happening["mail"]] if "mail" in happening else []):
            local = datetime.fromisoformat(said.get("at", happening["at"])).replace(tzinfo=zone)
            at = local.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            if "existing" in said or at <= person(name)["start"]:
                found.append((said, at))
    return found


@pytest.mark.parametrize("name", PEOPLE)
def test_what_life_says_about_mail_is_in_the_right_mailbox_once(name: str) -> None:
    everything = mails(shared(name))
    who = person(name)
    addresses = who["emails"] | {key: p["email"] for key, p in who["people"].items()}
    assert len(aspects(name)) > 25
    for said, at in aspects(name):
        if "existing" in said:
            ids = [make_id(prefix, name, said["existing"]) for prefix in TABLES.values()]
            assert len([m for m in everything if m["id"] in ids]) == 1, said
            continue
        found = [
            m for m in everything if m["subject"] == said["subject"] and m["body"] == said["body"]
        ]
        assert [(m["account"], m["created_at"]) for m in found] == [
            (addresses[said["account"]], at)
        ], said
        sender = found[0]["sender"]
        assert sender == addresses.get(said["from"], sender) and (
            said["from"] in addresses or sender in said["from"]
        ), said
        assert found[0].get("folder") == "inbox" or "inbox" in found[0].get("labels", []), said


@pytest.mark.parametrize("name", PEOPLE)
def test_notices_are_those_of_the_payments(name: str) -> None:
    world = shared(name)
    dawn = seeds(name, "email_bulk")["from"]
    names = {
        c["id"]: c["name"]
        for service in ("venmo_contacts", "zelle_contacts")
        for c in world.rows(service)
    }
    rows = [
        row
        for table in ("venmo_transactions", "venmo_requests", "zelle_transfers", "zelle_requests")
        for row in world.rows(table)
    ]
    known = {
        make_id(prefix, name, f"notice {row['id']}"): row
        for row in rows
        for prefix in TABLES.values()
    }
    told: Counter[str] = Counter()
    for mail in mails(world):
        if mail["sender"] not in NOTICES.values():
            continue
        row = known[mail["id"]]
        told[row["id"]] += 1
        assert (
            f"${row['amount'] / 100:.2f}" in mail["subject"] + mail["body"]
            and names[row["contact_id"]] in mail["subject"]
        )
        assert f'"{row["note"]}"' in mail["body"] or f"Memo: {row['note']}." in mail["body"]
        assert mail["created_at"][:16] >= row["created_at"][:16] >= dawn[:16]
    expected = [
        r["id"]
        for r in rows
        if (r.get("type") in SENT or r.get("direction") == "incoming") and r["created_at"] >= dawn
    ]
    assert set(told.values()) == {1} and set(expected) <= set(told)


@pytest.mark.parametrize("name", PEOPLE)
def test_no_mail_lies_in_the_future(name: str) -> None:
    world = shared(name)
    start = person(name)["start"]
    written = [
        *mails(world),
        *(
            row
            for table in ("gmail_drafts", "outlook_drafts", "gmail_scheduled")
            for row in world.rows(table)
        ),
    ]
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
    assert [
        m["subject"]
        for m in everything
        if not m["read"] and m["created_at"] < answered.get((m["account"], m["thread_id"]), "")
    ] == []
