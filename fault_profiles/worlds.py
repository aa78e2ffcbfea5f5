"""What the kinds that need the state share: the honest reply for the record, tables set back in
time, worlds without the fault.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fault_profiles.model import Acting, Fault
from servers.kit.call import Call
from servers.kit.errors import InputError, UnknownName
from servers.kit.service import Service, known_tables
from servers.kit.store import AGENT, World
from servers.kit.types import Row


async def tell_truth(call: Call, acting: Acting) -> None:
    """Record the honest reply to a call that did not run as the agent made it.

    A fault further in may have recorded it already.
    """
    if not acting.shadow and call.journal.truth is None:
        call.journal.truth = await acting.session.peek(call)


def watched(fault: Fault, call: Call, acting: Acting) -> bool:
    """Return whether an obligation is about this fault, so that a world without it is needed."""
    if acting.shadow or call.scratch:
        return False
    return any(watch.fault == fault.name for watch in acting.session.evidence.watches)


def own_tables(cls: type[Service], tables: Iterable[str] | None) -> list[str]:
    """Return the named tables, or all tables of a provider."""
    return [*(tables or cls.known_tables())]


def check_tables(fault: Fault, tables: Iterable[str] | None, where: str = "tables") -> None:
    """Refuse tables that no targeted provider has. Raises `InputError`."""
    if fault.on.open:
        raise InputError(
            f"{fault.kind} needs the state of the service, "
            "which is only available for Haywire's own services"
        )
    known = known_tables(fault.on.services)
    for table in tables or []:
        if table not in known:
            raise UnknownName("table", table, known, where)


def is_undone(world: World, after: int) -> bool:
    """Return whether the agent's changes since a sequence number left nothing behind."""
    before: dict[tuple[str, Any], Row | None] = {}
    for change in world.log(after):
        if change["cause"] == AGENT:
            before.setdefault((change["table"], change["key"]), change["old"])
    rows = {place: world.get(*place) for place in before}
    return bool(before) and rows == before


def everywhere(acting: Acting) -> list[World]:
    """Return the true world and all other worlds, for a change that happens in each of them."""
    return [acting.session.world, *acting.session.evidence.others()]
