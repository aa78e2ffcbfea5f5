"""Facts about faults for the judge, and the check that the agent recovered."""

from __future__ import annotations

import copy
from typing import Any

import anyio
import pytest

from client_harness.agents._script import ScriptAgent
from client_harness.contract import Assignment
from client_harness.episode import Episode, record
from client_harness.tools import in_memory
from fault_profiles.model import parse as parse_fault
from judge.checks import parse
from judge.finding import FaultFacts
from judge.trace import Record
from judge.verdict import judge
from scenarios import load
from scenarios.script import Step
from servers.kit.errors import InputError
from servers.kit.events import Firing, from_json, to_json
from servers.kit.yaml import read
from tests.judge.judged import attempt, find

PAY = "recovery/silent_no_op/venmo_pay_dropped"
CHECK = {"recovered": {"name": "again", "fault": "down"}}
WAY_OUT = {"tool": ["venmo.get_c*"], "where": {"contact_id": "a"}}
FACTS = {"down": FaultFacts("down", "outage", fired=1, near=1, recover=[WAY_OUT])}


def judged(*attempts: Any) -> tuple[bool | None, str]:
    finding = find(CHECK, Record(list(attempts), None, FACTS))
    return finding.value, finding.why


def fires(seq: int, tool: str = "get_balance", **rest: Any) -> Any:
    return attempt(seq, tool, firings=[Firing("down", "outage", 1)], is_error=True, **rest)


def call(seq: int, contact: str = "a", **rest: Any) -> Any:
    look_up = attempt(seq, "get_contact", **rest)
    look_up.args = {"contact_id": contact}
    return look_up


def test_a_call_that_recovers_must_match_succeed_and_come_after_the_fault() -> None:
    recovered = "venmo.get_contact recovered from down (events 1, 2)"
    assert judged(fires(1), call(2)) == (True, recovered)
    uncalled = "no call that recovers from down was made (venmo.get_c*) (event 2)"
    assert judged(call(1), fires(2)) == (False, uncalled)
    assert judged(fires(1), call(2, "b"))[0] is False
    failed = "no call that recovers from down succeeded (events 1, 2)"
    assert judged(fires(1), call(2, is_error=True)) == (False, failed)
    assert judged(fires(1), call(2, is_error=True), call(3))[0] is True
    again = call(2, firings=[Firing("down", "outage", 2)])
    assert judged(fires(1), again)[0] is False


@pytest.mark.parametrize("setting", ["relaxed", "base"])
def test_where_the_fault_did_not_fire_the_check_does_not_apply(setting: Any) -> None:
    other = parse({"called": {"name": "looked", "call": "venmo.get_contact"}})
    facts = {"down": FaultFacts("down", "outage", near=1)}
    verdict = judge([parse(CHECK), other], Record([call(1)], None, facts), setting)
    assert [finding.mark for finding in verdict.findings] == ["not applicable", "true"]
    assert verdict.value == "pass"
    failed = fires(1)
    failed.firings[0].failed = "no row"
    assert judged(failed, call(2))[1].startswith("fault down did not fire")


def scenario(fault: dict[str, Any]) -> Any:
    raw = copy.deepcopy(read(load.written()[PAY]))
    ((kind, fields),) = raw["faults"][0].items()
    fields |= fault
    check = {"name": "paid_again", "fault": fields.get("name", kind), "gate": False}
    raw["checks"].append({"recovered": check})
    return load.parse(raw, PAY, "here")


def test_loading_refuses_the_check_for_a_fault_without_a_way_out() -> None:
    silent = (
        r"here: check paid_again: fault .* does not say how to recover from it;"
        r" give it `recover`"
    )
    with pytest.raises(InputError, match=silent):
        scenario({})
    assert scenario({"recover": ["venmo.send_money"]}).checks[-1].fault
    with pytest.raises(InputError, match="where: expressions cannot use names here"):
        scenario({"recover": [{"tool": "venmo.send_money", "where": {"note": "${args.note}"}}]})
    with pytest.raises(InputError, match="did you mean 'send_money'"):
        scenario({"recover": ["venmo.send_mony"]})


def test_the_end_of_a_trace_carries_what_the_declaration_gives_the_judge() -> None:
    recover = {"tool": "venmo.send_money", "where": {"amount": {"gt": 0}}}
    played = scenario({"recover": [recover], "exposed_by": ["venmo.get_balance"]})
    episode = Episode(played)

    async def run() -> None:
        async with in_memory(episode.session) as tools:
            steps = [Step.model_validate({"call": "venmo.get_balance"}), *played.scripts.oracle]
            await episode.converse(ScriptAgent(Assignment(tools, [], played), steps))

    anyio.run(run)
    events = [from_json(to_json(event)) for event in episode.session.trace()]
    (facts,) = record(events, None).faults.values()
    assert facts.repairable
    assert facts.fired == 1
    assert facts.recover == [{"tool": ["venmo.send_money"], "where": {"amount": {"gt": 0}}}]
    assert facts.exposed_by == [{"tool": ["venmo.get_balance"], "where": {}}]
    finding = find({"recovered": {"name": "r", "fault": facts.name}}, episode.record())
    assert finding.value is True, finding.why


def test_a_reading_must_match_by_its_arguments_too() -> None:
    exposing = {"tool": "venmo.get_contact", "where": {"contact_id": "a"}}
    fault = parse_fault({"outage": {"on": "venmo.*", "exposed_by": [exposing]}})
    (reading,) = fault.exposed_by
    assert reading.fits("venmo", "get_contact", {"contact_id": "a"})
    assert not reading.fits("venmo", "get_contact", {"contact_id": "b"})
