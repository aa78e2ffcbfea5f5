"""Instances: the scenarios that targets stand for, one for each kind, under any weave.

`haystack/recall_single/maya/glaze_share` is the kind `recall_single` of the target
`maya/glaze_share`. Unless told otherwise, it has as many sessions as the kind has on average in
ToolHaystack, a few more or fewer, and its last needle is up to five sessions away.
"""

from __future__ import annotations

import functools
import itertools
import re
from pathlib import Path
from typing import Any

from scenarios.haystack import pieces, targets
from scenarios.haystack.targets import Kind, Speaker, Target
from scenarios.haystack.weave import NUMBERS, Weave, numbers
from scenarios.model import Scenario
from scenarios.script import Step
from servers.kit.declared import Declared
from servers.kit.errors import InputError, UnknownName
from servers.kit.noise import share

SUITE = "haystack"
SESSIONS: dict[Kind, float] = {
    "recall_single": 16.1,
    "recall_multi": 13.3,
    "shift_explicit": 14.2,
    "shift_implicit": 13.6,
    "missing_easy": 11.3,
    "missing_hard": 12.8,
}
"""Sessions of an instance on average (ToolHaystack, table 2)."""
SPREAD = 3
"""How many sessions more or fewer an instance has at most."""
FARTHEST = 5
"""The greatest distance of the last needle by default, in sessions."""
POINT = "@"
"""What stands between an id and the numbers of its weave where a run has several weaves of it."""
_RANGE = re.compile(r"(\d+)\.\.(\d+)")
WORDINGS = ("plain", "roundabout")


class Facts(Declared):
    """What an instance is made of, for reports and solvers.

    `hidden` are the pieces that the last message does not hold, `missing` the one that nothing
    says. `values` are the right values of all pieces, `others` the wrong ones. `by` is who says
    each needle. `target` is the path of a file where the target is not a shipped one, and
    `generated` says that no person wrote it.
    """

    kind: Kind
    target: str
    person: str
    wording: str
    value: int
    sessions: int
    distance: int
    seed: int
    near: str
    hidden: tuple[str, ...]
    missing: str | None
    shift: str | None
    by: tuple[Speaker, ...]
    values: dict[str, Any]
    others: dict[str, Any]
    generated: bool = False


class Instance(Scenario):
    """A scenario that a target stands for."""

    facts: Facts


@functools.cache
def index() -> dict[str, tuple[Kind, str]]:
    """Return the instances: id → kind and target."""
    every = {}
    for kind in targets.KINDS:
        every |= {f"{SUITE}/{kind}/{target}": (kind, target) for target in targets.index()}
    return every


def names() -> list[str]:
    """Return the ids of all instances."""
    return list(index())


def is_instance(name: str) -> bool:
    """Return whether an id is that of an instance."""
    return name in index()


def split(name: str) -> tuple[Kind, str]:
    """Return the kind and the target of an instance's id. Raises `UnknownName`."""
    if name not in index():
        raise UnknownName("scenario", name, index())
    return index()[name]


def instance(name: str, wanted: dict[str, Any] | None = None) -> Instance:
    """Return an instance by its id.

    `wanted` are numbers of the weave (`scenarios.haystack.weave.NUMBERS`) and `wording` (0 is
    plain, 1 roundabout). Raises `InputError`.
    """
    return of(*split(name), wanted)


def of(kind: Kind, which: str, wanted: dict[str, Any] | None = None) -> Instance:
    """Return the instance of a target by kind and the target's name. Raises `InputError`."""
    from scenarios.load import parse

    target = targets.target(which)
    woven, wording = _weave(kind, which, target, wanted or {})
    woven.written()
    raw = _raw(kind, target, woven, wording)
    where = str(targets.file_of(which))
    made = parse(raw, f"{SUITE}/{kind}/{targets.short(which)}", where, Instance)
    assert isinstance(made, Instance)
    return made


def in_file(path: Path) -> list[Path]:
    """Return the instances of the target in a file, by kind, as paths inside of that file.

    Raises `InputError` if the target does not stand in a folder of a person's.
    """
    named = targets.named(path)
    if targets.short(named) in targets.index():
        raise InputError(f"{path}: a shipped target is called {targets.short(named)}; rename it")
    return [path / kind for kind in targets.KINDS]


def is_inside(path: Path) -> bool:
    """Return whether a path names an instance inside of a target's file."""
    return path.name in targets.KINDS and path.parent.is_file()


def inside(path: Path) -> Instance:
    """Return the instance that such a path names. Raises `InputError`."""
    kind = next(known for known in targets.KINDS if known == path.name)
    return of(kind, targets.named(path.parent))


def _weave(kind: Kind, which: str, target: Target, wanted: dict[str, Any]) -> tuple[Weave, int]:
    needles = target.kinds[kind].needles
    known = targets.short(which)
    mean = SESSIONS[kind] - SPREAD + 2 * SPREAD * share("sessions", kind, known)
    sessions = wanted.get("sessions", round(mean))
    if "distractors" in wanted:
        sessions = wanted["distractors"] + len(needles)
        if wanted.get("sessions", sessions) != sessions:
            raise InputError(
                f"distractors={wanted['distractors']} and {len(needles)} needles make {sessions} "
                f"sessions, not {wanted['sessions']}"
            )
    drawn = int((FARTHEST + 1) * share("distance", kind, known)) if needles else 0
    distance = wanted.get("distance", min(drawn, max(sessions - len(needles), 0)))
    if distance and not needles:
        raise InputError(f"{kind}/{known} has no needle, so it takes no distance")
    wording = wanted.get("wording", int(2 * share("wording", kind, known)))
    if wording not in (0, 1):
        raise InputError("wording is 0 (plain) or 1 (roundabout)")
    woven = Weave(
        f"{kind}/{which}",
        sessions,
        seed=wanted.get("seed", 0),
        distance=distance,
        value=wanted.get("value", 0),
        near=wanted.get("near", "any"),
        spared=tuple(sorted(target.services)),
    )
    return woven, wording


def _raw(kind: Kind, target: Target, woven: Weave, wording: int) -> dict[str, Any]:
    """Return the scenario as it would be written in a file."""
    telling = target.kinds[kind]
    right = woven.pieces
    missing = target.missing(kind)
    hidden = target.hidden(kind)
    oracle = pieces.filled(target.oracle, right)
    wrong = {name: right[pieces.OTHER][name] for name in hidden}
    naive = pieces.filled(target.oracle, {**right, **wrong})
    checks: list[Any] = [
        {"graph": {"name": "needed", "nodes": pieces.filled(target.needed, right)}}
    ]
    answers = {}
    routes = pieces.filled(target.routes, right)
    if missing is not None:
        question = {"say": pieces.filled(telling.question, right)}
        oracle = [question, *oracle]
        for route in routes:
            if "steps" in route:
                route["steps"] = [question, *route["steps"]]
        checks.append({"asked": {"name": "asked", "about": missing}})
        answers = {missing: pieces.filled(target.answers[missing], right)}
    values = {name: right[name] for name in target.pieces}
    facts = {
        "kind": kind,
        "target": woven.target,
        "person": woven.person,
        "wording": WORDINGS[wording],
        "value": woven.value,
        "sessions": woven.sessions,
        "distance": woven.distance,
        "seed": woven.seed,
        "near": woven.near,
        "hidden": hidden,
        "missing": missing,
        "shift": telling.shift,
        "by": [needle.by for needle in telling.needles],
        "values": values,
        "others": right[pieces.OTHER],
        "generated": target.generated,
    }
    return {
        "title": target.title,
        "about": target.about,
        "failure": "none",
        "world": woven.person,
        "history": woven.name,
        "services": target.services,
        "tools": target.tools,
        "setup": pieces.filled(target.setup, right),
        "turns": [{"user": pieces.filled(telling.ask[wording], right)}],
        "answers": answers,
        "checks": checks,
        "statements": pieces.filled(target.statements, right),
        "change": pieces.filled(target.change, right),
        "scripts": {"oracle": oracle, "naive": naive},
        "routes": routes,
        "excused": target.excused,
        "tags": [SUITE, kind],
        "facts": facts,
    }


def script(made: Instance, wrong: dict[str, Any]) -> list[Step]:
    """Return the oracle's steps, without a question, with some pieces replaced by other values."""
    facts = made.facts
    given = {**facts.values, pieces.OTHER: facts.others, **wrong}
    raw = pieces.filled(targets.target(facts.target).oracle, given)
    return [Step.model_validate(step) for step in raw]


def crossed(scenario: Scenario, written: str) -> list[Scenario]:
    """Return a scenario after woven histories with these numbers, e.g. `sessions=40,seed=3`.

    Any scenario takes the number of sessions, their nearness and a seed, an instance all numbers.
    A range (`distance=0..5`) gives one scenario for each of its numbers, with an id that says which
    one. Raises `InputError` if they are wrong, if there are too few sessions, or if the scenario
    has a history of its own.
    """
    points = ranges(written)
    made = []
    for point in points:
        after = _crossed(scenario, ",".join(point))
        if len(points) > 1:
            varied = [part for place, part in enumerate(point) if _varies(points, place)]
            after = after.model_copy(update={"id": f"{scenario.id}{POINT}{','.join(varied)}"})
        made.append(after)
    return made


def ranges(written: str) -> list[list[str]]:
    """Return the points of numbers with ranges: `seed=1,distance=0..2` has three.

    Raises `InputError` for a range that is none.
    """
    options = []
    for part in written.split(","):
        name, _, value = part.partition("=")
        found = _RANGE.fullmatch(value.strip())
        if found is None:
            options.append([part.strip()])
            continue
        first = int(found[1])
        last = int(found[2])
        if not first < last <= first + 50:
            raise InputError(f"{part.strip()}: a range goes up, by 50 at most, as in distance=0..5")
        options.append([f"{name.strip()}={number}" for number in range(first, last + 1)])
    return [list(point) for point in itertools.product(*options)]


def _varies(points: list[list[str]], place: int) -> bool:
    return len({point[place] for point in points}) > 1


def _crossed(scenario: Scenario, written: str) -> Scenario:
    if isinstance(scenario, Instance):
        facts = scenario.facts
        return of(facts.kind, facts.target, numbers(written, (*NUMBERS, "wording")))
    if scenario.history is not None:
        raise InputError(
            f"{scenario.id} has a history of its own ({scenario.history}); run it without --history"
        )
    read = numbers(written, ("sessions", "near", "seed"))
    if "sessions" not in read:
        raise InputError(f"{written!r} does not say how many sessions, as in sessions=40,seed=3")
    weave = Weave(scenario.world, spared=tuple(sorted(scenario.services)), **read)
    weave.written()
    return scenario.model_copy(update={"history": weave.name})
