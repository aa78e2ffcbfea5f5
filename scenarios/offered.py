"""Which of a scenario's tools an agent is offered.

*all* are what the scenario's services have. *needed* are those that right runs call: the oracle and
the routes, with all their branches. *oracle5* are the needed ones and those nearest to what the
user says, five in all, but at least four that are not needed. *search* is all of them behind two
tools. A scenario is proven with all tools; what is right there is right with fewer.
"""

from __future__ import annotations

from typing import Literal

from scenarios.load import offer
from scenarios.model import Scenario
from scenarios.script import flat

Offered = Literal["all", "needed", "oracle5", "search"]
IN_ALL = 5
"""How many tools `oracle5` offers, if so few are needed."""
NOT_NEEDED = 4
"""How many tools that are not needed `oracle5` offers at least, if there are so many."""


def needed(made: Scenario) -> set[str]:
    """Return the tools that right runs call, as `service.tool`."""
    scripts = [made.scripts.oracle]
    scripts += [route.edit(made.scripts.oracle) for route in made.routes]
    called: set[str] = set()
    for steps in scripts:
        called |= {step.call for step in flat(steps) if step.call is not None}
    return called


def narrowed_to(made: Scenario, offered: Offered) -> Scenario:
    """Return a scenario whose services have only the tools that are to be offered.

    A service of which nothing is offered stays, without tools: its part of the world goes on.
    """
    if offered not in ("needed", "oracle5"):
        return made
    kept = needed(made)
    if offered == "oracle5":
        others = _nearest_others(made, kept)
        kept |= set(others[: max(IN_ALL - len(kept), NOT_NEEDED)])
    tools: dict[str, list[str]] = {}
    for name, cls in offer(made).items():
        tools[name] = [tool for tool in cls.tools if f"{name}.{tool}" in kept]
    return made.model_copy(update={"tools": tools})


def _nearest_others(made: Scenario, kept: set[str]) -> list[str]:
    """Return the tools that are not needed, the nearest to what the user says first.

    Those of services that are held back are left out, because an agent may never see them.
    """
    from scenarios.haystack.nearness import nearest, text_of

    held_back = {disclosure.service for disclosure in made.disclose}
    others = {}
    for name, cls in offer(made).items():
        for tool, spec in cls.tools.items():
            if name not in held_back and f"{name}.{tool}" not in kept:
                others[f"{name}.{tool}"] = text_of(cls, spec)
    return nearest([turn.user for turn in made.turns], others)
