"""What users save and ask: saved places, lists with notes, questions and answers."""

from __future__ import annotations

from typing import Any

from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.reviews._rules import Words, find_place, me, written


# -- saved places -----------------------------------------------------------------------------
def is_saved(svc: Service, words: Words, business_id: str) -> bool:
    """Return whether a place is saved."""
    return bool(svc.db.rows(words.table("saved"), "business_id=?", business_id))


def save(svc: Service, words: Words, business_id: str, prefix: str) -> dict[str, Any]:
    """Save a place unless it is saved already, and return its listing."""
    place = find_place(svc, words, business_id)
    if not is_saved(svc, words, business_id):
        row = {"id": svc.new_id(prefix), "business_id": business_id, "saved_at": svc.time}
        svc.db.insert(words.table("saved"), row)
    return place


def unsave(svc: Service, words: Words, business_id: str, list_tool: str) -> dict[str, Any]:
    """Remove a saved place and return its listing. Fails if it is not saved.

    `list_tool` is the tool that lists saved places.
    """
    place = find_place(svc, words, business_id)
    rows = svc.db.rows(words.table("saved"), "business_id=?", business_id)
    if not rows:
        svc.fail(
            "NOT_SAVED",
            f"{place['name']} is not saved.",
            f"Call {list_tool} to see what is saved.",
            business_id=business_id,
        )
    svc.db.delete(words.table("saved"), rows[0]["id"])
    return place


def saved(svc: Service, words: Words) -> list[Json]:
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


def find_list(svc: Service, words: Words, list_id: str) -> Row:
    """Return a list. Fails if there is none."""
    row = svc.db.get(words.table("lists"), list_id)
    if row is None:
        svc.fail(
            words.no_list,
            f"There is no {words.a_list} with the ID {list_id!r}.",
            f"Call {words.lists} to see all of them.",
            id=list_id,
        )
    return row


def new_list(
    svc: Service, words: Words, name: str, description: str | None, prefix: str, taken: str
) -> Row:
    """Start a list with a new name and return its row; `taken` is the code for a name in use."""
    name = written(svc, name, "name")
    same = next((r for r in lists(svc, words) if r["name"].lower() == name.lower()), None)
    if same is not None:
        svc.fail(
            taken,
            f"You already have a {words.a_list} called {same['name']!r}.",
            f"Choose another name, or use that {words.a_list}; {words.lists} shows it.",
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
    """Return the items of a list, each with its `place`, oldest first."""
    rows = svc.db.rows(words.table("list_items"), "list_id=?", list_id, order="added_at, rowid")
    return [r | {"place": find_place(svc, words, r["business_id"])} for r in rows]


def item(svc: Service, words: Words, list_id: str, business_id: str) -> Row | None:
    """Return the item of a list that holds a place, if there is one."""
    find_list(svc, words, list_id)
    find_place(svc, words, business_id)
    table = words.table("list_items")
    rows = svc.db.rows(table, "list_id=? AND business_id=?", list_id, business_id)
    return rows[0] if rows else None


def put(
    svc: Service, words: Words, list_id: str, business_id: str, note: str | None, prefix: str
) -> None:
    """Add a place to a list that does not hold it yet."""
    row = {
        "id": svc.new_id(prefix),
        "list_id": list_id,
        "business_id": business_id,
        "note": note,
        "added_at": svc.time,
    }
    svc.db.insert(words.table("list_items"), row)


def take(svc: Service, words: Words, list_id: str, business_id: str, missing: str) -> None:
    """Remove a place from a list; `missing` is the code if it is not there."""
    row = item(svc, words, list_id, business_id)
    if row is None:
        svc.fail(
            missing,
            f"{business_id} is not in this {words.a_list}.",
            f"Call {words.lists} to choose another one.",
            business_id=business_id,
        )
    svc.db.delete(words.table("list_items"), row["id"])


# -- questions --------------------------------------------------------------------------------
def questions(svc: Service, words: Words, business_id: str) -> list[dict[str, Any]]:
    """Return the questions about a place, each with its `answers`, newest first."""
    find_place(svc, words, business_id)
    rows = svc.db.rows(
        words.table("questions"), "business_id=?", business_id, order="asked_at DESC, id"
    )
    return [r | {"answers": answers(svc, words, r["id"])} for r in rows]


def answers(svc: Service, words: Words, question_id: str) -> list[Row]:
    """Return the answers to a question, oldest first."""
    return svc.db.rows(
        words.table("answers"), "question_id=?", question_id, order="answered_at, id"
    )


def ask(svc: Service, words: Words, business_id: str, text: str, prefix: str) -> Row:
    """Ask a question about a place and return its row; a repeated question is refused."""
    place = find_place(svc, words, business_id)
    text = written(svc, text, "question_text")
    for question in questions(svc, words, business_id):
        if question["mine"] and question["body"].lower() == text.lower():
            svc.fail(
                "DUPLICATE_QUESTION",
                f"You have already asked this about {place['name']}.",
                f"Call {words.questions} to see the answers.",
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
    question = svc.db.insert(words.table("questions"), row)
    said = {"place": place["name"], "question": text, "reference": row["id"]}
    svc.post("question_posted", me(svc, words)["email"], said, about=row["id"])
    return question


def reply(svc: Service, words: Words, question_id: str, text: str, prefix: str) -> Row:
    """Answer a question, at most once, and return the answer's row with `business_id`."""
    question = svc.db.get(words.table("questions"), question_id)
    if question is None:
        svc.fail(
            "QUESTION_NOT_FOUND",
            f"There is no question with the ID {question_id!r}.",
            f"Use a question_id from {words.questions}.",
            question_id=question_id,
        )
    text = written(svc, text, "answer_text")
    if any(answer["mine"] for answer in answers(svc, words, question_id)):
        svc.fail(
            "ALREADY_ANSWERED",
            "You have already answered this question.",
            f"Call {words.questions} to see your answer.",
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
    said = {
        "place": find_place(svc, words, question["business_id"])["name"],
        "question": question["body"],
        "answer": text,
        "reference": row["id"],
    }
    svc.post("answer_posted", me(svc, words)["email"], said, about=row["id"])
    return answer | {"business_id": question["business_id"]}
