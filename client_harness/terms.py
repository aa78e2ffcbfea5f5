"""Terms: how a run has its agents play, beside what a scenario asks of them.

`--protocol published` plays instances as ToolHaystack printed it, with one request and one call.
`--reasoning` tells agents to think before they answer, or not to. Both can be said only to agents
that take terms, which the built-in model agents do; see `Terms` in docs/agents.md.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from servers.kit.files import hash_of

RunProtocol = Literal["own", "published"]
"""How instances are played and scored: as Haywire does, or as ToolHaystack printed it."""
Reasoning = Literal["free", "first", "none"]
"""Whether agents are told to think before they answer, not to, or neither."""
PROMPTS = Path(__file__).parent / "haystack" / "prompts"
ANSWER_TOKENS = 2000
"""How long an answer may be in the published protocol."""


@dataclass(frozen=True)
class Terms:
    """What an agent is told, and how much it may do.

    `prompt` takes the place of the agent's own instructions, if there is one; `advice` follows on
    whichever there is. `single` says that a conversation is one request to the model, of whose
    calls only the first is made. `answer_tokens` and `temperature` are for each request.
    """

    prompt: str = ""
    advice: str = ""
    single: bool = False
    answer_tokens: int | None = None
    temperature: float | None = None

    @property
    def given(self) -> bool:
        """Whether there are any."""
        return self != NO_TERMS

    def instructions(self, own: str) -> str:
        """Return the agent's instructions under these terms; `own` are those that it has."""
        return "\n\n".join(filter(None, (self.prompt or own, self.advice)))

    def as_json(self) -> dict[str, Any]:
        """Return the terms as an agent outside this process reads them.

        The texts are not among them, because they are part of its instructions.
        """
        bounds = asdict(self)
        return {name: bounds[name] for name in ("single", "answer_tokens", "temperature")}


NO_TERMS = Terms()


def terms(protocol: RunProtocol, reasoning: Reasoning) -> Terms:
    """Return the terms of a run."""
    advice = "" if reasoning == "free" else _text(f"reasoning_{reasoning}")
    if protocol == "own":
        return Terms(advice=advice)
    return Terms(_text("published"), advice, True, ANSWER_TOKENS, 0.0)


def fingerprints(protocol: RunProtocol, reasoning: Reasoning) -> dict[str, str]:
    """Return what results are told apart by: the names, and a hash of what was said to agents."""
    told = terms(protocol, reasoning)
    return {
        "protocol": _named(protocol, told.prompt),
        "reasoning": _named(reasoning, told.advice),
    }


def _named(name: str, told: str) -> str:
    return f"{name} {hash_of([told.encode()])}" if told else name


def _text(name: str) -> str:
    return (PROMPTS / f"{name}.md").read_text(encoding="utf-8").strip()
