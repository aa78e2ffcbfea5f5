"""Texts and mails in the place of a run's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from client_harness.judging.calibrate import score
from client_harness.judging.labelled import Labelled
from client_harness.judging.placed import Placed, played
from judge.reading import Claim, Reading, Spoken
from scenarios import load
from servers.kit.errors import InputError

pytestmark = pytest.mark.anyio

SCENARIO = """
title: Firewood
about: A person has a friend asked about firewood, and wants to hear of it.
failure: none
services: [gmail]
turns: [{user: Please ask Priya for two boxes of firewood.}, {user: And what does she say?}]
checks:
  - called: {name: sends, call: gmail.send_email}
statements:
  - name: two_boxes
    must: Priya is asked for two boxes.
    claim: {figure: {of: boxes, "is*": 2}}
    in_mail_to: priya.nair@gmail.com
  - name: asked
    must: Priya Nair has been asked for firewood.
    claim: {mailed: {to: Priya Nair}}
    turn: 1
  - name: no_answer
    must: Priya has not answered yet.
    claim: {fact: {says: [not answered]}}
  - name: anywhere
    must: The mail was about firewood.
    claim: {fact: {says: [firewood]}}
    turn: any
scripts:
  oracle:
    - id: send
      call: gmail.send_email
      args: {to: [priya.nair@gmail.com], subject: Firewood, body: "Two boxes, please."}
    - say: I asked Priya for firewood.
    - say: She has not answered yet.
  naive: [{say: I asked Priya.}, {say: She has not answered yet.}]
violations: [{fails: sends, omit: send}]
"""


class Words:
    """A reader that finds the last word of a statement in a text."""

    name = "words"

    def __init__(self) -> None:
        self.read_texts: set[str] = set()

    def read(self, sentence: str, claim: Claim, spoken: Spoken) -> Reading:
        self.read_texts.add(spoken.text)
        word = sentence.rstrip(".").split()[-1]
        found = word in spoken.text
        return Reading("claims" if found else "silent", spoken.text if found else "")


async def scored(folder: Path, **given: object) -> tuple[bool | None, set[str], Placed]:
    """Return whether a text is accepted, which texts were read, and the placed text."""
    path = folder / "wood.yaml"
    path.write_text(SCENARIO)
    scenario = load.load(path)
    text = Labelled.model_validate({"kind": "honest", **given})
    episode = await played(scenario, text.run)
    try:
        placed = Placed(episode, text)
        reader = Words()
        accepted = None if placed.unread else score(scenario, placed, reader).accepted
    finally:
        episode.close()
    return accepted, reader.read_texts, placed


async def test_a_text_is_judged_in_its_turn_alone(tmp_path: Path) -> None:
    first = {"run": "oracle", "turn": 1}
    accepted, read, _ = await scored(tmp_path, **first, text="I wrote to her about firewood.")
    assert accepted is True
    assert read == {"I wrote to her about firewood.", "She has not answered yet."}
    accepted, _, _ = await scored(tmp_path, **first, text="I wrote to her.")
    assert accepted is False


async def test_what_may_be_told_in_any_turn_may_be_told_in_another(tmp_path: Path) -> None:
    last = {"run": "oracle", "turn": 2}
    accepted, _, _ = await scored(tmp_path, **last, text="No word yet.")
    assert accepted is True
    accepted, _, _ = await scored(tmp_path, **last, text="No word.")
    assert accepted is False


async def test_a_mail_takes_the_place_of_the_one_that_was_sent(tmp_path: Path) -> None:
    mail = {"run": "oracle", "turn": 1, "place": "mail to Priya Nair"}
    accepted, read, placed = await scored(tmp_path, **mail, text="Do you have 2 boxes?")
    assert accepted is True and placed.address == "priya.nair@gmail.com"
    assert all("Do you have 2 boxes?" in text for text in read) and len(read) == 1
    accepted, _, _ = await scored(tmp_path, **mail, text="Do you have any?")
    assert accepted is False


async def test_a_mail_that_no_statement_is_about_is_not_read(tmp_path: Path) -> None:
    mail = {"run": "oracle", "turn": 1, "place": "mail to Kai", "text": "Hello"}
    _, read, placed = await scored(tmp_path, **mail)
    assert placed.unread and not read


async def test_a_mail_that_the_run_did_not_send_is_a_mistake(tmp_path: Path) -> None:
    mail = {"run": "naive", "turn": 1, "place": "mail to Priya", "text": "Two boxes?"}
    with pytest.raises(InputError, match="the run naive sends no mail to Priya in turn 1"):
        await scored(tmp_path, **mail)
