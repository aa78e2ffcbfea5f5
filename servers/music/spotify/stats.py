"""What the user listens to most, and what they played recently."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.kit.listing import Since, Until
from servers.kit.service import Service, reads
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page
from servers.music import _rules as rules
from servers.music._stats import Heard, played
from servers.music.spotify._model import DECK, WORDS, TimeRange, me, track_json

DAYS = {"short_term": 28, "medium_term": 182, "long_term": 365}


class Stats(Service):
    """Top lists and listening statistics."""

    def _range(self, time_range: str) -> Heard:
        return Heard(self, DECK, WORDS, iso(self.now - DAYS[time_range] * 86_400))

    @reads(example={"item_type": "artists"})
    def get_top_items(
        self,
        item_type: Annotated[Literal["tracks", "artists"], Field(description="What to rank.")],
        time_range: TimeRange = "medium_term",
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the tracks or artists you played most in a recent period.

        Each item has its `plays` and its `rank`, from 1.
        """
        heard = self._range(time_range)
        if item_type == "tracks":
            items = [track for track in heard.tracks if track["plays"]]
        else:
            items = self._artists(heard)
        ranked = [item | {"rank": rank} for rank, item in enumerate(items, 1)]

        def shown(item: Row) -> Json:
            if item_type == "artists":
                return item
            return track_json(self, item) | {"plays": item["plays"], "rank": item["rank"]}

        listed = page(ranked, "items", limit, cursor, shown)
        return {"item_type": item_type, "time_range": time_range, **listed}

    @reads(example={"time_range": "short_term"})
    def get_listening_stats(self, time_range: TimeRange = "medium_term") -> Json:
        """Return your top five artists, tracks and genres in a recent period.

        It also has the minutes heard and the number of different tracks. Podcasts do not count.
        """
        heard = self._range(time_range)
        return {
            "time_range": time_range,
            "top_artists": self._artists(heard)[:5],
            "top_tracks": [
                {"track_id": t["id"], "name": t["title"], "plays": t["plays"]}
                for t in heard.tracks[:5]
                if t["plays"]
            ],
            "top_genres": heard.top_genres(5),
            "total_minutes": heard.ms // 60_000,
            "different_tracks": len(heard.tracks),
        }

    @reads(example={"limit": 10})
    def get_recently_played(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return recently played tracks, the latest first; a play is at least half a minute.

        An entry may cover several plays: `plays` counts them, `played_at` is the last one.
        """
        rows = played(self, DECK, WORDS, me(self)["timezone"], since, until)

        def shown(row: Row) -> Json:
            track = rules.find_track(self, WORDS, row["track_id"])
            return track_json(self, track) | {"played_at": row["at"], "plays": row["plays"]}

        return page(rows, "items", limit, cursor, shown)

    def _artists(self, heard: Heard) -> list[Json]:
        return [
            {"artist_id": artist.id, "name": artist.name, "plays": artist.plays}
            for artist in heard.by("artist_id", "artist")
        ]
