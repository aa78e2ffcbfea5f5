"""Listening statistics: plays by track, artist, album and genre, and how similar two tastes are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from servers.kit.listing import Listing, Preceded
from servers.kit.service import Service
from servers.kit.types import Row
from servers.kit.values import iso, parse_time
from servers.kit.zones import local_day
from servers.music import _rules as rules
from servers.music._player import Deck, playback


def played(
    svc: Service, deck: Deck, words: rules.Words, zone: str, since: str | None, until: str | None
) -> Preceded:
    """Return the list of the songs played from one local day to another, newest first.

    A play is at least half a minute. The rows are `{id, track_id, at, plays, ms}`.
    """
    carried = f"EXISTS (SELECT 1 FROM music_tracks WHERE {words.column}=track_id)"
    rows = Listing(svc.db, f"{deck.tables}_plays", "at").days(since, until, zone)
    rows = rows.only(f"at<=? AND plays>0 AND {carried}", svc.time)

    def fits(row: Row) -> bool:
        day = local_day(parse_time(row["at"]), ZoneInfo(zone)).isoformat()
        return row["plays"] > 0 and (since or day) <= day <= (until or day)

    live = list(filter(fits, _live(svc, deck)))
    known = rules.by_ids(svc, words, [row["track_id"] for row in live])
    return Preceded([row for row in live if row["track_id"] in known], rows)


def _live(svc: Service, deck: Deck) -> list[Row]:
    """Return what was heard since the player's last command, newest first, as rows of plays."""
    rows = [
        {
            "id": f"now-{track_id}",
            "track_id": track_id,
            "at": iso(hearing.until),
            "plays": hearing.plays,
            "ms": hearing.ms,
        }
        for track_id, hearing in playback(svc, deck).heard.items()
    ]
    return sorted(rows, key=lambda r: r["at"], reverse=True)


class Ranked(NamedTuple):
    """How often an artist's or album's tracks were played."""

    id: str
    name: str
    plays: int


class Heard:
    """What was heard between two moments (ISO).

    `tracks` are the tracks with `plays` and `ms_heard`, the most played first.
    """

    def __init__(
        self, svc: Service, deck: Deck, words: rules.Words, since: str, until: str = "~"
    ) -> None:
        plays: Counter[str] = Counter()
        ms_heard: Counter[str] = Counter()
        summed = (
            f"SELECT track_id, sum(plays), sum(ms) FROM {deck.tables}_plays "
            "WHERE at>=? AND at<? AND at<=? GROUP BY track_id"
        )
        for track_id, times, ms in svc.db.sql(summed, since, until, svc.time):
            plays[track_id] = times
            ms_heard[track_id] = ms
        for row in _live(svc, deck):
            if since <= row["at"] < until:
                plays[row["track_id"]] += row["plays"]
                ms_heard[row["track_id"]] += row["ms"]
        known = rules.by_ids(svc, words, ms_heard)
        tracks: list[dict[str, Any]] = [
            {**known[i], "plays": plays[i], "ms_heard": ms}
            for i, ms in ms_heard.items()
            if i in known
        ]
        self.tracks = sorted(tracks, key=lambda t: (-t["plays"], -t["ms_heard"], t["key"]))
        self.ms = sum(t["ms_heard"] for t in self.tracks)

    def by(self, id_field: str, name_field: str) -> list[Ranked]:
        """Return plays grouped by a field of the tracks, most played first."""
        plays: Counter[str] = Counter()
        names = {}
        for track in self.tracks:
            plays[track[id_field]] += track["plays"]
            names[track[id_field]] = track[name_field]
        ranked = [Ranked(i, names[i], number) for i, number in plays.items() if number > 0]
        return sorted(ranked, key=lambda entry: (-entry.plays, entry.name, entry.id))

    @property
    def genres(self) -> Counter[str]:
        """Plays by genre, doubled, because a track's second genre counts half as much."""
        plays: Counter[str] = Counter()
        for track in self.tracks:
            for weight, genre in zip((2, 1), rules.genres(track), strict=False):
                plays[genre] += weight * track["plays"]
        return plays

    def top_genres(self, count: int) -> list[str]:
        """Return the most played genres."""
        ranked = sorted(self.genres.items(), key=lambda item: (-item[1], item[0]))
        return [genre for genre, _ in ranked[:count]]


def alike(one: Mapping[str, int], two: Mapping[str, int]) -> int:
    """Return how similar two tastes (weights by genre) are, 0 to 100."""
    size = math.sqrt(sum(v * v for v in one.values()) * sum(v * v for v in two.values()))
    if not size:
        return 0
    product = sum(weight * two.get(genre, 0) for genre, weight in one.items())
    return round(100 * product / size)
