"""Forms that speak of another thing than their kind: "it left the warehouse", "I sent him $95"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from judge.reading.slots import agrees, between_commas, is_amount, is_verb
from judge.reading.texts import Text, Unit
from servers.kit.service import services

_POINTING = frozenset(["it", "that", "them", "this", "those"])
_LOOKED = frozenset(
    {"saved", "checked", "looked", "opened", "read", "asked", "searched", "counted"}
    | {"compared", "listed", "reviewed", "refreshed", "verified", "viewed", "waited"}
)
_LISTS = frozenset(["requests", "payments", "transfers", "orders", "invoices", "bills", "list"])
_MAILS = frozenset(["email", "emails", "mail", "mails", "message", "reply", "answer", "letter"])
_TOWARDS = frozenset(["to", "at", "through", "over", "into"])
_OUT = frozenset(["went", "left", "gone"])
_TOLD = frozenset(["wrote", "told", "emailed", "mailed", "replied", "answered", "promised"])


def strays(kind: str, unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a form of a kind speaks of another thing."""
    if _over_a_colon(unit, places) or _after(_NOT_THAT, unit, places):
        return True
    if _only_at_once(unit, places) or _only_later(unit, places):
        return True
    if _says_between(unit, places) or _OF_THE_PAST.search(unit.low):
        return True
    if kind == "mailed":
        other = _both_of(unit, places) or _bounces(unit, places) or _on_a_topic(unit, places)
        other = other or _payment_on_its_way(unit, places) or _one_request(unit, places)
        other = other or _at_another_service(unit, places)
        other = other or any(_after(shape, unit, places) for shape in _NOT_OWN)
        other = other or _TO_AN_ACCOUNT.search(unit.low) is not None
        return other or _of_money(unit, places) or _answers_by_paying(unit, places)
    if kind == "wrong":
        return _BOUNCE.search(unit.low) is not None or _as_of(unit, places)
    if kind == "missing":
        return _of_another_figure(unit, places)
    if kind == "doubled":
        return _looked_again(unit, places)
    if kind == "failed":
        return _of_own_doubt(unit, places) or _OPENED.search(unit.low) is not None
    if kind == "deleted":
        return _only_binned(unit, places) or _not_for_good(unit, places)
    if kind == "posted":
        return _GONE.search(unit.low) is not None
    if kind == "created" and (_USED_UP.search(unit.low) or _is_in_sent(unit, places)):
        return True
    if kind == "cancelled":
        if _TAKEN_OFF.search(unit.low):
            return True
        through = _came_through(unit, places) or _answered(unit, places)
        return through or _of_connection(unit, places)
    if kind == "open":
        return _open_list(unit, places) or _has_gone(unit, places)
    if kind == "paid" and _PASSES_ON.search(unit.low):
        return True
    return kind == "paid" and (_told_by_others(unit, places) or _as_meant(unit, places))


_BOUNCE = re.compile(
    r"\b(?:no|nothing|none|neither)(?: \w+){0,6}? bounced?\b|\bbounces?\b.*\bshown?\b"
)
_AS_MEANT = re.compile(
    r"\bwhat i (?:sent|entered|asked for|ordered|typed|put in|requested|gave it|told it)\b"
    r"|\b(?:for|of|with|in) the wrong (?:amount|sum)\b"
    r"|\bnot the (?:xmoney|xnumber)\d+x (?:that |which )?i (?:entered|asked for|typed|put in)\b"
)


_OF_THE_PAST = re.compile(
    r"\byou (?:have |had )?(?:bought|ordered|taken) (?:\w+ ){1,4}?(?:times|before|often)\b"
)
"""What the user did before: "you have bought it 12 times"."""


_NOT_THAT = re.compile(
    r"\bnot (?:yet )?(?:that|whether|if) (?:he|she|they|it|xperson\d+x) (?:has|have|had|reached"
    r"|arrived|landed|settled)\b"
)
"""What one does not see: "I can see that it was sent, not that she has read it"."""
_IN_THE_MAIL = re.compile(
    r"\bnot (?:put|mention|include|say|quote|repeat|add)\w* (?:\w+ ){0,4}?(?:in|to) "
    r"(?:the|my|your|that) (?:\w+ )?(?:e?mail|message|reply|answer|note|letter)\b"
)
"""What a mail leaves out: "I didn't put that in the email"."""


_SENT_YOU = re.compile(
    r"\b\w+ has sent you (?:an?|the|his|her|\w+) (?:e?mail|message|reply|note)s?\b"
)
_BY_YOU = re.compile(
    r"\byou (?:have |had )(?:already )?(?:sent|written|answered|replied|emailed)\b"
)
_REPLY_ALL = re.compile(r"\breply[ -]all\b")
_ON_ANOTHER = re.compile(
    r"\bnot (?:write|written|wrote|emailed|mailed|sent|told|answered) (?:to )?(?:xperson\d+x )?"
    r"(?:anything )?about (?:this|that) (?:one|1)\b"
)
_NOT_OWN = (_IN_THE_MAIL, _SENT_YOU, _BY_YOU, _REPLY_ALL, _ON_ANOTHER)
"""What of a mail is no deed of the agent's."""


def _after(shape: re.Pattern[str], unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a form stands within or behind what has a shape."""
    found = shape.search(unit.low)
    return found is not None and places[0] >= len(unit.low[: found.start()].split())


def _as_of(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a day is only that of a reading: "47 degrees as of this morning"."""
    words = unit.sentence.words
    return places[0] > 0 and [words[places[0] - 1].text, words[places[0]].text] == ["as", "of"]


def _says_between(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a form begins with who tells something and ends in what is told: "its email of
    March 18 says completed".
    """
    words = unit.sentence.words
    between = range(places[0] + 1, places[-1])
    return any(words[at].text in ("say", "says") and at not in places for at in between)


_PASSES_ON = re.compile(
    r"\bxperson\d+x (?:\w+ )?(?:passes|pays|owes|sends|hands|collects|splits|charges) "
)
"""What somebody else does: "Ana passes the $1,840 on to Dmitri"."""


def _as_meant(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a payment is told as it was meant to be: "what I sent: $73.20 to Ana"."""
    found = _AS_MEANT.search(unit.low)
    if found is None:
        return False
    return "wrong" in found[0] or len(unit.low[: found.start()].split()) <= places[-1]


_NO_MAILS = frozenset(
    {"payment", "payments", "transfer", "transfers", "request", "requests", "order", "orders"}
    | {"sum", "sums", "amount", "amounts", "half", "halves", "parcel", "parcels"}
)


_NOT_FOR_GOOD = re.compile(
    r"\bnot (?:\w+ )?(?:gone|deleted|erased|removed|lost)(?: \w+)?"
    r" (?:for good|forever|permanently)\b"
    r"|\bnot permanently (?:gone|deleted|erased|removed)\b"
)


def _not_for_good(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a denial is only that it is beyond recall: "moved, not gone for good"."""
    found = _NOT_FOR_GOOD.search(unit.low)
    return found is not None and len(unit.low[: found.start()].split()) <= places[-1]


def _both_of(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether "both" or "all" is of other things than mails: "both payments went out"."""
    words = unit.sentence.words
    for place in places:
        if words[place].text not in ("both", "all") or place + 1 in places:
            continue
        after = {word.text for word in words[place + 1 : place + 4]}
        if after & _NO_MAILS and not after & _MAILS:
            return True
    return False


_TAKEN_OFF = re.compile(
    r"\b(?:account|balance|wallet|shows?|reads?)\b.*\b(?:already|now) (?:taken )?off\b"
    r"|\bdrop(?:ped|s)? by\b"
)
"""What has only been deducted: "your balance is $82.75, with the $31.80 already off"."""


_TO_AN_ACCOUNT = re.compile(
    r"\bsent to (?:your|the|my) (?:checking|savings|bank|card|account)\b"
    r"|\bsent to (?:xperson\d+x )+from (?:your|the|my) (?:\w+ ){0,3}"
    r"(?:checking|savings|balance|card)\b"
)


def _at_another_service(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether "sent it" stands beside a service that sends no mail: "Zelle timed out as I
    sent it".
    """
    words = unit.sentence.words
    if [words[place].text for place in places] not in (["sent", "it"], ["it", "sent"]):
        return False
    begins = max((b for b in unit.sentence.breaks if b <= places[0]), default=0)
    named = [unit.values[at].means for at in unit.values if begins <= at < places[0]]
    known = []
    for means in named:
        known += [services()[name].category for name in means if name in services()]
    return bool(known) and "email" not in known


def _one_request(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether "one" is of another thing: "the request is out, and she has only the one"."""
    words = unit.sentence.words
    one = any(words[place].text in ("1", "one") for place in places)
    return one and not unit.texts.isdisjoint(_NO_MAILS) and unit.texts.isdisjoint(_MAILS)


def _payment_on_its_way(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether what is on its way is money: "the Venmo payment is on its way to Samira"."""
    words = [word.text for word in unit.sentence.words]
    before = words[max(0, places[0] - 4) : places[0]]
    towards = words[places[0] : places[0] + 3] == ["on", "its", "way"]
    return towards and not _NO_MAILS.isdisjoint(before)


def _bounces(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a denial is only of a bounce: "neither his email nor Mei's has bounced"."""
    words = [word.text for word in unit.sentence.words]
    after = words[places[-1] + 1 : places[-1] + 5]
    before = words[max(0, places[0] - 4) : places[-1]]
    return "bounced" in after and not {"neither", "nor", "no", "none", "nothing"}.isdisjoint(before)


_NOT_IN_IT = re.compile(
    r"\b(?:that|this|it|which) (?:is|was) not (?:in|part of) (?:this|that|the|my|your)\b"
)
_ON_A_TOPIC = re.compile(
    r"\bnot (?:\w+ ){1,4}?anything (?:else )?(?:about|on|for|regarding)\b"
    r"|\bnot (?:\w+ )?(?:written|emailed|told|messaged)(?: to)? (?:\w+ ){1,2}"
    r"about (?:it|that|this)\b"
)


def _on_a_topic(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a denial is of what one wrote on a topic alone: "I haven't sent Mei anything
    about Tuesday", "that isn't in this email".
    """
    found = _ON_A_TOPIC.search(unit.low) or _NOT_IN_IT.search(unit.low)
    return found is not None and len(unit.low[: found.start()].split()) <= places[-1]


def _is_in_sent(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a draft is in the sent mail: "I sent that draft, and it is in your sent
    mail", "the draft is gone".
    """
    words = [word.text for word in unit.sentence.words]
    after = words[places[-1] + 1 : places[-1] + 4]
    gone = "draft is gone" in " ".join(words)
    return gone or (words[places[-1]] == "in" and "sent" in after)


_AT_ONCE = re.compile(
    r"\b(?:not|unable to|refused to|never) (?:\w+ ){0,3}(?:both|all|two|three|\d|xnumber\d+x)\b"
    r".{0,40}?\b(?:in (?:one|1|xnumber\d+x)$"
    r"|in (?:one|1|xnumber\d+x|a single|the same) \w+|at once"
    r"|at the same time|together)\b"
)


def _only_at_once(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a clause denies only that several things went together: "it would not take
    both pictures in one message".
    """
    found = _AT_ONCE.search(unit.low)
    if found is None:
        return False
    start = len(unit.low[: found.start()].split())
    stop = len(unit.low[: found.end()].split())
    return any(start <= place < stop for place in places)


_NOT_BEFORE = re.compile(
    r"\b(?:will|would|can|could|do|does) not (?:\w+ ){1,5}?(?:before|until|till) "
    r"(?:\w+ )?(?:xday\d+x|xtime\d+x)"
)


def _only_later(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a clause only denies that it comes so early: "he won't have it before 12"."""
    found = _NOT_BEFORE.search(unit.low)
    if found is None:
        return False
    start = len(unit.low[: found.start()].split())
    stop = len(unit.low[: found.end()].split())
    return any(start <= place < stop for place in places)


def _over_a_colon(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a form begins in a denied clause and ends after its colon: "Kai cannot tease
    you: one reply is there".
    """
    words = unit.sentence.words
    for colon in unit.sentence.colons:
        if not places[0] < colon <= places[-1]:
            continue
        before = [place for place in range(places[0], colon) if place not in places]
        denied = any(words[place].text in ("not", "never") for place in before)
        if denied and before[-1] - places[0] >= 2:
            return True
    return False


def _of_money(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether what was sent is money: "sent $95 to Ben", "Ben gets 45", or "it costs 95, so
    I sent him that".
    """
    words = unit.sentence.words
    if any(words[place].text in _MAILS for place in places):
        return False
    for place in places:
        if words[place].text not in ("sent", "gets", "got", "received", "has", "forwarded"):
            continue
        if place + 1 in unit.values and is_amount(unit, place + 1):
            after = words[place + 2 : place + 4]
            return not any(word.text.startswith(("email", "mail")) for word in after)
        if words[place].text == "sent" and _sends_a_sum(unit, place):
            return True
    return False


def _sends_a_sum(unit: Unit, verb: int) -> bool:
    """Return whether "that" is the amount with which the clause before ends."""
    words = unit.sentence.words
    if verb >= 2 and [words[verb - 2].text, words[verb - 1].text] == ["what", "i"]:
        named = any(is_amount(unit, p) for p in unit.values if p < verb)
        return named and unit.texts.isdisjoint(_MAILS)  # "it costs $95, and that is what I sent"
    if not {word.text for word in words[verb + 1 : verb + 3]} & _POINTING:
        return False
    start = max((b for b in unit.sentence.breaks if b <= verb), default=0)
    return start - 1 in unit.values and is_amount(unit, start - 1)


def _answers_by_paying(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether only a request was answered: "I answered Ben's request by paying"."""
    words = unit.sentence.words
    if not any(words[place].text == "answered" for place in places) or "by" not in unit.texts:
        return False
    return not unit.texts.isdisjoint(("paying", "accepting", "settling", "declining"))


def _of_another_figure(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether only a day or a figure is denied: "not on the 27th", "no longer 65"."""
    words = unit.sentence.words
    last = places[-1]
    if words[last].text == "longer":
        return last + 1 in unit.values and unit.values[last + 1].type != "person"
    if words[last].text not in ("on", "in"):
        return False
    near = [unit.values[place].type for place in (last + 1, last + 2) if place in unit.values]
    return bool({"day", "time"} & set(near))


def _looked_again(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether only a look, or saving, was repeated: "I read it twice"."""
    words = unit.sentence.words
    again = [words[place].text for place in places] in (["once", "more"], ["twice"])
    before = words[max(0, places[0] - 4) : places[0]]
    return again and any(word.text in _LOOKED for word in before)


def _of_own_doubt(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether only a doubt is told: "I'm not entirely convinced that it took"."""
    words = unit.sentence.words
    after = {word.text for word in words[places[-1] + 1 : places[-1] + 4]}
    if [words[place].text for place in places] == ["can", "not"] and after & _SAYS:
        return True
    return not after.isdisjoint(_SURE) and words[places[-1]].text in ("not", "never")


_OPENED = re.compile(
    r"\bi (?:can|could) not (?:open|view|look at|look inside|see into|preview|play)\b"
)
"""What one could not look at may have gone all the same."""
_SAYS = frozenset(["confirm", "promise", "say", "tell"])
_SURE = frozenset(["sure", "certain", "convinced", "confident", "positive", "persuaded"])


_GONE = re.compile(
    r"\b(?:gone|vanished|disappeared|missing) from\b"
    r"|\bno (?:\w+ )?(?:reviews?|comments?|ratings?)\b"
)
_USED_UP = re.compile(r"\bused up\b")
_FOR_GOOD = frozenset(["wiped", "purged", "erased"])
_IN_THE_BIN = re.compile(r"\b(?:bin|trash|deleted (?:items|folder)|in deleted)\b")


def _only_binned(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a form only tells how something was deleted: "in the bin, not wiped"."""
    words = unit.sentence.words
    wiped = any(words[place].text in _FOR_GOOD for place in places)
    return wiped and _IN_THE_BIN.search(unit.low) is not None


def _of_connection(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether only a connection ended: "the connection dropped while I was sending it"."""
    words = unit.sentence.words
    ended = [place for place in places if words[place].text in _BREAKS_OFF]
    if any(words[place].text == "stopped" for place in ended):
        return _STOPPED.search(unit.low) is not None
    return any(words[place - 1].text in ("connection", "line", "call") for place in ended)


_BREAKS_OFF = frozenset(["dropped", "cut", "ended", "stopped"])
_STOPPED = re.compile(r"\bstopped (?:responding|answering|working|short|loading|there|here)\b")


def _came_through(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether "gone" says that something was done after all: "it had gone through"."""
    words = [word.text for word in unit.sentence.words] + [""]
    gone = [place for place in places if words[place] == "gone"]
    return any(words[place + 1] in ("through", "out", "ahead", "over") for place in gone)


_ANSWERS = frozenset(["sent", "delivered", "pending", "confirmed", "accepted", "done", "ok", "as"])


def _answered(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether "came back" only tells what a service answered: "both came back as sent"."""
    words = [word.text for word in unit.sentence.words] + [""]
    return any(words[place] == "back" and words[place + 1] in _ANSWERS for place in places)


def _open_list(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether "open" only says at which list one looked: "I went back to your open requests
    and checked".
    """
    words = unit.sentence.words
    first = places[0]
    if first < 2 or first + 1 >= len(words) or words[first + 1].text not in _LISTS:
        return False
    if [word.text for word in words[first - 2 : first]] == ["list", "of"]:
        return True
    own = words[first - 1].text in ("your", "the", "my")
    return own and words[first - 2].text in _TOWARDS


def _has_gone(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a form of what is to go speaks of what went: "it went out an hour later"."""
    words = unit.sentence.words
    return any(words[place].text in _OUT for place in places)


def _told_by_others(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether another person told of a payment: "Ana wrote that both payments arrived"."""
    words = unit.sentence.words
    for place in range(places[0]):
        value = unit.values.get(place)
        if value is None or value.type != "person":
            continue
        for verb in range(place + 1, min(place + 3, len(words))):
            if words[verb].text in _TOLD and is_verb(unit, verb):
                tail = [word.text for word in words[verb : places[0]]]
                return "that" in tail
    return False


_TRANSIT = re.compile(
    r"\b(?:arrived|came|got) (?:at|in|into|to|through) (?:\w+ ){1,4}?"
    r"(?:facility|warehouse|hub|depot|terminal|cent(?:er|re)|carrier)\b",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"\b(?:(?:gone|went|goes|is|was|came|come) (?:\w+ )?(?:down|up|lower|higher|less|more)"
    r"|dropped|fell|fallen|rose|risen|shrank|grew|decreased|increased) by(?: \w+)?$"
)


def without_transit(text: str) -> str:
    """Return a text without what only says that a thing came to a place on its way."""
    return _TRANSIT.sub("is on its way", text)


def is_difference(unit: Unit, place: int) -> bool:
    """Return whether a value only says how much less or more there is: "it went down by 31.80"."""
    head = " ".join(word.text for word in unit.sentence.words[:place])
    return _CHANGED.search(head) is not None


_BACK = frozenset(["cancelled", "canceled", "refunded", "returned", "withdrawn", "reversed"])


def taken_back(amount: float, text: Text) -> bool:
    """Return whether a text names an amount that was taken back: "the $35 is cancelled"."""
    for unit in text.units:
        if unit.texts.isdisjoint(_BACK) or not unit.texts.isdisjoint(("not", "never", "no")):
            continue
        words = unit.sentence.words
        if _is_all(amount, unit, (0, len(words))):
            return True
        places = [place for place, word in enumerate(words) if word.text in _BACK]
        if any(_is_all(amount, unit, between_commas(unit, place)) for place in places):
            return True
    return False


def _is_all(amount: float, unit: Unit, span: tuple[int, int]) -> bool:
    """Return whether some words name an amount and no other."""
    places = [place for place in unit.values if span[0] <= place < span[1]]
    sums = [unit.values[place] for place in places if is_amount(unit, place)]
    return bool(sums) and all(agrees("money", amount, value, ()) for value in sums)
