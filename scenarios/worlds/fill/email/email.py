"""Fill Gmail and Outlook.

Messages are written by hand, come from `life.yaml`, or are made from templates. The accounts also
hold labels, folders, contacts, drafts and more.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parseaddr
from typing import Any

from scenarios.worlds.build import AHEAD, Builder
from scenarios.worlds.fill.email._compose import Composer, Written, moment_of, subject_of
from scenarios.worlds.fill.email._issues import Issues
from scenarios.worlds.fill.email._letters import letters
from servers.email import _rules as rules
from servers.kit.errors import InputError, UnknownName
from servers.kit.posts import Letter
from servers.kit.values import iso, parse_time

_DAY = 86_400
_RECENT = 45 * _DAY
_QUIET = 3_600
"""Seconds before and after the start in which no regular sender writes."""
_SAME_NEWS = _DAY // 2
"""Seconds within which two mails of a sender may be about the same."""
_PLACES = ("labels", "folder", "categories")
"""Keys of a thread that say where its own account keeps it."""


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Add the person's mail.

    `seeds` is `email.yaml`, which names the files that hold the messages.
    """
    mail = _Mail(builder, seeds)
    mail.accounts_and_directory()
    builder.mailbox = mail.posted
    files = [builder.seeds(name) for name in seeds["messages"]]
    mail.read(files)
    for file in files:
        mail.written(file)
    for letter in letters(builder, mail.answered):
        common = {"subject": letter.subject}
        mail.by_hand(letter.account, letter.thread, common, letter.mail, reply=False)
    mail.generated(builder.seeds(seeds["bulk"]))
    mail.filing()
    mail.keepings()


class _Mail:
    """Turns seeds into rows. `at` is always the moment when something arrived or was made."""

    def __init__(self, builder: Builder, seeds: dict[str, Any]) -> None:
        self.builder = builder
        self.seeds = seeds
        self.people: dict[str, dict[str, Any]] = builder.person["people"]
        extra_addresses = {a["key"]: a["address"] for a in seeds["accounts"] if "address" in a}
        self.addresses: dict[str, str] = builder.person["emails"] | extra_addresses
        self.accounts = {
            a["key"]: {"name": builder.person["name"]} | a | {"address": self.addresses[a["key"]]}
            for a in seeds["accounts"]
        }
        self.dawn = parse_time(builder.seeds(seeds["bulk"])["from"])
        builder.stands(self.dawn)
        self.snoozed = {s["key"]: s for s in seeds["snoozed"]}
        self.names = {p["email"]: p["name"] for p in self.people.values()}
        self.names |= {a["address"]: a["name"] for a in self.accounts.values()}
        self.names |= {d["address"]: d["name"] for d in seeds["directory"]}
        self.answered: dict[str, int] = {}
        self.issues = Issues(builder)

    def is_gmail(self, account: str) -> bool:
        """Return whether an account is with Gmail; otherwise it is with Outlook."""
        return self.accounts[account]["provider"] == "gmail"

    def resolve(self, who: str, account: str) -> tuple[str, str]:
        """Return a name and an address.

        `who` is a key of person.yaml, an account, `me`, an address, or `Name <address>`.
        """
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

    def resolve_all(self, people: list[str], account: str) -> list[str]:
        """Return the addresses of several people; see `resolve`."""
        return [self.resolve(who, account)[1] for who in people]

    def accounts_and_directory(self) -> None:
        """Add the person's accounts and the directory of everyone who exists."""
        for account in self.accounts.values():
            self.builder.add(
                self.dawn,
                "email_accounts",
                address=account["address"],
                provider=account["provider"],
                username=account["username"],
                name=account["name"],
                active=account["active"],
                timezone=self.builder.person["timezone"],
            )
        for address, name in self.names.items():
            organisation = self.seeds["organisations"].get(address.rpartition("@")[2])
            self.builder.add(
                self.dawn, "email_directory", address=address, name=name, organisation=organisation
            )

    # -- messages -----------------------------------------------------------------------------
    def read(self, files: list[dict[str, Any]]) -> None:
        """Read all that is written by hand, so that mails can quote and forward one another."""
        voices = {
            self.resolve(who, who)[1]: voice for who, voice in self.seeds.get("voices", {}).items()
        }
        self.composer = Composer(
            self._all_written(files),
            voices,
            self.seeds.get("footers", {}),
            self.builder.person["timezone"],
        )

    def _all_written(self, files: list[dict[str, Any]]) -> Iterator[Written]:
        for file in files:
            for thread in file["threads"]:
                for number, mail in enumerate(thread["mails"]):
                    subject = subject_of(thread, reply=number > 0)
                    yield self._written(file["account"], thread, thread["thread"], subject, mail)
        for letter in letters(self.builder):
            yield self._written(letter.account, {}, letter.thread, letter.subject, letter.mail)

    def _written(
        self,
        account: str,
        common: dict[str, Any],
        thread: str,
        subject: str,
        mail: dict[str, Any],
    ) -> Written:
        name, sender = self.resolve(mail["from"], account)
        return Written(
            key=mail["key"],
            thread=thread,
            at=moment_of(mail),
            name=name,
            sender=sender,
            to=tuple(self._recipients("to", account, common, mail) or [self.addresses[account]]),
            cc=tuple(self._recipients("cc", account, common, mail)),
            subject=subject,
            mail=mail,
        )

    def _recipients(
        self, group: str, account: str, common: dict[str, Any], mail: dict[str, Any]
    ) -> list[str]:
        return self.resolve_all(mail.get(group) or common.get(group) or [], account)

    def by_hand(
        self,
        account: str,
        thread: str,
        common: dict[str, Any],
        mail: dict[str, Any],
        *,
        reply: bool,
    ) -> None:
        """Add a message that somebody wrote, with what its writer's program adds to it."""
        whole = mail | {"body": self.composer.body(mail["key"])}
        self.message(account, thread, common, whole, reply=reply)

    def written(self, seeds: dict[str, Any]) -> None:
        """Add the threads of a file.

        A message between two of the person's accounts is added to both.
        """
        for thread in seeds["threads"]:
            for number, mail in enumerate(thread["mails"]):
                self.by_hand(seeds["account"], thread["thread"], thread, mail, reply=number > 0)
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
        """Add a message to its account and to any other account of the person that it concerns.

        `common` is what all messages of the thread share, `mail` the rest of this message.
        """
        at = moment_of(mail)
        name, sender = self.resolve(mail["from"], account)
        to = self._recipients("to", account, common, mail) or [self.addresses[account]]
        cc = self._recipients("cc", account, common, mail)
        subject = subject_of(common, reply=reply)
        thread_prefix = "gth" if self.is_gmail(account) else "oth"
        row = {
            "conversation": self.builder.id(thread_prefix, thread),
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
        unplaced = {key: value for key, value in common.items() if key not in _PLACES}
        for key, holder in self.accounts.items():
            if key == account:
                self._keep(holder, mail["key"], thread, row, common, mail, at)
            elif holder["address"] in (sender, *to, *cc):
                other_key = f"{mail['key']}.{key}"
                self._keep(holder, other_key, f"{thread}.{key}", row, unplaced, mail, at)

    def _keep(
        self,
        holder: dict[str, Any],
        key: str,
        thread: str,
        message: dict[str, Any],
        common: dict[str, Any],
        mail: dict[str, Any],
        at: int,
    ) -> None:
        """Add an account's row for a message, and what the person did with it later."""
        provider = holder["provider"]
        own = message["sender"] == holder["address"]
        message_prefix, thread_prefix = rules.PREFIXES[provider]
        table = f"{provider}_emails"
        row_id = self.builder.id(message_prefix, key)
        if provider == "gmail":
            place = self._gmail_place(common, own)
        else:
            place = self._outlook_place(common, own, at)
        row = message | {
            "id": row_id,
            "account": holder["address"],
            "thread_id": self.builder.id(thread_prefix, thread),
            "read": own,
        }
        self.builder.arrive(at, table, **row, **place)
        if at > self.builder.start:
            return
        changes: dict[str, Any] = {}
        if not own and not mail.get("unread"):
            changes["read"] = True
        if mail.get("star"):
            changes["starred"] = True
        if changes:
            delay = self.builder.chance("seen", key).randint(5, 400) * 60
            self.builder.change(min(at + delay, self.builder.start), table, row_id, **changes)
        if key in self.snoozed:
            snooze = self.snoozed[key]
            until = iso(parse_time(snooze["until"]))
            self.builder.change(snooze["at"], table, row_id, snooze_until=until)

    def _gmail_place(self, common: dict[str, Any], own: bool) -> dict[str, Any]:
        """Return Gmail's columns of a message.

        `archive` is not a label: it only keeps the message out of the inbox.
        """
        named = common.get("labels", [])
        labels = [name for name in named if name != "archive"]
        if own:
            labels = ["sent", *(name for name in labels if name not in ("spam", "inbox"))]
        elif not {"spam", "archive", "inbox"} & set(named):
            labels = ["inbox", *labels]
        return {"labels": labels, "snooze_until": None}

    def _outlook_place(self, common: dict[str, Any], own: bool, at: int) -> dict[str, Any]:
        folder = common.get("folder", "inbox")
        if "recent" in common and self.builder.start - at < _RECENT:
            folder = common["recent"]
        return {
            "folder": "sent" if own else folder,
            "categories": list(common.get("categories", [])),
            "pinned": False,
        }

    # -- templates ----------------------------------------------------------------------------
    def generated(self, seeds: dict[str, Any]) -> None:
        """Add the mail of regular senders."""
        for sender in seeds["senders"]:
            for number, at in enumerate(self._moments(sender), 1):
                self._regular(sender, number, at)

    def _moments(self, sender: dict[str, Any]) -> Iterator[int]:
        """Yield the moments when a sender writes: on a day of each month, or every few days.

        They go on after the start.
        """
        day = datetime.fromtimestamp(self.dawn, UTC)
        days = 0
        at = self._minute(sender, day)
        start = self.builder.start
        while at < start + AHEAD:
            if sender.get("monthly"):
                writes = day.day == sender["monthly"]
            else:
                writes = (days - sender.get("offset", 0)) % sender["every"] == 0
            if writes and abs(at - start) >= _QUIET:
                yield at
            days += 1
            day += timedelta(days=1)
            at = self._minute(sender, day)

    def _minute(self, sender: dict[str, Any], day: datetime) -> int:
        minute = self.builder.chance("minute", sender["key"], day.toordinal()).randint(0, 59)
        return int(day.timestamp()) + sender["hour"] * 3_600 + minute * 60

    def _regular(self, sender: dict[str, Any], number: int, at: int) -> None:
        """Add one of a sender's messages. The order of the draws decides its text."""
        key = f"{sender['key']}_{number}"
        draw = self.builder.chance("mail", key)
        day = datetime.fromtimestamp(at, UTC)
        variables = {
            "n": str(number),
            "date": day.strftime("%-d %B"),
            "month": day.strftime("%B"),
            "last_month": (day.replace(day=1) - timedelta(days=1)).strftime("%B"),
        }
        for name, kind in sender.get("vars", {}).items():
            variables[name] = _value(kind, number, draw)
        try:
            subject = draw.choice(sender["subject"]).format(**variables)
            body = self._body(sender, key, variables, at, draw)
            files = [name.format(**variables).lower() for name in sender.get("attachments", [])]
        except KeyError as unknown:
            name = str(unknown.args[0])
            where = f"email_bulk {sender['key']}"
            raise UnknownName("variable", name, variables, where) from None
        origin = sender["from"]
        if isinstance(origin, list):
            origin = draw.choice(origin)
        age = self.builder.start - at
        unread_chance = sender.get("unread", 0.2) * (1.0 if age < _RECENT else 0.6)
        mail = {
            "key": key,
            "at": at,
            "from": origin,
            "body": body,
            "attachments": files,
            "unread": draw.random() < unread_chance,
            "star": draw.random() < sender.get("star", 0.03),
            "important": draw.random() < 0.04,
        }
        labels = list(sender.get("labels", []))
        is_archived = age > 2 * _RECENT and draw.random() < 0.6
        if is_archived and "spam" not in labels:
            labels.append("archive")
        given = ("folder", "recent", "categories", "to", "cc")
        common = {name: sender[name] for name in given if name in sender}
        common |= {"subject": subject, "labels": labels}
        self.message(sender["account"], key, common, mail, reply=False)

    def _body(
        self,
        sender: dict[str, Any],
        key: str,
        variables: dict[str, str],
        at: int,
        draw: random.Random,
    ) -> str:
        """Return the text of a sender's message: an issue of a newsletter, or one text a list."""
        if "letter" in sender:
            return self.issues.body(sender, variables, at, self.builder.chance("issue", key))
        return " ".join(draw.choice(texts).format(**variables) for texts in sender["body"])

    # -- letters of services ------------------------------------------------------------------
    def posted(self, letter: Letter) -> None:
        """Add a service's letter to the account that it is addressed to, filed as always."""
        found = [key for key, one in self.accounts.items() if one["address"] == letter.to]
        if not found or letter.at < self.dawn or self._told_by_hand(letter):
            return
        place = self._filing(found[0], letter.sender)
        chance = self.builder.chance("unread", letter.id)
        mail = {
            "key": letter.id,
            "at": letter.at,
            "from": f"{letter.sender_name} <{letter.sender}>",
            "body": letter.body,
            "unread": chance.random() < place.get("unread", 0.12),
        }
        labels = list(place.get("labels", []))
        if self.builder.start - letter.at > _RECENT and place.get("archived", True):
            labels.append("archive")
        common = place | {"subject": letter.subject, "labels": labels}
        self.message(found[0], letter.id, common, mail, reply=False)

    def _told_by_hand(self, letter: Letter) -> bool:
        """Return whether the sender has told the same by hand, within hours, in any account.

        It is the same if all words of the other subject are in the letter.
        """
        words = _words(f"{letter.subject} {letter.body}")
        for mail in self.composer.mails.values():
            is_near = abs(mail.at - letter.at) <= _SAME_NEWS
            if is_near and mail.sender == letter.sender and _words(mail.subject) <= words:
                return True
        return False

    def _filing(self, account: str, sender: str) -> dict[str, Any]:
        for rule in self.seeds.get("filing", []):
            if rule["account"] == account and sender in rule["from"]:
                return rule
        return {}

    def filing(self) -> None:
        """Add how the person files what arrives later from the same senders."""
        for rule in self.seeds.get("filing", []):
            for sender in rule["from"]:
                self.builder.add(
                    self.dawn,
                    "email_filing",
                    id=self.builder.id("efl", f"{rule['account']} {sender}"),
                    account=self.addresses[rule["account"]],
                    sender=sender,
                    labels=list(rule.get("labels", [])),
                    folder=rule.get("folder"),
                    categories=list(rule.get("categories", [])),
                )

    # -- what else accounts hold --------------------------------------------------------------
    def keepings(self) -> None:
        """Add labels, folders, categories, contacts, templates, quick steps and unsent mail."""
        self._labels_and_folders()
        self._contacts()
        self._templates_and_quick_steps()
        self._drafts_and_scheduled()

    def _labels_and_folders(self) -> None:
        add = self.builder.add
        for key, labels in self.seeds["labels"].items():
            for name in labels:
                label_id = self.builder.id("glb", f"{key} {name}")
                own = self.addresses[key]
                add(self.dawn, "gmail_labels", id=label_id, account=own, name=name)
        for key, folders in self.seeds["folders"].items():
            for name in folders:
                folder_id = self.builder.id("ofl", f"{key} {name}")
                own = self.addresses[key]
                add(self.dawn, "outlook_folders", id=folder_id, account=own, name=name)
        for key, categories in self.seeds["categories"].items():
            for category in categories:
                category_id = self.builder.id("oca", category["name"])
                own = self.addresses[key]
                add(self.dawn, "outlook_categories", id=category_id, account=own, **category)

    def _contacts(self) -> None:
        for key, contacts in self.seeds["contacts"].items():
            if self.is_gmail(key):
                prefix = "gct"
                table = "gmail_contacts"
            else:
                prefix = "ope"
                table = "outlook_people"
            for who in contacts:
                name, address = self.resolve(who, key)
                self.builder.add(
                    self.dawn,
                    table,
                    id=self.builder.id(prefix, f"{key} {who}"),
                    account=self.addresses[key],
                    name=name,
                    email_address=address,
                )

    def _templates_and_quick_steps(self) -> None:
        for template in self.seeds["templates"]:
            self.builder.add(
                self.dawn + 30 * _DAY,
                "gmail_templates",
                id=self.builder.id("gtp", template["key"]),
                account=self.addresses[template["account"]],
                name=template["name"],
                subject=template["subject"],
                body=template["body"],
            )
        for step in self.seeds["quick_steps"]:
            created_at = self.dawn + 40 * _DAY
            self.builder.add(
                created_at,
                "outlook_quick_steps",
                id=self.builder.id("oqs", step["key"]),
                account=self.addresses[step["account"]],
                name=step["name"],
                actions=step["actions"],
                created_at=iso(created_at),
            )

    def _drafts_and_scheduled(self) -> None:
        for draft in self.seeds["drafts"]:
            provider = self.accounts[draft["account"]]["provider"]
            row = self._unsent(draft, rules.DRAFT_PREFIXES[provider])
            self.builder.add(draft["at"], f"{provider}_drafts", **row)
        for mail in self.seeds["scheduled"]:
            if not self.is_gmail(mail["account"]):
                raise InputError(f"email seeds: {mail['key']}: only Gmail sends later")
            row = self._unsent(mail, "gsc")
            send_at = iso(parse_time(mail["send_at"]))
            self.builder.add(mail["at"], "gmail_scheduled", **row, send_at=send_at)

    def _unsent(self, seed: dict[str, Any], prefix: str) -> dict[str, Any]:
        """Return the row of a message that has not gone out."""
        account = seed["account"]
        return {
            "id": self.builder.id(prefix, seed["key"]),
            "account": self.addresses[account],
            "recipients": self.resolve_all(seed.get("to", []), account),
            "cc": self.resolve_all(seed.get("cc", []), account),
            "bcc": [],
            "subject": seed["subject"],
            "body": seed["body"],
            "attachments": [],
            "created_at": iso(parse_time(seed["at"])),
        }


def _value(kind: Any, number: int, draw: random.Random) -> str:
    """Return a variable of a template: an item of a list, a running number, or an amount."""
    if isinstance(kind, list):
        return draw.choice(kind)
    if "number" in kind:
        return str(kind["number"] + kind["step"] * number)
    least = round(kind["min"] * 100)
    most = round(kind["max"] * 100)
    return f"{draw.randint(least, most) / 100:.2f}"


def _words(text: str) -> set[str]:
    """Return the beginnings of a text's words, in which confirmed and confirmation agree."""
    return {word[:6] for word in re.findall(r"\w+", text.lower())}
