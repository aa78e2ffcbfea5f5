"""Small scenarios of which only the changes matter, played by scripts."""

from __future__ import annotations

import functools
from typing import Any

import anyio

from client_harness.expected import expected, play
from judge.change import wording
from scenarios.load import parse
from scenarios.model import Scenario
from scenarios.script import Step
from servers.kit.control import make_id

JORDAN = make_id("vct", "maya", "jordan_park")
BEN = make_id("vct", "maya", "ben_archer")
Steps = list[dict[str, Any]]


def pay(amount: float = 27.5, to: str = JORDAN, note: str = "day pass", **more: Any) -> Any:
    args = {"contact_id": to, "amount": amount, "note": note, **more}
    return {"call": "venmo.send_money", "args": args}


def mail(
    *to: str, subject: str = "Hello", body: str = "Hi!", save: str | None = None, **more: Any
) -> Any:
    args = {"to": list(to), "subject": subject, "body": body, **more}
    step = {"call": "gmail.send_email", "args": args}
    return step if save is None else step | {"save": save}


SAY: Any = {"say": "Done."}


def scenario(oracle: Steps, turns: int = 1, **more: Any) -> Scenario:
    """Return a scenario whose oracle plays these steps."""
    raw = {
        "title": "A test",
        "about": "A test.",
        "failure": "none",
        "services": ["venmo", "gmail", "outlook", "google_calendar"],
        "tools": {
            "outlook": ["send_mail_item", "delete_email"],
            "google_calendar": ["*_event*", "add_attendee", "list_calendars"],
        },
        "turns": [{"user": 'Please pay Jordan with the note "day pass".'}] * turns,
        "scripts": {"oracle": oracle, "naive": [SAY]},
    }
    if more.get("faults"):
        raw["failure"] = "silent_no_op"
    return parse(raw | more, "test", "test")


def verdict(oracle: Steps, steps: Steps, turns: int = 1, **more: Any) -> str:
    """Return how steps differ from what the oracle changed, in words; "" if they do not."""
    return anyio.run(functools.partial(_verdict, scenario(oracle, turns, **more), steps))


async def _verdict(made: Scenario, steps: Steps) -> str:
    right = await expected(made)
    faulted = bool(made.faults)
    run = await play(made, [Step.model_validate(step) for step in steps], faulted=faulted)
    turn, differences = right.differences(run)
    return f"turn {turn}: {wording.describe(differences, None)}" if turn else ""
