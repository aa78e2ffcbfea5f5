"""Targets, the instances that they stand for, and the weaves that these take place in."""

from __future__ import annotations

import copy
import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from client_harness.agents import agent
from client_harness.proof.checking import prove
from client_harness.proof.play import play
from client_harness.proof.standing import found
from scenarios.haystack import history, instances, targets, weave
from scenarios.haystack.instances import instance
from scenarios.haystack.targets import Target
from scenarios.load import load
from scenarios.worlds import build
from servers.kit.errors import InputError
from servers.kit.yaml import read
from tests.commands import command, refusal

GLAZE = "maya/glaze_share"
TALE = {kind: f"haystack/{kind}/{GLAZE}" for kind in targets.KINDS}


@pytest.fixture
def raw() -> dict[str, Any]:
    return copy.deepcopy(read(targets.index()[GLAZE]))


@pytest.mark.parametrize(
    ("name", "kind"), list(zip(targets.index(), itertools.cycle(targets.KINDS), strict=False))
)
def test_a_target_stands_for_instances(name: str, kind: targets.Kind) -> None:
    """One kind of each target; `client_harness check haystack` proves them all."""
    made = load(f"haystack/{kind}/{name}")
    assert isinstance(made, instances.Instance)
    assert (made.facts.missing is not None) == kind.startswith("missing")
    assert len(made.turns) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["recall_multi", "shift_implicit", "missing_hard"])
async def test_an_instance_proves_itself(kind: targets.Kind) -> None:
    assert await prove(TALE[kind]) == []


FAILS = {
    "recall_any": {"missing_hard", "shift_explicit", "shift_implicit"},
    "naive": set(targets.KINDS),
    "oracle": set(),
}
"""The kinds in which solvers fail: who takes any value fails shifts, and what only rivals have."""


@pytest.mark.anyio
@pytest.mark.parametrize("name", FAILS)
async def test_solvers_fail_where_they_must(name: str) -> None:
    failed = set()
    for kind, tale in TALE.items():
        done = await play(instance(tale, {"sessions": 5}), agent(name).agent)
        if done.verdicts["base"].value != "pass":
            failed.add(kind)
    assert failed == FAILS[name]


@pytest.mark.anyio
@pytest.mark.parametrize(("distance", "value"), [(2, "pass"), (3, "fail")])
async def test_who_remembers_three_sessions_fails_at_a_distance_of_three(
    distance: int, value: str
) -> None:
    made = instance(TALE["recall_single"], {"sessions": 6, "distance": distance})
    done = await play(made, agent("recall_window").agent)
    assert done.verdicts["base"].value == value


def woven(**numbers: int) -> weave.Weave:
    history_name = instance(TALE["shift_explicit"], numbers).history
    assert history_name is not None
    return weave.named(history_name)


def test_the_last_needle_stands_at_its_distance_and_fewer_distractors_are_part_of_more() -> None:
    for distance in (0, 2, 4):
        keys = [s.named for s in woven(sessions=8, distance=distance).written().sessions]
        assert keys[-1 - distance] == "needle-2"
        assert keys.index("needle-1") < keys.index("needle-2")
    few = {s.named for s in woven(distractors=4, distance=2).written().sessions}
    more = {s.named for s in woven(distractors=9, distance=2).written().sessions}
    assert few < more


def test_ids_of_the_past_do_not_depend_on_the_weave() -> None:
    calls = []
    for sessions in (3, 6):
        made = instance("haystack/recall_single/maya/glaze_share", {"sessions": sessions})
        lived = history.live(made.history or "").sessions
        texts = [s for s in lived if "ordered glaze" in s["messages"][0].get("text", "")]
        calls.append(texts[0]["messages"])
    assert calls[0] == calls[1]


def test_an_instance_is_the_same_in_every_process() -> None:
    name = instance(TALE["recall_multi"], {"sessions": 4}).history
    code = (
        "import json; from scenarios.haystack import history;"
        f"print(json.dumps(history.live({name!r}).sessions))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == history.live(name or "").sessions


def test_either_value_can_be_right() -> None:
    one, other = (instance(TALE["recall_single"], {"value": value}) for value in (0, 1))
    assert one.facts.values == other.facts.others
    assert one.scripts.oracle != other.scripts.oracle


@pytest.mark.parametrize(
    ("numbers", "error"),
    [
        ("sessions=3,distance=3", "distance=3 cannot be"),
        ("distractors=4,sessions=9", "distractors=4 and 1 needles make 5 sessions, not 9"),
        ("wording=2", "wording is 0 (plain) or 1 (roundabout)"),
        ("far=2", "unknown number of a history 'far'"),
    ],
)
def test_wrong_numbers_of_an_instance_are_refused(numbers: str, error: str, tmp_path: Path) -> None:
    told = command(
        "run", TALE["recall_single"], "--history", numbers, "--out", str(tmp_path / "run")
    )
    assert error in refusal(told)
    assert not (tmp_path / "run").exists()


def test_a_distance_without_a_needle_is_refused() -> None:
    with pytest.raises(InputError, match="has no needle, so it takes no distance"):
        instance(TALE["missing_easy"], {"distance": 2})


def test_what_is_missing_is_in_no_past_session() -> None:
    made = instance(TALE["missing_hard"])
    said = json.dumps(history.live(made.history or "").sessions)
    assert "43.85" not in said
    assert "38.15" in said


def broken(raw: dict[str, Any], kind: str, **changes: Any) -> str:
    raw["kinds"][kind] |= changes
    with pytest.raises((ValidationError, InputError)) as refused:
        Target.model_validate(raw)
    return str(refused.value)


def test_a_telling_that_is_not_of_its_kind_is_refused(raw: dict[str, Any]) -> None:
    given = copy.deepcopy(raw)
    needles = raw["kinds"]["recall_multi"]["needles"]
    said = broken(copy.deepcopy(raw), "recall_single", needles=needles)
    assert "piece note is said 2 times" in said
    said = broken(copy.deepcopy(raw), "recall_single", needles=[])
    assert "piece amount is said neither in `ask` nor in a needle" in said
    said = broken(copy.deepcopy(raw), "shift_explicit", shift=None)
    assert "announced or unannounced" in said
    said = broken(copy.deepcopy(raw), "missing_easy", question=None)
    assert "how a good assistant asks" in said
    rival = raw["kinds"]["missing_hard"]["needles"]
    said = broken(copy.deepcopy(raw), "missing_easy", needles=rival)
    assert "that is missing_hard" in said
    del given["kinds"]["shift_implicit"]
    with pytest.raises(ValidationError, match="shift_implicit is missing"):
        Target.model_validate(given)


def test_a_value_stands_only_where_calls_can_read_it() -> None:
    world = build.shared("maya").scratch()
    at = "2026-03-16T09:00:00Z"
    unread = {"provider": "venmo", "template": "t", "recipient": "a@b.c", "about": "a"}
    ana = {"name": "Ana", "username": "ana", "added_at": at}
    with world.caused_by("test"):
        world.insert("outbox", {"id": "out_1", "posted_at": at, "data": {"sum": "77.31"}, **unread})
        world.insert("venmo_contacts", {"id": "vct_7731", **ana})
    assert found(world, 77.31) is None
    assert found(world, 7731) is None
    with world.caused_by("test"):
        world.insert("venmo_contacts", {"id": "vct_2", **ana, "username": "ana 77.31"})
    assert found(world, 77.31) == "venmo_contacts"
