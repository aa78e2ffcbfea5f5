"""Claims that are read by their values rather than by forms: figures, days and times, names,
sources and doubts.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence

from judge.reading.belonging import (
    alone_with,
    bound,
    chunk,
    ends_or_begins,
    of_range,
    of_thing,
    stretch,
)
from judge.reading.claims import Claim, vocabulary
from judge.reading.content import share, words_match
from judge.reading.facts import fact
from judge.reading.hits import Key, passage
from judge.reading.marks import believed, marked
from judge.reading.names import named
from judge.reading.outcome import Instance
from judge.reading.polarity import polarity
from judge.reading.slots import VALUES, agrees, is_amount, provider_names
from judge.reading.strays import is_difference
from judge.reading.texts import Spoken, Text, Unit, stems_of, taken_apart
from judge.reading.values import Value, aliases

_HEDGED = frozenset(
    [
        "may",
        "might",
        "must",
        "should",
        "perhaps",
        "maybe",
        "possibly",
        "probably",
        "likely",
        "potentially",
        "will",
        "would",
        "can",
        "could",
        "expected",
    ]
)
_ASKING = frozenset(
    ["if", "whether", "unless", "suppose", "assuming", "check", "see", "try", "ask"]
)
_OLD = re.compile(
    r"\b(?:old|earlier|previous|previously|originally|initially|first|stale|outdated|instead of"
    r"|rather than|was|were|had|used to|before|wrong|wrongly|not|fee|limit"
    r"|half|halves|share|portion|third|quarter|each|apiece|per|tips?|driver|courier|delivery"
    r"|tax|taxes|deposit|discount|refund|refunded)\b"
)
_BOUND = re.compile(
    r"\b(?:over|under|above|below|than|between|at least|up to|about|around)"
    r"(?: (?:a|an|the|your|just|of|to))? x(?:number|money|percent|temp)\d+x"
)
"""What makes a figure a bound; `Bells over Wassaw` is only a name."""
_APART = re.compile(
    r"\bby (?:\w+ )?x(?:number|money|percent|temp)\d+x"
    r"|x(?:number|money|percent|temp)\d+x (?:\w+ )?(?:short|apart|off|warmer|colder|cooler|hotter"
    r"|higher|lower|cheaper|dearer|better|ahead|behind|to go|too)\b"
)
"""What makes a figure a difference: "Bend wins by two degrees", "three degrees short"."""
_FORMER = re.compile(
    r"\b(?:old|earlier|previous|previously|originally|initially|instead of|rather than|used to"
    r"|wrong|not|before|after)\b"
)
_WHEN = re.compile(r"\b(?:when|what time|what day|which day|how long|until|which date)\b", re.I)
_TYPES = {
    "percent": "percent|chance|probability|humidity|likelihood|odds",
    "temp": "high|low|temperature|warm|cold|degrees|warmest|coldest|lowest|highest|feels|f|c"
    "|fahrenheit|celsius",
    "money": "balance|price|total|cost|fee|amount|sum|share|rent|dollars|usd|paid|owe|tip|spending"
    "|figure|half|money|$",
}
_DISTRUST = re.compile(
    r"\b(?:but|though|although|which|however|so)\b.*\b(?:(?:not|never) (?:\w+ )?(?:rely|trust"
    r"|add up|possible|plausible|be right|be true|be correct)|suspicious(?:ly)?|looks wrong"
    r"|seems? wrong|is wrong|must be wrong|is stale|is outdated)\b"
)
_NEGATORS = frozenset(["no", "never", "nor", "neither", "none", "nothing", "without", "instead"])
_BE = frozenset(
    re.findall(
        r"\w+",
        """
        is be was are the a an at to on in by of about quite exactly really total worth yet it your
        amount figure come comes cost costs until from for just only rather that than and or now
        """,
    )
)
"""Words that may stand between a "not" and the value that it denies."""
_DENIED_SOURCE = re.compile(
    r"\b(?:not|never|nothing|none)(?: \w+){0,3} (?:from|by|via|according|source|come|comes|came)\b"
)
_DOWN = re.compile(
    r"\b(?:down|unavailable|unreachable|offline|error|failed|fails|failing|refused|timed out"
    r"|time out|not respond\w*|not available|not reach\w*|no data|maintenance|outage|quota"
    r"|not working"
    r"|rate limit\w*|could not get|could not reach|out of service|not load\w*|did not answer|503)\b"
)
_FORECAST = ("percent", "temp", "number", "money", "time")
_OFFERED = re.compile(
    r"\b(?:i|we) (?:can|could|would|might) (?:also |still |instead )?"
    r"(?:see|look|check|use|get|take|go|try|read|ask)\b"
)
"""What one could look at is the source of nothing yet."""
_HAS_NONE = re.compile(
    r"\b(xprovider\d+x) (?:itself |still |only )?(?:shows?|showed|lists?|listed|has|had|gives?|gave"
    r"|reports?|reported) (?:no|nothing|none)\b"
)
"""What a service does not have is not from it: "The Weather Channel shows no alerts"."""
_AGREES_WITH = re.compile(
    r"\b(?:has|have|carr(?:y|ies)|shows?|lists?|says?|gives?|reports?) (?:just )?the same\b"
    r"|\b(?:agrees?|matche?s|confirms? (?:it|this|that)|both)\b"
)
"""What only bears out another service is not the source."""
_SOURCED = re.compile(
    r"\b(?:according to|per|from|source|sources|via|by|used|using|checked|on|asked|based on|went"
    r" with|fell back on|switched to|turned to)(?: \w+){0,2} (xprovider\d+x)"
    r"|(xprovider\d+x)(?: \w+){0,3} (?:says?|shows?|gives?|gave|expects?|forecasts?|reports?"
    r"|has|lists?|puts?"
    r"|predicts?|calls|confirms?|data|forecast|reading|said|showed|reported|figures?|numbers?)\b"
)


def special_instances(claim: Claim, key: Key, spoken: Spoken) -> list[Instance]:
    """Return the instances of a claim whose kind is not read by forms."""
    frame = vocabulary()[claim.kind].frame
    return _READERS[frame](claim, key, spoken)


_TURNED_DOWN = re.compile(
    r"(?:\w+ ){0,2}?(?:was|were|got|has been) (?:rejected|refused|declined|dropped|lost|never)\b"
)
"""What became of a thing with a day or a figure: "the payment from April 2 was rejected"."""


def _value_of(key: Key, unit: Unit, place: int, clause: str = "") -> str:
    """Return `yes`, `no` or `open` for the value at a place; a forecast may be hedged."""
    marks = marked(*key)
    if unit.number in marks.either or unit.sentence.question:
        return "open"
    value, _ = polarity(passage(key), unit.number, [place])
    if value == "no" and not clause and _not_of_value(unit, place):
        value = "yes"
    after = " ".join(word.text for word in unit.sentence.words[place + 1 : place + 5])
    if value == "yes" and _TURNED_DOWN.match(after):
        return "open"
    if value == "yes" and (_distrusted(unit, place) or is_difference(unit, place)):
        return "open"
    words = {word.text for word in unit.sentence.words[:place]}
    if value == "open" and not words & _ASKING:
        near = {word.text for word in unit.sentence.words[max(0, place - 3) : place]}
        if "would" in near and near & {"become", "begin", "start", "move"}:
            return "open"
        ordered = _ORDERED.search(unit.low) is not None and _not_of_value(unit, place)
        denied = near & {"not", "never", "no"} and not ordered
        value = "no" if denied else "yes"
    if value == "yes" and believed(unit, place, _HEDGED | {"to", "be", "appears", "it"}):
        head = " ".join(unit.low.split()[:place])
        if re.search(r"\b(?:i|we) (?:\w+ )?(?:think|believe|guess|assume|suspect|hope)\b", head):
            return "open"
    return value


_ORDERED = re.compile(r"\b(?:do|must|should) not\b")


def _not_of_value(unit: Unit, place: int) -> bool:
    """Return whether a "not" before a value is of another verb: "please don't pay the $14"."""
    words = [word.text for word in unit.sentence.words[:place]]
    if re.search(r"\bnot (?:true|so|the case|correct|right) that\b", unit.low):
        return False
    if any(word in _NEGATORS for word in words) or "not" not in words:
        return False
    last = len(words) - 1 - words[::-1].index("not")
    return not set(words[last + 1 :]) <= _BE and last + 1 < len(words)


def _distrusted(unit: Unit, place: int) -> bool:
    """Return whether a value is told only to say that it cannot be right."""
    tail = " ".join(word.text for word in unit.sentence.words[place + 1 :])
    return _DISTRUST.search(tail) is not None


def _wide(text: Text, unit: Unit, spoken: Spoken, asked: bool = True) -> list[frozenset[str]]:
    stems = list(unit.stems)
    for other in text.around(unit):
        stems += other.stems
    stems += [stems_of(column) for column in unit.columns]
    if asked:
        stems.append(stems_of(spoken.asked))
    return stems


def _own(text: Text, unit: Unit) -> list[frozenset[str]]:
    stems = list(unit.stems)
    above = text.heading(unit)
    if above is not None:
        stems += above.stems
    return stems + [stems_of(column) for column in unit.columns]


def _cell(unit: Unit, place: int) -> list[frozenset[str]]:
    """Return the stems of the table header over a value."""
    if not unit.columns:
        return []
    column = sum(1 for b in unit.sentence.breaks if 0 < b <= place)
    return [stems_of(unit.columns[column])] if column < len(unit.columns) else []


# -- figures -------------------------------------------------------------------------------------
def _figures(claim: Claim, key: Key, spoken: Spoken) -> list[Instance]:
    text = taken_apart(*key)
    want = claim.slots.get("is")
    of = claim.slots.get("of", "")
    found = []
    types = _figure_types(claim)
    tops = _tops(text, of, types)
    for unit in text.units:
        places = [p for p, v in unit.values.items() if v.type in types]
        if any(_in_fahrenheit(unit.values[p]) for p in places):
            places = [p for p in places if not _in_celsius(unit.values[p])]
        if not places:
            continue
        cents = want is not None and want != int(want)
        distinct = cents and _infer(claim) in (None, "money")
        kinds: list[frozenset[str]] = []
        for place in places:
            kinds += _sort_of(unit.values[place])
        near = not of or words_match(of, _wide(text, unit, spoken) + kinds)
        if not near and not distinct:
            continue
        scores = {
            p: share(of, chunk(unit, p, types) + _cell(unit, p) + _sort_of(unit.values[p]))
            if of
            else 1.0
            for p in places
        }
        best = max(scores.values())
        for place in places:
            value = unit.values[place]
            exact = want is not None and agrees("value", want, value, ())
            rough = (
                near and not distinct and not any(_in_fahrenheit(v) for v in unit.values.values())
            )
            right = want is None or exact or (rough and _is_figure(want, value))
            right = right or (near and not distinct and _rounds(want, value))
            if unit.number not in tops and not (right and distinct):
                continue
            if scores[place] < best and not (right and distinct):
                continue
            said = _value_of(key, unit, place)
            if right and said in ("yes", "no"):
                kind = "claims" if said == "yes" else "denies"
                found.append(Instance(unit, place, kind))
            elif _counts(unit, place, claim):
                continue
            elif want is not None and said == "yes" and not right:
                alone = sum(score == best for score in scores.values()) == 1
                sure = value.type != "number" or _infer(claim) is not None or len(places) == 1
                sure = sure or bound(unit, place, of, types)
                full = share(of, _own(text, unit) + _sort_of(value)) == 1.0 and scores[place] >= 0.5
                doubted = not marked(*key).unsure.isdisjoint(
                    (unit.number - 1, unit.number, unit.number + 1)
                )
                full = full and not doubted
                if of and alone and sure and full and not _qualified(unit, of):
                    other = f"says {value.raw}, not {want:g}"
                    only = alone_with(unit, place, of, types)
                    made = Instance(unit, place, "other", contradiction=other, bound=only)
                    found.append(made)
    return found


def _counts(unit: Unit, place: int, claim: Claim) -> bool:
    """Return whether a bare number counts things where a claim wants money, "for two days", or
    measures something else than it does: "0.27 inches" is no temperature.
    """
    value = unit.values[place]
    if value.type != "number" or _infer(claim) is None:
        return False
    after = unit.sentence.words[place + 1 : place + 2]
    if after and after[0].text in _MEASURES:
        return True
    return _infer(claim) == "money" and not is_amount(unit, place)


_MEASURES = frozenset(
    re.findall(
        r"\w+",
        "inch inches mph knots mile miles km kilometers feet ft meters minute minutes hour hours"
        " hpa kwh pounds lb oz",
    )
)
"""Units of what is neither money, a temperature nor a percentage."""


def _qualified(unit: Unit, of: str) -> bool:
    """Return whether a sentence tells of a former figure, a bound, a share, a difference or another
    sum.
    """
    if _BOUND.search(unit.low) or _APART.search(unit.low):
        return True
    own = stems_of(of.replace("|", " "))
    return any(found[0] not in own for found in _OLD.finditer(unit.low))


def _sort_of(value: Value) -> list[frozenset[str]]:
    """Return what a value tells by its unit alone: degrees are a temperature."""
    return [frozenset(["temperature"])] if value.type == "temp" else []


def _tops(text: Text, of: str, types: Sequence[str]) -> set[int]:
    """Return the units with values that name most of what a figure is of."""
    scores = {}
    for unit in text.units:
        if any(value.type in types for value in unit.values.values()):
            scores[unit.number] = share(of, _own(text, unit)) if of else 1.0
    best = max(scores.values(), default=0.0)
    return {number for number, score in scores.items() if score == best}


def _infer(claim: Claim) -> str | None:
    return type_of(claim.slots.get("unit", ""), claim.slots.get("of", ""))


@functools.lru_cache(maxsize=1024)
def type_of(unit: str, of: str) -> str | None:
    """Return the type of value that a figure's unit and name tell of."""
    stems = stems_of(f"{unit} {of}".replace("|", " "))
    for type_, words in _TYPES.items():
        if stems & set(words.split("|")):
            return type_
    return "money" if "$" in unit else None


def _figure_types(claim: Claim) -> tuple[str, ...]:
    known = _infer(claim)
    return (known, "number") if known else VALUES["value"]


def _in_fahrenheit(value: Value) -> bool:
    return value.type == "temp" and bool(re.search(r"f\b|fahr", value.raw.lower()))


def _in_celsius(value: Value) -> bool:
    return value.type == "temp" and bool(re.search(r"c\b|cels", value.raw.lower()))


def _is_figure(want: float, value: Value) -> bool:
    """Return whether degrees without a unit, or in Celsius, are those of a claim."""
    number = value.means[0]
    converts = value.type == "temp" and not _in_fahrenheit(value)
    return converts and want > number and abs(number * 9 / 5 + 32 - want) < 0.95


def _rounds(want: float | None, value: Value) -> bool:
    """Return whether a value is a figure, rounded."""
    if want is None:
        return False
    number = value.means[0]
    rounds = (
        value.type in ("temp", "percent", "number") and want != int(want) and number == round(want)
    )
    return rounds and "." not in value.raw


# -- days and times ------------------------------------------------------------------------------
_LOOKED_AT = re.compile(
    r"\bi (?:\w+ )?(?:looked|checked|read|tried|asked|opened)(?: \w+){0,3}?"
    r" (?:at|around|about|just after|just before|of)(?: about)?$"
)


def _of_look(unit: Unit, place: int) -> bool:
    """Return whether a time is only when one looked: "when I last looked there, at about 9:48"."""
    return _LOOKED_AT.search(" ".join(unit.low.split()[:place])) is not None


def _whens(claim: Claim, key: Key, spoken: Spoken) -> list[Instance]:
    text = taken_apart(*key)
    what = claim.slots.get("what", "")
    wanted = [slot for slot in ("day", "time") if slot in claim.slots]
    found = []
    for unit in text.units:
        asked = bool(_WHEN.search(spoken.asked)) and not unit.sentence.question
        if what and not asked and not words_match(what, _wide(text, unit, spoken)):
            continue
        right = {}
        wrong = {}
        narrowed = False
        for slot in wanted:
            every = [p for p, v in unit.values.items() if v.type == slot]
            every = [p for p in every if not _of_look(unit, p)]
            places = of_range(what, unit, every) or of_thing(what, unit, every)
            good = [p for p in places if agrees(slot, claim.slots[slot], unit.values[p], ())]
            good = [p for p in good if _value_of(key, unit, p) == "yes"] or good
            if good:
                right[slot] = good[0]
            elif places:
                wrong[slot] = places
                narrowed = 0 < len(places) < len(every) and ends_or_begins(what, unit, places[0])
        if what and len(wrong) > 1:
            wrong = _beside(what, unit, wrong)
        if right and not wrong and _others_near(claim, text, unit, wanted, set(right)):
            place = max(right.values())
            said = _value_of(key, unit, place)
            if said != "open":
                kind = "claims" if said == "yes" else "denies"
                found.append(Instance(unit, place, kind))
        elif len(wrong) == 1 and what:
            slot, places = next(iter(wrong.items()))
            said = _value_of(key, unit, places[0])
            full = share(what, _own(text, unit)) == 1.0
            full = full and not _of_somebody_else(what, unit, places[0])
            former = _FORMER.search(_clause_low(unit, places[0])) is not None
            if said == "yes" and len(places) == 1 and full and not former:
                raw = unit.values[places[0]].raw
                other = f"says {raw}, not {_shown(slot, claim.slots[slot])}"
                made = Instance(unit, places[0], "other", contradiction=other, bound=narrowed)
                found.append(made)
    if not wanted and what:
        for unit in text.units:
            dated = any(v.type in ("day", "time") for v in unit.values.values())
            if dated and words_match(what, unit.stems) and not unit.sentence.question:
                found.append(Instance(unit, 0, "claims"))
    return found


def _of_somebody_else(what: str, unit: Unit, place: int) -> bool:
    """Return whether a clause with a day names another person, and not the thing: "the 212 for Ana
    on April 6 is off, and what's still planned is Hannah".
    """
    start, stop = stretch(unit, place)
    if share(what, unit.stems[start:stop]) > 0:
        return False
    return any(start <= at < stop and v.type == "person" for at, v in unit.values.items())


def _beside(what: str, unit: Unit, wrong: dict[str, list[int]]) -> dict[str, list[int]]:
    """Return the places of days and times that share a clause with the thing they are said of."""
    kept = {}
    for slot, places in wrong.items():
        near = []
        for place in places:
            start, stop = stretch(unit, place)
            if share(what, unit.stems[start:stop]) == 1.0:
                near.append(place)
        if near:
            kept[slot] = near
    return kept or wrong


def _shown(slot: str, want: object) -> str:
    if slot == "time" and isinstance(want, int):
        return f"{want // 60:02}:{want % 60:02}"
    return str(want)


def _others_near(
    claim: Claim, text: Text, unit: Unit, wanted: Sequence[str], right: set[str]
) -> bool:
    """Return whether slots that a sentence leaves out, if they are needed, stand beside it."""
    for slot in wanted:
        if slot in right or slot not in claim.needed:
            continue
        near = [v for v in Text(tuple(text.around(unit))).values if v.type == slot]
        if not any(agrees(slot, claim.slots[slot], value, ()) for value in near):
            return False
    return True


# -- sources -------------------------------------------------------------------------------------
def _sources(claim: Claim, key: Key, spoken: Spoken) -> list[Instance]:
    text = taken_apart(*key)
    names = set(provider_names(claim.slots.get("provider", "")))
    found = []
    category = _rivals(names)
    offering = any(unit.sentence.question for unit in text.units)
    agreeing = False
    for unit in text.units:
        if offering and not any(value.type in _FORECAST for value in unit.values.values()):
            continue  # what is there to ask is no source yet
        sourced = {m[1] or m[2] for m in _SOURCED.finditer(unit.low)}
        lacking = set(_HAS_NONE.findall(unit.low))
        for place, value in unit.values.items():
            if value.type != "provider":
                continue
            clause = _clause_low(unit, place)
            said = _value_of(key, unit, place, clause)
            if _DOWN.search(clause) or said == "open" or _OFFERED.search(unit.low):
                continue
            if unit.sentence.words[place].text in lacking:
                continue
            if names & set(value.means) and said == "yes" and _AGREES_WITH.search(clause):
                agreeing = True
                continue
            if names & set(value.means):
                if said == "no" and not _DENIED_SOURCE.search(clause):
                    continue
                if said == "no":
                    found.append(Instance(unit, place, "denies"))
                else:
                    found.append(Instance(unit, place, "claims"))
                continue
            rival = bool(set(value.means) & category) and said == "yes"
            if rival and unit.sentence.words[place].text in sourced:
                other = f"says {value.raw}, not {claim.slots['provider']}"
                found.append(Instance(unit, place, "other", contradiction=other))
    own = any(instance.kind == "claims" for instance in found)
    return [] if agreeing and not own else found


def _rivals(names: set[str]) -> set[str]:
    """Return the services of a category: the other weather services of a weather service."""
    category = {name.split("_")[-1] for name in names}
    pairs = [{"weather_com", "yahoo_weather"}]
    for pair in pairs:
        if names & pair:
            return pair - names
    known: set[str] = set()
    for services in aliases().values():
        known |= set(services)
    return {name for name in known if name.split("_")[-1] in category} - names


def _clause_low(unit: Unit, place: int) -> str:
    words = unit.sentence.words
    ends = sorted(unit.sentence.breaks | {i for i, w in enumerate(words) if w.text in _TURNS})
    start = max((e for e in ends if e <= place), default=0)
    stop = min((e for e in ends if e > place), default=len(words))
    return " ".join(word.text for word in words[start:stop])


_TURNS = frozenset(
    [
        "but",
        "so",
        "because",
        "since",
        "while",
        "and",
        "although",
        "though",
        "however",
        "instead",
        "therefore",
    ]
)


# -- doubts --------------------------------------------------------------------------------------
def _unconfirmed(claim: Claim, key: Key, spoken: Spoken) -> list[Instance]:
    text = taken_apart(*key)
    found = []
    for number in sorted(marked(*key).unsure):
        unit = text.units[number]
        what = claim.slots.get("what", "")
        if not what or words_match(what, _wide(text, unit, spoken, asked=False)):
            found.append(Instance(unit, 0, "claims"))
    return found


_READERS: dict[str, Callable[[Claim, Key, Spoken], list[Instance]]] = {
    "figure": _figures,
    "when": _whens,
    "named": named,
    "source": _sources,
    "unconfirmed": _unconfirmed,
    "fact": fact,
}
