"""Whether a text tells a claim without any of the claim's usual words.

`Priya: one email, bring the chains.` tells that Priya was written to, although no verb says so, and
`$85.` is an answer to the question what the table costs. It is enough where a statement has to be
told, and never enough to call a text false.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from judge.reading.claims import Claim, Parts, vocabulary
from judge.reading.content import share, topic_of
from judge.reading.hedges import opens_supposing
from judge.reading.marks import believed, marked, reported
from judge.reading.phrases import read
from judge.reading.slots import (
    VALUES,
    Group,
    agrees,
    covered,
    groups,
    is_amount,
    is_verb,
    state_of,
    types_of,
)
from judge.reading.special import type_of
from judge.reading.texts import Spoken, Unit, stems_of, taken_apart

_DENIED = frozenset(
    re.findall(
        r"\w+",
        """
        not no never nothing nobody none cannot without unable failed fail refused if unless whether
        perhaps maybe probably might lost vanished wrong instead
        """,
    )
)
"""Words that keep a unit from telling a fact."""
_UNDONE = _DENIED | frozenset(
    re.findall(
        r"\w+",
        """
        will would could should shall may must plan going try want once until before missing
        """,
    )
)
"""Words that keep a unit from telling that anything was done."""
_BOUND = re.compile(r"\bnot (?:\w+ )?(?:below|under|above|over|more|less|exceed|only|just)\b")
"""`It does not go below 43` gives a figure and denies none."""
_TELLING = ("person", "people", "money", "number", "day", "words")
_UNCOUNTED = ("words", "person", "people", "provider")
_VALUES = ("value", "number", "money", "day", "time")


def mentions(claim: Claim, spoken: Spoken, after: int = -1) -> str:
    """Return the sentence beyond a number that speaks of the claim's deed as done, or ""."""
    return _mentions(claim.parts, spoken, after)


@functools.lru_cache(maxsize=2048)
def _mentions(parts: Parts, spoken: Spoken, after: int) -> str:
    kind, slots, needed = parts
    entry = vocabulary()[kind]
    if entry.deed is not None:
        if read(Claim(kind, dict(slots), needed), spoken).contradiction:
            return ""
        return _deed(kind, dict(slots), needed, spoken, after)
    if entry.frame in ("figure", "when"):
        return _fact(kind, dict(slots), spoken, after)
    if entry.frame == "named":
        return _all_named(dict(slots).get("items") or (), spoken, after)
    return ""


def _telling(spoken: Spoken, words: frozenset[str], after: int = -1) -> Iterator[Unit]:
    """Yield the units of a text, beyond a number, that assert something, none of these words among
    theirs.
    """
    key = (spoken.text, spoken.today, spoken.people)
    marks = marked(*key)
    out = marks.taken_back | marks.either | marks.unsure
    for unit in taken_apart(*key).units:
        if unit.number <= after or unit.number in out:
            continue
        if unit.sentence.question or opens_supposing(unit):
            continue
        held = any(word in words for word in _without_once(unit))
        if not held or (_BOUND.search(unit.low) and words is _DENIED):
            yield unit


def _without_once(unit: Unit) -> Iterator[str]:
    """Yield the words of a unit, a "once" that counts aside: "she has it, once"."""
    words = unit.sentence.words
    for place, word in enumerate(words):
        ends = place + 1 == len(words) or place + 1 in unit.sentence.breaks
        if word.text != "once" or not ends:
            yield word.text


_OF_PAYING = re.compile(r"\b(?:paid|payment|charged|sent|came|went|goes|settled)\b")


_WHY = re.compile(r"\b(?:because|since|as|although|though|while|but)\b")


def tells_of_paying(spoken: Spoken) -> list[str]:
    """Return the sentences of a text that tell of something paid."""
    found = []
    for unit in _telling(spoken, frozenset()):
        told = len(_WHY.split(unit.low)[0].split())
        if not _UNDONE.isdisjoint(list(_without_once(unit))[:told]):
            continue
        money = any(value.type == "money" for value in unit.values.values())
        if money or _OF_PAYING.search(unit.low):
            found.append(unit.raw)
    return found


def _deed(
    kind: str, slots: dict[str, Any], needed: frozenset[str], spoken: Spoken, after: int
) -> str:
    entry = vocabulary()[kind]
    topic = topic_of(kind)
    if not _all_reached(kind, slots, spoken):
        return ""
    unnamed = _unnamed(kind, slots, spoken)
    units = list(_telling(spoken, _UNDONE, after))
    anywhere = any(_is_of(topic, unit) for unit in units)
    for unit in units:
        last = len(unit.sentence.words) - 1
        if kind == "mailed" and not needed and _mail_speaks(slots, unit, spoken):
            return unit.raw
        if reported(unit, last) or believed(unit, last, frozenset()):
            continue
        agreed, differs = _agreed(kind, slots, unit, spoken.people)
        if unit.sentence.words[0].text not in ("he", "she", "they"):
            agreed -= unnamed
        figures = {s for s in needed & agreed if entry.slots[s] not in _UNCOUNTED}
        told = any(entry.slots[slot] in _TELLING for slot in agreed) or figures
        on_topic = _is_of(topic, unit) or figures
        if needed & agreed and _answers(unit, spoken):
            on_topic = told = True
        elif needed & agreed and not on_topic:
            on_topic = anywhere or _IS_THERE.search(unit.low) is not None
            told = told or on_topic
        if told and on_topic and not differs and needed <= agreed:
            return unit.raw
        if not needed and _bare(kind, unit):
            return unit.raw
    return ""


def _is_of(topic: frozenset[str], unit: Unit) -> bool:
    return any(stems & topic for stems in unit.stems)


def _answers(unit: Unit, spoken: Spoken) -> bool:
    """Return whether a sentence without a verb answers a question: "By Zelle, from checking."."""
    first = unit.sentence.words[0].text
    if not spoken.asked or first not in ("by", "via", "through", "with", "over", "from"):
        return False
    return not any(is_verb(unit, place) for place in range(len(unit.sentence.words)))


_IS_THERE = re.compile(r"\b(?:is|are|stands?) (?:now )?(?:in|on|among|there)\b")
_MAIL_SPEAKS = re.compile(
    r"\b(?:e?mails?|messages?|note|letter|reply|answer)\b(?: \w+){0,6}?"
    r" (?:tells?|gives?|says?|asks?|explains?|mentions?|lets?|names?|reads?)\b"
    r"|^(?:it|that|they) (?:also )?(?:tells?|gives?|asks?|lets?) xperson\d+x\b"
)
_MAIL = re.compile(r"\b(?:e?mails?|messages?|note|letter|reply)\b")
_NO_MAIL_YET = re.compile(r"\b(?:drafts?|unsent|scheduled|voicemail)\b")


def _mail_speaks(slots: dict[str, Any], unit: Unit, spoken: Spoken) -> bool:
    """Return whether a unit says what the mail tells, which is then with those whom it tells: "The
    email gives her the 148", "The email: … It tells her that snow is on its way".
    """
    text = taken_apart(spoken.text, spoken.today, spoken.people)
    before = text.units[unit.number - 1].low if unit.number else ""
    headed = bool(unit.sentence.colons) and _MAIL.search(" ".join(unit.low.split()[:3]))
    if _MAIL_SPEAKS.search(unit.low) is None and not headed:
        return False
    if _MAIL.search(f"{before} {unit.low}") is None:
        return False
    if any(_NO_MAIL_YET.search(other.low) for other in text.units):
        return False
    want = slots.get("to")
    if want is None or re.search(r"\bfrom xperson", unit.low):
        return False
    here = Group(tuple(unit.values.items()), unit.stems)
    everywhere = Group(tuple(enumerate(text.values)), tuple(text.stems))
    asked = taken_apart(spoken.asked, spoken.today, spoken.people)
    asked_of = Group(tuple(enumerate(asked.values)), tuple(asked.stems))
    if _strangers(want, here, spoken.people):
        return False
    states = [state_of("people", want, group, spoken.people)[0] for group in (everywhere, asked_of)]
    return "agrees" in states or not _strangers(want, everywhere, spoken.people)


def _bare(kind: str, unit: Unit) -> bool:
    """Return whether a unit is a deed's participle and little else: "Paid!", "Split and emailed to
    all four."
    """
    words = unit.sentence.words
    if words[0].form != "ed" or len(words) > 7 or unit.item:
        return False
    verbs = _participles(kind)
    return any(word.form == "ed" and word.bases & verbs for word in words) and not any(
        value.type in ("person", "money", "day", "time") for value in unit.values.values()
    )


@functools.cache
def _participles(kind: str) -> frozenset[str]:
    """Return the base forms of the past forms in a kind's forms."""
    entry = vocabulary()[kind]
    found: set[str] = set()
    for form in entry.phrases(entry.forms):
        for word in re.findall(r"[a-z]{3,}ed|sent|paid|made|put|split|written|wrote", form):
            found |= stems_of(word)
    return frozenset(found)


def _amount(type_: str, unit: Unit, group: Group) -> bool:
    """Return whether a slot wants money and a group has a bare number that may be an amount."""
    return type_ == "money" and any(is_amount(unit, place) for place, _ in group.values)


def _strangers(want: Sequence[str], group: Group, people: tuple[str, ...]) -> bool:
    """Return whether a group names people besides those of a slot: "Priya and Ben Archer"."""
    named = [value for value in group.of(("person",)) if value.means[0] != "?"]
    return len(covered(want, named, group, people)) < len(named)


def _all_reached(kind: str, slots: dict[str, Any], spoken: Spoken) -> bool:
    """Return whether a text names all of the people of each slot."""
    text = taken_apart(spoken.text, spoken.today, spoken.people)
    group = Group(tuple(enumerate(text.values)), tuple(text.stems))
    for slot, want in slots.items():
        if vocabulary()[kind].slots[slot] != "people":
            continue
        if state_of("people", want, group, spoken.people)[0] == "part":
            return False
    return True


def _unnamed(kind: str, slots: dict[str, Any], spoken: Spoken) -> set[str]:
    """Return the slots of people of whom a text names nobody, but by words like "her"."""
    text = taken_apart(spoken.text, spoken.today, spoken.people)
    persons = [value for value in text.values if value.type == "person"]
    named = [value for value in persons if value.means != ("?",)]
    around = Group((), tuple(text.stems))
    found = set()
    for slot, want in slots.items():
        if vocabulary()[kind].slots[slot] != "people":
            continue
        if not covered(want, named, around, spoken.people):
            found.add(slot)
    return found


def _fact(kind: str, slots: dict[str, Any], spoken: Spoken, after: int) -> str:
    """Return the sentence with the last of a fact's values, if all of them are named."""
    types = vocabulary()[kind].slots
    wanted = {slot for slot in slots if types[slot] in _VALUES}
    named: set[str] = set()
    for unit in _telling(spoken, _DENIED, after):
        agreed, _ = _agreed(kind, slots, unit, spoken.people)
        if kind == "figure" and _of_another_sort(slots, unit):
            agreed -= {"is"}
        named |= agreed & wanted
        if wanted and wanted <= named:
            return unit.raw
    return ""


def _of_another_sort(slots: dict[str, Any], unit: Unit) -> bool:
    """Return whether a unit has a figure only of another sort: 57% is no temperature."""
    sort = type_of(slots.get("unit", ""), slots.get("of", ""))
    if sort is None or "is" not in slots:
        return False
    same = [v for v in unit.values.values() if v.type in VALUES["value"]]
    same = [value for value in same if agrees("value", slots["is"], value, ())]
    return bool(same) and all(value.type not in (sort, "number") for value in same)


def _all_named(items: Sequence[str], spoken: Spoken, after: int) -> str:
    left = {item.casefold() for item in items}
    for unit in _telling(spoken, _DENIED, after):
        raw = unit.raw.casefold()
        left = {item for item in left if item not in raw}
        if items and not left:
            return unit.raw
    return ""


def _agreed(
    kind: str, slots: dict[str, Any], unit: Unit, people: tuple[str, ...]
) -> tuple[set[str], bool]:
    """Return the slots whose value a unit names, and whether it names another value of one."""
    types = vocabulary()[kind].slots
    agreed: set[str] = set()
    differing: set[str] = set()
    for group in groups(unit, (0, len(unit.sentence.words)), types_of(kind)):
        for slot, want in slots.items():
            state, _ = state_of(types[slot], want, group, people)
            strangers = _strangers(want, group, people) if state == "part" else False
            if state in ("agrees", "part") and not strangers:
                agreed.add(slot)
            elif state == "differs" or strangers or _amount(types[slot], unit, group):
                differing.add(slot)
            elif types[slot] == "words" and share(str(want), unit.stems) > 0.6:
                agreed.add(slot)
    return agreed, bool(differing - agreed)
