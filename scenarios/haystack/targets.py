"""Targets: what an agent is asked to do after a history, in six kinds of knowing what is needed.

A target is `targets/<person>/<name>.yaml`; the folder is the registry. Its six instances share the
oracle, the needed calls and the statements, and differ in what the past sessions say. The kinds are
those of ToolHaystack (Kwak et al. 2025): context recall with one needle or several, information
shift said outright or following from a situation, and missing context, where nothing or a value for
something else was said.

Targets of other folders are known by the absolute paths of their files; the folder in which such a
file lies is named after the person, too.
"""

from __future__ import annotations

import functools
import itertools
import os
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, ValidationError, model_validator

from scenarios.haystack import pieces
from scenarios.haystack.model import PastTurn
from scenarios.worlds import build
from servers.kit.declared import Declared
from servers.kit.errors import InputError, UnknownName, explain, placing
from servers.kit.plain import check_name
from servers.kit.yaml import read

HERE = Path(__file__).parent / "targets"
SUFFIX = ".yaml"
_MARKS = ":@"
"""What separates a target from numbers in the names of histories and instances."""
Kind = Literal[
    "recall_single",
    "recall_multi",
    "shift_explicit",
    "shift_implicit",
    "missing_easy",
    "missing_hard",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
Speaker = Literal["user", "assistant", "call", "reply"]


class Needle(Declared):
    """A past session that says something about a piece.

    `by` is who says it: the user, the assistant, an argument of a call, or a reply. It takes place
    on a day from `since` to `until`, if these are given, and else wherever the weave puts it.
    """

    talk: Annotated[list[PastTurn], Field(min_length=2)]
    by: Speaker = "user"
    since: date | None = None
    until: date | None = None

    @property
    def texts(self) -> list[Any]:
        """Its texts and arguments."""
        said = []
        for turn in self.talk:
            said += [turn.user, turn.assistant, turn.args]
        return said


class Telling(Declared):
    """What is said in one kind of a target: long ago in the `needles`, and in the end in `ask`.

    `ask` is the user's message in two degrees of directness, plain and roundabout. `shift` says
    whether an explicit shift is announced as one. `question` is how a good assistant asks for what
    is missing.
    """

    ask: Annotated[list[str], Field(min_length=2, max_length=2)]
    needles: list[Needle] = []
    shift: Literal["announced", "unannounced"] | None = None
    question: str | None = None


class Target(Declared):
    """A target as written in its file.

    `pieces` are what the agent has to know, each with its values. `oracle`, `routes`, `needed`
    (nodes of a graph), `statements`, `answers`, `change`, `setup` and `excused` are as in a
    scenario, and may hold pieces. `answers` are keyed by the piece that they give. `generated` says
    that no person wrote it.
    """

    title: str
    about: str
    services: Annotated[list[str], Field(min_length=1)]
    tools: dict[str, list[str]] = {}
    setup: list[Any] = []
    pieces: Annotated[dict[str, list[Any]], Field(min_length=2)]
    oracle: Annotated[list[Any], Field(min_length=1)]
    routes: list[Any] = []
    needed: Annotated[dict[str, Any], Field(min_length=1)]
    statements: list[Any] = []
    change: dict[str, Any] = {}
    answers: dict[str, Any] = {}
    excused: list[Any] = []
    kinds: dict[Kind, Telling]
    generated: bool = False

    @model_validator(mode="after")
    def _whole(self) -> Target:
        for name, values in self.pieces.items():
            if name == pieces.OTHER:
                raise InputError("a piece cannot be called `other`; that names the wrong values")
            if len(values) < 2 or values[0] == values[1]:
                raise InputError(f"piece {name}: wants two different values at least")
        for name in self.answers:
            if name not in self.pieces:
                raise UnknownName("piece", name, self.pieces, "answers")
        missing = [kind for kind in KINDS if kind not in self.kinds]
        if missing:
            raise InputError(f"kinds: {', '.join(missing)} is missing; a target has all six")
        for kind, telling in self.kinds.items():
            with placing(f"kinds.{kind}"):
                _check(kind, telling, self)
        return self

    def missing(self, kind: Kind) -> str | None:
        """Return the piece that is nowhere said in a kind, or None."""
        telling = self.kinds[kind]
        said = pieces.told(telling.ask[0], self.pieces)[0]
        for needle in telling.needles:
            said |= pieces.told(needle.texts, self.pieces)[0]
        left = [name for name in self.pieces if name not in said]
        return left[0] if left else None

    def taken(self, piece: str) -> set[str]:
        """Return the parts of a piece that the calls take."""
        return pieces.parts([_arguments(self.oracle), self.needed], piece)

    def hidden(self, kind: Kind) -> list[str]:
        """Return the pieces that the user's last message does not hold."""
        said = pieces.told(self.kinds[kind].ask[0], self.pieces)[0]
        return [name for name in self.pieces if name not in said]


def _arguments(steps: Any) -> list[Any]:
    """Return what the calls of written steps take."""
    found: list[Any] = []
    if isinstance(steps, list):
        for step in steps:
            found += _arguments(step)
    elif isinstance(steps, dict):
        found.append(steps.get("args"))
        for part in ("batch", "then", "else", "do"):
            found += _arguments(steps.get(part))
    return found


def _check(kind: Kind, telling: Telling, target: Target) -> None:
    """Refuse a telling that is not of its kind. Raises `InputError`."""
    asked = [pieces.told(ask, target.pieces) for ask in telling.ask]
    if asked[0][0] != asked[1][0] or asked[0][1] or asked[1][1]:
        raise InputError("ask: both ways of asking must hold the same pieces, and no other value")
    given = [pieces.told(needle.texts, target.pieces) for needle in telling.needles]
    sayings = [asked[0][0], *(right for right, _ in given)]
    for name in target.pieces:
        count = len([said for said in sayings if name in said])
        if count > 1:
            raise InputError(f"piece {name} is said {count} times; once is enough")
    said_at_all = set().union(*sayings)
    unsaid = [name for name in target.pieces if name not in said_at_all]
    rights = [sorted(right) for right, _ in given]
    others = [sorted(wrong) for _, wrong in given]
    if kind.startswith("missing"):
        _check_missing(kind, telling, target, unsaid, others)
        return
    if unsaid:
        raise InputError(f"piece {unsaid[0]} is said neither in `ask` nor in a needle")
    if any(len(right) > 1 for right in rights):
        raise InputError("needles: a needle gives one piece, not two")
    if kind.startswith("recall"):
        single = kind == "recall_single"
        if any(others):
            raise InputError("needles: what is recalled has one value; leave `other` to shifts")
        if any(not right for right in rights) or (len(rights) == 1) != single or not rights:
            raise InputError(f"needles: wants {'exactly one' if single else 'two or more'}")
        return
    shifted = [right[0] for right in rights if right]
    before = list(itertools.chain.from_iterable(others))
    if len(set(shifted)) != 1 or set(before) != set(shifted) or not rights[-1]:
        raise InputError(
            "needles: in a shift, an earlier needle says `${other.piece}` and the last one says "
            "what is right now; exactly one piece shifts"
        )
    if (kind == "shift_explicit") != (telling.shift is not None):
        raise InputError("shift: announced or unannounced, for explicit shifts only")


def _check_missing(
    kind: Kind, telling: Telling, target: Target, unsaid: list[str], others: list[list[str]]
) -> None:
    if len(unsaid) != 1:
        raise InputError(f"exactly one piece is missing; here it is {', '.join(unsaid) or 'none'}")
    if unsaid[0] not in target.answers:
        raise InputError(f"piece {unsaid[0]} is missing, so `answers` must have it")
    if telling.question is None:
        raise InputError("question: say how a good assistant asks for the missing piece")
    rivals = list(itertools.chain.from_iterable(others))
    if kind == "missing_easy" and rivals:
        raise InputError("needles: in missing_easy no other value is said; that is missing_hard")
    if kind == "missing_hard" and rivals != unsaid:
        raise InputError(f"needles: one says ${{other.{unsaid[0]}}}, as a value of something else")


@functools.cache
def index() -> dict[str, Path]:
    """Return the targets: `<person>/<name>` → file."""
    paths = sorted(HERE.glob("*/*.yaml"))
    return {path.relative_to(HERE).with_suffix("").as_posix(): path for path in paths}


@functools.cache
def target(name: str) -> Target:
    """Return a target by its name, e.g. `maya/glaze_share`. Raises `InputError`."""
    path = file_of(name)
    try:
        return Target.model_validate(build.with_ids(read(path), person_of(name)))
    except ValidationError as wrong:
        raise InputError(f"{path}: {explain(wrong, Target)}") from None
    except InputError as wrong:
        raise InputError(f"{path}: {wrong}") from None


def text(name: str) -> str:
    """Return what a target's file holds, for fingerprints."""
    return file_of(name).read_text(encoding="utf-8")


def named(path: Path) -> str:
    """Return the name of the target in a file: its absolute path, unless it is a shipped one.

    Raises `InputError` for a file in a folder that is not named after a person.
    """
    whole = Path(os.path.realpath(path))
    if whole.is_relative_to(HERE):
        return whole.relative_to(HERE).with_suffix("").as_posix()
    if whole.parent.name not in build.names():
        people = ", ".join(build.names())
        raise InputError(f"{path}: a target lies in a folder named after its person ({people})")
    check_name(whole.stem, f"{path}: the target")
    if any(mark in str(whole) for mark in _MARKS):
        raise InputError(f"{path}: the path of a target has no ':' and no '@'; move it elsewhere")
    return str(whole)


def file_of(name: str) -> Path:
    """Return the file of a target by its name. Raises `UnknownName`."""
    if name in index():
        return index()[name]
    if name.endswith(SUFFIX) and Path(name).is_absolute():
        return Path(name)
    raise UnknownName("target", name, index())


def person_of(name: str) -> str:
    """Return whose target it is."""
    return short(name).partition("/")[0]


def short(name: str) -> str:
    """Return the name of a target without folders and suffix: `<person>/<name>`."""
    return "/".join(name.removesuffix(SUFFIX).split("/")[-2:])


def is_target(path: Path) -> bool:
    """Return whether a file holds a target. A file that cannot be read holds none."""
    try:
        raw = read(path)
    except InputError:
        return False
    return isinstance(raw, dict) and "pieces" in raw and "kinds" in raw
