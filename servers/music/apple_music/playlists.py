"""Playlists in the library: the user's own and Apple Music's."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.listing import Listing
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.music import _rules as rules
from servers.music._rules import PlaylistId, PlaylistName, PlaylistText, TrackIds
from servers.music.apple_music._model import (
    WORDS,
    account,
    entries,
    find_playlist,
    need_subscription,
    playlist_json,
    song_json,
)

IsPublic = Annotated[bool, Field(description="Whether it appears on your profile and in search.")]
EVENING = seeded("appl", "quiet-evenings")


class Playlists(Service):
    """Playlists, of which only the user's own can be changed."""

    @reads()
    def get_library_playlists(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return your own playlists and the Apple Music playlists that you added, newest first."""

        def listed(playlist: Row) -> bool:
            return playlist["curator"] is None or rules.has(self, WORDS, playlist["id"])

        playlists = Listing(self.db, "apple_music_playlists", "created_at").keep(listed)
        return page(playlists, "playlists", limit, cursor, lambda p: playlist_json(self, p))

    @reads(example={"playlist_id": EVENING})
    def get_playlist(
        self, playlist_id: PlaylistId, limit: Limit = 50, cursor: Cursor | None = None
    ) -> Json:
        """Return a playlist with a page of its songs in order; `can_edit` is true for your own."""
        playlist = find_playlist(self, playlist_id)
        rows = entries(self, playlist_id)
        known = rules.by_ids(self, WORDS, [r["track_id"] for r in rows])
        rows = [r for r in rows if r["track_id"] in known]

        def shown(row: Row) -> Json:
            return song_json(self, known[row["track_id"]])

        # The pages are of entries, not songs: a song that is in the list twice needs two cursors.
        songs = page(rows, "tracks", limit, cursor, shown)
        total = sum(known[r["track_id"]]["ms"] for r in rows)
        return {**playlist_json(self, playlist), "duration_ms": total, **songs}

    @writes(example={"name": "Sunday dishes"})
    def create_playlist(
        self, name: PlaylistName, description: PlaylistText = "", is_public: IsPublic = False
    ) -> Json:
        """Create an empty playlist in the library and return it."""
        need_subscription(self)
        row = {
            "id": self.new_id("appl"),
            "name": name.strip(),
            "description": description,
            "curator": None,
            "public": is_public,
            "created_at": self.time,
        }
        made = self.db.insert("apple_music_playlists", row)
        if is_public:
            self._tell_published(row)
        return playlist_json(self, made)

    @writes(
        example={"playlist_id": EVENING, "description": "No words after nine", "is_public": True},
        idempotent=True,
    )
    def update_playlist_details(
        self,
        playlist_id: PlaylistId,
        name: PlaylistName | None = None,
        description: PlaylistText | None = None,
        is_public: IsPublic | None = None,
    ) -> Json:
        """Change the name, description or visibility of your playlist; the rest stays as it is."""
        playlist = self._own(playlist_id)
        if name is None and description is None and is_public is None:
            hint = "Pass name, description or is_public."
            self.fail("PARAMETER_ERROR", "No changes were given.", hint)
        changed = {
            "name": playlist["name"] if name is None else name.strip(),
            "description": playlist["description"] if description is None else description,
            "public": playlist["public"] if is_public is None else is_public,
        }
        if any(playlist[k] != v for k, v in changed.items()):
            self.db.update("apple_music_playlists", playlist_id, **changed)
        if changed["public"] and not playlist["public"]:
            self._tell_published(playlist | changed)
        return playlist_json(self, {**playlist, **changed})

    @writes(example={"playlist_id": EVENING}, destructive=True)
    def delete_playlist(self, playlist_id: PlaylistId) -> Json:
        """Delete a playlist of yours. Its songs stay in the library."""
        for row in entries(self, self._own(playlist_id)["id"]):
            self.db.delete("apple_music_entries", row["id"])
        self.db.delete("apple_music_playlists", playlist_id)
        return {"deleted": True, "playlist_id": playlist_id}

    @writes(example={"playlist_id": EVENING, "track_ids": [seeded("apt", "littoral-1")]})
    def add_tracks_to_playlist(self, playlist_id: PlaylistId, track_ids: TrackIds) -> Json:
        """Append songs to your playlist. It may contain a song more than once."""
        need_subscription(self)
        playlist = self._own(playlist_id)
        songs = rules.find_tracks(self, WORDS, track_ids)
        place = max((r["place"] for r in entries(self, playlist_id)), default=0)
        for song in songs:
            place += 1
            row = {
                "id": self.new_id("ape"),
                "playlist_id": playlist_id,
                "track_id": song["id"],
                "place": place,
                "added_at": self.time,
            }
            self.db.insert("apple_music_entries", row)
        return {**self._summary(playlist), "added": track_ids}

    @writes(example={"playlist_id": EVENING, "track_ids": [seeded("apt", "kiln-music-1")]})
    def remove_tracks_from_playlist(self, playlist_id: PlaylistId, track_ids: TrackIds) -> Json:
        """Remove songs from your playlist.

        For each ID the first occurrence is removed, so pass an ID twice to remove two.
        """
        playlist = self._own(playlist_id)
        rows = entries(self, playlist_id)
        for track_id in track_ids:
            row = next((r for r in rows if r["track_id"] == track_id), None)
            if row is None:
                hint = "Nothing was removed. get_playlist shows the playlist's songs."
                message = f"{playlist['name']!r} does not contain {track_id!r}, or not that often."
                self.fail("TRACK_NOT_IN_PLAYLIST", message, hint, track_id=track_id)
            rows.remove(row)
            self.db.delete("apple_music_entries", row["id"])
        return {**self._summary(playlist), "removed": track_ids}

    @writes(example={"playlist_id": seeded("appl", "pottery-wheel")}, idempotent=True)
    def add_playlist_to_library(self, playlist_id: PlaylistId) -> Json:
        """Add a playlist by Apple Music's editors to the library. You cannot edit it there."""
        playlist = find_playlist(self, playlist_id)
        if playlist["curator"] is None:
            return {"added": [], "already_in_library": [playlist_id]}
        new, there = rules.keep(self, WORDS, "playlist", [playlist_id])
        return {"added": new, "already_in_library": there}

    @writes(example={"playlist_id": seeded("appl", "a-list-indie")}, idempotent=True)
    def remove_playlist_from_library(self, playlist_id: PlaylistId) -> Json:
        """Remove a playlist by Apple Music's editors from the library.

        To delete your own playlists, use delete_playlist.
        """
        playlist = find_playlist(self, playlist_id)
        if playlist["curator"] is None:
            message = f"{playlist['name']!r} is your own playlist."
            hint = "Use delete_playlist to delete it."
            self.fail("OWN_PLAYLIST", message, hint, playlist_id=playlist_id)
        gone, missing = rules.drop(self, WORDS, [playlist_id])
        return {"removed": gone, "not_in_library": missing}

    def _tell_published(self, playlist: Row) -> None:
        said = {
            "playlist": playlist["name"],
            "about": playlist["description"],
            "songs": len(entries(self, playlist["id"])),
        }
        self.post("playlist_shared", account(self)["email"], said, about=playlist["id"])

    def _own(self, playlist_id: str) -> dict[str, Any]:
        playlist = find_playlist(self, playlist_id)
        if playlist["curator"] is not None:
            name = playlist["name"]
            message = f"{name!r} is edited by {playlist['curator']} and cannot be changed."
            hint = "Create your own with create_playlist and add its songs to that."
            self.fail("PLAYLIST_READ_ONLY", message, hint, playlist_id=playlist_id)
        return playlist

    def _summary(self, playlist: Row) -> dict[str, Any]:
        shown = playlist_json(self, playlist)
        return {k: shown[k] for k in ("playlist_id", "name", "track_count")}
