"""What expressions take from values of which only the shape is known."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from servers.kit.expr.paths import parse
from servers.kit.expr.shapes import Shape, check_path, walk

FRIENDS = {"friends": [{"name": "Ana", "from": "x"}, {"name": "Ben", "id": 2}], "next": None}


def lost(text: str) -> list[tuple[str, list[str]]]:
    """Return the fields that an expression takes and that are not there, and those that are."""
    missing: list[tuple[str, list[str]]] = []

    def note(taken: str, field: str, known: Iterable[str]) -> None:
        missing.append((field, sorted(known)))

    walk(text, {"list": Shape().add(FRIENDS)}, note)
    return missing


@pytest.mark.parametrize(
    "text",
    [
        "${list.friends[0].id}",
        "${first(list.friends, name='Ana').id}",
        "${first(list.friends, from='x').name}",
        "${pluck(list.friends, 'name')[0]}",
        "${sort(where(list.friends, id=2), 'name')[1:][0].id}",
        "${default(first(list.friends), list.friends[0]).name}",
        "${(list.friends[0] if list.next else last(list.friends)).name}",
        "${having(list.friends, 'name', 'nobody')}",
        "${unknown.anything.at.all}",
    ],
)
def test_a_field_that_some_value_has_is_there(text: str) -> None:
    assert lost(text) == []


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("${list.frends}", "frends"),
        ("${list.friends.name}", "name"),
        ("${list.friends[0].nam}", "nam"),
        ("${first(list.friends, nam='Ana').id}", "nam"),
        ("${pluck(list.friends, 'nam')}", "nam"),
        ("${having(list.friends, 'nam', 'a')}", "nam"),
        ("${last(list.friends)['nam']}", "nam"),
        ("${list.next.page}", "page"),
        ("You have ${len(list.frends)} friends.", "frends"),
        ("${1 if list.frends else 2}", "frends"),
    ],
)
def test_a_field_that_no_value_has_is_lost(text: str, field: str) -> None:
    assert [name for name, _ in lost(text)] == [field]


def test_what_is_there_instead_is_told() -> None:
    assert lost("${list.friends[0].nam}") == [("nam", ["from", "id", "name"])]


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("friends[*].name", None),
        ("friends[name=Ana].id", None),
        ("friends[nam=Ana].id", "nam"),
        ("friends[*].nam", "nam"),
        ("next[0]", "[0]"),
    ],
)
def test_a_path_is_compared_with_the_shape(path: str, field: str | None) -> None:
    missing = []
    shape = Shape().add(FRIENDS)
    check_path(shape, parse(path), lambda taken, name, known: missing.append(name), path)
    assert missing == ([] if field is None else [field])
