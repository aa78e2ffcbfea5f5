"""The phrases reader: what a text makes of a claim, by the forms of the vocabulary."""

from __future__ import annotations

import functools
import itertools
import re
from typing import Any, Literal

from judge.reading.claims import Claim, Parts, vocabulary
from judge.reading.clauses import clause_of
from judge.reading.content import content, known_words, slot_words, topic_of
from judge.reading.deeds import done, says_done
from judge.reading.doubts import doubt_of, doubted
from judge.reading.hedges import supposed
from judge.reading.hits import Hit, Key, hits, points
from judge.reading.marks import marked, until_later
from judge.reading.outcome import (
    Instance,
    Reading,
    conflict,
    contradiction,
    firm,
    outnamed,
    stance,
    together,
)
from judge.reading.outcome import taken_back_until as until_of
from judge.reading.slots import (
    VALUES,
    Group,
    agrees,
    around,
    covered,
    elsewhere,
    foreign,
    groups,
    is_amount,
    provider_names,
    segment,
    stands_for,
    state_of,
    types_of,
    wide_agrees,
    without_senders,
)
from judge.reading.special import special_instances
from judge.reading.strays import taken_back
from judge.reading.texts import Spoken, Text, Unit, stems_of, taken_apart, words_in
from judge.reading.values import Value, aliases
from judge.reading.weather import WEATHER, of_another_moment, of_another_place
from servers.kit.service import services


def read(claim: Claim, spoken: Spoken) -> Reading:
    """Return what a text makes of a claim."""
    return _read(claim.parts, spoken)


@functools.lru_cache(maxsize=8192)
def _read(parts: Parts, spoken: Spoken) -> Reading:
    name, slots, needed = parts
    claim = Claim(name, dict(slots), needed)
    key = _key(claim, spoken)
    kind = vocabulary()[claim.kind]
    text = taken_apart(*key)
    marks = marked(*key)
    if kind.frame in ("deed", "state"):
        instances = _instances(claim, key, spoken)
    else:
        instances = special_instances(claim, key, spoken)
        if kind.frame != "unconfirmed":
            instances = [instance for instance in instances if not _is_supposed(instance)]
    if kind.deed is None:
        instances = [i for i in instances if i.unit.number not in marks.disowned]
    standing = conflict(instances, marks)
    instances = together(instances, _everyone(claim))
    if claim.kind in WEATHER and any(i.kind == "claims" for i in instances):
        instances = [i for i in instances if not _is_vague_denial(i)]
    doubt = None
    if kind.frame not in ("unconfirmed", "source"):  # what could not be confirmed has a source
        doubt = doubt_of(claim, key, spoken)
    if doubt is not None:
        instances = [i for i in instances if not doubted(i, doubt)]
    found, shows = stance(instances, marks)
    where = "" if shows is None else shows.unit.raw
    named = frozenset() if shows is None else shows.named
    own = frozenset() if shows is None else shows.own
    if doubt is not None and found == "claims":
        last = max(i.unit.number for i in instances if i.kind == "claims")
        if last > doubt.number or until_later(doubt):
            doubt = None
    if found == "silent" and kind.deed is not None and doubt is None and not claim.needed:
        where = _by_done(spoken, key, instances)
        found = "claims" if where else found
    against = contradiction(instances, marks)
    other = "" if against is None else against.contradiction
    slot = "" if against is None else against.slot
    if against is not None and found == "claims":
        found = "silent"
        where = against.unit.raw
    if against is not None and found != "claims":
        where = where or against.unit.raw
        named = named or against.named
        own = own or against.own
    if doubt is not None and not where:
        where = doubt.raw
    assert text.units or found == "silent"
    sure = against is not None and against.bound
    taken = against if against is not None and found != "claims" else shows
    clause = clause_of(taken.unit, taken.place) if taken and taken.unit.raw == where else ""
    denied = shows is not None and found == "denies"
    until = until_of(shows) if denied else -1
    stands = firm(instances, marks, shows, until) if denied else ""
    claimed = shows is not None and found == "claims"
    shaky = claimed and outnamed(instances, marks, shows)
    return Reading(
        found, where, other, doubt is not None, slot, named, own=own, bound=sure, clause=clause,
        until=until, firm=stands, shaky=shaky, conflict=standing,
    )  # fmt: skip


def _key(claim: Claim, spoken: Spoken) -> Key:
    """Return what a text is taken apart with: also the people whom only the claim names."""
    people = list(spoken.people)
    for slot, type_ in vocabulary()[claim.kind].slots.items():
        if type_ in ("person", "people") and slot in claim.slots:
            given = claim.slots[slot]
            for name in (given,) if isinstance(given, str) else given:
                if name not in people and "@" not in name:
                    people.append(name)
    return spoken.text, spoken.today, tuple(people)


def _is_supposed(instance: Instance) -> bool:
    return instance.kind == "claims" and supposed(instance.unit, instance.place)


def _is_vague_denial(instance: Instance) -> bool:
    return instance.kind == "denies" and not instance.named


def _everyone(claim: Claim) -> frozenset[str]:
    types = vocabulary()[claim.kind].slots
    found: set[str] = set()
    for slot, want in claim.slots.items():
        if types[slot] == "people":
            found |= set(want)
    return frozenset(found)


# -- deeds and states ----------------------------------------------------------------------------
_OF_TEXTS = frozenset({"wrong", "failed", "missing", "returned", "created"})
"""Kinds whose forms a sentence makes, too, that takes back what was said."""


def _instances(claim: Claim, key: Key, spoken: Spoken) -> list[Instance]:
    found = []
    back = marked(*key).takes_back if claim.kind in _OF_TEXTS else frozenset()
    for hit in hits(claim.kind, key):
        made = None if hit.unit.number in back else _instance(claim, key, hit, spoken)
        if made is not None:
            found.append(made)
    return found


def _instance(claim: Claim, key: Key, hit: Hit, spoken: Spoken) -> Instance | None:
    unit = hit.unit
    span = (0, len(unit.sentence.words)) if hit.whole or unit.row else segment(unit, hit.places)
    best: Instance | None = None
    found = groups(unit, span, types_of(claim.kind))
    if claim.kind == "alert":  # it begins on one day and ends on another
        pairs = itertools.chain.from_iterable(group.values for group in found)
        found = [Group(tuple(pairs), found[0].stems)]
    for group in found:
        made = _of_group(claim, key, hit, span, group, spoken)
        if made is None:
            continue
        if best is None or _rank(made) > _rank(best) or _corrects(made, best):
            best = best if best is not None and _corrects(best, made) else made
    return best


def _corrects(one: Instance, other: Instance) -> bool:
    """Return whether a place names another value of a slot of which a claim beside it names none:
    "$92 from Mei for the three mugs" is no claim of the 96 because of the three.
    """
    if not one.contradiction or other.kind != "claims":
        return False
    return one.slot not in other.named and other.named <= one.named


def _rank(instance: Instance) -> int:
    return {"other": 0, "open": 1, "denies": 2, "claims": 3}[instance.kind]


def _of_group(
    claim: Claim, key: Key, hit: Hit, span: tuple[int, int], group: Group, spoken: Spoken
) -> Instance | None:
    kind = vocabulary()[claim.kind]
    people = key[2]
    text = taken_apart(*key)
    unit = hit.unit
    place = hit.places[-1]
    group = without_senders(claim.kind, unit, group)
    if claim.kind in WEATHER and of_another_place(claim, hit, group, key):
        return None
    named_providers = [value.means for value in group.of(("provider",))]
    if hit.value == "no" and kind.deed is not None and not named_providers:
        named_providers = _doers(unit, kind.deed.category)[:1] or _theirs(text, unit)
        via = claim.slots.get("via")
        if via is not None and named_providers and via not in named_providers[0]:
            return None
    providers = frozenset(itertools.chain.from_iterable(named_providers))
    agreed = set()
    own = set()
    differing = []
    within = 0
    part: frozenset[str] = frozenset()
    for slot, want in claim.slots.items():
        type_ = kind.slots[slot]
        state, raw = state_of(type_, want, group, people)
        amount = _other_amount(claim.kind, type_, key, hit, group) if state == "absent" else ""
        if state == "differs" and kind.frame == "state" and type_ in ("day", "time"):
            state = "agrees" if _follows(slot, claim, hit, text) else state
        if state == "agrees":
            agreed.add(slot)
            if not _only_pointed(type_, group) or words_in(unit.stems, topic_of(claim.kind)):
                own.add(slot)
            within += type_ != "provider"
        elif state == "differs" or amount:
            differing.append((slot, raw or amount, want))
        elif type_ == "words" and _names_another(claim, slot, hit, span):
            return None
        elif wide_agrees(claim, slot, text, unit, span, people):
            agreed.add(slot)
        elif state == "part":
            part = covered(want, group.of(("person",)), group, people)
            own.add(slot)
            within += 1
        elif type_ == "words" and not _leaves_out(claim, slot, hit, span, spoken):
            return None
    if differing:
        other = ""
        if len(differing) == 1 and hit.value == "yes" and _same(claim, agreed):
            slot, raw, want = differing[0]
            past = kind.slots[slot] == "money" and taken_back(want, text)
            past = past or _is_compared(unit, raw) or _is_deadline(unit, raw)
            past = past or (kind.slots[slot] == "money" and _stands_in(unit, want))
            past = past or (kind.slots[slot] == "money" and _SUMMED.search(unit.low) is not None)
            if not past and _is_sure(kind.slots[slot], want, raw, own):
                other = f"says {raw}, not {_shown(kind.slots[slot], want)}"
        near = frozenset(agreed)
        at = differing[0][0] if other else ""
        return Instance(
            unit,
            place,
            "other",
            hit.earlier,
            other,
            providers,
            named=near,
            slot=at,
            own=frozenset(own),
        )
    if claim.kind in WEATHER and of_another_moment(claim, hit):
        return None
    if hit.value == "yes" and kind.deed is not None and _was_still(hit):
        return None
    if (claim.kind == "mailed" or hit.value == "no") and _of_other_person(
        claim, text, unit, group, people
    ):
        return Instance(unit, place, "other", hit.earlier, "", providers)
    if not within and _points_away(claim, hit, span) and elsewhere(claim, text, unit, span, people):
        return Instance(unit, place, "other", hit.earlier, "", providers)
    if _vague(claim, hit, agreed, text, spoken):
        return None
    if hit.value == "no" and not within and _of_another(claim, hit, span, group):
        return None
    kinds: dict[str, Literal["open", "denies", "claims"]] = {
        "open": "open",
        "no": "denies",
        "yes": "claims",
    }
    if "to" in claim.slots and "to" not in agreed and _to_another(claim, hit):
        return None
    if _of_other_amount(claim, unit, agreed):
        own = set()
    named = frozenset(agreed)
    bare = all(at in unit.values for at in hit.places)
    made = Instance(
        unit, place, kinds[hit.value], hit.earlier, "", providers, part, named,
        own=frozenset(own), bare=bare,
    )  # fmt: skip
    if hit.value != "yes":
        return made
    if not all(_in_text(claim, slot, text, group, people) for slot in claim.needed - agreed):
        return None
    if kind.frame == "state" and not part and not _is_about(claim, agreed, hit, spoken):
        return None
    return made


def _theirs(text: Text, unit: Unit) -> list[tuple[str, ...]]:
    """Return the service of which a sentence says "their" or "its": the last that the one before
    it names.
    """
    if unit.texts.isdisjoint(("their", "its")) or not unit.number:
        return []
    before = text.units[unit.number - 1].values.values()
    return [value.means for value in before if value.type == "provider"][-1:]


_STOOD = re.compile(
    r"\b(?:was|were) still\b|\b(?:was|were|had (?:\w+ )?been) (?:\w+ )?(?:waiting|sitting"
    r"|lying|stuck|parked|pending)\b"
)


def _was_still(hit: Hit) -> bool:
    """Return whether a sentence only says how something stood: "it was waiting in the drafts"."""
    low = hit.unit.low.split()[: hit.places[-1] + 1]
    return _STOOD.search(" ".join(low)) is not None


def _of_other_person(
    claim: Claim, text: Text, unit: Unit, group: Group, people: tuple[str, ...]
) -> bool:
    """Return whether "him" is somebody else: of the sentence itself and the three before it, the
    nearest that names anybody does not name the claim's person.
    """
    want = claim.slots.get("to") or claim.slots.get("from")
    persons = group.of(("person",))
    singular = [v.raw for v in persons if v.raw.lower() in ("him", "her", "he", "she")]
    singular += unit.texts & {"he", "she"}
    if want is None or not singular or len(singular) < len(persons) or not unit.number:
        return False
    named: list[Value] = []
    for other in reversed(text.units[max(0, unit.number - 3) : unit.number + 1]):
        before = Group(tuple(other.values.items()), ())
        named = named or [value for value in before.of(("person",)) if value.means[0] != "?"]
    return bool(named) and not covered(want, named, Group((), ()), people)


def _follows(slot: str, claim: Claim, hit: Hit, text: Text) -> bool:
    """Return whether the sentence of a state or the next has the right value of a slot: "through
    Sunday midday. It ends at 13:00".
    """
    type_ = vocabulary()[claim.kind].slots[slot]
    near = Text(text.units[hit.unit.number : hit.unit.number + 2])
    values = [value for value in near.values if value.type == type_]
    return any(agrees(type_, claim.slots[slot], value, ()) for value in values)


def _stands_in(unit: Unit, want: float) -> bool:
    """Return whether an amount stands in a sentence, too: "the $96.40 is split, $19.28 each"."""
    sums = [value for value in unit.values.values() if _is_sum(value)]
    return any(agrees("money", want, value, ()) for value in sums)


_SUMMED = re.compile(
    r"\b(?:in total|altogether|all told|combined|(?:2|two|xnumber\d+x) (?:equal )?(?:halves|parts"
    r"|payments|transfers|instal?lments))\b"
    r"|\b(?:second|another|separate|further) (?:\w+ ){0,2}?(?:sale|order|payment|transfer)\b"
    r"|\b(?:that|which) (?:is|are|has|have) (?:still )?not (?:yet )?(?:been )?"
    r"(?:paid|sent|settled)\b"
)
"""What makes an amount one of several payments, or none: "a request that isn't paid"."""
_COMPARED = re.compile(
    r"\b(?:same as|as on|as of|since|like(?: on)?|unlike(?: on)?|than(?: on)?|as it was) "
    r"(?:\w+ )?(xday\d+x)"
)


_CAN_END = re.compile(
    r"\b(?:cancel\w*|free|change\w*|refund\w*) (?:\w+ ){0,4}?(?:until|till|by|before) (xtime\d+x)"
)


def _is_deadline(unit: Unit, raw: str) -> bool:
    """Return whether a time is only that until which one may cancel: "cancel it until 2:45"."""
    words = [word.text for word in unit.sentence.words]
    return any(unit.values[words.index(at)].raw == raw for at in _CAN_END.findall(unit.low))


def _is_compared(unit: Unit, raw: str) -> bool:
    """Return whether a day is only compared with: "no alert, same as Friday"."""
    words = [word.text for word in unit.sentence.words]
    for day in _COMPARED.findall(unit.low):
        place = words.index(day)
        if place in unit.values and unit.values[place].raw == raw:
            return True
    return False


def _other_amount(kind: str, type_: str, key: Key, hit: Hit, group: Group) -> str:
    """Return a bare number that stands where the form wants money: "I paid the 26"."""
    if type_ != "money":
        return ""
    matched: set[int] = set()
    for other in hits(kind, key):
        if other.unit is hit.unit:
            matched.update(other.places)
    for place, value in group.values:
        counts = value.means[0] in range(13)  # "it took two goes"
        bare = place in matched and value.type == "number" and not counts
        if bare and is_amount(hit.unit, place):
            return value.raw
    return ""


def _to_another(claim: Claim, hit: Hit) -> bool:
    """Return whether a form ends before a place, which is then not that of the claim."""
    if vocabulary()[claim.kind].slots["to"] != "words" or hit.value != "yes":
        return False
    last = hit.unit.sentence.words[hit.places[-1]]
    return last.text in ("in", "under", "into", "as")


def _names_another(claim: Claim, slot: str, hit: Hit, span: tuple[int, int]) -> bool:
    """Return whether a clause is about another thing where the claim's is a name: Seattle, not
    Denver.
    """
    if vocabulary()[claim.kind].frame == "state" or slot != "what":
        return False
    if not all(part[:1].isupper() for part in claim.slots[slot].split()):
        return False
    words = hit.unit.sentence.words
    after = range(hit.places[-1] + 1, min(hit.places[-1] + 3, len(words)))
    return any(words[place].capital for place in after if place not in hit.unit.values)


def _of_another(claim: Claim, hit: Hit, span: tuple[int, int], group: Group) -> bool:
    """Return whether a denial is about a thing of its own: "Lucas's copy is still there"."""
    if stands_for(hit.unit, span):
        return True
    if points(hit):
        return False
    named = [value for value in group.of(("person",)) if value.means[0] != "?"]
    types = {vocabulary()[claim.kind].slots[slot] for slot in claim.slots}
    return bool(named) and types.isdisjoint(("person", "people"))


def _points_away(claim: Claim, hit: Hit, span: tuple[int, int]) -> bool:
    """Return whether a clause names nothing of its own, so that it is about what was named last."""
    first = hit.unit.sentence.words[hit.places[0]]
    if first.text in _POINTING:
        return True
    if stands_for(hit.unit, span):
        return False
    return not foreign(hit.unit, span, hit.places, known_words(claim.kind) | slot_words(claim))


_POINTING = frozenset(["it", "that", "this", "both", "they", "payment", "transfer", "request"])


def _in_text(claim: Claim, slot: str, text: Text, group: Group, people: tuple[str, ...]) -> bool:
    """Return whether a value that must be told stands in a text, and no other with a claim."""
    type_ = vocabulary()[claim.kind].slots[slot]
    if type_ not in ("money", "day", "time") or group.of(VALUES[type_]):
        return False
    want = claim.slots[slot]
    values = [value for value in text.values if value.type in VALUES[type_]]
    return any(agrees(type_, want, value, people) for value in values)


def _vague(claim: Claim, hit: Hit, agreed: set[str], text: Text, spoken: Spoken) -> bool:
    """Return whether a form is only of "it", and nothing tells that it is the claim's deed."""
    if not points(hit) or agreed:
        return False
    topic = topic_of(claim.kind)
    if claim.kind == "mailed" and topic & stems_of(spoken.asked):
        return False
    return not any(words_in(unit.stems, topic) for unit in around(text, hit.unit))


def _is_pointer(value: Value) -> bool:
    return value.means[0] == "?" and value.means[1:] != ("kin",)


def _only_pointed(type_: str, group: Group) -> bool:
    """Return whether a clause names a person only by a word like "her"."""
    persons = group.of(("person",))
    return type_ in ("person", "people") and all(_is_pointer(value) for value in persons)


def _is_sum(value: Value) -> bool:
    return value.type == "money" or (value.type == "number" and "." in value.raw)


def _of_other_amount(claim: Claim, unit: Unit, agreed: set[str]) -> bool:
    """Return whether a sentence names amounts, none of them that of the claim."""
    kind = vocabulary()[claim.kind]
    for slot, want in claim.slots.items():
        if kind.slots[slot] != "money" or slot in agreed:
            continue
        amounts = [value for value in unit.values.values() if _is_sum(value)]
        if amounts and not any(agrees("money", want, value, ()) for value in amounts):
            return True
    return False


def _is_sure(type_: str, want: Any, raw: str, own: set[str]) -> bool:
    """Return whether a value that differs is of the same sort: another payment service, not the
    mailbox; another person beside an amount or a thing that the clause names itself.
    """
    if type_ == "provider":
        found = {category_of(name) for name in aliases().get(raw.lower(), ())}
        return not found.isdisjoint(category_of(name) for name in provider_names(want) or (want,))
    return type_ != "person" or bool(own)


def _doers(unit: Unit, categories: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the services of some categories that a sentence names: "Venmo never sent it"."""
    named = [value.means for value in unit.values.values() if value.type == "provider"]
    return [names for names in named if not set(categories).isdisjoint(map(category_of, names))]


@functools.cache
def category_of(provider: str) -> str:
    """Return the category of a service."""
    known = services().get(provider)
    return "" if known is None else known.category


def _same(claim: Claim, agreed: set[str]) -> bool:
    """Return whether enough of a claim agrees to call another value a contradiction."""
    strong = {"person", "people", "words", "money", "number"}
    types = vocabulary()[claim.kind].slots
    return any(types[slot] in strong for slot in agreed)


def _leaves_out(claim: Claim, slot: str, hit: Hit, span: tuple[int, int], spoken: Spoken) -> bool:
    """Return whether a clause just does not say what it is about, rather than naming another
    thing.
    """
    kind = vocabulary()[claim.kind]
    if kind.frame == "state":
        return True
    if slot not in ("what", "deed"):
        return True
    known = known_words(claim.kind) | slot_words(claim)
    if span[0] == hit.places[0]:  # "the emails (v1 and v2) are there"
        span = (max((c for c in hit.unit.sentence.colons if c <= span[0]), default=0), span[1])
    return not foreign(hit.unit, span, hit.places, known)


def _is_about(claim: Claim, agreed: set[str], hit: Hit, spoken: Spoken) -> bool:
    """Return whether a state is said of the thing of the claim: by its words, or by "it" or nothing
    where the user asked about that thing.
    """
    types = vocabulary()[claim.kind].slots
    wanted = [slot for slot in claim.slots if types[slot] in ("words", "person", "people")]
    if not wanted or any(slot in agreed for slot in wanted):
        return True
    words = hit.unit.sentence.words
    first = words[0]
    after = words[hit.places[-1] + 1].text if hit.places[-1] + 1 < len(words) else ""
    plain = first.text in ("it", "they", "both", "yes", "still") or first.form == "ed"
    if not plain and after not in ("it", "them"):
        return False
    asked = stems_of(spoken.asked)
    for slot in wanted:
        if types[slot] != "words":
            continue
        if any(options & asked for _, options in content(claim.slots[slot])):
            return True
    return False


def _shown(type_: str, want: Any) -> str:
    if type_ == "money":
        return f"${want:,.2f}"
    if type_ == "time":
        return f"{want // 60:02}:{want % 60:02}"
    if isinstance(want, tuple):
        return ", ".join(want)
    return f"{want:g}" if isinstance(want, float) else str(want)


def _by_done(spoken: Spoken, key: Key, instances: list[Instance]) -> str:
    """Return the sentence that says that all is done, if nothing speaks otherwise of a deed."""
    if not done(spoken):
        return ""
    back = marked(*key).taken_back
    if any(i.kind in ("denies", "open", "other") and not i.earlier for i in instances):
        return ""
    for unit in taken_apart(*key).units:
        if unit.number not in back and says_done(unit):
            return unit.raw
    return ""
