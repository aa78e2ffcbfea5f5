"""The user as data.

It answers the questions that a scenario foresees, gives the default answer to others, and stops at
a limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from scenarios.model import Answer

# A dot inside an address or an amount does not end a sentence.
_SENTENCE = re.compile(r"(?:[^.!?\n]|\.(?=\w))+[.!?]?")
_POLITE = re.compile(
    r"\b(anything else|something else|any(thing)? (other|more)"
    r"|help (you )?with|let you know|sound good|questions)\b",
    re.IGNORECASE,
)


class User:
    """Answers an agent's questions.

    At most `limit` questions are answered in an episode; after that the user says nothing more.
    """

    def __init__(self, answers: dict[str, Answer], default: str, limit: int) -> None:
        self._answers = answers
        self._default = default
        self._left = limit

    def answer(self, text: str) -> tuple[str, str] | None:
        """Return `(key, what the user says)` if the text asks something, else None.

        The key is "default" if no answer fits. An answer fits if one question of the text contains
        all the words of one of its phrases; failing that, if the whole text does (the question may
        be just "Shall I do that?"). Courtesies ("anything else?") do not count as questions.
        """
        asked = questions(text)
        if not asked or self._left <= 0:
            return None
        self._left -= 1
        for heard in (asked, [text]):
            for key, answer in self._answers.items():
                if any(_asks(part, answer.asked) for part in heard):
                    return key, answer.say
        return "default", self._default


def questions(text: str) -> list[str]:
    """Return the sentences of a text that ask something."""
    sentences = [sentence.strip() for sentence in _SENTENCE.findall(text)]
    asked = [sentence for sentence in sentences if sentence.endswith("?")]
    return [question for question in asked if not _POLITE.search(question)]


def _asks(text: str, phrases: Iterable[str]) -> bool:
    """Return whether a text holds all words of one of the phrases."""
    return any(_holds(text, phrase) for phrase in phrases)


def _holds(text: str, phrase: str) -> bool:
    words = set(re.findall(r"\w+", text.casefold()))
    return all(words & set(part.split("|")) for part in phrase.casefold().split())
