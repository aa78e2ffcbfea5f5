"""Venmo, Zelle and the bank accounts behind them, from patterns and single rows. Opening balances follow from what is held at the start."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from scenarios.worlds.build import Builder
from servers.kit.errors import InputError
from servers.kit.values import cents, iso, parse_time
from servers.kit.zones import day_start, months_later
from servers.payments import _rules as rules
from servers.payments.zelle._model import CLAIM

BANK_SETTLES = rules.DAY
CASH_OUT_TAKES = 2 * rules.DAY
SCHEDULE_HOUR = 6


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write accounts, both providers and the ledger."""
    books = Books(builder, seeds)
    Venmo(books, seeds["venmo"]).fill()
    Zelle(books, seeds["zelle"]).fill()
    books.close()


class Books:
    """Accounts and what is entered in them, so that the opening balances can be worked out at the end."""

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
        """Remember that an account changed."""
        self.moves.setdefault(account, []).append((at, amount))

    def enter(
        self, account: str, at: int, amount: int, ref: str, what: str, made: int | None = None
    ) -> None:
        """Enter an amount in an account, known since `made` (the same moment unless given)."""
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
        """Return what an account held at first, for it to hold `held` at the start; it must never have been overdrawn."""
        moves = sorted(m for m in self.moves.get(account, []) if m[0] <= self.builder.start)
        found = cents(held) - sum(amount for _, amount in moves)
        left = found
        for at, amount in moves:
            left += amount
            if left < 0:
                raise InputError(
                    f"payments.yaml: {account} would be overdrawn by {-left / 100:.2f} at {iso(at)}"
                )
        if found < 0:
            raise InputError(f"payments.yaml: {account} would open with {found / 100:.2f}")
        return found

    def close(self) -> None:
        """Write the ledger, then the accounts."""
        for number, item in enumerate(self.seeds["ledger"]):
            for day in _days(self.seeds["since"], self.builder.start):
                at = int(datetime.combine(day, time(item["hour"]), UTC).timestamp())
                if day.day in item["days"] and at < self.builder.start:
                    amount = item["amount"]
                    chance = self.builder.chance("ledger", number, day)
                    worth = (
                        cents(round(chance.uniform(*amount), 2))
                        if isinstance(amount, list)
                        else cents(amount)
                    )
                    self.enter(item["account"], at, worth, "", item["what"])
        person = self.builder.person
        known = [("bank_account", k, v) for k, v in person["banks"].items()]
        cards = [
            ("debit_card" if k in self.seeds["behind"] else "credit_card", k, v)
            for k, v in person["cards"].items()
        ]
        for kind, key, said in known + cards:
            behind = self.seeds["behind"].get(key)
            opening = 0 if behind else self.opening(key, self.seeds["accounts"][key])
            row = {"type": kind, "name": said["name"], "last4": said["last4"], "opening": opening}
            behind_id = self.id("acct", behind) if behind else None
            self.builder.add(
                self.first, "payments_accounts", id=self.id("acct", key), behind=behind_id, **row
            )

    def profile(self, table: str, username: str) -> None:
        """Write who is signed in."""
        who = self.builder.person
        row = {
            "name": who["name"],
            "username": username,
            "email": who["emails"]["personal"],
            "phone": who["phone"],
        }
        self.builder.add(self.first, table, id="me", timezone=who["timezone"], **row)

    def contacts(self, table: str, prefix: str, keys: list[str], venmo: bool) -> None:
        """Write an address book, everyone known since the first day."""
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
        """Write linked accounts and cards, one an hour."""
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
        number = 0
        for day in _days(self.seeds["since"], self.builder.start):
            chance = self.builder.chance(service, pattern["key"], day)
            month = months_later(day.replace(day=1), 1) if "before" in pattern else day
            if pattern["every"] == "month":
                key = f"{pattern['key']}-{month:%Y-%m}"
                hit = (
                    (month.replace(day=1) - day).days == pattern["before"]
                    if "before" in pattern
                    else day.day == pattern["day"]
                )
            else:
                days = (day - _first_weekday(self.seeds["since"], pattern["day"])).days
                hit = days >= 0 and days % pattern["every"] == 0
                number += hit
                key = f"{pattern['key']}-{number}"
            skipped = chance.random() < pattern.get("skip", 0)
            at = int(
                datetime.combine(
                    day, time(pattern["hour"], chance.randrange(60), chance.randrange(60)), UTC
                ).timestamp()
            )
            if hit and not skipped and at < self.builder.start - rules.DAY:
                amount = pattern["amount"]
                note = chance.choice(pattern["notes"]).format(month=f"{month:%B}")
                worth = chance.choice(amount) if isinstance(amount, list) else amount
                category = (
                    pattern.get("category")
                    if chance.random() < 0.7 or "before" in pattern
                    else None
                )
                yield pattern | {
                    "key": key,
                    "at": iso(at),
                    "amount": worth,
                    "note": note,
                    "category": category,
                }


class Venmo:
    """Writes Venmo's rows."""

    def __init__(self, books: Books, seeds: dict[str, Any]) -> None:
        self.books = books
        self.seeds = seeds
        self.builder = books.builder

    def fill(self) -> None:
        """Write everything; the wallet last, as its opening follows from the rest."""
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
        limit = cents(card["daily_limit"])
        self.builder.add(
            first,
            "venmo_card",
            id="card",
            last4=card["last4"],
            enabled=True,
            daily_limit=limit,
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

    def pay(self, said: dict[str, Any], request: str | None = None) -> str:
        """Write a payment sent or received."""
        books = self.books
        at = parse_time(said["at"])
        amount = cents(said["amount"])
        made = books.id("vtx", said["key"])
        sent = said["way"] == "sent"
        source = said["source"] if sent else None
        fee = round(amount * 3 / 100) if source == "amex" else 0
        settles = (
            at + (BANK_SETTLES if source in self.builder.person["banks"] else rules.SETTLES)
            if sent
            else at
        )
        row = {
            "type": f"payment_{said['way']}",
            "contact_id": books.id("vct", said["with"]),
            "amount": amount,
            "fee": fee,
            "note": said["note"],
            "visibility": self.builder.chance("visibility", said["key"]).choice(
                ["private", "private", "friends"]
            ),
            "source_id": books.id("vfs", source) if source not in (None, "balance") else None,
            "request_id": request,
            "created_at": iso(at),
            "settles_at": iso(settles),
            "failure": said.get("failure"),
        }
        self.builder.add(at, "venmo_transactions", id=made, **row)
        moves = [] if said.get("failure") else [(at, amount if not sent else -(amount + fee))]
        if said.get("cancelled"):
            back = parse_time(said["cancelled"])
            self.builder.change(back, "venmo_transactions", made, cancelled_at=iso(back))
            moves.append((back, amount + fee))
        for moment, change in moves:
            if source in (None, "balance"):
                books.move("wallet", moment, change)
            else:
                books.enter(
                    source, moment, change, made, "venmo payment" if change < 0 else "refund"
                )
        return made

    def cash_out(self, said: dict[str, Any]) -> None:
        """Write a transfer from the wallet to a bank."""
        books = self.books
        at = parse_time(said["at"])
        amount = cents(said["amount"])
        instant = said.get("instant", False)
        made = books.id("vtx", said["key"])
        arrives = at if instant else at + CASH_OUT_TAKES
        fee = min(max(round(amount * 0.0175), 25), 2_500) if instant else 0
        row = {
            "type": "bank_transfer",
            "amount": amount,
            "fee": fee,
            "visibility": "private",
            "source_id": books.id("vfs", said["to"]),
        }
        note = "Instant transfer" if instant else "Standard transfer"
        self.builder.add(
            at,
            "venmo_transactions",
            id=made,
            note=note,
            created_at=iso(at),
            settles_at=iso(arrives),
            **row,
        )
        books.move("wallet", at, -amount)
        books.enter(said["to"], arrives, amount - fee, made, "venmo cash-out", made=at)

    def request(self, said: dict[str, Any], group: str | None = None) -> None:
        """Write a request and how it was closed."""
        visibility = {
            "visibility": "private",
            "group_id": self.books.id("vgp", group) if group else None,
        }
        _request(self.books, said, "venmo_requests", ("vrq", "vct"), visibility, self.pay)

    def group(self, said: dict[str, Any]) -> None:
        """Write a group payment with the requests of its participants."""
        books = self.books
        at = parse_time(said["at"])
        key = said["key"]
        made = books.id("vgp", key)
        total = cents(said["total"])
        if total != cents(said["own"]) + sum(cents(p["amount"]) for p in said["participants"]):
            raise InputError(f"payments.yaml: shares of group {key} do not add up")
        row = {
            "description": said["description"],
            "total": total,
            "own_share": cents(said["own"]),
            "created_at": iso(at),
        }
        self.builder.add(at, "venmo_groups", id=made, **row)
        for part in said["participants"]:
            asked = {
                "key": f"{key}-{part['with']}",
                "at": said["at"],
                "way": "outgoing",
                "note": said["description"],
            }
            if part.get("paid") or said.get("settled"):
                asked |= (
                    {"closed": "paid", "closed_at": part["paid"]}
                    if part.get("paid")
                    else {"closed": "settled", "closed_at": said["settled"]}
                )
            self.request(part | asked, group=key)
            if said.get("reminded") and not part.get("paid"):
                again = parse_time(said["reminded"])
                until = iso(again + rules.REQUEST_LIFE)
                self.builder.change(
                    again,
                    "venmo_requests",
                    books.id("vrq", asked["key"]),
                    reminded_at=iso(again),
                    expires_at=until,
                )
        if said.get("settled"):
            self.builder.change(
                said["settled"], "venmo_groups", made, settled_at=iso(parse_time(said["settled"]))
            )


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
            for token in (who["email"].lower(), rules.digits(who["phone"])) if who["zelle"] else ():
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
        self, said: dict[str, Any], request: str | None = None, scheduled: str | None = None
    ) -> str:
        """Write a transfer sent or received."""
        books = self.books
        at = parse_time(said["at"])
        amount = cents(said["amount"])
        made = books.id("ztx", said["key"])
        sent = said["way"] == "sent"
        who = books.people[said["with"]]
        claim = at + CLAIM if sent and not who["zelle"] else None
        row = {
            "type": f"transfer_{said['way']}",
            "contact_id": books.id("zrc", said["with"]),
            "party": who["name"],
            "amount": amount,
            "note": said["note"],
            "source_id": books.id("zbk", said["bank"]),
            "request_id": request,
            "scheduled_id": scheduled,
            "category": said.get("category"),
            "created_at": iso(at),
            "settles_at": iso(at + rules.SETTLES if sent else at),
            "claim_by": iso(claim) if claim else None,
            "failure": said.get("failure"),
        }
        self.builder.add(at, "zelle_transfers", id=made, **row)
        if not said.get("failure"):
            books.enter(said["bank"], at, -amount if sent else amount, made, "zelle transfer")
        if claim:
            books.enter(said["bank"], claim, amount, made, "zelle transfer not claimed", made=at)
        if said.get("cancelled"):
            back = parse_time(said["cancelled"])
            self.builder.change(back, "zelle_transfers", made, cancelled_at=iso(back))
            books.enter(said["bank"], back, amount, made, "refund")
        return made

    def schedule(self, said: dict[str, Any]) -> None:
        """Write a scheduled payment, and the transfers that it has made until the start."""
        books = self.books
        made = self.books.id("zsp", said["key"])
        due = self._due(said["date"], 0)
        row = {
            "contact_id": books.id("zrc", said["with"]),
            "amount": cents(said["amount"]),
            "note": said["note"],
        }
        dates = {
            "scheduled_date": str(said["date"]),
            "created_at": iso(parse_time(said["at"])),
            "next_at": due,
        }
        recurring = said.get("recurring", False)
        bank = books.id("zbk", said["bank"])
        self.builder.add(
            said["at"],
            "zelle_scheduled",
            id=made,
            source_id=bank,
            recurring=recurring,
            **row,
            **dates,
        )
        if said.get("cancelled"):
            back = parse_time(said["cancelled"])
            self.builder.change(back, "zelle_scheduled", made, next_at=None, cancelled_at=iso(back))
            return
        runs = 0
        while due is not None and parse_time(due) <= self.builder.start:
            runs += 1
            self.pay(
                said | {"key": f"{said['key']}-{runs}", "at": due, "way": "sent"}, scheduled=made
            )
            following = self._due(said["date"], runs) if recurring else None
            self.builder.change(due, "zelle_scheduled", made, next_at=following)
            due = following

    def _due(self, day: date, months: int) -> str:
        return day_start(months_later(day, months), self.builder.zone, SCHEDULE_HOUR)


def _request(
    books: Books,
    said: dict[str, Any],
    table: str,
    prefixes: tuple[str, str],
    extra: dict[str, Any],
    pay: Any,
) -> None:
    at = parse_time(said["at"])
    made = books.id(prefixes[0], said["key"])
    row = {
        "direction": said["way"],
        "contact_id": books.id(prefixes[1], said["with"]),
        "amount": cents(said["amount"]),
    }
    dates = {
        "created_at": iso(at),
        "expires_at": iso(at + rules.REQUEST_LIFE),
        "note": said["note"],
    }
    books.builder.add(at, table, id=made, **row, **dates, **extra)
    if said.get("closed"):
        end = parse_time(said["closed_at"])
        way = "sent" if said["way"] == "incoming" else "received"
        paid = (
            pay(said | {"at": iso(end), "way": way}, request=made)
            if said["closed"] == "paid"
            else None
        )
        books.builder.change(
            end, table, made, closed_as=said["closed"], closed_at=iso(end), transaction_id=paid
        )


def _days(since: date, until: int) -> Iterator[date]:
    day = since
    last = datetime.fromtimestamp(until, UTC).date()
    while day <= last:
        yield day
        day += timedelta(days=1)


def _first_weekday(since: date, weekday: int) -> date:
    return since + timedelta(days=(weekday - since.weekday()) % 7)
