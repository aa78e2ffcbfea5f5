"""The solver of dialogues that looks something up before every answer."""

from __future__ import annotations

from client_harness.agents._wild import always_calling, solver

ABOUT = "of dialogues: calls something before every answer; fails small talk"
agent = solver(always_calling)
