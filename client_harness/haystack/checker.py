"""How good the checker of generated instances is: a sheet for people, and the agreement with them.

The checker is the filters and the proof together. On the sheet, half of the instances have passed
the filters. The other half has not seen them, and was made carelessly, as a generator errs: a line
of another frame, another target or another kind of talk, a value said twice or in the open, a
figure that contradicts it. So there is something to find, and nothing on the sheet says where.
"""

from __future__ import annotations

import copy
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import yaml

from client_harness.haystack import generating
from client_harness.haystack.generating import Candidate, Request, Stage
from client_harness.proof.checking import check_all
from scenarios.haystack import pieces
from scenarios.haystack.generation import bank
from scenarios.haystack.generation.values import Dropped
from scenarios.haystack.targets import KINDS, Kind
from scenarios.worlds import build
from servers.kit.errors import InputError
from servers.kit.yaml import read

GOOD = "good"
BAD = "bad"
CARELESS = 0.6
"""How often a careless generator errs."""
HEADING = """\
# Instances to be judged. Label each one `good` or `bad` (`label:`).
# Good: who was told what the past sessions say, and reads the last message, knows the one right
# call (where a value is missing: knows that it has to be asked for); every text is something that
# a person would say, and nothing contradicts anything else. Bad: anything else.
# `call` is what the instance takes for right, `missing` names what nobody said. Dots (…) stand for
# figures that a live call gives.
"""
_LIVE = re.compile(r"\$\{[^{}]*\}")
Item = tuple[Candidate, Kind]


def sheet(count: int, seed: int, jobs: int | None = None) -> tuple[str, dict[str, Any]]:
    """Return a sheet of instances as YAML, and the checker's verdicts.

    Shape of these: `{id: {verdict, why, half, target}}`. Raises `InputError`.
    """
    if count < 2:
        raise InputError(f"--count: a sheet has at least 2 instances, got {count}")
    request = Request(count=count, seed=seed).checked()
    items = [*_careful(request, count - count // 2), *_careless(request, count // 2)]
    halves = ["filtered"] * (count - count // 2) + ["unfiltered"] * (count // 2)
    numbered = [*zip(items, halves, strict=True)]
    Random(f"sheet/{seed}").shuffle(numbered)
    verdicts = {}
    entries = []
    judged = _verdicts([item for item, _ in numbered], jobs)
    for number, ((item, half), why) in enumerate(zip(numbered, judged, strict=True), 1):
        key = f"i{number:02}"
        entries.append({"id": key, **_shown(item), "label": None})
        verdict = BAD if why else GOOD
        made, kind = item
        where = f"{made.person}/{made.name}"
        verdicts[key] = {"verdict": verdict, "why": why, "half": half, "kind": kind, "of": where}
    text = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=100)
    return HEADING + text, verdicts


def agreement(labels: Path, verdicts: Path) -> dict[str, Any]:
    """Return how labels agree with verdicts: `{count, both_good, …, accuracy, mcc}`.

    `labels` is a sheet that was filled in, or a mapping id → label. Raises `InputError`.
    """
    given = _labels(labels)
    try:
        known = json.loads(verdicts.read_text(encoding="utf-8"))
    except (OSError, ValueError) as wrong:
        raise InputError(f"{verdicts}: not the verdicts of a sheet ({wrong})") from None
    strange = [key for key in given if key not in known]
    if strange:
        raise InputError(f"{labels}: there is no verdict on {strange[0]}; is it another sheet?")
    pairs = [(label, known[key]["verdict"]) for key, label in given.items()]
    counts = {
        "both_good": pairs.count((GOOD, GOOD)),
        "both_bad": pairs.count((BAD, BAD)),
        "missed": pairs.count((BAD, GOOD)),
        "refused_wrongly": pairs.count((GOOD, BAD)),
    }
    return {
        "count": len(pairs),
        **counts,
        "accuracy": round((counts["both_good"] + counts["both_bad"]) / max(len(pairs), 1), 3),
        "mcc": _mcc(**counts),
        "disagreed": [key for key, label in given.items() if known[key]["verdict"] != label],
    }


def _mcc(both_good: int, both_bad: int, missed: int, refused_wrongly: int) -> float | None:
    """Return Matthews' correlation coefficient, or None where it is not defined."""
    product = (both_bad + missed) * (both_bad + refused_wrongly)
    product *= (both_good + missed) * (both_good + refused_wrongly)
    if not product:
        return None
    over = both_good * both_bad - missed * refused_wrongly
    return round(over / product**0.5, 3)


def _labels(path: Path) -> dict[str, str]:
    raw = read(path)
    given = raw
    if isinstance(raw, list):
        given = {}
        for one in raw:
            if not isinstance(one, dict) or "id" not in one:
                raise InputError(f"{path}: each instance of a sheet has an `id` and a `label`")
            given[str(one["id"])] = one.get("label")
    if not isinstance(given, dict) or not given:
        raise InputError(f"{path}: not a sheet with labels, and not a mapping of id to label")
    for key, label in given.items():
        if label not in (GOOD, BAD):
            raise InputError(f"{path}: {key} is labeled {label!r}; it has to be good or bad")
    return given


def _careful(request: Request, count: int) -> list[Item]:
    """Return instances that passed the filters, one of each target."""
    stages = {name: Stage(name) for name in generating.STAGES}
    chains = generating.chains(request, stages["alignment"])
    found = []
    for number, made in enumerate(generating.filtered(request, chains, stages, None)):
        found.append((made, KINDS[number % len(KINDS)]))
        if len(found) == count:
            return found
    raise InputError(f"--count: only {len(found)} instances can be made for that half of a sheet")


def _careless(request: Request, count: int) -> list[Item]:
    """Return instances that no filter has seen."""
    stage = Stage("alignment")
    chains = generating.chains(request, stage)
    other = Request(request.count, request.seed + 1, request.people, request.services)
    drawn: list[Candidate] = []
    for chain, person, number in generating.drawn(other, chains):
        try:
            drawn.append(generating.candidate(other, chain, person, number))
        except Dropped:
            continue
        if len(drawn) == count + 1:
            break
    if len(drawn) <= count:
        raise InputError(f"--count: only {len(drawn)} instances can be made for half of a sheet")
    items = []
    for number, made in enumerate(drawn[:count]):
        kind = KINDS[number % len(KINDS)]
        chance = Random(f"careless/{request.seed}/{number}")
        if chance.random() < CARELESS:
            raw = copy.deepcopy(made.raw)
            fitting = [err for err in ERRORS if _errs(err, raw, kind, drawn[number + 1], chance)]
            if fitting:
                err = chance.choice(fitting)
                err(raw, kind, drawn[number + 1].raw, chance)
                made = Candidate(made.person, made.name, made.tool, made.frame, raw)
        items.append((made, kind))
    return items


Error = Callable[[dict[str, Any], Kind, Mapping[str, Any], Random], bool]


def _errs(err: Error, raw: dict[str, Any], kind: Kind, other: Candidate, chance: Random) -> bool:
    """Return whether an error can be made in a kind."""
    return err(copy.deepcopy(raw), kind, other.raw, Random(chance.random()))


def _leaks(raw: dict[str, Any], kind: Kind, other: Mapping[str, Any], chance: Random) -> bool:
    """Say the value in the last message, too."""
    piece, said = _main(raw)
    asks = raw["kinds"][kind]["ask"]
    asks[0] = f"{asks[0].rstrip('.?')}. That's {_value(raw, piece)}, as I said."
    asks[1] = f"{asks[1].rstrip('.?')}. It's {_value(raw, piece)}, if I remember it right."
    return bool(said)


def _strays(raw: dict[str, Any], kind: Kind, other: Mapping[str, Any], chance: Random) -> bool:
    """Put the first line of another target into the talk that should say the value."""
    lines = _saying(raw, kind)
    theirs = other["kinds"]["recall_single"]["needles"][0]["talk"][0]["user"]
    values = pieces.scope(other["pieces"], 0)
    if not lines:
        return False
    lines[-1]["user"] = str(pieces.filled(theirs, values))
    return True


def _contradicts(raw: dict[str, Any], kind: Kind, other: Mapping[str, Any], chance: Random) -> bool:
    """Let the user name the wrong value a moment after the right one."""
    talks = _talks(raw, kind)
    piece, said = _main(raw)
    if not talks or kind.startswith("missing") or kind == "shift_implicit":
        return False
    talks[-1].append({"user": f"Or was it {_value(raw, piece, other=True)}? One of the two."})
    talks[-1].append({"assistant": "You'll know best."})
    return bool(said)


def _tells(raw: dict[str, Any], kind: Kind, other: Mapping[str, Any], chance: Random) -> bool:
    """Say what should be missing."""
    if kind != "missing_hard":
        return False
    _, said = _main(raw)
    line = _saying(raw, "recall_single")[0]["user"]
    talk = raw["kinds"][kind]["needles"][0]["talk"]
    talk[0]["user"] = f"{talk[0]['user']} And {line[0].lower()}{line[1:]}"
    return bool(said)


def _forgets(raw: dict[str, Any], kind: Kind, other: Mapping[str, Any], chance: Random) -> bool:
    """Leave the value out where it should be said."""
    _, said = _main(raw)
    changed = False
    for talk in _talks(raw, kind)[-1:]:
        for turn in talk:
            for who in ("user", "assistant"):
                if said in turn.get(who, ""):
                    turn[who] = turn[who].replace(said, "the usual")
                    changed = True
    return changed and not kind.startswith("missing")


def _mangles(raw: dict[str, Any], kind: Kind, other: Mapping[str, Any], chance: Random) -> bool:
    """Lose a word in the middle, and leave a mark of the bank."""
    asks = raw["kinds"][kind]["ask"]
    for place, ask in enumerate(asks):
        words = ask.split()
        middle = len(words) // 2
        asks[place] = " ".join([*words[:middle], "{side}", *words[middle + 1 :]])
    return True


def _swaps(raw: dict[str, Any], kind: Kind, other: Mapping[str, Any], chance: Random) -> bool:
    """Tell the older value last."""
    needles = raw["kinds"][kind].get("needles", [])
    if not kind.startswith("shift"):
        return False
    needles.reverse()
    return True


def _mistakes(raw: dict[str, Any], kind: Kind, other: Mapping[str, Any], chance: Random) -> bool:
    """Let another friend be meant in the talk than in the last message."""
    lines = _saying(raw, kind)
    people = {one["name"] for one in build.person(_person(raw))["people"].values()}
    for line in lines[-1:]:
        named = [name for name in sorted(people) if name in line["user"]]
        if named and not kind.startswith("missing"):
            strangers = sorted(set(bank.voice(_person(raw)).friends) - set(named))
            line["user"] = line["user"].replace(named[0], chance.choice(strangers))
            return True
    return False


def _miscounts(raw: dict[str, Any], kind: Kind, other: Mapping[str, Any], chance: Random) -> bool:
    """Let a situation tell of figures from which another value follows."""
    if kind != "shift_implicit":
        return False
    for value in next(iter(raw["pieces"].values())):
        for part in ("double", "base", "list", "before"):
            digits = re.search(r"\d", str(value.get(part, "")))
            if digits:
                at = digits.start()
                figure = str((int(value[part][at]) + 3) % 9 + 1)
                value[part] = f"{value[part][:at]}{figure}{value[part][at + 1 :]}"
                return True
    return False


def _person(raw: Mapping[str, Any]) -> str:
    """Return whose target it is, by the name in its description."""
    for person in bank.voices():
        if str(build.person(person)["name"]) in raw["about"]:
            return person
    raise AssertionError(raw["about"])


ERRORS: tuple[Error, ...] = (
    _leaks,
    _strays,
    _contradicts,
    _tells,
    _forgets,
    _mangles,
    _swaps,
    _mistakes,
    _miscounts,
)
"""What a careless generator does wrong. Each one changes a target and returns whether it could."""


def _main(raw: Mapping[str, Any]) -> tuple[str, str]:
    """Return the main piece and how texts say its value."""
    piece, values = next(iter(raw["pieces"].items()))
    return piece, f"${{{piece}.{'said' if 'said' in values[0] else 'is'}}}"


def _value(raw: Mapping[str, Any], piece: str, *, other: bool = False) -> str:
    """Return a value of the piece that no expression stands for, so that no count sees it."""
    value = raw["pieces"][piece][1 if other else 0]
    return str(value.get("said") or value["value"])


def _talks(raw: Mapping[str, Any], kind: str) -> list[list[dict[str, Any]]]:
    return [needle["talk"] for needle in raw["kinds"][kind].get("needles", [])]


def _saying(raw: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return the turns of the user that begin talks."""
    return [talk[0] for talk in _talks(raw, kind) if "user" in talk[0]]


def _verdicts(items: Sequence[Item], jobs: int | None) -> list[list[str]]:
    """Return what the checker has against each instance: first the filters, then the proof."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        paths = []
        for number, (made, kind) in enumerate(items):
            paths.append(generating.put(home / str(number), made) / kind)
        proven = check_all(paths, jobs=jobs, fresh=True)
        found = []
        for (made, kind), path in zip(items, paths, strict=True):
            why = [f"filter: {one}" for one in generating.verdict(made, kind, (0,))]
            for problem in proven[str(path)]["problems"]:
                why.append(f"proof: {problem.replace(f'{path.parent}', made.name)}")
            found.append(why)
        return found


def _shown(item: Item) -> dict[str, Any]:
    """Return an instance as a person would read it."""
    made, kind = item
    raw = made.raw
    given = pieces.scope(raw["pieces"], 0)
    telling = raw["kinds"][kind]
    shown: dict[str, Any] = {"person": made.person, "kind": kind}
    shown["past sessions"] = [
        {f"session {number}": [*_lines(needle["talk"], given)]}
        for number, needle in enumerate(telling.get("needles", []), 1)
    ]
    asks = [_plain(pieces.filled(ask, given)) for ask in telling["ask"]]
    shown["last message"] = dict(zip(("plain", "or roundabout"), asks, strict=True))
    call = raw["oracle"][-2]
    args = {}
    for name, value in call["args"].items():
        args[name] = _plain(pieces.filled(value, given)) if isinstance(value, str) else value
    shown["call"] = {call["call"]: args}
    first, second = raw["pieces"]
    values = {name: given[name].get("said") or given[name]["value"] for name in (first, second)}
    shown["right values"] = values
    if kind.startswith("missing"):
        shown["missing"] = first
        shown["question"] = _plain(pieces.filled(telling["question"], given))
    return shown


def _lines(talk: Sequence[Mapping[str, Any]], given: Mapping[str, Any]) -> Iterator[str]:
    for turn in talk:
        for who in ("user", "assistant"):
            if who in turn:
                yield f"{who}: {_plain(pieces.filled(turn[who], given))}"
        if "call" in turn:
            yield f"(the assistant calls {turn['call']})"


def _plain(value: Any) -> Any:
    """Return a value with what lists give named by its label, and live figures as dots."""
    if not isinstance(value, str):
        return value
    chosen = re.fullmatch(r'\$\{first\(.*?(?:name|title)="?(.*?)"?\)\.\w+\}', value)
    return f"(the id of {chosen[1]})" if chosen else _LIVE.sub("…", value)
