"""Scenarios that show what the fault language can say, each in a few lines and proven."""

from __future__ import annotations

import re
from pathlib import Path

import anyio
import pytest

from client_harness.episode import Episode
from client_harness.proof.checking import prove
from scenarios import load
from scenarios.setup import beginning
from servers.kit.errors import InputError
from servers.kit.yaml import read
from tests.faults.played import JORDAN
from tests.support import START

FOLDER = Path(__file__).parent / "told"
FILES = sorted(FOLDER.glob("*.yaml"))
REVIEWED = FOLDER / "reviewed_payment.yaml"
MOST = 12


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_fault_is_told_in_a_few_lines_and_proven(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for key in ("faults", "setup"):
        block = re.search(rf"^{key}:\n((?: .*\n)+)", text, re.MULTILINE)
        items = re.split(r"^  - ", block[1], flags=re.MULTILINE)[1:] if block else []
        assert all(item.count("\n") <= MOST for item in items)
    assert anyio.run(prove, path) == []


def test_a_setup_holds_in_every_setting_and_is_no_change_of_the_agents() -> None:
    scenario = load.load(REVIEWED)
    for faulted in (True, False):
        episode = Episode(scenario, faulted=faulted)
        robin = [r for r in episode.world.rows("venmo_contacts") if r["name"] == "Robin Teal"]
        assert len(robin) == 1
        assert robin[0]["added_at"] is not None
        assert episode.world.log(episode.mark) == []
        past = episode.world.as_of(episode.control.start - 86_400, ["venmo_contacts"])
        assert past.get("venmo_contacts", robin[0]["id"]) == robin[0]
        episode.finish("done")
        episode.close()


def test_a_setup_is_part_of_the_fingerprint() -> None:
    scenario = load.load(REVIEWED)
    bare = scenario.model_copy(update={"setup": []})
    assert load.fingerprint(scenario) != load.fingerprint(bare)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"table": "venmo_contact", "where": {}, "delete": True}, "did you mean 'venmo_contacts'"),
        ({"table": "gmail_emails", "where": {}, "delete": True}, "unknown table 'gmail_emails'"),
        (
            {"table": "venmo_contacts", "insert": {"nam": "x"}},
            "setup[0]: insert: unknown column 'nam'",
        ),
        ({"table": "venmo_contacts", "where": {"name": 5}, "delete": True}, "never 5"),
        (
            {"table": "venmo_contacts", "where": {}, "edit": [{"set": {"name": "${args.x}"}}]},
            "unknown name 'args'",
        ),
        ({"table": "venmo_contacts", "where": {}, "restore": True}, "unknown key 'restore'"),
    ],
    ids=str,
)
def test_a_setup_with_a_mistake_is_refused_at_load(change: dict[str, object], message: str) -> None:
    raw = read(REVIEWED)
    with pytest.raises(InputError) as wrong:
        load.parse({**raw, "setup": [change]}, "mine", "mine.yaml")
    assert message in str(wrong.value) and "\n" not in str(wrong.value)


def test_a_setup_that_meets_no_row_says_so() -> None:
    raw = read(REVIEWED)
    nobody = {"table": "venmo_contacts", "where": {"name": "Nobody"}, "delete": True}
    scenario = load.parse({**raw, "setup": [nobody]}, "mine", "mine.yaml")
    with pytest.raises(InputError, match=r"setup\[0\]: no row of venmo_contacts meets"):
        beginning(scenario)


def test_a_deleted_row_was_never_there() -> None:
    raw = read(REVIEWED)
    where = {"merchant": "Stumptown Coffee"}
    gone = {"table": "venmo_card_purchases", "where": where, "delete": True}
    scenario = load.parse({**raw, "setup": [gone]}, "mine", "mine.yaml")
    world = beginning(scenario)
    past = world.as_of(START - 30 * 86_400, list(world.tables))
    assert past.rows("venmo_card_purchases")
    for some in (world, past):
        merchants = {row["merchant"] for row in some.rows("venmo_card_purchases")}
        assert "Stumptown Coffee" not in merchants
    assert world.get("venmo_contacts", JORDAN) is not None
