"""Corruption: a value is wrong in the reply, in the stored row, or in both."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import ValidationInfo, field_validator, model_validator

from fault_profiles.model import SCOPE, Acting, Fault, Stored, check_columns
from fault_profiles.sample import Example
from fault_profiles.worlds import check_tables, own_tables, tell_truth
from servers.kit.call import Call, Next, Reply
from servers.kit.declared import Declared, Positive
from servers.kit.errors import InputError, UnknownName
from servers.kit.expr import apply, check_operations, check_predicate, matches
from servers.kit.selector import Selector
from servers.kit.service import Service, ToolSpec, all_tables, tool
from servers.kit.store import World


class RowEdit(Declared):
    """Which stored rows are edited, and how.

    Expressions in `where` and `edit` may use the same names as `reply`, so rows can be found by the
    arguments, the reply or the record. The edit is made before the call, after it, or in a `copy`
    that only this call reads, while others see the truth (`when`). With `restore` the rows go back
    to what they were just before the call.
    """

    table: str
    where: dict[str, Any]
    edit: list[dict[str, Any]] = []
    restore: bool = False
    when: Literal["before", "after", "copy"] = "after"

    @model_validator(mode="after")
    def _one(self) -> RowEdit:
        if bool(self.edit) is self.restore:
            raise InputError("a row needs either `edit` (operations) or `restore: true`")
        if self.restore and self.when != "after":
            raise InputError("restore: undoes what the call did, so `when` must be after")
        return self


class WrongValue(Fault):
    """Corrupted state: `reply` operations edit the reply, `row` edits what is stored.

    Give either or both. A reply without any of the places (an empty list, say) is passed on, as is
    a refusal by the service itself. With `tell: explicit` the reply says that the figures may be
    wrong. An edited row is stored, so other readers see the wrong value too. Expressions may also
    use `record`, the first stored row that meets the condition `record`, and `earlier`, the reply
    as it would have been that many seconds ago.

    Example:
        - wrong_value: {on: venmo.get_balance, reply: [{scale: {balance: 10}}], first: 1}
    """

    kind: ClassVar[str] = "wrong_value"
    tells: ClassVar[tuple[str, ...]] = ("none", "explicit")
    promises: ClassVar[tuple[str, ...]] = ("altered", "committed")
    reply: list[dict[str, Any]] = []
    row: RowEdit | None = None
    record: Stored | None = None
    earlier: Positive | None = None

    @model_validator(mode="after")
    def _some(self) -> WrongValue:
        if not self.reply and self.row is None:
            raise InputError("needs `reply` (operations), `row`, or both")
        used = check_operations(self.reply, "reply")
        if self.row is not None:
            used |= self._check_rows("row", self.row.table, self.row.where, self.row.edit)
            used |= check_operations(self.row.edit, "row.edit")
        if self.record is not None:
            used |= self._check_rows("record", self.record.table, self.record.where)
        known = SCOPE | {n for n in ("record", "earlier") if getattr(self, n) is not None}
        for name in sorted(used - known):
            raise UnknownName("name", name, known, "expression")
        return self

    def _check_rows(
        self, place: str, table: str, where: dict[str, Any], edit: Sequence[dict[str, Any]] = ()
    ) -> set[str]:
        """Refuse tables that no targeted provider has; return the names that expressions use."""
        check_tables(self, [table], place)
        used = check_predicate(where, "where")
        check_columns(all_tables()[table], where, place, list(edit))
        return used

    @field_validator("row")
    @classmethod
    def _read(cls, row: RowEdit | None, info: ValidationInfo) -> RowEdit | None:
        on: Selector | None = info.data.get("on")
        if row is None or row.when != "copy" or on is None or not on.tools:
            return row
        if all(tool(name)[1].effect == "write" for name in on.tools):
            raise InputError(
                "row: a copy is read and then dropped, so `when: copy` is only for reads"
            )
        return row

    def handles(self, cls: type[Service], spec: ToolSpec) -> bool:
        """Whether the fault puts a layer around a tool: with a copy, only around reads."""
        copies = self.row is not None and self.row.when == "copy"
        return super().handles(cls, spec) and not (copies and spec.effect == "write")

    @classmethod
    def sample(cls, example: Example) -> dict[str, Any] | str:
        """Add one to a number in the reply, or else change a text."""
        for path, _ in example.numbers():
            return {"reply": [{"add": {path: 1}}]}
        for path, text in example.texts():
            return {"reply": [{"set": {path: f"{text} (2)"}}]}
        return "its reply has neither a number nor a text"

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Edit the row before or after running the call, then edit the reply."""
        scope = acting.scope | {"number": acting.firing.number} | await self._more(call, acting)
        inner = call
        mark = call.world.last_change() if self.row is not None and self.row.restore else 0
        if self.row is not None and self.row.when == "copy":
            inner = call.on(call.world.scratch())
            if not self._edit(inner.world, self.row, call.now, scope):
                return acting.decline(await call_next(call))
        elif self.row is not None and self.row.when == "before":
            self._store(call, acting, self.row, scope, mark)
        reply = await call_next(inner)
        if inner is not call:
            inner.world.close()
            await tell_truth(call, acting)
        if reply.is_error:
            return reply if acting.shadow or self.row is not None else acting.decline(reply)
        scope["reply"] = reply.data
        if self.row is not None and self.row.when == "after":
            self._store(call, acting, self.row, scope, mark)
        if not self.reply:
            return reply
        told = reply.copied()
        touched = apply(self.reply, told.data, scope)
        if touched == 0 and self.row is None:
            return reply if acting.shadow else acting.decline(reply)
        if self.tell == "explicit" and isinstance(told.data, dict):
            told.data["notice"] = "Some figures may be wrong."
        return told

    async def _more(self, call: Call, acting: Acting) -> dict[str, Any]:
        """Return the further names that expressions may use: the record and the earlier reply."""
        more: dict[str, Any] = {}
        if self.record is not None:
            wanted = self.record.where
            rows = call.world.rows(self.record.table)
            fitting = (row for row in rows if matches(wanted, row, acting.scope))
            more["record"] = next(fitting, None)
        if self.earlier is not None:
            moment = call.now - self.earlier
            past = call.world.as_of(moment, own_tables(acting.session.classes[call.service], None))
            reply = await acting.session.peek(call.on(past, now=moment))
            past.close()
            more["earlier"] = None if reply.is_error else reply.data
        return more

    def _store(
        self, call: Call, acting: Acting, row: RowEdit, scope: dict[str, Any], mark: int
    ) -> None:
        if call.scratch:
            return
        if acting.shadow:
            if not acting.session.evidence.stays_away(self.name, call.world):
                self._change(call.world, row, call.now, scope, mark)
            return
        kept = None
        if any(watch.fault == self.name for watch in acting.session.evidence.watches):
            kept = call.world.scratch()
        acting.firing.detail["rows"] = self._change(call.world, row, call.now, scope, mark)
        if not acting.firing.detail["rows"]:
            acting.firing.failed = f"no row of {row.table} to edit"
        elif kept is not None:
            call.journal.others[self.name] = kept

    def _change(
        self, world: World, row: RowEdit, now: int, scope: dict[str, Any], mark: int
    ) -> list[dict[str, Any]]:
        if row.restore:
            return self._restore(world, row, now, scope, mark)
        return self._edit(world, row, now, scope)

    def _edit(
        self, world: World, row: RowEdit, now: int, scope: dict[str, Any]
    ) -> list[dict[str, Any]]:
        key = world.tables[row.table].key
        edits = []
        fitting = [stored for stored in world.rows(row.table) if matches(row.where, stored, scope)]
        for stored in fitting:
            edited = copy.deepcopy(stored)
            apply(row.edit, edited, scope)
            changes = {c: v for c, v in edited.items() if v != stored.get(c)}
            if changes:
                world.stamp(now, f"fault:{self.name}")
                world.update(row.table, stored[key], **changes)
                world.commit()
            was = {column: stored[column] for column in changes}
            edits.append({"table": row.table, "key": stored[key], "was": was, "is": changes})
        return edits

    def _restore(
        self, world: World, row: RowEdit, now: int, scope: dict[str, Any], mark: int
    ) -> list[dict[str, Any]]:
        changes = [change for change in world.log(mark) if change["table"] == row.table]
        made = [c for c in changes if matches(row.where, c["new"] or c["old"], scope)]
        if made:
            world.stamp(now, f"fault:{self.name}")
            numbers = {change["seq"] for change in made}
            world.undo(lambda change: change["seq"] in numbers, after=made[0]["at"])
        return [
            {"table": row.table, "key": c["key"], "was": c["new"], "is": c["old"]} for c in made
        ]
