"""The question word of a clause and the words that belong to it."""

from __future__ import annotations

import re

from client_harness.user._shapes import WH
from client_harness.user._values import tokens, words

_FOCUS_ENDS = words(
    "do does did is are was were will would should shall can could may might has have had i you we"
    " to it 's for that you'd you'll i'm i'd they he she"
)
_AUXILIARY = re.compile(
    r"^\W*(?:(?:so|and|but|or|then|also)[,\s]+)*(?:shall|should|may|must|do|does|did|is|are|was|would"
    r"|will|can|could|have|has)(?:n't)?\s+(?:i|you|we|it|he|she|they|this|that|the|(?-i:[A-Z])\w+)\b",
    re.IGNORECASE,
)


def focused(text: str) -> tuple[str, set[str]]:
    """Return a clause's question word ("" for none) and the words that belong to it."""
    found = None
    for one in re.finditer(rf"\b{WH}\b", text, re.IGNORECASE):
        if not _relative(text, one):
            found = one
            break
    if found is None:
        return "", set()
    focus: set[str] = set()
    if found[0].casefold() in ("who", "whom", "when", "where", "why"):
        return found[0].casefold(), focus
    rest = re.split(r"[?:;(,\u2013\u2014\"]", text[found.end() :])[0]
    rest = re.sub(r"^\s+(?:is|are)\s+(?=the\b|your\b|(?-i:[A-Z]))", " ", rest)
    rest = re.sub(r"^(\s+of\s+(?:the\s+)?(?:two|three|them|these|those))\b.*", r"\1", rest)
    for word in tokens(rest)[:7]:
        if word in _FOCUS_ENDS and not (word == "for" and focus):
            break
        focus.add(word)
        if word in ("one", "ones"):
            break
    return found[0].casefold(), focus


def _relative(text: str, word: re.Match[str]) -> bool:
    """Return whether a question word begins a relative clause ("the Ana who called")."""
    before = text[: word.start()].rstrip()
    if before and _AUXILIARY.search(text):
        return True
    if word[0].casefold() == "which" and before.endswith(","):
        verb = r"\s+(?:\w+[^s\W]s|is|was|are|were|has|had|means)\s"
        return bool(re.match(verb, text[word.end() :]))
    noun = re.search(
        r"\b(?:the|a|an|one|your|her|his|their)\s+(?:[\w']+\s+)?[\w']+,?$|\bone,?$", before, re.I
    )
    name = re.search(r"\b(?!Of\b)[A-Z]\w+,?$", before)
    clause = r"\s+(?:the|an?|your|his|her|their|they|it|he|she|(?-i:[A-Z])\w+)\s+\w"
    if word[0].casefold() == "what" and re.search(r"\b(?:by|with|on|to|from)$", before, re.I):
        return bool(re.match(clause, text[word.end() :], re.I))  # "go by what the paper says"
    if word[0].casefold() == "what" and re.search(
        r"\b(?:that|this|it)(?:'s|\s+is)?$", before, re.I
    ):
        return bool(re.match(r"\s+(?:you|i)\b", text[word.end() :], re.I))
    mind = re.match(r"\s+you\s+(?:want|mean|meant|had|have)\w*\b", text[word.end() :], re.I)
    if (
        word[0].casefold() in ("what", "who", "whom")
        and mind
        and re.match(r"(?:so\s+)?(?:is|was|would)\b", text, re.I)
    ):
        return not re.search(r"\b(?:know|tell|say|ask|me|sure)$", before, re.I)
    if word[0].casefold() == "when":
        return bool(
            re.search(
                r"\b(?:for|only|just|until|later,?|it|this|that|e?mail|message)$", before, re.I
            )
        )
    if not noun and not name:
        return False
    if word[0].casefold() in ("who", "whose"):
        return True
    verb = r"\s+(?:is|was|are|were|has|had|needs|asks|came|says)\b"
    return word[0].casefold() == "which" and bool(re.match(verb, text[word.end() :], re.I))
