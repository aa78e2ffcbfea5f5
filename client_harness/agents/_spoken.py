"""What an agent's process answers, in either version of the contract, and whether it may.

Version 2 is strict: a key that it does not know is an error of the agent, so that no slip of the
pen is taken for silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from client_harness.agents._rpc import PeerError
from client_harness.contract import ProviderOutage, TurnResult
from client_harness.telling import Instructions
from servers.kit.errors import did_you_mean, quoted

NEWEST = 2
"""The newest version of the contract."""
HistoryForm = Literal["messages", "native", "text"]
"""The form in which an agent asks for earlier sessions."""
Refresh = Literal["call", "notify", "turn", "process", "never"]
"""When an agent lists tools again."""
LONGEST_NAME = 80
"""How many characters an agent's name, its version and its model's name may have."""
STATUSES = ("done", "limit", "error", "outage")
KINDS = {"agent": "error", "limit": "limit", "outage": "outage"}
"""The kinds of errors of version 2, and the statuses that they stand for."""
_GREETING = (
    "agent",
    "version",
    "protocol",
    "history",
    "tool_refresh",
    "instructions",
    "options",
    "remembers",
    "steps",
    "terms",
)


@dataclass(frozen=True)
class Hello:
    """What an agent says of itself. `options` are the settings that it takes, or None for all."""

    identity: dict[str, str] = field(default_factory=dict)
    protocol: int = 1
    history: HistoryForm = "messages"
    tool_refresh: Refresh = "call"
    instructions: Instructions = "message"
    options: tuple[str, ...] | None = None
    remembers: bool = False
    terms: bool = False
    steps: bool | None = None

    @property
    def sees_new_tools(self) -> bool:
        """Whether it ever lists tools again within a trial."""
        return self.tool_refresh not in ("never", "process")


def hello_of(answer: Mapping[str, Any], declared: Mapping[str, Any], known: Iterable[str]) -> Hello:
    """Return an answer to `initialize`; `known` are the names of settings.

    `declared` stands for what the process does not say. Raises `PeerError`.
    """
    for name, value in declared.items():
        if answer.get(name, value) != value:
            raise PeerError(
                f"the agent's process says that {name} is {quoted(answer[name])}, "
                f"but its adapter.yaml says {quoted(value)}"
            )
    said = {**declared, **answer}
    protocol = said.get("protocol", 1)
    if protocol not in range(1, NEWEST + 1) or isinstance(protocol, bool):
        raise _invalid(f"protocol must be 1 or {NEWEST}, not {quoted(protocol)}")
    if protocol > 1:
        _known(said, _GREETING, "initialize")
    kinds = {"history": HistoryForm, "tool_refresh": Refresh, "instructions": Instructions}
    chosen: dict[str, Any] = {}
    for name, kind in kinds.items():
        if name not in said:
            continue
        if said[name] not in get_args(kind):
            choices = ", ".join(get_args(kind))
            raise _invalid(f"{name} must be one of {choices}, not {quoted(said[name])}")
        chosen[name] = said[name]
    for name in ("remembers", "steps", "terms"):
        if not isinstance(said.get(name, False), bool):
            raise _invalid(f"{name} must be true or false, not {quoted(said[name])}")
    options = said.get("options")
    if options is not None and (
        not isinstance(options, list) or not all(name in known for name in options)
    ):
        raise _invalid(f"options must be a list of {', '.join(known)}, not {quoted(options)}")
    return Hello(
        identity=_identity(said),
        protocol=protocol,
        options=None if options is None else tuple(options),
        remembers=said.get("remembers", False),
        terms=said.get("terms", False),
        steps=said.get("steps"),
        **chosen,
    )


def result_of(answer: Mapping[str, Any], method: str, protocol: int) -> TurnResult:
    """Return the result of a turn, or of a past session.

    Raises `PeerError` for anything else, and `ProviderOutage` if the agent's model is away.
    """
    said = answer.get("text", "")
    usage = answer.get("usage", {})
    if not isinstance(said, str) or not isinstance(usage, dict):
        raise PeerError(f"the answer to {method} must be {_shape(protocol)}, not {_cut(answer)}")
    if protocol > 1:
        _known(answer, ("text", "usage", "error"), method)
        status, detail, lasting = _error(answer.get("error"), method)
    else:
        lasting = False
        status = answer.get("status", "done")
        detail = str(answer.get("detail", ""))
        if status not in STATUSES:
            shape = _shape(protocol)
            raise PeerError(f"the answer to {method} must be {shape}, not {_cut(answer)}")
    amounts = {}
    for name, amount in usage.items():
        if isinstance(amount, int | float) and not isinstance(amount, bool):
            amounts[str(name)] = amount
    if status == "outage":
        outage = outage_of(detail, lasting)
        outage.usage = amounts
        raise outage
    return TurnResult(said, status, amounts, detail)


def model_of(answer: Mapping[str, Any]) -> str:
    """Return the name of the model that an answer says was used, or nothing. Raises `PeerError`."""
    usage = answer.get("usage")
    name = usage.get("model", "") if isinstance(usage, dict) else ""
    if not isinstance(name, str) or len(name) > LONGEST_NAME:
        raise PeerError(
            f"the model in usage must be a text of at most {LONGEST_NAME} characters, "
            f"not {quoted(name)}"
        )
    return " ".join(name.split())


def outage_of(detail: str, lasting: bool = False) -> ProviderOutage:
    """Return the outage that an agent reports."""
    said = "the agent reports that its model cannot be reached"
    return ProviderOutage(f"{said}: {detail}" if detail else said, cause=said, lasting=lasting)


def _error(error: Any, method: str) -> tuple[str, str, bool]:
    """Return the status, detail and lastingness that the error of an answer stands for."""
    if error is None:
        return "done", "", False
    if not isinstance(error, dict) or error.get("kind") not in KINDS:
        raise PeerError(
            f"the error in the answer to {method} must be {{kind: {'|'.join(KINDS)}, detail}}, "
            f"not {quoted(error)}"
        )
    _known(error, ("kind", "detail", "lasting"), f"{method}, in its error")
    return KINDS[error["kind"]], str(error.get("detail") or ""), error.get("lasting") is True


def _known(answer: Mapping[str, Any], known: Iterable[str], method: str) -> None:
    for name in answer:
        if name not in known:
            hint = did_you_mean(name, known)
            raise PeerError(f"the answer to {method} has an unknown key {quoted(name)}{hint}")


def _shape(protocol: int) -> str:
    if protocol > 1:
        return "{text, usage, error?: {kind, detail}}"
    return f"{{status: {'|'.join(STATUSES)}, text, usage}}"


def _cut(answer: Mapping[str, Any]) -> str:
    return str(answer)[:300]


def _invalid(why: str) -> PeerError:
    return PeerError(f"the agent's process gave an invalid answer to initialize: {why}")


def _identity(hello: Mapping[str, Any]) -> dict[str, str]:
    """Return the name and version that an agent says it has. Raises `PeerError`."""
    identity = {}
    for key, part in (("agent", "name"), ("version", "version")):
        said = hello.get(key, "")
        if not isinstance(said, str) or len(said) > LONGEST_NAME:
            raise _invalid(
                f"{key} must be a text of at most {LONGEST_NAME} characters, not {quoted(said)}"
            )
        if said.strip():
            identity[part] = " ".join(said.split())
    return identity
