"""What scripts and conditions take from replies has to be in replies that the proof has met."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from scenarios.load import parse, written
from servers.kit.yaml import read
from tests.mutants.met import paths_of

NAME = "recovery/silent_no_op/venmo_pay_dropped"


def a_figure_in_a_text(raw: Any) -> None:
    raw["scripts"]["naive"][2]["say"] = "Sent: ${friends.friends[0].nam}"


def a_condition_of_a_step(raw: Any) -> None:
    raw["scripts"]["oracle"][3]["if"] = "seen.eror"


def an_argument_of_a_violation(raw: Any) -> None:
    (look,) = raw["violations"][0]["replace"]["look"]
    look["args"] = {"transaction_id": "${paid.transction_id}"}


def a_condition_of_a_check(raw: Any) -> None:
    raw["checks"][1]["forbidden"]["call"]["result"] = {"transction_id": {"exists": True}}


def a_condition_of_a_fault(raw: Any) -> None:
    raw["faults"][0]["dropped_write"]["result"] = {"statuss": "settled"}


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (a_figure_in_a_text, "scripts.naive[2].say: friends.friends[0].nam: no reply"),
        (a_condition_of_a_step, "scripts.oracle[3].if: seen.eror: no reply"),
        (an_argument_of_a_violation, "violations[0].replace.look[0].args: paid.transction_id: no"),
        (a_condition_of_a_check, "checks[1]: forbidden.call.result: transction_id: no reply"),
        (a_condition_of_a_fault, "faults[0]: dropped_write: result: statuss: no reply"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_path_that_no_reply_has_is_a_problem(change: Callable[[Any], None], line: str) -> None:
    raw = copy.deepcopy(read(written()[NAME]))
    assert paths_of(NAME)(parse(raw, NAME, NAME)) == []
    change(raw)
    (problem,) = paths_of(NAME)(parse(raw, NAME, NAME))
    assert problem.startswith(line)
    assert "; did you mean '" in problem
