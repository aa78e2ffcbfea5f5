"""Where a text speaks of a kind of claim: its forms, each with what the sentence makes of it."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from judge.reading.claims import vocabulary
from judge.reading.concepts import Item, matches
from judge.reading.forms import Form, possible
from judge.reading.marks import believed, marked, reported
from judge.reading.polarity import Passage, polarity, repeated
from judge.reading.slots import is_amount, is_verb, segment
from judge.reading.strays import strays
from judge.reading.texts import Text, Unit, taken_apart
from judge.reading.undone import undone
from judge.reading.values import CROSS
from judge.reading.words import Sentence, type_word

Key = tuple[str, str, tuple[str, ...]]
"""A text, the day on which it is said, and the people whom it may name."""

_MORE = frozenset(
    {
        "again",
        "twice",
        "duplicate",
        "duplicated",
        "second",
        "another",
        "double",
        "doubled",
        "extra",
        "other",
        "others",
        "else",
        "additional",
        "additionally",
        "more",
        "repeat",
        "repeated",
        "wrong",
        "further",
        "third",
    }
)


@dataclass(frozen=True)
class Hit:
    """A form in a unit: the places of its words there, and what the text makes of them.

    `earlier` tells that it speaks of an earlier try; `whole` that the form lies partly in the
    heading, so that the whole item belongs to it.
    """

    unit: Unit
    places: tuple[int, ...]
    value: Literal["yes", "no", "open"]
    earlier: bool
    whole: bool = False


_ASKING = frozenset(
    [
        "if",
        "whether",
        "unless",
        "when",
        "once",
        "suppose",
        "assuming",
        "check",
        "see",
        "try",
        "ask",
        "tell",
    ]
)
_ROW_NO = frozenset(
    ["failed", "declined", "rejected", "refused", "error", "unsent", "bounced", "no"]
)
_POINTERS = frozenset(["it", "that", "this", "both", "they"])


def points(hit: Hit) -> bool:
    """Return whether a form names its thing only by a word like "it"."""
    return any(hit.unit.sentence.words[place].text in _POINTERS for place in hit.places)


@functools.lru_cache(maxsize=512)
def passage(key: Key) -> Passage:
    """Return a text's sentences as the rules of polarity read them."""
    return Passage(tuple(unit.sentence for unit in taken_apart(*key).units))


@dataclass(frozen=True)
class _Chance:
    """A unit with the forms of one kind of which it has a word for each item.

    `joined` is the unit after its heading, and where it begins there.
    """

    unit: Unit
    joined: tuple[Sentence, int] | None
    forms: list[Form]


@functools.lru_cache(maxsize=512)
def _chances(key: Key) -> dict[str, list[_Chance]]:
    """Return by kind the units of a text that may have one of its forms."""
    text = taken_apart(*key)
    found: dict[str, list[_Chance]] = {}
    for unit in text.units:
        joined = _joined(text, unit)
        own = unit.sentence.keys
        keys = joined[0].keys if joined else own
        by_kind: dict[str, list[Form]] = {}
        for form in possible(keys, own | _types(unit)):
            by_kind.setdefault(form.kind, []).append(form)
        for kind, forms in by_kind.items():
            found.setdefault(kind, []).append(_Chance(unit, joined, forms))
    return found


def kinds_in(key: Key) -> Set[str]:
    """Return the kinds that may have hits in a text."""
    return _chances(key).keys()


@functools.lru_cache(maxsize=4096)
def hits(kind: str, key: Key) -> tuple[Hit, ...]:
    """Return the hits of a kind's forms and denials in a text, in order."""
    found: dict[tuple[int, int, str], Hit] = {}
    for chance in _chances(key).get(kind, ()):
        for hit in _in_unit(key, chance):
            place = (chance.unit.number, hit.places[-1] if hit.places else -1, hit.value)
            found.setdefault(place, hit)
    return tuple(sorted(found.values(), key=lambda h: (h.unit.number, h.places)))


def _in_unit(key: Key, chance: _Chance) -> Iterable[Hit]:
    unit = chance.unit
    for form in chance.forms:
        own = False
        for places, exact in matches(form.items, unit.sentence):
            if _crosses(unit, places) or _is_count(unit, form.items, places):
                continue
            own = True
            hit = _judged(key, unit, places, exact, form.denial, form.kind)
            if hit is not None:
                yield hit
        if chance.joined and not own:
            yield from _below(key, chance, form)


def _below(key: Key, chance: _Chance, form: Form) -> Iterable[Hit]:
    """Yield the hits of a form that lies partly in the heading."""
    assert chance.joined is not None
    sentence, shift = chance.joined
    for places, exact in matches(form.items, sentence):
        body = [place - shift for place in places if place >= shift]
        if body and exact and len(body) < len(places) and not strays(form.kind, chance.unit, body):
            hit = _under(key, chance.unit, body, places[: -len(body)], form.denial)
            if hit is not None:
                yield hit


_JOINTS = frozenset(["and", "then", "so", "because", "while", "although", "though"])


def _crosses(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a form's words are of two clauses: "took the $35 back and sent $40"."""
    words = unit.sentence.words
    matched = set(places)
    for at in range(places[0] + 1, places[-1] + 1):
        if at in unit.sentence.breaks and _begins_anew(unit, at, places[0]):
            return True
        if at in unit.sentence.breaks and words[at].text == "not" and at not in matched:
            return True  # "they went as new emails, not inside her thread"
        if words[at].text not in _JOINTS or at in matched:
            continue
        if words[at].text in ("so", "because", "although", "though"):
            return True
        after = range(at + 1, min(at + 4, len(words)))
        if any(is_verb(unit, place) and place not in matched for place in after):
            return True
        before = range(max(0, at - 8), at)
        if any(is_verb(unit, place) and place not in matched for place in before) and any(
            place > at and is_verb(unit, place) for place in places
        ):
            return True
    return False


def _begins_anew(unit: Unit, at: int, first: int) -> bool:
    """Return whether a verb right after a comma begins a clause: "took it back, sent $40", "his
    mail says 95, I sent it".
    """
    words = unit.sentence.words
    if words[at].text in ("i", "we") and at not in unit.sentence.colons and at + 1 < len(words):
        own = range(max(0, at - 8), at)
        if words[at + 1].form == "ed" and any(p > first and _says(unit, p) for p in own):
            return True
    if words[at].form != "ed" or not words[at].text.isalpha() or at in unit.sentence.colons:
        return False
    before = range(max(0, at - 8), at)
    return any(words[p].form == "ed" and words[p].text.isalpha() and p <= first for p in before)


def _says(unit: Unit, place: int) -> bool:
    """Return whether a word is a verb, also of what a mail or a list says now."""
    return is_verb(unit, place) or unit.sentence.words[place].text in ("says", "shows", "asks")


def _is_count(unit: Unit, items: Sequence[Item], places: Sequence[int]) -> bool:
    """Return whether a number where a form wants money only counts: "the 15 seconds"."""
    for item, place in zip(items, places, strict=True):
        if place not in unit.values or unit.values[place].type != "number":
            continue
        wanted = {option.text for option in item.options if not option.bases}
        if "money" in wanted and not wanted & {"number", "value"} and not is_amount(unit, place):
            return True
    return False


def _types(unit: Unit) -> frozenset[str]:
    return frozenset(value.type for value in unit.values.values())


def _joined(text: Text, unit: Unit) -> tuple[Sentence, int] | None:
    """Return an item after its heading, as one sentence, and where the item begins in it."""
    above = text.heading(unit)
    if above is None or not unit.item or len(above.sentence.words) > 12:
        return None
    return _join(above.sentence, unit.sentence)


def _join(above: Sentence, item: Sentence) -> tuple[Sentence, int]:
    shift = len(above.words)
    breaks = above.breaks | {shift} | {b + shift for b in item.breaks}
    colons = above.colons | {shift} | {c + shift for c in item.colons}
    joined = Sentence(
        above.words + item.words, frozenset(breaks), frozenset(colons), item.question, item.header,
        item.bullet, f"{above.text} {item.text}",
    )  # fmt: skip
    return joined, shift


def _judged(
    key: Key, unit: Unit, places: Sequence[int], exact: bool, denials: bool, kind: str
) -> Hit | None:
    entry = vocabulary()[kind]
    deed = entry.deed is not None
    hedged = entry.hedged
    if deed and not _outside(unit, places):
        return None
    if deed and (_of_others(unit, places) or _attributive(unit, places)):
        return None
    if kind == "mailed" and _no_mail(unit, places):
        return None
    if strays(kind, unit, places):
        return None
    value, earlier = polarity(passage(key), unit.number, places)
    untrue = _UNTRUE.match(unit.low)
    if untrue is not None:
        begins = len(untrue[0].split())
        if places[0] < begins:
            return None
        value = "no" if exact and kind == "failed" else value
        return Hit(unit, tuple(places), value, earlier)
    if value == "no" and not exact and any(_is_helper(unit, place) for place in places):
        return None
    if value == "no" and not _denied(unit, places):
        value = "yes"
    if value == "no" and _in_a_letter(unit, places[0]):
        value = "open"
    if value == "yes" and _of_nothing(unit, places):
        value = "no"
    if value == "yes" and kind == "failed" and (_once_more(unit, places) or _way_round(key, unit)):
        return None
    if value == "no":
        if repeated(unit.sentence, places) or _once_more(unit, places):
            return None
    elif value == "open" and hedged and _only_hedged(unit, places):
        value = "yes" if exact else value
    elif value == "yes" and not exact:
        return None
    elif value == "yes" and not hedged:
        value = _weighed(key, unit, places, deed)
        if kind in _AT_ONCE and _appointed(key, unit, places):
            value = "open"
    if denials:
        if value == "no":
            return None
        value = "no" if value == "yes" else value
    if unit.number in marked(*key).either:
        value = "open"
    return Hit(unit, tuple(places), value, earlier)


_TOLD_OTHERS = re.compile(
    r"\bi (?:have )?(?:\w+ly |also |then |just )?(?:emailed|told|wrote|written|informed|messaged"
    r"|let|replied|answered)(?: \w+){0,6}? (?:that|know)\b"
)


def _in_a_letter(unit: Unit, place: int) -> bool:
    """Return whether what stands at a place is what others were told: "I wrote to Priya that
    nothing official is out".
    """
    found = _TOLD_OTHERS.search(unit.low)
    return found is not None and len(unit.low[: found.end()].split()) <= place + 1


_ROUND = re.compile(
    r"(?:so|so then|so instead|instead) i (?:then |have |just |instead )?"
    r"(?:added|sent|split|wrote)\b"
)


_ROUND_HERE = re.compile(r"\bso (?:they|it|both) (?:then |each |both )?(?:went|are going|left)\b")


def _way_round(key: Key, unit: Unit) -> bool:
    """Return whether the next sentence tells of a way round: "It took no pictures from strangers.
    So I added her and sent them".
    """
    if _ROUND_HERE.search(unit.low):
        return True
    after = taken_apart(*key).units[unit.number + 1 : unit.number + 2]
    return any(_ROUND.match(other.low) for other in after)


_NO_MATTER = frozenset(
    {"later", "more", "less", "fewer", "earlier", "sooner"}
    | {"fee", "fees", "charge", "charges", "tip", "tax", "interest", "surcharge"}
)
"""What a "no" after a verb may be of while the deed was done: "you paid no fee"."""


def _of_nothing(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a verb has "nothing" for its object, or "no money"."""
    words = unit.sentence.words
    inside = {words[at].text for at in range(places[0] + 1, places[-1]) if at not in places}
    if inside & {"nothing", "nobody", "none", "neither"}:
        return True
    away = "from" in inside or words[places[-1]].text == "there"
    if away and inside & {"gone", "missing", "absent", "removed"}:
        return True  # "your review is gone from there", "now it's gone there"
    after = [word.text for word in words[places[0] + 1 : places[0] + 3]]
    if words[places[0]].form != "ed" or len(places) < 2 or after[0] != "no":
        return False
    return after[-1] not in _NO_MATTER


_GETS = frozenset(
    ["got", "received", "gotten", "had", "known", "heard", "seen", "accepted", "agreed"]
)
_BETWEEN = frozenset(
    [
        "has",
        "have",
        "had",
        "also",
        "just",
        "already",
        "then",
        "now",
        "never",
        "not",
        "did",
        "only",
        "even",
        "first",
        "later",
        "once",
        "originally",
        "since",
    ]
)
_OPENERS = frozenset(
    [
        "and",
        "but",
        "that",
        "because",
        "so",
        "since",
        "when",
        "after",
        "if",
        "while",
        "as",
        "then",
        "which",
        "what",
        "than",
        "where",
        "why",
        "how",
    ]
)


def _of_others(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether somebody else did a deed: "Jordan paid you", "Ben has emailed"."""
    words = unit.sentence.words
    for place in places:
        if words[place].form != "ed" or not words[place].text.isalpha():
            continue
        if words[place].text in ("been", "was", "were", "did"):
            continue
        if words[place].text in _GETS:
            return False
        at = place
        while at > 0 and at not in unit.sentence.breaks and words[at - 1].text in _BETWEEN:
            at -= 1
        if at == 0 or at in unit.sentence.breaks:
            return False
        before = words[at - 1].text
        subject = type_word(before) == "xperson" and unit.values[at - 1].means[0] != "?"
        named = at == 1 or at - 1 in unit.sentence.breaks or words[at - 2].text in _OPENERS
        if words[place].text == "wrote" and before in ("both", "they"):
            return True  # "Both wrote of dinner: Jordan Park or Jordan Blake"
        return before in ("he", "she") or (subject and named)
    return False


_UNTRUE = re.compile(r"(?:no |well )?it is not (?:true|so|the case|right|correct) that")
_TO_USER = re.compile(r"(?:back )?(?:to )?(?:you|us)\b(?! \w+ (?:draft|copy))")
_WRITTEN = frozenset(["wrote", "emailed", "written", "replied", "answered", "mailed"])
_MAILS = frozenset(
    ["email", "mail", "message", "reply", "answer", "note", "copy", "letter", "draft", "emails"]
)
_OF_SENT = ("mail", "folder", "items", "messages", "copy", "box", "emails", "list")


def _no_mail(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a form of a sent mail speaks of another thing: "Ben wrote to you", "the email
    was gone from the list", "I left his email alone", "in the sent mail".
    """
    words = [word.text for word in unit.sentence.words]
    if words[places[0]] in _WRITTEN and "that" in words[places[0] : places[-1]]:
        return True  # "I emailed Lucas that nothing is out"
    if "unread" in words[places[0] : places[-1]]:
        return True  # "Wei's correction is still unread in your inbox"
    subject = type_word(words[places[0]]) == "xperson" and places[0] + 1 not in places
    if subject and words[places[0] + 1 : places[0] + 2] != [] and words[places[0] + 1] in _MAILS:
        return True  # "Amit's letter has the same figure"
    for place in places:
        after = " ".join(words[place + 1 : place + 5])
        word = words[place]
        paid = any(p in unit.values and is_amount(unit, p) for p in range(place + 1, place + 5))
        if word == "sent" and paid and (_MAILS - {"note"}).isdisjoint(words):
            return True
        ends = unit.sentence.breaks | unit.sentence.colons
        apart = place + 1 in ends or (after.startswith("to ") and place + 2 in ends)
        if word in _WRITTEN and _TO_USER.match(after) and not apart:
            return True
        if word in ("gone", "missing", "lost") and after.startswith("from"):
            return True
        kept = words[place - 1] in ("i", "have", "you") or after.startswith(("alone", "as", "un"))
        if word == "left" and kept:
            return True
        held = words[places[-1]] in ("has", "holds", "shows", "contains")
        if word == "sent" and after.startswith(_OF_SENT) and words[places[0]] != "in" and not held:
            return True
    return False


_DETERMINERS = frozenset(["the", "a", "an", "your", "my", "his", "her", "their", "this", "any"])
_BEFORE_NOUNS = _DETERMINERS | {"about", "of", "no", "with", "in"}


def _attributive(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a form is only a noun with its participle: "the scheduled email"."""
    words = unit.sentence.words
    first = places[0]
    if len(places) > 2 or not first or words[first - 1].text not in _BEFORE_NOUNS:
        return False
    if words[first].form != "ed" or first + 1 >= len(words) or first + 1 in unit.sentence.breaks:
        return False
    return len(places) == 1 or places[1] == first + 1


def _only_hedged(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether nothing but a hedge keeps a sentence from an assertion."""
    words = {word.text for word in unit.sentence.words[: places[-1]]}
    return not unit.sentence.question and not words & _ASKING


def _under(
    key: Key, unit: Unit, body: Sequence[int], above: Sequence[int], denials: bool
) -> Hit | None:
    value, earlier = polarity(passage(key), unit.number, body)
    head, _ = polarity(passage(key), unit.heading, above)
    if value == "yes":
        value = head
    if value == "yes":
        value = _weighed(key, unit, body, deed=False)
    if denials:
        if value == "no":
            return None
        value = "no" if value == "yes" else value
    return Hit(unit, tuple(body), value, earlier, whole=True)


def _weighed(
    key: Key, unit: Unit, places: Sequence[int], deed: bool
) -> Literal["yes", "no", "open"]:
    """Return `open` for what is only believed, reported, or one of several alternatives."""
    marks = marked(*key)
    if unit.number in marks.either:
        return "open"
    matched = {unit.sentence.words[place].text for place in places}
    if CROSS in unit.texts or (deed and unit.row and unit.texts & _ROW_NO):
        return "no"
    if believed(unit, places[0], matched):
        return "open"
    if deed and undone(unit, places):
        return "open"
    if deed and reported(unit, places[0]):
        return "open"
    return "yes"


_NO = frozenset(
    {"not", "no", "never", "none", "nothing", "nobody", "neither", "nor", "unable", "without"}
    | {"0", "fail", "failed", "fails", "refused", "declined", "instead", "rather", "impossible"}
    | {"refuse", "decline", "refuses", "declines", "failing", "unsuccessfully", "far", "false"}
)


def _is_helper(unit: Unit, place: int) -> bool:
    """Return whether a word only helps another verb: the `does` of "does not eat"."""
    return unit.sentence.words[place].text in ("do", "does", "did", "has", "had", "is", "was")


def _denied(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether what denies a form stands before its last verb or right after the form."""
    words = unit.sentence.words
    verbs = [place for place in places if _is_verbal(unit, place)]
    last = places[-1]
    own = [place for place in verbs if not _is_helper(unit, place)]
    reach = max(own) if own and verbs[0] == places[0] else last
    near = [*range(reach), *range(last + 1, min(last + 4, len(words)))]
    denying = [place for place in near if words[place].text in _NO]
    return any(place < last or not _not_to(unit, place) for place in denying)


def _is_verbal(unit: Unit, place: int) -> bool:
    return is_verb(unit, place) or unit.sentence.words[place].form == "ing"


def _not_to(unit: Unit, place: int) -> bool:
    """Return whether a "not" is of an infinitive after a deed: "I emailed Tomas not to pay"."""
    words = unit.sentence.words
    return place + 1 < len(words) and [w.text for w in words[place : place + 2]] == ["not", "to"]


_AT_ONCE = frozenset(["mailed", "paid", "posted", "reminded", "requested"])
"""Kinds of what is over when it is told, unlike an order that comes on Monday."""
_COMES = frozenset(["gets", "receives", "goes", "leaves"])


def _appointed(key: Key, unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a present tense speaks of a day to come: "she gets your email on Monday"."""
    words = unit.sentence.words
    if _COMES.isdisjoint(word.text for word in words[places[0] : places[-1] + 1]):
        return False
    start, stop = segment(unit, places)
    told = [value for at, value in unit.values.items() if start <= at <= stop]
    return any(value.type == "day" and str(value.means[0]) > key[1] for value in told)


def _outside(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether the words of a deed stand outside quotation marks."""
    if unit.quoted:
        return False
    if '"' not in unit.raw:
        return True
    for place in places:
        word = unit.sentence.words[place].text
        if place not in unit.values and word.isalpha() and word not in unit.outside:
            return False
    return True


def _once_more(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether what is denied is only that it was done twice, or to others too."""
    sentence = unit.sentence
    start = max((b for b in sentence.breaks if b <= places[0]), default=0)
    end = min((b for b in sentence.breaks if b > places[-1]), default=len(sentence.words))
    near = {word.text for word in sentence.words[max(start, places[0] - 6) : end]}
    near -= {sentence.words[place].text for place in places}
    return bool(near & _MORE)
