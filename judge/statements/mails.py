"""The mails that an agent sent: what it told others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from judge.trace import Record
from servers.kit.events import Attempt
from servers.kit.expr import matches
from servers.kit.service import all_tables
from servers.kit.store import AGENT, Change
from servers.kit.tables import Table
from servers.kit.types import Row


@dataclass(frozen=True)
class Mail:
    """A mail as it was when it went out. `seq` is the event of the call that sent it."""

    key: Any
    body: str
    seq: int
    turn: int
    at: str


def mails(record: Record, address: str) -> Iterator[Mail]:
    """Yield the mails that the agent sent to an address, oldest first, each once."""
    seen: set[Any] = set()
    for attempt in record.attempts:
        for change in attempt.effects:
            row = change["new"]
            if row is None or change["cause"] != AGENT or change["key"] in seen:
                continue
            if _is_mail(change, row) and address.casefold() in _people(change["table"], row):
                seen.add(change["key"])
                yield _mail(attempt, change, row)


def _mail(attempt: Attempt, change: Change, row: Row) -> Mail:
    prose = [row[c] for c, role in _spec(change).roles.items() if role == "prose" and row[c]]
    body = "\n".join(str(text) for text in prose)
    return Mail(change["key"], body, attempt.seq, attempt.turn, attempt.at)


def _spec(change: Change) -> Table:
    return all_tables()[change["table"]]


def _is_mail(change: Change, row: Row) -> bool:
    spec = all_tables().get(change["table"])
    if spec is None or spec.outward is None or "recipients" not in spec.roles.values():
        return False
    return matches(spec.outward, row)


def _people(table: str, row: Row) -> set[str]:
    people: set[str] = set()
    for column, role in all_tables()[table].roles.items():
        value = row[column]
        if role == "recipients" and value is not None:
            listed = value if isinstance(value, list) else str(value).split(",")
            people |= {str(one).strip().casefold() for one in listed}
    return people
