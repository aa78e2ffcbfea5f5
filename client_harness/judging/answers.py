"""Questions to a judge model, and its answers, which are kept in a file of JSON lines.

A question that was answered once is never asked again, so a judgement can be repeated without the
model.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from servers.kit.errors import InputError
from servers.kit.files import hash_of

Word = Literal["claims", "denies", "silent", "abstain", "nonsense", "unreachable"]
"""What an answer comes to. The last two are none: one that cannot be read, and one that is missing.
"""
_THOUGHT = re.compile(r"<think(ing)?>.*?</think(ing)?>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Question:
    """One statement about one text. `asked` holds the user's words, and is empty for a mail."""

    sentence: str
    text: str
    asked: str
    today: str

    def key(self, model: str, prompt: str) -> str:
        """Return the hash under which a model's answers to a version of the prompt are kept."""
        parts = (model, prompt, self.today, self.asked, self.text, self.sentence)
        return hash_of(part.encode() for part in parts)


@dataclass(frozen=True)
class Answer:
    """An answer: the word that it comes to, what the model said (or why there is none), and its
    price in tokens, seconds and dollars.
    """

    word: Word
    said: str
    tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0


class Answers:
    """The answers in a file, by question and vote. The file is made with the first answer.

    Raises `InputError` for a file that holds something else; a last line that was cut off by an
    interruption is dropped.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[tuple[str, int], Answer] = {}
        self._whole = 0
        self._read()

    def _read(self) -> None:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as wrong:
            raise InputError(f"{self.path}: {wrong}") from None
        for number, line in enumerate(data.splitlines(keepends=True), 1):
            try:
                kept = json.loads(line)
                key = (str(kept["key"]), int(kept["vote"]))
                self._known[key] = _answer(kept["answer"])
            except (ValueError, KeyError, TypeError):
                if not line.endswith(b"\n"):
                    return
                raise InputError(
                    f"{self.path}, line {number}: not an answer of a judge model; "
                    "delete the file to ask again"
                ) from None
            self._whole += len(line)

    def get(self, key: str, vote: int) -> Answer | None:
        """Return an answer, or None if there is none yet."""
        return self._known.get((key, vote))

    def add(
        self, key: str, vote: int, model: str, question: Question, answer: Answer, kept: bool = True
    ) -> None:
        """Know an answer, and keep it in the file if `kept`.

        No answer at all is not kept, so that the question is asked again another time.
        """
        self._known[key, vote] = answer
        if answer.word != "unreachable" and kept:
            self._write(key, vote, model, question, answer)

    def _write(self, key: str, vote: int, model: str, question: Question, answer: Answer) -> None:
        kept = {
            "key": key,
            "vote": vote,
            "model": model,
            "question": asdict(question),
            "answer": asdict(answer),
        }
        line = json.dumps(kept, ensure_ascii=False).encode() + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch()
        with self.path.open("r+b") as file:
            file.seek(self._whole)
            file.truncate()
            file.write(line)
        self._whole += len(line)


def _answer(kept: dict[str, Any]) -> Answer:
    answer = Answer(**{f.name: kept[f.name] for f in fields(Answer)})
    if answer.word not in get_args(Word):
        raise ValueError(answer.word)
    return answer


def words_of(said: str) -> list[str]:
    """Return the words of an answer in small letters, without what a model thought aloud first."""
    return re.findall(r"[a-z]+", _THOUGHT.sub("", said).casefold())
