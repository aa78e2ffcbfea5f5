"""Sorts of things that agents ask for, and other words for what an answer is about.

An answer lists key words. Those who ask use others: "which forecast should I follow" asks for a
source as much as "which source", and "shall I get rid of one of them" asks for a repair. What is of
one sort is told by the noun that is asked for, and by the verb with which a thing is proposed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from client_harness.user._values import bases, mentions, plain, right, tokens, words
from scenarios.answer import Answer

_SORTS = {
    "source": words(
        "source sources service services provider providers forecast forecasts site website app"
        " station reading readings data forecaster number numbers figure figures report word"
    ),
    "account": words("account accounts mailbox mailboxes inbox address sender channel"),
    "audience": words("visibility audience privacy setting visible"),
    "person": words("person recipient contact payee addressee name surname"),
}
"""Nouns that ask for a thing of the same sort."""
_SIGNS = {"source": "source", "account": "account", "audience": "visibility", "person": "person"}
"""The word among an answer's phrases by which its sort is known."""
_WHERE_FROM = re.compile(
    r"\bwhere\b.*\b(?:get|take|look|check|find|pull|fetch|read|turn|from|source)\b", re.IGNORECASE
)
_THERE_IS = re.compile(
    r"\b(?:is|are)\s+there\s+(?:any|some|an?|another)?|\bdo\s+you\s+(?:have|know(?:\s+of)?)\s+"
    r"(?:any|some|an?|another)\b",
    re.IGNORECASE,
)
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
_CHANNEL = re.compile(
    r"\bweather\s+channel\b|\b(?:forecasts?|weather\s+services?|sources?|providers?)\b",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:another|other|different|alternative|second)\s+(?:way|route|place|option|means|channel"
    r"|path|possibility)s?\b|\b(?:elsewhere|somewhere\s+else|some\s+other\s+(?:way|place))\b"
    r"|\b(?:check|look|ask)\s+(?:with\s+|at\s+)?some(?:one|body|thing)\s+else\b",
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
_PASSED_ON = re.compile(
    r"\b(?:send|email|mail|give|put|include|read|convert|quote|write|tell)(?:ing)?\s+(?:\w+\s+){0,2}?"
    r"(?:the\s+)?weather\s+channel\s+(?:-?\d|(?:daily|own|old)\b"
    r"|(?:version|forecast|figure|number|reading|value|temperature)s?\b)",
    re.IGNORECASE,
)
"""Figures of a source that an agent would pass on: "shall I send The Weather Channel's?"."""
_BY_ACCOUNT = re.compile(
    r"\b(?:from|use|using|through|via|with|over)\s+(?:the\s+|your\s+|my\s+|a\s+)?(?:\w+\s+){1,2}"
    r"(?:address|account|mailbox|inbox)\b",
    re.IGNORECASE,
)
_PART_OF_DAY = re.compile(
    r"\b(?:whole|all|entire)\s+(?:of\s+the\s+)?day\b.*\bor\b|\bor\b.*\b(?:whole|entire)\s+day\b"
    r"|\bor\s+(?:just|only)\s+(?:for\s+)?(?:the\s+)?(?:morning|afternoon|evening|night)\b",
    re.IGNORECASE,
)
_AUDIENCES = {
    "private": r"\b(?:privately|private|only\s+(?:me|you|the\s+two))\b",
    "friends": r"\bfriends\b",
    "public": r"\b(?:publicly|public|everyone|everybody|anyone|all\s+of\s+venmo)\b",
}


def sorts_of(answer: Answer) -> list[str]:
    """Return of which sorts the thing is that an answer gives."""
    said = set(" ".join(answer.asked).casefold().replace("|", " ").split())
    return [sort for sort, sign in _SIGNS.items() if sign in said]


def asks_for_sort(text: str, word: str, focus: Iterable[str], answer: Answer) -> bool:
    """Return whether a clause asks for a thing of an answer's sort, by its question word and the
    words that belong to it.
    """
    sorts = sorts_of(answer)
    if word == "where":
        return "source" in sorts and _WHERE_FROM.search(text) is not None
    if word not in ("which", "what", "whose"):
        return False
    heads = bases(focus)
    return any(heads & bases(_SORTS[sort]) for sort in sorts)


def asks_whether_there_is(text: str, answer: Answer) -> bool:
    """Return whether a clause asks if there is another thing of an answer's sort."""
    said = set(" ".join(answer.asked).casefold().replace("|", " ").split())
    if {"another", "different"} & said and _ELSEWHERE.search(text):
        return True
    found = None if _PART_OF_DAY.search(text) else _THERE_IS.search(text)
    if found is None:
        return False
    near = bases(tokens(text[found.end() :])[:4])
    if near & {"phone", "telephone", "mobile"}:
        return False
    return any(near & bases(_SORTS[sort]) for sort in sorts_of(answer))


def tells_of_sort(text: str, answer: Answer) -> bool:
    """Return whether a sentence names a thing of an answer's sort, as a source that is down."""
    told = "source" in sorts_of(answer) and _CHANNEL.search(text) is not None
    return told and _PART_OF_DAY.search(text) is None


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
    if "source" in sorts_of(answer):
        named = _FORECASTERS.search(shown)
        if named is not None and not mentions(shown, right(answer)):
            return True
        followed = _FOLLOW.search(shown) or _PASSED_ON.search(shown)
        return followed is not None and not mentions(followed[0], right(answer))
    if "account" in sorts_of(answer):
        used = _BY_ACCOUNT.search(shown)
        return used is not None and not mentions(shown, right(answer))
    own = answer.value.split("|")[0].casefold()
    if own in _AUDIENCES:
        if re.search(_AUDIENCES[own], shown, re.IGNORECASE):
            return False
        others = [shape for name, shape in _AUDIENCES.items() if name != own]
        return any(re.search(shape, shown, re.IGNORECASE) for shape in others)
    return False


_TO_WHAT_WAS_NAMED = re.compile(
    r"\b(stick(?:ing)?\s+(?:with|to)|stay(?:ing)?\s+with|rely(?:ing)?\s+on|go(?:ing)?\s+(?:with|by)"
    r"|us(?:e|ing)|trust(?:ing)?|follow(?:ing)?|tak(?:e|ing))\s+(?:it|that|them|theirs)\b"
    r"|\b((?:send|give|tell|mail|email)\s+\w+)\s+"
    r"(?:theirs|those|their\s+(?:figures?|numbers?|readings?|forecast|version))\b",
    re.IGNORECASE,
)
_THE_ONE_NAMED = re.compile(
    r"\bthe\s+one\s+(?:that\s+)?you\s+(?:asked\s+for|named|mentioned|go\s+by)\b", re.IGNORECASE
)
_SOURCES = re.compile(
    rf"\bthe\s+weather\s+channel\b|\byahoo\b|{_FORECASTERS.pattern}", re.IGNORECASE
)
_PAIR = re.compile(
    r"((?:The\s)?[A-Z]\w+(?:\s[A-Z]\w+)*),?\s(?:and\s|or\s|one\s)(?:one\s)?(?:from\s)?"
    r"((?:The\s)?[A-Z]\w+(?:\s[A-Z]\w+)*)"
)
_BY_PLACE = re.compile(
    r"\bthe\s+(first|second|former|latter)(?:\s+(?:one|two|of\s+the\s+two))?\b(?!\s+\w+\s*(?:payment|transfer"
    r"|request|mail|email|time))",
    re.IGNORECASE,
)


def spelled_out(text: str, before: str) -> str:
    """Return a text with the name of what it points to: "you named The Weather Channel, so shall I
    stick with it?", "AccuWeather and Yahoo are up. May I take the first?".
    """
    pair = _PAIR.search(before)
    chosen = _BY_PLACE.search(text)
    if pair is not None and chosen is not None:
        first = chosen[1].casefold() in ("first", "former")
        text = text[: chosen.start()] + pair[1 if first else 2] + text[chosen.end() :]
    text = _THE_ONE_NAMED.sub("The Weather Channel", text)
    found = _TO_WHAT_WAS_NAMED.search(text)
    if found is None:
        return text
    head = text[: found.start()]
    named = [*_SOURCES.finditer(before), *_SOURCES.finditer(head)]
    if not named:
        return text
    figures = "" if found[1] else " figures"
    shown = f"{found[1] or found[2]} {named[-1][0]}{figures}"
    return head + shown + text[found.end() :]
