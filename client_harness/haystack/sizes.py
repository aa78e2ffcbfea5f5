"""How large instances are, beside the figures that ToolHaystack published for its own.

A turn is one text of the user or the assistant. Tokens are those of `cl100k_base`, the vocabulary
that comes with litellm; calls and replies are counted as compact JSON.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypedDict

from client_harness.table import Table
from client_harness.workers import workers
from scenarios.haystack import history, instances
from scenarios.haystack.targets import KINDS


class Size(TypedDict):
    """The size of an instance's history: counts, and tokens of talk and of calls with replies."""

    sessions: float
    turns: float
    talk: float
    calls: float


PUBLISHED: dict[str, dict[str, float]] = {
    "recall_single": {
        "instances": 93,
        "sessions": 16.1,
        "turns": 76.8,
        "talk": 1441,
        "calls": 6913,
    },
    "recall_multi": {"instances": 52, "sessions": 13.3, "turns": 69.9, "talk": 1450, "calls": 8678},
    "shift_explicit": {
        "instances": 60,
        "sessions": 14.2,
        "turns": 76.2,
        "talk": 1555,
        "calls": 7798,
    },
    "shift_implicit": {
        "instances": 84,
        "sessions": 13.6,
        "turns": 78.8,
        "talk": 1543,
        "calls": 10798,
    },
    "missing_easy": {"instances": 79, "sessions": 11.3, "turns": 50.2, "talk": 879, "calls": 6373},
    "missing_hard": {"instances": 85, "sessions": 12.8, "turns": 64.5, "talk": 1340, "calls": 9015},
}
"""Means over the instances of each kind (ToolHaystack, table 2)."""
PARTS = ("sessions", "turns", "talk", "calls")


def tokens(text: str) -> int:
    """Return the number of tokens of a text."""
    spec = importlib.util.find_spec("litellm")
    assert spec is not None and spec.origin is not None
    # Otherwise the vocabulary would be fetched from the network.
    vocabulary = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(vocabulary))
    import tiktoken

    return len(tiktoken.get_encoding("cl100k_base").encode(text, disallowed_special=()))


def size(name: str) -> Size:
    """Return the size of an instance's history."""
    made = instances.instance(name)
    assert made.history is not None
    return counted(history.live(made.history).sessions)


def counted(sessions: Sequence[history.LivedSession]) -> Size:
    """Return the size of past sessions."""
    texts = []
    calls = []
    for session in sessions:
        for message in session["messages"]:
            if "text" in message:
                texts.append(message["text"])
            for call in message.get("calls", ()):
                told = [call["server"], call["tool"], call["args"], call["reply"]]
                calls.append(json.dumps(told, ensure_ascii=False, separators=(",", ":")))
    return {
        "sessions": len(sessions),
        "turns": len(texts),
        "talk": sum(map(tokens, texts)),
        "calls": sum(map(tokens, calls)),
    }


def sizes(names: Sequence[str], jobs: int | None = None) -> dict[str, Size]:
    """Return the sizes of instances, measured on all cores."""
    jobs = min(jobs or os.cpu_count() or 1, len(names))
    if jobs <= 1:
        return {name: size(name) for name in names}
    with workers(jobs) as pool:
        return dict(zip(names, pool.map(size, names), strict=True))


def means(measured: dict[str, Size]) -> dict[str, dict[str, Any]]:
    """Return kind → `{instances, sessions, turns, talk, calls}`, as means over its instances."""
    found: dict[str, dict[str, Any]] = {}
    for kind in KINDS:
        own = [one for name, one in measured.items() if instances.split(name)[0] == kind]
        if own:
            found[kind] = {"instances": len(own)}
            for part in PARTS:
                found[kind][part] = _mean(one[part] for one in own)
    return found


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return round(sum(listed) / len(listed), 1)


def table(measured: dict[str, Size]) -> Table:
    """Return the means beside the published ones: `84.0 of 76.8 (+9%)`."""
    rows = []
    for kind, mean in means(measured).items():
        row = [kind, f"{mean['instances']} of {PUBLISHED[kind]['instances']:.0f}"]
        for part in PARTS:
            theirs = PUBLISHED[kind][part]
            row.append(f"{mean[part]:,} of {theirs:,} ({mean[part] / theirs - 1:+.0%})")
        rows.append(row)
    columns = ["kind", "instances", "sessions", "turns", "tokens of talk", "tokens of calls"]
    return {"title": "Ours of the published means", "columns": columns, "rows": rows}
