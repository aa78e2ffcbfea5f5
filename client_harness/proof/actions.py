"""Mutants of actions and reads: what a careless agent does, made from the oracle's trace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from client_harness.proof.moves import Call, Move, Moves, Say, changed, without
from client_harness.proof.sorts import (
    Path,
    Sorts,
    leaves,
    lists,
    next_day,
    next_hour,
    other_numbers,
    put,
)
from judge.change import Freedom
from scenarios.model import Scenario
from servers.kit.counterparts import matches
from servers.kit.expr.predicates import same_text
from servers.kit.service import known_tables, tool

_SOURCE = re.compile(r".*(source|account|card|payment_method)_id|account|from_account")
"""Arguments that say where money or a message comes from."""


@dataclass(frozen=True)
class Mutant:
    """A mutant: its name, and the moves to try. The first that fit are the mutant.

    One that `differs` is never equivalent to the oracle, whatever its rows are.
    """

    name: str
    tries: tuple[Moves, ...]
    differs: bool = False


class Actions:
    """Makes the mutants of the writes in a run's moves."""

    def __init__(self, scenario: Scenario, moves: Moves, sorts: Sorts, freedom: Freedom) -> None:
        self._scenario = scenario
        self._moves = moves
        self._sorts = sorts
        self._freedom = freedom

    def of(self, place: int) -> Iterator[Mutant]:
        """Yield the mutants of the write at a place."""
        call = self._moves[place]
        assert isinstance(call, Call)
        dropped = without(self._moves, lambda at, move: at == place)
        yield Mutant(f"drop {call.label}", (dropped,))
        again = replace(call, step=None, seen=None)
        doubled = [*self._moves[: place + 1], again, *self._moves[place + 1 :]]
        yield Mutant(f"double {call.label}", (doubled,))
        if call.was is not None and call.was.is_error and not call.acted:
            return
        yield from self._misdirected(place, call)
        yield from self._other_provider(place, call)
        yield from self._numbers(place, call)
        yield from self._moments(place, call)
        yield from self._fewer(place, call)
        yield from self._dictated(place, call)
        yield from self._choices(place, call)

    def _with(self, place: int, call: Call, path: Path, new: Any) -> Moves:
        return changed(self._moves, place, put(call.args, path, new))

    def _misdirected(self, place: int, call: Call) -> Iterator[Mutant]:
        for path, value in leaves(call.args):
            if not isinstance(value, str) or "key" in str(path[0]):
                continue
            others = self._sorts.others(value)
            if not others:
                continue
            name = f"misdirect {call.label}: {_dotted(path)} {self._sorts.named(value)}"
            tries = tuple(self._with(place, call, path, other) for other in others)
            yield Mutant(f"{name} → {self._sorts.named(others[0])}", tries)
        yield from self._other_source(place, call)

    def _other_source(self, place: int, call: Call) -> Iterator[Mutant]:
        known = tool(call.name)[1].schema["properties"]
        for name in known:
            if name in call.args or not _SOURCE.fullmatch(name):
                continue
            candidates = self._sources(call.service)
            tries = [changed(self._moves, place, call.args | {name: key}) for key in candidates]
            if tries:
                yield Mutant(f"other source {call.label}: {name}", tuple(tries))

    def _sources(self, service: str) -> list[Any]:
        keys = []
        for table in known_tables([service]):
            if table in self._sorts.world.tables and table.endswith(
                ("sources", "accounts", "cards")
            ):
                keys += self._sorts.keys(table, 4)
        return keys[:6]

    def _other_provider(self, place: int, call: Call) -> Iterator[Mutant]:
        for listed in matches().values():
            for match in listed:
                if call.name not in match.tools:
                    continue
                for other in match.tools:
                    owner = other.partition(".")[0]
                    if other == call.name or owner not in self._scenario.services:
                        continue
                    moves = self._elsewhere(place, call, other)
                    if moves is not None:
                        yield Mutant(f"counterpart {call.label} → {other}", (moves,))

    def _elsewhere(self, place: int, call: Call, other: str) -> Moves | None:
        """Return the moves with the same call to another provider, as far as it can be written."""
        cls, spec = tool(other)
        args = {}
        for name in spec.schema["properties"]:
            if name not in call.args:
                if name in spec.schema.get("required", []):
                    return None
                continue
            value = call.args[name]
            found = self._sorts.find(value) if isinstance(value, str) else None
            if found is not None and found.table not in cls.known_tables():
                value = self._same_elsewhere(found.row, list(cls.known_tables()))
                if value is None:
                    return None
            args[name] = value
        _, _, short = other.partition(".")
        return changed(self._moves, place, args, service=cls.name, tool=short)

    def _same_elsewhere(self, row: dict[str, Any], tables: Sequence[str]) -> str | None:
        for table in tables:
            if table not in self._sorts.world.tables:
                continue
            spec = self._sorts.world.tables[table]
            if "name" in spec.columns and row.get("name"):
                rows = self._sorts.world.rows(table, "name=?", row["name"], limit=1)
                if rows:
                    return str(rows[0][spec.key])
        return None

    def _numbers(self, place: int, call: Call) -> Iterator[Mutant]:
        for path, value in leaves(call.args):
            if isinstance(value, bool) or not isinstance(value, int | float):
                continue
            others = other_numbers(str(path[-1]), value)
            tries = tuple(self._with(place, call, path, other) for other in others)
            name = f"number {call.label}: {_dotted(path)} {value} → {others[0]}"
            yield Mutant(name, tries)

    def _moments(self, place: int, call: Call) -> Iterator[Mutant]:
        for what, later in (("day", next_day), ("time", next_hour)):
            args = call.args
            shown = ""
            for path, value in leaves(call.args):
                moved = later(value) if isinstance(value, str) else None
                if moved is not None:
                    args = put(args, path, moved)
                    shown = shown or f"{_dotted(path)} {value} → {moved}"
            if shown:
                yield Mutant(f"{what} {call.label}: {shown}", (changed(self._moves, place, args),))

    def _fewer(self, place: int, call: Call) -> Iterator[Mutant]:
        for path, listed in lists(call.args):
            if len(listed) < 2:
                continue
            for left_out in (0, len(listed) - 1):
                rest = [item for at, item in enumerate(listed) if at != left_out]
                name = f"fewer {call.label}: {_dotted(path)} without #{left_out + 1}"
                yield Mutant(name, (self._with(place, call, path, rest),))

    def _dictated(self, place: int, call: Call) -> Iterator[Mutant]:
        dictated = set(self._freedom.quoted)
        for change in call.was.effects if call.was is not None else []:
            for column, value in (change["new"] or {}).items():
                if f"{change['table']}.{column}" in self._freedom.dictated:
                    dictated.add(same_text(value))
        for path, value in leaves(call.args):
            if isinstance(value, str) and value and same_text(value) in dictated:
                moves = self._with(place, call, path, f"{value} again")
                yield Mutant(f"dictated {call.label}: {_dotted(path)}", (moves,))

    def _choices(self, place: int, call: Call) -> Iterator[Mutant]:
        known = tool(call.name)[1].schema["properties"]
        for name, value in call.args.items():
            options = known.get(name, {}).get("enum", [])
            if isinstance(value, bool):
                options = [not value]
            others = [option for option in options if option != value]
            if others:
                tries = tuple(self._with(place, call, (name,), other) for other in others)
                yield Mutant(f"choice {call.label}: {name} {value} → {others[0]}", tries)


def blind_retries(moves: Moves) -> Iterator[Mutant]:
    """Yield the runs in which a write is repeated without looking how it had turned out."""
    for place, call in enumerate(moves):
        if not isinstance(call, Call) or not call.writes or call.was is None:
            continue
        for later in range(place + 1, len(moves)):
            again = moves[later]
            if not isinstance(again, Call) or again.name != call.name or again.args != call.args:
                continue
            opened = set(call.was.opened)
            between = range(place + 1, later)
            looks = {at for at in between if _settles(moves[at], opened)}
            if looks and not _safe(call):
                blind = without(moves, lambda at, move, looks=looks: at in looks)
                yield Mutant(f"blind retry {again.label}", (blind,))
            break


def _safe(call: Call) -> bool:
    """Return whether a repetition can do no harm, or the provider itself asked for one."""
    if tool(call.name)[1].idempotent or any("idempotency" in name for name in call.args):
        return True
    error = call.seen.get("error") if isinstance(call.seen, dict) else None
    return isinstance(error, dict) and error.get("retryable") is True


def _settles(move: Move, subjects: set[str]) -> bool:
    if not isinstance(move, Call) or move.was is None or move.writes:
        return False
    return bool(subjects & set(move.was.evidence))


def unasked(moves: Moves, answered: set[int]) -> Iterator[Mutant]:
    """Yield the runs in which a question is not asked; `answered` are the places of questions."""
    for number, place in enumerate(sorted(answered), 1):
        silent = without(moves, lambda at, move, place=place: at == place)
        yield Mutant(f"unasked question #{number}", (silent,))


def last_text(moves: Moves) -> int:
    """Return the place of the last text, before which more calls can be made."""
    places = [place for place, move in enumerate(moves) if isinstance(move, Say)]
    return places[-1] if places else len(moves)


def _dotted(path: Path) -> str:
    return ".".join(str(part) for part in path)
