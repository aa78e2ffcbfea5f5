"""Prepares a tool's example call: makes its set-up calls and fills its arguments from replies."""

from __future__ import annotations

import re
from typing import Any

from servers.kit.service import Service, ToolSpec
from servers.kit.session import Session


def resolve(value: Any, saved: dict[str, Any]) -> Any:
    """Fill in the `${name.path}` strings of arguments from saved replies.

    A path consists of keys and list indexes.
    """
    if isinstance(value, dict):
        return {k: resolve(v, saved) for k, v in value.items()}
    if isinstance(value, list):
        return [resolve(v, saved) for v in value]
    if not isinstance(value, str):
        return value
    whole = re.fullmatch(r"\$\{([^}]+)\}", value)
    if whole:
        return _look_up(whole[1], saved)
    return re.sub(r"\$\{([^}]+)\}", lambda m: str(_look_up(m[1], saved)), value)


def _look_up(path: str, saved: dict[str, Any]) -> Any:
    value: Any = saved
    for part in re.findall(r"[^.\[\]]+", path):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def owners(cls: type[Service], spec: ToolSpec) -> tuple[str, ...]:
    """Return the services that an example needs: the tool's own and those of its set-up calls."""
    names = {step.tool.rpartition(".")[0] or cls.name for step in spec.setup}
    return tuple(sorted({cls.name, *names}))


async def prepared(session: Session, cls: type[Service], spec: ToolSpec) -> dict[str, Any]:
    """Make an example's set-up calls, which must succeed, and return the example's arguments."""
    saved: dict[str, Any] = {}
    for step in spec.setup:
        owner, _, name = step.tool.rpartition(".")
        reply = await session.call(owner or cls.name, name, resolve(step.args, saved))
        assert not reply.is_error, (step.tool, reply.data)
        if step.save:
            saved[step.save] = reply.data
    return resolve(spec.example, saved)
