"""The solver of dialogues that asks before everything."""

from __future__ import annotations

from client_harness.agents._wild import always_asking, solver

ABOUT = "of dialogues: asks before everything; fails where nothing is missing"
agent = solver(always_asking)
