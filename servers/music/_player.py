"""Playback as a function of rows and the clock: what plays now, what was heard since the last command, what comes next.

A player's row says what played at `at`; the position moves, tracks end and follow each other as time passes. A command settles what
has passed (tracks heard, queue entries played) and then changes the row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.values import iso, parse_time

# `items` are what plays by itself; `place` and `lead` count in it: where it is, and what comes first when shuffled.
PLAYER = "id:str items:list place:int lead:int now_id:str? position_ms:int at:str playing:bool shuffle:bool seed:str repeat:str context:str? "
QUEUE = Table("id:str track_id:str place:int added_at:str")
# What was heard of a track, up to `at`; `plays` counts those of half a minute or more.
PLAYS = Table("id:str track_id:str at:str plays:int ms:int", index=("at",))
COUNTS_AFTER = 30_000
"""Milliseconds of a track that must be heard for it to count as a play."""


@dataclass(frozen=True)
class Deck:
    """A provider's player: its tables, id prefixes, how long things last (milliseconds, by id), and the words of its refusals."""

    tables: str
    queue_id: str
    play_id: str
    lengths: Callable[[Service, Sequence[str]], dict[str, int]]
    how_to_start: str
    stops: Callable[[Service], int | None] = lambda svc: None
    """The moment (epoch seconds) at which the right to play ends, None for never."""


@dataclass
class Playback:
    """What a player does at a moment; `heard` maps ids to [plays, milliseconds, last moment] since the row was written."""

    row: dict[str, Any]
    queue: list[dict[str, Any]]
    lengths: dict[str, int]
    current: str | None
    place: int
    position: int
    playing: bool
    ended: bool = False
    played: list[str] = field(default_factory=list)
    heard: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def order(self) -> list[int]:
        """Places of `items` in the order in which they play."""
        places = list(range(len(self.row["items"])))
        if not self.row["shuffle"]:
            return places
        return sorted(places, key=lambda p: (p != self.row["lead"], share(self.row["seed"], p)))

    @property
    def rest(self) -> list[int]:
        """Places that are still to come after the present one, without repeats."""
        order = self.order
        return order[order.index(self.place) + 1 :] if order else []

    def hear(self, start: int, length: int, until_ms: int, times: int = 1) -> None:
        """Count milliseconds of the current track, heard from a position on."""
        if self.current is None or length <= 0 or times <= 0:
            return
        entry = self.heard.setdefault(self.current, [0, 0, 0])
        crossing = min(COUNTS_AFTER, self.lengths[self.current])
        entry[0] += times * (start < crossing <= start + length)
        entry[1] += times * length
        entry[2] = until_ms // 1000

    def step(self) -> bool:
        """Go on to what comes next: the queue, then the order, then its beginning when it repeats. False at the end."""
        if self.queue:
            entry = self.queue.pop(0)
            self.played.append(entry["id"])
            self.current = entry["track_id"]
            self.position = 0
            return True
        rest = self.rest
        order = self.order
        if not rest and (self.row["repeat"] != "all" or not order):
            return False
        self.place = rest[0] if rest else order[0]
        self.current = self.row["items"][self.place]
        self.position = 0
        return True

    def run(self, at_ms: int, until_ms: int) -> None:
        """Let time pass."""
        while self.playing and self.current is not None:
            length = self.lengths[self.current]
            left = max(0, until_ms - at_ms)
            to_end = length - self.position
            if left < to_end:
                self.hear(self.position, left, until_ms)
                self.position += left
                return
            at_ms += to_end
            self.hear(self.position, to_end, at_ms)
            if self.row["repeat"] == "one":
                laps = (until_ms - at_ms) // length
                at_ms += laps * length
                self.hear(0, length, at_ms, laps)
                self.position = 0
            elif (
                not self.rest
                and not self.queue
                and self.row["repeat"] == "all"
                and self.row["items"]
            ):
                at_ms = self._laps(at_ms, until_ms)
                self.step()
            elif not self.step():
                self.playing = False
                self.ended = True
                self.position = length

    def _laps(self, at_ms: int, until_ms: int) -> int:
        """Play the whole of a repeating list as often as it fits, and return the moment after that."""
        total = sum(self.lengths[i] for i in self.row["items"])
        laps = (until_ms - at_ms) // total
        last = self.current
        moment = at_ms + laps * total
        for place in self.order:
            self.current = self.row["items"][place]
            self.hear(0, self.lengths[self.current], moment, laps)
        self.current = last
        return moment


def playback(svc: Service, deck: Deck) -> Playback:
    """Return what plays now; nothing is written."""
    row = svc.db.rows(f"{deck.tables}_player", limit=1)[0]
    queue = svc.db.rows(f"{deck.tables}_queue", order="place, rowid")
    ids = [
        *row["items"],
        *(q["track_id"] for q in queue),
        *([row["now_id"]] if row["now_id"] else []),
    ]
    lengths = deck.lengths(svc, list(dict.fromkeys(ids)))
    row["items"] = [i for i in row["items"] if i in lengths]
    row["place"] = min(row["place"], max(0, len(row["items"]) - 1))
    current = row["now_id"] if row["now_id"] in lengths else None
    now = Playback(
        row,
        [q for q in queue if q["track_id"] in lengths],
        lengths,
        current,
        row["place"],
        row["position_ms"],
        row["playing"] and current is not None,
    )
    now.ended = (
        current is not None and not row["playing"] and row["position_ms"] >= lengths[current]
    )
    stops = deck.stops(svc)
    now.run(
        parse_time(row["at"]) * 1000, (svc.now if stops is None else min(svc.now, stops)) * 1000
    )
    now.playing = now.playing and (stops is None or svc.now < stops)
    return now


def active(svc: Service, deck: Deck) -> Playback:
    """Return what plays or is paused, or refuse when nothing is."""
    now = playback(svc, deck)
    if now.current is None:
        svc.fail(
            "NO_ACTIVE_PLAYBACK",
            "Nothing is playing or paused.",
            f"Start something with {deck.how_to_start}.",
        )
    return now


def settle(svc: Service, deck: Deck, now: Playback, **changes: Any) -> Playback:
    """Write what has passed and the player's row, with changes of other columns, and return the playback."""
    for entry in now.played:
        svc.db.delete(f"{deck.tables}_queue", entry)
    for track_id, (plays, ms, last) in now.heard.items():
        if ms >= 1000:
            row = {
                "id": svc.new_id(deck.play_id),
                "track_id": track_id,
                "at": iso(last),
                "plays": plays,
                "ms": ms,
            }
            svc.db.insert(f"{deck.tables}_plays", row)
    state = {
        "place": now.place,
        "now_id": now.current,
        "position_ms": now.position,
        "at": svc.time,
        "playing": now.playing,
    }
    svc.db.update(f"{deck.tables}_player", now.row["id"], **(state | changes))
    return playback(svc, deck)


def start(
    svc: Service,
    deck: Deck,
    items: list[str],
    place: int,
    context: str | None,
    *,
    position: int = 0,
    **changes: Any,
) -> Playback:
    """Play a list from a place; the queue stays and comes after the first track."""
    now = playback(svc, deck)
    now.place = place
    now.current = items[place]
    now.position = position
    now.playing = True
    return settle(
        svc, deck, now, items=items, lead=place, seed=svc.time, context=context, **changes
    )


def pause(svc: Service, deck: Deck) -> Playback:
    """Stop the clock of what plays; nothing changes when it is paused."""
    now = active(svc, deck)
    if not now.playing:
        return now
    now.playing = False
    return settle(svc, deck, now)


def resume(svc: Service, deck: Deck, **changes: Any) -> Playback:
    """Go on from where it was paused; after the end, from the beginning."""
    now = active(svc, deck)
    if now.playing:
        return now
    if now.ended:
        now.place = now.order[0] if now.order else 0
        now.current = now.row["items"][now.place] if now.order else now.current
        now.position = 0
    now.playing = True
    return settle(svc, deck, now, **changes)


def forward(svc: Service, deck: Deck) -> Playback:
    """Skip to what comes next and play it; after the last one playback ends."""
    now = active(svc, deck)
    if now.step():
        now.playing = True
    else:
        now.playing = False
        now.position = now.lengths[now.current or ""]
    return settle(svc, deck, now)


def back(svc: Service, deck: Deck, restart_after: int | None) -> Playback:
    """Go back to what came before and play it; to the start of the same when it is the first or past `restart_after` milliseconds."""
    now = active(svc, deck)
    order = now.order
    spot = order.index(now.place) if order else 0
    in_queue = bool(order) and now.row["items"][now.place] != now.current
    if restart_after is None or now.position <= restart_after:
        if in_queue:
            now.current = now.row["items"][now.place]
        elif spot > 0 or now.row["repeat"] == "all":
            now.place = order[spot - 1]
            now.current = now.row["items"][now.place]
    now.position = 0
    now.playing = True
    return settle(svc, deck, now)


def seek(svc: Service, deck: Deck, position: int) -> Playback:
    """Go to a position of what plays."""
    now = active(svc, deck)
    now.position = position
    return settle(svc, deck, now)


def shuffle(svc: Service, deck: Deck, on: bool) -> Playback:
    """Mix what comes after the present track, or put it back in order."""
    now = playback(svc, deck)
    if now.row["shuffle"] == on:
        return now
    return settle(svc, deck, now, shuffle=on, lead=now.place, seed=svc.time)


def repeat(svc: Service, deck: Deck, mode: str) -> Playback:
    """Repeat nothing (`off`), the track (`one`) or the list (`all`)."""
    now = playback(svc, deck)
    return now if now.row["repeat"] == mode else settle(svc, deck, now, repeat=mode)


def enqueue(
    svc: Service, deck: Deck, track_id: str, *, front: bool = False
) -> tuple[Playback, int]:
    """Put a track at the end of the queue, or before it, and return its place there from 1."""
    now = playback(svc, deck)
    if now.played:  # what has played would otherwise stand among the places
        now = settle(svc, deck, now)
    places = [q["place"] for q in now.queue] or [0]
    place = places[0] - 1 if front else places[-1] + 1
    svc.db.insert(
        f"{deck.tables}_queue",
        {
            "id": svc.new_id(deck.queue_id),
            "track_id": track_id,
            "place": place,
            "added_at": svc.time,
        },
    )
    return playback(svc, deck), 1 if front else len(now.queue) + 1


def clear(svc: Service, deck: Deck) -> tuple[Playback, int]:
    """Empty the queue and return how many entries it had; what plays goes on."""
    now = playback(svc, deck)
    count = len(now.queue)
    for entry in now.queue:
        svc.db.delete(f"{deck.tables}_queue", entry["id"])
    return now, count


def upcoming(now: Playback) -> list[dict[str, Any]]:
    """Return what comes next as `{id, track_id, source}`: the queue, then the list, once around when it repeats."""
    found = [{"id": q["id"], "track_id": q["track_id"], "source": "queue"} for q in now.queue]
    places = now.rest
    if now.row["repeat"] == "all":
        order = now.order
        places = places + order[: order.index(now.place)] if order else []
    items = now.row["items"]
    return found + [
        {"id": f"{p}-{items[p]}", "track_id": items[p], "source": "context"} for p in places
    ]
