"""Hooks and fixtures of all tests."""

from __future__ import annotations

import gc

import pytest


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep the garbage collector away from objects that live to the end.

    These are ten thousand tests, the services and the worlds.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


@pytest.fixture
def anyio_backend() -> str:
    """Run asynchronous tests on asyncio only."""
    return "asyncio"
