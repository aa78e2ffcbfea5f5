"""The solver of dialogues that looks around before it asks."""

from __future__ import annotations

from client_harness.agents._wild import looking_first, solver

ABOUT = "of dialogues: looks around before it asks; right"
agent = solver(looking_first)
