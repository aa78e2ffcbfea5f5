"""What the market-data services share: finding securities, screening, spans of trading days, and watchlists saved by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from servers.finance import _calendar as calendar
from servers.finance import _figures as figures
from servers.finance import _market as market
from servers.kit.errors import did_you_mean
from servers.kit.service import Service
from servers.kit.store import Table

SHARED = market.SHARED
WATCHLISTS = Table("id:str name:str symbols:list created_at:str updated_at:str")

Symbol = Annotated[
    str, Field(min_length=1, max_length=12, description="Ticker symbol in any case, e.g. SMPK.")
]
Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=80,
        description="Words of the name, or a symbol; leave out to filter alone.",
    ),
]
Rating = Annotated[
    figures.Rating, Field(description="Only stocks with this consensus of the analysts.")
]
MarketCap = Annotated[
    float, Field(ge=0, le=1e15, description="Least market value in dollars, e.g. 10000000000.")
]
ListName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=60,
        description="Name of the list; one of that name (in any case) is replaced.",
    ),
]
Symbols = Annotated[
    list[Symbol],
    Field(min_length=1, max_length=50, description="Symbols in the order to keep, 1 to 50."),
]
WatchlistId = Annotated[str, Field(description="watchlist_id, from the list of watchlists.")]
if TYPE_CHECKING:
    Sector = str
else:
    Sector = Annotated[Literal[market.SECTORS], Field(description="Sector of a stock.")]


@dataclass(frozen=True)
class Words:
    """A service's names: prefix of its tables and of its watchlists' ids, its codes, the tools that hints point to.

    `types` and `exchanges` are what it calls kinds of securities and exchanges, by what their rows hold.
    """

    tables: str
    watchlist_id: str
    no_symbol: str
    no_watchlist: str
    search: str
    list_watchlists: str
    types: Mapping[str, str]
    exchanges: Mapping[str, str]


# -- securities -------------------------------------------------------------------------------------------------------
def find_security(svc: Service, words: Words, symbol: str) -> dict[str, Any]:
    """Return the row of a security that is listed by now, halted and delisted ones included, or refuse."""
    row = market.security(svc, symbol)
    if row is not None and row["listed_at"] <= svc.time:
        return row
    near = did_you_mean(symbol.strip().upper(), [r["symbol"] for r in market.securities(svc)])
    svc.fail(
        words.no_symbol,
        f"No security has the symbol {symbol!r}{near}.",
        f"Find the symbol with {words.search}.",
        symbol=symbol,
    )


def search(
    svc: Service, words: Words, query: str | None, type_: str | None, exchange: str | None
) -> list[dict[str, Any]]:
    """Return securities whose symbol or name holds every word, best first: the symbol itself before all, delisted ones last.

    `type_` and `exchange` are the service's own names.
    """

    def fits(row: dict[str, Any]) -> bool:
        return type_ in (None, words.types[row["kind"]]) and exchange in (
            None,
            words.exchanges[row["exchange"]],
        )

    kept = {r["symbol"]: r for r in market.securities(svc, delisted=True) if fits(r)}
    found = (
        kept
        if query is None
        else [
            r["symbol"] for r in svc.db.search("finance_securities", query) if r["symbol"] in kept
        ]
    )
    exact = (query or "").strip().upper()
    return sorted(
        (kept[s] for s in found),
        key=lambda r: (r["symbol"] != exact, market.state(r, svc.now) == "delisted"),
    )


@dataclass(frozen=True)
class Screened:
    """A stock that passed: its row, market value in dollars, and what analysts say."""

    row: dict[str, Any]
    market_cap: int
    analysts: figures.Analysts


def screen(
    svc: Service,
    at: int,
    sector: str | None,
    rating: figures.Rating | None,
    min_market_cap: float | None,
) -> list[Screened]:
    """Return listed stocks that meet every condition at a moment, the largest market value first."""
    found = []
    for row in market.securities(svc, ("stock",)):
        said = figures.analysts(row, at)
        cap = figures.market_cap(row, at) or 0
        fits = sector in (None, row["sector"]) and cap >= (min_market_cap or 0)
        if said is not None and fits and rating in (None, said.consensus):
            found.append(Screened(row, cap, said))
    return sorted(found, key=lambda s: (-s.market_cap, s.row["symbol"]))


def close_by(row: dict[str, Any], day: date) -> float | None:
    """Return the last close or net asset value by the end of a day in dollars, None before the listing."""
    if row["listed_at"][:10] > day.isoformat():
        return None
    return (
        market.closing(row, day)
        if row["kind"] == "crypto"
        else market.price(row, calendar.session(calendar.on_or_before(day))[1])
    )


def spans(days: Sequence[date], interval: market.Interval) -> list[tuple[date, date]]:
    """Return (first, last) of the days, weeks or months that trading days make, oldest first."""
    found: dict[Any, tuple[date, date]] = {}
    for day in days:
        key: Any = (
            day
            if interval == "daily"
            else day.isocalendar()[:2]
            if interval == "weekly"
            else (day.year, day.month)
        )
        found[key] = (found[key][0] if key in found else day, day)
    return list(found.values())


# -- watchlists -------------------------------------------------------------------------------------------------------
def watchlists(svc: Service, words: Words) -> list[dict[str, Any]]:
    """Return the watchlists in the order in which they were made."""
    return svc.db.rows(f"{words.tables}_watchlists", order="created_at, rowid")


def find_watchlist(svc: Service, words: Words, watchlist_id: str) -> dict[str, Any]:
    """Return a watchlist's row, or refuse."""
    row = svc.db.get(f"{words.tables}_watchlists", watchlist_id)
    if row is None:
        message = f"There is no watchlist {watchlist_id!r}."
        hint = f"Take a watchlist_id from {words.list_watchlists}."
        svc.fail(words.no_watchlist, message, hint, watchlist_id=watchlist_id)
    return row


def save_watchlist(
    svc: Service, words: Words, name: str, symbols: list[str], blank: str
) -> dict[str, Any]:
    """Make a watchlist, or replace the symbols of the one of that name, and return its row; a repeat changes nothing.

    A delisted symbol stays on a list that holds it, and comes onto no other. `blank` is the code that refuses an empty name.
    """
    table = f"{words.tables}_watchlists"
    title = " ".join(name.split())
    if not title:
        svc.fail(
            blank, "A watchlist needs a name.", "Give it a name of 1 to 60 characters.", name=name
        )
    old = next(
        (w for w in watchlists(svc, words) if w["name"].casefold() == title.casefold()), None
    )
    rows = [find_security(svc, words, symbol) for symbol in symbols]
    gone = [
        r["symbol"]
        for r in rows
        if market.state(r, svc.now) == "delisted"
        and r["symbol"] not in (old or {}).get("symbols", [])
    ]
    if gone:
        svc.fail(
            "SYMBOL_DELISTED",
            f"{gone[0]} is no longer listed.",
            f"Choose another with {words.search}.",
            symbol=gone[0],
        )
    kept = list(dict.fromkeys(r["symbol"] for r in rows))
    if old is None:
        made = {
            "id": svc.new_id(words.watchlist_id),
            "name": title,
            "symbols": kept,
            "created_at": svc.time,
            "updated_at": svc.time,
        }
        return svc.db.insert(table, made)
    if old["symbols"] == kept:
        return old
    svc.db.update(table, old["id"], symbols=kept, updated_at=svc.time)
    return old | {"symbols": kept, "updated_at": svc.time}


def drop_watchlist(svc: Service, words: Words, watchlist_id: str) -> dict[str, Any]:
    """Delete a watchlist and return its old row, or refuse."""
    row = find_watchlist(svc, words, watchlist_id)
    svc.db.delete(f"{words.tables}_watchlists", watchlist_id)
    return row


def watched(
    svc: Service, row: dict[str, Any], show: Callable[[dict[str, Any]], dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return what is on a watchlist, shown, in its order."""
    found = [market.security(svc, symbol) for symbol in row["symbols"]]
    return [show(security) for security in found if security is not None]
