"""Statements about what others read: mails, and what is written into rows of tables."""

from __future__ import annotations

from typing import Any

import pytest

from servers.kit.errors import InputError
from tests.judge.change.played import SAY, scenario
from tests.judge.statements.told import failed, judged

REVIEW: dict[str, Any] = {
    "name": "reads_plates",
    "must": "It was fourteen plates.",
    "claim": {"figure": {"of": "plates", "is*": 14}},
    "written_in": ["google_calendar_events"],
}


def noted(text: str) -> Any:
    args = {
        "calendar_id": "primary",
        "title": "Trophies",
        "start_time": "2026-03-20T10:00:00-07:00",
        "end_time": "2026-03-20T11:00:00-07:00",
        "description": text,
    }
    return {"call": "google_calendar.create_event", "args": args}


@pytest.mark.parametrize(
    ("text", "gates"),
    [
        ("They engraved all fourteen plates again.", []),
        ("14 plates, and very kind people.", []),
        ("Very kind people.", ["mails"]),
        ("They engraved all forty plates again.", ["mails", "truthful"]),
    ],
)
def test_what_is_written_in_a_table_has_to_say_what_was_asked(text: str, gates: list[str]) -> None:
    oracle = [noted("Fourteen plates."), SAY]
    assert failed(oracle, [noted(text), SAY], statements=[REVIEW]) == gates


def test_a_statement_is_about_mails_or_about_a_known_table() -> None:
    for wrong, said in (
        ({"in_mail_to": "ben@example.com"}, "mails or about what is written"),
        ({"written_in": ["gmail_email"]}, "did you mean 'gmail_emails'"),
    ):
        with pytest.raises(InputError, match=said):
            scenario([SAY], statements=[REVIEW | wrong])


def test_a_finding_names_its_statement() -> None:
    oracle = [noted("Fourteen plates."), SAY]
    false = {"name": "doubled", "never": "The plates came twice.", "claim": {"doubled": {}}}
    lies: dict[str, Any] = {"say": "They came twice."}
    for steps, gate, name in (
        ([noted("Kind people."), SAY], "mails", "reads_plates"),
        ([noted("All forty plates."), SAY], "truthful", "reads_plates"),
        ([noted("Fourteen plates."), lies], "truthful", "doubled"),
    ):
        found = judged(oracle, steps, statements=[REVIEW, false]).findings
        assert f"(statement {name})" in next(f.why for f in found if f.name == gate)
