"""Fixtures of all tests."""

from __future__ import annotations

import gc

import pytest


def pytest_collection_finish(session: pytest.Session) -> None:
    """Spare the collector what lives to the end: ten thousand tests, the services, the worlds."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


@pytest.fixture
def anyio_backend() -> str:
    """Asynchronous tests run on asyncio alone."""
    return "asyncio"
