"""The places of a scenario file at which a slip of the pen would change what the file means.

The walk follows the models in which scenarios are declared. Free text and plain values, which a
person may have meant, are no places.
"""

from __future__ import annotations

import contextlib
import io
import re
import tokenize
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from fault_profiles.model import CallShape, Fault, kinds
from fault_profiles.rows import Stored
from fault_profiles.schedule import Moment
from judge import checks
from judge.model import Check
from judge.pattern import CallPattern
from judge.reading.claims import vocabulary
from judge.statements import Statement
from scenarios.answer import Answer
from scenarios.model import Scenario, Variation
from scenarios.script import Edit, Step
from servers.kit.expr.evaluate import FUNCTIONS
from servers.kit.expr.operations import OPERATIONS
from servers.kit.expr.predicates import OPERATORS

How = Literal["key", "word", "type", "syntax", "number"]
At = tuple[str | int, ...]


@dataclass(frozen=True)
class Place:
    """A place: where in the file, what stands there (`sort`), and how it can be mistaken.

    `span` is the part of the text that is meant; without it, the whole value or key is. `context`
    is the kind of thing around it (`script`, `statement`, `fault`, …).
    """

    at: At
    sort: str
    how: How
    context: str
    span: tuple[int, int] | None = None

    @property
    def of_replies(self) -> bool:
        """Whether it names a part of a reply, which only a play of the scenario shows."""
        if self.context == "statement":
            return False
        return self.sort in ("field", "reply path", "reply path (set)", "nested path", "name")


FREE = {
    "title", "about", "user", "say", "asked", "not", "value", "default_answer", "must", "may",
    "never", "because", "mutant", "tags", "in_mail_to", "message", "hint", "body", "code",
    "content_type", "report", "context", "kind_of_id",
}  # fmt: skip
"""Keys whose texts are free, so that only the type of the value can be wrong."""
CONTEXTS = {
    "scripts": "script",
    "routes": "script",
    "violations": "script",
    "statements": "statement",
    "change": "change",
    "turns": "turn",
}
"""What the parts of a scenario are called in the table."""
SORTS = {
    "services": "service", "service": "service", "primary": "service", "fallback": "service",
    "world": "world", "history": "history", "on": "tool", "called": "tool", "tool": "tool",
    "call": "tool", "exposed_by": "tool", "recover": "tool", "write": "tool", "instead": "tool",
    "before": "tool", "fired": "fault name", "not_fired": "fault name", "fault": "fault name",
    "table": "table", "writes_of": "table", "optional": "table", "dictated": "column",
    "evidence": "check name", "rests_on": "check name", "of": "check name", "fails": "check name",
    "answered": "answer key", "about_answer": "answer key", "items": "argument name",
    "per": "argument name", "top_of": "reply path", "omit": "step", "after": "step",
    "date": "moment", "from": "moment", "to": "moment",
}  # fmt: skip
"""What the texts under a key name."""
_HOLE = re.compile(r"\$\{(.+?)\}(?!\})", re.DOTALL)
_WORDS = {"and", "or", "not", "in", "is", "if", "else", "null", "true", "false", "None", "always"}
_FIELD_TAKERS = {"having", "pluck", "sort"}
_SEED = re.compile(r"\bseed:[a-z]+/[\w-]+")


class Walk:
    """Collects the places of one scenario's data; what YAML aliases share is visited once."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.found: list[Place] = []
        self._seen: set[int] = set()
        self._model(Scenario, raw, (), "scenario")

    # -- models ----------------------------------------------------------------------------------
    def _add(self, at: At, sort: str, how: How, context: str, span: Any = None) -> None:
        self.found.append(Place(at, sort, how, context, span))

    def _new(self, value: Any) -> bool:
        if not isinstance(value, dict | list):
            return True
        if id(value) in self._seen:
            return False
        self._seen.add(id(value))
        return True

    def _model(self, model: type[BaseModel], raw: Any, at: At, context: str) -> None:
        if not isinstance(raw, Mapping):
            self._text(raw, at, "tool", context)
            return
        known = {field.alias or name: name for name, field in model.model_fields.items()}
        for key, value in raw.items():
            inner = (*at, key)
            self._add(inner, "key", "key", context)
            field = model.model_fields.get(known.get(key, ""))
            kind = _kind(value)
            several = isinstance(value, list)
            if field is not None and not several and bool in _parts(field.annotation):
                kind = "truth value"
            self._add(inner, f"type of a {kind}", "type", context)
            if not self._new(value):
                continue
            special = self._special(model, key)
            if special is not None:
                special(value, inner, context)
                continue
            annotation = field.annotation if field is not None else Any
            around = CONTEXTS.get(key, context) if model is Scenario else context
            self._annotated(annotation, key, value, inner, around)

    def _annotated(self, annotation: Any, key: str, value: Any, at: At, context: str) -> None:
        model = _model_in(annotation)
        literal = _is_literal(annotation)
        if isinstance(value, list):
            for number, item in enumerate(value):
                if self._new(item):
                    self._annotated(annotation, key, item, (*at, number), context)
        elif isinstance(value, Mapping) and model is not None:
            self._model(model, value, at, context)
        elif isinstance(value, str):
            if literal:
                self._add(at, "allowed word", "word", context)
            elif key in FREE:
                self._text(value, at, "", context)
            else:
                self._text(value, at, SORTS.get(key, ""), context)

    def _special(self, model: type[BaseModel], key: str) -> Any:
        """Return what walks the value of a key whose type alone does not tell what it holds."""
        if model is Scenario:
            return {
                "faults": self._faults,
                "checks": self._checks,
                "tools": self._tools,
                "answers": self._answers,
            }.get(key)
        if issubclass(model, Statement):
            return {"claim": self._claim, "holds": self._truth, "name": None}.get(key)
        if issubclass(model, Step):
            return {"args": self._args, "if": self._truth, "until": self._truth}.get(key)
        if issubclass(model, Edit):
            return {"replace": self._replaced, "insert": self._inserted}.get(key)
        if model is Variation:
            return {
                "free": self._columns,
                "prose": self._columns,
                "windows": self._windows,
            }.get(key)
        if model in (CallPattern, CallShape, Moment) and key in ("where", "corrected"):
            return lambda v, at, c: self._predicate(v, at, "argument name", c)
        if model is CallPattern and key == "result":
            return lambda v, at, c: self._predicate(v, at, "reply path", c)
        if key == "where" and (model is Stored or "table" in model.model_fields):
            return lambda v, at, c: self._predicate(v, at, "column", c)
        return self._of_fault(model, key)

    def _of_fault(self, model: type[BaseModel], key: str) -> Any:
        if key == "edit" and "table" in model.model_fields:
            return lambda v, at, c: self._operations(v, at, "column", c)
        if key == "met":
            return lambda v, at, c: self._predicate(v, at, "argument name", c)
        if not issubclass(model, Fault):
            return None
        reply = model.model_fields.get("reply")
        if key == "reply" and reply is not None and typing.get_origin(reply.annotation) is dict:
            return self._values
        return {
            "where": lambda v, at, c: self._predicate(v, at, "argument name", c),
            "fails": lambda v, at, c: self._predicate(v, at, "item field", c),
            "result": lambda v, at, c: self._predicate(v, at, "reply path", c),
            "like": lambda v, at, c: self._predicate(v, at, "column", c),
            "change": lambda v, at, c: self._named(v, at, "column", c),
            "rename": lambda v, at, c: self._named(v, at, "argument name", c),
            "capture": lambda v, at, c: self._named(v, at, "capture name", c),
            "edit": lambda v, at, c: self._operations(v, at, "argument name", c),
            "reply": lambda v, at, c: self._operations(v, at, "reply path", c),
        }.get(key)

    # -- one-key items ---------------------------------------------------------------------------
    def _faults(self, value: Any, at: At, context: str) -> None:
        for number, item in enumerate(value):
            self._item(item, (*at, number), "fault", kinds())

    def _checks(self, value: Any, at: At, context: str) -> None:
        for number, item in enumerate(value):
            self._item(item, (*at, number), "check", checks.kinds())

    def _item(self, item: Any, at: At, what: str, known: Mapping[str, type[BaseModel]]) -> None:
        ((kind, fields),) = item.items()
        self._add((*at, kind), f"{what} kind", "key", what)
        if not self._new(fields):
            return
        self._model(known[kind], fields or {}, (*at, kind), what)
        for key, sort in (("name", f"{what} name"), ("about", "answer key")):
            if fields and key in fields:
                self._add((*at, kind, key), sort, "word", what)

    # -- parts of a scenario ---------------------------------------------------------------------
    def _tools(self, value: Any, at: At, context: str) -> None:
        for name, patterns in value.items():
            self._add((*at, name), "service", "key", "tools")
            self._add((*at, name), "type of a list", "type", "tools")
            for number, pattern in enumerate(patterns):
                self._text(pattern, (*at, name, number), "tool", "tools")

    def _answers(self, value: Any, at: At, context: str) -> None:
        for key, answer in value.items():
            self._add((*at, key), "answer key", "key", "answers")
            self._model(Answer, answer, (*at, key), "answers")

    def _claim(self, value: Any, at: At, context: str) -> None:
        for kind, slots in value.items():
            self._add((*at, kind), "claim kind", "key", "statement")
            for slot, given in (slots or {}).items():
                inner = (*at, kind, slot)
                self._add(inner, "slot", "key", "statement")
                type_ = vocabulary()[kind].slots.get(slot.rstrip("* "), "")
                self._add(inner, f"value of a {type_} slot", "type", "statement")
                self._values(given, inner, "statement")

    def _truth(self, value: Any, at: At, context: str) -> None:
        if not isinstance(value, str) or value == "always":
            return
        if "${" in value:
            self._text(value, at, "", context)
        else:
            self._expression(value, 0, at, context)

    def _args(self, value: Any, at: At, context: str) -> None:
        for name, given in value.items():
            self._add((*at, name), "argument name", "key", context)
            if not (isinstance(given, str) and "${" in given):
                self._add((*at, name), "argument type", "type", context)
            self._values(given, (*at, name), context)

    def _replaced(self, value: Any, at: At, context: str) -> None:
        for name, steps in value.items():
            self._add((*at, name), "step", "key", context)
            self._steps(steps, (*at, name), context)

    def _inserted(self, value: Any, at: At, context: str) -> None:
        for key, given in value.items():
            self._add((*at, key), "key", "key", context)
            if key == "steps":
                self._steps(given, (*at, key), context)
            else:
                self._text(given, (*at, key), "step", context)

    def _steps(self, steps: Any, at: At, context: str) -> None:
        for number, step in enumerate(steps):
            if self._new(step):
                self._model(Step, step, (*at, number), context)

    def _columns(self, value: Any, at: At, context: str) -> None:
        for column, wanted in value.items():
            table = column.partition(".")[0]
            span = (0, len(table))
            self._add((*at, column), "table", "key", "change", span)
            self._add((*at, column), "column", "key", "change", (len(table) + 1, len(column)))
            if wanted == "any":
                self._add((*at, column), "allowed word", "word", "change")
            else:
                self._wanted(wanted, (*at, column), "column", "change")

    def _windows(self, value: Any, at: At, context: str) -> None:
        for table, turns in value.items():
            self._add((*at, table), "table", "key", "change")
            for number in range(len(turns)):
                self._add((*at, table, number), "turn number", "number", "change")

    # -- conditions and operations ---------------------------------------------------------------
    def _predicate(self, value: Any, at: At, sort: str, context: str) -> None:
        if not isinstance(value, Mapping):
            return
        for path, wanted in value.items():
            inner = (*at, path)
            if path in ("any_of", "all_of", "none_of"):
                self._add(inner, "operator", "key", context)
                for number, part in enumerate(wanted):
                    self._predicate(part, (*inner, number), sort, context)
                continue
            self._add(inner, sort, "key", context)
            self._add(inner, "path syntax", "syntax", context)
            self._wanted(wanted, inner, sort, context)

    def _wanted(self, wanted: Any, at: At, sort: str, context: str) -> None:
        if isinstance(wanted, str) and "${" in wanted:
            self._text(wanted, at, "", context)
            return
        if not isinstance(wanted, Mapping):
            self._values(wanted, at, context)
            if wanted is not None:
                self._add(at, f"operand of equality ({sort})", "type", context)
            return
        for name, operand in wanted.items():
            inner = (*at, name)
            if name in OPERATORS or name == "exists":
                self._add(inner, "operator", "key", context)
                self._add(inner, f"operand of {name}", "type", context)
                self._values(operand, inner, context)
            elif name in ("not", "any", "all", "none"):
                self._add(inner, "operator", "key", context)
                self._wanted(operand, inner, sort, context)
            else:
                self._predicate({name: operand}, at, "nested path", context)

    def _named(self, value: Any, at: At, sort: str, context: str) -> None:
        for name, given in value.items():
            self._add((*at, name), sort, "key", context)
            self._values(given, (*at, name), context)

    def _operations(self, value: Any, at: At, sort: str, context: str) -> None:
        for number, item in enumerate(value):
            for name, spec in item.items():
                inner = (*at, number, name)
                self._add(inner, "operation", "key", context)
                self._add(inner, f"spec of {name}", "type", context)
                if isinstance(spec, str):
                    self._add(inner, sort, "word", context)
                elif isinstance(spec, list):
                    for place in range(len(spec)):
                        self._add((*inner, place), sort, "word", context)
                        self._add((*inner, place), "path syntax", "syntax", context)
                elif name in OPERATIONS:
                    self._by_path(name, spec, inner, sort, context)

    def _by_path(self, name: str, spec: Any, at: At, sort: str, context: str) -> None:
        for path, operand in spec.items():
            inner = (*at, path)
            new = name in ("set", "recompute", "map")
            self._add(inner, f"{sort} (set)" if new else sort, "key", context)
            self._add(inner, "path syntax", "syntax", context)
            if not new and not (isinstance(operand, str) and "${" in operand):
                self._add(inner, f"operand of {name}", "type", context)
            if name in ("filter", "remove", "duplicate"):
                self._predicate(operand, inner, "nested path", context)
            elif name == "copy":
                self._text(operand, inner, sort, context)
            elif isinstance(operand, Mapping) and name in ("insert", "fill"):
                for key, part in operand.items():
                    self._add((*inner, key), "key of an operand", "key", context)
                    self._values(part, (*inner, key), context)
            else:
                self._values(operand, inner, context)

    # -- texts -----------------------------------------------------------------------------------
    def _values(self, value: Any, at: At, context: str) -> None:
        """Visit plain values for the expressions and seeds in them."""
        if isinstance(value, str):
            self._text(value, at, "", context)
        elif isinstance(value, Mapping) and self._new(value):
            for key, inner in value.items():
                self._values(inner, (*at, key), context)
        elif isinstance(value, list) and self._new(value):
            for number, inner in enumerate(value):
                self._values(inner, (*at, number), context)

    def _text(self, text: Any, at: At, sort: str, context: str) -> None:
        if not isinstance(text, str):
            return
        for seed in _SEED.finditer(text):
            self._add(at, "seed", "word", context, seed.span())
        holes = list(_HOLE.finditer(text))
        for hole in holes:
            self._expression(hole[1], hole.start(1), at, context)
        if sort and not holes:
            for start, end in _words(text, sort):
                self._add(at, sort, "word", context, (start, end))

    def _expression(self, source: str, start: int, at: At, context: str) -> None:
        tokens = _tokens(source, start)
        self._add(at, "expression syntax", "syntax", context, (start, start + len(source)))
        for number, (token, low, high) in enumerate(tokens):
            before = tokens[number - 1][0] if number else ""
            after = tokens[number + 1][0] if number + 1 < len(tokens) else ""
            if token[0] in "\"'":
                if _names_a_field(tokens, number) and len(token) > 2:
                    self._add(at, "field", "word", context, (low + 1, high - 1))
                continue
            if not token[0].isalpha() or (token in _WORDS and before != "."):
                continue
            sort = self._part(tokens, number, before, after)
            self._add(at, sort, "word", context, (low, high))

    def _part(self, tokens: Any, number: int, before: str, after: str) -> str:
        token = tokens[number][0]
        if before == ".":
            owner = tokens[number - 2][0]
            if owner in ("added", "changed", "gone", "rows"):
                return "table"
            return {
                "fired": "fault name",
                "settled": "check name",
                "args": "argument name",
                "faults": "fault name",
            }.get(owner, "field")
        if after == "(" and token in FUNCTIONS:
            return "function"
        if after == "=":
            return "field"
        return "name"


def _tokens(source: str, start: int) -> list[tuple[str, int, int]]:
    """Return the tokens of an expression with where they begin and end in the whole text."""
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    found = []
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(f"({source})").readline):
            row, low = token.start
            end_row, high = token.end
            shift = start - 1  # for the bracket, which lets an expression have several lines
            if token.string.strip() and token.type != tokenize.ENDMARKER:
                first = lines[row - 1] + low + (shift if row == 1 else start)
                last = lines[end_row - 1] + high + (shift if end_row == 1 else start)
                found.append((token.string, first, last))
    return found[1:-1]


def _names_a_field(tokens: Any, number: int) -> bool:
    """Return whether a text names a field: `x["field"]`, `pluck(x, "field")` and the like."""
    before = [token for token, *_ in tokens[:number]]
    if before[-1:] == ["["]:
        return len(before) > 1 and (before[-2][0].isalnum() or before[-2] in (")", "]"))
    if before[-1:] != [","]:
        return False
    depth = 0
    commas = 0
    for place in range(len(before) - 1, -1, -1):
        depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(before[place], 0)
        commas += before[place] == "," and depth == 0
        if depth < 0:
            return place > 0 and before[place - 1] in _FIELD_TAKERS and commas == 1
    return False


def _words(text: str, sort: str) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text in which a typo can be made: `venmo` and `send_money`, say."""
    for word in re.finditer(r"[A-Za-z]\w*", text):
        if len(word.group()) > 1:
            yield word.span()


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "truth value"
    names = {str: "text", int: "number", float: "number", list: "list", dict: "mapping"}
    return names.get(type(value), "null")


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is not None:
        for part in typing.get_args(annotation):
            yield from _parts(part)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    for part in _parts(annotation):
        if isinstance(part, type) and issubclass(part, BaseModel):
            return None if part in (Fault, Check) else part
    return None


def _is_literal(annotation: Any) -> bool:
    return any(typing.get_origin(part) is Literal for part in _parts(annotation))


def places(raw: Mapping[str, Any]) -> list[Place]:
    """Return all places of a scenario's parsed YAML, in order."""
    found = Walk(raw).found
    for number, statement in enumerate(raw.get("statements", [])):
        if isinstance(statement.get("turn"), int):
            at = ("statements", number, "turn")
            found.append(Place(at, "turn number", "number", "statement"))
    return list(dict.fromkeys(found))
