"""Run a script of steps through real tools; the scripted agents are variants of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from client_harness.contract import Assignment, TurnResult
from scenarios.haystack.history import LivedSession
from scenarios.script import Step
from servers.kit.errors import InputError
from servers.kit.expr.evaluate import evaluate, render
from servers.kit.values import iso


class ScriptAgent:
    """Plays steps; `say` ends a turn, and the next turn continues after it.

    A script that has run out says nothing.
    """

    def __init__(self, given: Assignment, steps: list[Step]) -> None:
        self.given = given
        self.tools = given.tools
        self.scope: dict[str, Any] = dict(given.saved)
        self._steps = self._walk(steps)

    async def turn(self, text: str) -> TurnResult:
        """Play up to and including the next `say`."""
        now = iso(self.tools.now)
        self.scope |= {"now": now, "today": now[:10], "user": text}
        async for answer in self._steps:
            return TurnResult(answer)
        return TurnResult("")

    async def remember(self, session: LivedSession, number: int, of: int) -> TurnResult:
        """Pass over a past session: what a script needs of it is written in the script."""
        return TurnResult("")

    async def _walk(self, steps: list[Step]) -> AsyncIterator[str]:
        for step in steps:
            if step.say is not None:
                yield self._rendered(step.say, step)
            elif step.batch is not None:
                self.tools.step()
                for part in step.batch:
                    await self._call(part)
            elif step.call is not None:
                self.tools.step()
                await self._call(step)
            elif step.test is not None:
                branch = step.then if self._true(step.test, step) else step.otherwise
                async for text in self._walk(branch):
                    yield text
            else:
                for _ in range(step.repeat or 1):
                    async for text in self._walk(step.do):
                        yield text
                    if step.until is not None and self._true(step.until, step):
                        break

    def _true(self, expression: str, step: Step) -> bool:
        if "${" in expression:
            return bool(self._rendered(expression, step))
        try:
            return bool(evaluate(expression, self.scope))
        except InputError as wrong:
            raise InputError(f"step {label(step)}: {wrong}") from None

    def _rendered(self, value: Any, step: Step) -> Any:
        try:
            return render(value, self.scope)
        except InputError as wrong:
            raise InputError(f"step {label(step)}: {wrong}") from None

    async def _call(self, step: Step) -> None:
        service, tool = (step.call or "").split(".")
        data = await self.perform(service, tool, self._rendered(step.args, step))
        if step.save:
            self.scope[step.save] = data

    async def perform(self, service: str, tool: str, args: dict[str, Any]) -> Any:
        """Make one call and return its data."""
        data, _ = await self.tools.call(service, tool, args)
        return data


def label(step: Step) -> str:
    """Return what a step is called in messages: its id, its call, or what it does."""
    if step.id is not None:
        return step.id
    if step.call is not None:
        return step.call
    return f"`say: {step.say[:30]}…`" if step.say is not None else f"`if: {step.test}`"


@asynccontextmanager
async def playing(agent: ScriptAgent) -> AsyncGenerator[ScriptAgent]:
    """Yield the agent; a script needs no setup and no cleanup."""
    yield agent
