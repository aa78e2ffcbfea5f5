"""The catalogue of music and podcasts, the same for everyone.

It is composed from the words and names in `_catalogue.yaml`.
"""

from __future__ import annotations

import random
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from scenarios.worlds.build import Builder, parsed
from servers.kit.errors import InputError
from servers.kit.values import iso
from servers.music._rules import GENRES, fame

SEEDS = Path(__file__).with_suffix(".yaml")
AHEAD = 3
"""How many episodes of each show come out after the start of a world."""


def draw(*key: Any) -> random.Random:
    """Return a random generator for a purpose, the same in every world."""
    return random.Random(repr(("music", key)))


@dataclass
class Track:
    """A recording with its ids in one world (None where a provider does not carry it)."""

    key: str
    title: str
    artist: str
    album: str
    genres: list[str]
    ms: int
    explicit: bool
    released: str
    version: str | None
    weight: float
    ids: dict[str, str | None]


class Episode(NamedTuple):
    """An episode of a show: its id in one world, when it came out (epoch seconds), its length."""

    id: str
    released: int
    ms: int


@dataclass
class Catalogue:
    """What was written: tracks by key, albums as lists of tracks, and episodes by show.

    `used` holds the titles already taken, by genre.
    """

    builder: Builder
    since: int
    seeds: dict[str, Any] = field(default_factory=lambda: parsed(SEEDS))
    tracks: dict[str, Track] = field(default_factory=dict)
    albums: dict[str, list[Track]] = field(default_factory=dict)
    used: dict[str, set[str]] = field(default_factory=dict)
    shows: dict[str, list[Episode]] = field(default_factory=dict)

    def id(self, prefix: str, key: str) -> str:
        """Return an id of this world."""
        return self.builder.id(prefix, key)

    def fill(self) -> Catalogue:
        """Write artists, albums and tracks."""
        artists = self.seeds["artists"]
        for key, artist in artists.items():
            if artist["genre"] not in GENRES:
                message = f"artist {key} has an unknown genre, {artist['genre']!r}"
                raise InputError(f"music/_catalogue.yaml: {message}")
            row = {
                "name": artist["name"],
                "genre": artist["genre"],
                "also": artist.get("also"),
                "followers": artist["followers"],
            }
            ids = {"spotify_id": self.id("spar", key), "apple_id": self.id("apar", key)}
            self.builder.add(self.since, "music_artists", id=key, **row, **ids)
        albums = []
        for key, artist in artists.items():
            albums += [(key, artist, *album) for album in artist["albums"]]
        # Originals come first, because the albums that repeat or cover them look them up.
        for album in sorted(albums, key=lambda album: _depends(album[5])):
            self._album(*album)
        return self

    def _album(
        self,
        artist_key: str,
        artist: dict[str, Any],
        title: str,
        released: date,
        count: int,
        seed: dict[str, Any],
    ) -> None:
        key = seed.get("key") or slug(title)
        if key in self.albums:
            raise InputError(f"music/_catalogue.yaml: two albums have the key {key}")
        only = seed.get("only")
        row = {
            "id": key,
            "title": title,
            "artist_id": artist_key,
            "credit": artist["name"],
            "kind": seed.get("kind", "album"),
            "released": released.isoformat(),
            "withdrawn": seed["left"].isoformat() if "left" in seed else None,
            "spotify_id": self.id("spal", key) if only != "apple" else None,
            "apple_id": self.id("apal", key) if only != "spotify" else None,
        }
        self.builder.add(self.since, "music_albums", **row)
        self.albums[key] = []
        for number in range(1, count + 1):
            self._track(row, artist, number, count, released, seed)

    def _track(
        self,
        album: dict[str, Any],
        artist: dict[str, Any],
        number: int,
        count: int,
        released: date,
        seed: dict[str, Any],
    ) -> None:
        """Write one of the `count` tracks of an album."""
        key = f"{album['id']}-{number}"
        chance = draw("track", album["id"], number)
        song = seed.get("songs", {}).get(number, {})
        song = {"title": song} if isinstance(song, str) else song
        origin, version = self._origin(song, number, count, seed)
        title = song.get("title")
        if not title and origin is not None:
            title = self._retitled(origin, version, seed, released)
        if not title:
            title = self._title(artist.get("tongue", artist["genre"]), album["id"], number)
        low, high = self.seeds["lengths"].get(artist["genre"], [150, 285])
        ms = round(chance.uniform(low, high) * 1000)
        if origin is not None and version != "cover":
            ms = origin.ms
            if version not in ("same", "remastered", "clean"):
                ms = round(ms * chance.uniform(0.9, 1.25))
        explicit = chance.random() < self.seeds["rough"].get(artist["genre"], 0)
        if origin is not None and version != "cover":
            explicit = origin.explicit and version != "clean"
        guest = song.get("guest")
        credit = artist["name"]
        if guest:
            credit += f" feat. {self.seeds['artists'][guest]['name']}"
        track = Track(
            key=key,
            title=title,
            artist=album["artist_id"],
            album=album["id"],
            genres=[genre for genre in (artist["genre"], artist.get("also")) if genre],
            ms=ms,
            explicit=explicit,
            released=album["released"],
            version=version,
            weight=fame(artist["followers"]) / 100 * (0.3 if origin else 1),
            ids={
                "spotify": self.id("spt", key) if album["spotify_id"] else None,
                "apple": self.id("apt", key) if album["apple_id"] else None,
            },
        )
        self.builder.add(
            self.since,
            "music_tracks",
            id=key,
            title=title,
            credit=credit,
            album_id=album["id"],
            guest_id=guest,
            number=number,
            ms=ms,
            explicit=explicit,
            version=version,
            origin=origin.key if origin else None,
            spotify_id=track.ids["spotify"],
            apple_id=track.ids["apple"],
        )
        self.tracks[key] = track
        self.albums[album["id"]].append(track)

    def _origin(
        self, song: dict[str, Any], number: int, count: int, seed: dict[str, Any]
    ) -> tuple[Track | None, str | None]:
        """Return the track that this one repeats, if any, and as what version."""
        for version in ("same", "cover"):
            if version in song:
                return self.tracks[song[version]], version
        if "of" not in seed:
            return None, None
        before = self.albums[seed["of"]]
        how = seed.get("how") or "live"
        if how == "deluxe":
            plain = count - seed.get("more", 0)
            if number <= plain:
                return before[number - 1], "same"
            return before[number - plain - 1], "acoustic"
        origin = before[number - 1]
        if how == "clean":
            return origin, "clean" if origin.explicit else "same"
        versions = {"live": "live", "remaster": "remastered", "acoustic": "acoustic"}
        return origin, versions[how]

    def _retitled(
        self, origin: Track, version: str | None, seed: dict[str, Any], released: date
    ) -> str:
        endings = {
            "live": f" ({seed.get('at', 'Live')})",
            "remastered": f" - {released.year} Remaster",
            "acoustic": " (Acoustic)",
        }
        return origin.title + endings.get(version or "", "")

    def _title(self, genre: str, album: str, number: int) -> str:
        """Return a title made of the genre's words that no track in the genre has yet."""
        words = self.seeds["words"][genre]
        used = self.used.setdefault(genre, set())
        for attempt in range(500):
            chance = draw("title", album, number, attempt)
            nouns = words.get("n", [])
            one, two = chance.sample(nouns, 2) if len(nouns) > 1 else ("", "")
            parts = {k: chance.choice(words[k]) for k in words if k not in ("say", "n")}
            title = chance.choice(words["say"]).format(n=one, m=two, **parts)
            title = re.sub(r"\bthe the\b", "the", title, flags=re.IGNORECASE)
            if genre != "lo-fi":
                title = title[:1].upper() + title[1:]
            if title not in used:
                used.add(title)
                return title
        raise InputError(f"music/_catalogue.yaml: the words of {genre} do not yield enough titles")

    def pick(
        self,
        provider: str,
        count: int,
        chance: random.Random,
        *,
        genres: list[str],
        artists: list[str] | None = None,
    ) -> list[Track]:
        """Return released tracks that a provider carries.

        They are drawn at random, weighted by genre (earlier ones count more), artist and
        popularity.
        """
        today = iso(self.builder.start)[:10]
        weights = {genre: 1 / (place + 1) for place, genre in enumerate(genres)}
        pool: list[tuple[Track, float]] = []
        for track in self.tracks.values():
            shares = zip(track.genres, (1, 0.15), strict=False)
            near = max(weights.get(genre, 0) * share for genre, share in shares)
            weight = track.weight * near
            if track.artist in (artists or []):
                weight += 1
            if weight and track.ids[provider] and track.released <= today:
                pool.append((track, weight))

        def rank(entry: tuple[Track, float]) -> tuple[float, str]:
            track, weight = entry
            return -(chance.random() ** (1 / weight)), track.key

        return [track for track, _ in sorted(pool, key=rank)[:count]]

    # -- podcasts, stations, editors --------------------------------------------------------------
    def podcasts(self) -> None:
        """Write shows with episodes up to the start of the world, and a few upcoming ones."""
        for key, show in self.seeds["shows"].items():
            spanish = show["about"].startswith("Cuentos")
            row = {
                "id": self.id("spsh", key),
                "name": show["name"],
                "publisher": show["publisher"],
                "about": show["about"],
                "language": "es" if spanish else "en",
            }
            self.builder.add(self.since, "spotify_shows", **row)
            start = datetime.fromtimestamp(self.builder.start, UTC).date()
            cycle = 7 if show["every"] > 1 else 1
            last = start - timedelta(days=(start.weekday() - show["weekday"]) % cycle)
            self.shows[key] = []
            for number in range(1, show["count"] + AHEAD + 1):
                day = last + timedelta(days=show["every"] * (number - show["count"]))
                self._episode(key, show, row, number, day)

    def _episode(
        self, key: str, show: dict[str, Any], row: dict[str, Any], number: int, day: date
    ) -> None:
        released = int(datetime.combine(day, time(9), UTC).timestamp())
        lap, place = divmod(number - 1, len(show["subjects"]))
        name = f"{number}. {show['subjects'][place]}"
        if lap:
            name += ", otra vez" if row["language"] == "es" else ", again"
        ms = round(draw("episode", key, number).uniform(*show["minutes"]) * 60_000)
        episode = {
            "id": self.id("spep", f"{key}-{number}"),
            "show_id": row["id"],
            "name": name,
            "number": number,
            "released": iso(released),
            "ms": ms,
        }
        added = max(self.since, min(released, self.builder.start))
        self.builder.add(added, "spotify_episodes", **episode)
        self.shows[key].append(Episode(episode["id"], released, ms))

    def stations(self) -> None:
        """Write Apple Music's stations, its own playlists and its editors' picks."""
        add = self.builder.add
        since = self.since
        for key, station in self.seeds["stations"].items():
            add(since, "apple_music_stations", id=self.id("apst", key), **station)
        for key, seed in self.seeds["curated"].items():
            playlist = {
                "id": self.id("appl", key),
                "name": seed["name"],
                "description": seed["description"],
                "curator": "Apple Music",
                "public": True,
                "created_at": iso(since),
            }
            add(since, "apple_music_playlists", **playlist)
            chance = draw("curated", key)
            tracks = self.pick("apple", seed["size"], chance, genres=seed["genres"])
            for place, track in enumerate(tracks, 1):
                entry = {
                    "id": self.id("ape", f"{key}-{place}"),
                    "playlist_id": playlist["id"],
                    "track_id": track.ids["apple"],
                    "place": place,
                    "added_at": iso(since),
                }
                add(since, "apple_music_entries", **entry)
        prefixes = {"album": "apal", "artist": "apar", "playlist": "appl", "station": "apst"}
        for number, (key, seed) in enumerate(self.seeds["editorial"].items()):
            at = self.builder.start - (number * 9 + 2) * 86_400
            item = {
                "id": self.id("aped", key),
                "title": seed["title"],
                "description": seed["description"],
                "type": seed["type"],
                "target_id": self.id(prefixes[seed["type"]], seed["target"]),
                "published": iso(at),
            }
            add(at, "apple_music_editorial", **item)


def slug(title: str) -> str:
    """Return a title as a key: in lower case, with hyphens, without a leading article."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    plain = plain.replace("'", "")
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"^(the|a) ", "", plain)).strip("-")


def _depends(seed: dict[str, Any]) -> tuple[bool, bool, bool]:
    """Return whether an album repeats another, and contains repeated recordings or covers."""
    return "of" in seed, _has(seed, "same"), _has(seed, "cover")


def _has(seed: dict[str, Any], version: str) -> bool:
    songs = seed.get("songs", {}).values()
    return any(isinstance(song, dict) and version in song for song in songs)
