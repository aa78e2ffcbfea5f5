"""What people keep and ask: saved places, lists with notes, questions and answers."""

from __future__ import annotations

from typing import Any

from servers.kit.service import Service
from servers.reviews._rules import Words, find_place, me, written


# -- saved places -----------------------------------------------------------------------------
def is_saved(svc: Service, words: Words, business_id: str) -> bool:
    """Whether a place is saved."""
    return bool(svc.db.rows(words.table("saved"), "business_id=?", business_id))


def save(svc: Service, words: Words, business_id: str, prefix: str) -> dict[str, Any]:
    """Save a place, once, and return its listing."""
    place = find_place(svc, words, business_id)
    if not is_saved(svc, words, business_id):
        svc.db.insert(
            words.table("saved"),
            {"id": svc.new_id(prefix), "business_id": business_id, "saved_at": svc.time},
        )
    return place


def unsave(svc: Service, words: Words, business_id: str, list_tool: str) -> dict[str, Any]:
    """Forget a saved place and return its listing; refuse if it is not saved.

    `list_tool` is the tool that lists saved places.
    """
    place = find_place(svc, words, business_id)
    rows = svc.db.rows(words.table("saved"), "business_id=?", business_id)
    if not rows:
        svc.fail(
            "NOT_SAVED",
            f"{place['name']} is not saved.",
            f"See {list_tool}.",
            business_id=business_id,
        )
    svc.db.delete(words.table("saved"), rows[0]["id"])
    return place


def saved(svc: Service, words: Words) -> list[dict[str, Any]]:
    """Return `{business_id, saved_at, place}` of saved places, newest first."""
    rows = svc.db.rows(words.table("saved"), order="saved_at DESC, id")
    return [
        {
            "business_id": r["business_id"],
            "saved_at": r["saved_at"],
            "place": find_place(svc, words, r["business_id"]),
        }
        for r in rows
    ]


# -- lists ------------------------------------------------------------------------------------
def lists(svc: Service, words: Words) -> list[dict[str, Any]]:
    """Return the user's lists, newest first, with the `count` of their places."""
    item_table = words.table("list_items")
    counts = dict(svc.db.sql(f"SELECT list_id, count(*) FROM {item_table} GROUP BY list_id"))
    rows = svc.db.rows(words.table("lists"), order="created_at DESC, id")
    return [row | {"count": counts.get(row["id"], 0)} for row in rows]


def find_list(svc: Service, words: Words, list_id: str) -> dict[str, Any]:
    """Return a list, or refuse."""
    row = svc.db.get(words.table("lists"), list_id)
    if row is None:
        svc.fail(words.no_list, f"There is no list {list_id!r}.", f"See {words.lists}.", id=list_id)
    return row


def new_list(
    svc: Service, words: Words, name: str, description: str | None, prefix: str, taken: str
) -> dict[str, Any]:
    """Start a list with a new name and return its row; `taken` is the code for a name in use."""
    name = written(svc, name, "name")
    same = next((r for r in lists(svc, words) if r["name"].lower() == name.lower()), None)
    if same is not None:
        svc.fail(
            taken,
            f"You have a list called {same['name']!r} already.",
            f"Use it ({words.lists}) or choose another name.",
            id=same["id"],
        )
    row = {
        "id": svc.new_id(prefix),
        "name": name,
        "description": description,
        "created_at": svc.time,
    }
    return svc.db.insert(words.table("lists"), row)


def items(svc: Service, words: Words, list_id: str) -> list[dict[str, Any]]:
    """Return a list's items with their `place`, oldest first."""
    rows = svc.db.rows(words.table("list_items"), "list_id=?", list_id, order="added_at, rowid")
    return [r | {"place": find_place(svc, words, r["business_id"])} for r in rows]


def item(svc: Service, words: Words, list_id: str, business_id: str) -> dict[str, Any] | None:
    """Return the item that holds a place, if the list has it."""
    find_list(svc, words, list_id)
    find_place(svc, words, business_id)
    table = words.table("list_items")
    rows = svc.db.rows(table, "list_id=? AND business_id=?", list_id, business_id)
    return rows[0] if rows else None


def put(
    svc: Service, words: Words, list_id: str, business_id: str, note: str | None, prefix: str
) -> None:
    """Put a place on a list that does not hold it yet."""
    row = {
        "id": svc.new_id(prefix),
        "list_id": list_id,
        "business_id": business_id,
        "note": note,
        "added_at": svc.time,
    }
    svc.db.insert(words.table("list_items"), row)


def take(svc: Service, words: Words, list_id: str, business_id: str, missing: str) -> None:
    """Take a place off a list; `missing` is the code where it is not there."""
    row = item(svc, words, list_id, business_id)
    if row is None:
        svc.fail(
            missing,
            f"{business_id} is not on this list.",
            f"See its places, or other lists with {words.lists}.",
            business_id=business_id,
        )
    svc.db.delete(words.table("list_items"), row["id"])


# -- questions --------------------------------------------------------------------------------
def questions(svc: Service, words: Words, business_id: str) -> list[dict[str, Any]]:
    """Return a place's questions with their `answers`, newest first."""
    find_place(svc, words, business_id)
    rows = svc.db.rows(
        words.table("questions"), "business_id=?", business_id, order="asked_at DESC, id"
    )
    return [r | {"answers": answers(svc, words, r["id"])} for r in rows]


def answers(svc: Service, words: Words, question_id: str) -> list[dict[str, Any]]:
    """Return the answers to a question, oldest first."""
    return svc.db.rows(
        words.table("answers"), "question_id=?", question_id, order="answered_at, id"
    )


def ask(svc: Service, words: Words, business_id: str, text: str, prefix: str) -> dict[str, Any]:
    """Ask about a place and return the question's row; a repeated question is refused."""
    place = find_place(svc, words, business_id)
    text = written(svc, text, "question_text")
    for question in questions(svc, words, business_id):
        if question["mine"] and question["body"].lower() == text.lower():
            svc.fail(
                "DUPLICATE_QUESTION",
                f"You have asked this about {place['name']}.",
                f"See {words.questions} for its answers.",
                question_id=question["id"],
            )
    row = {
        "id": svc.new_id(prefix),
        "business_id": business_id,
        "author": me(svc, words)["shown"],
        "mine": True,
        "body": text,
        "asked_at": svc.time,
    }
    return svc.db.insert(words.table("questions"), row)


def reply(svc: Service, words: Words, question_id: str, text: str, prefix: str) -> dict[str, Any]:
    """Answer a question, once, and return the answer's row with `business_id`."""
    question = svc.db.get(words.table("questions"), question_id)
    if question is None:
        svc.fail(
            "QUESTION_NOT_FOUND",
            f"There is no question {question_id!r}.",
            f"Take a question_id from {words.questions}.",
            question_id=question_id,
        )
    text = written(svc, text, "answer_text")
    if any(answer["mine"] for answer in answers(svc, words, question_id)):
        svc.fail(
            "ALREADY_ANSWERED",
            "You have answered this question.",
            f"See {words.questions}.",
            question_id=question_id,
        )
    row = {
        "id": svc.new_id(prefix),
        "question_id": question_id,
        "author": me(svc, words)["shown"],
        "mine": True,
        "body": text,
        "answered_at": svc.time,
    }
    answer = svc.db.insert(words.table("answers"), row)
    return answer | {"business_id": question["business_id"]}
