"""What a service is: a class with tables, its provider's error codes, and methods that are tools.

Methods marked `@reads` or `@writes` are tools. An instance exists for one call. It has the world
and the moment of that call and may spend ids; it knows nothing of faults.
"""

from __future__ import annotations

import fnmatch
import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from servers.kit import future, posts
from servers.kit.errors import MOST_QUOTED, ServiceError, UnknownName, cut, did_you_mean, sentence
from servers.kit.fields import id_like, names_an_id
from servers.kit.registry import subclasses
from servers.kit.store import Table, World
from servers.kit.types import Json, Row
from servers.kit.values import iso

ENVIRONMENT = "environment"
"""The domain of services that do not simulate a provider."""


@dataclass(frozen=True)
class Setup:
    """A call made before an example.

    `tool` is a tool of the same service, or `service.tool`. The reply is saved under the name
    `save`.
    """

    tool: str
    args: Json
    save: str = ""


@dataclass(frozen=True)
class Codes:
    """The provider's codes for errors that any tool may return, used by faults and validation."""

    invalid: str = "INVALID_ARGUMENT"
    unavailable: str = "SERVICE_UNAVAILABLE"
    rate_limited: str = "RATE_LIMITED"
    timeout: str = "TIMEOUT"
    unauthorized: str = "UNAUTHORIZED"
    internal: str = "INTERNAL_ERROR"


@dataclass(frozen=True, eq=False)
class ToolSpec:
    """One tool: its function, effect and annotations, its cost in simulated seconds, its example.

    `example` holds arguments that succeed in the default world after `setup`; its strings may
    contain `${name.path}`, filled in from saved replies.
    """

    name: str
    run: Callable[..., Any]
    effect: Literal["read", "write"]
    example: Json
    setup: tuple[Setup, ...] = ()
    idempotent: bool = False
    destructive: bool = False
    cost: int = 1

    @property
    def description(self) -> str:
        """The method's docstring, which agents read."""
        return inspect.cleandoc(self.run.__doc__ or "")

    @functools.cached_property
    def model(self) -> type[BaseModel]:
        """The Pydantic model of the arguments, made from the method's signature."""
        hints = inspect.get_annotations(self.run, eval_str=True)
        _, *parameters = inspect.signature(self.run).parameters.values()
        fields: dict[str, Any] = {}
        for parameter in parameters:
            required = parameter.default is parameter.empty
            hint = hints[parameter.name]
            if names_an_id(parameter.name):
                hint = id_like(hint)
            fields[parameter.name] = (hint, ... if required else parameter.default)
        return create_model(self.name, __config__=ConfigDict(extra="forbid", strict=True), **fields)

    @functools.cached_property
    def schema(self) -> Json:
        """The JSON schema of the arguments: an object without references, titles or null unions."""
        return _plain(self.model.model_json_schema(mode="validation"))

    @functools.cached_property
    def _optional(self) -> frozenset[str]:
        return frozenset(n for n, f in self.model.model_fields.items() if not f.is_required())

    def arguments(self, raw: Json, codes: Codes) -> Json:
        """Return validated arguments.

        Null for an optional argument counts as leaving it out. Raises `ServiceError`.
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
        where = cut(".".join(str(p) for p in first["loc"]))
        *outside, name = first["loc"]
        if first["type"] == "extra_forbidden":
            known = _node(self.schema, outside)["properties"]
            near = did_you_mean(str(name), known) if known else "; the tool takes no arguments"
            message = sentence(f"Unknown argument '{where}'{near}")
            hint = self._expected(outside)
        elif first["type"] == "missing":
            message = f"Missing required argument '{where}'."
            hint = self._expected(outside)
        else:
            problem = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
            if first["type"] in _NO_OBJECT:
                problem = f"must be an object with {_parts(self.schema, first['loc'])}"
            message = f"Argument '{where}' {problem}."
            hint = "Correct the argument and call the tool again."
        return ServiceError(codes.invalid, message, hint, context={"field": where})

    def _expected(self, place: Sequence[str | int]) -> str:
        """Return what the tool takes, or what an object among its arguments consists of."""
        if place:
            where = cut(".".join(str(step) for step in place))
            return f"'{where}' must be an object with {_parts(self.schema, place)}."
        names = [
            f"{name} (optional)" if name in self._optional else name
            for name in self.model.model_fields
        ]
        return f"Arguments: {', '.join(names) or 'none'}."


_NO_OBJECT = ("dict_type", "model_type", "model_attributes_type", "dataclass_type")
"""The kinds of problems that mean that something else stands where an object should."""


def _node(schema: Json, place: Iterable[str | int]) -> Json:
    """Return the schema of what stands at a place of a tool's arguments."""
    node = schema
    for step in place:
        inner = node.get("items") if isinstance(step, int) else None
        node = inner or node.get("properties", {}).get(step, node)
    return node


def _parts(schema: Json, place: Iterable[str | int]) -> str:
    """Return what the object at a place of a tool's arguments consists of: "name and address"."""
    node = _node(schema, place)
    required = node.get("required", [])
    parts = [name if name in required else f"{name} (optional)" for name in node["properties"]]
    first = ", ".join(parts[:-1])
    return f"{first} and {parts[-1]}" if first else parts[-1]


_NULL = {"type": "null"}


def _plain(schema: Json) -> Json:
    """Return a JSON schema without references, titles and null unions."""
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
    *, example: Json | None = None, setup: tuple[Setup, ...] = (), cost: int = 1
) -> Callable[..., Any]:
    """Mark a method as a tool that changes nothing."""
    return _mark("read", example, setup, cost, idempotent=True, destructive=False)


def writes(
    *,
    example: Json | None = None,
    setup: tuple[Setup, ...] = (),
    cost: int = 1,
    idempotent: bool = False,
    destructive: bool = False,
) -> Callable[..., Any]:
    """Mark a method as a tool that changes rows.

    `idempotent` means that a repeat changes nothing more, `destructive` that it cannot be undone.
    """
    return _mark("write", example, setup, cost, idempotent=idempotent, destructive=destructive)


def _mark(
    effect: Literal["read", "write"],
    example: Json | None,
    setup: tuple[Setup, ...],
    cost: int,
    **flags: bool,
) -> Callable[..., Any]:
    def mark(method: FunctionType) -> FunctionType:
        spec = ToolSpec(method.__name__, method, effect, example or {}, setup, cost=cost, **flags)
        setattr(method, "__tool__", spec)  # noqa: B010 (a function declares no such attribute)
        return method

    return mark


@dataclass(frozen=True, eq=False)
class Event:
    """What a service does for a row of `table` when the moment in its `column` has come.

    `where` is an SQL condition of ours for the rows that count.
    """

    table: str
    column: str
    where: str
    run: Callable[[Any, Row], None]


def happens(when: str, where: str = "") -> Callable[..., Any]:
    """Mark a method that runs for each row whose moment in `when`, a `table.column`, has come.

    The method takes the row; `self.now` is the row's moment, and the cause of its writes is the
    clock. It must move the column on (or make it null, or make `where` false). Several rows of one
    moment come in the order in which they were made. See `servers.kit.agenda`.
    """
    table, _, column = when.partition(".")

    def mark(method: FunctionType) -> FunctionType:
        setattr(method, "__event__", Event(table, column, where, method))  # noqa: B010
        return method

    return mark


def answers(asks: str) -> Callable[..., Any]:
    """Mark a method that runs when a person reacts to something that `asks` (`request`, `mail`).

    The method takes the reaction: `who` reacts (an address), what this person `does`, what it is
    `about` (the id of a row), and what the person `says`, or None. `self.now` is its moment. A
    manner decides when and how; see `servers.kit.future`.
    """

    def mark(method: FunctionType) -> FunctionType:
        setattr(method, "__answers__", asks)  # noqa: B010
        return method

    return mark


@dataclass(slots=True)
class Ids:
    """Where a call gets its ids: the episode's counter, or the tape of the call that it repeats.

    A call that is repeated in another world may ask for kinds of ids in another order, or need more
    than its tape holds. It then looks ahead without spending any.
    """

    spend: Callable[[str], str]
    peek: Callable[[str, int], str]
    tape: list[tuple[str, str]]
    replay: bool = False
    _used: list[int] = field(default_factory=list)
    _ahead: dict[str, int] = field(default_factory=dict)

    def new(self, prefix: str) -> str:
        """Return an id."""
        if not self.replay:
            spent = self.spend(prefix)
            self.tape.append((prefix, spent))
            return spent
        after = self._used[-1] + 1 if self._used else 0
        for place in [*range(after, len(self.tape)), *range(after)]:
            if self.tape[place][0] == prefix and place not in self._used:
                self._used.append(place)
                return self.tape[place][1]
        self._ahead[prefix] = self._ahead.get(prefix, 0) + 1
        return self.peek(prefix, self._ahead[prefix])


class Service:
    """A provider. Subclasses set the class attributes and add tools.

    `domain` and `category` group services. `tables` are the provider's own, `shared_tables` those
    of its category's rules. `codes` are its error codes. `day_tool` names the tool that lists what
    is on between two moments, and its two arguments, if the service has one. An instance has the
    world `db`, the moment `now` in epoch seconds, and `elapsed`, the simulated seconds that pass
    after the call. Methods marked with `happens` are its `events`.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    category: ClassVar[str]
    domain: ClassVar[str]
    tables: ClassVar[dict[str, Table]] = {}
    shared_tables: ClassVar[dict[str, Table]] = {}
    codes: ClassVar[Codes] = Codes()
    day_tool: ClassVar[tuple[str, str, str] | None] = None
    tools: ClassVar[dict[str, ToolSpec]] = {}
    events: ClassVar[dict[str, Event]] = {}
    reactions: ClassVar[dict[str, Callable[[Any, Row], None]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        tools = {}
        events = {}
        reactions: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            for name, member in vars(base).items():
                if hasattr(member, "__tool__"):
                    tools[name] = member.__tool__
                if hasattr(member, "__event__"):
                    events[name] = member.__event__
                if hasattr(member, "__answers__"):
                    reactions[member.__answers__] = vars(base)[name]
        cls.tools = tools
        cls.events = events
        cls.reactions = reactions

    @classmethod
    def known_tables(cls) -> dict[str, Table]:
        """Return all tables that the service works with: its category's, then its own."""
        return cls.shared_tables | cls.tables

    def __init__(self, db: World, now: int, ids: Ids) -> None:
        self.db = db
        self.now = now
        self._ids = ids
        self.elapsed = 0

    @property
    def time(self) -> str:
        """The moment as ISO text, the form in which rows hold it."""
        return iso(self.now)

    def new_id(self, prefix: str) -> str:
        """Spend an id of a kind."""
        return self._ids.new(prefix)

    def fail(
        self, code: str, message: str, hint: str = "", *, retryable: bool = False, **context: Any
    ) -> NoReturn:
        """Refuse the call in the provider's words; everything that it wrote is rolled back."""
        raise ServiceError(code, message, hint, retryable=retryable, context=context)

    def post(
        self, template: str, to: str | None, data: Json, *, about: str, due: int | None = None
    ) -> None:
        """Send somebody a letter made from one of the provider's templates (`posts.yaml`).

        `to` is an address; without one nothing is sent. `data` has the template's fields, `about`
        is the id of the row that the letter is about, and `due` the moment at which it arrives (in
        epoch seconds; now by default). The letter belongs to the call: if the call is refused or
        dropped, it was never sent. No id is spent.
        """
        if to is not None:
            row = posts.post(self.name, template, to, data, about=about, now=self.now, due=due)
            posts.put(self.db, row)

    def expect(self, asks: str, who: str, *, about: str) -> None:
        """Let a person react in their manner, if they have one; `about` is the row that asks.

        Posts whose template `asks` for something do so by themselves.
        """
        future.expect(self.db, self.name, asks, who, key=about, about=about, now=self.now)

    def recall(self, about: str, template: str | None = None) -> None:
        """Take back what is still on its way about a row; what has arrived stays.

        With `template`, only that: the reminder of a booking that was cancelled, say.
        """
        posts.recall(self.db, about, template)

    def when_due(self, post: Row) -> Json | None:
        """Return what a post that was made for a later moment says now that it has come.

        It is the data that it was posted with; a service overrides this where things may change
        before, and returns None if there is nothing to say: a cancelled order does not ship. What
        was recalled is gone for good, this also holds if the cancellation is itself undone.
        """
        return post["data"]

    @property
    def person(self) -> Row:
        """The person whose world it is: `name`, `email` and `timezone`."""
        return future.person(self.db)

    def take_in(self, letter: posts.Letter) -> bool:
        """Put a letter into the mailbox that it is addressed to, and return whether it is here.

        Only services that hold mailboxes override this.
        """
        return False

    def settle(self, movement: posts.Movement) -> bool:
        """Enter money that moved in the account it names, and return whether that is kept here.

        Only services that keep cards or bank accounts override this. Who took or gave the money is
        known by a letter, so it need not be a service of this world.
        """
        return False


SERVERS = Path(__file__).parent.parent


@functools.cache
def categories() -> tuple[str, ...]:
    """Return the folders of services, without importing anything."""
    folders = {path.name for path in SERVERS.iterdir() if path.is_dir()} - {"kit"}
    return tuple(sorted(name for name in folders if not name.startswith(("_", "."))))


@functools.cache
def of_category(category: str) -> dict[str, type[Service]]:
    """Return the services of one folder by name; adding a file adds a service."""
    return subclasses(f"servers.{category}", Service, "name")


@functools.cache
def services() -> dict[str, type[Service]]:
    """Return every service by name.

    This imports all of them. Code that needs only a few asks `service` or `of_category` instead.
    """
    by_name: dict[str, type[Service]] = {}
    for category in categories():
        by_name |= of_category(category)
    return {name: by_name[name] for name in sorted(by_name)}


def providers() -> dict[str, type[Service]]:
    """Return the simulated providers.

    These are all services except those of the episode's environment (its clock, its sign-ins).
    """
    return {name: cls for name, cls in services().items() if cls.domain != ENVIRONMENT}


@functools.cache
def _imported(name: str) -> type[Service] | None:
    """Return the service whose file or folder has its name, or None.

    Services of other categories are not imported.
    """
    if not name.isidentifier() or len(name) > MOST_QUOTED:
        return None
    for category in categories():
        if (SERVERS / category / name).is_dir() or (SERVERS / category / f"{name}.py").exists():
            return of_category(category).get(name)
    return None


def service(name: str) -> type[Service]:
    """Return a service by name.

    Raises `UnknownName`.
    """
    cls = _imported(name)
    if cls is None:
        raise UnknownName("service", name, services())
    return cls


def chosen(names: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """Return the services that names stand for.

    A name is that of a service, or of a category or domain and stands for all of its providers.
    Raises `UnknownName`, which also suggests the `others`, names that the caller knows.
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
            raise UnknownName("service", name, [*services(), *groups, *others])
        selected += group
    return list(dict.fromkeys(selected))


def narrowed(cls: type[Service], patterns: Iterable[str]) -> type[Service]:
    """Return a service with only those of its tools that match a pattern (`list_*`).

    Raises `UnknownName` if a pattern matches none.
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
    """Return the service and the tool of a `service.tool` name.

    Raises `UnknownName`.
    """
    owner, _, short = name.partition(".")
    cls = service(owner)
    if short not in cls.tools:
        raise UnknownName("tool", name, [f"{owner}.{t}" for t in cls.tools])
    return cls, cls.tools[short]


def known_tables(names: Iterable[str]) -> dict[str, Table]:
    """Return the tables that some services work with.

    Raises `UnknownName`.
    """
    tables: dict[str, Table] = {}
    for name in names:
        tables |= service(name).known_tables()
    return tables


def all_tables() -> dict[str, Table]:
    """Return the tables of every service, and those that every world has."""
    return known_tables(services()) | posts.TABLES


def categories_of(names: Iterable[str]) -> tuple[str, ...]:
    """Return the categories of these services, sorted."""
    return tuple(sorted({service(n).category for n in names}))


def tables_of(categories: Iterable[str]) -> dict[str, Table]:
    """Return the tables of all services of some categories.

    A world always holds a category's tables together, because counterparts may share rules. The
    tables that every world has are among them.
    """
    tables: dict[str, Table] = dict(posts.TABLES)
    for category in categories:
        tables |= known_tables(of_category(category))
    return tables
