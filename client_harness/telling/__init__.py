"""What a run tells its agents: instructions, and layers of guidance on top of them.

The texts are files: `instructions/<name>.md` and `guides/<name>.md`. The guide `schema` has no text
of its own; it adds hints to the descriptions of tools (see `schema`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from servers.kit.errors import InputError, UnknownName
from servers.kit.files import hash_of
from servers.kit.plain import text_of

HERE = Path(__file__).parent
Instructions = Literal["replace", "append", "message"]
"""What an agent can do with instructions: put them in place of its prompt, or after it, or only
pass them on with the user's first message.
"""
NONE = "none"
"""In place of instructions: nothing at all."""
PLAIN = "plain"
DEFAULTS: dict[Instructions, str] = {"replace": PLAIN, "append": NONE, "message": NONE}
"""What an agent is told by default.

An agent whose whole prompt is the run's needs to hear what it is; one that brings a prompt of its
own is tested as it is shipped.
"""
SCHEMA = "schema"
TODAY = "$today"
"""In instructions: the simulated day."""


def named_instructions() -> tuple[str, ...]:
    """Return the names of the instructions that there are, `none` among them."""
    return (NONE, *sorted(path.stem for path in (HERE / "instructions").glob("*.md")))


def guides() -> tuple[str, ...]:
    """Return the names of the layers of guidance, in the order in which an agent reads them."""
    texts = sorted(path.stem for path in (HERE / "guides").glob("*.md"))
    return tuple(sorted([SCHEMA, *texts], key=_place))


def _place(guide: str) -> tuple[int, str]:
    order = ("preamble", SCHEMA, "exemplars", "reasoning")
    return (order.index(guide) if guide in order else len(order), guide)


@dataclass(frozen=True)
class Told:
    """What a run tells its agents.

    `instructions` is a name, the absolute path of a file, or None for each agent's default.
    """

    instructions: str | None = None
    guide: tuple[str, ...] = ()

    @property
    def schema(self) -> bool:
        """Whether the descriptions of tools have hints."""
        return SCHEMA in self.guide

    def instructions_for(self, kind: Instructions) -> str:
        """Return what an agent of a kind is told: a name or a path."""
        return DEFAULTS[kind] if self.instructions is None else self.instructions

    def text(self, kind: Instructions, now: int) -> str:
        """Return everything that an agent of a kind is told at a moment; it may be nothing."""
        parts = [_text(self.instructions_for(kind))]
        parts += [_guide(name) for name in self.guide if name != SCHEMA]
        day = datetime.fromtimestamp(now, UTC)
        today = f"{day:%A}, {day.day} {day:%B %Y}"
        return "\n\n".join(part for part in parts if part).replace(TODAY, today)

    def as_json(self, kind: Instructions) -> dict[str, object]:
        """Return what a trial's row keeps: `{instructions, as, guide}`."""
        return {"instructions": self.instructions_for(kind), "as": kind, "guide": list(self.guide)}

    @property
    def fingerprint(self) -> str:
        """The hash of all texts that agents may be told."""
        given = [self.instructions] if self.instructions is not None else sorted(DEFAULTS.values())
        texts = [*(_text(name) for name in given), *self.guide]
        texts += [_guide(name) for name in self.guide if name != SCHEMA]
        named = self.instructions or "default"
        name = "-".join([Path(named).stem, *self.guide])
        return f"{name} {hash_of(text.encode() for text in texts)}"


def told(instructions: str | None, guide: Sequence[str] = ()) -> Told:
    """Return what these names tell; a name of instructions may be the path of a file.

    Raises `UnknownName`, and `InputError` for a file that cannot be read.
    """
    for name in guide:
        if name not in guides():
            raise UnknownName("guide", name, guides())
    if instructions is not None and instructions not in named_instructions():
        path = Path(instructions)
        if not path.exists():
            raise UnknownName("instructions", instructions, named_instructions(), "--instructions")
        instructions = str(path.resolve())
        if not _text(instructions):
            raise InputError(f"--instructions {path}: the file is empty; for no instructions: none")
    return Told(instructions, tuple(sorted(set(guide), key=_place)))


def _text(name: str) -> str:
    if name == NONE:
        return ""
    path = HERE / "instructions" / f"{name}.md" if name in named_instructions() else Path(name)
    return text_of(path).strip()


def _guide(name: str) -> str:
    return text_of(HERE / "guides" / f"{name}.md").strip()
