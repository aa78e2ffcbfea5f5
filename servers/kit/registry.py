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
    found: dict[str, type[T]] = {}
    for module in sorted(
        m.name
        for m in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
    ):
        if any(part.startswith("_") for part in module.split(".")) or any(
            f"{module}.".startswith(f"{w}.") for w in without
        ):
            continue
        for value in vars(importlib.import_module(module)).values():
            if (
                inspect.isclass(value)
                and issubclass(value, base)
                and value.__module__ == module
                and attribute in vars(value)
            ):
                found[getattr(value, attribute)] = value
    return found
