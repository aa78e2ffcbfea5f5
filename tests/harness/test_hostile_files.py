"""Files that would hang, crash or climb out, each through the real command line.

Each is refused with one line. The time-out only catches what hangs; what is refused takes about
half a second, most of it for Python to start.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from servers.kit.yaml import read
from tests.support import sampled

ROOT = Path(__file__).parents[2]
HANGS = 60
A_SCENARIO = ROOT / "scenarios" / "suites" / "recovery" / "silent_no_op" / "mail_not_sent.yaml"


def refused(*args: str, at: Path) -> str:
    """Run a command that must be refused, and return the line that says why."""
    done = subprocess.run(
        [sys.executable, "-m", "client_harness", *args],
        cwd=at,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=HANGS,
    )
    said = done.stdout.decode() + done.stderr.decode()
    assert "Traceback" not in said, said[-2000:]
    assert done.returncode in (1, 2), (done.returncode, said[-2000:])
    lines = said.splitlines()
    told = lines[:-2] if args[0] == "check" and done.returncode == 1 else lines
    assert len(told) == 1, said[:2000]
    assert len(told[0]) < 1_500
    return told[0]


def setting(value: str) -> str:
    """Return a profile with one fault that sets the balance to a value."""
    fault = {"on": "venmo.get_balance", "reply": [{"set": {"balance": value}}]}
    return yaml.safe_dump([{"wrong_value": fault}])


def finding(pattern: str) -> str:
    """Return a profile with one fault that looks for a pattern in a note."""
    fault = {"on": "venmo.send_money", "where": {"note": {"matches": pattern}}}
    return yaml.safe_dump([{"outage": fault}])


LEVELS = "abcdefghijkl"
LAUGHS = "- &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"- &{this} [{', '.join([f'*{last}'] * 9)}]\n" for last, this in itertools.pairwise(LEVELS)
)

PROFILES = {
    "brackets": ("[" * 100_000, "line 1: nested more than 64 deep"),
    "braces": ("{a: " * 100_000, "nested more than 64 deep"),
    "ten megabytes": ("- x\n" * 2_500_000, "at most 1,000,000 are read"),
    "one flat megabyte": ("- x\n" * 240_000, "more than 50,000 values"),
    "aliases": (LAUGHS, "with aliases expanded"),
    "a list in itself": ("- &a [*a]", "*a stands inside of what it stands for"),
    "a mapping merged with itself": ("&a\n<<: *a", "stands inside"),
    "a tag": ("- !!python/object/apply:os.system [id]", "is not used here"),
    "infinity": ("- a: -.inf", "line 1: '-.inf': -inf is no number in JSON"),
    "not a number": ("- a: .nan", "nan is no number in JSON"),
    "a large number": ("- a: 1.0e+400", "inf is no number in JSON"),
    "a long number": ("- a: " + "9" * 5_000, "quote it if it is text"),
    "a long hexadecimal number": ("- a: 0x" + "f" * 5_000, "more than 63 bits"),
    "a key twice": ("- {a: 1, a: 2}", "the key 'a' occurs twice"),
    "half a surrogate pair": ('- "\\ud800"', "not valid YAML: line 1"),
    "UTF-16": ("- a".encode("utf-16"), "not UTF-8 text"),
    "NUL": ("- a\x00", "not valid YAML"),
    "nothing": ("", "a profile is a list of faults"),
    "holes": (setting("${" * 20_000), "holds 20,000 `${`; 100 are the most"),
    "a text repeated": (
        setting("${'a' * 1000000000}"),
        "makes a text of 1,000,000,000 characters; 100,000 are the most",
    ),
    "a list repeated": (setting("${[0] * 1000000000}"), "makes a list of 1,000,000,000 values"),
    "a width": (setting("${'%1000000000d' % 1}"), "`%` is the remainder of numbers"),
    "powers": (setting("${9**9**9}"), "`**` is not part of the language; write a product"),
    "parentheses": (setting("${" + "(" * 900 + "1" + ")" * 900 + "}"), "too many nested"),
    "minus signs": (setting("${" + "-" * 1_900 + "1}"), "is nested more than 40 deep"),
    "a long expression": (setting("${" + "1+" * 50_000 + "1}"), "2,000 are the most"),
    "a lookahead": (finding("(?=.*a)b"), "all of which must be found"),
    "a back-reference": (finding(r"(a+)+\1$"), "a back-reference is not supported"),
    "repeats in repeats": (finding("(a{1000}){1000}"), "invalid repetition size"),
    "a long pattern": (finding("(a|" * 9_000 + "b" + ")" * 9_000), "1,000 are the most"),
    "a long target": ("- outage: {on: 'venmo." + "*a" * 50_000 + "'}", "200 are the most"),
    "a long kind": (f"- {'k' * 900}: {{on: venmo.*}}", "unknown fault kind 'kkkk"),
}


@pytest.mark.parametrize(("text", "told"), sampled(3, PROFILES))
def test_a_profile_that_is_too_much_is_refused(
    tmp_path: Path, text: str | bytes, told: str
) -> None:
    file = tmp_path / "hostile.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    line = refused("serve", "--services", "venmo", "--stdio", "--faults", file.name, at=tmp_path)
    assert line.startswith(f"error: {file.resolve()}: ")
    assert told in line


SCENARIOS = {
    "brackets": ("[" * 100_000, "nested more than 64 deep"),
    "a world elsewhere": ({"world": "../../etc/passwd"}, "unknown world '../../etc/passwd'"),
    "a history elsewhere": ({"history": "../../../../etc/passwd"}, "unknown history '../../"),
    "an absolute history": ({"history": "/etc/passwd"}, "unknown history '/etc/passwd'"),
    "a long history": ({"history": "h" * 5_000}, "hhh…'"),
    "a history with NUL": ({"history": "a\0b"}, r"unknown history 'a\x00b'"),
    "a service elsewhere": ({"services": ["../kit/errors"]}, "unknown service '../kit/errors'"),
    "a long service": ({"services": ["s" * 5_000]}, "unknown service 'sss"),
    "many turns": ({"turns": [{"user": "Hello."}] * 3_000}, "at most 40"),
}


@pytest.mark.parametrize(("change", "told"), sampled(3, SCENARIOS))
def test_a_scenario_that_is_too_much_is_refused(
    tmp_path: Path, change: str | dict[str, object], told: str
) -> None:
    file = tmp_path / "hostile.yaml"
    if isinstance(change, dict):
        change = yaml.safe_dump({**read(A_SCENARIO), **change})
    file.write_text(change)
    assert told in refused("check", file.name, at=tmp_path)


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "device.yaml").symlink_to("/dev/zero")
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    told = {
        "folder": "is a folder, not a file",
        "pipe": "is a pipe or a device, not a file",
        "device": "is a pipe or a device, not a file",
        "loop": "there is no file loop.yaml",
        "n" * 5_000: "there is no file nnn",
    }
    for name, reason in told.items():
        args = ("serve", "--services", "venmo", "--stdio", "--faults", f"{name}.yaml")
        assert reason in refused(*args, at=tmp_path), name


def test_a_name_cannot_leave_the_folder_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "...yaml").write_text(A_SCENARIO.read_text())
    line = refused("run", "...yaml", "--agent", "oracle", at=tmp_path)
    assert "the scenario '..': cannot be a name" in line
    assert not (tmp_path / "runs").exists()
    for name in ("../" * 20 + "etc/passwd", "r" * 5_000):
        assert "holds no run" in refused("report", name, at=tmp_path)


def test_other_texts_from_outside_are_bounded(tmp_path: Path) -> None:
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000)
    endless = tmp_path / "endless.json"
    endless.write_text('{"mcpServers": {}, "size": NaN}')
    for file, told in ((deep, "nested too deeply"), (endless, "NaN is no number in JSON")):
        args = ("connect", "cursor", "--services", "venmo", "--write", "--path", str(file))
        before = file.read_text()
        assert told in refused(*args, at=tmp_path)
        assert file.read_text() == before
    assert "line 1: not an event" in refused("trace", "deep.json", at=tmp_path)
    option = "x=" + "[" * 200
    run = ("run", "smoke", "--agent", "oracle", "--option", option)
    assert "--option x: line 1: nested more than 64 deep" in refused(*run, at=tmp_path)
