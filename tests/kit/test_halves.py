"""Worlds in two halves: what nobody wrote is shared, what one wrote is its own.

The measure is the same world in one piece, as `--db` keeps it: whatever is done to both, rows, log,
search and earlier moments must be equal.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servers.kit import database, search
from servers.kit.halves import IDLE, REPEATED, WORN
from servers.kit.store import AGENT, WORLD, Table, World
from servers.kit.values import iso, parse_time

TABLES = {
    "account": Table("id:str name:str", identity=True),
    "mail": Table(
        "id:str subject:str body:str? read:bool? labels:list?",
        search=("subject", "body"),
        index=("read",),
    ),
    "count": Table("number:int n:int"),
    "product": Table("id:str name:str", search=("name",), catalogue=True),
}
T0 = parse_time("2026-03-14T16:00:00Z")
NOW = T0 + 1000


def built(size: int = 12) -> bytes:
    """Return a world with a slim log: rows added a minute apart, some changed, some deleted."""
    world = World.empty(TABLES)
    world.stamp(T0, WORLD)
    world.insert("account", {"id": "me", "name": "Maya"})
    for place in range(size):
        world.stamp(T0 + 10 * place, WORLD)
        mail = {"id": f"k{place}", "subject": f"order {place}", "body": "shipped", "labels": ["in"]}
        world.insert("mail", mail)
        world.insert("count", {"number": place + 3, "n": place})
        world.insert("product", {"id": f"p{place}", "name": f"lamp {place}"})
    world.stamp(T0 + 500, WORLD)
    world.update("mail", "k1", read=True)
    world.update("count", 4, n=70)
    # A gap in the numbers of the rows, which a copy must keep.
    world.delete("mail", "k2")
    world.delete("count", 5)
    world.commit()
    world.slim()
    return world.image()


IMAGE = built()


def whole() -> World:
    """Return the world in one piece."""
    return World(TABLES, connection=database.from_image(IMAGE))


def seen(world: World) -> list[Any]:
    """Return everything that can be read of a world."""
    found: list[Any] = [world.digest(), world.log(), world.last_change()]
    for table in TABLES:
        found.append(world.sql(f"SELECT rowid, * FROM {table} ORDER BY rowid"))
        found.append(world.rows(table))
    found.append(world.count("mail", "read", "labels"))
    found.append(world.count("count", "n"))
    for word in ("order", "shipped", "lamp", "new 1", "was"):
        found.append(search.hits(world, "mail", f'"{word}"'))
        found.append(search.hits(world, "product", f'"{word}"'))
    found.append(world.sql("SELECT m.id, c.n FROM mail m JOIN count c ON m.id='k'||c.n ORDER BY 1"))
    return found


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "update", "delete", "count", "product", "refused", "read"]),
        st.integers(0, 14),
        st.integers(0, 3),
    ),
    max_size=25,
)


def perform(world: World, operations: list[tuple[str, int, int]], start: int = NOW) -> None:
    """Write what operations say: each is a call of its own, and `refused` is taken back."""
    for place, (what, number, n) in enumerate(operations):
        key = f"k{number}"
        world.stamp(start + place, AGENT)
        there = world.get("mail", key) is not None
        if what == "insert" and not there:
            world.insert("mail", {"id": key, "subject": f"new {n}", "labels": [n]})
        elif what == "update":
            world.update("mail", key, subject=f"new {n}", read=bool(n % 2))
        elif what == "delete":
            world.delete("mail", key)
        elif what == "count":
            world.update("mail", key, body=f"was {n}")
            if world.get("count", number) is None:
                world.insert("count", {"number": number, "n": n})
            else:
                world.delete("count", number)
        elif what == "product":
            world.update("product", f"p{number}", name=f"new {n}")
        elif what == "refused":
            world.update("mail", key, body="never")
            world.delete("product", f"p{number}")
            world.rollback()
        elif what == "read":
            search.hits(world, "mail", "order")
        world.commit()


SHARED = World.open(IMAGE, TABLES)
"""One shared half for all examples, so that private halves are used again and again."""


@settings(derandomize=True, deadline=None, max_examples=60)
@given(OPERATIONS, OPERATIONS, OPERATIONS)
def test_two_halves_are_one_world(first: list[Any], second: list[Any], third: list[Any]) -> None:
    one = whole()
    halves = SHARED.share()
    for world in (one, halves):
        perform(world, first)
    assert seen(halves) == seen(one)
    copies = [world.scratch() for world in (one, halves)]
    for world in (one, halves):
        perform(world, second, NOW + 100)
    for world in copies:
        perform(world, third, NOW + 100)
    assert seen(halves) == seen(one) and seen(copies[1]) == seen(copies[0])
    for moment in (T0 + 55, T0 + 499, NOW + 5, NOW + 105):
        for keep_own in (False, True):
            past = [w.as_of(moment, TABLES, keep_own=keep_own) for w in (one, halves)]
            assert seen(past[1]) == seen(past[0])
    taken = [world.undo(lambda e: e["cause"] == AGENT, after=iso(NOW)) for world in copies]
    assert taken[0] == taken[1] and seen(copies[1]) == seen(copies[0])
    for world, entries in zip(copies, taken, strict=True):
        world.redo(entries)
    assert seen(copies[1]) == seen(copies[0])
    assert seen(World.open(halves.image(), TABLES)) == seen(one)
    for world in (one, halves, *copies):
        world.close()


@settings(derandomize=True, deadline=None, max_examples=40)
@given(OPERATIONS, OPERATIONS, OPERATIONS)
def test_what_is_settled_is_settled_in_both_halves(
    before: list[Any], settled: list[Any], after: list[Any]
) -> None:
    one = whole()
    halves = SHARED.share()
    copies = []
    for world in (one, halves):
        perform(world, before)
        mark = world.last_change()
        perform(world, settled, NOW + 100)
        world.settle(mark)
        assert world.last_change() <= mark
        copies.append(world.scratch())
        perform(world, after, NOW + 200)
    assert seen(halves) == seen(one) and seen(copies[1]) == seen(copies[0])
    past = [world.as_of(T0 + 300, TABLES) for world in (one, halves)]
    assert seen(past[1]) == seen(past[0])
    assert seen(World.open(halves.image(), TABLES)) == seen(one)


def test_a_long_episode_is_copied_as_a_short_one() -> None:
    one = whole()
    halves = SHARED.share()
    long = [("insert", n % 9, n % 4) for n in range(REPEATED)]
    long += [("update", n % 9, n % 4) for n in range(2 * REPEATED)]
    for world in (one, halves):
        perform(world, long)
    assert halves.last_change() > SHARED.last_change() + REPEATED
    copies = [world.scratch() for world in (one, halves)]
    again = [world.scratch() for world in copies]
    for world in (*copies, *again):
        perform(world, [("delete", 3, 0), ("count", 4, 1)], NOW + 500)
    assert seen(copies[1]) == seen(again[1]) == seen(copies[0]) == seen(again[0])
    assert seen(halves) == seen(one)


@settings(derandomize=True, deadline=None, max_examples=20)
@given(OPERATIONS, OPERATIONS)
def test_a_past_that_is_lived_again_is_in_one_piece(first: list[Any], second: list[Any]) -> None:
    one = whole()
    halves = SHARED.share()
    for world in (one, halves):
        perform(world, first)
        undone = world.rewind(T0 + 55)
        perform(world, second, T0 + 60)
        assert all(entry["at"] > iso(T0 + 55) for entry in undone)
        world.slim()
    assert seen(halves) == seen(one)
    for world in (one, halves):
        perform(world, second, NOW)
    assert seen(halves) == seen(one) == seen(World.open(halves.image(), TABLES))
    assert seen(SHARED) == seen(World.open(IMAGE, TABLES))


def test_a_statement_finds_the_rows_that_were_copied_since_it_was_prepared() -> None:
    world = World.open(IMAGE, TABLES).share()
    world.stamp(NOW, AGENT)
    world.insert("account", {"id": "other", "name": "Mia"})
    counts = []
    for _ in range(2):
        counts.append(world.sql("SELECT count(*) FROM count")[0][0])
        world.delete("count", 3)
    assert counts[1] == counts[0] - 1


def test_an_episode_may_begin_in_a_world_that_was_written_to() -> None:
    begun = SHARED.share()
    perform(begun, [("update", 0, 1), ("insert", 20, 1)])
    before = seen(begun)
    one = begun.share()
    other = begun.share()
    perform(one, [("update", 0, 2), ("count", 4, 0)])
    assert seen(other) == seen(begun) == before != seen(one)


def test_a_copy_is_as_it_was_when_it_was_asked_for() -> None:
    world = SHARED.share()
    perform(world, [("update", 0, 1)])
    before = seen(world)
    kept = world.scratch()
    perform(world, [("update", 0, 2), ("delete", 3, 0)])
    assert seen(kept) == before != seen(world)


def test_a_copy_in_the_middle_of_a_call_has_what_the_call_wrote() -> None:
    world = SHARED.share()
    world.stamp(NOW, AGENT)
    world.update("mail", "k0", subject="new")
    inside = world.scratch()
    world.rollback()
    assert [w.sql("SELECT subject FROM mail WHERE id='k0'") for w in (inside, world)] == [
        [("new",)],
        [("order 0",)],
    ]


def test_a_private_half_comes_back_as_if_nothing_had_been_written() -> None:
    shared = World.open(IMAGE, TABLES)
    before = seen(shared)
    for _ in range(3):
        world = shared.share()
        perform(world, [("delete", 0, 0), ("insert", 2, 1), ("count", 4, 1), ("product", 1, 1)])
        world.stamp(NOW + 50, AGENT)
        world.update("mail", "k7", subject="in an unfinished call")
        world.close()
        world = shared.share()
        world.stamp(NOW, AGENT)
        world.update("account", "me", name="Mia")
        world.rollback()
        assert not world.shared and seen(world) == before


def test_a_closed_world_is_not_read_in_another_ones_place() -> None:
    shared = World.open(IMAGE, TABLES)
    world = shared.share()
    perform(world, [("update", 0, 1)])
    world.close()
    world.close()
    with pytest.raises(Exception, match="closed"):
        world.rows("mail")
    assert shared.rows("mail")


def test_many_private_worlds_at_once_do_not_mix() -> None:
    shared = World.open(IMAGE, TABLES)
    worlds = [shared.share() for _ in range(2 * IDLE)]
    for number, world in enumerate(worlds):
        world.stamp(NOW, AGENT)
        world.insert("mail", {"id": "mine", "subject": f"number {number}"})
        world.commit()
    for number, world in enumerate(worlds):
        assert list(search.hits(world, "mail", f'"number {number}"')) == ["mine"]
        world.close()
    assert shared.get("mail", "mine") is None


def test_a_world_with_a_lot_written_leaves_nothing_behind() -> None:
    shared = World.open(built(2 * WORN), TABLES)
    before = seen(shared)
    world = shared.share()
    perform(world, [("update", n, 1) for n in range(2 * WORN)])
    world.close()
    world = shared.share()
    perform(world, [("update", 99_999, 1)])
    assert seen(world) == before


def test_part_of_a_world_knows_the_history_of_its_tables_alone() -> None:
    part = SHARED.only({name: TABLES[name] for name in ("account", "mail")})
    assert {entry["table"] for entry in part.log()} == {"account", "mail"}
    assert {entry["table"] for entry in part.log_since(iso(T0 + 50))} == {"mail"}
    perform(part, [("update", 0, 1)])
    past = part.as_of(T0 + 55, ["mail"])
    kept = World.open(past.image(), part.tables)
    assert kept.digest() == past.digest() and kept.log() == past.log()
    assert kept.sql("SELECT name FROM sqlite_master WHERE name IN ('count', 'product')") == []
