"""What an agent's text asks of the user: the general shapes of asking in English."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from client_harness.user._done import done, undecided, waits
from client_harness.user._idle import COURTESY, idle, invites
from client_harness.user._shapes import (
    ANNOUNCES,
    BARE,
    CONSULTS,
    DECIDED,
    FACT,
    GIVEN,
    IF_SO,
    IN_CASE,
    INDIRECT,
    INVERTED,
    NAUGHT,
    NOUN_PLEASE,
    OFFER,
    OPEN,
    PAST_FACT,
    REQUEST,
    SELF_ANSWER,
    SEVERAL,
    SPLIT,
    WEAK,
    WISHES,
    YOURS,
)
from client_harness.user._text import Sentence, sentences, unquoted


@dataclass(frozen=True, slots=True)
class Option:
    """One option that a list offers: its letter or number ("" for a bullet) and its text."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing that a text asks.

    `before` holds the sentences before it, the nearest first, and `after` the next two; `options`
    are the items of the list beside it. A soft one is an offer, which is a question only to a user
    who foresaw it.
    """

    text: str
    before: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    after: tuple[str, ...] = ()
    soft: bool = False


@functools.lru_cache(maxsize=256)
def asks(text: str) -> tuple[Ask, ...]:
    """Return what a text asks of the user, in order; courtesies and rhetoric are left out.

    It is kept: trials of one scenario often end with the same words, above all the oracle's.
    """
    told = sentences(text)
    found: list[Ask] = []
    finished = any(done(sentence.text) for sentence in told)
    for number, sentence in enumerate(told):
        before = tuple(other.text for other in reversed(told[:number]))
        after = tuple(other.text for other in told[number + 1 : number + 3])
        options = _options(told, number)
        for part in _parts(sentence):
            kind = _kind(part, sentence, told, number, finished)
            if kind is not None:
                found.append(Ask(part, before, options, after, kind == "soft"))
    return tuple(found)


def hesitates(text: str) -> bool:
    """Return whether a text asks nothing, reports nothing done, and says what stands in the way."""
    told = [sentence.text for sentence in sentences(text)]
    return not any(map(done, told)) and any(undecided(part) for part in told if not idle(part))


def _parts(sentence: Sentence) -> list[str]:
    """Return the parts of a sentence of which each may ask something of its own.

    Parts are told apart only where one of them is a courtesy.
    """
    if not COURTESY.search(sentence.text):
        return [sentence.text]
    split = [(part or "").strip() for part in SPLIT.split(sentence.text)]
    parts = [part for part in split if part]
    if not sentence.asks:
        return parts
    return [part if part.endswith("?") else f"{part}?" for part in parts]


def _kind(
    part: str, sentence: Sentence, told: list[Sentence], number: int, finished: bool
) -> str | None:
    """Return "firm" or "soft" for a part that asks something, else None.

    A text is `finished` if it reports a deed: then it waits for the user only where it says so.
    """
    bare = unquoted(part)
    if _HOLDS_BACK.search(bare):
        return "firm"
    if idle(bare) or (number and BARE.search(bare) and idle(told[number - 1].text)):
        return None
    following = told[number + 1] if number + 1 < len(told) else None
    if sentence.asks:
        if following is not None and invites(following.text, finished):
            return None
        aside = _rhetorical(bare, sentence, following) or (finished and _chats(bare, following))
        return None if aside else "firm"
    if not finished and waits(bare):
        return "firm"
    if IN_CASE.search(bare):
        return None
    offered = OFFER.search(bare)
    if REQUEST.search(bare):
        needless = offered and (finished or not waits(bare))
        return "soft" if needless and not _stuck(bare, told, number) else "firm"
    if INVERTED.search(bare):
        return None if following is not None and SELF_ANSWER.search(following.text) else "firm"
    offered = offered or WEAK.search(bare) or NOUN_PLEASE.search(bare)
    return "soft" if offered or _listed(told, number) else None


_HOLDS_BACK = re.compile(
    r"\b(?:won't|will\s+not|wouldn't|not\s+going\s+to)\b[^.?!]*\b(?:without|before|until)\s+"
    r"(?:your\s+(?:word|say-so|ok(?:ay)?|go-ahead|yes|consent|approval)"
    r"|you\s+(?:say|tell|agree|confirm)|you\W*$)"
    r"|\b(?:hold|wait|until|till)\b[^.?!]*\byou(?:'ve|\s+have)\s+(?:said|told|decided|agreed)\b"
    r"|\bhear\s+from\s+you\s+first\b|\bprovided\s+(?:that\s+)?you\s+agree\b"
    r"|\bneed\s+to\s+hear\s+(?:if|whether|which)\b|\bso\s+i\s+need\s+one\s+of\b"
    r"|\bso\s+i(?:'ve|\s+have)\s+stopped\s+here\b|\bdecide\s+(?:it|that|this)\s+over\s+your\s+head\b",
    re.IGNORECASE,
)
"""What waits for the user even where deeds are reported: "I won't pay again without your word"."""
_DEED = re.compile(
    r"\W*(?:(?:so|and|or|then)[,\s]+)?(?:cancel|change|switch|fix|send|resend|redo|undo|reverse|pay"
    r"|use|try|move|set|put|pull|write|book|order|withdraw|replace|go)\s+(?:\S+\s+){0,8}?\S+\?",
    re.IGNORECASE,
)
"""A deed that is proposed without a word for who does it: "Change it back to private?"."""


def _chats(text: str, following: Sentence | None) -> bool:
    """Return whether a question in a text that reports a deed is about no wish of the user."""
    if any(shape.search(text) for shape in (WISHES, CONSULTS, REQUEST, WEAK)):
        return False
    if re.search(r"\bwhich\b|\bshould\b|^would\b.*\bdo\?", text, re.IGNORECASE):
        return False
    if _DEED.match(text):
        return False
    if following is not None and not following.asks:
        return True
    begins = (
        r"\W*(?:(?:so|and|but|now)[\s,]+)?(?:which|what|when|where|how|whom|whose|who(?!\s+sa))\b"
    )
    return not re.match(begins, text, re.IGNORECASE)


def _stuck(text: str, told: list[Sentence], number: int) -> bool:
    """Return whether an offer is what the work waits for: nothing has been done yet."""
    should = IF_SO.search(text)
    more = re.search(r"\b(?:also|as well|too|else)\b", text, re.IGNORECASE)
    done = any(DECIDED.search(earlier.text) for earlier in told[:number])
    return should is not None and more is None and not done


def _rhetorical(text: str, sentence: Sentence, following: Sentence | None) -> bool:
    """Return whether a question is answered by the text itself."""
    start = text.lstrip("\"'([- ")
    if following is None or following.asks:
        return False
    if sentence.heading and following.label is None and FACT.search(start):
        return not YOURS.search(start)
    after = following.text.lstrip("\"'([- ")
    if REQUEST.search(after) or INVERTED.search(after) or following.label is not None:
        return False
    if GIVEN.search(after) and not YOURS.search(start):
        return True
    if DECIDED.search(after) and not re.search(r"\bnot\b|n't\b|\bshould i\b", after, re.I):
        return not re.search(r"\bnext\b|\binstead\b", start, re.I)
    if SELF_ANSWER.search(after) or re.match(r"nothing\s*[:.,]", after, re.IGNORECASE):
        return True
    if YOURS.search(start) or re.search(r"\bor\b", start):
        return False
    return any(
        shape.search(text) for shape, text in ((NAUGHT, after), (PAST_FACT, start), (FACT, start))
    )


def _listed(told: list[Sentence], number: int) -> bool:
    """Return whether a sentence is an item under a line that announces several things."""
    if told[number].label is None:
        return False
    for earlier in reversed(told[:number]):
        if earlier.label is None:
            announces = earlier.text.rstrip(" *").endswith(":") and (
                ANNOUNCES.search(earlier.text)
                or REQUEST.search(earlier.text)
                or WEAK.search(earlier.text)
                or (OPEN.search(earlier.text) and INDIRECT.search(told[number].text))
            )
            return bool(announces and SEVERAL.search(earlier.text))
    return False


_INLINE = re.compile(r"(?:^|[\s,;:])(?:option\s+)?\(?([a-hA-H]|\d)[.):]\s+", re.IGNORECASE)


def _options(told: list[Sentence], number: int) -> tuple[Option, ...]:
    """Return the options beside a sentence: inside it, in the list after it, or before it."""
    inside = _inline(_whole(told[number]))
    if inside:
        return inside
    after = _items(told[number + 1 :])
    if after:
        return after
    for earlier in reversed(told[:number]):
        inside = _inline(_whole(earlier))
        if inside:
            return inside
        if earlier.label is not None:
            break
    before = _items(told[number - 1 :: -1] if number else [])
    return tuple(reversed(before))


def _whole(sentence: Sentence) -> str:
    """Return a sentence with the label of the item that it is."""
    return f"{sentence.label}: {sentence.text}" if sentence.label else sentence.text


def _items(told: list[Sentence]) -> tuple[Option, ...]:
    """Return the first list among some sentences; one sentence may come before it."""
    items: list[Option] = []
    skipped = 0
    block = -1
    for sentence in told:
        if sentence.label is not None and sentence.paragraph == block:
            items[-1] = Option(sentence.label, f"{items[-1].text} {sentence.text}")
        elif sentence.label is not None:
            items.append(Option(sentence.label, sentence.text))
            block = sentence.paragraph
        elif items or skipped:
            break
        else:
            skipped += 1
    return tuple(items) if len(items) > 1 else ()


def _inline(text: str) -> tuple[Option, ...]:
    marks = list(_INLINE.finditer(text))
    if len(marks) < 2:
        return ()
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    options = []
    for mark, end in zip(marks, ends, strict=True):
        options.append(Option(mark[1], text[mark.end() : end].strip(" ,;?")))
    return tuple(options)
