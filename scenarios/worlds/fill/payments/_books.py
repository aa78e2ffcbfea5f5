"""The bank accounts behind the payments: entries, opening balances, and days of patterns."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from scenarios.worlds.build import AHEAD, Builder
from servers.kit.errors import InputError
from servers.kit.values import cents, iso, parse_time
from servers.kit.zones import months_later
from servers.payments import _rules as rules


class Books:
    """Accounts and their entries, from which the opening balances are computed at the end."""

    def __init__(self, builder: Builder, seeds: dict[str, Any]) -> None:
        self.builder = builder
        self.seeds = seeds
        self.people = builder.person["people"]
        self.first = parse_time(f"{seeds['since']}T00:00:00Z")
        builder.stands(self.first)
        self.moves: dict[str, list[tuple[int, int]]] = {}
        self._entries = 0
        self._told: set[str] = set()

    def id(self, prefix: str, key: str) -> str:
        """Return the id of a row by its key."""
        return self.builder.id(prefix, key)

    def move(self, account: str, at: int, amount: int) -> None:
        """Note that the balance of an account changed."""
        self.moves.setdefault(account, []).append((at, amount))

    def enter(
        self, account: str, at: int, amount: int, ref: str, what: str, made: int | None = None
    ) -> None:
        """Enter an amount in an account; `made` is when it became known (by default, `at`)."""
        account = self.seeds["behind"].get(account, account)
        self._entries += 1
        row = {
            "account_id": self.id("acct", account),
            "amount": amount,
            "at": iso(at),
            "ref": ref,
            "what": what,
        }
        self.builder.arrive(
            at if made is None else made,
            "payments_entries",
            id=self.id("ent", str(self._entries)),
            **row,
        )
        self.move(account, at, amount)

    def named(self, account: str | None) -> str | None:
        """Return the name of a bank or a card, or None for any other key."""
        known = self.builder.person["banks"] | self.builder.person["cards"]
        return known[account]["name"] if account in known else None

    def tell(
        self,
        provider: str,
        occasion: str,
        who: str | None,
        at: int,
        said: dict[str, Any],
        bank: str = "",
        due: int | None = None,
    ) -> None:
        """Let a provider mail the owner, about something done with a person where there is one.

        Notices about a bank go where that bank writes. What a provider writes first about a row is
        known by the row.
        """
        person = self.builder.person
        written = person["banks"].get(bank, {}).get("mail_to", "personal")
        data = said | {"name": self.people[who]["name"] if who else None}
        about = said["reference"]
        key = "" if about in self._told else f"notice {about}"
        self._told.add(about)
        to = person["emails"][written]
        self.builder.posted(at, provider, occasion, to, data, about=about, due=due, key=key)

    def opening(self, account: str, held: float) -> int:
        """Return an account's first balance in cents, so that it holds `held` dollars at the start.

        Raises `InputError` if the account would have been overdrawn at any time.
        """
        moves = sorted(m for m in self.moves.get(account, []) if m[0] <= self.builder.start)
        opening = cents(held) - sum(amount for _, amount in moves)
        balance = opening
        for at, amount in moves:
            balance += amount
            if balance < 0:
                raise InputError(
                    f"payments.yaml: {account} would be overdrawn by "
                    f"{-balance / 100:.2f} at {iso(at)}"
                )
        if opening < 0:
            raise InputError(f"payments.yaml: {account} would open with {opening / 100:.2f}")
        return opening

    def close(self) -> None:
        """Write the ledger, which goes on after the start, then the accounts."""
        for number, item in enumerate(self.seeds["ledger"]):
            for day in _days(self.seeds["since"], self.builder.start + AHEAD):
                at = int(datetime.combine(day, time(item["hour"]), UTC).timestamp())
                if day.day in item["days"] and at != self.builder.start:
                    amount = item["amount"]
                    if isinstance(amount, list):
                        chance = self.builder.chance("ledger", number, day)
                        amount = round(chance.uniform(*amount), 2)
                    self.enter(item["account"], at, cents(amount), "", item["what"])
        person = self.builder.person
        for key, bank in person["banks"].items():
            self.account("bank_account", key, bank)
        for key, card in person["cards"].items():
            kind = "debit_card" if key in self.seeds["behind"] else "credit_card"
            self.account(kind, key, card)

    def account(self, kind: str, key: str, given: dict[str, Any]) -> None:
        """Write a bank account or a card; a debit card has no balance besides its account's."""
        behind = self.seeds["behind"].get(key)
        self.builder.add(
            self.first,
            "payments_accounts",
            id=self.id("acct", key),
            behind=self.id("acct", behind) if behind else None,
            type=kind,
            name=given["name"],
            last4=given["last4"],
            mail_to=self.builder.person["emails"].get(given.get("mail_to")),
            opening=0 if behind else self.opening(key, self.seeds["accounts"][key]),
        )

    def profile(self, table: str, username: str) -> None:
        """Write the signed-in account."""
        who = self.builder.person
        row = {
            "name": who["name"],
            "username": username,
            "email": who["emails"]["personal"],
            "phone": who["phone"],
        }
        self.builder.add(self.first, table, id="me", timezone=who["timezone"], **row)

    def contacts(self, table: str, prefix: str, keys: list[str], venmo: bool) -> None:
        """Write a contact list; all contacts are known since the first day."""
        for key in keys:
            who = self.people[key]
            username = who["venmo"] if venmo else who["email"].split("@")[0]
            row = {
                "name": who["name"],
                "username": username,
                "email": who["email"],
                "phone": who["phone"],
            }
            self.builder.add(
                self.first, table, id=self.id(prefix, key), added_at=iso(self.first), **row
            )

    def sources(self, table: str, prefix: str, linked: dict[str, bool]) -> None:
        """Write linked accounts and cards, one per hour."""
        for hour, (key, active) in enumerate(linked.items()):
            at = self.first + hour * 3600
            self.builder.add(
                at,
                table,
                id=self.id(prefix, key),
                account_id=self.id("acct", key),
                added_at=iso(at),
                active=active,
            )

    def expand(self, service: str, pattern: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the single rows that a recurring pattern stands for."""
        for key, day, month in self._pattern_days(pattern):
            # The order of the draws determines every row.
            chance = self.builder.chance(service, pattern["key"], day)
            skipped = chance.random() < pattern.get("skip", 0)
            clock = time(pattern["hour"], chance.randrange(60), chance.randrange(60))
            at = int(datetime.combine(day, clock, UTC).timestamp())
            if skipped or at >= self.builder.start - rules.DAY:
                continue
            note = chance.choice(pattern["notes"]).format(month=f"{month:%B}")
            amount = pattern["amount"]
            if isinstance(amount, list):
                amount = chance.choice(amount)
            categorised = chance.random() < 0.7 or "before" in pattern
            yield pattern | {
                "key": key,
                "at": iso(at),
                "amount": amount,
                "note": note,
                "category": pattern.get("category") if categorised else None,
            }

    def _pattern_days(self, pattern: dict[str, Any]) -> Iterator[tuple[str, date, date]]:
        """Yield each day of a pattern with the key of its row and the month that it is for.

        A monthly pattern falls on a `day`, or some days `before` the month that it is for. Any
        other pattern falls on a weekday, `every` so many days.
        """
        number = 0
        for day in _days(self.seeds["since"], self.builder.start):
            if pattern["every"] != "month":
                days = (day - _first_weekday(self.seeds["since"], pattern["day"])).days
                if days >= 0 and days % pattern["every"] == 0:
                    number += 1
                    yield f"{pattern['key']}-{number}", day, day
            elif "before" in pattern:
                month = months_later(day.replace(day=1), 1)
                if (month - day).days == pattern["before"]:
                    yield f"{pattern['key']}-{month:%Y-%m}", day, month
            elif day.day == pattern["day"]:
                yield f"{pattern['key']}-{day:%Y-%m}", day, day


def _days(since: date, until: int) -> Iterator[date]:
    day = since
    last = datetime.fromtimestamp(until, UTC).date()
    while day <= last:
        yield day
        day += timedelta(days=1)


def _first_weekday(since: date, weekday: int) -> date:
    return since + timedelta(days=(weekday - since.weekday()) % 7)
