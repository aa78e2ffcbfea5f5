"""Blends with friends, and jams: listening together."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.noise import share
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.values import Cursor, Limit, iso, page, parse_time
from servers.music import _player as player
from servers.music import _rules as rules
from servers.music._rules import TrackId
from servers.music._stats import Heard, alike
from servers.music.spotify._model import (
    DECK,
    WORDS,
    UserId,
    find_user,
    items,
    me,
    track_json,
    user_ref,
)

BlendId = Annotated[str, Field(description="blend_id, from list_blends.")]
JamId = Annotated[str, Field(description="session_id of a jam, from list_jam_sessions.")]
JAM_LASTS = timedelta(hours=8)
BLEND_SIZE = 20
JORDAN = seeded("spu", "jordan_park")
SONG = seeded("spt", "firewood-2")


class Social(Service):
    """Blends and jams."""

    @writes(example={"target_user_id": seeded("spu", "kai_tanaka")})
    def create_blend(self, target_user_id: UserId) -> dict[str, Any]:
        """Make a playlist out of your taste and another user's. Returns it with how well the two match (percent)."""
        user = find_user(self, target_user_id)
        mine = me(self)
        if target_user_id == mine["id"]:
            self.fail(
                "CANNOT_BLEND_WITH_SELF",
                "A Blend needs another user.",
                "Find people with search_users.",
            )
        known = self.db.rows("spotify_blends", "user_id=?", target_user_id)
        if known:
            hint = "See it with get_blend, refresh it with update_blend."
            self.fail(
                "BLEND_EXISTS",
                f"You already have a Blend with {user['display_name']}.",
                hint,
                blend_id=known[0]["id"],
            )
        playlist = {
            "id": self.new_id("sppl"),
            "name": f"{mine['name'].split()[0]} + {user['display_name'].split()[0]}",
            "description": "A Blend of music for you both.",
            "owner_id": mine["id"],
            "public": False,
            "collaborative": False,
            "members": [target_user_id],
            "created_at": self.time,
        }
        self.db.insert("spotify_playlists", playlist)
        blend = {"id": self.new_id("spb"), "user_id": target_user_id, "playlist_id": playlist["id"]}
        self.db.insert("spotify_blends", blend | {"created_at": self.time, "updated_at": self.time})
        self._fill(blend)
        return self._blend(self.db.get("spotify_blends", blend["id"]) or {})

    @reads(example={"blend_id": seeded("spb", "jordan_park")})
    def get_blend(self, blend_id: BlendId) -> dict[str, Any]:
        """Return a Blend: its users, taste match today, playlist and tracks."""
        return self._blend(self._find_blend(blend_id))

    @reads()
    def list_blends(self, limit: Limit = 20, cursor: Cursor | None = None) -> dict[str, Any]:
        """Return your Blends, without their tracks."""
        rows = self.db.rows("spotify_blends", order="created_at DESC, rowid DESC")
        return page(
            rows,
            "blends",
            limit,
            cursor,
            lambda r: {k: v for k, v in self._blend(r).items() if k != "tracks"},
        )

    @writes(example={"blend_id": seeded("spb", "jordan_park")})
    def update_blend(self, blend_id: BlendId) -> dict[str, Any]:
        """Put a Blend together anew from what both have heard lately."""
        blend = self._find_blend(blend_id)
        for entry in items(self, blend["playlist_id"]):
            self.db.delete("spotify_playlist_items", entry["id"])
        self._fill(blend)
        self.db.update("spotify_blends", blend_id, updated_at=self.time)
        return self._blend(blend | {"updated_at": self.time})

    def _find_blend(self, blend_id: str) -> dict[str, Any]:
        blend = self.db.get("spotify_blends", blend_id)
        if blend is None:
            self.fail(
                "BLEND_NOT_FOUND",
                f"There is no Blend {blend_id!r}.",
                "See list_blends.",
                blend_id=blend_id,
            )
        return blend

    def _heard(self) -> Heard:
        return Heard(self, DECK, WORDS, iso(self.now - 182 * 86_400))

    def _fill(self, blend: dict[str, Any]) -> None:
        """Put tracks into a Blend's playlist: in turn one that I play most and one of the other's genres."""
        taste = find_user(self, blend["user_id"])["taste"]
        mine = [t["id"] for t in self._heard().tracks if t["playable"]][:60]
        pool = rules.genre_tracks(self, WORDS, taste or list(rules.GENRES))
        theirs = sorted(
            pool, key=lambda t: share("blend", blend["user_id"], t["key"]) - t["popularity"] / 150
        )
        others = [t["id"] for t in theirs]
        mixed = [i for pair in zip(mine + others, others, strict=False) for i in pair]
        picked = list(dict.fromkeys(mixed))[:BLEND_SIZE]
        by = blend["user_id"]
        for place, track_id in enumerate(picked, 1):
            row = {
                "id": self.new_id("spi"),
                "playlist_id": blend["playlist_id"],
                "track_id": track_id,
                "place": place,
            }
            self.db.insert(
                "spotify_playlist_items",
                row | {"added_at": self.time, "added_by": None if track_id in mine else by},
            )

    def _blend(self, blend: dict[str, Any]) -> dict[str, Any]:
        user = find_user(self, blend["user_id"])
        entries = items(self, blend["playlist_id"])
        theirs = {genre: 2 * (len(user["taste"]) - n) for n, genre in enumerate(user["taste"])}
        known = rules.by_ids(self, WORDS, [e["track_id"] for e in entries])
        return {
            "blend_id": blend["id"],
            "playlist_id": blend["playlist_id"],
            "users": [user_ref(self, me(self)["id"]), user_ref(self, user["id"])],
            "taste_match_percent": alike(self._heard().genres, theirs),
            "created_at": blend["created_at"],
            "updated_at": blend["updated_at"],
            "tracks": [
                track_json(self, known[e["track_id"]]) for e in entries if e["track_id"] in known
            ],
        }

    # -- jams -------------------------------------------------------------------------------------------------------
    @writes()
    def start_jam_session(self) -> dict[str, Any]:
        """Start a jam with what plays or is paused and its queue. Friends join with the join_code; it ends after 8 hours."""
        mine = me(self)["id"]
        if not me(self)["premium"]:
            self.fail(
                "PREMIUM_REQUIRED",
                "Only members of Spotify Premium can start a jam.",
                "Join the jam of somebody else.",
            )
        for jam in self._jams():
            if jam["host_id"] == mine and jam["ends_at"] > self.time:
                hint = "Go on with it (get_jam_session), or end it with leave_jam_session."
                self.fail(
                    "JAM_ALREADY_ACTIVE", "You already host a jam.", hint, session_id=jam["id"]
                )
        jam = {
            "id": self.new_id("spj"),
            "host_id": mine,
            "started_at": self.time,
            "ends_at": iso(self.now + int(JAM_LASTS.total_seconds())),
        }
        self.db.insert("spotify_jams", jam)
        self._enter(jam["id"], mine)
        now = player.playback(self, DECK)
        coming = (
            [now.current, *(c["track_id"] for c in player.upcoming(now))]
            if now.current and not now.ended
            else []
        )
        known = rules.by_ids(self, WORDS, coming)
        for track_id in [i for i in coming if i in known][:20]:
            self._add_track(jam["id"], track_id)
        return self._jam(jam)

    @writes(example={"session_id": seeded("spj", "cabin")})
    def join_jam_session(
        self,
        session_id: JamId | None = None,
        join_code: Annotated[
            str, Field(max_length=20, description="Code that the host shared, e.g. JAM-1A2B3C.")
        ]
        | None = None,
    ) -> dict[str, Any]:
        """Join a jam by its session_id or by the join_code that somebody shared. Returns participants and queue."""
        if (session_id is None) == (join_code is None):
            self.fail(
                "BAD_REQUEST",
                "Give either session_id or join_code.",
                "One of the two names the jam.",
            )
        if join_code is not None:
            matching = [
                j["id"]
                for j in self.db.rows("spotify_jams")
                if self._code(j["id"]) == join_code.strip().upper()
            ]
            if not matching:
                self.fail(
                    "JAM_NOT_FOUND",
                    f"No jam has the code {join_code!r}.",
                    "Ask the host for the code.",
                    join_code=join_code,
                )
            session_id = matching[0]
        jam = self._running(session_id or "")
        if me(self)["id"] in self._members(jam):
            self.fail(
                "ALREADY_IN_JAM",
                "You are already in this jam.",
                "See get_jam_session.",
                session_id=jam["id"],
            )
        self._enter(jam["id"], me(self)["id"])
        return self._jam(jam)

    @reads(example={"session_id": seeded("spj", "cabin")})
    def get_jam_session(self, session_id: JamId) -> dict[str, Any]:
        """Return a jam: status, host, participants, current track, and what is queued after it."""
        return self._jam(self._find_jam(session_id))

    @reads()
    def list_jam_sessions(self, limit: Limit = 20, cursor: Cursor | None = None) -> dict[str, Any]:
        """Return jams of yours and of people whom you follow, the latest first, running and ended ones."""
        return page(self._jams(), "sessions", limit, cursor, self._jam)

    @writes(
        example={"session_id": "${jam.session_id}", "track_id": SONG},
        setup=(Setup("start_jam_session", {}, "jam"),),
    )
    def add_to_jam_queue(self, session_id: JamId, track_id: TrackId) -> dict[str, Any]:
        """Add a track to the end of the queue of a jam that you are in."""
        jam = self._running(session_id)
        self._member(jam)
        track = rules.to_play(self, WORDS, track_id)
        self._add_track(session_id, track["id"])
        shown = self._jam(jam)
        return {
            "session_id": session_id,
            "track_id": track["id"],
            "queue_length": len(shown["queue"]),
            "added_by": me(self)["id"],
        }

    @writes(
        example={"session_id": "${jam.session_id}"},
        setup=(Setup("start_jam_session", {}, "jam"),),
        destructive=True,
    )
    def leave_jam_session(self, session_id: JamId) -> dict[str, Any]:
        """Leave a jam; when you are its host, it ends for everybody."""
        jam = self._running(session_id)
        self._member(jam)
        mine = me(self)["id"]
        for row in self.db.rows(
            "spotify_jam_members", "jam_id=? AND user_id=? AND left_at IS NULL", session_id, mine
        ):
            self.db.update("spotify_jam_members", row["id"], left_at=self.time)
        if jam["host_id"] == mine:
            self.db.update("spotify_jams", session_id, ends_at=self.time)
        return {
            "left": True,
            "session_id": session_id,
            "status": "ended" if jam["host_id"] == mine else "active",
        }

    def _jams(self) -> list[dict[str, Any]]:
        mine = me(self)["id"]
        rows = self.db.rows("spotify_jams", order="started_at DESC, rowid DESC")
        return [
            j
            for j in rows
            if mine == j["host_id"]
            or rules.has(self, WORDS, j["host_id"])
            or mine in self._members(j)
        ]

    def _find_jam(self, session_id: str) -> dict[str, Any]:
        jam = self.db.get("spotify_jams", session_id)
        if jam is None:
            self.fail(
                "JAM_NOT_FOUND",
                f"There is no jam {session_id!r}.",
                "See list_jam_sessions.",
                session_id=session_id,
            )
        return jam

    def _running(self, session_id: str) -> dict[str, Any]:
        jam = self._find_jam(session_id)
        if jam["ends_at"] <= self.time:
            self.fail(
                "JAM_ENDED",
                f"This jam ended at {jam['ends_at']}.",
                "Start another with start_jam_session.",
                session_id=session_id,
            )
        return jam

    def _members(self, jam: dict[str, Any]) -> list[str]:
        rows = self.db.rows(
            "spotify_jam_members",
            "jam_id=? AND left_at IS NULL",
            jam["id"],
            order="joined_at, rowid",
        )
        return [r["user_id"] for r in rows]

    def _member(self, jam: dict[str, Any]) -> None:
        if me(self)["id"] not in self._members(jam):
            self.fail(
                "NOT_IN_JAM",
                "You are not in this jam.",
                "Join it with join_jam_session first.",
                session_id=jam["id"],
            )

    def _enter(self, jam_id: str, user_id: str) -> None:
        row = {
            "id": self.new_id("spm"),
            "jam_id": jam_id,
            "user_id": user_id,
            "joined_at": self.time,
            "left_at": None,
        }
        self.db.insert("spotify_jam_members", row)

    def _add_track(self, jam_id: str, track_id: str) -> None:
        row = {
            "id": self.new_id("spk"),
            "jam_id": jam_id,
            "track_id": track_id,
            "added_by": me(self)["id"],
            "added_at": self.time,
        }
        self.db.insert("spotify_jam_tracks", row)

    def _code(self, jam_id: str) -> str:
        return f"JAM-{jam_id[-6:].upper()}"

    def _jam(self, jam: dict[str, Any]) -> dict[str, Any]:
        """Return a jam for the agent; its tracks play one after the other from the moment at which they were added."""
        rows = self.db.rows("spotify_jam_tracks", "jam_id=?", jam["id"], order="added_at, rowid")
        known = rules.by_ids(self, WORDS, [r["track_id"] for r in rows])
        until = min(self.time, jam["ends_at"])
        free = 0
        current = None
        queue = []
        for row in rows:
            track = known.get(row["track_id"])
            if track is None:
                continue
            begins = max(free, parse_time(row["added_at"]) * 1000)
            free = begins + track["ms"]
            if begins <= parse_time(until) * 1000 < free:
                current = track_json(self, track) | {"added_by": row["added_by"]}
            elif begins > parse_time(until) * 1000:
                queue.append(track_json(self, track) | {"added_by": row["added_by"]})
        running = jam["ends_at"] > self.time
        return {
            "session_id": jam["id"],
            "join_code": self._code(jam["id"]),
            "status": "active" if running else "ended",
            "host_user_id": jam["host_id"],
            "participants": [user_ref(self, u) for u in self._members(jam)],
            "started_at": jam["started_at"],
            "ends_at": jam["ends_at"],
            "current_track": current if running else None,
            "queue": queue if running else [],
        }
