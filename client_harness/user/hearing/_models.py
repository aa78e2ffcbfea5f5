"""What an agent's text asks of the user, as the user has learned to hear it.

Four linear models over the cues of a text (`_cues.py`) were learned from labelled texts of agents
(`learn.py`), and are kept in `weights.json`:

- `asks`: does the text ask for what the answer gives, for something else, or for nothing;
- `more`: does it ask for something else, too;
- `proposes`: does it propose a value, so that yes or no is an answer;
- `rightly`: is that the right value.

They were learned where there is one answer, or none. Weights are whole numbers, so every machine
hears the same.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from client_harness.user.hearing._cues import cues
from scenarios.answer import Answer

WEIGHTS = Path(__file__).with_name("weights.json")
_SURE = 0.7
"""How likely a reading has to be."""
_FEW = 12
"""So many cues a text has to have that were learned: of "OK." nothing is known."""
_PROPOSES = -850
"""From which score on a text counts as a proposal: a chance of 0.3. An agent understands a "no" too
many, but a "no" too few lets it do the wrong thing.
"""


@dataclass(frozen=True, slots=True)
class Heard:
    """What a text asks for: `this`, which the answer gives, something `other`, or `nothing`.

    `more` tells that it asks for something else besides this. `proposed` tells whether it proposes
    the right value (True), a wrong one (False), or none.
    """

    asks: str
    more: bool = False
    proposed: bool | None = None


@dataclass(frozen=True, slots=True)
class _Model:
    classes: tuple[str, ...]
    bias: tuple[int, ...]
    weights: Mapping[str, list[int]]

    def scores(self, heard: Set[str]) -> list[float]:
        """Return the score of each class; of two classes, only the score of the second."""
        known = [self.weights[cue] for cue in heard if cue in self.weights]
        length = math.sqrt(sum(row[0] * row[0] for row in known)) or 1.0
        scores = []
        for place, bias in enumerate(self.bias, 1):
            scores.append(bias + sum(row[0] * row[place] for row in known) / length)
        return scores


@functools.cache
def _models() -> dict[str, _Model]:
    read: dict[str, Any] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return {
        name: _Model(tuple(model["classes"]), tuple(model["bias"]), model["cues"])
        for name, model in read.items()
    }


def hear(text: str, key: str, answer: Answer | None) -> Heard | None:
    """Return what a text asks of a user who has this answer, or none; None means unsure."""
    models = _models()
    heard = cues(text, key, answer)
    if len(heard & models["asks"].weights.keys()) < _FEW:
        return None
    scores = models["asks"].scores(heard)
    best = max(scores)
    if sum(math.exp((score - best) / 1000) for score in scores) > 1 / _SURE:
        return None
    asks = models["asks"].classes[scores.index(best)]
    if asks != "this":
        return Heard(asks)
    more = models["more"].scores(heard)[0] > 0
    if models["proposes"].scores(heard)[0] < _PROPOSES:
        return Heard(asks, more)
    return Heard(asks, more, models["rightly"].scores(heard)[0] > 0)
