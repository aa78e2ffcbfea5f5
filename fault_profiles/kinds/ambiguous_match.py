"""A look-alike: a stored twin of a record, or a list in which the twin comes first."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import model_validator

from fault_profiles.model import Acting, Fault
from fault_profiles.rows import check_rows, check_values
from fault_profiles.sample import Example
from servers.kit.call import Call, Next, Reply
from servers.kit.errors import InputError, UnknownName
from servers.kit.expr import matches, render
from servers.kit.service import known_tables


class AmbiguousMatch(Fault):
    """Disambiguation: before the call, a twin of the row of `table` that meets `like` is stored.

    The twin differs by `change`. It is real: every reader sees it and calls on it work, so acting
    on the wrong one has consequences. It is made once, at the first firing; its key is a new id of
    the kind `id` (or what `change` sets). With `top_of` (a field of the reply) the twin comes first
    in that list.

    Example:
        - ambiguous_match:
            on: venmo.list_friends
            table: venmo_contacts
            like: {name: Jordan Park}
            change: {username: jp-2}
            id: vct
    """

    kind: ClassVar[str] = "ambiguous_match"
    needs_world: ClassVar[bool] = True
    table: str
    like: dict[str, Any]
    change: dict[str, Any]
    id: str = "rec"
    top_of: str | None = None

    @model_validator(mode="after")
    def _known(self) -> AmbiguousMatch:
        known = known_tables(self.on.services)
        if self.table not in known:
            raise UnknownName("table", self.table, known, "table")
        check_rows(known[self.table], self.like, "like")
        check_values(known[self.table], self.change, "change")
        if not self.change:
            raise InputError("`change` must say how the twin differs")
        return self

    @classmethod
    def sample(cls, example: Example) -> dict[str, Any] | str:
        """Store a twin of some row of the provider's, with a different text."""
        for table, row in example.rows():
            columns = example.service.tables[table].columns
            key, *others = columns
            texts = [column for column in others if columns[column][0] == "str"]
            own = [c for c in texts if not c.endswith(("_id", "_at"))]
            own = [column for column in own if row[column]]
            if own and columns[key][0] == "str":
                change = {own[0]: f"{row[own[0]]} (2)"}
                return {"table": table, "like": {key: row[key]}, "change": change}
        return "its provider stores no row with a text that could differ"

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Store the twin once, then run the call."""
        spec = call.world.tables[self.table]
        if not acting.shadow and acting.firing.number == 1:
            rows = call.world.rows(self.table)
            row = next((row for row in rows if matches(self.like, row, acting.scope)), None)
            if row is None:
                why = f"no row of {self.table} to make a twin of"
                return acting.fail(await call_next(call), why)
            new_id = acting.session.control.new_id(self.id)
            twin = {**row, spec.key: new_id, **render(self.change, acting.scope)}
            for world in (call.world, *acting.session.evidence.others()):
                world.stamp(call.now, f"fault:{self.name}")
                world.insert(self.table, twin)
                world.commit()
            acting.firing.detail["twin"] = {
                "table": self.table,
                "key": twin[spec.key],
                "of": row[spec.key],
            }
        reply = await call_next(call)
        if reply.is_error or self.top_of is None:
            return reply
        if not isinstance(reply.data.get(self.top_of), list):
            return reply
        told = reply.copied()
        own = set(render(self.change, acting.scope).values())
        told.data[self.top_of].sort(key=lambda item: not _holds(item, own))
        return told


def _holds(item: Any, texts: set[str]) -> bool:
    """Return whether an item has one of some texts as a value."""
    if not isinstance(item, dict):
        return False
    return any(isinstance(value, str) and value in texts for value in item.values())
