"""What brokers share: tables, the account as it follows from orders, transfers and dividends, and how an order comes and goes.

Rows hold what was ordered, transferred and paid; cash, lots, holds and statuses are worked out from them and the moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, Field

from servers.finance import _calendar as calendar
from servers.finance import _market as market
from servers.finance._orders import left, status, value, whole
from servers.kit.control import make_id
from servers.kit.errors import did_you_mean
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.values import iso, parse_time

# The agenda says when the next dividend of any security is to be worked out for a broker's holders.
SHARED = market.SHARED | {"finance_agenda": Table("id:str next_at:str")}
# units in 1/100,000,000 shares, amount, hold and fee in cents, limit_price and stop_price in 1/10000 dollars; fills are
# [moment, units, price] and may lie ahead; lots name those to be sold first; ref is the plan, basket or set that an order belongs to,
# client_key the customer's own name of it.
ORDERS = Table(
    "id:str account_id:str symbol:str kind:str side:str units:int? amount:int? order_type:str limit_price:int? stop_price:int? "
    "duration:str origin:str created_at:str expires_at:str? cancelled_at:str? failure:str? hold:int fills:list lots:list? fee:int ref:str? "
    "client_key:str?",
    index=("account_id", "ref"),
)
# A deposit counts from clears_at on, of which `instant` cents at once; a withdrawal leaves at once and arrives at clears_at.
TRANSFERS = Table(
    "id:str account_id:str direction:str amount:int instant:int method:str bank:str created_at:str clears_at:str failed_at:str? "
    "failure:str? tax_year:int? ref:str?",
    index=("account_id",),
)
DIVIDENDS = Table(
    "id:str account_id:str symbol:str ex_date:str pay_date:str pays_at:str per_share:int units:int amount:int order_id:str?",
    index=("account_id",),
)
WATCH = Table("symbol:str added_at:str")
# threshold in 1/10000 dollars, shares or 1/10000 of a ratio; triggers_at is when the market will first meet it.
ALERTS = Table(
    "id:str symbol:str condition:str threshold:int created_at:str expires_at:str triggers_at:str? removed_at:str?"
)
NOUNS: dict[str, str] = {"stock": "stock", "etf": "ETF", "mutual_fund": "fund", "crypto": "coin"}
MAIN = "main"
"""account_id of brokers whose customer has one account."""

OrderId = Annotated[str, Field(description="order_id, from the list of orders.")]
Symbol = Annotated[str, Field(min_length=1, max_length=12, description="Ticker symbol, e.g. SMPK.")]
Quantity = Annotated[
    float,
    Field(gt=0, le=1_000_000, description="Shares; may be a fraction (to six decimals) at market."),
]
Query = Annotated[
    str, Field(min_length=1, max_length=80, description="Words of the name, or a symbol.")
]


def _price(amount: float) -> int:
    if Decimal(str(amount)) != Decimal(str(amount)).quantize(Decimal("0.0001")):
        raise ValueError("must be a price in dollars with at most four decimals")
    return market.pips(amount)


if TYPE_CHECKING:
    Price = int
else:
    Price = Annotated[
        float,
        Field(ge=0.0001, le=1_000_000, description="Price in dollars a share."),
        AfterValidator(_price),
    ]
"""A price in dollars; the method receives 1/10000 dollars."""


@dataclass(frozen=True)
class Words:
    """A broker's names: its table prefix, the prefixes of its ids, its codes and the tools that hints point to."""

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


# -- securities -------------------------------------------------------------------------------------------------------
def find_security(
    svc: Service, words: Words, symbol: str, kinds: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the row of a security that this broker carries, delisted or not, or refuse."""
    row = market.security(svc, symbol)
    wanted = tuple(kinds) or words.kinds
    if row is not None and row["kind"] in wanted:
        return row
    known = market.securities(svc, wanted)
    noun = " or ".join(NOUNS[kind] for kind in wanted)
    if row is not None and row["kind"] in words.kinds:
        hint = f"Name a {noun}; {words.search} shows the type of each."
        svc.fail(
            words.no_security,
            f"{row['symbol']} is no {noun} but a {NOUNS[row['kind']]}.",
            hint,
            symbol=row["symbol"],
        )
    near = did_you_mean(symbol.strip().upper(), [r["symbol"] for r in known])
    message = f"No {noun} has the symbol {symbol!r}{near}."
    svc.fail(words.no_security, message, f"Find the symbol with {words.search}.", symbol=symbol)


def tradable(svc: Service, words: Words, row: dict[str, Any], at: int | None = None) -> None:
    """Refuse for a security that is halted or delisted."""
    now = market.state(row, svc.now if at is None else at)
    if now in ("halted", "delisted"):
        since = row[f"{now}_at"]
        hint = (
            f"See {words.quote}; trading may resume."
            if now == "halted"
            else f"Choose another with {words.search}."
        )
        svc.fail(
            "TRADING_HALTED" if now == "halted" else "SECURITY_DELISTED",
            f"{row['symbol']} has been {now} since {since}.",
            hint,
            symbol=row["symbol"],
            since=since,
        )


# -- the account ------------------------------------------------------------------------------------------------------
@dataclass
class Lot:
    """Shares bought at one time: units bought, units left and what these cost, in cents."""

    id: str
    symbol: str
    bought: int
    units: int
    cost: int
    acquired_at: str


@dataclass
class Account:
    """An account at a moment, in cents. `cash` counts instant credit; `unsettled` proceeds and credit cannot be withdrawn yet.

    `lots` and `sold` hold open and closed lots by symbol, `reserved` units promised to open sales.
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
        """Cents that can leave the account: settled, and not held by open orders."""
        return max(self.cash - self.unsettled - self.holds, 0)

    def units(self, symbol: str) -> int:
        """Units held."""
        return sum(lot.units for lot in self.lots.get(symbol, ()))

    def free_units(self, symbol: str) -> int:
        """Units held and not promised to open sales."""
        return self.units(symbol) - self.reserved.get(symbol, 0)

    def cost(self, symbol: str) -> int:
        """Cents that what is held cost."""
        return sum(lot.cost for lot in self.lots.get(symbol, ()))


def account(svc: Service, words: Words, account_id: str = MAIN, at: int | None = None) -> Account:
    """Return an account as it stands at a moment (now, unless given)."""
    moment = iso(svc.now if at is None else at)
    found = Account()
    orders = svc.db.rows(
        f"{words.tables}_orders",
        "account_id=? AND created_at<=?",
        account_id,
        moment,
        order="created_at, rowid",
    )
    trades = [
        (fill[0], n, place, row, fill[1], fill[2])
        for n, row in enumerate(orders)
        for place, fill in enumerate(row["fills"])
        if fill[0] <= moment
    ]
    for filled_at, _, place, row, units, at_pips in sorted(trades, key=lambda t: t[:3]):
        _book(found, words, row, filled_at, place, units, at_pips)
        if (
            row["side"] == "sell"
            and row["kind"] != "crypto"
            and iso(calendar.settles(parse_time(filled_at))) > moment
        ):
            found.unsettled += value(units, at_pips)
    for row in orders:
        if status(row, moment) in ("pending", "partially_filled"):
            rest = left(row, moment)
            if row["side"] == "buy":
                found.holds += row["hold"] * rest // whole(row) if whole(row) else row["hold"]
            else:
                found.reserved[row["symbol"]] = found.reserved.get(row["symbol"], 0) + rest
    for row in svc.db.rows(
        f"{words.tables}_transfers", "account_id=? AND created_at<=?", account_id, moment
    ):
        _move(found, row, moment)
    paid = (
        "SELECT coalesce(sum(amount),0) FROM "
        + words.tables
        + "_dividends WHERE account_id=? AND pays_at<=?"
    )
    found.cash += svc.db.sql(paid, account_id, moment)[0][0]
    return found


def _book(
    found: Account, words: Words, row: dict[str, Any], at: str, place: int, units: int, at_pips: int
) -> None:
    worth = value(units, at_pips)
    lots = found.lots.setdefault(row["symbol"], [])
    if place == 0:
        found.cash -= row["fee"]
    if row["side"] == "buy":
        found.cash -= worth
        lots.append(
            Lot(make_id(words.lot_id, row["id"], place), row["symbol"], units, units, worth, at)
        )
        return
    found.cash += worth
    for lot in _in_turn(lots, row):
        taken = min(lot.units, units)
        if taken:
            lot.cost -= lot.cost * taken // lot.units
            lot.units -= taken
            units -= taken
    found.sold.setdefault(row["symbol"], []).extend(lot for lot in lots if not lot.units)
    found.lots[row["symbol"]] = [lot for lot in lots if lot.units]


def _in_turn(lots: list[Lot], sale: dict[str, Any]) -> list[Lot]:
    """Return lots in the order in which a sale takes them: those that it names, then the oldest."""
    chosen = sale["lots"] or []
    return sorted(lots, key=lambda lot: chosen.index(lot.id) if lot.id in chosen else len(chosen))


def free_lots(
    mine: Account, symbol: str, sales: list[dict[str, Any]], moment: str
) -> dict[str, int]:
    """Return the units of each open lot, oldest first, that open sales leave."""
    lots = mine.lots.get(symbol, [])
    free = {lot.id: lot.units for lot in lots}
    for sale in sales:
        rest = left(sale, moment)
        for lot in _in_turn(lots, sale):
            taken = min(free[lot.id], rest)
            free[lot.id] -= taken
            rest -= taken
    return free


def _move(found: Account, row: dict[str, Any], moment: str) -> None:
    if row["failed_at"] is not None and row["failed_at"] <= moment:
        return
    if row["direction"] == "withdrawal":
        found.cash -= row["amount"]
    elif row["clears_at"] <= moment:
        found.cash += row["amount"]
    else:
        found.cash += row["instant"]
        found.unsettled += row["instant"]


def held_at(
    svc: Service, words: Words, account_id: str, moments: list[int]
) -> list[tuple[int, dict[str, int]]]:
    """Return (cash in cents, units by symbol) at each of some moments in order of time, in one pass."""
    steps: list[tuple[str, int, str, int]] = []
    for row in svc.db.rows(f"{words.tables}_orders", "account_id=?", account_id):
        sign = 1 if row["side"] == "buy" else -1
        steps += [
            (at, -sign * value(n, p) - (row["fee"] if not k else 0), row["symbol"], sign * n)
            for k, (at, n, p) in enumerate(row["fills"])
        ]
    for row in svc.db.rows(f"{words.tables}_transfers", "account_id=?", account_id):
        if row["failed_at"] is None:
            out = row["direction"] == "withdrawal"
            steps.append((row["created_at"], -row["amount"] if out else row["instant"], "", 0))
            if not out:
                steps.append((row["clears_at"], row["amount"] - row["instant"], "", 0))
    steps += [
        (row["pays_at"], row["amount"], "", 0)
        for row in svc.db.rows(f"{words.tables}_dividends", "account_id=?", account_id)
    ]
    steps.sort()
    found = []
    cash = 0
    held = {}
    done = 0
    for moment in map(iso, moments):
        while done < len(steps) and steps[done][0] <= moment:
            _, amount, symbol, change = steps[done]
            cash = cash + amount
            done = done + 1
            held[symbol] = held.get(symbol, 0) + change
        found.append((cash, {s: n for s, n in held.items() if n}))
    return found


def worth(svc: Service, symbol: str, units: int, at: int | None = None) -> int:
    """Return cents that units of a security are worth at a moment (now, unless given)."""
    row = market.security(svc, symbol)
    return value(units, market.price_pips(row, svc.now if at is None else at)) if row else 0
