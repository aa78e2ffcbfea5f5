"""The phrase banks: frames, which say what can be asked for, and the voices of the persons.

A frame (`frames/<name>.yaml`) is a kind of errand that many tools can do: to pay what one owes, to
be told of a price. It names the slots that a tool must have for it, and words the errand in each
person's voice. A voice (`voices/<person>.yaml`) holds what a person says around it.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from servers.kit.declared import Declared
from servers.kit.errors import InputError, UnknownName, explain
from servers.kit.yaml import read

HERE = Path(__file__).parent
Type = Literal["money", "number", "count", "id", "choice", "moment", "day", "place", "text", "list"]
Several = Annotated[list[str], Field(min_length=1)]


class Slot(Declared):
    """What a tool must take for a frame: an argument of a type, near to `like` in meaning.

    An id comes from a list of the person's own, or from a `search`. It is drawn among the `of`
    of the person's voice (friends), if that is given. A slot with a `value` is no matter of the
    talk, and neither is an `optional` one that the tool lacks.
    """

    type: Type
    like: str
    search: bool = False
    of: str | None = None
    value: Any = None
    optional: bool = False


class Words(Declared):
    """A frame in the voice of one person.

    `{who}` and other names in braces stand for what was drawn, `<v>` for the main piece, `<s>` for
    the side piece, `<v.double>` for a part of it. `plain`, `round` (about) and `knows` (what the
    user believes to have said) are last messages: `{main}` there is `main` or `hard`, a reference
    to the main piece, and `{side}` is `side`, which says the side piece, or `hidden`, which refers
    to it. In needles, `say` and `side_say` say a piece, `fresh` and `announced` say a new value of
    the main one, and from `situation` it follows. In `worked`, the assistant says it, after `|`.
    """

    plain: Several
    round: Several
    knows: Several
    main: str
    hard: str
    side: str
    hidden: str
    say: Several
    side_say: Several
    fresh: Several
    announced: Several
    situation: Several
    worked: list[str] = []


class Frame(Declared):
    """A kind of errand, as a tool can do it for a person.

    `meaning` is what a tool for it is near to; one whose name has a word of `never` does something
    else all the same. `main` is the slot of the main piece, `side` that of the other one, unless
    they stand inside of the value of another slot (`<v>`, `<s>`). `of` says how values of both are
    drawn (see `values`). `draws` are other things to draw, by person. `easy` and `hard` are how a
    good assistant asks for the main piece, `asked` and `side_asked` by what words such questions
    are known, `answer` and `side_answer` what the user answers. `acks` are what the assistant says
    to a piece. `done` is what it says in the end, `claim` and `must` are the statement about it,
    and `more` are further statements. `ways` are, by service, the tools that do the deed where
    several do; what they take is then judged by the statements and by what changes. `title` and
    `about` name the target.
    """

    effect: Literal["read", "write"]
    meaning: Several
    never: list[str] = []
    slots: dict[str, Slot]
    main: str
    side: str
    of: dict[str, Any] = {}
    title: str
    about: str
    done: str
    must: str | None = None
    claim: dict[str, Any] | None = None
    more: list[dict[str, Any]] = []
    ways: dict[str, list[str]] = {}
    asked: Several
    side_asked: Several
    answer: str
    side_answer: str
    easy: str
    hard: str
    acks: Several
    side_acks: Several
    draws: dict[str, dict[str, list[Any]]] = {}
    words: dict[str, Words]

    @model_validator(mode="after")
    def _whole(self) -> Frame:
        for name, mark in ((self.main, "<v"), (self.side, "<s")):
            if name not in self.slots and self.inside(mark) is None:
                raise UnknownName("slot", name, self.slots)
        return self

    @property
    def type(self) -> Type:
        """The type of the main piece; one that stands inside of a text says it in `of`."""
        slot = self.slots.get(self.main)
        return slot.type if slot is not None else self.of["type"]

    def inside(self, mark: str) -> str | None:
        """Return the slot whose text holds a piece (`<v` or `<s`), or None."""
        for name, slot in self.slots.items():
            if isinstance(slot.value, str) and mark in slot.value:
                return name
        return None


class Rival(Declared):
    """A line in which a value belongs to something else: `what` that is, and what is answered."""

    says: str
    what: str
    ack: str


class Errand(Declared):
    """A small question with a call, whose reply the assistant quotes."""

    ask: str
    call: str
    args: dict[str, Any] = {}
    save: str
    says: str


class Voice(Declared):
    """What a person says around an errand.

    `small` says that sentences may begin with a small letter. `friends` are those with whom money
    is shared, `closings` end a talk, `rivals` are by type of the main piece.
    """

    small: bool = False
    friends: Several
    closings: Several
    rivals: dict[str, list[Rival]]
    errands: list[Errand] = []


@functools.cache
def frames() -> dict[str, Frame]:
    """Return the frames by name. Raises `InputError`."""
    found = {}
    for path in sorted((HERE / "frames").glob("*.yaml")):
        found[path.stem] = _read(path, Frame)
    return found


@functools.cache
def voice(person: str) -> Voice:
    """Return a person's voice. Raises `InputError`."""
    return _read(HERE / "voices" / f"{person}.yaml", Voice)


@functools.cache
def follows() -> list[str]:
    """Return what the assistant says to a situation from which a value follows."""
    return [str(line) for line in read(HERE / "assistant.yaml")["follows"]]


def voices() -> list[str]:
    """Return the persons who have a voice."""
    return sorted(path.stem for path in (HERE / "voices").glob("*.yaml"))


def _read(path: Path, model: Any) -> Any:
    try:
        return model.model_validate(read(path))
    except ValidationError as wrong:
        raise InputError(f"{path}: {explain(wrong, model)}") from None
    except InputError as wrong:
        raise InputError(f"{path}: {wrong}") from None
