"""The tables of every service by what they hold: constant, and asked for often."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

from servers.kit.service import all_tables, services
from servers.kit.tables import Table
from servers.kit.types import Row


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


def addresses_in(table: str, row: Row) -> set[str]:
    """Return the addresses that a row of a mail's table goes to, in lower case."""
    found: set[str] = set()
    for column, role in tables()[table].roles.items():
        value = row[column]
        if role == "recipients" and value is not None:
            listed = value if isinstance(value, list) else str(value).split(",")
            found |= {str(one).strip().casefold() for one in listed}
    return found


@functools.cache
def tables_of_people() -> frozenset[str]:
    """Return the names of the tables whose rows are people: a name, and where to reach them."""
    found = set()
    for name, spec in tables().items():
        columns = spec.columns.keys()
        if "name" in columns and columns & {"email", "email_address", "username", "address"}:
            found.add(name)
    return frozenset(found)
