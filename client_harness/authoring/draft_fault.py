"""The first draft of a fault: the smallest declaration that acts on a tool's example call."""

from __future__ import annotations

from typing import Any

import anyio
import yaml

from client_harness.authoring.starters import starter
from client_harness.authoring.trying import DEFAULT_WORLD
from fault_profiles.model import kinds, parse
from fault_profiles.sample import Example
from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.errors import InputError, UnknownName
from servers.kit.examples import owners, prepared
from servers.kit.service import tool
from servers.kit.session import Session
from servers.kit.values import parse_time


def fault(kind: str, on: str | None, service: str | None, file: str) -> str:
    """Return the text of a file with one fault. Raises `InputError`.

    `on` is the tool; without one, it is a tool of `service` on which the kind acts.
    """
    known = kinds()
    if kind not in known:
        raise UnknownName("fault kind", kind, known)
    if on is None and service is None:
        raise InputError("new fault: name a tool with --on, or a service with --service")
    if on is None:
        assert service is not None
        task = starter(service, DEFAULT_WORLD)
        calls = [task.write["call"], task.look["call"]]
        fitting = [name for name in calls if tool(name)[1].effect in known[kind].effects]
        on = fitting[0]
    _, spec = tool(on)
    if spec.effect not in known[kind].effects:
        does = " and ".join(effect + "s" for effect in known[kind].effects)
        raise InputError(f"{kind} acts on {does}, and {on} is a {spec.effect}")
    example = anyio.run(_example, on)
    fields = known[kind].sample(example)
    if isinstance(fields, str):
        raise InputError(f"{kind} makes no sense on {on}: {fields}")
    declared = {kind: {"on": on, **fields}}
    parse(declared)
    args = yaml.safe_dump(spec.example, default_flow_style=True, sort_keys=False, width=10_000)
    meet = f"client_harness try --faults {file} '{on} {args.strip()}'"
    if spec.setup:
        meet = f"client_harness try --faults {file} '{on} {{…}}'"
    argument = next(iter(spec.schema["properties"]), "argument")
    body = yaml.safe_dump([declared], sort_keys=False, allow_unicode=True, width=96)
    return f"""# A first draft of a fault, which acts on every call of {on}.
# That it fires: client_harness check {file}
# Meet it: {meet}
# All fields of the kind: client_harness show fault:{kind}
{body.replace("'on':", "on:").rstrip()}
# What you may add:
#     name: {kind}_1  (how checks and other faults call it)
#     where: {{{argument}: {{…}}}}  (only calls with such arguments)
#     first: 1  (only the first of them; or calls, every, probability, sequence, window)
#     after: {{called: {on}}}  (not before that)
#     until: {{calls: 2, seconds: 600}}  (cleared after so many firings, or so much time)
"""


async def _example(name: str) -> Example:
    cls, spec = tool(name)
    names = owners(cls, spec)
    start = parse_time(build.person(DEFAULT_WORLD)["start"])
    session = Session(names, build.shared(DEFAULT_WORLD, names).share(), Control(start))
    args: dict[str, Any] = await prepared(session, cls, spec)
    before = session.world.scratch()
    reply = await session.call(cls.name, spec.name, args)
    return Example(cls, spec, args, reply.data, before)
