"""Fill Notion and Confluence from seeds and from the calendars.

They get handwritten pages, notes of meetings, logs, databases and outdated copies.
"""

from __future__ import annotations

from datetime import time, timedelta
from email.utils import parseaddr
from typing import Any

from scenarios.worlds.build import Builder
from scenarios.worlds.fill.calendar.calendar import held
from servers.kit.errors import InputError
from servers.kit.values import iso
from servers.kit.zones import local, local_moment
from servers.wiki.confluence._model import plain, url_in
from servers.wiki.notion import _fields as typed
from servers.wiki.notion import _model as notion
from servers.wiki.notion.sharing import MAY

HOUR = 3600


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write both wikis."""
    Notion(builder, seeds["notion"]).fill()
    Confluence(builder, seeds["confluence"]).fill()


class Wiki:
    """What both wikis need: people, moments, and pages made from patterns."""

    service = ""
    prefix = ""

    def __init__(self, builder: Builder, seeds: dict[str, Any]) -> None:
        self.builder = builder
        self.seeds = seeds
        self.people = builder.person["people"] | builder.seeds("calendar").get("colleagues", {})
        self.since = builder.moment(seeds["since"])
        builder.stands(self.since, hours=12)

    def at(self, when: Any) -> int:
        """Return a moment that is neither before the wiki began nor after the start."""
        return max(self.since + HOUR, min(self.builder.moment(when), self.builder.start))

    def name(self, key: str | None) -> str:
        """Return a person's name; None means the person of this world."""
        if key is None:
            return self.builder.person["name"]
        return self.people[key]["name"] if key in self.people else parseaddr(key)[0] or key

    def email(self, key: str) -> str:
        """Return a person's address."""
        return self.people[key]["email"] if key in self.people else parseaddr(key)[1]

    def id(self, key: str) -> str:
        """Return the id of a page by its key."""
        return self.builder.id(self.prefix, key)

    def stamps(self, at: int, by: str | None) -> dict[str, str]:
        """Return the columns that say who wrote a row and when; nobody has edited it since."""
        author = self.name(by)
        return {
            "created_at": iso(at),
            "created_by": author,
            "updated_at": iso(at),
            "edited_by": author,
        }

    def pages(self) -> list[dict[str, Any]]:
        """Return the seeds of all pages, including notes of meetings.

        Raises `InputError` if a happening names a page that is not among them.
        """
        pages = [dict(p) for p in self.seeds["pages"]]
        for pattern in self.seeds.get("notes", []):
            pages += self._notes(pattern)
        titles = {p["title"] for p in pages}
        for happening in self.builder.life:
            aspect = happening.get("wiki", {})
            if aspect.get("on") == self.service and aspect["page"] not in titles:
                raise InputError(
                    f"wiki.yaml: {self.service} has no page {aspect['page']!r}, "
                    f"which {happening['key']} names"
                )
        return pages

    def _notes(self, seed: dict[str, Any]) -> list[dict[str, Any]]:
        """Return a page for each time that a calendar series took place."""
        times = held(self.builder, seed["calendar"], seed["series"])
        return [self._note(seed, start) for start in times[-seed.get("last", 60) :]]

    def _note(self, seed: dict[str, Any], start: int) -> dict[str, Any]:
        """Return the page of one meeting. The order of the draws determines every row."""
        day = local(start, self.builder.zone).date()
        chance = self.builder.chance(self.service, seed["key"], day)
        lines = []
        for choices in seed["lines"]:
            if chance.random() < seed.get("fullness", 0.8):
                lines.append(chance.choice(choices))
        people = seed.get("people", [])
        present = [who for who in people if chance.random() < 0.85]
        number = str(chance.randrange(2, 9))
        speaker = self.name(chance.choice(present)).split()[0] if present else "nobody"
        lines = [line.replace("{n}", number).replace("{who}", speaker) for line in lines]
        me = "me" if seed.get("me") else self.name(None)
        head = f"Present: {', '.join([me, *map(self.name, present)])}."
        written_at = self._awake(start + chance.randrange(2, 30) * HOUR // 2)
        absent = set(people) - set(present)
        writers = [who for who in seed.get("writers", []) if who not in absent]
        page = {k: v for k, v in seed.items() if k in ("ws", "space", "parent", "labels")}
        return page | {
            "key": f"{seed['key']}-{day}",
            "title": seed["title"].replace("{date}", day.isoformat()),
            "at": iso(written_at),
            "by": chance.choice(writers) if writers else None,
            "lines": [head, *lines],
        }

    def _awake(self, moment: int) -> int:
        """Return a moment, or the next morning if it is at night."""
        at = local(moment, self.builder.zone)
        if 7 <= at.hour < 23:
            return moment
        day = at.date() + timedelta(days=1) if at.hour >= 23 else at.date()
        return local_moment(day, time(8, at.minute), self.builder.zone)


class Notion(Wiki):
    """Writes Notion's rows."""

    service = "notion"
    prefix = "npg"

    def fill(self) -> None:
        """Write everything."""
        builder = self.builder
        seeds = self.seeds
        who = self.builder.person
        profile = {"name": who["name"], "email": who["emails"]["personal"], "plan": seeds["plan"]}
        builder.add(self.since, "notion_profile", id=builder.id("nus", "me"), **profile)
        for key, seed in seeds["workspaces"].items():
            workspace = builder.id("nwk", key)
            row = {k: seed[k] for k in ("name", "icon", "plan", "role")}
            builder.add(self.since, "notion_workspaces", id=workspace, **row)
            members = {"me": seed["role"]} | seed.get("members", {})
            for person, role in members.items():
                builder.add(
                    self.since,
                    "notion_members",
                    id=builder.id("nmb", f"{key}-{person}"),
                    workspace_id=workspace,
                    email=profile["email"] if person == "me" else self.email(person),
                    name=who["name"] if person == "me" else self.name(person),
                    role=role,
                )
        titles = {}
        for seed in self.pages():
            self._page(seed)
            titles[seed["key"]] = seed["title"]
        for seed in seeds["databases"]:
            self._database(seed)
        for number, seed in enumerate(seeds.get("comments", [])):
            at = self.at(seed["at"])
            comment = builder.id("ncm", str(number))
            row = {
                "page_id": self.id(seed["page"]),
                "author": self.name(seed.get("by")),
                "body": seed["body"],
                "created_at": iso(at),
            }
            builder.add(at, "notion_comments", id=comment, **row)
            if seed.get("by"):
                page = {"id": row["page_id"], "title": titles[seed["page"]]}
                said = {"who": row["author"], "page": page["title"], "link": notion.url(page)}
                said["body"] = row["body"]
                to = profile["email"]
                builder.posted(at, "notion", "commented", to, said, about=comment)
            if seed.get("resolved"):
                resolved_at = iso(self.at(seed["resolved"]))
                builder.change(resolved_at, "notion_comments", comment, resolved_at=resolved_at)

    def _page(self, seed: dict[str, Any]) -> None:
        builder = self.builder
        at = self.at(seed["at"])
        page = self.id(seed["key"])
        text = seed.get("text", "").strip()
        if not text:
            text = "\n".join(f"- {line}" for line in seed.get("lines", []))
        builder.add(
            at,
            "notion_pages",
            id=page,
            title=seed["title"],
            content=text,
            workspace_id=builder.id("nwk", seed["ws"]),
            parent_id=self.id(seed["parent"]) if seed.get("parent") else None,
            **self.stamps(at, seed.get("by")),
        )
        for edit in sorted(seed.get("edits", []), key=lambda e: self.at(e["at"])):
            edited_at = max(self.at(edit["at"]), at)
            text = edit["text"].strip() if "text" in edit else f"{text}\n- {edit['add']}"
            changes = {
                "content": text,
                "updated_at": iso(edited_at),
                "edited_by": self.name(edit.get("by")),
            }
            builder.change(edited_at, "notion_pages", page, **changes)
        for number, (person, permission) in enumerate(seed.get("shares", {}).items()):
            shared_at = min(at + (1 + number) * HOUR, builder.start)
            email = builder.person["emails"]["personal"] if person == "me" else self.email(person)
            builder.add(
                shared_at,
                "notion_shares",
                id=builder.id("nsh", f"{seed['key']}-{person}"),
                page_id=page,
                email=email,
                permission=permission,
                shared_at=iso(shared_at),
            )
            if person == "me":
                said = {
                    "who": self.name(seed.get("by")),
                    "page": seed["title"],
                    "may": MAY[permission],
                    "link": notion.url({"id": page, "title": seed["title"]}),
                }
                about = builder.id("nsh", f"{seed['key']}-{person}")
                builder.posted(shared_at, "notion", "shared", email, said, about=about)
        if seed.get("trashed"):
            trashed_at = self.at(seed["trashed"])
            builder.change(trashed_at, "notion_pages", page, trashed_at=iso(trashed_at))

    def _database(self, seed: dict[str, Any]) -> None:
        builder = self.builder
        at = self.at(seed["at"])
        columns: list[dict[str, Any]] = []
        for name, kind in seed["properties"].items():
            # A kind can be a list of the type and its options.
            kind, *options = kind if isinstance(kind, list) else [kind]
            columns.append({"name": name, "type": kind, "options": options})
        database = builder.id("ndb", seed["key"])
        builder.add(
            at,
            "notion_databases",
            id=database,
            title=seed["title"],
            properties=columns,
            workspace_id=builder.id("nwk", seed["ws"]),
            parent_id=self.id(seed["parent"]) if seed.get("parent") else None,
            created_at=iso(at),
            created_by=self.name(seed.get("by")),
        )
        rows = seed.get("rows", []) + self._drawn(seed)
        for number, values in enumerate(rows, 1):
            # The last value can be a mapping that says when, and by whom, the row was added.
            *values, extra = values if isinstance(values[-1], dict) else [*values, {}]
            if len(values) > len(columns):
                raise InputError(
                    f"wiki.yaml: row {number} of database {seed['key']} "
                    "has more values than properties"
                )
            fields: dict[str, Any] = {c["name"]: typed.blank(c) for c in columns}
            for column, value in zip(columns, values, strict=False):
                fields[column["name"]] = self._value(column, value)
            paced = min(at + number * seed.get("pace", 26) * HOUR, builder.start - HOUR)
            added_at = self._after_dates(self.at(extra.get("at", iso(paced))), columns, fields)
            builder.add(
                added_at,
                "notion_entries",
                id=builder.id("nde", f"{seed['key']}-{number}"),
                database_id=database,
                fields=fields,
                text=typed.as_text(fields),
                **self.stamps(added_at, extra.get("by", seed.get("by"))),
            )

    def _after_dates(self, at: int, columns: list[dict[str, Any]], fields: dict[str, Any]) -> int:
        """Return a moment that is not before the evening of any past date in an entry."""
        for column in columns:
            value = fields[column["name"]]
            if column["type"] == "date" and value:
                evening = self.builder.moment(value, bare=time(20))
                if evening < self.builder.start:
                    at = max(at, evening)
        return at

    def _value(self, column: dict[str, Any], value: Any) -> Any:
        if value is None or value == "":
            return typed.blank(column)
        if isinstance(value, list):
            value = ", ".join(map(str, value))
        return typed.parse(column, str(value).lower() if isinstance(value, bool) else str(value))

    def _drawn(self, seed: dict[str, Any]) -> list[list[Any]]:
        """Return some rows for each time that a series took place.

        A value is chosen from a list, or is a text in which {day} becomes the date.
        """
        rows = []
        for drawn in seed.get("drawn", []):
            for start in held(self.builder, *drawn["series"]):
                day = local(start, self.builder.zone).date()
                chance = self.builder.chance("notion", seed["key"], day)
                for _ in range(chance.randrange(1, drawn.get("most", 3) + 1)):
                    row: list[Any] = []
                    for value in drawn["values"]:
                        if isinstance(value, list):
                            row.append(chance.choice(value))
                        else:
                            row.append(str(value).replace("{day}", day.isoformat()))
                    rows.append([*row, {"at": iso(start + 3 * HOUR)}])
        return rows


class Confluence(Wiki):
    """Writes Confluence's rows."""

    service = "confluence"
    prefix = "cfp"

    def fill(self) -> None:
        """Write everything."""
        builder = self.builder
        seeds = self.seeds
        who = self.builder.person
        profile = {
            "display_name": who["name"],
            "email": who["emails"]["work"],
            "job_role": seeds["role"],
        }
        builder.add(self.since, "confluence_profile", id=builder.id("cfu", "me"), **profile)
        for number, (key, seed) in enumerate(seeds["spaces"].items()):
            at = self.since + number * HOUR
            row = {k: seed[k] for k in ("name", "description", "type", "permission")}
            builder.add(
                at,
                "confluence_spaces",
                id=builder.id("cfs", key),
                homepage_id=self.id(seed["home"]) if seed.get("home") else None,
                created_at=iso(at),
                **row,
            )
        homes = {key: seed.get("home") for key, seed in seeds["spaces"].items()}
        pages = {}
        for seed in self.pages():
            pages[seed["key"]] = seed
            home = homes[seed["space"]]
            self._page(seed, seed.get("parent") or (home if home != seed["key"] else None))
        for number, seed in enumerate(seeds.get("comments", [])):
            at = self.at(seed["at"])
            body = _html(seed["body"])
            row = {
                "content_id": self.id(seed["page"]),
                "body": body,
                "text": plain(body),
                "created_at": iso(at),
                "created_by": self.name(seed.get("by")),
            }
            comment = builder.id("cfc", str(number))
            builder.add(at, "confluence_comments", id=comment, **row)
            if seed.get("by"):
                email = builder.person["emails"]["work"]
                on = pages[seed["page"]]
                place = {"id": row["content_id"], "type": on.get("type", "page")}
                place["space_id"] = builder.id("cfs", on["space"])
                said = {
                    "who": row["created_by"],
                    "page": on["title"],
                    "body": " ".join(row["text"].split()),
                    "link": url_in(email, place),
                }
                builder.posted(at, "confluence", "commented", email, said, about=comment)

    def _page(self, seed: dict[str, Any], above: str | None) -> None:
        builder = self.builder
        at = self.at(seed["at"])
        content = self.id(seed["key"])
        body = _html(seed["body"]) if "body" in seed else _list(seed.get("lines", []))
        kind = seed.get("type", "page")
        builder.add(
            at,
            "confluence_content",
            id=content,
            version_number=1,
            text=plain(body),
            space_id=builder.id("cfs", seed["space"]),
            type=kind,
            parent_id=self.id(above) if above and kind == "page" else None,
            title=seed["title"],
            body=body,
            labels=sorted(seed.get("labels", [])),
            restricted=seed.get("restricted", False),
            **self.stamps(at, seed.get("by")),
        )
        self._edits(seed, content, body, at)
        for number, (person, permission) in enumerate(seed.get("access", {}).items()):
            granted_at = min(at + (1 + number) * HOUR, builder.start)
            email = builder.person["emails"]["work"] if person == "me" else self.email(person)
            builder.add(
                granted_at,
                "confluence_access",
                id=builder.id("cfa", f"{seed['key']}-{person}"),
                content_id=content,
                email=email,
                permission=permission,
                granted_at=iso(granted_at),
            )
        if seed.get("trashed"):
            trashed_at = self.at(seed["trashed"])
            builder.change(trashed_at, "confluence_content", content, trashed_at=iso(trashed_at))

    def _edits(self, seed: dict[str, Any], content: str, body: str, at: int) -> None:
        """Write the edits of content that was published at a moment, with the older versions."""
        version: dict[str, Any] = {
            "number": 1,
            "title": seed["title"],
            "body": body,
            "message": None,
            "edited_at": iso(at),
            "edited_by": self.name(seed.get("by")),
        }
        for edit in sorted(seed.get("edits", []), key=lambda e: self.at(e["at"])):
            edited_at = max(self.at(edit["at"]), at)
            version_id = self.builder.id("cfv", f"{seed['key']}-{version['number']}")
            self.builder.add(
                edited_at, "confluence_versions", id=version_id, content_id=content, **version
            )
            body = _html(edit["body"]) if "body" in edit else body + _html(edit["add"])
            version = {
                "number": version["number"] + 1,
                "title": edit.get("title", version["title"]),
                "body": body,
                "message": edit.get("message"),
                "edited_at": iso(edited_at),
                "edited_by": self.name(edit.get("by")),
            }
            self.builder.change(
                edited_at,
                "confluence_content",
                content,
                text=plain(body),
                updated_at=version["edited_at"],
                edited_by=version["edited_by"],
                version_number=version["number"],
                version_message=version["message"],
                title=version["title"],
                body=body,
            )


def _html(text: str) -> str:
    """Return plain text as XHTML; text that begins with a tag stays as it is.

    A line becomes a paragraph. A line that begins with `# ` becomes a heading, with `- ` a list
    item.
    """
    text = text.strip()
    if text.startswith("<"):
        return text
    blocks = []
    items = []
    # The empty line at the end closes a list.
    for line in [*text.replace("&", "&amp;").replace("<", "&lt;").split("\n"), ""]:
        line = line.strip()
        if line.startswith("- "):
            items.append(f"<li>{line[2:]}</li>")
            continue
        if items:
            blocks.append(f"<ul>{''.join(items)}</ul>")
            items = []
        if line:
            blocks.append(f"<h2>{line[2:]}</h2>" if line.startswith("# ") else f"<p>{line}</p>")
    return "".join(blocks)


def _list(lines: list[str]) -> str:
    return _html("\n".join(lines[:1] + [f"- {line}" for line in lines[1:]]))
