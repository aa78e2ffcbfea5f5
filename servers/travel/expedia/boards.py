"""Trip boards, and the activities that can be added to them."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from servers.kit import search
from servers.kit.control import seeded
from servers.kit.fields import Email
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Date, Limit, dollars, page
from servers.travel import _rules as rules
from servers.travel import _stays as stays
from servers.travel.expedia._model import WORDS, hotel_json


def _interval(text: str) -> str:
    match = re.fullmatch(r"(\d{4}-\d{2}-\d{2})(?:/| to )(\d{4}-\d{2}-\d{2})", text.strip())
    if not match:
        raise ValueError("must be two dates such as 2026-04-11/2026-04-12")
    first, last = (date.fromisoformat(part) for part in match.groups())
    if last < first:
        raise ValueError("must not end before it begins")
    return f"{first}/{last}"


TravelDates = Annotated[
    str,
    Field(description="First and last day, e.g. 2026-04-11/2026-04-12."),
    AfterValidator(_interval),
]
BoardName = Annotated[
    str, Field(min_length=1, max_length=80, pattern=r"\S", description="Name of the board.")
]
Destination = Annotated[
    str, Field(min_length=2, max_length=80, description="City with its state, e.g. 'Seattle, WA'.")
]
BoardId = Annotated[str, Field(description="board_id from list_trip_boards.")]
ItemType = Annotated[Literal["property", "activity"], Field(description="Type of the item.")]
ItemId = Annotated[str, Field(description="property_id of a hotel or activity_id of an activity.")]
Notes = Annotated[str, Field(min_length=1, max_length=300, description="A note on the item.")]
People = Annotated[
    list[Email],
    Field(min_length=1, max_length=20, description="Email addresses to share the board with."),
]
ActivityKind = Annotated[
    Literal["tour", "museum", "outdoors", "food", "show", "family"],
    Field(description="Kind of activity."),
]
Query = Annotated[
    str,
    Field(min_length=1, max_length=80, description="Words of the activity's name; all must match."),
]
Day = Annotated[Date, Field(description="Only activities offered on this date.")]
ActivityId = Annotated[str, Field(description="activity_id from search_activities.")]

BOARD = Setup(
    "create_trip_board",
    {
        "name": "Fall in Seattle",
        "destination": "Seattle, WA",
        "travel_dates": "2026-10-02/2026-10-05",
    },
    "board",
)
HOTEL = seeded("xpr", "wabash_house")
ITEM = Setup(
    "add_to_trip_board",
    {"board_id": "${board.board_id}", "item_type": "property", "item_id": HOTEL},
)
WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Boards(Service):
    """Ideas for trips, saved and shared."""

    @reads(example={"city": "Seattle, WA"})
    def search_activities(
        self,
        city: rules.CityName,
        query: Query | None = None,
        kind: ActivityKind | None = None,
        on_date: Day | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return activities in a city, the best matches first, then the best rated.

        Each has its price per person, its length in hours and the weekdays on which it runs.
        """
        city_ids = [town["id"] for town in rules.cities(self, city)]
        rows = self._activities(city_ids)
        if kind is not None:
            rows = [r for r in rows if r["kind"] == kind]
        if on_date is not None:
            weekday = WEEK[date.fromisoformat(on_date).weekday()]
            rows = [r for r in rows if weekday in r["weekdays"]]
        if query is not None:
            marks = ",".join("?" * len(city_ids))
            source = search.Source("expedia_activities", f"city_id IN ({marks})", tuple(city_ids))
            rows = search.in_order(rows, search.scores(self.db, query, source))
        return page(rows, "activities", limit, cursor, self._activity)

    @reads(example={"activity_id": seeded("xac", "seattle-0")})
    def get_activity(self, activity_id: ActivityId) -> Json:
        """Return one activity: name, city, kind, length in hours, price, rating and weekdays."""
        row = self.db.get("expedia_activities", activity_id)
        if row is None:
            message = f"There is no activity {activity_id!r}."
            hint = "See search_activities."
            self.fail("ACTIVITY_NOT_FOUND", message, hint, activity_id=activity_id)
        return self._activity(row)

    def _activities(self, city_ids: list[str]) -> list[Row]:
        marks = ",".join("?" * len(city_ids))
        return self.db.rows(
            "expedia_activities", f"city_id IN ({marks})", *city_ids, order="rating DESC, id"
        )

    def _activity(self, row: Row) -> Json:
        town = self.db.get("travel_cities", row["city_id"]) or {}
        return {
            "activity_id": row["id"],
            "name": row["name"],
            "kind": row["kind"],
            "city": town["name"],
            "state": town["state"],
            "hours": row["hours"],
            "price_per_person": dollars(row["price"]),
            "rating": row["rating"],
            "weekdays": row["weekdays"].split(),
        }

    @writes(example=BOARD.args)
    def create_trip_board(
        self, name: BoardName, destination: Destination, travel_dates: TravelDates | None = None
    ) -> Json:
        """Create an empty board for a trip and return it. Board names are unique."""
        towns = rules.cities(self, destination)
        if len(towns) > 1:
            names = [f"{t['name']}, {t['state']}" for t in towns]
            message = f"{destination!r} could be {' or '.join(names)}."
            self.fail("AMBIGUOUS_DESTINATION", message, "Add the state.", candidates=names)
        boards = self.db.rows("expedia_boards", order="id")
        same = next((b for b in boards if b["name"].lower() == name.lower()), None)
        if same is not None:
            message = f"A board named {name!r} already exists."
            hint = "Use that board, or choose another name."
            self.fail("BOARD_EXISTS", message, hint, board_id=same["id"])
        begins, ends = travel_dates.split("/") if travel_dates is not None else (None, None)
        row = {
            "id": self.new_id("xbd"),
            "name": name,
            "city_id": towns[0]["id"],
            "begins": begins,
            "ends": ends,
            "created_at": self.time,
        }
        return self._board(self.db.insert("expedia_boards", row))

    @reads()
    def list_trip_boards(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return trip boards, newest first, with destination, dates and number of items."""
        rows = self.db.rows("expedia_boards", order="created_at DESC, id")
        return page(rows, "boards", limit, cursor, self._counted)

    @reads(example={"board_id": seeded("xbd", "first")})
    def get_trip_board(self, board_id: BoardId) -> Json:
        """Return a board with its hotels, activities and notes, and the people who share it."""
        return self._board(self._find(board_id))

    @writes(example=ITEM.args | {"notes": "Close to the workshop"}, setup=(BOARD,))
    def add_to_trip_board(
        self, board_id: BoardId, item_type: ItemType, item_id: ItemId, notes: Notes | None = None
    ) -> Json:
        """Add a hotel or an activity to a board; each can be on it only once."""
        board = self._find(board_id)
        self._thing(item_type, item_id)
        if any(i["item_id"] == item_id for i in self._items(board_id)):
            message = f"{item_id} is already on {board['name']!r}."
            self.fail("ALREADY_ON_BOARD", message, "See get_trip_board.", item_id=item_id)
        row = {
            "id": self.new_id("xbi"),
            "board_id": board_id,
            "item_type": item_type,
            "item_id": item_id,
            "notes": notes,
            "added_at": self.time,
        }
        item = self._item(self.db.insert("expedia_board_items", row))
        return item | {"board_id": board_id, "status": "added"}

    @writes(
        example={"board_id": "${board.board_id}", "item_id": HOTEL},
        setup=(BOARD, ITEM),
        idempotent=True,
    )
    def remove_from_trip_board(self, board_id: BoardId, item_id: ItemId) -> Json:
        """Remove a hotel or an activity from a board."""
        board = self._find(board_id)
        row = next((i for i in self._items(board_id) if i["item_id"] == item_id), None)
        if row is None:
            message = f"{item_id!r} is not on {board['name']!r}."
            self.fail("NOT_ON_BOARD", message, "See get_trip_board.", item_id=item_id)
        self.db.delete("expedia_board_items", row["id"])
        return {"board_id": board_id, "item_id": item_id, "status": "removed"}

    @writes(
        example={"board_id": "${board.board_id}", "emails": ["jordan.park@gmail.com"]},
        setup=(BOARD,),
        idempotent=True,
    )
    def share_trip_board(self, board_id: BoardId, emails: People) -> Json:
        """Share a board with people by email, and return everyone it is shared with.

        People who already have the board are not affected.
        """
        board = self._find(board_id)
        account = stays.account(self, WORDS)
        own = account["email"].lower()
        shared = self._shares(board_id)
        for email in dict.fromkeys(e.lower() for e in emails):
            if email == own:
                message = f"{email} is this account's own address."
                self.fail("CANNOT_SHARE_WITH_SELF", message, "Share it with other people.")
            if email in shared:
                continue
            row = {
                "id": self.new_id("xsh"),
                "board_id": board_id,
                "email": email,
                "shared_at": self.time,
            }
            self.db.insert("expedia_board_shares", row)
            self.post("board_shared", email, self._said(board, account), about=row["id"])
        return {"board_id": board_id, "shared_with": self._shares(board_id), "status": "shared"}

    def _said(self, board: Row, account: Row) -> Json:
        town = self.db.get("travel_cities", board["city_id"]) or {}
        return {
            "who": account["name"],
            "board": board["name"],
            "destination": f"{town['name']}, {town['state']}",
            "begins": board["begins"],
            "ends": board["ends"],
            "things": ", ".join(self._item(item)["name"] for item in self._items(board["id"])),
        }

    def _find(self, board_id: str) -> Row:
        row = self.db.get("expedia_boards", board_id)
        if row is None:
            message = f"There is no trip board {board_id!r}."
            self.fail("BOARD_NOT_FOUND", message, "See list_trip_boards.", board_id=board_id)
        return row

    def _items(self, board_id: str) -> list[Row]:
        return self.db.rows("expedia_board_items", "board_id=?", board_id, order="added_at, rowid")

    def _shares(self, board_id: str) -> list[str]:
        rows = self.db.rows("expedia_board_shares", "board_id=?", board_id, order="email")
        return [row["email"] for row in rows]

    def _thing(self, item_type: str, item_id: str) -> Json:
        if item_type == "activity":
            return self.get_activity(item_id)
        return hotel_json(rules.find_property(self, WORDS, item_id))

    def _item(self, row: Row) -> Json:
        thing = self._thing(row["item_type"], row["item_id"])
        return {
            "board_item_id": row["id"],
            "item_type": row["item_type"],
            "item_id": row["item_id"],
            "name": thing.get("hotel_name") or thing["name"],
            "notes": row["notes"],
            "added_at": row["added_at"],
        }

    def _head(self, row: Row) -> Json:
        town = self.db.get("travel_cities", row["city_id"]) or {}
        dates = None if row["begins"] is None else f"{row['begins']}/{row['ends']}"
        return {
            "board_id": row["id"],
            "name": row["name"],
            "destination": f"{town['name']}, {town['state']}",
            "travel_dates": dates,
            "created_at": row["created_at"],
        }

    def _counted(self, row: Row) -> dict[str, Any]:
        return self._head(row) | {"item_count": len(self._items(row["id"]))}

    def _board(self, row: Row) -> dict[str, Any]:
        items = [self._item(i) for i in self._items(row["id"])]
        return self._head(row) | {"items": items, "shared_with": self._shares(row["id"])}
