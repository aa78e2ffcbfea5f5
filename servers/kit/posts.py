"""What services send to people: templates, the outbox, and letters made of both.

A service posts a template with its fields (`Service.post`), and the row waits in the world's outbox
until it is due. Then whichever service holds a mailbox with that address takes the letter in
(`Service.take_in`). A provider's templates are in `posts.yaml` of its folder, or in
`<provider>.posts.yaml` beside its one file.
"""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parseaddr
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import Field, model_validator

from servers.kit import future
from servers.kit.control import make_id
from servers.kit.declared import Declared, validated
from servers.kit.errors import InputError, UnknownName, did_you_mean
from servers.kit.store import POST, World
from servers.kit.tables import Table
from servers.kit.types import Json, Row
from servers.kit.values import dollars, iso, parse_time
from servers.kit.yaml import read
from servers.kit.zones import local

TABLES = {
    # `due_at` is null once the letter has arrived, or has left for a mailbox outside.
    "outbox": Table(
        "id:str provider:str/derived template:str/derived recipient:str/derived data:dict/derived "
        "about:str/derived posted_at:str/derived due_at:str?/derived delivered_at:str?/derived",
        index=("due_at", "about"),
        noun="a letter to {recipient} ({provider}, {template})",
    ),
    **future.TABLES,
}
"""Tables that every world has: what is on its way, what is to come, and whose world it is."""

SERVERS = Path(__file__).parent.parent


@dataclass(frozen=True)
class Letter:
    """A text on its way to an address; `about` is the id of the row that it is about."""

    id: str
    to: str
    sender: str
    sender_name: str
    subject: str
    body: str
    at: int
    about: str


@dataclass(frozen=True)
class Movement:
    """Money that moved, as a letter told: signed cents in the account with these last digits."""

    last4: str
    amount: int
    merchant: str
    category: str
    about: str


# -- templates ------------------------------------------------------------------------------------
class Template(Declared):
    """What a provider writes on one occasion.

    `{name}` stands for a field of the post and `{me}` for the first name of the world's person. A
    field may say how it is written: `{amount:dollars}` (from cents), `{at:day}`, `{at:moment}`
    (from an ISO moment, in the person's zone). A list fills a line for each item. A line is left
    out if one of its fields is null or empty. A letter that `asks` for something (`request`, say)
    gets an answer in the manner of whoever receives it.

    A receipt says what money has moved: `takes: {total: card}` that the cents in the field `total`
    were taken from what `card` names, with its last four digits at the end; `gives` is the same
    for money that came back. Whoever keeps that card or account enters it (`Service.settle`).
    """

    subject: str = Field(min_length=1)
    body: str = Field(min_length=1)
    asks: str | None = None
    takes: dict[str, str] = {}
    gives: dict[str, str] = {}

    @model_validator(mode="after")
    def _readable(self) -> Template:
        for _, how in _slots(f"{self.subject}\n{self.body}"):
            if how and how not in _WRITTEN:
                raise UnknownName("way to write a field", how, _WRITTEN)
        return self


class Templates(Declared):
    """The templates of a provider, by occasion: who sends them, and what stands below each.

    On a card's statement, the provider is called `merchant` (by default, as it signs its letters),
    and what it sells is of a `category`.
    """

    sender: str = Field(pattern=r"^[^<>]+ <[^<>@\s]+@[^<>@\s]+>$")
    footer: str = ""
    merchant: str = ""
    category: str = "other"
    posts: dict[str, Template]

    def fields(self, occasion: str) -> set[str]:
        """Return the fields that a post must give."""
        template = self.posts[occasion]
        text = f"{template.subject}\n{template.body}\n{self.footer}"
        moved = {**template.takes, **template.gives}
        return {name for name, _ in _slots(text)} - {"me"} | {*moved.keys(), *moved.values()}


@functools.cache
def written(provider: str) -> Path | None:
    """Return the file with a provider's templates, or None."""
    paths = [*SERVERS.glob(f"*/{provider}/posts.yaml"), *SERVERS.glob(f"*/{provider}.posts.yaml")]
    return paths[0] if paths else None


@functools.cache
def providers() -> tuple[str, ...]:
    """Return the services that post, without importing any."""
    folders = [path.parent.name for path in SERVERS.glob("*/*/posts.yaml")]
    files = [path.name.removesuffix(".posts.yaml") for path in SERVERS.glob("*/*.posts.yaml")]
    return tuple(sorted({*folders, *files}))


@functools.cache
def templates(provider: str) -> Templates:
    """Return a provider's templates. Raises `InputError`, which names the file."""
    path = written(provider)
    if path is None:
        raise InputError(f"{provider} has no templates: write posts.yaml into its folder")
    return validated(Templates, read(path), str(path.relative_to(SERVERS.parent)))


def checked(provider: str, occasion: str, data: Mapping[str, Any]) -> Templates:
    """Return a provider's templates if one is for the occasion and `data` has its fields.

    Raises `InputError`.
    """
    known = templates(provider)
    if occasion not in known.posts:
        raise UnknownName("post", occasion, known.posts, provider)
    for name in sorted(known.fields(occasion) - data.keys()):
        raise InputError(f"{provider} posts {occasion} without {name!r}{did_you_mean(name, data)}")
    return known


def letter(provider: str, occasion: str, data: Mapping[str, Any], **about: Any) -> Letter:
    """Return the letter that one of a provider's templates makes of its fields; see `made`."""
    return made(checked(provider, occasion, data), occasion, data, **about)


def made(
    known: Templates,
    occasion: str,
    data: Mapping[str, Any],
    *,
    to: str,
    at: int,
    about: str,
    person: Mapping[str, Any],
    id: str = "",
) -> Letter:
    """Return the letter that a template makes; `person` is the world's (`name`, `timezone`)."""
    zone = ZoneInfo(person["timezone"])
    template = known.posts[occasion]
    fields = {**data, "me": person["name"].partition(" ")[0]}
    text = template.body.rstrip("\n")
    if known.footer:
        text += f"\n\n{known.footer.rstrip()}"
    sender_name, sender = parseaddr(known.sender)
    return Letter(
        id=id,
        to=to,
        sender=sender,
        sender_name=sender_name,
        subject=_filled(template.subject, fields, zone).replace("\n", " "),
        body=_filled(text, fields, zone),
        at=at,
        about=about,
    )


def moved(provider: str, occasion: str, data: Mapping[str, Any], about: str) -> list[Movement]:
    """Return the money that has moved by what a letter says.

    What was paid with something that has no number, or not paid at all, is left out.
    """
    known = templates(provider)
    template = known.posts[occasion]
    merchant = known.merchant or parseaddr(known.sender)[0]
    movements: list[Movement] = []
    for sign, fields in ((-1, template.takes), (1, template.gives)):
        for field, account in fields.items():
            digits = re.search(r"[0-9]{4}$", data[account] or "")
            if data[field] and digits is not None:
                amount = sign * data[field]
                movements.append(Movement(digits[0], amount, merchant, known.category, about))
    return movements


@functools.cache
def receipts() -> tuple[str, ...]:
    """Return the letters that tell of money that moved, as `provider.occasion`."""
    found: list[str] = []
    for provider in providers():
        for occasion, template in templates(provider).posts.items():
            if template.takes or template.gives:
                found.append(f"{provider}.{occasion}")
    return tuple(found)


def _slots(text: str) -> Iterator[tuple[str, str]]:
    for _, name, how, _ in string.Formatter().parse(text):
        if name is not None:
            yield name, how or ""


def _filled(text: str, fields: Mapping[str, Any], zone: ZoneInfo) -> str:
    lines: list[str] = []
    for line in text.split("\n"):
        slots = list(_slots(line))
        if any(fields[name] in (None, "", []) for name, _ in slots):
            continue
        lists = {name: fields[name] for name, _ in slots if isinstance(fields[name], list)}
        count = max((len(listed) for listed in lists.values()), default=1)
        for number in range(count):
            of_line = {**fields, **{name: listed[number] for name, listed in lists.items()}}
            lines.append(_line(line, of_line, zone))
    # What was left out leaves no hole.
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip("\n")


def _line(line: str, fields: Mapping[str, Any], zone: ZoneInfo) -> str:
    made = ""
    for plain, name, how, _ in string.Formatter().parse(line):
        made += plain
        if name is not None:
            made += _WRITTEN[how](fields[name], zone) if how else str(fields[name])
    return made


def _dollars(value: int, zone: ZoneInfo) -> str:
    return f"${dollars(value):,.2f}"


def _day(value: str, zone: ZoneInfo) -> str:
    moment = local(parse_time(f"{value}T12:00:00Z" if len(value) == 10 else value), zone)
    return f"{moment:%A, %B} {moment.day}"


def _moment(value: str, zone: ZoneInfo) -> str:
    moment = local(parse_time(value), zone)
    return f"{moment:%A, %B} {moment.day} at {moment.hour % 12 or 12}:{moment:%M %p}"


_WRITTEN = {"dollars": _dollars, "day": _day, "moment": _moment}


# -- the outbox -----------------------------------------------------------------------------------
def post(
    provider: str,
    occasion: str,
    to: str,
    data: Json,
    *,
    about: str,
    now: int,
    due: int | None = None,
) -> Row:
    """Return the row of a post. Raises `InputError` if no template has its fields.

    Its id follows from what it says, to whom and when, so it is the same in every world in which
    the same thing happens.
    """
    checked(provider, occasion, data)
    return {
        "id": make_id("pst", provider, occasion, to, about, iso(now)),
        "provider": provider,
        "template": occasion,
        "recipient": to,
        "data": data,
        "about": about,
        "posted_at": iso(now),
        "due_at": iso(now if due is None else max(due, now)),
        "delivered_at": None,
    }


def put(world: World, row: Row) -> Row:
    """Put a post into the outbox and return its row there, which has an id of its own."""
    provider, occasion, to, about = (
        row[column] for column in ("provider", "template", "recipient", "about")
    )
    again = 0
    while world.get("outbox", row["id"]) is not None:
        again += 1
        id = make_id("pst", provider, occasion, to, about, row["posted_at"], again)
        row = {**row, "id": id}
    with world.caused_by(POST):
        world.insert("outbox", row)
    asks = templates(provider).posts[occasion].asks
    if asks is not None:
        arrives = parse_time(row["due_at"])
        future.expect(world, provider, asks, to, key=row["id"], about=about, now=arrives)
    return row


def recall(world: World, about: Any, template: str | None = None) -> None:
    """Take back what is still on its way about a row, or only what was made from one template."""
    for row in world.rows("outbox", "about=? AND due_at IS NOT NULL", about, order="rowid"):
        if template in (None, row["template"]):
            take_back(world, row)


def take_back(world: World, row: Row) -> None:
    """Delete a post that is still on its way; one that has arrived stays."""
    if row["due_at"] is not None:
        with world.caused_by(POST):
            world.delete("outbox", row["id"])


def send_again(world: World, rows: Iterable[Row]) -> None:
    """Put the posts of another world into the outbox, each due when it was due there."""
    for row in rows:
        if world.get("outbox", row["id"]) is None:
            due = row["due_at"] or row["delivered_at"]
            with world.caused_by(POST):
                world.insert("outbox", row | {"due_at": due, "delivered_at": None})
    world.commit()
