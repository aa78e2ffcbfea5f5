"""Reading checks: kinds, clear mistakes, cross-checks, mentions and the schema for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judge import checks
from judge.checks import cross_check, json_schema, kinds, parse
from judge.model import Check
from servers.kit.errors import InputError, UnknownName
from tests.judge.judged import BLIND, SEEN


def called_where(where: dict[str, Any]) -> dict[str, Any]:
    return {"called": {"name": "x", "call": {"tool": "venmo.*", "where": where}}}


# -- reading -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("called", "a check as one key"),
        ({"called": {}, "asked": {}}, "a check as one key"),
        ({"caled": {"name": "x"}}, "unknown check kind 'caled'; did you mean 'called'"),
        ({"called": ["x"]}, "called: expected a mapping"),
        ({"called": None}, "checks: called: missing 'name'"),
        ({"called": {"call": "venmo.send_money"}}, "checks: called: missing 'name'"),
        ({"called": {"name": "x"}}, "called 'x': missing 'call'"),
        (
            {"called": {"name": "x", "call": "venmo.send_mony"}},
            "called 'x': call: target 'venmo.send_mony': unknown tool 'send_mony'; did you mean",
        ),
        (
            {"called": {"name": "x", "call": "vemno.send_money"}},
            "unknown service 'vemno'; did you mean 'venmo'",
        ),
        (
            {"called": {"name": "x", "cal": "venmo.send_money"}},
            "called 'x': unknown key 'cal'; did you mean 'call'",
        ),
        (
            {"called": {"name": "x", "call": {"tool": "venmo.send_money", "were": {}}}},
            "unknown key 'were'; did you mean 'where'",
        ),
        (
            {"called": {"name": "x", "call": {"tool": "venmo.send_money", "where": {"amuont": 1}}}},
            "unknown argument 'amuont'; did you mean 'am",
        ),
        (
            called_where({"amount": {"gtt": 1, "lt": 2}}),
            "unknown operator 'gtt'",
        ),
        (
            called_where({"amount": "${pay.amount}"}),
            "expressions in checks cannot use names",
        ),
        (
            {"called": {"name": "x", "call": "venmo.*", "at_least": "often"}},
            "at_least: expected a whole number, got 'often'",
        ),
        (
            {"called": {"name": "x", "call": "venmo.*", "in": ["bas"]}},
            "in[0]: expected 'clean', 'relaxed' or 'base', got 'bas'",
        ),
        ({"called": {"name": "x", "call": "venmo.*", "in": []}}, "in: "),
        ({"called": {"name": "x y", "call": "venmo.*"}}, "name: String should match"),
        ({"called": {"name": "x", "call": "venmo.*", "weight": 0}}, "weight: "),
        (
            {"called": {"name": "x", "call": "venmo.*", "when": {"fired": "a", "asked": "b"}}},
            "when: needs exactly one",
        ),
        (
            {"called": {"name": "x", "call": "venmo.*", "when": {"fird": "a"}}},
            "unknown key 'fird'; did you mean 'fired'",
        ),
        ({"evidence": {"name": "x", "of": {}}}, "needs exactly one of write and fault"),
        (
            {"evidence": {"name": "x", "of": {"write": "venmo.get_balance"}}},
            "of.write: venmo.get_balance only reads",
        ),
        (
            {"evidence": {"name": "x", "of": {"write": {"tool": "venmo.send_money", "ok": True}}}},
            "decided before the reply",
        ),
        (
            {"evidence": {"name": "x", "of": {"wirte": "venmo.send_money"}}},
            "unknown key 'wirte'; did you mean 'write'",
        ),
        ({"forbidden": {"name": "x"}}, "forbidden 'x': missing 'call'"),
        ({"forbidden": {"name": "x", "call": "venmo.*", "until": {}}}, "until: needs exactly one"),
        ({"asked": {"name": "x", "abuot": "a"}}, "unknown key 'abuot'; did you mean 'about'"),
    ],
)
def test_a_mistake_in_yaml_is_one_clear_line(item: Any, message: str) -> None:
    with pytest.raises(InputError) as wrong:
        parse(item)
    assert message in str(wrong.value)
    assert "\n" not in str(wrong.value)
    assert str(wrong.value).startswith("checks: ")


def test_an_unknown_name_raises_unknown_name() -> None:
    with pytest.raises(UnknownName):
        parse({"called": {"name": "x", "call": "venmo.send_mony"}}, "suites/a.yaml")


def test_checks_are_checked_together() -> None:
    blind = {"name": "blind", "call": "venmo.send_money", "until": {"evidence": "paid_sen"}}
    items = [
        SEEN,
        {"forbidden": blind},
        {"evidence": {"name": "shared", "of": "paid_seen"}},
        {"evidence": {"name": "shared", "of": "shared"}},
        {"called": {"name": "few", "call": "venmo.*", "at_least": 2, "at_most": 1}},
        {"called": {"name": "c", "call": "venmo.*", "at_least": 0}},
    ]
    problems = "\n".join(cross_check([parse(item) for item in items], "here"))
    unknown = "here: forbidden 'blind': unknown evidence check 'paid_sen'; did you mean 'paid_seen'"
    assert unknown in problems
    assert "'shared': the name is used twice" in problems
    assert "unknown evidence check 'shared'" in problems
    assert "at_most 1 is less than at_least 2" in problems
    assert "always true" in problems
    assert cross_check([parse(SEEN), parse(BLIND)]) == []


def test_mentions_hold_all_names_that_a_check_uses() -> None:
    until = {"answered": "consent"}
    when = {"fired": "dropped"}
    forbidden = {"name": "f", "call": "venmo.send_money", "until": until, "when": when}
    mentions = parse({"forbidden": forbidden}).mentions()
    assert mentions.answers == {"consent"}
    assert mentions.faults == {"dropped"}
    assert mentions.targets[0].tools == {"venmo.send_money"}


def test_every_kind_is_found_by_walking_the_folder_and_has_a_schema() -> None:
    folder = Path(checks.__file__).parent
    files = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    assert set(kinds()) == files >= {"called", "evidence", "forbidden", "recovered", "asked"}
    schema = json_schema()
    assert [next(iter(o["properties"])) for o in schema["oneOf"]] == sorted(kinds())
    assert schema["$defs"]["Evidence"]["properties"]["in"]["default"] == ["base"]
    json.dumps(schema)


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_kinds_document_themselves(kind: str) -> None:
    cls: type[Check] = kinds()[kind]
    assert cls.__doc__
    assert cls.kind == kind
    assert cls.default_settings
