"""What `connect` writes into the configurations of clients, and that the rest stays as it was."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from client_harness import configs
from client_harness.configs import Form, _jsonc
from client_harness.connect import Client, Command, client, clients
from servers.kit.errors import InputError
from tests.commands import PAY, command, refusal

JSON = """{
  "theme" : "dark",
  "%s": {
    "other": {"command": "x", "args": ["{", "// no comment", "}"]}
  },
  "font": {"size": 12.50}
}
"""
JSONC = """// My settings. "Do not" touch { this }.
{
\t"theme": "dark", /* for the night, } */
\t"%s": {
\t\t// the one I wrote
\t\t"other": {"command": "x", "url": "http://a/b"}, // a trailing comma:
\t},
\t"font": {"size": 12,},
}
"""
TOML = """# My settings.
model = "gpt-5"   # the good one

[%s.other] # mine
command = "x"
args = ["a",
  "[b]",
]

# About the others.
[tui]
note = '''
three lines
'''
"""
YAML = """# My settings.
GOOSE_MODEL: gpt-5   # the good one

%s:
  # the one I wrote
  other:
    cmd: x
    args: [a, 'b: c']
    description: |
      two
      lines

# About the rest.
keyring: false
"""
TEXTS: dict[Form, str] = {"json": JSON, "jsonc": JSONC, "toml": TOML, "yaml": YAML}


def mine(target: Client) -> str:
    """Return a configuration of that client as a person wrote it."""
    return TEXTS[target.form] % target.key


def data(target: Client, text: str) -> Any:
    """Return what a configuration says, as a library reads it that is not ours."""
    if target.form == "toml":
        return tomllib.loads(text)
    if target.form == "yaml":
        return yaml.safe_load(text)
    return json.loads(text) if target.form == "json" else _jsonc.parse(text)


def write(name: str, place: Path, *options: object) -> dict[str, Any]:
    """Write an entry with the command, and return all entries."""
    target = client(name)
    done = command("connect", name, PAY, "--episode", "--write", "--path", place, *options)
    assert done.status == 0 and f"wrote {place}" in done.out, done
    assert list(place.parent.iterdir()) == [place]
    return data(target, place.read_text())[target.key]


@pytest.mark.parametrize("name", clients())
def test_an_entry_is_written_and_removed_and_the_rest_stays(name: str, tmp_path: Path) -> None:
    target = client(name)
    place = tmp_path / "config"
    before = mine(target).encode()
    place.write_bytes(before)
    place.chmod(0o600)
    entries = write(name, place)
    assert set(entries) == {"other", "haywire"}
    written = place.read_bytes()
    assert [line for line in before.splitlines() if line not in written.splitlines()] in (
        [],
        [b'    "other": {"command": "x", "args": ["{", "// no comment", "}"]}'],  # a comma now
    )
    assert place.stat().st_mode & 0o777 == 0o600
    write(name, place)
    assert place.read_bytes() == written
    done = command("connect", name, "--remove", "--path", place)
    assert (done.status, done.out) == (
        0,
        f"removed haywire from {place}; restart {target.title} to see it go\n",
    )
    assert place.read_bytes() == before
    done = command("connect", name, "--remove", "--path", place)
    assert done.out == f"{place} has no haywire; it was not changed\n"


@pytest.mark.parametrize("name", clients())
def test_an_entry_that_is_there_is_replaced_where_it_stands(name: str, tmp_path: Path) -> None:
    target = client(name)
    place = tmp_path / "config"
    place.write_text(mine(target))
    write(name, place)
    with_one = place.read_text()
    entries = write(name, place, "--traces", tmp_path / "elsewhere")
    assert str(tmp_path / "elsewhere") in json.dumps(entries["haywire"])
    changed = place.read_text()
    other = [line for line in changed.splitlines() if "elsewhere" not in line]
    assert [line for line in with_one.splitlines() if "runs/played" not in line] == other


@pytest.mark.parametrize("name", clients())
def test_a_file_is_made_and_says_what_is_printed(name: str, tmp_path: Path) -> None:
    target = client(name)
    place = tmp_path / "deep" / "config"
    entries = write(name, place)
    printed = command("connect", name, PAY, "--episode")
    assert printed.out == place.read_text()
    assert f"# for {target.path}; use --write" in printed.err
    assert list(entries) == ["haywire"]
    run = json.dumps(entries["haywire"])
    assert '"--episode"' in run and '"--stdio"' in run and PAY in run
    assert command("connect", name, "--remove", "--path", place).status == 0
    assert data(target, place.read_text()) in ({}, None)


@pytest.mark.parametrize("name", clients())
def test_a_malformed_file_is_refused_in_one_line_and_left_alone(name: str, tmp_path: Path) -> None:
    target = client(name)
    place = tmp_path / "config"
    listed = {"toml": f"{target.key} = []", "yaml": f"{target.key}: []"}
    for text, why in (
        (mine(target) + "[{", "repair it or add the entry by hand"),
        (listed.get(target.form, f'{{"{target.key}": []}}'), f"an object {target.key!r}"),
    ):
        place.write_text(text)
        for way in ("--write", "--remove"):
            line = ("connect", name, "--services", "clock", way, "--path", place)
            said = refusal(command(*line))
            assert why in said and "it was not changed" in said
            assert place.read_text() == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("codex", 'mcp_servers = {other = {command = "x"}}'),
        ("codex", 'mcp_servers.other.command = "x"\nnote = """\n[mcp_servers.haywire]\n"""'),
        ("goose", "extensions: {other: {cmd: x}}"),
        ("goose", "{extensions: {}}"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused(name: str, text: str, tmp_path: Path) -> None:
    place = tmp_path / "config"
    place.write_text(text)
    said = refusal(command("connect", name, "--services", "clock", "--write", "--path", place))
    assert "without a risk to the rest" in said and "add 'haywire'" in said
    assert place.read_text() == text


ODD = [
    '{"s": {"a": {}}}',
    '{"s": {"a": {}}, "t": 1}',
    '{\n  "s": {\n    "a": {},\n    "b": {}\n  }\n}',
    '{\r\n\t"s": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n',
    '{ "s" : { "a" : {} } }\n/* the end */',
    '{"t": "\\"}, \\\\", "s": {"a": {"b": [1, {"c": "}"}]}}}',
    '{\n  "s": {\n    "a": {} // last, {\n    // after it }\n  }\n}',
    '{\n  "s": {\n    // first\n    "a": {}, // with a comma\n  },\n}',
    '{"s": {"a": {} /* x */, /* y */ }}',
]


@pytest.mark.parametrize("text", ODD)
def test_json_is_edited_however_it_is_laid_out(text: str, tmp_path: Path) -> None:
    place = tmp_path / "config"
    place.write_bytes(text.encode())
    entry = {"command": "é", "args": ["{", "\\"]}
    configs.put(place, "jsonc", "s", "mine", entry)
    known = _jsonc.parse(text)
    known["s"]["mine"] = entry
    assert _jsonc.parse(place.read_bytes().decode()) == known
    for part in ("the end", "// last, {", "// after it }", "// with a comma", "/* y */"):
        assert (part in text) == (part in place.read_text())
    assert configs.take(place, "jsonc", "s", "mine")
    assert place.read_bytes().decode().replace(" ", "") == text.replace(" ", "")
    # Whatever is there may be removed, too, and the rest stays.
    assert configs.take(place, "jsonc", "s", "a")
    left = _jsonc.parse(text)
    del left["s"]["a"]
    known = _jsonc.parse(place.read_text())
    # A section that is empty but for comments stays.
    commented = any(mark in text for mark in ("/* x", "// last", "// first"))
    assert ("s" in known) == (commented or left["s"] != {})
    assert {"s": {}, **known} == left


def test_a_mark_of_utf8_and_a_link_stay(tmp_path: Path) -> None:
    place = tmp_path / "config.json"
    place.write_bytes(b'\xef\xbb\xbf{"a": 1}\n')
    link = tmp_path / "link.json"
    link.symlink_to(place)
    configs.put(link, "json", "s", "mine", {"command": "x"})
    assert link.is_symlink() and place.read_bytes().startswith(b"\xef\xbb\xbf{")
    assert configs.take(link, "json", "s", "mine")
    assert place.read_bytes() == b'\xef\xbb\xbf{"a": 1}\n'


def test_json_with_comments_is_refused_where_the_client_reads_none(tmp_path: Path) -> None:
    place = tmp_path / "config.json"
    place.write_text("{} // mine")
    with pytest.raises(InputError, match="is not JSON"):
        configs.put(place, "json", "s", "mine", {})
    configs.put(place, "jsonc", "s", "mine", {})
    assert place.read_text().endswith("} // mine")


def test_variables_of_the_environment_are_written_in_each_form() -> None:
    run = Command("python", ["-m", "client_harness"], {"PYTHONPATH": "/a b"})
    for target in clients().values():
        text = configs.fresh(target.form, target.key, "haywire", target.shape(run, "haywire"))
        entry = data(target, text)[target.key]["haywire"]
        environments = [entry.get(key) for key in ("env", "envs", "environment")]
        assert {"PYTHONPATH": "/a b"} in environments


def test_writing_and_removing_at_once_is_a_mistake() -> None:
    assert "are opposites" in refusal(command("connect", "codex", "--write", "--remove"))


def test_an_episode_needs_a_scenario() -> None:
    for line in (("connect", "codex"), ("serve",)):
        assert "--episode plays a scenario" in refusal(command(*line, "--episode"))


def test_a_client_that_never_looks_again_gets_all_tools_at_once() -> None:
    name = "hazards/cascade/plates_in_the_drizzle"
    entry = tomllib.loads(command("connect", "codex", name).out)["mcp_servers"]["haywire"]
    assert "--locked" in entry["args"]
    entry = json.loads(command("connect", "gemini-cli", name).out)["mcpServers"]["haywire"]
    assert "--locked" not in entry["args"]
