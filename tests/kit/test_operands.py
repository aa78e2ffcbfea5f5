"""Operands of operations and operators: what is refused at loading, and what a misfit does."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from servers.kit.errors import InputError
from servers.kit.expr import (
    OperationError,
    apply,
    check_operations,
    check_predicate,
    get,
    matches,
)

DAYS = {"days": [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 4}], "total": 4, "place": "Bend"}


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"scale": {"a": "2"}}, "scale: a: takes a number, got '2'"),
        ({"add": {"a": True}}, "takes a number"),
        ({"truncate": {"a": -1}}, "truncate: a: takes a number from 0"),
        ({"truncate": {"a": "3"}}, "takes a whole number"),
        ({"slice": {"a": [1]}}, "takes two ends"),
        ({"slice": {"a": [1, "x"]}}, "takes a whole number"),
        ({"swap": ["a"]}, "swap: takes two paths"),
        ({"swap": ["a", "b", "c"]}, "swap: takes two paths"),
        ({"invert": {"a": ["x", "y"]}}, "invert: a: takes a mapping of old values to new ones"),
        ({"substitute": {"a": {}}}, "takes a mapping of old values to new ones"),
        ({"substitute": {"a": {"x": ["y"]}}}, "maps single values to single values"),
        ({"retype": {"a": "strng"}}, "did you mean 'string'"),
        ({"negate": {"a": 1}}, "takes a path or a list of paths"),
        ({"negate": [5]}, "takes a path such as"),
        ({"rename": {"a": 5}}, "rename: a: takes a text, got 5"),
        ({"nest": {"a": ""}}, "takes a text"),
        ({"copy": {"a": ["b"]}}, "takes a path such as"),
        ({"reorder": {"a": "revers"}}, "neither reverse nor rotate"),
        ({"reorder": {"a": {"by": "n", "descnding": True}}}, "did you mean 'descending'"),
        ({"filter": {"a": ["b"]}}, "expected a mapping of paths to conditions"),
        ({"remove": {"a": {"n": {"gtt": 2}}}}, "unknown operator 'gtt'; did you mean 'gt'"),
        ({"insert": {"a": {"value": 1, "att": 0}}}, "unknown key 'att'; did you mean 'at'?"),
        ({"insert": {"a": {"at": 0}}}, "needs value or like_first"),
        ({"insert": {"a": [1]}}, "takes a mapping with at, value, like_first"),
        ({"insert": {"a": {"value": 5, "like_first": True}}}, "takes a mapping of fields"),
        ({"fill": {"a": {"form": 1}}}, "unknown key 'form'; did you mean 'from'?"),
        ({"fill": {"a": {"from": "1"}}}, "fill: a: from: takes a whole number"),
        ({"fill": {"a": {"range": 3}}}, "takes two ends"),
        ({"fill": {"a": {"keep": "n"}}}, "takes a list, got 'n'; write ['n']"),
        ({"project": {"a": "n"}}, "takes a list, got 'n'; write ['n']"),
        ({"project": ["a"]}, "takes a mapping of paths"),
        ({"keep": "a"}, "keep: takes a list of paths, or a mapping"),
        ({"keep": {"a": [1]}}, "takes a path such as"),
        ({"set": {}}, "set: takes a mapping of paths"),
        ({"set": {"": 5}}, "set: the whole: takes a mapping of fields"),
        ({"drop": ""}, "drop: takes a path or a list of paths"),
        ({"drop": [""]}, "the empty path stands for the whole"),
        ({"truncate": {"": 2}}, "the empty path stands for the whole"),
        ({"rename": {"": "x"}}, "the empty path stands for the whole"),
    ],
    ids=str,
)
def test_an_operand_that_does_not_fit_is_refused_without_data(
    operation: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as wrong:
        check_operations([operation], "reply")
    assert message in str(wrong.value)
    assert str(wrong.value).startswith("reply: ") and "\n" not in str(wrong.value)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ({"gtt": 1}, "a: unknown operator 'gtt'; did you mean 'gt'"),
        ({"contain": "x"}, "unknown operator 'contain'; did you mean 'contains'"),
        ({"any": {"mathces": "x"}}, "a: any: unknown operator 'mathces'"),
        ({"gt": [1]}, "a: gt: takes a number or a text"),
        ({"gt": True}, "takes a number or a text"),
        ({"in": "x"}, "a: in: takes a list, got 'x'; write ['x']"),
        ({"in": []}, "at least one value"),
        ({"exists": "no"}, "a: exists: takes true or false"),
        ({"starts": 5}, "takes a text"),
        ({"len": -1}, "takes a number from 0"),
        ({"len": {"gte": "2"}, "exists": True}, "a: len: gte: takes a number"),
        ({"len": {"contains": 2}}, "len: unknown operator 'contains'"),
        ({"type": "strng"}, "unknown type 'strng'; did you mean 'string'"),
        ({}, "an empty condition says nothing"),
        ({"has": 5}, "expected a mapping of paths to conditions"),
        ({"not": {"gtt": 1}}, "a: not: unknown operator 'gtt'"),
    ],
    ids=str,
)
def test_a_condition_that_does_not_fit_is_refused_without_data(
    condition: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as wrong:
        check_predicate({"a": condition})
    assert message in str(wrong.value)


def test_groups_take_lists() -> None:
    with pytest.raises(InputError, match="any_of takes a list of conditions"):
        check_predicate({"any_of": {"a": 1}})


def test_a_field_named_nearly_like_an_operator_can_be_asked_for() -> None:
    bill = {"payer": {"gtt": 5, "type": "person", "note": "rent"}}
    plain = {"payer": {"has": {"gtt": 5, "type": "person"}}}
    assert check_predicate(plain) == set()
    assert matches(plain, bill)
    known = {"payer": {"note": "rent"}}  # a column of several tables, so no slip
    assert check_predicate(known) == set()
    assert matches(known, bill)


@pytest.mark.parametrize(
    ("predicate", "holds"),
    [
        ({"days": {"type": "list", "len": {"gte": 4}}}, True),
        ({"days": {"len": {"gt": 4}}}, False),
        ({"place": {"type": "string"}, "nowhere": {"not": {"type": "null"}}}, True),
        ({"total": {"type": "integer"}}, True),
        ({"total": {"type": "boolean"}}, False),
        ({"days[0]": {"type": "object"}}, True),
        ({"days[2:].n": 3}, True),
        ({"days[:2].n": 3}, False),
    ],
    ids=str,
)
def test_types_lengths_and_ranges_can_be_asked_for(predicate: dict[str, Any], holds: bool) -> None:
    assert check_predicate(predicate) == set()
    assert matches(predicate, DAYS) is holds


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("days[2:].n", [3, 4]),
        ("days[:3].n", [1, 2, 3]),
        ("days[1:3].n", [2, 3]),
        ("days[-2:].n", [3, 4]),
        ("days[9:].n", []),
    ],
)
def test_paths_reach_a_range_of_items(path: str, values: list[int]) -> None:
    assert get(DAYS, path) == values


@pytest.mark.parametrize(
    ("operation", "path", "value"),
    [
        ({"project": {"": ["total"]}}, "", {"total": 4}),
        ({"set": {"": {"note": "${whole.total} days"}}}, "", {"note": "4 days"}),
        ({"nest": {"": "data"}}, "data.total", 4),
        ({"copy": {"days[0]": ""}}, "", {"n": 1}),
        ({"zero": [""]}, "", None),
        ({"keep": ["place", "days[*].n"]}, "", {"days": DAYS["days"], "place": "Bend"}),
        ({"keep": ["days[1:3].n"]}, "days", [{"n": 2}, {"n": 3}]),
        ({"keep": {"days": ["m"]}}, "days", [{}, {}, {}, {}]),
        ({"drop": ["days[2:]"]}, "days[*].n", [1, 2]),
        ({"scale": {"days[-2:].n": 10}}, "days[*].n", [1, 2, 30, 40]),
        ({"fill": {"days": {"from": 1, "range": [2, None]}}}, "days[*].n", [1, 2, 2, 2]),
        ({"reorder": {"days": {"by": "n", "descending": True}}}, "days[*].n", [4, 3, 2, 1]),
    ],
    ids=str,
)
def test_the_whole_and_ranges_can_be_edited(
    operation: dict[str, Any], path: str, value: Any
) -> None:
    data = copy.deepcopy(DAYS)
    assert check_operations([operation]) == set()
    assert apply([operation], data) > 0
    assert (get(data, path) or None) == value


@pytest.mark.parametrize(
    "operations",
    [
        [{"set": {"days": "${value + [value[2]]}"}}],
        [{"copy": {"days[2]": "days[3]"}}],
        [{"insert": {"days": {"value": "${whole.days[2]}", "at": 9}}}],
        [{"insert": {"days": {"like_first": True, "at": 9}}}],
        [{"fill": {"days": {"from": 2}}}],
        [{"duplicate": {"days": None}}],
        [{"set": {"days": "${[item.days[2], item.days[2], item.days[2]]}"}}],
    ],
    ids=str,
)
def test_no_operation_makes_two_places_one(operations: list[dict[str, Any]]) -> None:
    data = copy.deepcopy(DAYS)
    apply(operations, data)
    days = data["days"]
    assert isinstance(days, list)
    assert len({id(day) for day in days}) == len(days)


def test_data_that_an_operation_cannot_act_on_is_not_touched() -> None:
    misfits: list[dict[str, Any]] = [
        {"fill": {"days": {"from": 9}}},
        {"scale": {"place": 2}},
        {"negate": ["place"]},
        {"truncate": {"total": 1}},
        {"reorder": {"days": "date"}},
        {"invert": {"days": {"a": "b"}}},
        {"substitute": {"place": {"Salem": "Bend"}}},
    ]
    for operation in misfits:
        data = copy.deepcopy(DAYS)
        assert check_operations([operation]) == set()
        assert apply([operation], data) == 0, operation
        assert data == DAYS


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"retype": {"place": "integer"}}, "retype: 'Bend' cannot become integer"),
        ({"scale": {"total": "${whole.place}"}}, "scale: total: takes a number, got 'Bend'"),
        ({"set": {"total": "${value + whole.place}"}}, "unsupported operand"),
        ({"set": {"": "${whole.total}"}}, "the whole must stay an object"),
        ({"filter": {"days": {"n": {"in": "${place}"}}}}, "in takes a list, got 'x'"),
    ],
    ids=str,
)
def test_a_misfit_is_one_error(operation: dict[str, Any], message: str) -> None:
    with pytest.raises(OperationError) as wrong:
        apply([operation], copy.deepcopy(DAYS), {"place": "x"})
    assert message in str(wrong.value)
