"""The user as data: answers questions that a scenario foresees, else says the default, up to a
limit.
"""

from __future__ import annotations

import re

from scenarios.model import Answer

_SENTENCE = re.compile(
    r"(?:[^.!?\n]|\.(?=\w))+[.!?]?"
)  # a dot inside an address or an amount ends nothing
_POLITE = re.compile(
    r"\b(anything else|something else|any(thing)? (other|more)|help (you )?with|let you know|sound good|questions)\b",
    re.IGNORECASE,
)


class User:
    """Answers an agent's questions.

    `limit` questions are answered in an episode; after that the user says nothing more.
    """

    def __init__(self, answers: dict[str, Answer], default: str, limit: int) -> None:
        self._answers = answers
        self._default = default
        self._left = limit

    def answer(self, text: str) -> tuple[str, str] | None:
        """Return `(key, what the user says)` where the text asks something, else None. The key is
        "default" where nothing fits.

        An answer fits where all words of one of its phrases stand in one question, else ("Shall I
        do that?") in the whole text; courtesies ("anything else?") are no questions.
        """
        asked = questions(text)
        if not asked or self._left <= 0:
            return None
        self._left -= 1
        for heard in (asked, [text]):
            for key, answer in self._answers.items():
                if any(_holds(part, phrase) for part in heard for phrase in answer.asked):
                    return key, answer.say
        return "default", self._default


def questions(text: str) -> list[str]:
    """Return the sentences of a text that ask something."""
    return [
        s.strip()
        for s in _SENTENCE.findall(text)
        if s.strip().endswith("?") and not _POLITE.search(s)
    ]


def _holds(question: str, phrase: str) -> bool:
    words = set(re.findall(r"\w+", question.casefold()))
    return all(any(w in words for w in part.split("|")) for part in phrase.casefold().split())
