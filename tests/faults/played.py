"""Sessions with faults, the calls that tests make in them, and helpers that read the attempts."""

from __future__ import annotations

from typing import Any

import anyio

from fault_profiles.model import ordered, parse
from servers.kit.control import make_id
from servers.kit.events import Attempt
from servers.kit.evidence import Watch
from servers.kit.session import Session
from tests.support import new_session

Call = tuple[str, dict[str, Any]]

JORDAN = make_id("vct", "maya", "jordan_park")
MEI = make_id("vct", "maya", "mei_chen")
BEN = make_id("vct", "maya", "ben_asher")
PAY = {"contact_id": JORDAN, "amount": 5, "note": "tea"}
SEND: Call = ("venmo.send_money", PAY)
BALANCE: Call = ("venmo.get_balance", {})
FRIENDS: Call = ("venmo.list_friends", {})
LATEST: Call = ("venmo.list_transactions", {"limit": 3})
REQUESTS: Call = ("venmo.list_requests", {})
SERVICES = ("venmo", "zelle", "gmail", "weather_com", "clock", "sign_in")


def split_among(*contacts: str) -> Call:
    """Return the call that splits a bill among some contacts."""
    bill = {"description": "Pizza", "total_amount": 90}
    participants = [{"contact_id": contact} for contact in contacts]
    return "venmo.create_group_payment", {**bill, "participants": participants}


SPLIT = split_among(JORDAN, BEN)


def wait(seconds: int) -> Call:
    return ("clock.wait", {"seconds": seconds})


def session(
    *faults: dict[str, Any], watch: str = "", about: str | None = None, seed: int = 0
) -> Session:
    """Return a session with faults.

    `watch` is the tool whose calls open an obligation, `about` the fault that it is about.
    """
    watches = [Watch("matter", lambda call: call.name == watch, about)] if watch else []
    declared = ordered([parse(fault) for fault in faults])
    return new_session(*SERVICES, seed=seed, faults=declared, watches=watches)


def play(session: Session, *calls: Call) -> list[Attempt]:
    """Make calls one after the other and return their attempts."""

    async def run() -> None:
        for name, args in calls:
            service, tool = name.split(".")
            await session.call(service, tool, args)

    anyio.run(run)
    assert session.bugs == []
    attempts = [event for event in session.trace() if isinstance(event, Attempt)]
    return attempts[-len(calls) :]


def codes(attempts: list[Attempt]) -> list[str]:
    """Return the error code of each attempt, "" where it succeeded."""
    return [a.seen["error"]["code"] if a.is_error else "" for a in attempts]


def fired(session: Session, *calls: Call) -> list[int]:
    """Return how many faults fired on each of some calls."""
    return [len(attempt.firings) for attempt in play(session, *calls)]


def sent(session: Session) -> list[float]:
    """Return the amounts of the payments for tea that the service lists."""
    (listed,) = play(session, LATEST)
    return [paid["amount"] for paid in listed.seen["transactions"] if paid["note"] == "tea"]


def asked_of(attempt: Attempt) -> list[str]:
    """Return the contacts from whom a call requested money."""
    changes = [change for change in attempt.effects if change["table"] == "venmo_requests"]
    return [change["new"]["contact_id"] for change in changes if change["new"] is not None]
