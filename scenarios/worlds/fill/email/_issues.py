"""Issues of newsletters: a lead from the sender's seeds, sections from `issues/`, and a footer.

A sender with a `letter` in `email_bulk.yaml` writes them; the letter is a key of a file in
`issues/`. The line `--` begins the footer.
"""

from __future__ import annotations

import functools
from datetime import UTC, datetime, timedelta
from email.utils import parseaddr
from pathlib import Path
from random import Random
from typing import Any

from scenarios.worlds.build import Builder, parsed
from scenarios.worlds.fill._prose import Prose, filled, forms
from servers.kit.errors import UnknownName

HERE = Path(__file__).parent / "issues"
_LINES = 5
"""How many lines a section has at most."""
_SEASONS = ("winter", "spring", "summer", "fall")
_STAFF = ("Nell", "Marcus", "Odessa", "Theo", "Birgit", "Cal", "Ramona", "Junie", "Walt", "Inez")
_FOOTERS = (
    "You get this letter because you signed up at our counter or on our website.",
    "You receive this because you are on our list; we share it with nobody.",
    "This letter goes to members and friends who asked for it.",
)


class Issues:
    """Writes the newsletters of one world, so that hardly any sentence comes twice."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._prose = Prose()

    def body(
        self, sender: dict[str, Any], variables: dict[str, str], at: int, chance: Random
    ) -> str:
        """Return the text of an issue that goes out at a moment."""
        letters = _letters()
        name = sender["letter"]
        if name not in letters:
            raise UnknownName("letter", name, letters, f"email_bulk {sender['key']}")
        letter = letters[name]
        facts = self._facts(sender, letter, at, chance) | variables
        parts = [f"{chance.choice(letter['greeting'])},"]
        lead = self._prose.say(sender.get("body", [[]])[0], facts, chance)
        if lead is not None:
            parts.append(lead[1])
        facts |= letter["facts"]
        for heading, text in letter["sections"].items():
            said = self._section(text, facts, chance)
            if said:
                parts.append(f"{filled(heading, facts, chance)}\n{said}")
        parts.append(f"{facts['firm']}\n--\n{_footer(sender, facts['firm'])}")
        return "\n\n".join(parts)

    def _section(self, text: str, facts: dict[str, Any], chance: Random) -> str:
        """Return a section, whose lines are in no fixed order."""
        used: set[str] = set()
        lines: list[str] = []
        for _ in range(_LINES):
            said = self._prose.say(forms(text), facts, chance, used)
            if said is None:
                break
            used.add(said[0])
            lines.append(said[1])
        half = (len(lines) + 1) // 2
        return "\n".join(" ".join(part) for part in (lines[:half], lines[half:]) if part)

    def _facts(
        self, sender: dict[str, Any], letter: dict[str, Any], at: int, chance: Random
    ) -> dict[str, Any]:
        day = datetime.fromtimestamp(at, UTC)
        staff = self.builder.chance("staff", sender["key"]).sample(_STAFF, 2)
        facts: dict[str, Any] = {
            "firm": parseaddr(sender["from"])[0],
            "who": staff[0],
            "who2": staff[1],
            "few": ["three", "four", "six", "nine", "eleven"],
            "n": ["Three", "Four", "Six", "Nine", "Eleven"],
            "row": ["C", "F", "H", "K"],
            "month": day.strftime("%B"),
            "next_month": (day.replace(day=1) + timedelta(days=32)).strftime("%B"),
            "season": _SEASONS[day.month % 12 // 3],
            "day1": (day + timedelta(days=chance.randrange(1, 7))).strftime("%A"),
        }
        days = sorted(chance.sample(range(3, 24), 3))
        for number, ahead in enumerate(days, 1):
            facts[f"date{number}"] = (day + timedelta(days=ahead)).strftime("%A, %B %-d")
        return facts


def _footer(sender: dict[str, Any], firm: str) -> str:
    """Return the footer of a sender's letters, which is always the same."""
    address = parseaddr(sender["from"])[1]
    why = _FOOTERS[len(address) % len(_FOOTERS)]
    host = address.partition("@")[2]
    return (
        f"{why}\n{firm} · {address}\n"
        f"Unsubscribe: https://{host}/unsubscribe · Change what you get: https://{host}/lists"
    )


@functools.cache
def _letters() -> dict[str, dict[str, Any]]:
    """Return all letters by name."""
    letters: dict[str, dict[str, Any]] = {}
    for path in sorted(HERE.glob("*.yaml")):
        letters |= parsed(path)
    return letters
