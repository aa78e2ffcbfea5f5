"""Which services and tools a client is offered: a named offer, everything, or what it names.

An offer is a YAML file of services, each with patterns of tools; a new file in `offers/` adds one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from servers.kit.errors import InputError
from servers.kit.service import chosen, narrowed, service, services
from servers.kit.yaml import read

HERE = Path(__file__).parent / "offers"
EVERYDAY = "everyday"
"""The offer for a client that names nothing."""
EVERYTHING = "all"
"""In place of an offer: every service with all of its tools."""
HOW = (
    "name others with --services: `all`, or services, categories and domains "
    "(`client_harness list services`)"
)
"""How a client gets other services."""


def offers() -> tuple[str, ...]:
    """Return the names of the offers."""
    return tuple(sorted(path.stem for path in HERE.glob("*.yaml")))


def locate(name: str) -> Path:
    """Return the file of an offer."""
    return HERE / f"{name}.yaml"


def offer(name: str) -> dict[str, list[str]]:
    """Return the patterns of each service in an offer.

    Raises `InputError` if the file does not fit the services.
    """
    path = locate(name)
    given = read(path)
    if not isinstance(given, dict) or not all(isinstance(p, list) for p in given.values()):
        raise InputError(f"{path}: an offer maps services to lists of tools or patterns")
    for known, patterns in given.items():
        narrowed(service(known), patterns)
    return given


def offered(names: Sequence[str] = ()) -> dict[str, list[str]]:
    """Return the services that names stand for, each with patterns of its tools.

    A name is that of an offer, a service, a category or a domain, or `all`; no name at all means
    the everyday offer. Raises `UnknownName`.
    """
    patterns: dict[str, list[str]] = {}
    for name in names or [EVERYDAY]:
        if name in offers():
            for known, tools in offer(name).items():
                patterns[known] = [*patterns.get(known, ()), *tools]
            continue
        named = services() if name == EVERYTHING else chosen([name], (EVERYTHING, *offers()))
        for known in named:
            patterns[known] = ["*"]
    return patterns
