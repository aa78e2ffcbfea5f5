"""Learns what users hear: writes `weights.json` from lessons.

`make hearing` runs it in an environment of its own, because it needs scikit-learn and nothing else
does. Lessons are lines of JSON, `{"cues": [...], "asks": class, …}` with a class for each model
that the lesson is for (`client_harness.judging.lessons` writes them).

Each model is a logistic regression over the cues of a text, weighed by how rare they are, as
TF-IDF does (Spärck Jones 1972), and of length one. It is fitted twice: the second time with those
cues alone that weighed most the first time.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy  # ty: ignore[import-not-found]
from scipy.sparse import csr_matrix, diags  # ty: ignore[import-not-found]
from sklearn.linear_model import LogisticRegression  # ty: ignore[import-not-found]
from sklearn.preprocessing import normalize  # ty: ignore[import-not-found]

SCALE = 1000
"""Weights are kept as whole thousandths."""
LEAST = 2
"""In how many lessons a cue has to be heard."""


class Shape(NamedTuple):
    """How a model is fitted: how many cues it keeps, how freely it may weigh them, and whether
    rare cues count more.
    """

    cues: int
    freedom: float
    by_rarity: bool


SHAPES = {
    "asks": Shape(4000, 40.0, True),
    "more": Shape(2000, 40.0, True),
    "proposes": Shape(2000, 100.0, False),
    "rightly": Shape(2000, 100.0, False),
}


def learned(lessons: list[dict[str, Any]]) -> dict[str, Any]:
    """Return all models: `{model: {classes, bias, cues: {cue: [rarity, weight of each class]}}}`.

    A model of two classes has one weight, which speaks for the second.
    """
    return {name: _fitted(lessons, name, shape) for name, shape in SHAPES.items()}


def _fitted(lessons: list[dict[str, Any]], name: str, shape: Shape) -> dict[str, Any]:
    heard = [lesson["cues"] for lesson in lessons if name in lesson]
    classes = [lesson[name] for lesson in lessons if name in lesson]
    counts = Counter(itertools.chain.from_iterable(heard))
    known = sorted(cue for cue, count in counts.items() if count >= LEAST)
    rarity = _rarity(known, counts, len(heard), shape)
    model = _fit(heard, classes, known, rarity, shape)
    strength = numpy.abs(model.coef_).max(axis=0) * rarity
    strongest = numpy.argsort(-strength, kind="stable")[: shape.cues]
    known = sorted(known[place] for place in strongest)
    rarity = _rarity(known, counts, len(heard), shape)
    model = _fit(heard, classes, known, rarity, shape)
    table = {}
    for place, cue in enumerate(known):
        weights = (rarity[place], *(row[place] for row in model.coef_))
        table[cue] = [round(weight * SCALE) for weight in weights]
    return {
        "classes": [str(name) for name in model.classes_],
        "bias": [round(bias * SCALE) for bias in model.intercept_],
        "cues": table,
    }


def _rarity(known: list[str], counts: Counter[str], lessons: int, shape: Shape) -> Any:
    if not shape.by_rarity:
        return numpy.ones(len(known))
    return numpy.array([0.1 + numpy.log(lessons / counts[cue]) for cue in known])


def _fit(
    heard: list[list[str]], classes: list[str], known: list[str], rarity: Any, shape: Shape
) -> Any:
    place = {cue: number for number, cue in enumerate(known)}
    rows = []
    columns = []
    for row, cues in enumerate(heard):
        found = [place[cue] for cue in cues if cue in place]
        rows += [row] * len(found)
        columns += found
    there = csr_matrix((numpy.ones(len(rows)), (rows, columns)), shape=(len(heard), len(known)))
    told = normalize(there @ diags(rarity))
    return LogisticRegression(C=shape.freedom, max_iter=3000).fit(told, classes)


def main() -> None:
    """Read lessons from one file and write the models to another."""
    source, target = map(Path, sys.argv[1:])
    lessons = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    models = learned(lessons)
    lines = []
    for name, model in models.items():
        cues = [f"{json.dumps(cue)}: {json.dumps(row)}" for cue, row in model["cues"].items()]
        head = f'"classes": {json.dumps(model["classes"])}, "bias": {json.dumps(model["bias"])}'
        lines.append(f'"{name}": {{{head}, "cues": {{\n' + ",\n".join(cues) + "\n}}")
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
