"""A write that lasts for a while and is then undone."""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Any, ClassVar

from pydantic import Field, model_validator

from fault_profiles.model import Acting, Fault
from fault_profiles.state import State
from fault_profiles.worlds import check_tables, own_tables, watched
from servers.kit import future, posts
from servers.kit.call import Call, Layer, Next, Reply
from servers.kit.declared import Positive
from servers.kit.errors import InputError
from servers.kit.events import Attempt
from servers.kit.session import Session
from servers.kit.store import AGENT, POST, Change, World
from servers.kit.types import Row
from servers.kit.values import iso

Changes = list[Change]


class RevertAfterWrite(Fault):
    """A write takes effect and is undone `seconds` of simulated time or `calls_later` calls later.

    Calls of any tool count; with neither field the write is undone at once. Rows that it inserted
    are deleted, together with what was built on them; in rows that it changed, the changed columns
    get their old values back. Mail about it that is still on its way is taken back, mail that has
    arrived stays. `tables` limits what is undone, so that half a write remains. The trace records
    the moment as `reverted`.

    Example:
        - revert_after_write: {on: venmo.send_money, calls_later: 2}
    """

    kind: ClassVar[str] = "revert_after_write"
    promises: ClassVar[tuple[str, ...]] = ("honest",)
    needs_world: ClassVar[bool] = True
    effects: ClassVar[tuple[str, ...]] = ("write",)
    seconds: Annotated[int, Field(ge=0)] | None = None
    calls_later: Positive | None = None
    tables: list[str] | None = None

    @model_validator(mode="after")
    def _fits(self) -> RevertAfterWrite:
        if self.seconds is not None and self.calls_later is not None:
            raise InputError("takes at most one of `seconds` and `calls_later`")
        check_tables(self, self.tables)
        return self

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Run the call and undo it, or note when that is due."""
        mark = call.world.last_change()
        reply = await call_next(call)
        at_once = not self.seconds and self.calls_later is None
        if acting.shadow:
            if at_once and not reply.is_error:
                self._revert(call.world, self._made(call, acting, mark), call.now)
            return reply
        made = [] if reply.is_error else self._made(call, acting, mark)
        if not made:
            return acting.decline(reply)
        acting.firing.detail["rows"] = [{"table": e["table"], "key": e["key"]} for e in made]
        if watched(self, call, acting):
            call.journal.others[self.name] = call.world.scratch()
        if at_once:
            if acting.session.evidence.watches and not call.scratch:
                # The other way that the write could have turned out: it lasts.
                call.journal.others[""] = call.world.scratch()
            self._revert(call.world, made, call.now)
        elif not call.scratch:
            due = {"at": call.now + self.seconds} if self.seconds else {"calls": self.calls_later}
            state = State.load(acting.session.control, self.name)
            write = {**due, "made": iso(call.now), "rows": acting.firing.detail["rows"]}
            state.memory.setdefault("due", []).append(write)
            state.save()
        return reply

    def layer(self, session: Session) -> Layer:
        """Return the fault's layer, and subscribe the fault to the passing of time."""
        session.on_time.append(lambda now: self.pass_time(session, now))
        return super().layer(session)

    def hear(self, session: Session, attempt: Attempt) -> None:
        """Undo what is due after this call."""
        super().hear(session, attempt)
        state = State.load(session.control, self.name)
        waiting = state.memory.get("due", [])
        for item in waiting:
            if "calls" in item and item["made"] != attempt.at:
                item["calls"] -= 1
        if waiting:
            state.save()
            self.pass_time(session, session.control.now)

    def pass_time(self, session: Session, now: int) -> None:
        """Undo what is due by now."""
        state = State.load(session.control, self.name)
        waiting = state.memory.get("due", [])
        due = [write for write in waiting if _is_due(write, now)]
        if not due:
            return
        state.memory["due"] = [write for write in waiting if write not in due]
        state.save()
        for write in due:
            true = _changes_of(session.world, write)
            sent = list(chain.from_iterable(_posts_of(session.world, change) for change in true))
            for world in session.evidence.others(without=self.name):
                made = _changes_of(world, write)
                if made:
                    self._revert(world, made, now)
                else:
                    # In this world the write did not happen; from now on it is the world in which
                    # the write lasts.
                    world.redo(true)
                    posts.send_again(world, sent)
            self._revert(session.world, true, now)
            session.notice("reverted", fault=self.name, rows=write["rows"])

    def _made(self, call: Call, acting: Acting, mark: int) -> Changes:
        tables = own_tables(acting.session.classes[call.service], self.tables)
        changes = [change for change in call.world.log(mark) if change["cause"] == AGENT]
        return [change for change in changes if change["table"] in tables]

    def _revert(self, world: World, made: Changes, now: int) -> None:
        world.stamp(now, f"fault:{self.name}")
        for entry in reversed(_with_dependents(world, made)):
            table = entry["table"]
            key = entry["key"]
            old = entry["old"]
            new = entry["new"]
            there = world.get(table, key) is not None
            if old is None:
                if there:
                    world.delete(table, key)
            elif new is None and not there:
                world.insert(table, old)
            elif new is not None and there:
                world.update(table, key, **{c: v for c, v in old.items() if v != new[c]})
            for row in _posts_of(world, entry):
                posts.take_back(world, row)
            future.call_off(world, key, entry["at"])
        world.commit()


def _is_due(write: dict[str, Any], now: int) -> bool:
    return write.get("calls") == 0 or write.get("at", now + 1) <= now


def _changes_of(world: World, write: dict[str, Any]) -> Changes:
    """Return the changes that a recorded write made in a world."""
    rows = {(row["table"], row["key"]) for row in write["rows"]}
    changes = []
    for change in world.log_since(write["made"]):
        by_the_write = change["at"] == write["made"] and change["cause"] == AGENT
        if by_the_write and (change["table"], change["key"]) in rows:
            changes.append(change)
    return changes


def _posts_of(world: World, change: Change) -> list[Row]:
    """Return the posts about a row since a change of it, the oldest first."""
    since = "about=? AND posted_at>=?"
    return world.rows("outbox", since, change["key"], change["at"], order="rowid")


def _with_dependents(world: World, made: Changes) -> Changes:
    """Return changes and the later ones that build on rows they inserted, oldest first.

    A later call builds on such a row if it changed it, or refers to it in a row of its own.
    """
    if not made:
        return []
    gone = {change["key"] for change in made if change["old"] is None}
    reverted = list(made)
    calls: dict[tuple[str, str], Changes] = {}
    for change in world.log(made[-1]["seq"]):
        if change["cause"] == POST:
            continue
        calls.setdefault((change["at"], change["cause"]), []).append(change)
    for changes in calls.values():
        if any(gone & _named(change) for change in changes):
            gone |= {change["key"] for change in changes if change["old"] is None}
            reverted += changes
    return reverted


def _named(change: Change) -> set[str]:
    """Return the row's key and every text in it; any of them may be another row's key."""
    names = {change["key"]}
    for value in (change["new"] or {}).values():
        texts = value if isinstance(value, list) else [value]
        names |= {text for text in texts if isinstance(text, str)}
    return names
