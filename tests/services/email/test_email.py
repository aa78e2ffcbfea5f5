"""What makes Gmail and Outlook unlike each other, and the rules of mail that they share."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.worlds.build import person, shared
from servers.kit.control import make_id
from servers.kit.session import Session
from tests.support import call_ok, call_refused, new_session, pages, session_of

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


async def gmail(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await call_ok(session, "gmail", tool, **args)


async def outlook(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await call_ok(session, "outlook", tool, **args)


async def refusal(session: Session, service: str, tool: str, **args: Any) -> str:
    """Return the code with which a call is refused."""
    return (await call_refused(session, service, tool, **args))["code"]


async def email_ids(session: Session, service: str, tool: str, **args: Any) -> list[str]:
    """Return the ids on the first page of a list of messages."""
    reply = await call_ok(session, service, tool, **args)
    return [mail["email_id"] for mail in reply["emails"]]


async def newest(session: Session, service: str) -> dict[str, Any]:
    """Return the newest message of the inbox."""
    tool = "list_emails" if service == "gmail" else "list_mail_items"
    return (await call_ok(session, service, tool, max_results=1))["emails"][0]


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
    service, _, name = tool.partition(".")
    listed = await pages(session, service, name, "emails", **args, **{size: 40})
    moments = [mail["created_at"] for mail in listed]
    assert len({mail["email_id"] for mail in listed}) == len(listed) > 100
    assert moments == sorted(moments, reverse=True)
    assert await refusal(session, service, name, **args, cursor="cDc3Nw") == "INVALID_CURSOR"


async def test_each_account_sees_only_its_own_mail(session: Session) -> None:
    invoice = gmail_id("invoice_1042")
    query = 'subject:"Invoice 1042"'
    assert await refusal(session, "gmail", "get_email", email_id=invoice) == "EMAIL_NOT_FOUND"
    assert await email_ids(session, "gmail", "search_emails", query=query) == []
    account = await gmail(session, "switch_user", username="studio")
    assert account["email_address"] == STUDIO
    assert invoice in await email_ids(session, "gmail", "search_emails", query=query)
    cabin = make_id("gth", "maya", "cabin")
    assert await refusal(session, "gmail", "get_thread", thread_id=cabin) == "THREAD_NOT_FOUND"
    error = await call_refused(session, "gmail", "switch_user", username="studo")
    assert error["message"].count("studio") == 1


async def test_search_finds_tokens_in_any_order_and_ranks_the_subject_first(
    session: Session,
) -> None:
    ids = await email_ids(session, "gmail", "search_emails", query="weekend cabin", max_results=50)
    assert gmail_id("cabin_invite") in ids
    hits = (await gmail(session, "search_emails", query="rent", max_results=50))["emails"]
    in_subject = ["rent" in mail["subject"].lower() for mail in hits]
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
    ids = await email_ids(session, "gmail", "search_emails", query=query, max_results=100)
    assert (gmail_id(key) in ids) is there


async def test_outlook_searches_every_folder_and_knows_its_own_operators(session: Session) -> None:
    async def query(text: str, **args: Any) -> list[str]:
        return await email_ids(session, "outlook", "query_mail_items", query=text, **args)

    receipt = outlook_id("expenses_2")
    await outlook(session, "delete_email", email_id=receipt)
    assert receipt in await query("dinner receipt is:flagged")
    assert receipt not in await query("dinner receipt", folder="inbox")
    agenda = outlook_id("chicago_agenda_4")
    assert agenda in await query("category:Acme folder:inbox lakeview")


@pytest.mark.parametrize(
    "query",
    ["labl:cabin x", "is:red", "before:soon", "older_than:soon", "has:pictures", "larger:5M", '""'],
)
async def test_an_invalid_query_is_refused_with_a_hint(session: Session, query: str) -> None:
    error = await call_refused(session, "gmail", "search_emails", query=query)
    assert error["code"] == "INVALID_QUERY" and error["hint"]


@pytest.mark.parametrize(
    ("service", "tool", "said", "meant"),
    [("outlook", "query_mail_items", "in", "folder"), ("gmail", "search_emails", "folder", "in")],
)
async def test_what_the_other_provider_calls_a_folder_is_refused_with_the_own_name(
    session: Session, service: str, tool: str, said: str, meant: str
) -> None:
    error = await call_refused(session, service, tool, query=f"{said}:inbox receipt")
    assert f"'{said}:'; did you mean '{meant}'?" in error["message"]


async def test_conversations_run_oldest_first_and_hold_the_conflicting_agendas(
    session: Session,
) -> None:
    thread_id = make_id("oth", "maya", "chicago_agenda")
    items = (await outlook(session, "get_conversation", thread_id=thread_id))["emails"]
    expected = [outlook_id(f"chicago_agenda_{n}") for n in (1, 2, 3, 4)]
    assert [item["email_id"] for item in items] == expected
    assert "4B" in items[0]["body"] and "Lakeview" in items[3]["body"]


# -- sending ----------------------------------------------------------------------------------


async def test_mail_between_own_accounts_arrives_and_keeps_its_thread_both_ways(
    session: Session,
) -> None:
    sent = await gmail(
        session,
        "send_email",
        to=[WORK, "nora.ellis@gmail.com"],
        bcc=[STUDIO],
        subject="Slides",
        body="See attached.",
        attachments=["a.pdf"],
    )
    arrived = await newest(session, "outlook")
    assert (arrived["subject"], arrived["read"]) == ("Slides", False)
    assert (arrived["bcc"], arrived["attachments"]) == ([], ["a.pdf"])
    reply = {"email_id": arrived["email_id"], "body": "Got it.", "reply_all": True}
    await outlook(session, "reply_to_conversation", **reply)
    thread = (await gmail(session, "get_thread", thread_id=sent["thread_id"]))["emails"]
    assert [mail["subject"] for mail in thread] == ["Slides", "Re: Slides"]
    assert (thread[1]["from"], thread[1]["cc"]) == (WORK, ["nora.ellis@gmail.com"])
    await gmail(session, "switch_user", username="studio")
    assert (await newest(session, "gmail"))["subject"] == "Slides"


@pytest.mark.parametrize("lost", ["someone@nowhere.invalid", "mei.chan@fernhill.design"])
@pytest.mark.parametrize(
    ("send", "listing"),
    [
        ("gmail.send_email", "gmail.list_emails"),
        ("outlook.send_mail_item", "outlook.list_mail_items"),
    ],
)
async def test_undeliverable_mail_bounces_after_a_minute(
    session: Session, lost: str, send: str, listing: str
) -> None:
    service, _, send_tool = send.partition(".")
    list_tool = listing.partition(".")[2]
    await call_ok(session, service, send_tool, to=[lost], subject="Hello", body="Anyone there?")
    before = (await call_ok(session, service, list_tool, max_results=1))["emails"][0]
    assert "mailer-daemon" not in before["from"]
    session.pass_time(60)
    bounce = (await call_ok(session, service, list_tool, max_results=1))["emails"][0]
    assert bounce["from"].startswith("mailer-daemon@")
    assert lost in bounce["body"] and not bounce["read"]


async def test_addresses_are_checked_and_duplicates_removed(session: Session) -> None:
    for bad in ("ana", "ana@", "a b@c.de", "ana@gmail", "a..b@c.de", ""):
        mail = {"to": [bad], "subject": "x", "body": ""}
        assert await refusal(session, "gmail", "send_email", **mail) == "INVALID_RECIPIENT"
    nobody = {"to": [], "subject": "x", "body": "y"}
    assert await refusal(session, "gmail", "send_email", **nobody) == "NO_RECIPIENTS"
    empty = {"to": ["a@b.cd"], "subject": " ", "body": ""}
    assert await refusal(session, "outlook", "send_mail_item", **empty) == "EMPTY_MESSAGE"
    sent = await gmail(
        session,
        "send_email",
        to=["A@b.cd", "Al <a@B.cd>"],
        cc=["a@b.cd", "c@b.cd"],
        subject="x",
        body="",
    )
    mail = await gmail(session, "get_email", email_id=sent["email_id"])
    assert (mail["to"], mail["cc"]) == (["a@b.cd"], ["c@b.cd"])


async def test_a_reply_goes_to_the_sender_and_a_reply_to_own_mail_to_its_recipients(
    session: Session,
) -> None:
    async def reply(email_id: str, body: str, **args: Any) -> dict[str, Any]:
        sent = await gmail(session, "reply_to_email", email_id=email_id, body=body, **args)
        return await gmail(session, "get_email", email_id=sent["email_id"])

    cost = gmail_id("cabin_cost")
    to_sender = await reply(cost, "Paid!")
    assert to_sender["to"] == ["priya.nair@gmail.com"]
    to_all = await reply(cost, "Paid!", reply_all=True)
    others = {"jordan.park@gmail.com", "ben.asher@gmail.com", "ana.reyes@gmail.com"}
    assert set(to_all["cc"]) == others
    to_own = await reply(to_sender["email_id"], "Twice, sorry?")
    assert to_own["to"] == ["priya.nair@gmail.com"]
    assert to_own["subject"] == "Re: Cabin weekend at Hood River"


async def test_a_forward_quotes_the_text_and_keeps_the_attachments(session: Session) -> None:
    sent = await outlook(
        session,
        "forward_mail_item",
        email_id=outlook_id("dinner_receipt_1"),
        to=["wei.zhang@fernhill.design"],
        additional_message="Found it.",
    )
    item = await outlook(session, "get_mail_item", email_id=sent["email_id"])
    assert item["body"].startswith("Found it.") and "48.60" in item["body"]
    assert item["attachments"] == ["tilikum-0211.pdf"]


async def test_a_draft_is_sent_once_and_only_when_it_is_complete(session: Session) -> None:
    draft_id = (await gmail(session, "create_draft", subject="Soon"))["draft_id"]
    assert await refusal(session, "gmail", "send_draft", draft_id=draft_id) == "NO_RECIPIENTS"
    draft = await gmail(session, "update_draft", draft_id=draft_id, to=["kai.tanaka@gmail.com"])
    assert draft["subject"] == "Soon"
    await gmail(session, "send_draft", draft_id=draft_id)
    assert await refusal(session, "gmail", "send_draft", draft_id=draft_id) == "DRAFT_NOT_FOUND"
    drafts = (await gmail(session, "list_drafts"))["drafts"]
    assert draft_id not in [draft["draft_id"] for draft in drafts]


# -- only Gmail -------------------------------------------------------------------------------


async def test_a_snoozed_message_leaves_the_inbox_and_returns_with_the_clock(
    session: Session,
) -> None:
    key = gmail_id("cabin_cost")
    past = {"email_id": key, "snooze_until": "2026-03-14T08:00:00-08:00"}
    assert await refusal(session, "gmail", "snooze_email", **past) == "SNOOZE_IN_PAST"
    until = "2026-03-14T18:00:00Z"
    await gmail(session, "snooze_email", email_id=key, snooze_until=until)
    assert key not in await email_ids(session, "gmail", "list_emails", max_results=100)
    snoozed = (await gmail(session, "list_snoozed_emails"))["emails"]
    assert snoozed[0]["snooze_until"] == until
    assert "snoozed" in (await gmail(session, "get_email", email_id=key))["labels"]
    session.pass_time(7200)
    assert key in await email_ids(session, "gmail", "list_emails", max_results=100)
    assert key not in await email_ids(session, "gmail", "list_snoozed_emails")
    assert await refusal(session, "gmail", "unsnooze_email", email_id=key) == "EMAIL_NOT_SNOOZED"


async def test_a_scheduled_message_is_sent_on_time_from_its_own_account(
    session: Session,
) -> None:
    send_at = "2026-03-14T17:00:00Z"
    mail = {"to": [WORK], "subject": "Later", "body": "Now.", "send_at": send_at}
    scheduled = await gmail(session, "schedule_send", **mail)
    await gmail(session, "switch_user", username="studio")
    query = "subject:Later from:me.not"
    assert await email_ids(session, "outlook", "query_mail_items", query=query) == []
    session.pass_time(3700)
    arrived = await newest(session, "outlook")
    assert (arrived["subject"], arrived["created_at"]) == ("Later", send_at)
    assert arrived["from"] == "maya.lindqvist@gmail.com"
    await gmail(session, "switch_user", username="maya")
    gone = {"scheduled_id": scheduled["scheduled_id"]}
    code = await refusal(session, "gmail", "cancel_scheduled_email", **gone)
    assert code == "SCHEDULED_EMAIL_NOT_FOUND"
    late = {"to": [WORK], "subject": "x", "body": "", "send_at": send_at}
    assert await refusal(session, "gmail", "schedule_send", **late) == "SEND_TIME_IN_PAST"


async def test_a_cancelled_scheduled_message_becomes_a_draft(session: Session) -> None:
    scheduled = (await gmail(session, "list_scheduled_emails"))["scheduled_emails"][0]
    scheduled_id = scheduled["scheduled_id"]
    cancelled = await gmail(session, "cancel_scheduled_email", scheduled_id=scheduled_id)
    drafts = (await gmail(session, "list_drafts"))["drafts"]
    draft = next(draft for draft in drafts if draft["draft_id"] == cancelled["draft_id"])
    assert draft["subject"] == scheduled["subject"]
    assert (await gmail(session, "list_scheduled_emails"))["scheduled_emails"] == []


async def test_labels_serve_as_folders(session: Session) -> None:
    async def folder(name: str) -> list[str]:
        return await email_ids(session, "gmail", "list_emails", folder=name, max_results=100)

    key = gmail_id("cabin_cost")
    error = await call_refused(session, "gmail", "add_label", email_id=key, label="cabbin")
    assert "did you mean 'cabin'" in error["message"]
    await gmail(session, "add_label", email_id=key, label="Receipts")
    assert {key, gmail_id("bike_estimate")} <= set(await folder("receipts"))
    assert "inbox" not in (await gmail(session, "archive_email", email_id=key))["labels"]
    await gmail(session, "trash_email", email_id=key)
    assert key in await folder("trash")
    assert key not in await folder("receipts")
    await gmail(session, "remove_label", email_id=key, label="trash")
    assert key in await folder("archive")
    assert await refusal(session, "gmail", "create_label", label="CABIN") == "LABEL_EXISTS"


@pytest.mark.parametrize("world", ["maya", "eleanor"])
async def test_counts_are_those_of_the_lists(world: str) -> None:
    session = session_of(world, "gmail", "outlook")
    before = await _check_counts(session)
    for tool in ("mark_as_unread", "star_email", "archive_email", "trash_email", "snooze_email"):
        until = {"snooze_until": "2027-05-01T09:00:00Z"} if tool == "snooze_email" else {}
        await gmail(session, tool, email_id=(await newest(session, "gmail"))["email_id"], **until)
    item = (await newest(session, "outlook"))["email_id"]
    await outlook(session, "move_to_folder", email_id=item, folder="archive")
    session.pass_time(30 * 86_400)
    assert await _check_counts(session) != before


async def _check_counts(session: Session) -> list[dict[str, Any]]:
    """Compare the counts of labels and folders with the messages under them; return the counts."""
    labels = (await gmail(session, "list_labels"))["labels"]
    folders = (await outlook(session, "list_folders"))["folders"]
    for service, tool, counts in (
        ("gmail", "list_emails", labels),
        ("outlook", "list_mail_items", folders),
    ):
        for count in counts:
            args = {"folder": count["name"], "max_results": 100}
            listed = await pages(session, service, tool, "emails", **args)
            unread = [mail for mail in listed if not mail["read"]]
            assert (count["total"], count["unread"]) == (len(listed), len(unread)), count
    return labels + folders


async def test_templates_and_contacts_are_unique_within_their_account(session: Session) -> None:
    known = {"name": "sunday climbing", "subject": "x", "body": "y"}
    assert await refusal(session, "gmail", "create_template", **known) == "TEMPLATE_EXISTS"
    ana = {"name": "A. Reyes", "email_address": "Ana.Reyes@gmail.com"}
    assert await refusal(session, "gmail", "add_contact", **ana) == "CONTACT_EXISTS"
    await gmail(session, "switch_user", username="studio")
    await gmail(session, "add_contact", name="Ana Reyes", email_address="ana.reyes@gmail.com")
    templates = (await gmail(session, "list_templates"))["templates"]
    template = next(template for template in templates if template["name"] == "Wholesale terms")
    template_id = template["template_id"]
    to = ["hello@juniperandrye.com"]
    sent = await gmail(session, "send_from_template", template_id=template_id, to=to)
    mail = await gmail(session, "get_email", email_id=sent["email_id"])
    assert mail["body"] == template["body"]


# -- only Outlook -----------------------------------------------------------------------------


async def test_delete_has_two_stages(session: Session) -> None:
    key = outlook_id("critique_1")
    first = await outlook(session, "delete_email", email_id=key)
    assert first["status"] == "moved_to_deleted"
    assert (await outlook(session, "get_mail_item", email_id=key))["folder"] == "deleted"
    second = await outlook(session, "delete_email", email_id=key)
    assert second["status"] == "permanently_deleted"
    assert await refusal(session, "outlook", "get_mail_item", email_id=key) == "ITEM_NOT_FOUND"


async def test_a_quick_step_runs_completely_or_not_at_all(session: Session) -> None:
    actions = [
        {"type": "flag"},
        {"type": "categorize", "params": {"category": "admin"}},
        {"type": "move_to_folder", "params": {"folder": "sent"}},
    ]
    odd = await outlook(session, "create_quick_step", name="Odd", actions=actions)
    award = outlook_id("award_1")
    before = await outlook(session, "get_mail_item", email_id=award)
    run = {"quick_step_id": odd["quick_step_id"], "email_id": award}
    assert await refusal(session, "outlook", "run_quick_step", **run) == "INVALID_MOVE"
    assert await outlook(session, "get_mail_item", email_id=award) == before
    steps = (await outlook(session, "list_quick_steps"))["quick_steps"]
    step = next(step for step in steps if step["name"] == "To expenses")
    receipt = outlook_id("dinner_receipt_1")
    step_id = step["quick_step_id"]
    done = await outlook(session, "run_quick_step", quick_step_id=step_id, email_id=receipt)
    types = [action["type"] for action in done["actions_performed"]]
    assert types == ["forward_to", "move_to_folder"]
    assert (await outlook(session, "get_mail_item", email_id=receipt))["folder"] == "Expenses"


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
async def test_a_quick_step_is_checked_when_it_is_created(
    session: Session, action: dict[str, Any], code: str
) -> None:
    step = {"name": "Bad", "actions": [action]}
    assert await refusal(session, "outlook", "create_quick_step", **step) == code


async def test_an_item_is_in_one_folder_and_may_have_several_categories(session: Session) -> None:
    key = outlook_id("review_1")
    moved = await outlook(session, "move_to_folder", email_id=key, folder="archive")
    assert moved["previous_folder"] == "inbox"
    assert key not in await email_ids(session, "outlook", "list_mail_items", max_results=100)
    assigned = await outlook(session, "assign_category", email_id=key, category_name="admin")
    assert assigned["categories"] == ["People", "Admin"]
    admin = {"category_name": "Admin", "limit": 100}
    assert key in await email_ids(session, "outlook", "get_emails_by_category", **admin)
    await outlook(session, "pin_email", email_id=key)
    assert await email_ids(session, "outlook", "list_pinned_emails") == [key]
    acme = {"name": "ACME", "color": "red"}
    assert await refusal(session, "outlook", "create_category", **acme) == "CATEGORY_EXISTS"


# -- the world --------------------------------------------------------------------------------


def test_the_world_is_full_and_agrees_with_the_person() -> None:
    world = shared("maya").share()
    counts = dict(
        world.sql(
            "SELECT account, count(*) FROM (SELECT account FROM gmail_emails "
            "UNION ALL SELECT account FROM outlook_emails) GROUP BY 1"
        )
    )
    assert sum(counts.values()) >= 300 and len(counts) == 4
    cost = world.get("gmail_emails", gmail_id("cabin_cost"))
    trip = person("maya")["trips"]["cabin"]
    assert cost is not None
    assert str(trip["cost_total"]) in cost["body"] and str(trip["each"]) in cost["body"]
    rent = world.rows("gmail_emails", "subject='You sent $920.00 to Ana Reyes'")
    paid = world.sql(
        "SELECT count(*) FROM zelle_transfers "
        "WHERE party='Ana Reyes' AND amount=92000 AND created_at>='2025-07-14'"
    )[0][0]
    assert len(rent) == paid >= 7
    addresses = {row[0] for row in world.sql("SELECT address FROM email_accounts")}
    assert addresses > set(person("maya")["emails"].values())


async def test_outlook_has_a_shared_mailbox_besides_the_users_own(session: Session) -> None:
    accounts = (await outlook(session, "list_profiles"))["accounts"]
    assert [account["username"] for account in accounts] == ["hello", "maya.lindqvist"]
    mail = {"to": ["hello@fernhill.design"], "subject": "Clinic", "body": "Shall I call them?"}
    await outlook(session, "send_mail_item", **mail)
    account = await outlook(session, "set_active_user", username="hello")
    assert account["name"] == "Fernhill Hello"
    assert len(await email_ids(session, "outlook", "list_mail_items")) > 1
    assert (await newest(session, "outlook"))["subject"] == "Clinic"
    award = outlook_id("award_1")
    assert await refusal(session, "outlook", "get_mail_item", email_id=award) == "ITEM_NOT_FOUND"
