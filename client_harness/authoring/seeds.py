"""The keys of a world's seeded rows, by table: what an author writes in place of an id.

A row's id is a hash of its kind's prefix and its key in the seeds, so the keys are found by letting
the generators run once more and noting the ids for which they ask. What they ask for is kept
beside the built world.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from scenarios.worlds import build
from servers.kit.errors import InputError, UnknownName
from servers.kit.service import chosen, known_tables, providers, service
from servers.kit.tables import Table

_NAMED = re.compile(r"@[\w-]+(?:/[\w-]+)?")
_WRITABLE = re.compile(r"[a-z]+/[\w-]+")
"""The form of a seed that may stand in a file, `seed:vct/jordan_park`."""
_TELLING = ("name", "title", "subject", "label", "display_name", "email", "email_address", "city")
_SHOWN = 3
"""How many columns of a row are shown beside its key."""

Entry = dict[str, Any]


class _Noting(build.Builder):
    """A builder that notes the key of every id that a generator asks for."""

    def __init__(self, name: str) -> None:
        super().__init__(name, build.person(name))
        self.noted: dict[str, str] = {}

    def id(self, prefix: str, key: Any) -> str:
        made = super().id(prefix, key)
        self.noted[made] = f"{prefix}/{key}"
        return made


@functools.cache
def keys(world: str) -> dict[str, str]:
    """Return the seeded ids of a world with their keys: id → `prefix/key`. Raises `InputError`."""
    kept = build.cache() / f"seeds-{world}-{build.fingerprint(world)}.json"
    with contextlib.suppress(OSError, ValueError):
        read: dict[str, str] = json.loads(kept.read_text(encoding="utf-8"))
        return read
    builder = _Noting(world)
    build.collect(builder)
    with contextlib.suppress(OSError):  # it is only asked again next time
        kept.parent.mkdir(parents=True, exist_ok=True)
        for old in kept.parent.glob(f"seeds-{world}-*.json"):
            old.unlink()
        kept.write_text(json.dumps(builder.noted), encoding="utf-8")
    return builder.noted


def listed(
    world: str, services: Collection[str] = (), table: str | None = None
) -> dict[str, list[Entry]]:
    """Return the seeded rows of a world by table.

    Shape: `{table: [{seed, id, columns: {name: value}}]}`. `seed` is what a scenario may write
    (`seed:vct/jordan_park`); a row whose key cannot be written, or that has a natural key such as
    a symbol, has its plain key there. `services` (or categories) and `table` narrow it. Raises
    `UnknownName`.
    """
    tables = known_tables(chosen(services) or list(providers()))
    if table is not None and table not in tables:
        raise UnknownName("table", table, tables)
    names = [table] if table is not None else sorted(tables)
    known = keys(world)
    opened = build.shared(world)
    rows_of: dict[str, list[Entry]] = {}
    for name in names:
        entries = [_entry(tables[name], row, known) for row in opened.rows(name)]
        if entries:
            rows_of[name] = entries
    return rows_of


def _entry(table: Table, row: Mapping[str, Any], known: Mapping[str, str]) -> Entry:
    key = row[table.key]
    seed = known.get(str(key), "")
    writable = _WRITABLE.fullmatch(seed)
    return {
        "seed": f"seed:{seed}" if writable else str(key),
        "id": key,
        "columns": {name: row[name] for name in telling(table, row)},
    }


def telling(table: Table, row: Mapping[str, Any]) -> list[str]:
    """Return the columns that tell a row from others at a glance, names first."""
    names = []
    others = []
    for name, (kind, _) in table.columns.items():
        if row[name] in (None, "") or kind not in ("str", "int", "float"):
            continue
        if name in _TELLING:
            names.append(name)
        elif name != table.key:
            others.append(name)
    # A text says more than a number, and a moment or another row's id says least.
    others.sort(key=lambda name: (_dull(name), table.columns[name][0] != "str"))
    return [*names, *others][:_SHOWN]


def _dull(column: str) -> bool:
    return column in ("at", "id") or column.endswith(("_at", "_id"))


def resolved(value: Any, world: str, services: Iterable[str]) -> Any:
    """Return arguments with the seeds that they name replaced by ids.

    A seed is named as in a scenario (`seed:vct/jordan_park`), or in short as `@jordan_park`, which
    is looked for in the tables of `services`, or as `@vct/jordan_park`. Raises `UnknownName`, and
    `InputError` for a short name that several rows share.
    """
    value = build.with_ids(value, world)
    return _named(value, world, tuple(services))


def _named(value: Any, world: str, services: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return {key: _named(inner, world, services) for key, inner in value.items()}
    if isinstance(value, list):
        return [_named(inner, world, services) for inner in value]
    if isinstance(value, str) and _NAMED.fullmatch(value):
        return _id_of(value.removeprefix("@"), world, services)
    return value


def _id_of(name: str, world: str, services: tuple[str, ...]) -> str:
    by_name = short_names(world, services)
    found = by_name.get(name, [])
    if not found:
        raise UnknownName(
            "seed", f"@{name}", [f"@{known}" for known in by_name if "/" not in known]
        )
    if len(found) > 1:
        known = keys(world)
        choices = " or ".join(f"@{known[made]}" for made in found)
        raise InputError(f"@{name} names several rows; say which one: {choices}")
    return found[0]


@functools.cache
def short_names(world: str, services: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the names by which rows of these services' tables may be named, each with their ids.

    A row has two names, `jordan_park` and `vct/jordan_park`.
    """
    seeded = keys(world)
    opened = build.shared(world)
    ids: dict[str, None] = {}
    for name, table in _own_tables(services).items():
        for row in opened.rows(name):
            if str(row[table.key]) in seeded:
                ids[str(row[table.key])] = None
    names: dict[str, list[str]] = {}
    for made in ids:
        whole = seeded[made]
        names.setdefault(whole, []).append(made)
        names.setdefault(whole.partition("/")[2], []).append(made)
    return names


def _own_tables(services: tuple[str, ...]) -> dict[str, Table]:
    """Return the tables that are only these services' own, or theirs among their category's.

    A table that is called after another provider of the category is left out, so that
    `@jordan_park` at Venmo is not also the contact at Zelle.
    """
    others = {name for name in providers() if name not in services}
    tables = {}
    for owner in services:
        for name, table in service(owner).known_tables().items():
            if not any(name.startswith(other + "_") for other in others):
                tables[name] = table
    return tables
