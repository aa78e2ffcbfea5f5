"""Worlds: bad seeds are one clear line, builds are the same everywhere, the cache stays small."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scenarios.worlds import build
from servers.kit.errors import InputError
from servers.kit.values import parse_time
from tests.commands import ROOT


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        (
            "payments.yaml",
            "  wallet: 214.60\n",
            "",
            "payments.yaml does not fit: no 'wallet' (met by payments.py, line ",
        ),
        ("payments.yaml", "wallet: 214.60", "wallet: lots", "payments.yaml does not fit: "),
        (
            "payments.yaml",
            "[ana_reyes, ana_ruiz,",
            "[ana_reyes, ana_ruizz,",
            "payments.yaml does not fit: no 'ana_ruizz'",
        ),
        ("payments.yaml", "day: 2, hour: 2,", "day: two, hour: 2,", "payments.yaml does not fit: "),
        (
            "payments.yaml",
            "since:",
            "bad: [\nsince:",
            "payments.yaml: not valid YAML: line ",
        ),
        (
            "payments.yaml",
            "username: maya-lindqvist",
            "username: 7",
            "table venmo_profile: column 'username' takes str, got 7",
        ),
        (
            "person.yaml",
            'start: "2026-03-14T16:00:00Z"',
            "start: soon",
            "person.yaml does not fit: must be an ISO-8601 date and time",
        ),
    ],
)
def test_seeds_that_do_not_fit_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, old: str, new: str, told: str
) -> None:
    shutil.copytree(build.PEOPLE, tmp_path / "people")
    seeds = tmp_path / "people" / "maya" / file
    text = seeds.read_text()
    assert old in text
    seeds.write_text(text.replace(old, new, 1))
    monkeypatch.setattr(build, "PEOPLE", tmp_path / "people")
    build.person.cache_clear()
    try:
        with pytest.raises(InputError) as caught:
            build.build("maya")
    finally:
        build.person.cache_clear()
    assert told in str(caught.value)
    assert str(caught.value).startswith("world maya: ")
    assert "\n" not in str(caught.value)


@pytest.mark.long
def test_worlds_are_the_same_bytes_in_every_process() -> None:
    code = (
        "import hashlib, json; from scenarios.worlds.build import build, names; "
        "print(json.dumps({n: hashlib.sha256(build(n).image()).hexdigest() for n in names()}))"
    )
    env = os.environ | {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    )
    assert json.loads(done.stdout) == {
        n: hashlib.sha256(build.image(n)).hexdigest() for n in build.names()
    }


def test_the_cache_keeps_the_newest_builds_of_a_world_and_leaves_others_alone(
    tmp_path: Path,
) -> None:
    other = tmp_path / "maya-2-0000.db"
    other.write_bytes(b"another world")
    for number in range(build.KEPT + 2):
        build.keep(tmp_path / f"maya-{number:04}.db", b"built %d" % number)
        os.utime(tmp_path / f"maya-{number:04}.db", (number, number))
    build.keep(tmp_path / "maya-ffff.db", b"the newest")
    left = sorted(p.name for p in tmp_path.iterdir())
    assert left == [
        "maya-0003.db",
        "maya-0004.db",
        "maya-0005.db",
        "maya-2-0000.db",
        "maya-ffff.db",
    ]
    assert (tmp_path / "maya-ffff.db").read_bytes() == b"the newest"


@pytest.mark.parametrize("name", build.names())
@pytest.mark.parametrize("days", [30, 200])
def test_a_plan_shows_the_date_that_was_next_at_the_time(name: str, days: int) -> None:
    """A subscription of last autumn was due in autumn, not after the world's start."""
    tables = ("amazon_subscriptions", "walmart_reorders")
    start = parse_time(build.person(name)["start"])
    then = start - days * 86_400
    past = build.shared(name).as_of(then, tables)
    for table in tables:
        for plan in past.rows(table, "next_at IS NOT NULL"):
            due = parse_time(plan["next_at"])
            assert then < due <= then + 190 * 86_400
            assert due < start or days < 190
    past.close()
