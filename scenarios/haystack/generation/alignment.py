"""Stage one: which tools can do what a frame is about, and where each argument can come from.

An argument is aligned with a slot by type and format, by name and description (nearness in words),
and an id by the replies in which earlier calls give it. What comes out are chains: a target call,
the arguments that are pieces, and a source for every other argument.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scenarios.haystack.generation import bank, trying
from scenarios.haystack.generation.bank import Frame, Slot, Type
from scenarios.haystack.nearness import similarity, text_of
from servers.kit.fields import names_an_id
from servers.kit.service import Service, ToolSpec, services

NEAR = 0.22
"""How near a tool must be to what a frame is about."""
_MONEY = ("dollar", "cents", "price")
_PLACES = ("location", "destination", "pickup", "dropoff")
_PAGES = ("limit", "cursor", "max_results", "idempotency_key", "allow_duplicate")
_CONTEXT = ("city", "check_in_date", "check_out_date")
"""What a search of rooms takes beside words."""
_LABELS = ("name", "title", "label", "hotel_name", "property_name")


@dataclass(frozen=True)
class Giver:
    """A read of the same service that gives an id: in `rows`, under `field`, beside a `label`.

    `needs` are further arguments that it takes, which a frame has to have, too.
    """

    tool: str
    rows: str
    field: str
    label: str
    searches: bool
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """Where the value of an argument can come from: the user, a call's reply, or what is fixed."""

    argument: str
    by: str
    giver: Giver | None = None


@dataclass(frozen=True)
class Chain:
    """A target call, its frame, and the slot → source of each argument that it takes."""

    tool: str
    frame: str
    sources: Mapping[str, Source]
    near: float

    @property
    def service(self) -> str:
        """The service of the target call."""
        return self.tool.partition(".")[0]


@dataclass
class Alignment:
    """What stage one found: how many candidates were proposed, the kept ones, why others were not.

    A candidate is a tool and a frame.
    """

    proposed: int
    kept: list[Chain]
    dropped: Counter[str]


@functools.cache
def alignment() -> Alignment:
    """Return the chains of all tools and frames."""
    found = Alignment(0, [], Counter())
    for cls in services().values():
        for spec in cls.tools.values():
            for name, frame in bank.frames().items():
                _propose(found, cls, spec, name, frame)
    best: dict[str, Chain] = {}
    for chain in found.kept:
        if chain.tool not in best or chain.near > best[chain.tool].near:
            best[chain.tool] = chain
    fewer = len(found.kept) - len(best)
    if fewer:
        found.dropped["is nearer to another frame"] += fewer
    found.kept = sorted(best.values(), key=lambda chain: chain.tool)
    return found


def _propose(found: Alignment, cls: type[Service], spec: ToolSpec, name: str, frame: Frame) -> None:
    found.proposed += 1
    if spec.effect != frame.effect:
        found.dropped["reads where the frame writes, or the other way round"] += 1
        return
    if not set(frame.never).isdisjoint(spec.name.split("_")):
        found.dropped["does the opposite, or changes what is there"] += 1
        return
    near = max(similarity(meaning, text_of(cls, spec)) for meaning in frame.meaning)
    if near < NEAR:
        found.dropped["does something else"] += 1
        return
    bound = bind(cls, spec, frame)
    if isinstance(bound, str):
        found.dropped[bound] += 1
        return
    found.kept.append(Chain(f"{cls.name}.{spec.name}", name, bound, round(near, 4)))


def bind(cls: type[Service], spec: ToolSpec, frame: Frame) -> dict[str, Source] | str:
    """Return slot → source for a tool, or why the tool does not fit."""
    schema = spec.schema
    arguments = {n: p for n, p in schema["properties"].items() if n not in _PAGES}
    pairs = []
    for (slot, wanted), (argument, about) in itertools.product(
        frame.slots.items(), arguments.items()
    ):
        if type_of(argument, about) == wanted.type and _allows(about, wanted):
            text = f"{argument.replace('_', ' ')} {about.get('description', '')}"
            pairs.append((similarity(wanted.like, text), slot, argument))
    bound: dict[str, str] = {}
    for _, slot, argument in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if slot not in bound and argument not in bound.values():
            bound[slot] = argument
    for slot, wanted in frame.slots.items():
        if slot not in bound and not wanted.optional:
            return f"takes no {wanted.type} for what is needed"
    left = [a for a in schema.get("required", []) if a not in bound.values()]
    if left:
        return "wants an argument that nothing gives"
    sources = {}
    for slot, argument in bound.items():
        if frame.slots[slot].type != "id" or frame.slots[slot].value is not None:
            by = "fixed" if frame.slots[slot].value is not None else "user"
            sources[slot] = Source(argument, by)
            continue
        giver = _chosen(cls.name, argument, frame, slot)
        if giver is None:
            return "takes an id that no earlier call gives"
        sources[slot] = Source(argument, "reply", giver)
    return sources


def _chosen(service: str, argument: str, frame: Frame, slot: str) -> Giver | None:
    """Return the first call that gives an id and takes no more than what a frame has."""
    has = set(frame.slots)
    for several in frame.draws.values():
        for drawn in several.values():
            has = has.union(*drawn)
    for giver in givers(service).get((argument, frame.slots[slot].search), ()):
        if set(giver.needs) <= has:
            return giver
    return None


def type_of(argument: str, about: Mapping[str, Any]) -> Type | None:
    """Return the type of an argument as frames have it, or None for what no frame has."""
    description = about.get("description", "").lower()
    if _is_id(argument):
        return "id" if about.get("type") == "string" else None
    if "enum" in about:
        return "choice"
    if about.get("type") in ("number", "integer"):
        if any(word in f"{argument} {description}" for word in _MONEY):
            return "money"
        return "number" if about["type"] == "number" else "count"
    if about.get("type") == "array":
        return "list" if about.get("items", {}).get("type") == "string" else None
    if about.get("type") != "string":
        return None
    if argument.endswith(("_time", "_at")):
        return "moment"
    if "yyyy-mm-dd" in description:
        return "day"
    if argument in _PLACES or "city" in description:
        return "place"
    return "text"


def _allows(about: Mapping[str, Any], slot: Slot) -> bool:
    """Return whether an argument of options has the one that a slot wants."""
    return slot.type != "choice" or slot.value is None or option(about, slot.value) is not None


def option(about: Mapping[str, Any], wanted: str) -> str | None:
    """Return the option of an argument that is or ends in a word, or None."""
    for word in wanted.split("|"):
        for one in about.get("enum", ()):
            if one == word or one.endswith(f"_{word}"):
                return one
    return None


def _is_id(argument: str) -> bool:
    return names_an_id(argument) or argument == "symbol"


@functools.cache
def givers(service: str) -> dict[tuple[str, bool], list[Giver]]:
    """Return, for each argument that is an id, the earlier calls of a service that give it.

    They are lists, or searches (for words or for a place and days), and their rows have names.
    """
    found: dict[tuple[str, bool], list[Giver]] = {}
    given = []
    for spec in services()[service].tools.values():
        giver = _giver(service, spec) if spec.effect == "read" else None
        if giver is not None:
            given.append(giver)
    for giver in sorted(given, key=lambda one: len(one.needs)):
        searching = giver.searches or bool(giver.needs)
        found.setdefault((giver.field, searching), []).append(giver)
    return found


def _giver(service: str, spec: ToolSpec) -> Giver | None:
    name = f"{service}.{spec.name}"
    words = trying.query_of(name)
    needs = [one for one in spec.schema.get("required", []) if one != words]
    if not set(needs) <= set(_CONTEXT):
        return None
    field, rows = trying.listed(trying.example(service, spec.name))
    if not rows:
        return None
    label = next((one for one in _LABELS if isinstance(rows[0].get(one), str)), None)
    ids = [one for one in rows[0] if _is_id(one)]
    if label is None or not ids:
        return None
    return Giver(name, field, ids[0], label, words is not None, tuple(needs))
