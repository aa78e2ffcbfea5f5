"""Fill Notion and Confluence: pages written by hand, notes of meetings that the calendars hold, logs, databases, outdated copies."""

from __future__ import annotations

from datetime import time, timedelta
from email.utils import parseaddr
from typing import Any

from scenarios.worlds.build import Builder
from scenarios.worlds.fill.calendar import held
from servers.kit.errors import InputError
from servers.kit.values import iso
from servers.kit.zones import local, local_moment
from servers.wiki.confluence._model import plain
from servers.wiki.notion import _fields as typed

HOUR = 3600


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write both wikis."""
    Notion(builder, seeds["notion"]).fill()
    Confluence(builder, seeds["confluence"]).fill()


class Wiki:
    """What both fills need: people, moments, and pages that come from patterns."""

    service = ""
    prefix = ""

    def __init__(self, builder: Builder, seeds: dict[str, Any]) -> None:
        self.builder = builder
        self.seeds = seeds
        self.people = builder.person["people"] | builder.seeds("calendar").get("colleagues", {})
        self.since = builder.moment(seeds["since"])

    def at(self, said: Any) -> int:
        """Return a moment, not before the wiki began and not after the start."""
        return max(self.since + HOUR, min(self.builder.moment(said), self.builder.start))

    def name(self, key: str | None) -> str:
        """Return a person's name, the world's own person for None."""
        if key is None:
            return self.builder.person["name"]
        return self.people[key]["name"] if key in self.people else parseaddr(key)[0] or key

    def email(self, key: str) -> str:
        """Return a person's address."""
        return self.people[key]["email"] if key in self.people else parseaddr(key)[1]

    def id(self, key: str) -> str:
        """Return the id of a page by its key."""
        return self.builder.id(self.prefix, key)

    def pages(self) -> list[dict[str, Any]]:
        """Return the seeds of all pages: by hand, and of meetings. Happenings name pages that must be there."""
        found = [dict(p) for p in self.seeds["pages"]]
        for pattern in self.seeds.get("notes", []):
            found += self._notes(pattern)
        titles = {p["title"] for p in found}
        for happening in self.builder.life:
            aspect = happening.get("wiki", {})
            if aspect.get("on") == self.service and aspect["page"] not in titles:
                raise InputError(
                    f"wiki.yaml: {self.service} has no page {aspect['page']!r}, which {happening['key']} names"
                )
        return found

    def _notes(self, said: dict[str, Any]) -> list[dict[str, Any]]:
        """Return a page for each time that a series of the calendar took place."""
        found = []
        for start in held(self.builder, said["calendar"], said["series"])[-said.get("last", 60) :]:
            day = local(start, self.builder.zone).date()
            chance = self.builder.chance(self.service, said["key"], day)
            lines = [
                chance.choice(choices)
                for choices in said["lines"]
                if chance.random() < said.get("fullness", 0.8)
            ]
            present = [p for p in said.get("people", []) if chance.random() < 0.85]
            words = {
                "n": str(chance.randrange(2, 9)),
                "who": self.name(chance.choice(present)).split()[0] if present else "nobody",
            }
            head = f"Present: {', '.join(['me' if said.get('me') else self.name(None), *map(self.name, present)])}."
            filled = [
                line.replace("{n}", words["n"]).replace("{who}", words["who"]) for line in lines
            ]
            title = said["title"].replace("{date}", day.isoformat())
            made = {
                "key": f"{said['key']}-{day}",
                "title": title,
                "at": iso(self._awake(start + chance.randrange(2, 30) * HOUR // 2)),
            }
            writers = [
                w
                for w in said.get("writers", [])
                if w in present or w not in said.get("people", [])
            ]
            by = chance.choice(writers) if writers else None
            found.append(
                {k: v for k, v in said.items() if k in ("ws", "space", "parent", "labels")}
                | made
                | {"by": by, "lines": [head, *filled]}
            )
        return found

    def _awake(self, moment: int) -> int:
        """Return a moment, or the morning after it where it lies in the night."""
        at = local(moment, self.builder.zone)
        return (
            moment
            if 7 <= at.hour < 23
            else local_moment(
                at.date() + timedelta(days=at.hour >= 23), time(8, at.minute), self.builder.zone
            )
        )


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
        for key, said in seeds["workspaces"].items():
            made = builder.id("nwk", key)
            row = {k: said[k] for k in ("name", "icon", "plan", "role")}
            builder.add(self.since, "notion_workspaces", id=made, **row)
            members = {"me": said["role"]} | said.get("members", {})
            for person, role in members.items():
                name, email = (
                    (who["name"], profile["email"])
                    if person == "me"
                    else (self.name(person), self.email(person))
                )
                row = {"workspace_id": made, "email": email, "name": name, "role": role}
                builder.add(
                    self.since, "notion_members", id=builder.id("nmb", f"{key}-{person}"), **row
                )
        for said in self.pages():
            self._page(said)
        for said in seeds["databases"]:
            self._database(said)
        for number, said in enumerate(seeds.get("comments", [])):
            at = self.at(said["at"])
            done = iso(self.at(said["resolved"])) if said.get("resolved") else None
            row = {
                "page_id": self.id(said["page"]),
                "author": self.name(said.get("by")),
                "body": said["body"],
                "created_at": iso(at),
            }
            builder.add(at, "notion_comments", id=builder.id("ncm", str(number)), **row)
            if done:
                builder.change(
                    done, "notion_comments", builder.id("ncm", str(number)), resolved_at=done
                )

    def _page(self, said: dict[str, Any]) -> None:
        builder = self.builder
        at = self.at(said["at"])
        made = self.id(said["key"])
        text = said.get("text", "").strip() or "\n".join(
            f"- {line}" for line in said.get("lines", [])
        )
        author = self.name(said.get("by"))
        row = {
            "workspace_id": builder.id("nwk", said["ws"]),
            "parent_id": self.id(said["parent"]) if said.get("parent") else None,
        }
        stamps = {
            "created_at": iso(at),
            "created_by": author,
            "updated_at": iso(at),
            "edited_by": author,
        }
        builder.add(at, "notion_pages", id=made, title=said["title"], content=text, **row, **stamps)
        for edit in sorted(said.get("edits", []), key=lambda e: self.at(e["at"])):
            when = max(self.at(edit["at"]), at)
            text = edit["text"].strip() if "text" in edit else f"{text}\n- {edit['add']}"
            changes = {
                "content": text,
                "updated_at": iso(when),
                "edited_by": self.name(edit.get("by")),
            }
            builder.change(when, "notion_pages", made, **changes)
        for number, (person, permission) in enumerate(said.get("shares", {}).items()):
            when = min(at + (1 + number) * HOUR, builder.start)
            email = builder.person["emails"]["personal"] if person == "me" else self.email(person)
            row = {
                "page_id": made,
                "email": email,
                "permission": permission,
                "shared_at": iso(when),
            }
            builder.add(
                when, "notion_shares", id=builder.id("nsh", f"{said['key']}-{person}"), **row
            )
        if said.get("trashed"):
            when = self.at(said["trashed"])
            builder.change(when, "notion_pages", made, trashed_at=iso(when))

    def _database(self, said: dict[str, Any]) -> None:
        builder = self.builder
        at = self.at(said["at"])
        kinds = {
            name: kind if isinstance(kind, list) else [kind]
            for name, kind in said["properties"].items()
        }
        columns: list[dict[str, Any]] = [
            {"name": name, "type": kind[0], "options": kind[1:]} for name, kind in kinds.items()
        ]
        row = {
            "workspace_id": builder.id("nwk", said["ws"]),
            "parent_id": self.id(said["parent"]) if said.get("parent") else None,
        }
        made = builder.id("ndb", said["key"])
        stamps = {"created_at": iso(at), "created_by": self.name(said.get("by"))}
        builder.add(
            at,
            "notion_databases",
            id=made,
            title=said["title"],
            properties=columns,
            **row,
            **stamps,
        )
        rows = said.get("rows", []) + self._drawn(said)
        for number, values in enumerate(rows, 1):
            *values, extra = values if isinstance(values[-1], dict) else [*values, {}]
            if len(values) > len(columns):
                raise InputError(
                    f"wiki.yaml: row {number} of database {said['key']} has more values than properties"
                )
            fields: dict[str, Any] = {c["name"]: typed.blank(c) for c in columns}
            fields |= {c["name"]: self._value(c, v) for c, v in zip(columns, values, strict=False)}
            when = self.at(
                extra.get(
                    "at", iso(min(at + number * said.get("pace", 26) * HOUR, builder.start - HOUR))
                )
            )
            past = [
                builder.moment(v, bare=time(20))
                for c, v in zip(columns, fields.values(), strict=True)
                if c["type"] == "date" and v
            ]
            when = max([when, *(p for p in past if p < builder.start)])
            entry = builder.id("nde", f"{said['key']}-{number}")
            author = self.name(extra.get("by", said.get("by")))
            stamps = {
                "created_at": iso(when),
                "created_by": author,
                "updated_at": iso(when),
                "edited_by": author,
            }
            builder.add(
                when,
                "notion_entries",
                id=entry,
                database_id=made,
                fields=fields,
                text=typed.as_text(fields),
                **stamps,
            )

    def _value(self, column: dict[str, Any], said: Any) -> Any:
        if said is None or said == "":
            return typed.blank(column)
        if isinstance(said, list):
            said = ", ".join(map(str, said))
        return typed.parse(column, str(said).lower() if isinstance(said, bool) else str(said))

    def _drawn(self, said: dict[str, Any]) -> list[list[Any]]:
        """Return rows for each time that a series took place; lists are chosen from, {day} is the date."""
        found = []
        for drawn in said.get("drawn", []):
            for start in held(self.builder, *drawn["series"]):
                day = local(start, self.builder.zone).date()
                chance = self.builder.chance("notion", said["key"], day)
                for _ in range(chance.randrange(1, drawn.get("most", 3) + 1)):
                    values = [
                        chance.choice(v)
                        if isinstance(v, list)
                        else str(v).replace("{day}", day.isoformat())
                        for v in drawn["values"]
                    ]
                    found.append([*values, {"at": iso(start + 3 * HOUR)}])
        return found


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
        for number, (key, said) in enumerate(seeds["spaces"].items()):
            at = self.since + number * HOUR
            row = {k: said[k] for k in ("name", "description", "type", "permission")}
            home = self.id(said["home"]) if said.get("home") else None
            builder.add(
                at,
                "confluence_spaces",
                id=builder.id("cfs", key),
                homepage_id=home,
                created_at=iso(at),
                **row,
            )
        homes = {key: said.get("home") for key, said in seeds["spaces"].items()}
        for said in self.pages():
            home = homes[said["space"]]
            self._page(said, said.get("parent") or (home if home != said["key"] else None))
        for number, said in enumerate(seeds.get("comments", [])):
            at = self.at(said["at"])
            body = _html(said["body"])
            row = {
                "content_id": self.id(said["page"]),
                "body": body,
                "text": plain(body),
                "created_at": iso(at),
                "created_by": self.name(said.get("by")),
            }
            builder.add(at, "confluence_comments", id=builder.id("cfc", str(number)), **row)

    def _page(self, said: dict[str, Any], above: str | None) -> None:
        builder = self.builder
        at = self.at(said["at"])
        made = self.id(said["key"])
        body = _html(said["body"]) if "body" in said else _list(said.get("lines", []))
        author = self.name(said.get("by"))
        kind = said.get("type", "page")
        row = {
            "space_id": builder.id("cfs", said["space"]),
            "type": kind,
            "parent_id": self.id(above) if above and kind == "page" else None,
        }
        stamps = {
            "created_at": iso(at),
            "created_by": author,
            "updated_at": iso(at),
            "edited_by": author,
        }
        row |= {
            "title": said["title"],
            "body": body,
            "labels": sorted(said.get("labels", [])),
            "restricted": said.get("restricted", False),
        }
        builder.add(
            at, "confluence_content", id=made, version_number=1, text=plain(body), **row, **stamps
        )
        now: dict[str, Any] = {"number": 1, "title": said["title"], "body": body, "message": None}
        now |= {"edited_at": iso(at), "edited_by": author}
        for edit in sorted(said.get("edits", []), key=lambda e: self.at(e["at"])):
            when = max(self.at(edit["at"]), at)
            old = {"id": builder.id("cfv", f"{said['key']}-{now['number']}"), "content_id": made}
            builder.add(when, "confluence_versions", **old, **now)
            body = _html(edit["body"]) if "body" in edit else body + _html(edit["add"])
            now = {
                "number": now["number"] + 1,
                "title": edit.get("title", now["title"]),
                "body": body,
                "message": edit.get("message"),
            }
            now |= {"edited_at": iso(when), "edited_by": self.name(edit.get("by"))}
            changes = {
                "version_number": now["number"],
                "version_message": now["message"],
                "title": now["title"],
                "body": body,
            }
            builder.change(
                when,
                "confluence_content",
                made,
                text=plain(body),
                updated_at=iso(when),
                edited_by=now["edited_by"],
                **changes,
            )
        for number, (person, permission) in enumerate(said.get("access", {}).items()):
            when = min(at + (1 + number) * HOUR, builder.start)
            email = builder.person["emails"]["work"] if person == "me" else self.email(person)
            granted = {
                "content_id": made,
                "email": email,
                "permission": permission,
                "granted_at": iso(when),
            }
            builder.add(
                when,
                "confluence_access",
                id=builder.id("cfa", f"{said['key']}-{person}"),
                **granted,
            )
        if said.get("trashed"):
            when = self.at(said["trashed"])
            builder.change(when, "confluence_content", made, trashed_at=iso(when))


def _html(text: str) -> str:
    """Return plain text as XHTML: a line is a paragraph, `# ` a heading, `- ` an item; text that begins with a tag stays."""
    text = text.strip()
    if text.startswith("<"):
        return text
    made = []
    items = []
    for line in [*text.replace("&", "&amp;").replace("<", "&lt;").split("\n"), ""]:
        line = line.strip()
        if line.startswith("- "):
            items.append(f"<li>{line[2:]}</li>")
            continue
        if items:
            made.append(f"<ul>{''.join(items)}</ul>")
            items = []
        if line:
            made.append(f"<h2>{line[2:]}</h2>" if line.startswith("# ") else f"<p>{line}</p>")
    return "".join(made)


def _list(lines: list[str]) -> str:
    return _html("\n".join(lines[:1] + [f"- {line}" for line in lines[1:]]))
