"""What `list` and `show` tell, as data. An entry is `{kind, name, about, …}`."""

from __future__ import annotations

import dataclasses
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from client_harness import connect
from client_harness.adapters import adapters
from client_harness.agents import agents
from client_harness.lookup import resolve
from fault_profiles import model as faults
from fault_profiles import profiles
from judge import checks
from scenarios import load
from scenarios.haystack import history
from scenarios.worlds import build
from servers.kit import counterparts, service
from servers.kit.control import Control
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
    """Return what there is of a kind (in the plural), sorted by name."""
    return [{"name": name, **_LISTS[what][1](name)} for name in sorted(_LISTS[what][0]())]


def find(name: str) -> Entry:
    """Return all there is to tell about a name; `kind:name` where several things share it.

    Raises `UnknownName`.
    """
    if "." in name and name.partition(".")[0] in service.services():
        cls, spec = service.tool(name)
        return {"kind": "tool", "name": name, **_tool(cls, spec)}
    wanted, colon, short = name.rpartition(":")
    shelves = {k: v for k, v in _SHELVES.items() if not colon or k == wanted}
    if colon and not shelves:
        raise UnknownName("kind", wanted, _SHELVES)
    found = [kind for kind, (_, names, _) in shelves.items() if short in names()]
    if not found:
        raise UnknownName("name", short, {n for _, names, _ in shelves.values() for n in names()})
    if len(found) > 1:
        raise InputError(
            f"{name} is several things; say which: {' or '.join(f'{k}:{name}' for k in found)}"
        )
    return {"kind": found[0], "name": short, **shelves[found[0]][2](short)}


def fault_matrix(on: Sequence[str] = ("*.*",)) -> Entry:
    """Return `{digest, cells, kinds: {kind: {tools, fires, reasons, problems}}, tools}`: every
    fault kind on every tool that `on` names.

    `tools` holds a digest for each; `on` are patterns as in a fault's target. Raises `InputError`
    for one that names no tool.
    """
    import anyio

    from fault_profiles.matrix import matrix

    start = parse_time(build.person(_WORLD)["start"])
    meant = Selector(list(on))
    tools = [
        (cls, spec)
        for cls in service.services().values()
        for spec in cls.tools.values()
        if meant.selects(cls.name, spec.name)
    ]

    def begin(names: tuple[str, ...], present: Sequence[Any], watches: Sequence[Watch]) -> Session:
        return Session(
            names,
            build.shared(_WORLD, names).share(),
            Control(start),
            faults=present,
            watches=watches,
        )

    tried = anyio.run(matrix, begin, tools)
    return {
        "digest": tried.digest,
        "cells": len(tried.cells),
        "kinds": tried.by_kind(),
        "tools": tried.by_tool(),
    }


def matrix_rows(tried: Entry) -> list[list[str]]:
    """Return the matrix as lines for people: per kind the cells that fire, then why others do not
    and what is broken.
    """
    rows = []
    for kind, told in tried["kinds"].items():
        why = "; ".join(f"{count}: {reason}" for reason, count in told["reasons"].items())
        rows.append(
            [
                kind,
                f"fires on {told['fires']} of {told['tools']} tools" + (f" ({why})" if why else ""),
            ]
        )
        rows += [
            ["", f"broken on {len(tools)}, say {tools[0]}: {problem}"]
            for problem, tools in told["problems"].items()
        ]
    fires = sum(told["fires"] for told in tried["kinds"].values())
    return [*rows, ["all", f"{fires} of {tried['cells']} cells fire; digest {tried['digest']}"]]


# -- one line ------------------------------------------------------------------------------------
def _line(text: str | None) -> str:
    return " ".join(inspect.cleandoc(text or "").split("\n\n")[0].split())


def _service_line(name: str) -> Entry:
    cls = service.service(name)
    writes = sum(s.effect == "write" for s in cls.tools.values())
    others = counterparts.counterparts()[name]
    about = f"{cls.title}: {cls.domain} / {cls.category}, {len(cls.tools)} tools, {writes} of them write"
    about += f"; counterparts: {', '.join(others)}" if others else ""
    counts = {"tools": len(cls.tools), "reads": len(cls.tools) - writes, "writes": writes}
    return {
        "about": about,
        "title": cls.title,
        "domain": cls.domain,
        "category": cls.category,
        **counts,
        "counterparts": others,
    }


def _matches() -> dict[str, tuple[str, counterparts.Match]]:
    return {
        m.tools[0] + f" ~ {' ~ '.join(m.tools[1:])}": (c, m)
        for c, listed in counterparts.matches().items()
        for m in listed
    }


def _match_line(name: str) -> Entry:
    category, match = _matches()[name]
    about = match.does + "".join(
        f"; {tool} only in part: {why}" for tool, why in match.partial.items()
    )
    return {"about": about, "category": category, **match.model_dump(mode="json")}


def _scenario_line(name: str) -> Entry:
    try:
        made = load.load(name)
    except InputError as wrong:
        return {"about": f"broken: {wrong}"}
    kind = "honest twin" if made.twin else made.failure
    return {
        "about": made.title,
        "failure": kind,
        "temporary": made.temporary,
        "services": made.services,
        "tags": made.tags,
    }


def _head(path: Path) -> Entry:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return {
        "about": next((line.lstrip("# ").strip() for line in text.splitlines() if line.strip()), "")
    }


_LISTS: dict[str, tuple[Callable[[], Any], Callable[[str], Entry]]] = {
    "services": (service.providers, _service_line),
    "environment": (lambda: service.services().keys() - service.providers().keys(), _service_line),
    "counterparts": (_matches, _match_line),
    "scenarios": (load.index, _scenario_line),
    "suites": (
        load.suites,
        lambda n: {"about": f"{len(load.suites()[n])} scenarios", "scenarios": load.suites()[n]},
    ),
    "faults": (
        faults.kinds,
        lambda n: {
            "about": _line(faults.kinds()[n].__doc__),
            "effects": list(faults.kinds()[n].effects),
        },
    ),
    "checks": (checks.kinds, lambda n: {"about": _line(checks.kinds()[n].__doc__)}),
    "agents": (lambda: [*agents(), *adapters()], lambda n: {"about": _line(resolve(n).ABOUT)}),
    "adapters": (adapters, lambda n: {"about": _line(resolve(n).ABOUT)}),
    "worlds": (build.names, lambda n: _head(build.folder(n) / "README.md")),
    "histories": (
        lambda: [p.stem for p in history.HERE.glob("*.yaml")],
        lambda n: _head(history.HERE / f"{n}.yaml"),
    ),
    "profiles": (profiles.profiles, lambda n: _head(profiles.locate(n))),
    "clients": (
        connect.clients,
        lambda n: {"about": f"{connect.client(n).title}: {connect.client(n).path}"},
    ),
}


# -- all there is to tell ------------------------------------------------------------------------
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
    fields = []
    for name, part in model.model_fields.items():
        default: Any = None if part.is_required() else part.get_default(call_default_factory=True)
        default = getattr(model, f"default_{name}", default)  # a check kind has its own
        if isinstance(default, BaseModel):
            default = default.model_dump(exclude_defaults=True, mode="json")
        known = {
            "name": part.alias or name,
            "type": _typed(part.annotation),
            "required": part.is_required(),
            "default": default,
        }
        fields.append(known | ({"about": part.description} if part.description else {}))
    fields.sort(
        key=lambda f: (
            f["name"] not in model.__annotations__
            and f["name"] not in {p.alias for p in _own(model)}
        )
    )
    documented = [
        inspect.cleandoc(c.__doc__ or "")
        for c in model.__mro__
        if issubclass(c, BaseModel) and c is not BaseModel and c.__doc__
    ]
    documented[1:1] = [
        f"{c.__name__}: {inspect.cleandoc(c.__doc__ or '')}"
        for c in dict.fromkeys(_inside(_own(model)))
    ]
    return {
        "about": _line(model.__doc__),
        "description": "\n\n".join(documented),
        "fields": fields,
        "schema": model.model_json_schema(),
    }


def _own(model: type[BaseModel]) -> list[FieldInfo]:
    return [part for name, part in model.model_fields.items() if name in model.__annotations__]


def _inside(parts: Iterable[FieldInfo]) -> Iterator[type[BaseModel]]:
    """Yield the models that fields hold, and those inside them."""
    for part in parts:
        waiting = [part.annotation]
        while waiting:
            found = waiting.pop()
            waiting += get_args(found)
            if inspect.isclass(found) and issubclass(found, BaseModel):
                yield found
                yield from _inside(found.model_fields.values())


def _typed(annotation: Any) -> str:
    """Return a type as people say it."""
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
    return (
        annotation.__name__ if inspect.isclass(annotation) else str(annotation).rpartition(".")[2]
    )


def _scenario(name: str) -> Entry:
    path = load.index()[name]
    return {
        **_scenario_line(name),
        "path": str(path),
        "scenario": read(path),
        "text": path.read_text(encoding="utf-8"),
    }


def _agent(name: str) -> Entry:
    made = resolve(name)
    module = made if inspect.ismodule(made) else sys.modules[type(made).__module__]
    told = {
        "about": _line(made.ABOUT),
        "description": f"{_line(made.ABOUT)}\n\n{inspect.cleandoc(module.__doc__ or '')}",
    }
    options = getattr(module, "Options", None)
    if not is_dataclass(options):
        return told
    hints = get_type_hints(options)
    none = dataclasses.MISSING
    listed = [
        {
            "name": f.name,
            "type": _typed(hints[f.name]),
            "required": f.default is none,
            "default": None if f.default is none else f.default,
        }
        for f in dataclasses.fields(options)
    ]
    return told | {
        "description": f"{told['description']}\n\n{inspect.cleandoc(options.__doc__ or '')}",
        "fields": listed,
    }


def _file(path: Path) -> Entry:
    return {
        **_head(path),
        "path": str(path),
        "text": path.read_text(encoding="utf-8") if path.exists() else "",
    }


_SHELVES: dict[str, tuple[str, Callable[[], Any], Callable[[str], Entry]]] = {
    "service": ("services", service.services, _service),
    "scenario": ("scenarios", load.index, _scenario),
    "fault": ("faults", faults.kinds, lambda n: _fields(faults.kinds()[n])),
    "check": ("checks", checks.kinds, lambda n: _fields(checks.kinds()[n])),
    "agent": ("agents", lambda: [*agents(), *adapters()], _agent),
    "suite": (
        "suites",
        load.suites,
        lambda n: {"about": f"{len(load.suites()[n])} scenarios", "scenarios": load.suites()[n]},
    ),
    "world": ("worlds", build.names, lambda n: _file(build.folder(n) / "README.md")),
    "history": ("histories", _LISTS["histories"][0], lambda n: _file(history.HERE / f"{n}.yaml")),
    "profile": ("profiles", profiles.profiles, lambda n: _file(profiles.locate(n))),
}


# -- as text -------------------------------------------------------------------------------------
def as_text(entry: Entry) -> str:
    """Return what `find` found as readable text."""
    title = (
        f"{entry['name']} ({entry['kind']}{', ' + entry['effect'] if 'effect' in entry else ''})"
    )
    parts = [
        title,
        "" if entry.get("description") else entry["about"],
        entry.get("description", ""),
    ]
    if entry["kind"] == "tool":
        parts += [
            _arguments(entry["schema"]),
            "Example: " + json.dumps(entry["example"], ensure_ascii=False),
        ]
        parts += [
            f"  after {s['tool']} {json.dumps(s['args'], ensure_ascii=False)}"
            for s in entry["setup"]
        ]
    if entry["kind"] == "service":
        parts.append(
            "\n".join(
                f"{t['name']} ({t['effect']})\n  {t['about']}\n{_arguments(t['schema'], '  ')}"
                for t in entry["tools"]
            )
        )
    if "fields" in entry:
        parts.append("\n".join(f"{f['name']}: {f['type']}{_default(f)}" for f in entry["fields"]))
    parts += ["\n".join(entry.get("scenarios", [])), entry.get("text", "").rstrip()]
    return "\n\n".join(p for p in parts if p)


def _default(field: Entry) -> str:
    if field["required"]:
        return ", required"
    if field["default"] is None or field["default"] is PydanticUndefined:
        return ", optional"
    return f" = {json.dumps(field['default'], ensure_ascii=False)}"


def _arguments(schema: Entry, indent: str = "") -> str:
    rows = []
    for name, part in schema["properties"].items():
        typed = (
            part.get("type")
            or " or ".join(o.get("type", "any") for o in part.get("anyOf", []))
            or "any"
        )
        choice = f" ({', '.join(map(str, part['enum']))})" if "enum" in part else ""
        optional = "" if name in schema.get("required", ()) else ", optional"
        rows.append(
            f"{indent}  {name}: {typed}{choice}{optional}{'. ' + part['description'] if 'description' in part else ''}"
        )
    return "\n".join(rows) or f"{indent}  (no arguments)"
