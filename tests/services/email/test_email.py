"""What makes Gmail and Outlook unlike each other, and the rules of mail that they share."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from scenarios.worlds.build import person, shared
from servers.kit.control import Control, make_id
from servers.kit.session import Session
from servers.kit.values import parse_time

START = parse_time(person("maya")["start"])
WORK = "maya.lindqvist@fernhill.design"
STUDIO = "studio@mayalindqvist.com"


class Desk:
    """A session over Maya's mail whose calls answer at once; `ok` and `error` say which answer is expected."""

    def __init__(self) -> None:
        self.session = Session(["gmail", "outlook"], shared("maya").share(), Control(START))

    def call_ok(self, tool: str, **args: Any) -> dict[str, Any]:
        reply = asyncio.run(self.session.call(*tool.split("."), args))
        assert not self.session.bugs, self.session.bugs
        assert not reply.is_error, reply.data
        return reply.data

    def error(self, tool: str, **args: Any) -> dict[str, Any]:
        reply = asyncio.run(self.session.call(*tool.split("."), args))
        assert not self.session.bugs, self.session.bugs
        assert reply.is_error, reply.data
        return reply.data["error"]

    def ids(self, tool: str, **args: Any) -> list[str]:
        return [m["email_id"] for m in self.call_ok(tool, **args)["emails"]]


@pytest.fixture
def desk() -> Desk:
    return Desk()


def gmail(key: str) -> str:
    return make_id("gem", "maya", key)


def outlook(key: str) -> str:
    return make_id("oem", "maya", key)


# -- reading ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "size", "args"),
    [
        ("gmail.list_emails", "max_results", {"folder": "all"}),
        ("outlook.query_mail_items", "max_results", {"query": "after:2025-01-01"}),
    ],
)
def test_cursors_cover_a_listing_exactly_once_and_newest_first(
    desk: Desk, tool: str, size: str, args: dict[str, Any]
) -> None:
    seen = []
    cursor = None
    while True:
        got = desk.call_ok(tool, **args, **{size: 40}, cursor=cursor)
        seen += got["emails"]
        cursor = got["next_cursor"]
        if cursor is None:
            break
    assert len({m["email_id"] for m in seen}) == len(seen) > 100
    assert [m["created_at"] for m in seen] == sorted((m["created_at"] for m in seen), reverse=True)
    assert desk.error(tool, **args, cursor="cDc3Nw")["code"] == "INVALID_CURSOR"


def test_each_account_sees_its_own_mail_only(desk: Desk) -> None:
    assert (
        desk.error("gmail.get_email", email_id=gmail("invoice_1042"))["code"] == "EMAIL_NOT_FOUND"
    )
    assert desk.call_ok("gmail.search_emails", query='subject:"Invoice 1042"')["emails"] == []
    assert desk.call_ok("gmail.switch_user", username="studio")["email_address"] == STUDIO
    assert gmail("invoice_1042") in desk.ids("gmail.search_emails", query='subject:"Invoice 1042"')
    assert (
        desk.error("gmail.get_thread", thread_id=make_id("gth", "maya", "cabin"))["code"]
        == "THREAD_NOT_FOUND"
    )
    assert desk.error("gmail.switch_user", username="studo")["message"].count("studio") == 1


def test_search_finds_tokens_in_any_order_and_ranks_the_subject_first(desk: Desk) -> None:
    found = desk.ids("gmail.search_emails", query="weekend cabin", max_results=50)
    assert gmail("cabin_invite") in found
    hits = desk.call_ok("gmail.search_emails", query="rent", max_results=50)["emails"]
    in_subject = ["rent" in m["subject"].lower() for m in hits]
    assert in_subject[0] and not in_subject[-1]


@pytest.mark.parametrize(
    ("query", "key", "there"),
    [
        ("from:ana.reyes has:attachment", "oil_1", True),
        ("from:ana.reyes -has:attachment oil", "oil_1", False),
        ('"key box code"', "cabin_checkin", True),
        ('"code key box"', "cabin_checkin", False),
        ("is:unread label:cabin", "cabin_checkin", True),
        ("is:important label:cabin", "cabin_cost", True),
        ("to:jordan.park after:2026-03-08 before:2026-03-10", "cabin_cost", True),
        ("to:jordan.park before:2026-03-09", "cabin_cost", False),
        ("subject:locked", "phish_bank_1", False),
        ("subject:locked label:spam", "phish_bank_1", True),
        ("cabin -money", "cabin_cost", False),
        ("is:starred from:priya", "cabin_address", True),
    ],
)
def test_gmail_operators(desk: Desk, query: str, key: str, there: bool) -> None:
    assert (gmail(key) in desk.ids("gmail.search_emails", query=query, max_results=100)) is there


def test_outlook_searches_every_folder_and_knows_its_own_operators(desk: Desk) -> None:
    desk.call_ok("outlook.delete_email", email_id=outlook("expenses_2"))
    assert outlook("expenses_2") in desk.ids(
        "outlook.query_mail_items", query="dinner receipt is:flagged"
    )
    assert outlook("expenses_2") not in desk.ids(
        "outlook.query_mail_items", query="dinner receipt", folder="inbox"
    )
    assert outlook("chicago_agenda_4") in desk.ids(
        "outlook.query_mail_items", query="category:Acme folder:inbox lakeview"
    )


@pytest.mark.parametrize(
    "query", ["labl:cabin x", "is:red", "before:soon", "a OR b", "has:pictures", '""']
)
def test_a_query_that_means_nothing_is_refused_with_what_would(desk: Desk, query: str) -> None:
    error = desk.error("gmail.search_emails", query=query)
    assert error["code"] == "INVALID_QUERY" and error["hint"]


def test_conversations_run_oldest_first_and_hold_the_conflicting_agendas(desk: Desk) -> None:
    thread = desk.call_ok(
        "outlook.get_conversation", thread_id=make_id("oth", "maya", "chicago_agenda")
    )
    assert [m["email_id"] for m in thread["emails"]] == [
        outlook(f"chicago_agenda_{n}") for n in (1, 2, 3, 4)
    ]
    assert "4B" in thread["emails"][0]["body"] and "Lakeview" in thread["emails"][3]["body"]


# -- sending ----------------------------------------------------------------------------------------------------


def test_mail_between_two_own_accounts_arrives_and_keeps_its_thread_both_ways(desk: Desk) -> None:
    sent = desk.call_ok(
        "gmail.send_email",
        to=[WORK, "nora.ellis@gmail.com"],
        bcc=[STUDIO],
        subject="Slides",
        body="See attached.",
        attachments=["a.pdf"],
    )
    arrived = desk.call_ok("outlook.list_mail_items", max_results=1)["emails"][0]
    assert (arrived["subject"], arrived["read"], arrived["bcc"], arrived["attachments"]) == (
        "Slides",
        False,
        [],
        ["a.pdf"],
    )
    desk.call_ok(
        "outlook.reply_to_conversation",
        email_id=arrived["email_id"],
        body="Got it.",
        reply_all=True,
    )
    thread = desk.call_ok("gmail.get_thread", thread_id=sent["thread_id"])["emails"]
    assert [m["subject"] for m in thread] == ["Slides", "Re: Slides"]
    assert (thread[1]["from"], thread[1]["cc"]) == (WORK, ["nora.ellis@gmail.com"])
    desk.call_ok("gmail.switch_user", username="studio")
    assert desk.call_ok("gmail.list_emails", max_results=1)["emails"][0]["subject"] == "Slides"


@pytest.mark.parametrize("lost", ["someone@nowhere.invalid", "mei.chan@fernhill.design"])
@pytest.mark.parametrize(
    ("send", "listing"),
    [
        ("gmail.send_email", "gmail.list_emails"),
        ("outlook.send_mail_item", "outlook.list_mail_items"),
    ],
)
def test_what_cannot_be_delivered_bounces_after_a_minute(
    desk: Desk, lost: str, send: str, listing: str
) -> None:
    desk.call_ok(send, to=[lost], subject="Hello", body="Anyone there?")
    assert "mailer-daemon" not in desk.call_ok(listing, max_results=1)["emails"][0]["from"]
    desk.session.pass_time(60)
    bounce = desk.call_ok(listing, max_results=1)["emails"][0]
    assert (
        bounce["from"].startswith("mailer-daemon@")
        and lost in bounce["body"]
        and not bounce["read"]
    )


def test_addresses_are_checked_and_duplicates_removed(desk: Desk) -> None:
    for bad in ("ana", "ana@", "a b@c.de", "ana@gmail", "a..b@c.de", ""):
        assert (
            desk.error("gmail.send_email", to=[bad], subject="x", body="")["code"]
            == "INVALID_RECIPIENT"
        )
    assert desk.error("gmail.send_email", to=[], subject="x", body="y")["code"] == "NO_RECIPIENTS"
    assert (
        desk.error("outlook.send_mail_item", to=["a@b.cd"], subject=" ", body="")["code"]
        == "EMPTY_MESSAGE"
    )
    sent = desk.call_ok(
        "gmail.send_email",
        to=["A@b.cd", "Al <a@B.cd>"],
        cc=["a@b.cd", "c@b.cd"],
        subject="x",
        body="",
    )
    mail = desk.call_ok("gmail.get_email", email_id=sent["email_id"])
    assert (mail["to"], mail["cc"]) == (["a@b.cd"], ["c@b.cd"])


def test_a_reply_goes_to_the_sender_and_a_reply_to_own_mail_to_its_recipients(desk: Desk) -> None:
    one = desk.call_ok("gmail.reply_to_email", email_id=gmail("cabin_cost"), body="Paid!")
    assert desk.call_ok("gmail.get_email", email_id=one["email_id"])["to"] == [
        "priya.nair@gmail.com"
    ]
    every = desk.call_ok(
        "gmail.reply_to_email", email_id=gmail("cabin_cost"), body="Paid!", reply_all=True
    )
    assert set(desk.call_ok("gmail.get_email", email_id=every["email_id"])["cc"]) == {
        "jordan.park@gmail.com",
        "ben.asher@gmail.com",
        "ana.reyes@gmail.com",
    }
    again = desk.call_ok("gmail.reply_to_email", email_id=one["email_id"], body="Twice, sorry?")
    mail = desk.call_ok("gmail.get_email", email_id=again["email_id"])
    assert (mail["to"], mail["subject"]) == (
        ["priya.nair@gmail.com"],
        "Re: Cabin weekend at Hood River",
    )


def test_a_forward_quotes_the_text_and_takes_the_attachments_along(desk: Desk) -> None:
    sent = desk.call_ok(
        "outlook.forward_mail_item",
        email_id=outlook("dinner_receipt_1"),
        to=["wei.zhang@fernhill.design"],
        additional_message="Found it.",
    )
    mail = desk.call_ok("outlook.get_mail_item", email_id=sent["email_id"])
    assert (
        mail["body"].startswith("Found it.")
        and "48.60" in mail["body"]
        and mail["attachments"] == ["tilikum-0211.pdf"]
    )


def test_a_draft_is_sent_once_and_only_when_it_is_whole(desk: Desk) -> None:
    made = desk.call_ok("gmail.create_draft", subject="Soon")["draft_id"]
    assert desk.error("gmail.send_draft", draft_id=made)["code"] == "NO_RECIPIENTS"
    assert (
        desk.call_ok("gmail.update_draft", draft_id=made, to=["kai.tanaka@gmail.com"])["subject"]
        == "Soon"
    )
    desk.call_ok("gmail.send_draft", draft_id=made)
    assert desk.error("gmail.send_draft", draft_id=made)["code"] == "DRAFT_NOT_FOUND"
    assert made not in [d["draft_id"] for d in desk.call_ok("gmail.list_drafts")["drafts"]]


# -- only Gmail -------------------------------------------------------------------------------------------------


def test_a_snoozed_message_leaves_the_inbox_and_returns_with_the_clock(desk: Desk) -> None:
    key = gmail("cabin_cost")
    assert (
        desk.error("gmail.snooze_email", email_id=key, snooze_until="2026-03-14T08:00:00-08:00")[
            "code"
        ]
        == "SNOOZE_IN_PAST"
    )
    desk.call_ok("gmail.snooze_email", email_id=key, snooze_until="2026-03-14T18:00:00Z")
    assert key not in desk.ids("gmail.list_emails", max_results=100)
    assert (
        desk.call_ok("gmail.list_snoozed_emails")["emails"][0]["snooze_until"]
        == "2026-03-14T18:00:00Z"
    )
    assert "snoozed" in desk.call_ok("gmail.get_email", email_id=key)["labels"]
    desk.session.pass_time(7200)
    assert key in desk.ids("gmail.list_emails", max_results=100)
    assert key not in desk.ids("gmail.list_snoozed_emails")
    assert desk.error("gmail.unsnooze_email", email_id=key)["code"] == "EMAIL_NOT_SNOOZED"


def test_a_scheduled_message_goes_out_by_itself_from_its_own_account(desk: Desk) -> None:
    at = "2026-03-14T17:00:00Z"
    made = desk.call_ok("gmail.schedule_send", to=[WORK], subject="Later", body="Now.", send_at=at)[
        "scheduled_id"
    ]
    desk.call_ok("gmail.switch_user", username="studio")
    assert (
        desk.call_ok("outlook.query_mail_items", query="subject:Later from:me.not")["emails"] == []
    )
    desk.session.pass_time(3700)
    got = desk.call_ok("outlook.list_mail_items", max_results=1)["emails"][0]
    assert (got["subject"], got["from"], got["created_at"]) == (
        "Later",
        "maya.lindqvist@gmail.com",
        at,
    )
    desk.call_ok("gmail.switch_user", username="maya")
    assert (
        desk.error("gmail.cancel_scheduled_email", scheduled_id=made)["code"]
        == "SCHEDULED_EMAIL_NOT_FOUND"
    )
    assert (
        desk.error("gmail.schedule_send", to=[WORK], subject="x", body="", send_at=at)["code"]
        == "SEND_TIME_IN_PAST"
    )


def test_a_cancelled_scheduled_message_becomes_a_draft(desk: Desk) -> None:
    made = desk.call_ok("gmail.list_scheduled_emails")["scheduled_emails"][0]
    gone = desk.call_ok("gmail.cancel_scheduled_email", scheduled_id=made["scheduled_id"])
    draft = next(
        d for d in desk.call_ok("gmail.list_drafts")["drafts"] if d["draft_id"] == gone["draft_id"]
    )
    assert (
        draft["subject"] == made["subject"]
        and desk.call_ok("gmail.list_scheduled_emails")["scheduled_emails"] == []
    )


def test_labels_serve_as_folders(desk: Desk) -> None:
    key = gmail("cabin_cost")
    assert (
        "did you mean 'cabin'"
        in desk.error("gmail.add_label", email_id=key, label="cabbin")["message"]
    )
    desk.call_ok("gmail.add_label", email_id=key, label="Receipts")
    assert {key, gmail("bike_estimate")} <= set(
        desk.ids("gmail.list_emails", folder="receipts", max_results=100)
    )
    assert "inbox" not in desk.call_ok("gmail.archive_email", email_id=key)["labels"]
    desk.call_ok("gmail.trash_email", email_id=key)
    assert key in desk.ids("gmail.list_emails", folder="trash") and key not in desk.ids(
        "gmail.list_emails", folder="receipts", max_results=100
    )
    desk.call_ok("gmail.remove_label", email_id=key, label="trash")
    assert key in desk.ids("gmail.list_emails", folder="archive", max_results=100)
    assert desk.error("gmail.create_label", label="CABIN")["code"] == "LABEL_EXISTS"


def test_templates_and_contacts_are_unique_within_their_account(desk: Desk) -> None:
    assert (
        desk.error("gmail.create_template", name="sunday climbing", subject="x", body="y")["code"]
        == "TEMPLATE_EXISTS"
    )
    assert (
        desk.error("gmail.add_contact", name="A. Reyes", email_address="Ana.Reyes@gmail.com")[
            "code"
        ]
        == "CONTACT_EXISTS"
    )
    desk.call_ok("gmail.switch_user", username="studio")
    desk.call_ok("gmail.add_contact", name="Ana Reyes", email_address="ana.reyes@gmail.com")
    found = next(
        t
        for t in desk.call_ok("gmail.list_templates")["templates"]
        if t["name"] == "Wholesale terms"
    )
    sent = desk.call_ok(
        "gmail.send_from_template", template_id=found["template_id"], to=["hello@juniperandrye.com"]
    )
    assert desk.call_ok("gmail.get_email", email_id=sent["email_id"])["body"] == found["body"]


# -- only Outlook -----------------------------------------------------------------------------------------------


def test_delete_has_two_stages(desk: Desk) -> None:
    key = outlook("critique_1")
    assert desk.call_ok("outlook.delete_email", email_id=key)["status"] == "moved_to_deleted"
    assert desk.call_ok("outlook.get_mail_item", email_id=key)["folder"] == "deleted"
    assert desk.call_ok("outlook.delete_email", email_id=key)["status"] == "permanently_deleted"
    assert desk.error("outlook.get_mail_item", email_id=key)["code"] == "ITEM_NOT_FOUND"


def test_a_quick_step_runs_whole_or_not_at_all(desk: Desk) -> None:
    actions = [
        {"type": "flag"},
        {"type": "categorize", "params": {"category": "admin"}},
        {"type": "move_to_folder", "params": {"folder": "sent"}},
    ]
    made = desk.call_ok("outlook.create_quick_step", name="Odd", actions=actions)["quick_step_id"]
    before = desk.call_ok("outlook.get_mail_item", email_id=outlook("award_1"))
    assert (
        desk.error("outlook.run_quick_step", quick_step_id=made, email_id=outlook("award_1"))[
            "code"
        ]
        == "INVALID_MOVE"
    )
    assert desk.call_ok("outlook.get_mail_item", email_id=outlook("award_1")) == before
    seeded = next(
        q
        for q in desk.call_ok("outlook.list_quick_steps")["quick_steps"]
        if q["name"] == "To expenses"
    )
    done = desk.call_ok(
        "outlook.run_quick_step",
        quick_step_id=seeded["quick_step_id"],
        email_id=outlook("dinner_receipt_1"),
    )
    assert [a["type"] for a in done["actions_performed"]] == ["forward_to", "move_to_folder"]
    assert (
        desk.call_ok("outlook.get_mail_item", email_id=outlook("dinner_receipt_1"))["folder"]
        == "Expenses"
    )


@pytest.mark.parametrize(
    ("action", "code"),
    [
        ({"type": "shred"}, "INVALID_REQUEST"),
        ({"type": "flag", "folder": "x"}, "INVALID_REQUEST"),
        ({"type": "move_to_folder"}, "INVALID_QUICK_STEP"),
        ({"type": "flag", "params": {"to": ["a@b.cd"]}}, "INVALID_QUICK_STEP"),
        ({"type": "move_to_folder", "params": {"folder": "Expences"}}, "FOLDER_NOT_FOUND"),
        ({"type": "categorize", "params": {"category": "Acne"}}, "CATEGORY_NOT_FOUND"),
        ({"type": "forward_to", "params": {"to": ["nobody"]}}, "INVALID_RECIPIENT"),
    ],
)
def test_a_quick_step_is_checked_when_it_is_made(
    desk: Desk, action: dict[str, Any], code: str
) -> None:
    assert desk.error("outlook.create_quick_step", name="Bad", actions=[action])["code"] == code


def test_an_item_is_in_one_folder_and_may_have_several_categories(desk: Desk) -> None:
    key = outlook("review_1")
    assert (
        desk.call_ok("outlook.move_to_folder", email_id=key, folder="archive")["previous_folder"]
        == "inbox"
    )
    assert key not in desk.ids("outlook.list_mail_items", max_results=100)
    assert desk.call_ok("outlook.assign_category", email_id=key, category_name="admin")[
        "categories"
    ] == ["People", "Admin"]
    assert key in desk.ids("outlook.get_emails_by_category", category_name="Admin", limit=100)
    desk.call_ok("outlook.pin_email", email_id=key)
    assert desk.ids("outlook.list_pinned_emails") == [key]
    assert (
        desk.error("outlook.create_category", name="ACME", color="red")["code"] == "CATEGORY_EXISTS"
    )


# -- the world --------------------------------------------------------------------------------------------------


def test_the_world_is_full_and_agrees_with_the_person() -> None:
    world = shared("maya").share()
    counts = dict(
        world.sql(
            "SELECT account, count(*) FROM (SELECT account FROM gmail_emails UNION ALL SELECT account FROM outlook_emails) GROUP BY 1"
        )
    )
    assert sum(counts.values()) >= 300 and len(counts) == 4
    cost = world.get("gmail_emails", gmail("cabin_cost"))
    trip = person("maya")["trips"]["cabin"]
    assert (
        cost is not None
        and str(trip["cost_total"]) in cost["body"]
        and str(trip["each"]) in cost["body"]
    )
    rent = world.rows("gmail_emails", "subject='You sent $920.00 to Ana Reyes'")
    paid = world.sql(
        "SELECT count(*) FROM zelle_transfers WHERE party='Ana Reyes' AND amount=92000 AND created_at>='2025-07-14'"
    )[0][0]
    assert len(rent) == paid >= 7
    known = {a for (a,) in world.sql("SELECT address FROM email_accounts")}
    assert known > set(person("maya")["emails"].values())


def test_outlook_has_a_shared_mailbox_beside_the_own_one(desk: Desk) -> None:
    assert [a["username"] for a in desk.call_ok("outlook.list_profiles")["accounts"]] == [
        "hello",
        "maya.lindqvist",
    ]
    desk.call_ok(
        "outlook.send_mail_item",
        to=["hello@fernhill.design"],
        subject="Clinic",
        body="Shall I call them?",
    )
    assert desk.call_ok("outlook.set_active_user", username="hello")["name"] == "Fernhill Hello"
    assert (
        desk.ids("outlook.list_mail_items")[1:]
        and desk.call_ok("outlook.list_mail_items", max_results=1)["emails"][0]["subject"]
        == "Clinic"
    )
    assert (
        desk.error("outlook.get_mail_item", email_id=outlook("award_1"))["code"] == "ITEM_NOT_FOUND"
    )
