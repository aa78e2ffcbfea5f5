"""The provider changed a tool's arguments or its reply's fields."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from fault_profiles.arguments import Schema, misfit
from fault_profiles.model import Acting, Fault
from fault_profiles.rows import Operations
from fault_profiles.sample import Example
from servers.kit.call import Call, Next, Reply
from servers.kit.declared import Declared
from servers.kit.errors import InputError, ServiceError, UnknownName
from servers.kit.expr import apply, render
from servers.kit.service import tool


class NewArgument(Declared):
    """An argument that a tool did not have: its name, type and description, and its values if only
    some are allowed.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$")]
    type: Literal["string", "integer", "number", "boolean"] = "string"
    description: str = ""
    enum: Annotated[list[str | int | float | bool], Field(min_length=1)] | None = None

    @property
    def schema_now(self) -> dict[str, Any]:
        """Its JSON schema."""
        schema: dict[str, Any] = {"type": self.type}
        if self.description:
            schema["description"] = self.description
        return schema if self.enum is None else {**schema, "enum": self.enum}

    def wrong(self, args: dict[str, Any]) -> str | None:
        """Return what a provider says about arguments without a fitting value of it, or None."""
        value = args.get(self.name)
        if value is None:
            return f"Missing required argument '{self.name}'."
        if misfit({"type": self.type}, value) is not None:
            return f"Argument '{self.name}' should be a valid {self.type}."
        if self.enum is not None and value not in self.enum:
            allowed = [repr(one) for one in self.enum]
            either = " or ".join([", ".join(allowed[:-1]), allowed[-1]] if allowed[1:] else allowed)
            return f"Argument '{self.name}' should be {either}."
        return None


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


class SchemaDrift(Fault):
    """Schema mismatch: arguments in `rename` have new names, `reply` operations reshape the reply.

    The old names are refused. `require` is an argument (or a list of them) that calls now need: one
    without it is refused in the provider's words, and the service never sees it; one that gives it
    is passed on and does not count. With `published` the tool list shows the new schema (an agent
    that lists the tools again sees it); without it the refusal's hint names the new argument,
    unless `hint` says otherwise. Three changes suit any reply: `style` respells the names of its
    fields, `numbers: text` turns its numbers into texts, and `wrap` puts all of it under one field.

    Example:
        - schema_drift:
            on: weather_com.get_current_weather
            rename: {location: place}
            reply: [{rename: {temperature: temp}}]
    """

    kind: ClassVar[str] = "schema_drift"
    edits: ClassVar[tuple[str, ...]] = ("reply",)
    rename: dict[str, str] = {}
    require: Annotated[
        list[NewArgument],
        BeforeValidator(_as_list, json_schema_input_type=NewArgument | list[NewArgument]),
    ] = []
    reply: Operations = []
    published: bool = True
    hint: str | None = None
    style: Literal["camel", "kebab", "upper"] | None = None
    numbers: Literal["text"] | None = None
    wrap: str | None = None

    @model_validator(mode="after")
    def _fits(self) -> SchemaDrift:
        if not (self.rename or self.require or self._reshapes):
            raise InputError(
                "needs `rename` (arguments), `require` (a new argument), `reply` (operations), "
                "or one of `style`, `numbers`, `wrap`"
            )
        names = [*self.rename.values(), *(new.name for new in self.require)]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"two arguments would be named {name!r}")
        for new in self.require:
            for value in new.enum or ():
                wrong = misfit({"type": new.type}, value)
                if wrong is not None:
                    raise InputError(f"require: enum: {wrong}")
        for name in sorted(self.on.tools) if names else ():
            known = tool(name)[1].model.model_fields
            for old in self.rename:
                if old not in known:
                    raise UnknownName("argument", old, known, f"rename, {name}")
            for new in names:
                if new in known and new not in self.rename:
                    raise InputError(f"{name} has an argument {new!r} already")
        return self

    def new_arguments(self) -> dict[str, Schema]:
        """Return the renamed and the required arguments."""
        new: dict[str, Schema] = {argument.name: argument.schema_now for argument in self.require}
        for name in sorted(self.on.tools) if self.rename else ():
            known = tool(name)[1].schema["properties"]
            new |= {to: known[old] for old, to in self.rename.items() if old in known}
        return new

    @property
    def _reshapes(self) -> bool:
        return bool(self.reply or self.style or self.numbers or self.wrap)

    def schema_now(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema with the new names and arguments, if it is published."""
        if not (self.rename or self.require) or not self.published:
            return schema
        new = copy.deepcopy(schema)
        new["properties"] = {self.rename.get(n, n): s for n, s in new["properties"].items()}
        if "required" in new:
            new["required"] = [self.rename.get(n, n) for n in new["required"]]
        for argument in self.require:
            new["properties"][argument.name] = argument.schema_now
            new["required"] = [*new.get("required", []), argument.name]
        return new

    @classmethod
    def sample(cls, example: Example) -> dict[str, Any] | str:
        """Rename an argument of the call, or else a field of the reply."""
        for name in example.args:
            return {"rename": {name: f"{name}_value"}}
        for name in example.reply:
            return {"reply": [{"rename": {name: f"{name}_value"}}]}
        return "it has neither arguments nor reply fields"

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Refuse old names, ask for new ones, translate them back, reshape the reply."""
        stale = [old for old in self.rename if old in call.args]
        if stale:
            new = ", ".join(f"'{self.rename[o]}' instead of '{o}'" for o in stale)
            acting.firing.detail["refused"] = stale
            message = f"Unknown argument '{stale[0]}'."
            return self._refuse(acting, message, f"Use {new}.", stale[0])
        for argument in self.require:
            wrong = argument.wrong(call.args)
            if wrong is not None:
                acting.firing.detail["refused"] = [argument.name]
                about = f": {argument.description}" if argument.description else "."
                hint = f"Give '{argument.name}'{about}"
                return self._refuse(acting, wrong, hint, argument.name)
        back = {new: old for old, new in self.rename.items()}
        added = {argument.name for argument in self.require}
        args = {back.get(n, n): v for n, v in call.args.items() if n not in added}
        reply = await call_next(call.altered(args))
        if reply.is_error or not self._reshapes:
            if acting.shadow or self._renames(call):
                return reply
            return acting.decline(reply, repeats=bool(added & call.args.keys()))
        told = reply.copied()
        scope = acting.scope | {"number": acting.firing.number, "reply": reply.data}
        apply(self.reply, told.data, scope)
        if self.style or self.numbers:
            told.data = _drifted(told.data, self.style, self.numbers)
        if self.wrap is not None:
            told.data = {self.wrap: told.data}
        if told.data == reply.data and not self._renames(call):
            return acting.decline(reply, repeats=bool(added & call.args.keys()))
        return told

    def _refuse(self, acting: Acting, message: str, hint: str, field: str) -> Reply:
        if self.hint is not None:
            hint = render(self.hint, acting.scope)
        elif self.published:
            hint = "The tool's arguments have changed; list the tools again."
        wrong = ServiceError(acting.codes.invalid, message, hint, context={"field": field})
        return Reply(wrong.as_json(), True)

    def _renames(self, call: Call) -> bool:
        """Whether the call uses a new name of an argument."""
        return bool(set(self.rename.values()) & call.args.keys())


def _drifted(value: Any, style: str | None, numbers: str | None) -> Any:
    if isinstance(value, dict):
        named = _STYLES[style] if style else str
        return {named(key): _drifted(inner, style, numbers) for key, inner in value.items()}
    if isinstance(value, list):
        return [_drifted(inner, style, numbers) for inner in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if numbers and is_number else value


_STYLES: dict[str, Callable[[str], str]] = {
    "camel": lambda name: re.sub(r"_(\w)", lambda m: m[1].upper(), name),
    "kebab": lambda name: name.replace("_", "-"),
    "upper": str.upper,
}
