"""Whether an answer fits the form of a question: a yes is none to "which account?"."""

from __future__ import annotations

import re

from client_harness.user._asking import Ask
from client_harness.user._shapes import PLAN
from client_harness.user._sorts import mends, sorts_of
from scenarios.answer import Answer

_PAID_FROM = re.compile(r"\bpay(?:ing)?\b[^?]*\bfrom\W*$|\bcome\s+out\s+of\W*$", re.IGNORECASE)
_WHAT_NOW = re.compile(
    r"\bwhat\b[^?]*\b(?:do|does|done|happens?|on|proceed|prefer|like|think|next|now|rather|best|else"
    r"|mean|meant|handle|instead)\b|\bwhat(?:'s|\s+is)\s+your\b|\bwhat\s+(?:about|if)\b",
    re.IGNORECASE,
)
"""What asks how to go on, and no fact."""


def misfits(text: str, word: str, answer: Answer, ask: Ask) -> bool:
    """Return whether a question of which, who, when, where or what is no matter of a yes, or asks
    for an account where an answer knows of none.
    """
    told = word == "what" and not _WHAT_NOW.search(text)
    if word not in ("which", "who", "whom", "whose", "when", "where") and not told:
        return False
    if _PAID_FROM.search(text):
        return not {"account", "source"} & set(sorts_of(answer))
    if answer.value is not None or not answer.say.startswith("Yes"):
        return False
    offered = ask.options or any(_ways_of(other) for other in ask.before[:2])
    return not offered and not mends(text, answer)


def _ways_of(text: str) -> bool:
    """Return whether a sentence names ways to go on: "I can cancel it, or leave it"."""
    return PLAN.search(text) is not None or re.search(r"\bor\b", text) is not None
