"""Show that the faults of a file fire: each is met by the example calls of its tools."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from client_harness.authoring.example import played
from client_harness.authoring.touching import Met, edits, honest, untouched
from client_harness.proof.taken import Replies
from fault_profiles.model import Fault, ordered
from fault_profiles.profiles import profile
from fault_profiles.state import State
from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.errors import InputError
from servers.kit.events import Attempt
from servers.kit.examples import owners, prepared
from servers.kit.expr import matches, taken
from servers.kit.service import Service, ToolSpec, tool
from servers.kit.session import Session
from servers.kit.values import parse_time
from servers.kit.yaml import read

_MOST = 24
"""On how many tools a fault is tried before it is said that it never fires."""
_TIMES = 4
"""How often a call is made: a schedule may wait for the second one, or for a third."""
_ROWS = 3
"""How many stored rows that meet a condition a call is tried with."""
_WORLD = "maya"
_ARGUMENT = re.compile(r"\$\{args\.(\w+)\}")


def is_profile(name: str) -> bool:
    """Return whether a name is that of a file with faults and no scenario."""
    path = Path(name)
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return False
    try:
        return isinstance(read(path), list)
    except InputError:
        return False


@dataclass
class Checked:
    """What is wrong with a file of faults, and what its author should know, one line each."""

    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass
class _Tries:
    """The calls that were made for a fault; `near` says whether one met its conditions."""

    attempts: list[Attempt] = field(default_factory=list)
    near: bool = False

    def fired(self, fault: Fault) -> bool:
        return any(attempt.fired(fault.name) for attempt in self.attempts)

    def calls(self, fault: Fault) -> str:
        """Return the names of some calls of the fault's tools."""
        called = {attempt.name for attempt in self.attempts if attempt.name in fault.acts_on}
        names = sorted(called or fault.acts_on)
        return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")


def check_profile(name: str) -> Checked:
    """Return what is wrong with a file of faults; nothing if each of them fires.

    Each is tried by itself, beside the faults that it waits for or takes values from, on the
    example calls of its tools in the default world. That others of the file stand in front of it is
    a remark: whether they do so in a run depends on what the agent does. Faults that are not
    `required` need not fire.
    """
    try:
        faults = ordered(profile(name).faults)
    except InputError as wrong:
        return Checked([str(wrong)])
    return anyio.run(_checked, faults)


async def _checked(faults: list[Fault]) -> Checked:
    found = Checked()
    for fault in faults:
        if not fault.required:
            continue
        company = _company(fault, faults)
        tries = await _tries(company, fault)
        if tries.fired(fault):
            found.problems += await _mistaken(fault, tries)
            if len(company) < len(faults):
                together = await _tries(faults, fault)
                if not together.fired(fault):
                    found.remarks.append(f"fault {fault.name}: {_behind(fault, together)}")
            continue
        failed = _failed(fault, tries)
        unmet = [part for part in ("where", "stored", "result") if getattr(fault, part)]
        lost = await _mistaken(fault, tries)
        found.problems += lost
        if failed or lost or not unmet or tries.near or fault.after is not None:
            found.problems.append(f"fault {fault.name}: {_why(fault, tries, failed)}")
        else:
            parts = " and ".join(f"`{part}`" for part in unmet)
            found.remarks.append(
                f"fault {fault.name}: no example call of its tools ({tries.calls(fault)}) meets "
                f"its {parts}, so it is not shown to fire; try one that does: "
                "`client_harness try --faults FILE CALL`"
            )
    return found


def _company(fault: Fault, faults: list[Fault]) -> list[Fault]:
    """Return a fault and, in their order, those without which it cannot fire."""
    by_name = {one.name: one for one in faults}
    wanted = [fault.name]
    for name in wanted:
        one = by_name[name]
        used = set(taken(one.model_dump(exclude={"on"}), "faults"))
        for moment in (one.after, one.until):
            if moment is not None and moment.fired is not None:
                used.add(moment.fired)
        wanted += sorted(used - set(wanted))
    return [one for one in faults if one.name in wanted]


async def _tries(faults: list[Fault], fault: Fault) -> _Tries:
    """Call the fault's tools until it has fired and none of its operations is lost."""
    tries = _Tries()
    tools = sorted(fault.acts_on)[:_MOST]
    # Some faults on reads have nothing to act on until something was written.
    ways = ["", "after a write"]
    if fault.where or fault.stored:
        ways.append("to meet")
    for how, name in itertools.product(ways, tools):
        made = await _played(faults, fault, *tool(name), how=how)
        tries.attempts += made.attempts
        tries.near = tries.near or made.near
        if tries.fired(fault) and not _lost(fault, tries.attempts):
            break
    return tries


def _lost(fault: Fault, attempts: Iterable[Attempt]) -> list[str]:
    met: list[Met] = list(honest(attempts))
    return untouched(fault, met) if edits(fault) else []


async def _mistaken(fault: Fault, tries: _Tries) -> list[str]:
    """Return what the fault edits or takes that is in no reply of its tools."""
    replies = Replies()
    for one in honest(tries.attempts):
        replies.learn(one.tool, one.data)
    for name in sorted(fault.acts_on)[:_MOST]:
        reply = await played(*tool(name))
        if not reply["is_error"]:
            replies.learn(name, reply["reply"])
    for attempt in tries.attempts:
        replies.saw(attempt.name, attempt.seen)
    return _lost(fault, tries.attempts) + replies.lost_by(fault, f"fault {fault.name}")


def _behind(fault: Fault, together: _Tries) -> str:
    """Return who stands in front of a fault that fires only by itself."""
    others: dict[str, None] = {}
    for attempt in together.attempts:
        others |= dict.fromkeys(firing.fault for firing in attempt.firings)
    others.pop(fault.name, None)
    if not others:
        return "it fires by itself, but not beside the other faults of the file"
    stand = "stands" if len(others) == 1 else "stand"
    return (
        f"it fires by itself, but {' and '.join(others)} {stand} in front of it on its example "
        "call; see that a run can get past"
    )


def _failed(fault: Fault, tries: _Tries) -> list[str]:
    failed: list[str] = []
    for attempt in tries.attempts:
        own = [firing for firing in attempt.firings if firing.fault == fault.name]
        failed += [firing.failed for firing in own if firing.failed]
    return failed


def _why(fault: Fault, tries: _Tries, failed: list[str]) -> str:
    shown = tries.calls(fault)
    if failed:
        return f"it was due on {shown} but could not act: {failed[0]}"
    return (
        f"it fires on no example call of its tools ({shown}); see why with `client_harness try "
        "--faults FILE CALL`, or say `required: false`"
    )


async def _played(
    faults: list[Fault], fault: Fault, cls: type[Service], spec: ToolSpec, *, how: str
) -> _Tries:
    """Make a tool's example call a few times, and first what the fault waits for.

    `how` may be "after a write", the first one of the service that needs no set-up, or "to meet"
    the fault's conditions, with arguments that are changed for it.
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
        if how == "after a write" and write is not None:
            await session.call(cls.name, write.name, write.example)
        for one in _meeting(session, fault, spec, args) if how == "to meet" else [args]:
            for _ in range(_TIMES):
                await session.call(cls.name, spec.name, one)
        attempts = [event for event in session.trace() if isinstance(event, Attempt)]
        return _Tries(attempts, State.load(session.control, fault.name).near > 0)
    finally:
        session.world.close()
        session.control.close()


def _meeting(
    session: Session, fault: Fault, spec: ToolSpec, args: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return arguments like the example's with the values that the fault's conditions name.

    Those are plain values of `where`, and of `stored` the values of some rows in columns that must
    equal an argument.
    """
    known = spec.model.model_fields
    base = dict(args)
    for name, wanted in fault.where.items():
        if name in known and not isinstance(wanted, dict) and "${" not in str(wanted):
            base[name] = wanted
    made = [base]
    stored = fault.stored
    for one in (stored.all_of or [stored]) if stored is not None else []:
        links = {c: _ARGUMENT.fullmatch(str(wanted)) for c, wanted in one.where.items()}
        linked = {c: found[1] for c, found in links.items() if found}
        if one.table is None or not linked:
            continue
        plain = {c: wanted for c, wanted in one.where.items() if "${" not in str(wanted)}
        rows = [row for row in session.world.rows(one.table) if matches(plain, row, {})]
        for row in rows[:_ROWS]:
            made.append(base | {name: row[c] for c, name in linked.items() if name in known})
    return made


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
