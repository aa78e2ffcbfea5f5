"""Evidence: replies that would have been different if a write had gone the other way.

For each write or stored lie under obligation, the session keeps the *other world*, in which it went
the other way. Later calls run there too, under the same faults, at the same moment and with the
same ids. A reply that differs there is evidence: the agent could have told the two worlds apart. A
lie in a reply alone has no other world; it counts as exposed by the readings that the watch
declares. Their true replies are evidence, and so is an honest error ("no such record").
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from servers.kit.call import Call, Reply
from servers.kit.events import Attempt, Firing
from servers.kit.store import World
from servers.kit.types import Json

Perform = Callable[[Call], Awaitable[Reply]]


@dataclass(frozen=True)
class Watch:
    """A future obligation: its name, which calls open it, and which readings could settle it.

    `opens(call)` is asked before a call runs. With `fault`, the obligation opens only if that fault
    fires on the call. `exposed_by(service, tool, args)` tells which readings could expose the
    matter. Such a reading makes an attempt count as tried, and it settles an obligation without
    another world if its reply is true.
    """

    name: str
    opens: Callable[[Call], bool]
    fault: str | None = None
    exposed_by: Callable[[str, str, Json], bool] | None = None


class Opening(NamedTuple):
    """What a call may open: its watches and, for a write, the world as it was before the call."""

    watches: list[Watch]
    old: World | None


@dataclass
class _Obligation:
    subject: str
    watch: Watch
    world: World | None
    settled: bool = False


@dataclass
class Obligations:
    """The obligations of an episode; `before` and `after` bracket each real call."""

    watches: tuple[Watch, ...] = ()
    _open: list[_Obligation] = field(default_factory=list)
    _count: dict[str, int] = field(default_factory=dict)
    _compared: set[str] = field(default_factory=set)
    """Watches whose matter a true reading has already shown.

    An agent that reads the truth first recognises the lie when it meets it.
    """

    def before(self, call: Call, present: frozenset[str]) -> Opening:
        """Return the watches that this call may open and, for a write, the world as it is now.

        `present` names the faults in the call's chain.
        """
        opening = []
        for watch in self.watches:
            possible = watch.fault is None or watch.fault in present
            if possible and watch.opens(call):
                opening.append(watch)
        if opening and call.effect == "write":
            return Opening(opening, call.world.scratch())
        return Opening(opening, None)

    async def after(
        self,
        call: Call,
        attempt: Attempt,
        opening: Opening,
        changed: bool,
        run: Perform,
        perform: Perform,
    ) -> None:
        """Compare the reply with those of the other worlds, and open what the call opens.

        The results go into the attempt. `run` sends a call through the same faults, `perform`
        straight to the service. `changed` tells whether the agent's call changed rows in the true
        world.
        """
        if self._open:
            seen = json.dumps(attempt.seen, sort_keys=True)
            for item in self._open:
                await self._compare(item, call, attempt, seen, run)
            self._open = [i for i in self._open if not i.settled]
        if _tells_truth(attempt):
            self._compared |= {w.name for w in self.watches if self._exposes(w, call)}
        fired = {f.fault for f in attempt.firings if f.failed is None}
        for watch in opening.watches:
            if watch.fault is None or watch.fault in fired:
                await self._begin(watch, call, attempt, opening, changed, perform)

    async def _begin(
        self,
        watch: Watch,
        call: Call,
        attempt: Attempt,
        opening: Opening,
        changed: bool,
        perform: Perform,
    ) -> None:
        """Open an obligation, unless the call could not have gone the other way."""
        # Later calls run in each obligation's world, so no two obligations may share one.
        other = call.journal.others.get(watch.fault or "")
        if other is not None:
            of_fault = [w for w in opening.watches if w.fault == watch.fault]
            if len(of_fault) > 1:
                other = other.scratch()
        elif opening.old is not None:
            old = opening.old if len(opening.watches) == 1 else opening.old.scratch()
            other = await self._opposite(call, old, changed, perform)
            if other is None and watch.fault is None:
                return
        self._count[watch.name] = self._count.get(watch.name, 0) + 1
        subject = f"{watch.name}#{self._count[watch.name]}"
        attempt.opened.append(subject)
        if other is None and watch.name in self._compared:
            attempt.evidence.append(subject)
        else:
            self._open.append(_Obligation(subject, watch, other))

    async def _opposite(
        self, call: Call, old: World, changed: bool, perform: Perform
    ) -> World | None:
        """Return the world in which the call went the other way, or None if it could not.

        If the call changed the true world, that is the world without it. Otherwise a fault or a
        refusal stopped it, so perform it on the old world.
        """
        if changed:
            return old
        before = old.last_change()
        await perform(call.shadowed(old, call.journal))
        return old if old.last_change() > before else None

    async def _compare(
        self, item: _Obligation, call: Call, attempt: Attempt, seen: str, run: Perform
    ) -> None:
        """Settle an obligation if the reply could have told the agent about it."""
        named = self._exposes(item.watch, call)
        if item.world is not None:
            other = await run(call.shadowed(item.world, call.journal))
            if json.dumps(other.data, sort_keys=True) != seen:
                item.settled = True
                item.world.close()
        elif named and _tells_truth(attempt):
            item.settled = True
        if item.settled:
            attempt.evidence.append(item.subject)
        elif named:
            attempt.tried.append(item.subject)

    @staticmethod
    def _exposes(watch: Watch, call: Call) -> bool:
        return watch.exposed_by is not None and watch.exposed_by(call.service, call.tool, call.args)

    def others(self, *, without: str | None = None) -> list[World]:
        """Return the other worlds, in which everything that happens outside calls must happen too.

        With `without`, leave out the worlds that are kept for obligations about that fault.
        """
        items = self._open
        if without is not None:
            items = [i for i in items if i.watch.fault != without]
        return [i.world for i in items if i.world is not None]

    def stays_away(self, fault: str, world: World) -> bool:
        """Return whether a world is kept for an obligation about a fault.

        The fault does not act in such a world.
        """
        return any(i.world is world and i.watch.fault == fault for i in self._open)


def _tells_truth(attempt: Attempt) -> bool:
    """Return whether the agent saw what the service honestly said about the matter.

    Of honest errors only "no such record" says something about it: a refusal of malformed arguments
    or of too many calls would be the same either way.
    """
    if attempt.seen != attempt.truth:
        return False
    if not attempt.is_error:
        return True
    error = attempt.seen.get("error") if isinstance(attempt.seen, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return isinstance(code, str) and code.casefold().replace("_", "").endswith("notfound")


def fired(call: Call, fault: str) -> Firing | None:
    """Return the firing of a fault on this call, which a shadow must repeat, or None."""
    for firing in (*call.journal.firings, *call.journal.quiet):
        if firing.fault == fault and firing.failed is None:
            return firing
    return None
