"""What was heard, and what follows from it: counts by track, artist, album and genre, and how alike two tastes are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from servers.kit.service import Service
from servers.kit.values import iso
from servers.music import _rules as rules
from servers.music._player import Deck, playback


def history(svc: Service, deck: Deck) -> list[dict[str, Any]]:
    """Return what was heard as rows `{id, track_id, at, plays, ms}`, newest first, with what plays now."""
    rows = svc.db.rows(f"{deck.tables}_plays", "at<=?", svc.time, order="at DESC, rowid DESC")
    live = [
        {"id": f"now-{track_id}", "track_id": track_id, "at": iso(last), "plays": plays, "ms": ms}
        for track_id, (plays, ms, last) in playback(svc, deck).heard.items()
    ]
    return sorted(live, key=lambda r: r["at"], reverse=True) + rows


class Heard:
    """What was heard from a moment until another (ISO): tracks with `plays` and `ms`, most heard first."""

    def __init__(
        self, svc: Service, deck: Deck, words: rules.Words, since: str, until: str = "~"
    ) -> None:
        plays: Counter[str] = Counter()
        time: Counter[str] = Counter()
        for row in history(svc, deck):
            if since <= row["at"] < until:
                plays[row["track_id"]] += row["plays"]
                time[row["track_id"]] += row["ms"]
        known = rules.by_ids(svc, words, time)
        self.tracks: list[dict[str, Any]] = sorted(
            (
                {**known[i], "plays": plays[i], "ms_heard": ms}
                for i, ms in time.items()
                if i in known
            ),
            key=lambda t: (-t["plays"], -t["ms_heard"], t["key"]),
        )
        self.ms = sum(t["ms_heard"] for t in self.tracks)

    def by(self, id_field: str, name_field: str) -> list[tuple[str, str, int]]:
        """Return (id, name, plays) by a field of the tracks, most played first."""
        plays: Counter[str] = Counter()
        names = {}
        for track in self.tracks:
            plays[track[id_field]] += track["plays"]
            names[track[id_field]] = track[name_field]
        found: list[tuple[str, str, int]] = [(i, names[i], n) for i, n in plays.items() if n > 0]
        return sorted(found, key=lambda entry: (-entry[2], entry[1], entry[0]))

    @property
    def genres(self) -> Counter[str]:
        """Plays by genre; a second genre counts half."""
        found: Counter[str] = Counter()
        for track in self.tracks:
            for weight, genre in zip((2, 1), rules.genres(track), strict=False):
                found[genre] += weight * track["plays"]
        return found

    def top_genres(self, count: int) -> list[str]:
        """Return the most played genres."""
        return [
            g for g, _ in sorted(self.genres.items(), key=lambda item: (-item[1], item[0]))[:count]
        ]


def alike(one: Mapping[str, int], two: Mapping[str, int]) -> int:
    """Return how alike two tastes (weights of genres) are, 0 to 100."""
    size = math.sqrt(sum(v * v for v in one.values()) * sum(v * v for v in two.values()))
    return round(100 * sum(v * two.get(g, 0) for g, v in one.items()) / size) if size else 0
