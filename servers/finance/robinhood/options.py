"""Options: contracts for 100 shares that are bought and held to expiration."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from servers.finance import _brokerage as brokerage
from servers.finance import _calendar as calendar
from servers.finance import _dealing as dealing
from servers.finance import _market as market
from servers.finance import _options as options
from servers.finance._brokerage import Symbol
from servers.finance._orders import UNIT, Fill, Plan, Wish, shares, value
from servers.finance.robinhood._model import LISTED, WORDS, held, option, trade_json, worth
from servers.kit.listing import Since, Until
from servers.kit.service import Service, happens, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Date, Dollars, Limit, dollars, iso, page
from servers.kit.zones import local_day

Right = Annotated[
    Literal["call", "put"], Field(description="call: the right to buy; put: the right to sell.")
]
Expiration = Annotated[
    Date,
    Field(description="Expiration date, one of those from get_options_chain, as YYYY-MM-DD."),
]
Contracts = Annotated[
    int, Field(ge=1, le=500, description="Number of contracts, each for 100 shares.")
]
Kind = Annotated[
    Literal["market", "limit"],
    Field(description="market: at the ask; limit: at limit_price or better, until the close."),
]
if TYPE_CHECKING:
    Strike = Premium = int
else:
    Strike = Annotated[
        Dollars, Field(description="Strike price in dollars, one of those from get_options_chain.")
    ]
    Premium = Annotated[
        Dollars, Field(description="For limit orders only: the most to pay, in dollars per share.")
    ]
SIZE = 100
"""The number of shares in one contract."""
_MARGIN = 125
"""The most that a market order outside the session pays, in percent of the last ask."""
_HALF_HOUR = 1800


class Options(Service):
    """Options and the contracts held."""

    @reads(example={"symbol": "SMPK", "option_type": "call", "limit": 10})
    def get_options_chain(
        self,
        symbol: Symbol,
        expiration_date: Expiration | None = None,
        option_type: Right | None = None,
        limit: Limit = 40,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the contracts of one expiration (by default the nearest) by type and strike.

        Each has its premium, bid and ask in dollars per share, volume, open interest, and greeks
        (theta is per day). The reply also lists all expiration dates.
        """
        row = self._optioned(symbol)
        dates = options.expirations(self.now)
        expiry = self._expiry(expiration_date, dates)
        # A cursor holds the last item of its page, so the items must not change with prices.
        names = []
        for contract in options.chain(row, self.now, expiry):
            if option_type in (None, contract.right):
                names.append((contract.right, contract.strike))

        def shown(name: tuple[options.Right, float]) -> dict[str, Any]:
            right, strike = name
            return self._contract(options.contract(row, self.now, expiry, right, strike))

        listed = page(names, "options", limit, cursor, shown)
        ends = [day.isoformat() for day in dates]
        return {"symbol": row["symbol"], "expirations": ends, **listed}

    @reads()
    def get_options_positions(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the contracts held, with their quantities, greeks and expiration dates.

        Average premium, current value and gain are in dollars.
        """
        # Contracts are held to expiration, so what was paid out is held no more.
        unexpired = self.db.sql("SELECT id FROM robinhood_contracts WHERE closed_at IS NULL")
        mine = brokerage.lots_of(self, WORDS, (contract_id for (contract_id,) in unexpired))
        symbols = held(self, mine, "option")
        return page(
            symbols, "positions", limit, cursor, lambda symbol: self._position(mine, symbol)
        )

    @reads(example={"limit": 10})
    def list_options_orders(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return options orders, newest first, including the sales by which contracts expired.

        A pending order can be canceled with cancel_trade.
        """
        rows = dealing.listed_orders(self, WORDS, since, until).only("kind='option'")
        return page(rows, "orders", limit, cursor, self._order)

    @writes(
        example={
            "symbol": "SMPK",
            "option_type": "call",
            "strike_price": 75,
            "expiration_date": "2026-04-17",
            "quantity": 1,
            "order_type": "limit",
            "limit_price": 0.9,
        }
    )
    def place_options_order(
        self,
        symbol: Symbol,
        option_type: Right,
        strike_price: Strike,
        expiration_date: Expiration,
        quantity: Contracts,
        order_type: Kind,
        limit_price: Premium | None = None,
    ) -> Json:
        """Buy option contracts, and return the order.

        The premium is in dollars per share, the total in dollars. Contracts are held to expiration,
        when their value is paid out. Orders fill only while the market is open.
        """
        row = self._optioned(symbol)
        brokerage.tradable(self, WORDS, row)
        expiry = self._expiry(expiration_date, options.expirations(self.now))
        strike = dollars(strike_price)
        strikes = options.strikes(row, self.now)
        if strike not in strikes:
            message = f"No contract on {row['symbol']} has a strike price of {strike:g}."
            hint = f"The strike prices are {', '.join(f'{listed:g}' for listed in strikes)}."
            self.fail("STRIKE_NOT_FOUND", message, hint, strike_price=strike)
        if (order_type == "limit") != (limit_price is not None):
            code = "LIMIT_PRICE_REQUIRED" if limit_price is None else "INVALID_ORDER_TYPE"
            message = "limit_price is required for limit orders and not allowed for market orders."
            self.fail(code, message, "Use order_type limit and limit_price together.")
        asset = {
            "symbol": self._contract_id(row["symbol"], option_type, strike, expiry),
            "kind": "option",
        }
        # limit_price is in cents, a wish's limit in 1/10000 dollars.
        limit = None if limit_price is None else limit_price * 100
        wish = Wish("buy", quantity * SIZE * UNIT, order_type=order_type, limit=limit)
        planned = self._plan(row, expiry, option_type, strike, wish)
        return self._order(dealing.place(self, WORDS, asset, wish, planned=planned))

    def _plan(
        self, row: Row, expiry: date, right: options.Right, strike: float, wish: Wish
    ) -> Plan:
        """Plan a fill at the first half hour of a session at which the ask is low enough.

        This is the current session or, while the market is closed, the next one.
        """
        start = self.now if calendar.is_open(self.now) else calendar.next_open(self.now)
        opened, closed = calendar.session(local_day(start, calendar.NEW_YORK))
        units = wish.units or 0

        def ask_at(moment: int) -> int:
            return market.pips(options.contract(row, moment, expiry, right, strike).ask)

        if wish.limit is None and start == self.now:
            return Plan([Fill(iso(start), units, ask_at(start))], iso(closed))
        bound = wish.limit
        if bound is None:
            bound = ask_at(self.now) * _MARGIN // 100
        hold = value(units, bound)
        half_hour = opened + (start - opened) // _HALF_HOUR * _HALF_HOUR + _HALF_HOUR
        for moment in (start, *range(half_hour, closed, _HALF_HOUR)):
            ask = ask_at(moment)
            if ask <= bound:
                return Plan([Fill(iso(moment), units, ask)], iso(closed), hold)
        return Plan([], iso(closed), hold)

    def _contract_id(self, symbol: str, right: str, strike: float, expiry: date) -> str:
        """Return the ID of a contract. Its row is written with the first order for it."""
        key = f"{symbol}{expiry:%y%m%d}{right[0].upper()}{int(strike * 1000 + 0.5):08d}"
        if self.db.get("robinhood_contracts", key) is None:
            ends = calendar.session(calendar.on_or_before(expiry))[1]
            row = {
                "id": key,
                "underlying": symbol,
                "right_type": right,
                "strike": market.pips(strike),
                "expiry": expiry.isoformat(),
                "ends_at": iso(ends),
                "closed_at": None,
            }
            self.db.insert("robinhood_contracts", row)
        return key

    def _expiry(self, named: str | None, dates: list[date]) -> date:
        if named is None:
            return dates[0]
        expiry = date.fromisoformat(named)
        if expiry not in dates:
            message = f"No contracts expire on {named}."
            hint = f"The expiration dates are {', '.join(day.isoformat() for day in dates)}."
            self.fail("EXPIRATION_NOT_FOUND", message, hint, expiration_date=named)
        return expiry

    def _optioned(self, symbol: str) -> dict[str, Any]:
        row = brokerage.find_security(self, WORDS, symbol, LISTED)
        if not options.has_options(row):
            message = f"No options are listed on {row['symbol']}."
            hint = "Choose a more heavily traded stock or ETF; see search_assets."
            self.fail("OPTIONS_NOT_AVAILABLE", message, hint, symbol=row["symbol"])
        return row

    def _contract(self, contract: options.Contract) -> Json:
        return {
            "option_type": contract.right,
            "strike": contract.strike,
            "expiry": contract.expiry,
            "premium": contract.premium,
            "bid": contract.bid,
            "ask": contract.ask,
            "volume": contract.volume,
            "open_interest": contract.open_interest,
            "delta": contract.delta,
            "gamma": contract.gamma,
            "theta": contract.theta,
            "implied_volatility": contract.implied_volatility,
        }

    def _position(self, mine: brokerage.Account, symbol: str) -> dict[str, Any]:
        units = mine.units(symbol)
        cost = mine.cost(symbol)
        current = worth(self, symbol, units)
        position = self._about(symbol) | {
            "quantity": shares(units // SIZE),
            "average_premium": round(cost * UNIT / units / 100, 4),
            "current_value": dollars(current),
            "unrealized_gain_loss": dollars(current - cost),
        }
        contract = option(self, symbol, self.now)
        if contract is not None:
            position |= {
                "current_premium": contract.premium,
                "delta": contract.delta,
                "gamma": contract.gamma,
                "theta": contract.theta,
            }
        return position

    def _about(self, symbol: str) -> Json:
        """Return a contract's terms; each is null if the contract has no row."""
        contract = self.db.get("robinhood_contracts", symbol)
        return {
            "contract": symbol,
            "symbol": contract["underlying"] if contract else None,
            "option_type": contract["right_type"] if contract else None,
            "expiry": contract["expiry"] if contract else None,
            "strike": contract["strike"] / market.PIP if contract else None,
        }

    def _order(self, row: Row) -> Json:
        trade = trade_json(self, row)
        return {
            "order_id": row["id"],
            **self._about(row["symbol"]),
            "side": trade["side"],
            "quantity": trade["quantity"],
            "order_type": trade["order_type"],
            "limit_price": trade["limit_price"],
            "status": trade["status"],
            "placed_by": trade["placed_by"],
            "created_at": trade["created_at"],
            "filled_at": trade["filled_at"],
            "expires_at": trade["expires_at"],
            "canceled_at": trade["canceled_at"],
            "premium": trade["filled_price"],
            "total": trade["filled_amount"],
        }

    @happens("robinhood_contracts.ends_at", where="closed_at IS NULL")
    def pay_out(self, contract: Row) -> None:
        """Pay out a contract at its expiration."""
        self._pay_out(contract, self.now)
        self.db.update("robinhood_contracts", contract["id"], closed_at=self.time)

    def _pay_out(self, contract: Row, moment: int) -> None:
        """Sell the units held of a contract at its exercise value."""
        units = brokerage.account(self, WORDS, at=moment).units(contract["id"])
        underlying = market.security(self, contract["underlying"])
        if not units or underlying is None:
            return
        expiry = date.fromisoformat(contract["expiry"])
        strike = contract["strike"] / market.PIP
        paid = options.exercise_value(underlying, expiry, contract["right_type"], strike)
        dealing.place(
            self,
            WORDS,
            {"symbol": contract["id"], "kind": "option"},
            Wish("sell", units),
            origin="expiration",
            at=moment,
            planned=Plan([Fill(iso(moment), units, market.pips(paid))]),
        )
