"""Whether a look at the outcome, of which a text tells, can have been taken."""

from __future__ import annotations

import re

from judge.statements.deeds import may_end
from judge.trace import Record
from servers.kit.events import Attempt
from servers.kit.service import services

_PLACES = {
    "payments": r"history|activity|transactions?",
    "email": r"sent (?:folder|mail|mails|items|email|emails|messages|copy)",
    "calendar": r"calendar",
}
"""Words for where one looks, by the category of the services that have it."""


def never_looked(record: Record, sentence: str, turn: int, before: int) -> bool:
    """Return whether nothing was read after what a sentence says was looked at.

    Where it names a service or a place such as the history, that is the first deed there that made
    something; else the first deed of the turn. Without any deed, nobody can say what a look was
    for.
    """
    earlier = [attempt for attempt in record.attempts if attempt.seq < before]
    wrote = [attempt for attempt in earlier if attempt.effect == "write"]
    own = [attempt for attempt in wrote if attempt.turn == turn] or wrote
    there = _there(own, sentence)
    if there:
        made = [attempt for attempt in there if not may_end(attempt)] or there
        worked = [attempt for attempt in made if attempt.effects]
        start = worked[0] if worked else made[-1]
        looked = {attempt.service for attempt in there}
    elif own:
        start = own[0]
        looked = set()
    else:
        return False
    for attempt in earlier:
        later = attempt.effect == "read" and attempt.seq > start.seq
        if later and (not looked or attempt.service in looked):
            return False
    return True


def _there(wrote: list[Attempt], sentence: str) -> list[Attempt]:
    """Return the deeds at the service that a sentence names, or where it says one looked."""
    low = sentence.casefold()
    named = set()
    for name, cls in services().items():
        if re.search(rf"\b{re.escape(cls.title.casefold())}\b", low):
            named.add(name)
    found = [attempt for attempt in wrote if attempt.service in named]
    if found:
        return found
    for category, words in _PLACES.items():
        if re.search(rf"\b(?:{words})\b", low):
            found += [a for a in wrote if _category(a) == category]
    return found


def _category(attempt: Attempt) -> str:
    cls = services().get(attempt.service)
    return "" if cls is None else cls.category
