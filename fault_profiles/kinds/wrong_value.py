"""Corruption: a value is wrong in the reply, in the stored row, or in both."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from fault_profiles.model import Acting, Fault
from fault_profiles.sample import Example
from servers.kit.call import Call, Next, Reply
from servers.kit.errors import InputError, UnknownName
from servers.kit.expr import apply, check_operations, check_predicate, matches
from servers.kit.service import service
from servers.kit.store import World


class Row(BaseModel):
    """Which stored rows are edited and how; `where` and `edit` know `args`, `reply`, `now` and `faults`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    table: str
    where: dict[str, Any]
    edit: list[dict[str, Any]]
    when: Literal["before", "after"] = "after"


class WrongValue(Fault):
    """Corrupted state: `reply` operations edit what is answered, `row` edits what is stored, before or after the call runs.

    Give either or both. A reply that holds none of the places (an empty list) is passed on, as is a refusal of the service's own. With
    `tell: explicit` the reply says that the figures may be wrong. Other readers of an edited row see the wrong value: it is stored.
    """

    kind: ClassVar[str] = "wrong_value"
    tells: ClassVar[tuple[str, ...]] = ("none", "explicit")
    promises: ClassVar[tuple[str, ...]] = ("altered", "committed")
    reply: list[dict[str, Any]] = []
    row: Row | None = None

    @model_validator(mode="after")
    def _some(self) -> WrongValue:
        if not self.reply and self.row is None:
            raise InputError("needs `reply` (operations), `row`, or both")
        check_operations(self.reply, "reply")
        if self.row is not None:
            check_operations(self.row.edit, "row.edit")
            check_predicate(self.row.where, "row.where")
            known = {t: s for name in self.on.services for t, s in {**service(name).shared_tables, **service(name).tables}.items()}
            if self.row.table not in known:
                raise UnknownName("table", self.row.table, known, "row")
        return self

    @classmethod
    def sample(cls, example: Example) -> dict[str, Any] | str:
        """Make a number of the reply one more, or else a text of it another."""
        for path, _ in example.numbers():
            return {"reply": [{"add": {path: 1}}]}
        for path, text in example.texts():
            return {"reply": [{"set": {path: f"{text} (2)"}}]}
        return "its reply holds neither a number nor a text"

    async def act(self, call: Call, following: Next, at: Acting) -> Reply:
        """Edit the row, run the call, edit the reply; or the other way round."""
        if self.row is not None and self.row.when == "before":
            self._store(call, at, None)
        reply = await following(call)
        if reply.is_error:
            return reply if at.shadow or self.row is not None else at.decline(reply)
        if self.row is not None and self.row.when == "after":
            self._store(call, at, reply)
        if not self.reply:
            return reply
        told = reply.copied()
        touched = apply(self.reply, told.data, at.scope | {"reply": reply.data})
        if touched == 0 and self.row is None:
            return reply if at.shadow else at.decline(reply)
        if self.tell == "explicit" and isinstance(told.data, dict):
            told.data["notice"] = "Some figures may be wrong."
        return told

    def _store(self, call: Call, at: Acting, reply: Reply | None) -> None:
        if self.row is None or at.shadow or call.scratch:
            return
        scope = at.scope | {"reply": reply.data if reply is not None else None}
        found = [r for r in call.world.rows(self.row.table) if matches(self.row.where, r, scope)]
        if not found:
            at.firing.failed = f"no row of {self.row.table} to edit"
            return
        if any(w.fault == self.name for w in at.session.evidence.watches):
            call.journal.others[self.name] = call.world.scratch()
        at.firing.detail["rows"] = [self._edit(call.world, r, call.now, scope) for r in found]

    def _edit(self, world: World, row: dict[str, Any], now: int, scope: dict[str, Any]) -> dict[str, Any]:
        assert self.row is not None
        key = world.tables[self.row.table].key
        edited = {**row}
        apply(self.row.edit, edited, scope)
        changes = {c: v for c, v in edited.items() if v != row.get(c)}
        if changes:
            world.stamp(now, f"fault:{self.name}")
            world.update(self.row.table, row[key], **changes)
            world.commit()
        return {"table": self.row.table, "key": row[key], "was": {c: row[c] for c in changes}, "is": changes}
