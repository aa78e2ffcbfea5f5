"""The content of `list` and `show`, as data.

An entry is `{kind, name, about, …}`.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from client_harness import connect, offers
from client_harness.adapters import adapters
from client_harness.agents import agents
from client_harness.lookup import resolve
from fault_profiles import model as faults
from fault_profiles import profiles
from judge import checks
from judge.reading.claims import FOLDER as CLAIMS
from judge.reading.claims import vocabulary
from scenarios import load
from scenarios.haystack import history
from scenarios.worlds import build
from servers.kit import counterparts, service
from servers.kit.control import Control
from servers.kit.declared import Declared
from servers.kit.errors import InputError, UnknownName
from servers.kit.evidence import Watch
from servers.kit.selector import Selector
from servers.kit.service import Service, ToolSpec
from servers.kit.session import Session
from servers.kit.values import parse_time
from servers.kit.yaml import read

Entry = dict[str, Any]
_WORLD = "maya"


def entries(what: str) -> list[Entry]:
    """Return all entries of a kind (named in the plural), sorted by name."""
    names, line = _LISTS[what]
    return [{"name": name, **line(name)} for name in sorted(names())]


def find(name: str) -> Entry:
    """Return the full entry for a name, or for `kind:name` where several things share the name.

    Raises `UnknownName`, and `InputError` for a name that several things share.
    """
    if "." in name and name.partition(".")[0] in service.services():
        cls, spec = service.tool(name)
        return {"kind": "tool", "name": name, **_tool(cls, spec)}
    wanted, colon, short = name.rpartition(":")
    if colon and wanted not in _SHELVES:
        raise UnknownName("kind", wanted, _SHELVES)
    shelves = {wanted: _SHELVES[wanted]} if colon else _SHELVES
    every_name: set[str] = set()
    kinds = []
    for kind, shelf in shelves.items():
        names = shelf.names()
        every_name.update(names)
        if short in names:
            kinds.append(kind)
    if not kinds:
        raise UnknownName("name", short, every_name)
    if len(kinds) > 1:
        choices = " or ".join(f"{kind}:{name}" for kind in kinds)
        raise InputError(f"{name} names several things; say which one: {choices}")
    return {"kind": kinds[0], "name": short, **shelves[kinds[0]].tell(short)}


def fault_matrix(on: Sequence[str] = ("*.*",)) -> Entry:
    """Try every fault kind on every tool that `on` names.

    Returns `{digest, cells, kinds: {kind: {tools, fires, reasons, problems}}, tools}`; `tools`
    holds a digest for each tool. `on` holds patterns as in a fault's target. Raises `InputError`
    for a pattern that names no tool.
    """
    import anyio

    from fault_profiles.matrix import matrix

    start = parse_time(build.person(_WORLD)["start"])
    meant = Selector(list(on))
    tools = []
    for cls in service.services().values():
        for spec in cls.tools.values():
            if meant.selects(cls.name, spec.name):
                tools.append((cls, spec))

    def begin(names: tuple[str, ...], present: Sequence[Any], watches: Sequence[Watch]) -> Session:
        world = build.shared(_WORLD, names).share()
        return Session(names, world, Control(start), faults=present, watches=watches)

    tried = anyio.run(matrix, begin, tools)
    return {
        "digest": tried.digest,
        "cells": len(tried.cells),
        "kinds": tried.by_kind(),
        "tools": tried.by_tool(),
    }


def matrix_rows(tried: Entry) -> list[list[str]]:
    """Return the matrix as table rows for people.

    For each kind they show how many cells fire, why the others do not, and what is broken.
    """
    rows = []
    fires_in_all = 0
    for kind, outcome in tried["kinds"].items():
        fires_in_all += outcome["fires"]
        fires = f"fires on {outcome['fires']} of {outcome['tools']} tools"
        reasons = [f"{count}: {reason}" for reason, count in outcome["reasons"].items()]
        if reasons:
            fires += f" ({'; '.join(reasons)})"
        rows.append([kind, fires])
        for problem, tools in outcome["problems"].items():
            rows.append(["", f"broken on {len(tools)}, say {tools[0]}: {problem}"])
    total = f"{fires_in_all} of {tried['cells']} cells fire; digest {tried['digest']}"
    return [*rows, ["all", total]]


# -- short entries -------------------------------------------------------------------------------
def _line(text: str | None) -> str:
    return " ".join(inspect.cleandoc(text or "").split("\n\n")[0].split())


def _service_line(name: str) -> Entry:
    cls = service.service(name)
    tools = len(cls.tools)
    writes = len([spec for spec in cls.tools.values() if spec.effect == "write"])
    others = counterparts.counterparts()[name]
    about = f"{cls.title}: {cls.domain} / {cls.category}, {tools} tools, {writes} of them write"
    if others:
        about += f"; counterparts: {', '.join(others)}"
    return {
        "about": about,
        "title": cls.title,
        "domain": cls.domain,
        "category": cls.category,
        "tools": tools,
        "reads": tools - writes,
        "writes": writes,
        "counterparts": others,
    }


def _matches() -> dict[str, tuple[str, counterparts.Match]]:
    """Return the matches of counterparts with their categories, by the names of their tools."""
    matches = {}
    for category, listed in counterparts.matches().items():
        for match in listed:
            matches[" ~ ".join(match.tools)] = (category, match)
    return matches


def _match_line(name: str) -> Entry:
    category, match = _matches()[name]
    about = match.does
    for tool, why in match.partial.items():
        about += f"; {tool} only in part: {why}"
    return {"about": about, "category": category, **match.model_dump(mode="json")}


def _scenario_line(name: str) -> Entry:
    try:
        scenario = load.load(name)
    except InputError as wrong:
        return {"about": f"broken: {wrong}"}
    return {
        "about": scenario.title,
        "failure": "honest twin" if scenario.twin else scenario.failure,
        "temporary": scenario.temporary,
        "services": scenario.services,
        "tags": scenario.tags,
    }


def _suite(name: str) -> Entry:
    scenarios = load.suites()[name]
    return {"about": f"{len(scenarios)} scenarios", "scenarios": scenarios}


def _fault_line(name: str) -> Entry:
    cls = faults.kinds()[name]
    return {"about": _line(cls.__doc__), "effects": list(cls.effects)}


def _check_line(name: str) -> Entry:
    return {"about": _line(checks.kinds()[name].__doc__)}


def _claim_line(name: str) -> Entry:
    claim = vocabulary()[name]
    slots = ", ".join(f"{slot} ({type_})" for slot, type_ in claim.slots.items())
    return {"about": f"{claim.about}: {slots}"}


def _agent_line(name: str) -> Entry:
    return {"about": _line(resolve(name).ABOUT)}


def _client_line(name: str) -> Entry:
    client = connect.client(name)
    return {"about": f"{client.title}: {client.path}"}


def _head(path: Path) -> Entry:
    """Return what a file says first: its head comment, or its first line that is not empty."""
    comment = []
    for line in _text(path).splitlines():
        if not line.startswith("# ") or (comment and path.suffix == ".md"):
            break
        comment.append(line.removeprefix("# ").strip())
    if comment:
        return {"about": " ".join(comment)}
    lines = [line.strip() for line in _text(path).splitlines()]
    return {"about": next((line for line in lines if line), "")}


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _environment() -> set[str]:
    """Return the services that belong to no provider, such as the clock."""
    return service.services().keys() - service.providers().keys()


def _every_agent() -> list[str]:
    return [*agents(), *adapters()]


def _histories() -> list[str]:
    return [path.stem for path in history.HERE.glob("*.yaml")]


def _world_page(name: str) -> Path:
    return build.folder(name) / "README.md"


def _history_file(name: str) -> Path:
    return history.HERE / f"{name}.yaml"


class List(NamedTuple):
    """The parts of `list`: the names, and a function that returns a short entry."""

    names: Callable[[], Collection[str]]
    line: Callable[[str], Entry]


_LISTS: dict[str, List] = {
    "services": List(service.providers, _service_line),
    "environment": List(_environment, _service_line),
    "counterparts": List(_matches, _match_line),
    "scenarios": List(load.written, _scenario_line),
    "suites": List(load.suites, _suite),
    "faults": List(faults.kinds, _fault_line),
    "checks": List(checks.kinds, _check_line),
    "claims": List(vocabulary, _claim_line),
    "agents": List(_every_agent, _agent_line),
    "adapters": List(adapters, _agent_line),
    "worlds": List(build.names, lambda name: _head(_world_page(name))),
    "histories": List(_histories, lambda name: _head(_history_file(name))),
    "profiles": List(profiles.profiles, lambda name: _head(profiles.locate(name))),
    "offers": List(offers.offers, lambda name: _head(offers.locate(name))),
    "clients": List(connect.clients, _client_line),
}


# -- full entries --------------------------------------------------------------------------------
def _tool(cls: type[Service], spec: ToolSpec) -> Entry:
    return {
        "about": _line(spec.description),
        "effect": spec.effect,
        "description": spec.description,
        "seconds": spec.cost,
        "idempotent": spec.idempotent,
        "destructive": spec.destructive,
        "schema": spec.schema,
        "example": spec.example,
        "setup": [vars(s) for s in spec.setup],
    }


def tried(name: str, world: str | None) -> Entry:
    """Return the full entry of a tool, with its example call on a world and its error codes.

    Raises `InputError` if the name is not a tool's.
    """
    entry = find(name)
    if entry["kind"] != "tool":
        raise InputError(f"--world works with tools; {name} is a {entry['kind']}")
    from client_harness.authoring.example import codes, example

    cls, spec = service.tool(name)
    return {
        **entry,
        "codes": codes(cls, spec),
        "usual_codes": sorted(set(vars(cls.codes).values())),
        "on": example(cls, spec, world or _WORLD),
    }


def _service(name: str) -> Entry:
    cls = service.service(name)
    tools = [{"name": f"{name}.{s.name}", **_tool(cls, s)} for s in cls.tools.values()]
    return {
        **_service_line(name),
        "description": inspect.cleandoc(cls.__doc__ or ""),
        "codes": vars(cls.codes),
        "tools": tools,
    }


def _fields(model: type[BaseModel]) -> Entry:
    """Return a fault or check kind with its fields, its own before the shared ones."""
    own = [part for name, part in model.model_fields.items() if name in model.__annotations__]
    own_names = set(model.__annotations__) | {part.alias for part in own}
    fields = [_field(model, name, part) for name, part in model.model_fields.items()]
    fields.sort(key=lambda field: field["name"] not in own_names)
    inner_models = dict.fromkeys(_inside(own))
    documented = [inspect.cleandoc(model.__doc__)] if model.__doc__ else []
    documented += [f"{c.__name__}: {inspect.cleandoc(c.__doc__ or '')}" for c in inner_models]
    for base in model.__mro__[1:]:
        is_ours = issubclass(base, BaseModel) and base not in (BaseModel, Declared)
        if is_ours and base.__doc__:
            documented.append(inspect.cleandoc(base.__doc__))
    return {
        "about": _line(model.__doc__),
        "description": "\n\n".join(documented),
        "fields": fields,
        "schema": model.model_json_schema(),
    }


def _field(model: type[BaseModel], name: str, part: FieldInfo) -> Entry:
    default: Any = None
    if not part.is_required():
        default = part.get_default(call_default_factory=True)
    default = getattr(model, f"default_{name}", default)  # a check kind may have its own default
    if isinstance(default, BaseModel):
        default = default.model_dump(exclude_defaults=True, mode="json")
    field = {
        "name": part.alias or name,
        "type": _typed(part.annotation),
        "required": part.is_required(),
        "default": default,
    }
    if part.description:
        field["about"] = part.description
    return field


def _inside(parts: Iterable[FieldInfo]) -> Iterator[type[BaseModel]]:
    """Yield the models that fields hold, and the models inside those, each once."""
    seen: set[type[BaseModel]] = set()
    waiting: list[Any] = [part.annotation for part in reversed(list(parts))]
    while waiting:
        annotation = waiting.pop()
        inner = list(get_args(annotation))
        is_model = inspect.isclass(annotation) and issubclass(annotation, BaseModel)
        if is_model and annotation not in seen:
            seen.add(annotation)  # a model may hold others of its own kind
            yield annotation
            inner += [part.annotation for part in annotation.model_fields.values()]
        waiting += reversed(inner)


def _typed(annotation: Any) -> str:
    """Return a type in words."""
    origin = get_origin(annotation)
    inner = get_args(annotation)
    if origin is Annotated:
        return _typed(inner[0])
    if origin in (Union, UnionType):
        return " or ".join(_typed(t) for t in inner if t is not NoneType)
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin is list or (origin is tuple and inner[-1] is Ellipsis):
        return f"list of {_typed(inner[0])}"
    if origin is dict:
        return "mapping"
    if origin is tuple:
        return f"[{', '.join(_typed(t) for t in inner)}]"
    if inspect.isclass(annotation):
        return annotation.__name__
    return str(annotation).rpartition(".")[2]


def _scenario(name: str) -> Entry:
    path = load.index()[name]
    text = path.read_text(encoding="utf-8")
    return {**_scenario_line(name), "path": str(path), "scenario": read(path), "text": text}


def _agent(name: str) -> Entry:
    agent = resolve(name)
    module = agent if inspect.ismodule(agent) else sys.modules[type(agent).__module__]
    about = _line(agent.ABOUT)
    description = f"{about}\n\n{inspect.cleandoc(module.__doc__ or '')}"
    options = getattr(module, "Options", None)
    if not is_dataclass(options):
        return {"about": about, "description": description}
    types = get_type_hints(options)
    fields = []
    for option in dataclasses.fields(options):
        required = option.default is dataclasses.MISSING
        field = {
            "name": option.name,
            "type": _typed(types[option.name]),
            "required": required,
            "default": None if required else option.default,
        }
        fields.append(field)
    description += f"\n\n{inspect.cleandoc(options.__doc__ or '')}"
    return {"about": about, "description": description, "fields": fields}


def _file(path: Path) -> Entry:
    return {**_head(path), "path": str(path), "text": _text(path)}


class Shelf(NamedTuple):
    """The parts of `show` for one kind: the names, and a function that returns the full entry."""

    names: Callable[[], Collection[str]]
    tell: Callable[[str], Entry]


_SHELVES: dict[str, Shelf] = {
    "service": Shelf(service.services, _service),
    "scenario": Shelf(load.index, _scenario),
    "fault": Shelf(faults.kinds, lambda name: _fields(faults.kinds()[name])),
    "check": Shelf(checks.kinds, lambda name: _fields(checks.kinds()[name])),
    "claim": Shelf(vocabulary, lambda name: _file(CLAIMS / f"{name}.yaml")),
    "agent": Shelf(_every_agent, _agent),
    "suite": Shelf(load.suites, _suite),
    "world": Shelf(build.names, lambda name: _file(_world_page(name))),
    "history": Shelf(_histories, lambda name: _file(_history_file(name))),
    "profile": Shelf(profiles.profiles, lambda name: _file(profiles.locate(name))),
    "offer": Shelf(offers.offers, lambda name: _file(offers.locate(name))),
}


# -- as text -------------------------------------------------------------------------------------
def as_text(entry: Entry) -> str:
    """Return an entry of `find` as readable text."""
    labels = [entry["kind"]]
    if "effect" in entry:
        labels.append(entry["effect"])
    parts = [f"{entry['name']} ({', '.join(labels)})"]
    parts.append(entry.get("description") or entry["about"])
    if entry["kind"] == "tool":
        parts.append(_arguments(entry["schema"]))
        parts.append(f"Example: {_json(entry['example'])}")
        for step in entry["setup"]:
            parts.append(f"  after {step['tool']} {_json(step['args'])}")
    if entry["kind"] == "service":
        lines = []
        for tool in entry["tools"]:
            lines.append(f"{tool['name']} ({tool['effect']})")
            lines.append(f"  {tool['about']}")
            lines.append(_arguments(tool["schema"], "  "))
        parts.append("\n".join(lines))
    if "fields" in entry:
        fields = [f"{f['name']}: {f['type']}{_default(f)}" for f in entry["fields"]]
        parts.append("\n".join(fields))
    parts.append("\n".join(entry.get("scenarios", [])))
    parts.append(entry.get("text", "").rstrip())
    return "\n\n".join(part for part in parts if part)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _default(field: Entry) -> str:
    if field["required"]:
        return ", required"
    if field["default"] is None or field["default"] is PydanticUndefined:
        return ", optional"
    return f" = {_json(field['default'])}"


def _arguments(schema: Entry, indent: str = "") -> str:
    rows = []
    for name, part in schema["properties"].items():
        row = f"{indent}  {name}: {_argument_type(part)}"
        if "enum" in part:
            row += f" ({', '.join(map(str, part['enum']))})"
        if name not in schema.get("required", ()):
            row += ", optional"
        if "description" in part:
            row += f". {part['description']}"
        rows.append(row)
    return "\n".join(rows) or f"{indent}  (no arguments)"


def _argument_type(part: Entry) -> str:
    if part.get("type"):
        return part["type"]
    choices = [choice.get("type", "any") for choice in part.get("anyOf", [])]
    return " or ".join(choices) or "any"
