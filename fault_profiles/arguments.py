"""Conditions on arguments, checked against the schemas of the tools that they are about.

A condition that no call could ever meet is a mistake: an argument that no tool takes, a value of
another type, a number outside the schema's range.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from servers.kit.errors import InputError, UnknownName, quoted
from servers.kit.expr import is_operators
from servers.kit.expr.paths import parse
from servers.kit.expr.predicates import GROUPS, TYPES
from servers.kit.selector import Selector
from servers.kit.service import tool

Schema = Mapping[str, Any]


def check_arguments(
    predicate: Mapping[str, Any],
    selector: Selector,
    where: str,
    new: Mapping[str, Schema] | None = None,
) -> None:
    """Refuse a condition on arguments that no call of the selected tools could meet.

    `new` are arguments that faults add, with their schemas. Raises `InputError`.
    """
    if selector.open or not predicate:
        return
    schemas = [tool(name)[1].schema["properties"] for name in sorted(selector.tools)]
    _check(predicate, [{**schema, **(new or {})} for schema in schemas], where)


def _check(predicate: Mapping[str, Any], schemas: list[Schema], where: str) -> None:
    for path, wanted in predicate.items():
        if path in GROUPS:
            for inner in wanted:
                _check(inner, schemas, f"{where}: {path}")
            continue
        if not path:
            continue
        head = str(parse(path)[0])
        taking = [schema for schema in schemas if head in schema]
        if not taking:
            known: set[str] = set().union(*schemas)
            raise UnknownName("argument", head, known, where)
        problems = [_problem_at({"properties": schema}, path, wanted) for schema in taking]
        if all(problems):
            raise InputError(f"{where}: {path}: {problems[0]}")


def _problem_at(schema: Schema, path: str, wanted: Any) -> str | None:
    """Return why nothing at a path can meet a condition, or None."""
    for part in parse(path):
        inner = _inside(schema, part)
        if isinstance(inner, str):
            return inner
        if inner is None:
            return None
        schema = inner
    return problem(schema, wanted)


def _inside(schema: Schema, part: str | int) -> Schema | str | None:
    """Return the schema of a part of a value, None where it is open, or why there is no such."""
    options = schema.get("anyOf")
    if options is not None:
        inner = [_inside(option, part) for option in options]
        found = [one for one in inner if not isinstance(one, str)]
        if not found:
            return inner[0]
        return None if None in found else {"anyOf": found}
    if isinstance(part, str) and not part.startswith("["):
        if schema.get("type", "object") != "object":
            return f"it is {_article(schema)}, so it has no field {part!r}"
        fields = schema.get("properties")
        if not fields:
            return None
        if part in fields:
            return fields[part]
        return None if schema.get("additionalProperties") else f"it has no field {part!r}"
    if schema.get("type", "array") != "array":
        return f"it is {_article(schema)}, so it has no items"
    return schema.get("items")


def _article(schema: Schema) -> str:
    kind = schema["type"]
    return f"an {kind}" if kind[0] in "aeio" else f"a {kind}"


def problem(schema: Schema, wanted: Any) -> str | None:
    """Return why no value of a schema can meet a condition, or None if one may."""
    options = schema.get("anyOf")
    if options is not None:
        problems = [problem(option, wanted) for option in options]
        return None if None in problems else problems[0]
    if not isinstance(wanted, Mapping):
        return misfit(schema, wanted)
    if not is_operators(wanted):
        for path, inner in wanted.items():
            if path not in GROUPS and (wrong := _problem_at(schema, path, inner)):
                return f"{path}: {wrong}"
        return None
    for name, operand in wanted.items():
        judge = _BY_OPERATOR.get(name)
        if judge is not None and not _is_open(operand) and (wrong := judge(schema, operand)):
            return wrong
    return None


def _is_open(operand: Any) -> bool:
    return isinstance(operand, str) and "${" in operand


def misfit(schema: Schema, value: Any) -> str | None:
    """Return why a value does not fit a schema, or None; expressions fit any."""
    if _is_open(value) or value is None:
        return None
    options = schema.get("anyOf")
    if options is not None:
        problems = [misfit(option, value) for option in options]
        return None if None in problems else problems[0]
    wrong = _wrong_type(schema, value)
    if wrong is not None:
        return wrong
    if "const" in schema and value != schema["const"]:
        return f"it can only be {schema['const']!r}, not {quoted(value)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"it can only be {_either(schema['enum'])}, not {quoted(value)}"
    if isinstance(value, str):
        pattern = schema.get("pattern")
        if pattern and not re.search(pattern, value):
            return f"{quoted(value)} does not match the schema's pattern {pattern}"
        return _out_of(schema, len(value), "minLength", "maxLength", "its length")
    if isinstance(value, list):
        return _out_of(schema, len(value), "minItems", "maxItems", "its length") or next(
            (wrong for item in value if (wrong := misfit(schema.get("items", {}), item))), None
        )
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _out_of(schema, value, "minimum", "maximum", "it") or _beyond(schema, value)
    return None


def _either(values: Collection[Any]) -> str:
    return " or ".join(repr(value) for value in values)


def _wrong_type(schema: Schema, value: Any) -> str | None:
    kind = schema.get("type")
    fits = TYPES.get({"array": "list"}.get(str(kind), str(kind)))
    if fits is None or fits(value):
        return None
    return f"it is {_article(schema)}, so it is never {quoted(value)}"


def _out_of(schema: Schema, value: float, low: str, high: str, what: str) -> str | None:
    if low in schema and value < schema[low]:
        return f"{what} is at least {schema[low]}, so never {value}"
    if high in schema and value > schema[high]:
        return f"{what} is at most {schema[high]}, so never {value}"
    return None


def _beyond(schema: Schema, value: float) -> str | None:
    low = schema.get("exclusiveMinimum")
    high = schema.get("exclusiveMaximum")
    if low is not None and value <= low:
        return f"it is more than {low}, so never {value}"
    if high is not None and value >= high:
        return f"it is less than {high}, so never {value}"
    return None


def _in(schema: Schema, operand: Any) -> str | None:
    if not isinstance(operand, list):
        return None
    return next((wrong for value in operand if (wrong := misfit(schema, value))), None)


def _typed(schema: Schema, operand: Any) -> str | None:
    return _wrong_type(schema, operand)


def _above(schema: Schema, operand: Any) -> str | None:
    ends = [schema[key] for key in ("maximum", "exclusiveMaximum") if key in schema]
    numbers = isinstance(operand, int | float)
    if numbers and ends and operand > min(ends):
        return f"it is at most {min(ends)}, so never above {operand}"
    return _comparable(schema, operand)


def _below(schema: Schema, operand: Any) -> str | None:
    ends = [schema[key] for key in ("minimum", "exclusiveMinimum") if key in schema]
    numbers = isinstance(operand, int | float)
    if numbers and ends and operand < max(ends):
        return f"it is at least {max(ends)}, so never below {operand}"
    return _comparable(schema, operand)


def _comparable(schema: Schema, operand: Any) -> str | None:
    kind = schema.get("type")
    if kind in ("integer", "number") and isinstance(operand, str):
        return f"it is {_article(schema)} and cannot be compared with the text {quoted(operand)}"
    if kind == "string" and not isinstance(operand, str):
        return f"it is a string and cannot be compared with the number {operand}"
    if kind in ("boolean", "array", "object"):
        return f"it is {_article(schema)}, which has no order"
    return None


def _contains(schema: Schema, operand: Any) -> str | None:
    kind = schema.get("type")
    if kind == "array":
        return misfit(schema.get("items", {}), operand)
    if kind == "string" and isinstance(operand, list | dict):
        return f"it is a string, so it never holds {quoted(operand)}"
    return None if kind in (None, "string") else f"it is {_article(schema)}, which holds nothing"


def _text(schema: Schema, operand: Any) -> str | None:
    kind = schema.get("type")
    return None if kind in (None, "string") else f"it is {_article(schema)}, not a text"


def _len(schema: Schema, operand: Any) -> str | None:
    kind = schema.get("type")
    if kind not in (None, "string", "array", "object"):
        return f"it is {_article(schema)}, which has no length"
    if isinstance(operand, Mapping):
        return None
    keys = ("minLength", "maxLength") if kind == "string" else ("minItems", "maxItems")
    return _out_of(schema, operand, *keys, "its length")


def _is_type(schema: Schema, operand: Any) -> str | None:
    kind = str(schema.get("type", operand)).replace("array", "list")
    same = {kind, operand} == {"integer", "number"}
    return None if kind == operand or same else f"it is {_article(schema)}, never {operand}"


def _items(schema: Schema, operand: Any) -> str | None:
    if schema.get("type", "array") != "array":
        return f"it is {_article(schema)}, so it has no items"
    return problem(schema.get("items", {}), operand)


def _has(schema: Schema, operand: Any) -> str | None:
    for path, inner in operand.items():
        if path not in GROUPS and (wrong := _problem_at(schema, path, inner)):
            return f"{path}: {wrong}"
    return None


_BY_OPERATOR: dict[str, Callable[[Schema, Any], str | None]] = {
    "eq": misfit,
    "ne": _typed,
    "in": _in,
    "not_in": _in,
    "gt": _above,
    "gte": _above,
    "lt": _below,
    "lte": _below,
    "contains": _contains,
    "matches": _text,
    "starts": _text,
    "same_text": _text,
    "len": _len,
    "type": _is_type,
    "any": _items,
    "all": _items,
    "has": _has,
}


def of_column(kind: str) -> Schema:
    """Return the schema of a column's values, from the type in its table's declaration."""
    return {"type": _COLUMNS[kind]}


_COLUMNS = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
}


def conditions(predicate: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield every path of a predicate with its condition, also from `any_of` and the like."""
    for path, wanted in predicate.items():
        if path in GROUPS:
            for inner in wanted:
                yield from conditions(inner)
        else:
            yield path, wanted
