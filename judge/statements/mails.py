"""What an agent told others: the mails that it sent, and what it published."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from judge.statements.statement import Statement
from judge.tables import addresses_in, tables, tables_of_mails
from judge.trace import Record
from servers.kit.events import Attempt
from servers.kit.expr import matches
from servers.kit.store import AGENT, Change
from servers.kit.tables import Table
from servers.kit.types import Row


@dataclass(frozen=True)
class Mail:
    """A mail, or another text to others, as it was when it went out.

    `seq` is the event of the call that sent it.
    """

    key: Any
    body: str
    seq: int
    turn: int
    at: str


def letters(record: Record, statement: Statement) -> Iterator[Mail]:
    """Yield the texts to others that a statement is about, oldest first."""
    if statement.in_mail_to is not None:
        yield from mails(record, statement.in_mail_to)
    elif statement.written_in:
        yield from _written(record, statement.written_in)


def _written(record: Record, places: Collection[str]) -> Iterator[Mail]:
    """Yield what the agent wrote into rows of tables, each version of it."""
    for attempt in record.attempts:
        for change in attempt.effects:
            row = change["new"]
            if change["table"] not in places or change["cause"] != AGENT or row is None:
                continue
            made = _mail(attempt, change, row)
            before = change["old"]
            if before is None or _mail(attempt, change, before).body != made.body:
                yield made


def mails(record: Record, address: str) -> Iterator[Mail]:
    """Yield the mails that the agent wrote to an address, oldest first, each once.

    A mail that went out counts as it was then; a draft, or a mail that is to go out later, as it
    stands in the end.
    """
    seen: set[Any] = set()
    waiting: dict[Any, Mail] = {}
    for attempt in record.attempts:
        for change in attempt.effects:
            row = change["new"]
            if change["cause"] != AGENT or change["key"] in seen or not _is_mail(change):
                continue
            waiting.pop(change["key"], None)
            if row is None or address.casefold() not in addresses_in(change["table"], row):
                continue
            if _went_out(change, row):
                seen.add(change["key"])
                yield _mail(attempt, change, row)
            else:
                waiting[change["key"]] = _mail(attempt, change, row)
    yield from waiting.values()


def _mail(attempt: Attempt, change: Change, row: Row) -> Mail:
    roles = _spec(change).roles
    prose = [row[column] for column in roles if roles[column] == "prose"]
    body = "\n".join(str(text) for text in prose if text)
    return Mail(change["key"], body, attempt.seq, attempt.turn, attempt.at)


def _spec(change: Change) -> Table:
    return tables()[change["table"]]


def _is_mail(change: Change) -> bool:
    return change["table"] in tables_of_mails()


def _went_out(change: Change, row: Row) -> bool:
    outward = _spec(change).outward
    return outward is not None and matches(outward, row)
