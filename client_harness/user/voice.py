"""A model that says what the scripted user says, in words of its own.

What is said, and when, stays the script's. Each wording is compared with the script's: it has to
hold the same names, figures and quoted words, and no others. One that does not is a deviation; it
is counted, and the script's own words are said instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

from client_harness._litellm import ContextExceeded, Endpoint
from client_harness.contract import ProviderOutage
from servers.kit.errors import InputError
from servers.kit.files import hash_of

PROMPT = Path(__file__).parent / "prompts" / "voice.md"
SCRIPT = "script"
"""The fingerprint of a user whose words are the script's."""
MOST_TOKENS = 400
LONGEST = 3
"""How many times as long as the script's a wording is at most."""
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_QUOTED = re.compile(r"[\"“]([^\"”]{2,}?)[\"”]")
_NAME = re.compile(r"(?<=[\w,;] )[A-Z][\w'’-]+")


@dataclass(frozen=True)
class VoiceModel:
    """The model that words what the user says: as litellm names it, and its endpoint's address."""

    model: str
    api_base: str | None = None

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise InputError("--user-model: name a model, for example openai/gpt-5")

    @property
    def fingerprint(self) -> str:
        """The name and the version of the prompt."""
        return f"{self.model} {hash_of([PROMPT.read_bytes()])}"


def voice_model(model: str | None, api_base: str | None) -> VoiceModel | None:
    """Return the model that the command line names, or None for the script's words.

    Raises `InputError` for an address without a model.
    """
    if model is not None:
        return VoiceModel(model, api_base)
    if api_base is not None:
        raise InputError("--user-api-base needs --user-model; without it, the script is said")
    return None


class Voice:
    """Words what a person says in one trial.

    `usage` counts `user_texts` (what was worded), `user_deviations` (what was not taken) and
    `user_tokens`.
    """

    def __init__(self, model: VoiceModel, name: str) -> None:
        self._model = model
        self._name = name
        self._endpoint = Endpoint(model.api_base)
        self.usage: dict[str, float] = {}

    async def worded(self, line: str) -> str:
        """Return what is said for a line of the script.

        Raises `ProviderOutage` if the model cannot be reached.
        """
        prompt = Template(PROMPT.read_text(encoding="utf-8"))
        content = prompt.substitute(name=self._name, line=line)
        request = {
            "model": self._model.model,
            "messages": [{"role": "user", "content": content}],
            "temperature": 0.0,
            "max_tokens": MOST_TOKENS,
        }
        try:
            answer = await self._endpoint.complete(request)
        except ContextExceeded as full:
            raise ProviderOutage(f"--user-model: {full}") from None
        said = str(answer["message"].get("content") or "").strip()
        self._count("user_texts", 1)
        self._count("user_tokens", float(answer["usage"].get("total_tokens") or 0))
        if deviates(line, said):
            self._count("user_deviations", 1)
            return line
        return said

    def _count(self, name: str, amount: float) -> None:
        self.usage[name] = self.usage.get(name, 0.0) + amount


def deviates(line: str, said: str) -> bool:
    """Return whether a wording says something else than a line, as far as can be told by rule."""
    if not said or len(said) > LONGEST * len(line) + 40:
        return True
    if sorted(_FIGURE.findall(line)) != sorted(_FIGURE.findall(said)):
        return True
    if any(quoted not in said for quoted in _QUOTED.findall(line)):
        return True
    low = said.casefold()
    if any(name.casefold() not in low for name in _NAME.findall(line)):
        return True
    if any(name.casefold() not in line.casefold() for name in _NAME.findall(said)):
        return True
    return "?" in said and "?" not in line
