"""YAML as people mean it: `on`, `off`, `yes` and `no` are words, and dates are text, as in JSON.

`on`, for example, is a key of a fault.
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
    """The C loader with the booleans of YAML 1.2 and without timestamps.

    A key that occurs twice in one mapping is an error.
    """

    yaml_implicit_resolvers = {
        first: _without_words(forms)
        for first, forms in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping.

        Raises `ConstructorError` if a key is repeated: PyYAML itself silently keeps the last value.
        """
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE:
                continue
            if key.value in seen:
                problem = f"the key {key.value!r} occurs twice in one mapping"
                raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


Loader.add_implicit_resolver(
    _BOOL, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


def read(path: Path) -> Any:
    """Return the data of a file.

    Raises `InputError` with one line if the file cannot be read.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=Loader)
    except OSError as wrong:
        raise InputError(f"{path}: {wrong.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text") from None
    except (yaml.YAMLError, ValueError) as wrong:
        raise InputError(f"{path}: not valid YAML: {' '.join(str(wrong).split())}") from None
