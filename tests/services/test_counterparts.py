"""Counterparts do the same: both tools of a match are performed, and what the match promises is in their replies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from servers.kit import counterparts
from servers.kit.counterparts import Match, matches
from servers.kit.errors import InputError
from servers.kit.service import providers, tool
from tests.support import effects, new_session, prepared

MATCHES = [(category, match) for category, listed in matches().items() for match in listed]
every_match = pytest.mark.parametrize(
    ("category", "match"), MATCHES, ids=[" ~ ".join(m.tools) for _, m in MATCHES]
)


def at(data: Any, path: str) -> list[Any]:
    """Return what a path finds; `name[]` goes into every item of a list."""
    found = [data]
    for part in path.split("."):
        name = part.removesuffix("[]")
        found = [f[name] for f in found if isinstance(f, dict) and name in f]
        found = [i for f in found for i in f] if part.endswith("[]") else found
    return found


@pytest.mark.anyio
@every_match
async def test_both_tools_do_what_the_match_says(category: str, match: Match) -> None:
    told = []
    for name in match.tools:
        cls, spec = tool(name)
        session = new_session(cls.name)
        args = await prepared(session, cls, spec)
        mark = session.world.last_change()
        reply = await session.call(cls.name, spec.name, args)
        assert not reply.is_error, reply.data
        for path in match.fields(name):
            assert at(reply.data, path), f"{name} answers without {path}: {reply.data}"
        told.append((name, spec.effect, bool(effects(session, mark))))
    assert (
        len({(effect, wrote) for name, effect, wrote in told if name not in match.partial}) <= 1
    ), told


@every_match
def test_a_match_stays_within_reason(category: str, match: Match) -> None:
    categories = {tool(name)[0].category for name in match.tools}
    assert categories == {category} or match.partial, (
        "tools of other categories match in part at most"
    )
    assert all(match.fields(name) for name in match.tools), (
        "a match without fields promises nothing"
    )


def test_no_pair_is_said_twice() -> None:
    said: dict[frozenset[str], str] = {}
    for _, match in MATCHES:
        for one in match.tools:
            for other in match.tools:
                pair = frozenset((one, other))
                assert one == other or said.setdefault(pair, match.does) == match.does, (
                    f"{sorted(pair)} stands twice"
                )


def test_every_provider_has_a_counterpart() -> None:
    found = counterparts.counterparts()
    assert [name for name in providers() if not found[name]] == []
    assert all(
        found[other][name] == counts for name in found for other, counts in found[name].items()
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "- {does: pay a friend, tools: [venmo.send_money, zelle.send_transfers], returns: [status]}",
            "did you mean 'zelle.send_transfer'",
        ),
        (
            "- {does: pay a friend, tools: [venmo.send_money], returns: [status]}",
            "match 1: tools: ",
        ),
        (
            "- {does: pay a friend, tools: [venmo.send_money, venmo.request_money], returns: [status]}",
            "two tools of one service",
        ),
        (
            "- {does: pay a friend, tools: [venmo.send_money, zelle.send_transfer], returns: [id], part: {}}",
            "unknown key 'part'",
        ),
        (
            "- {does: pay a friend, tools: [venmo.send_money, zelle.send_transfer], returns: [status], partial: {venmo.get_balance: no}}",
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
