"""Negators that do not reach what a phrase matches: those in an aside, of another time or place, or
of all else.
"""

from __future__ import annotations

import itertools

from judge.reading.words import Sentence


def passed_over(sentence: Sentence, at: int, matched: set[int], first: int) -> bool:
    """Return whether a word at a place says nothing of the words that are matched, the first of
    which is at `first`.
    """
    return (
        _aside(sentence, at, matched)
        or _over(sentence, at, first)
        or _contrasts(sentence, at)
        or _of_another_time(sentence, at, first)
    )


def _aside(sentence: Sentence, at: int, matched: set[int]) -> bool:
    """Return whether a word is in an aside: `is on its way (no fee), arriving Monday`."""
    begins = max((b for b in sentence.breaks if b <= at), default=0)
    ends = min((b for b in sentence.breaks if b > at), default=0)
    if not 0 < begins < ends or ends - begins > 5 or sentence.words[begins].text not in _BARE:
        return False
    return min(matched) < begins and not any(begins <= place < ends for place in matched)


_PLACES = frozenset(["among", "in", "on", "at", "from", "by", "via", "under", "through"])


def _contrasts(sentence: Sentence, at: int) -> bool:
    """Return whether a "not" only tells where it was not: `is in Yahoo and not among yours`."""
    words = [word.text for word in sentence.words[max(0, at - 1) : at + 2]]
    return len(words) == 3 and words[0] == "and" and words[1] == "not" and words[2] in _PLACES


def _of_another_time(sentence: Sentence, at: int, first: int) -> bool:
    """Return whether a negator is of another verb than what follows a "when I": `I didn't name an
    account when I scheduled it`.
    """
    words = [word.text for word in sentence.words[at + 1 : first]]
    return any(pair in _WHEN_I for pair in itertools.pairwise(words))


_WHEN_I = {("when", "i"), ("after", "i"), ("as", "i")}


def _over(sentence: Sentence, at: int, first: int) -> bool:
    """Return whether an "instead of" has ended: `instead of two halves I sent one payment`."""
    words = sentence.words
    if words[at].text not in ("instead", "rather"):
        return False
    return any(words[i].text in ("i", "we") or i in sentence.breaks for i in range(at + 2, first))


def of_the_rest(sentence: Sentence, at: int) -> bool:
    """Return whether a word denies only of all else: `nothing else on the page is different`."""
    words = sentence.words
    if words[at].text == "not":
        after = [word.text for word in words[at + 1 : at + 7]]
        return any(pair in _ANYTHING_ELSE for pair in itertools.pairwise(after))
    if words[at].text not in ("nothing", "nobody", "no", "none"):
        return False
    return any(word.text in ("else", "other", "others") for word in words[at + 1 : at + 3])


_BARE = {"no", "not", "without", "never"}
_ANYTHING_ELSE = {("anything", "else"), ("anyone", "else"), ("anybody", "else")}
