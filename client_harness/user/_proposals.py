"""What a question proposes: the right value, a wrong one, or neither."""

from __future__ import annotations

import re

from client_harness.user._asking import Option
from client_harness.user._sorts import other_of_sort
from client_harness.user._values import mentions, mentions_other, right, wrong
from scenarios.answer import Answer

ASIDE = re.compile(
    r"\b(?:instead of|rather than|as opposed to|than(?!\s\d)|and not|, not)\b[^,;?]*"
    r"|\bor (?:not|no|else|another|other|some(?:thing|one|body)? (?:else|other)|a different"
    r"|different|would you (?:prefer|like|rather)|do you (?:want|prefer)"
    r"|is it (?:something|some)|should i not)\b[^;]*",
    re.IGNORECASE,
)
_REVERSED = re.compile(
    r"\b(?:not(?!\s+(?:yet|been|sure|certain|paid|sent|know|able))|ignor(?:e|ing)|skip"
    r"|declin(?:e|ing)"
    r"|cancel|exclude"
    r"|without(?!\s+(?:me|you|her|him|us|them|waiting)\b)|avoid|delete"
    r"|remove|refrain|off[\s-]limits|taboo|out of bounds"
    r"|forbidden|out of the question"
    r"|leav(?:e|ing)(?!\s+(?:it|this|that)\s+(?!alone|be\b|out)|[^,;]*\b(?:in|until|till|to"
    r"|from|at|on|visible|set)\b)"
    r"|(?<!you\s)keep(?:ing)?\s+(?:(?!up|on)[\w']+\s+){0,4}?(?:away|out|off|open|pending|untouched)"
    r"|(?:stay|remain)(?:s|ing)?\s+(?:away|out|off|as|where|put|open|pending|at|there|untouched"
    r"|unpaid|unanswered))\b"
    r"|\b(?:don't|doesn't|do not|does not|not to)\s+(?:want|like|wish|care|think|belong)\b"
    r"|\bis(?:n't| not) (?:to be|an option|allowed|available)\b|\b(?:wo|would|should|did)n't\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?:\bnot\b|n't\b|\bnever\b|\bnothing\b).*\b(?:unless|until|before|without)\s+"
    r"(?:you|asking|your|i have)",
    re.IGNORECASE,
)
REASON = re.compile(
    r"(?<=\w)[\")']?(?:,|\s[\u2013\u2014-])?\s+(?:because|since|so\s+that|so\s+\w+\s+(?:know|can\s+see|have|needn't"
    r"|doesn't"
    r"|won't|can|gets?)|even\s+though|although|though(?=\s\w)|while|given\s+that|seeing\s+that"
    r"|now\s+that"
    r"|in\s+case)\b[^?]*(?=\?|$)|(?<=\w),\s+there(?:'s|\s+is|\s+are)\b[^?]*$",
    re.IGNORECASE,
)
_BECAUSE = re.compile(
    r"^\W*(?:since|because|as|given\s+that|seeing\s+that|now\s+that|while|with)\b[^,?]*?"
    r"(?:,\s*|\s(?=(?:i'd|i'll|i\s+(?:would|will|could|can|may|might)|(?:shall|should|may)\s+i)\b))"
    r"|^\W*because\b.*?(?=\bi(?:'ll|\s+will)\b)|(?<=\w),\s+as\s+(?!you\b|well\b|usual\b)[^,?]*(?=\?|$)",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"\b(?:even\s+(?:if|though)|regardless\s+of|despite|in\s+spite\s+of|no\s+matter\s+what|whatever)"
    r"\b[^,;?]*",
    re.IGNORECASE,
)
"""What a proposal sets aside: "I'd write nobody, even if Yahoo shows one"."""
SEGMENTS = re.compile(
    r"\s*(?:[,;:](?=\s)|[\u2013\u2014]|\bbut\b|\band\s+(?=that\b|leav|ignor|skip|not\b|declin"
    r"|keep|stay|the\s+other))\s*",
    re.IGNORECASE,
)


_MINDS = re.compile(
    r"\b(?:mind|problem|object|objection|objections|bother|against)\b", re.IGNORECASE
)


def proposal_of(text: str, answer: Answer, options: tuple[Option, ...]) -> bool | None:
    """Return whether a text proposes the right value (True), a wrong one (False), or neither."""
    if answer.value is None or answer.value.split("|")[0].casefold() in ("yes", "no"):
        return None
    against = _AGAINST.search(text)
    if against is not None and mentions(against[0], right(answer)):
        rest = text.replace(against[0], "")
        if not mentions(rest, right(answer)):
            return False
    bare = ASIDE.sub("", REASON.sub("", _BECAUSE.sub("", text)))
    if _CONDITION.search(text):
        bare = _REVERSED.sub("", bare)
    good = mentions(bare, right(answer))
    bad = wrongly(bare, answer)
    if re.search(r"\bor\b", bare) and (good or bad):
        return None
    told = {_segment(part, answer) for part in SEGMENTS.split(bare)} - {None}
    verdict = told.pop() if len(told) == 1 else None
    return None if verdict and _MINDS.search(bare) else verdict


def _segment(text: str, answer: Answer) -> bool | None:
    """Return what one part of a proposal proposes; "leave Ana Reyes's open" is as good as Ruiz."""
    good = mentions(text, right(answer))
    bad = wrongly(text, answer)
    if good == bad:
        both = good and mentions(text, wrong(answer)) and re.search(r"\b(?:both|and)\b", text)
        if both and _REVERSED.search(text):
            told = {_segment(part, answer) for part in re.split(r"\band\b", text)} - {None}
            return told.pop() if len(told) == 1 else None
        return False if both else None
    reversals = len(_REVERSED.findall(text))
    if reversals:
        return bad if reversals == 1 else None
    return good


def undecided(text: str, answer: Answer) -> bool:
    """Return whether a text names right and wrong values without turning one of them down."""
    if not mentions(text, right(answer)) or not wrongly(text, answer):
        return False
    return _REVERSED.search(text) is None or _segment(text, answer) is None


def option_of(options: tuple[Option, ...], answer: Answer) -> Option | None:
    if answer.value is None:
        return None
    good = []
    for option in options:
        if mentions(option.text, right(answer)) and not wrongly(option.text, answer):
            good.append(option)
    others = [option for option in options if option not in good]
    alternative = not answer.others or any(wrongly(option.text, answer) for option in others)
    return good[0] if len(good) == 1 and others and alternative else None


def wrongly(text: str, answer: Answer) -> bool:
    if answer.value is None:
        return False
    return (
        mentions(text, wrong(answer)) or mentions_other(text, answer) or other_of_sort(text, answer)
    )


def names_value(text: str, answer: Answer) -> bool:
    named = mentions(text, right(answer)) or mentions(text, wrong(answer))
    return named or other_of_sort(text, answer)
