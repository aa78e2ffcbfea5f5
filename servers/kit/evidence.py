"""Evidence is what could have looked different.

For each write or stored lie under obligation the session keeps the *other world*, in which it went
the other way. Later calls run there too, under the same faults, at the same moment, with the same
ids. A reply that differs there is evidence: the agent could have told the two worlds apart. Lies in
replies alone have no other world; they count as exposed by the readings that the watch declares.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from servers.kit.call import Call, Reply
from servers.kit.events import Attempt, Firing
from servers.kit.store import World

Perform = Callable[[Call], Awaitable[Reply]]


@dataclass(frozen=True)
class Watch:
    """An obligation to come: `name`, which calls open it, and which readings could settle it.

    `opens(call)` is asked before a call runs. With `fault` the obligation opens only when that
    fault fires on the call. `exposed_by(service, tool, args)` names readings that could expose the
    matter: they make an attempt count as tried, and settle an obligation that has no other world
    when their reply is true.
    """

    name: str
    opens: Callable[[Call], bool]
    fault: str | None = None
    exposed_by: Callable[[str, str, dict[str, Any]], bool] | None = None


@dataclass
class _Open:
    subject: str
    watch: Watch
    world: World | None
    settled: bool = False


@dataclass
class Obligations:
    """The obligations of an episode. `before` and `after` bracket each real call."""

    watches: tuple[Watch, ...] = ()
    _open: list[_Open] = field(default_factory=list)
    _count: dict[str, int] = field(default_factory=dict)
    _compared: set[str] = field(default_factory=set)
    """Watches whose matter a true reading has shown already: an agent that compares first knows the
    lie when it meets it.
    """

    def before(self, call: Call, present: frozenset[str]) -> tuple[list[Watch], World | None]:
        """Return the watches that this call may open and, for a write, the world as it was.

        `present` names the faults in its chain.
        """
        if not self.watches:
            return [], None
        found = [
            w for w in self.watches if (w.fault is None or w.fault in present) and w.opens(call)
        ]
        return found, call.world.scratch() if found and call.effect == "write" else None

    async def after(
        self,
        call: Call,
        attempt: Attempt,
        found: list[Watch],
        old: World | None,
        changed: bool,
        run: Perform,
        perform: Perform,
    ) -> None:
        """Compare the reply with the other worlds' and open what the call opens; the attempt is
        filled in.

        `run` sends a call through the same faults, `perform` straight to the service. `changed`
        tells whether the agent's call changed rows in the true world.
        """
        seen = json.dumps(attempt.seen, sort_keys=True)
        for item in self._open:
            await self._compare(item, call, attempt, seen, run)
        self._open = [i for i in self._open if not i.settled]
        if not attempt.is_error and attempt.seen == attempt.truth:
            self._compared |= {w.name for w in self.watches if self._exposes(w, call)}
        fired = {f.fault for f in attempt.firings if f.failed is None}
        for watch in found:
            if watch.fault is not None and watch.fault not in fired:
                continue
            other = call.journal.others.get(watch.fault or "")
            if other is not None and sum(w.fault == watch.fault for w in found) > 1:
                other = (
                    other.scratch()
                )  # later calls run in each obligation's world, so that no two may share one
            elif other is None and old is not None:
                other = await self._opposite(
                    call, old.scratch() if len(found) > 1 else old, changed, perform
                )
                if other is None and watch.fault is None:
                    continue
            self._count[watch.name] = self._count.get(watch.name, 0) + 1
            subject = f"{watch.name}#{self._count[watch.name]}"
            attempt.opened.append(subject)
            if other is None and watch.name in self._compared:
                attempt.evidence.append(subject)
            else:
                self._open.append(_Open(subject, watch, other))

    async def _opposite(
        self, call: Call, old: World, changed: bool, perform: Perform
    ) -> World | None:
        if changed:
            return old
        before = old.last_change()
        await perform(self._shadow(call, old))
        return old if old.last_change() > before else None

    async def _compare(
        self, item: _Open, call: Call, attempt: Attempt, seen: str, run: Perform
    ) -> None:
        named = self._exposes(item.watch, call)
        if item.world is not None:
            other = await run(self._shadow(call, item.world))
            if json.dumps(other.data, sort_keys=True) != seen:
                item.settled = True
                item.world.close()
        elif named and not attempt.is_error and attempt.seen == attempt.truth:
            item.settled = True
        if item.settled:
            attempt.evidence.append(item.subject)
        elif named:
            attempt.tried.append(item.subject)

    @staticmethod
    def _exposes(watch: Watch, call: Call) -> bool:
        return watch.exposed_by is not None and watch.exposed_by(call.service, call.tool, call.args)

    @staticmethod
    def _shadow(call: Call, world: World) -> Call:
        return Call(
            call.service,
            call.tool,
            call.args,
            call.spec,
            world,
            call.now,
            call.journal,
            shadow=True,
        )

    def others(self, *, without: str | None = None) -> list[World]:
        """Return the other worlds, for what happens outside calls (ticks); not those from which the
        fault `without` stays away.
        """
        return [
            i.world
            for i in self._open
            if i.world is not None and (without is None or i.watch.fault != without)
        ]

    def stays_away(self, fault: str, world: World) -> bool:
        """Return whether a world is one in which a fault did not act, kept for an obligation about
        that fault.
        """
        return any(i.world is world and i.watch.fault == fault for i in self._open)


def fired(call: Call, fault: str) -> Firing | None:
    """Return the firing of a fault on this call, as a shadow must repeat it."""
    return next((f for f in call.journal.firings if f.fault == fault and f.failed is None), None)
