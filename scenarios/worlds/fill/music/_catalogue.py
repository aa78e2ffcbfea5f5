"""The catalogue of music and podcasts that all people share, composed from the words and names of `_music_catalogue.yaml`."""

from __future__ import annotations

import random
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

from scenarios.worlds.build import Builder, parsed
from servers.kit.errors import InputError
from servers.kit.values import iso
from servers.music._rules import GENRES, fame

SEEDS = Path(__file__).with_suffix(".yaml")
AHEAD = 3
"""Episodes of each show that come after the start of a world."""


def draw(*key: Any) -> random.Random:
    """Return a generator for a purpose, the same in every world."""
    return random.Random(repr(("music", key)))


@dataclass
class Track:
    """A recording with the ids that it has in one world (None where a provider does not carry it)."""

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


@dataclass
class Catalogue:
    """What was written: tracks by key, albums as lists of tracks, shows as (episode id, moment, ms), titles in use by genre."""

    builder: Builder
    since: int
    seeds: dict[str, Any] = field(default_factory=lambda: parsed(SEEDS))
    tracks: dict[str, Track] = field(default_factory=dict)
    albums: dict[str, list[Track]] = field(default_factory=dict)
    used: dict[str, set[str]] = field(default_factory=dict)
    shows: dict[str, list[tuple[str, int, int]]] = field(default_factory=dict)

    def id(self, prefix: str, key: str) -> str:
        """Return an id of this world."""
        return self.builder.id(prefix, key)

    def fill(self) -> Catalogue:
        """Write artists, albums and tracks."""
        artists = self.seeds["artists"]
        for key, artist in artists.items():
            if artist["genre"] not in GENRES:
                raise InputError(
                    f"_music_catalogue.yaml: artist {key} has no genre of the catalogue"
                )
            row = {
                "name": artist["name"],
                "genre": artist["genre"],
                "also": artist.get("also"),
                "followers": artist["followers"],
            }
            ids = {"spotify_id": self.id("spar", key), "apple_id": self.id("apar", key)}
            self.builder.add(self.since, "music_artists", id=key, **row, **ids)
        made = [
            (key, artist, *album) for key, artist in artists.items() for album in artist["albums"]
        ]
        for entry in sorted(
            made, key=lambda e: ("of" in e[5], _has(e[5], "same"), _has(e[5], "cover"))
        ):  # originals first
            self._album(*entry)
        return self

    def _album(
        self,
        artist_key: str,
        artist: dict[str, Any],
        title: str,
        released: Any,
        count: int,
        said: dict[str, Any],
    ) -> None:
        key = said.get("key") or slug(title)
        if key in self.albums:
            raise InputError(f"_music_catalogue.yaml: two albums have the key {key}")
        only = said.get("only")
        how = said.get("how")
        ids = {
            "spotify_id": self.id("spal", key) if only != "apple" else None,
            "apple_id": self.id("apal", key) if only != "spotify" else None,
        }
        withdrawn = said["left"].isoformat() if "left" in said else None
        row = {
            "title": title,
            "artist_id": artist_key,
            "credit": artist["name"],
            "kind": said.get("kind", "album"),
        }
        self.builder.add(
            self.since,
            "music_albums",
            id=key,
            **row,
            released=released.isoformat(),
            withdrawn=withdrawn,
            **ids,
        )
        before = self.albums[said["of"]] if "of" in said else []
        self.albums[key] = []
        for number in range(1, count + 1):
            chance = draw("track", key, number)
            song = said.get("songs", {}).get(number, {})
            song = {"title": song} if isinstance(song, str) else song
            origin, version = self._origin(song, before, number, how, said.get("more", 0), count)
            name = (
                song.get("title") or self._retitled(origin, version, said, released)
                if origin
                else song.get("title")
            )
            name = name or self._title(artist.get("tongue", artist["genre"]), key, number)
            low, high = self.seeds["lengths"].get(artist["genre"], [150, 285])
            ms = round(chance.uniform(low, high) * 1000)
            if origin and version != "cover":
                ms = (
                    origin.ms
                    if version in ("same", "remastered", "clean")
                    else round(origin.ms * chance.uniform(0.9, 1.25))
                )
            explicit = chance.random() < self.seeds["rough"].get(artist["genre"], 0)
            if origin and version != "cover":
                explicit = origin.explicit and version != "clean"
            guest = song.get("guest")
            credit = artist["name"] + (
                f" feat. {self.seeds['artists'][guest]['name']}" if guest else ""
            )
            track = Track(
                f"{key}-{number}", name, artist_key, key, [g for g in (artist["genre"], artist.get("also")) if g], ms, explicit,
                released.isoformat(), version, fame(artist["followers"]) / 100 * (0.3 if origin else 1),
                {p: self.id(prefix, f"{key}-{number}") if ids[f"{p}_id"] else None for p, prefix in (("spotify", "spt"), ("apple", "apt"))},
            )  # fmt: skip
            self.builder.add(
                self.since, "music_tracks", id=track.key, title=name, credit=credit, album_id=key, guest_id=guest,
                number=number, ms=ms, explicit=explicit, version=version, origin=origin.key if origin else None,
                spotify_id=track.ids["spotify"], apple_id=track.ids["apple"],
            )  # fmt: skip
            self.tracks[track.key] = track
            self.albums[key].append(track)

    def _origin(
        self,
        song: dict[str, Any],
        before: list[Track],
        number: int,
        how: str | None,
        more: int,
        count: int,
    ) -> tuple[Track | None, str | None]:
        """Return the track whose song this is again, and as what."""
        for version in ("same", "cover"):
            if version in song:
                return self.tracks[song[version]], version
        if not before:
            return None, None
        if how == "deluxe":
            plain = count - more
            return (
                (before[number - 1], "same")
                if number <= plain
                else (before[number - plain - 1], "acoustic")
            )
        if how == "clean":
            return before[number - 1], "clean" if before[number - 1].explicit else "same"
        return before[number - 1], {
            "live": "live",
            "remaster": "remastered",
            "acoustic": "acoustic",
        }[how or "live"]

    def _retitled(
        self, origin: Track | None, version: str | None, said: dict[str, Any], released: Any
    ) -> str | None:
        if origin is None:
            return None
        endings = {
            "live": f" ({said.get('at', 'Live')})",
            "remastered": f" - {released.year} Remaster",
            "acoustic": " (Acoustic)",
        }
        return origin.title + endings.get(version or "", "")

    def _title(self, genre: str, album: str, number: int) -> str:
        """Return a title from the genre's words that nobody of the genre used before."""
        words = self.seeds["words"][genre]
        used = self.used.setdefault(genre, set())
        for attempt in range(500):
            chance = draw("title", album, number, attempt)
            one, two = (
                chance.sample(words.get("n", ["", ""]), 2)
                if len(words.get("n", [])) > 1
                else ("", "")
            )
            parts = {k: chance.choice(words[k]) for k in words if k not in ("say", "n")}
            name = re.sub(
                r"\bthe the\b",
                "the",
                chance.choice(words["say"]).format(n=one, m=two, **parts),
                flags=re.IGNORECASE,
            )
            name = name if genre == "lo-fi" else name[:1].upper() + name[1:]
            if name not in used:
                used.add(name)
                return name
        raise InputError(f"_music_catalogue.yaml: the words of {genre} do not give titles enough")

    def pick(
        self,
        provider: str,
        count: int,
        chance: random.Random,
        *,
        genres: list[str],
        artists: list[str] | None = None,
    ) -> list[Track]:
        """Return tracks that a provider carries and that are out, drawn by genre (earlier ones weigh more), artist and popularity."""
        today = iso(self.builder.start)[:10]
        weights = {g: 1 / (n + 1) for n, g in enumerate(genres)}
        pool = []
        for track in self.tracks.values():
            near = max(
                weights.get(g, 0) * share for g, share in zip(track.genres, (1, 0.15), strict=False)
            )
            weight = track.weight * near + (track.artist in (artists or []))
            if weight and track.ids[provider] and track.released <= today:
                pool.append((track, weight))
        keyed = sorted(pool, key=lambda p: (-(chance.random() ** (1 / p[1])), p[0].key))
        return [t for t, _ in keyed[:count]]

    # -- podcasts, stations, editors ----------------------------------------------------------------------------------
    def podcasts(self) -> None:
        """Write shows with episodes up to the start of the world, and a few that come after it."""
        for key, show in self.seeds["shows"].items():
            show_id = self.id("spsh", key)
            spanish = show["about"].startswith("Cuentos")
            row = {
                "name": show["name"],
                "publisher": show["publisher"],
                "about": show["about"],
                "language": "es" if spanish else "en",
            }
            self.builder.add(self.since, "spotify_shows", id=show_id, **row)
            start = datetime.fromtimestamp(self.builder.start, UTC).date()
            last = start - timedelta(
                days=(start.weekday() - show["weekday"]) % (7 if show["every"] > 1 else 1)
            )
            self.shows[key] = []
            for number in range(1, show["count"] + AHEAD + 1):
                day = last + timedelta(days=show["every"] * (number - show["count"]))
                at = int(datetime.combine(day, time(9), UTC).timestamp())
                subject = show["subjects"][(number - 1) % len(show["subjects"])]
                lap = (number - 1) // len(show["subjects"])
                name = f"{number}. {subject}" + (
                    ", again" if lap and not spanish else ", otra vez" if lap else ""
                )
                ms = round(draw("episode", key, number).uniform(*show["minutes"]) * 60_000)
                episode = self.id("spep", f"{key}-{number}")
                added = max(self.since, min(at, self.builder.start))
                self.builder.add(
                    added,
                    "spotify_episodes",
                    id=episode,
                    show_id=show_id,
                    name=name,
                    number=number,
                    released=iso(at),
                    ms=ms,
                )
                self.shows[key].append((episode, at, ms))

    def stations(self) -> None:
        """Write Apple Music's stations, its own playlists and what its editors say."""
        add = self.builder.add
        since = self.since
        for key, station in self.seeds["stations"].items():
            add(since, "apple_music_stations", id=self.id("apst", key), **station)
        for key, said in self.seeds["curated"].items():
            row = {
                "name": said["name"],
                "description": said["description"],
                "curator": "Apple Music",
                "public": True,
            }
            add(
                since,
                "apple_music_playlists",
                id=self.id("appl", key),
                **row,
                created_at=iso(since),
            )
            for place, track in enumerate(
                self.pick("apple", said["size"], draw("curated", key), genres=said["genres"]), 1
            ):
                entry = {
                    "playlist_id": self.id("appl", key),
                    "track_id": track.ids["apple"],
                    "place": place,
                    "added_at": iso(since),
                }
                add(since, "apple_music_entries", id=self.id("ape", f"{key}-{place}"), **entry)
        for number, (key, said) in enumerate(self.seeds["editorial"].items()):
            prefix = {"album": "apal", "artist": "apar", "playlist": "appl", "station": "apst"}[
                said["type"]
            ]
            at = self.builder.start - (number * 9 + 2) * 86_400
            row = {k: said[k] for k in ("title", "description", "type")}
            add(
                at,
                "apple_music_editorial",
                id=self.id("aped", key),
                **row,
                target_id=self.id(prefix, said["target"]),
                published=iso(at),
            )


def slug(title: str) -> str:
    """Return a title as a key: lower case, hyphens, no articles in front."""
    plain = (
        unicodedata.normalize("NFKD", title)
        .encode("ascii", "ignore")
        .decode()
        .lower()
        .replace("'", "")
    )
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"^(the|a) ", "", plain)).strip("-")


def _has(said: dict[str, Any], what: str) -> bool:
    return any(isinstance(s, dict) and what in s for s in said.get("songs", {}).values())
