"""Blends with friends, and jams for listening together."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.listing import Listing
from servers.kit.noise import share
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
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
JAM_STARTS_WITH = 20
"""The most tracks that a jam takes over from the host's playback."""
BLEND_SIZE = 20
TASTE_COUNTS = 182 * 86_400
"""How long, in seconds, what was heard counts toward the user's taste."""
JORDAN = seeded("spu", "jordan_park")
SONG = seeded("spt", "firewood-2")


class Social(Service):
    """Blends and jams."""

    @writes(example={"target_user_id": seeded("spu", "kai_tanaka")})
    def create_blend(self, target_user_id: UserId) -> Json:
        """Create a playlist that blends your taste with another user's.

        Returns it with `taste_match_percent`.
        """
        user = find_user(self, target_user_id)
        mine = me(self)
        if target_user_id == mine["id"]:
            hint = "Find users with search_users."
            self.fail("CANNOT_BLEND_WITH_SELF", "A Blend needs another user.", hint)
        known = self.db.rows("spotify_blends", "user_id=?", target_user_id)
        if known:
            message = f"You already have a Blend with {user['display_name']}."
            hint = "See it with get_blend, refresh it with update_blend."
            self.fail("BLEND_EXISTS", message, hint, blend_id=known[0]["id"])
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
        blend = {
            "id": self.new_id("spb"),
            "user_id": target_user_id,
            "playlist_id": playlist["id"],
            "created_at": self.time,
            "updated_at": self.time,
        }
        self.db.insert("spotify_blends", blend)
        self._fill(blend)
        made = self._blend(blend)
        said = {
            "name": user["display_name"],
            "playlist": playlist["name"],
            "match": made["taste_match_percent"],
            "tracks": len(made["tracks"]),
        }
        self.post("blend_made", mine["email"], said, about=blend["id"])
        return made

    @reads(example={"blend_id": seeded("spb", "jordan_park")})
    def get_blend(self, blend_id: BlendId) -> Json:
        """Return a Blend: its users, today's taste match, playlist and tracks."""
        return self._blend(self._find_blend(blend_id))

    @reads()
    def list_blends(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return your Blends, without their tracks."""
        heard = self._heard()
        rows = Listing(self.db, "spotify_blends", "created_at")
        return page(rows, "blends", limit, cursor, lambda row: self._blend_json(row, heard))

    @writes(example={"blend_id": seeded("spb", "jordan_park")})
    def update_blend(self, blend_id: BlendId) -> Json:
        """Refresh a Blend with tracks that fit what both of you listen to now."""
        blend = self._find_blend(blend_id)
        for entry in items(self, blend["playlist_id"]):
            self.db.delete("spotify_playlist_items", entry["id"])
        self._fill(blend)
        self.db.update("spotify_blends", blend_id, updated_at=self.time)
        return self._blend(blend | {"updated_at": self.time})

    def _find_blend(self, blend_id: str) -> Row:
        blend = self.db.get("spotify_blends", blend_id)
        if blend is None:
            message = f"There is no Blend with the ID {blend_id!r}."
            self.fail("BLEND_NOT_FOUND", message, "See list_blends.", blend_id=blend_id)
        return blend

    def _heard(self) -> Heard:
        return Heard(self, DECK, WORDS, iso(self.now - TASTE_COUNTS))

    def _fill(self, blend: Row) -> None:
        """Fill a Blend's playlist, alternating between the user's top tracks and the friend's."""
        friend = find_user(self, blend["user_id"])
        mine = [t["id"] for t in self._heard().tracks if t["playable"]][:60]
        pool = rules.genre_tracks(self, WORDS, friend["taste"] or list(rules.GENRES))

        def rank(track: Row) -> float:
            return share("blend", friend["id"], track["key"]) - track["popularity"] / 150

        theirs = [t["id"] for t in sorted(pool, key=rank)]
        mixed: list[str] = []
        for pair in zip(mine + theirs, theirs, strict=False):
            mixed += pair
        picked = list(dict.fromkeys(mixed))[:BLEND_SIZE]
        for place, track_id in enumerate(picked, 1):
            row = {
                "id": self.new_id("spi"),
                "playlist_id": blend["playlist_id"],
                "track_id": track_id,
                "place": place,
                "added_at": self.time,
                "added_by": None if track_id in mine else friend["id"],
            }
            self.db.insert("spotify_playlist_items", row)

    def _blend(self, blend: Row) -> Json:
        ids = [e["track_id"] for e in items(self, blend["playlist_id"])]
        known = rules.by_ids(self, WORDS, ids)
        tracks = [track_json(self, known[i]) for i in ids if i in known]
        return self._blend_json(blend, self._heard()) | {"tracks": tracks}

    def _blend_json(self, blend: Row, heard: Heard) -> Json:
        """Return a Blend without its tracks."""
        user = find_user(self, blend["user_id"])
        taste = user["taste"]
        weights = {genre: 2 * (len(taste) - place) for place, genre in enumerate(taste)}
        return {
            "blend_id": blend["id"],
            "playlist_id": blend["playlist_id"],
            "users": [user_ref(self, me(self)["id"]), user_ref(self, user["id"])],
            "taste_match_percent": alike(heard.genres, weights),
            "created_at": blend["created_at"],
            "updated_at": blend["updated_at"],
        }

    # -- jams -------------------------------------------------------------------------------------
    @writes()
    def start_jam_session(self) -> Json:
        """Start a jam with what is playing or paused, and what comes next.

        Friends join with the join_code. A jam ends after 8 hours.
        """
        mine = me(self)["id"]
        if not me(self)["premium"]:
            message = "Starting a jam requires Spotify Premium."
            self.fail("PREMIUM_REQUIRED", message, "Join someone else's jam instead.")
        hosted = Listing(self.db, "spotify_jams", "started_at").only("host_id=?", mine)
        for jam in hosted.only("ends_at>?", self.time).all():
            hint = "Continue it (get_jam_session), or end it with leave_jam_session."
            self.fail("JAM_ALREADY_ACTIVE", "You already host a jam.", hint, session_id=jam["id"])
        jam = {
            "id": self.new_id("spj"),
            "host_id": mine,
            "started_at": self.time,
            "ends_at": iso(self.now + int(JAM_LASTS.total_seconds())),
        }
        self.db.insert("spotify_jams", jam)
        self._enter(jam["id"], mine)
        state = player.playback(self, DECK)
        coming: list[str] = []
        if state.current and not state.ended:
            coming = [state.current, *(c["track_id"] for c in player.upcoming(state))]
        known = rules.by_ids(self, WORDS, coming)
        for track_id in [i for i in coming if i in known][:JAM_STARTS_WITH]:
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
    ) -> Json:
        """Join a jam by its session_id or by a join_code that someone shared.

        Returns the jam with its participants and queue.
        """
        if (session_id is None) == (join_code is None):
            message = "Exactly one of session_id and join_code is required."
            self.fail("BAD_REQUEST", message, "Give the session_id or the join_code of the jam.")
        if join_code is not None:
            code = join_code.strip().upper()
            ids = [jam["id"] for jam in self.db.rows("spotify_jams")]
            matching = [jam_id for jam_id in ids if self._code(jam_id) == code]
            if not matching:
                message = f"There is no jam with the code {join_code!r}."
                hint = "Ask the host for the code."
                self.fail("JAM_NOT_FOUND", message, hint, join_code=join_code)
            session_id = matching[0]
        jam = self._running(session_id or "")
        if me(self)["id"] in self._members(jam):
            message = "You are already in this jam."
            self.fail("ALREADY_IN_JAM", message, "See get_jam_session.", session_id=jam["id"])
        self._enter(jam["id"], me(self)["id"])
        return self._jam(jam)

    @reads(example={"session_id": seeded("spj", "cabin")})
    def get_jam_session(self, session_id: JamId) -> Json:
        """Return a jam: status, host, participants, current track, and what is queued after it."""
        return self._jam(self._find_jam(session_id))

    @reads()
    def list_jam_sessions(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return your jams and those of people you follow, active and ended, the latest first."""
        mine = me(self)["id"]

        def listed(jam: Row) -> bool:
            if mine == jam["host_id"] or rules.has(self, WORDS, jam["host_id"]):
                return True
            return mine in self._members(jam)

        jams = Listing(self.db, "spotify_jams", "started_at").keep(listed)
        return page(jams, "sessions", limit, cursor, self._jam)

    @writes(
        example={"session_id": "${jam.session_id}", "track_id": SONG},
        setup=(Setup("start_jam_session", {}, "jam"),),
    )
    def add_to_jam_queue(self, session_id: JamId, track_id: TrackId) -> Json:
        """Add a track to the end of the queue of a jam that you have joined."""
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
    def leave_jam_session(self, session_id: JamId) -> Json:
        """Leave a jam. If you are its host, it ends for everyone."""
        jam = self._running(session_id)
        self._member(jam)
        mine = me(self)["id"]
        present = "jam_id=? AND user_id=? AND left_at IS NULL"
        for row in self.db.rows("spotify_jam_members", present, session_id, mine):
            self.db.update("spotify_jam_members", row["id"], left_at=self.time)
        if jam["host_id"] == mine:
            self.db.update("spotify_jams", session_id, ends_at=self.time)
        return {
            "left": True,
            "session_id": session_id,
            "status": "ended" if jam["host_id"] == mine else "active",
        }

    def _find_jam(self, session_id: str) -> Row:
        jam = self.db.get("spotify_jams", session_id)
        if jam is None:
            message = f"There is no jam with the ID {session_id!r}."
            self.fail("JAM_NOT_FOUND", message, "See list_jam_sessions.", session_id=session_id)
        return jam

    def _running(self, session_id: str) -> dict[str, Any]:
        jam = self._find_jam(session_id)
        if jam["ends_at"] <= self.time:
            message = f"This jam ended at {jam['ends_at']}."
            hint = "Start another with start_jam_session."
            self.fail("JAM_ENDED", message, hint, session_id=session_id)
        return jam

    def _members(self, jam: Row) -> list[str]:
        rows = self.db.rows(
            "spotify_jam_members",
            "jam_id=? AND left_at IS NULL",
            jam["id"],
            order="joined_at, rowid",
        )
        return [r["user_id"] for r in rows]

    def _member(self, jam: Row) -> None:
        if me(self)["id"] not in self._members(jam):
            message = "You are not in this jam."
            hint = "Join it with join_jam_session first."
            self.fail("NOT_IN_JAM", message, hint, session_id=jam["id"])

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

    def _jam(self, jam: Row) -> Json:
        """Return a jam as replies show it.

        Its tracks play one after another, none before it was added.
        """
        rows = self.db.rows("spotify_jam_tracks", "jam_id=?", jam["id"], order="added_at, rowid")
        known = rules.by_ids(self, WORDS, [r["track_id"] for r in rows])
        until = parse_time(min(self.time, jam["ends_at"])) * 1000
        free = 0  # the moment, in milliseconds, at which the previous track ends
        current = None
        queue = []
        for row in rows:
            track = known.get(row["track_id"])
            if track is None:
                continue
            begins = max(free, parse_time(row["added_at"]) * 1000)
            free = begins + track["ms"]
            if begins <= until < free:
                current = track_json(self, track) | {"added_by": row["added_by"]}
            elif begins > until:
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
