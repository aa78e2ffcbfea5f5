"""Edits in other programs' configuration files, which keep everything else as people wrote it.

Each form of file has a module with `parse(text)`, which returns its data, and with `put` and
`take`, which return the text with an entry of a section set or removed. Comments, order and
spacing of the rest stay. What an edit has made is read again: unless it is exactly the old data
with that one change, nothing is written. So an edit may be simple, and cannot do harm.
"""

from __future__ import annotations

import codecs
import copy
import importlib
import stat
from pathlib import Path
from typing import Any, Literal

from servers.kit.errors import InputError, cut
from servers.kit.plain import is_there, text_of

Form = Literal["json", "jsonc", "toml", "yaml"]
"""How a file is written; `jsonc` is JSON with comments and with commas before a bracket."""
MOST = 50_000_000
"""How many bytes a configuration may have; some programs keep their history in it."""


class NotEditable(Exception):
    """Why a text cannot be edited, as the end of a sentence about the file."""


def put(path: Path, form: Form, section: str, name: str, entry: dict[str, Any]) -> None:
    """Set an entry in a section of a file, both of which are made if they are missing.

    Raises `InputError` if the file cannot be read or edited; then it is as it was.
    """
    text = _text(path)
    old = _data(path, form, text, section)
    wanted = copy.deepcopy(old)
    wanted.setdefault(section, {})[name] = entry
    if wanted != old:
        _replace(path, _edited(path, form, text, wanted, ("put", section, name, entry)))


def take(path: Path, form: Form, section: str, name: str) -> bool:
    """Remove an entry from a section of a file, and a section that then holds nothing at all.

    Returns whether it was there. Raises `InputError` as `put` does.
    """
    text = _text(path)
    wanted = _data(path, form, text, section)
    if name not in wanted.get(section, {}):
        return False
    del wanted[section][name]
    _replace(path, _edited(path, form, text, wanted, ("take", section, name)))
    return True


def fresh(form: Form, section: str, name: str, entry: dict[str, Any]) -> str:
    """Return the text of a file that has nothing but this entry."""
    return _module(form).put("", section, name, entry)


def _module(form: Form) -> Any:
    return importlib.import_module(f"client_harness.configs.{_MODULES[form]}")


_MODULES = {"json": "_json", "jsonc": "_jsonc", "toml": "_toml", "yaml": "_yaml"}
_NAMES = {"json": "JSON", "jsonc": "JSON", "toml": "TOML", "yaml": "YAML"}


def _text(path: Path) -> str:
    return text_of(path, MOST) if is_there(path) else ""


def _data(path: Path, form: Form, text: str, section: str) -> dict[str, Any]:
    """Return the data of a file, whose section holds entries by name, or is missing."""
    try:
        data = _module(form).parse(text)
    except (ValueError, InputError) as broken:
        raise InputError(
            f"{cut(str(path), 200)!r} is not {_NAMES[form]} ({_line(broken)}); it was not changed, "
            "so repair it or add the entry by hand"
        ) from None
    if not isinstance(data, dict) or not isinstance(data.get(section, {}), dict):
        raise InputError(
            f"{path} is not a configuration with an object {section!r}; it was not changed"
        )
    return data


def _line(problem: Exception) -> str:
    return cut(" ".join(str(problem).split()), 200)


def _edited(
    path: Path, form: Form, text: str, wanted: dict[str, Any], edit: tuple[Any, ...]
) -> str:
    how, *what = edit
    module = _module(form)
    try:
        made = getattr(module, how)(text, *what)
        found = module.parse(made)
        if isinstance(found, dict) and not wanted[what[0]]:
            found.setdefault(what[0], {})  # an empty section may be there or not
        if found == wanted:
            return made
    except (NotEditable, ValueError, InputError):
        pass
    deed = "add" if how == "put" else "remove"
    raise InputError(
        f"{path} is written in a way that cannot be edited without a risk to the rest; "
        f"it was not changed, so {deed} {what[1]!r} of {what[0]!r} by hand"
    )


def _replace(path: Path, text: str) -> None:
    """Write a file in one move; a link stays a link, and a mode or a mark of UTF-8 is kept."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.resolve()
        part = whole.with_name(whole.name + ".part")
        marked = is_there(whole) and whole.read_bytes().startswith(codecs.BOM_UTF8)
        part.write_text(text, encoding="utf-8-sig" if marked else "utf-8", newline="")
        if is_there(whole):
            part.chmod(stat.S_IMODE(whole.stat().st_mode))
        part.replace(whole)
    except OSError as wrong:
        raise InputError(f"{path}: {wrong.strerror}") from None
