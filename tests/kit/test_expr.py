"""The expression language: paths, expressions, predicates and operations."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from servers.kit.errors import InputError
from servers.kit.expr import (
    ExpressionError,
    apply,
    check_operations,
    check_predicate,
    get,
    matches,
    names,
    render,
)

DATA = {
    "a": {"b": [1, 2, {"c": "x"}]},
    "items": [{"id": "p", "n": 1}, {"id": "q", "n": 2}],
    "t": "2026-03-14T09:00:00Z",
    "none": None,
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b[0]", 1),
        ("a.b[-1].c", "x"),
        ("items[*].n", [1, 2]),
        ("items[id=q].n", 2),
        ("items[9].n", None),
        ("missing.deep", None),
        ("", DATA),
    ],
)
def test_paths_reach_into_json(path: str, value: Any) -> None:
    assert get(DATA, path) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${items[0].n + 2 * 3}", 7),
        ("${len(items)} things", "2 things"),
        ('${first(items, id="Q").n}', 2),
        ('${first(items, id="z").n}', None),
        ("${none.anything.at_all}", None),
        ("${a.b[7]}", None),
        ("${items[0].n == 1 and not none}", True),
        ('${"many" if len(items) > 5 else "few"}', "few"),
        ('${join(pluck(items, "id"), "+")}', "p+q"),
        ('${sum(pluck(items, "n")) / 2}', 1.5),
        ("${shift(t, 3600)}", "2026-03-14T10:00:00Z"),
        ('${days_between(t, "2026-03-16T00:00:00Z")}', 2),
        ("costs ${money(19.5)} now", "costs 19.50 now"),
        ("${round(2.567, 1)} ${max(1, 3)} ${50.0}", "2.6 3 50"),
        ('${sort(items, "n", reverse=true)[0].id}', "q"),
        ("no holes", "no holes"),
        ([{"x": "${items[1].id}"}], [{"x": "q"}]),
    ],
)
def test_expressions_compute(text: Any, value: Any) -> None:
    assert render(text, DATA) == value


def test_fields_that_are_words_of_python_can_be_named() -> None:
    scope = {"mail": {"from": "ana", "in": True, "is_read": False}}
    assert render("${mail.from}", scope) == "ana"
    assert render("${mail.is_read or 'x' in mail.from}", scope) is False
    assert render('${first([mail], from="Ana", in=true).from}', scope) == "ana"
    assert render('${mail.from == "ana" if mail.in else 1}', scope) is True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("${itms}", "did you mean 'items'"),
        ("${frist(items)}", "did you mean 'first'"),
        ("${items.__class__}", "underscore"),
        ("${[x for x in items]}", "not part of the language"),
        ("${(lambda: 1)()}", "unknown function"),
        ("${lambda: 1}", "not part of the language"),
        ("${1 / 0}", "division by zero"),
        ("${items[0].n +}", "invalid syntax"),
        ('${t - "x"}', "unsupported operand"),
        ("${().__class__}", "underscore"),
    ],
)
def test_anything_else_is_refused(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        render(text, DATA)


def test_the_names_an_expression_needs_are_known_without_data() -> None:
    used = names({"x": ["${a.b + first(items).n}", "plain"], "y": "${now}"})
    assert used == {"a", "items", "now"}


@pytest.mark.parametrize(
    ("predicate", "holds"),
    [
        ({"a.b[0]": 1}, True),
        ({"items": {"any": {"n": {"gt": 1}}}}, True),
        ({"items": {"all": {"n": {"gt": 1}}}}, False),
        ({"items": {"none": {"n": 3}}}, True),
        ({"items[*].id": "q"}, True),
        ({"items": {"len": 2}, "t": {"starts": "2026"}}, True),
        ({"a": {"b": {"contains": 2}}}, True),
        ({"t": {"matches": r"^\d{4}"}}, True),
        ({"missing": {"exists": False}}, True),
        ({"none": {"exists": False}}, True),
        ({"missing": 1}, False),
        ({"missing": {"ne": 1}}, True),
        ({"any_of": [{"a.b[0]": 9}, {"a.b[1]": 2}]}, True),
        ({"none_of": [{"a.b[0]": 1}]}, False),
        ({"a.b[1]": {"gte": 2, "lt": 3}}, True),
        ({"a.b[1]": {"not": {"in": [2, 3]}}}, False),
        ({"t": {"same_text": "2026 03 14t09 00 00z"}}, True),
        ({"a.b[0]": "${wanted}"}, True),
        ({"a.b[0]": True}, False),
        ({"a.b[0]": {"gt": "text"}}, False),
    ],
    ids=str,
)
def test_predicates_hold_or_not(predicate: dict[str, Any], holds: bool) -> None:
    assert matches(predicate, DATA, {"wanted": 1}) is holds


def test_a_predicate_with_a_mistake_is_refused_without_data() -> None:
    with pytest.raises(InputError, match="unknown operator 'gtt'"):
        check_predicate({"a": {"gtt": 1, "lt": 2}})
    with pytest.raises(InputError, match="cannot read"):
        check_predicate({"a[": 1})
    with pytest.raises(InputError, match="pattern"):
        check_predicate({"a": {"matches": "("}})


@pytest.mark.parametrize(
    ("operations", "path", "value"),
    [
        ([{"set": {"a.new": 5}}], "a.new", 5),
        ([{"set": {"items[*].n": "${value * 10}"}}], "items[*].n", [10, 20]),
        ([{"drop": ["items[0]"]}], "items[*].id", ["q"]),
        ([{"drop": "items[*].n"}], "items", [{"id": "p"}, {"id": "q"}]),
        ([{"rename": {"items[*].n": "count"}}], "items[0]", {"id": "p", "count": 1}),
        ([{"nest": {"t": "when"}}], "when.t", "2026-03-14T09:00:00Z"),
        ([{"retype": {"items[*].n": "string"}}], "items[*].n", ["1", "2"]),
        ([{"scale": {"items[*].n": 1.5}}], "items[*].n", [2, 3]),
        ([{"add": {"a.b[0]": 4}}], "a.b[0]", 5),
        ([{"negate": ["a.b[0]"]}], "a.b[0]", -1),
        ([{"swap": ["items[0].n", "items[1].n"]}], "items[*].n", [2, 1]),
        ([{"truncate": {"items": 1}}], "items[*].id", ["p"]),
        ([{"substitute": {"t": {"2026": "2025"}}}], "t", "2025-03-14T09:00:00Z"),
        ([{"filter": {"items": {"n": 2}}}], "items[*].id", ["q"]),
        ([{"remove": {"items": {"n": 2}}}], "items[*].id", ["p"]),
        (
            [{"insert": {"items": {"at": 0, "value": {"id": "z"}, "like_first": True}}}],
            "items[0]",
            {"id": "z", "n": 1},
        ),
        ([{"duplicate": {"items": {"n": 1}}}], "items[*].id", ["p", "p", "q"]),
        ([{"copy": {"items[0].n": "items[1].n"}}], "items[*].n", [1, 1]),
        ([{"reorder": {"items": "reverse"}}], "items[*].id", ["q", "p"]),
        ([{"map": {"items[*].n": "${item.n + len(item.id)}"}}], "items[*].n", [2, 3]),
        ([{"invert": {"items[*].id": {"p": "q"}}}], "items[*].id", ["q", "p"]),
        ([{"slice": {"items": [1, 2]}}], "items[*].id", ["q"]),
        ([{"zero": ["items[*].n", "t"]}], "items[*].n", [0, 0]),
        ([{"project": {"items": ["n"]}}], "items[0]", {"n": 1}),
        ([{"fill": {"items": {"from": 0, "keep": ["id"]}}}], "items[1]", {"id": "q", "n": 1}),
        ([{"recompute": {"a.total": '${sum(pluck(whole["items"], "n"))}'}}], "a.total", 3),
    ],
    ids=str,
)
def test_operations_edit_in_place(operations: list[Any], path: str, value: Any) -> None:
    data = copy.deepcopy(DATA)
    assert check_operations(operations) == set()
    assert apply(operations, data) > 0
    assert get(data, path) == value


def test_an_edit_that_finds_no_place_touches_nothing() -> None:
    data = copy.deepcopy(DATA)
    missing = {"scale": {"missing": 2}}
    nowhere = {"drop": ["nowhere.at.all"]}
    no_list = {"filter": {"t": {"n": 1}}}
    assert apply([missing, nowhere, no_list], data) == 0
    assert data == DATA


@pytest.mark.parametrize(
    ("operations", "message"),
    [
        ({"set": {"a": 1}}, "expected a list"),
        ([{"set": {"a": 1}, "drop": ["b"]}], "one key"),
        ([{"sclae": {"a": 1}}], "did you mean 'scale'"),
        ([{"scale": ["a"]}], "takes a mapping of paths"),
        ([{"retype": {"a": "strng"}}], "did you mean 'string'"),
        ([{"set": {"a..b": 1}}], "cannot read"),
    ],
)
def test_an_operation_with_a_mistake_is_refused(operations: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_operations(operations)
