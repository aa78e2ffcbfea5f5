"""Errands that an assistant runs for a person, across services, in the three worlds.

Each file, or each folder of files, holds one person's errands. An errand has a `name`, a `wish` in
the person's words, and `steps`: a `call` with `args`, whose reply may be saved with `save`; a
`wait` (days, hours, minutes) in which life goes on; or an `expect`, a list of expressions over the
saved replies that must all be true. `refused: true` marks a call that the service must refuse.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.expr import render
from servers.kit.session import Session
from servers.kit.values import iso, parse_time
from servers.kit.yaml import read
from tests.support import sampled

HERE = Path(__file__).parent
FEWEST = 25
"""How many errands each person has at least."""


def files() -> dict[str, list[Path]]:
    """Return the files of each person, which are one file or a folder of them."""
    found: dict[str, list[Path]] = {}
    for path in sorted([*HERE.glob("*.yaml"), *HERE.glob("*/*.yaml")]):
        person = path.stem if path.parent == HERE else path.parent.name
        found.setdefault(person, []).append(path)
    return found


def errands() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the errands of all files: `<person>-<name>` → person and errand."""
    cases = {}
    for person, paths in files().items():
        for path in paths:
            for errand in build.with_ids(read(path), person):
                cases[f"{person}-{errand['name']}"] = (person, errand)
    return cases


def services_of(errand: dict[str, Any]) -> list[str]:
    """Return the services that an errand calls."""
    calls = [step["call"] for step in errand["steps"] if "call" in step]
    return sorted({call.partition(".")[0] for call in calls})


async def play(person: str, errand: dict[str, Any]) -> None:
    """Run an errand's steps one after another."""
    names = services_of(errand)
    start = parse_time(build.person(person)["start"])
    session = Session(names, build.shared(person, names).share(), Control(start))
    scope: dict[str, Any] = {}
    for number, step in enumerate(errand["steps"]):
        scope["now"] = iso(session.control.now)
        where = f"{person}, {errand['name']}, step {number}"
        if "wait" in step:
            session.pass_time(int(timedelta(**step["wait"]).total_seconds()))
        elif "expect" in step:
            for expression in step["expect"]:
                assert render(f"${{{expression}}}", scope) is True, (where, expression, scope)
        else:
            service, _, tool = step["call"].partition(".")
            args = render(step.get("args", {}), scope)
            reply = await session.call(service, tool, args)
            assert not session.bugs, (where, session.bugs)
            assert reply.is_error == step.get("refused", False), (where, args, reply.data)
            if "save" in step:
                scope[step["save"]] = reply.data


@pytest.mark.parametrize(("person", "errand"), sampled(3, errands()))
def test_an_errand_comes_to_a_coherent_end(person: str, errand: dict[str, Any]) -> None:
    assert len(services_of(errand)) >= 3, "an errand goes over three services or more"
    assert any("expect" in step for step in errand["steps"])
    anyio.run(play, person, errand)


@pytest.mark.parametrize("person", files())
def test_each_person_has_enough_errands(person: str) -> None:
    names: list[str] = []
    for path in files()[person]:
        names += [errand["name"] for errand in read(path)]
    assert len(names) == len(set(names)) >= FEWEST
