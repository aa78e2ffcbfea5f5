"""`new`: what it starts is proven as it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from client_harness.authoring.draft import STORIES, scenario
from client_harness.authoring.starters import starters
from fault_profiles.model import kinds
from scenarios.load import parse
from servers.kit.service import providers
from servers.kit.yaml import Loader
from tests.commands import command, refusal

PLAYED = [
    ("gmail", "silent_no_op", "maya"),
    ("zelle", "staleness", "eleanor"),
    ("weather_com", "corrupted_state", "rafael"),
    ("booking", "availability", "eleanor"),
    ("confluence", "schema_mismatch", "maya"),
    ("uber", "lost_reply", "rafael"),
]
"""A service of several categories, each kind of failure, and each world."""


def drafted(service: str, fault: str, world: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.load(scenario(service, fault, world, "x.yaml"), Loader=Loader)
    return read


def test_the_tasks_are_those_of_providers() -> None:
    assert len(starters()) >= 30
    assert set(starters()) <= set(providers())


@pytest.mark.parametrize("service", starters())
def test_every_draft_loads(service: str) -> None:
    for fault in STORIES:
        made = parse(drafted(service, fault, "maya"), "draft", "draft.yaml")
        assert made.services[0] == service


@pytest.mark.parametrize(("service", "failure", "world"), PLAYED)
def test_a_draft_is_proven_as_it_stands(
    service: str, failure: str, world: str, tmp_path: Path
) -> None:
    file = tmp_path / "mine.yaml"
    asked = ["--service", service, "--fault", failure, "--person", world, "--out", file]
    assert command("new", "scenario", "mine", *asked).status == 0
    checked = command("check", file, "--jobs", "1", "--json")
    assert checked.json["problems"] == []
    assert f"client_harness check {file}" in file.read_text()


def test_a_draft_is_printed_unless_a_file_is_named() -> None:
    done = command("new", "scenario", "mine", "--service", "venmo")
    assert yaml.safe_load(done.out)["failure"] == "silent_no_op"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--service", "vemno"], "unknown service 'vemno'; did you mean 'venmo'"),
        (["--service", "venmo", "--fault", "droped_write"], "did you mean 'dropped_write'"),
        (["--service", "venmo", "--fault", "duplicate_delivery"], "has no first draft"),
        (["--service", "venmo", "--person", "bob"], "unknown world 'bob'"),
        (["--service", "venmo", "--out", "mine.txt"], "ends in .yaml"),
    ],
)
def test_a_mistake_is_one_line(arguments: list[str], says: str) -> None:
    assert says in refusal(command("new", "scenario", "mine", *arguments))


def test_a_file_that_exists_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("mine")
    refused = refusal(command("new", "scenario", "mine", "--service", "venmo", "--out", file))
    assert "exists already" in refused
    assert file.read_text() == "mine"


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_a_drafted_fault_fires(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    on = "venmo.send_money" if "write" in kinds()[kind].effects else "venmo.list_transactions"
    if kind == "partial_batch":
        on = "venmo.create_group_payment"
    made = command("new", "fault", kind, "--on", on, "--out", file)
    assert made.status == 0, made.err
    checked = command("check", file)
    assert (checked.status, checked.out) == (0, "The faults of 1 of 1 files fire.\n")


def test_a_fault_that_makes_no_sense_is_refused_in_a_line() -> None:
    refused = refusal(command("new", "fault", "dropped_write", "--on", "venmo.get_balance"))
    assert "acts on writes, and venmo.get_balance is a read" in refused
    refused = refusal(command("new", "fault", "partial_batch", "--on", "venmo.send_money"))
    assert "makes no sense on venmo.send_money" in refused
    assert "name a tool with --on" in refusal(command("new", "fault", "outage"))
    made = command("new", "fault", "stale_read", "--service", "gmail").out
    assert "on: gmail.list_labels" in made


def test_a_file_of_faults_that_do_not_fire_is_told(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("- wrong_value: {on: venmo.get_balance, reply: [{scale: {balence: 2}}]}\n")
    done = command("check", file)
    assert done.status == 1
    assert "no reply that the fault met has 'balence'; did you mean 'balance'?" in done.out
    assert "it fires on no example call of its tools (venmo.get_balance)" in done.out
    file.write_text("- outage: {on: venmo.get_balance, where: {x: 1}}\n")
    assert "unknown argument 'x'" in command("check", file).out


SHARED = "{table: expedia_board_shares, where: {board_id: '${args.board_id}'}"
UNSHARED = (
    f"- wrong_value: {{on: expedia.add_to_trip_board, rows: [{SHARED}, delete: true}}], %s}}\n"
)
BOARD = "- %s: {name: first_there, on: expedia.create_trip_board, first: 1}\n"


def _checked(text: str, tmp_path: Path) -> tuple[int, str]:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    done = command("check", file)
    return done.status, done.out


@pytest.mark.parametrize("other", ["dropped_write", "outage"])
def test_each_fault_must_fire_by_itself(other: str, tmp_path: Path) -> None:
    alone = UNSHARED % "first: 1"
    status, told = _checked(BOARD % other + alone, tmp_path)
    assert status == 1
    assert "could not act: no row of expedia_board_shares meets" in told
    noted = "- wrong_value: {name: late, on: expedia.add_to_trip_board, first: 1, rows: [{table: "
    noted += "expedia_board_items, where: {id: '${reply.board_item_id}'}, delete: true}]}\n"
    status, told = _checked(BOARD % other + noted, tmp_path)
    assert status == 0
    assert "remark: fault late: it fires by itself, but first_there stands in front of it" in told
    assert _checked(noted, tmp_path) == (0, "The faults of 1 of 1 files fire.\n")


def test_a_row_that_does_not_exist_is_told_though_later_calls_are_refused(tmp_path: Path) -> None:
    where = "rows: [{table: expedia_boards, where: {id: xbd_nope}, delete: true}]"
    status, told = _checked(
        f"- wrong_value: {{on: expedia.create_trip_board, {where}}}\n", tmp_path
    )
    assert status == 1
    assert "could not act: no row of expedia_boards meets" in told


def test_a_call_that_meets_the_conditions_is_looked_for(tmp_path: Path) -> None:
    guarded = UNSHARED % f"stored: {SHARED}}}"
    assert _checked(guarded, tmp_path) == (0, "The faults of 1 of 1 files fire.\n")
    never = (
        "- outage: {on: venmo.send_money, stored: {table: venmo_contacts, where: {name: Nob}}}\n"
    )
    status, told = _checked(never, tmp_path)
    assert status == 0
    assert "remark: fault outage: no example call of its tools (venmo.send_money) meets" in told
    assert "files fire; see the remarks." in told


def test_a_captured_value_that_is_in_no_reply_is_told(tmp_path: Path) -> None:
    later = "- outage: {on: venmo.get_transaction, where: {transaction_id: '${faults.lost.id}'}}\n"
    lost = "- dropped_write: {name: lost, on: venmo.send_money, capture: {id: '${reply.%s}'}}\n"
    status, told = _checked(lost % "transactionid" + later, tmp_path)
    assert status == 1
    assert "has 'transactionid' there; did you mean 'transaction_id'?" in told
    assert "no reply" not in _checked(lost % "transaction_id" + later, tmp_path)[1]


def test_a_path_is_said_once(tmp_path: Path) -> None:
    status, told = _checked("- outage: {on: venmo.send_mony}\n", tmp_path)
    assert status == 1
    assert told.count("mine.yaml: ") == 1
