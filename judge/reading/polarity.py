"""Whether a sentence asserts the words matched in it, denies them, or leaves them open (a question,
a condition, a plan, a doubt).

Rules of thumb over words and clauses, without a grammar: a marker reaches from where it stands to
the end of its clause.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from judge.reading.asides import of_the_rest, passed_over
from judge.reading.words import Sentence, Word, type_word

Polarity = Literal["yes", "no", "open"]

_NEGATORS = {
    "not",
    "no",
    "never",
    "none",
    "nothing",
    "nobody",
    "neither",
    "nor",
    "unable",
    "without",
    "zero",
    "0",
    "non",
    "impossible",
}
_NEGATOR_PAIRS = {
    ("fail", "to"),
    ("refuse", "to"),
    ("decline", "to"),
    ("instead", "of"),
    ("rather", "than"),
    ("far", "from"),
}
_NEGATOR_STEMS = {"fail", "refuse", "decline"}
_IDIOMS = (
    "not only", "not just", "not merely", "no doubt", "no later than", "no more than",
    "no less than", "no fewer than", "without a doubt",
    "without doubt", "no problem", "no worries", "not to worry", "do not worry", "do not forget",
    "no matter", "not least", "not fit", "not add up", "not agree", "not tally", "not line up",
)  # fmt: skip
_SMOOTH = {
    "issue",
    "issues",
    "error",
    "errors",
    "problem",
    "problems",
    "hitch",
    "trouble",
    "delay",
    "incident",
    "fail",
}
_COSTS = {"delivery", "shipping", "postage", "tip", "tax", "taxes", "fee", "fees"}
_STOPS = {
    "but",
    "however",
    "although",
    "though",
    "because",
    "since",
    "so",
    "yet",
    "while",
    "whereas",
    "which",
    "then",
    "therefore",
}
_SUBJECTS = {
    "i", "it", "the", "your", "you", "we", "he", "she", "they", "this", "that", "these", "my",
    "our", "a", "an", "there",
    "is", "was", "are",
    "were", "has", "have", "had", "did", "do", "will", "now", "everything", "all", "could", "can",
    "would", "should", "therefore", "only",
    "instead",
}  # fmt: skip
_CONDITIONS = {"if", "whether", "unless", "assuming", "provided", "suppose", "supposing"}
_TIMES_TO_COME = {"once", "when", "whenever", "before", "until", "till"}
_DOUBTS = {
    "unsure", "uncertain", "unclear", "unknown", "doubt", "possible", "possibility", "chance",
    "assume", "assumed", "suspect", "guess",
}  # fmt: skip
_SURE = {
    "sure", "certain", "clear", "know", "known", "tell", "say", "determine", "guarantee",
    "positive", "promise", "swear",
}  # fmt: skip
_HEDGES = {
    "may",
    "might",
    "must",
    "should",
    "ought",
    "perhaps",
    "maybe",
    "possibly",
    "probably",
    "presumably",
    "supposedly",
    "potentially",
    "likely",
}
_BIDDEN = {"look", "open", "expect", "watch", "ask", "call", "listen", "bring", "take"}
"""What one is told to do, so that a "should" before it is no doubt."""
_BEFORE_ORDERS = {"please", "so", "but", "and", "then", "just", "also"}
_FUTURE = {"will", "would", "shall", "can", "could"}
_SHOWN = {"confirm", "see", "verify", "say", "tell", "report", "assure", "find", "note", "notice"}
_AIMS = {
    "try", "tried", "trying", "tries", "need", "needs", "needed", "want", "wants", "wanted",
    "attempt", "attempted",
    "attempting", "going", "about",
    "plan", "plans", "planned", "planning", "like", "ready", "remember", "supposed", "intend",
    "intended", "hope", "hoping", "decided",
    "waiting", "wait", "order", "how", "asked", "requested", "told", "instructed", "request",
    "asks", "ask", "instructions", "have",
    "required", "due", "scheduled", "able",
}  # fmt: skip
_ACTIVE_AIMS = {
    "attempted",
    "attempting",
    "trying",
    "tried",
    "please",
    "let",
    "avoid",
    "requested",
    "asked",
}
_WHO = {"me", "you", "us", "him", "her", "them", "it", "i"}
_FIRST = {"i", "we"}
_ASKING = {
    "did", "do", "does", "is", "are", "was", "were", "has", "have", "had", "can", "could", "would",
    "should", "shall",
    "will", "what", "which",
    "who", "when", "where", "why", "how", "may",
}  # fmt: skip
_TAGS = {"right", "correct", "yes", "ok", "okay", "true", "agreed"}
_EARLIER = {
    "first",
    "initial",
    "initially",
    "originally",
    "earlier",
    "previous",
    "previously",
    "before",
    "original",
}
_AHEAD = {"will", "would", "plan", "steps", "options", "pending", "next", "recommend", "suggest"}
_YES = {"yes", "yep", "yeah", "correct"}
_NO = {"no", "nope", "not", "unfortunately"}
_MARKERS = frozenset(
    {"not", "can", "could", "please", "let"}
    | (_NEGATORS | _DOUBTS | _HEDGES | _FUTURE | _AIMS | _ACTIVE_AIMS)
)
"""Words of which one is in whatever negates, doubts, hedges or intends."""
_MARKER_BASES = frozenset(_NEGATOR_STEMS | {"instead", "rather", "far"})
_SUPPOSING = frozenset(_CONDITIONS | _TIMES_TO_COME | {"case"})


@dataclass(frozen=True, slots=True)
class _Signs:
    """The places of the words of a sentence that may keep it from a plain assertion."""

    markers: tuple[int, ...]
    supposing: tuple[int, ...]
    earlier: tuple[int, ...]


def _signs(sentence: Sentence) -> _Signs:
    markers = []
    supposing = []
    earlier = []
    for place, word in enumerate(sentence.words):
        if word.text in _MARKERS or not _MARKER_BASES.isdisjoint(word.bases):
            markers.append(place)
        if word.text in _SUPPOSING:
            supposing.append(place)
        if word.text in _EARLIER:
            earlier.append(place)
    return _Signs(tuple(markers), tuple(supposing), tuple(earlier))


@dataclass(slots=True)
class Passage:
    """The sentences of one text, of which one may lean on another (a heading over its list, an
    answer after a question).
    """

    sentences: tuple[Sentence, ...]
    _signs: dict[int, _Signs] = field(default_factory=dict)

    def signs(self, number: int) -> _Signs:
        """Return the signs of a sentence."""
        found = self._signs.get(number)
        if found is None:
            found = _signs(self.sentences[number])
            self._signs[number] = found
        return found


def polarity(reading: Passage, number: int, positions: Sequence[int]) -> tuple[Polarity, bool]:
    """Return what sentence `number` makes of the words at `positions` (ascending), and whether it
    speaks of an earlier try.
    """
    sentence = reading.sentences[number]
    signs = reading.signs(number)
    value = _within(sentence, signs, positions)
    if value == "open" and _asked(sentence, positions[0]) and number + 1 < len(reading.sentences):
        answer = reading.sentences[number + 1].words[0].text
        value = "yes" if answer in _YES else "no" if answer in _NO else value
    if value == "yes":
        heading = _heading(reading.sentences, number)
        if heading is not None:
            value = _ahead(heading)
    return value, bool(signs.earlier) and _is_earlier(sentence, signs, positions)


def _is_earlier(sentence: Sentence, signs: _Signs, positions: Sequence[int]) -> bool:
    start = _clause(sentence, positions[0], across="colon")
    if any(start <= at <= positions[-1] for at in signs.earlier):
        return True
    return start >= 2 and signs.earlier[0] < 2 and start == _first_break(sentence)


def repeated(sentence: Sentence, positions: Sequence[int]) -> bool:
    """Return whether what is denied of the words at `positions` is only that it was done once more:
    `I did not send it again`.
    """
    words = sentence.words
    last = positions[-1]
    before = [w.text for w in words[_clause(sentence, positions[0]) : last]]
    refrained = any(
        before[i : i + 2] in (["did", "not"], ["have", "not"], ["had", "not"], ["will", "not"])
        for i in range(len(before))
    )
    end = min((b for b in sentence.breaks if b > last), default=len(words))
    after = [w.text for w in words[last + 1 : min(end, last + 7)]]
    once_more = (
        "again" in after
        or "twice" in after
        or any(after[i : i + 2] in (["2", "time"], ["second", "time"]) for i in range(len(after)))
    )
    return refrained and once_more and bool(_FIRST & set(before))


def _within(sentence: Sentence, signs: _Signs, positions: Sequence[int]) -> Polarity:
    words = sentence.words
    matched = set(positions)
    first = positions[0]
    last = positions[-1]
    if _asked(sentence, first):
        return "open"
    start = _clause(sentence, first)
    if _supposed(sentence, signs, first, matched, start):
        return "open"
    span = [i for i in signs.markers if start <= i < last]
    span = [i for i in span if i not in matched]
    if any(_doubts(sentence, i) for i in span) or any(_hedges(sentence, i) for i in span):
        return "open"
    if any(_forbids(sentence, i, start) for i in span):
        return "open"
    span = [i for i in span if not passed_over(sentence, i, matched, first)]
    if any(of_the_rest(sentence, i) for i in span):
        return "open"
    if not any(_negates(sentence, i, matched, own=True) for i in positions):
        count = sum(_negates(sentence, i, matched) for i in span) + _negated_after(sentence, last)
        if count:
            return "no" if count != 2 or not _cancels(sentence, span, matched) else "yes"
    if any(_intends(sentence, i, positions) for i in span):
        return "open"
    return "yes" if words else "open"


# -- clauses -------------------------------------------------------------------------------------
def _clause(sentence: Sentence, place: int, across: str = "") -> int:
    """Return where the clause around a place begins."""
    words = sentence.words
    at = place
    while at > 0:
        if (
            at in sentence.breaks
            and not _goes_on(sentence, at)
            and not (across and at in sentence.colons)
        ):
            return at
        before = words[at - 1].text
        if before in _STOPS and not _goes_with_not(words, at - 1):
            return at
        if before == "and" and words[at].text in _SUBJECTS:
            return at
        if (
            before == "as"
            and words[at].text in _SUBJECTS
            and (at < 2 or words[at - 2].text not in ("such", "well", "not"))
        ):
            return at
        at -= 1
    return 0


def _goes_with_not(words: Sequence[Word], at: int) -> bool:
    """Return whether a word that may open a clause belongs to a "not" before it: "I can't yet say",
    "not so sure".
    """
    return words[at].text in ("so", "yet") and at > 0 and words[at - 1].text == "not"


def _goes_on(sentence: Sentence, at: int) -> bool:
    """Return whether a comma at a place only separates items: `no payments, transfers, or charges
    were made`.
    """
    if at in sentence.colons:
        return False
    words = sentence.words
    if words[at : at + 1] and words[at].text in ("or", "nor"):
        return True
    following = sorted(b for b in sentence.breaks if b > at)
    return (
        bool(following)
        and following[0] - at <= 2
        and following[0] < len(words)
        and words[following[0]].text in ("or", "nor")
    )


def _first_break(sentence: Sentence) -> int:
    return min(sentence.breaks, default=0)


# -- questions and conditions --------------------------------------------------------------------
def _asked(sentence: Sentence, place: int) -> bool:
    if not sentence.question:
        return False
    words = sentence.words
    cuts = sorted(b for b in sentence.breaks if 0 < b < len(words))
    if not cuts:
        return True
    tail = [w.text for w in words[cuts[-1] :]]
    if place >= cuts[-1] or tail[0] in _TAGS or (len(tail) <= 3 and tail[0] in _ASKING):
        return True
    start = max((c for c in [0, *cuts] if c <= place), default=0)
    opening = (
        words[start].text
        if words[start].text not in ("and", "or", "so", "also")
        else words[min(start + 1, len(words) - 1)].text
    )
    return opening in _ASKING or words[0].text in _ASKING


def _supposed(
    sentence: Sentence, signs: _Signs, place: int, matched: set[int], clause: int
) -> bool:
    words = sentence.words
    for at in signs.supposing:
        if at >= place:
            break
        text = words[at].text
        if at in matched:
            continue
        if text in _CONDITIONS or (text == "case" and at and words[at - 1].text == "in"):
            opens = (
                at == 0
                or at in sentence.breaks
                or words[at - 1].text in ("and", "or", "but", "even", "only", "so", "then", "in")
            )
            if at >= clause or (opens and not any(w.text == "but" for w in words[at:place])):
                return True
        if (
            at >= clause
            and text in _TIMES_TO_COME
            and not _past(sentence, at)
            and (at == clause or text in ("until", "till", "before", "once"))
        ):
            return True
    if words[0].text == "to" and clause == 0 and 0 not in matched:
        return True
    return (
        words[0].text == "should"
        and len(words) > 1
        and words[1].text not in ("be", "have")
        and clause == 0
        and 0 not in matched
    )


def _past(sentence: Sentence, at: int) -> bool:
    """Return whether a time is one that was: "when I looked"."""
    words = sentence.words[at + 1 : at + 3]
    return len(words) == 2 and words[0].text in _FIRST and words[1].form == "ed"


# -- markers -------------------------------------------------------------------------------------
def _negates(sentence: Sentence, at: int, matched: set[int], own: bool = False) -> bool:
    words = sentence.words
    word = words[at]
    following = words[at + 1].text if at + 1 < len(words) else ""
    if word.text in _NEGATORS:
        if word.text in ("zero", "0") and at + 1 in matched and not own:
            return True
        return not _idiom(sentence, at)
    pair = any((base, following) in _NEGATOR_PAIRS for base in word.bases)
    if pair and _for_another_figure(sentence, at, matched):
        return False
    return pair and (own or bool(word.bases & (_NEGATOR_STEMS | {"instead", "rather", "far"})))


def _for_another_figure(sentence: Sentence, at: int, matched: set[int]) -> bool:
    """Return whether "instead of" or "rather than" only names the figure that another one replaces:
    "180 instead of the 135 is coming on Tuesday".
    """
    words = sentence.words
    if not words[at].bases & {"instead", "rather"}:
        return False
    after = at + 2
    if after < len(words) and words[after].text in ("the", "your", "my", "her", "his", "their"):
        after += 1
    return (
        after < len(words)
        and type_word(words[after].text) in ("xmoney", "xnumber")
        and after not in matched
        and max(matched) > after
    )


def _idiom(sentence: Sentence, at: int) -> bool:
    words = [w.text for w in sentence.words]
    if words[at] in ("no", "without"):
        rest = words[at + 1 : at + 3]
        smooth = next((i for i, w in enumerate(rest) if w in _SMOOTH), None)
        if smooth is not None and (
            at + smooth + 2 == len(words)
            or at + smooth + 2 in sentence.breaks
            or words[at] == "without"
        ):
            return True
    if words[at] == "without" and not _COSTS.isdisjoint(words[at + 1 : at + 3]):
        return True  # "without the delivery it comes to $64.13"
    if words[at] in ("zero", "0"):
        return True
    for idiom in _IDIOMS:
        parts = idiom.split()
        for offset in range(len(parts)):
            begin = at - offset
            if (
                parts[offset] == words[at]
                and begin >= 0
                and words[begin : begin + len(parts)] == parts
            ):
                return True
    return False


def _cancels(sentence: Sentence, span: Sequence[int], matched: set[int]) -> bool:
    """Return whether two negators make an assertion: `did not fail to send`."""
    found = [i for i in span if _negates(sentence, i, matched)]
    if len(found) != 2 or found[1] - found[0] > 3:
        return False
    second = sentence.words[found[1]]
    return bool(second.bases & _NEGATOR_STEMS) or second.text in ("unable", "impossible")


def _negated_after(sentence: Sentence, last: int) -> bool:
    words = sentence.words
    at = last + 1
    if at >= len(words):
        return False
    text = words[at].text
    if at in sentence.colons:
        return text in ("no", "not", "false", "failed", "none", "unsuccessful")
    if at in sentence.breaks:
        return False
    tail = [word.text for word in words[at : at + 3]]
    if tail[:2] == ["never", "happened"] or tail[:3] == ["did", "not", "happen"]:
        return True
    if tail[:2] == ["no", "longer"]:
        return False  # "withdrawn, no longer in the list"
    if text in ("0", "zero"):
        return words[at + 1 : at + 2] != () and "time" in words[at + 1].bases
    return (
        text in ("nothing", "none", "nobody", "no", "not", "neither") and not _idiom(sentence, at)
    ) or text == "unsuccessfully"


def _doubts(sentence: Sentence, at: int) -> bool:
    words = sentence.words
    text = words[at].text
    if text == "chance" and at and words[at - 1].text == "percent":
        return False  # a forecast
    if text in _DOUBTS:
        return not _idiom(sentence, at)
    near = [w.text for w in words[at + 1 : at + 4]]
    if text == "not" and near[:1] in (["see"], ["watch"]) and near[1:2] in (["it"], ["them"]):
        return near[2:] not in (["in"], ["on"], ["there"])  # "I can't see it arrive"
    return (
        text == "not"
        and any(w in _SURE for w in near[:2])
        and not any(w in ("only", "just") for w in near[:1])
    )


def _forbids(sentence: Sentence, at: int, start: int) -> bool:
    """Return whether a "not" is part of an order to the user: "please don't pay that"."""
    words = sentence.words
    if words[at].text != "not" or at == 0 or words[at - 1].text != "do":
        return False
    return at - 1 == start or words[at - 2].text in _BEFORE_ORDERS


def _hedges(sentence: Sentence, at: int) -> bool:
    words = sentence.words
    text = words[at].text
    if text not in _HEDGES:
        return (
            text in ("can", "could")
            and words[at + 1 : at + 2] != ()
            and words[at + 1].text == "have"
        )
    following = words[at + 1].text if at + 1 < len(words) else ""
    if text == "should" and following in _BIDDEN:
        return False  # "Carlos should look out for Uber Eats"
    if text == "may":
        return not (following.isdigit() or (at and words[at].capital))
    return True


def _intends(sentence: Sentence, at: int, positions: Sequence[int]) -> bool:
    words = sentence.words
    text = words[at].text
    rest = [w.text for w in words[at + 1 : at + 4]]
    if text in _FUTURE:
        if rest[:1] == ["not"]:
            return False
        before = words[at - 1].text if at else ""
        shown = any(w in _SHOWN for w in rest[:2])
        if shown and (text in ("can", "could") or before == "you"):
            return False
        if before in _FIRST or text in ("would", "could", "can"):
            return True
        return any(
            p > at and (words[p].form == "ed" or words[p].text == "through") for p in positions
        )
    if text == "please":
        return True
    if text == "let":
        return rest[:1] in (["me"], ["us"]) and rest[1:2] != ["know"]
    if text == "able":
        return False
    if text in _AIMS:
        if rest[:1] == ["to"] and rest[1:2] and rest[1].startswith("xperson"):
            return False  # "the request to Tomas"
        reach = rest[1:2] if rest[:1] and rest[0] in _WHO else rest[:1]
        if text in ("like", "want", "wanted") and any(w in _SHOWN or w == "let" for w in rest[:3]):
            return False
        return reach == ["to"] or (text in ("how", "order") and rest[:1] == ["to"])
    return text in _ACTIVE_AIMS and at + 1 == positions[0] and words[positions[0]].form != "ed"


# -- lists ---------------------------------------------------------------------------------------
def _heading(sentences: Sequence[Sentence], number: int) -> Sentence | None:
    if not sentences[number].bullet:
        return None
    at = number
    while at > 0 and sentences[at].bullet:
        at -= 1
    return sentences[at] if sentences[at].header and not sentences[at].bullet else None


def _ahead(heading: Sentence) -> Polarity:
    """Return what a heading makes of the items below it: `I was not able to:` denies them, `Would
    you like me to:` asks, and `so I sent nothing more:` does neither.
    """
    words = heading.words
    place = len(words) - 1
    clause = _clause(heading, place)
    if any(
        w.text in ("would", "should", "shall", "want", "like", "next", "can") for w in words[:2]
    ) or _supposed(heading, _signs(heading), place, set(), clause):
        return "open"
    one_of_them = {"one", "1"} & {w.text for w in words} and "other" in {w.text for w in words}
    if any(_negates(heading, i, set()) for i in range(clause, len(words))):
        return "yes" if one_of_them or words[-1].text in ("more", "else") else "no"
    return "open" if any(w.text in _AHEAD for w in words) else "yes"
