"""The mail search that both providers share: words in the full-text index, operators as predicates.

A message's rank depends only on the message and the query, so mail elsewhere never moves it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from servers.kit.errors import ServiceError, did_you_mean
from servers.kit.service import Service
from servers.kit.values import iso, parse_time

Row = dict[str, Any]
Test = Callable[[Row], bool]
Operator = Callable[[str], Test]
"""Turns an operator's value into a predicate; raises `ServiceError` for an invalid value."""

_PART = re.compile(r'(?P<no>-?)(?:(?P<op>[A-Za-z_]+):(?=\S))?(?:"(?P<phrase>[^"]*)"|(?P<word>\S+))')


@dataclass(frozen=True)
class Query:
    """A parsed query: words to find, words to exclude, and predicates."""

    words: list[str]
    without: list[str]
    tests: list[Test]


def invalid(message: str, hint: str = "") -> ServiceError:
    """Return the error for an invalid query."""
    return ServiceError("INVALID_QUERY", message, hint)


# -- parsing ----------------------------------------------------------------------------------
def parse(text: str, operators: Mapping[str, Operator]) -> Query:
    """Parse a query.

    Raises `ServiceError` INVALID_QUERY for an unknown operator or value, naming the known ones.
    """
    names = ", ".join(f"{name}:" for name in operators)
    known = f'Use words, "quoted phrases" and these operators: {names}.'
    query = Query([], [], [])
    for part in _PART.finditer(text):
        name = (part["op"] or "").lower()
        value = part["word"] if part["phrase"] is None else part["phrase"]
        if name in ("http", "https"):  # a link, not an operator
            value = f"{name}:{value}"
            name = ""
        if not re.search(r"\w", value) and value != "|":
            continue
        negative = bool(part["no"])
        if not name:
            if value in ("OR", "|"):
                raise invalid(
                    "OR is not supported: every part of a query must match.",
                    "Run one search for each alternative.",
                )
            if value != "AND":
                words = query.without if negative else query.words
                words.append(value if part["phrase"] is None else f'"{value}"')
            continue
        if name not in operators:
            near = did_you_mean(name, operators)
            raise invalid(f"Unknown search operator '{name}:'{near}", known)
        test = operators[name](value.strip())
        query.tests.append(_negated(test) if negative else test)
    if not (query.words or query.without or query.tests):
        raise invalid("The query is empty.", known)
    return query


def _negated(test: Test) -> Test:
    return lambda row: not test(row)


# -- finding ----------------------------------------------------------------------------------
def find(
    service: Service,
    table: str,
    account: str,
    text: str,
    operators: Mapping[str, Operator],
    scope: Test,
) -> list[Row]:
    """Return an account's arrived messages that match and are in scope, best first.

    Ties, and queries without words, come newest first.
    """
    query = parse(text, operators)
    if query.words:
        rows = service.db.search(table, " ".join(query.words), order="created_at DESC")
    else:
        rows = service.db.rows(
            table, "account=? AND created_at<=?", account, service.time, order="created_at DESC, id"
        )
    excluded: set[str] = set()
    for word in query.without:
        excluded.update(row["id"] for row in service.db.search(table, word))
    # The full-text index spans every account and messages that have not arrived yet.
    matches = []
    for row in rows:
        if row["account"] != account or row["created_at"] > service.time:
            continue
        if row["id"] not in excluded and scope(row) and all(test(row) for test in query.tests):
            matches.append(row)
    terms = re.findall(r"\w+", " ".join(query.words).lower())
    if terms:
        matches.sort(key=lambda row: -_score(row, terms))
    return matches


def _score(row: Row, terms: list[str]) -> int:
    """Return how well a message matches: a term counts 3 in the subject, 2 in people, 1 in body."""
    score = 0
    for weight, column in ((3, "subject"), (2, "people"), (1, "body")):
        tokens = re.findall(r"\w+", row[column].lower())
        for term in terms:
            if any(token.startswith(term) for token in tokens):
                score += weight
    return score


# -- operators --------------------------------------------------------------------------------
def operators(own: str, flags: Mapping[str, Test]) -> dict[str, Operator]:
    """Return the operators that both providers know.

    `own` is the account's address, which `me` stands for; `flags` are the values of `is:`.
    """

    def sender(value: str) -> Test:
        wanted = own if value.lower() == "me" else value.lower()
        return lambda row: wanted in f"{row['sender_name']} {row['sender']}".lower()

    def to(value: str) -> Test:
        wanted = own if value.lower() == "me" else value.lower()
        return lambda row: any(wanted in a for a in (*row["recipients"], *row["cc"], *row["bcc"]))

    def subject(value: str) -> Test:
        return lambda row: value.lower() in row["subject"].lower()

    def has(value: str) -> Test:
        if value.lower() not in ("attachment", "attachments"):
            raise invalid(f"'has:{value}' is not a valid search.", "Use has:attachment.")
        return lambda row: bool(row["attachments"])

    def state(value: str) -> Test:
        if value.lower() not in flags:
            raise invalid(
                f"'is:{value}' is not a valid search{did_you_mean(value, flags)}",
                "Values of is: are " + ", ".join(flags) + ".",
            )
        return flags[value.lower()]

    def before(value: str) -> Test:
        day_start = _day_start(value)
        return lambda row: row["created_at"] < day_start

    def after(value: str) -> Test:
        day_start = _day_start(value)
        return lambda row: row["created_at"] >= day_start

    return {
        "from": sender,
        "to": to,
        "subject": subject,
        "has": has,
        "is": state,
        "before": before,
        "after": after,
    }


def _day_start(value: str) -> str:
    """Return the moment at which a day begins in UTC, as rows write it."""
    try:
        return iso(parse_time(value.replace("/", "-") + "T00:00:00Z"))
    except ValueError:
        raise invalid(
            f"{value!r} is not a date.", "Write dates as YYYY-MM-DD, e.g. after:2026-03-01."
        ) from None
