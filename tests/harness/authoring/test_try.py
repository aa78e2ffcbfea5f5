"""`try`: calls on a world, with the truth, the rows and the faults that an author asks about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commands import PAY, command, refusal

FRIEND = "venmo.add_friend {name: Kai, username: kai-t}"
FAULTS = """
- dropped_write: {name: lost, on: venmo.request_money, first: 1}
- wrong_value:
    name: wrong
    on: venmo.get_balance
    after: {fired: lost}
    until: {calls: 1}
    reply: [{set: {balance: 3}}]
- outage: {name: rich, on: venmo.request_money, where: {amount: {gt: 100}}}
- wrong_value: {name: names, on: venmo.get_contact, reply: [{set: {nam: Bob}}]}
"""
ASK = "venmo.request_money {contact_id: '@jordan_park', amount: 5, note: Gas}"


@pytest.fixture
def faults(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(FAULTS)
    return path


def tried(*arguments: object) -> list[dict[str, Any]]:
    return command("try", "--json", *arguments).json


def test_a_reply_is_used_by_a_later_call() -> None:
    one, two = tried(
        "f = venmo.list_friends {limit: 2}",
        'venmo.get_contact {contact_id: "${f.friends[1].contact_id}"}',
    )
    assert two["seen"]["name"] == one["seen"]["friends"][1]["name"]


def test_an_expression_needs_no_quotation_marks() -> None:
    _, two = tried(
        "f = venmo.list_friends", "venmo.get_contact {contact_id: ${f.friends[0].contact_id}}"
    )
    assert two["is_error"] is False


@pytest.mark.parametrize("name", ["@jordan_park", "@vct/jordan_park", "seed:vct/jordan_park"])
def test_a_seed_is_named_as_in_a_scenario_or_in_short(name: str) -> None:
    (one,) = tried(f"venmo.get_contact {{contact_id: '{name}'}}")
    assert one["seen"]["name"] == "Jordan Park"


def test_a_short_name_is_not_looked_for_at_other_providers() -> None:
    venmo, zelle = tried(
        "venmo.get_contact {contact_id: '@ana_reyes'}",
        "zelle.get_recipient {contact_id: '@ana_reyes'}",
    )
    assert venmo["seen"]["contact_id"] != zelle["seen"]["contact_id"]


def test_rows_show_what_was_there_and_what_is() -> None:
    done = command("try", "venmo.update_default_visibility {visibility: friends}")
    assert 'default_visibility: "private" → "friends"' in done.out


def test_the_truth_is_shown_where_it_differs(faults: Path) -> None:
    asked, balance, again = tried("--faults", faults, ASK, "venmo.get_balance", "venmo.get_balance")
    assert (asked["truth"], asked["effects"]) == (None, [])
    assert [firing["fault"] for firing in asked["firings"]] == ["lost"]
    assert balance["seen"] == {"balance": 3}
    assert balance["truth"] == {"balance": 214.6}
    assert "truth" not in again
    printed = command("try", "--faults", faults, ASK, "venmo.get_balance").out
    assert "true  the call was never performed" in printed
    assert "true  {balance: 214.6}" in printed


def test_a_fault_that_is_near_says_why_it_does_not_fire(faults: Path) -> None:
    early, _, later = tried("--faults", faults, "venmo.get_balance", ASK, ASK)
    (miss,) = early["not_fired"]
    assert (miss["fault"], miss["how"]) == ("wrong", "not armed")
    how = {miss["fault"]: miss["how"] for miss in later["not_fired"]}
    assert how == {"lost": "not due", "rich": "conditions"}
    _, _, cleared = tried("--faults", faults, ASK, "venmo.get_balance", "venmo.get_balance")
    assert [miss["how"] for miss in cleared["not_fired"]] == ["cleared"]
    (declined,) = tried(
        "--faults", faults, "venmo.request_money {contact_id: none, amount: 5, note: x}"
    )
    assert declined["not_fired"][0]["how"] == "declined"


def test_a_path_that_is_in_no_reply_is_noted(faults: Path) -> None:
    (one,) = tried("--faults", faults, "venmo.get_contact {contact_id: '@jordan_park'}")
    (note,) = one["notes"]
    assert "no reply that the fault met has 'nam'; did you mean 'name'?" in note


def test_a_captured_value_that_is_in_no_reply_is_noted_and_conditions_read_as_yaml(
    tmp_path: Path,
) -> None:
    file = tmp_path / "mine.yaml"
    until = "until: {called: venmo.get_balance}"
    file.write_text(
        f"- dropped_write: {{name: lost, on: venmo.request_money, {until}, "
        "capture: {id: '${reply.requestid}'}}\n"
        "- outage: {on: venmo.get_request, where: {request_id: '${faults.lost.id}'}}\n"
    )
    lost, _, again = tried("--faults", file, ASK, "venmo.get_balance", ASK)
    assert any("no reply so far has 'requestid'" in note for note in lost["notes"])
    (miss,) = [one for one in again["not_fired"] if one["fault"] == "lost"]
    assert miss["why"] == 'it has cleared (until called: ["venmo.get_balance"])'


def test_a_scenario_brings_its_faults_unless_it_is_clean() -> None:
    pay = "venmo.send_money {contact_id: '@jordan_park', amount: 27.5, note: day pass}"
    (faulted,) = tried("--scenario", PAY, pay)
    (clean,) = tried("--scenario", PAY, "--clean", pay)
    assert faulted["firings"] and not faulted["effects"]
    assert clean["effects"] and not clean["firings"]


def test_calls_begin_later_if_asked() -> None:
    (one,) = tried("--at", "2026-03-14T18:00:00Z", "clock.get_time")
    assert one["at"] == "2026-03-14T18:00:01Z"
    (one,) = tried("--at", "+600", "clock.get_time")
    assert one["at"] == "2026-03-14T16:10:01Z"


def test_a_file_of_steps_is_played(tmp_path: Path) -> None:
    path = tmp_path / "steps.yaml"
    branch = "- {if: b.balance > 1, then: [{call: venmo.list_friends}]}"
    path.write_text(f"- {{call: venmo.get_balance, save: b}}\n{branch}\n")
    assert [one["call"] for one in tried(path)] == ["venmo.get_balance", "venmo.list_friends"]


@pytest.mark.parametrize("columns", [40, 100])
def test_lines_fit_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, faults: Path
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    printed = command(
        "try", "--faults", faults, FRIEND, ASK, "venmo.get_balance", "venmo.list_friends"
    ).out
    assert max(map(len, printed.splitlines())) <= columns


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["venmo.get_contact {contact_id: '@jordn_park'}"], "did you mean '@jordan_park'"),
        (["venmo.send_mony {}"], "unknown tool 'venmo.send_mony'; did you mean"),
        (["venmo.get_contact {contact_id: ${f.x}}"], "unknown name 'f'"),
        (["get_balance"], "call 1: write `service.tool {argument: value}`"),
        (["venmo.get_contact [1]"], "the arguments are a mapping"),
        (["venmo.get_contact {"], "not valid YAML"),
        (["--at", "soon", "venmo.get_balance"], "--at soon: write +600"),
        (["--at", "2020-01-01T00:00:00Z", "venmo.get_balance"], "which is later"),
        (["--world", "bob", "venmo.get_balance"], "unknown world 'bob'"),
        (["--faults", "flakey", "venmo.get_balance"], "did you mean 'flaky'"),
        (["--clean", "--faults", "flaky", "venmo.get_balance"], "--clean leaves faults out"),
        (
            ["a = venmo.get_balance", "venmo.get_contact {contact_id: '${a.balance - a}'}"],
            "step venmo.get_contact",
        ),
    ],
)
def test_a_mistake_is_one_line(arguments: list[str], says: str) -> None:
    assert says in refusal(command("try", *arguments))
