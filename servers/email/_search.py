"""The mail search that both providers share: free words through the full-text index, operators as predicates.

A message's rank depends on the message and the query alone, so that mail elsewhere never moves it.
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
"""From an operator's value to a predicate; raises `ServiceError` for a value that means nothing."""

_PART = re.compile(r'(?P<no>-?)(?:(?P<op>[A-Za-z_]+):(?=\S))?(?:"(?P<phrase>[^"]*)"|(?P<word>\S+))')


@dataclass(frozen=True)
class Query:
    """A parsed query: words to find, words to leave out, and predicates."""

    words: list[str]
    without: list[str]
    tests: list[Test]


def invalid(message: str, hint: str = "") -> ServiceError:
    """Return the refusal of a query."""
    return ServiceError("INVALID_QUERY", message, hint)


def parse(text: str, operators: Mapping[str, Operator]) -> Query:
    """Read a query. Raises `ServiceError` INVALID_QUERY for an unknown operator or value, naming the known ones."""
    known = (
        "Operators: "
        + ", ".join(f"{name}:" for name in operators)
        + ' - besides free words and "quoted phrases".'
    )
    query = Query([], [], [])
    for part in _PART.finditer(text):
        name = (part["op"] or "").lower()
        negative = bool(part["no"])
        value = part["word"] if part["phrase"] is None else part["phrase"]
        if name in ("http", "https"):
            name, value = "", f"{name}:{value}"
        if not re.search(r"\w", value) and value != "|":
            continue
        if not name:
            if value in ("OR", "|"):
                raise invalid(
                    "OR is not supported; every part of a query must match.",
                    "Search once for each alternative.",
                )
            if value != "AND":
                (query.without if negative else query.words).append(
                    f'"{value}"' if part["phrase"] is not None else value
                )
            continue
        if name not in operators:
            raise invalid(
                f"Unknown search operator '{name}:'{did_you_mean(name, operators)}", known
            )
        test = operators[name](value.strip())
        query.tests.append((lambda row, test=test: not test(row)) if negative else test)
    if not (query.words or query.without or query.tests):
        raise invalid("The query is empty.", known)
    return query


def find(
    service: Service,
    table: str,
    account: str,
    text: str,
    operators: Mapping[str, Operator],
    scope: Test,
) -> list[Row]:
    """Return an account's arrived messages that match, best first; ties and queries without words newest first."""
    query = parse(text, operators)
    if query.words:
        rows = service.db.search(table, " ".join(query.words), order="created_at DESC")
    else:
        rows = service.db.rows(
            table, "account=? AND created_at<=?", account, service.time, order="created_at DESC, id"
        )
    out = {r["id"] for word in query.without for r in service.db.search(table, word)}
    found = [
        r
        for r in rows
        if r["account"] == account
        and r["created_at"] <= service.time
        and r["id"] not in out
        and scope(r)
        and all(t(r) for t in query.tests)
    ]
    terms = re.findall(r"\w+", " ".join(query.words).lower())
    return sorted(found, key=lambda r: -_score(r, terms)) if terms else found


def _score(row: Row, terms: list[str]) -> int:
    places = ((3, row["subject"]), (2, row["people"]), (1, row["body"]))
    tokens = [(weight, re.findall(r"\w+", text.lower())) for weight, text in places]
    return sum(
        weight for term in terms for weight, held in tokens if any(t.startswith(term) for t in held)
    )


def operators(own: str, flags: Mapping[str, Test]) -> dict[str, Operator]:
    """Return the operators that both providers know. `own` is the account's address; `flags` the values of `is:`."""

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
            raise invalid(f"'has:{value}' means nothing.", "Use has:attachment.")
        return lambda row: bool(row["attachments"])

    def state(value: str) -> Test:
        if value.lower() not in flags:
            raise invalid(
                f"'is:{value}' means nothing{did_you_mean(value, flags)}",
                "Use is: with " + ", ".join(flags) + ".",
            )
        return flags[value.lower()]

    def before(value: str) -> Test:
        moment = _day(value)
        return lambda row: row["created_at"] < moment

    def after(value: str) -> Test:
        moment = _day(value)
        return lambda row: row["created_at"] >= moment

    return {
        "from": sender,
        "to": to,
        "subject": subject,
        "has": has,
        "is": state,
        "before": before,
        "after": after,
    }


def _day(value: str) -> str:
    try:
        return iso(parse_time(value.replace("/", "-") + "T00:00:00Z"))
    except ValueError:
        raise invalid(
            f"{value!r} is not a date.", "Write dates as YYYY-MM-DD, e.g. after:2026-03-01."
        ) from None
