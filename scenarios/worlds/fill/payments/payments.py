"""Venmo, Zelle and the bank accounts behind them, from patterns and single rows.

Opening balances are computed from the balances that the seeds give for the start.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from scenarios.worlds.build import Builder
from scenarios.worlds.fill import manners
from scenarios.worlds.fill.payments import _ahead
from scenarios.worlds.fill.payments._books import Books
from servers.kit.errors import InputError
from servers.kit.values import cents, iso, parse_time
from servers.kit.zones import day_start, months_later
from servers.payments import _mail as mail
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
    providers = {"venmo": Venmo(books, seeds["venmo"]), "zelle": Zelle(books, seeds["zelle"])}
    for provider in providers.values():
        provider.fill()
    books.close()
    for name, provider in providers.items():
        for seed in _ahead.payments(builder, name):
            provider.pay(seed)


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
        for row in [*seeds["requests"], *_ahead.requests(self.builder, "venmo")]:
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
        self.builder.arrive(at, "venmo_transactions", id=transaction, **row)
        paid_with = books.named(source) or "Venmo balance"
        said = mail.of_payment(row | {"id": transaction}, paid_with if sent else None)
        books.tell("venmo", _occasion(row), seed["with"], at, said)
        moves = []
        if not seed.get("failure"):
            moves.append((at, -(amount + fee) if sent else amount))
        if seed.get("cancelled"):
            cancelled_at = parse_time(seed["cancelled"])
            self.builder.change(
                cancelled_at, "venmo_transactions", transaction, cancelled_at=iso(cancelled_at)
            )
            books.tell("venmo", "payment_cancelled", seed["with"], cancelled_at, said)
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
        row = {
            "id": transaction,
            "note": "Instant transfer" if instant else "Standard transfer",
            "created_at": iso(at),
            "settles_at": iso(arrives),
            "type": "bank_transfer",
            "amount": amount,
            "fee": fee,
            "visibility": "private",
            "source_id": books.id("vfs", seed["to"]),
        }
        self.builder.add(at, "venmo_transactions", **row)
        said = mail.of_payment(row, books.named(seed["to"]))
        if not instant:
            books.tell("venmo", "transfer_started", None, at, said)
        books.tell("venmo", "transfer_arrived", None, at, said, due=arrives)
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
        for row in [*seeds["requests"], *_ahead.requests(self.builder, "zelle")]:
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
        self.builder.arrive(at, "zelle_transfers", id=transfer, **row)
        said = mail.of_payment(row | {"id": transfer}, books.named(bank))
        books.tell("zelle", _occasion(row), seed["with"], at, said, bank)
        if claim and not seed.get("cancelled"):
            books.tell("zelle", "payment_returned", seed["with"], at, said, bank, claim)
        if not seed.get("failure"):
            books.enter(bank, at, -amount if sent else amount, transfer, "zelle transfer")
        if claim:
            books.enter(bank, claim, amount, transfer, "zelle transfer not claimed", made=at)
        if seed.get("cancelled"):
            cancelled_at = parse_time(seed["cancelled"])
            self.builder.change(
                cancelled_at, "zelle_transfers", transfer, cancelled_at=iso(cancelled_at)
            )
            books.tell("zelle", "payment_cancelled", seed["with"], cancelled_at, said, bank)
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
    """Write a request and how it was closed; `prefixes` are those of its ID and its contact's."""
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
    books.builder.arrive(at, table, id=request, **row, **extra)
    provider = table.partition("_")[0]
    said = mail.of_request(row | {"id": request})
    incoming = seed["way"] == "incoming"
    books.tell(provider, "request_received" if incoming else "request_sent", seed["with"], at, said)
    if seed.get("closed"):
        closed_at = parse_time(seed["closed_at"])
        if (seed["closed"], incoming) == ("declined", False):
            books.tell(provider, "request_declined", seed["with"], closed_at, said)
        elif (seed["closed"], incoming) == ("cancelled", True):
            books.tell(provider, "request_withdrawn", seed["with"], closed_at, said)
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
    elif not incoming and at + REQUEST_LIFE > books.builder.start:
        announced = seed.get("announced")
        manners.react(books.builder, seed["with"], "request", provider, request, announced)


def _occasion(row: dict[str, Any]) -> str:
    """Return the occasion on which a provider mails the owner about a payment."""
    if row["type"].endswith("received"):
        return "payment_received"
    if row["failure"]:
        return "payment_failed"
    return "payment_unclaimed" if row.get("claim_by") else "payment_sent"
