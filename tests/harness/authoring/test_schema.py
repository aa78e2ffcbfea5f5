"""The schemas accept what ships, refuse what is wrong, and leave an author's settings alone."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from client_harness.authoring import editor
from client_harness.authoring.draft import scenario
from client_harness.authoring.schema import schema
from fault_profiles.profiles import locate, profiles
from scenarios.load import written
from servers.kit.errors import InputError
from servers.kit.yaml import Loader, read
from tests.commands import PAY, command, files

WANTED = {"./a.json": ["*.a.yaml"], "./b.json": ["*.b.yaml"]}


@functools.cache
def made(kind: str) -> dict[str, Any]:
    return schema(kind, ["maya"])


@functools.cache
def validator(kind: str) -> Any:
    return Draft202012Validator(made(kind))


def wrong(raw: Any, kind: str = "scenario") -> list[str]:
    return [error.message for error in validator(kind).iter_errors(raw)]


@pytest.mark.parametrize("name", sorted(written())[::4])
def test_shipped_scenarios_are_accepted(name: str) -> None:
    assert wrong(read(written()[name])) == []


def test_profiles_and_drafts_are_accepted() -> None:
    import yaml

    assert [wrong(read(locate(name)), "faults") for name in profiles()] == [[]] * len(profiles())
    assert wrong(yaml.load(scenario("venmo", "dropped_write", "maya", "x"), Loader=Loader)) == []


def test_names_are_completed() -> None:
    definitions = made("scenario")["$defs"]
    assert "venmo.send_money" in definitions["h.tool"]["enum"]
    assert "venmo" in definitions["h.service"]["enum"]
    assert "venmo_contacts" in definitions["h.table"]["enum"]
    assert "venmo_contacts.name" in definitions["h.column"]["enum"]
    assert "seed:vct/jordan_park" in definitions["h.seed"]["enum"]
    assert {"paid", "created"} <= set(definitions["h.claim"]["properties"])
    contacts = [
        o["then"] for o in definitions["h.rows"]["allOf"] if "venmo_contacts" in str(o["if"])
    ]
    assert "username" in contacts[0]["properties"]["where"]["properties"]
    operators = definitions["h.wanted"]["anyOf"][0]["properties"]
    assert {"gte", "matches", "exists"} <= set(operators)
    kinds = [*(option["required"][0] for option in made("faults")["items"]["oneOf"])]
    assert "dropped_write" in kinds


def test_fields_are_described() -> None:
    definitions = made("scenario")["$defs"]
    bare = []
    described = 0
    for name, part in definitions.items():
        for field, about in part.get("properties", {}).items():
            if name.startswith("h."):
                continue
            if "description" in about:
                described += 1
            else:
                bare.append(f"{name}.{field}")
    assert len(bare) < described / 20, bare


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("services", 0), "vemno"),
        (("failure",), "silent_noop"),
        (("scripts", "oracle", 0, "call"), "venmo.list_frends"),
        (("scripts", "oracle", 0, "cal"), "venmo.list_friends"),
        (("statements", 0, "claim"), {"payd": {}}),
        (("faults", 0), {"droped_write": {"on": "venmo.send_money"}}),
        (("checks", 0), {"evidense": {"name": "x"}}),
    ],
)
def test_a_typo_is_refused(place: tuple[Any, ...], value: Any) -> None:
    raw = json.loads(json.dumps(read(written()[PAY])))
    holder = raw
    for part in place[:-1]:
        holder = holder[part]
    holder[place[-1]] = value
    assert wrong(raw)


def test_writing_twice_changes_nothing(tmp_path: Path) -> None:
    asked = ["schema", "--write", "--folder", tmp_path, "--world", "maya"]
    assert "wrote" in command(*asked).out
    before = files(tmp_path)
    assert "up to date" in command(*asked).out
    assert files(tmp_path) == before
    told = json.loads(before[".vscode/settings.json"])["yaml.schemas"]
    assert set(told) == {f"./{name}" for name in before if name.endswith(".schema.json")}
    command(*asked, "--scenarios", "mine/*.yaml")
    told = json.loads(files(tmp_path)[".vscode/settings.json"])["yaml.schemas"]
    assert "mine/*.yaml" in told["./.vscode/haywire/scenario.schema.json"]


def test_other_settings_stay() -> None:
    own = '"yaml.schemas": {"./a.json": ["mine/*.yaml"], "x": "y"}'
    text = f'{{\n    "editor.tabSize": 4,\n    {own}\n}}'
    done = json.loads(editor.settings(text, WANTED, "settings.json"))
    assert done["editor.tabSize"] == 4
    schemas = {"./a.json": ["mine/*.yaml", "*.a.yaml"], "x": "y", "./b.json": ["*.b.yaml"]}
    assert done["yaml.schemas"] == schemas
    again = json.dumps(done)
    assert editor.settings(again, WANTED, "settings.json") == again


def test_comments_stay() -> None:
    text = '// {mine}\n{\n  // tabs\n  "editor.tabSize": 4, /* four */\n}\n'
    done = editor.settings(text, WANTED, "settings.json")
    assert [line for line in text.splitlines() if line not in done.splitlines()] == []
    assert editor.settings(done, WANTED, "settings.json") == done


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '{\n// mine\n"yaml.schemas": {"x": "y"}}',
            'set in it by hand: "yaml.schemas": {"./a.json"',
        ),
        ("[]", "no object of settings"),
        ("{", "is not JSON"),
        ('{"yaml.schemas": 5}', "yaml.schemas is no object"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: str, says: str) -> None:
    with pytest.raises(InputError, match="nothing was changed") as refused:
        editor.settings(text, WANTED, "settings.json")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
