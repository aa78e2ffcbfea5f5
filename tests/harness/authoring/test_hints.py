"""`check` says which step was refused, whose script broke, and which path leads nowhere."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from client_harness.authoring.touching import Met, untouched
from fault_profiles.model import parse
from scenarios.load import written
from servers.kit.yaml import read
from tests.commands import PAY, command

Raw = dict[str, Any]


def look_is_refused(raw: Raw) -> None:
    raw["scripts"]["oracle"][3]["then"][1]["args"] = {"limit": "${4900 + 100}"}


def violation_breaks(raw: Raw) -> None:
    broken = {"call": "venmo.get_transaction", "args": {"transaction_id": "${paid - 1}"}}
    raw["violations"][0]["replace"] = {"look": [broken | {"save": "seen"}]}


def path_is_misspelt(raw: Raw) -> None:
    hidden = {"name": "hidden", "on": "venmo.list_friends", "reply": [{"set": {"friend": []}}]}
    raw["faults"].append({"wrong_value": hidden})


def deep_path_is_misspelt(raw: Raw) -> None:
    operation = {"scale": {"friends[*].amount": 2}}
    lost = {"name": "lost", "on": "venmo.list_friends", "reply": [operation]}
    raw["faults"].append({"wrong_value": lost})


@pytest.mark.parametrize(
    ("break_it", "says"),
    [
        (
            look_is_refused,
            'oracle with faults: step 6 (look_again): venmo.list_transactions {"limit": 5000} was '
            "refused: VALIDATION_ERROR: Argument 'limit'",
        ),
        (
            violation_breaks,
            "violations[0]: violation of no_blind_retry (replace), with faults: a script: step "
            "venmo.get_transaction: expression",
        ),
        (
            path_is_misspelt,
            "fault hidden: reply[0]: set: no reply that the fault met has 'friend'; "
            "did you mean 'friends'?",
        ),
        (
            deep_path_is_misspelt,
            "fault lost: reply[0]: scale: no reply that the fault met has 'friends[*].amount'",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_broke_is_named(break_it: Callable[[Raw], None], says: str, tmp_path: Path) -> None:
    raw = copy.deepcopy(read(written()[PAY]))
    break_it(raw)
    file = tmp_path / "broken.yaml"
    file.write_text(yaml.safe_dump(raw, sort_keys=False))
    done = command("check", file, "--jobs", "1")
    assert done.status == 1
    assert says in done.out


def lost(*operations: dict[str, Any]) -> list[str]:
    reply = {"total": 3, "items": [{"read": True, "sku": "A"}]}
    item = {"wrong_value": {"on": "venmo.get_balance", "reply": list(operations)}}
    return untouched(parse(item), [Met("venmo.get_balance", reply, {"args": {}})])


def test_a_field_may_be_added_but_not_misspelt() -> None:
    assert lost({"set": {"items[*].colour": "red"}}) == []
    assert lost({"set": {"totel": 5}})
    assert lost({"set": {"notice": "x"}}, {"drop": ["total"]}) == []


def test_a_field_that_stands_for_a_dropped_one_is_no_misspelling() -> None:
    negated = {"set": {"items[*].unread": "${not item.read}"}}
    assert lost(negated, {"drop": ["items[*].read"]}) == []


def test_an_operation_may_work_on_what_an_earlier_one_made() -> None:
    assert lost({"rename": {"total": "sum"}}, {"scale": {"sum": 2}}) == []
    assert lost({"scale": {"sum": 2}})


def test_a_condition_that_no_item_meets_is_told() -> None:
    assert lost({"remove": {"items": {"sku": "A"}}}) == []
    assert "matches nothing" in lost({"remove": {"items": {"sku": "B"}}})[0]
