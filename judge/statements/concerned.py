"""Whom and what the calls of a record concern: the people whose names or addresses they hold, and
the accounts and cards that paid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from judge.reading.values import who
from judge.tables import addresses_in, tables_of_mails, tables_of_people
from judge.trace import Record
from servers.kit.events import Attempt
from servers.kit.service import services
from servers.kit.store import World

_REACHED_AT = ("email", "email_address", "username", "phone")


def people_of(record: Record, attempt: Attempt) -> frozenset[str]:
    """Return the full names of everyone whom a call's arguments or changes are about."""

    def make() -> frozenset[str]:
        found: set[str] = set()
        known = set(record.people)
        book = _book(record)
        for text in _texts(record, attempt):
            if text in known:
                found.add(text)
            if text.casefold() in book:
                found |= book[text.casefold()]
            elif "@" in text:
                found |= known.intersection(who(text, record.people))
        return frozenset(found)

    people: frozenset[str] = record.kept(("people of", attempt.seq), make)
    return people


def recipients_of(record: Record, attempt: Attempt) -> frozenset[str]:
    """Return the full names of everyone whom the mails of a call went to; everyone whom it is about
    if it made none, or if nobody knows whose an address is.
    """
    found: set[str] = set()
    mailed = False
    for change in attempt.effects:
        row = change["new"]
        if change["table"] not in tables_of_mails() or change["old"] is not None or row is None:
            continue
        for address in addresses_in(change["table"], row):
            mailed = True
            names = _book(record).get(address, set())
            names = names | set(record.people).intersection(who(address, record.people))
            if not names:
                return people_of(record, attempt)
            found |= names
    return frozenset(found) if mailed else people_of(record, attempt)


_TAKES_BACK = re.compile(r"cancel|declin|revers|remind|delet|remov|return|refund")
"""Words in the names of tools that pay for nothing."""
_PAYING = ("payments", "ridesharing", "travel", "shopping", "food_delivery")
_MEANS = frozenset(["checking", "savings", "visa", "amex", "mastercard", "debit", "balance"])
_WITH_BALANCE = ("venmo_transactions",)
"""Tables in which no source stands for a balance of the service's own."""
_FROM = re.compile(
    r"\b(?:from|out of|on|with|charged to|using) (?:(?:your|her|his|the|my) )"
    r"(?:[\w.&'-]+ ){0,3}?(checking|savings|visa|amex|mastercard|debit|(?<!on your )balance)\b"
)


def paid_from_elsewhere(record: Record, sentence: str, before: int) -> bool:
    """Return whether a sentence says that something was paid from an account or with a card that no
    payment before an event has used: "from your balance".
    """
    named = set(_FROM.findall(sentence.casefold()))
    if not named:
        return False
    used: set[str] = set()
    paid = False
    for attempt in record.attempts:
        cls = services().get(attempt.service)
        paying = cls is not None and cls.category in _PAYING and bool(attempt.effects)
        paying = paying and not _TAKES_BACK.search(attempt.name)
        if attempt.seq >= before or not paying:
            continue
        paid = True
        used |= _means(record, attempt)
    return paid and used.isdisjoint(named)


def _means(record: Record, attempt: Attempt) -> set[str]:
    """Return the words for what paid in a call: any, if it was left to the service."""
    words: set[str] = {"balance"} if attempt.name.endswith("transfer_to_bank") else set()
    for text in _texts(record, attempt):
        words |= _MEANS.intersection(re.findall(r"[a-z]+", text.casefold()))
    for change in attempt.effects:
        row = change["new"] or {}
        if "source_id" in row and row["source_id"] is None:
            words |= {"balance"} if change["table"] in _WITH_BALANCE else _MEANS
    return words


def can_be_reached(record: Record, name: str) -> bool:
    """Return whether the world knows an address of somebody, so that a call would tell of them."""
    return any(name in names for names in _book(record).values())


def is_meant(name: str, sentence: str, record: Record) -> bool:
    """Return whether a sentence can mean nobody but a person: by the last name, or by a first name
    that is no other's.
    """
    low = sentence.casefold()
    parts = name.casefold().split()
    same = [other for other in record.people if other.casefold().split()[0] == parts[0]]
    named = parts[-1] in low and all(
        other == name or other.casefold().split()[-1] != parts[-1] for other in record.people
    )
    return (named or parts[0] in low) and (len(same) < 2 or named)


def _texts(record: Record, attempt: Attempt) -> Iterator[str]:
    """Yield the texts of a call and of its changes, and of the rows that they point at."""
    values: list[Any] = [attempt.args]
    for change in attempt.effects:
        values += [change["old"], change["new"]]
    for text in _leaves(values):
        yield text
        for near in _leaves(_row(record, attempt.service, text)):
            yield near
            yield from _leaves(_row(record, attempt.service, near))


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from _leaves(part)
    elif isinstance(value, str):
        yield value


def _row(record: Record, service: str, key: str) -> Any:
    """Return the row of a service's tables that has a key, or None."""
    world = record.world
    if world is None or service not in services() or "_" not in key or " " in key:
        return None
    return record.kept(("row of", service, key), lambda: _found(world, service, key))


def _found(world: World, service: str, key: str) -> Any:
    for table in services()[service].known_tables():
        if table in world.tables:
            row = world.get(table, key)
            if row is not None:
                return row
    return None


def _book(record: Record) -> Mapping[str, set[str]]:
    """Return the names of the people whom each address reaches."""

    def make() -> dict[str, set[str]]:
        book: dict[str, set[str]] = {}
        world = record.world
        for table in sorted(tables_of_people()):
            if world is None or table not in world.tables:
                continue
            for row in record.rows(table):
                for column in _REACHED_AT:
                    if row.get(column):
                        book.setdefault(str(row[column]).casefold(), set()).add(row["name"])
        return book

    book: dict[str, set[str]] = record.kept("address book", make)
    return book
