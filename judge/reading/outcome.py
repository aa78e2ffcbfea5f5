"""What a reader returns, and how the places of a text add up to it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from judge.reading.marks import Marks
from judge.reading.texts import Unit

Stance = Literal["claims", "denies", "silent"]


def _nothing(after: int) -> str:
    return ""


def _no_hint(known: bool) -> str:
    return ""


def _none_near() -> str:
    return ""


def _yes() -> bool:
    return True


def _no() -> bool:
    return False


@dataclass(frozen=True)
class Conflict:
    """How the sentences of a text stand to one another about a claim.

    `against` are the numbers of those that deny it, or make it with another value, and do not make
    it. `mixed` tells that one makes it and another denies it, and then `named` is one that makes it
    by name and is neither taken back nor one of two. `amended` tells that one denies it by name or
    says of whom alone it is so: "Only Priya has it so far".
    """

    against: frozenset[int] = frozenset()
    mixed: bool = False
    amended: bool = False
    named: str = ""


_NO_CONFLICT = Conflict()


@dataclass(frozen=True)
class Reading:
    """What a text makes of a claim.

    `where` is the sentence that shows it, "" if the text is silent. `contradiction` tells that the
    text makes the same claim with another value, as in `says $55.00, not $27.50`, and `slot` of
    which slot that value is, if it is known. `unconfirmed` tells that it says that it could not
    confirm just this. `named` are the slots whose value stands with the claim; where there are
    none, the claim is vague ("it went through"). None: not told.
    `mention` finds a sentence that tells the claim without its words, where the text is not read as
    claiming it; that is enough where something has to be told.
    `gist` finds one that tells the statement in words of its own, which is enough there, too. Both
    take the number of the last sentence that does not count.
    `plain`, `elsewhere` and `hint` are the second sign (`judge/reading/plain.py`): whether the
    sentence has the words of the statement, whether all values of the claim stand in the text, and
    a sentence that may tell the statement, given whether it is known whom that is about. `near` is
    a third one (`judge/reading/nearby.py`): a sentence that holds all of the statement with the one
    next to it. A reader that needs no other sign leaves them alone.
    `until` is that number where a text
    denies the claim: what was said before the denial is taken back by it, and -1 elsewhere. `own`
    are the slots of `named` whose value stands in the same clause; None: not told. `bound` tells
    that the contradicting value stands with the claim's own thing and no other: "only 50 in Bend".
    `shaky` tells that a denial elsewhere in the text names more of the claim than what makes it.
    `conflict` is how its sentences stand to one another.
    `clause` is the part of a long sentence that was taken for the claim. `firm` is a sentence that
    makes the claim by name, where only a denial without a name stands against it.
    """

    stance: Stance
    where: str = ""
    contradiction: str = ""
    unconfirmed: bool = False
    slot: str = ""
    named: frozenset[str] | None = None
    own: frozenset[str] | None = None
    bound: bool = False
    clause: str = field(default="", compare=False)
    until: int = -1
    firm: str = ""
    shaky: bool = False
    conflict: Conflict = field(default=_NO_CONFLICT, compare=False)
    plain: Callable[[], bool] = field(default=_yes, compare=False, repr=False)
    elsewhere: Callable[[], bool] = field(default=_no, compare=False, repr=False)
    hint: Callable[[bool], str] = field(default=_no_hint, compare=False, repr=False)
    near: Callable[[], str] = field(default=_none_near, compare=False, repr=False)
    mention: Callable[[int], str] = field(default=_nothing, compare=False, repr=False)
    gist: Callable[[int], str] = field(default=_nothing, compare=False, repr=False)

    @property
    def quoted(self) -> str:
        """What a finding quotes: the clause that was taken for the claim, or the sentence."""
        return self.clause or self.where

    @functools.cached_property
    def told(self) -> str:
        """What tells the claim all the same; it is looked for only when it is asked for."""
        return self.firm or self.mention(self.until) or self.gist(self.until)


@dataclass(frozen=True)
class Instance:
    """A place of a text that makes a claim, denies it, leaves it open, or makes it with another
    value.

    `providers` are the services that the place names. `part` holds whom it names if those are only
    some of the people of the claim, `named` the slots whose value it names, `own` those of them
    that its clause names itself, `slot` the one of which it names another value, and `bound`
    whether that value is said of the claim's thing alone. A `bare` one names values without a verb:
    "Hannah, $135, March 26".
    """

    unit: Unit
    place: int
    kind: Literal["claims", "denies", "open", "other"]
    earlier: bool = False
    contradiction: str = ""
    providers: frozenset[str] = frozenset()
    part: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    slot: str = ""
    own: frozenset[str] = frozenset()
    bound: bool = False
    bare: bool = False


_ALONE = re.compile(r"\b(?:only|just|alone)\b")


def conflict(instances: Sequence[Instance], marks: Marks) -> Conflict:
    """Return how the sentences that hold some places stand to one another."""
    claims = [i for i in instances if i.kind == "claims"]
    denials = [i for i in instances if i.kind == "denies"]
    others = [i for i in instances if i.contradiction]
    numbers = {i.unit.number for i in [*denials, *others]} - {i.unit.number for i in claims}
    by_name = any(denial.own for denial in denials)
    alone = any(_ALONE.search(other.unit.low) for other in others)
    out = marks.taken_back | marks.either | marks.disowned
    out |= {denial.unit.number for denial in denials}
    standing = [claim for claim in claims if claim.unit.number not in out]
    by_its_name = [claim.unit.raw for claim in standing if claim.own]
    mixed = bool(claims and denials)
    named = by_its_name[0] if mixed and by_its_name else ""
    return Conflict(frozenset(numbers), mixed, by_name or alone, named)


def together(instances: Sequence[Instance], everyone: frozenset[str]) -> list[Instance]:
    """Return instances with those that name only some people put together.

    Some places may claim it of all people between them; a denial of one person falls to a later
    claim of that person.
    """
    whole = [i for i in instances if not i.part]
    parts = [i for i in instances if i.part]
    if not parts:
        return whole
    reached: frozenset[str] = frozenset()
    for instance in parts:
        if instance.kind == "claims":
            reached |= instance.part
        elif instance.kind == "denies":
            reached -= instance.part
    claims = [i for i in parts if i.kind == "claims"]
    if reached >= everyone and claims:
        return [*whole, replace(claims[-1], part=frozenset())]
    denied = [i for i in parts if i.kind == "denies"]
    denials = [i for i in denied if not i.part <= reached]
    if denials:
        return [*whole, *(replace(i, part=frozenset()) for i in denials)]
    return whole


def _standing(instances: Sequence[Instance], marks: Marks) -> list[Instance]:
    """Return the instances that are not taken back later."""
    return [i for i in instances if i.unit.number not in marks.taken_back]


def stance(instances: Sequence[Instance], marks: Marks) -> tuple[Stance, Instance | None]:
    """Return what the last word of a text is, and the place that shows it.

    What is taken back later does not count; an earlier try gives way to the rest; so does a denial
    that is of another service than a claim.
    """
    standing = _standing(instances, marks)
    told = [i for i in standing if i.kind in ("claims", "denies")]
    told = [i for i in told if not i.earlier] or told
    if any(i.kind == "denies" for i in told):
        told = [i for i in told if not (i.bare and i.kind == "claims")]
    claims = [i for i in told if i.kind == "claims"]
    if claims:
        told = [i for i in told if not _of_another(i, claims)]
    if not told:
        return "silent", None
    last = max(told, key=lambda i: (i.unit.number, i.place))
    if last.kind == "claims":
        last = max(claims, key=_weight)
    return ("claims" if last.kind == "claims" else "denies"), last


def firm(instances: Sequence[Instance], marks: Marks, denial: Instance, until: int) -> str:
    """Return the sentence that makes a claim by the name of its thing, where the `denial` that has
    the last word names less of it: "nothing had gone out at first" may be of anything. What it
    takes back, up to the sentence `until`, does not count.
    """
    claims = []
    for instance in _standing(instances, marks):
        later = instance.unit.number > until and not instance.earlier
        if instance.kind == "claims" and later and instance.own > denial.own:
            claims.append(instance)
    return max(claims, key=_weight).unit.raw if claims else ""


def outnamed(instances: Sequence[Instance], marks: Marks, claim: Instance) -> bool:
    """Return whether a place that denies a claim names more of it than the one that makes it:
    "I can't confirm the $135 for March 26. The three payments of before are still scheduled".
    """
    if claim.own:
        return False
    denials = [i for i in _standing(instances, marks) if i.kind == "denies"]
    return any(claim.named < denial.named and not denial.earlier for denial in denials)


def _weight(instance: Instance) -> tuple[int, int, int, int]:
    unit = instance.unit
    return len(instance.own), len(instance.named), unit.number, instance.place


def _of_another(denial: Instance, claims: Sequence[Instance]) -> bool:
    """Return whether an instance denies a thing of another service than one of some claims."""
    if denial.kind == "claims" or not denial.providers or _YET_NO_SUCH.search(denial.unit.low):
        return False
    return any(not (claim.providers & denial.providers) for claim in claims)


_YET_NO_SUCH = re.compile(
    r"\bno such (?:\w+ )?(?:email|mail|message|payment|transfer|request|plan|order)\b"
    r"|\bthat (?:email|mail|message|payment|transfer|request|plan|order) (?:is|was) not"
    r" (?:in|on|there)\b"
)
"""What takes back a claim of whatever service: "I sent it. Gmail says that no such mail exists"."""
_UNDOES = re.compile(
    r"\b(?:cancelled|canceled|reversed|withdrew|undid|recalled|stopped)"
    r" (?:it|this|that|the (?:first|wrong|mistaken|old))\b"
)


def _undone(claim: Instance, later: Instance) -> bool:
    """Return whether an earlier try is undone in the sentence that makes the claim with another
    value: "It first went to Sam; I cancelled that and sent it to Samira".
    """
    after = claim.unit.number <= later.unit.number
    return claim.earlier and after and _UNDOES.search(later.unit.low) is not None


def contradiction(instances: Sequence[Instance], marks: Marks) -> Instance | None:
    """Return the place that contradicts a claim, if no place makes the claim properly."""
    standing = _standing(instances, marks)
    claims = [i for i in standing if i.kind == "claims"]
    near = [i for i in standing if i.kind in ("claims", "open")]
    for instance in reversed(standing):
        # "I sent it again" makes no claim of the right amount where another one was named.
        if instance.slot:
            proper = [other for other in near if instance.slot in other.named]
        else:
            proper = claims
        proper = [claim for claim in proper if not _undone(claim, instance)]
        if instance.contradiction and not instance.earlier and not proper:
            return instance
    return None


_GOES_ON = frozenset(["and", "but", "now", "then", "until"])
_OF_IT = frozenset(["it", "that", "they", "neither"])
_DENYING = frozenset(["not", "never", "neither", "unsent"])
_CHECKED = re.compile(
    r"\b(?:checked|made sure|saw|seen|found) (?:first )?that nothing\b"
    r"|\bnothing (?:suggests|indicates)\b|\bno sign that\b"
)
"""What one found before one went on, "I checked that nothing had gone out before sending again", or
has no sign of: "nothing suggests that they did not get it".
"""
_NONE_MADE = re.compile(
    r"\b(?:nothing|no (?:money|payment|transfer|request|e?mail|message|reply|answer))"
    r"(?: \w+){0,7}? (?:has|have|had|is|was|were)(?: \w+)?"
    r" (?:been|gone|sent|paid|made|going|transferred)\b"
)
_WAITS_TO_GO = re.compile(r"\b(?:in|among) (?:\w+ ){0,2}drafts?\b|\b(?:press|hit|click|tap) send\b")


def taken_back_until(denial: Instance) -> int:
    """Return the number of the last sentence that a denial takes back, or -1.

    It is its own, unless it goes on: "it was not there at first, and now it is". A denial that
    neither names its thing nor points at what was told before may be of another thing, and so may
    one by "no" or "nothing": "no note attached".
    """
    unit = denial.unit
    words = unit.sentence.words
    low = unit.low.split()[: denial.place + 1]
    waits = _WAITS_TO_GO.search(" ".join(low)) is not None
    near = {word.text for word in words[max(0, denial.place - 9) : denial.place + 1]}
    none = _NONE_MADE.search(unit.low) is not None
    denying = waits or none or not near.isdisjoint(_DENYING)
    if not denying or not (denial.own or near & _OF_IT) or _CHECKED.search(unit.low):
        return -1
    goes_on = any(word.text in _GOES_ON for word in words[denial.place + 1 :])
    return unit.number - 1 if goes_on else unit.number
