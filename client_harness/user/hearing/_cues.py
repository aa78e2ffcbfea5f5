"""What the user hears in a text: its words and pairs of words, as the learned reader counts them.

A cue is a string. It begins with where it was heard: `t` anywhere in the text, `q` in the last two
questions, `b` in the sentence before the last question. Words of the right value stand in it as
`<right>`, those of other values as `<wrong>`, and numbers as `#`, so that what was learned from one
scenario holds in others.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from client_harness.user._text import sentences
from client_harness.user._values import base, bases, mentions, mentions_other, right, tokens, wrong
from scenarios.answer import Answer

SORTS = ("repair", "other_source")
"""Keys of answers that several scenarios share: what asks for them is learned by itself."""
_NUMBER = re.compile(r"[\d.:]+")


@dataclass(frozen=True)
class _Known:
    """What an answer knows: its sort, the values as they may be said, and their words."""

    sort: str
    right: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    of_right: frozenset[str] = frozenset()
    of_wrong: frozenset[str] = frozenset()
    about: frozenset[str] = frozenset()
    answer: Answer | None = field(default=None, compare=False)


def cues(text: str, key: str, answer: Answer | None) -> frozenset[str]:
    """Return the cues of a text to a user who has one answer, or none."""
    return _cues(text, _known(key, answer))


@functools.lru_cache(maxsize=256)
def _cues(text: str, known: _Known) -> frozenset[str]:
    """See `cues`. It is kept: trials of one scenario often end with the same words."""
    told = [sentence.text for sentence in sentences(text)]
    heard = [_of_sentence(sentence, known) for sentence in told]
    asking = [number for number, one in enumerate(told) if _asks(one)]
    found = {f"sort:{known.sort}"}
    for one in heard:
        found |= {f"t:{cue}" for cue in one}
    for number in asking[-2:]:
        found |= {f"q:{cue}" for cue in heard[number]}
    if asking and asking[-1]:
        found |= {f"b:{cue}" for cue in heard[asking[-1] - 1]}
    return frozenset(found)


def _asks(sentence: str) -> bool:
    return sentence.rstrip(" \"')").endswith("?")


def _known(key: str, answer: Answer | None) -> _Known:
    if answer is None:
        return _Known("none")
    good = tuple(right(answer))
    bad = tuple(wrong(answer))
    asked = tuple(answer.asked)
    sort = key if key in SORTS else "other"
    of_right = _words(good)
    about = frozenset(base(word) for word in re.split(r"[\s|]+", " ".join(asked).casefold()))
    of_wrong = _words(bad) - of_right
    return _Known(sort, good, bad, asked, of_right, of_wrong, about, answer)


def _words(values: Iterable[str]) -> frozenset[str]:
    return frozenset(map(base, tokens(" ".join(values))))


def _of_sentence(sentence: str, known: _Known) -> set[str]:
    spoken = tokens(sentence)
    end = "?" if _asks(sentence) else "."
    plain = ["^", *(_shown(word) for word in spoken), end]
    marked = ["^", *(_marked(word, known) for word in spoken), end]
    pairs = [f"{first} {second}" for first, second in itertools.pairwise(marked)]
    found = {*plain, *marked, *pairs}
    if known.sort in SORTS:
        found |= {f"{known.sort}:{cue}" for cue in (*plain, *pairs)}
    named = {word for word in spoken if base(word) in known.about}
    if named:
        found |= {"<about>", *(f"<about>{known.sort}:{word}" for word in named)}
    said = bases(spoken)
    if any(_held(phrase, said) for phrase in known.asked):
        found |= {"<phrase>", f"<phrase>{end}"}
    if known.answer is not None and known.right:
        values = "+".join(_values(sentence, known, known.answer))
        found |= {f"<values>{values}", f"<values>{values}{end}"}
    return found


def _values(sentence: str, known: _Known, answer: Answer) -> Iterator[str]:
    """Yield which values a sentence names: the right one, a wrong one, another of the same kind."""
    if mentions(sentence, known.right):
        yield "right"
    if mentions(sentence, known.wrong):
        yield "wrong"
    if mentions_other(sentence, answer):
        yield "another"


def _held(phrase: str, said: set[str]) -> bool:
    """Return whether all words of a phrase are said; `|` stands between words of which one does."""
    return all(said & bases(part.split("|")) for part in phrase.casefold().split())


def _shown(word: str) -> str:
    return "#" if _NUMBER.fullmatch(word) else word


def _marked(word: str, known: _Known) -> str:
    stem = base(word)
    if stem in known.of_right:
        return "<right>"
    return "<wrong>" if stem in known.of_wrong else _shown(word)
