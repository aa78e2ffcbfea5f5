"""The calls of `client_harness try`, as given on the command line or in a file of steps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from scenarios.script import Step, check_names, flat
from servers.kit.errors import InputError, explain
from servers.kit.yaml import NotYaml, parse, read

_CALL = re.compile(r"\s*(?:(\w+)\s*=\s*)?(\w+\.\w+)\s*(.*)", re.DOTALL)
_BARE = re.compile(r"(?<=[:\[,\s])(\$\{[^'\"]*?\})(?=\s*[,\]}])")
"""An expression in a flow mapping that is not quoted, which YAML would read as a mapping."""
_LIKE = "e.g. `venmo.send_money {contact_id: '@jordan_park', amount: 5}`"


def parsed(given: Sequence[str]) -> list[Step]:
    """Return the steps that calls and files of steps stand for.

    A call is `service.tool {argument: value, …}`, in YAML's short form, after `name =` if later
    calls use its reply. A file holds a list of steps as in a scenario's script. Raises
    `InputError`.
    """
    steps: list[Step] = []
    for place, text in enumerate(given, 1):
        path = Path(text)
        if path.suffix in (".yaml", ".yml"):
            steps += _steps(read(path), str(path))
        else:
            steps.append(_step(text, f"call {place}"))
    check_names(steps, "calls")
    return steps


def services_of(steps: Sequence[Step]) -> list[str]:
    """Return the services that steps call, in order."""
    called = [step.call for step in flat(list(steps)) if step.call is not None]
    return list(dict.fromkeys(name.partition(".")[0] for name in called))


def _step(text: str, where: str) -> Step:
    read_as = _CALL.fullmatch(text)
    if read_as is None:
        raise InputError(
            f"{where}: write `service.tool {{argument: value}}`, {_LIKE}; got {text!r}"
        )
    name, tool, given = read_as.groups()
    args = _arguments(given, f"{where}: {tool}")
    step: dict[str, Any] = {"call": tool, "args": args}
    if name is not None:
        step["save"] = name
    return _validated(step, where)


def _arguments(text: str, where: str) -> Any:
    try:
        args = parse(text, where)
    except NotYaml:
        args = parse(_BARE.sub(r'"\1"', text), where)
    if not isinstance(args, dict | None):
        raise InputError(f"{where}: the arguments are a mapping, {_LIKE}; got {text!r}")
    return args or {}


def _steps(raw: Any, where: str) -> list[Step]:
    if not isinstance(raw, list):
        raise InputError(
            f"{where}: a list of steps is wanted, such as `- {{call: venmo.get_balance}}`"
        )
    return [_validated(item, f"{where}: [{place}]") for place, item in enumerate(raw)]


def _validated(raw: Any, where: str) -> Step:
    try:
        return Step.model_validate(raw)
    except ValidationError as wrong:
        raise InputError(f"{where}: {explain(wrong, Step)}") from None
    except InputError as wrong:
        raise InputError(f"{where}: {wrong}") from None
