"""Podcasts: shows, their episodes, and how far those have been played."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.kit import search
from servers.kit.control import seeded
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.music import _rules as rules
from servers.music.spotify._model import WORDS, episode_json

ShowId = Annotated[
    str, Field(description="show_id of a podcast, from search_shows or get_saved_shows.")
]
Words = Annotated[
    str,
    Field(min_length=1, max_length=100, description="Words to search for; all of them must match."),
]

PUBLISHED = "show_id=? AND released<=?"


class Podcasts(Service):
    """Shows and episodes."""

    @reads(example={"query": "design"})
    def search_shows(self, query: Words, limit: Limit = 10, cursor: Cursor | None = None) -> Json:
        """Search podcasts by words from name, publisher and description."""
        shows = search.find(self.db, "spotify_shows", query, order="name, id")
        return page(shows, "shows", limit, cursor, self._show)

    @reads(example={"query": "naming things"})
    def search_episodes(
        self,
        query: Words,
        show_id: ShowId | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Search published episodes by words from their name, in all shows or one.

        The best matches come first, and of equal ones the newest.
        """
        if show_id is not None:
            self._find(show_id)
        rows = search.find(
            self.db, "spotify_episodes", query, order="released DESC, id DESC", grain=rules.ALIKE
        )
        episodes = [e for e in rows if e["released"] <= self.time]
        if show_id is not None:
            episodes = [e for e in episodes if e["show_id"] == show_id]
        return page(episodes, "episodes", limit, cursor, lambda e: episode_json(self, e))

    @reads(example={"show_id": seeded("spsh", "margins")})
    def get_show(self, show_id: ShowId, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return a podcast and a page of its published episodes, newest first."""
        show = self._find(show_id)
        rows = self.db.rows(
            "spotify_episodes", PUBLISHED, show_id, self.time, order="released DESC, id"
        )
        episodes = page(rows, "episodes", limit, cursor, lambda e: episode_json(self, e))
        return self._show(show) | episodes

    @reads(example={"episode_id": seeded("spep", "margins-17")})
    def get_episode(
        self, episode_id: Annotated[str, Field(description="episode_id, from a show or a search.")]
    ) -> Json:
        """Return an episode: show, date, length, resume_position_ms and fully_played."""
        episode = self.db.get("spotify_episodes", episode_id)
        if episode is None or episode["released"] > self.time:
            message = f"There is no episode with the ID {episode_id!r}."
            hint = "Find episodes with search_episodes or get_show."
            self.fail("EPISODE_NOT_FOUND", message, hint, episode_id=episode_id)
        show = self._find(episode["show_id"])
        about = f"Episode {episode['number']} of {show['name']}. {show['about']}"
        return episode_json(self, episode) | {"description": about, "language": show["language"]}

    @reads()
    def get_saved_shows(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the podcasts you follow, each with its latest episode."""
        rows = rules.library(self, WORDS, "show")
        return page(rows, "shows", limit, cursor, lambda r: self._show(self._find(r["item_id"])))

    @writes(example={"show_id": seeded("spsh", "azalea-hour")}, idempotent=True)
    def save_show(self, show_id: ShowId) -> Json:
        """Follow a podcast."""
        self._find(show_id)
        rules.keep(self, WORDS, "show", [show_id])
        return {"saved": True, "show_id": show_id, "total_saved": rules.count(self, WORDS, "show")}

    @writes(example={"show_id": seeded("spsh", "margins")}, idempotent=True)
    def unsave_show(self, show_id: ShowId) -> Json:
        """Stop following a podcast. The positions in its episodes are kept."""
        self._find(show_id)
        there, _ = rules.drop(self, WORDS, [show_id])
        return {
            "removed": bool(there),
            "show_id": show_id,
            "total_saved": rules.count(self, WORDS, "show"),
        }

    def _find(self, show_id: str) -> Row:
        show = self.db.get("spotify_shows", show_id)
        if show is None:
            message = f"There is no show with the ID {show_id!r}."
            self.fail("SHOW_NOT_FOUND", message, "Find shows with search_shows.", show_id=show_id)
        return show

    def _show(self, show: Row) -> Json:
        count = f"SELECT count(*) FROM spotify_episodes WHERE {PUBLISHED}"
        latest = self.db.rows(
            "spotify_episodes",
            PUBLISHED,
            show["id"],
            self.time,
            order="released DESC, id",
            limit=1,
        )
        return {
            "show_id": show["id"],
            "name": show["name"],
            "publisher": show["publisher"],
            "description": show["about"],
            "language": show["language"],
            "total_episodes": self.db.sql(count, show["id"], self.time)[0][0],
            "latest_episode": episode_json(self, latest[0]) if latest else None,
            "saved": rules.has(self, WORDS, show["id"]),
        }
