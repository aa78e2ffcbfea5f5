"""Targets: which tools a fault, a check or a condition applies to.

A target is `venmo.send_money`, `venmo.*`, `*.list_*`, one of these after `reads:` or `writes:` to
restrict it by effect, or a list of these. In a list, `not:` excludes tools: `["reads:*.*",
"not:clock.*"]`.
"""

from __future__ import annotations

import functools
from fnmatch import fnmatchcase
from typing import Any, NoReturn

from pydantic import GetCoreSchemaHandler
from pydantic_core import core_schema

from servers.kit.errors import InputError, UnknownName, quoted
from servers.kit.service import services, tool

MOST_PATTERN = 200
"""The most characters of a pattern of tools."""
_NOT = "not:"
_EFFECTS = {"reads": "read", "writes": "write"}


class Selector:
    """One or more patterns of tools, each of which must match at least one tool of ours.

    Raises `UnknownName` if a pattern matches none. An `open` target may also name tools of servers
    that are not ours (behind a proxy); it can only be asked what it selects.
    """

    def __init__(self, patterns: str | list[str], *, open: bool = False) -> None:
        self.patterns = tuple([patterns] if isinstance(patterns, str) else patterns)
        self.open = open
        if not self.patterns or not all(isinstance(p, str) for p in self.patterns):
            raise InputError(
                "write a target as `service.tool`, a pattern such as `venmo.*`, or a list of "
                f"these; got {quoted(patterns)}"
            )
        if not self._included:
            raise InputError(
                f"target {quoted(self.patterns[0])}: excludes tools but selects none; "
                "add a pattern without `not:`"
            )
        for pattern in (*self._included, *self._excluded):
            if len(pattern) > MOST_PATTERN:
                raise InputError(
                    f"target {quoted(pattern)}: has {len(pattern):,} characters; "
                    f"{MOST_PATTERN} are the most"
                )
            _check(pattern)
            if not open and not _expand(pattern):
                _explain(pattern)

    def __repr__(self) -> str:
        return f"Selector({list(self.patterns)!r})"

    @functools.cached_property
    def tools(self) -> frozenset[str]:
        """Every selected `service.tool` of ours; empty for an open target."""
        if self.open:
            return frozenset()
        included = frozenset().union(*map(_expand, self._included))
        return included.difference(*map(_expand, self._excluded))

    @functools.cached_property
    def _included(self) -> list[str]:
        return [p for p in self.patterns if not p.startswith(_NOT)]

    @functools.cached_property
    def _excluded(self) -> list[str]:
        return [p.removeprefix(_NOT) for p in self.patterns if p.startswith(_NOT)]

    @functools.cached_property
    def services(self) -> frozenset[str]:
        """Every service with a selected tool."""
        return frozenset(t.partition(".")[0] for t in self.tools)

    def selects(self, service: str, tool: str, effect: str | None = None) -> bool:
        """Return whether a tool is selected.

        `effect` is needed only for services that are not ours.
        """
        name = f"{service}.{tool}"
        if effect is None:
            return name in self.tools
        if any(_fits(pattern, name, effect) for pattern in self._excluded):
            return False
        return any(_fits(pattern, name, effect) for pattern in self._included)

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        shape = core_schema.union_schema(
            [core_schema.str_schema(), core_schema.list_schema(core_schema.str_schema())]
        )
        written = core_schema.with_info_after_validator_function(_validated, shape)
        ready = core_schema.is_instance_schema(cls)
        return core_schema.json_or_python_schema(
            written,
            core_schema.union_schema([ready, written]),
            serialization=core_schema.plain_serializer_function_ser_schema(_patterns),
        )


def arguments_of(selector: Selector) -> set[str]:
    """Return the names of all arguments of the selected tools of ours."""
    names: set[str] = set()
    for name in selector.tools:
        names |= tool(name)[1].model.model_fields.keys()
    return names


def _validated(patterns: Any, info: core_schema.ValidationInfo) -> Selector:
    return Selector(patterns, open=bool(info.context and info.context.get("open")))


def _patterns(selector: Selector) -> list[str]:
    return list(selector.patterns)


@functools.lru_cache(maxsize=4096)
def _fits(pattern: str, name: str, effect: str) -> bool:
    wanted, _, rest = pattern.rpartition(":")
    return fnmatchcase(name, rest) and (not wanted or effect == _EFFECTS.get(wanted))


@functools.cache
def _expand(pattern: str) -> frozenset[str]:
    names = set()
    for service, cls in services().items():
        for spec in cls.tools.values():
            name = f"{service}.{spec.name}"
            if _fits(pattern, name, spec.effect):
                names.add(name)
    return frozenset(names)


def _check(pattern: str) -> None:
    effect, _, rest = pattern.rpartition(":")
    if effect and effect not in _EFFECTS:
        raise UnknownName("effect", effect, _EFFECTS, f"target {pattern!r}")
    if "." not in rest:
        raise InputError(f"target {pattern!r}: write `service.tool`, e.g. `{rest}.*`")


def _explain(pattern: str) -> NoReturn:
    """Raise the error for a pattern that matches no tool."""
    service, _, tool = pattern.rpartition(":")[2].partition(".")
    if "*" not in service and service not in services():
        raise UnknownName("service", service, services(), f"target {pattern!r}")
    known: list[str] = []
    for name, cls in services().items():
        if fnmatchcase(name, service):
            known += cls.tools
    raise UnknownName("tool", tool, known, f"target {pattern!r}")
