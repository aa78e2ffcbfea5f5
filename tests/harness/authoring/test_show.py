"""`show TOOL` and `list seeds`: what an author would otherwise read in the code."""

from __future__ import annotations

import json

import pytest

from client_harness.authoring.example import codes
from servers.kit.service import service, tool
from tests.commands import command, refusal


def test_a_tool_is_shown_with_its_reply_its_paths_and_its_codes() -> None:
    shown = command("show", "venmo.list_friends").out
    assert "friends[*].name: text" in shown
    assert "Jordan Park" not in shown, "long lists are cut"
    assert "… 14 more, 17 in all" in shown
    entry = command("show", "venmo.send_money", "--json").json
    assert entry["on"]["paths"]["amount"] == "number"
    assert {"CONTACT_NOT_FOUND", "INSUFFICIENT_FUNDS"} <= set(entry["codes"])


def test_codes_are_found_in_the_rules_that_providers_share() -> None:
    assert "PROPERTY_NOT_FOUND" in codes(*tool("booking.get_property"))


def test_an_example_on_another_world_is_played_there() -> None:
    entry = command("show", "venmo.list_friends", "--world", "rafael", "--json").json
    assert entry["on"]["world"] == "rafael"
    names = {friend["name"] for friend in entry["on"]["reply"]["friends"]}
    assert "Jordan Park" not in names
    assert "--world works with tools" in refusal(command("show", "venmo", "--world", "maya"))


@pytest.mark.parametrize("name", ["notion.get_page", "notion.get_database_entry"])
def test_a_world_without_an_example_is_named(name: str) -> None:
    shown = command("show", name, "--world", "eleanor").out
    assert "There is no example on eleanor's world" in shown
    assert "On maya's world:" in shown and "Paths in its reply:" in shown
    assert "_NOT_FOUND" not in shown.partition("Its error codes")[0]


def test_no_example_is_left_unfilled() -> None:
    for name in service("notion").tools:
        entry = command("show", f"notion.{name}", "--world", "eleanor", "--json").json
        assert not entry["on"]["is_error"] and "${" not in json.dumps(entry["on"]["args"]), name


def test_seeds_are_listed_by_table() -> None:
    tables = command("list", "seeds", "--service", "venmo", "--json").json
    contacts = {row["seed"]: row["columns"] for row in tables["venmo_contacts"]}
    assert contacts["seed:vct/jordan_park"]["name"] == "Jordan Park"
    printed = command("list", "seeds", "--world", "eleanor", "--table", "venmo_contacts").out
    assert "seed:vct/" in printed and "Jordan Park" not in printed


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["seeds", "--table", "venmo_contact"], "did you mean 'venmo_contacts'"),
        (["seeds", "--service", "vemno"], "did you mean 'venmo'"),
        (["seeds", "--world", "mayaa"], "did you mean 'maya'"),
        (["faults", "--table", "venmo_contacts"], "--table works with `list seeds`"),
    ],
)
def test_a_mistake_is_one_line(arguments: list[str], says: str) -> None:
    assert says in refusal(command("list", *arguments))
