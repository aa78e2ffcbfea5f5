"""Venmo, Zelle and the bank accounts behind them, from patterns and single rows.

Opening balances are computed from the balances that the seeds give for the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from scenarios.worlds.build import Builder
from servers.kit.errors import InputError
from servers.kit.values import cents, iso, parse_time
from servers.kit.zones import day_start, months_later
from servers.payments import _rules as rules
from servers.payments._requests import REQUEST_LIFE
from servers.payments.zelle._model import CLAIM

BANK_SETTLES = rules.DAY
CASH_OUT_TAKES = 2 * rules.DAY
SCHEDULE_HOUR = 6
CREDIT_CARD = "amex"


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write accounts, both providers and the ledger."""
    books = Books(builder, seeds)
    Venmo(books, seeds["venmo"]).fill()
    Zelle(books, seeds["zelle"]).fill()
    books.close()


class Books:
    """Accounts and their entries, from which the opening balances are computed at the end."""

    def __init__(self, builder: Builder, seeds: dict[str, Any]) -> None:
        self.builder = builder
        self.seeds = seeds
        self.people = builder.person["people"]
        self.first = parse_time(f"{seeds['since']}T00:00:00Z")
        self.moves: dict[str, list[tuple[int, int]]] = {}
        self._entries = 0

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
        self.builder.add(
            at if made is None else made,
            "payments_entries",
            id=self.id("ent", str(self._entries)),
            **row,
        )
        self.move(account, at, amount)

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
        """Write the ledger, then the accounts."""
        for number, item in enumerate(self.seeds["ledger"]):
            for day in _days(self.seeds["since"], self.builder.start):
                at = int(datetime.combine(day, time(item["hour"]), UTC).timestamp())
                if day.day in item["days"] and at < self.builder.start:
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


class Venmo:
    """Writes Venmo's rows."""

    def __init__(self, books: Books, seeds: dict[str, Any]) -> None:
        self.books = books
        self.seeds = seeds
        self.builder = books.builder

    def fill(self) -> None:
        """Write everything; the wallet last, as its opening balance depends on the rest."""
        books = self.books
        seeds = self.seeds
        first = self.books.first
        books.profile("venmo_profile", seeds["username"])
        self.builder.add(
            first, "venmo_settings", id="me", default_visibility=seeds["default_visibility"]
        )
        books.contacts("venmo_contacts", "vct", seeds["friends"], venmo=True)
        books.sources("venmo_sources", "vfs", seeds["sources"])
        for pattern in seeds["patterns"]:
            for row in books.expand("venmo", pattern):
                self.pay(row)
        for row in seeds["singles"]:
            self.pay(row)
        for row in seeds["cash_outs"]:
            self.cash_out(row)
        for row in seeds["requests"]:
            self.request(row)
        for row in seeds["groups"]:
            self.group(row)
        card = seeds["card"]
        self.builder.add(
            first,
            "venmo_card",
            id="card",
            last4=card["last4"],
            enabled=True,
            daily_limit=cents(card["daily_limit"]),
            reward_category=card["reward_category"],
        )
        for key, at, merchant, category, amount in seeds["purchases"]:
            row = {
                "merchant": merchant,
                "category": category,
                "amount": cents(amount),
                "at": iso(parse_time(at)),
            }
            self.builder.add(at, "venmo_card_purchases", id=books.id("vdc", key), **row)
            books.move("wallet", parse_time(at), -cents(amount))
        self.builder.add(
            first, "venmo_wallet", id="wallet", opening=books.opening("wallet", seeds["wallet"])
        )

    def pay(self, seed: dict[str, Any], request: str | None = None) -> str:
        """Write a payment sent or received."""
        books = self.books
        at = parse_time(seed["at"])
        amount = cents(seed["amount"])
        transaction = books.id("vtx", seed["key"])
        sent = seed["way"] == "sent"
        source = seed["source"] if sent else None
        fee = round(amount * 3 / 100) if source == CREDIT_CARD else 0
        settles = at
        if sent:
            settles += BANK_SETTLES if source in self.builder.person["banks"] else rules.SETTLES
        chance = self.builder.chance("visibility", seed["key"])
        row = {
            "type": f"payment_{seed['way']}",
            "contact_id": books.id("vct", seed["with"]),
            "amount": amount,
            "fee": fee,
            "note": seed["note"],
            "visibility": chance.choice(["private", "private", "friends"]),
            "source_id": books.id("vfs", source) if source not in (None, "balance") else None,
            "request_id": request,
            "created_at": iso(at),
            "settles_at": iso(settles),
            "failure": seed.get("failure"),
        }
        self.builder.add(at, "venmo_transactions", id=transaction, **row)
        moves = []
        if not seed.get("failure"):
            moves.append((at, -(amount + fee) if sent else amount))
        if seed.get("cancelled"):
            cancelled_at = parse_time(seed["cancelled"])
            self.builder.change(
                cancelled_at, "venmo_transactions", transaction, cancelled_at=iso(cancelled_at)
            )
            moves.append((cancelled_at, amount + fee))
        for moment, change in moves:
            if source in (None, "balance"):
                books.move("wallet", moment, change)
            else:
                what = "venmo payment" if change < 0 else "refund"
                books.enter(source, moment, change, transaction, what)
        return transaction

    def cash_out(self, seed: dict[str, Any]) -> None:
        """Write a transfer from the wallet to a bank."""
        books = self.books
        at = parse_time(seed["at"])
        amount = cents(seed["amount"])
        instant = seed.get("instant", False)
        transaction = books.id("vtx", seed["key"])
        arrives = at if instant else at + CASH_OUT_TAKES
        fee = min(max(round(amount * 0.0175), 25), 2_500) if instant else 0
        self.builder.add(
            at,
            "venmo_transactions",
            id=transaction,
            note="Instant transfer" if instant else "Standard transfer",
            created_at=iso(at),
            settles_at=iso(arrives),
            type="bank_transfer",
            amount=amount,
            fee=fee,
            visibility="private",
            source_id=books.id("vfs", seed["to"]),
        )
        books.move("wallet", at, -amount)
        books.enter(seed["to"], arrives, amount - fee, transaction, "venmo cash-out", made=at)

    def request(self, seed: dict[str, Any], group: str | None = None) -> None:
        """Write a request and how it was closed."""
        own = {
            "visibility": "private",
            "group_id": self.books.id("vgp", group) if group else None,
        }
        _request(self.books, seed, "venmo_requests", ("vrq", "vct"), own, self.pay)

    def group(self, seed: dict[str, Any]) -> None:
        """Write a group payment with the requests of its participants."""
        books = self.books
        at = parse_time(seed["at"])
        key = seed["key"]
        group_id = books.id("vgp", key)
        total = cents(seed["total"])
        if total != cents(seed["own"]) + sum(cents(p["amount"]) for p in seed["participants"]):
            raise InputError(f"payments.yaml: shares of group {key} do not add up")
        row = {
            "description": seed["description"],
            "total": total,
            "own_share": cents(seed["own"]),
            "created_at": iso(at),
        }
        self.builder.add(at, "venmo_groups", id=group_id, **row)
        for part in seed["participants"]:
            request = {
                "key": f"{key}-{part['with']}",
                "at": seed["at"],
                "way": "outgoing",
                "note": seed["description"],
            }
            if part.get("paid"):
                request |= {"closed": "paid", "closed_at": part["paid"]}
            elif seed.get("settled"):
                request |= {"closed": "settled", "closed_at": seed["settled"]}
            self.request(part | request, group=key)
            if seed.get("reminded") and not part.get("paid"):
                reminded_at = parse_time(seed["reminded"])
                self.builder.change(
                    reminded_at,
                    "venmo_requests",
                    books.id("vrq", request["key"]),
                    reminded_at=iso(reminded_at),
                    expires_at=iso(reminded_at + REQUEST_LIFE),
                )
        if seed.get("settled"):
            settled_at = parse_time(seed["settled"])
            self.builder.change(settled_at, "venmo_groups", group_id, settled_at=iso(settled_at))


class Zelle:
    """Writes Zelle's rows."""

    def __init__(self, books: Books, seeds: dict[str, Any]) -> None:
        self.books = books
        self.seeds = seeds
        self.builder = books.builder

    def fill(self) -> None:
        """Write everything."""
        books = self.books
        seeds = self.seeds
        books.profile("zelle_profile", seeds["username"])
        books.contacts("zelle_contacts", "zrc", seeds["recipients"], venmo=False)
        books.sources("zelle_sources", "zbk", seeds["banks"])
        for who in books.people.values():
            if who["zelle"]:
                for token in (who["email"].lower(), rules.digits(who["phone"])):
                    self.builder.add(books.first, "zelle_directory", token=token)
        for pattern in seeds["patterns"]:
            for row in books.expand("zelle", pattern):
                self.pay(row)
        for row in seeds["singles"]:
            self.pay(row)
        for row in seeds["requests"]:
            _request(books, row, "zelle_requests", ("zrq", "zrc"), {}, self.pay)
        for row in seeds["scheduled"]:
            self.schedule(row)

    def pay(
        self, seed: dict[str, Any], request: str | None = None, scheduled: str | None = None
    ) -> str:
        """Write a transfer sent or received."""
        books = self.books
        at = parse_time(seed["at"])
        bank = seed["bank"]
        amount = cents(seed["amount"])
        transfer = books.id("ztx", seed["key"])
        sent = seed["way"] == "sent"
        who = books.people[seed["with"]]
        claim = at + CLAIM if sent and not who["zelle"] else None
        row = {
            "type": f"transfer_{seed['way']}",
            "contact_id": books.id("zrc", seed["with"]),
            "party": who["name"],
            "amount": amount,
            "note": seed["note"],
            "source_id": books.id("zbk", bank),
            "request_id": request,
            "scheduled_id": scheduled,
            "category": seed.get("category"),
            "created_at": iso(at),
            "settles_at": iso(at + rules.SETTLES if sent else at),
            "claim_by": iso(claim) if claim else None,
            "failure": seed.get("failure"),
        }
        self.builder.add(at, "zelle_transfers", id=transfer, **row)
        if not seed.get("failure"):
            books.enter(bank, at, -amount if sent else amount, transfer, "zelle transfer")
        if claim:
            books.enter(bank, claim, amount, transfer, "zelle transfer not claimed", made=at)
        if seed.get("cancelled"):
            cancelled_at = parse_time(seed["cancelled"])
            self.builder.change(
                cancelled_at, "zelle_transfers", transfer, cancelled_at=iso(cancelled_at)
            )
            books.enter(bank, cancelled_at, amount, transfer, "refund")
        return transfer

    def schedule(self, seed: dict[str, Any]) -> None:
        """Write a scheduled payment, and the transfers that it has made until the start."""
        books = self.books
        payment = books.id("zsp", seed["key"])
        due = self._due(seed["date"], 0)
        recurring = seed.get("recurring", False)
        self.builder.add(
            seed["at"],
            "zelle_scheduled",
            id=payment,
            source_id=books.id("zbk", seed["bank"]),
            recurring=recurring,
            contact_id=books.id("zrc", seed["with"]),
            amount=cents(seed["amount"]),
            note=seed["note"],
            scheduled_date=str(seed["date"]),
            created_at=iso(parse_time(seed["at"])),
            next_at=due,
        )
        if seed.get("cancelled"):
            cancelled_at = parse_time(seed["cancelled"])
            self.builder.change(
                cancelled_at,
                "zelle_scheduled",
                payment,
                next_at=None,
                cancelled_at=iso(cancelled_at),
            )
            return
        runs = 0
        while due is not None and parse_time(due) <= self.builder.start:
            runs += 1
            transfer = seed | {"key": f"{seed['key']}-{runs}", "at": due, "way": "sent"}
            self.pay(transfer, scheduled=payment)
            following = self._due(seed["date"], runs) if recurring else None
            self.builder.change(due, "zelle_scheduled", payment, next_at=following)
            due = following

    def _due(self, day: date, months: int) -> str:
        return day_start(months_later(day, months), self.builder.zone, SCHEDULE_HOUR)


def _request(
    books: Books,
    seed: dict[str, Any],
    table: str,
    prefixes: tuple[str, str],
    extra: dict[str, Any],
    pay: Any,
) -> None:
    """Write a request and how it was closed; `prefixes` are the ID prefixes of both tables.

    They are those of the requests and of the contacts.
    """
    at = parse_time(seed["at"])
    request = books.id(prefixes[0], seed["key"])
    row = {
        "direction": seed["way"],
        "contact_id": books.id(prefixes[1], seed["with"]),
        "amount": cents(seed["amount"]),
        "created_at": iso(at),
        "expires_at": iso(at + REQUEST_LIFE),
        "note": seed["note"],
    }
    books.builder.add(at, table, id=request, **row, **extra)
    if seed.get("closed"):
        closed_at = parse_time(seed["closed_at"])
        transaction = None
        if seed["closed"] == "paid":
            way = "sent" if seed["way"] == "incoming" else "received"
            transaction = pay(seed | {"at": iso(closed_at), "way": way}, request=request)
        books.builder.change(
            closed_at,
            table,
            request,
            closed_as=seed["closed"],
            closed_at=iso(closed_at),
            transaction_id=transaction,
        )


def _days(since: date, until: int) -> Iterator[date]:
    day = since
    last = datetime.fromtimestamp(until, UTC).date()
    while day <= last:
        yield day
        day += timedelta(days=1)


def _first_weekday(since: date, weekday: int) -> date:
    return since + timedelta(days=(weekday - since.weekday()) % 7)
