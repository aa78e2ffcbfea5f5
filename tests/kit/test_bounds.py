"""What files and agents may make us compute, hold and repeat is bounded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fault_profiles.model import parse as fault
from servers.kit.errors import InputError, ServiceError, UnknownName, quoted
from servers.kit.expr import ExpressionError, check_predicate, matches, names, render
from servers.kit.plain import from_json, made_plain
from servers.kit.yaml import parse, read
from tests.support import TOOLS, assert_error, call_ok, new_session

DATA = {"letters": "a" * 10_000, "numbers": [1] * 5_000, "big": 2**62, "most": 1.7e308}


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("letters * 1000000000", "makes a text of 10,000,000,000,000 characters"),
        ("1000000000 * letters", "makes a text"),
        ("numbers * 1000000", "makes a list of 5,000,000,000 values"),
        ("[[0] * 5000] * 5000", "makes more than 10,000 values"),
        ("letters + letters * 9 + letters", "makes a text of 110,000 characters"),
        ("numbers + numbers + numbers", "makes more than 10,000 values"),
        ("join(numbers, letters)", "makes a text"),
        ("str([letters * 9, letters * 9])", "makes a text of 180,"),
        ("big * 2", "more than 63 bits"),
        ("big + big", "more than 63 bits"),
        ("sum([big, big])", "more than 63 bits"),
        ("int('9' * 4000)", "more than 63 bits"),
        ("most * 10", "inf is no number in JSON"),
        ("-(most * 10)", "inf is no number in JSON"),
        ("float('inf')", "inf is no number in JSON"),
        ("float('nan')", "nan is no number in JSON"),
        ("letters % 1", "`%` is the remainder of numbers"),
        ("round(5, -1000000000)", "-20 to 20 are possible"),
        ("shift('2026-03-14T09:00:00Z', 99999999999999)", "expression"),
    ],
)
def test_what_an_expression_makes_is_bounded(expression: str, told: str) -> None:
    source = f"${{{expression}}}"
    with pytest.raises(ExpressionError) as caught:
        render(source, DATA)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "expression",
    ["'a' * 1000000000", "9**9**9", "1e999", "9" * 30, "'%9d' % 1", "1j", "b'x'", r"'\ud800'"],
)
def test_what_can_be_seen_is_refused_without_data(expression: str) -> None:
    with pytest.raises(ExpressionError, match="expression"):
        names(f"${{{expression}}}")


def test_what_is_of_use_is_still_computed() -> None:
    assert render("${7 % 4} ${'ab' * 3} ${[1, 2] * 2}", {}) == "3 ababab [1, 2, 1, 2]"
    assert render("${numbers + [2]}", DATA)[-1] == 2
    assert render("${letters}", {"letters": "a" * 300_000}) == "a" * 300_000


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("(?=.*a)b", "write `matches: [one, other]`, all of which must be found"),
        ("(?!a)b", "add `not: {matches: …}`"),
        ("(?<!a)b", "match what stands before"),
        (r"(a)\1", "write out the alternatives"),
        ("(?x) a b", "without white space"),
        (r"a\Z", r"write `\z`"),
        (r"\bémile", r"write `(^|[^\pL])`"),
        ("(", "missing )"),
        ("${name}", "a pattern is fixed; use `contains`"),
        (["fine", "(?=a)"], "all of which must be found"),
        (5, "put it in quotes"),
        ([], "must be text"),
    ],
    ids=str,
)
def test_a_pattern_of_another_engine_is_refused(pattern: Any, told: str) -> None:
    with pytest.raises(InputError) as caught:
        check_predicate({"note": {"matches": pattern}}, "where")
    assert str(caught.value).startswith("where: note: matches: pattern ")
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("RENT", "the rent", True),
        (["14", "free"], "Free, all 14", True),
        (["14", "free"], "all 14", False),
        (r"9:30\s[ap]m", "9:30\u202fAM", True),
        (r"\pL+ Ruiz", "José Ruiz", True),
        ("(a+)+$", "a" * 10_000 + "!", False),
        ("(x?x?x?x?){90}y", "x" * 10_000, False),
        ("a", "\ud800a", True),
    ],
    ids=lambda value: str(value)[:20].encode(errors="replace").decode(),
)
def test_patterns_are_found_in_time(pattern: Any, text: str, found: bool) -> None:
    assert matches({"note": {"matches": pattern}}, {"note": text}) is found


def test_yaml_times_are_text() -> None:
    assert parse("[12:30, 1:30:00, 1.5, 0x1f]", "it") == ["12:30", "1:30:00", 1.5, 31]


def test_a_file_with_a_mark_of_its_order_and_carriage_returns_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"\xef\xbb\xbf- a: 1\r\n- b: 2\r\n")
    assert read(file) == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize(
    "text", ["NaN", "[-Infinity]", "1e999", "9" * 30, "9" * 9_000, "[" * 100_000]
)
def test_json_that_is_not_plain_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON|63 bits|too large|too deeply"):
        from_json(text)


@pytest.mark.anyio
async def test_no_number_of_an_agent_breaks_the_trace() -> None:
    session = new_session("venmo")
    deep: Any = 0
    for _ in range(5_000):
        deep = [deep]
    for amount in (float("nan"), float("inf"), -(10**400), 10**30, 10**5_000, deep):
        reply = await session.call("venmo", "send_money", {"contact_id": "x", "amount": amount})
        assert_error(reply)
    assert not session.bugs
    for line in session.control.trace():
        from_json(line)
    assert made_plain([10**30, True, float("nan")]) == [1e30, True, "nan"]


@pytest.mark.anyio
async def test_no_number_that_a_fault_makes_reaches_a_reply() -> None:
    grows = {"on": "venmo.get_balance", "reply": [{"scale": {"balance": 1.7e308}}]}
    session = new_session("venmo", faults=[fault({"wrong_value": grows})])
    reply = await session.call("venmo", "get_balance", {})
    assert json.loads(json.dumps(reply.data, allow_nan=False)) == reply.data
    (attempt,) = (from_json(line) for line in session.control.trace())
    assert "inf is no number in JSON" in attempt["firings"][0]["failed"]
    assert not session.bugs
    assert reply.data == await call_ok(new_session("venmo"), "venmo", "get_balance")


def test_errors_repeat_little() -> None:
    assert quoted("a" * 500) == repr("a" * 79 + "…")
    assert len(str(UnknownName("world", "w" * 100_000, ["maya"]))) < 150
    long = InputError("file: " + "x" * 100_000 + ": right would be y")
    assert len(str(long)) < 1_300
    assert str(long).startswith("file: ") and str(long).endswith("right would be y")
    text = "it's " * 100
    wrong = ServiceError("NO", f"No place {text!r}. No place '{text}'.", f"Not {text}.")
    told = wrong.repeating_little_of({"places": [{"name": text}]}).as_json()["error"]
    assert len(told["message"]) < 250 and len(told["hint"]) < 100


@pytest.mark.anyio
async def test_a_service_repeats_little_of_what_an_agent_says() -> None:
    session = new_session("yahoo_weather")
    place = "Nowhere" * 13
    reply = await session.call("yahoo_weather", "get_current_observation", {"location": place})
    error = assert_error(reply)
    assert place not in error["message"] and place[:70] in error["message"]
    long = await session.call("yahoo" * 5_000, "x" * 50_000, {"k" * 5_000: 1})
    assert len(json.dumps(long.data)) < 700


def unbounded(schema: dict[str, Any], name: str = "") -> list[str]:
    """Return the ids in a schema of arguments, at any depth, whose length has no bound."""
    found = []
    if name.endswith(("_id", "_ids")) or name == "id":
        of_text = schema.get("type") == "string" and "enum" not in schema
        if of_text and not {"maxLength", "pattern"} & schema.keys():
            found.append(name)
    for inner, given in schema.get("properties", {}).items():
        found += unbounded(given, inner)
    if isinstance(schema.get("items"), dict):
        found += unbounded(schema["items"], name)
    for option in schema.get("anyOf", []):
        found += unbounded(option, name)
    return found


def test_every_id_argument_has_a_bound() -> None:
    found = {f"{cls.name}.{spec.name}": unbounded(spec.schema) for cls, spec in TOOLS}
    assert not {tool: ids for tool, ids in found.items() if ids}
