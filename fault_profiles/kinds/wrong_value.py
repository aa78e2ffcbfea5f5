"""Corruption: a value is wrong in the reply, in the stored row, or in both."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from fault_profiles.model import TOLD, Acting, Fault
from fault_profiles.rows import Conditions, NewKey, Operations, RowChange, Tables, change_rows
from fault_profiles.sample import Example
from fault_profiles.schedule import ASKED, check_names
from fault_profiles.worlds import check_tables, is_undone, own_tables, tell_truth
from servers.kit.call import Call, Next, Reply
from servers.kit.declared import Positive
from servers.kit.errors import InputError
from servers.kit.expr import apply, check_operations, matches
from servers.kit.service import Service, ToolSpec, all_tables, tool
from servers.kit.store import World
from servers.kit.types import Row


class RowEdit(RowChange):
    """Which stored rows are edited, inserted or deleted, and when.

    Expressions may use the same names as `reply`, so rows can be found by the arguments, the reply
    or the record. It happens before the call, after it, or in a `copy` that only this call reads,
    while others see the truth (`when`); only after the call is there a reply. With `restore` the
    rows go back to what they were just before the call.
    """

    restore: bool = False
    when: Literal["before", "after", "copy"] = "after"

    def _known_ways(self) -> list[str]:
        return ["edit", "insert", "delete", "restore"]

    @model_validator(mode="after")
    def _timely(self) -> RowEdit:
        if self.restore and self.when != "after":
            raise InputError("restore: undoes what the call did, so `when` must be after")
        return self


class WrongValue(Fault):
    """Corrupted state: `reply` operations edit the reply, `row` edits what is stored.

    Give either or both. A reply without any of the places (an empty list, say) is passed on, as is
    a refusal by the service itself, unless rows are changed `before` the call: these have changed.
    With `tell: explicit` the reply says that the figures may be wrong. An edited row is stored, so
    other readers see the wrong value too; `rows` lists several edits, also of several tables, which
    happen as one or not at all. A change that meets no row makes the trial unknown; `stored` keeps
    the fault to calls that have one. Expressions may also use `record`, the first stored row that
    meets the condition `record` (of several conditions, the first one's; `records` are all of
    them), and `earlier`, the reply as it would have been that many seconds ago.

    Example:
        - wrong_value: {on: venmo.get_balance, reply: [{scale: {balance: 10}}], first: 1}
    """

    kind: ClassVar[str] = "wrong_value"
    tells: ClassVar[tuple[str, ...]] = ("none", "explicit")
    promises: ClassVar[tuple[str, ...]] = ("altered", "committed")
    own: ClassVar[tuple[str, ...]] = ("reply", "row", "rows", "record")
    reply: Operations = []
    row: RowEdit | None = None
    rows: list[RowEdit] = []
    record: Conditions | None = None
    earlier: Positive | None = None

    @model_validator(mode="after")
    def _some(self) -> WrongValue:
        if not self.reply and not self.changes:
            raise InputError("needs `reply` (operations), `row` or `rows`")
        if self.row is not None and self.rows:
            raise InputError("`rows` lists several edits, `row` is one; give one of them")
        more = {name for name in ("record", "earlier") if getattr(self, name) is not None}
        more |= {"records"} & {f"{name}s" for name in more}
        check_names(check_operations(self.reply, "reply"), TOLD | more, "reply")
        if self.record is not None:
            # The record is looked up before anything has replied.
            used = self.record.check(self._known(self.record.tables, "record"), "record")
            check_names(used, ASKED | {"number"}, "record")
        for place, row in self._placed():
            used = row.check(self._known({row.table}, place), place)
            known = TOLD if row.when == "after" else TOLD - {"reply"}
            check_names(used, known | more, place)
        return self

    def _placed(self) -> Iterator[tuple[str, RowEdit]]:
        if self.row is not None:
            yield "row", self.row
        for number, row in enumerate(self.rows):
            yield f"rows[{number}]", row

    def _known(self, tables: set[str], place: str) -> Tables:
        """Return all tables; refuse those that no targeted provider has."""
        check_tables(self, sorted(tables), place)
        return all_tables()

    def _check_tools(self) -> None:
        self._check_copies()
        super()._check_tools()

    def _check_copies(self) -> None:
        copies = [row for row in self.changes if row.when == "copy"]
        if not copies:
            return
        if len(copies) < len(self.changes):
            raise InputError("rows: either all are edited in a copy or none is")
        if self.on.tools and all(tool(name)[1].effect == "write" for name in self.on.tools):
            raise InputError(
                "row: a copy is read and then dropped, so `when: copy` is only for reads"
            )

    @property
    def changes(self) -> Sequence[RowEdit]:
        """Every change of stored rows."""
        return self.rows if self.row is None else [self.row]

    def handles(self, cls: type[Service], spec: ToolSpec) -> bool:
        """Whether the fault puts a layer around a tool: with a copy, only around reads."""
        copies = any(row.when == "copy" for row in self.changes)
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
        by_time: dict[str, list[RowEdit]] = {"copy": [], "before": [], "after": []}
        for row in self.changes:
            by_time[row.when].append(row)
        inner = call
        mark = call.world.last_change() if self.changes else 0
        if by_time["copy"]:
            inner = call.on(call.world.scratch())
            if not self._in_copy(inner.world, by_time["copy"], call, acting, scope):
                return acting.decline(await call_next(call))
        if by_time["before"]:
            self._store(call, acting, by_time["before"], scope, mark)
        reply = await call_next(inner)
        if inner is not call:
            inner.world.close()
            await tell_truth(call, acting)
        if reply.is_error:
            return reply if acting.shadow or self._spoiled(call, by_time) else acting.decline(reply)
        scope["reply"] = reply.data
        if by_time["after"]:
            self._store(call, acting, by_time["after"], scope, mark)
        if not self.reply:
            return reply
        told = reply.copied()
        touched = apply(self.reply, told.data, scope)
        if touched == 0 and not self.changes:
            return reply if acting.shadow else acting.decline(reply)
        if self.tell == "explicit" and isinstance(told.data, dict):
            told.data["notice"] = "Some figures may be wrong."
        return told

    def _spoiled(self, call: Call, by_time: dict[str, list[RowEdit]]) -> bool:
        """Whether rows were changed before a refusal; if so, it may not be the service's own."""
        truth = call.journal.truth
        own = truth is not None and truth.is_error
        return bool(by_time["before"]) or (bool(by_time["copy"]) and not own)

    async def _more(self, call: Call, acting: Acting) -> dict[str, Any]:
        """Return the further names that expressions may use: the record and the earlier reply."""
        more: dict[str, Any] = {}
        if self.record is not None:
            found = self.record.find(call.world, acting.scope) or []
            more |= {"record": next(iter(found), None), "records": found}
        if self.earlier is not None:
            moment = call.now - self.earlier
            past = call.world.as_of(moment, own_tables(acting.session.classes[call.service], None))
            reply = await acting.session.peek(call.on(past, now=moment))
            past.close()
            more["earlier"] = None if reply.is_error else reply.data
        return more

    def _in_copy(
        self, world: World, rows: list[RowEdit], call: Call, acting: Acting, scope: dict[str, Any]
    ) -> bool:
        """Edit rows of a copy; return whether there were any."""
        if any(not row.insert and not _fits(world, row, scope) for row in rows):
            return False
        self._change(world, rows, call.now, scope, acting)
        return True

    def _store(
        self, call: Call, acting: Acting, rows: list[RowEdit], scope: dict[str, Any], mark: int
    ) -> None:
        if call.scratch:
            return
        if acting.shadow:
            if not acting.session.evidence.stays_away(self.name, call.world):
                with contextlib.suppress(InputError):  # in this world the rows may not be there
                    self._change(call.world, rows, call.now, scope, acting, mark)
            return
        kept = None
        if any(watch.fault == self.name for watch in acting.session.evidence.watches):
            kept = call.journal.others.get(self.name) or call.world.scratch()
        lasting = None
        if acting.session.evidence.watches and call.effect == "write":
            lasting = call.world.scratch()
        try:
            made = self._change(call.world, rows, call.now, scope, acting, mark)
        except InputError as wrong:
            acting.firing.failed = str(wrong)
            return
        acting.firing.detail.setdefault("rows", []).extend(made)
        if kept is not None:
            call.journal.others[self.name] = kept
        if lasting is not None and is_undone(call.world, mark):
            # The other way that the write could have turned out: it lasts.
            call.journal.others[""] = lasting

    def _change(
        self,
        world: World,
        rows: list[RowEdit],
        now: int,
        scope: dict[str, Any],
        acting: Acting,
        mark: int = 0,
    ) -> list[Row]:
        world.stamp(now, f"fault:{self.name}")
        restored: list[Row] = []
        for row in rows:
            if row.restore:
                restored += self._restore(world, row, scope, mark)
        changed = [row for row in rows if not row.restore]
        return restored + change_rows(world, changed, scope, _keys(acting))

    def _restore(self, world: World, row: RowEdit, scope: dict[str, Any], mark: int) -> list[Row]:
        changes = [change for change in world.log(mark) if change["table"] == row.table]
        made = [c for c in changes if matches(row.where, c["new"] or c["old"], scope)]
        if not made:
            raise InputError(f"no row of {row.table} to restore")
        numbers = {change["seq"] for change in made}
        world.undo(lambda change: change["seq"] in numbers, after=made[0]["at"])
        return [
            {"table": row.table, "key": c["key"], "was": c["new"], "is": c["old"]} for c in made
        ]


def _fits(world: World, row: RowEdit, scope: dict[str, Any]) -> bool:
    return any(matches(row.where, stored, scope) for stored in world.rows(row.table))


def _keys(acting: Acting) -> NewKey:
    """Return what gives the keys of inserted rows: in other worlds, those of the true one."""
    again = iter(acting.firing.detail.get("keys", []))

    def new_key(prefix: str) -> str:
        if acting.shadow:
            return next(again, prefix)
        made = acting.session.control.new_id(prefix)
        acting.firing.detail.setdefault("keys", []).append(made)
        return made

    return new_key
