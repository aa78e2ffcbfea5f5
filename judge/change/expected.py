"""What right runs did to the world, and whether a run did one of it.

A run is right if, at the end of each turn, its changes are those of a right run at that turn.
Where a fault spoiled something that a right run mends later, the mended state counts earlier, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from judge.change.match import Difference, Freedom, Matching
from judge.change.rows import Item, Timeline


@dataclass(frozen=True)
class Route:
    """What one right run did: its name in words, its timeline, and whether faults acted."""

    name: str
    timeline: Timeline
    faulted: bool


_Candidate = tuple[Route, list[Item], list[Item]]
"""A right run, the items that stand at a turn's end, and those of them that may be missing."""


@dataclass(frozen=True)
class Expected:
    """What the right runs of a scenario did, and what may vary.

    `turns` is how many turns the scenario has. `windows` maps tables to the turns between which
    their rows may come: `{outlook_emails: (1, 2)}`; `(2, 2)` keeps a repair out of turn 1.
    `complete` is false where a right run could not be played (under a foreign fault profile, say),
    so that another outcome may be right.
    """

    routes: Sequence[Route]
    turns: int
    freedom: Freedom = field(default_factory=Freedom)
    windows: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    complete: bool = True
    _known: dict[tuple[str, int], list[Item]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def differences(self, run: Timeline, *, faulted: bool = True) -> tuple[int, list[Difference]]:
        """Return the first turn at whose end a run differs from all right runs, and where it
        differs from the nearest; `(0, [])` if it is right.
        """
        for turn in range(1, self.turns + 1):
            nearest = self._nearest(run, turn, faulted)
            if nearest:
                return turn, nearest
        return 0, []

    def wrong_turns(self, run: Timeline, *, faulted: bool = True) -> set[int]:
        """Return the turns that made a run differ from the nearest right one in a new way.

        What is wrong since an earlier turn, and stays so, is that turn's alone.
        """
        wrong = set()
        before: set[str] = set()
        for turn in range(1, self.turns + 1):
            now = {_sign(difference) for difference in self._nearest(run, turn, faulted)}
            if now - before:
                wrong.add(turn)
            before = now
        return wrong

    def _nearest(self, run: Timeline, turn: int, faulted: bool) -> list[Difference]:
        """Return where a run differs at a turn's end from the right run that is nearest to it."""
        nearest: list[Difference] | None = None
        for route, items, lacking in self._candidates(turn, faulted):
            matching = Matching(
                run.at(turn),
                items,
                self.freedom,
                made=run.made,
                made_right=route.timeline.made,
                may_lack=lacking,
            )
            found = matching.differences()
            if not found:
                return []
            if nearest is None or len(found) < len(nearest):
                nearest = found
        return nearest or []

    def _candidates(self, turn: int, faulted: bool) -> Iterator[_Candidate]:
        """Yield the right sets at a turn's end, with those of their items that may be missing."""
        for route in self.routes:
            yield (route, *self._windowed(route, route.timeline.at(turn), turn))
        for route in self.routes:
            if route.faulted and faulted:
                mended = self._mended_once(route, turn)
                yield (route, *self._windowed(route, mended, turn))

    def _mended_once(self, route: Route, turn: int) -> list[Item]:
        key = (route.name, turn)
        if key not in self._known:
            self._known[key] = self._mended(route, turn)
        return self._known[key]

    def _mended(self, route: Route, turn: int) -> list[Item]:
        """Return a faulted run's items as they would be if all damage were mended already."""
        end = route.timeline.at(self.turns)
        now = route.timeline.at(turn)
        clean = [other for other in self.routes if not other.faulted]
        due = _union([other.timeline.at(turn) for other in clean], self.freedom)
        ever = _union([other.timeline.at(self.turns) for other in clean], self.freedom)
        mended = [item for item in now if _holds(end, item, self.freedom)]
        for item in end:
            first, _ = self.windows.get(item.table, (1, self.turns))
            repair = not _holds(ever, item, self.freedom)
            wanted = repair or _holds(due, item, self.freedom)
            if wanted and first <= turn and not _holds(mended, item, self.freedom):
                mended.append(item)
        return mended

    def _windowed(
        self, route: Route, items: list[Item], turn: int
    ) -> tuple[list[Item], list[Item]]:
        chosen = list(items)
        lacking: list[Item] = []
        for table, (first, last) in self.windows.items():
            if not first <= turn < last:
                continue
            coming = [item for item in route.timeline.at(last) if item.table == table]
            before = route.timeline.at(first - 1) if first > 1 else []
            for item in coming:
                if not _holds(chosen, item, self.freedom):
                    chosen.append(item)
            for item in chosen:
                if item.table == table and not _holds(before, item, self.freedom):
                    lacking.append(item)
        return chosen, lacking


def _sign(difference: Difference) -> str:
    """Return what tells a difference apart from those of other turns."""
    parts = []
    for item in (difference.mine, difference.right):
        parts.append("" if item is None else f"{item.table} {item.op} {item.key} {item.values}")
    return " / ".join(parts)


def _alike(one: Item, other: Item, freedom: Freedom) -> bool:
    """Return whether two items of different runs are the same but for their new keys."""
    made = frozenset({one.key}) if one.op == "added" else frozenset()
    made_right = frozenset({other.key}) if other.op == "added" else frozenset()
    matching = Matching([one], [other], freedom, made=made, made_right=made_right)
    return not matching.differences()


def _holds(items: Sequence[Item], item: Item, freedom: Freedom) -> bool:
    return any(_alike(other, item, freedom) for other in items)


def _union(lists: Sequence[Sequence[Item]], freedom: Freedom) -> list[Item]:
    every: list[Item] = []
    for items in lists:
        for item in items:
            if not _holds(every, item, freedom):
                every.append(item)
    return every
