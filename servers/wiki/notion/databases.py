"""Databases and their entries."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.errors import did_you_mean
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.wiki._rules import PageTitle, allows
from servers.wiki.notion import _fields as typed
from servers.wiki.notion._model import (
    HOME,
    LEVELS,
    DatabaseId,
    WorkspaceId,
    find_page,
    level,
    me,
    trashed_at,
    url,
    workspace,
)
from servers.wiki.notion.pages import Parent

EntryId = Annotated[
    str, Field(description="entry_id, from list_database_entries or query_database.")
]
Columns = Annotated[
    list[typed.Property],
    Field(min_length=1, max_length=30, description="The properties of every entry."),
]
Values = Annotated[
    list[typed.Value],
    Field(
        min_length=1, max_length=30, description="Values by property; each property at most once."
    ),
]
Filters = Annotated[
    list[typed.Filter], Field(max_length=10, description="Conditions on the entries.")
]
Match = Annotated[
    Literal["all", "any"],
    Field(description="Whether all conditions must hold, or any one of them."),
]
SortBy = Annotated[
    str,
    Field(max_length=80, description="Property to sort by; defaults to the last edited first."),
]
Trash = Annotated[bool, Field(description="true returns the entries in the trash instead.")]
Falling = Annotated[bool, Field(description="true sorts in descending order.")]
STOCK = seeded("ndb", "stock")
BOOKS = Setup(
    "create_database",
    {
        "workspace_id": HOME,
        "title": "Books lent out",
        "properties": [
            {"name": "Book", "type": "title"},
            {"name": "To", "type": "person"},
            {"name": "Back", "type": "checkbox"},
        ],
    },
    "books",
)
SMALL = [{"property": "Book", "value": "Small Machines"}]
LENT = Setup("add_database_entry", {"database_id": "${books.database_id}", "fields": SMALL}, "lent")
ENTRY = {"entry_id": "${lent.entry_id}"}


class Databases(Service):
    """Typed tables."""

    @writes(example=BOOKS.args)
    def create_database(
        self,
        workspace_id: WorkspaceId,
        title: PageTitle,
        properties: Columns,
        parent_page_id: Parent | None = None,
    ) -> Json:
        """Create a database with typed properties, one of which is the title, and return it."""
        home = workspace(self, workspace_id)
        if parent_page_id is not None:
            parent = find_page(self, parent_page_id, "edit")
            if parent["workspace_id"] != home["id"]:
                self.fail(
                    "PARENT_IN_OTHER_WORKSPACE",
                    "The parent page is in another workspace.",
                    "Choose another parent_page_id.",
                )
        elif home["role"] == "guest":
            self.fail(
                "RESTRICTED_RESOURCE",
                f"You are a guest of '{home['name']}'.",
                "Give the parent_page_id of a page that is shared with you for editing.",
                workspace_id=workspace_id,
            )
        names = [p["name"].lower() for p in properties]
        titles = [p["name"] for p in properties if p["type"] == "title"]
        if len(set(names)) < len(names) or len(titles) != 1:
            self.fail(
                "INVALID_PROPERTIES",
                f"{len(properties)} properties, {len(titles)} of them titles, do not fit.",
                "Give each property a different name, and exactly one of them the type title.",
            )
        columns = []
        for prop in properties:
            options = list(dict.fromkeys(prop.get("options", [])))
            columns.append({"name": prop["name"], "type": prop["type"], "options": options})
        row = {
            "id": self.new_id("ndb"),
            "workspace_id": home["id"],
            "parent_id": parent_page_id,
            "title": title,
            "properties": columns,
            "created_at": self.time,
            "created_by": me(self)["name"],
        }
        return self._database_json(self.db.insert("notion_databases", row))

    @reads(example={"workspace_id": HOME})
    def list_databases(
        self, workspace_id: WorkspaceId, limit: Limit = 50, cursor: Cursor | None = None
    ) -> Json:
        """Return the databases that you can see in a workspace.

        Each has its properties and entry_count.
        """
        home = workspace(self, workspace_id)
        rows = self.db.rows("notion_databases", "workspace_id=?", home["id"], order="title, id")
        visible = [row for row in rows if self._may(row, "view")]
        return page(visible, "databases", limit, cursor, self._database_json)

    @reads(example={"database_id": STOCK})
    def get_database(self, database_id: DatabaseId) -> Json:
        """Return a database's properties (name, type, options) and entry_count.

        The entries are returned by query_database.
        """
        return self._database_json(self._find(database_id))

    @writes(example=LENT.args, setup=(BOOKS,))
    def add_database_entry(self, database_id: DatabaseId, fields: Values) -> Json:
        """Add an entry to a database and return its entry_id and fields.

        The title is required. Other properties can stay empty; an empty checkbox is false.
        """
        table = self._find(database_id, "edit")
        blank = {p["name"]: typed.blank(p) for p in table["properties"]}
        values = blank | self._values(table, fields)
        author = me(self)["name"]
        row = {
            "id": self.new_id("nde"),
            "database_id": table["id"],
            "fields": self._titled(table, values),
            "text": typed.as_text(values),
            "created_at": self.time,
            "created_by": author,
            "updated_at": self.time,
            "edited_by": author,
        }
        return _entry_json(self.db.insert("notion_entries", row))

    @reads(example={"entry_id": seeded("nde", "stock-1")})
    def get_database_entry(self, entry_id: EntryId) -> Json:
        """Return one entry with its typed fields, even if it is in the trash (in_trash)."""
        return _entry_json(self._find_entry(entry_id, "view", trash=True))

    @reads(example={"database_id": STOCK})
    def list_database_entries(
        self,
        database_id: DatabaseId,
        in_trash: Trash = False,
        limit: Limit = 50,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return all entries of a database in the order in which they were added."""
        table = self._find(database_id)
        where = "database_id=? AND trashed_at IS NULL"
        if in_trash:
            where = "database_id=? AND trashed_at IS NOT NULL"
        rows = self.db.rows("notion_entries", where, table["id"], order="created_at, rowid")
        return page(rows, "entries", limit, cursor, _entry_json)

    @reads(
        example={
            "database_id": STOCK,
            "filters": [{"property": "Left", "op": "less_than", "value": "5"}],
            "sort_by": "Left",
        },
    )
    def query_database(
        self,
        database_id: DatabaseId,
        filters: Filters | None = None,
        match: Match = "all",
        sort_by: SortBy | None = None,
        descending: Falling = False,
        limit: Limit = 50,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the entries of a database that meet conditions, sorted by a property.

        Empty values come last.
        """
        table = self._find(database_id)
        rows = self.db.rows(
            "notion_entries",
            "database_id=? AND trashed_at IS NULL",
            table["id"],
            order="updated_at DESC, rowid",
        )
        if filters:
            rows = self._filtered(table, rows, filters, match)
        if sort_by is not None:
            name = self._property(table, sort_by)["name"]
            full = [r for r in rows if typed.order(r["fields"].get(name))[0] == 0]
            empty = [r for r in rows if typed.order(r["fields"].get(name))[0] == 1]
            full.sort(key=lambda r: typed.order(r["fields"][name]), reverse=descending)
            rows = full + empty
        return page(rows, "entries", limit, cursor, _entry_json)

    def _filtered(
        self,
        table: Row,
        rows: list[Row],
        filters: list[typed.Filter],
        match: str,
    ) -> list[dict[str, Any]]:
        """Return the entries that meet all conditions, or any of them."""
        conditions = [
            (self._property(table, f["property"]), f["op"], f.get("value")) for f in filters
        ]
        enough = all if match == "all" else any
        hits = []
        try:
            for prop, op, value in conditions:
                # An invalid condition is refused even if there are no entries.
                typed.holds(prop, None, op, value)
            for row in rows:
                fields = row["fields"]
                met = [typed.holds(p, fields.get(p["name"]), op, v) for p, op, v in conditions]
                if enough(met):
                    hits.append(row)
        except ValueError as wrong:
            self.fail(
                "INVALID_FILTER",
                f"A filter is invalid: {wrong}.",
                "get_database shows the properties and their types.",
            )
        return hits

    @writes(
        example=ENTRY | {"fields": [{"property": "Back", "value": "true"}]},
        setup=(BOOKS, LENT),
        idempotent=True,
    )
    def update_database_entry(self, entry_id: EntryId, fields: Values) -> Json:
        """Change some fields of an entry; fields that are not given stay as they are."""
        row = self._find_entry(entry_id, "edit")
        table = self.db.get("notion_databases", row["database_id"]) or {}
        values = row["fields"] | self._values(table, fields)
        if values != row["fields"]:
            changes = {
                "updated_at": self.time,
                "fields": self._titled(table, values),
                "text": typed.as_text(values),
                "edited_by": me(self)["name"],
            }
            self.db.update("notion_entries", entry_id, **changes)
            row |= changes
        return _entry_json(row)

    @writes(example=ENTRY, setup=(BOOKS, LENT))
    def delete_database_entry(self, entry_id: EntryId) -> Json:
        """Move an entry to the trash.

        restore_database_entry restores it; list_database_entries with in_trash shows deleted
        entries.
        """
        self._find_entry(entry_id, "edit")
        self.db.update("notion_entries", entry_id, trashed_at=self.time)
        return {"entry_id": entry_id, "status": "deleted", "deleted_at": self.time}

    @writes(example=ENTRY, setup=(BOOKS, LENT, Setup("delete_database_entry", ENTRY)))
    def restore_database_entry(self, entry_id: EntryId) -> Json:
        """Restore an entry from the trash."""
        if self._find_entry(entry_id, "edit", trash=True)["trashed_at"] is None:
            self.fail(
                "NOT_IN_TRASH",
                "The entry is not in the trash.",
                "list_database_entries with in_trash shows the deleted entries.",
                entry_id=entry_id,
            )
        self.db.update("notion_entries", entry_id, trashed_at=None)
        return {"entry_id": entry_id, "status": "restored"}

    # -- finding and showing -----------------------------------------------------------------------
    def _may(self, table: Row, needs: str) -> bool:
        parent = self.db.get("notion_pages", table["parent_id"]) if table["parent_id"] else None
        if parent is None:
            return workspace(self, table["workspace_id"])["role"] != "guest"
        return trashed_at(self, parent) is None and allows(level(self, parent), needs, LEVELS)

    def _find(self, database_id: str, needs: str = "view") -> Row:
        row = self.db.get("notion_databases", database_id)
        if row is None or not self._may(row, "view"):
            self.fail(
                "DATABASE_NOT_FOUND",
                f"There is no database {database_id!r}.",
                "Use a database_id from list_databases.",
                database_id=database_id,
            )
        if not self._may(row, needs):
            self.fail(
                "RESTRICTED_RESOURCE",
                f"You do not have permission to {needs} '{row['title']}'.",
                "Ask the owner of the page that it is on.",
                database_id=database_id,
            )
        return row

    def _find_entry(self, entry_id: str, needs: str, *, trash: bool = False) -> Row:
        row = self.db.get("notion_entries", entry_id)
        table = self.db.get("notion_databases", row["database_id"]) if row is not None else None
        if row is None or table is None or not self._may(table, "view"):
            self.fail(
                "ENTRY_NOT_FOUND",
                f"There is no entry {entry_id!r}.",
                "Use an entry_id from list_database_entries or query_database.",
                entry_id=entry_id,
            )
        self._find(table["id"], needs)
        if row["trashed_at"] is not None and not trash:
            self.fail(
                "ENTRY_IN_TRASH",
                f"The entry was moved to the trash at {row['trashed_at']}.",
                "Restore it with restore_database_entry.",
                entry_id=entry_id,
            )
        return row

    def _property(self, table: Row, name: str) -> dict[str, Any]:
        known = {p["name"].lower(): p for p in table["properties"]}
        if name.strip().lower() not in known:
            names = {p["name"] for p in table["properties"]}
            self.fail(
                "PROPERTY_NOT_FOUND",
                f"'{table['title']}' has no property {name!r}{did_you_mean(name, names)}",
                "get_database shows its properties.",
                property=name,
            )
        return known[name.strip().lower()]

    def _values(self, table: Row, fields: list[typed.Value]) -> Json:
        given: dict[str, Any] = {}
        for field in fields:
            prop = self._property(table, field["property"])
            if prop["name"] in given:
                self.fail(
                    "DUPLICATE_PROPERTY",
                    f"'{prop['name']}' is given twice.",
                    "Give each property only once.",
                    property=prop["name"],
                )
            try:
                given[prop["name"]] = typed.parse(prop, field["value"])
            except ValueError as wrong:
                self.fail(
                    "INVALID_PROPERTY_VALUE",
                    f"'{prop['name']}': {wrong}.",
                    f"'{prop['name']}' is a {prop['type']}; see get_database.",
                    property=prop["name"],
                )
        return given

    def _titled(self, table: Row, values: dict[str, Any]) -> dict[str, Any]:
        title = typed.title(table)
        if not values.get(title):
            self.fail(
                "TITLE_REQUIRED",
                f"An entry of '{table['title']}' needs a title ('{title}').",
                f"Give a value for '{title}'.",
            )
        return values

    def _database_json(self, row: Row) -> Json:
        counted = self.db.sql(
            "SELECT count(*) FROM notion_entries WHERE database_id=? AND trashed_at IS NULL",
            row["id"],
        )
        return {
            "database_id": row["id"],
            "workspace_id": row["workspace_id"],
            "title": row["title"],
            "properties": row["properties"],
            "entry_count": counted[0][0],
            "parent_page_id": row["parent_id"],
            "created_at": row["created_at"],
            "url": url(row),
        }


def _entry_json(row: Row) -> Json:
    return {
        "entry_id": row["id"],
        "database_id": row["database_id"],
        "fields": row["fields"],
        "created_at": row["created_at"],
        "created_by": row["created_by"],
        "updated_at": row["updated_at"],
        "last_edited_by": row["edited_by"],
        "in_trash": row.get("trashed_at") is not None,
        "url": url(row),
    }
