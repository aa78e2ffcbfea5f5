"""Texts of generated targets in the words of a model, each checked, with the banks to fall back on.

Values in a text are hidden from the model behind marks such as [A], so it can neither change one
nor learn it. What it answers is taken only if every mark and name is there once more and no figure
is new; and a kind whose texts then fail a filter keeps the words of the bank.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import anyio

from client_harness._litellm import Endpoint
from client_harness.contract import ProviderOutage
from scenarios.haystack.generation import filters
from scenarios.haystack.targets import KINDS

ASKED = """\
Rewrite a chat message in other words. Keep its meaning, its tone and about its length.
Marks in square brackets such as [A] stand for values: copy each of them exactly once.
Copy all names of people, places and things. Add no fact, no number and no greeting.
Answer with the rewritten message alone.

Message: {text}"""
SHORTEST = 0.5
LONGEST = 1.7
BADLY = 0.5
"""From what share of refused texts on a model is said to word badly."""
_HOLE = re.compile(r"\$\{[^{}]*\}")
_MARK = re.compile(r"\[([A-Z])\]")
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"(?<=[a-z,'\"] )[A-Z][\w'&]+")
Complete = Callable[[str], str]


class Rewording:
    """Words texts anew with a model, and counts what became of them."""

    def __init__(self, model: str, api_base: str | None = None, complete: Complete | None = None):
        self.model = model
        self._complete = complete or (lambda text: _asked(model, api_base, text))
        self._taken = 0
        self._refused: Counter[str] = Counter()

    def counted(self) -> dict[str, Any]:
        """Return `{model, taken, refused: {why: count}, badly}`."""
        refused = sum(self._refused.values())
        badly = refused >= BADLY * max(refused + self._taken, 1)
        return {
            "model": self.model,
            "taken": self._taken,
            "refused": dict(sorted(self._refused.items())),
            "badly": badly,
        }

    def kinds(self, raw: Mapping[str, Any], person: str) -> dict[str, Any]:
        """Return the kinds of a target with the user's texts in other words.

        Raises `InputError` if the model cannot be asked.
        """
        made: dict[str, Any] = {}
        for kind in KINDS:
            telling = copy.deepcopy(raw["kinds"][kind])
            telling["ask"] = [self.text(one) for one in telling["ask"]]
            for needle in telling.get("needles", []):
                first = needle["talk"][0]
                first["user"] = self.text(first["user"])
            changed = {**raw, "kinds": {**raw["kinds"], kind: telling}}
            before = set(filters.problems(raw, person, kind))
            if set(filters.problems(changed, person, kind)) - before:
                self._refused["a filter refused the talk"] += 1
                telling = copy.deepcopy(raw["kinds"][kind])
            made[kind] = telling
        return made

    def text(self, text: str) -> str:
        """Return a text in other words, or as it is if the model words it badly."""
        hidden, holes = _hidden(text)
        answer = _clean(self._complete(ASKED.format(text=hidden)))
        why = refused(hidden, answer)
        if why is not None:
            self._refused[why] += 1
            return text
        self._taken += 1
        return _MARK.sub(lambda mark: holes[mark[1]], answer)


def refused(text: str, answer: str) -> str | None:
    """Return why a rewording is not taken, or None; values are marks in both texts."""
    if not answer or answer == text:
        return "the same, or nothing"
    if "\n" in answer or answer.count('"') != text.count('"'):
        return "not one message"
    if sorted(_MARK.findall(text)) != sorted(_MARK.findall(answer)):
        return "a value is lost or doubled"
    if set(_FIGURE.findall(answer)) != set(_FIGURE.findall(text)):
        return "a figure is new or lost"
    if not set(_NAME.findall(text)) <= set(re.findall(r"[\w'&]+", answer)):
        return "a name is lost"
    if set(_NAME.findall(answer)) - set(re.findall(r"[\w'&]+", text)):
        return "a name is new"
    share = len(answer.split()) / max(len(text.split()), 1)
    if not SHORTEST <= share <= LONGEST:
        return "much shorter or longer"
    if re.search(r"[{}$<>|]", answer) and not re.search(r"[{}$<>|]", text):
        return "strange marks"
    return None


def _hidden(text: str) -> tuple[str, dict[str, str]]:
    """Return a text with marks in place of its expressions, and mark → expression."""
    holes: dict[str, str] = {}

    def put(found: re.Match[str]) -> str:
        letter = chr(ord("A") + len(holes))
        holes[letter] = found[0]
        return f"[{letter}]"

    return _HOLE.sub(put, text), holes


def _clean(answer: str) -> str:
    """Return an answer without quotes around it and without a heading."""
    plain = answer.strip().removeprefix("Message:").strip()
    if len(plain) > 2 and plain[0] == plain[-1] == '"' and plain.count('"') == 2:
        plain = plain[1:-1]
    return plain


def _asked(model: str, api_base: str | None, text: str) -> str:
    from servers.kit.errors import InputError

    request = {
        "model": model,
        "messages": [{"role": "user", "content": text}],
        "temperature": 0,
        "max_tokens": 200,
    }
    try:
        response = anyio.run(Endpoint(api_base=api_base).complete, request)
    except ProviderOutage as outage:
        raise InputError(f"--model {model}: the model does not answer: {outage}") from None
    return str(response["message"].get("content") or "")
