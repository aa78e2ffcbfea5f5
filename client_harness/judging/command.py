"""A whole calibration: it reads what readers are measured with, measures them and keeps the
figures.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import anyio

from client_harness.fingerprints import PHRASES
from client_harness.judging import honest, measured, questions
from client_harness.judging.answers import Answers
from client_harness.judging.calibrate import figures, labellings, measure
from client_harness.judging.calibrate import mistakes as listed
from client_harness.judging.labelled import LOCKED, data_fingerprint, samples
from client_harness.judging.model_reader import FILE, Asker, JudgeModel
from servers.kit.errors import InputError


def calibrated(
    folder: Path,
    model: JudgeModel | None = None,
    *,
    locked: bool = False,
    force: bool = False,
    date: str | None = None,
    mistakes: bool = False,
) -> dict[str, Any]:
    """Measure phrases, and a model if one is given, on the texts and trajectories in a folder, and
    the scripted user on the questions there.

    Returns `{locked, left_out, scenarios, trajectories, data, labellings, readers, user}` and, if
    they are wanted, `mistakes` and `misunderstood`. `data` holds the fingerprints of texts,
    trajectories and questions, and `left_out` those locked ones that were scored twice before.
    Raises `InputError` for wrong data, a model of no use, and where nothing is left to score.
    """
    if locked and mistakes:
        raise InputError("--mistakes would show the locked texts; use it without --locked")
    for option, given in (("--force", force), ("--date", date)):
        if given and not locked:
            raise InputError(f"{option} is for --locked")
    part = folder / LOCKED if locked else folder
    runs = honest.trajectories(part)
    read = samples(part, optional=bool(runs))
    asked = questions.questions(part)
    data = {
        "texts": data_fingerprint(read),
        "trajectories": honest.data_fingerprint(runs),
        "questions": questions.data_fingerprint(part),
    }
    day = ""
    left_out: set[str] = set()
    if locked:
        left_out = set() if force else measured.spent(folder, data)
        read = [] if "texts" in left_out else read
        runs = [] if "trajectories" in left_out else runs
        asked = [] if "questions" in left_out else asked
        data |= dict.fromkeys(left_out, "")
        day = measured.date_of(date)
    askers: list[Asker | None] = [None]
    codes = [measured.reader_code(PHRASES)]
    if model is not None:
        askers.append(Asker(model, Answers(folder / FILE)))
        codes.append(measured.reader_code(model.fingerprint))
    results = anyio.run(functools.partial(measure, unseen=locked), read, askers, runs)
    found = [figures(result) for result in results]
    user = questions.understanding(asked)
    if locked:
        measured.note(folder, day, data, found, user)
    measured.store(folder, found, codes, data, "locked" if locked else "open", left_out)
    result: dict[str, Any] = {
        "locked": locked,
        "left_out": sorted(left_out),
        "scenarios": len(read),
        "trajectories": len(runs),
        "data": data,
        "labellings": labellings(read),
        "readers": found,
        "user": user,
    }
    if mistakes:
        result["misunderstood"] = questions.misunderstood(asked)
        result["mistakes"] = {one.reader: listed(one) for one in results}
    return result
