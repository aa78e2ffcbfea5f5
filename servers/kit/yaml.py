"""YAML as people mean it: `on`, `off`, `yes` and `no` are words (a fault's key is `on`), and a date
is its text, as in JSON.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from servers.kit.errors import InputError

_BOOL = "tag:yaml.org,2002:bool"
_TIME = "tag:yaml.org,2002:timestamp"
_MERGE = "tag:yaml.org,2002:merge"


def _without_words(forms: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return [(tag, form) for tag, form in forms if tag not in (_BOOL, _TIME)]


class Loader(yaml.CSafeLoader):
    """The C loader with YAML 1.2's booleans and without timestamps.

    A key that stands twice in one mapping is an error.
    """

    yaml_implicit_resolvers = {
        first: _without_words(forms)
        for first, forms in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping.

        Raises `ConstructorError` where a key is repeated: the loader of YAML keeps the last one and
        says nothing.
        """
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE:
                continue
            if key.value in seen:
                problem = f"the key {key.value!r} stands twice in one mapping"
                raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


Loader.add_implicit_resolver(
    _BOOL, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


def read(path: Path) -> Any:
    """Return what a file holds. Raises `InputError` with one line where it cannot be read."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=Loader)
    except OSError as wrong:
        raise InputError(f"{path}: {wrong.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not text in UTF-8") from None
    except (yaml.YAMLError, ValueError) as wrong:
        raise InputError(f"{path}: not YAML: {' '.join(str(wrong).split())}") from None
