"""Fault profiles: named lists of faults that replace a scenario's own or are put on a world to play
with.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fault_profiles.model import Fault, check_together, parse
from servers.kit.errors import InputError, UnknownName, cut
from servers.kit.plain import is_there, text_of
from servers.kit.yaml import read

HERE = Path(__file__).parent / "profiles"


def profiles() -> tuple[str, ...]:
    """Return the names of the shipped profiles; a new file in `profiles/` adds one."""
    return tuple(sorted(p.stem for p in HERE.glob("*.yaml")))


def locate(name: str) -> Path:
    """Return the file of a profile, given by name or as a path ending in `.yaml`.

    Raises `InputError`.
    """
    if name in profiles():
        return HERE / f"{name}.yaml"
    path = Path(name)
    if path.suffix not in (".yaml", ".yml"):
        raise UnknownName("profile", name, profiles())
    if not is_there(path):
        raise InputError(f"there is no file {cut(str(path), 200)}")
    return path.resolve()


@dataclass(frozen=True)
class Profile:
    """A named list of faults: the name is a shipped profile's, or the absolute path of a file.

    `text` is the content of the file.
    """

    name: str
    text: str
    faults: list[Fault]


def profile(name: str, *, open: bool = False) -> Profile:
    """Return a profile by name or path. Raises `InputError`.

    With `open` it is for servers that are not ours (see `fault_profiles.model.parse`).
    """
    path = locate(name)
    listed = read(path)
    if not isinstance(listed, list):
        raise InputError(
            f"{path}: a profile is a list of faults, e.g. `- outage: {{on: 'venmo.*'}}`"
        )
    faults = [parse(item, f"{path}: [{i}]", open=open) for i, item in enumerate(listed)]
    try:
        check_together(faults)
    except InputError as wrong:
        raise InputError(f"{path}: {wrong}") from None
    shipped = path.parent == HERE
    return Profile(path.stem if shipped else str(path), text_of(path), faults)
