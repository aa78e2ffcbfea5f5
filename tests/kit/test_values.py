"""Values at the tool boundary: money to the cent, and pages that hold every item exactly once."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servers.kit.errors import ServiceError
from servers.kit.values import cents, dollars, page


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.integers(-(10**10), 10**10))
def test_money_survives_the_tool_boundary(minor: int) -> None:
    assert cents(json.loads(json.dumps(dollars(minor)))) == minor


@pytest.mark.parametrize("amount", [0.001, 19.999, float("nan"), float("inf"), 1e-9])
def test_a_third_decimal_or_a_non_number_is_refused(amount: float) -> None:
    with pytest.raises(ValueError, match="two decimals"):
        cents(amount)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.lists(st.integers(), max_size=40, unique=True), st.integers(1, 12))
def test_pages_hold_everything_once(items: list[int], limit: int) -> None:
    seen: list[int] = []
    cursor: str | None = None
    for _ in range(50):
        part = page(items, "items", limit, cursor)
        seen += part["items"]
        cursor = part["next_cursor"]
        if cursor is None:
            break
    assert seen == items


@pytest.mark.parametrize("cursor", ["", "x", "cDk5", "😀", "cC0x", "====", "cDEgMA"])
def test_a_made_up_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(ServiceError, match="cursor is not valid"):
        page([1, 2, 3], "items", 2, cursor)
