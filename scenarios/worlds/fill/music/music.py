"""Spotify and Apple Music: the shared catalogue, and of each person libraries, playlists, plays, devices, friends, blends and jams.

Playlists of happenings follow from `life.yaml`: their name, whom they are shared with, the day on which they were made and played.
"""

from __future__ import annotations

import random
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
"""How long before the start of the world the accounts exist."""


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write the catalogue and both providers."""
    catalogue = Catalogue(builder, builder.start - KNOWN_DAYS * DAY).fill()
    catalogue.podcasts()
    catalogue.stations()
    Spotify(builder, catalogue, seeds["spotify"]).fill()
    Apple(builder, catalogue, seeds["apple_music"]).fill()


class Listener:
    """What is written alike for both providers: libraries, plays, the state of the player, playlists of happenings."""

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
        """Return a generator of this provider for a purpose."""
        return self.builder.chance("music", self.provider, *key)

    def local(self, text: Any, city: str = "") -> int:
        """Return the moment of a local date and time; of a date alone, some time of that day."""
        text = str(text)
        if "T" not in text:
            chance = self.chance("hour", text)
            text += f"T{chance.randrange(9, 22):02d}:{chance.randrange(60):02d}:{chance.randrange(60):02d}"
        return self.builder.moment(text, self.cities.get(city))

    def track(self, key: str) -> Track:
        """Return a track of the catalogue that the provider carries."""
        found = self.catalogue.tracks[key]
        if found.ids[self.provider] is None:
            raise InputError(f"music.yaml: {self.provider} does not carry {key}")
        return found

    def chosen(self, said: dict[str, Any], key: str) -> list[Track]:
        """Return the tracks that seeds stand for: named ones, whole albums, and a number drawn by genres and artists."""
        found = [self.track(t) for t in said.get("tracks", [])]
        found += [
            t
            for a in said.get("albums", [])
            for t in self.catalogue.albums[a]
            if t.ids[self.provider]
        ]
        more = said.get("n", 0)
        if more:
            drawn = self.catalogue.pick(
                self.provider,
                more,
                self.chance("pick", key),
                genres=said.get("genres", self.seeds["taste"]),
                artists=said.get("artists", []),
            )
            found += [t for t in drawn if t not in found]
        return found

    def library(self) -> None:
        """Write what is kept and followed, spread over the last months."""
        said = self.seeds["library"]
        start = self.builder.start
        _, album, artist = self.prefixes
        kinds = {
            "track": [t.ids[self.provider] for t in self.chosen(said, "library")],
            "album": [self.id(album, a) for a in said.get("saved_albums", [])],
            "artist": [self.id(artist, a) for a in said.get("follows", [])],
        } | {
            kind: [self.id(prefix, k) for k in said.get(kind, [])]
            for kind, prefix in self.more_kinds().items()
        }
        for kind, ids in kinds.items():
            chance = self.chance("kept", kind)
            moments = sorted(
                self.awake(chance.randrange(self.first + 40 * DAY, start - DAY)) for _ in ids
            )
            for at, item in zip(moments, ids, strict=True):
                self.builder.add(
                    at, f"{self.tables}_library", item_id=item, kind=kind, added_at=iso(at)
                )

    def more_kinds(self) -> dict[str, str]:
        """Return further kinds of the library and the prefixes of their ids."""
        return {}

    def play(self, track_id: str, at: int, plays: int, ms: int) -> None:
        """Write that a track was heard."""
        self.numbers["plays"] += 1
        made = self.id(self.prefixes[0] + "h", f"{self.numbers['plays']}")
        self.builder.add(
            at, f"{self.tables}_plays", id=made, track_id=track_id, at=iso(at), plays=plays, ms=ms
        )

    def plays(self) -> None:
        """Write what was heard: sums by week, and in the last days each song."""
        said = self.seeds["plays"]
        start = self.builder.start
        pool = self.chosen(said, "plays")
        for week in range(said["weeks"], 0, -1):
            chance = self.chance("week", week)
            until = start - (week - 1) * WEEK - 4 * DAY
            for number in range(said["a_week"]):
                track = pool[int(len(pool) * chance.random() ** 1.8)]
                if track.released > iso(until)[:10]:
                    continue
                times = 1 + int(chance.random() ** 2 * 7)
                at = self.awake(
                    until
                    - chance.randrange(WEEK // said["a_week"])
                    - number * (WEEK // said["a_week"])
                )
                self.play(
                    track.ids[self.provider] or "",
                    at,
                    times,
                    round(times * track.ms * chance.uniform(0.75, 1)),
                )
        chance = self.chance("lately")
        for back in range(said.get("lately", 0), 0, -1):
            track = pool[int(len(pool) * chance.random() ** 1.4)]
            at = self.awake(self.paused - back * 2 * 3600 - chance.randrange(3600))
            self.play(
                track.ids[self.provider] or "", at, 1, round(track.ms * chance.uniform(0.5, 1))
            )

    def player(self, **more: Any) -> None:
        """Write the player, silent when the account began, and what was paused before the start: an album from one of its tracks."""
        said = self.seeds["player"]
        begins = iso(self.first)
        modes = {"playing": False, "shuffle": False, "repeat": "off"}
        silence: dict[str, Any] = {
            "items": [],
            "place": 0,
            "lead": 0,
            "now_id": None,
            "position_ms": 0,
            "context": None,
        }
        self.builder.add(
            self.first,
            f"{self.tables}_player",
            id="player",
            **silence,
            **modes,
            at=begins,
            seed=begins,
            **more,
        )
        items = [t.ids[self.provider] for t in self.catalogue.albums[said["album"]]]
        place = said["place"]
        album = self.id(self.prefixes[1], said["album"])
        at = self.paused
        state = {
            "items": items,
            "place": place,
            "now_id": items[place],
            "position_ms": said["position_ms"],
            "context": f"album:{album}",
        }
        self.builder.change(
            at, f"{self.tables}_player", "player", **state, at=iso(at), seed=iso(at)
        )

    @property
    def paused(self) -> int:
        """The moment at which the player was paused last."""
        return self.builder.start - self.seeds["player"]["hours_ago"] * 3600

    def awake(self, at: int) -> int:
        """Return a moment, or the evening before where it lies in the night."""
        return at - 9 * 3600 if datetime.fromtimestamp(at, self.builder.zone).hour < 7 else at

    def items_of(
        self, key: str, tracks: list[Track], since: int, until: int, by: list[str | None]
    ) -> None:
        """Write a playlist's tracks, added in turn by several people."""
        chance = self.chance("added", key)
        moments = sorted(
            max(since, self.awake(chance.randrange(since, max(since + 1, until)))) for _ in tracks
        )
        for place, (track, at) in enumerate(zip(tracks, moments, strict=True), 1):
            row = {
                "playlist_id": self.id(self.prefix_of_lists(), key),
                "track_id": track.ids[self.provider],
                "place": place,
            }
            self.builder.add(
                at,
                self.items,
                id=self.id(self.prefix_of_lists() + "i", f"{key}-{place}"),
                **row,
                added_at=iso(at),
                **self.adder(by, place),
            )

    def prefix_of_lists(self) -> str:
        """Return the prefix of ids of playlists."""
        return ""

    def adder(self, by: list[str | None], place: int) -> dict[str, Any]:
        """Return who added a track, where the provider keeps that."""
        return {}

    def happenings(self) -> None:
        """Write the playlists of what happens, and that the past ones were played there."""
        seen: set[str] = set()
        start = self.builder.start
        for said in self.builder.life:
            music = said.get("music", {})
            if (
                self.tables not in music.get("on", [])
                or "playlist" not in music
                or music["playlist"] in seen
            ):
                continue
            seen.add(music["playlist"])
            at = self.local(said["at"], said.get("city", ""))
            made = said.get("event", {}).get("made")
            created = min(self.local(made) if made else at - 6 * DAY, at - DAY, start - 2 * DAY)
            recipe = {"n": 18} | self.seeds.get("happenings", {}).get(said["key"], {})
            tracks = self.chosen(recipe, said["key"])
            text = recipe.get("description", said["title"])
            self.playlist(
                said["key"],
                music["playlist"],
                text,
                created,
                min(at, start),
                tracks,
                music.get("with", []),
            )
            for number, track in enumerate(tracks[:10] if at + 4 * 3600 < start else []):
                self.play(track.ids[self.provider] or "", at + (number + 1) * 400, 1, track.ms)

    def playlist(
        self,
        key: str,
        name: str,
        text: str,
        created: int,
        until: int,
        tracks: list[Track],
        shared: list[str],
    ) -> None:
        """Write one playlist of the person's own."""
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
            "name": who["name"],
            "email": who["emails"]["personal"],
            "country": "US",
            "timezone": who["timezone"],
        }
        self.builder.add(
            self.first,
            "spotify_profile",
            id=self.id("spu", "me"),
            **profile,
            tier=seeds["plan"],
            premium=True,
        )
        self.user("me", {"name": who["name"]}, seeds["username"], seeds["taste"])
        shared = [
            k
            for h in self.builder.life
            if "spotify" in h.get("music", {}).get("on", [])
            for k in h["music"].get("with", [])
        ]
        for key in dict.fromkeys([*seeds["friends"], *shared]):
            taste = seeds["friends"].get(key, seeds["taste"][:2])
            self.user(
                key,
                who["people"][key],
                who["people"][key]["email"].split("@")[0].replace(".", "_"),
                taste,
            )
        self.library()
        for said in seeds["playlists"]:
            created = self.local(said["created"])
            until = (
                self.local(said["until"])
                if "until" in said
                else min(self.builder.start - DAY, created + 120 * DAY)
            )
            tracks = self.chosen(said, said["key"]) + [self.track(t) for t in said.get("again", [])]
            self.playlist(
                said["key"], said["name"], said.get("description", ""), created, until, tracks, said.get("with", []),
                owner=said.get("owner", "me"), public=said.get("public", False),
            )  # fmt: skip
        self.happenings()
        self.plays()
        for key, said in seeds["devices"].items():
            self.builder.add(self.first, "spotify_devices", id=self.id("spd", key), **said)
        self.player(device_id=self.id("spd", seeds["player"]["device"]))
        for key, share in seeds["resume"].items():
            self.resume(key, share)
        for number, (key, created) in enumerate(seeds["blends"].items()):
            self.blend(key, self.local(created), number)
        for key, said in seeds["jams"].items():
            self.jam(key, said)

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
        """Return followed people, shows and playlists of others."""
        return {"user": "spu", "show": "spsh", "playlist": "sppl"}

    def prefix_of_lists(self) -> str:
        """Return the prefix of Spotify's playlists."""
        return "sppl"

    def adder(self, by: list[str | None], place: int) -> dict[str, Any]:
        """Return who added a track; null is the owner."""
        who = by[(place - 1) * 5 // 3 % len(by)]
        return {"added_by": self.id("spu", who) if who else None}

    def playlist(
        self,
        key: str,
        name: str,
        text: str,
        created: int,
        until: int,
        tracks: list[Track],
        shared: list[str],
        *,
        owner: str = "me",
        public: bool = False,
    ) -> None:
        """Write a playlist; one that is shared is collaborative."""
        row = {
            "name": name,
            "description": text,
            "owner_id": self.id("spu", owner),
            "public": public,
            "collaborative": bool(shared),
        }
        members = [self.id("spu", m) for m in shared]
        self.builder.add(
            created,
            "spotify_playlists",
            id=self.id("sppl", key),
            **row,
            members=members,
            created_at=iso(created),
        )
        self.items_of(key, tracks, created, until, [None, *shared])

    def resume(self, key: str, share: float) -> None:
        """Write how far an episode was heard, as a share of it; 1 is all."""
        show, _, number = key.rpartition("-")
        made, released, ms = self.catalogue.shows[show][int(number) - 1]
        at = min(self.builder.start - 3600, released + 9 * 3600)
        self.builder.add(
            at, "spotify_resume", episode_id=made, position_ms=round(ms * share), at=iso(at)
        )

    def blend(self, key: str, created: int, number: int) -> None:
        """Write a blend with a friend, with the tracks that it had when it was made."""
        who = self.builder.person["people"][key]["name"].split()[0]
        mine = self.builder.person["name"].split()[0]
        tracks = self.catalogue.pick(
            "spotify",
            16,
            self.chance("blend", key),
            genres=[*self.seeds["taste"][:2], *self.seeds["friends"][key]],
        )
        self.playlist(
            f"blend-{key}",
            f"{mine} + {who}",
            "A Blend of music for you both.",
            created,
            created + 1,
            tracks,
            [],
        )
        self.builder.change(
            created,
            "spotify_playlists",
            self.id("sppl", f"blend-{key}"),
            members=[self.id("spu", key)],
        )
        row = {
            "user_id": self.id("spu", key),
            "playlist_id": self.id("sppl", f"blend-{key}"),
            "created_at": iso(created),
        }
        self.builder.add(
            created,
            "spotify_blends",
            id=self.id("spb", key),
            **row,
            updated_at=iso(created + number),
        )

    def jam(self, key: str, said: dict[str, Any]) -> None:
        """Write a jam of a friend or of one's own that began some hours ago."""
        at = self.builder.start - round(said["hours_ago"] * 3600)
        ends = at + round(said.get("hours", 8) * 3600)
        jam = self.id("spj", key)
        host = self.id("spu", said["host"])
        self.builder.add(
            at, "spotify_jams", id=jam, host_id=host, started_at=iso(at), ends_at=iso(ends)
        )
        for number, member in enumerate([said["host"], *said.get("with", [])]):
            joined = iso(at + number * 300)
            row = {"user_id": self.id("spu", member), "joined_at": joined, "left_at": None}
            self.builder.add(
                at + number * 300,
                "spotify_jam_members",
                id=self.id("spm", f"{key}-{member}"),
                jam_id=jam,
                **row,
            )
        for number, track in enumerate(self.chosen(said, f"jam-{key}")):
            row = {"track_id": track.ids["spotify"], "added_by": host, "added_at": iso(at + number)}
            self.builder.add(
                at + number,
                "spotify_jam_tracks",
                id=self.id("spk", f"{key}-{number}"),
                jam_id=jam,
                **row,
            )


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
        row = {
            "name": who["name"],
            "email": who["emails"]["personal"],
            "storefront": "US",
            "timezone": who["timezone"],
        }
        until = iso(self.local(seeds["until"])) if seeds.get("until") else None
        row |= {"subscription": seeds["subscription"], "until": until}
        self.builder.add(self.first, "apple_music_profile", id=self.id("apu", "me"), **row)
        self.builder.add(
            self.first, "apple_music_settings", id="settings", spatial=seeds["spatial"]
        )
        self.library()
        for said in seeds["playlists"]:
            created = self.local(said["created"])
            until_at = min(self.builder.start - DAY, created + 150 * DAY)
            self.playlist(
                said["key"],
                said["name"],
                said.get("description", ""),
                created,
                until_at,
                self.chosen(said, said["key"]),
                [],
            )
        self.happenings()
        for rating in ("love", "dislike"):
            chance = self.chance("rated", rating)
            for track in self.chosen(seeds[rating], rating):
                at = chance.randrange(self.first + 60 * DAY, self.builder.start - DAY)
                self.builder.add(
                    at,
                    "apple_music_ratings",
                    track_id=track.ids["apple"],
                    rating=rating,
                    at=iso(at),
                )
        self.plays()
        self.player(station_id=None, sing=None, sing_track=None)

    def more_kinds(self) -> dict[str, str]:
        """Return playlists of Apple Music's editors."""
        return {"playlist": "appl"}

    def prefix_of_lists(self) -> str:
        """Return the prefix of Apple Music's playlists."""
        return "appl"

    def playlist(
        self,
        key: str,
        name: str,
        text: str,
        created: int,
        until: int,
        tracks: list[Track],
        shared: list[str],
    ) -> None:
        """Write a playlist of the library."""
        row = {
            "name": name,
            "description": text,
            "curator": None,
            "public": False,
            "created_at": iso(created),
        }
        self.builder.add(created, "apple_music_playlists", id=self.id("appl", key), **row)
        self.items_of(key, tracks, created, until, [None])
