"""What a person keeps at the market-data services: watchlists, portfolios that only keep track, posts on message boards.

Securities come with the brokers (`finance.py`); news and what the crowd writes are functions, not rows.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from scenarios.worlds.build import Builder
from scenarios.worlds.fill.finance import _securities as listing
from servers.finance import _calendar as calendar
from servers.finance import _market as market
from servers.finance._orders import UNIT, decimals, units_for
from servers.kit.values import cents, iso

PREFIXES = {"yahoo_finance": "yfw", "google_finance": "gfw", "alpha_vantage": "avw"}


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write watchlists, portfolios and posts."""
    Shelf(builder, seeds).fill()


class Shelf:
    """One person's lists, portfolios and posts."""

    def __init__(self, builder: Builder, seeds: dict[str, Any]) -> None:
        self.builder = builder
        self.seeds = seeds
        self.listed = {row["symbol"]: row for row in listing.rows()}
        self.life = {h["key"]: h for h in builder.life if "invest" in h}

    def fill(self) -> None:
        """Write everything."""
        for service, lists in self.seeds["watchlists"].items():
            for key, (at, name, symbols, *later) in lists.items():
                self.watchlist(service, key, at, name, symbols.split(), later)
        for key, said in self.seeds["portfolios"].items():
            self.portfolio(key, said)
        self.board(self.seeds["board"])

    def watchlist(
        self, service: str, key: str, at: str, name: str, symbols: list[str], later: list[list[str]]
    ) -> None:
        """Add a list as it was first saved, and change it as it was saved later."""
        made = self.builder.id(PREFIXES[service], key)
        moment = iso(self.builder.moment(at))
        row = {
            "id": made,
            "name": name,
            "symbols": [self.listed[s]["symbol"] for s in symbols],
            "created_at": moment,
            "updated_at": moment,
        }
        self.builder.add(moment, f"{service}_watchlists", **row)
        for changed_at, new in later:
            moment = iso(self.builder.moment(changed_at))
            kept = [self.listed[s]["symbol"] for s in new.split()]
            self.builder.change(
                moment, f"{service}_watchlists", made, symbols=kept, updated_at=moment
            )

    def portfolio(self, key: str, said: dict[str, Any]) -> None:
        """Add a portfolio, and its lots: [symbol, shares, when bought, price, when noted]; price and note may be left out."""
        made = self.builder.id("gfp", key)
        opened = self.builder.moment(said["at"])
        self.builder.add(
            opened, "google_finance_portfolios", id=made, name=said["name"], created_at=iso(opened)
        )
        for number, lot in enumerate(said["lots"], 1):
            self.lot(made, f"{key}-{number}", opened, *lot)

    def lot(
        self,
        portfolio_id: str,
        key: str,
        opened: int,
        symbol: str,
        shares: float | str,
        when: str,
        price: float | None = None,
        noted: str = "",
    ) -> None:
        """Add a purchase; shares written `$500` are what that buys. `life:<key>` is bought for that happening's amount."""
        told = self.life.get(when.removeprefix("life:")) if when.startswith("life:") else None
        bought = self.builder.moment(told["at"] if told else when)
        row = self.listed[symbol]
        if row["kind"] in ("stock", "etf") and not calendar.is_open(bought):
            bought = calendar.next_open(bought)
        if row["kind"] == "mutual_fund":
            bought = calendar.next_close(bought)
        last = market.price(row, bought)
        pips = market.pips(market.spread(row, last)[1] if price is None else price)
        worth = told["invest"]["amount"] if told else str(shares).removeprefix("$")
        whole = told is None and not str(shares).startswith("$")
        units = (
            int(Decimal(str(shares)) * UNIT)
            if whole
            else units_for(cents(worth), pips, decimals(row))
        )
        day = market.trading_date(row, bought)
        moment = self.builder.moment(noted) if noted else max(opened, bought)
        made = {
            "id": self.builder.id("gfl", key),
            "portfolio_id": portfolio_id,
            "symbol": symbol,
            "units": units,
            "price": pips,
        }
        self.builder.add(
            moment, "google_finance_lots", **made, bought_on=day.isoformat(), added_at=iso(moment)
        )

    def board(self, said: dict[str, Any]) -> None:
        """Add the person's posts (of which some were deleted) and those of others that somebody really wrote."""
        self.builder.add(
            self.builder.moment(said["joined"]),
            "yahoo_finance_profile",
            id="me",
            handle=said["handle"],
        )
        for key, at, symbol, text, sentiment, *gone in said["posts"]:
            self.post(key, at, symbol, said["handle"], text, sentiment, mine=True)
            if gone:
                moment = self.builder.moment(gone[0])
                self.builder.change(
                    moment,
                    "yahoo_finance_posts",
                    self.builder.id("yfp", key),
                    deleted_at=iso(moment),
                )
        for number, (at, symbol, author, text, sentiment) in enumerate(said["others"], 1):
            self.post(f"other-{number}", at, symbol, author, text, sentiment, mine=False)

    def post(
        self,
        key: str,
        at: str,
        symbol: str,
        author: str,
        text: str,
        sentiment: str | None,
        *,
        mine: bool,
    ) -> None:
        """Add a post."""
        moment = iso(self.builder.moment(at))
        row = {
            "symbol": self.listed[symbol]["symbol"],
            "author": author,
            "mine": mine,
            "text": text,
            "sentiment": sentiment or None,
        }
        self.builder.add(
            moment,
            "yahoo_finance_posts",
            id=self.builder.id("yfp", key),
            **row,
            created_at=moment,
            deleted_at=None,
        )
