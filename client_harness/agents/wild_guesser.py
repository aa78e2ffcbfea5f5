"""The solver of dialogues that never asks."""

from __future__ import annotations

from client_harness.agents._wild import never_asking, solver

ABOUT = "of dialogues: never asks; fails where something is missing"
agent = solver(never_asking)
