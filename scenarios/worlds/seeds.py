"""Whether the seeds that a scenario names, `seed:vct/jordan_park`, are seeds of its world."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from scenarios.worlds.build import folder, image, names
from servers.kit.control import make_id
from servers.kit.errors import InputError
from servers.kit.service import all_tables

_SEED = re.compile(r"\b(\w+):([A-Za-z]+)/([\w-]+)")
_LOST = re.compile(r"\bseed:[^\s/]*(?![^\s/]*/[\w-])")
_ID = re.compile(rb"\b[a-z]+_[0-9a-f]{10}\b")


def check_seeds(raw: Any, world: str) -> None:
    """Refuse a seed that names no row, neither of the world nor of those that `setup` or a fault
    inserts. Raises `InputError` with the place.
    """
    if world not in names():
        return  # which is refused elsewhere, with the worlds that there are
    inserted = set(_inserted(raw))
    for place, text in _texts(raw, ""):
        if ":" not in text:
            continue
        for found in _SEED.finditer(text):
            if found[0] not in inserted:
                _check(found, world, place)
        cut = _LOST.search(text)
        if cut is not None:
            raise InputError(
                f"{place}: {cut[0]!r} is no seed; write `seed:<prefix>/<key>`, e.g. "
                "`seed:vct/jordan_park`"
            )


def _inserted(raw: Any) -> Iterator[str]:
    """Yield the seeds that inserted rows have as their keys: `{table: …, insert: {id: seed:…}}`."""
    if isinstance(raw, Mapping):
        row = raw.get("insert")
        table = all_tables().get(str(raw.get("table")))
        if isinstance(row, Mapping) and table is not None:
            yield str(row.get(table.key))
    values = raw.values() if isinstance(raw, Mapping) else raw if isinstance(raw, list) else ()
    for inner in values:
        yield from _inserted(inner)


def _check(found: re.Match[str], world: str, place: str) -> None:
    word, prefix, key = found.groups()
    if word != "seed":
        alike = difflib.get_close_matches(word, ["seed"], cutoff=0.7)
        if alike and (found[0] == found.string or _known(prefix, key, world)):
            raise InputError(f"{place}: {found[0]!r}: did you mean 'seed:{prefix}/{key}'?")
        return
    if _known(prefix, key, world):
        return
    near = _nearest(prefix, key, world)
    meant = " or ".join(repr(seed) for seed in near)
    remedy = f"did you mean {meant}?" if meant else "use a key from its seeds"
    raise InputError(f"{place}: {found[0]} names no row of the world {world}; {remedy}")


def _known(prefix: str, key: str, world: str) -> bool:
    return make_id(prefix, world, key).encode() in image(world)


def _nearest(prefix: str, key: str, world: str) -> list[str]:
    """Return the seeds that a mistyped one may have meant: another key, or another prefix."""
    ids = _ids(world)
    prefixes = sorted({made.rpartition("_")[0] for made in ids})
    fitting = [other for other in prefixes if make_id(other, world, key) in ids]
    if fitting:
        near = difflib.get_close_matches(prefix, fitting, n=1, cutoff=0) or fitting[:1]
        return [f"seed:{other}/{key}" for other in near]
    keys = [other for other in _words(world) if make_id(prefix, world, other) in ids]
    return [f"seed:{prefix}/{other}" for other in difflib.get_close_matches(key, keys, n=2)]


@functools.cache
def _ids(world: str) -> frozenset[str]:
    return frozenset(found.decode() for found in _ID.findall(image(world)))


@functools.cache
def _words(world: str) -> frozenset[str]:
    """Return every word in the files of seeds; the keys are among them."""
    words: set[str] = set()
    for path in sorted(folder(world).glob("*.yaml")):
        words |= set(re.findall(r"[\w-]+", path.read_text(encoding="utf-8")))
    return frozenset(words)


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Yield every text in parsed YAML with its place; keys are texts, too."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            named = f"{place}.{key}" if place else str(key)
            yield named, str(key)
            yield from _texts(inner, named)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(inner, f"{place}[{number}]")
