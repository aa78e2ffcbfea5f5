"""How the kit opens SQLite: autocommit, usable from any thread, closed when nothing holds it."""

from __future__ import annotations

import contextlib
import functools
import sqlite3
from pathlib import Path


class Connection(sqlite3.Connection):
    """A connection that closes itself, because copies of worlds come and go in large numbers."""

    def __del__(self) -> None:
        # A connection that could not be opened cannot be closed either.
        with contextlib.suppress(sqlite3.ProgrammingError):
            self.close()


def connect(path: Path | str | None = None) -> sqlite3.Connection:
    """Return a connection in memory or to a file, where it waits up to 10 s for other processes.

    A string is a URI of SQLite's.
    """
    connection = sqlite3.connect(
        path or ":memory:",
        isolation_level=None,
        check_same_thread=False,
        factory=Connection,
        uri=isinstance(path, str),
    )
    if isinstance(path, Path):
        connection.execute("PRAGMA busy_timeout=10000")
    return connection


def from_image(image: bytes) -> sqlite3.Connection:
    """Return a connection to a private in-memory database that holds these bytes."""
    connection = connect()
    connection.deserialize(image)
    return connection


def copy(source: sqlite3.Connection) -> sqlite3.Connection:
    """Return a private copy in memory."""
    return from_image(source.serialize())


def packed(image: bytes) -> bytes:
    """Return the same database without free space and with each table's pages side by side."""
    connection = from_image(image)
    connection.execute("VACUUM")
    return connection.serialize()


@functools.cache
def closed() -> sqlite3.Connection:
    """Return a connection on which every operation raises, because it is closed."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.close()
    return connection
