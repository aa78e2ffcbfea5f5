"""Spotify and Apple Music.

This writes the shared catalogue and each person's libraries, playlists, plays, devices, friends,
blends and jams. `life.yaml` determines the playlists for happenings: their names, whom they are
shared with, and when they were made and played.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from scenarios.worlds.build import Builder
from scenarios.worlds.fill.music._catalogue import Catalogue, Track
from servers.kit.errors import InputError
from servers.kit.values import iso

DAY = 86_400
WEEK = 7 * 86_400
KNOWN_DAYS = 700
"""How many days before the start of the world the accounts were opened."""


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write the catalogue and both providers."""
    catalogue = Catalogue(builder, builder.start - KNOWN_DAYS * DAY).fill()
    catalogue.podcasts()
    catalogue.stations()
    Spotify(builder, catalogue, seeds["spotify"]).fill()
    Apple(builder, catalogue, seeds["apple_music"]).fill()


@dataclass(frozen=True)
class Playlist:
    """A playlist to write; its tracks are added between `created` and `until` (epoch seconds).

    `shared` lists keys of the people with whom it is shared.
    """

    key: str
    name: str
    text: str
    created: int
    until: int
    tracks: list[Track]
    shared: list[str] = field(default_factory=list)
    owner: str = "me"
    public: bool = False


class Listener:
    """What is written for both providers in the same way.

    These are libraries, plays, the player's state, and the playlists for happenings.
    """

    provider = ""
    tables = ""
    playlists = ""
    items = ""
    prefixes = ("", "", "")

    def __init__(self, builder: Builder, catalogue: Catalogue, seeds: dict[str, Any]) -> None:
        self.builder = builder
        self.catalogue = catalogue
        self.seeds = seeds
        self.first = catalogue.since
        self.cities = {c["key"]: ZoneInfo(c["timezone"]) for c in builder.person["cities"]}
        self.numbers = {"plays": 0, "items": 0}

    def id(self, prefix: str, key: str) -> str:
        """Return the id of a row by its key."""
        return self.builder.id(prefix, key)

    def chance(self, *key: Any) -> random.Random:
        """Return a random generator of this provider for a purpose."""
        return self.builder.chance("music", self.provider, *key)

    def local(self, text: Any, city: str = "") -> int:
        """Return the moment of a local date and time; for a bare date, some time on that day."""
        text = str(text)
        if "T" not in text:
            chance = self.chance("hour", text)
            hour = chance.randrange(9, 22)
            minute = chance.randrange(60)
            text += f"T{hour:02d}:{minute:02d}:{chance.randrange(60):02d}"
        return self.builder.moment(text, self.cities.get(city))

    def track(self, key: str) -> Track:
        """Return a track of the catalogue that the provider carries."""
        track = self.catalogue.tracks[key]
        if track.ids[self.provider] is None:
            raise InputError(f"music.yaml: {self.provider} does not carry {key}")
        return track

    def chosen(self, seed: dict[str, Any], key: str) -> list[Track]:
        """Return the tracks that seeds ask for.

        These are named tracks, whole albums, and a number of tracks drawn by genre and artist.
        """
        tracks = [self.track(name) for name in seed.get("tracks", [])]
        for album in seed.get("albums", []):
            tracks += [t for t in self.catalogue.albums[album] if t.ids[self.provider]]
        more = seed.get("n", 0)
        if more:
            drawn = self.catalogue.pick(
                self.provider,
                more,
                self.chance("pick", key),
                genres=seed.get("genres", self.seeds["taste"]),
                artists=seed.get("artists", []),
            )
            tracks += [t for t in drawn if t not in tracks]
        return tracks

    def library(self) -> None:
        """Write what is saved and followed, spread over the past months."""
        seed = self.seeds["library"]
        start = self.builder.start
        _, album, artist = self.prefixes
        kinds = {
            "track": [t.ids[self.provider] for t in self.chosen(seed, "library")],
            "album": [self.id(album, key) for key in seed.get("saved_albums", [])],
            "artist": [self.id(artist, key) for key in seed.get("follows", [])],
        }
        for kind, prefix in self.more_kinds().items():
            kinds[kind] = [self.id(prefix, key) for key in seed.get(kind, [])]
        for kind, ids in kinds.items():
            chance = self.chance("kept", kind)
            moments = [
                self.awake(chance.randrange(self.first + 40 * DAY, start - DAY)) for _ in ids
            ]
            for at, item in zip(sorted(moments), ids, strict=True):
                row = {"item_id": item, "kind": kind, "added_at": iso(at)}
                self.builder.add(at, f"{self.tables}_library", **row)

    def more_kinds(self) -> dict[str, str]:
        """Return further kinds of the library and the prefixes of their ids."""
        return {}

    def play(self, track: Track, at: int, plays: int, ms: int) -> None:
        """Write that a track was heard."""
        self.numbers["plays"] += 1
        row = {
            "id": self.id(self.prefixes[0] + "h", f"{self.numbers['plays']}"),
            "track_id": track.ids[self.provider] or "",
            "at": iso(at),
            "plays": plays,
            "ms": ms,
        }
        self.builder.add(at, f"{self.tables}_plays", **row)

    def plays(self) -> None:
        """Write what was heard: weekly sums, and in the last days each song."""
        seed = self.seeds["plays"]
        start = self.builder.start
        pool = self.chosen(seed, "plays")
        apart = WEEK // seed["a_week"]
        for week in range(seed["weeks"], 0, -1):
            chance = self.chance("week", week)
            until = start - (week - 1) * WEEK - 4 * DAY
            for number in range(seed["a_week"]):
                track = pool[int(len(pool) * chance.random() ** 1.8)]
                if track.released > iso(until)[:10]:
                    continue
                times = 1 + int(chance.random() ** 2 * 7)
                at = self.awake(until - chance.randrange(apart) - number * apart)
                self.play(track, at, times, round(times * track.ms * chance.uniform(0.75, 1)))
        chance = self.chance("lately")
        for back in range(seed.get("lately", 0), 0, -1):
            track = pool[int(len(pool) * chance.random() ** 1.4)]
            at = self.awake(self.paused - back * 2 * 3600 - chance.randrange(3600))
            self.play(track, at, 1, round(track.ms * chance.uniform(0.5, 1)))

    def player(self, **more: Any) -> None:
        """Write the player: idle when the account was opened, later paused within an album.

        `more` are values for a provider's own columns.
        """
        seed = self.seeds["player"]
        table = f"{self.tables}_player"
        silence: dict[str, Any] = {
            "id": "player",
            "items": [],
            "place": 0,
            "lead": 0,
            "now_id": None,
            "position_ms": 0,
            "context": None,
            "playing": False,
            "shuffle": False,
            "repeat": "off",
            "at": iso(self.first),
            "seed": iso(self.first),
        }
        self.builder.add(self.first, table, **silence, **more)
        items = [t.ids[self.provider] for t in self.catalogue.albums[seed["album"]]]
        album = self.id(self.prefixes[1], seed["album"])
        state = {
            "items": items,
            "place": seed["place"],
            "now_id": items[seed["place"]],
            "position_ms": seed["position_ms"],
            "context": f"album:{album}",
            "at": iso(self.paused),
            "seed": iso(self.paused),
        }
        self.builder.change(self.paused, table, "player", **state)

    @property
    def paused(self) -> int:
        """The moment at which the player was paused last."""
        return self.builder.start - self.seeds["player"]["hours_ago"] * 3600

    def awake(self, at: int) -> int:
        """Return a moment or, if it is at night, the evening before."""
        return at - 9 * 3600 if datetime.fromtimestamp(at, self.builder.zone).hour < 7 else at

    def items_of(self, playlist: Playlist) -> None:
        """Write a playlist's tracks, added in turn by the people who share it."""
        chance = self.chance("added", playlist.key)
        since = playlist.created
        until = max(since + 1, playlist.until)
        prefix = self.prefix_of_lists()
        moments = sorted(
            max(since, self.awake(chance.randrange(since, until))) for _ in playlist.tracks
        )
        for place, (track, at) in enumerate(zip(playlist.tracks, moments, strict=True), 1):
            row = {
                "id": self.id(prefix + "i", f"{playlist.key}-{place}"),
                "playlist_id": self.id(prefix, playlist.key),
                "track_id": track.ids[self.provider],
                "place": place,
                "added_at": iso(at),
            }
            self.builder.add(at, self.items, **row, **self.adder(playlist, place))

    def prefix_of_lists(self) -> str:
        """Return the prefix of playlist ids."""
        return ""

    def adder(self, playlist: Playlist, place: int) -> dict[str, Any]:
        """Return who added a track, if the provider records it."""
        return {}

    def happenings(self) -> None:
        """Write the playlists for happenings, and plays of those in the past."""
        seen: set[str] = set()
        start = self.builder.start
        for happening in self.builder.life:
            music = happening.get("music", {})
            name = music.get("playlist")
            if self.tables not in music.get("on", []) or name is None or name in seen:
                continue
            seen.add(name)
            key = happening["key"]
            at = self.local(happening["at"], happening.get("city", ""))
            invited = happening.get("event", {}).get("made")
            created = self.local(invited) if invited else at - 6 * DAY
            recipe = {"n": 18} | self.seeds.get("happenings", {}).get(key, {})
            tracks = self.chosen(recipe, key)
            playlist = Playlist(
                key=key,
                name=name,
                text=recipe.get("description", happening["title"]),
                created=min(created, at - DAY, start - 2 * DAY),
                until=min(at, start),
                tracks=tracks,
                shared=music.get("with", []),
            )
            self.playlist(playlist)
            if at + 4 * 3600 < start:
                for number, track in enumerate(tracks[:10], 1):
                    self.play(track, at + number * 400, 1, track.ms)

    def playlist(self, playlist: Playlist) -> None:
        """Write one of the person's own playlists."""
        raise NotImplementedError


class Spotify(Listener):
    """Writes Spotify's rows."""

    provider = "spotify"
    tables = "spotify"
    items = "spotify_playlist_items"
    prefixes = ("spt", "spal", "spar")

    def fill(self) -> None:
        """Write everything."""
        seeds = self.seeds
        who = self.builder.person
        profile = {
            "id": self.id("spu", "me"),
            "name": who["name"],
            "email": who["emails"]["personal"],
            "tier": seeds["plan"],
            "premium": True,
            "country": "US",
            "timezone": who["timezone"],
        }
        self.builder.add(self.first, "spotify_profile", **profile)
        self.user("me", {"name": who["name"]}, seeds["username"], seeds["taste"])
        for key in dict.fromkeys([*seeds["friends"], *self.guests()]):
            friend = who["people"][key]
            username = friend["email"].split("@")[0].replace(".", "_")
            self.user(key, friend, username, seeds["friends"].get(key, seeds["taste"][:2]))
        self.library()
        for seed in seeds["playlists"]:
            created = self.local(seed["created"])
            until = min(self.builder.start - DAY, created + 120 * DAY)
            if "until" in seed:
                until = self.local(seed["until"])
            again = [self.track(key) for key in seed.get("again", [])]
            playlist = Playlist(
                key=seed["key"],
                name=seed["name"],
                text=seed.get("description", ""),
                created=created,
                until=until,
                tracks=self.chosen(seed, seed["key"]) + again,
                shared=seed.get("with", []),
                owner=seed.get("owner", "me"),
                public=seed.get("public", False),
            )
            self.playlist(playlist)
        self.happenings()
        self.plays()
        for key, device in seeds["devices"].items():
            self.builder.add(self.first, "spotify_devices", id=self.id("spd", key), **device)
        self.player(device_id=self.id("spd", seeds["player"]["device"]))
        for key, share in seeds["resume"].items():
            self.resume(key, share)
        for number, (key, created) in enumerate(seeds["blends"].items()):
            self.blend(key, self.local(created), number)
        for key, seed in seeds["jams"].items():
            self.jam(key, seed)

    def guests(self) -> list[str]:
        """Return the keys of people with whom playlists for happenings are shared."""
        keys: list[str] = []
        for happening in self.builder.life:
            music = happening.get("music", {})
            if "spotify" in music.get("on", []):
                keys += music.get("with", [])
        return keys

    def user(self, key: str, who: dict[str, Any], username: str, taste: list[str]) -> None:
        """Write a user."""
        self.builder.add(
            self.first,
            "spotify_users",
            id=self.id("spu", key),
            display_name=who["name"],
            username=username,
            taste=taste,
        )

    def more_kinds(self) -> dict[str, str]:
        """Return kinds for followed people, shows and other people's playlists."""
        return {"user": "spu", "show": "spsh", "playlist": "sppl"}

    def prefix_of_lists(self) -> str:
        """Return the prefix of Spotify's playlist ids."""
        return "sppl"

    def adder(self, playlist: Playlist, place: int) -> dict[str, Any]:
        """Return who added a track; null stands for the owner."""
        people = [None, *playlist.shared]
        person = people[(place - 1) * 5 // 3 % len(people)]
        return {"added_by": self.id("spu", person) if person else None}

    def playlist(self, playlist: Playlist) -> None:
        """Write a playlist; one that is shared is collaborative."""
        row = {
            "id": self.id("sppl", playlist.key),
            "name": playlist.name,
            "description": playlist.text,
            "owner_id": self.id("spu", playlist.owner),
            "public": playlist.public,
            "collaborative": bool(playlist.shared),
            "members": [self.id("spu", key) for key in playlist.shared],
            "created_at": iso(playlist.created),
        }
        self.builder.add(playlist.created, "spotify_playlists", **row)
        self.items_of(playlist)

    def resume(self, key: str, share: float) -> None:
        """Write how far an episode was played, as a share of its length."""
        show, _, number = key.rpartition("-")
        episode = self.catalogue.shows[show][int(number) - 1]
        at = min(self.builder.start - 3600, episode.released + 9 * 3600)
        row = {
            "episode_id": episode.id,
            "position_ms": round(episode.ms * share),
            "at": iso(at),
        }
        self.builder.add(at, "spotify_resume", **row)

    def blend(self, key: str, created: int, number: int) -> None:
        """Write a blend with a friend, and the tracks that it had when it was made."""
        friend = self.builder.person["people"][key]["name"].split()[0]
        mine = self.builder.person["name"].split()[0]
        genres = [*self.seeds["taste"][:2], *self.seeds["friends"][key]]
        tracks = self.catalogue.pick("spotify", 16, self.chance("blend", key), genres=genres)
        playlist = Playlist(
            key=f"blend-{key}",
            name=f"{mine} + {friend}",
            text="A Blend of music for you both.",
            created=created,
            until=created + 1,
            tracks=tracks,
        )
        self.playlist(playlist)
        playlist_id = self.id("sppl", playlist.key)
        user_id = self.id("spu", key)
        # The friend becomes a member here, as `shared` would make the playlist collaborative.
        self.builder.change(created, "spotify_playlists", playlist_id, members=[user_id])
        row = {
            "id": self.id("spb", key),
            "user_id": user_id,
            "playlist_id": playlist_id,
            "created_at": iso(created),
            "updated_at": iso(created + number),
        }
        self.builder.add(created, "spotify_blends", **row)

    def jam(self, key: str, seed: dict[str, Any]) -> None:
        """Write a jam that the person or a friend started some hours ago."""
        at = self.builder.start - round(seed["hours_ago"] * 3600)
        jam = {
            "id": self.id("spj", key),
            "host_id": self.id("spu", seed["host"]),
            "started_at": iso(at),
            "ends_at": iso(at + round(seed.get("hours", 8) * 3600)),
        }
        self.builder.add(at, "spotify_jams", **jam)
        for number, person in enumerate([seed["host"], *seed.get("with", [])]):
            joined = at + number * 300
            member = {
                "id": self.id("spm", f"{key}-{person}"),
                "jam_id": jam["id"],
                "user_id": self.id("spu", person),
                "joined_at": iso(joined),
                "left_at": None,
            }
            self.builder.add(joined, "spotify_jam_members", **member)
        for number, track in enumerate(self.chosen(seed, f"jam-{key}")):
            queued = {
                "id": self.id("spk", f"{key}-{number}"),
                "jam_id": jam["id"],
                "track_id": track.ids["spotify"],
                "added_by": jam["host_id"],
                "added_at": iso(at + number),
            }
            self.builder.add(at + number, "spotify_jam_tracks", **queued)


class Apple(Listener):
    """Writes Apple Music's rows."""

    provider = "apple"
    tables = "apple_music"
    items = "apple_music_entries"
    prefixes = ("apt", "apal", "apar")

    def fill(self) -> None:
        """Write everything."""
        seeds = self.seeds
        who = self.builder.person
        profile = {
            "id": self.id("apu", "me"),
            "name": who["name"],
            "email": who["emails"]["personal"],
            "subscription": seeds["subscription"],
            "until": iso(self.local(seeds["until"])) if seeds.get("until") else None,
            "storefront": "US",
            "timezone": who["timezone"],
        }
        self.builder.add(self.first, "apple_music_profile", **profile)
        settings = {"id": "settings", "spatial": seeds["spatial"]}
        self.builder.add(self.first, "apple_music_settings", **settings)
        self.library()
        for seed in seeds["playlists"]:
            created = self.local(seed["created"])
            playlist = Playlist(
                key=seed["key"],
                name=seed["name"],
                text=seed.get("description", ""),
                created=created,
                until=min(self.builder.start - DAY, created + 150 * DAY),
                tracks=self.chosen(seed, seed["key"]),
            )
            self.playlist(playlist)
        self.happenings()
        for rating in ("love", "dislike"):
            chance = self.chance("rated", rating)
            for track in self.chosen(seeds[rating], rating):
                at = chance.randrange(self.first + 60 * DAY, self.builder.start - DAY)
                row = {"track_id": track.ids["apple"], "rating": rating, "at": iso(at)}
                self.builder.add(at, "apple_music_ratings", **row)
        self.plays()
        self.player(station_id=None, sing=None, sing_track=None)

    def more_kinds(self) -> dict[str, str]:
        """Return the kind for playlists by Apple Music's editors."""
        return {"playlist": "appl"}

    def prefix_of_lists(self) -> str:
        """Return the prefix of Apple Music's playlist ids."""
        return "appl"

    def playlist(self, playlist: Playlist) -> None:
        """Write a playlist in the library."""
        row = {
            "id": self.id("appl", playlist.key),
            "name": playlist.name,
            "description": playlist.text,
            "curator": None,
            "public": False,
            "created_at": iso(playlist.created),
        }
        self.builder.add(playlist.created, "apple_music_playlists", **row)
        self.items_of(playlist)
