"""The mail search that both providers share: words that are ranked, operators that must hold.

Words outside of groups are wishes: what has more of them comes first. Operators, quoted phrases,
exclusions and whatever stands in an OR or in brackets are conditions. A message's rank depends only
on the message and the query, so mail elsewhere never moves it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from servers.kit import search
from servers.kit.errors import ServiceError, did_you_mean
from servers.kit.service import Service
from servers.kit.values import iso, parse_time

Row = dict[str, Any]
Test = Callable[[Row], bool]
Operator = Callable[[str], Test]
"""Turns an operator's value into a predicate; raises `ServiceError` for an invalid value."""

_TOKEN = re.compile(
    r"(?P<close>[)}])"
    r"|(?P<no>-?)(?:(?P<op>[A-Za-z_]+)(?::(?=\S)|(?=[<>])))?"
    r'(?:(?P<open>[({])|"(?P<phrase>[^"]*)"?|(?P<word>[^\s(){}"]+))'
)
_CLOSING = {"(": ")", "{": "}"}
_ABOUT_MAIL = frozenset(("mail", "mails", "email", "emails", "message", "messages"))
"""Words that say nothing in a mailbox, unless they are all that is asked for."""

_PLACES = ("in", "folder", "label")
"""What one provider or another calls the place that a message is in."""


@dataclass
class Query:
    """A parsed query: words to rank by, and conditions that must hold."""

    words: list[str] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)


@dataclass(frozen=True)
class _Part:
    """A word (with its quotes, if any) or a condition."""

    word: str | None = None
    test: Test | None = None


def invalid(message: str, hint: str = "") -> ServiceError:
    """Return the error for an invalid query."""
    return ServiceError("INVALID_QUERY", message, hint)


# -- parsing ----------------------------------------------------------------------------------
class _Parser:
    """Reads a query: parts side by side must all hold, OR stands between two alternatives.

    `{a b}` means one of them, `subject:(a b)` gives the operator to each part, and a minus or NOT
    excludes.
    """

    def __init__(
        self, text: str, operators: Mapping[str, Operator], having: Callable[[str], Test]
    ) -> None:
        self._tokens = [match for match in _TOKEN.finditer(text) if match[0].strip()]
        self._operators = operators
        self._having = having
        names = ", ".join(f"{name}:" for name in operators)
        self.known = f'Use words, "quoted phrases", OR, -exclusions and these operators: {names}.'

    def parts(self, closing: str = "", inherited: str = "") -> list[_Part]:
        """Return the parts up to a closing bracket or the end, with those joined by OR as one."""
        found: list[_Part] = []
        joins = False
        while self._tokens:
            token = self._tokens.pop(0)
            if token["close"]:
                if token["close"] == closing:
                    return found
                continue
            said = token["word"] if not (token["op"] or token["no"]) else None
            if said in ("OR", "|"):
                joins = bool(found)
                continue
            if said == "AND":
                continue
            negative = bool(token["no"])
            if said == "NOT" and self._tokens:
                negative = True
                token = self._tokens.pop(0)
            part = self._part(token, negative, inherited)
            if part is None:
                continue
            if joins:
                part = self._either([found.pop(), part])
                joins = False
            found.append(part)
        return found

    def _part(self, token: re.Match[str], negative: bool, inherited: str) -> _Part | None:
        name = (token["op"] or "").lower()
        value = token["word"] if token["phrase"] is None else token["phrase"]
        if name in ("http", "https"):  # a link, not an operator
            value = f"{name}:{value}"
            name = ""
        name = name or inherited
        if name and name not in self._operators:
            near = did_you_mean(name, self._operators)
            if name in _PLACES:
                here = next(place for place in _PLACES if place in self._operators)
                near = f"; did you mean {here!r}?"
            raise invalid(f"Unknown search operator '{name}:'{near}", self.known)
        if token["open"]:
            inner = self.parts(_CLOSING[token["open"]], name)
            if not inner:
                return None
            group = self._either(inner) if token["open"] == "{" else self._every(inner)
            return self._negated(group) if negative else group
        if value is None or not search.words(value):
            return None
        if name:
            part = _Part(test=self._operators[name](value.strip()))
        else:
            part = _Part(word=value if token["phrase"] is None else f'"{value}"')
        return self._negated(part) if negative else part

    def test(self, part: _Part) -> Test:
        """Return a part as a condition."""
        return part.test or self._having(part.word or "")

    def _every(self, parts: Sequence[_Part]) -> _Part:
        tests = [self.test(part) for part in parts]
        return _Part(test=lambda row: all(test(row) for test in tests))

    def _either(self, parts: Sequence[_Part]) -> _Part:
        tests = [self.test(part) for part in parts]
        return _Part(test=lambda row: any(test(row) for test in tests))

    def _negated(self, part: _Part) -> _Part:
        test = self.test(part)
        return _Part(test=lambda row: not test(row))


def parse(text: str, operators: Mapping[str, Operator], having: Callable[[str], Test]) -> Query:
    """Parse a query; `having` turns a word into the condition that a message has it.

    Raises `ServiceError` INVALID_QUERY for an unknown operator or value, naming the known ones.
    """
    parser = _Parser(text, operators, having)
    query = Query()
    for part in parser.parts():
        if part.word is not None:
            query.words.append(part.word)
        else:
            query.tests.append(parser.test(part))
    if not (query.words or query.tests):
        raise invalid("The query is empty.", parser.known)
    return query


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
    arrived = search.Source(table, "account=? AND created_at<=?", (account, service.time))

    def having(word: str) -> Test:
        expression = search.all_of(word)
        ids = search.hits(service.db, table, expression, arrived.where, *arrived.params)
        return lambda row: row["id"] in ids

    query = parse(text, operators, having)
    totals: search.Scores = {}
    where = arrived.where
    params = arrived.params
    if query.words:
        wanted = search.without(" ".join(query.words), _ABOUT_MAIL)
        totals = search.every_score(service.db, wanted, arrived)
        where = f"id IN ({','.join('?' * len(totals))})"
        params = tuple(totals)
    rows = service.db.rows(table, where, *params, order="created_at DESC, id")
    matches = []
    for row in rows:
        if scope(row) and all(test(row) for test in query.tests):
            matches.append(row)
    if not query.words:
        return matches
    left = {row["id"]: totals[row["id"]] for row in matches}
    left = search.tail_cut(left, " ".join(query.words))
    return search.in_order(matches, left)


# -- operators --------------------------------------------------------------------------------
def operators(own: str, flags: Mapping[str, Test]) -> dict[str, Operator]:
    """Return the operators that both providers know.

    `own` is the account's address, which `me` stands for; `flags` are the values of `is:`.
    """

    def addressed(column: str) -> Operator:
        def operator(value: str) -> Test:
            wanted = own if value.lower() == "me" else value.lower()
            return lambda row: any(wanted in address for address in row[column])

        return operator

    def sender(value: str) -> Test:
        wanted = own if value.lower() == "me" else value.lower()
        return lambda row: wanted in f"{row['sender_name']} {row['sender']}".lower()

    def to(value: str) -> Test:
        wanted = own if value.lower() == "me" else value.lower()
        return lambda row: any(wanted in a for a in (*row["recipients"], *row["cc"], *row["bcc"]))

    def subject(value: str) -> Test:
        begun = re.compile(rf"(?<!\w){re.escape(value)}", re.IGNORECASE)
        return lambda row: begun.search(row["subject"]) is not None

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
        "cc": addressed("cc"),
        "bcc": addressed("bcc"),
        "subject": subject,
        "has": has,
        "is": state,
        "before": before,
        "after": after,
    }


def _day_start(value: str) -> str:
    """Return the moment at which a day begins in UTC, as rows write it."""
    text = value.replace("/", "-")
    american = re.fullmatch(r"(\d{1,2})-(\d{1,2})-(\d{4})", text)
    if american:
        text = f"{american[3]}-{american[1]:0>2}-{american[2]:0>2}"
    try:
        return iso(parse_time(text + "T00:00:00Z"))
    except ValueError:
        raise invalid(
            f"{value!r} is not a date.", "Write dates as YYYY-MM-DD, e.g. after:2026-03-01."
        ) from None


def ages(now: int) -> dict[str, Operator]:
    """Return `older_than:` and `newer_than:`, as in newer_than:7d."""

    def older(value: str) -> Test:
        moment = _ago(now, value)
        return lambda row: row["created_at"] < moment

    def newer(value: str) -> Test:
        moment = _ago(now, value)
        return lambda row: row["created_at"] >= moment

    return {"older_than": older, "newer_than": newer}


def _ago(now: int, value: str) -> str:
    """Return the moment that lies some hours, days, weeks, months or years back."""
    given = re.fullmatch(r"(\d{1,3})([hdwmy])", value.lower())
    if given is None:
        raise invalid(
            f"{value!r} is not an age.", "Write a number and d, m or y, e.g. newer_than:7d."
        )
    count = int(given[1])
    then = datetime.fromtimestamp(now, UTC)
    if given[2] in "my":
        months = then.year * 12 + then.month - 1 - count * (12 if given[2] == "y" else 1)
        first = date(max(months // 12, 1), months % 12 + 1, 1)
        next_month = date(first.year + first.month // 12, first.month % 12 + 1, 1)
        last_day = (next_month - timedelta(days=1)).day
        then = then.replace(year=first.year, month=first.month, day=min(then.day, last_day))
    else:
        hours = {"h": 1, "d": 24, "w": 168}[given[2]]
        then -= timedelta(hours=count * hours)
    return iso(int(then.timestamp()))


def attached(value: str) -> Test:
    """Return whether a message has an attachment whose name contains a text or ends in it."""
    return lambda row: any(value.lower() in name.lower() for name in row["attachments"])


def spans(now: int) -> Operator:
    """Return `received:` as Outlook has it: a day, `>=2026-03-01`, `2026-03-01..2026-03-08`, today.

    Days are those of UTC, as everywhere in queries.
    """
    today = datetime.fromtimestamp(now, UTC).date()
    monday = today - timedelta(days=today.weekday())
    first = today.replace(day=1)
    named = {
        "today": (today, today),
        "yesterday": (today - timedelta(days=1), today - timedelta(days=1)),
        "this week": (monday, monday + timedelta(days=6)),
        "last week": (monday - timedelta(days=7), monday - timedelta(days=1)),
        "this month": (first, today),
        "last month": ((first - timedelta(days=1)).replace(day=1), first - timedelta(days=1)),
    }

    def received(value: str) -> Test:
        if value.lower() in named:
            begin, end = (iso(parse_time(f"{d}T00:00:00Z")) for d in named[value.lower()])
            return lambda row: begin <= row["created_at"] < _next_day(end)
        given = re.fullmatch(r"(>=|<=|>|<|=)?(.+?)(?:\.\.(.+))?", value)
        sign, text, until = given.groups() if given else (None, value, None)
        begin = _day_start(text)
        if until is not None:
            end = _next_day(_day_start(until))
            return lambda row: begin <= row["created_at"] < end
        tests: dict[str, Test] = {
            ">=": lambda row: row["created_at"] >= begin,
            ">": lambda row: row["created_at"] >= _next_day(begin),
            "<": lambda row: row["created_at"] < begin,
            "<=": lambda row: row["created_at"] < _next_day(begin),
            "=": lambda row: begin <= row["created_at"] < _next_day(begin),
        }
        return tests[sign or "="]

    return received


def _next_day(begin: str) -> str:
    return iso(parse_time(begin) + 86_400)


def yes_or_no(name: str, test: Test) -> Operator:
    """Return an operator that takes yes or no, such as `hasattachments:yes`."""

    def operator(value: str) -> Test:
        if value.lower() in ("yes", "true"):
            return test
        if value.lower() in ("no", "false"):
            return lambda row: not test(row)
        raise invalid(f"'{name}:{value}' is not a valid search.", f"Use {name}:yes or {name}:no.")

    return operator
