"""The options of `run` that set the terms on which agents play."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from client_harness.commands import _print
from client_harness.commands.serving import SEARCH, one_of

if TYPE_CHECKING:
    from client_harness.run import Run


class Protocol(StrEnum):
    """How instances are played and scored."""

    own = "own"
    published = "published"


class Reasoning(StrEnum):
    """What agents are told about thinking."""

    free = "free"
    first = "first"
    none = "none"


ProtocolOption = Annotated[
    Protocol,
    typer.Option(
        help=(
            "How instances of long histories are played and scored: as conversations, or as "
            "ToolHaystack was published, with one request and one call."
        )
    ),
]
ExposeOption = Annotated[
    str | None,
    typer.Option(
        parser=one_of("all", "needed", "oracle5", SEARCH),
        metavar="<all|needed|oracle5|search>",
        help=(
            "Which tools agents are offered: all that the services have, those that right runs "
            "call, these and the nearest others (five in all, at least four of them others), "
            "or two that find and call all of them. By default all, or oracle5 for "
            "--protocol published."
        ),
    ),
]
ReasoningOption = Annotated[
    Reasoning,
    typer.Option(
        help="Whether agents are told to think before they answer (first), or not to (none)."
    ),
]


def exposed_by(protocol: Protocol) -> str:
    """Return what is exposed by default."""
    return "oracle5" if protocol is Protocol.published else "all"


def tell_left_out(begun: Run) -> None:
    """Say how many instances the published protocol does not play."""
    from scenarios.haystack.instances import POINT

    kept = {name.partition(POINT)[0] for name in begun.scenarios}
    left = [name for name in begun.request.scenarios if name not in kept]
    if left:
        why = "no call takes what was left out there"
        _print.note(f"not played: {len(left)} of {len(begun.request.scenarios)} instances; {why}")
