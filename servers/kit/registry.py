"""A folder as a registry: adding a file with a class of some kind adds a unit."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Collection
from typing import TypeVar

T = TypeVar("T")


def subclasses(
    package: str, base: type[T], attribute: str, *, without: Collection[str] = ()
) -> dict[str, type[T]]:
    """Return the subclasses of `base` in the modules below a package, by their `attribute`.

    A class counts only if it sets `attribute` itself. Modules are imported in the order of their
    names, except those whose names begin with `_` and the packages in `without`.
    """
    folder = importlib.import_module(package).__path__
    modules = sorted(module.name for module in pkgutil.walk_packages(folder, f"{package}."))
    units: dict[str, type[T]] = {}
    for module in modules:
        private = any(part.startswith("_") for part in module.split("."))
        left_out = any(f"{module}.".startswith(f"{name}.") for name in without)
        if private or left_out:
            continue
        for value in vars(importlib.import_module(module)).values():
            if not inspect.isclass(value) or not issubclass(value, base):
                continue
            if value.__module__ == module and attribute in vars(value):
                units[getattr(value, attribute)] = value
    return units
