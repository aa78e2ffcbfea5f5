"""Words with which a text only supposes what it says: "as far as I can tell", "it ought to be
there", "at least I think so".

Some reach from where they stand to the end of the sentence; others stand behind what they doubt, in
the same sentence or in a short one of its own.
"""

from __future__ import annotations

import functools
import re

from judge.reading.texts import Unit
from judge.reading.values import Value

_SUPPOSE = (
    r"(?:think|believe|guess|suppose|assume|hope|reckon|imagine|presume|gather|suspect|expect|bet"
    r"|figure|fancy|trust|say|wager|take it(?! (?:easy|slow|from|back|up|on)\b)|dare ?say|venture)"
)
OWN = (
    r"\b(?:it|that|this|which|everything|all|things)(?: \w+)? (?:looks?|sounds?|looked|sounded"
    r"|feels?)"
    r" (?:very |a lot |rather |to me )*(?:like (?!rain|snow|a\b|an\b)|as if|as though)"
    r"|^(?:looks?|sounds?|seems?) (?:to me )?(?:like|as if|as though|to have|that|it|xperson\d+x)\b"
    r"|\b(?:the )?(?:chances|odds) are\b"
    r"|\b(?:by|from) the looks? of (?:it|this|that|things)\b|\b(?:by|to|from) all appearances\b"
    r"|\b(?:judging|going) by (?:appearances|how|the way|the time)\b"
    r"|\bfrom what i (?:can |could )?(?:tell|see|know|gather|understand|make out|remember)\b"
    r"|\bas (?:best|far|near|much|well)(?: as)? i (?:can|could|know|remember|am aware"
    r"|understand)\b"
    r"|\bfor all i know\b|\b(?:to|at) the best of (?:my|our)\b|\bto my knowledge\b"
    r"|\bin all (?:likelihood|probability)\b|\bmore (?:likely )?than not\b"
    r"|\bif i (?:recall|remember|read|understand|saw|see|got|have) (?:\w+ ){0,3}(?:correctly|right"
    r"|rightly|properly)\b"
    r"|\bunless i (?:am|have|was|mis\w+|missed|overlooked)\b|\bif memory serves\b"
    r"|\bif nothing (?:went|goes|has gone) wrong\b"
    r"|\bi (?:have|see|know of|had|saw) (?:no|little|every|good) reason"
    r" (?:to (?:think|doubt|believe|assume|suspect|worry)|why)\b"
    r"|\bi am (?:inclined|tempted) to (?:think|believe|say)\b"
    r"|\bi am (?:just |only |\w+ly )?(?:guessing|assuming|hoping|presuming|betting|supposing"
    r"|counting on)\b"
    r"|\bi (?:would|might|dare|can only|could only|am going to|will) (?:\w+ )?" + _SUPPOSE + r"\b"
    r"|\bi am not (?:\w+ )?(?:sure|certain|positive) but\b"
    r"|\b(?:everything|all|it all|which|that|this) (?:points to|suggests)\b"
    r"|\b(?:there is|with) a (?:\w+ )?chance (?:that|it|he|she|they)\b"
    r"|\bit is (?:\w+ )?(?:likely|probable|possible|conceivable|plausible) that\b"
    r"|\b(?:purportedly|ostensibly|conceivably|evidently|presumably|supposedly|apparently"
    r"|seemingly)\b"
    r"|\b(?:in principle|on paper|by rights|in theory)\b"
)
"""What tells that one does not know, whatever is told."""
MODAL = (
    r"\bought (?:now |already |by now |all |both |soon )*to\b"
    r"|\bshould (?:by now|now|already|all|both|soon|shortly|really|actually|at least|also|each)"
    r" (?:have|be)\b"
    r"|\bmust (?:\w+ )?have (?:\w+ed|gone|sent|been|reached|got|gotten|made)\b"
    r"|\bwill (?:surely|presumably|no doubt|doubtless) (?:have|be)\b"
    r"|\bwill have (?:\w+ed|gone|been|got|gotten|made|it)\b.*\b(?:by now|already)\b"
)
"""Verbs by which one only expects what may have happened."""
_BEHIND = re.compile(
    r"\bi (?:do |would |\w+ly )*" + _SUPPOSE + r"(?: so)?(?: (?:at least|anyway|though|at any rate"
    r"|anyhow|in any case|but))*$"
    r"|\b(?:or|at least|but) (?:so |that is |that was |it is )?(?:only |just )?(?:what )?(?:my |i )"
    r"(?:best )?(?:guess|assumption|hope|impression|understanding|" + _SUPPOSE[3:] + r"\b"
    r"|\bi (?:can|could|would|will|do|am able to)(?: \w+ly)? not (?:\w+ly )?(?:swear|promise"
    r"|guarantee|vouch|bet my|be (?:\w+ )?(?:sure|certain|positive))\b"
    r"(?! (?:you )?(?:that )?(?:it|this|they) (?:stays?|remains?|will)\b)"
    r"|\bdo not (?:quote|hold) me\b|\b(?:touch|knock on) wood\b|\bfingers (?:are )?crossed\b"
    r"|\bgive or take\b(?! (?:an?|the odd|one|half|some|xnumber\d+x|xmoney\d+x|xpercent\d+x)\b)"
    r"|\bwith (?:a (?:bit|little) of|some|any)? ?luck\b"
    r"|\b(?:i am |am )?not (?:xpercent\d+x|xnumber\d+x|100|entirely|completely|totally|fully"
    r"|altogether|absolutely|wholly|quite)(?: percent)? (?:sure|certain|positive)\b"
    r"|\bif (?:all|everything|it|that|xprovider\d+x)(?: \w+)? (?:went|goes|worked|took it|accepted"
    r"|got) (?:\w+ )?(?:well|right|fine|smoothly|through|plan|it|that)\b"
    r"|\bthat is (?:only |just |merely |at least |at any rate )*(?:what i|my|an|a) "
    r"(?:" + _SUPPOSE[3:-1] + r"|guess|assumption|hope|impression|estimate|supposition)\b"
    r"|\bi have not (?:actually |really |yet |personally |properly )*(?:checked|verified|confirmed"
    r"|looked|double checked|made sure)(?: (?:it|that|this|yet|though|myself|again|either))*$"
    r"|\bi did not (?:actually |really |yet |personally |properly )*(?:check|verify|confirm|look"
    r"|double check|make sure)(?: (?:it|that|this|yet|though|myself|again|either))*$"
)
SELF = re.compile(
    OWN + r"|\b(?:i|we) (?:do |would |really |still |also |just |honestly )*(?:believe|think|assume"
    r"|guess|suspect|imagine|presume|hope|reckon|suppose|gather|take it)\b(?! (?:you|of|about|it"
    r" (?:is )?(?:best|better|wise|worth)|easy|slowly?|from|back|off|out|up|over|with|along|to)\b)"
    r"|\bmy (?:\w+ )?(?:guess|assumption|hunch|impression|understanding|bet|hope)"
    r" (?:is|was|would be|will be)\b"
    r"|\b(?:i am |am )?not (?:\w+ly |so |too |that |very |quite )*(?:convinced|persuaded|confident"
    r"|sure|certain|positive) (?:that|it|he|she|they|xperson\d+x|xmoney\d+x)\b"
    r"|\b(?:hopefully|allegedly|most likely|very likely)\b"
    r"|\bi am (?:fairly|pretty|quite|reasonably|almost|relatively|mostly|nearly) (?:sure|confident"
    r"|certain)\b|\b(?:it )?(?:seems|appears)(?: to me)?(?: that| as if| as though| like)\b"
)
"""Words that leave open even a forecast, of which "probably" is a part."""
_ENDS = frozenset(["but", "because", "since"])
_BRIEF = 12
"""A sentence of more words says something of its own."""
_MEANT = frozenset(["person", "money", "day", "time", "temp"])


@functools.lru_cache(maxsize=1024)
def behind(low: str) -> re.Match[str] | None:
    """Return what doubts the words before it, in a sentence in lower case."""
    return _BEHIND.search(low)


def supposed(unit: Unit, place: int) -> bool:
    """Return whether what stands at a place of a sentence is only supposed, by words that tell of
    one's own knowledge: a forecast may well be "probably", and is none the less told.
    """
    low = unit.low
    doubt = behind(low)
    if doubt is not None and place <= len(low[: doubt.start()].split()):
        return True
    for found in SELF.finditer(low):
        start = len(low[: found.start()].split())
        told_anew = any(start < colon <= place for colon in unit.sentence.colons)
        if start <= place and not told_anew and _ENDS.isdisjoint(low.split()[start:place]):
            return True
    return False


def opens_supposing(unit: Unit) -> bool:
    """Return whether a whole sentence is only supposed: it begins so, or ends so."""
    low = unit.low
    if behind(low) is not None:
        return True
    found = SELF.search(low)
    if found is None or len(low[: found.start()].split()) > 1:
        return False
    return "but" not in low[found.end() :].split()


def hedges_before(unit: Unit) -> bool:
    """Return whether a sentence only says that the one before it is not sure."""
    if not unit.number or unit.row or unit.sentence.question or len(unit.low.split()) > _BRIEF:
        return False
    if any(_tells_something(value) for value in unit.values.values()):
        return False
    return behind(unit.low) is not None


def _tells_something(value: Value) -> bool:
    return value.type in _MEANT and value.means[0] != "?"
