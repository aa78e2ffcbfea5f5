"""The provider changed a tool's arguments or its reply's fields."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from fault_profiles.model import Acting, Fault
from fault_profiles.sample import Example
from servers.kit.call import Call, Next, Reply
from servers.kit.errors import InputError, ServiceError, UnknownName
from servers.kit.expr import apply, check_operations
from servers.kit.service import tool


class SchemaDrift(Fault):
    """Schema mismatch: arguments in `rename` have new names, `reply` operations reshape the reply.

    The old names are refused. With `published` the tool list shows the new schema (an agent that
    lists the tools again sees it); without it the refusal's hint names the new argument, unless
    `hint` says otherwise. Three changes suit any reply: `style` respells the names of its fields,
    `numbers: text` turns its numbers into texts, and `wrap` puts all of it under one field.

    Example:
        - schema_drift:
            on: weather_com.get_current_weather
            rename: {location: place}
            reply: [{rename: {temperature: temp}}]
    """

    kind: ClassVar[str] = "schema_drift"
    rename: dict[str, str] = {}
    reply: list[dict[str, Any]] = []
    published: bool = True
    hint: str | None = None
    style: Literal["camel", "kebab", "upper"] | None = None
    numbers: Literal["text"] | None = None
    wrap: str | None = None

    @model_validator(mode="after")
    def _fits(self) -> SchemaDrift:
        if not (self.rename or self._reshapes):
            raise InputError(
                "needs `rename` (arguments), `reply` (operations), "
                "or one of `style`, `numbers`, `wrap`"
            )
        check_operations(self.reply, "reply")
        for name in sorted(self.on.tools):
            known = tool(name)[1].model.model_fields
            for old in self.rename:
                if old not in known:
                    raise UnknownName("argument", old, known, f"rename, {name}")
        return self

    @property
    def _reshapes(self) -> bool:
        return bool(self.reply or self.style or self.numbers or self.wrap)

    def schema_now(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema with the new names, if it is published."""
        if not self.rename or not self.published:
            return schema
        new = copy.deepcopy(schema)
        new["properties"] = {self.rename.get(n, n): s for n, s in new["properties"].items()}
        if "required" in new:
            new["required"] = [self.rename.get(n, n) for n in new["required"]]
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
        """Refuse old names, translate new ones, reshape the reply."""
        stale = [old for old in self.rename if old in call.args]
        if stale:
            new = ", ".join(f"'{self.rename[o]}' instead of '{o}'" for o in stale)
            if self.hint is not None:
                hint = self.hint
            elif self.published:
                hint = "The tool's arguments have changed; list the tools again."
            else:
                hint = f"Use {new}."
            acting.firing.detail["refused"] = stale
            wrong = ServiceError(
                acting.codes.invalid,
                f"Unknown argument '{stale[0]}'.",
                hint,
                context={"field": stale[0]},
            )
            return Reply(wrong.as_json(), True)
        back = {new: old for old, new in self.rename.items()}
        reply = await call_next(call.altered({back.get(n, n): v for n, v in call.args.items()}))
        if reply.is_error or not self._reshapes:
            return reply if acting.shadow or self._renames(call) else acting.decline(reply)
        told = reply.copied()
        scope = acting.scope | {"number": acting.firing.number, "reply": reply.data}
        apply(self.reply, told.data, scope)
        if self.style or self.numbers:
            told.data = _drifted(told.data, self.style, self.numbers)
        if self.wrap is not None:
            told.data = {self.wrap: told.data}
        if told.data == reply.data and not self._renames(call):
            return acting.decline(reply)
        return told

    def _renames(self, call: Call) -> bool:
        return any(new in call.args for new in self.rename.values())


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
