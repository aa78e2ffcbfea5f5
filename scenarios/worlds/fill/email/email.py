"""Fill Gmail and Outlook: messages written by hand, mail made from templates, and what else the accounts hold."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parseaddr
from typing import Any

from scenarios.worlds.build import Builder, generator
from scenarios.worlds.fill.email._letters import letters
from servers.email import _rules as rules
from servers.kit.errors import InputError, UnknownName
from servers.kit.values import iso, parse_time

_DAY = 86_400
_RECENT = 45 * _DAY


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Add the person's mail. `seeds` is `email.yaml`, which names the files of messages beside it."""
    mail = _Mail(builder, seeds)
    mail.accounts_and_directory()
    for name in seeds["messages"]:
        mail.written(builder.seeds(name))
    for letter in letters(builder, mail.answered):
        mail.message(
            letter.account, letter.thread, {"subject": letter.subject}, letter.mail, reply=False
        )
    bulk = builder.seeds(seeds["bulk"])
    mail.generated(bulk)
    mail.notices(bulk["notices"])
    mail.keepings()


class _Ledger(Builder):
    """Another category's fill, run for its rows alone, so that notices about them cannot disagree."""

    def __init__(self, builder: Builder, category: str) -> None:
        super().__init__(builder.name, builder.person)
        self.rows: list[tuple[str, dict[str, Any]]] = []
        fill = generator(category)
        fill(self, builder.seeds(category))

    def add(self, at: int | str, table: str, /, **row: Any) -> dict[str, Any]:
        self.rows.append((table, row))
        return super().add(at, table, **row)


class _Mail:
    """Turns seeds into rows. `at` of everything is the moment at which it arrived or was made."""

    def __init__(self, builder: Builder, seeds: dict[str, Any]) -> None:
        self.builder = builder
        self.seeds = seeds
        self.people: dict[str, dict[str, Any]] = builder.person["people"]
        known = {a["key"]: a["address"] for a in seeds["accounts"] if "address" in a}
        self.addresses: dict[str, str] = builder.person["emails"] | known
        self.accounts = {
            a["key"]: {"name": builder.person["name"]} | a | {"address": self.addresses[a["key"]]}
            for a in seeds["accounts"]
        }
        self.dawn = parse_time(builder.seeds(seeds["bulk"])["from"])
        self.snoozed = {s["key"]: s for s in seeds["snoozed"]}
        self.names = {p["email"]: p["name"] for p in self.people.values()} | {
            a["address"]: a["name"] for a in self.accounts.values()
        }
        self.names |= {d["address"]: d["name"] for d in seeds["directory"]}
        self.answered: dict[str, int] = {}

    def resolve(self, who: str, account: str) -> tuple[str, str]:
        """Return name and address of a key of person.yaml, an account, `me`, an address, or `Name <address>`."""
        if who == "me":
            who = account
        if who in self.addresses:
            return self.accounts[who]["name"], self.addresses[who]
        if who in self.people:
            return self.people[who]["name"], self.people[who]["email"]
        name, address = parseaddr(who)
        if "@" not in address:
            raise UnknownName("person", who, [*self.people, *self.addresses], "email seeds")
        return name or self.names.get(address, ""), address

    def accounts_and_directory(self) -> None:
        """Add accounts and who exists."""
        for a in self.accounts.values():
            row = {
                "provider": a["provider"],
                "username": a["username"],
                "name": a["name"],
                "active": a["active"],
            }
            self.builder.add(self.dawn, "email_accounts", address=a["address"], **row)
        for address, name in self.names.items():
            organisation = self.seeds["organisations"].get(address.rpartition("@")[2])
            self.builder.add(
                self.dawn, "email_directory", address=address, name=name, organisation=organisation
            )

    # -- messages ---------------------------------------------------------------------------------------------
    def written(self, seeds: dict[str, Any]) -> None:
        """Add the threads of a file; a message between two of the person's accounts is added to both."""
        for thread in seeds["threads"]:
            for number, mail in enumerate(thread["mails"]):
                self.message(seeds["account"], thread["thread"], thread, mail, reply=number > 0)
                if mail["from"] == "me":
                    self.answered[thread["thread"]] = parse_time(mail["at"])

    def message(
        self,
        account: str,
        thread: str,
        common: dict[str, Any],
        mail: dict[str, Any],
        *,
        reply: bool,
    ) -> None:
        """Add one message to its account and to others of the person that it reached or left from."""
        at = parse_time(mail["at"]) if isinstance(mail["at"], str) else mail["at"]
        name, sender = self.resolve(mail["from"], account)
        to = [
            self.resolve(who, account)[1] for who in mail.get("to") or common.get("to") or [account]
        ]
        cc = [self.resolve(who, account)[1] for who in mail.get("cc") or common.get("cc") or []]
        subject = (
            common["subject"]
            if not reply or common["subject"].startswith("Re: ")
            else f"Re: {common['subject']}"
        )
        base = {
            "conversation": self.builder.id(
                "gth" if self.accounts[account]["provider"] == "gmail" else "oth", thread
            ),
            "sender": sender,
            "sender_name": name,
            "recipients": to,
            "cc": cc,
            "bcc": [],
            "subject": subject,
            "body": mail["body"],
            "attachments": mail.get("attachments", []),
            "starred": False,
            "important": mail.get("important", False),
            "created_at": iso(at),
            "people": rules.people_text(name, sender, to, cc),
        }
        for key, holder in self.accounts.items():
            if key == account:
                self._keep(holder, mail["key"], thread, base, common, mail, at)
            elif holder["address"] == sender or holder["address"] in [*to, *cc]:
                plain = {
                    k: v for k, v in common.items() if k not in ("labels", "folder", "categories")
                }
                self._keep(holder, f"{mail['key']}.{key}", f"{thread}.{key}", base, plain, mail, at)

    def _keep(
        self,
        holder: dict[str, Any],
        key: str,
        thread: str,
        base: dict[str, Any],
        common: dict[str, Any],
        mail: dict[str, Any],
        at: int,
    ) -> None:
        provider = holder["provider"]
        own = base["sender"] == holder["address"]
        message, threads = rules.PREFIXES[provider]
        table = f"{provider}_emails"
        row_id = self.builder.id(message, key)
        row = base | {
            "id": row_id,
            "account": holder["address"],
            "thread_id": self.builder.id(threads, thread),
            "read": own,
        }
        row |= self._gmail(common, own) if provider == "gmail" else self._outlook(common, own, at)
        self.builder.add(at, table, **row)
        seen = min(at + self.builder.chance("seen", key).randint(5, 400) * 60, self.builder.start)
        later: dict[str, Any] = {"read": True} if not own and not mail.get("unread") else {}
        if mail.get("star"):
            later["starred"] = True
        if later:
            self.builder.change(seen, table, row_id, **later)
        if key in self.snoozed:
            self.builder.change(
                self.snoozed[key]["at"],
                table,
                row_id,
                snooze_until=iso(parse_time(self.snoozed[key]["until"])),
            )

    def _gmail(self, common: dict[str, Any], own: bool) -> dict[str, Any]:
        labels = list(common.get("labels", []))
        apart = {"spam", "archive", "inbox"} & set(labels)
        kept = [n for n in labels if n != "archive"]
        if own:
            kept = ["sent", *(n for n in kept if n not in ("spam", "inbox"))]
        elif not apart:
            kept = ["inbox", *kept]
        return {"labels": kept, "snooze_until": None}

    def _outlook(self, common: dict[str, Any], own: bool, at: int) -> dict[str, Any]:
        folder = common.get("folder", "inbox")
        if self.builder.start - at < _RECENT and "recent" in common:
            folder = common["recent"]
        return {
            "folder": "sent" if own else folder,
            "categories": list(common.get("categories", [])),
            "pinned": False,
        }

    # -- templates --------------------------------------------------------------------------------------------
    def generated(self, seeds: dict[str, Any]) -> None:
        """Add the mail of regular senders."""
        for sender in seeds["senders"]:
            for n, at in enumerate(self._moments(sender), 1):
                self._regular(sender, n, at)

    def _moments(self, sender: dict[str, Any]) -> Iterator[int]:
        day = datetime.fromtimestamp(self.dawn, UTC)
        number = 0
        while (at := self._minute(sender, day)) < self.builder.start - 3_600:
            monthly = sender.get("monthly")
            if (
                (day.day == monthly)
                if monthly
                else (number - sender.get("offset", 0)) % sender["every"] == 0
            ):
                yield at
            number = number + 1
            day = day + timedelta(days=1)

    def _minute(self, sender: dict[str, Any], day: datetime) -> int:
        minute = self.builder.chance("minute", sender["key"], day.toordinal()).randint(0, 59)
        return int(day.timestamp()) + sender["hour"] * 3_600 + minute * 60

    def _regular(self, sender: dict[str, Any], n: int, at: int) -> None:
        key = f"{sender['key']}_{n}"
        draw = self.builder.chance("mail", key)
        day = datetime.fromtimestamp(at, UTC)
        known = {
            "n": str(n),
            "date": day.strftime("%-d %B"),
            "month": day.strftime("%B"),
            "last_month": (day.replace(day=1) - timedelta(days=1)).strftime("%B"),
        }
        known |= {name: _value(kind, n, draw) for name, kind in sender.get("vars", {}).items()}
        try:
            subject = draw.choice(sender["subject"]).format(**known)
            body = " ".join(draw.choice(choices).format(**known) for choices in sender["body"])
            files = [name.format(**known).lower() for name in sender.get("attachments", [])]
        except KeyError as unknown:
            raise UnknownName(
                "variable", str(unknown.args[0]), known, f"email_bulk {sender['key']}"
            ) from None
        origin = draw.choice(sender["from"]) if isinstance(sender["from"], list) else sender["from"]
        age = self.builder.start - at
        mail = {"key": key, "at": at, "from": origin, "body": body, "attachments": files}
        mail["unread"] = draw.random() < sender.get("unread", 0.2) * (1.0 if age < _RECENT else 0.6)
        mail["star"] = draw.random() < sender.get("star", 0.03)
        mail["important"] = draw.random() < 0.04
        common = {
            k: sender[k] for k in ("folder", "recent", "categories", "to", "cc") if k in sender
        } | {"subject": subject}
        old = age > 2 * _RECENT and draw.random() < 0.6 and "spam" not in sender.get("labels", [])
        common["labels"] = [*sender.get("labels", []), *(["archive"] if old else [])]
        self.message(sender["account"], key, common, mail, reply=False)

    # -- notices ----------------------------------------------------------------------------------------------
    def notices(self, seeds: dict[str, Any]) -> None:
        """Add what Zelle and Venmo write about each payment and request since the first mail, as far as the seeds have words for it.

        `banks` says to which account (and folder or labels) the notices about a bank go; all others go to the personal account.
        """
        if not self.builder.seeds("payments"):
            return
        banks = {
            self.builder.id("zbk", bank): place for bank, place in seeds.get("banks", {}).items()
        }
        names = {
            self.builder.id(kind, key): p["name"]
            for key, p in self.people.items()
            for kind in ("vct", "zrc")
        }
        for table, row in _Ledger(self.builder, "payments").rows:
            provider = table.partition("_")[0]
            event = _event(row)
            if (
                event is None
                or event not in seeds[provider]
                or parse_time(row["created_at"]) < self.dawn
            ):
                continue
            known = {
                "name": names[row["contact_id"]],
                "amount": f"{row['amount'] / 100:.2f}",
                "note": row["note"] or "none",
            }
            words = {part: text.format(**known) for part, text in seeds[provider][event].items()}
            place = banks.get(row.get("source_id"), {"account": "personal"})
            key = f"notice {row['id']}"
            at = min(parse_time(row["created_at"]) + 20, self.builder.start)
            mail = {"key": key, "at": at, "from": seeds[provider]["from"], "body": words["body"]}
            mail["unread"] = self.builder.chance("unread", key).random() < 0.12
            old = self.builder.start - at > _RECENT
            kept = ["archive"] if old and event in ("sent", "received") else []
            common = place | {
                "subject": words["subject"],
                "labels": [*place.get("labels", ["receipts"]), *kept],
            }
            self.message(place["account"], key, common, mail, reply=False)

    # -- what else accounts hold ------------------------------------------------------------------------------
    def keepings(self) -> None:
        """Add labels, folders, categories, contacts, templates, quick steps, drafts and scheduled mail."""
        add = self.builder.add
        make = self.builder.id
        dawn = self.dawn
        for key, labels in self.seeds["labels"].items():
            for name in labels:
                add(
                    dawn,
                    "gmail_labels",
                    id=make("glb", f"{key} {name}"),
                    account=self.addresses[key],
                    name=name,
                )
        for key, folders in self.seeds["folders"].items():
            for name in folders:
                add(
                    dawn,
                    "outlook_folders",
                    id=make("ofl", f"{key} {name}"),
                    account=self.addresses[key],
                    name=name,
                )
        for key, categories in self.seeds["categories"].items():
            for c in categories:
                add(
                    dawn,
                    "outlook_categories",
                    id=make("oca", c["name"]),
                    account=self.addresses[key],
                    **c,
                )
        for key, contacts in self.seeds["contacts"].items():
            for who in contacts:
                name, address = self.resolve(who, key)
                prefix, table = (
                    ("gct", "gmail_contacts")
                    if self.accounts[key]["provider"] == "gmail"
                    else ("ope", "outlook_people")
                )
                row = {"account": self.addresses[key], "name": name, "email_address": address}
                add(dawn, table, id=make(prefix, f"{key} {who}"), **row)
        for t in self.seeds["templates"]:
            row = {
                "account": self.addresses[t["account"]],
                "name": t["name"],
                "subject": t["subject"],
                "body": t["body"],
            }
            add(dawn + 30 * _DAY, "gmail_templates", id=make("gtp", t["key"]), **row)
        for q in self.seeds["quick_steps"]:
            row = {
                "account": self.addresses[q["account"]],
                "name": q["name"],
                "actions": q["actions"],
                "created_at": iso(dawn + 40 * _DAY),
            }
            add(dawn + 40 * _DAY, "outlook_quick_steps", id=make("oqs", q["key"]), **row)
        for d in self.seeds["drafts"]:
            provider = self.accounts[d["account"]]["provider"]
            add(
                d["at"],
                f"{provider}_drafts",
                **self._draft(d, "gdr" if provider == "gmail" else "odr"),
            )
        for d in self.seeds["scheduled"]:
            if self.accounts[d["account"]]["provider"] != "gmail":
                raise InputError(f"email seeds: {d['key']}: only Gmail sends later")
            add(
                d["at"],
                "gmail_scheduled",
                **self._draft(d, "gsc"),
                send_at=iso(parse_time(d["send_at"])),
            )

    def _draft(self, seed: dict[str, Any], prefix: str) -> dict[str, Any]:
        account = seed["account"]
        return {
            "id": self.builder.id(prefix, seed["key"]),
            "account": self.addresses[account],
            "recipients": [self.resolve(who, account)[1] for who in seed.get("to", [])],
            "cc": [self.resolve(who, account)[1] for who in seed.get("cc", [])],
            "bcc": [],
            "subject": seed["subject"],
            "body": seed["body"],
            "attachments": [],
            "created_at": iso(parse_time(seed["at"])),
        }


def _event(row: dict[str, Any]) -> str | None:
    """Return what a row of a payment or request is told as, None for other rows."""
    kind = str(row.get("type"))
    if kind in ("payment_sent", "transfer_sent"):
        return "failed" if row["failure"] else "unclaimed" if row.get("claim_by") else "sent"
    if kind in ("payment_received", "transfer_received"):
        return "received"
    return "asked" if row.get("direction") == "incoming" else None


def _value(kind: Any, n: int, draw: random.Random) -> str:
    if isinstance(kind, list):
        return draw.choice(kind)
    if "number" in kind:
        return str(kind["number"] + kind["step"] * n)
    return f"{draw.randint(round(kind['min'] * 100), round(kind['max'] * 100)) / 100:.2f}"
