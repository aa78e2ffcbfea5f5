"""What the tests of brokers share: money in cents, and a clock that runs to a moment."""

from __future__ import annotations

from scenarios.worlds.fill.finance._securities import rows
from servers.kit.session import Session
from servers.kit.values import cents, parse_time
from tests.support import call_ok, session_of

ROWS = {row["symbol"]: row for row in rows()}


def of(name: str) -> Session:
    """Return a session of the brokers in another person's world."""
    return session_of(name, "robinhood", "fidelity", "vanguard")


def until(session: Session, moment: str) -> None:
    """Advance the clock to a moment."""
    session.pass_time(parse_time(moment) - session.control.now)


async def cash(session: Session, service: str = "robinhood") -> dict[str, int]:
    """Return every dollar amount in an account's summary, in cents."""
    tools = {
        "robinhood": "get_account",
        "fidelity": "get_investor_profile",
        "vanguard": "get_user_profile",
    }
    summary = await call_ok(session, service, tools[service])
    return {name: cents(amount) for name, amount in summary.items() if isinstance(amount, float)}
