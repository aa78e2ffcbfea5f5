"""Show that the faults of a file fire: each is met by the example calls of its tools."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anyio

from client_harness.authoring.touching import Met, edits, honest, untouched
from fault_profiles.model import Fault, ordered
from fault_profiles.profiles import profile
from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.errors import InputError
from servers.kit.events import Attempt
from servers.kit.examples import owners, prepared
from servers.kit.service import Service, ToolSpec, tool
from servers.kit.session import Session
from servers.kit.values import parse_time
from servers.kit.yaml import read

_MOST = 24
"""On how many tools a fault is tried before it is said that it never fires."""
_TIMES = 4
"""How often a call is made: a schedule may wait for the second one, or for a third."""
_WORLD = "maya"


def is_profile(name: str) -> bool:
    """Return whether a name is that of a file with faults and no scenario."""
    path = Path(name)
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return False
    try:
        return isinstance(read(path), list)
    except InputError:
        return False


def check_profile(name: str) -> list[str]:
    """Return what is wrong with a file of faults, one line each; none if each of them fires.

    Each is tried with the others, on the example calls of its tools in the default world. Faults
    that are not `required` need not fire.
    """
    try:
        faults = ordered(profile(name).faults)
    except InputError as wrong:
        return [str(wrong)]
    return anyio.run(_problems, faults)


async def _problems(faults: list[Fault]) -> list[str]:
    problems = []
    for fault in faults:
        if not fault.required:
            continue
        attempts = []
        fired = False
        tools = sorted(fault.acts_on)[:_MOST]
        # Some faults on reads have nothing to act on until something was written.
        for name, after_write in [*((n, False) for n in tools), *((n, True) for n in tools)]:
            made = await _played(faults, fault, *tool(name), after_write=after_write)
            attempts += made
            fired = fired or any(attempt.fired(fault.name) for attempt in made)
            if fired and not _lost(fault, attempts):
                break
        problems += _lost(fault, attempts)
        if not fired:
            problems.append(f"fault {fault.name}: {_why(fault, attempts)}")
    return problems


def _lost(fault: Fault, attempts: Iterable[Attempt]) -> list[str]:
    met: list[Met] = list(honest(attempts))
    return untouched(fault, met) if edits(fault) else []


def _why(fault: Fault, attempts: list[Attempt]) -> str:
    calls = sorted({attempt.name for attempt in attempts if attempt.name in fault.acts_on})
    shown = ", ".join(calls[:3]) + (", …" if len(calls) > 3 else "")
    failed = []
    for attempt in attempts:
        own = [firing for firing in attempt.firings if firing.fault == fault.name]
        failed += [firing.failed for firing in own if firing.failed]
    if failed:
        return f"it was due on {shown} but could not act: {failed[0]}"
    return (
        f"it fires on no example call of its tools ({shown}); see why with `client_harness try "
        "--faults FILE CALL`, or say `required: false`"
    )


async def _played(
    faults: list[Fault],
    fault: Fault,
    cls: type[Service],
    spec: ToolSpec,
    *,
    after_write: bool,
) -> list[Attempt]:
    """Make a tool's example call a few times, and first what the fault waits for.

    With `after_write`, the first write of the service that needs no set-up comes before it.
    """
    names = set(owners(cls, spec))
    for moment in (fault.after, fault.until):
        if moment is not None and moment.called is not None:
            names |= moment.called.services
    for other in faults:
        if fault.after is not None and fault.after.fired == other.name:
            names |= other.on.services
    start = parse_time(build.person(_WORLD)["start"])
    listed = sorted(names)
    session = Session(listed, build.shared(_WORLD, listed).share(), Control(start), faults=faults)
    try:
        await _wait_for(session, faults, fault)
        args = await _args(session, cls, spec)
        write = _plain_write(cls)
        if after_write and write is not None:
            await session.call(cls.name, write.name, write.example)
        for _ in range(_TIMES):
            await session.call(cls.name, spec.name, args)
        return [event for event in session.trace() if isinstance(event, Attempt)]
    finally:
        session.world.close()
        session.control.close()


def _plain_write(cls: type[Service]) -> ToolSpec | None:
    writes = (spec for spec in cls.tools.values() if spec.effect == "write")
    return next((spec for spec in writes if not spec.setup), None)


async def _wait_for(session: Session, faults: list[Fault], fault: Fault) -> None:
    after = fault.after
    if after is None:
        return
    if after.seconds is not None:
        session.pass_time(after.seconds + 1)
    tools: list[str] = []
    if after.called is not None:
        tools = sorted(after.called.tools)
    for other in faults:
        if after.fired == other.name:
            tools = sorted(other.acts_on)
    for name in tools[:2]:
        cls, spec = tool(name)
        args = await _args(session, cls, spec)
        for _ in range(after.times):
            await session.call(cls.name, spec.name, args)


async def _args(session: Session, cls: type[Service], spec: ToolSpec) -> dict[str, Any]:
    try:
        return await prepared(session, cls, spec)
    except AssertionError:  # the fault refuses a set-up call, so the example is called as it is
        return spec.example
