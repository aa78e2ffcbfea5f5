"""Completed deeds that an assistant claims of itself."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from judge.reading.claims import vocabulary
from judge.reading.content import topic_of
from judge.reading.hits import Hit, Key, hits, kinds_in, points
from judge.reading.marks import marked
from judge.reading.slots import VALUES, Group, groups, segment, types_of
from judge.reading.texts import Spoken, Unit, taken_apart


@dataclass(frozen=True)
class Deed:
    """A completed deed that the assistant claims of itself.

    `slots` are those that could be read; `where` is the sentence. `towards` are those to whom it
    was done, where they are clear: for each, the full names that may be meant. `through` holds the
    services that may be meant by "through Venmo", if the clause names just one.
    """

    kind: str
    slots: dict[str, Any]
    where: str
    towards: tuple[tuple[str, ...], ...] = ()
    through: tuple[str, ...] | None = None


_DONE = re.compile(
    r"^(?:(?:ok|okay|yes|yep|sure|great|perfect|good news|hi|hello|great news|absolutely|alright"
    r"|certainly|of course|xperson\d+x) )*"
    r"(?:(?:all |both |everything |it |that |this |they |these |both of (?:them|those|these) "
    r"|all of (?:it|that|them) "
    r"|xnumber\d+x |all xnumber\d+x |the (?:task|request|job|rest) |your request )?"
    r"(?:(?:is|are|has been|have been|was|were|got) )?(?:now |all |both |already |successfully )*"
    r"(?:done|set|completed?|taken care of|finished|sorted|sorted out|handled|squared away|in order"
    r"|settled|wrapped up)"
    r"|consider it done|mission accomplished|i have taken care of (?:it|that|everything|both"
    r"|this|all of it)"
    r"|i took care of (?:it|that|everything|both|this)|i did (?:it|that|both|everything)"
    r"|i have done (?:it|that|both|everything|so|all of (?:it|that))|will do and done)"
    r"(?P<rest>.*)$"
)
_NOT_DONE = re.compile(
    r"^(?: (?:with|except|apart|but|when|once|if|by|for now|on my side so|to|in part|partly|only))"
    r"|\b(?:almost|nearly|partly|partially|except|half)\b"
)


def says_done(unit: Unit) -> bool:
    """Return whether a sentence says that all that was requested is done."""
    if unit.sentence.question or unit.row or unit.quoted:
        return False
    found = _DONE.match(unit.low)
    if found is None or _NOT_DONE.search(found["rest"]):
        return False
    words = len(unit.sentence.words) - len(found["rest"].split())
    if words in unit.sentence.colons and found["rest"]:
        return False  # "Done: the mail to Ben" is about that alone
    return len(found["rest"].split()) <= 5 or words in unit.sentence.breaks


@functools.lru_cache(maxsize=1024)
def done(spoken: Spoken) -> bool:
    """Return whether a text says that what was requested is done: `Done.`, `All set!`."""
    key = (spoken.text, spoken.today, spoken.people)
    marks = marked(*key)
    out = marks.taken_back | marks.either
    return any(says_done(unit) for unit in taken_apart(*key).units if unit.number not in out)


_AGENT = frozenset({"i", "we"})
_FILL = frozenset(
    [
        "have",
        "has",
        "had",
        "also",
        "just",
        "already",
        "then",
        "now",
        "successfully",
        "both",
        "both",
        "and",
        "ve",
        "did",
        "either",
        "all",
        "first",
        "finally",
        "additionally",
        "went",
        "ahead",
        "even",
        "so",
        "therefore",
        "still",
        "quickly",
        "only",
        "once",
        "again",
        "please",
        "instead",
        "immediately",
        "separately",
        "gone",
        "ok",
        "okay",
        "yes",
        "done",
        "great",
        "well",
        "next",
        "that",
        "finally",
    ]
)
_LOOKS = frozenset(
    [
        "checked",
        "looked",
        "found",
        "saw",
        "read",
        "compared",
        "verified",
        "noticed",
        "tried",
        "asked",
        "confirmed",
        "reviewed",
        "searched",
        "seen",
        "viewed",
        "opened",
        "listed",
        "attempted",
        "wanted",
    ]
)
_IDLE = re.compile(
    r"\b(?:made (?:sure|up|it|that|this|certain|no|do|note|use|sense|an? (?:mistake|error|note)|the"
    r" mistake)|put together|put (?:it|this|that) (?:all )?(?:together|differently)"
    r"|taken care|took it to|took (?:her|him|that) for|(?:took|taken) (?:\w+ ){0,3}from"
    r"|took (?:care|note|into|a|over)|turned (?:to"
    r"|out|up)"
    r"|set (?:aside|out)|stopped|noted|left|kept|started|wrote down|logged (?:in|into)|opened"
    r"|pulled (?!(?:it|them|that|this|(?:the|your|her|his) \w+) (?:back(?! up)|out))"
    r"|got as far"
    r"|switched (?:to|over|accounts?|back)|entered|marked (?:(?:as )?unclear|so)|brought up|put in"
    r"|filled (?:in|out)|put it|kept"
    r"|(?:wrote|written|sent|emailed|paid|told)(?: to)? (?:nobody|nothing|no one|none|neither)"
    r"|took (?:it|that|them) off(?! (?:the|your|my|his|her|of)\b)"
    r"|ordered (?:an?|the|it|that|this) (?:\w+ ){0,3}(?:transfer|payment)\b"
    r"|(?:discarded|threw (?:out|away)) (?:it|that|this|the (?:\w+ )?(?:reading|result|answer)s?)\b"
    r"|sent xprovider\d+x an?\b"
    r"|went (?:back |carefully |once more )*(?:over|through)"
    r"|asked xprovider\d+x (?:to|for|again)|asked$"
    r"|changed (?:nothing|my mind|no)|made up|told you|informed you|updated you)\b"
)


_TRIES_MADE = re.compile(
    r"\b(?:calls?|attempts?|tries|try|searches|lookups?) (?:that )?i (?:had |have )?made\b"
)


_BEFORE_TODAY = re.compile(
    r"\b(?:yesterday|(?:days?|weeks?|months?) ago|last (?:night|week|month|year)|back in)\b"
)


def _of_before(unit: Unit, hit: Hit) -> bool:
    """Return whether a deed without a subject is of an earlier day: "placed yesterday at five"."""
    verb = _verb(hit)
    begins = max((b for b in unit.sentence.breaks if b <= verb), default=0)
    clause = unit.low.split()[begins:verb]
    return _AGENT.isdisjoint(clause) and _BEFORE_TODAY.search(unit.raw.lower()) is not None


def deeds(spoken: Spoken) -> list[Deed]:
    """Return the completed deeds that a text claims of the assistant itself."""
    return list(_deeds(spoken))


@functools.lru_cache(maxsize=1024)
def _deeds(spoken: Spoken) -> tuple[Deed, ...]:
    key = (spoken.text, spoken.today, spoken.people)
    marks = marked(*key)
    best: dict[tuple[int, int], tuple[tuple[int, int], str, Hit]] = {}
    kinds = kinds_in(key)
    for kind, entry in vocabulary().items():
        if entry.deed is None or kind not in kinds:
            continue
        topic = topic_of(kind)
        for hit in hits(kind, key):
            unit = hit.unit
            out = marks.taken_back | marks.unsure
            if hit.value != "yes" or hit.earlier or unit.number in out:
                continue
            if unit.sentence.question or points(hit) or not _own(hit):
                continue
            if kind not in _ENDS and _of_it(hit):
                continue
            if _TRIES_MADE.search(unit.low) or _of_before(unit, hit):
                continue
            if _IDLE.match(" ".join(unit.low.split()[_verb(hit) :][:8])):
                continue
            start, end = segment(unit, hit.places)
            named = sum(bool(stem & topic) for stem in unit.stems[start:end])
            weight = (len(hit.places) + named, len(entry.deed.op))
            place = (unit.number, _verb(hit))
            if place not in best or weight > best[place][0]:
                best[place] = (weight, kind, hit)
    found: dict[tuple[str, str], Deed] = {}
    for _, (_, kind, hit) in sorted(best.items(), key=lambda item: item[0]):
        where = hit.unit.raw
        made = Deed(kind, _slots(kind, key, hit), where, _towards(kind, hit), _through(kind, hit))
        known = found.setdefault((kind, where), made)
        if known.towards != made.towards:
            found[kind, f"{where} {made.towards}"] = made
    return tuple(found.values())


_TO_SOMEBODY = frozenset(["paid", "mailed", "requested", "reminded", "cancelled", "invited"])
_OF_OTHERS = frozenset(
    ["about", "that", "which", "of", "with", "by", "for", "as", "than", "after", "before"]
)


def _towards(kind: str, hit: Hit) -> tuple[tuple[str, ...], ...]:
    """Return to whom a deed was done: the people right after its verb, "Ben and Priya".

    Whoever is named otherwise, "Samira's email" or "that Ben has paid", is not meant.
    """
    if kind not in _TO_SOMEBODY:
        return ()
    unit = hit.unit
    words = unit.sentence.words
    _, stop = segment(unit, hit.places)
    found: list[tuple[str, ...]] = []
    for place in range(_verb(hit) + 1, stop):
        value = unit.values.get(place)
        text = words[place].text
        if value is None or value.type != "person":
            if found and text not in ("and", "both"):
                break
            if text in _OF_OTHERS or (text == "from" and kind != "cancelled"):
                break
            continue
        owns = f"{value.raw}'s" in unit.raw or f"{value.raw}\u2019s" in unit.raw
        if owns or value.means[0] == "?" or "@" in value.means[0]:
            break
        found.append(value.means)
    return tuple(found)


def _through(kind: str, hit: Hit) -> tuple[str, ...] | None:
    """Return which services may be meant by the one that a clause says something went through."""
    unit = hit.unit
    start, stop = segment(unit, hit.places)
    words = unit.sentence.words
    inside = [place for place in unit.values if start <= place < stop]
    named = [place for place in inside if unit.values[place].type == "provider"]
    if len(named) != 1 or not start < named[0] or _verb(hit) > named[0]:
        return None
    near = {word.text for word in words[max(start, named[0] - 3) : named[0]]}
    ways = {words[named[0] - 1].text} & {"by", "via", "through", "over", "with"}
    if kind == "mailed":
        ways |= near & {"from"}
    if not ways or near & _RULED_OUT:
        return None
    value = unit.values[named[0]]
    written = value.raw.casefold()  # "your own address" may be of any service
    return value.means if any(n.split("_")[0] in written for n in value.means) else None


_RULED_OUT = frozenset(["not", "instead", "rather", "than", "without", "help"])
_ENDS = ("cancelled", "deleted")


def _of_it(hit: Hit) -> bool:
    """Return whether a deed's thing is only "them", which may be anything: "when I sent them"."""
    unit = hit.unit
    place = _verb(hit) + 1
    value = unit.values.get(place)
    words = unit.sentence.words
    said = value.raw if value is not None else words[place].text if place < len(words) else ""
    return said in ("it", "them", "these", "those", "this", "that")


def _verb(hit: Hit) -> int:
    words = hit.unit.sentence.words
    return next((p for p in hit.places if words[p].form == "ed"), _put(hit))


def _put(hit: Hit) -> int:
    words = hit.unit.sentence.words
    return next((p for p in hit.places if words[p].text == "put"), -1)


def _own(hit: Hit) -> bool:
    """Return whether the assistant itself is who did a deed: "I sent", or a bare "Sent"."""
    if hit.whole:
        return False
    unit = hit.unit
    words = unit.sentence.words
    verb = _verb(hit)
    if verb < 0:
        return False
    at = verb - 1
    while at >= 0:
        text = words[at].text
        if at + 1 in unit.sentence.breaks and at + 1 != verb and text not in _AGENT:
            break
        if text in _AGENT:
            return True
        if text not in _FILL and not text.endswith("ly"):
            return text in _LOOKS or _second_verb(unit, at)
        if at + 1 in unit.sentence.breaks and at + 1 == verb and text not in _FILL:
            break
        at -= 1
    if unit.item and any(p < verb for p in unit.values):
        return False
    following = words[verb + 1].text if verb + 1 < len(words) else ""
    return following not in ("by", "you") and not unit.row


def _second_verb(unit: Unit, at: int) -> bool:
    """Return whether a verb goes on from "I": "I cancelled the first and sent the second"."""
    words = unit.sentence.words
    joined = any(w.text in ("and", "then") for w in words[at + 1 : at + 3]) or (
        at + 1 in unit.sentence.breaks
    )
    if not joined:
        return False
    for place in range(at, -1, -1):
        text = words[place].text
        if text in ("that", "which", "who", "you", "he", "she", "they", "it", "was", "were", "is"):
            return False
        if text in _AGENT:
            return True
    return words[0].form == "ed"


def _slots(kind: str, key: Key, hit: Hit) -> dict[str, Any]:
    """Return what can be read of a deed's slots: full names, dollars, names of services."""
    unit = hit.unit
    span = segment(unit, hit.places)
    made = groups(unit, span, types_of(kind))
    group = made[0] if made else Group((), ())
    found: dict[str, Any] = {}
    used: set[str] = set()
    for slot, type_ in vocabulary()[kind].slots.items():
        if type_ not in VALUES or type_ in used:
            continue
        values = group.of(VALUES[type_])
        if not values:
            continue
        used.add(type_)
        first = values[0].means[0]
        if type_ == "money":
            found[slot] = first if values[0].type == "number" else first / 100
        elif type_ == "people":
            found[slot] = [v.means[0] for v in values if v.means[0] != "?"]
        elif first != "?":
            found[slot] = first
    return found
