"""What makes Gmail and Outlook unlike each other, and the rules of mail that they share."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.worlds.build import person, shared
from servers.kit.control import make_id
from servers.kit.session import Session
from tests.support import call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio
WORK = "maya.lindqvist@fernhill.design"
STUDIO = "studio@mayalindqvist.com"


@pytest.fixture
def session() -> Session:
    return new_session("gmail", "outlook")


def gmail_id(key: str) -> str:
    return make_id("gem", "maya", key)


def outlook_id(key: str) -> str:
    return make_id("oem", "maya", key)


async def refusal(session: Session, service: str, tool: str, /, **args: Any) -> str:
    """Return the code with which a call is refused."""
    return (await call_refused(session, service, tool, **args))["code"]


async def emails(session: Session, service: str, tool: str, /, **args: Any) -> list[dict[str, Any]]:
    """Return the first page of a list of messages."""
    return (await call_ok(session, service, tool, **args))["emails"]


async def email_ids(session: Session, service: str, tool: str, /, **args: Any) -> list[str]:
    return [mail["email_id"] for mail in await emails(session, service, tool, **args)]


async def newest(session: Session, service: str, tool: str) -> dict[str, Any]:
    """Return the newest message of the inbox."""
    return (await emails(session, service, tool, max_results=1))[0]


async def gmail_email(session: Session, email_id: str) -> dict[str, Any]:
    return await call_ok(session, "gmail", "get_email", email_id=email_id)


async def outlook_item(session: Session, email_id: str) -> dict[str, Any]:
    return await call_ok(session, "outlook", "get_mail_item", email_id=email_id)


# -- reading ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "size", "args"),
    [
        ("gmail.list_emails", "max_results", {"folder": "all"}),
        ("outlook.query_mail_items", "max_results", {"query": "after:2025-01-01"}),
    ],
)
async def test_cursors_cover_a_listing_exactly_once_and_newest_first(
    session: Session, tool: str, size: str, args: dict[str, Any]
) -> None:
    seen = []
    cursor = None
    while True:
        got = await call_ok(session, *tool.split("."), **args, **{size: 40}, cursor=cursor)
        seen += got["emails"]
        cursor = got["next_cursor"]
        if cursor is None:
            break
    assert len({m["email_id"] for m in seen}) == len(seen) > 100
    assert [m["created_at"] for m in seen] == sorted((m["created_at"] for m in seen), reverse=True)
    assert await refusal(session, *tool.split("."), **args, cursor="cDc3Nw") == "INVALID_CURSOR"


async def test_each_account_sees_its_own_mail_only(session: Session) -> None:
    assert (
        await refusal(session, "gmail", "get_email", email_id=gmail_id("invoice_1042"))
        == "EMAIL_NOT_FOUND"
    )
    assert await emails(session, "gmail", "search_emails", query='subject:"Invoice 1042"') == []
    assert (await call_ok(session, "gmail", "switch_user", username="studio"))[
        "email_address"
    ] == STUDIO
    assert gmail_id("invoice_1042") in await email_ids(
        session, "gmail", "search_emails", query='subject:"Invoice 1042"'
    )
    assert (
        await refusal(session, "gmail", "get_thread", thread_id=make_id("gth", "maya", "cabin"))
        == "THREAD_NOT_FOUND"
    )
    assert (await call_refused(session, "gmail", "switch_user", username="studo"))["message"].count(
        "studio"
    ) == 1


async def test_search_finds_tokens_in_any_order_and_ranks_the_subject_first(
    session: Session,
) -> None:
    found = await email_ids(
        session, "gmail", "search_emails", query="weekend cabin", max_results=50
    )
    assert gmail_id("cabin_invite") in found
    hits = await emails(session, "gmail", "search_emails", query="rent", max_results=50)
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
async def test_gmail_operators(session: Session, query: str, key: str, there: bool) -> None:
    assert (
        gmail_id(key)
        in await email_ids(session, "gmail", "search_emails", query=query, max_results=100)
    ) is there


async def test_outlook_searches_every_folder_and_knows_its_own_operators(session: Session) -> None:
    await call_ok(session, "outlook", "delete_email", email_id=outlook_id("expenses_2"))
    assert outlook_id("expenses_2") in await email_ids(
        session, "outlook", "query_mail_items", query="dinner receipt is:flagged"
    )
    assert outlook_id("expenses_2") not in await email_ids(
        session, "outlook", "query_mail_items", query="dinner receipt", folder="inbox"
    )
    assert outlook_id("chicago_agenda_4") in await email_ids(
        session, "outlook", "query_mail_items", query="category:Acme folder:inbox lakeview"
    )


@pytest.mark.parametrize(
    "query", ["labl:cabin x", "is:red", "before:soon", "a OR b", "has:pictures", '""']
)
async def test_a_query_that_means_nothing_is_refused_with_what_would(
    session: Session, query: str
) -> None:
    error = await call_refused(session, "gmail", "search_emails", query=query)
    assert error["code"] == "INVALID_QUERY" and error["hint"]


async def test_conversations_run_oldest_first_and_hold_the_conflicting_agendas(
    session: Session,
) -> None:
    thread = await call_ok(
        session, "outlook", "get_conversation", thread_id=make_id("oth", "maya", "chicago_agenda")
    )
    assert [m["email_id"] for m in thread["emails"]] == [
        outlook_id(f"chicago_agenda_{n}") for n in (1, 2, 3, 4)
    ]
    assert "4B" in thread["emails"][0]["body"] and "Lakeview" in thread["emails"][3]["body"]


# -- sending ----------------------------------------------------------------------------------


async def test_mail_between_two_own_accounts_arrives_and_keeps_its_thread_both_ways(
    session: Session,
) -> None:
    sent = await call_ok(
        session,
        "gmail",
        "send_email",
        to=[WORK, "nora.ellis@gmail.com"],
        bcc=[STUDIO],
        subject="Slides",
        body="See attached.",
        attachments=["a.pdf"],
    )
    arrived = (await emails(session, "outlook", "list_mail_items", max_results=1))[0]
    assert (arrived["subject"], arrived["read"], arrived["bcc"], arrived["attachments"]) == (
        "Slides",
        False,
        [],
        ["a.pdf"],
    )
    await call_ok(
        session,
        "outlook",
        "reply_to_conversation",
        email_id=arrived["email_id"],
        body="Got it.",
        reply_all=True,
    )
    thread = await emails(session, "gmail", "get_thread", thread_id=sent["thread_id"])
    assert [m["subject"] for m in thread] == ["Slides", "Re: Slides"]
    assert (thread[1]["from"], thread[1]["cc"]) == (WORK, ["nora.ellis@gmail.com"])
    await call_ok(session, "gmail", "switch_user", username="studio")
    assert (await emails(session, "gmail", "list_emails", max_results=1))[0]["subject"] == "Slides"


@pytest.mark.parametrize("lost", ["someone@nowhere.invalid", "mei.chan@fernhill.design"])
@pytest.mark.parametrize(
    ("send", "listing"),
    [
        ("gmail.send_email", "gmail.list_emails"),
        ("outlook.send_mail_item", "outlook.list_mail_items"),
    ],
)
async def test_what_cannot_be_delivered_bounces_after_a_minute(
    session: Session, lost: str, send: str, listing: str
) -> None:
    await call_ok(session, *send.split("."), to=[lost], subject="Hello", body="Anyone there?")
    assert (
        "mailer-daemon"
        not in (await emails(session, *listing.split("."), max_results=1))[0]["from"]
    )
    session.pass_time(60)
    bounce = (await emails(session, *listing.split("."), max_results=1))[0]
    assert (
        bounce["from"].startswith("mailer-daemon@")
        and lost in bounce["body"]
        and not bounce["read"]
    )


async def test_addresses_are_checked_and_duplicates_removed(session: Session) -> None:
    for bad in ("ana", "ana@", "a b@c.de", "ana@gmail", "a..b@c.de", ""):
        assert (
            await refusal(session, "gmail", "send_email", to=[bad], subject="x", body="")
            == "INVALID_RECIPIENT"
        )
    assert (
        await refusal(session, "gmail", "send_email", to=[], subject="x", body="y")
        == "NO_RECIPIENTS"
    )
    assert (
        await refusal(session, "outlook", "send_mail_item", to=["a@b.cd"], subject=" ", body="")
        == "EMPTY_MESSAGE"
    )
    sent = await call_ok(
        session,
        "gmail",
        "send_email",
        to=["A@b.cd", "Al <a@B.cd>"],
        cc=["a@b.cd", "c@b.cd"],
        subject="x",
        body="",
    )
    mail = await call_ok(session, "gmail", "get_email", email_id=sent["email_id"])
    assert (mail["to"], mail["cc"]) == (["a@b.cd"], ["c@b.cd"])


async def test_a_reply_goes_to_the_sender_and_a_reply_to_own_mail_to_its_recipients(
    session: Session,
) -> None:
    one = await call_ok(
        session, "gmail", "reply_to_email", email_id=gmail_id("cabin_cost"), body="Paid!"
    )
    assert (await call_ok(session, "gmail", "get_email", email_id=one["email_id"]))["to"] == [
        "priya.nair@gmail.com"
    ]
    every = await call_ok(
        session,
        "gmail",
        "reply_to_email",
        email_id=gmail_id("cabin_cost"),
        body="Paid!",
        reply_all=True,
    )
    assert set(
        (await call_ok(session, "gmail", "get_email", email_id=every["email_id"]))["cc"]
    ) == {
        "jordan.park@gmail.com",
        "ben.asher@gmail.com",
        "ana.reyes@gmail.com",
    }
    again = await call_ok(
        session, "gmail", "reply_to_email", email_id=one["email_id"], body="Twice, sorry?"
    )
    mail = await call_ok(session, "gmail", "get_email", email_id=again["email_id"])
    assert (mail["to"], mail["subject"]) == (
        ["priya.nair@gmail.com"],
        "Re: Cabin weekend at Hood River",
    )


async def test_a_forward_quotes_the_text_and_takes_the_attachments_along(session: Session) -> None:
    sent = await call_ok(
        session,
        "outlook",
        "forward_mail_item",
        email_id=outlook_id("dinner_receipt_1"),
        to=["wei.zhang@fernhill.design"],
        additional_message="Found it.",
    )
    mail = await call_ok(session, "outlook", "get_mail_item", email_id=sent["email_id"])
    assert (
        mail["body"].startswith("Found it.")
        and "48.60" in mail["body"]
        and mail["attachments"] == ["tilikum-0211.pdf"]
    )


async def test_a_draft_is_sent_once_and_only_when_it_is_whole(session: Session) -> None:
    made = (await call_ok(session, "gmail", "create_draft", subject="Soon"))["draft_id"]
    assert await refusal(session, "gmail", "send_draft", draft_id=made) == "NO_RECIPIENTS"
    assert (
        await call_ok(session, "gmail", "update_draft", draft_id=made, to=["kai.tanaka@gmail.com"])
    )["subject"] == "Soon"
    await call_ok(session, "gmail", "send_draft", draft_id=made)
    assert await refusal(session, "gmail", "send_draft", draft_id=made) == "DRAFT_NOT_FOUND"
    assert made not in [
        d["draft_id"] for d in (await call_ok(session, "gmail", "list_drafts"))["drafts"]
    ]


# -- only Gmail -------------------------------------------------------------------------------


async def test_a_snoozed_message_leaves_the_inbox_and_returns_with_the_clock(
    session: Session,
) -> None:
    key = gmail_id("cabin_cost")
    assert (
        await refusal(
            session, "gmail", "snooze_email", email_id=key, snooze_until="2026-03-14T08:00:00-08:00"
        )
        == "SNOOZE_IN_PAST"
    )
    await call_ok(
        session, "gmail", "snooze_email", email_id=key, snooze_until="2026-03-14T18:00:00Z"
    )
    assert key not in await email_ids(session, "gmail", "list_emails", max_results=100)
    assert (await emails(session, "gmail", "list_snoozed_emails"))[0][
        "snooze_until"
    ] == "2026-03-14T18:00:00Z"
    assert "snoozed" in (await call_ok(session, "gmail", "get_email", email_id=key))["labels"]
    session.pass_time(7200)
    assert key in await email_ids(session, "gmail", "list_emails", max_results=100)
    assert key not in await email_ids(session, "gmail", "list_snoozed_emails")
    assert await refusal(session, "gmail", "unsnooze_email", email_id=key) == "EMAIL_NOT_SNOOZED"


async def test_a_scheduled_message_goes_out_by_itself_from_its_own_account(
    session: Session,
) -> None:
    at = "2026-03-14T17:00:00Z"
    made = (
        await call_ok(
            session, "gmail", "schedule_send", to=[WORK], subject="Later", body="Now.", send_at=at
        )
    )["scheduled_id"]
    await call_ok(session, "gmail", "switch_user", username="studio")
    assert (
        await emails(session, "outlook", "query_mail_items", query="subject:Later from:me.not")
        == []
    )
    session.pass_time(3700)
    got = (await emails(session, "outlook", "list_mail_items", max_results=1))[0]
    assert (got["subject"], got["from"], got["created_at"]) == (
        "Later",
        "maya.lindqvist@gmail.com",
        at,
    )
    await call_ok(session, "gmail", "switch_user", username="maya")
    assert (
        await refusal(session, "gmail", "cancel_scheduled_email", scheduled_id=made)
        == "SCHEDULED_EMAIL_NOT_FOUND"
    )
    assert (
        await refusal(
            session, "gmail", "schedule_send", to=[WORK], subject="x", body="", send_at=at
        )
        == "SEND_TIME_IN_PAST"
    )


async def test_a_cancelled_scheduled_message_becomes_a_draft(session: Session) -> None:
    made = (await call_ok(session, "gmail", "list_scheduled_emails"))["scheduled_emails"][0]
    gone = await call_ok(
        session, "gmail", "cancel_scheduled_email", scheduled_id=made["scheduled_id"]
    )
    draft = next(
        d
        for d in (await call_ok(session, "gmail", "list_drafts"))["drafts"]
        if d["draft_id"] == gone["draft_id"]
    )
    assert (
        draft["subject"] == made["subject"]
        and (await call_ok(session, "gmail", "list_scheduled_emails"))["scheduled_emails"] == []
    )


async def test_labels_serve_as_folders(session: Session) -> None:
    key = gmail_id("cabin_cost")
    assert (
        "did you mean 'cabin'"
        in (await call_refused(session, "gmail", "add_label", email_id=key, label="cabbin"))[
            "message"
        ]
    )
    await call_ok(session, "gmail", "add_label", email_id=key, label="Receipts")
    assert {key, gmail_id("bike_estimate")} <= set(
        await email_ids(session, "gmail", "list_emails", folder="receipts", max_results=100)
    )
    assert "inbox" not in (await call_ok(session, "gmail", "archive_email", email_id=key))["labels"]
    await call_ok(session, "gmail", "trash_email", email_id=key)
    assert key in await email_ids(
        session, "gmail", "list_emails", folder="trash"
    ) and key not in await email_ids(
        session, "gmail", "list_emails", folder="receipts", max_results=100
    )
    await call_ok(session, "gmail", "remove_label", email_id=key, label="trash")
    assert key in await email_ids(
        session, "gmail", "list_emails", folder="archive", max_results=100
    )
    assert await refusal(session, "gmail", "create_label", label="CABIN") == "LABEL_EXISTS"


async def test_templates_and_contacts_are_unique_within_their_account(session: Session) -> None:
    assert (
        await refusal(
            session, "gmail", "create_template", name="sunday climbing", subject="x", body="y"
        )
        == "TEMPLATE_EXISTS"
    )
    assert (
        await refusal(
            session, "gmail", "add_contact", name="A. Reyes", email_address="Ana.Reyes@gmail.com"
        )
        == "CONTACT_EXISTS"
    )
    await call_ok(session, "gmail", "switch_user", username="studio")
    await call_ok(
        session, "gmail", "add_contact", name="Ana Reyes", email_address="ana.reyes@gmail.com"
    )
    found = next(
        t
        for t in (await call_ok(session, "gmail", "list_templates"))["templates"]
        if t["name"] == "Wholesale terms"
    )
    sent = await call_ok(
        session,
        "gmail",
        "send_from_template",
        template_id=found["template_id"],
        to=["hello@juniperandrye.com"],
    )
    assert (await call_ok(session, "gmail", "get_email", email_id=sent["email_id"]))[
        "body"
    ] == found["body"]


# -- only Outlook -----------------------------------------------------------------------------


async def test_delete_has_two_stages(session: Session) -> None:
    key = outlook_id("critique_1")
    assert (await call_ok(session, "outlook", "delete_email", email_id=key))[
        "status"
    ] == "moved_to_deleted"
    assert (await call_ok(session, "outlook", "get_mail_item", email_id=key))["folder"] == "deleted"
    assert (await call_ok(session, "outlook", "delete_email", email_id=key))[
        "status"
    ] == "permanently_deleted"
    assert await refusal(session, "outlook", "get_mail_item", email_id=key) == "ITEM_NOT_FOUND"


async def test_a_quick_step_runs_whole_or_not_at_all(session: Session) -> None:
    actions = [
        {"type": "flag"},
        {"type": "categorize", "params": {"category": "admin"}},
        {"type": "move_to_folder", "params": {"folder": "sent"}},
    ]
    made = (await call_ok(session, "outlook", "create_quick_step", name="Odd", actions=actions))[
        "quick_step_id"
    ]
    before = await call_ok(session, "outlook", "get_mail_item", email_id=outlook_id("award_1"))
    assert (
        await refusal(
            session, "outlook", "run_quick_step", quick_step_id=made, email_id=outlook_id("award_1")
        )
        == "INVALID_MOVE"
    )
    assert (
        await call_ok(session, "outlook", "get_mail_item", email_id=outlook_id("award_1")) == before
    )
    seeded = next(
        q
        for q in (await call_ok(session, "outlook", "list_quick_steps"))["quick_steps"]
        if q["name"] == "To expenses"
    )
    done = await call_ok(
        session,
        "outlook",
        "run_quick_step",
        quick_step_id=seeded["quick_step_id"],
        email_id=outlook_id("dinner_receipt_1"),
    )
    assert [a["type"] for a in done["actions_performed"]] == ["forward_to", "move_to_folder"]
    assert (
        await call_ok(session, "outlook", "get_mail_item", email_id=outlook_id("dinner_receipt_1"))
    )["folder"] == "Expenses"


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
async def test_a_quick_step_is_checked_when_it_is_made(
    session: Session, action: dict[str, Any], code: str
) -> None:
    assert (
        await refusal(session, "outlook", "create_quick_step", name="Bad", actions=[action]) == code
    )


async def test_an_item_is_in_one_folder_and_may_have_several_categories(session: Session) -> None:
    key = outlook_id("review_1")
    assert (await call_ok(session, "outlook", "move_to_folder", email_id=key, folder="archive"))[
        "previous_folder"
    ] == "inbox"
    assert key not in await email_ids(session, "outlook", "list_mail_items", max_results=100)
    assert (
        await call_ok(session, "outlook", "assign_category", email_id=key, category_name="admin")
    )["categories"] == ["People", "Admin"]
    assert key in await email_ids(
        session, "outlook", "get_emails_by_category", category_name="Admin", limit=100
    )
    await call_ok(session, "outlook", "pin_email", email_id=key)
    assert await email_ids(session, "outlook", "list_pinned_emails") == [key]
    assert (
        await refusal(session, "outlook", "create_category", name="ACME", color="red")
        == "CATEGORY_EXISTS"
    )


# -- the world --------------------------------------------------------------------------------


def test_the_world_is_full_and_agrees_with_the_person() -> None:
    world = shared("maya").share()
    counts = dict(
        world.sql(
            "SELECT account, count(*) FROM (SELECT account FROM gmail_emails UNION ALL SELECT account FROM outlook_emails) GROUP BY 1"
        )
    )
    assert sum(counts.values()) >= 300 and len(counts) == 4
    cost = world.get("gmail_emails", gmail_id("cabin_cost"))
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


async def test_outlook_has_a_shared_mailbox_beside_the_own_one(session: Session) -> None:
    assert [
        a["username"] for a in (await call_ok(session, "outlook", "list_profiles"))["accounts"]
    ] == [
        "hello",
        "maya.lindqvist",
    ]
    await call_ok(
        session,
        "outlook",
        "send_mail_item",
        to=["hello@fernhill.design"],
        subject="Clinic",
        body="Shall I call them?",
    )
    assert (await call_ok(session, "outlook", "set_active_user", username="hello"))[
        "name"
    ] == "Fernhill Hello"
    assert (await email_ids(session, "outlook", "list_mail_items"))[1:] and (
        await emails(session, "outlook", "list_mail_items", max_results=1)
    )[0]["subject"] == "Clinic"
    assert (
        await refusal(session, "outlook", "get_mail_item", email_id=outlook_id("award_1"))
        == "ITEM_NOT_FOUND"
    )
