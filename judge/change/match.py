"""Whether two runs did the same, and if not, where they differ.

Rows that stood before are compared by their key, new ones are matched one to one, so that a
reference to a new row means the row that it is matched with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge.change.rows import SOMEONE, Item
from servers.kit.expr import matches
from servers.kit.expr.predicates import same_text

MOST_STEPS = 20_000
"""How many pairs a search tries before it takes two sets for different."""


@dataclass(frozen=True)
class Freedom:
    """What may differ between two right runs.

    `free` maps `table.column` to a condition on the value, or to "any". `dictated` names prose and
    manner (`table.column`) that must be equal, `conditions` what prose must meet. `quoted` holds
    texts that the user put in quotation marks; prose that is one of them in the right run is
    dictated, too, if it stands in one column alone or the user names the column (`asked` holds the
    words of the user). Rows of the tables in `optional` may be there or not.
    """

    free: Mapping[str, Any] = field(default_factory=dict)
    dictated: frozenset[str] = frozenset()
    conditions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    quoted: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Difference:
    """One way in which a run differs from a right one.

    `mine` is None where something is missing, `right` where nothing of the kind was wanted.
    `columns` are those that differ.
    """

    mine: Item | None
    right: Item | None
    columns: tuple[str, ...] = ()


class Matching:
    """The comparison of a run's items with those of a right run."""

    def __init__(
        self,
        mine: Sequence[Item],
        right: Sequence[Item],
        freedom: Freedom,
        *,
        made: frozenset[Any] = frozenset(),
        made_right: frozenset[Any] = frozenset(),
        may_lack: Sequence[Item] = (),
    ) -> None:
        self._freedom = freedom
        self._made = made
        self._made_right = made_right
        self._lacking = {id(item) for item in may_lack}
        self._mine = [item for item in mine if item.table not in freedom.optional]
        self._right = [item for item in right if item.table not in freedom.optional]
        self._steps = 0
        self._dictates = self._columns_dictated()

    def _columns_dictated(self) -> frozenset[str]:
        """Return the columns whose prose in the right run is what the user put in quotes."""
        found: dict[str, set[str]] = {}
        for item in self._right:
            for column, text in item.words.items():
                if isinstance(text, str) and same_text(text) in self._freedom.quoted:
                    found.setdefault(same_text(text), set()).add(f"{item.table}.{column}")
        dictated = set()
        for columns in found.values():
            named = {c for c in columns if c.partition(".")[2] in self._freedom.asked}
            dictated |= named or (columns if len(columns) == 1 else set())
        return frozenset(dictated)

    def differences(self) -> list[Difference]:
        """Return where the two differ; nothing if they are equal."""
        pairs = self._search(list(self._mine), list(self._right), {})
        return [] if pairs is not None else self._explain()

    # -- matching --------------------------------------------------------------------------------
    def _search(
        self, mine: list[Item], right: list[Item], known: dict[Any, Any]
    ) -> dict[Any, Any] | None:
        """Return the keys of new rows of the right run → those of this run, or None."""
        if not mine:
            return known if all(id(item) in self._lacking for item in right) else None
        item = mine[0]
        for place, other in enumerate(right):
            self._steps += 1
            if self._steps > MOST_STEPS:
                return None
            made = self._paired(item, other, known)
            if made is None:
                continue
            found = self._search(mine[1:], right[:place] + right[place + 1 :], made)
            if found is not None:
                return found
        return None

    def _paired(self, mine: Item, right: Item, known: dict[Any, Any]) -> dict[Any, Any] | None:
        if not _same_kind(mine, right):
            return None
        known = dict(known)
        if mine.op != "added":
            if mine.key != right.key:
                return None
        elif not self._explodes(mine) and not _note(known, right.key, mine.key):
            return None
        if self._differing(mine, right, known):
            return None
        return known

    @staticmethod
    def _explodes(item: Item) -> bool:
        return SOMEONE in item.values

    def _differing(self, mine: Item, right: Item, known: dict[Any, Any] | None) -> tuple[str, ...]:
        """Return the columns that differ; `known` gets the new rows that are found to be equal."""
        wrong = []
        for column in sorted(mine.values.keys() | right.values.keys()):
            if not self._equal(column, mine, right, known):
                wrong.append(column)
        for column in sorted(mine.words.keys() | right.words.keys()):
            if not self._words_fit(column, mine, right):
                wrong.append(column)
        return tuple(wrong)

    def _equal(self, column: str, mine: Item, right: Item, known: dict[Any, Any] | None) -> bool:
        name = f"{mine.table}.{column}"
        if name in self._freedom.free:
            return self._allowed(name, mine.values.get(column, mine.row.get(column)))
        if (column in mine.values) != (column in right.values):
            return False
        return self._same(mine.values[column], right.values[column], known)

    def _allowed(self, name: str, value: Any) -> bool:
        wanted = self._freedom.free[name]
        return wanted == "any" or matches({"value": wanted}, {"value": value})

    def _words_fit(self, column: str, mine: Item, right: Item) -> bool:
        name = f"{mine.table}.{column}"
        text = mine.row.get(column)
        if name in self._freedom.free:
            return self._allowed(name, text)
        if name in self._freedom.conditions and text is not None:
            condition = self._freedom.conditions[name]
            if not matches({"value": condition}, {"value": text}):
                return False
        if (column in mine.words) != (column in right.words):
            return mine.op == "added" or not self._dictated(name, right.words.get(column))
        if self._dictated(name, right.words.get(column)):
            return _folded(text) == _folded(right.row.get(column))
        return True

    def _dictated(self, name: str, text: Any) -> bool:
        if name in self._freedom.dictated:
            return True
        if name not in self._dictates:
            return False
        return isinstance(text, str) and same_text(text) in self._freedom.quoted

    def _same(self, mine: Any, right: Any, known: dict[Any, Any] | None) -> bool:
        if isinstance(right, str) and isinstance(mine, str):
            if right in self._made_right:
                if mine not in self._made:
                    return False
                return known is None or _note(known, right, mine)
            return " ".join(mine.casefold().split()) == " ".join(right.casefold().split())
        if isinstance(right, bool) or isinstance(mine, bool):
            return mine is right
        if isinstance(right, int | float) and isinstance(mine, int | float):
            return abs(mine - right) < 1e-9
        if isinstance(right, list) and isinstance(mine, list):
            return self._same_list(mine, right, known)
        if isinstance(right, dict) and isinstance(mine, dict):
            if mine.keys() != right.keys():
                return False
            return all(self._same(mine[k], right[k], known) for k in right)
        return mine == right

    def _same_list(self, mine: list[Any], right: list[Any], known: dict[Any, Any] | None) -> bool:
        """Return whether two lists hold the same; labels and the like have no order."""
        if len(mine) != len(right):
            return False
        if all(isinstance(one, str) for one in (*mine, *right)):
            mine = sorted(mine, key=str.casefold)
            right = sorted(right, key=str.casefold)
        pairs = zip(mine, right, strict=True)
        return all(self._same(one, other, known) for one, other in pairs)

    # -- explaining ------------------------------------------------------------------------------
    def _explain(self) -> list[Difference]:
        """Pair what is alike and return the rest, the nearest pairs first."""
        mine = list(self._mine)
        right = list(self._right)
        for item in self._mine:
            twin = next((o for o in right if self._paired(item, o, {}) is not None), None)
            if twin is not None:
                mine.remove(item)
                right.remove(twin)
        found = []
        for item in list(mine):
            near = [other for other in right if _near(item, other)]
            if not near:
                continue
            other = min(near, key=lambda o: len(self._differing(item, o, None)))
            columns = self._differing(item, other, None)
            if not columns and item.op != "added":
                continue
            found.append(Difference(item, other, columns))
            mine.remove(item)
            right.remove(other)
        found += [Difference(item, None) for item in mine]
        found += [Difference(None, item) for item in right if id(item) not in self._lacking]
        return found or [Difference(None, None)]


def _same_kind(mine: Item, right: Item) -> bool:
    same = mine.table == right.table and mine.op == right.op
    return same and mine.taken_back == right.taken_back


def _near(mine: Item, right: Item) -> bool:
    return _same_kind(mine, right) and (mine.op == "added" or mine.key == right.key)


def _note(known: dict[Any, Any], right: Any, mine: Any) -> bool:
    """Note that two new rows are the same; return False if either is already another's."""
    if right in known:
        return known[right] == mine
    if mine in known.values():
        return False
    known[right] = mine
    return True


def _folded(text: Any) -> Any:
    return same_text(text) if isinstance(text, str) else text
