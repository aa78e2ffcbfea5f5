"""The library: saved tracks and albums, followed artists and people, and who is signed in."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.kit import search
from servers.kit.control import seeded
from servers.kit.service import Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.music import _rules as rules
from servers.music._rules import AlbumIds, ArtistId, TrackIds
from servers.music.spotify._model import (
    WORDS,
    UserId,
    find_user,
    me,
    playlist_json,
    track_json,
    user_ref,
)
from servers.music.spotify.catalogue import Catalogue

NEW = seeded("spt", "black-plum-2")
NELL = seeded("spt", "smaller-rooms-3")
PRIYA = seeded("spu", "priya_nair")


class Library(Catalogue):
    """What the user saves and follows."""

    @reads()
    def get_listener_profile(self) -> Json:
        """Return the signed-in user: user_id, name, email, plan and country.

        `following` counts the artists and users they follow.
        """
        mine = me(self)
        following = {
            "artists": rules.count(self, WORDS, "artist"),
            "users": rules.count(self, WORDS, "user"),
        }
        return {
            "user_id": mine["id"],
            "name": mine["name"],
            "email": mine["email"],
            "premium": mine["premium"],
            "country": mine["country"],
            "plan": mine["tier"],
            "following": following,
        }

    @reads(example={"user_id": PRIYA})
    def get_public_profile(self, user_id: UserId) -> Json:
        """Return a user's public profile: names, public playlists, and whether you follow them."""
        user = find_user(self, user_id)
        lists = self.db.rows(
            "spotify_playlists", "owner_id=? AND public=1", user_id, order="created_at, rowid"
        )
        return {
            **user_ref(self, user_id),
            "username": user["username"],
            "following": rules.has(self, WORDS, user_id),
            "playlists": [playlist_json(self, p) for p in lists],
        }

    @reads(example={"query": "nair"})
    def search_users(
        self,
        query: Annotated[
            str,
            Field(
                min_length=1, max_length=60, description="Words from a display name or username."
            ),
        ],
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Search other users by name; you are not among the results."""
        mine = me(self)["id"]
        found = search.find(self.db, "spotify_users", query, order="display_name, id")
        users = [user for user in found if user["id"] != mine]
        return page(users, "users", limit, cursor, self._user)

    @reads()
    def get_followed_users(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the users you follow, the most recently followed first."""

        def shown(row: Row) -> Json:
            return self._user(find_user(self, row["item_id"]))

        return page(rules.library(self, WORDS, "user"), "users", limit, cursor, shown)

    @writes(example={"target_user_id": seeded("spu", "kai_tanaka")}, idempotent=True)
    def follow_user(self, target_user_id: UserId) -> Json:
        """Follow another user. get_public_profile shows their public playlists."""
        find_user(self, target_user_id)
        if target_user_id == me(self)["id"]:
            hint = "Find other users with search_users."
            self.fail("CANNOT_FOLLOW_SELF", "You cannot follow yourself.", hint)
        rules.keep(self, WORDS, "user", [target_user_id])
        return {"followed": True, "target_user_id": target_user_id}

    @writes(example={"target_user_id": PRIYA}, idempotent=True)
    def unfollow_user(self, target_user_id: UserId) -> Json:
        """Stop following a user; `unfollowed` is false if you were not following them."""
        find_user(self, target_user_id)
        there, _ = rules.drop(self, WORDS, [target_user_id])
        return {"unfollowed": bool(there), "target_user_id": target_user_id}

    @reads(example={"limit": 5})
    def get_saved_tracks(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return Liked Songs with `saved_at`, the latest first, and how many there are."""

        def shown(row: Row) -> Json:
            track = rules.find_track(self, WORDS, row["item_id"])
            return track_json(self, track) | {"saved_at": row["added_at"]}

        listed = page(rules.library(self, WORDS, "track"), "tracks", limit, cursor, shown)
        return {"total": rules.count(self, WORDS, "track")} | listed

    @writes(example={"track_ids": [NEW]}, idempotent=True)
    def save_tracks(self, track_ids: TrackIds) -> Json:
        """Add tracks to Liked Songs. `saved` lists the new ones, `already_saved` the others."""
        rules.find_tracks(self, WORDS, track_ids)
        new, old = rules.keep(self, WORDS, "track", track_ids)
        return {
            "saved": new,
            "already_saved": old,
            "total_saved": rules.count(self, WORDS, "track"),
        }

    @writes(
        example={"track_ids": [NELL]},
        setup=(Setup("save_tracks", {"track_ids": [NELL]}),),
        idempotent=True,
    )
    def unsave_tracks(self, track_ids: TrackIds) -> Json:
        """Remove tracks from Liked Songs. `removed` lists those that were there."""
        rules.find_tracks(self, WORDS, track_ids)
        there, missing = rules.drop(self, WORDS, track_ids)
        return {
            "removed": there,
            "not_saved": missing,
            "total_saved": rules.count(self, WORDS, "track"),
        }

    @reads(example={"limit": 5})
    def get_saved_albums(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return saved albums with `saved_at`, the latest first."""

        def shown(row: Row) -> dict[str, Any]:
            album = rules.find_album(self, WORDS, row["item_id"])
            return self._album(album) | {"saved_at": row["added_at"]}

        return page(rules.library(self, WORDS, "album"), "albums", limit, cursor, shown)

    @writes(
        example={"album_ids": [seeded("spal", "long-table"), seeded("spal", "firewood")]},
        idempotent=True,
    )
    def save_albums(self, album_ids: AlbumIds) -> Json:
        """Save albums. Their tracks are not added to Liked Songs."""
        for album_id in album_ids:
            rules.find_album(self, WORDS, album_id)
        new, old = rules.keep(self, WORDS, "album", album_ids)
        return {
            "saved": new,
            "already_saved": old,
            "total_saved": rules.count(self, WORDS, "album"),
        }

    @writes(
        example={"album_ids": [seeded("spal", "updraft")]},
        setup=(Setup("save_albums", {"album_ids": [seeded("spal", "updraft")]}),),
        idempotent=True,
    )
    def unsave_albums(self, album_ids: AlbumIds) -> Json:
        """Remove albums from the saved albums. Liked Songs stay as they are."""
        for album_id in album_ids:
            rules.find_album(self, WORDS, album_id)
        there, missing = rules.drop(self, WORDS, album_ids)
        return {
            "removed": there,
            "not_saved": missing,
            "total_saved": rules.count(self, WORDS, "album"),
        }

    @reads()
    def get_subscribed_artists(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the artists you follow, the most recently followed first."""

        def shown(row: Row) -> dict[str, Any]:
            return self._artist(rules.find_artist(self, WORDS, row["item_id"]))

        return page(rules.library(self, WORDS, "artist"), "artists", limit, cursor, shown)

    @writes(example={"artist_id": seeded("spar", "kestrel-circuit")}, idempotent=True)
    def subscribe_to_artist(self, artist_id: ArtistId) -> Json:
        """Follow an artist. Returns how many artists you follow now."""
        rules.find_artist(self, WORDS, artist_id)
        rules.keep(self, WORDS, "artist", [artist_id])
        return {
            "followed": True,
            "artist_id": artist_id,
            "total_followed": rules.count(self, WORDS, "artist"),
        }

    @writes(
        example={"artist_id": seeded("spar", "kid-almanac")},
        setup=(Setup("subscribe_to_artist", {"artist_id": seeded("spar", "kid-almanac")}),),
        idempotent=True,
    )
    def unsubscribe_from_artist(self, artist_id: ArtistId) -> Json:
        """Stop following an artist; `unfollowed` is false if you were not following them."""
        rules.find_artist(self, WORDS, artist_id)
        there, _ = rules.drop(self, WORDS, [artist_id])
        return {
            "unfollowed": bool(there),
            "artist_id": artist_id,
            "total_followed": rules.count(self, WORDS, "artist"),
        }

    def _user(self, user: Row) -> Json:
        return {
            "user_id": user["id"],
            "display_name": user["display_name"],
            "username": user["username"],
            "following": rules.has(self, WORDS, user["id"]),
        }
