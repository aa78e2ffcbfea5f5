"""The past at the brokers: securities, accounts, and what was done there, played through the services' own tools on the dates of the seeds.

So no row contradicts a rule: orders filled at the prices of their moments, and dividends went to who held on the ex-date.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

from scenarios.worlds.build import Builder, with_ids
from scenarios.worlds.fill.finance import _securities as listing
from servers.finance import _calendar as calendar
from servers.finance import _clockwork as clockwork
from servers.finance import _market as market
from servers.finance.fidelity import _model as fidelity
from servers.finance.robinhood import _model as robinhood
from servers.finance.vanguard import _model as vanguard
from servers.kit.errors import InputError, ServiceError
from servers.kit.service import Ids, Service, services
from servers.kit.store import WORLD, World
from servers.kit.values import cents, iso
from servers.kit.zones import local_day, local_moment

WORDS = {"robinhood": robinhood.WORDS, "fidelity": fidelity.WORDS, "vanguard": vanguard.WORDS}
TICKS = (time(10, 30), time(16, 30))
"""Clock times in New York at which the past lets the services do what is due."""


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write the securities and the past at each broker."""
    securities = listing.rows()
    first = local_moment(seeds["since"], time(9), calendar.NEW_YORK)
    for row in securities:
        builder.add(first, "finance_securities", **row)
    told = {h["key"]: h for h in builder.life if "invest" in h}
    for name in WORDS:
        mine = {k: h for k, h in told.items() if h["invest"]["on"] == name}
        Past(builder, services()[name], seeds[name], securities, first, mine).play()


class Past:
    """One broker's past, played in a small world of its own and copied from its log."""

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
        self.seeds = seeds
        self.first = first
        self.told = told
        self.named: dict[str, str] = {}
        self._count = 0
        self.world = World.empty(cls.known_tables())
        self.world.stamp(first, WORLD)
        for row in securities:
            self.world.insert("finance_securities", row)
        self.listed = {row["symbol"]: row for row in securities}

    def play(self) -> None:
        """Make everything happen, then hand over all rows but the securities."""
        carried = [r for r in self.listed.values() if r["kind"] in WORDS[self.cls.name].kinds]
        self.world.insert(
            "finance_agenda",
            {"id": self.cls.name, "next_at": clockwork.next_ex_date(carried, self.first)},
        )
        for table, rows in self.seeds["rows"].items():
            for row in rows:
                self.world.insert(table, with_ids(self._dated(row), self.builder.name))
        self.world.commit()
        for moment, step in sorted(self._steps(), key=lambda s: s[0]):
            if moment <= self.builder.start:
                self._do(moment, step)
        for entry in self.world.log():
            if entry["table"] == "finance_securities":
                continue
            old = entry["old"]
            new = entry["new"]
            if new is None:
                raise InputError(
                    f"{self.cls.name}: the past deletes {entry['key']} of {entry['table']}; "
                    "only rows that stay can be told"
                )
            if old is None:
                self.builder.add(entry["at"], entry["table"], **new)
            else:
                changed = {k: v for k, v in new.items() if old[k] != v}
                self.builder.change(entry["at"], entry["table"], entry["key"], **changed)
        self.world.close()

    def _steps(self) -> Iterator[tuple[int, list[Any] | None]]:
        """Yield (moment, step) of what is told, of what repeats, and of the clock."""
        missing = sorted(set(self.told) - {s[2].removeprefix("life:") for s in self.seeds["steps"]})
        if missing:
            raise InputError(
                f"finance.yaml: {self.cls.name} does not tell {', '.join(missing)} of life.yaml"
            )
        for step in self.seeds["steps"]:
            yield self._step(step)
        for said in self.seeds.get("repeats", ()):
            until = said.get("until", local_day(self.builder.start, self.builder.zone))
            number = 0
            while (
                day := clockwork.occurrence(said["start"], said["every"], number, every_day=True)
            ) <= until:
                number += 1
                moment = self.builder.moment(f"{day}T{said.get('time', '11:30')}")
                if moment <= self.builder.start:
                    yield moment, [None, said["tool"], f"{said['key']}-{number}", said["args"]]
        day = local_day(self.first, calendar.NEW_YORK)
        last = local_day(self.builder.start, calendar.NEW_YORK)
        while day <= last:
            for clock in TICKS:
                yield local_moment(day, clock, calendar.NEW_YORK), None
            day += timedelta(days=1)

    def _step(self, step: list[Any]) -> tuple[int, list[Any]]:
        """Return when a step is made; one named `life:<key>` takes its moment, and an amount written `life`, from that happening."""
        at, tool, key, args = step
        if not key.startswith("life:"):
            return self.builder.moment(at), step
        happening = self.told[key.removeprefix("life:")]
        amount = happening["invest"]["amount"]
        args = {k: amount if v == "life" else v for k, v in args.items()}
        return self.builder.moment(at or happening["at"]), [at, tool, happening["key"], args]

    def _do(self, moment: int, step: list[Any] | None) -> None:
        self.world.stamp(moment, WORLD)
        broker = self.cls(
            self.world, moment, Ids(self._spend, lambda prefix, ahead: f"{prefix}_{ahead}", [])
        )
        if broker.due():
            broker.tick()
            self.world.commit()
        if step is None:
            return
        _, tool, key, said = step
        self.world.stamp(moment, WORLD)
        if tool == "note":
            self._check_dividend(moment, said)
        elif tool == "update":
            self.world.update(key, with_ids(said.pop("id"), self.builder.name), **self._dated(said))
        else:
            self.named = {"": key}
            spec = self.cls.tools[tool]
            args = with_ids(self._dated(said), self.builder.name)
            try:
                spec.run(broker, **spec.arguments(self._quantity(args, moment), self.cls.codes))
            except ServiceError as refusal:
                raise InputError(
                    f"finance.yaml: {self.cls.name} at {iso(moment)} refuses {tool} {key}: {refusal}"
                ) from None
        self.world.commit()

    def _check_dividend(self, moment: int, said: dict[str, Any]) -> None:
        """Refuse a past in which a dividend that was told of is not paid on its day."""
        day = local_day(moment, calendar.NEW_YORK).isoformat()
        paid = self.world.rows(
            f"{self.cls.name}_dividends", "symbol=? AND pay_date=?", said["symbol"], day
        )
        if [r["amount"] for r in paid] != [cents(said["amount"])]:
            found = [f"{r['amount'] / 100:.2f}" for r in paid] or "nothing"
            raise InputError(
                f"finance.yaml: {self.cls.name} pays {found} for {said['symbol']} on {day}, not {said['amount']:.2f}"
            )

    def _quantity(self, args: dict[str, Any], moment: int) -> dict[str, Any]:
        """Replace `worth: dollars` by the quantity that brings or costs just that at the moment."""
        if "worth" not in args:
            return args
        row = self.listed[args["symbol"]]
        bid, ask = market.spread(row, market.price(row, moment))
        price = Decimal(str(bid if args["side"] == "sell" else ask))
        quantity = (Decimal(cents(args["worth"])) / 100 / price).quantize(Decimal("0.000001"))
        return {k: v for k, v in args.items() if k != "worth"} | {"quantity": float(quantity)}

    def _spend(self, prefix: str) -> str:
        key = self.named.pop("", None)
        if key is None:
            self._count += 1
            key = f"{self.cls.name}-{self._count}"
        return self.builder.id(prefix, key)

    def _dated(self, said: dict[str, Any]) -> dict[str, Any]:
        """Return arguments with dates as the text that tools take, and `local:` times as moments."""
        found = {}
        for key, value in said.items():
            if isinstance(value, date):
                value = value.isoformat()
            elif isinstance(value, str) and value.startswith("local:"):
                value = iso(self.builder.moment(value.removeprefix("local:")))
            found[key] = value
        return found
