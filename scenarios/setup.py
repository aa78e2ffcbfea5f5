"""The setup of a scenario: changes of rows that its story needs, in every setting."""

from __future__ import annotations

from fault_profiles.rows import change_rows
from fault_profiles.schedule import check_names
from scenarios.haystack import history
from scenarios.model import Scenario
from scenarios.worlds import build
from servers.kit.control import make_id
from servers.kit.errors import InputError
from servers.kit.service import known_tables
from servers.kit.store import WORLD, World
from servers.kit.values import parse_time

NAMES = frozenset({"now"})
"""What expressions in a setup may use: the moment at which the episode begins."""


def check(scenario: Scenario) -> None:
    """Check the setup against the tables of the scenario's services. Raises `InputError`."""
    tables = known_tables(scenario.services)
    for number, change in enumerate(scenario.setup):
        place = f"setup[{number}]"
        check_names(change.check(tables, place), NAMES, place)


def inserted(scenario: Scenario) -> set[str]:
    """Return every text in the rows that the setup and the faults insert; ids are among them."""
    changes = list(scenario.setup)
    for fault in scenario.faults:
        changes += fault.changes
    keys: set[str] = set()
    for change in changes:
        keys |= {value for value in (change.insert or {}).values() if isinstance(value, str)}
    return keys


def beginning(scenario: Scenario) -> World:
    """Return the world in which a scenario begins: with its history and its setup.

    Raises `InputError` if the setup does not fit the world, e.g. if it meets no row.
    """
    if scenario.history:
        world = history.shared(scenario.history, scenario.services).share()
    else:
        world = build.shared(scenario.world, scenario.services).share()
    if scenario.setup:
        start = build.person(scenario.world)["start"]
        mark = world.last_change()
        world.stamp(parse_time(start), WORLD)
        new_key = _Keys(scenario.world)
        for number, change in enumerate(scenario.setup):
            try:
                change_rows(world, [change], {"now": start}, new_key)
            except InputError as wrong:
                raise InputError(f"{scenario.id}: setup[{number}]: {wrong}") from None
        world.settle(mark)
    return world


class _Keys:
    """Gives the keys of rows that a setup inserts without one: always the same ones."""

    def __init__(self, world: str) -> None:
        self._world = world
        self._given = 0

    def __call__(self, prefix: str) -> str:
        self._given += 1
        return make_id(prefix, self._world, "setup", self._given)
