"""The library: songs, albums, ratings, followed artists, and recent additions and plays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.listing import Listing, Since, Until
from servers.kit.service import Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.music import _rules as rules
from servers.music._rules import AlbumIds, ArtistId, TrackId, TrackIds
from servers.music._stats import played
from servers.music.apple_music._model import (
    DECK,
    WORDS,
    Rating,
    account,
    need_subscription,
    playlist_json,
    song_json,
    subscribed,
)
from servers.music.apple_music.catalogue import Catalog

SONGS = [seeded("apt", "sidelong-2"), seeded("apt", "gale-force-swing-2")]
ALBUMS = [seeded("apal", "satin-slippers")]


class Library(Catalog):
    """What the user has saved, rated and followed."""

    @reads()
    def get_user_profile(self) -> Json:
        """Return the signed-in account: name, email, subscription and country.

        `subscription_until` is when the subscription or trial ends; null means that it renews.
        """
        mine = account(self)
        return {
            "user_id": mine["id"],
            "name": mine["name"],
            "email": mine["email"],
            "subscription_type": mine["subscription"] if subscribed(self) else "expired",
            "subscription_until": mine["until"],
            "country": mine["storefront"],
        }

    @reads(example={"limit": 10})
    def get_library_tracks(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the songs in the library, the latest added first, and how many there are."""

        def shown(row: Row) -> Json:
            song = rules.find_track(self, WORDS, row["item_id"])
            return {**song_json(self, song), "date_added": row["added_at"]}

        listed = page(rules.library(self, WORDS, "track"), "tracks", limit, cursor, shown)
        return {**listed, "total_library_tracks": rules.count(self, WORDS, "track")}

    @writes(example={"track_ids": SONGS}, idempotent=True)
    def add_tracks_to_library(self, track_ids: TrackIds) -> Json:
        """Add songs from the catalogue to the library."""
        need_subscription(self)
        rules.find_tracks(self, WORDS, track_ids)
        new, there = rules.keep(self, WORDS, "track", track_ids)
        return {
            "added": new,
            "already_in_library": there,
            "total_library_tracks": rules.count(self, WORDS, "track"),
        }

    @writes(
        example={"track_ids": SONGS},
        setup=(Setup("add_tracks_to_library", {"track_ids": SONGS}),),
        idempotent=True,
    )
    def remove_tracks_from_library(self, track_ids: TrackIds) -> Json:
        """Remove songs from the library. They stay in playlists."""
        rules.find_tracks(self, WORDS, track_ids)
        gone, missing = rules.drop(self, WORDS, track_ids)
        return {
            "removed": gone,
            "not_in_library": missing,
            "total_library_tracks": rules.count(self, WORDS, "track"),
        }

    @reads(example={"limit": 10})
    def get_library_albums(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the albums in the library, the latest added first."""
        rows = rules.library(self, WORDS, "album")

        def shown(row: Row) -> Json:
            album = rules.find_album(self, WORDS, row["item_id"])
            return {**self._album(album), "date_added": row["added_at"]}

        return page(rows, "albums", limit, cursor, shown)

    @writes(example={"album_ids": ALBUMS}, idempotent=True)
    def add_albums_to_library(self, album_ids: AlbumIds) -> Json:
        """Add albums and all their songs to the library.

        `tracks_added` counts the songs that were not in the library before.
        """
        need_subscription(self)
        albums = [rules.find_album(self, WORDS, a) for a in album_ids]
        new, there = rules.keep(self, WORDS, "album", album_ids)
        songs = self._song_ids(a for a in albums if a["apple_id"] in new)
        added, _ = rules.keep(self, WORDS, "track", songs)
        total = rules.count(self, WORDS, "album")
        return {
            "added_albums": new,
            "already_in_library": there,
            "tracks_added": len(added),
            "total_library_albums": total,
        }

    @writes(
        example={"album_ids": ALBUMS},
        setup=(Setup("add_albums_to_library", {"album_ids": ALBUMS}),),
        idempotent=True,
    )
    def remove_albums_from_library(self, album_ids: AlbumIds) -> Json:
        """Remove albums and all their songs from the library."""
        albums = [rules.find_album(self, WORDS, a) for a in album_ids]
        gone, missing = rules.drop(self, WORDS, album_ids)
        songs = self._song_ids(a for a in albums if a["apple_id"] in gone)
        removed, _ = rules.drop(self, WORDS, songs)
        total = rules.count(self, WORDS, "album")
        return {
            "removed": gone,
            "not_in_library": missing,
            "tracks_removed": len(removed),
            "total_library_albums": total,
        }

    @reads(example={"limit": 10})
    def get_recently_added(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the songs, albums and playlists most recently added to the library.

        Each item has item_id, item_type, name and added_at.
        """
        rows = self.db.rows("apple_music_library", "kind IN ('track','album','playlist')")
        items = [
            {"item_id": r["item_id"], "item_type": r["kind"], "added_at": r["added_at"]}
            for r in rows
        ]
        own = self.db.rows("apple_music_playlists", "curator IS NULL")
        items += [
            {"item_id": p["id"], "item_type": "playlist", "added_at": p["created_at"]} for p in own
        ]
        items.sort(key=lambda i: (i["added_at"], i["item_type"], i["item_id"]), reverse=True)
        return page(items, "items", limit, cursor, lambda i: {**i, "name": self._title(i)})

    @reads(example={"limit": 10})
    def get_recently_played(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return recently played songs, the latest first; a play is at least half a minute."""
        rows = played(self, DECK, WORDS, account(self)["timezone"], since, until)

        def shown(row: Row) -> Json:
            song = rules.find_track(self, WORDS, row["track_id"])
            return {
                "track_id": song["id"],
                "name": song["title"],
                "artist_name": song["credit"],
                "played_at": row["at"],
            }

        return page(rows, "tracks", limit, cursor, shown)

    @writes(example={"track_id": SONGS[0], "rating": "dislike"}, idempotent=True)
    def rate_track(
        self,
        track_id: TrackId,
        rating: Annotated[
            Rating, Field(description="love, dislike, or none to remove the rating.")
        ],
    ) -> Json:
        """Rate a song. Returns its new and its previous rating."""
        rules.find_track(self, WORDS, track_id)
        row = self.db.get("apple_music_ratings", track_id)
        before = row["rating"] if row else "none"
        if rating != before:
            if row is not None:
                self.db.delete("apple_music_ratings", track_id)
            if rating != "none":
                rated = {"track_id": track_id, "rating": rating, "at": self.time}
                self.db.insert("apple_music_ratings", rated)
        return {"track_id": track_id, "rating": rating, "previous_rating": before}

    @reads(example={"track_id": seeded("apt", "low-tide-1")})
    def get_track_rating(self, track_id: TrackId) -> Json:
        """Return your rating of a song: love, dislike or none."""
        rules.find_track(self, WORDS, track_id)
        row = self.db.get("apple_music_ratings", track_id)
        return {"track_id": track_id, "rating": row["rating"] if row else "none"}

    @reads()
    def get_loved_tracks(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the songs that you rated love, the most recently rated first."""
        rows = Listing(self.db, "apple_music_ratings", "at").only("rating='love'")

        def shown(row: Row) -> Json:
            song = rules.find_track(self, WORDS, row["track_id"])
            return {**song_json(self, song), "rated_at": row["at"]}

        return page(rows, "tracks", limit, cursor, shown)

    @writes(example={"artist_id": seeded("apar", "cornelius-pike")}, idempotent=True)
    def follow_artist(self, artist_id: ArtistId) -> Json:
        """Follow an artist (called Favorite in the app)."""
        rules.find_artist(self, WORDS, artist_id)
        rules.keep(self, WORDS, "artist", [artist_id])
        return {
            "followed": True,
            "artist_id": artist_id,
            "total_followed": rules.count(self, WORDS, "artist"),
        }

    @writes(
        example={"artist_id": seeded("apar", "blue-pelican")},
        setup=(Setup("follow_artist", {"artist_id": seeded("apar", "blue-pelican")}),),
        idempotent=True,
    )
    def unfollow_artist(self, artist_id: ArtistId) -> Json:
        """Stop following an artist; `unfollowed` is false if you were not following them."""
        artist = rules.find_artist(self, WORDS, artist_id)
        gone, _ = rules.drop(self, WORDS, [artist["apple_id"]])
        return {
            "unfollowed": bool(gone),
            "artist_id": artist_id,
            "total_followed": rules.count(self, WORDS, "artist"),
        }

    @reads()
    def get_followed_artists(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the artists you follow, the most recently followed first."""

        def shown(row: Row) -> dict[str, Any]:
            return self._artist(rules.find_artist(self, WORDS, row["item_id"]))

        return page(rules.library(self, WORDS, "artist"), "artists", limit, cursor, shown)

    def _song_ids(self, albums: Iterable[Row]) -> list[str]:
        ids: list[str] = []
        for album in albums:
            ids += [t["id"] for t in rules.album_tracks(self, WORDS, album)]
        return ids

    def _title(self, item: Row) -> str | None:
        if item["item_type"] == "track":
            song = rules.by_ids(self, WORDS, [item["item_id"]]).get(item["item_id"])
            return song["title"] if song else None
        if item["item_type"] == "album":
            return rules.find_album(self, WORDS, item["item_id"])["title"]
        row = self.db.get("apple_music_playlists", item["item_id"])
        return playlist_json(self, row)["name"] if row else None
