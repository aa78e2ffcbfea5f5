"""What mail programs add to what people write: signatures, footers, quotations and forwards."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.worlds.fill.email._compose import Composer, Written
from servers.kit.errors import InputError, UnknownName
from servers.kit.values import parse_time

ANA = "ana@example.com"
BO = "bo@firm.example"


def mail(key: str, sender: str, at: str, body: str, **said: Any) -> Written:
    name = sender.partition("@")[0].title()
    to = (BO,) if sender == ANA else (ANA,)
    moment = parse_time(at)
    return Written(key, "thread", moment, name, sender, to, (), "Oil", {"body": body, **said})


def composer(*mails: Written, voices: dict[str, Any] | None = None) -> Composer:
    return Composer(mails, voices or {}, {"firm.example": "Firm Inc."}, "America/Los_Angeles")


ASKED = mail("asked", ANA, "2026-03-01T20:05:00Z", "How much was it?\n\nAna")
TOLD = mail("told", BO, "2026-03-02T05:30:00Z", "73.20")
THANKED = mail("thanked", ANA, "2026-03-02T18:00:00Z", "Thank you!")
AGAIN = mail("again", ANA, "2026-03-03T18:00:00Z", "Sent.")
VOICES = {
    ANA: {"quotes": "gmail"},
    BO: {"quotes": "outlook", "zone": "America/Chicago", "signature": {"new": "Bo", "reply": "B."}},
}


def test_without_a_voice_a_mail_is_what_its_writer_wrote() -> None:
    assert composer(ASKED, THANKED).body("asked") == "How much was it?\n\nAna"


def test_a_reply_quotes_the_mail_it_answers_in_the_way_of_its_program() -> None:
    composed = composer(ASKED, TOLD, THANKED, voices=VOICES)
    assert composed.body("told") == (
        "73.20\n\n--\nB.\n\nFirm Inc.\n\n-----Original Message-----\nFrom: Ana <ana@example.com>\n"
        "Date: Sunday, March 1, 2026 2:05 PM\nSubject: Oil\nTo: bo@firm.example\n\n"
        "How much was it?\n\nAna"
    )
    told = composed.body("told").replace("\n", "\n> ").replace("> \n", ">\n")
    assert composed.body("thanked") == (
        f"Thank you!\n\nOn Sun, Mar 1, 2026 at 9:30 PM Bo <bo@firm.example> wrote:\n> {told}"
    )


def test_two_earlier_mails_are_quoted_and_no_more() -> None:
    last = mail("last", BO, "2026-03-04T18:00:00Z", "It came.")
    quoted = composer(ASKED, TOLD, THANKED, last, voices=VOICES).body("last")
    assert "Thank you!" in quoted
    assert "73.20" in quoted
    assert "How much" not in quoted


def test_nobody_quotes_themselves_and_a_mail_can_quote_nothing_or_another() -> None:
    silent = mail("silent", ANA, "2026-03-02T19:00:00Z", "Thanks", quotes=False)
    chosen = mail("chosen", BO, "2026-03-05T19:00:00Z", "It was oil.", quotes="asked")
    composed = composer(ASKED, TOLD, silent, AGAIN, chosen, voices=VOICES)
    assert composed.body("silent") == "Thanks"
    assert composed.body("again") == "Sent."
    assert "How much was it?" in composed.body("chosen")
    assert "Sent." not in composed.body("chosen")


def test_a_first_mail_has_the_long_signature_unless_it_is_unsigned() -> None:
    first = mail("first", BO, "2026-03-01T10:00:00Z", "Hello")
    phone = mail("phone", BO, "2026-03-01T11:00:00Z", "Hello again", signed=False)
    composed = composer(first, phone, voices=VOICES)
    assert composed.body("first") == "Hello\n\n--\nBo\n\nFirm Inc."
    assert composed.body("phone") == "Hello again"


def test_a_forward_holds_the_mail_without_what_that_one_quoted() -> None:
    passed = mail("passed", ANA, "2026-03-06T10:00:00Z", "See below.", forwards="thanked")
    body = composer(ASKED, TOLD, THANKED, passed, voices=VOICES).body("passed", 0)
    assert body == (
        "See below.\n\n---------- Forwarded message ----------\nFrom: Ana <ana@example.com>\n"
        "Date: Monday, March 2, 2026 10:00 AM\nSubject: Oil\nTo: bo@firm.example\n\nThank you!"
    )


def test_a_mail_passes_on_only_earlier_mails_that_exist() -> None:
    unknown = mail("unknown", ANA, "2026-03-06T10:00:00Z", "", forwards="thankd")
    with pytest.raises(UnknownName, match="thanked"):
        composer(THANKED, unknown).body("unknown")
    early = mail("early", ANA, "2026-03-01T10:00:00Z", "", forwards="thanked")
    with pytest.raises(InputError, match="thanked is not earlier than early"):
        composer(THANKED, early).body("early")


def test_an_unknown_way_to_quote_is_refused() -> None:
    with pytest.raises(UnknownName, match="gmial"):
        composer(ASKED, voices={ANA: {"quotes": "gmial"}})
