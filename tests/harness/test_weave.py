"""Pools of past errands, and the histories that are woven from them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from scenarios.haystack import history, pool, weave
from scenarios.haystack.instances import crossed
from scenarios.haystack.weave import Weave
from scenarios.load import load
from scenarios.worlds import build
from servers.kit import database
from servers.kit.service import tool
from tests.commands import command, refusal

SCENARIO = "recovery/silent_no_op/venmo_pay_dropped"
people = pytest.mark.parametrize("person", sorted(path.name for path in pool.HERE.iterdir()))


@pytest.mark.long
@people
def test_everything_in_a_pool_can_have_happened_in_one_year(person: str) -> None:
    """All sessions are lived together: no call is refused, and nothing collides with life."""
    every = len(pool.uses(person))
    lived = history.live(Weave(person, every).name)
    assert len(lived.sessions) == every > 0
    said = Counter(session["messages"][0].get("text") for session in lived.sessions)
    assert [text for text, times in said.items() if times > 1] == []


@people
def test_talks_are_short_and_long_and_make_a_thousand_sessions(person: str) -> None:
    long_ones = []
    asked = set()
    for errand in pool.errands(person).values():
        messages = 1 + sum(turn.user is not None for turn in errand.turns)
        asked.add(messages)
        if messages >= 9:
            long_ones.append(errand.key)
    assert len(long_ones) >= 12
    assert (min(asked), max(asked)) >= (2, 11)
    thousand = Weave(person, 1000).written().sessions
    assert len({session.named for session in thousand}) == 1000


def test_a_weave_is_the_same_for_the_same_numbers_and_in_order_of_time() -> None:
    one = Weave("maya", 4, 1).written()
    assert one == Weave("maya", 4, 1).written() == weave.named(Weave("maya", 4, 1).name).written()
    assert [s.at for s in one.sessions] == sorted(s.at for s in one.sessions)
    chosen = set()
    for seed in range(9):
        chosen.add(tuple(s.named for s in Weave("maya", 4, seed).written().sessions))
    assert len(chosen) > 1


def test_a_session_falls_on_the_same_moment_in_every_weave() -> None:
    moments: dict[str, set[str]] = {}
    for seed in range(9):
        for session in Weave("maya", 4, seed).written().sessions:
            moments.setdefault(session.named, set()).add(session.at)
    assert all(len(found) == 1 for found in moments.values())


def test_a_crossed_scenario_spares_its_own_services() -> None:
    (scenario,) = crossed(load(SCENARIO), "sessions=4, seed=2")
    assert scenario.history is not None
    spared = set(scenario.services)
    for session in history.live(scenario.history).sessions:
        for message in session["messages"]:
            for call in message.get("calls", []):
                effect = tool(f"{call['server']}.{call['tool']}")[1].effect
                assert effect == "read" or call["server"] not in spared


@pytest.mark.parametrize(
    ("numbers", "error"),
    [
        ("session=4", "unknown number of a history 'session'; did you mean 'sessions'?"),
        ("sessions=few", "sessions is a whole number from 1 on, as in sessions=40,seed=3"),
        ("sessions=0", "sessions is a whole number from 1 on, as in sessions=40,seed=3"),
        ("seed=3", "does not say how many sessions"),
        ("sessions=99999", "past sessions that do not write to venmo, zelle"),
    ],
)
def test_wrong_numbers_are_refused_in_one_line(numbers: str, error: str, tmp_path: Path) -> None:
    said = refusal(command("run", SCENARIO, "--history", numbers, "--out", str(tmp_path / "run")))
    assert error in said
    assert not (tmp_path / "run").exists()


@pytest.mark.long
def test_a_long_history_is_kept_and_reads_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = build.image("maya")
    monkeypatch.setenv("HAYWIRE_CACHE", str(tmp_path))
    name = Weave("maya", weave.SHORT + 1, 5).name
    lived = history.live.__wrapped__(name)
    assert lived.image != image
    assert database.from_image(lived.image).execute("PRAGMA freelist_count").fetchone() == (0,)
    (kept,) = (tmp_path / "histories").iterdir()
    assert history.live.__wrapped__(name) == lived
    kept.write_bytes(kept.read_bytes()[:50])  # as a full disk leaves it
    assert history.live.__wrapped__(name).sessions == lived.sessions


def test_an_errand_with_a_slot_too_short_is_refused() -> None:
    with pytest.raises(ValueError, match="slot food has 1 values, but there are 2 openings"):
        pool.Errand.model_validate(
            {
                "key": "x",
                "openings": ["One?", "Two?"],
                "slots": {"food": ["thai"]},
                "turns": [{"assistant": "Yes."}],
            }
        )
