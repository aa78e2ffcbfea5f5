"""What the user of a scenario says when asked."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from servers.kit.declared import Declared
from servers.kit.errors import InputError, quoted


class Answer(Declared):
    """What the user says when asked.

    `asked` holds phrases that name what the answer is about; a question is about it if it holds all
    the words of one phrase. `say` is the answer in full. `value` is what is right, in words, with
    aliases after `|` ("Ana Ruiz|the glaze one"), and `not` lists other values that an agent may
    propose. With a `value`, the user says yes or no to a proposal. `question` is one that an agent
    may honestly ask, although no right run of the scenario does; the proof asks it.
    """

    asked: Annotated[list[str], Field(min_length=1)]
    say: str
    value: str | None = None
    others: list[str] = Field([], alias="not")
    question: str | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not self.say.strip():
            raise InputError("say must not be empty")
        for phrase in self.asked:
            if not all(part.strip("|") for part in phrase.split()) or not phrase.strip():
                raise InputError(f"asked: {quoted(phrase)} holds no words")
            if "*" in phrase:
                plain = " ".join(phrase.replace("*", " ").split())
                raise InputError(
                    f"asked: {quoted(phrase)} holds a `*`; the words of a phrase may stand apart "
                    f"and in any order, so write {quoted(plain)}"
                )
        if self.others and self.value is None:
            raise InputError("`not` lists wrong values, so it needs the right one in `value`")
        right = aliases(self.value or "")
        values = [("value", self.value)] if self.value is not None else []
        for field, text in [*values, *(("not", other) for other in self.others)]:
            if not all(part.strip() for part in text.split("|")):
                raise InputError(f"{field}: {quoted(text)} has an empty alias")
        for other in self.others:
            both = set(map(str.casefold, right)) & set(map(str.casefold, aliases(other)))
            if both:
                raise InputError(f"{quoted(min(both))} is both `value` and `not`")
        return self


def keyed(answers: dict[str, Answer]) -> dict[str, Answer]:
    """Return answers whose keys can be told apart in a trace. Raises `InputError`."""
    for key in answers:
        if key == "default" or "+" in key or not key.strip():
            raise InputError(
                f"answers: {quoted(key)} cannot be a key; choose a word other than `default`"
            )
    return answers


def aliases(value: str) -> list[str]:
    """Return the aliases of a value, the one to say first."""
    return [part.strip() for part in value.split("|") if part.strip()]
