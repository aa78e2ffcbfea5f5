"""Some items of a batch are done and some are not."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from fault_profiles.arguments import check_arguments, conditions
from fault_profiles.model import FIRED, Acting, Fault
from fault_profiles.refusal import Refusal
from fault_profiles.sample import Example
from fault_profiles.schedule import check_names
from fault_profiles.worlds import watched
from servers.kit.call import Call, Next, Reply
from servers.kit.declared import Positive
from servers.kit.errors import InputError, UnknownName
from servers.kit.expr import check_predicate, get, matches, names
from servers.kit.expr.paths import is_many, parse, places
from servers.kit.selector import Selector, arguments_of
from servers.kit.service import Service, ToolSpec, tool


class PartialBatch(Fault):
    """Some items of the list argument `items` are dropped before the call runs.

    Dropped are those that meet the condition `fails` (`{value: …}` where items are plain values),
    every `each`-th, or all after the first `keep`. With `as: silent` the reply claims that all were
    done; with `as: reported` it is the reply for the items that were, and its field `report` lists
    each failed item with its `error`. Two such faults with different conditions on one tool treat
    different items differently. Tools without the argument are left alone.

    Example:
        - partial_batch: {on: gmail.send_email, items: to, keep: 1, as: silent}
    """

    kind: ClassVar[str] = "partial_batch"
    promises: ClassVar[tuple[str, ...]] = ("altered",)
    own: ClassVar[tuple[str, ...]] = ("error",)
    needs_world: ClassVar[bool] = True
    items: str
    fails: dict[str, Any] | None = None
    each: Positive | None = None
    keep: Annotated[int, Field(ge=0)] | None = None
    how: Literal["silent", "reported"] = Field(default="silent", alias="as")
    report: str = "failed"
    error: Refusal = Refusal()

    @classmethod
    def sample(cls, example: Example) -> dict[str, Any] | str:
        """Do only the first item of the example's first list."""
        for name, items in example.lists():
            if len(items) > 1:
                return {"items": name, "keep": 1, "as": "reported"}
        for name, _ in example.lists():
            return {"items": name, "keep": 0, "as": "reported"}
        return "its example has no list"

    @model_validator(mode="after")
    def _fits(self) -> PartialBatch:
        given = [rule for rule in (self.fails, self.each, self.keep) if rule is not None]
        if len(given) != 1:
            raise InputError(
                "needs exactly one of `fails` (a condition), `each` (every k-th item fails), "
                "`keep` (the first n items are done)"
            )
        check_predicate(self.fails or {}, "fails")
        self._check_items(self.fails or {})
        check_names(names(self.error.model_dump()), FIRED | {"item"}, "error")
        return self

    def _check_items(self, fails: Mapping[str, Any]) -> None:
        """Refuse a condition that no item of the list could meet; plain items are `value`."""
        plain = not self._items_have_fields()
        for path, wanted in conditions(fails):
            if plain and str(parse(path)[0]) != "value":
                raise UnknownName("field", path, ["value"], "fails")
            place = f"{self.items}[0]" if plain else f"{self.items}[0].{path}"
            check_arguments({place: wanted}, self.on, "fails")

    def _items_have_fields(self) -> bool:
        if self.on.open:
            return True
        schemas = [tool(name)[1].schema for name in sorted(self.on.tools)]
        first = str(parse(self.items)[0])
        items = [schema["properties"].get(first, {}).get("items", {}) for schema in schemas]
        return any(item.get("type", "object") == "object" for item in items if item)

    @field_validator("items")
    @classmethod
    def _known(cls, items: str, info: ValidationInfo) -> str:
        on: Selector | None = info.data.get("on")
        if is_many(items):
            raise InputError(f"items: {items!r} must name one list")
        if on is not None and not on.open:
            specs = [tool(name)[1] for name in sorted(on.tools)]
            known = arguments_of(on)
            first = str(parse(items)[0])
            if first not in known:
                raise UnknownName("argument", first, known, f"items, {', '.join(on.patterns)}")
            if not any(_takes(spec, items) for spec in specs):
                raise InputError(f"items: {first!r} is not a list in {', '.join(on.patterns)}")
        return items

    def handles(self, cls: type[Service], spec: ToolSpec) -> bool:
        """Whether the tool takes the list argument."""
        return super().handles(cls, spec) and _takes(spec, self.items)

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Run the call with the items that are kept, and report those or claim all."""
        listed = get(call.args, self.items)
        if acting.shadow:
            failed = set(acting.firing.detail["items"])
        else:
            failed = self._failing(listed, acting.scope) if isinstance(listed, list) else set()
            if not failed or (await acting.session.peek(call)).is_error:
                return acting.decline(await call_next(call))
            acting.firing.detail["items"] = sorted(failed)
        other = None
        if call.effect == "write" and watched(self, call, acting):
            other = call.world.scratch()
        lost = [item for place, item in enumerate(listed) if place in failed]
        reply = await self._told(call, call_next, acting, lost, failed)
        if other is not None:
            await acting.session.perform(replace(call, world=other, shadow=True))
            call.journal.others[self.name] = other
        elif call.effect == "read" and not acting.shadow:
            call.journal.truth = await acting.session.peek(call)
        return reply

    def _failing(self, listed: list[Any], scope: dict[str, Any]) -> set[int]:
        """Return the indexes of the items that fail."""
        if self.fails is not None:
            failing = set()
            for place, item in enumerate(listed):
                fields = item if isinstance(item, dict) else {"value": item}
                if matches(self.fails, fields, scope):
                    failing.add(place)
            return failing
        if self.each is not None:
            return set(range(self.each - 1, len(listed), self.each))
        return set(range(self.keep or 0, len(listed)))

    async def _told(
        self, call: Call, call_next: Next, acting: Acting, lost: list[Any], failed: set[int]
    ) -> Reply:
        silent = self.how == "silent" and call.effect == "write"
        kept = copy.deepcopy(call.args)
        ((container, key),) = places(kept, self.items)
        done = [item for place, item in enumerate(container[key]) if place not in failed]
        container[key] = done
        if not done and silent:
            return await acting.session.perform(call.on(call.world.scratch()))
        report: list[dict[str, Any]] = []
        if not silent:
            for item in lost:
                error = self._reply(acting, item).data["error"]
                report.append({"item": item, "error": error})
        if not done and self.how == "reported":
            wrong = self._reply(acting, lost[0])
            wrong.data["error"][self.report] = report
            return wrong
        before = call.world.scratch() if silent else None
        reply = await call_next(call.altered(kept))
        if reply.is_error or not isinstance(reply.data, dict):
            return reply
        if before is None:
            if self.how != "reported":
                return reply
            failures = [*reply.data.get(self.report, []), *report]
            return Reply({**reply.data, self.report: failures})
        claimed = await acting.session.perform(replace(call, world=before, shadow=True))
        before.close()
        return claimed if claimed.is_error else Reply({**reply.data, **claimed.data})

    def _reply(self, acting: Acting, item: Any) -> Reply:
        scope = acting.scope | {"item": item}
        message = "This item could not be processed."
        hint = "Try this item again."
        return self.error.reply(scope, acting.codes.unavailable, message, hint, retryable=True)


def _takes(spec: ToolSpec, items: str) -> bool:
    parts = parse(items)
    known = spec.schema["properties"].get(str(parts[0]), {})
    return bool(known) and (len(parts) > 1 or known.get("type") == "array")
