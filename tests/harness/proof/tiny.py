"""A tiny scenario with a call for each operator, its recorded moves, and its world."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import anyio

from client_harness.agents import agent
from client_harness.proof.moves import Call, Moves, recorded
from client_harness.proof.play import Played, play
from scenarios.load import parse
from scenarios.model import Scenario

BODY = "Hi Lucas, Jordan Park got $27.50 on Wednesday, March 18 at 7 pm."


def raw(**changes: Any) -> dict[str, Any]:
    """Return the scenario's YAML as data, with some keys replaced."""
    scenario: dict[str, Any] = {
        "title": "Tiny",
        "about": "Everything once, and nothing fails.",
        "failure": "none",
        "twin": True,
        "services": ["venmo", "zelle", "gmail", "google_calendar"],
        "tools": {
            "gmail": ["list_emails", "send_email", "trash_email", "search_emails"],
            "google_calendar": ["list_calendars", "create_event", "delete_event"],
        },
        "turns": [
            {"user": 'Pay Jordan Park 27.50 with the note "day pass".'},
            {"user": "Now mail."},
        ],
        "statements": [
            {
                "name": "paid",
                "must": "Jordan Park has been paid $27.50.",
                "claim": {"paid": {"to": "Jordan Park", "amount": 27.5}},
                "holds": "len(where(added.venmo_transactions, amount=2750)) > 0",
                "turn": 1,
            },
            {
                "name": "ben_paid",
                "never": "Ben Archer has been paid $27.50.",
                "claim": {"paid": {"to": "Ben Archer", "amount": 27.5}},
            },
            {
                "name": "mailed_sum",
                "must": "Jordan Park has been paid $27.50.",
                "claim": {"paid": {"to": "Jordan Park", "amount": 27.5}},
                "in_mail_to": "lucas.weber@fernhill.design",
            },
        ],
        "scripts": {
            "oracle": [
                {"call": "venmo.list_friends", "save": "friends"},
                {"call": "google_calendar.list_calendars", "save": "calendars"},
                {
                    "id": "pay",
                    "call": "venmo.send_money",
                    "args": {
                        "contact_id": '${first(friends.friends, name="Jordan Park").contact_id}',
                        "amount": 27.5,
                        "note": "day pass",
                        "visibility": "private",
                    },
                    "save": "paid",
                },
                {
                    "id": "look",
                    "call": "venmo.get_transaction",
                    "args": {"transaction_id": "${paid.transaction_id}"},
                },
                {"id": "tell", "say": "I sent Jordan Park $27.50. I checked that it is there."},
                {
                    "call": "google_calendar.create_event",
                    "args": {
                        "calendar_id": "${first(calendars.calendars).calendar_id}",
                        "title": "Climbing",
                        "start_time": "2026-03-22T10:00:00-07:00",
                        "end_time": "2026-03-22T11:00:00-07:00",
                    },
                },
                {
                    "call": "gmail.send_email",
                    "args": {
                        "to": ["lucas.weber@fernhill.design", "priya.nair@gmail.com"],
                        "subject": "Climbing",
                        "body": BODY,
                    },
                },
                {"say": "I sent the mail."},
            ],
            "naive": [{"say": "OK."}],
        },
    }
    return scenario | changes


def tiny(**changes: Any) -> Scenario:
    """Return the scenario."""
    return parse(raw(**changes), "tiny", "tiny.yaml")


@contextmanager
def oracle(scenario: Scenario, *, faulted: bool = True) -> Generator[tuple[Played, Moves]]:
    """Yield the oracle's run, its world open, and its moves."""
    life = agent("oracle").agent

    async def go() -> Played:
        return await play(scenario, life, faulted=faulted, keep=True)

    played = anyio.run(go)
    try:
        yield played, recorded(played.events)
    finally:
        played.close()


def call(moves: Moves, name: str, number: int = 1) -> Call:
    """Return a call by its name."""
    calls = [move for move in moves if isinstance(move, Call)]
    found = [move for move in calls if (move.name, move.number) == (name, number)]
    assert found, name
    return found[0]
