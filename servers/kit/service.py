"""What a service is: a class with tables, its provider's error codes, and methods marked `@reads`
or `@writes`.

An instance lives for one call. It sees the world of that call, the call's moment, and may spend
ids; it knows no faults.
"""

from __future__ import annotations

import fnmatch
import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from servers.kit.errors import ServiceError, UnknownName, did_you_mean
from servers.kit.registry import subclasses
from servers.kit.store import Table, World
from servers.kit.values import iso

ENVIRONMENT = "environment"
"""Domain of services that stand for no provider."""


@dataclass(frozen=True)
class Setup:
    """A call made before an example: `tool` of the same service (or `service.tool`), `args`, and
    the name its reply is kept under.
    """

    tool: str
    args: dict[str, Any]
    save: str = ""


@dataclass(frozen=True)
class Codes:
    """The provider's codes for what any tool may answer, for faults and validation to use."""

    invalid: str = "INVALID_ARGUMENT"
    unavailable: str = "SERVICE_UNAVAILABLE"
    rate_limited: str = "RATE_LIMITED"
    timeout: str = "TIMEOUT"
    unauthorized: str = "UNAUTHORIZED"
    internal: str = "INTERNAL_ERROR"


@dataclass(frozen=True, eq=False)
class ToolSpec:
    """One tool: its function, effect and annotations, its cost in simulated seconds and its example
    call.

    `example` are arguments that succeed in the default world after `setup`; strings may hold
    `${name.path}` of saved replies.
    """

    name: str
    run: Callable[..., Any]
    effect: Literal["read", "write"]
    example: dict[str, Any]
    setup: tuple[Setup, ...] = ()
    idempotent: bool = False
    destructive: bool = False
    cost: int = 1

    @property
    def description(self) -> str:
        """The method's docstring, for the agent."""
        return inspect.cleandoc(self.run.__doc__ or "")

    @functools.cached_property
    def model(self) -> type[BaseModel]:
        """Pydantic model of the arguments, made from the method's signature."""
        hints = inspect.get_annotations(self.run, eval_str=True)
        _, *parameters = inspect.signature(self.run).parameters.values()
        fields: dict[str, Any] = {}
        for parameter in parameters:
            required = parameter.default is parameter.empty
            fields[parameter.name] = (hints[parameter.name], ... if required else parameter.default)
        return create_model(self.name, __config__=ConfigDict(extra="forbid", strict=True), **fields)

    @functools.cached_property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments: an object without references, titles or null unions."""
        return _plain(self.model.model_json_schema(mode="validation"))

    @functools.cached_property
    def _optional(self) -> frozenset[str]:
        return frozenset(n for n, f in self.model.model_fields.items() if not f.is_required())

    def arguments(self, raw: dict[str, Any], codes: Codes) -> dict[str, Any]:
        """Return validated arguments.

        A null for an optional one counts as left out. Raises `ServiceError`.
        """
        if None in raw.values():
            nulls = {name for name, value in raw.items() if value is None}
            raw = {k: v for k, v in raw.items() if k not in nulls & self._optional}
        try:
            return self.model.__pydantic_validator__.validate_python(raw).__dict__
        except ValidationError as wrong:
            raise self._refusal(wrong, codes) from None

    def _refusal(self, wrong: ValidationError, codes: Codes) -> ServiceError:
        first = wrong.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(p) for p in first["loc"])
        if first["type"] == "extra_forbidden":
            known = self.model.model_fields
            near = did_you_mean(where, known) if known else "; the tool takes no arguments"
            message = f"Unknown argument '{where}'{near}."
            hint = self._expected()
        elif first["type"] == "missing":
            message = f"Missing required argument '{where}'."
            hint = self._expected()
        else:
            problem = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
            message = f"Argument '{where}' {problem}."
            hint = "Correct the argument and call again."
        return ServiceError(codes.invalid, message, hint, context={"field": where})

    def _expected(self) -> str:
        names = [
            f"{name} (optional)" if name in self._optional else name
            for name in self.model.model_fields
        ]
        return f"Arguments: {', '.join(names) or 'none'}."


_NULL = {"type": "null"}


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON schema with references put in place, without titles and null unions."""
    definitions = schema.pop("$defs", {})

    def walk(node: Any) -> Any:
        if isinstance(node, list):
            return [walk(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            target = definitions[node["$ref"].rsplit("/", 1)[1]]
            return walk(target | {k: v for k, v in node.items() if k != "$ref"})
        options = node.get("anyOf")
        if options and _NULL in options and len(options) == 2:
            other = next(option for option in options if option != _NULL)
            rest = {k: v for k, v in node.items() if k not in ("anyOf", "default")}
            return walk(other | rest)
        plain = {}
        for key, value in node.items():
            if key == "properties":
                plain[key] = {name: walk(argument) for name, argument in value.items()}
            elif not _is_noise(key, value):
                plain[key] = walk(value)
        return plain

    plain = walk(schema)
    plain.setdefault("properties", {})
    return plain


def _is_noise(key: str, value: Any) -> bool:
    if key == "title":
        return isinstance(value, str)
    return key == "default" and value is None


def reads(
    *, example: dict[str, Any] | None = None, setup: tuple[Setup, ...] = (), cost: int = 1
) -> Callable[..., Any]:
    """Mark a method as a tool that changes nothing."""
    return _mark("read", example, setup, cost, idempotent=True, destructive=False)


def writes(
    *,
    example: dict[str, Any] | None = None,
    setup: tuple[Setup, ...] = (),
    cost: int = 1,
    idempotent: bool = False,
    destructive: bool = False,
) -> Callable[..., Any]:
    """Mark a method as a tool that changes rows.

    `idempotent`: a repeat changes nothing more. `destructive`: it cannot be undone.
    """
    return _mark("write", example, setup, cost, idempotent=idempotent, destructive=destructive)


def _mark(
    effect: Literal["read", "write"],
    example: dict[str, Any] | None,
    setup: tuple[Setup, ...],
    cost: int,
    **flags: bool,
) -> Callable[..., Any]:
    def mark(method: FunctionType) -> FunctionType:
        spec = ToolSpec(method.__name__, method, effect, example or {}, setup, cost=cost, **flags)
        setattr(method, "__tool__", spec)  # noqa: B010 (a function declares no such attribute)
        return method

    return mark


@dataclass(slots=True)
class Ids:
    """Where a call gets its ids: the episode's counter, or the tape of the call that it repeats in
    another world.

    A branch that needs more ids than its tape holds looks ahead without spending.
    """

    spend: Callable[[str], str]
    peek: Callable[[str, int], str]
    tape: list[tuple[str, str]]
    replay: bool = False
    _used: int = 0
    _ahead: dict[str, int] = field(default_factory=dict)

    def new(self, prefix: str) -> str:
        """Return an id."""
        if not self.replay:
            spent = self.spend(prefix)
            self.tape.append((prefix, spent))
            return spent
        for place in range(self._used, len(self.tape)):
            if self.tape[place][0] == prefix:
                self._used = place + 1
                return self.tape[place][1]
        self._ahead[prefix] = self._ahead.get(prefix, 0) + 1
        return self.peek(prefix, self._ahead[prefix])


class Service:
    """A provider. Subclasses set the class attributes and add tools; `tick` is optional (see
    `due`).

    Attributes: `db` the world, `now` the moment in epoch seconds, `elapsed` simulated seconds that
    the call lets pass after it. `domain` and `category` group services; `tables` are this
    provider's own, `shared_tables` those of its category's rules; `codes` its error codes.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    category: ClassVar[str]
    domain: ClassVar[str]
    tables: ClassVar[dict[str, Table]] = {}
    shared_tables: ClassVar[dict[str, Table]] = {}
    codes: ClassVar[Codes] = Codes()
    tools: ClassVar[dict[str, ToolSpec]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        tools = {}
        for base in reversed(cls.__mro__):
            for name, member in vars(base).items():
                if hasattr(member, "__tool__"):
                    tools[name] = member.__tool__
        cls.tools = tools

    @classmethod
    def known_tables(cls) -> dict[str, Table]:
        """Return all tables that it works with: those that its category shares, then its own."""
        return cls.shared_tables | cls.tables

    def __init__(self, db: World, now: int, ids: Ids) -> None:
        self.db = db
        self.now = now
        self._ids = ids
        self.elapsed = 0

    @property
    def time(self) -> str:
        """The moment as ISO text, as rows hold it."""
        return iso(self.now)

    def new_id(self, prefix: str) -> str:
        """Spend an id of a kind."""
        return self._ids.new(prefix)

    def fail(
        self, code: str, message: str, hint: str = "", *, retryable: bool = False, **context: Any
    ) -> NoReturn:
        """Refuse, in the provider's words; everything that the call wrote is rolled back."""
        raise ServiceError(code, message, hint, retryable=retryable, context=context)

    def due(self) -> bool:
        """Whether rows say that something should have happened by now; keep it one cheap query."""
        return False

    def tick(self) -> None:
        """Make happen what is due (a scheduled payment, a delivery).

        The writes' cause is the clock.
        """


SERVERS = Path(__file__).parent.parent


@functools.cache
def categories() -> tuple[str, ...]:
    """Return the folders of services. Nothing is imported for it."""
    folders = {path.name for path in SERVERS.iterdir() if path.is_dir()} - {"kit"}
    return tuple(sorted(name for name in folders if not name.startswith(("_", "."))))


@functools.cache
def of_category(category: str) -> dict[str, type[Service]]:
    """Return the services of one folder by name; adding a file adds a service."""
    return subclasses(f"servers.{category}", Service, "name")


@functools.cache
def services() -> dict[str, type[Service]]:
    """Return every service by name.

    This imports them all: what is about a few of them asks `service` or `of_category`.
    """
    by_name: dict[str, type[Service]] = {}
    for category in categories():
        by_name |= of_category(category)
    return {name: by_name[name] for name in sorted(by_name)}


def providers() -> dict[str, type[Service]]:
    """Return the simulated providers: every service but those of the episode's environment (its
    clock, its sign-ins).
    """
    return {name: cls for name, cls in services().items() if cls.domain != ENVIRONMENT}


@functools.cache
def _imported(name: str) -> type[Service] | None:
    """Return the service whose file or folder bears its name, without importing those of other
    categories.
    """
    if not name.isidentifier():
        return None
    for category in categories():
        if (SERVERS / category / name).is_dir() or (SERVERS / category / f"{name}.py").exists():
            return of_category(category).get(name)
    return None


def service(name: str) -> type[Service]:
    """Return a service by name. Raises `UnknownName`."""
    cls = _imported(name)
    if cls is None:
        raise UnknownName("service", name, services())
    return cls


def chosen(names: Iterable[str]) -> list[str]:
    """Return the services that names stand for: a service, or a category or domain for all of its
    providers. Raises `UnknownName`.
    """
    selected: list[str] = []
    for name in names:
        if _imported(name) is not None:
            selected.append(name)
            continue
        group = [n for n, cls in providers().items() if name in (cls.category, cls.domain)]
        if not group:
            groups = {cls.category for cls in providers().values()}
            groups |= {cls.domain for cls in providers().values()}
            raise UnknownName("service", name, [*services(), *groups])
        selected += group
    return list(dict.fromkeys(selected))


def narrowed(cls: type[Service], patterns: Iterable[str]) -> type[Service]:
    """Return a service with those of its tools alone that a pattern (`list_*`) names.

    Raises `UnknownName` for one that names none.
    """
    names: set[str] = set()
    for pattern in patterns:
        matching = fnmatch.filter(cls.tools, pattern)
        if not matching:
            raise UnknownName("tool", pattern, cls.tools, cls.name)
        names |= set(matching)
    narrow = type(cls.__name__, (cls,), {"__doc__": cls.__doc__, "__module__": cls.__module__})
    narrow.tools = {name: spec for name, spec in cls.tools.items() if name in names}
    return narrow


def tool(name: str) -> tuple[type[Service], ToolSpec]:
    """Return service and tool of a `service.tool` name. Raises `UnknownName`."""
    owner, _, short = name.partition(".")
    cls = service(owner)
    if short not in cls.tools:
        raise UnknownName("tool", name, [f"{owner}.{t}" for t in cls.tools])
    return cls, cls.tools[short]


def known_tables(names: Iterable[str]) -> dict[str, Table]:
    """Return the tables that some services work with. Raises `UnknownName`."""
    tables: dict[str, Table] = {}
    for name in names:
        tables |= service(name).known_tables()
    return tables


def all_tables() -> dict[str, Table]:
    """Return the tables of every service."""
    return known_tables(services())


def categories_of(names: Iterable[str]) -> tuple[str, ...]:
    """Return the categories of these services, sorted."""
    return tuple(sorted({service(n).category for n in names}))


def tables_of(categories: Iterable[str]) -> dict[str, Table]:
    """Return the tables of all services of some categories; counterparts may share rules, so a
    world holds them together.
    """
    tables: dict[str, Table] = {}
    for category in categories:
        tables |= known_tables(of_category(category))
    return tables
