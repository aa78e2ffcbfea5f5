"""What the brokers share: tables, accounts worked out from their rows, and securities.

Rows record what was ordered, transferred and paid. Cash, lots, holds and statuses are computed from
those rows and the moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import AfterValidator, Field

from servers.finance import _calendar as calendar
from servers.finance import _market as market
from servers.finance._orders import left, status, value, whole
from servers.kit.control import make_id
from servers.kit.errors import did_you_mean
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Row
from servers.kit.values import iso, parse_time

# The agenda records when dividends must next be computed for a broker's holders.
SHARED = market.SHARED | {
    "finance_agenda": Table("id:str/matter next_at:str/derived", noun="the dividend agenda of {id}")
}
LAST_FILL = "json_extract(fills, '$[#-1][0]')"
"""The moment of an order's last fill, or null."""
OPEN_UNTIL = (
    f"CASE WHEN failure IS NULL THEN coalesce(cancelled_at, expires_at, {LAST_FILL}, '9') END"
)
"""The moment from which an order is no longer open at the latest; null if it failed.

An order that never expires is filled by its last fill.
"""
# units are 1/100,000,000 shares; amount, hold and fee are cents; limit_price and stop_price are
# 1/10000 dollars. fills are [moment, units, price] and may be in the future; lots lists the lots
# to sell first; ref is the plan, basket or set that the order belongs to, and client_key the
# customer's own name for the order.
ORDERS = Table(
    "id:str account_id:str/ref symbol:str/matter kind:str/derived side:str/matter "
    "units:int?/matter amount:int?/matter order_type:str/matter limit_price:int?/matter "
    "stop_price:int?/matter duration:str/matter origin:str/manner created_at:str/stamp "
    "expires_at:str?/derived cancelled_at:str?/stamp failure:str?/derived hold:int/derived "
    "fills:list/derived lots:list?/matter fee:int/derived ref:str?/manner "
    "client_key:str?/session",
    index=(
        "account_id, created_at",
        "ref, created_at",
        "kind, created_at",
        "created_at",
        "symbol",
        OPEN_UNTIL,
    ),
    outward={},
    noun="a {order_type} order to {side} {symbol}",
)
# A deposit counts from clears_at on, except that `instant` cents of it count at once. A withdrawal
# leaves at once and arrives at clears_at.
TRANSFERS = Table(
    "id:str account_id:str/ref direction:str/matter amount:int/matter instant:int/derived "
    "method:str/matter bank:str/derived created_at:str/stamp clears_at:str/derived "
    "failed_at:str?/derived failure:str?/derived tax_year:int?/matter ref:str?/ref",
    index=("account_id", "created_at"),
    outward={},
    noun="a {direction} of {amount:cents}",
)
DIVIDENDS = Table(
    "id:str account_id:str/ref symbol:str/matter ex_date:str/derived pay_date:str/derived "
    "pays_at:str/derived per_share:int/derived units:int/derived amount:int/derived "
    "order_id:str?/ref",
    index=("account_id", "ex_date"),
    noun="a dividend of {amount:cents} from {symbol}",
)
WATCH = Table("symbol:str/matter added_at:str/stamp", noun="the security {symbol} on the watchlist")
# threshold is 1/10000 dollars, shares, or 1/10000 of a ratio; triggers_at is when the market will
# first meet the condition.
ALERTS = Table(
    "id:str symbol:str/matter condition:str/matter threshold:int/matter created_at:str/stamp "
    "expires_at:str/derived triggers_at:str?/derived removed_at:str?/stamp",
    noun="an alert on {symbol} ({condition})",
)
NOUNS: dict[str, str] = {"stock": "stock", "etf": "ETF", "mutual_fund": "fund", "crypto": "coin"}
MAIN = "main"
"""The account_id at brokers where the customer has a single account."""

OrderId = Annotated[str, Field(description="The order_id, from the list of orders.")]
Symbol = Annotated[str, Field(min_length=1, max_length=12, description="Ticker symbol, e.g. SMPK.")]
Quantity = Annotated[
    float,
    Field(
        gt=0,
        le=1_000_000,
        description="Number of shares. Market orders may be for fractions, "
        "with up to six decimal places.",
    ),
]
Query = Annotated[
    str, Field(min_length=1, max_length=80, description="Words from the name, or a symbol.")
]


def _price(amount: float) -> int:
    exact = Decimal(str(amount))
    if exact != exact.quantize(Decimal("0.0001")):
        raise ValueError("must be a price in dollars with at most four decimal places")
    return market.pips(amount)


if TYPE_CHECKING:
    Price = int
else:
    Price = Annotated[
        float,
        Field(ge=0.0001, le=1_000_000, description="Price in dollars per share."),
        AfterValidator(_price),
    ]
"""A price in dollars; the tool's method receives it in 1/10000 dollars."""


@dataclass(frozen=True)
class Words:
    """A broker's names: table prefix, ID prefixes, error codes, and tools to point to in hints."""

    tables: str
    order_id: str
    transfer_id: str
    dividend_id: str
    lot_id: str
    kinds: tuple[market.Kind, ...]
    no_security: str
    no_funds: str
    no_shares: str
    search: str
    quote: str
    list_orders: str
    positions: str
    deposit: str


# -- securities -----------------------------------------------------------------------------------
def find_security(
    svc: Service, words: Words, symbol: str, kinds: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the row of a security that this broker carries, or fail.

    Delisted securities are found too.
    """
    row = market.security(svc, symbol)
    wanted = tuple(kinds) or words.kinds
    if row is not None and row["kind"] in wanted:
        return row
    noun = _either([NOUNS[kind] for kind in wanted])
    if row is not None and row["kind"] in words.kinds:
        message = f"{row['symbol']} is {_a(NOUNS[row['kind']])}, not {_a(noun)}."
        hint = f"Use the symbol of {_a(noun)}; {words.search} shows the type of each."
        svc.fail(words.no_security, message, hint, symbol=row["symbol"])
    carried = [security["symbol"] for security in market.securities(svc, wanted)]
    near = did_you_mean(symbol.strip().upper(), carried)
    message = f"No {noun} has the symbol {symbol!r}{near}."
    svc.fail(words.no_security, message, f"Look up the symbol with {words.search}.", symbol=symbol)


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "AEIOU" else f"a {noun}"


def _either(nouns: list[str]) -> str:
    *others, last = nouns
    return f"{', '.join(others)} or {last}" if others else last


def tradable(svc: Service, words: Words, row: Row, at: int | None = None) -> None:
    """Fail if a security is halted or delisted."""
    symbol = row["symbol"]
    trading = market.state(row, svc.now if at is None else at)
    if trading == "halted":
        since = row["halted_at"]
        message = f"Trading in {symbol} has been halted since {since}."
        hint = f"Trading may resume; check {words.quote}."
        svc.fail("TRADING_HALTED", message, hint, symbol=symbol, since=since)
    if trading == "delisted":
        since = row["delisted_at"]
        message = f"{symbol} was delisted at {since}."
        hint = f"Find another security with {words.search}."
        svc.fail("SECURITY_DELISTED", message, hint, symbol=symbol, since=since)


# -- the account ----------------------------------------------------------------------------------
@dataclass
class Lot:
    """Shares bought in one trade: units bought, units left, and the cost of those left in cents."""

    id: str
    symbol: str
    bought: int
    units: int
    cost: int
    acquired_at: str


@dataclass
class Account:
    """An account at a moment, in cents.

    `cash` includes instant credit. `unsettled` is the part of it, from sales and instant credit,
    that cannot be withdrawn yet. `lots` and `sold` hold open and closed lots by symbol, and
    `reserved` the units that open sales will take.
    """

    cash: int = 0
    unsettled: int = 0
    holds: int = 0
    lots: dict[str, list[Lot]] = field(default_factory=dict)
    sold: dict[str, list[Lot]] = field(default_factory=dict)
    reserved: dict[str, int] = field(default_factory=dict)

    @property
    def buying_power(self) -> int:
        """Cents that can be spent now."""
        return max(self.cash - self.holds, 0)

    @property
    def withdrawable(self) -> int:
        """Cents that can leave the account: settled and not held by open orders."""
        return max(self.cash - self.unsettled - self.holds, 0)

    def units(self, symbol: str) -> int:
        """Units held."""
        return sum(lot.units for lot in self.lots.get(symbol, ()))

    def free_units(self, symbol: str) -> int:
        """Units held and not reserved by open sales."""
        return self.units(symbol) - self.reserved.get(symbol, 0)

    def cost(self, symbol: str) -> int:
        """Cents that the units held cost."""
        return sum(lot.cost for lot in self.lots.get(symbol, ()))


class Trade(NamedTuple):
    """One fill of an order. Trades are booked in the order of the first three fields."""

    filled_at: str
    nth_order: int
    nth_fill: int
    order: dict[str, Any]
    units: int
    at_pips: int


def account(svc: Service, words: Words, account_id: str = MAIN, at: int | None = None) -> Account:
    """Return an account as of a moment (by default now)."""
    moment = iso(svc.now if at is None else at)
    mine = Account()
    orders = svc.db.rows(
        f"{words.tables}_orders",
        "account_id=? AND created_at<=?",
        account_id,
        moment,
        order="created_at, rowid",
    )
    for trade in _trades(orders, moment):
        _book(mine, words, trade)
        if trade.order["side"] == "sell" and trade.order["kind"] != "crypto":
            settles_at = iso(calendar.settles(parse_time(trade.filled_at)))
            if settles_at > moment:
                mine.unsettled += value(trade.units, trade.at_pips)
    for order in orders:
        if status(order, moment) in ("pending", "partially_filled"):
            _hold(mine, order, moment)
    transfers = svc.db.rows(
        f"{words.tables}_transfers", "account_id=? AND created_at<=?", account_id, moment
    )
    for transfer in transfers:
        _move(mine, transfer, moment)
    paid = (
        f"SELECT coalesce(sum(amount),0) FROM {words.tables}_dividends "
        "WHERE account_id=? AND pays_at<=?"
    )
    mine.cash += svc.db.sql(paid, account_id, moment)[0][0]
    return mine


def lots_of(svc: Service, words: Words, symbols: Iterable[str]) -> Account:
    """Return the lots of some securities that the customer holds now; the cash is left out."""
    mine = Account()
    for symbol in symbols:
        where = "symbol=? AND account_id=? AND created_at<=?"
        table = f"{words.tables}_orders"
        orders = svc.db.rows(table, where, symbol, MAIN, svc.time, order="created_at, rowid")
        for trade in _trades(orders, svc.time):
            _book(mine, words, trade)
    return mine


def _trades(orders: list[Row], moment: str) -> list[Trade]:
    """Return the fills of the orders up to a moment, in the order in which they are booked."""
    trades = []
    for nth_order, order in enumerate(orders):
        for nth_fill, (filled_at, units, at_pips) in enumerate(order["fills"]):
            if filled_at <= moment:
                trades.append(Trade(filled_at, nth_order, nth_fill, order, units, at_pips))
    return sorted(trades, key=lambda trade: trade[:3])


def _book(mine: Account, words: Words, trade: Trade) -> None:
    """Apply one trade to the cash and the lots."""
    order = trade.order
    symbol = order["symbol"]
    amount = value(trade.units, trade.at_pips)
    lots = mine.lots.setdefault(symbol, [])
    if trade.nth_fill == 0:
        mine.cash -= order["fee"]
    if order["side"] == "buy":
        mine.cash -= amount
        lot_id = make_id(words.lot_id, order["id"], trade.nth_fill)
        lots.append(Lot(lot_id, symbol, trade.units, trade.units, amount, trade.filled_at))
        return
    mine.cash += amount
    rest = trade.units
    for lot in _in_turn(lots, order):
        taken = min(lot.units, rest)
        if taken:
            lot.cost -= lot.cost * taken // lot.units
            lot.units -= taken
            rest -= taken
    mine.sold.setdefault(symbol, []).extend(lot for lot in lots if not lot.units)
    mine.lots[symbol] = [lot for lot in lots if lot.units]


def _hold(mine: Account, order: Row, moment: str) -> None:
    """Set aside what an open order still needs: money for a purchase, units for a sale."""
    rest = left(order, moment)
    ordered = whole(order)
    if order["side"] == "sell":
        mine.reserved[order["symbol"]] = mine.reserved.get(order["symbol"], 0) + rest
    elif ordered:
        mine.holds += order["hold"] * rest // ordered
    else:
        mine.holds += order["hold"]


def _in_turn(lots: list[Lot], sale: Row) -> list[Lot]:
    """Return lots in the order in which a sale takes them: the lots it names, then the oldest."""
    chosen = sale["lots"] or []
    return sorted(lots, key=lambda lot: chosen.index(lot.id) if lot.id in chosen else len(chosen))


def free_lots(mine: Account, symbol: str, sales: list[Row], moment: str) -> dict[str, int]:
    """Return the units of each open lot, oldest first, that no open sale will take."""
    lots = mine.lots.get(symbol, [])
    free = {lot.id: lot.units for lot in lots}
    for sale in sales:
        rest = left(sale, moment)
        for lot in _in_turn(lots, sale):
            taken = min(free[lot.id], rest)
            free[lot.id] -= taken
            rest -= taken
    return free


def _move(mine: Account, transfer: Row, moment: str) -> None:
    """Apply one transfer to the cash."""
    if transfer["failed_at"] is not None and transfer["failed_at"] <= moment:
        return
    if transfer["direction"] == "withdrawal":
        mine.cash -= transfer["amount"]
    elif transfer["clears_at"] <= moment:
        mine.cash += transfer["amount"]
    else:
        mine.cash += transfer["instant"]
        mine.unsettled += transfer["instant"]


# -- the account over time ------------------------------------------------------------------------
class Step(NamedTuple):
    """A change in an account's cash, in cents, and in the units of one symbol."""

    at: str
    amount: int
    symbol: str
    units: int


def held_at(
    svc: Service, words: Words, account_id: str, moments: list[int]
) -> list[tuple[int, dict[str, int]]]:
    """Return (cash in cents, units by symbol) at each of the given moments.

    The moments must be in ascending order; all of them are answered in one pass.
    """
    steps = sorted(_account_steps(svc, words, account_id))
    holdings = []
    cash = 0
    units: dict[str, int] = {}
    done = 0
    for moment in map(iso, moments):
        while done < len(steps) and steps[done].at <= moment:
            step = steps[done]
            cash += step.amount
            units[step.symbol] = units.get(step.symbol, 0) + step.units
            done += 1
        holdings.append((cash, {symbol: held for symbol, held in units.items() if held}))
    return holdings


def _account_steps(svc: Service, words: Words, account_id: str) -> Iterator[Step]:
    """Yield every change to an account, including changes that are still to come."""
    for order in svc.db.rows(f"{words.tables}_orders", "account_id=?", account_id):
        sign = 1 if order["side"] == "buy" else -1
        for nth_fill, (filled_at, units, at_pips) in enumerate(order["fills"]):
            fee = order["fee"] if nth_fill == 0 else 0
            amount = -sign * value(units, at_pips) - fee
            yield Step(filled_at, amount, order["symbol"], sign * units)
    for transfer in svc.db.rows(f"{words.tables}_transfers", "account_id=?", account_id):
        if transfer["failed_at"] is not None:
            continue
        if transfer["direction"] == "withdrawal":
            yield Step(transfer["created_at"], -transfer["amount"], "", 0)
        else:
            rest = transfer["amount"] - transfer["instant"]
            yield Step(transfer["created_at"], transfer["instant"], "", 0)
            yield Step(transfer["clears_at"], rest, "", 0)
    for dividend in svc.db.rows(f"{words.tables}_dividends", "account_id=?", account_id):
        yield Step(dividend["pays_at"], dividend["amount"], "", 0)


def worth(svc: Service, symbol: str, units: int, at: int | None = None) -> int:
    """Return the value in cents of units of a security at a moment (by default now)."""
    row = market.security(svc, symbol)
    if row is None:
        return 0
    return value(units, market.price_pips(row, svc.now if at is None else at))
