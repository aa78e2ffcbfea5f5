"""Writes the schemas, and the settings that let an editor use them, into a folder of an author.

VS Code reads them with the extension YAML (redhat.vscode-yaml), any other editor with
yaml-language-server and the same `yaml.schemas`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from client_harness.authoring.schema import SCHEMAS, schema
from servers.kit.errors import InputError

FOLDER = ".vscode/haywire"
SETTINGS = ".vscode/settings.json"
KEY = "yaml.schemas"
GLOBS = {
    "scenario": ["*.scenario.yaml", "**/scenarios/suites/*/**/[!_]*.yaml"],
    "faults": ["*.faults.yaml", "**/fault_profiles/profiles/*.yaml"],
}
"""The files to which a schema applies by default: by their ending, or by where they ship."""

_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[}\]])', re.DOTALL)


def write(folder: Path, globs: Mapping[str, Sequence[str]], worlds: list[str] | None) -> list[Path]:
    """Write the schemas and the settings below a folder, and return the files that changed.

    `globs` are further files for each kind of schema. Other settings stay as they are, and so do
    comments. Raises `InputError` if the settings cannot be changed without losing something; then
    nothing is written.
    """
    wanted: dict[str, list[str]] = {}
    for kind in SCHEMAS:
        own = dict.fromkeys([*GLOBS[kind], *globs.get(kind, ())])
        wanted[f"./{FOLDER}/{kind}.schema.json"] = list(own)
    place = folder / SETTINGS
    try:
        before = place.read_text(encoding="utf-8") if place.exists() else ""
    except (OSError, UnicodeDecodeError) as wrong:
        raise InputError(f"{place}: {wrong}") from None
    texts = {place: settings(before, wanted, str(place))}
    for kind in SCHEMAS:
        made = schema(kind, worlds)
        texts[folder / FOLDER / f"{kind}.schema.json"] = json.dumps(made, ensure_ascii=False) + "\n"
    changed = []
    for path, text in texts.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            _put(path, text)
            changed.append(path)
    return changed


def _put(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.resolve()  # a link stays a link
        part = whole.with_name(whole.name + ".part")
        part.write_text(text, encoding="utf-8")
        part.replace(whole)
    except OSError as wrong:
        raise InputError(f"{path}: {wrong.strerror}") from None


def settings(text: str, wanted: Mapping[str, Sequence[str]], place: str) -> str:
    """Return the text of a settings file with our schemas among its own.

    A file without `yaml.schemas` gets it as its first setting, and the rest of the text stays as it
    is, comments too. Raises `InputError`, with what to paste, for a file that has comments and
    other schemas at once, and for one that is no JSON object.
    """
    if not text.strip():
        return json.dumps({KEY: wanted}, indent=2, ensure_ascii=False) + "\n"
    paste = json.dumps({KEY: wanted}, ensure_ascii=False)[1:-1]
    known, has_comments = _read(text, place, paste)
    schemas = known.get(KEY, {})
    if not isinstance(schemas, dict):
        raise InputError(f"{place}: {KEY} is no object, so nothing was changed; paste {paste}")
    merged = {name: _joined(schemas.get(name), globs) for name, globs in wanted.items()}
    if all(schemas.get(name) == globs for name, globs in merged.items()):
        return text
    if KEY not in known:
        return _first_setting(text, wanted, more=bool(known))
    if has_comments:
        raise InputError(
            f"{place} has comments and own schemas, so nothing was changed; "
            f"set in it by hand: {paste}"
        )
    known[KEY] = {**schemas, **merged}
    indent = re.search(r"\n([ \t]+)\"", text)
    return json.dumps(known, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"


def _joined(own: Any, wanted: Sequence[str]) -> Any:
    """Return the files that a schema applies to already, with ours that are missing."""
    listed = [own] if isinstance(own, str) else own
    if not isinstance(listed, list):
        return list(wanted)
    missing = [glob for glob in wanted if glob not in listed]
    return [*listed, *missing] if missing else own


def _read(text: str, place: str, paste: str) -> tuple[dict[str, Any], bool]:
    """Return settings, and whether their text is more than plain JSON."""
    plain = _COMMENT.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)
    plain = _TRAILING.sub(lambda found: found[0] if found[0].startswith('"') else "", plain)
    try:
        known = json.loads(plain)
    except ValueError as broken:
        raise InputError(
            f"{place} is not JSON ({broken}), so nothing was changed; repair it, or paste {paste}"
        ) from None
    if not isinstance(known, dict):
        raise InputError(f"{place} is no object of settings, so nothing was changed")
    return known, plain != text


def _first_setting(text: str, wanted: Mapping[str, Sequence[str]], *, more: bool) -> str:
    """Put our schemas behind the brace that opens the settings."""
    opening = next(found.start() for found in _braces(text))
    body = json.dumps({KEY: wanted}, indent=2, ensure_ascii=False)
    inner = body[1:].rstrip().removesuffix("}").rstrip()
    rest = text[opening + 1 :]
    if more:
        return f"{text[: opening + 1]}{inner},{rest}"
    return f"{text[: opening + 1]}{inner}\n{rest.lstrip()}"


def _braces(text: str) -> list[re.Match[str]]:
    hidden = [found.span() for found in _COMMENT.finditer(text)]
    braces = []
    for found in re.finditer(r"\{", text):
        if not any(start <= found.start() < end for start, end in hidden):
            braces.append(found)
    return braces
