"""Claims and the vocabulary that they are written in: one file of `judge/claims/` for each kind."""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from judge.reading.concepts import Item, as_phrase
from servers.kit.declared import Declared
from servers.kit.errors import InputError, UnknownName, explain
from servers.kit.expr.evaluate import expressions, outcomes
from servers.kit.yaml import read as read_yaml

FOLDER = Path(__file__).resolve().parent.parent / "claims"

SlotType = Literal[
    "person", "people", "money", "number", "value", "day", "time", "words", "items", "provider",
    "phrases",
]  # fmt: skip
"""`value` is a number, a percentage, a temperature or money; `items` are names that must all be
there; `phrases` are in the language of `judge/reading/concepts.py`.
"""

Frame = Literal["deed", "state", "figure", "when", "named", "source", "unconfirmed", "fact"]
"""How a kind is read: `deed` and `state` by their forms, the others by their slots."""


class DeedOf(Declared):
    """What a deed changes: `op` is added, changed, deleted or ended; `category` lists those of
    services.
    """

    op: tuple[str, ...] | str
    category: tuple[str, ...] = ()


class Proof(Declared):
    """Sentences that make a claim with these slots, or do not make it."""

    claim: dict[str, Any] = Field(default_factory=dict)
    texts: tuple[str, ...]


class Kind(Declared):
    """One kind of claim.

    `slots` gives each slot's type. `forms` are phrases that make the claim, `denials` phrases that
    deny it; in them, `<money>` is any value of a type, `@term` the words of `terms` (`a|b`), and a
    last `!money` or `!owe` passes over sentences with such a value or word. `topic` holds words
    that show that a doubt is about this kind; `hedged` that "may be" is enough to tell it. A deed
    has `deed`. `accepts` and `refuses` prove the entry.
    """

    about: str
    slots: dict[str, SlotType]
    frame: Frame = "state"
    terms: dict[str, str] = Field(default_factory=dict)
    forms: tuple[str, ...] = ()
    denials: tuple[str, ...] = ()
    topic: str = ""
    hedged: bool = False
    deed: DeedOf | None = None
    accepts: tuple[Proof, ...] = ()
    refuses: tuple[Proof, ...] = ()

    def phrases(self, forms: tuple[str, ...]) -> tuple[str, ...]:
        """Return phrases with their terms filled in."""
        return tuple(_filled(form, self.terms) for form in forms)


Parts = tuple[str, tuple[tuple[str, Any], ...], frozenset[str]]
"""A claim as a key: its kind, its slots, and those that must be in the text."""


@dataclass(frozen=True)
class Claim:
    """A claim: its kind, its slots with parsed values, and the slots that must be in the text."""

    kind: str
    slots: dict[str, Any] = field(default_factory=dict)
    needed: frozenset[str] = frozenset()

    @functools.cached_property
    def parts(self) -> Parts:
        """The claim as a key."""
        return self.kind, tuple(sorted(self.slots.items())), self.needed


def _filled(form: str, terms: Mapping[str, str]) -> str:
    def term(found: re.Match[str]) -> str:
        if found[1] not in terms:
            raise UnknownName("term", found[1], terms, f"form {form!r}")
        return _filled(terms[found[1]], terms)

    return re.sub(r"@(\w+)", term, form)


@functools.cache
def vocabulary() -> dict[str, Kind]:
    """Return every kind of claim by name. Raises `InputError` for a file that is no kind."""
    kinds = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        kinds[path.stem] = _kind(path)
    return kinds


def _kind(path: Path) -> Kind:
    where = f"judge/claims/{path.name}"
    try:
        kind = Kind.model_validate(read_yaml(path))
    except ValidationError as wrong:
        raise InputError(f"{where}: {explain(wrong, Kind)}") from None
    for phrase in kind.phrases(kind.forms) + kind.phrases(kind.denials):
        split_phrase(phrase)
    return kind


@functools.lru_cache(maxsize=4096)
def split_phrase(phrase: str) -> tuple[tuple[Item, ...], frozenset[str]]:
    """Return the items of a form, and the types of value that its clause must not hold."""
    plain, *without = phrase.split(" !")
    return as_phrase(plain)[0], frozenset(without)


def parse_claim(kind: str, slots: Mapping[str, Any] | None, *, computed: bool = True) -> Claim:
    """Return a claim of the vocabulary.

    A slot whose name ends in `*` must be in the text. If the slots are not `computed` yet, a slot
    with an expression is left out; only what it may become is checked. Raises `UnknownName` for an
    unknown kind or slot and `InputError` for a value of the wrong type, each with one line.
    """
    kinds = vocabulary()
    if kind not in kinds:
        raise UnknownName("claim", str(kind), kinds)
    if not isinstance(slots, Mapping | None):
        raise InputError(f"claim {kind}: expected slots, as in {{{kind}: {{…}}}}; got {slots!r}")
    known = kinds[kind].slots
    values = {}
    needed = set()
    for key, given in (slots or {}).items():
        name = str(key).removesuffix("*").rstrip()
        if name not in known:
            raise UnknownName("slot", name, known, f"claim {kind}")
        if name in values:
            raise InputError(f"claim {kind}: {name} is given twice")
        if given is None:
            raise InputError(f"claim {kind}: {name} is empty")
        where = f"claim {kind}: {name}"
        if not computed and isinstance(given, str) and expressions(given):
            for outcome in outcomes(given):
                _value(known[name], outcome, where)
            continue
        values[name] = _value(known[name], given, where)
        if str(key).endswith("*"):
            needed.add(name)
    return Claim(kind, values, frozenset(needed))


def _value(type_: SlotType, given: Any, where: str) -> Any:
    if type_ in ("people", "items", "phrases"):
        listed = list(given) if isinstance(given, list | tuple) else [given]
        for part in listed:
            _text(part, where, "a name" if type_ != "phrases" else "a phrase")
        if not listed:
            raise InputError(f"{where}: expected at least one name")
        if type_ == "phrases":
            for part in listed:
                as_phrase(part)
        return tuple(str(part) for part in listed)
    if type_ == "words":
        listed = list(given) if isinstance(given, list | tuple) else [given]
        return " ".join(_text(part, where, "words", number=True) for part in listed)
    if type_ in ("money", "number", "value"):
        return _figure(given, where)
    if type_ == "day":
        return _day(given, where)
    if type_ == "time":
        return _time(given, where)
    return _text(given, where, "a provider" if type_ == "provider" else "a name")


def _text(given: Any, where: str, what: str, number: bool = False) -> str:
    usable = isinstance(given, str) or (number and type(given) in (int, float))
    if not usable or not str(given).strip():
        raise InputError(f"{where}: expected {what}, got {given!r}")
    return str(given).strip()


def _figure(given: Any, where: str) -> float:
    if type(given) in (int, float):
        return float(given)
    if isinstance(given, str):
        plain = re.sub(r"[$%,°\s]|[CF]$", "", given)
        if re.fullmatch(r"-?\d+(\.\d+)?", plain):
            return float(plain)
    raise InputError(f"{where}: expected a number, got {given!r}")


def _day(given: Any, where: str) -> str:
    if isinstance(given, datetime.date):
        return given.isoformat()[:10]
    text = _text(given, where, "a day such as 2026-04-02")
    try:
        return datetime.date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        raise InputError(f"{where}: expected a day such as 2026-04-02, got {given!r}") from None


def _time(given: Any, where: str) -> int:
    """Return minutes after midnight; YAML reads an unquoted 19:00 as a number of minutes."""
    if type(given) is int and 0 <= given < 24 * 60:
        return given
    found = re.search(r"(?:^|T|\s)(\d{1,2}):(\d\d)", given) if isinstance(given, str) else None
    if found is None or int(found[1]) > 23 or int(found[2]) > 59:
        raise InputError(f"{where}: expected a time such as 19:00, got {given!r}")
    return int(found[1]) * 60 + int(found[2])
