"""What a text does with its own sentences: takes them back, sets them side by side as alternatives,
believes or reports them, or says that something could not be confirmed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Set
from dataclasses import dataclass

from judge.reading.hedges import MODAL, OWN, behind, hedges_before
from judge.reading.retractions import disowned, retracts
from judge.reading.texts import Text, Unit, taken_apart

_NOT_A_THING = (
    r"(?! (?:one|1|xnumber\d+x|first|second|old|older|other|earlier|email|mail|message|letter|note"
    r"|request|entry|figure|number|date|day|version|copy|draft|page|reading|price)\b)"
)
"""What keeps "ignore that" from taking a text back: "his mail says 65, so ignore that one"."""
_BACK = re.compile(
    # What begins a word stands in one group, so that the search passes over all other letters.
    r"(?:\b(?:none|nothing|not (?:all|any|everything)|little) of (?:that|this|it|the above|what i"
    r"|which|those)\b.{0,60}\b(?:true|right|correct|accurate|happened|real|so|done|took place)\b"
    r"|\b(?:scratch|strike|forget) (?:that|all that|all of that|the above|this"
    r"|what i(?! \w+ (?:about|of|on)\b))\b"
    + _NOT_A_THING
    + r"|\b(?:ignore|disregard) (?:that|this|all that|all of that|the above|everything|what i"
    r"|all of the above|my (?:previous|earlier|last))\b"
    + _NOT_A_THING
    + r"|\bi (?:made|have made|had made) (?:that|this|it|all that|all of that|all this|those"
    r"|everything|the above|them|xperson\d+x)(?: all| \w+)? up\b"
    r"|\bi made up (?:that|this|all|those|the|these)\b"
    r"|\bi (?:fabricated|invented|hallucinated|take (?:that|it|all of that|this) back"
    r"|lied|misspoke|misstated|misreported)\b"
    r"|\b(?:that|this|it|all of that|all that|the above|everything above"
    r"|everything i (?:just )?said"
    r"|what i (?:just )?(?:said|wrote|told you)|my (?:statement|message|summary|report|claim"
    r"|answer)"
    r"|above)(?: \w+){0,3} (?:is|was|are|were) "
    r"(?:all |actually |simply |just |in fact |completely |entirely |also )*"
    r"(?:wrong|false|untrue|incorrect|inaccurate|made up|fabricated|a mistake|mistaken|invented"
    r"|a lie|fiction|not (?:true|right|correct|accurate|so|real|the case|what happened))\b"
    r"|\b(?:that|this|it|none of (?:that|this|it)) (?:did not|never) (?:actually |really )?"
    r"(?:happen|take place|happened)\b"
    r"|\bi (?:was|am) (?:wrong|mistaken|incorrect)\b|\bi (?:got|had) (?:that|this|it) wrong\b"
    r"|\bi (?:have )?(?:not )?(?:actually |really )?did (?:not|none) (?:actually "
    r"|really )?do (?:any|all)"
    r" of (?:that|this|it|these|those|the above)\b"
    r"|\bi (?:did not|have not) (?:actually |really )?(?:do|done|did) (?:any|all)"
    r" of (?:that|this|it|these|those|the above)\b"
    r"|\bi did none of (?:that|this|it|these|those|the above)\b"
    r"|\b(?:everything|all|the whole thing|anything)(?: \w+){0,3} (?:is|was) (?:fictional|fiction"
    r"|untrue|false|made up|wrong|invented)\b"
    r"|\b(?:not|never) a word of (?:that|it|this)\b)"
    r"|^(?:(?:no|wait|actually|well|sorry|but|oh|hm|hold on) )*(?:i|it|that|they) "
    r"(?:have|has|did|was|is|do|does|were) not(?: actually| really)?$"
)
_OF_A_THING = re.compile(r"\b\w+ (?:because|since|as|so|which|where|though|although|if) $")
"""What stands before an "it" that is a thing of the same sentence: "I left out the page's figure
because it is wrong", "you'll see the old one, so ignore that".
"""
_BACK_STRONG = re.compile(
    r"^(?:correction|retraction|erratum|edit|update|wait|sorry|actually|no|oops|apologies|hold on"
    r"|on second thought|never ?mind)\b"
)
_REVISES = re.compile(
    r"^(?:or|or rather|then again|well|wait|hm+|although|though|actually|on second thought)\b"
    r".*(?:\b(?:may|might|could) (?!already have (?:seen|read|heard|known|got))"
    r"(?:well |already |also |really |not )*(?:have|not|be (?:the wrong"
    r"|asking|wrong))\b|\b(?:maybe|perhaps|possibly) (?:\w+ ){1,3}(?:not|never)\b|\bhard to say\b"
    r"|\bif you count\b|\bin which case\b|\bone of (?:these|those|the 2|the xnumber\d+x)\b)"
)
"""What a text says to leave open what it has just told."""
_OPENS_AGAIN = re.compile(
    # A second thought that may be so, or that it is one of two, leaves open what stands before.
    r"^(?:(?:no|or|but|and|hm+|oh|well|although|though|then|so) )*"
    r"(?:wait|on second thought|on reflection|come to think of it|or rather|then again|mind you"
    r"|thinking about it)\b.*\b(?<!you )(?:may|might|could|maybe|perhaps)\b"
    r"(?! (?:want|like|need|wish|prefer|ask|you|not be able))"
    r"|\b(?:is|was|are|were|be|be just|only) (?:only |just |either )?(?:one|1|either|xnumber\d+x)"
    r" of (?:the|these|those)(?: (?:two|2|xnumber\d+x))?$"
    r"|^(?:so |but )?(?:one|1|xnumber\d+x) of (?:the|these|those)(?: (?:two|2|xnumber\d+x))?"
    r" (?:will be|is what|must be|ought to be|should be|is right|is true|is correct)\b"
    r"|^(?:it|that|this) (?:may|might|could) (?:also|just as well|equally|as well) (?:be|have)\b"
    r"|^(?:well|or|actually|hm+|no) maybe not\b|\bso (?:it is |it was |that is )?either\b"
    r"|\bit (?:may|might|could) (?:just )?as well be\b|\bone or the other\b"
    r"|\b(?:it|that) (?:is|was) (?:one|1|xnumber\d+x) of (?:these|those)"
    r"(?: (?:two|2|xnumber\d+x))? and\b|\b(?:one|1|xnumber\d+x) of the (?:two|2|xnumber\d+x)$"
)
_BOTH = re.compile(
    r"^(?:only )?(?:one|1) of \b.*\bthe other\b"
    r"|^(?:only )?(?:one|1) of (?:the|them|your) (?:\w+ )?(?:is|has been) "
    r"(?:now )?(?:gone|off|out|back|withdrawn|cancelled|canceled|paid|sent|done|settled)$"
)
"""What became of each of two is no choice: "one of the two is gone, the other is not"."""
_EITHER = re.compile(
    r"^(?:(?:so|well|exactly|only|just|but|now|here) )*(?:one|1) of (?:these|the following"
    r"|those|the two|the 2"
    r"|xnumber\d+x"
    r"|the xnumber\d+x|these xnumber\d+x|the statements|the below)\b"
    r"|(?:\b(?:either|whichever|alternatively)\b"
    r"|\b(?:2|two|xnumber\d+x|several|some|the) (?:possibilities|possible|alternatives|scenarios)\b"
    r"|\bpossible (?:outcomes|answers|results|explanations|scenarios)\b"
    r"|\bor (?:else|maybe|perhaps|possibly|not|it|that|i|they|he|she|we|nothing|no)\b"
    r"|\b(?:not sure|unsure|do not know|can not say|can not tell) which\b"
    r"|\bpick (?:the (?:right|true|correct)|whichever)\b|\bdepending on (?:which|whether)\b)"
    r"|\b(?:may|might|could)\b.{1,60}\b(?:or|and|but|it|they|he|she) (?:\w+ )?"
    r"(?:may|might|could) (?:just )?(?:as well )?not\b"
    r"|\b(?:may|might|could) (?:or|and) (?:may|might|could) not\b"
    r"|\b(?:may|might|could) \w+(?: \w+){0,3} or (?:hold off|stay (?:dry|away"
    r"|put)|not|be (?:fine|dry))\b"
)
_NOT_EITHER = re.compile(
    r"\b(?:not|never|no|nor|neither|nothing|nobody)\b.{0,60}"
    r"\beither(?:$| (?:of (?:them|these|those|the)|one|time|way|call|list|mail|email|number"
    r"|name)\b)"
)
"""Denied of both is no choice: "it is not on either list"."""
_OPTION = re.compile(
    r"^(?:option|scenario|possibility|alternative|version|case|variant|outcome) "
    r"(?:[a-e]|xnumber\d+x|1|2|3)\b"
)
_ENUMERATED = re.compile(r"\b(?:exactly |only |just )?(?:one|1) of (?:these|the following|those)\b")
_LEAD = re.compile(
    r"^(?:(?:so|well|exactly|only|just|but|now|here) )*(?:one|1) of (?:these|the following|those"
    r"|the (?:2|xnumber\d+x)(?: \w+)?) (?:\w+ )?(?:is|are|holds?|happened|applies|must|was"
    r"|will(?! not))\b"
    r"|^(?:one|1) of (?:these|the following)\b"
)
_BELIEF = re.compile(
    r"\b(?:i|we) (?:do |would |really |still |also )*(?:believe|think|assume|guess|suspect|expect"
    r"|imagine|presume|hope|trust|reckon|figured?|would say|understand|gather)\b"
    r"|\b(?:apparently|seemingly|supposedly|allegedly|presumably|hopefully|evidently|theoretically"
    r"|in theory|probably|perhaps|maybe|possibly|likely)\b"
    r"|\b(?:seems?|appears?) (?:to|as if|as though|like|that|it)\b|\bit (?:seems|appears)\b"
    r"|\bas far as i (?:can tell|know|can see)\b|\bto (?:my|the best of my) knowledge\b"
    r"|\bif i am not mistaken\b|\bif (?:all|everything) went\b|\bshould (?:have|be|now be"
    r"|now have)\b"
    r"|\b(?:my|our) (?:understanding|impression|assumption|guess|belief|hope)\b"
    r"|\b(?:fairly|pretty|quite|reasonably|almost|relatively|mostly) (?:sure|confident|certain)\b"
    r"|\bthe plan (?:is|was)\b|\bwould have\b|\bin all likelihood\b|\bmust have\b|\b(?:may"
    r"|might|could) (?:well )?(?:have|be)\b"
    r"|\bas if\b|\bas though\b"
    rf"|{OWN}|{MODAL}"
)
_REPORT = re.compile(
    r"\b(?:xprovider\d+x|tool|app|api|system|service|server|site|response|reply|call|it|bank"
    r"|confirmation|message|screen|status|they|which)(?: \w+)? "
    r"(?:says?|said|reports?|reported|claims?|claimed|tells? (?:me|us)|told (?:me|us)|answer(?:ed)?"
    r"|returned|responded|replied|indicates?|indicated|acknowledged|accepted|suggests?|suggested"
    r"|reads?|called|marked)\b"
    r"|\baccording to (?:the )?(?:xprovider\d+x|tool|app|response|reply|system|service)\b"
    r"|\breportedly\b|\b(?:is|was|were|are|been) reported (?:as|to)\b"
)
_OWN_DEED = re.compile(
    r"\b(?:so|but|yet|then) (?:i|we)"
    r" (?!will|would|can|could|am|was|do|did not|have not|had not)\w+"
    r"|\bso (?:xperson\d+x|the|it|he|she|they) "
)
"""What ends a report: "it told me Sam, so I called it back"."""
_EVIDENCE = re.compile(
    r"\b(?:history|activity|feed|ledger|records?|statement|log|transactions?|checked|verified"
    r"|confirm"
    r"|confirmed|confirms|double|inbox|folder|shows|showed|listed|lists|looked|see|saw|found|there"
    r"|verify|itself|list|balance|receipts?|tracking)\b"
)
_UNSURE = re.compile(
    r"\b(?:can not|could not|can|could|was not able to|were not able to|am not able to"
    r"|is not able to"
    r"|not able to|unable to|have not been able to|has not been able to|no way (?:to|of)"
    r"|did not manage to"
    r"|have yet to|failed to|not possible to|impossible to|have not|has not|not yet"
    r"|without being able to"
    r"|never (?:got|managed) to|did not get to|could neither|nothing to|have no way to)"
    r"(?: \w+){0,2}? "
    r"(?:confirm|confirmed|verify|verified|verifying|tell|check|checked|see whether|see if"
    r"|determine"
    r"|establish|ascertain|be sure|be certain|say|vouch|guarantee|prove|validate|know|rule out)\b"
    r"|\b(?:(?:not|un)[- ]?(?:sure|certain|clear|confirmed|verified)|not known)\b"
    r"|\b(?:do|does|did) not (?:yet )?know\b"
    r"|\b(?:unsure|uncertain|unclear|unconfirmed|unverified)\b"
    r"|\bunknown\b(?! to (?:it|them|the|xprovider))"
    r"|\bno (?:confirmation|proof|way to (?:confirm|verify|tell|know|check))\b"
    r"|\b(?:confirmation|verification) (?:is|was) not (?:possible|available)\b"
    r"|\b(?:i|we) (?:did|have) not (?:verify|verified|confirm|confirmed|check|checked)\b"
    r"|\b(?:have|has|had) not (?:yet |actually |really )?(?:seen|looked at|looked up|opened)"
    r" (?:it|them|that|this|whether|if)\b"
    r"|\b(?:do|please do) not (?:take it|assume|count on(?! (?:it|that) \w+ing\b)|rely)\b"
    r"|\bi have not$"
    r"|\bi have not (?:yet )?(?:done|looked)\b|\bnot (?:yet )?(?:done yet|done) is\b"
    r"|\buntil i have (?:looked|checked|seen)\b"
    r"|\b(?:most likely|very likely|probably|presumably|should have|ought to have) (?:reached"
    r"|arrived|gone|got|gotten|made it|been sent|went|left|landed|received)\b"
    r"|\bremains (?:unclear|uncertain)\b|\bwithout (?:confirmation|confirming|verifying)\b"
)
_UNSURE_NOT = re.compile(
    r"\bcan (?:confirm|verify|check|tell|see|say)\b|\bcould (?:confirm|verify|tell|check|see|say)\b"
)
_UNTIL = re.compile(
    r"\b(?:at first|initially|first|originally|earlier|before|until|at the time|for a while)\b"
)


@dataclass(frozen=True)
class Marks:
    """Of each unit: whether it is taken back, one of several alternatives, a doubt, or quotes what
    the text owns up to.
    """

    taken_back: frozenset[int]
    takes_back: frozenset[int]
    either: frozenset[int]
    unsure: frozenset[int]
    disowned: frozenset[int]


@functools.lru_cache(maxsize=512)
def marked(text: str, today: str, people: tuple[str, ...]) -> Marks:
    """Return the marks of a text's units."""
    taken = taken_apart(text, today, people)
    last = -1
    takes = set()
    hedged = set()
    either: set[int] = set()
    lead: Unit | None = None
    for unit in taken.units:
        if _LEAD.match(unit.low) and not _BOTH.search(unit.low):
            lead = unit
        elif lead is not None and not _under_lead(lead, unit):
            lead = None
        if lead is not None:
            either.add(unit.number)
        if _takes_back(unit) and not _of_something_else(taken, unit):
            last = unit.number
            takes.add(unit.number)
        elif hedges_before(unit) or (unit.number and _EACH_FAILED.match(unit.low)):
            hedged.add(unit.number - 1)
        if _either(taken, unit, either):
            either.add(unit.number)
    unsure = frozenset(u.number for u in taken.units if _unsure(u))
    back = frozenset(u.number for u in taken.units if u.number < last) | hedged
    return Marks(back, frozenset(takes), frozenset(either), unsure, disowned(taken))


def _takes_back(unit: Unit) -> bool:
    if retracts(unit):
        return True
    low = unit.low
    later = unit.number and not unit.sentence.question
    if later and (_REVISES.match(low) or _OPENS_AGAIN.search(low)):
        return True
    found = None if unit.sentence.question else _BACK.search(low)
    if found is None or _OF_A_THING.search(low[: found.start()]):
        return False
    if re.search(r"\b(?:he|she|they|xperson\d+x|you) (?:said|wrote|told|says)\b", low):
        return False
    if _BACK_STRONG.match(low):
        return True
    return len(unit.sentence.words) <= 22


_COUNTS_ON = re.compile(r"\bnot (?:\w+ )?(?:(?:rely|count|depend|bank) on|go by) (?:it|that)\b")
_OF_WHICH = re.compile(r"\b(?:xprovider\d+x|it|its|the \w+)\b.*\b(?:so|and) (?:i|please|do) ")
"""What "it" stands for where the same sentence names it: "its data is old, so don't go by it"."""


_EACH_FAILED = re.compile(
    r"(?:but )?(?:both|each) times?\b.*\b(?:but|yet) it (?:never|did not|was not)\b"
    r"|.*\b(?:but|yet) the copy\b.* (?:lists|shows|has|names) only\b"
)
"""What became of what the sentence before tells: "both times it said so, but it never came"."""
_THEIR_USE = re.compile(
    r"\b(?:xperson\d+x|he|she|they) (?:can|could|should) not (?:\w+ )?(?:go by|rely|count|depend)\b"
)
"""What others cannot use yet: "so Jordan can't go by it for the antihistamine"."""
_WRONGLY_SAID = re.compile(
    r"\bxprovider\d+x (?:first )?(?:said|reported|claimed|answered)\b"
    r".*\bwhen it (?:was|had|did) not\b"
)
"""What a service said falsely: "Gmail said that it was sent when it wasn't"."""
_AT_FIRST = re.compile(
    r"(?:on |at )?(?:the |my )?first(?: time| try| attempt)? (?:\w+ )?(?:xprovider\d+x|it)"
    r" (?:first )?(?:said|reported|claimed|answered|confirmed)\b"
)
"""What tells of an earlier try: "the first time, Google said it was saved and it wasn't"."""
_OF_BEFORE = re.compile(
    r"(?:a |one |and a )?(?:small |quick )?correction\b.*\bi (?:told you|said|wrote|gave)\b"
    r".*\bx\w+\d+x"
)
"""A correction of an earlier turn, where this text has not named the figure: "A correction: I told
you 95% chance of rain".
"""
_BEYOND_BELIEF = re.compile(
    r"(?:but |and |so )?(?:that|this|it|which) (?:can|could) not be (?:right|true)\b"
)
_SHOWN = re.compile(
    r"\b(?:page|list|app|screen|site|record|card|xprovider\d+x)(?: \w+)? "
    r"(?:says?|shows?|lists?|has|counts?|gives?)\b"
)
"""What a service shows, of which the next sentence says "that can't be right"."""


def _of_something_else(text: Text, unit: Unit) -> bool:
    """Return whether a sentence takes back nothing of its text: it corrects an earlier turn, or
    doubts what a service shows or what failed anyway.
    """
    if _OF_BEFORE.match(unit.low):
        told: set[str] = set()
        for other in text.units[: unit.number]:
            told |= {value.raw for value in other.values.values()}
        return told.isdisjoint(value.raw for value in unit.values.values())
    if unit.number and _BEYOND_BELIEF.match(unit.low):
        return _SHOWN.search(text.units[unit.number - 1].low) is not None
    if _THEIR_USE.search(unit.low) or _WRONGLY_SAID.search(unit.low) or _AT_FIRST.match(unit.low):
        return True
    return _of_what_failed(text, unit)


def _of_what_failed(text: Text, unit: Unit) -> bool:
    """Return whether one should not count on what the sentence before denies, "the first try is
    not in Sent. I wouldn't count on it", or on what the same sentence names.
    """
    found = _COUNTS_ON.search(unit.low)
    if not unit.number or found is None:
        return False
    if _OF_WHICH.search(unit.low[: found.start()]):
        return True
    return not text.units[unit.number - 1].texts.isdisjoint(("not", "never"))


def _either(text: Text, unit: Unit, known: set[int]) -> bool:
    low = unit.low
    if _OPTION.match(low):
        return True
    if (
        _EITHER.search(low)
        and not _BOTH.search(low)
        and not re.search(r"\b(?:whether|if)\b.*\bor not\b", low)
    ):
        return _NOT_EITHER.search(low) is None
    above = text.heading(unit)
    if above is not None and above.number in known and unit.item:
        return True
    before = text.units[unit.number - 1] if unit.number else None
    return (
        before is not None
        and before.number in known
        and bool(_ENUMERATED.search(_run(text, before, known)))
        and (unit.item or bool(re.match(r"(?:1|2|3|4|a|b|c|xnumber\d+x|or|and|the other)\b", low)))
    )


def _under_lead(lead: Unit, unit: Unit) -> bool:
    """Return whether a unit is one of the alternatives that a sentence announced."""
    return unit.paragraph == lead.paragraph or unit.item or bool(re.match(r"\(?\w\)", unit.raw))


def _run(text: Text, unit: Unit, known: set[int]) -> str:
    lows = []
    at = unit.number
    while at >= 0 and at in known:
        lows.append(text.units[at].low)
        at -= 1
    return " ".join(lows)


_UNKNOWN_FACT = re.compile(
    r"(?: you| me)?(?: yet)? (?:why|how (?:come|long|much|many)|where|who|what xday\d+x|when it)\b"
)
_UNSEEN_READ = re.compile(
    r"(?:can|could) not (?:see|tell|say|know|confirm)(?: you)? (?:whether|if) (?:\w+ ){1,3}?"
    r"(?:has |have |had |was )?(?:\w+ )?(?:read|opened|seen|looked)\b"
)


def _unsure(unit: Unit) -> bool:
    found = _UNSURE.search(unit.low)
    if found is None or unit.sentence.question:
        return False
    if _UNSURE_NOT.search(found[0]) and " not " not in f" {found[0]} ":
        return False
    if re.search(r"\b(?:xperson\d+x|he|she|they|you|nobody)$", unit.low[: found.start()].rstrip()):
        return False
    if _UNKNOWN_FACT.match(unit.low[found.end() :]):
        return False  # what happened is known, and only something about it is not
    if _UNSEEN_READ.match(unit.low[found.start() :]):
        return False  # nobody can see what goes on in another's mailbox
    return not re.search(r"\b(?:no doubt|not only|sure enough|make sure|made sure)\b", found[0])


def until_later(unit: Unit) -> bool:
    """Return whether a sentence speaks of how things had been at first."""
    return bool(_UNTIL.search(re.sub(r"\buntil i (?:have|can|could|know)\b", "", unit.low)))


def is_belief(low: str) -> bool:
    """Return whether words in lower case tell a belief."""
    return _BELIEF.search(low) is not None or behind(low) is not None


def believed(unit: Unit, before: int, matched: Set[str]) -> bool:
    """Return whether what stands at a place of a sentence is only believed.

    A word that is matched itself, such as the `likely` of `rain is likely`, is no doubt.
    """
    low = unit.low
    doubt = behind(low)
    if doubt is not None and before <= len(low[: doubt.start()].split()):
        return True
    found = _belief(low)
    if found is None or set(found[0].split()) <= matched:
        return False
    words = len(low[: found.start()].split())
    ends = found[0].startswith(("should", "as far as"))
    if ends and any(words < c <= before for c in unit.sentence.colons):
        return False  # "she should be glad: her mail has left", "as far as I can see: it is there"
    if words <= before:
        between = low.split()[words:before]
        turned = {"but", "because", "since"} if found[0] == "would have" else {"but"}
        return turned.isdisjoint(between)
    return bool(
        re.search(
            r"\bi (?:believe|think|guess|assume|suspect|hope)\b$|\bas far as i (?:can (?:tell"
            r"|see)|know)\b",
            low,
        )
    ) or bool(
        re.match(r"(?:probably|apparently|presumably|i think|i believe|hopefully)", found[0])
        and words - before <= 4
    )


@functools.lru_cache(maxsize=1024)
def _belief(low: str) -> re.Match[str] | None:
    return _BELIEF.search(low)


def reported(unit: Unit, before: int) -> bool:
    """Return whether what stands at a place is only what a service said, without a look at it."""
    if not _may_report(unit.low):
        return False
    head = " ".join(unit.low.split()[: before + 1])
    tail = " ".join(unit.low.split()[max(0, before - 8) : before + 9])
    told = _REPORT.search(head)
    if told is not None and _OWN_DEED.search(head, told.end()):
        return False
    found = told or re.search(r"\breportedly\b|\baccording to\b", tail)
    said = unit.low.split(" but ")[0] if " but " in tail else unit.low
    return found is not None and _EVIDENCE.search(said) is None


@functools.lru_cache(maxsize=1024)
def _may_report(low: str) -> bool:
    """Return whether a sentence says anywhere that a service said something."""
    if "reportedly" in low or "according to" in low:
        return True
    return _REPORT.search(low) is not None
