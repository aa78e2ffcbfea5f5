"""Stage two: a chain in a person's life, with real things, two values for each piece and a script.

What is drawn depends on a seed alone. The oracle is executed on the person's world; a chain whose
call is refused is dropped.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from scenarios.haystack.generation import bank, trying, values
from scenarios.haystack.generation.alignment import Chain, Giver, option
from scenarios.haystack.generation.bank import Frame
from scenarios.haystack.generation.trying import Made, Refused
from scenarios.haystack.generation.values import Dropped
from scenarios.worlds import build
from servers.kit.errors import InputError
from servers.kit.service import service, tool

SAVED = "made"
"""The name under which the reply of the target call is saved."""
_NAME = re.compile(r"(?<!\$)\{(\w+)\}")


@dataclass(frozen=True)
class Grounded:
    """A chain in a person's life.

    `names` is what stands in braces in the frame's words, `pieces` are the two values of each
    piece, `oracle` the steps before the assistant's last text. `tables` are those into which it
    inserts, `dictated` the columns that hold what the user worded.
    """

    chain: Chain
    person: str
    names: Mapping[str, str]
    pieces: Mapping[str, list[Any]]
    oracle: Sequence[dict[str, Any]]
    needed: Mapping[str, Any]
    tables: Sequence[str]
    dictated: Sequence[str]

    @property
    def frame(self) -> Frame:
        """Its frame."""
        return bank.frames()[self.chain.frame]


def grounded(
    chain: Chain, person: str, seed: str, stands: Callable[[str, str, Any], bool]
) -> Grounded:
    """Return a chain in a person's life, as drawn by a seed.

    `stands` says whether a value stands in a person's past errands or in the world of a service.
    Raises `Dropped`.
    """
    frame = bank.frames()[chain.frame]
    if person not in frame.words:
        raise Dropped("the frame has no words for the person")
    chance = Random(f"{person}/{chain.tool}/{chain.frame}/{seed}")
    names = _names(chain, person)
    for noun in frame.of.get("nouns", ()):
        if noun in chain.tool:
            names.setdefault("noun", noun)
    for several in frame.draws.get(person, {}).values():
        names |= {key: str(value) for key, value in chance.choice(several).items()}
    if any(slot.type == "list" and slot.of == "friends" for slot in frame.slots.values()):
        names |= _friend(person, chance)
    things = _things(chain, person, chance, names)
    side = values.side(frame, chain, names, chance, things)
    main = values.main(frame, chain, names, chance, values.prices(side, names))
    for value in side:
        value.pop("price", None)
    for value in main:
        if stands(person, chain.service, value["value"]):
            raise Dropped("a value stands in the person's world already")
    pieces = {frame.main: main, frame.side: side}
    oracle = _oracle(chain, frame, names)
    first = _executed(person, oracle, pieces, 0)
    second = _executed(person, oracle, pieces, 1)
    if [one.args for one in first] == [one.args for one in second]:
        raise Dropped("the calls are the same with either value")
    return Grounded(
        chain=chain,
        person=person,
        names=names,
        pieces=pieces,
        oracle=oracle,
        needed=_needed(chain, frame),
        tables=_tables(first),
        dictated=_dictated(first, _free(chain, frame)),
    )


def filled(text: str, names: Mapping[str, str]) -> str:
    """Return a text with what was drawn in place of names in braces. Raises `InputError`."""

    def put(found: re.Match[str]) -> str:
        if found[1] not in names:
            raise InputError(f"{{{found[1]}}} in {text!r} stands for nothing; drawn: {[*names]}")
        return names[found[1]]

    return _NAME.sub(put, _bare(text, names))


def _bare(text: str, names: Mapping[str, str]) -> str:
    """Return a text that calls a person by the first name, once the whole name was said."""
    if "first" not in names or "who" not in names:
        return text
    whole = "{first}" if names["first"] == names["who"] else "{who}"
    begun = min((text.find(one) for one in ("{who}", whole) if one in text), default=-1)
    if begun < 0:
        return text
    rest = begun + len("{first}" if text.startswith("{first}", begun) else "{who}")
    return text[:rest] + text[rest:].replace("{first}", names["who"].split()[0])


def _names(chain: Chain, person: str) -> dict[str, str]:
    life = build.person(person)
    return {
        "name": life["name"],
        "person": person,
        "app": service(chain.service).title,
        "service": chain.service,
    }


@functools.cache
def _first_names(person: str) -> Mapping[str, str]:
    """Return name → the first name where only one person has it, else the whole name."""
    people = [one["name"] for one in build.person(person)["people"].values()]
    begins = [name.split()[0] for name in people]
    return {
        name: begin if begins.count(begin) == 1 else name
        for name, begin in zip(people, begins, strict=True)
    }


def _friend(person: str, chance: Random) -> dict[str, str]:
    """Return the name and the address of one of a person's friends."""
    who = chance.choice(bank.voice(person).friends)
    people = build.person(person)["people"].values()
    mail = next(one["email"] for one in people if one["name"] == who)
    first = _first_names(person)[who]
    return {"who": who, "first": first, "bare": who.split()[0], "mail": mail}


def _things(
    chain: Chain, person: str, chance: Random, names: dict[str, str]
) -> dict[str, list[dict[str, Any]]]:
    """Draw what the ids of a chain name, and return the rows for an id that is a piece."""
    frame = bank.frames()[chain.frame]
    rows: dict[str, list[dict[str, Any]]] = {}
    for slot, source in chain.sources.items():
        giver = source.giver
        if giver is None:
            continue
        found = _rows(person, giver, names)
        labels = [row[giver.label] for row in found]
        fitting = [row for row in found if labels.count(row[giver.label]) == 1]
        of = frame.slots[slot].of
        if of is not None:
            known = getattr(bank.voice(person), of)
            fitting = [row for row in fitting if row[giver.label] in known]
        if slot == frame.side:
            noun = names.get("noun", "")
            rows[slot] = [row for row in fitting if noun in row[giver.label].casefold()]
            continue
        if slot in names:  # it is drawn by its name
            fitting = [row for row in fitting if row[giver.label] == names[slot]]
        if not fitting:
            raise Dropped(f"the person has nothing for {slot} there")
        row = chance.choice(fitting)
        names[slot] = row[giver.label]
        cost = values.price(row)
        if cost is not None:
            names["cost"] = str(cost)
        if of == "friends":
            names["first"] = _first_names(person).get(names[slot], names[slot])
    return rows


def _rows(person: str, giver: Giver, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows that a giver gives in a person's world."""
    needs = tuple((need, names[need]) for need in giver.needs)
    if not giver.searches:
        return [*trying.rows(person, giver.tool, None, needs)]
    found: list[dict[str, Any]] = []
    for query in names.get("search", "").split("|"):
        found += trying.rows(person, giver.tool, query or None, needs)
    return found


def _oracle(chain: Chain, frame: Frame, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the calls: those that give ids, and the target call."""
    steps: list[dict[str, Any]] = []
    args: dict[str, Any] = {}
    properties = tool(chain.tool)[1].schema["properties"]
    for slot, source in chain.sources.items():
        wanted = frame.slots[slot]
        if source.giver is not None:
            steps.append(_giving(slot, source.giver, frame, names))
            args[source.argument] = _given(slot, source.giver, frame, names)
        elif slot in (frame.main, frame.side):
            args[source.argument] = f"${{{slot}.value}}"
        elif wanted.type == "choice":
            args[source.argument] = option(properties[source.argument], wanted.value)
        elif wanted.value is not None:
            args[source.argument] = _fixed(wanted.value, frame, names)
        elif slot in names:
            args[source.argument] = names[slot]
    last = {"call": chain.tool, "args": args}
    if frame.effect == "read":
        last["save"] = SAVED
    return [*steps, last]


def _fixed(value: Any, frame: Frame, names: Mapping[str, str]) -> Any:
    """Return what a slot with a value takes; a text may hold pieces."""
    if isinstance(value, list):
        return [_fixed(one, frame, names) for one in value]
    if not isinstance(value, str):
        return value
    text = filled(value, names)
    text = text.replace("<v>", f"${{{frame.main}.said}}")
    return text.replace("<s>", f"${{{frame.side}.value}}")


def _giving(slot: str, giver: Giver, frame: Frame, names: Mapping[str, str]) -> dict[str, Any]:
    args: dict[str, Any] = {need: names[need] for need in giver.needs}
    words = trying.query_of(giver.tool)
    if giver.searches and words is not None:
        args[words] = f"${{{slot}.value}}" if slot == frame.side else names[slot]
    if "limit" in tool(giver.tool)[1].schema["properties"]:
        args["limit"] = 100 if not giver.searches else 20
    step: dict[str, Any] = {"call": giver.tool}
    if args:
        step["args"] = args
    return {**step, "save": f"{slot}_rows"}


def _given(slot: str, giver: Giver, frame: Frame, names: Mapping[str, str]) -> str:
    label = f"{slot}.value" if slot == frame.side else json.dumps(names[slot], ensure_ascii=False)
    return f"${{first({slot}_rows.{giver.rows}, {giver.label}={label}).{giver.field}}}"


def _needed(chain: Chain, frame: Frame) -> dict[str, Any]:
    ways = frame.ways.get(chain.service)
    if ways is not None:
        tools = [f"{chain.service}.{way}" for way in ways]
        return {"deed": {"call": {"tool": tools, "ok": True}}}
    where: dict[str, Any] = {}
    for piece, mark, part in ((frame.main, "<v", "dollars"), (frame.side, "<s", "value")):
        source = chain.sources.get(piece)
        inside = frame.inside(mark)
        if source is not None:
            where[source.argument] = f"${{{piece}.{'id' if source.giver else 'value'}}}"
        elif inside is not None:
            where[chain.sources[inside].argument] = {"contains": f"${{{piece}.{part}}}"}
    return {"deed": {"call": {"tool": chain.tool, "where": where, "ok": True}}}


def _executed(
    person: str, oracle: Sequence[dict[str, Any]], pieces: Mapping[str, list[Any]], number: int
) -> list[Made]:
    scope = {name: several[number] for name, several in pieces.items()}
    try:
        return trying.steps(person, oracle, scope)
    except Refused as refused:
        raise Dropped(f"the call was refused ({refused.code})") from None


def _tables(made: Sequence[Made]) -> list[str]:
    found = [change["table"] for change in made[-1].effects if change["old"] is None]
    return list(dict.fromkeys(found))


def _free(chain: Chain, frame: Frame) -> set[str]:
    """Return the arguments whose texts an agent words, around a piece that stands in them."""
    inside = {frame.inside("<v"), frame.inside("<s")} - {None}
    return {source.argument for slot, source in chain.sources.items() if slot in inside}


def _dictated(made: Sequence[Made], free: set[str]) -> list[str]:
    """Return the columns of inserted rows that hold a text which the user worded."""
    texts = []
    for argument, value in made[-1].args.items():
        if isinstance(value, str) and " " in value and argument not in free:
            texts.append(value)
    found = []
    for change in made[-1].effects:
        for column, value in (change["new"] or {}).items():
            if isinstance(value, str) and value in texts:
                found.append(f"{change['table']}.{column}")
    return list(dict.fromkeys(found))
