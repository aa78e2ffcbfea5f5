"""What the first draft of a scenario does at each service: one small task, as data.

The folder is the registry: `<service>.yaml` holds a wish, the write that fulfils it and the reading
that shows it. `${name}` stands for a value that is picked from the person's world, `${day+7}` for
the date a week after the episode begins.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

from scenarios.worlds import build
from servers.kit.declared import Declared, validated
from servers.kit.errors import InputError, UnknownName
from servers.kit.values import iso, parse_time
from servers.kit.yaml import read

HERE = Path(__file__).parent
_PLACE = re.compile(r"\$\{(\w+)\}|\$\{day([+]\d+)\}")


class Starter(Declared):
    """A task at one service.

    `wish` is what the user says. `pick` maps names to `table.column`, `find` are calls that the
    write needs first. `write` fulfils the wish, `look` shows it, and `there` tells it from the
    reply `seen`. `must`, `claim` and `holds` make the statement, `done` and `failed` are what an
    agent says. `renamed` is an argument with the name that it gets when the provider's schema
    drifts, `garbled` a value in the reply of `look` with the one that stands in its place when it
    is corrupted.
    """

    wish: str
    pick: dict[str, str] = {}
    find: list[dict[str, Any]] = []
    write: dict[str, Any]
    look: dict[str, Any]
    there: str
    must: str
    claim: dict[str, Any]
    holds: str
    done: str
    failed: str
    renamed: dict[str, str]
    garbled: dict[str, dict[str, Any]]


def starters() -> list[str]:
    """Return the services that have a task."""
    return sorted(path.stem for path in HERE.glob("*.yaml"))


def starter(service: str, world: str) -> Starter:
    """Return the task at a service, made for a person. Raises `InputError`."""
    if service not in starters():
        raise UnknownName("service", service, starters())
    person = build.person(world)
    path = HERE / f"{service}.yaml"
    raw = read(path)
    values = _picked(service, world, raw.get("pick", {}))
    begins = parse_time(person["start"])

    def fill(text: str) -> Any:
        whole = _PLACE.fullmatch(text)
        if whole is not None and whole[1] in values:
            return values[whole[1]]  # with its type

        def value(found: re.Match[str]) -> str:
            if found[2] is not None:
                return iso(begins + int(timedelta(days=int(found[2])).total_seconds()))[:10]
            return str(values.get(found[1], found[0]))

        return _PLACE.sub(value, text)

    return validated(Starter, _filled(raw, fill), str(path))


def _filled(value: Any, fill: Any) -> Any:
    if isinstance(value, dict):
        return {str(fill(str(key))): _filled(inner, fill) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, fill) for inner in value]
    return fill(value) if isinstance(value, str) else value


def _picked(service: str, world: str, wanted: dict[str, str]) -> dict[str, Any]:
    """Return a value for each name, all of one row.

    The row is one that no other row can be mistaken for: no two share a word of what is picked.
    """
    if not wanted:
        return {}
    table = next(iter(wanted.values())).partition(".")[0]
    columns = {name: place.partition(".")[2] for name, place in wanted.items()}
    rows = build.shared(world, [service]).rows(table)
    column = next(iter(columns.values()))
    words: Counter[str] = Counter()
    for row in rows:
        words.update(set(str(row[column]).split()))
    for row in rows:
        text = str(row[column])
        if text.isascii() and all(words[word] == 1 for word in text.split()):
            return {name: row[of] for name, of in columns.items()}
    if rows:
        return {name: rows[0][of] for name, of in columns.items()}
    raise InputError(f"{world} has nothing in {table}, so there is no first draft for {service}")
