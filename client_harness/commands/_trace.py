"""A trace in a form that people can read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from servers.kit.events import Attempt, End, Message, Notice, read_trace
from servers.kit.store import Change


def lines(path: Path, longest: int | None) -> Iterator[str]:
    """Yield lines of text; replies longer than `longest` characters are cut.

    Raises `InputError` if the file is not a trace.
    """
    events = read_trace(path)

    def short(value: Any) -> str:
        text = json.dumps(value, ensure_ascii=False)
        if longest is None or len(text) <= longest:
            return text
        return text[:longest] + f" … ({len(text)} characters)"

    for event in events:
        head = f"{event.seq:>3}  {event.at}  "
        if isinstance(event, Message):
            yield f"{head}{event.role}: {event.text}"
        elif isinstance(event, Attempt):
            yield f"{head}{event.name} {json.dumps(event.args, ensure_ascii=False)}"
            yield f"       {'error' if event.is_error else 'saw'}: {short(event.seen)}"
            for firing in event.firings:
                why = f" could not act: {firing.failed}" if firing.failed else ""
                yield f"       fault {firing.fault} ({firing.kind}, firing {firing.number}){why}"
            if event.firings and event.truth is not None and event.truth != event.seen:
                yield f"       true: {short(event.truth)}"
            for change in event.effects:
                row = f"{change['table']} {change['key']}"
                yield f"       {_done(change)} {row} ({change['cause']})"
            if event.opened or event.evidence:
                opened = ", ".join(event.opened) or "–"
                settled = ", ".join(event.evidence) or "–"
                yield f"       opens {opened}; settles {settled}"
            if event.bug:
                yield f"       bug in Haywire: {event.bug}"
        elif isinstance(event, End):
            yield f"{head}end {short(event.as_notice()['detail'])}"
        elif isinstance(event, Notice):
            yield f"{head}{event.what} {short(event.detail)}"


def _done(change: Change) -> str:
    if change["old"] is None:
        return "added"
    return "removed" if change["new"] is None else "changed"
