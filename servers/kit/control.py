"""The control record of an episode: clock, ids, draws, small state and the trace.

It is never rolled back. A record in memory belongs to one process. If the record is in a file,
`order` puts the calls of several processes one after another.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

from servers.kit.database import connect

_SCHEMA = """
CREATE TABLE IF NOT EXISTS state(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS trace(seq INTEGER PRIMARY KEY, event TEXT NOT NULL);
"""


def _canonical(value: Any) -> Any:
    """Return a JSON value in a form whose text does not depend on the order of keys."""
    if isinstance(value, dict):
        return sorted((k, _canonical(v)) for k, v in value.items())
    if isinstance(value, list):
        return [_canonical(v) for v in value]
    return value


class Control:
    """Clock, ids, draws, state and trace of one episode.

    `start` is the first moment in epoch seconds; `seed` keys the ids and draws. An existing file
    keeps its own clock.
    """

    def __init__(self, start: int, seed: int = 0, path: Path | None = None) -> None:
        self._db = connect(path)
        self.shared = path is not None
        self._db.executescript(_SCHEMA)
        self._db.execute(
            "INSERT OR IGNORE INTO state VALUES('now', ?), ('start', ?), ('seed', ?)",
            (start, start, seed),
        )
        self.seed = int(self.get("seed"))
        self.live: dict[str, Any] = {}
        """Live objects in place of keys of the state, while only one process holds the record.

        See `fault_profiles.model.State`.
        """
        # Cached, because only this process changes them. In a file another process may, so there
        # they are read again.
        self._now: int = self.get("now")
        self._last = self._newest()

    def close(self) -> None:
        """Release the record."""
        self._db.close()

    @contextlib.contextmanager
    def order(self) -> Generator[None]:
        """Hold a record in a file for one call, waiting for other processes first."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            self._db.execute("COMMIT")

    def get(self, key: str, default: Any = None) -> Any:
        """Return a scalar of the state."""
        row = self._db.execute("SELECT value FROM state WHERE key=?", (key,)).fetchone()
        return default if row is None else row[0]

    def put(self, key: str, value: Any) -> None:
        """Store a scalar (text or number)."""
        self._db.execute("INSERT OR REPLACE INTO state VALUES(?,?)", (key, value))

    def get_json(self, key: str, default: Any = None) -> Any:
        """Return a JSON value of the state."""
        text = self.get(key)
        return default if text is None else json.loads(text)

    def put_json(self, key: str, value: Any) -> None:
        """Store a JSON value."""
        self.put(key, json.dumps(value))

    def keys(self, prefix: str) -> list[str]:
        """Return the keys of the state that begin with `prefix`, sorted."""
        rows = self._db.execute(
            "SELECT key FROM state WHERE substr(key,1,?)=? ORDER BY key", (len(prefix), prefix)
        )
        return [row[0] for row in rows]

    @property
    def start(self) -> int:
        """The first moment, in epoch seconds."""
        return self.get("start")

    @property
    def now(self) -> int:
        """The simulated moment, in epoch seconds."""
        return self.get("now") if self.shared else self._now

    def advance(self, seconds: int) -> int:
        """Move the clock on and return the new moment.

        Raises `ValueError` for negative seconds: time never goes back.
        """
        if seconds < 0:
            raise ValueError("time never goes back; advance by 0 seconds or more")
        cursor = self._db.execute(
            "UPDATE state SET value=value+? WHERE key='now' RETURNING value", (seconds,)
        )
        self._now = cursor.fetchone()[0]
        return self._now

    def count(self, name: str) -> int:
        """Return the next number (from 1) of a named counter."""
        cursor = self._db.execute(
            "INSERT INTO state VALUES(?,1) "
            "ON CONFLICT(key) DO UPDATE SET value=value+1 RETURNING value",
            (name,),
        )
        return cursor.fetchone()[0]

    def new_id(self, prefix: str) -> str:
        """Spend and return the next id of a kind, e.g. `vtx_3f9a0c12ab`."""
        return make_id(prefix, self.seed, self.count("id:" + prefix))

    def draw(self, *key: Any) -> float:
        """Return a number in [0, 1) that depends only on the seed and the key."""
        text = repr([self.seed, *map(_canonical, key)])
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) / 2**64

    def record(self, seq: int, event: str) -> None:
        """Append a serialised event to the trace."""
        self._db.execute("INSERT INTO trace VALUES(?,?)", (seq, event))
        self._last = seq

    def next_seq(self) -> int:
        """Return the number of the next event (from 1)."""
        if self.shared:
            self._last = self._newest()
        return self._last + 1

    def _newest(self) -> int:
        return self._db.execute("SELECT coalesce(max(seq),0) FROM trace").fetchone()[0]

    def trace(self, after: int = 0) -> list[str]:
        """Return the serialised events after a sequence number, in order."""
        rows = self._db.execute("SELECT event FROM trace WHERE seq>? ORDER BY seq", (after,))
        return [row[0] for row in rows]


def make_id(prefix: str, *key: Any) -> str:
    """Return an opaque id that depends only on its prefix and key.

    Seeded rows and new rows get ids of the same form.
    """
    digest = hashlib.blake2b(repr((prefix, *key)).encode(), digest_size=5).hexdigest()
    return f"{prefix}_{digest}"


def seeded(prefix: str, key: str) -> str:
    """Return the id of a row of the default world, for examples of calls.

    `key` is the row's name in the world's seeds.
    """
    return make_id(prefix, "maya", key)
