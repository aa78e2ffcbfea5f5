"""Filters: whether the texts of a generated target say what they should, where they should.

Every value is said once, in its place; nothing is leaked to the last message, and nothing
contradicts it. A filter knows texts, not how they came about, so it judges rewordings, too.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scenarios.haystack import pieces, targets
from scenarios.haystack.nearness import similarity
from scenarios.haystack.targets import KINDS, Kind
from servers.kit.exposure import stems

SAME = 0.9
"""From what similarity on two last messages ask for the same."""
MOST_WORDS = 70
"""The most words of one text."""
_LIVE = re.compile(r"\$\{[^{}]*\}")
_SPARE = re.compile(r"[{}<>|]|\s{2,}|\bNone\b|\s[,.?!]|[.?!,]{2,}")
_TWICE = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)
_MONEY = re.compile(r"\$\d[\d,]*(?:\.\d+)?")
_COMMON = frozenset(
    """
    please could would tell want have when what that this with from then it's i'd you're don't
    call called name note send price alert the and for you not but how can get its has was are
    all one two put out them there before after about should only more much
    """.split()  # noqa: SIM905
)
"""Words that say nothing of what a message is about."""
_PARTS = ("double", "base", "extra", "list", "off")
Texts = list[str]


def problems(
    raw: Mapping[str, Any],
    person: str,
    kind: Kind | None = None,
    values: Sequence[int] = (0, 1),
) -> list[str]:
    """Return what is wrong with a target's texts (of one kind), in a few words each; [] if nothing.

    `raw` is a target as its file holds it, `values` are which values of its pieces are right.
    """
    found: list[str] = []
    for one in KINDS if kind is None else (kind,):
        for value in values:
            found += _Kind(raw, person, one, value).problems()
    return list(dict.fromkeys(found))


class _Kind:
    """The texts of one kind, with one value of each piece."""

    def __init__(self, raw: Mapping[str, Any], person: str, kind: Kind, value: int) -> None:
        self.raw = raw
        self.person = person
        self.kind = kind
        telling = raw["kinds"][kind]
        self.given = pieces.scope(raw["pieces"], value)
        self.asks: Texts = [self._said(ask) for ask in telling["ask"]]
        self.needles: list[Texts] = []
        self.written: list[Texts] = []
        for needle in telling.get("needles", []):
            lines = [_text(turn) for turn in needle["talk"]]
            texts = [line for line in lines if line]
            self.written.append(texts)
            self.needles.append([self._said(text) for text in texts])
        self.question = self._said(telling.get("question", ""))

    def problems(self) -> Iterator[str]:
        """Yield what is wrong."""
        spoken = [*itertools.chain.from_iterable(self.needles)]
        for text in [*self.asks, *spoken]:
            yield from _malformed(text)
        for name in self.raw["pieces"]:
            yield from self._said_once(name)
        yield from self._amounts()
        yield from self._topics()
        yield from self._sums()
        if len(set(spoken)) < len(spoken):
            yield "two messages are the same"

    def _said(self, text: str) -> str:
        return _LIVE.sub("…", str(pieces.filled(text, self.given)))

    def _said_once(self, name: str) -> Iterator[str]:
        """Yield where a piece's values are said although they should not, or not said."""
        rights = _forms(self.given[name])
        wrongs = _forms(self.given[pieces.OTHER][name])
        asks = [_holds(ask, rights) for ask in self.asks]
        expected = [name in pieces.told(ask, self.raw["pieces"])[0] for ask in self._templates()]
        if asks != expected:
            yield "a value is leaked to the last message, or missing there"
        if any(_holds(ask, wrongs) for ask in self.asks):
            yield "the last message holds a wrong value"
        if _holds(self.question, rights):
            yield "the assistant's question holds the value"
        count = int(all(asks))
        for texts, templates in zip(self.needles, self.written, strict=True):
            right, wrong = pieces.told(templates, self.raw["pieces"])
            says = any(_holds(text, rights) for text in texts)
            follows = name in right and not _says(templates, name)
            count += name in right
            if says and name not in right:
                yield "a value is said where it should not be"
            if not says and name in right and not follows:
                yield "a value is not said where it should be"
            if follows and says:
                yield "a situation says the value outright"
            if any(_holds(text, wrongs) for text in texts) and name not in wrong:
                yield "a wrong value is said where it should not be"
        unsaid = self.kind.startswith("missing") and count == 0
        if count != 1 and not unsaid:
            yield "a value is not said exactly once"

    def _templates(self) -> list[str]:
        return self.raw["kinds"][self.kind]["ask"]

    def _amounts(self) -> Iterator[str]:
        """Yield a sum of money that competes with the value in the talk that says it."""
        for texts, templates in zip(self.needles, self.written, strict=True):
            holes = set(_LIVE.findall(" ".join(templates)))
            figures = set(_MONEY.findall(" ".join(texts)))
            if len(figures) > max(len(holes), 1):
                yield "another sum of money stands beside the value"

    def _sums(self) -> Iterator[str]:
        """Yield whether a situation leads to another value."""
        if self.kind != "shift_implicit":
            return
        for value in (part for part in self.given.values() if isinstance(part, dict)):
            amount = _cents(value.get("said"))
            told = {part: _cents(value[part]) or 0 for part in _PARTS if part in value}
            if amount is None:
                continue
            sums = [
                told.get("double", 2 * amount) == 2 * amount,
                told.get("base", 0) + told.get("extra", 0) in (amount, 0),
                told.get("list", 0) - told.get("off", 0) in (amount, 0),
            ]
            if not all(sums):
                yield "a situation leads to another value"

    def _topics(self) -> Iterator[str]:
        """Yield whether a needle does not say what it is about, or a rival is about the same."""
        asked = _words(" ".join(self.asks))
        for texts, templates in zip(self.needles, self.written, strict=True):
            right, _ = pieces.told(templates, self.raw["pieces"])
            shared = asked & _words(texts[0])
            if self.kind == "missing_hard" and not right:
                if len(shared) > 1:
                    yield "the rival is about the same thing"
            elif not shared:
                yield "a needle has no word in common with the last message"


def _cents(said: Any) -> int | None:
    """Return an amount as it is said, in cents, or None if it is none."""
    found = re.fullmatch(r"\$([\d,]+)\.(\d\d)", str(said))
    return int(found[1].replace(",", "") + found[2]) if found else None


def _text(turn: Mapping[str, Any]) -> str:
    return str(turn.get("user") or turn.get("assistant") or "")


def _says(templates: Texts, name: str) -> bool:
    """Return whether texts say a piece's value itself, and not only a part of a situation."""
    told = re.compile(rf"\$\{{{name}(?:\.(?:value|said|name))?\}}")
    return any(told.search(text) for text in templates)


def _forms(value: Any) -> list[str]:
    """Return the ways in which a value is said or written."""
    if not isinstance(value, dict):
        return [str(value)]
    return [str(value[part]) for part in ("value", "said", "dollars") if part in value]


def _holds(text: str, forms: list[str]) -> bool:
    for form in forms:
        if re.search(rf"(?<![\w.]){re.escape(form)}(?![\w]|\.\d)", text, re.IGNORECASE):
            return True
    return False


def _malformed(text: str) -> Iterator[str]:
    if not text.strip() or _SPARE.search(text):
        yield "a text is malformed"
    elif _TWICE.search(text):
        yield "a word is said twice in a row"
    elif len(text.split()) > MOST_WORDS:
        yield "a text is too long"


def _words(text: str) -> set[str]:
    return {stem for stem in stems(text) if len(stem) > 2} - _COMMON


def duplicate(raw: Mapping[str, Any], person: str) -> bool:
    """Return whether a shipped target of a person asks for the same with the same tool."""
    tool = next(iter(raw["needed"].values()))["call"]["tool"]
    asks = [str(ask) for ask in raw["kinds"]["recall_single"]["ask"]]
    for other_tool, other in _shipped(person):
        if other_tool == tool and any(similarity(ask, other) >= SAME for ask in asks):
            return True
    return False


@functools.cache
def _shipped(person: str) -> list[tuple[str, str]]:
    """Return the tools and last messages of a person's shipped targets."""
    found = []
    for name in targets.index():
        if targets.person_of(name) != person:
            continue
        target = targets.target(name)
        for node in target.needed.values():
            call = node.get("call") if isinstance(node, dict) else None
            tool = call.get("tool") if isinstance(call, dict) else None
            if isinstance(tool, str):
                found += [(tool, ask) for ask in target.kinds["recall_single"].ask]
    return found
