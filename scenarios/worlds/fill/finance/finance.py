"""The past at the brokers: securities, accounts, and what customers did.

The past is played through the services' own tools on the dates in the seeds. So no row contradicts
a rule: orders filled at the prices of their moments, and whoever held a security on the ex-date got
its dividend.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from scenarios.worlds.build import Builder, with_ids
from scenarios.worlds.fill.finance import _securities as listing
from servers.finance import _calendar as calendar
from servers.finance import _clockwork as clockwork
from servers.finance import _mail as mail
from servers.finance import _market as market
from servers.finance import _statements as statements
from servers.finance.fidelity import _model as fidelity
from servers.finance.robinhood import _model as robinhood
from servers.finance.vanguard import _model as vanguard
from servers.kit.agenda import Agenda
from servers.kit.errors import InputError, ServiceError
from servers.kit.posts import TABLES
from servers.kit.service import Ids, Service, services
from servers.kit.store import WORLD, Change, World
from servers.kit.types import Row
from servers.kit.values import cents, iso, parse_time
from servers.kit.zones import local_day, local_moment

WORDS = {"robinhood": robinhood.WORDS, "fidelity": fidelity.WORDS, "vanguard": vanguard.WORDS}
TICKS = (time(10, 30), time(16, 30))
"""Times of day in New York at which the services do what has come due."""


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write the securities, and the past at each broker."""
    securities = listing.rows()
    first = local_moment(seeds["since"], time(9), calendar.NEW_YORK)
    builder.stands(first)
    for row in securities:
        builder.add(first, "finance_securities", **row)
    invested = [happening for happening in builder.life if "invest" in happening]
    for name in WORDS:
        told = {each["key"]: each for each in invested if each["invest"]["on"] == name}
        Past(builder, services()[name], seeds[name], securities, first, told).play()


class Step(NamedTuple):
    """A call of a tool at a moment. If the tool is empty, only time passes.

    Two names are not tools: `note` checks a dividend, and `update` changes a row of the table named
    by `key`.
    """

    moment: int
    tool: str
    key: str
    args: dict[str, Any]


class Past:
    """One broker's past, played in a small world of its own and copied from that world's log."""

    def __init__(
        self,
        builder: Builder,
        cls: type[Service],
        seeds: dict[str, Any],
        securities: list[dict[str, Any]],
        first: int,
        told: dict[str, Any],
    ) -> None:
        self.builder = builder
        self.cls = cls
        self.name = cls.name
        self.seeds = seeds
        self.first = first
        self.told = told
        self.next_key: str | None = None
        self._count = 0
        self.world = World.empty(cls.known_tables() | TABLES)
        self.agenda = Agenda([cls], self._ids)
        self.world.stamp(first, WORLD)
        for row in securities:
            self.world.insert("finance_securities", row)
        self.listed = {row["symbol"]: row for row in securities}

    def play(self) -> None:
        """Play every step, then hand over all rows except the securities."""
        carried = [row for row in self.listed.values() if row["kind"] in WORDS[self.name].kinds]
        next_at = clockwork.next_ex_date(carried, self.first)
        self.world.insert("finance_agenda", {"id": self.name, "next_at": next_at})
        agenda = {"id": statements.key(WORDS[self.name]), "next_at": statements.next_at(self.first)}
        self.world.insert("finance_agenda", agenda)
        for table, rows in self.seeds["rows"].items():
            for row in rows:
                self.world.insert(table, with_ids(self._dated(row), self.builder.name))
        self.world.commit()
        for step in sorted(self._steps(), key=lambda step: step.moment):
            if step.moment <= self.builder.start:
                self._do(step)
        for entry in self.world.log():
            if entry["table"] not in ("finance_securities", *TABLES):
                self._tell(entry)
        for post in self.world.rows("outbox", order="rowid"):
            self._mail(post)
        self.world.close()

    def _mail(self, post: Row) -> None:
        """Let the broker mail what it posted in the past, or will mail from there."""
        due = parse_time(post["due_at"])
        said = self.cls(self.world, due, self._ids()).when_due(post)
        if said is None:
            return
        occasion = post["template"]
        about = post["about"]
        key = f"{self.name} {occasion} {about} {post['due_at']}"
        self.builder.posted(
            post["posted_at"],
            self.name,
            occasion,
            post["recipient"],
            said if post["due_at"] > post["posted_at"] else post["data"],
            about=about,
            due=due,
            key=key,
        )

    def _tell(self, entry: Change) -> None:
        """Hand one change in the small world over to the builder."""
        table = entry["table"]
        old = entry["old"]
        new = entry["new"]
        if new is None:
            raise InputError(
                f"{self.name}: the past deletes {entry['key']} from {table}, "
                "but a world's past cannot delete rows"
            )
        if old is None:
            self.builder.add(entry["at"], table, **new)
        else:
            changed = {name: value for name, value in new.items() if old[name] != value}
            self.builder.change(entry["at"], table, entry["key"], **changed)

    def _steps(self) -> Iterator[Step]:
        """Yield the steps of the seeds, the repeating ones, and the ticks of the clock."""
        tells = {key.removeprefix("life:") for _, _, key, _ in self.seeds["steps"]}
        missing = sorted(set(self.told) - tells)
        if missing:
            raise InputError(
                f"finance.yaml: {self.name} has no step for {', '.join(missing)} of life.yaml"
            )
        for at, tool, key, args in self.seeds["steps"]:
            yield self._step(at, tool, key, args)
        for repeat in self.seeds.get("repeats", ()):
            yield from self._repeats(repeat)
        day = local_day(self.first, calendar.NEW_YORK)
        last = local_day(self.builder.start, calendar.NEW_YORK)
        while day <= last:
            for clock in TICKS:
                yield Step(local_moment(day, clock, calendar.NEW_YORK), "", "", {})
            day += timedelta(days=1)

    def _step(self, at: Any, tool: str, key: str, args: dict[str, Any]) -> Step:
        """Return one step of the seeds.

        A step with the key `life:<key>` takes its moment from that happening, and its amount too
        where an argument is `life`.
        """
        if not key.startswith("life:"):
            return Step(self.builder.moment(at), tool, key, args)
        happening = self.told[key.removeprefix("life:")]
        amount = happening["invest"]["amount"]
        args = {name: amount if value == "life" else value for name, value in args.items()}
        return Step(self.builder.moment(at or happening["at"]), tool, happening["key"], args)

    def _repeats(self, repeat: dict[str, Any]) -> Iterator[Step]:
        """Yield each occurrence of a repeating step, up to its last day or the episode's start."""
        until = repeat.get("until", local_day(self.builder.start, self.builder.zone))
        number = 0
        while True:
            day = clockwork.occurrence(repeat["start"], repeat["every"], number, every_day=True)
            if day > until:
                return
            number += 1
            moment = self.builder.moment(f"{day}T{repeat.get('time', '11:30')}")
            if moment <= self.builder.start:
                yield Step(moment, repeat["tool"], f"{repeat['key']}-{number}", repeat["args"])

    def _do(self, step: Step) -> None:
        """Let the service do what is due by the step's moment, then make the step."""
        self.world.stamp(step.moment, WORLD)
        self.agenda.run(self.world, step.moment)
        if not step.tool:
            return
        broker = self.cls(self.world, step.moment, self._ids())
        self.world.stamp(step.moment, WORLD)
        if step.tool == "note":
            self._check_dividend(step)
        elif step.tool == "update":
            changes = dict(step.args)
            key = with_ids(changes.pop("id"), self.builder.name)
            self.world.update(step.key, key, **self._dated(changes))
            row = self.world.get(step.key, key)
            if row is not None and "failure" in changes:
                mail.transfer(broker, WORDS[self.name], row)
        else:
            self._call(broker, step)
        self.world.commit()

    def _call(self, broker: Service, step: Step) -> None:
        """Call a tool. The first row that it creates gets its ID from the step's key."""
        self.next_key = step.key
        spec = self.cls.tools[step.tool]
        args = self._quantity(with_ids(self._dated(step.args), self.builder.name), step.moment)
        try:
            spec.run(broker, **spec.arguments(args, self.cls.codes))
        except ServiceError as refusal:
            raise InputError(
                f"finance.yaml: {self.name} at {iso(step.moment)} "
                f"refuses {step.tool} {step.key}: {refusal}"
            ) from None

    def _check_dividend(self, step: Step) -> None:
        """Fail if a dividend mentioned in the seeds was not paid on its day."""
        symbol = step.args["symbol"]
        amount = step.args["amount"]
        day = local_day(step.moment, calendar.NEW_YORK).isoformat()
        paid = self.world.rows(f"{self.name}_dividends", "symbol=? AND pay_date=?", symbol, day)
        amounts = [row["amount"] for row in paid]
        if amounts != [cents(amount)]:
            shown = [f"{each / 100:.2f}" for each in amounts] or "nothing"
            raise InputError(
                f"finance.yaml: {self.name} pays {shown} for {symbol} on {day}, not {amount:.2f}"
            )

    def _quantity(self, args: dict[str, Any], moment: int) -> dict[str, Any]:
        """Replace `worth: dollars` with the quantity that costs or brings that at the moment."""
        if "worth" not in args:
            return args
        row = self.listed[args["symbol"]]
        bid, ask = market.spread(row, market.price(row, moment))
        price = Decimal(str(bid if args["side"] == "sell" else ask))
        quantity = (Decimal(cents(args["worth"])) / 100 / price).quantize(Decimal("0.000001"))
        others = {name: value for name, value in args.items() if name != "worth"}
        return others | {"quantity": float(quantity)}

    def _ids(self, *key: Any) -> Ids:
        return Ids(self._spend, lambda prefix, ahead: f"{prefix}_{ahead}", [])

    def _spend(self, prefix: str) -> str:
        """Return the next ID: one from the step's key, then counted ones."""
        key = self.next_key
        self.next_key = None
        if key is None:
            self._count += 1
            key = f"{self.name}-{self._count}"
        return self.builder.id(prefix, key)

    def _dated(self, args: dict[str, Any]) -> dict[str, Any]:
        """Return arguments with dates as text for tools, and `local:` times as moments."""
        dated = {}
        for name, value in args.items():
            if isinstance(value, date):
                value = value.isoformat()
            elif isinstance(value, str) and value.startswith("local:"):
                value = iso(self.builder.moment(value.removeprefix("local:")))
            dated[name] = value
        return dated
