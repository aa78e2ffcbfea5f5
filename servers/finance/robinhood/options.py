"""Options: contracts for 100 shares, bought and kept until they end."""

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
from servers.finance._clockwork import Job
from servers.finance._orders import UNIT, Plan, Wish, shares, value
from servers.finance.robinhood._model import LISTED, WORDS, account, held, option, trade_json, worth
from servers.kit.service import Service, reads, writes
from servers.kit.values import Cursor, Date, Dollars, Limit, dollars, iso, page, parse_time
from servers.kit.zones import local_day

Right = Annotated[
    Literal["call", "put"], Field(description="call: the right to buy; put: the right to sell.")
]
Expiration = Annotated[
    Date,
    Field(
        description="Date on which the contract ends, one of those in get_options_chain, as YYYY-MM-DD."
    ),
]
Contracts = Annotated[
    int, Field(ge=1, le=500, description="How many contracts, of 100 shares each.")
]
Kind = Annotated[
    Literal["market", "limit"],
    Field(description="market: at the ask; limit: at limit_price or better, until the close."),
]
if TYPE_CHECKING:
    Strike = Premium = int
else:
    Strike = Annotated[
        Dollars, Field(description="Strike price in dollars, one of those in get_options_chain.")
    ]
    Premium = Annotated[
        Dollars, Field(description="The most to pay, in dollars a share; for limit orders only.")
    ]
SIZE = 100
_MARGIN = 125


class Options(Service):
    """Options."""

    @reads(example={"symbol": "SMPK", "option_type": "call", "limit": 10})
    def get_options_chain(
        self,
        symbol: Symbol,
        expiration_date: Expiration | None = None,
        option_type: Right | None = None,
        limit: Limit = 40,
        cursor: Cursor | None = None,
    ) -> dict[str, Any]:
        """Return the contracts of one expiration (the nearest, unless named) by type and strike, with premium, bid and ask in dollars a
        share, volume, open interest and greeks (theta a day), and all dates on which contracts end."""
        row = self._optioned(symbol)
        dates = options.expirations(self.now)
        expiry = self._expiry(expiration_date, dates)
        found = [
            (c.right, c.strike)
            for c in options.chain(row, self.now, expiry)
            if option_type in (None, c.right)
        ]
        listed = page(
            found,
            "options",
            limit,
            cursor,
            lambda c: self._contract(options.contract(row, self.now, expiry, *c)),
        )
        return {"symbol": row["symbol"], "expirations": [d.isoformat() for d in dates], **listed}

    @reads()
    def get_options_positions(
        self, limit: Limit = 20, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return contracts held: quantity, average premium, present value and gain in dollars, greeks, and the date on which they end."""
        mine = account(self)
        return page(
            held(self, mine, "option"),
            "positions",
            limit,
            cursor,
            lambda s: self._position(mine, s),
        )

    @reads(example={"limit": 10})
    def list_options_orders(
        self, limit: Limit = 20, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return orders of options, newest first, and the sales by which contracts ended; cancel_trade cancels one that is pending."""
        rows = [r for r in dealing.orders(self, WORDS) if r["kind"] == "option"]
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
    ) -> dict[str, Any]:
        """Buy contracts; they are kept until they end, when what they are worth is paid out. Returns the order, with the premium a share
        and the total in dollars. Fills only while the market is open."""
        row = self._optioned(symbol)
        brokerage.tradable(self, WORDS, row)
        expiry = self._expiry(expiration_date, options.expirations(self.now))
        strike = dollars(strike_price)
        if strike not in options.strikes(row, self.now):
            near = ", ".join(f"{s:g}" for s in options.strikes(row, self.now))
            message = f"No contract on {row['symbol']} has the strike {strike:g}."
            self.fail("STRIKE_NOT_FOUND", message, f"Strikes are {near}.", strike_price=strike)
        if (order_type == "limit") != (limit_price is not None):
            code = "LIMIT_PRICE_REQUIRED" if limit_price is None else "INVALID_ORDER_TYPE"
            self.fail(
                code,
                "limit_price belongs to limit orders, and to them alone.",
                "Give order_type limit and limit_price together.",
            )
        contract = self._made(row["symbol"], option_type, strike, expiry)
        wish = Wish(
            "buy",
            quantity * SIZE * UNIT,
            order_type=order_type,
            limit=limit_price and limit_price * 100,
        )
        planned = self._plan(row, expiry, option_type, strike, wish)
        made = dealing.place(
            self, WORDS, {"symbol": contract, "kind": "option"}, wish, planned=planned
        )
        return self._order(made)

    def _plan(
        self, row: dict[str, Any], expiry: date, right: options.Right, strike: float, wish: Wish
    ) -> Plan:
        """Fill at the first half hour of this session, or of the next one, at which the ask is low enough."""
        start = self.now if calendar.is_open(self.now) else calendar.next_open(self.now)
        opened, closed = calendar.session(local_day(start, calendar.NEW_YORK))
        units = wish.units or 0
        bound = wish.limit
        if bound is None:
            bound = (
                market.pips(options.contract(row, self.now, expiry, right, strike).ask)
                * _MARGIN
                // 100
            )
        for moment in [
            start,
            *range(opened + (start - opened) // 1800 * 1800 + 1800, closed, 1800),
        ]:
            ask = market.pips(options.contract(row, moment, expiry, right, strike).ask)
            if wish.limit is None and moment == self.now:
                return Plan([(iso(moment), units, ask)], iso(closed))
            if ask <= bound:
                return Plan([(iso(moment), units, ask)], iso(closed), value(units, bound))
        return Plan([], iso(closed), value(units, bound))

    def _made(self, symbol: str, right: str, strike: float, expiry: date) -> str:
        key = f"{symbol}{expiry:%y%m%d}{right[0].upper()}{int(strike * 1000 + 0.5):08d}"
        if self.db.get("robinhood_contracts", key) is None:
            ends = calendar.session(calendar.on_or_before(expiry))[1]
            row = {
                "id": key,
                "underlying": symbol,
                "right_type": right,
                "strike": market.pips(strike),
                "expiry": expiry.isoformat(),
            }
            self.db.insert("robinhood_contracts", row | {"ends_at": iso(ends), "closed_at": None})
        return key

    def _expiry(self, said: str | None, dates: list[date]) -> date:
        if said is None:
            return dates[0]
        chosen = date.fromisoformat(said)
        if chosen not in dates:
            near = ", ".join(d.isoformat() for d in dates)
            self.fail(
                "EXPIRATION_NOT_FOUND",
                f"No contracts end on {said}.",
                f"Contracts end on {near}.",
                expiration_date=said,
            )
        return chosen

    def _optioned(self, symbol: str) -> dict[str, Any]:
        row = brokerage.find_security(self, WORDS, symbol, LISTED)
        if not options.has_options(row):
            hint = "Choose a stock or ETF that is traded more; see search_assets."
            self.fail(
                "OPTIONS_NOT_AVAILABLE",
                f"No options are listed on {row['symbol']}.",
                hint,
                symbol=row["symbol"],
            )
        return row

    def _contract(self, c: options.Contract) -> dict[str, Any]:
        shown = {
            "option_type": c.right,
            "strike": c.strike,
            "expiry": c.expiry,
            "premium": c.premium,
            "bid": c.bid,
            "ask": c.ask,
        }
        greeks = {
            "delta": c.delta,
            "gamma": c.gamma,
            "theta": c.theta,
            "implied_volatility": c.implied_volatility,
        }
        return shown | {"volume": c.volume, "open_interest": c.open_interest} | greeks

    def _position(self, mine: brokerage.Account, symbol: str) -> dict[str, Any]:
        units = mine.units(symbol)
        cost = mine.cost(symbol)
        current = worth(self, symbol, mine.units(symbol))
        shown = self._about(symbol) | {
            "quantity": shares(units // SIZE),
            "average_premium": round(cost * UNIT / units / 100, 4),
            "current_value": dollars(current),
            "unrealized_gain_loss": dollars(current - cost),
        }
        now = option(self, symbol, self.now)
        return shown | (
            {
                "current_premium": now.premium,
                "delta": now.delta,
                "gamma": now.gamma,
                "theta": now.theta,
            }
            if now
            else {}
        )

    def _about(self, symbol: str) -> dict[str, Any]:
        made = self.db.get("robinhood_contracts", symbol)
        names = {"symbol": "underlying", "option_type": "right_type", "expiry": "expiry"}
        about = {shown: made[column] if made else None for shown, column in names.items()}
        return {
            "contract": symbol,
            **about,
            "strike": made["strike"] / market.PIP if made else None,
        }

    def _order(self, row: dict[str, Any]) -> dict[str, Any]:
        shown = trade_json(self, row)
        kept = (
            "side",
            "quantity",
            "order_type",
            "limit_price",
            "status",
            "placed_by",
            "created_at",
            "filled_at",
            "expires_at",
            "canceled_at",
        )
        return {
            "order_id": row["id"],
            **self._about(row["symbol"]),
            **{k: shown[k] for k in kept},
            "premium": shown["filled_price"],
            "total": shown["filled_amount"],
        }

    def _endings(self) -> Job:
        """Return the job that pays out contracts at their end."""

        def due_at() -> int | None:
            found = self.db.sql(
                "SELECT min(ends_at) FROM robinhood_contracts WHERE closed_at IS NULL"
            )[0][0]
            return parse_time(found) if found else None

        def run(moment: int) -> None:
            for made in self.db.rows(
                "robinhood_contracts", "ends_at=? AND closed_at IS NULL", iso(moment), order="id"
            ):
                units = brokerage.account(self, WORDS, at=moment).units(made["id"])
                row = market.security(self, made["underlying"])
                if units and row:
                    expiry = date.fromisoformat(made["expiry"])
                    paid = options.exercise_value(
                        row, expiry, made["right_type"], made["strike"] / market.PIP
                    )
                    planned = Plan([(iso(moment), units, market.pips(paid))])
                    asset = {"symbol": made["id"], "kind": "option"}
                    dealing.place(
                        self,
                        WORDS,
                        asset,
                        Wish("sell", units),
                        origin="expiration",
                        at=moment,
                        planned=planned,
                    )
                self.db.update("robinhood_contracts", made["id"], closed_at=iso(moment))

        return Job(due_at, run)
