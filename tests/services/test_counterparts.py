"""Counterparts do the same thing.

All tools of a match are called, and their replies must have the fields that the match promises.
"""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from servers.kit import counterparts
from servers.kit.counterparts import Match, matches
from servers.kit.errors import InputError
from servers.kit.service import providers, tool
from tests.support import effects, new_session, prepared

MATCHES: list[tuple[str, Match]] = []
for _category, _matches in matches().items():
    MATCHES += [(_category, _match) for _match in _matches]
every_match = pytest.mark.parametrize(
    ("category", "match"), MATCHES, ids=[" ~ ".join(m.tools) for _, m in MATCHES]
)


def at(data: Any, path: str) -> list[Any]:
    """Return the values at a path, in which `name[]` means every item of a list."""
    values = [data]
    for part in path.split("."):
        name = part.removesuffix("[]")
        objects = [value for value in values if isinstance(value, dict)]
        values = [value[name] for value in objects if name in value]
        if part.endswith("[]"):
            values = list(itertools.chain.from_iterable(values))
    return values


@pytest.mark.anyio
@every_match
async def test_both_tools_do_what_the_match_says(category: str, match: Match) -> None:
    whole = set()  # for tools that match fully: (effect, whether something was written)
    for name in match.tools:
        cls, spec = tool(name)
        session = new_session(cls.name)
        args = await prepared(session, cls, spec)
        mark = session.world.last_change()
        reply = await session.call(cls.name, spec.name, args)
        assert not reply.is_error, reply.data
        for path in match.fields(name):
            assert at(reply.data, path), f"{name} answers without {path}: {reply.data}"
        if name not in match.partial:
            whole.add((spec.effect, bool(effects(session, mark))))
    assert len(whole) <= 1, whole


@every_match
def test_a_match_stays_within_reason(category: str, match: Match) -> None:
    categories = {tool(name)[0].category for name in match.tools}
    if categories != {category}:
        assert match.partial, "tools of other categories can only match in part"
    for name in match.tools:
        assert match.fields(name), "a match must name fields"


def test_no_pair_is_said_twice() -> None:
    does: dict[frozenset[str], str] = {}
    for _, match in MATCHES:
        for one, other in itertools.combinations(match.tools, 2):
            pair = frozenset((one, other))
            assert does.setdefault(pair, match.does) == match.does, (
                f"{sorted(pair)} are in two matches"
            )


def test_every_provider_has_a_counterpart() -> None:
    table = counterparts.counterparts()
    alone = [name for name in providers() if not table[name]]
    categories = Counter(cls.category for cls in providers().values())
    assert [name for name in alone if categories[providers()[name].category] > 1] == []
    for name, others in table.items():
        for other, counts in others.items():
            assert table[other][name] == counts


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "- {does: pay a friend, tools: [venmo.send_money, zelle.send_transfers], "
            "returns: [status]}",
            "did you mean 'zelle.send_transfer'",
        ),
        (
            "- {does: pay a friend, tools: [venmo.send_money], returns: [status]}",
            "match 1: tools: ",
        ),
        (
            "- {does: pay a friend, tools: [venmo.send_money, venmo.request_money], "
            "returns: [status]}",
            "two tools of one service",
        ),
        (
            "- {does: pay a friend, tools: [venmo.send_money, zelle.send_transfer], "
            "returns: [id], part: {}}",
            "unknown key 'part'",
        ),
        (
            "- {does: pay a friend, tools: [venmo.send_money, zelle.send_transfer], "
            "returns: [status], partial: {venmo.get_balance: no}}",
            "venmo.get_balance is not among its tools",
        ),
    ],
)
def test_a_match_that_does_not_fit_is_refused(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "payments" / "counterparts.yaml"
    path.parent.mkdir()
    path.write_text(text + "\n")
    with pytest.raises(InputError) as caught:
        counterparts._load(path)
    assert told in str(caught.value)
