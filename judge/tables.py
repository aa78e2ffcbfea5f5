"""The tables of every service by what they hold: constant, and asked for often."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

from servers.kit.service import all_tables, services
from servers.kit.tables import Table


@functools.cache
def tables() -> Mapping[str, Table]:
    """Return the tables of every service by name."""
    return MappingProxyType(all_tables())


@functools.cache
def _categories() -> dict[str, str]:
    found: dict[str, str] = {}
    for cls in services().values():
        found |= dict.fromkeys(cls.known_tables(), cls.category)
    return found


def category_of(table: str) -> str:
    """Return the category of the services that know a table, or nothing for one of no service."""
    return _categories().get(table, "")


@functools.cache
def tables_of_mails() -> frozenset[str]:
    """Return the names of the tables whose rows have recipients and a text for them."""
    found = set()
    for name, spec in tables().items():
        if {"recipients", "prose"} <= set(spec.roles.values()) and "body" in spec.columns:
            found.add(name)
    return frozenset(found)


@functools.cache
def tables_of_people() -> frozenset[str]:
    """Return the names of the tables whose rows are people: a name, and where to reach them."""
    found = set()
    for name, spec in tables().items():
        columns = spec.columns.keys()
        if "name" in columns and columns & {"email", "email_address", "username", "address"}:
            found.add(name)
    return frozenset(found)
