"""What the market-data services share: finding securities, screening, periods, and watchlists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from servers.finance import _calendar as calendar
from servers.finance import _figures as figures
from servers.finance import _market as market
from servers.kit import search as search_in
from servers.kit.errors import did_you_mean
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row

SHARED = market.SHARED
WATCHLISTS = Table(
    "id:str name:str/matter symbols:list/matter created_at:str/stamp updated_at:str/derived",
    noun="the watchlist {name}",
)

Symbol = Annotated[
    str, Field(min_length=1, max_length=12, description="Ticker symbol in any case, e.g. SMPK.")
]
Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=80,
        description="Words of the name, or a symbol; omit it to use the filters alone.",
    ),
]
Rating = Annotated[figures.Rating, Field(description="Only stocks with this analyst consensus.")]
MarketCap = Annotated[
    float, Field(ge=0, le=1e15, description="Minimum market value in dollars, e.g. 10000000000.")
]
ListName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=60,
        description="Name of the list; an existing list of that name (in any case) is replaced.",
    ),
]
Symbols = Annotated[
    list[Symbol],
    Field(min_length=1, max_length=50, description="Symbols in display order, 1 to 50."),
]
WatchlistId = Annotated[str, Field(description="watchlist_id from the list of watchlists.")]
if TYPE_CHECKING:
    Sector = str
else:
    Sector = Annotated[Literal[market.SECTORS], Field(description="Sector of a stock.")]


@dataclass(frozen=True)
class Words:
    """A service's names: its tables, its watchlists' ids, its codes, the tools that hints point to.

    `tables` and `watchlist_id` are prefixes. `types` and `exchanges` map the kinds and exchanges
    of rows to the service's own words.
    """

    tables: str
    watchlist_id: str
    no_symbol: str
    no_watchlist: str
    search: str
    list_watchlists: str
    types: Mapping[str, str]
    exchanges: Mapping[str, str]


# -- securities ------------------------------------------------------------------------------------
def find_security(svc: Service, words: Words, symbol: str) -> dict[str, Any]:
    """Return the row of a listed security, including a halted or delisted one, or refuse."""
    row = market.security(svc, symbol)
    if row is not None and row["listed_at"] <= svc.time:
        return row
    near = did_you_mean(symbol.strip().upper(), [r["symbol"] for r in market.securities(svc)])
    svc.fail(
        words.no_symbol,
        f"There is no security with the symbol {symbol!r}{near or '.'}",
        f"Find the symbol with {words.search}.",
        symbol=symbol,
    )


def search(
    svc: Service, words: Words, query: str | None, type_: str | None, exchange: str | None
) -> list[dict[str, Any]]:
    """Return securities that match words by symbol, name or line of business, best first.

    An exact match of the symbol comes first, delisted securities come last. `type_` and `exchange`
    are the service's own names.
    """

    def fits(row: Row) -> bool:
        right_type = type_ in (None, words.types[row["kind"]])
        return right_type and exchange in (None, words.exchanges[row["exchange"]])

    listed = {r["symbol"]: r for r in market.securities(svc, delisted=True) if fits(r)}
    symbols = list(listed)
    if query is not None:
        matches = search_in.find(svc.db, "finance_securities", query, order="volume DESC, symbol")
        symbols = [r["symbol"] for r in matches if r["symbol"] in listed]
    exact = (query or "").strip().upper()
    return sorted(
        (listed[symbol] for symbol in symbols),
        key=lambda r: (r["symbol"] != exact, market.state(r, svc.now) == "delisted"),
    )


@dataclass(frozen=True)
class Screened:
    """A stock that passed the screen, with its market value in dollars and its ratings."""

    row: Row
    market_cap: int
    analysts: figures.Analysts


def screen(
    svc: Service,
    at: int,
    sector: str | None,
    rating: figures.Rating | None,
    min_market_cap: float | None,
) -> list[Screened]:
    """Return the stocks that meet every condition at a moment, by market value, largest first."""
    passed = []
    for row in market.securities(svc, ("stock",)):
        analysts = figures.analysts(row, at)
        cap = figures.market_cap(row, at) or 0
        fits = sector in (None, row["sector"]) and cap >= (min_market_cap or 0)
        if analysts is not None and fits and rating in (None, analysts.consensus):
            passed.append(Screened(row, cap, analysts))
    return sorted(passed, key=lambda s: (-s.market_cap, s.row["symbol"]))


def close_by(row: Row, day: date) -> float | None:
    """Return the last close or net asset value by the end of a day in dollars.

    Return None for a day before the listing.
    """
    if row["listed_at"][:10] > day.isoformat():
        return None
    if row["kind"] == "crypto":
        return market.closing(row, day)
    _, closed = calendar.session(calendar.on_or_before(day))
    return market.price(row, closed)


def spans(days: Sequence[date], interval: market.Interval) -> list[tuple[date, date]]:
    """Return (first, last) of the days, weeks or months that trading days cover, oldest first."""
    if interval == "daily":
        return [(day, day) for day in days]
    periods: dict[tuple[int, int], tuple[date, date]] = {}
    for day in days:
        key = day.isocalendar()[:2] if interval == "weekly" else (day.year, day.month)
        first = periods[key][0] if key in periods else day
        periods[key] = (first, day)
    return list(periods.values())


# -- watchlists ------------------------------------------------------------------------------------
def watchlists(svc: Service, words: Words) -> list[Row]:
    """Return the watchlists in order of creation."""
    return svc.db.rows(f"{words.tables}_watchlists", order="created_at, rowid")


def find_watchlist(svc: Service, words: Words, watchlist_id: str) -> Row:
    """Return a watchlist's row, or refuse."""
    row = svc.db.get(f"{words.tables}_watchlists", watchlist_id)
    if row is None:
        message = f"There is no watchlist {watchlist_id!r}."
        hint = f"Use a watchlist_id from {words.list_watchlists}."
        svc.fail(words.no_watchlist, message, hint, watchlist_id=watchlist_id)
    return row


def save_watchlist(svc: Service, words: Words, name: str, symbols: list[str], blank: str) -> Row:
    """Create a watchlist, or replace the symbols of the one with that name, and return its row.

    A repeat changes nothing. A delisted symbol may stay on a list that already has it but cannot be
    added. `blank` is the code for refusing an empty name.
    """
    table = f"{words.tables}_watchlists"
    title = " ".join(name.split())
    if not title:
        hint = "Give it a name of 1 to 60 characters."
        svc.fail(blank, "A watchlist needs a name.", hint, name=name)
    same = (w for w in watchlists(svc, words) if w["name"].casefold() == title.casefold())
    old = next(same, None)
    rows = [find_security(svc, words, symbol) for symbol in symbols]
    _refuse_delisted(svc, words, rows, old["symbols"] if old else [])
    listed = list(dict.fromkeys(r["symbol"] for r in rows))
    if old is None:
        new = {
            "id": svc.new_id(words.watchlist_id),
            "name": title,
            "symbols": listed,
            "created_at": svc.time,
            "updated_at": svc.time,
        }
        return svc.db.insert(table, new)
    if old["symbols"] == listed:
        return old
    svc.db.update(table, old["id"], symbols=listed, updated_at=svc.time)
    return old | {"symbols": listed, "updated_at": svc.time}


def _refuse_delisted(svc: Service, words: Words, rows: list[Row], already: list[str]) -> None:
    """Refuse the first delisted security that is not already on the list."""
    for row in rows:
        symbol = row["symbol"]
        if symbol not in already and market.state(row, svc.now) == "delisted":
            message = f"{symbol} is no longer listed."
            hint = f"Find another symbol with {words.search}."
            svc.fail("SYMBOL_DELISTED", message, hint, symbol=symbol)


def drop_watchlist(svc: Service, words: Words, watchlist_id: str) -> dict[str, Any]:
    """Delete a watchlist and return the row it had, or refuse."""
    row = find_watchlist(svc, words, watchlist_id)
    svc.db.delete(f"{words.tables}_watchlists", watchlist_id)
    return row


def watched(svc: Service, row: Row, show: Callable[[Row], Row]) -> list[Json]:
    """Return the securities on a watchlist, formatted by `show`, in the list's order."""
    rows = [market.security(svc, symbol) for symbol in row["symbols"]]
    return [show(security) for security in rows if security is not None]
