"""A folder as a registry: the classes of a kind that its modules hold, so that adding a file adds a
unit.
"""

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
    """Return the subclasses of `base` that the modules below a package define, by what each one
    itself sets as `attribute`.

    Modules come in the order of their names. Those with a name that begins with `_`, and packages
    in `without`, are passed over.
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
