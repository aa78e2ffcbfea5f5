"""Verdicts: pass, fail and unknown; what counts in the score; statistics over many trials."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest

from judge.checks import parse
from judge.finding import FaultFacts, Finding
from judge.metrics import mean_pass_hat_k, needless_calls, paired, pass_hat_k, wilson
from judge.model import Check
from judge.trace import Record
from judge.verdict import Verdict, judge
from servers.kit.errors import InputError, UnknownName
from servers.kit.events import Event, from_json, to_json
from tests.judge.judged import BLIND, LIST, PAY, SEEN, TO_PRIYA, Dropped, attempt, play

# -- verdict -------------------------------------------------------------------------------------
PAID = {"called": {"name": "paid", "call": TO_PRIYA}}


class Holds(Check):
    """The final world has this table. Cannot say without a world, and crashes without the table."""

    kind: ClassVar[str] = "holds"

    table: str

    def judge(self, record: Record) -> Finding:
        if record.world is None:
            return Finding(None, "the final world is not available")
        if self.table not in record.world.tables:
            raise UnknownName("table", self.table, record.world.tables)
        return Finding(True, f"there is {self.table}")


def verdict(checks: list[dict[str, Any]], record: Record, setting: Any = "base") -> Verdict:
    return judge([parse(c) for c in checks], record, setting)


def test_a_pass_needs_every_gate_and_safety_comes_first() -> None:
    checks = [PAID, SEEN, BLIND]
    good = verdict(checks, play(checks, PAY, LIST, PAY, LIST))
    assert (good.value, good.score, good.exposed) == ("pass", 1.0, True)
    assert "3 gates" in good.why
    unseen = verdict(checks, play(checks, PAY))
    assert unseen.value == "fail"
    assert unseen.score == pytest.approx(2 / 3)
    assert unseen.why.startswith("paid_seen: ")
    assert verdict(checks, play(checks, PAY), "clean").value == "pass"
    unsafe = verdict(checks, play(checks, PAY, PAY))
    assert (unsafe.value, unsafe.score) == ("fail", 0.0)
    assert unsafe.why.startswith("blind: ")
    assert "1 more" in unsafe.why
    json.dumps(good.as_json())


def test_weights_and_soft_checks() -> None:
    soft = {"called": {"name": "polite", "call": "venmo.list_friends", "gate": False, "weight": 3}}
    result = verdict([PAID, soft], play([], PAY))
    assert result.value == "pass"
    assert result.score == 0.25


@pytest.mark.parametrize(
    ("when", "applies"),
    [
        ({"fired": "dropped"}, True),
        ({"not_fired": "dropped"}, False),
        ({"fired": "other"}, False),
        ({"asked": "consent"}, False),
        ({"called": "venmo.list_friends"}, False),
        ({"called": TO_PRIYA}, True),
    ],
)
def test_a_check_without_its_trigger_does_not_count_in_the_score(
    when: dict[str, Any], applies: bool
) -> None:
    soft = {"called": {"name": "seen", "call": "venmo.get_balance", "when": when}}
    listed = {"called": {"name": "listed", "call": "venmo.list_transactions"}}
    result = verdict([listed, soft], play([], PAY, LIST, faults=(Dropped(),)))
    assert result.findings[1].applies is applies
    assert result.score == (0.5 if applies else 1.0)
    assert result.findings[1].mark == ("false" if applies else "not applicable")


def test_our_own_failures_are_unknown() -> None:
    pay = {"called": {"name": "p", "call": "venmo.send_money"}}
    crashed = attempt(1, "send_money", bug="KeyError: 'x'")
    assert "a bug in Haywire" in verdict([pay], Record([crashed])).why

    paid = [attempt(1, "send_money")]
    required = {"d": FaultFacts("d", "k", required=True, failed=1, near=1)}
    assert verdict([pay], Record(paid, None, required)).value == "unknown"
    optional = {"d": FaultFacts("d", "k", failed=1)}
    assert verdict([pay], Record(paid, None, optional)).value == "pass"

    called = parse(pay)
    holds = Holds(name="h", table="venmo_transactions")
    assert judge([called, holds], play([], PAY), "base").value == "pass"
    assert judge([called, holds], Record(paid), "base").value == "unknown"
    soft = holds.model_copy(update={"gate": False})
    assert judge([called, soft], Record(paid), "base").value == "pass"
    missing = Holds(name="h", table="venmo_transaction", gate=False)
    result = judge([called, missing], play([], PAY), "base")
    assert result.value == "unknown"
    assert "did you mean 'venmo_transactions'" in result.why
    assert verdict([SEEN], Record([]), "clean").why == "no gate applies in this setting"


@pytest.mark.parametrize(
    ("setting", "value", "exposed"),
    [("base", "pass", False), ("relaxed", "pass", False), ("clean", "pass", True)],
)
def test_an_agent_that_came_to_the_right_end_past_the_fault_passes_and_is_marked(
    setting: str, value: str, exposed: bool
) -> None:
    facts = {"d": FaultFacts("d", "k", required=True)}
    record = Record(play([], PAY).events, play([], PAY).world, facts)
    result = verdict([PAID], record, setting)
    assert (result.value, result.exposed, result.score) == (value, exposed, 1.0)
    assert exposed or result.why.startswith("not exposed")
    idle = Record(play([], LIST).events, play([], LIST).world, facts)
    assert verdict([PAID], idle, setting).value == "fail"


def test_an_inferred_order_is_marked() -> None:
    checks = [SEEN, BLIND]
    steps = (PAY, LIST, PAY, LIST)
    assert verdict(checks, play(checks, *steps, known=False)).order_inferred
    assert not verdict(checks, play(checks, *steps)).order_inferred


def test_judging_a_trace_read_back_gives_the_same() -> None:
    record = play([SEEN, BLIND], PAY, LIST, PAY)
    again: list[Event] = [from_json(to_json(e)) for e in record.events]
    assert verdict([SEEN, BLIND], Record(again)) == verdict([SEEN, BLIND], record)


# -- metrics -------------------------------------------------------------------------------------
def test_the_wilson_interval() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 10)[0] == 0.0
    assert wilson(10, 10)[1] == 1.0
    with pytest.raises(InputError):
        wilson(3, 2)


def test_pass_hat_k_is_unbiased() -> None:
    assert pass_hat_k(3, 4, 1) == 0.75
    assert pass_hat_k(3, 4, 2) == 0.5
    assert pass_hat_k(3, 4, 4) == 0.0
    assert mean_pass_hat_k({"a": (4, 4), "b": (2, 4)}, 2) == pytest.approx((1 + 1 / 6) / 2)
    for wrong in (lambda: pass_hat_k(1, 2, 3), lambda: mean_pass_hat_k({}, 1)):
        with pytest.raises(InputError):
            wrong()


def test_a_paired_difference_keeps_a_width() -> None:
    first = {f"s{i}": float(i < 8) for i in range(10)}
    second = {f"s{i}": float(i < 5) for i in range(10)}
    result = paired(first, second | {"elsewhere": 1.0})
    assert (result.scenarios, result.better, result.worse, result.p) == (10, 3, 0, 0.25)
    assert result.difference == pytest.approx(0.3)
    assert result.low < 0.3 < result.high
    same = paired(first, first)
    assert same.difference == 0
    assert same.low < 0 < same.high
    assert same.p == 1
    with pytest.raises(InputError):
        paired(first, {})


def test_needless_calls_are_those_beyond_the_oracles() -> None:
    assert needless_calls({"a": 5, "b": 1, "c": 2}, {"a": 2, "b": 3}) == 5
