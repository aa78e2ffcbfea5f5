"""What was proven, kept in the cache folder under the scenario, its world and the code."""

from __future__ import annotations

import contextlib
import glob
import json
from pathlib import Path
from typing import Any

from client_harness.fingerprints import code
from scenarios import load
from scenarios.model import Scenario
from scenarios.worlds import build
from servers.kit.files import hash_of


def place(name: str | Path, text: str, scenario: Scenario) -> Path:
    """Return the file in which the proof of a scenario is kept; `text` is the scenario's YAML."""
    parts = [text, load.fingerprint(scenario), build.fingerprint(scenario.world), code()]
    key = hash_of(part.encode() for part in parts)
    stem = str(name).removesuffix(".yaml").replace("/", "__").strip("_.")
    return build.cache() / "proofs" / f"{stem}-{key}.json"


def read(path: Path) -> dict[str, Any] | None:
    """Return a proof that was kept, or None."""
    with contextlib.suppress(OSError, ValueError):
        kept = json.loads(path.read_bytes())
        return kept if isinstance(kept, dict) else None
    return None


def write(path: Path, proven: dict[str, Any]) -> None:
    """Keep a proof. If the folder cannot be written, the only cost is another proof next time."""
    with contextlib.suppress(OSError):
        build.keep(path, json.dumps(proven, ensure_ascii=False).encode())
        name, _, number = path.stem.rpartition("-")
        proofs = path.parent.glob(f"{glob.escape(name)}-{'?' * len(number)}.json")
        for old in sorted(proofs, key=lambda p: p.stat().st_mtime)[: -build.KEPT]:
            old.unlink()
