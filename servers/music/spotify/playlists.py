"""Playlists: the user's own, other people's, and collaborative ones."""

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
from servers.music.spotify._model import (
    WORDS,
    find_playlist,
    find_user,
    items,
    me,
    playlist_json,
    snapshot,
    track_json,
)

Public = Annotated[bool, Field(description="Whether everyone can see it.")]
Collaborative = Annotated[
    bool,
    Field(
        description="Whether its collaborators can add and remove tracks; "
        "a collaborative playlist is never public."
    ),
]
SnapshotId = Annotated[
    str,
    Field(
        max_length=64,
        description="snapshot_id of the playlist as you last saw it: "
        "the call fails if it has changed since.",
    ),
]
MOST = 10_000
"""The most tracks that a playlist can have."""
MINE = seeded("sppl", "studio-mix")


class Playlists(Service):
    """Playlists and who may change them."""

    @reads()
    def get_user_playlists(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the playlists you own, contribute to or follow, newest first, without tracks."""
        mine = me(self)["id"]

        def listed(playlist: Row) -> bool:
            if playlist["owner_id"] == mine or mine in playlist["members"]:
                return True
            return playlist["public"] and rules.has(self, WORDS, playlist["id"])

        playlists = Listing(self.db, "spotify_playlists", "created_at").keep(listed)
        return page(playlists, "playlists", limit, cursor, lambda p: playlist_json(self, p))

    @reads(example={"playlist_id": MINE})
    def fetch_playlist(
        self, playlist_id: PlaylistId, limit: Limit = 50, cursor: Cursor | None = None
    ) -> Json:
        """Return a playlist and a page of its tracks in order.

        Each track has added_at, and added_by: the user_id of whoever added it.
        """
        playlist = find_playlist(self, playlist_id)
        entries = items(self, playlist_id)
        known = rules.by_ids(self, WORDS, [e["track_id"] for e in entries])
        entries = [e for e in entries if e["track_id"] in known]

        def shown(entry: Row) -> Json:
            return track_json(self, known[entry["track_id"]]) | {
                "added_at": entry["added_at"],
                "added_by": entry["added_by"] or playlist["owner_id"],
            }

        return playlist_json(self, playlist) | page(entries, "tracks", limit, cursor, shown)

    @writes(example={"name": "Glaze day", "description": "For long afternoons at the wheel"})
    def create_new_playlist(
        self,
        name: PlaylistName,
        description: PlaylistText = "",
        public: Public | None = None,
        collaborative: Collaborative = False,
    ) -> Json:
        """Create an empty playlist and return it.

        By default it is public, unless it is collaborative.
        """
        self._check(public, collaborative)
        row = {
            "id": self.new_id("sppl"),
            "name": name.strip(),
            "description": description,
            "owner_id": me(self)["id"],
            "public": not collaborative if public is None else public,
            "collaborative": collaborative,
            "members": [],
            "created_at": self.time,
        }
        made = self.db.insert("spotify_playlists", row)
        if collaborative:
            self._tell_collaborative(row)
        return playlist_json(self, made)

    @writes(example={"playlist_id": MINE, "name": "Studio mix (spring)"}, idempotent=True)
    def modify_playlist_details(
        self,
        playlist_id: PlaylistId,
        name: PlaylistName | None = None,
        description: PlaylistText | None = None,
        public: Public | None = None,
        collaborative: Collaborative | None = None,
    ) -> Json:
        """Change name, description or visibility of a playlist you own; the rest stays as it is."""
        playlist = self._owned(playlist_id)
        given: dict[str, Any] = {
            "name": name and name.strip(),
            "description": description,
            "public": public,
            "collaborative": collaborative,
        }
        changes = {k: v for k, v in given.items() if v is not None}
        if not changes:
            hint = "Give at least one of name, description, public and collaborative."
            self.fail("BAD_REQUEST", "No changes were given.", hint)
        if collaborative and public is None:
            changes["public"] = False
        after = playlist | changes
        self._check(after["public"], after["collaborative"])
        if after != playlist:
            self.db.update("spotify_playlists", playlist_id, **changes)
        if after["collaborative"] and not playlist["collaborative"]:
            self._tell_collaborative(after)
        return playlist_json(self, after)

    @writes(example={"playlist_id": MINE}, destructive=True)
    def remove_playlist(self, playlist_id: PlaylistId) -> Json:
        """Delete a playlist that you own, for everyone.

        To stop following someone else's playlist, use unfollow_playlist.
        """
        self._owned(playlist_id)
        for entry in items(self, playlist_id):
            self.db.delete("spotify_playlist_items", entry["id"])
        for blend in self.db.rows("spotify_blends", "playlist_id=?", playlist_id):
            self.db.delete("spotify_blends", blend["id"])
        self.db.delete("spotify_playlists", playlist_id)
        return {"deleted": True, "playlist_id": playlist_id}

    @writes(
        example={
            "playlist_id": MINE,
            "track_ids": [seeded("spt", "littoral-1"), seeded("spt", "littoral-2")],
        }
    )
    def queue_tracks_to_playlist(
        self, playlist_id: PlaylistId, track_ids: TrackIds, snapshot_id: SnapshotId | None = None
    ) -> Json:
        """Append tracks to a playlist that you own or contribute to.

        It may contain a track more than once.
        """
        playlist, entries = self._editable(playlist_id, snapshot_id)
        rules.find_tracks(self, WORDS, track_ids)
        if len(entries) + len(track_ids) > MOST:
            message = f"A playlist can have at most {MOST} tracks."
            self.fail(
                "PLAYLIST_FULL", message, "Remove some tracks first.", track_count=len(entries)
            )
        mine = me(self)["id"]
        last = max((e["place"] for e in entries), default=0)
        for number, track_id in enumerate(track_ids, 1):
            row = {
                "id": self.new_id("spi"),
                "playlist_id": playlist_id,
                "track_id": track_id,
                "place": last + number,
                "added_at": self.time,
                "added_by": None if mine == playlist["owner_id"] else mine,
            }
            self.db.insert("spotify_playlist_items", row)
        return self._changed(playlist) | {"added": track_ids}

    @writes(example={"playlist_id": MINE, "track_ids": [seeded("spt", "kiln-music-1")]})
    def dequeue_tracks_from_playlist(
        self, playlist_id: PlaylistId, track_ids: TrackIds, snapshot_id: SnapshotId | None = None
    ) -> Json:
        """Remove all occurrences of tracks from a playlist that you own or contribute to."""
        playlist, entries = self._editable(playlist_id, snapshot_id)
        present = {e["track_id"] for e in entries}
        missing = [t for t in dict.fromkeys(track_ids) if t not in present]
        if missing:
            message = f"{playlist['name']!r} does not contain {', '.join(missing[:5])}."
            hint = "Nothing was removed. fetch_playlist shows the playlist's tracks."
            self.fail("TRACK_NOT_IN_PLAYLIST", message, hint, track_ids=missing)
        for entry in entries:
            if entry["track_id"] in track_ids:
                self.db.delete("spotify_playlist_items", entry["id"])
        return self._changed(playlist) | {"removed": list(dict.fromkeys(track_ids))}

    @writes(example={"playlist_id": seeded("sppl", "nora-yoga")}, idempotent=True)
    def follow_playlist(self, playlist_id: PlaylistId) -> Json:
        """Follow another user's public playlist; get_user_playlists then includes it."""
        playlist = find_playlist(self, playlist_id)
        if playlist["owner_id"] == me(self)["id"]:
            hint = "get_user_playlists already includes it."
            self.fail("OWN_PLAYLIST", "This playlist is your own.", hint, playlist_id=playlist_id)
        rules.keep(self, WORDS, "playlist", [playlist_id])
        return {"followed": True, "playlist_id": playlist_id}

    @writes(example={"playlist_id": seeded("sppl", "ben-rest-days")}, idempotent=True)
    def unfollow_playlist(self, playlist_id: PlaylistId) -> Json:
        """Stop following someone's playlist; `unfollowed` is false if you did not follow it."""
        find_playlist(self, playlist_id)
        there, _ = rules.drop(self, WORDS, [playlist_id])
        return {"unfollowed": bool(there), "playlist_id": playlist_id}

    def _tell_collaborative(self, playlist: Row) -> None:
        said = {"playlist": playlist["name"], "about": playlist["description"]}
        self.post("collaborative", me(self)["email"], said, about=playlist["id"])

    def _check(self, public: bool | None, collaborative: bool) -> None:
        if public and collaborative:
            message = "A collaborative playlist cannot be public."
            hint = (
                "Make it either public or collaborative; "
                "leave public out for a collaborative playlist."
            )
            self.fail("INVALID_VISIBILITY", message, hint)

    def _owned(self, playlist_id: str) -> dict[str, Any]:
        playlist = find_playlist(self, playlist_id)
        if playlist["owner_id"] != me(self)["id"]:
            owner = find_user(self, playlist["owner_id"])
            message = (
                f"{playlist['name']!r} belongs to {owner['display_name']}; "
                "only the owner can do this."
            )
            hint = "Ask the owner, or create your own with create_new_playlist."
            owner_id = owner["id"]
            self.fail(
                "NOT_PLAYLIST_OWNER", message, hint, playlist_id=playlist_id, owner_id=owner_id
            )
        return playlist

    def _editable(
        self, playlist_id: str, snapshot_id: str | None
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return a playlist that the user may change, and its entries; fail if they may not."""
        playlist = find_playlist(self, playlist_id)
        mine = me(self)["id"]
        if self.db.rows("spotify_blends", "playlist_id=?", playlist_id):
            message = "Spotify picks the tracks of a Blend; you cannot edit them."
            hint = "Refresh it with update_blend."
            self.fail("BLEND_NOT_EDITABLE", message, hint, playlist_id=playlist_id)
        contributes = playlist["collaborative"] and mine in playlist["members"]
        if mine != playlist["owner_id"] and not contributes:
            message = f"You cannot change {playlist['name']!r}: you are not a collaborator."
            hint = "Copy its tracks to your own playlist (create_new_playlist), or ask the owner."
            owner_id = playlist["owner_id"]
            self.fail(
                "PLAYLIST_NOT_EDITABLE", message, hint, playlist_id=playlist_id, owner_id=owner_id
            )
        entries = items(self, playlist_id)
        current = snapshot(playlist, entries)
        if snapshot_id is not None and snapshot_id != current:
            message = "The playlist has changed since that snapshot."
            hint = "Read it with fetch_playlist, then try again with its current snapshot_id."
            self.fail("SNAPSHOT_MISMATCH", message, hint, snapshot_id=current)
        return playlist, entries

    def _changed(self, playlist: Row) -> Json:
        entries = items(self, playlist["id"])
        return {
            "playlist_id": playlist["id"],
            "name": playlist["name"],
            "track_count": len(entries),
            "snapshot_id": snapshot(playlist, entries),
        }
