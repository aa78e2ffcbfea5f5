"""The solver of dialogues that makes one call at a time."""

from __future__ import annotations

from client_harness.agents._wild import one_by_one, solver

ABOUT = "of dialogues: one call at a time; right, but not optimal"
agent = solver(one_by_one)
