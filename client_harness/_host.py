"""The HTTP host of a run.

It starts when the first external agent asks for its servers, and serves every live episode of this
process.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup, TaskStatus

from client_harness.tools import ours
from servers.kit.session import ALL, Session

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from servers.kit.app import Episodes

Servers = Callable[[], Awaitable[list[dict[str, Any]]]]
"""Starts the host if it is not up and returns `[{name, url, headers}]`, one server per service."""


class Host:
    """Serves episodes under numbers that reveal nothing about their scenarios.

    Each episode has its own token.
    """

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._starting = anyio.Lock()
        self._closing = anyio.Event()
        self._numbers = count(1)
        self._port: int | None = None
        self._episodes: Episodes | None = None

    @contextmanager
    def offers(self, session: Session) -> Generator[Servers]:
        """Yield the function that gives an episode's agent its servers.

        The servers are gone when the context ends.
        """
        name = f"e{next(self._numbers)}"
        token = secrets.token_urlsafe(24)

        served = False

        async def servers() -> list[dict[str, Any]]:
            nonlocal served
            with ours("the HTTP host"):
                episodes, port = await self._up()
            if not served:
                served = True
                episodes.add(name, session, token)
            headers = {"Authorization": f"Bearer {token}"}
            # One search covers all services, so it needs one server.
            offered = [ALL]
            if session.expose == "all":
                # A service may have no tool that this episode offers.
                having = [name for name, cls in session.classes.items() if cls.tools]
                offered = having or list(session.classes)
            return [
                {"name": s, "url": f"http://127.0.0.1:{port}/{name}/{s}/mcp", "headers": headers}
                for s in offered
            ]

        try:
            yield servers
        finally:
            if self._episodes is not None:
                self._episodes.remove(name)

    async def _up(self) -> tuple[Episodes, int]:
        async with self._starting:
            if self._episodes is None or self._port is None:
                from servers.kit.app import Episodes, make_app

                self._episodes = Episodes()
                self._port = await self._tasks.start(self._keep, make_app(self._episodes))
            return self._episodes, self._port

    async def _keep(self, app: Starlette, *, task_status: TaskStatus[int]) -> None:
        from servers.kit.app import run_app

        async with run_app(app) as port:
            task_status.started(port)
            await self._closing.wait()

    def close(self) -> None:
        """Shut the host down."""
        self._closing.set()
