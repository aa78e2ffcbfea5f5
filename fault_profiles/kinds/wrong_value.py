"""Corruption: a value is wrong in the reply, in the stored row, or in both."""

from __future__ import annotations

import copy
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
    """Which stored rows are edited and how; `where` and `edit` know what `reply` knows, so rows are
    named by arguments, reply or record.

    `when` is before the call, after it, or in a `copy` that this call alone reads: others go on
    seeing the truth. With `restore` the rows are as at the moment before the call.
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
            raise InputError("restore: puts back what the call did, so `when` is after")
        return self


class WrongValue(Fault):
    """Corrupted state: `reply` operations edit what is answered, `row` edits what is stored, before
    or after the call or in a copy.

    Give either or both. A reply that holds none of the places (an empty list) is passed on, as is a
    refusal of the service's own. With `tell: explicit` the reply says that the figures may be
    wrong. Other readers of an edited row see the wrong value: it is stored. Expressions may also
    use `record`, the first stored row that fits the declared `record`, and `earlier`, the reply as
    it would have been that many seconds ago.

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
        for part in (self.row, self.record):
            if part is not None:
                check_tables(self, [part.table], "row" if part is self.row else "record")
                used |= check_predicate(part.where, "where")
                edit = part.edit if isinstance(part, RowEdit) else None
                check_columns(
                    all_tables()[part.table],
                    part.where,
                    "row" if part is self.row else "record",
                    edit,
                )
        if self.row is not None:
            used |= check_operations(self.row.edit, "row.edit")
        known = SCOPE | {n for n in ("record", "earlier") if getattr(self, n) is not None}
        for name in sorted(used - known):
            raise UnknownName("name", name, known, "expression")
        return self

    @field_validator("row")
    @classmethod
    def _read(cls, row: RowEdit | None, info: ValidationInfo) -> RowEdit | None:
        on: Selector | None = info.data.get("on")
        if (
            row is not None
            and row.when == "copy"
            and on is not None
            and on.tools
            and all(tool(t)[1].effect == "write" for t in on.tools)
        ):
            raise InputError("row: a copy is read and dropped, so `when: copy` is for reads")
        return row

    def handles(self, cls: type[Service], spec: ToolSpec) -> bool:
        """Whether the fault stands in a tool's chain: with a copy, only in those that read."""
        return super().handles(cls, spec) and not (
            self.row is not None and self.row.when == "copy" and spec.effect == "write"
        )

    @classmethod
    def sample(cls, example: Example) -> dict[str, Any] | str:
        """Make a number of the reply one more, or else a text of it another."""
        for path, _ in example.numbers():
            return {"reply": [{"add": {path: 1}}]}
        for path, text in example.texts():
            return {"reply": [{"set": {path: f"{text} (2)"}}]}
        return "its reply holds neither a number nor a text"

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Edit the row, run the call, edit the reply; or the other way round."""
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
        """Return what expressions know besides: the record and the earlier reply."""
        more: dict[str, Any] = {}
        if self.record is not None:
            wanted = self.record.where
            more["record"] = next(
                (r for r in call.world.rows(self.record.table) if matches(wanted, r, acting.scope)),
                None,
            )
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
        kept = (
            call.world.scratch()
            if any(w.fault == self.name for w in acting.session.evidence.watches)
            else None
        )
        acting.firing.detail["rows"] = self._change(call.world, row, call.now, scope, mark)
        if not acting.firing.detail["rows"]:
            acting.firing.failed = f"no row of {row.table} to edit"
        elif kept is not None:
            call.journal.others[self.name] = kept

    def _change(
        self, world: World, row: RowEdit, now: int, scope: dict[str, Any], mark: int
    ) -> list[dict[str, Any]]:
        return (
            self._restore(world, row, now, scope, mark)
            if row.restore
            else self._edit(world, row, now, scope)
        )

    def _edit(
        self, world: World, row: RowEdit, now: int, scope: dict[str, Any]
    ) -> list[dict[str, Any]]:
        key = world.tables[row.table].key
        done = []
        for found in [r for r in world.rows(row.table) if matches(row.where, r, scope)]:
            edited = copy.deepcopy(found)
            apply(row.edit, edited, scope)
            changes = {c: v for c, v in edited.items() if v != found.get(c)}
            if changes:
                world.stamp(now, f"fault:{self.name}")
                world.update(row.table, found[key], **changes)
                world.commit()
            done.append(
                {
                    "table": row.table,
                    "key": found[key],
                    "was": {c: found[c] for c in changes},
                    "is": changes,
                }
            )
        return done

    def _restore(
        self, world: World, row: RowEdit, now: int, scope: dict[str, Any], mark: int
    ) -> list[dict[str, Any]]:
        made = [
            e
            for e in world.log(mark)
            if e["table"] == row.table and matches(row.where, e["new"] or e["old"], scope)
        ]
        if made:
            world.stamp(now, f"fault:{self.name}")
            world.undo(lambda e: any(e["seq"] == m["seq"] for m in made), after=made[0]["at"])
        return [
            {"table": row.table, "key": e["key"], "was": e["new"], "is": e["old"]} for e in made
        ]
