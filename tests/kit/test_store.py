"""Store and control record: the log, going back in time, sharing, and chance.

Chance depends only on its key.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servers.kit import search
from servers.kit.control import Control, make_id
from servers.kit.errors import InputError
from servers.kit.events import Attempt
from servers.kit.service import Ids, Service, reads, writes
from servers.kit.session import Session
from servers.kit.store import AGENT, CLOCK, WORLD, Table, World
from servers.kit.values import iso, parse_time
from tests.commands import ROOT

TABLES = {
    "account": Table("id:str name:str", identity=True),
    "item": Table(
        "id:str n:int note:str? price:float? done:bool? tags:list?", search=("note",), index=("n",)
    ),
}
T0 = parse_time("2026-03-14T16:00:00Z")


def filled() -> World:
    """Return a world with three items, added at T0, T0+10 and T0+20; the first changes at T0+30."""
    world = World.empty(TABLES)
    world.stamp(T0, WORLD)
    world.insert("account", {"id": "me", "name": "Maya"})
    for place in range(3):
        world.stamp(T0 + 10 * place, WORLD)
        item = {"id": f"i{place}", "n": place, "note": f"note {place}", "tags": ["a"]}
        world.insert("item", item)
    world.stamp(T0 + 30, AGENT)
    world.update("item", "i0", n=7)
    world.commit()
    return world


def row(world: World, table: str, key: str) -> dict[str, Any]:
    stored = world.get(table, key)
    assert stored is not None
    return stored


def test_the_log_holds_every_change_with_moment_and_cause() -> None:
    world = filled()
    world.stamp(T0 + 40, CLOCK)
    world.delete("item", "i1")
    world.commit()
    change, removal = world.log()[-2:]
    assert (change["at"], change["cause"], change["key"]) == (iso(T0 + 30), AGENT, "i0")
    assert change["old"] is not None and change["old"]["n"] == 0
    assert change["new"] is not None and change["new"]["n"] == 7
    assert (removal["at"], removal["cause"], removal["new"]) == (iso(T0 + 40), CLOCK, None)
    unset = {"price": None, "done": None}
    assert removal["old"] == {"id": "i1", "n": 1, "note": "note 1", "tags": ["a"], **unset}
    assert world.last_change() == removal["seq"] and world.log(removal["seq"]) == []


def test_an_update_that_changes_nothing_is_not_logged() -> None:
    world = filled()
    mark = world.last_change()
    world.update("item", "i0", n=7)
    world.commit()
    assert world.last_change() == mark


def test_a_rollback_takes_rows_and_log_back() -> None:
    world = filled()
    before = world.digest(), world.log()
    world.insert("item", {"id": "x", "n": 1})
    world.rollback()
    assert (world.digest(), world.log()) == before


def test_undo_then_redo_restores_rows_causes_and_moments() -> None:
    world = filled()
    rows = world.digest()
    log = world.log()
    taken = world.undo(lambda e: e["cause"] == AGENT)
    assert [e["key"] for e in taken] == ["i0"] and row(world, "item", "i0")["n"] == 0
    world.redo(taken)
    assert world.digest() == rows
    again = world.log()[-1]
    for field in ("at", "cause", "old", "new"):
        assert again[field] == log[-1][field]


def test_a_slim_log_undoes_and_redoes_what_was_added() -> None:
    world = filled()
    rows = world.digest()
    size = len(world.log())
    world.slim()
    assert all(e["new"] is None for e in world.log() if e["old"] is None)
    assert len(world.log()) == size
    taken = world.undo(lambda e: True)
    assert not any(world.digest().values())
    world.redo(taken)
    assert world.digest() == rows


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "update", "delete"]), st.integers(0, 5), st.integers(0, 3)
    ),
    max_size=25,
)


def perform(world: World, operations: list[tuple[str, int, int]], start: int) -> None:
    for place, (what, key, n) in enumerate(operations):
        world.stamp(start + place, AGENT)
        there = world.get("item", f"k{key}") is not None
        if what == "insert" and not there:
            world.insert("item", {"id": f"k{key}", "n": n, "done": bool(n % 2), "tags": [n]})
        elif what == "update" and there:
            world.update("item", f"k{key}", n=n, note=None)
        elif what == "delete" and there:
            world.delete("item", f"k{key}")
    world.commit()


@settings(derandomize=True, deadline=None, max_examples=60)
@given(OPERATIONS, OPERATIONS)
def test_undoing_everything_since_a_moment_is_the_world_as_of_then(
    first: list[Any], second: list[Any]
) -> None:
    world = World.empty(TABLES)
    perform(world, first, T0)
    then = world.digest()
    perform(world, second, T0 + 100)
    present = world.digest()
    assert world.as_of(T0 + 99, ["item"]).digest() == then
    assert world.digest() == present
    copy = world.scratch()
    taken = copy.undo(lambda e: True, after=iso(T0 + 100))
    assert copy.digest() == then
    copy.redo(taken)
    assert copy.digest() == present


def test_as_of_reaches_back_in_the_named_tables_only() -> None:
    world = filled()
    world.stamp(T0 + 35, WORLD)
    world.update("account", "me", name="Someone")
    world.commit()
    past = world.as_of(T0 + 10, ["item"])
    assert [r["id"] for r in past.rows("item", order="id")] == ["i0", "i1"]
    assert row(past, "item", "i0")["n"] == 0
    assert world.as_of(T0 + 10, []).digest() == world.digest()
    # A table that says who is signed in does not go back.
    past = world.as_of(T0 + 10, ["account", "item"])
    assert row(past, "account", "me")["name"] == "Someone"


def test_as_of_may_keep_what_the_agent_wrote() -> None:
    past = filled().as_of(T0, ["item"], keep_own=True)
    assert [(r["id"], r["n"]) for r in past.rows("item")] == [("i0", 7)]


def test_episodes_on_one_world_do_not_see_each_others_writes() -> None:
    base = World.open(filled().image(), TABLES)
    one = base.share()
    two = base.share()
    before = base.digest()
    one.stamp(T0 + 50, AGENT)
    one.insert("item", {"id": "mine", "n": 1})
    one.commit()
    assert not one.shared and two.shared
    assert two.digest() == base.digest() == before and two.get("item", "mine") is None
    two.stamp(T0 + 50, AGENT)
    two.update("item", "i0", n=99)
    two.commit()
    assert row(one, "item", "i0")["n"] == 7 and base.digest() == before


def test_a_shared_world_that_is_only_read_is_not_copied() -> None:
    base = World.open(filled().image(), TABLES)
    one = base.share()
    assert one.rows("item") and search.hits(one, "item", "note") and one.shared
    one.close()
    assert base.rows("item")


def test_what_follows_from_a_table_is_kept_until_the_table_is_written_to() -> None:
    world = World.open(filled().image(), TABLES)
    made = []

    def names(episode: World) -> list[str]:
        def make() -> list[str]:
            made.append(episode)
            return [row["name"] for row in episode.rows("account")]

        return episode.kept("names", ["account"], make)

    one = world.share()
    other = world.share()
    assert names(one) == names(other) == ["Maya"] and len(made) == 1
    one.insert("item", {"id": "i9", "n": 9})
    assert names(one) == ["Maya"] and len(made) == 1
    one.update("account", "me", name="Mia")
    one.commit()
    assert names(one) == names(one.scratch()) == ["Mia"]
    assert names(other) == ["Maya"]
    times = len(made)
    assert names(one) == ["Mia"] and len(made) == times
    one.update("account", "me", name="Mae")
    assert names(one) == ["Mae"]
    one.rollback()
    assert names(one) == ["Mia"]


def test_a_write_by_a_reader_raises() -> None:
    world = World.open(filled().image(), TABLES).share()
    world.read_only = True
    with pytest.raises(RuntimeError, match="read-only tool tried to write"):
        world.insert("item", {"id": "x", "n": 1})
    assert world.shared


class Notes(Service):
    """A provider whose reader writes, and with writers that refuse halfway or crash."""

    name = "notes"
    title = "Notes"
    category = "test"
    domain = "test"
    tables = TABLES

    @reads()
    def peek(self) -> dict[str, Any]:
        """Read, it says."""
        self.db.update("item", "i0", n=1000)
        return {}

    @writes()
    def refuse(self) -> dict[str, Any]:
        """Write, then refuse."""
        self.db.update("item", "i0", n=1000)
        self.fail("NO", "Not now.")

    @writes()
    def crash(self) -> dict[str, Any]:
        """Write, then break."""
        self.db.update("item", "i0", n=1000)
        raise ZeroDivisionError("ours")

    @writes()
    def add(self, n: int) -> dict[str, Any]:
        """Write."""
        return self.db.insert("item", {"id": self.new_id("itm"), "n": n})


def notes() -> Session:
    session = Session([], World.open(filled().image(), TABLES).share(), Control(T0 + 100))
    session.classes["notes"] = Notes
    return session


def test_a_reader_that_writes_is_our_bug_and_changes_nothing() -> None:
    session = notes()
    before = session.world.digest()
    for place, tool in enumerate(("peek", "crash")):
        reply = anyio.run(session.call, "notes", tool, {})
        assert reply.error is not None and reply.error["code"] == "INTERNAL_ERROR"
        assert len(session.bugs) == place + 1 and f"notes.{tool}" in session.bugs[-1]
    peeked, crashed = [e for e in session.trace() if isinstance(e, Attempt)]
    assert "RuntimeError" in str(peeked.bug)
    assert "RuntimeError" not in str(crashed.bug) and "ZeroDivisionError" in str(crashed.bug)
    assert session.world.digest() == before


def test_a_refusal_takes_its_writes_back_and_a_success_keeps_them() -> None:
    session = notes()
    before = session.world.digest()
    assert anyio.run(session.call, "notes", "refuse", {}).is_error
    assert session.world.digest() == before
    added = anyio.run(session.call, "notes", "add", {"n": 5}).data["id"]
    assert row(session.world, "item", added)["n"] == 5 and not session.bugs
    last = session.trace()[-1]
    assert isinstance(last, Attempt) and [e["key"] for e in last.effects] == [added]
    assert last.effects[0]["cause"] == AGENT and last.effects[0]["at"] == last.at == iso(T0 + 102)


def test_calls_at_once_follow_one_another_in_the_order_of_arrival() -> None:
    session = notes()

    async def all_at_once() -> None:
        async with anyio.create_task_group() as tasks:
            for n in range(20):
                tasks.start_soon(session.call, "notes", "add", {"n": n})

    anyio.run(all_at_once)
    assert [e.seen["n"] for e in session.trace() if isinstance(e, Attempt)] == list(range(20))


@pytest.mark.parametrize(
    ("given_row", "text"),
    [
        ({"id": "x"}, "missing n"),
        ({"id": "x", "n": "1"}, "'n' takes int"),
        ({"id": "x", "n": True}, "'n' takes int"),
        ({"id": "x", "n": None}, "must not be null"),
        ({"id": "x", "n": 1, "not": 2}, "unknown column 'not'; did you mean 'note'"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_by_name(given_row: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        filled().insert("item", given_row)


def test_a_world_may_live_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "world.db"
    path.write_bytes(filled().image())
    world = World.file(path, TABLES)
    world.stamp(T0 + 60, AGENT)
    world.insert("item", {"id": "x", "n": 1})
    world.commit()
    world.close()
    assert row(World.file(path, TABLES), "item", "x")["n"] == 1
    (tmp_path / "other.db").write_text("no database, but long enough to be read as one" * 20)
    with pytest.raises(InputError, match="not a world database"):
        World.file(tmp_path / "other.db", TABLES)


# -- the control record --------------------------------------------------------------------------


def test_draws_depend_on_their_key_alone() -> None:
    plain = Control(T0, seed=5)
    other = Control(T0, seed=5)
    wanted = [plain.draw("fault", n) for n in range(5)]
    drawn = []
    for n in range(5):
        other.draw("another fault", n)
        other.new_id("x")
        drawn.append(other.draw("fault", n))
    assert drawn == wanted and len(set(wanted)) == 5 and all(0 <= d < 1 for d in wanted)
    assert Control(T0, seed=6).draw("fault", 0) != wanted[0]
    assert plain.draw({"b": 1, "a": 2}) == plain.draw({"a": 2, "b": 1})


def test_ids_are_spent_once_and_depend_on_seed_and_kind() -> None:
    one = Control(T0, seed=1)
    two = Control(T0, seed=1)
    ids = [one.new_id("vtx") for _ in range(4)]
    two.new_id("other")
    assert [two.new_id("vtx") for _ in range(4)] == ids and len(set(ids)) == 4
    assert ids[0] == make_id("vtx", 1, 1) and Control(T0, seed=2).new_id("vtx") != ids[0]


def test_a_repeated_call_replays_its_ids_and_looks_ahead_without_spending() -> None:
    control = Control(T0)

    def peek(prefix: str, ahead: int) -> str:
        return make_id(prefix, control.seed, control.get("id:" + prefix, 0) + ahead)

    real = Ids(control.new_id, peek, [])
    spent = [real.new("a"), real.new("b"), real.new("a")]
    shadow = Ids(control.new_id, peek, real.tape, replay=True)
    assert [shadow.new("a"), shadow.new("b"), shadow.new("a")] == spent
    ahead = [shadow.new("a"), shadow.new("a")]
    assert len(set(ahead) | set(spent)) == 5 and control.new_id("a") == ahead[0]


def test_time_never_goes_back() -> None:
    control = Control(T0)
    assert control.advance(5) == control.now == T0 + 5
    with pytest.raises(ValueError, match="never goes back"):
        control.advance(-1)


ANOTHER = """
import sys
from pathlib import Path
from servers.kit.control import Control
control = Control(0, 9, Path(sys.argv[1]))
for n in range(int(sys.argv[2])):
    with control.order():
        seq = control.next_seq()
        at = control.advance(1)
        control.record(seq, f"{sys.argv[3]} {at} {control.new_id('x')}")
"""


def test_two_processes_on_one_file_follow_one_another(tmp_path: Path) -> None:
    path = tmp_path / "control.db"
    Control(T0, seed=3, path=path).close()
    command = [sys.executable, "-c", ANOTHER, str(path), "40"]
    running = [subprocess.Popen([*command, name], cwd=ROOT) for name in ("one", "two")]
    assert [p.wait(60) for p in running] == [0, 0]
    control = Control(0, path=path)
    lines = [line.split() for line in control.trace()]
    moments = [int(at) for _, at, _ in lines]
    assert moments == list(range(T0 + 1, T0 + 81)), "two calls must not share a moment or a number"
    assert [spent for _, _, spent in lines] == [make_id("x", 3, n) for n in range(1, 81)]
    assert {who for who, _, _ in lines} == {"one", "two"} and control.seed == 3


def test_state_keeps_scalars_and_json() -> None:
    control = Control(T0)
    control.put("fault:a", 1.5)
    control.put_json("fault:b", {"x": [1, None]})
    assert control.get("fault:a") == 1.5 and control.get_json("fault:b") == {"x": [1, None]}
    assert control.get("none", "d") == "d" and control.keys("fault:") == ["fault:a", "fault:b"]
