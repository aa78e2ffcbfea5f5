"""JSON schemas of scenarios and fault files for editors, with descriptions and completions.

They are made from the models themselves, so a new kind, tool, table or claim is in them as soon as
it exists. An editor may accept more than `check` does (a condition may name any path), never less.
"""

from __future__ import annotations

import copy
import functools
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

from client_harness.authoring import seeds
from fault_profiles.model import kinds
from judge.checks import kinds as check_kinds
from judge.reading.claims import vocabulary
from scenarios.haystack import history
from scenarios.model import Scenario, json_schema
from scenarios.worlds import build
from servers.kit.expr.operations import OPERATIONS
from servers.kit.expr.predicates import OPERATORS
from servers.kit.service import all_tables, services

Schema = dict[str, Any]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_NESTED = ("exists", "not", "any", "all", "none")
_GROUPS = ("any_of", "all_of", "none_of")
_MANY = 80
"""A table with more rows than this, such as a catalogue, is left out of the seeds."""
_SENTENCE = re.compile(r"(?<=[.:])\s+")

SCHEMAS = ("scenario", "faults")
"""The kinds of files that have a schema."""


def schema(kind: str, worlds: list[str] | None = None) -> Schema:
    """Return the JSON schema of a scenario file or of a file of faults.

    The seeds of `worlds` (by default all) are offered as values.
    """
    made = json_schema()
    for part in _models(made):
        _short_forms(part)
    _describe(made)
    for part in _models(made):
        _complete(part)
    definitions: Schema = made["$defs"]
    definitions |= copy.deepcopy(_vocabularies(tuple(worlds or build.names())))
    _top(made)
    if kind == "scenario":
        return made
    profile: Schema = {
        "$schema": _DRAFT,
        "title": "Haywire faults",
        **made["properties"]["faults"],
        "$defs": definitions,
    }
    profile.pop("default", None)
    return _used(profile)


@functools.cache
def _vocabularies(worlds: tuple[str, ...]) -> Schema:
    """Return the definitions that fields refer to: tools, services, tables, columns, seeds, …"""
    tools = {}
    patterns = []
    for name, cls in services().items():
        for spec in cls.tools.values():
            tools[f"{name}.{spec.name}"] = f"{spec.effect}s. {_line(spec.description)}"
        patterns += [f"{name}.*", f"reads:{name}.*", f"writes:{name}.*"]
    tables = all_tables()
    columns: list[str] = []
    for name, table in tables.items():
        columns += [f"{name}.{column}" for column in table.columns]
    named = {"anyOf": [{"$ref": "#/$defs/h.tool"}, {"enum": patterns}, {"type": "string"}]}
    return {
        "h.service": _enum({name: cls.title for name, cls in services().items()}),
        "h.tool": _enum(tools),
        "h.target": {"anyOf": [*named["anyOf"], {"type": "array", "items": named}]},
        "h.table": {"enum": sorted(tables)},
        "h.column": {"enum": sorted(columns)},
        "h.rows": _rows(),
        "h.condition": _condition(),
        "h.operations": _operations(),
        "h.claim": _claim(),
        "h.seed": {"enum": sorted(_seeds(worlds))},
        "h.arguments": {
            "type": "object",
            "additionalProperties": {"anyOf": [{"$ref": "#/$defs/h.seed"}, {}]},
        },
    }


def _enum(about: Mapping[str, str]) -> Schema:
    return {"enum": list(about), "enumDescriptions": list(about.values())}


def _seeds(worlds: tuple[str, ...]) -> Iterator[str]:
    for world in worlds:
        for entries in seeds.listed(world).values():
            if len(entries) > _MANY:
                continue
            for entry in entries:
                if entry["seed"].startswith("seed:"):
                    yield entry["seed"]


def _rows() -> Schema:
    """Return what follows from the name of a table: the columns that its rows have."""
    options = []
    for name, table in all_tables().items():
        known = {"type": "object", "properties": dict.fromkeys(table.columns, _value())}
        then = {"properties": {"where": known}}
        options.append({"if": {"properties": {"table": {"const": name}}}, "then": then})
    return {"allOf": options}


def _value() -> Schema:
    return {"$ref": "#/$defs/h.wanted"}


def _condition() -> Schema:
    inner = {"$ref": "#/$defs/h.condition"}
    groups = {name: {"type": "array", "items": inner} for name in _GROUPS}
    return {"type": "object", "properties": groups, "additionalProperties": _value()}


def _wanted() -> Schema:
    """Return the schema of what a condition wants of a value: the value, or operators."""
    properties: Schema = {name: {} for name in (*OPERATORS, *_NESTED)}
    properties["exists"] = {"type": "boolean"}
    return {"anyOf": [{"type": "object", "properties": properties}, {"$ref": "#/$defs/h.seed"}, {}]}


def _operations() -> Schema:
    one = {
        "type": "object",
        "properties": {name: {} for name in OPERATIONS},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }
    return {"type": "array", "items": one}


def _claim() -> Schema:
    kinds_of: Schema = {}
    for name, claim in vocabulary().items():
        slots: Schema = {}
        for slot, type_ in claim.slots.items():
            slots[slot] = {"description": f"{type_}"}
            slots[f"{slot}*"] = {"description": f"{type_}, which the text has to name"}
        kinds_of[name] = {"type": "object", "description": claim.about, "properties": slots}
    return {
        "type": "object",
        "properties": kinds_of,
        "additionalProperties": False,
        "maxProperties": 1,
    }


_REFERS = {
    "call": "h.tool",
    "service": "h.service",
    "primary": "h.service",
    "fallback": "h.service",
    "table": "h.table",
    "on": "h.target",
    "tool": "h.target",
    "called": "h.target",
    "where": "h.condition",
    "result": "h.condition",
    "corrected": "h.condition",
    "reply": "h.operations",
    "edit": "h.operations",
    "claim": "h.claim",
    "args": "h.arguments",
}
"""Fields that mean the same wherever they are, with the definition of what they hold."""
_LISTS = {"services": "h.service", "tables": "h.table", "dictated": "h.column"}
_KEYS = {"free": "h.column", "prose": "h.column", "windows": "h.table", "tools": "h.service"}


def _complete(part: Schema) -> None:
    """Let the fields of a model refer to the vocabularies."""
    properties = part["properties"]
    for name, field in properties.items():
        if not isinstance(field, dict):
            continue
        plain = _plain_type(field)
        ref = _REFERS.get(name)
        if ref is not None and _takes(ref, field, plain):
            properties[name] = _kept(field) | {"$ref": f"#/$defs/{ref}"}
        elif name in _LISTS and "array" in plain:
            properties[name] = field | {"items": {"$ref": f"#/$defs/{_LISTS[name]}"}}
            properties[name].pop("anyOf", None)
        elif name == "optional" and "array" in plain:
            properties[name] = field | {"items": {"$ref": "#/$defs/h.table"}}
        elif name in _KEYS and "object" in plain:
            properties[name] = field | {"propertyNames": {"$ref": f"#/$defs/{_KEYS[name]}"}}
    is_row = "table" in properties and "where" in properties
    if is_row:
        part.setdefault("allOf", []).append({"$ref": "#/$defs/h.rows"})


def _models(value: Any) -> list[Schema]:
    """Return every schema of a model, wherever it stands: those inside others come later."""
    found = []
    if isinstance(value, dict):
        if isinstance(value.get("properties"), dict):
            found.append(value)
        for inner in value.values():
            found += _models(inner)
    elif isinstance(value, list):
        for inner in value:
            found += _models(inner)
    return found


def _short_forms(part: Schema) -> None:
    """Let stand what a model reads in a short form: a call by its tool, one reading, an hour."""
    if part.get("title") in ("CallPattern", "CallShape") and "tool" in part["properties"]:
        whole = dict(part)
        part.clear()
        part["anyOf"] = [{"$ref": "#/$defs/h.target"}, whole]
        part["description"] = whole.get("description", "")
        return
    readings = part["properties"].get("exposed_by")
    if isinstance(readings, dict) and "items" in readings:
        readings["anyOf"] = [readings["items"], {"type": "array", "items": readings.pop("items")}]
        readings.pop("type", None)
    for name in ("from", "to"):
        if "integer" in str(part["properties"].get(name, {})):
            part["properties"][name] = {**_kept(part["properties"][name]), "type": "string"}


def _plain_type(field: Schema) -> set[str]:
    """Return the JSON types that a field takes by itself, not by reference."""
    options = [field, *field.get("anyOf", ())]
    return {option["type"] for option in options if "type" in option}


def _takes(ref: str, field: Schema, plain: set[str]) -> bool:
    """Return whether a field of a model is of the sort that a definition describes."""
    if "$ref" in field or any("$ref" in option for option in field.get("anyOf", ())):
        return False
    if ref in ("h.tool", "h.service", "h.table", "h.target"):
        return "string" in plain
    if ref == "h.operations":
        return "array" in plain
    return plain <= {"object", "null"} and "object" in plain


def _kept(field: Schema) -> Schema:
    return {key: value for key, value in field.items() if key in ("description", "title")}


def _top(made: Schema) -> None:
    """Complete what only a scenario has: its world, its history."""
    properties = made["properties"]
    properties["world"] = _kept(properties["world"]) | {"enum": build.names()}
    histories = sorted(path.stem for path in history.HERE.glob("*.yaml"))
    properties["history"] = _kept(properties["history"]) | {"enum": histories}
    made["$defs"]["h.wanted"] = _wanted()


# -- descriptions ----------------------------------------------------------------------------------
_ABOUT = {
    "first": "Acts on the first so many calls.",
    "calls": "Acts on the calls between two numbers, or counts calls.",
    "every": "Acts on every second, third, … call.",
    "probability": "Acts on each call with this chance, drawn from the episode's seed.",
    "sequence": "Whether it acts on the first call, the second, …; the last value repeats.",
    "window": "Acts from so many to so many simulated seconds after the start.",
    "name": "The name by which others refer to this.",
    "error": "How the refusal reads; what is left out is in the provider's own words.",
    "code": "The error's code, in capitals.",
    "message": "What the error says is wrong.",
    "hint": "What the error advises.",
    "status": "The HTTP status.",
    "title": "A few words, which reports show.",
    "world": "Whose world it plays in.",
    "seed": "The number from which ids and chance follow.",
    "services": "The services that the agent sees.",
    "turns": "What the user says, message by message.",
    "user": "The user's message, in the user's voice.",
    "disclose": "Services that are held back until an event.",
    "answers": "What the user says when asked, by key.",
    "default_answer": "What the user says to a question that nobody foresaw.",
    "limits": "How many calls and questions an agent may make.",
    "scripts": "What the good agent and the trusting one do.",
    "oracle": "The good agent's steps; what they change is what is right.",
    "naive": "The trusting agent's steps, which pass only without faults.",
    "violations": "Edits of the oracle after which only the named gate fails.",
    "repairable": "Whether anything can mend it; if not, saying so is the task.",
    "verification": "False if no evidence is needed, although a reply hides a fault.",
    "tags": "Words to find it by.",
    "id": "The step's name, for violations and routes.",
    "args": "The arguments; ${…} takes values from saved replies.",
    "save": "A name for the reply.",
    "then": "The steps if it holds.",
    "else": "The steps if it does not hold.",
    "do": "The steps to repeat.",
    "until": "What ends it.",
    "omit": "The step to leave out.",
    "replace": "Steps by the id of the step that they replace.",
    "insert": "Where to put more steps: {before or after: id, steps: […]}.",
    "steps": "The steps.",
    "where": "A condition: paths, and what their values must be.",
    "tool": "The tools, as service.tool or a pattern.",
    "aspect": "What the check is filed under.",
    "after": "What has to come first.",
    "service": "The service.",
    "questions": "How many questions to the user are answered.",
    "mutant": "The mutant's name, or a pattern with `*`.",
    "because": "Why it may pass, in words that a stranger would accept.",
    "ordinary": "Whether the refusal comes as an ordinary reply, not flagged as an error.",
    "latched": "Whether a demand that was met once stays met.",
    "table": "The table of the rows.",
    "of": "The write or the fault that the agent has to find out about.",
    "each": "Whether all of them must be found out about, one, or the last.",
    "if_none": "What the check is if there was nothing to find out.",
    "seconds": "Simulated seconds.",
    "when": "Whether it happens before the call runs or after.",
    "by": "How one of several is chosen.",
    "as": "In which form.",
    "any_of": "At least one of these holds.",
    "all_of": "All of these hold.",
    "none_of": "None of these holds.",
}
"""What fields mean that no docstring describes by name."""


def _describe(made: Schema) -> None:
    """Describe fields by the sentences of their models' docstrings that speak of them."""
    models: dict[str, type] = {f"faults.{name}": model for name, model in kinds().items()}
    models |= {f"checks.{name}": model for name, model in check_kinds().items()}
    for name, model in models.items():
        texts = [base.__doc__ or "" for base in model.__mro__[:-1]]
        _fields(made["$defs"][name], texts)
    for part in _models(made["properties"]) + _models(made["$defs"]):
        _fields(part, [part.get("description", "")])
    _fields(made, [Scenario.__doc__ or ""])
    for key in ("faults", "checks"):
        for option in made["properties"][key]["items"]["oneOf"]:
            ((name, field),) = option["properties"].items()
            about = made["$defs"].get(f"{key}.{name}", {}).get("description", "")
            field["description"] = _line(about)


def _fields(part: Schema, texts: list[str]) -> None:
    part.pop("title", None)
    for name, field in part["properties"].items():
        if not isinstance(field, dict):
            continue
        field.pop("title", None)
        if "description" not in field:
            said = _said(name, texts) or _ABOUT.get(name, "")
            if said:
                field["description"] = said


def _said(name: str, texts: list[str]) -> str:
    """Return the first sentence that names a field in backticks."""
    for text in texts:
        flat = " ".join(inspect.cleandoc(text).split())
        sentences = _SENTENCE.split(flat.replace(": ", ":\u00a0"))
        for sentence in sentences:
            if re.search(rf"`{re.escape(name)}`", sentence):
                return sentence.replace("\u00a0", " ").removeprefix("- ").strip()
    return ""


def _line(text: str) -> str:
    return " ".join(inspect.cleandoc(text).split("\n\n")[0].split())


def _used(made: Schema) -> Schema:
    """Return a schema with only the definitions that it refers to, in any depth."""
    definitions = made["$defs"]
    waiting = list(_refs({key: value for key, value in made.items() if key != "$defs"}))
    kept: Schema = {}
    while waiting:
        name = waiting.pop()
        if name not in kept:
            kept[name] = definitions[name]
            waiting += _refs(definitions[name])
    return made | {"$defs": dict(sorted(kept.items()))}


def _refs(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        ref = value.get("$ref")
        if isinstance(ref, str):
            yield ref.rpartition("/")[2]
        for inner in value.values():
            yield from _refs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _refs(inner)
