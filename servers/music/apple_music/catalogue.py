"""Apple Music's catalogue and its editors' picks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.service import Service, reads
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.music import _rules as rules
from servers.music._rules import AlbumId, ArtistId, Query, TrackId
from servers.music.apple_music._model import (
    WORDS,
    account,
    find_playlist,
    playlist_json,
    song_json,
)

Type = Literal["tracks", "albums", "artists"]


class Catalog(Service):
    """Songs, albums, artists and editors' picks."""

    @reads(example={"query": "stay past midnight", "types": ["tracks"]})
    def search_catalog(
        self,
        query: Query,
        types: Annotated[
            list[Type],
            Field(
                min_length=1,
                max_length=3,
                description="What to search for. Default: everything.",
            ),
        ]
        | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Search songs, albums and artists, best matches first.

        `totals` counts the matches of each type. Only a search for a single type has further pages.
        """
        wanted = types or ["tracks", "albums", "artists"]
        if cursor is not None and len(wanted) > 1:
            hint = "Search again with a single type, then pass its next_cursor."
            self.fail("PARAMETER_ERROR", "A cursor only works with a single type.", hint)
        searches = {
            "tracks": rules.search_tracks,
            "albums": rules.search_albums,
            "artists": rules.search_artists,
        }
        show = {
            "tracks": lambda t: song_json(self, t),
            "albums": self._album,
            "artists": self._artist,
        }
        results: dict[str, list[dict[str, Any]]] = {}
        pages: dict[str, dict[str, Any]] = {}
        for kind, search in searches.items():
            searched = kind in wanted
            results[kind] = search(self, WORDS, query) if searched else []
            pages[kind] = page(results[kind], kind, limit, cursor if searched else None, show[kind])
        return {
            **{kind: pages[kind][kind] for kind in results},
            "totals": {kind: len(results[kind]) for kind in wanted},
            "next_cursor": pages[wanted[0]]["next_cursor"] if len(wanted) == 1 else None,
        }

    @reads(example={"track_id": seeded("apt", "ruby-after-dark-1")})
    def get_catalog_track(self, track_id: TrackId) -> Json:
        """Return a song: artist, album, length, ISRC, content rating and your own rating.

        `content_rating` is explicit, clean or null.
        """
        return song_json(self, rules.find_track(self, WORDS, track_id))

    @reads(example={"album_id": seeded("apal", "low-tide-deluxe")})
    def get_catalog_album(
        self, album_id: AlbumId, limit: Limit = 50, cursor: Cursor | None = None
    ) -> Json:
        """Return an album with its songs in order.

        If `is_prerelease` is true, it has been announced but not released.
        """
        album = rules.find_album(self, WORDS, album_id)
        songs = rules.album_tracks(self, WORDS, album)
        return self._album(album) | self._songs(songs, limit, cursor)

    @reads(example={"artist_id": seeded("apar", "hollis-drummond")})
    def get_artist(
        self, artist_id: ArtistId, limit: Limit = 20, cursor: Cursor | None = None
    ) -> Json:
        """Return an artist with albums, newest first, and a page of songs, most popular first."""
        artist = rules.find_artist(self, WORDS, artist_id)
        carried = "artist_id=? AND apple_id IS NOT NULL"
        rows = self.db.rows("music_albums", carried, artist["id"], order="released DESC, id")
        songs = rules.artist_tracks(self, WORDS, artist)
        return {
            **self._artist(artist),
            "albums": [self._album(row) for row in rows],
            **self._songs(songs, limit, cursor),
        }

    @reads(example={"artist_id": seeded("apar", "quiet-ferries"), "limit": 3})
    def get_artist_top_tracks(
        self, artist_id: ArtistId, limit: Limit = 5, cursor: Cursor | None = None
    ) -> Json:
        """Return an artist's most popular songs, guest appearances included."""
        artist = rules.find_artist(self, WORDS, artist_id)
        songs = rules.artist_tracks(self, WORDS, artist)
        return {"artist_id": artist_id, **self._songs(songs, limit, cursor)}

    @reads(example={"content_id": seeded("aped", "wheel")})
    def get_editorial_content(
        self,
        content_id: Annotated[
            str, Field(description="content_id of one item. Default: list all items.")
        ]
        | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the editors' picks, newest first.

        `type` says whether target_id is an album, artist, playlist or station.
        """
        rows = self.db.rows(
            "apple_music_editorial", "published<=?", self.time, order="published DESC, id"
        )
        if content_id is not None:
            rows = [r for r in rows if r["id"] == content_id]
            if not rows:
                message = f"There is no editorial content with the ID {content_id!r}."
                hint = "Leave out content_id to list all items."
                self.fail("CONTENT_NOT_FOUND", message, hint, content_id=content_id)
        return page(rows, "content", limit, cursor, self._content)

    @reads(example={"track_id": seeded("apt", "ruby-after-dark-1")})
    def share_track(self, track_id: TrackId) -> Json:
        """Return a link to a song that others can open."""
        song = rules.find_track(self, WORDS, track_id)
        url = f"https://music.apple.com/us/album/{song['album_id']}?i={song['id']}"
        return {"share_url": url, "track_id": song["id"], "shared_by": account(self)["id"]}

    def _songs(self, songs: list[Row], limit: int, cursor: str | None) -> Json:
        return page(songs, "tracks", limit, cursor, lambda t: song_json(self, t))

    def _content(self, row: Row) -> Json:
        shown = {"content_id": row["id"]}
        shown |= {k: row[k] for k in ("title", "description", "type", "target_id")}
        if row["type"] == "playlist":
            shown["playlist"] = playlist_json(self, find_playlist(self, row["target_id"]))
        return shown | {"published_at": row["published"]}

    def _album(self, album: Row) -> Json:
        artist = self.db.get("music_artists", album["artist_id"]) or {}
        query = "SELECT count(*) FROM music_tracks WHERE album_id=? AND apple_id IS NOT NULL"
        count = self.db.sql(query, album["id"])[0][0]
        return {
            "album_id": album["apple_id"],
            "name": album["title"],
            "artist_name": artist["name"],
            "artist_id": artist["apple_id"],
            "track_count": count,
            "release_date": album["released"],
            "is_single": album["kind"] == "single",
            "is_compilation": album["kind"] == "compilation",
            "is_prerelease": album["released"] > self.time[:10],
            "genre_names": rules.genres(artist),
            "in_library": rules.has(self, WORDS, album["apple_id"]),
        }

    def _artist(self, artist: Row) -> Json:
        return {
            "artist_id": artist["apple_id"],
            "name": artist["name"],
            "genre_names": rules.genres(artist),
            "followed": rules.has(self, WORDS, artist["apple_id"]),
        }
