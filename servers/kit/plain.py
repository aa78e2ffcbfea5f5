"""Plain data: what JSON can hold, what every reader of JSON agrees on, and how much of it we take.

Numbers are the catch. Python writes NaN and the infinities into JSON, where they do not exist, and
reads integers of any length, which neither SQLite nor most readers of JSON can hold.
"""

from __future__ import annotations

import json
import math
import stat
from pathlib import Path
from typing import Any, NoReturn

from servers.kit.errors import InputError, cut, quoted

MOST_BYTES = 1_000_000
"""How large a file from outside may be."""
MOST_INT = 2**63 - 1
"""The largest integer that a row can hold; its negative is the smallest that we take."""


def text_of(path: Path, most: int = MOST_BYTES) -> str:
    """Return the text of a file that a person named, as UTF-8.

    Raises `InputError` if it cannot be read, is no ordinary file, or has more than `most` bytes.
    Its size is looked at before it is read, and a pipe, which could make us wait, is not opened.
    """
    where = cut(str(path), 200)
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            kind = "a folder" if stat.S_ISDIR(about.st_mode) else "a pipe or a device"
            raise InputError(f"{where}: is {kind}, not a file")
        if about.st_size > most:
            raise InputError(
                f"{where}: has {about.st_size:,} bytes, but at most {most:,} are read; split it up"
            )
        with path.open("rb") as file:
            data = file.read(most + 1)
        return data[:most].decode("utf-8-sig")
    except OSError as wrong:
        raise InputError(f"{where}: {wrong.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{where}: not UTF-8 text") from None
    except ValueError as wrong:  # a name with a NUL character
        raise InputError(f"{where!r}: {wrong}") from None


def is_there(path: Path) -> bool:
    """Return whether a path leads to something; one that no system takes as a name does not."""
    try:
        path.stat()
    except (OSError, ValueError):
        return False
    return True


def check_name(name: str, what: str) -> str:
    """Return a name that becomes a file or a folder. Raises `InputError` if it cannot be one."""
    if not name or name.startswith(".") or len(name) > 100 or not name.isprintable():
        raise InputError(
            f"{what} {quoted(name)}: cannot be a name; use up to 100 letters, digits, - and _, "
            "and no dot at the beginning"
        )
    if "/" in name or "\\" in name:
        raise InputError(f"{what} {quoted(name)}: a name holds no slash")
    return name


def problem(number: float) -> str | None:
    """Return why a number is not plain data, or None if it is."""
    if isinstance(number, int):
        return None if -MOST_INT <= number <= MOST_INT else "an integer of more than 63 bits"
    return None if math.isfinite(number) else f"{number} is no number in JSON"


def from_json(text: str | bytes) -> Any:
    """Return the data of JSON that others wrote.

    Raises `ValueError` if it is not JSON, for NaN and the infinities, for an integer of more than
    63 bits, and for nesting that is too deep to follow.
    """
    try:
        return json.loads(
            text, parse_constant=_no_number, parse_int=_integer, parse_float=_fraction
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


def _integer(digits: str) -> int:
    if len(digits) > 20:
        raise ValueError(f"the integer {cut(digits, 30)} has more than 63 bits")
    number = int(digits)
    if problem(number):
        raise ValueError(f"the integer {digits} has more than 63 bits")
    return number


def _fraction(digits: str) -> float:
    number = float(digits)
    if problem(number):
        raise ValueError(f"the number {cut(digits, 30)} is too large")
    return number


def is_plain(value: Any) -> bool:
    """Return whether all numbers in a JSON value are plain data."""
    if isinstance(value, float | int):
        return problem(value) is None
    if isinstance(value, dict):
        return all(is_plain(inner) for inner in value.values())
    if isinstance(value, list | tuple):
        return all(is_plain(inner) for inner in value)
    return True


def made_plain(value: Any) -> Any:
    """Return a JSON value with every number that is not plain replaced.

    A large integer becomes a decimal number; NaN, the infinities and integers that are too large
    for that become text, which no tool takes for a number.
    """
    if isinstance(value, float | int):
        if problem(value) is None:
            return value
        try:
            return float(value) if math.isfinite(value) else str(value)
        except OverflowError:
            return "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: made_plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [made_plain(inner) for inner in value]
    return value
