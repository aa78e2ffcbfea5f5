"""Check kinds, one file each; the folder is the registry.

In YAML a check is a one-key item: `- called: {name: …, call: …}`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from pydantic.json_schema import models_json_schema

from judge.model import Check
from servers.kit.declared import kind_of, validated
from servers.kit.errors import UnknownName
from servers.kit.registry import subclasses


@functools.cache
def kinds() -> dict[str, type[Check]]:
    """Return every kind of check by name."""
    return subclasses(__name__, Check, "kind")


def parse(item: Any, where: str = "checks") -> Check:
    """Return the check that a one-key item describes.

    Raises `InputError` (one line that begins with `where`).
    """
    example = "- called: {name: paid, call: venmo.send_money}"
    kind, given = kind_of(item, kinds(), "check", example, where)
    label = f"{where}: {kind.kind}"
    if "name" in given:
        label += f" {given['name']!r}"
    return validated(kind, given, label)


def cross_check(checks: Sequence[Check], where: str = "checks") -> list[str]:
    """Return what is wrong with some checks together, one line each.

    That is a name used twice, a reference to an unknown evidence check, and each check's own
    `problems`.
    """
    problems: list[str] = []
    owners = {check.name for check in checks if check.watches()}
    seen: set[str] = set()
    for check in checks:
        label = f"{where}: {check.kind} {check.name!r}"
        if check.name in seen:
            problems.append(f"{label}: the name is used twice")
        seen.add(check.name)
        for name in sorted(check.mentions().checks - owners):
            problems.append(f"{label}: {UnknownName('evidence check', name, owners)}")
        problems += [f"{label}: {problem}" for problem in check.problems()]
    return problems


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of one check item, for editors."""
    models: list[Any] = [(cls, "validation") for cls in kinds().values()]
    _, definitions = models_json_schema(models, by_alias=True)
    options = []
    for kind, cls in kinds().items():
        body = definitions["$defs"][cls.__name__]
        body["properties"]["in"]["default"] = list(cls.default_settings)
        body["properties"]["aspect"]["default"] = cls.default_aspect
        option = {"type": "object", "properties": {kind: {"$ref": f"#/$defs/{cls.__name__}"}}}
        options.append({**option, "required": [kind], "additionalProperties": False})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Check",
        "oneOf": options,
        **definitions,
    }
