"""Agents as a run names them: an agent alone, or with a model and options of its own.

`model:openai/gpt-5,temperature=0` is the agent `model` with these two options. What was written is
the agent's key in results, so that one agent can run several times with different models.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from servers.kit.errors import InputError, cut, quoted
from servers.kit.files import hash_of
from servers.kit.yaml import NotYaml, parse

_LONGEST = 80
"""How many characters of an agent's key are part of a path."""


def name_of(key: str) -> str:
    """Return the name of the agent itself."""
    return key.partition(":")[0]


def own_options(key: str) -> dict[str, Any]:
    """Return the options that stand in an agent's key: a model, then `NAME=VALUE`, with commas.

    Raises `InputError` for a key that cannot be read.
    """
    name, colon, written = key.partition(":")
    if not colon:
        return {}
    model, *pairs = written.split(",")
    options: dict[str, Any] = {}
    if "=" in model:
        pairs.insert(0, model)
    elif model:
        options["model"] = model
    for pair in pairs:
        option, value = option_of(pair, f"--agent {quoted(key)}:")
        if option in options:
            raise InputError(f"--agent {quoted(key)}: {quoted(option)} is given twice")
        options[option] = value
    if not options:
        raise InputError(f"--agent {quoted(key)}: write a model after the colon, or only {name}")
    return options


def option_of(pair: str, where: str) -> tuple[str, Any]:
    """Return the name and the value of `KEY=VALUE`. Raises `InputError`."""
    name, equals, text = pair.partition("=")
    if not equals or not name:
        raise InputError(f"{where.removesuffix(':')}: write KEY=VALUE, not {quoted(pair)}")
    try:
        return name, parse(text, f"{where} {cut(name)}") if text else ""
    except NotYaml:
        return name, text


def slugs(keys: Iterable[str]) -> dict[str, str]:
    """Return a part of a path for each key, made of letters, digits, `_`, `.` and `-`.

    A name without a model stays as it is. Keys that would have the same get a few digits more.
    """
    plain = {}
    for key in keys:
        plain[key] = re.sub(r"[^\w.-]+", "-", key).strip("-.")
    # Some file systems do not tell upper case from lower case.
    used = Counter(slug.casefold() for slug in plain.values())
    found = {}
    for key, slug in plain.items():
        is_clear = used[slug.casefold()] == 1 and len(slug) <= _LONGEST
        digits = hash_of([key.encode()])[:6]
        found[key] = slug if is_clear else f"{slug[:_LONGEST]}-{digits}"
    return found
