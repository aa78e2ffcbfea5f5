"""A person's data at the market-data services: watchlists, tracking portfolios, and posts.

Securities are written with the brokers (`finance.py`); news and the crowd's posts are functions,
not rows.
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
        """Write all of them."""
        for service, lists in self.seeds["watchlists"].items():
            for key, (at, name, symbols, *later) in lists.items():
                self.watchlist(service, key, at, name, symbols.split(), later)
        for key, portfolio in self.seeds["portfolios"].items():
            self.portfolio(key, portfolio)
        self.board(self.seeds["board"])

    def watchlist(
        self, service: str, key: str, at: str, name: str, symbols: list[str], later: list[list[str]]
    ) -> None:
        """Add a list as first saved, and change it as saved later."""
        list_id = self.builder.id(PREFIXES[service], key)
        moment = iso(self.builder.moment(at))
        self.builder.add(
            moment,
            f"{service}_watchlists",
            id=list_id,
            name=name,
            symbols=[self.listed[s]["symbol"] for s in symbols],
            created_at=moment,
            updated_at=moment,
        )
        for changed_at, new in later:
            moment = iso(self.builder.moment(changed_at))
            changes = {
                "symbols": [self.listed[s]["symbol"] for s in new.split()],
                "updated_at": moment,
            }
            self.builder.change(moment, f"{service}_watchlists", list_id, **changes)

    def portfolio(self, key: str, portfolio: dict[str, Any]) -> None:
        """Add a portfolio and its lots: [symbol, shares, when bought, price, when recorded].

        The price and the time of recording are optional.
        """
        portfolio_id = self.builder.id("gfp", key)
        opened = self.builder.moment(portfolio["at"])
        self.builder.add(
            opened,
            "google_finance_portfolios",
            id=portfolio_id,
            name=portfolio["name"],
            created_at=iso(opened),
        )
        for number, lot in enumerate(portfolio["lots"], 1):
            self.lot(portfolio_id, f"{key}-{number}", opened, *lot)

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
        """Add a purchase.

        Shares written as `$500` are the number that this amount buys. For a purchase dated
        `life:<key>`, the amount is that of the happening.
        """
        happening = self.life[when.removeprefix("life:")] if when.startswith("life:") else None
        row = self.listed[symbol]
        bought = self._traded(row, self.builder.moment(happening["at"] if happening else when))
        if price is None:
            _, price = market.spread(row, market.price(row, bought))
        pips = market.pips(price)
        if happening is not None:
            units = units_for(cents(happening["invest"]["amount"]), pips, decimals(row))
        elif str(shares).startswith("$"):
            units = units_for(cents(str(shares).removeprefix("$")), pips, decimals(row))
        else:
            units = int(Decimal(str(shares)) * UNIT)
        moment = self.builder.moment(noted) if noted else max(opened, bought)
        self.builder.add(
            moment,
            "google_finance_lots",
            id=self.builder.id("gfl", key),
            portfolio_id=portfolio_id,
            symbol=symbol,
            units=units,
            price=pips,
            bought_on=market.trading_date(row, bought).isoformat(),
            added_at=iso(moment),
        )

    def _traded(self, row: dict[str, Any], at: int) -> int:
        """Return the first moment, from `at` on, at which a security can be bought."""
        if row["kind"] in ("stock", "etf") and not calendar.is_open(at):
            return calendar.next_open(at)
        return calendar.next_close(at) if row["kind"] == "mutual_fund" else at

    def board(self, board: dict[str, Any]) -> None:
        """Add the person's posts (some of them deleted later), and those of other people."""
        joined = self.builder.moment(board["joined"])
        self.builder.stands(joined)
        self.builder.add(joined, "yahoo_finance_profile", id="me", handle=board["handle"])
        for key, at, symbol, text, sentiment, *gone in board["posts"]:
            self.post(key, at, symbol, board["handle"], text, sentiment, mine=True)
            if gone:
                moment = self.builder.moment(gone[0])
                post_id = self.builder.id("yfp", key)
                self.builder.change(moment, "yahoo_finance_posts", post_id, deleted_at=iso(moment))
        for number, (at, symbol, author, text, sentiment) in enumerate(board["others"], 1):
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
        self.builder.add(
            moment,
            "yahoo_finance_posts",
            id=self.builder.id("yfp", key),
            symbol=self.listed[symbol]["symbol"],
            author=author,
            mine=mine,
            text=text,
            sentiment=sentiment or None,
            created_at=moment,
            deleted_at=None,
        )
