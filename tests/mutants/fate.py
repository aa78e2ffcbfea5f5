"""What becomes of a mutant: refused at load, refused by `check`, excused by a rule, or silent."""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from scenarios.load import fingerprint, parse
from scenarios.model import Scenario
from servers.kit.errors import InputError
from servers.kit.expr.paths import parse as parse_path
from servers.kit.expr.predicates import OPERATORS
from tests.mutants.places import places
from tests.mutants.slips import Mutant, at

SLOWEST = 2.0
"""How many seconds of the processor a load may take."""


@dataclass(frozen=True)
class Fate:
    """`what` is load, check, excused, silent, crash or slow; `line` is what was said."""

    what: str
    line: str
    faults: tuple[str, ...] = ()
    """What is wrong with the line itself."""


Paths = Callable[[Scenario], list[str]]
"""What `check` says about the paths of a scenario into replies."""


def fate(mutant: Mutant, original: Scenario, paths: Paths | None) -> Fate:
    """Return what becomes of a mutant."""
    start = time.process_time()
    try:
        made = parse(mutant.raw, mutant.scenario, "FILE")
    except InputError as wrong:
        line = str(wrong).removeprefix("FILE: ")
        if time.process_time() - start > SLOWEST:
            return Fate("slow", line)
        return Fate("load", line, tuple(_flaws(line, mutant)))
    except Exception:
        return Fate("crash", traceback.format_exc(limit=-2).replace("\n", " | "))
    if time.process_time() - start > SLOWEST:
        return Fate("slow", "")
    reason = excuse(mutant, made, original)
    if reason is not None:
        return Fate("excused", reason)
    if paths is not None:
        try:
            problems = paths(made)
        except Exception:
            return Fate("crash", traceback.format_exc(limit=-2).replace("\n", " | "))
        if problems:
            return Fate("check", problems[0], tuple(_flaws(problems[0], mutant)))
    return Fate("silent", "")


# -- excuses -------------------------------------------------------------------------------------
def excuse(mutant: Mutant, made: Scenario, original: Scenario) -> str | None:
    """Return why a mutant means the same as the original, or None."""
    if fingerprint(made) == fingerprint(original):
        return "reads as the same scenario"
    if mutant.place.sort in DEFINITIONS and _unused(mutant):
        return "the new name of something that nothing else names"
    if mutant.place.at[0] == "tools" and mutant.place.sort == "tool":
        return "another pattern, which still offers all tools that the scripts call"
    if mutant.place.sort == "operator" and mutant.new in OPERATORS:
        return "another operator, which a person may have meant"
    if mutant.place.how == "key" and _same_path(mutant):
        return "reads as the same path"
    return None


def _same_path(mutant: Mutant) -> bool:
    try:
        return parse_path(mutant.old) == parse_path(mutant.new)
    except InputError:
        return False


DEFINITIONS = {"fault name", "check name", "capture name", "answer key", "name", "step"}


def _unused(mutant: Mutant) -> bool:
    """Return whether no other place of the file names what the mutant has renamed."""
    for place in places(mutant.raw):
        if place.sort in NAMING and place.at != mutant.place.at:
            value = at(mutant.raw, place.at[:-1])[place.at[-1]] if place.how != "key" else None
            text = str(place.at[-1]) if value is None else str(value)
            low, high = place.span or (0, len(text))
            if text[low:high] == mutant.old:
                return False
    return True


NAMING = DEFINITIONS | {"capture name"}


# -- the line ------------------------------------------------------------------------------------
_REMEDY = re.compile(
    r"did you mean|known:|expected|write |should be|needs|wants|takes|wrong with|one of|"
    r"there is only|there are|give it|use a|leave|there is nothing in it|choose|must|"
    r"it is an? |written like|has no fields"
)


def _flaws(line: str, mutant: Mutant) -> list[str]:
    """Return what is wrong with an error line, as far as a program can tell."""
    flaws = []
    if "\n" in line or not line:
        flaws.append("not one line")
    if len(line) > 400:
        flaws.append("longer than 400 signs")
    place = mutant.place
    new = mutant.new.strip("'\"").replace("*", "")
    old = mutant.old.replace("*", "")
    if place.how in ("key", "word") and new not in line:
        flaws.append("does not hold the mistaken word")
    if not _REMEDY.search(line):
        flaws.append("no remedy")
    if place.how in ("key", "word") and old not in line and "known:" not in line:
        flaws.append("does not hold the right word")
    heads = [str(part) for part in place.at if isinstance(part, str)]
    if place.sort not in DEFINITIONS and not any(
        _names(head, line) for head in (heads if len(heads) < 2 else heads[:-1])
    ):
        flaws.append("does not name the place")
    return flaws


def _names(head: str, line: str) -> bool:
    plain = head.rstrip("s")
    return plain in line
