"""Searching and reading Spotify's catalogue."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.noise import share
from servers.kit.service import Service, reads
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.music import _rules as rules
from servers.music._rules import AlbumId, ArtistId, Genre, Query, TrackId
from servers.music.spotify._model import WORDS, me, track_json

Year = Annotated[int, Field(ge=1900, le=2100, description="Year of release.")]


class Catalogue(Service):
    """Tracks, albums, artists and recommendations."""

    @reads(example={"query": "copper hours"})
    def search_tracks(
        self,
        query: Query | None = None,
        genre: Annotated[Genre, Field(description="Only tracks in this genre.")] | None = None,
        year: Year | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Search tracks by words from title and artist, by genre, by year, or any combination.

        Exact titles come first, then the more popular tracks.
        """
        if query is None and genre is None and year is None:
            hint = "Give at least one of query, genre and year."
            self.fail("BAD_REQUEST", "No search criteria were given.", hint)
        if query is not None:
            tracks = rules.search_tracks(self, WORDS, query)
        else:
            tracks = rules.by_popularity(t for t in rules.tracks(self, WORDS) if t["playable"])
        if genre is not None:
            tracks = [t for t in tracks if genre in rules.genres(t)]
        if year is not None:
            tracks = [t for t in tracks if t["released"][:4] == str(year)]
        return self._tracks(tracks, limit, cursor)

    @reads(example={"query": "low tide"})
    def search_albums(self, query: Query, limit: Limit = 10, cursor: Cursor | None = None) -> Json:
        """Search albums, EPs and singles by words from title and artist.

        Editions of the same album are separate results.
        """
        return page(rules.search_albums(self, WORDS, query), "albums", limit, cursor, self._album)

    @reads(example={"query": "halcyon row"})
    def search_artists(self, query: Query, limit: Limit = 10, cursor: Cursor | None = None) -> Json:
        """Search artists by name, the best known first.

        Artists may share a name: compare genres and followers.
        """
        artists = rules.search_artists(self, WORDS, query)
        return page(artists, "artists", limit, cursor, self._artist)

    @reads(example={"track_id": seeded("spt", "low-tide-2")})
    def get_track(self, track_id: TrackId) -> Json:
        """Return a track: artists, album, length, popularity, ISRC, is_playable and saved."""
        return track_json(self, rules.find_track(self, WORDS, track_id))

    @reads(example={"album_id": seeded("spal", "low-tide")})
    def get_album(self, album_id: AlbumId, limit: Limit = 50, cursor: Cursor | None = None) -> Json:
        """Return an album with its tracks in order.

        An announced album has a future release_date and cannot be played yet.
        """
        album = rules.find_album(self, WORDS, album_id)
        tracks = rules.album_tracks(self, WORDS, album)
        return self._album(album) | self._tracks(tracks, limit, cursor)

    @reads(example={"artist_id": seeded("spar", "wren-halloway")})
    def fetch_artist(
        self, artist_id: ArtistId, limit: Limit = 20, cursor: Cursor | None = None
    ) -> Json:
        """Return an artist: genres, popularity, followers and albums.

        A page of tracks is included, the most popular first.
        """
        artist = rules.find_artist(self, WORDS, artist_id)
        carried = f"artist_id=? AND {WORDS.column} IS NOT NULL"
        rows = self.db.rows("music_albums", carried, artist["id"], order="released DESC, id")
        tracks = rules.artist_tracks(self, WORDS, artist)
        return {
            **self._artist(artist),
            "albums": [self._album(row) for row in rows],
            **self._tracks(tracks, limit, cursor),
        }

    @reads(example={"artist_id": seeded("spar", "moth-marble")})
    def fetch_top_tracks(
        self, artist_id: ArtistId, limit: Limit = 5, cursor: Cursor | None = None
    ) -> Json:
        """Return an artist's most popular tracks; each recording appears once."""
        tracks = rules.artist_tracks(self, WORDS, rules.find_artist(self, WORDS, artist_id))
        return {"artist_id": artist_id} | self._tracks(tracks, limit, cursor)

    @reads(example={"seed_genres": ["indie", "folk"], "limit": 5})
    def get_recommendations(
        self,
        seed_tracks: Annotated[
            list[str], Field(max_length=5, description="track_ids to start from.")
        ]
        | None = None,
        seed_artists: Annotated[
            list[str], Field(max_length=5, description="artist_ids to start from.")
        ]
        | None = None,
        seed_genres: Annotated[
            list[Genre], Field(max_length=5, description="Genres to start from.")
        ]
        | None = None,
        limit: Limit = 10,
    ) -> Json:
        """Return tracks similar to 1 to 5 seeds in total, without the seeds themselves."""
        given = [*(seed_tracks or []), *(seed_artists or []), *(seed_genres or [])]
        if not 1 <= len(given) <= 5:
            hint = "Give 1 to 5 seeds in total across seed_tracks, seed_artists and seed_genres."
            self.fail("INVALID_SEEDS", f"{len(given)} seeds were given.", hint, seeds=len(given))
        seeds = rules.find_tracks(self, WORDS, seed_tracks or [])
        seeds += [rules.find_artist(self, WORDS, a) for a in seed_artists or []]
        wanted = dict.fromkeys(seed_genres or [], 1.0)
        for row in seeds:
            for weight, genre in zip((1.0, 0.5), rules.genres(row), strict=False):
                wanted[genre] = wanted.get(genre, 0.0) + weight
        favoured = set(seed_artists or [])
        key = tuple(sorted(given))

        def score(track: Row) -> float:
            weighted = zip(rules.genres(track), (1.0, 0.4), strict=False)
            match = sum(wanted.get(genre, 0.0) * weight for genre, weight in weighted)
            bonus = 0.3 if track["artist_id"] in favoured else 0
            luck = share("recommend", key, track["key"]) / 2
            return match + bonus + track["popularity"] / 400 + luck

        pool = [t for t in rules.genre_tracks(self, WORDS, rules.GENRES) if t["id"] not in given]
        alike = [t for t in pool if set(rules.genres(t)) & set(wanted)]
        best = sorted(alike, key=lambda t: (-score(t), t["key"]))[:limit]
        return {"tracks": [track_json(self, t) for t in best]}

    @reads(example={"track_id": seeded("spt", "low-tide-2")})
    def share_track_link(self, track_id: TrackId) -> Json:
        """Return a link to a track that anyone can open."""
        track = rules.find_track(self, WORDS, track_id)
        return {
            "share_url": f"https://open.spotify.com/track/{track['id']}",
            "track_id": track["id"],
            "shared_by": me(self)["id"],
        }

    def _tracks(self, tracks: list[Row], limit: int, cursor: str | None) -> Json:
        return page(tracks, "tracks", limit, cursor, lambda t: track_json(self, t))

    def _album(self, album: Row) -> Json:
        artist = self.db.get("music_artists", album["artist_id"]) or {}
        query = (
            "SELECT count(*), sum(ms) FROM music_tracks "
            f"WHERE album_id=? AND {WORDS.column} IS NOT NULL"
        )
        count, duration = self.db.sql(query, album["id"])[0]
        return {
            "album_id": album[WORDS.column],
            "name": album["title"],
            "album_type": album["kind"],
            "artists": [{"artist_id": artist[WORDS.column], "name": artist["name"]}],
            "release_date": album["released"],
            "total_tracks": count,
            "duration_ms": duration or 0,
            "is_playable": rules.playable(self, WORDS, album),
            "saved": rules.has(self, WORDS, album[WORDS.column]),
            "context_uri": f"album:{album[WORDS.column]}",
        }

    def _artist(self, artist: Row) -> Json:
        following = rules.has(self, WORDS, artist[WORDS.column])
        return {
            "artist_id": artist[WORDS.column],
            "name": artist["name"],
            "genres": rules.genres(artist),
            "popularity": rules.fame(artist["followers"]),
            "follower_count": artist["followers"] + (1 if following else 0),
            "following": following,
        }
