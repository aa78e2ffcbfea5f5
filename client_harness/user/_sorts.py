"""Sorts of things that agents ask for, and other words for what an answer is about.

An answer lists key words. Those who ask use others: "shall I get rid of one of them" asks for a
repair. What is of one sort is told by the verb with which a thing is proposed.
"""

from __future__ import annotations

import re

from client_harness.user._values import mentions, plain, right
from scenarios.answer import Answer

_UNDOING = re.compile(
    r"\b(?:get\s+rid\s+of|call\s+off|pull\s+back|(?:send|give|pay|get|have|ask|claim|request|hand"
    r"|transfer|bring|take|pull|fetch|claw)\s(?:[^?.,;]|\.\d){0,40}?\b(?:back|down|off)"
    r"|ask\s+(?:her|him|them|(?-i:[A-Z])\w+)\s+(?:for|to\s+(?:return|send\s+back|refund))\b"
    r"|(?:send|make)\s+(?:her|him|them|(?-i:[A-Z])\w+)\s+a\s+request\s+for\b"
    r"|cancel\w*|undo\w*|reverse|withdraw|revert|recall|retract|void|revoke|remove|delete|drop"
    r"|return|refund|reclaim|recover|stop)\b",
    re.IGNORECASE,
)
_MENDING = re.compile(
    r"\b(?:take\s+care\s+of|(?:put|set|get|make)\s[^?.,;]{0,20}\b(?:right|straight|in\s+order)"
    r"|sort(?:\s+\w+)?\s+out|clear(?:\s+\w+)?\s+up|clean(?:\s+\w+)?\s+up|tidy(?:\s+\w+)?\s+up"
    r"|straighten(?:\s+\w+)?\s+out|deal\s+with|make\s+(?:good|up\s+for)|handle|fix|correct|repair"
    r"|rectify|resolve|remedy|amend|adjust|mend|edit|change|send\s+(?:\w+\s+){0,2}correction|forward"
    r"|update|replace|switch|redo|resend|settle)\b",
    re.IGNORECASE,
)
_SEEN_TO = re.compile(
    r"\b(?:want|like|have|get|need|see|prefer)\s+(?:it|that|this|them|these|those|one|(?:the|your|her"
    r"|his)\s+(?:\w+\s+){1,2}?)\s?(?:to\s+be\s+)?(?:changed|fixed|undone|cancell?ed|corrected|repaired"
    r"|mended|reversed|withdrawn|taken\s+(?:back|down|off|out)|put\s+(?:right|straight)|set\s+(?:right"
    r"|straight)|sorted(?:\s+out)?|cleared(?:\s+up)?|removed|deleted|refunded|returned|revoked|recalled"
    r"|amended|adjusted|updated|replaced|switched|moved|settled|resolved|dealt\s+with)\b"
    r"|\b(?:it|this|that|they|one(?:\s+of\s+\w+)?)\s+(?:can|could|may)\s+(?:still\s+)?be\s+(?:changed|fixed|edited|undone|switched"
    r"|cancell?ed|corrected|reversed|withdrawn|set|taken\s+back|put\s+right)\b",
    re.IGNORECASE,
)
"""A wish that something be seen to, or that it can be: "do you want that changed?"."""
_WHAT_WENT_WRONG = (
    r"(?:it|this|that|them|these|those|one|either|duplicate|second|first|extra|surplus|wrong|double"
    r"|payment|transfer|request|money|mistake|error|situation|things|matters?|problem|issue|mix-?up"
    r"|difference|rest|\$?\d[\d.]*)"
)
_WRONG_ONE = re.compile(rf"\b{_WHAT_WENT_WRONG}\b", re.IGNORECASE)
_THEM = r"(?:it|things|that|this|them|those|these|both|everything|the\s+\$?[\w.,]+)"
_LEAVES = re.compile(
    rf"\b(?:leave|let|leaving|letting|keep)\s+(?:just\s+)?{_THEM}"
    r"\b[^?]*\b(?:as\s+(?:it|they|is|things)|be|alone|stand|that\s+way|like\s+(?:this|that))\b"
    r"|\bleave\s+(?:it|things|that)\s+(?:at\s+that|there)\b|\bdo\s+nothing\b|\blive\s+with\b"
    r"|\b(?:leave|leaving)\s+(?:it|that|this|them|those|these|both|things)"
    r"(?=\s*(?:[?.,;:]|$|(?:and|but|or|so|then|for\s+now)\b))"
    r"|\b(?:let|letting)\s+(?:her|him|them|(?-i:[A-Z])\w+)\s+(?:just\s+)?(?:keep|have|hold\s+on\s+to)"
    r"\s+(?:it|that|this|them|both|the)\b"
    r"|\bnot\s+(?:do|touch|change)\s+anything\b",
    re.IGNORECASE,
)
_FORECASTERS = re.compile(
    r"\b(?:accu\s?weather|national\s+weather\s+service|nws|noaa|google(?:'s)?|apple(?:'s)?"
    r"|(?:monthly|seasonal|yearly|annual|historical|long-term|climate|usual)\s+(?:averages?|means?|norms?)"
    r"|wunderground|weather\s+underground|windy|dark\s+sky|open-?meteo|bbc|met\s+office|weather\.com"
    r"|weather\.gov|the\s+(?:\w+\s+){0,2}(?:news|radio|tv|newspaper|almanac|airport))\b",
    re.IGNORECASE,
)
_APART = re.compile(
    r"\bone\s+(?:at\s+a\s+time|by\s+one|after\s+(?:the\s+other|another))\b|\bsplit\w*\b"
    r"|\bin\s+(?:two|three|parts|pieces|turns?|halves)\b|\b(?:separately|individually|apart)\b"
    r"|\b(?:on|in)\s+(?:its|their)\s+own\b",
    re.IGNORECASE,
)
_FOLLOW = re.compile(
    r"\b(?:us(?:e|ing)|tak(?:e|ing)|go(?:ing)?\s+(?:by|with|for)|stick(?:ing)?\s+(?:with|to)"
    r"|follow(?:ing)?|trust(?:ing)?|rely(?:ing)?\s+on|believ(?:e|ing)|stay(?:ing)?\s+with"
    r"|keep(?:ing)?\s+(?:to|with|using|trying)?|wait(?:ing)?\s+for|retry(?:ing)?|prefer|side\s+with"
    r"|give\s+\w+\s+to|decides?\s+for|(?:check|go|come)(?:ing)?\s+back\s+(?:with|to|on)"
    r"|pass(?:ing)?\s+on|then\s+(?:ask|try|check|query))\s+"
    r"(?:(?:the\s+)?(?:\w+\s+){0,3}(?:from|of|by|on|in)\s+|what\s+|only\s+)?"
    r"((?:the\s+)?weather\s+channel)",
    re.IGNORECASE,
)
_BY_ACCOUNT = re.compile(
    r"\b(?:from|use|using|through|via|with|over)\s+(?:the\s+|your\s+|my\s+|a\s+)?(?:\w+\s+){1,2}"
    r"(?:address|account|mailbox|inbox)\b",
    re.IGNORECASE,
)
_AUDIENCES = {
    "private": r"\b(?:privately|private|only\s+(?:me|you|the\s+two))\b",
    "friends": r"\bfriends\b",
    "public": r"\b(?:publicly|public|everyone|everybody|anyone|all\s+of\s+venmo)\b",
}


def is_of(sort: str, answer: Answer) -> bool:
    """Return whether what an answer gives is of a sort: a "source", an "account". Its phrases say
    so.
    """
    return sort in " ".join(answer.asked).casefold().replace("|", " ").split()


def mends(text: str, answer: Answer) -> bool:
    """Return whether a clause proposes to undo or to mend what an answer wants mended, in other
    words than the answer's, or to leave it as it is.
    """
    said = set(" ".join(answer.asked).casefold().replace("|", " ").split())
    if "separate" in said and _APART.search(text):
        return True
    if answer.value is not None or not said >= {"undo", "fix"}:
        return False
    if leaves_it(text) or _SEEN_TO.search(text):
        return True
    for shape in (_UNDOING, _MENDING):
        found = shape.search(text)
        if found is None:
            continue
        after = " ".join(text[found.start() :].split()[:8])
        if _WRONG_ONE.search(after):
            return True
    return False


def leaves_it(text: str) -> bool:
    """Return whether a clause proposes to leave something as it is."""
    return _LEAVES.search(text) is not None


def other_of_sort(text: str, answer: Answer) -> bool:
    """Return whether a text proposes another thing of an answer's sort: a source or an audience of
    which the answer knows nothing.
    """
    if answer.value is None:
        return False
    shown = plain(text)
    if is_of("source", answer):
        named = _FORECASTERS.search(shown)
        if named is not None and not mentions(shown, right(answer)):
            return True
        followed = _FOLLOW.search(shown)
        return followed is not None and not mentions(followed[0], right(answer))
    if is_of("account", answer):
        used = _BY_ACCOUNT.search(shown)
        return used is not None and not mentions(shown, right(answer))
    own = answer.value.split("|")[0].casefold()
    if own in _AUDIENCES:
        if re.search(_AUDIENCES[own], shown, re.IGNORECASE):
            return False
        others = [shape for name, shape in _AUDIENCES.items() if name != own]
        return any(re.search(shape, shown, re.IGNORECASE) for shape in others)
    return False
