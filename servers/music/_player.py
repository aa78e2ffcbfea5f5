"""Playback as a function of rows and the clock.

This module computes what is playing now, what was heard since the last command, and what comes
next. A player's row records what was playing at `at`; everything since then follows from the clock.
A command first writes down what has happened in the meantime (tracks heard, queue entries used up)
and then changes the row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import iso, parse_time

# `items` is the list that is playing; `place` and `lead` are indexes into it: of the current item,
# and of the one that comes first in shuffled order.
PLAYER = (
    "id:str items:list/matter place:int/derived lead:int/matter now_id:str?/stamp "
    "position_ms:int/manner at:str/derived playing:bool/matter shuffle:bool/matter "
    "seed:str/derived repeat:str/matter context:str?/matter "
)
QUEUE = Table(
    "id:str track_id:str/ref place:int/manner added_at:str/stamp",
    noun="the track {track_id} in the queue",
)
# What was heard of a track up to `at`; `plays` counts only plays of half a minute or more.
PLAYS = Table(
    "id:str track_id:str/derived at:str/derived plays:int/derived ms:int/derived",
    index=("at",),
    noun="a play of {track_id} until {at:moment}",
)
COUNTS_AFTER = 30_000
"""Milliseconds of a track that must be heard for it to count as a play."""


@dataclass(frozen=True)
class Deck:
    """What differs between the providers' players: tables, id prefixes and hints.

    `lengths` returns durations in milliseconds, by id.
    """

    tables: str
    queue_id: str
    play_id: str
    lengths: Callable[[Service, Sequence[str]], dict[str, int]]
    how_to_start: str
    stops: Callable[[Service], int | None] = lambda svc: None
    """Returns the moment (epoch seconds) from which nothing may be played, or None."""


@dataclass
class Hearing:
    """What was heard of one track: plays, milliseconds, and the last moment (epoch seconds)."""

    plays: int = 0
    ms: int = 0
    until: int = 0


@dataclass
class Playback:
    """What a player is doing at a moment.

    `heard` holds what was heard since the row was written, by id.
    """

    row: Row
    queue: list[dict[str, Any]]
    lengths: dict[str, int]
    current: str | None
    place: int
    position: int
    playing: bool
    ended: bool = False
    played: list[str] = field(default_factory=list)
    heard: dict[str, Hearing] = field(default_factory=dict)

    @property
    def order(self) -> list[int]:
        """Indexes of `items` in the order in which they play."""
        places = list(range(len(self.row["items"])))
        if not self.row["shuffle"]:
            return places

        def shuffled(place: int) -> tuple[bool, float]:
            return place != self.row["lead"], share(self.row["seed"], place)

        return sorted(places, key=shuffled)

    @property
    def rest(self) -> list[int]:
        """Indexes still to come after the current one, without repeats."""
        order = self.order
        return order[order.index(self.place) + 1 :] if order else []

    def hear(self, start: int, length: int, until_ms: int, times: int = 1) -> None:
        """Record that the current track was heard for `length` milliseconds from `start` on."""
        if self.current is None or length <= 0 or times <= 0:
            return
        hearing = self.heard.setdefault(self.current, Hearing())
        crossing = min(COUNTS_AFTER, self.lengths[self.current])
        if start < crossing <= start + length:
            hearing.plays += times
        hearing.ms += times * length
        hearing.until = until_ms // 1000

    def step(self) -> bool:
        """Move on to what comes next; return False at the end.

        The queue comes first, then the rest of the list, then its beginning if it repeats.
        """
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
        """Let time pass from one moment to another."""
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
            elif self._starts_over():
                at_ms = self._laps(at_ms, until_ms)
                self.step()
            elif not self.step():
                self.playing = False
                self.ended = True
                self.position = length

    def _starts_over(self) -> bool:
        """Return whether the list starts over after the current track."""
        if self.rest or self.queue:
            return False
        return self.row["repeat"] == "all" and bool(self.row["items"])

    def _laps(self, at_ms: int, until_ms: int) -> int:
        """Play the whole list as often as it fits; return the moment at which that ends."""
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
    """Return what is playing now, without writing anything."""
    row = svc.db.rows(f"{deck.tables}_player", limit=1)[0]
    queue = svc.db.rows(f"{deck.tables}_queue", order="place, rowid")
    ids = [*row["items"], *(entry["track_id"] for entry in queue)]
    if row["now_id"]:
        ids.append(row["now_id"])
    lengths = deck.lengths(svc, list(dict.fromkeys(ids)))
    row["items"] = [i for i in row["items"] if i in lengths]
    row["place"] = min(row["place"], max(0, len(row["items"]) - 1))
    current = row["now_id"] if row["now_id"] in lengths else None
    state = Playback(
        row=row,
        queue=[entry for entry in queue if entry["track_id"] in lengths],
        lengths=lengths,
        current=current,
        place=row["place"],
        position=row["position_ms"],
        playing=row["playing"] and current is not None,
    )
    if current is not None and not row["playing"]:
        state.ended = row["position_ms"] >= lengths[current]
    stops = deck.stops(svc)
    until = svc.now if stops is None else min(svc.now, stops)
    state.run(parse_time(row["at"]) * 1000, until * 1000)
    if stops is not None and svc.now >= stops:
        state.playing = False
    return state


def active(svc: Service, deck: Deck) -> Playback:
    """Return what is playing or paused; fail if nothing is."""
    state = playback(svc, deck)
    if state.current is None:
        svc.fail(
            "NO_ACTIVE_PLAYBACK",
            "Nothing is playing or paused.",
            f"Start something with {deck.how_to_start}.",
        )
    return state


def settle(svc: Service, deck: Deck, state: Playback, **changes: Any) -> Playback:
    """Write what was heard and the player's row; return the new state.

    `changes` are values for other columns of that row.
    """
    for entry in state.played:
        svc.db.delete(f"{deck.tables}_queue", entry)
    for track_id, hearing in state.heard.items():
        if hearing.ms >= 1000:
            play = {
                "id": svc.new_id(deck.play_id),
                "track_id": track_id,
                "at": iso(hearing.until),
                "plays": hearing.plays,
                "ms": hearing.ms,
            }
            svc.db.insert(f"{deck.tables}_plays", play)
    columns = {
        "place": state.place,
        "now_id": state.current,
        "position_ms": state.position,
        "at": svc.time,
        "playing": state.playing,
    }
    svc.db.update(f"{deck.tables}_player", state.row["id"], **(columns | changes))
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
    """Play a list from an index; the queue is kept and comes after the first track."""
    state = playback(svc, deck)
    state.place = place
    state.current = items[place]
    state.position = position
    state.playing = True
    return settle(
        svc, deck, state, items=items, lead=place, seed=svc.time, context=context, **changes
    )


def pause(svc: Service, deck: Deck) -> Playback:
    """Pause playback; this changes nothing if it is already paused."""
    state = active(svc, deck)
    if not state.playing:
        return state
    state.playing = False
    return settle(svc, deck, state)


def resume(svc: Service, deck: Deck, **changes: Any) -> Playback:
    """Resume where playback was paused, or from the beginning if it had ended."""
    state = active(svc, deck)
    if state.playing:
        return state
    if state.ended:
        state.place = state.order[0] if state.order else 0
        state.current = state.row["items"][state.place] if state.order else state.current
        state.position = 0
    state.playing = True
    return settle(svc, deck, state, **changes)


def forward(svc: Service, deck: Deck) -> Playback:
    """Skip to what comes next and play it; playback ends after the last track."""
    state = active(svc, deck)
    if state.step():
        state.playing = True
    else:
        state.playing = False
        state.position = state.lengths[state.current or ""]
    return settle(svc, deck, state)


def back(svc: Service, deck: Deck, restart_after: int | None) -> Playback:
    """Go back to the previous track and play it.

    The first track starts over, as does any track that is past `restart_after` milliseconds.
    """
    state = active(svc, deck)
    order = state.order
    spot = order.index(state.place) if order else 0
    in_queue = bool(order) and state.row["items"][state.place] != state.current
    if restart_after is None or state.position <= restart_after:
        if in_queue:
            state.current = state.row["items"][state.place]
        elif spot > 0 or state.row["repeat"] == "all":
            state.place = order[spot - 1]
            state.current = state.row["items"][state.place]
    state.position = 0
    state.playing = True
    return settle(svc, deck, state)


def seek(svc: Service, deck: Deck, position: int) -> Playback:
    """Move to a position in the current track."""
    state = active(svc, deck)
    state.position = position
    return settle(svc, deck, state)


def shuffle(svc: Service, deck: Deck, on: bool) -> Playback:
    """Shuffle what comes after the current track, or put it back in order."""
    state = playback(svc, deck)
    if state.row["shuffle"] == on:
        return state
    return settle(svc, deck, state, shuffle=on, lead=state.place, seed=svc.time)


def repeat(svc: Service, deck: Deck, mode: str) -> Playback:
    """Repeat nothing (`off`), the track (`one`) or the list (`all`)."""
    state = playback(svc, deck)
    if state.row["repeat"] == mode:
        return state
    return settle(svc, deck, state, repeat=mode)


def enqueue(
    svc: Service, deck: Deck, track_id: str, *, front: bool = False
) -> tuple[Playback, int]:
    """Add a track to the end or the front of the queue; return its position there, from 1."""
    state = playback(svc, deck)
    if state.played:  # otherwise entries that have played would still count
        state = settle(svc, deck, state)
    places = [q["place"] for q in state.queue] or [0]
    place = places[0] - 1 if front else places[-1] + 1
    entry = {
        "id": svc.new_id(deck.queue_id),
        "track_id": track_id,
        "place": place,
        "added_at": svc.time,
    }
    svc.db.insert(f"{deck.tables}_queue", entry)
    return playback(svc, deck), 1 if front else len(state.queue) + 1


def clear(svc: Service, deck: Deck) -> tuple[Playback, int]:
    """Clear the queue and return how many entries it had; the current track keeps playing."""
    state = playback(svc, deck)
    count = len(state.queue)
    for entry in state.queue:
        svc.db.delete(f"{deck.tables}_queue", entry["id"])
    return state, count


def upcoming(state: Playback) -> list[Json]:
    """Return what comes next as `{id, track_id, source}`.

    The queue comes first, then the rest of the list, which wraps around once if it repeats.
    """
    coming = [
        {"id": entry["id"], "track_id": entry["track_id"], "source": "queue"}
        for entry in state.queue
    ]
    places = state.rest
    if state.row["repeat"] == "all":
        order = state.order
        places = places + order[: order.index(state.place)] if order else []
    for place in places:
        track_id = state.row["items"][place]
        coming.append({"id": f"{place}-{track_id}", "track_id": track_id, "source": "context"})
    return coming
