"""Whether a text says a statement in the statement's own words, and whether it may tell one.

The forms of the vocabulary are one sign of what a text says, and each errs now and then: "47°F, one
degree short" has a form of "the reading is wrong". The words of the statement's plain sentence are
a sign of another kind. A text is called false, or silent about what must be told, only where both
agree; where they do not, it is unclear what the text says, and the agent is believed.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Sequence, Set
from typing import Any

from judge.reading.claims import Claim, vocabulary
from judge.reading.content import SMALL, content, topic_of, words_match
from judge.reading.gist import is_named, same
from judge.reading.hedges import MODAL, SELF, opens_supposing
from judge.reading.marks import marked
from judge.reading.retractions import only_doubts
from judge.reading.slots import VALUES, Group, agrees, covered
from judge.reading.texts import Spoken, Text, Unit, stems_of, taken_apart
from judge.reading.values import Value

_COUNTED = ("money", "number", "value", "day", "time", "person", "people")
"""Types of slots whose values a text must name that may tell a statement."""
_FIGURES = ("money", "number", "percent", "temp", "day", "time")
_IN_OWN_WORDS = ("fact", "named")
"""Frames whose slots hold phrases or names, so that the sentence says which figures matter."""
_MOST = 0.8
_SOME = 0.5
NEGATIVE = re.compile(
    r"\b(?:not|never|no|nothing|nobody|none|neither|nor|without|cannot|unable|failed|fails|refused)"
    r"\b|n[\u2019']t\b"
)
_NONE_OF = re.compile(r"\b(?:with )?(?:no|without)(?: any)? (\w+)")
_NEXT_CLAUSE = frozenset(["but", "so", "though", "although", "because", "since", "while"])
SUPPOSED = re.compile(
    SELF.pattern + "|" + MODAL + r"|\b(?:may|might|could|should)(?: \w+)? (?:have|be)\b"
    r"|\b(?:probably|perhaps|maybe|possibly)\b|\bseems? to\b"
)
"""Words with which a deed is only supposed, wherever they stand in a sentence."""
_PERHAPS = re.compile(r"\b(?:may|might)(?: \w+)? (?:have|be)\b|\b(?:perhaps|maybe|possibly)\b")
_FROM = re.compile(
    r"\b(?:source|from|per|by|according to|says|said|courtesy of|via) (?:the )?(?:\w+ )?"
    r"xprovider\d+x"
    r"|\bxprovider\d+x(?: s)? (?:says|has|gives|shows|reports|lists|puts|expects|figures?|numbers?"
    r"|forecast|data|readings?)\b"
)
_NOT_I = re.compile(r"^(?:but |and |though )?i (?:have|did|do|am|was|will) not(?: yet)?$")
_THEY = frozenset(["he", "she", "they", "him", "her", "them"])
_EITHER = re.compile(r"\bone of these\b|\beither\b", re.IGNORECASE)


def says(sentence: str, claim: Claim, spoken: Spoken, where: str) -> bool:
    """Return whether a sentence of a text, with its heading, has most words of a statement, and no
    other figures than it in the place of its own.
    """
    text = taken_apart(spoken.text, spoken.today, spoken.people)
    meant = []
    for unit in text.units:
        if where in unit.raw or unit.raw in where:
            meant.append(unit)
    if _has_other_figures(sentence, meant, spoken):
        return False
    return share(sentence, claim, spoken, with_headings(meant, text)) >= _MOST


def names_all(claim: Claim, spoken: Spoken, where: str) -> bool:
    """Return whether every figure, day, person and service of a claim stands in one sentence of a
    text and its heading; of a day, in another sentence than `where`.

    Another figure beside the right one may be of something else, but "from the 21st to the 18th"
    is of one thing.
    """
    text = taken_apart(spoken.text, spoken.today, spoken.people)
    apart = vocabulary()[claim.kind].frame == "when"
    for unit in text.units:
        near = with_headings([unit], text)
        if not (apart and unit.raw == where) and _has_values(claim, near, None, spoken):
            return True
    return False


def may_tell(
    sentence: str,
    claim: Claim,
    spoken: Spoken,
    against: Set[int],
    known: bool = False,
    *,
    other: bool = False,
) -> str:
    """Return a sentence of a text that may tell a statement, or "".

    All values of the claim and half of the statement's words stand in the text, in sentences that
    neither ask nor suppose, are not taken back, and are not among those `against` the claim. A
    figure stands with its thing, and so do all values of a deed of which the text gives an `other`
    value. Whom it is about need not be named where that is `known` from an earlier text.
    """
    entry = vocabulary()[claim.kind]
    text = taken_apart(spoken.text, spoken.today, spoken.people)
    back = taken_back(sentence, claim, spoken, text)
    units = [unit for unit in telling(text, spoken) if unit.number not in against | back]
    supposed = SUPPOSED if entry.deed is not None else _PERHAPS
    units = [unit for unit in units if not supposed.search(unit.low)]
    negative = NEGATIVE.search(sentence.lower()) is not None
    if entry.frame == "source":
        return next((unit.raw for unit in units if _is_source(claim, unit, spoken)), "")
    if not units or not _has_sign(sentence, claim, spoken, units, text, negative):
        return ""
    claim = _without_unsaid(claim, units, spoken, known)
    if not (has_words(claim, units, spoken.asked) and _has_values(claim, units, text, spoken)):
        return ""
    figure = entry.frame in ("figure", "when")
    if (other or figure) and not _together(claim, units, text, spoken):
        return ""
    own_words = entry.frame in _IN_OWN_WORDS
    if own_words and not has_figures(sentence, units, spoken):
        return ""
    named = len(claim.slots) if entry.frame == "deed" else 0
    if share(sentence, claim, spoken, units, named) < (_MOST if own_words else _SOME):
        return ""
    return max(units, key=lambda unit: share(sentence, claim, spoken, [unit])).raw


def _is_source(claim: Claim, unit: Unit, spoken: Spoken) -> bool:
    """Return whether a unit names the service of a claim as where something is from: a service that
    is named may be named for anything.
    """
    named = [value for value in unit.values.values() if value.type == "provider"]
    wanted = [
        value for value in named if is_said("provider", claim.slots["provider"], [value], spoken)
    ]
    return bool(wanted) and _FROM.search(unit.low) is not None


def telling(text: Text, spoken: Spoken) -> list[Unit]:
    """Return the units of a text that assert something."""
    marks = marked(spoken.text, spoken.today, spoken.people)
    out = marks.unsure | marks.disowned
    if _EITHER.search(spoken.text):
        out |= marks.either
    told = []
    for unit in text.units:
        asks = unit.sentence.question or opens_supposing(unit)
        if unit.number not in out and not asks:
            told.append(unit)
    return told


def _without_unsaid(claim: Claim, units: Sequence[Unit], spoken: Spoken, known: bool) -> Claim:
    """Return a claim without the people who go without saying.

    Those are who is `known`, or called "she" by the user, too, in a text that names nobody; and
    those beside a value that has to be named, where its sentence names nobody: "it went from your
    work address".
    """
    asked = taken_apart(spoken.asked, spoken.today, spoken.people)
    known = known or (_calls(asked.units) and not any(map(is_named, asked.values)))
    unsaid = known and _calls(units) and not names_others((), spoken)
    if claim.needed and not unsaid:
        needed = _only(claim, claim.needed)
        nameless = [unit for unit in units if not any(map(is_named, unit.values.values()))]
        unsaid = any(_has_values(needed, [unit], None, spoken) for unit in nameless)
    return (
        _only(claim, claim.slots.keys() - (_people_in(claim) - claim.needed)) if unsaid else claim
    )


def _people_in(claim: Claim) -> Set[str]:
    """Return the slots of a claim that hold people."""
    types = vocabulary()[claim.kind].slots
    return {slot for slot in claim.slots if types[slot] in ("person", "people")}


def _only(claim: Claim, slots: Set[str]) -> Claim:
    """Return a claim with only some of its slots."""
    kept = {slot: want for slot, want in claim.slots.items() if slot in slots}
    return Claim(claim.kind, kept, claim.needed)


def _calls(units: Iterable[Unit]) -> bool:
    """Return whether some units call somebody "she" or the like."""
    return any(not unit.texts.isdisjoint(_THEY) for unit in units)


def taken_back(sentence: str, claim: Claim, spoken: Spoken, text: Text) -> Set[int]:
    """Return the numbers of the units of a text that are taken back, as far as a statement goes.

    What names a figure or a person, "No, it was Jordan's", takes back that alone: what stands from
    there on has to have half of the statement's words, or to deny something of whom it names. "You
    may want to tell him. I haven't." takes back nothing of the rest, and what only doubts, "it came
    back once, so I wouldn't swear to it", no more than the sentence before.
    """
    marks = marked(spoken.text, spoken.today, spoken.people)
    takes = [n for n in sorted(marks.takes_back) if not _answers(text, text.units[n])]
    near = {n - 1 for n in takes if only_doubts(text.units[n])}
    takes = [n for n in takes if n - 1 not in near]
    if not takes:
        return near
    if any(not text.units[number].values for number in takes):
        return marks.taken_back | near
    after = text.units[takes[0] :]
    denied = any(NEGATIVE.search(u.low) and _names_any(claim, u, spoken) for u in after)
    if denied or share(sentence, claim, spoken, after) >= _SOME:
        return marks.taken_back | near
    return near


def _answers(text: Text, unit: Unit) -> bool:
    """Return whether a unit says only that the agent has not done what the one before says that
    somebody else may do: "You may want to tell him. I haven't."
    """
    if not _NOT_I.search(unit.low):
        return False
    return text.units[unit.number - 1].texts.isdisjoint(("i", "we"))


def _has_sign(
    sentence: str,
    claim: Claim,
    spoken: Spoken,
    units: Sequence[Unit],
    text: Text,
    negative: bool,
) -> bool:
    """Return whether units deny where a statement denies, and do not say its opposite: "has not
    failed" denies twice.
    """
    about = topic_of(claim.kind) | stems_of(sentence)
    denying = [unit for unit in units if denies(unit, about)]
    if negative:
        signs = len(NEGATIVE.findall(sentence.lower()))
        return any((len(NEGATIVE.findall(unit.low)) - signs) % 2 == 0 for unit in denying)
    if not any(_affirms(unit) for unit in units):
        return False
    plain = [unit for unit in units if unit not in denying]
    worst = 0.0
    for unit in denying:
        if _names_any(claim, unit, spoken):
            worst = max(worst, _share_among(sentence, claim, spoken, _denied_words(unit)))
    best = max((_share_of(sentence, claim, spoken, unit, text) for unit in plain), default=0.0)
    return worst < _MOST or best >= worst


def denies(unit: Unit, about: Set[str]) -> bool:
    """Return whether a unit denies something of what a statement is `about`: "no fee" denies no
    payment.
    """
    low = _NONE_OF.sub(lambda n: n[0] if stems_of(n[1]) & about else "", unit.low)
    return NEGATIVE.search(low) is not None


def _names_any(claim: Claim, unit: Unit, spoken: Spoken) -> bool:
    """Return whether a unit names a value of a claim, if the claim has any."""
    entry = vocabulary()[claim.kind]
    counted = [slot for slot in claim.slots if entry.slots[slot] in _COUNTED]
    values = [value for value in unit.values.values() if value.means[0] != "?"]
    for slot in counted:
        want = claim.slots[slot]
        names = want if entry.slots[slot] == "people" else (want,)
        type_ = "person" if entry.slots[slot] == "people" else entry.slots[slot]
        if any(is_said(type_, name, values, spoken) for name in names):
            return True
    return not counted


def _affirms(unit: Unit) -> bool:
    """Return whether a clause of a unit holds no negation."""
    return any(not denied for denied, _, _ in _clauses(unit))


def _denied_words(unit: Unit) -> Set[str]:
    """Return the base forms of the words in the clauses of a unit that hold a negation."""
    found: set[str] = set()
    for denied, start, stop in _clauses(unit):
        if denied:
            found.update(*unit.stems[start:stop])
    return found


def _clauses(unit: Unit) -> list[tuple[bool, int, int]]:
    """Return for each clause of a unit whether it holds a negation, where it begins and ends."""
    words = unit.sentence.words
    edges = {0, len(words)}
    edges |= {place for place, word in enumerate(words) if word.text in _NEXT_CLAUSE}
    found = []
    for start, stop in itertools.pairwise(sorted(edges)):
        clause = " ".join(word.text for word in words[start:stop])
        found.append((NEGATIVE.search(clause) is not None, start, stop))
    return found


def _share_of(sentence: str, claim: Claim, spoken: Spoken, unit: Unit, text: Text) -> float:
    return share(sentence, claim, spoken, with_headings([unit], text))


def with_headings(units: Iterable[Unit], text: Text) -> list[Unit]:
    """Return some units of a text, each followed by the heading above it."""
    found = []
    for unit in units:
        above = text.heading(unit)
        found += [unit] if above is None else [unit, above]
    return found


def share(
    sentence: str, claim: Claim, spoken: Spoken, units: Iterable[Unit], named: int = 0
) -> float:
    """Return how many of a statement's words, values aside, are among those of some units, from 0
    to 1. Each word of the claim's topic stands for all of them: a mail for an answer. So many slots
    that are `named` count as words that are there.
    """
    here: set[str] = set()
    for unit in units:
        here.update(*unit.stems)
    return _share_among(sentence, claim, spoken, here, named)


def _share_among(
    sentence: str, claim: Claim, spoken: Spoken, here: Set[str], named: int = 0
) -> float:
    topic = topic_of(claim.kind)
    wanted = _words_of(sentence, spoken.today, spoken.people)
    got = named
    whole = named
    for bases, options in wanted:
        if bases & topic:
            whole += 1
            got += not topic.isdisjoint(here)
        elif options:
            whole += 1
            got += not options.isdisjoint(here)
    if whole > named and got == named:
        return 0.0
    return got / whole if whole else 1.0


@functools.lru_cache(maxsize=1024)
def _words_of(
    sentence: str, today: str, people: tuple[str, ...]
) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Return each word of a sentence that is no value: its base forms, and those with synonyms, of
    which small words have none.
    """
    found = []
    for unit in taken_apart(sentence, today, people).units:
        for place, word in enumerate(unit.sentence.words):
            if place in unit.values or not word.text.isalpha():
                continue
            bases = word.bases | {word.text}
            options = frozenset[str]()
            if bases.isdisjoint(SMALL):
                options = options.union(*(stems for _, stems in content(word.text)))
            found.append((bases, options))
    return tuple(found)


def has_words(claim: Claim, units: Sequence[Unit], asked: str = "") -> bool:
    """Return whether some units have a word of each thing that a claim names. What a mail is about,
    and to what a deed was done of which they have a word, goes without saying if the user has
    `asked` for it.
    """
    entry = vocabulary()[claim.kind]
    here: set[str] = set()
    for unit in units:
        here.update(*unit.stems)
    if entry.frame == "fact":
        phrases = " ".join(claim.slots.get("says") or ())
        words = stems_of(re.sub(r"[|*<>]", " ", phrases)) - SMALL
        return not words or not words.isdisjoint(here)
    deed = entry.deed is not None and not here.isdisjoint(topic_of(claim.kind))
    for slot, want in claim.slots.items():
        if entry.slots[slot] == "items" and any(stems_of(item).isdisjoint(here) for item in want):
            return False
        if entry.slots[slot] != "words" or stems_of(want.replace("|", " ")) <= SMALL:
            continue
        known = slot == "about" or (slot == "what" and deed and not want.isdigit())
        if known and words_match(want, [stems_of(asked)]):
            continue
        if all(options.isdisjoint(here) for _, options in content(want)):
            return False
    return True


def has_figures(sentence: str, units: Sequence[Unit], spoken: Spoken) -> bool:
    """Return whether some units name every figure, day and time of a statement's sentence."""
    values: list[Value] = []
    for unit in units:
        values += unit.values.values()
    for wanted in taken_apart(sentence, spoken.today, spoken.people).values:
        if wanted.type in _FIGURES and not any(same(wanted, value) for value in values):
            return False
    return True


def _has_other_figures(sentence: str, units: Sequence[Unit], spoken: Spoken) -> bool:
    """Return whether some units name figures, days or times where a statement's sentence names
    some, and none of its own: what is ordered for Wednesday from 4 to 6 is another order.
    """
    values: list[Value] = []
    for unit in units:
        values += unit.values.values()
    meant = taken_apart(sentence, spoken.today, spoken.people).values
    for type_ in _FIGURES:
        own = [value for value in meant if value.type == type_]
        named = [value for value in values if value.type == type_]
        both = itertools.product(own, named)
        if own and named and not any(same(wanted, value) for wanted, value in both):
            return True
    return False


def _together(claim: Claim, units: Sequence[Unit], text: Text, spoken: Spoken) -> bool:
    """Return whether all words and values of a claim stand in one unit and its heading, but for its
    people, whom another sentence may name.
    """
    nobody = _only(claim, claim.slots.keys() - _people_in(claim))
    for unit in units:
        near = with_headings([unit], text)
        if has_words(nobody, near) and _has_values(nobody, near, None, spoken):
            return True
    return False


def _has_values(claim: Claim, units: Sequence[Unit], text: Text | None, spoken: Spoken) -> bool:
    """Return whether some units name every value of a claim, as far as it has to be named: a
    service goes without saying where none is named, and so does whom alone their `text` speaks of.
    """
    entry = vocabulary()[claim.kind]
    values: list[Value] = []
    here: set[str] = set()
    for unit in units:
        values += unit.values.values()
        here.update(*unit.stems)
    for slot, want in claim.slots.items():
        type_ = entry.slots[slot]
        if type_ == "provider":
            named = any(value.type == "provider" for value in values)
            named = named or slot in claim.needed
            if named and not is_said(type_, want, values, spoken):
                return False
        elif type_ in ("person", "people"):
            names = (want,) if isinstance(want, str) else want
            called = not any(stems_of(name.split()[0]).isdisjoint(here) for name in names)
            sure = [value for value in values if value.means[0] != "?"]
            alone = text is not None and _alone(names, text, spoken)
            if not (called or alone or is_said(type_, want, sure, spoken)):
                return False
        elif type_ in _COUNTED and not is_said(type_, want, values, spoken):
            return False
    return True


def is_said(type_: str, want: Any, values: Sequence[Value], spoken: Spoken) -> bool:
    """Return whether the value that a slot of a type wants is among some values."""
    fitting = [value for value in values if value.type in VALUES[type_]]
    if type_ == "people":
        stems = tuple(stems_of(value.raw) for value in fitting)
        group = Group(tuple(enumerate(fitting)), stems)
        return len(covered(want, fitting, group, spoken.people)) == len(want)
    return any(agrees(type_, want, value, spoken.people) for value in fitting)


def _alone(names: Sequence[str], text: Text, spoken: Spoken) -> bool:
    """Return whether a text names these people and nobody else."""
    missing = set(names)
    for value in filter(is_named, text.values):
        missing -= {name for name in names if _is_of((name,), value, spoken)}
    return not missing and not names_others(names, spoken)


def names_others(names: Sequence[str], spoken: Spoken) -> bool:
    """Return whether a text names anybody but these people."""
    text = taken_apart(spoken.text, spoken.today, spoken.people)
    called = filter(is_named, text.values)
    return not all(_is_of(names, value, spoken) for value in called)


def _is_of(names: Sequence[str], value: Value, spoken: Spoken) -> bool:
    return any(agrees("person", name, value, spoken.people) for name in names)
