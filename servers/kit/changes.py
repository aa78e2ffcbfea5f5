"""Entries of a world's log, and how the log is made small."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, TypedDict

from servers.kit.types import Row


class Change(TypedDict):
    """One entry of a world's log: a row added (`old` is None), changed, or deleted (`new` is None).

    `at` is the simulated moment (ISO). `cause` says who made the change: `world`, `agent`, `clock`,
    `post` or `fault:<name>`. An entry from before `World.slim` holds less: an addition lacks its
    row, and a change has only the changed columns.
    """

    seq: int
    at: str
    cause: str
    table: str
    key: Any
    old: Row | None
    new: Row | None


def slim(connection: sqlite3.Connection, after: int = 0) -> None:
    """Leave out of a world's log the rows that were added, and of changes the columns that stayed.

    An addition is undone without its row, because by then the row is as it was added. Entries up to
    the sequence number `after` are slim already; the space is then not given back, which takes as
    long as everything else.
    """
    connection.execute("UPDATE _log SET new=NULL WHERE old IS NULL AND seq>?", (after,))
    changes = connection.execute(
        "SELECT seq, old, new FROM _log WHERE old IS NOT NULL AND new IS NOT NULL AND seq>?",
        (after,),
    )
    for seq, old_text, new_text in changes.fetchall():
        old = json.loads(old_text)
        new = json.loads(new_text)
        # What is slim already has the columns that changed, and no others.
        changed = [column for column in old if old[column] != new[column]]
        was = json.dumps({column: old[column] for column in changed}, ensure_ascii=False)
        became = json.dumps({column: new[column] for column in changed}, ensure_ascii=False)
        connection.execute("UPDATE _log SET old=?, new=? WHERE seq=?", (was, became, seq))
    if not after:
        connection.execute("VACUUM")
