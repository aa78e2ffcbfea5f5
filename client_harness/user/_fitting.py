"""Whether an answer fits the form of a question: a yes is none to "which account?"."""

from __future__ import annotations

import re
from dataclasses import replace

from client_harness.user._asking import Ask
from client_harness.user._proposals import names_value
from client_harness.user._shapes import PLAN
from client_harness.user._sorts import mends, sorts_of, spelled_out
from client_harness.user._values import bases, tokens, words
from scenarios.answer import Answer

_PAID_FROM = re.compile(r"\bpay(?:ing)?\b[^?]*\bfrom\W*$|\bcome\s+out\s+of\W*$", re.IGNORECASE)
_OUT_OF = re.compile(
    r"\b(?:out\s+of|from)\b[^?]*\b(?:checking|savings|account|balance|card)\b[^?]*\bor\b"
    r"[^?]*\b(?:checking|savings|account|balance|card)\b",
    re.IGNORECASE,
)
"""A choice between accounts to pay from: "out of your checking or the studio account?"."""
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
    if not word and _OUT_OF.search(text):
        return "account" not in sorts_of(answer)
    told = word == "what" and not _WHAT_NOW.search(text)
    if word not in ("which", "who", "whom", "whose", "when", "where") and not told:
        return False
    if _PAID_FROM.search(text):
        return not {"account", "source"} & set(sorts_of(answer))
    if answer.value is not None or not answer.say.startswith("Yes"):
        return False
    offered = ask.options or any(_ways_of(other) for other in ask.before[:2])
    return not offered and not mends(text, answer)


_BARE = re.compile(r"\W*(?:so\W+|then\W+)?(should|shall|may|can)\s+i\W*", re.IGNORECASE)
_LEFT_UNDONE = re.compile(
    r"\bI(?:\s+have\s+not|\s+did\s+not|\s+haven['\u2019]t|\s+didn['\u2019]t)\s+(?:yet\s+)?(.+?)\W*$"
)


def pointed(ask: Ask) -> Ask:
    """Return an ask whose sentences name what they point to in the sentence before them: "I haven't
    messaged him. Should I?" asks about that and nothing else.
    """
    told = [*ask.before, ""]
    bare = _BARE.fullmatch(ask.text)
    undone = _LEFT_UNDONE.search(told[0])
    if bare is not None and undone is not None:
        return replace(ask, text=f"{bare[1].title()} I {undone[1]}?", before=())
    before = tuple(spelled_out(text, told[at + 1]) for at, text in enumerate(ask.before))
    return replace(ask, text=spelled_out(ask.text, told[0]), before=before)


def _ways_of(text: str) -> bool:
    """Return whether a sentence names ways to go on: "I can cancel it, or leave it"."""
    return PLAN.search(text) is not None or re.search(r"\bor\b", text) is not None


_COUNTED = re.compile(
    r"\b(?:two|three|four|both|several|multiple|\d)\s+(?:(?!of\b)[\w'-]+\s+){0,2}?([\w-]*[^s\W]s)\b"
    r"(?:\s+(?:for|of)\s+((?-i:[A-Z])\w+))?"
    r"|\bboth\s+(?:[\w']+\s+){1,5}?(address|account|number)\b"
    r"|\bonce\s+(?:with|under|by)\s+(?:an?|the|your)\s+([\w-]+)\b",
    re.IGNORECASE,
)


def of_other_things(ask: Ask, answer: Answer) -> bool:
    """Return whether "which of the two" is of things with which an answer has nothing to do: the
    sentence before counts two mails, or two addresses of somebody whom the answer does not know.
    """
    if ask.before and _OUT_OF.search(ask.before[0]):
        return "account" not in sorts_of(answer)
    counted = _COUNTED.search(ask.before[0]) if ask.before else None
    if counted is None or names_value(ask.before[0], answer) or ask.options:
        return False
    known = bases(
        tokens(" ".join([*answer.asked, answer.value or "", *answer.others]).replace("|", " "))
    )
    if counted[2]:
        return not bases(tokens(counted[2])) & known
    thing = counted[1] or counted[3] or counted[4]
    return not bases(tokens(thing)) & (known | _ANYTHING)


_ANYTHING = words(
    "people one option match candidate possibility way choice thing result name hit time idea entry"
    " record contact profile listing row item event point question issue matter decision"
)
