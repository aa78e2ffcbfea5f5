"""Which errands are likelier in a history, so that its size is as it should be.

The past sessions of ToolHaystack differ from kind to kind in how much is said and called. Errands
are drawn without replacement by weights (Efraimidis and Spirakis 2006), so the order of the drawing
does not depend on how many are drawn. The weights were fitted on the pools;
`client_harness list instances --sizes` says how well they do.
"""

from __future__ import annotations

import math

from scenarios.haystack.pool import Errand
from scenarios.haystack.targets import Kind

TILTS: dict[Kind, tuple[float, float, float]] = {
    "recall_single": (-1.0, 0.0, 0.1),
    "recall_multi": (-0.56, 0.52, 0.79),
    "shift_explicit": (-0.56, 0.46, 0.58),
    "shift_implicit": (0.07, 0.06, 0.3),
    "missing_easy": (-0.6, 0.0, 0.3),
    "missing_hard": (-0.28, 0.36, 0.97),
}
"""For each kind, how much likelier (as a logarithm) a use becomes by one more call, by one more
text, and by one more word in each text."""
LONG = (0.1, 0.0, 0.0)
"""The same for long histories of a person: a thousand sessions have a million tokens."""
USUAL = 10
"""Words in a text for which the last tilt is nothing."""
_MOST = 30.0


def rank(tilts: tuple[float, float, float], errand: Errand, use: int, drawn: float) -> float:
    """Return where a use comes in the order of drawing, the first having the highest rank.

    `drawn` is its number between 0 and 1, drawn by seed.
    """
    texts = [turn.user or turn.assistant for turn in errand.turns]
    said = [errand.openings[use], *(text for text in texts if text)]
    words = sum(len(text.split()) for text in said) / len(said)
    calls = sum(turn.call is not None for turn in errand.turns)
    by_call, by_text, by_word = tilts
    tilt = by_call * calls + by_text * len(said) + by_word * (words - USUAL)
    return drawn ** math.exp(-max(-_MOST, min(_MOST, tilt)))
