"""Build a person's world from seeds, as dated events, and cache the built database.

A generator is a module below `fill/` with one function `fill(builder, seeds)`; the folder is the
registry. It is named after the seeds that it reads, `people/<person>/<name>.yaml`. All randomness
comes from the builder, so a world is the same on every machine.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import pkgutil
import random
import re
import sqlite3
import tempfile
import traceback
from collections.abc import Callable, Collection, Iterable
from datetime import date, time
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import yaml

from servers.kit import files, posts
from servers.kit.agenda import Agenda
from servers.kit.control import make_id
from servers.kit.errors import InputError, UnknownName
from servers.kit.service import all_tables, categories_of, services, tables_of
from servers.kit.store import WORLD, World
from servers.kit.values import iso, parse_time
from servers.kit.yaml import read
from servers.kit.zones import local_moment

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PEOPLE = HERE.parent / "people"
_WRONG = (
    InputError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    OSError,
    yaml.YAMLError,
    sqlite3.Error,
)
"""The exceptions that generators raise for seeds that do not fit."""
KEPT = 4
"""How many builds of a world stay in the cache, which other checkouts may share."""
_YEAR = 400 * 86400
"""For how long accounts and catalogues have stood at least when an episode begins."""
AHEAD = 60 * 86400
"""How long after the start regular mail goes on, in seconds."""
_AHEAD = 60 * 86400
"""How long after the start services send letters also where their tables are not held."""
_SEEDED = re.compile(r"\bseed:([a-z]+)/([\w-]+)")


class Builder:
    """Collects dated events and writes them in order of time.

    `person` is the parsed `person.yaml`, whose `start` is the moment at which episodes begin;
    `start` is the same moment in epoch seconds. `mailbox` takes in what was `posted`, if some
    generator fills mailboxes.
    """

    def __init__(self, name: str, person: dict[str, Any]) -> None:
        self.name = name
        self.person = person
        self.start = parse_time(person["start"])
        self._events: list[tuple[int, int, str, str, Any, dict[str, Any]]] = []
        self._coming = 0
        self._standing: list[tuple[int, int]] = []
        self._letters: list[posts.Letter] = []
        self.mailbox: Callable[[posts.Letter], None] | None = None
        self._read: dict[str, Any] = {}

    def seeds(self, name: str) -> Any:
        """Return this person's parsed seeds `<name>.yaml`, or {} if there are none.

        They are read once and shared.
        """
        if name not in self._read:
            path = folder(self.name) / f"{name}.yaml"
            self._read[name] = parsed(path) if path.exists() else {}
        return self._read[name]

    @functools.cached_property
    def zone(self) -> ZoneInfo:
        """The time zone of the person's home."""
        return ZoneInfo(self.person["timezone"])

    def moment(
        self, text: str | date, where: ZoneInfo | None = None, *, bare: time = time(12)
    ) -> int:
        """Return the epoch seconds of a moment as written in seeds.

        It is local time at home (or `where`), or UTC if it ends in Z. A date without a time means
        the hour `bare` of that day. YAML parses an unquoted value as a date or a datetime.
        """
        said = str(text).replace(" ", "T")
        if said.endswith("Z"):
            return parse_time(said)
        day, _, clock = said.partition("T")
        hour = time.fromisoformat(clock) if clock else bare
        return local_moment(date.fromisoformat(day), hour, where or self.zone)

    @functools.cached_property
    def places(self) -> dict[str, dict[str, Any]]:
        """The businesses and addresses of the person's cities by key (`places.yaml`).

        Every service takes its places from here.
        """
        return self.seeds("places").get("places", {})

    @functools.cached_property
    def life(self) -> list[dict[str, Any]]:
        """Past and future happenings (`life.yaml`), in order of time.

        Each category's generator writes its own side of them.
        """
        return self.seeds("life").get("happenings", [])

    @functools.cached_property
    def ahead(self) -> list[dict[str, Any]]:
        """What happens after the start and nobody knows before (`ahead.yaml`).

        Each category's generator dates its own side of it.
        """
        return self.seeds("ahead").get("happenings", [])

    def id(self, prefix: str, key: Any) -> str:
        """Return the stable id of a seeded row; `key` identifies it within its kind."""
        return make_id(prefix, self.name, str(key))

    def chance(self, *key: Any) -> random.Random:
        """Return a random generator for one purpose; drawing from it affects no other."""
        return random.Random(repr((self.name, key)))

    def add(self, at: int | str, table: str, /, **row: Any) -> dict[str, Any]:
        """Insert a row at a moment (epoch seconds or ISO) and return it.

        A row about the future (a forecast) is added at the moment it was made.
        """
        self._events.append((self._epoch(at), len(self._events), "add", table, None, row))
        return row

    def change(self, at: int | str, table: str, key: Any, /, **changes: Any) -> None:
        """Change a row at a later moment than the one at which it was added."""
        self._events.append((self._epoch(at), len(self._events), "change", table, key, changes))

    def rows(self, *tables: str) -> dict[str, dict[Any, dict[str, Any]]]:
        """Return the rows of some tables as they are by the start, by table and id.

        They are those that were added so far, with their changes, in order of adding.
        """
        found: dict[str, dict[Any, dict[str, Any]]] = {table: {} for table in tables}
        events = [event for event in self._events if event[3] in found]
        for _, _, what, table, _, row in events:
            if what == "add":
                found[table][row["id"]] = dict(row)
        for _, _, what, table, key, row in sorted(events, key=lambda event: event[:2]):
            if what == "change":
                found[table][key] |= row
        return found

    def later(self, at: int | str, table: str, /, **row: Any) -> dict[str, Any]:
        """Let a row be added after the start, at its moment, whatever an episode exposes."""
        moment = parse_time(at) if isinstance(at, str) else at
        self._come(moment, "add", table, None, row)
        return row

    def arrive(self, at: int, table: str, /, **row: Any) -> dict[str, Any]:
        """Add a row at its moment, before the start or after it."""
        if at > self.start:
            return self.later(at, table, **row)
        return self.add(at, table, **row)

    def change_later(self, at: int | str, table: str, key: Any, /, **changes: Any) -> None:
        """Let a row change after the start, unless it is gone by then."""
        moment = parse_time(at) if isinstance(at, str) else at
        self._come(moment, "change", table, key, changes)

    def _come(self, moment: int, what: str, table: str, key: Any, row: dict[str, Any]) -> None:
        if moment <= self.start:
            raise InputError(
                f"world {self.name}: {iso(moment)} is not after the start {iso(self.start)}; "
                "what has happened by then is added with `add` and `change`"
            )
        self._coming += 1
        self.add(
            self.start,
            "future",
            id=self.id("fut", f"{table} {self._coming}"),
            due_at=iso(moment),
            what=what,
            place=table,
            key=key,
            row=row,
            absent=None,
        )

    def posted(
        self,
        at: int | str,
        provider: str,
        template: str,
        to: str | None,
        data: dict[str, Any],
        /,
        *,
        about: str,
        due: int | None = None,
        key: str = "",
    ) -> None:
        """Let a provider mail somebody, as `Service.post` does during an episode.

        The mail is posted at `at` and arrives then, or at `due`; both may be after the start. It
        goes to the account with the address `to`, filed as the person files. `key` names the mail
        within the person's world; by default it is made from the template and `about`.
        """
        now = parse_time(at) if isinstance(at, str) else at
        arrives = now if due is None else max(due, now)
        if to is None:
            return
        if arrives > self.start:
            row = posts.post(provider, template, to, data, about=about, now=now, due=due)
            put = self.later if now > self.start else self.add
            put(now, "outbox", **row)
            return
        letter = posts.letter(
            provider,
            template,
            data,
            to=to,
            at=arrives,
            about=about,
            person=self.person,
            id=key or f"{provider} {template} {about}",
        )
        self._letters.append(letter)

    def deliver(self) -> None:
        """Put what was posted into the person's mailboxes, if the person has any."""
        if self.mailbox is not None:
            for letter in self._letters:
                self.mailbox(letter)

    def _epoch(self, at: int | str) -> int:
        moment = parse_time(at) if isinstance(at, str) else at
        if moment > self.start:
            raise InputError(
                f"world {self.name}: {iso(moment)} is after the start {iso(self.start)}; "
                "only the content of a row may lie in the future"
            )
        return moment

    @property
    def stood(self) -> int:
        """A moment more than a year before the start, since when accounts have stood."""
        return self.start - _YEAR

    def stands(self, since: int, hours: int = 0) -> None:
        """Say when the story of the generator that runs begins, in epoch seconds.

        What it adds then (or up to some hours later) are accounts, places and catalogues. These
        have stood for more than a year when an episode begins, so that a history can use them.
        """
        self._standing.append((since, since + hours * 3600))

    def settle(self, number: int) -> None:
        """Date what stands among the events from a number on; generators call `stands`."""
        for place in range(number, len(self._events)):
            at = self._events[place][0]
            for since, until in self._standing:
                if since <= at <= until:
                    moment = min(at, self.stood + at - since)
                    self._events[place] = (moment, *self._events[place][1:])
        self._standing = []

    def __len__(self) -> int:
        """Return how many events there are so far."""
        return len(self._events)

    def write(self, world: World) -> None:
        """Write all events, oldest first."""
        world.stamp(min((event[0] for event in self._events), default=self.start), WORLD)
        about = {"name": self.person["name"], "timezone": self.person["timezone"]}
        world.insert("person", {"id": "me", "email": self.person["emails"]["personal"], **about})
        for at, _, what, table, key, row in sorted(self._events, key=lambda e: e[:2]):
            if table not in world.tables:
                raise UnknownName("table", table, world.tables, f"world {self.name}")
            world.stamp(at, WORLD)
            if table == "future":
                _check_dated(world, row, self.name)
            if what == "add":
                world.insert(table, row)
            else:
                world.update(table, key, **row)
        world.commit()


def _check_dated(world: World, dated: dict[str, Any], name: str) -> None:
    """Refuse a dated row that would not fit its table when it comes. Raises `InputError`."""
    table = dated["place"]
    if table not in world.tables:
        raise UnknownName("table", table, world.tables, f"world {name}")
    partial = dated["what"] == "change"
    world.tables[table].check(table, dated["row"], partial=partial)


def with_ids(value: Any, name: str) -> Any:
    """Return parsed YAML with each `seed:<prefix>/<key>` replaced by an id.

    It is the id of that seeded row of a world.
    """
    if isinstance(value, str):
        return _SEEDED.sub(lambda seed: make_id(seed[1], name, seed[2]), value)
    if isinstance(value, dict):
        return {with_ids(k, name): with_ids(v, name) for k, v in value.items()}
    return [with_ids(v, name) for v in value] if isinstance(value, list) else value


def lost(text: str, name: str, added: Collection[str] = ()) -> list[str]:
    """Return each `seed:<prefix>/<key>` in a text that names no row of a world, in order.

    `added` are ids of rows that a scenario adds to it.
    """
    ids = {seed[0]: make_id(seed[1], name, seed[2]) for seed in _SEEDED.finditer(text)}
    unknown = [seed for seed, made in ids.items() if made.encode() not in image(name)]
    return [seed for seed in unknown if ids[seed] not in added]


def names() -> list[str]:
    """Return the names of all worlds."""
    return sorted(p.parent.name for p in PEOPLE.glob("*/person.yaml"))


@functools.cache
def person(name: str) -> dict[str, Any]:
    """Return a world's parsed `person.yaml`. Raises `UnknownName`."""
    if name not in names():
        raise UnknownName("world", name, names())
    try:
        about = parsed(folder(name) / "person.yaml")
        parse_time(about["start"])
    except _WRONG as wrong:
        raise _misfit(name, "person.yaml", wrong) from None
    return about


def parsed(path: Path) -> Any:
    """Return the content of a YAML file of seeds."""
    return read(path, yaml.CSafeLoader)


def _misfit(name: str, seeds: str, wrong: Exception) -> InputError:
    """Return an error that says what does not fit in a world's seeds, and which generator met it.

    The generator determines the file that is named, because generators also read each other's
    seeds.
    """
    frames = traceback.extract_tb(wrong.__traceback__)
    here = [frame for frame in frames if Path(frame.filename).is_relative_to(HERE)]
    generating = [frame for frame in here if frame.filename != __file__]
    met = (generating or here)[-1]
    file = Path(met.filename)
    if file.stem in generators():
        seeds = f"{file.stem}.yaml"
    what = " ".join(str(wrong).split()) or type(wrong).__name__
    if isinstance(wrong, KeyError):
        what = f"no {wrong}"
    place = f"met by {file.name}, line {met.lineno}: {met.line}"
    return InputError(f"world {name}: {seeds} does not fit: {what} ({place})")


@functools.cache
def generators() -> dict[str, str]:
    """Return seeds → the module that reads them, in the order in which the modules run."""
    modules = {}
    for module in pkgutil.walk_packages([str(HERE / "fill")], "scenarios.worlds.fill."):
        seeds = module.name.rpartition(".")[2]
        if not module.ispkg and not seeds.startswith("_"):
            modules[seeds] = module.name
    return dict(sorted(modules.items()))


def generator(seeds: str) -> Callable[[Builder, Any], None]:
    """Return the function that fills a world from one kind of seeds, e.g. `calendar`."""
    return importlib.import_module(generators()[seeds]).fill


def build(name: str) -> World:
    """Build a world from its seeds. Raises `InputError` if seeds do not fit the tables."""
    builder = Builder(name, person(name))
    collect(builder)
    world = World.empty(all_tables())
    try:
        builder.write(world)
    except _WRONG as wrong:
        raise _misfit(name, "what its seeds make", wrong) from None
    _foresee(world, builder.start)
    world.slim()
    return world


def _foresee(world: World, start: int) -> None:
    """Date the letters that services will send by themselves, for worlds without their tables.

    So a mailbox gets the same mail whichever services an episode exposes. To know them, a copy of
    the world lives through the time after the start.
    """
    waiting = {row["id"] for row in world.rows("outbox", "due_at IS NOT NULL")}
    waiting |= {row["row"]["id"] for row in world.rows("future", "place='outbox'")}
    sent: list[dict[str, Any]] = []

    def told(letter: dict[str, Any], data: Any) -> None:
        if data is not None and letter["id"] not in waiting:
            sent.append({**letter, "data": data})

    life = world.scratch()
    Agenda(services().values(), tables=world.tables, told=told).run(life, start + _AHEAD)
    world.stamp(start, WORLD)
    for letter in sent:
        world.insert(
            "future",
            {
                "id": make_id("fut", "absent", letter["id"]),
                "due_at": max(letter["posted_at"], iso(start + 1)),
                "what": "add",
                "place": "outbox",
                "key": None,
                "row": letter,
                "absent": letter["provider"],
            },
        )
    world.commit()


def collect(builder: Builder) -> None:
    """Let every generator add its events to a builder. Raises `InputError` for wrong seeds."""
    name = builder.name
    seeds = {}
    for kind in generators():
        path = folder(name) / f"{kind}.yaml"
        if path.exists():
            try:
                seeds[kind] = builder.seeds(kind)
            except _WRONG as wrong:
                raise _misfit(name, path.name, wrong) from None
    for kind, given in seeds.items():
        fill = generator(kind)
        before = len(builder)
        try:
            fill(builder, given)
        except _WRONG as wrong:
            raise _misfit(name, f"{kind}.yaml", wrong) from None
        builder.settle(before)
    builder.deliver()


def folder(name: str) -> Path:
    """Return the folder that holds a person's seeds."""
    return PEOPLE / name


@functools.cache
def fingerprint(name: str) -> str:
    """Return a short hash of everything that determines a world's rows.

    It covers the seeds, the other files that generators read, the generators and the services.
    """
    person(name)
    return files.fingerprint(files.shipped(folder(name), HERE, ROOT / "servers"), ROOT)


@functools.cache
def image(name: str) -> bytes:
    """Return the built database of a world as bytes, from the cache if possible."""
    kept = cache() / f"{name}-{fingerprint(name)}.db"
    with contextlib.suppress(OSError):
        return kept.read_bytes()
    made = build(name).image()
    # If the folder cannot be written, the only cost is another build next time.
    with contextlib.suppress(OSError):
        keep(kept, made)
    return made


def cache() -> Path:
    """Return the folder in which builds and proofs are kept."""
    own = os.environ.get("HAYWIRE_CACHE")
    if own:
        return Path(own)
    users = os.environ.get("XDG_CACHE_HOME")
    base = Path(users) if users else Path.home() / ".cache"
    return base / "haywire"


def keep(path: Path, made: bytes) -> None:
    """Put the build of a world into the cache as `<name>-<fingerprint>.db`.

    All but the newest few builds of that world are removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as part:
        part.write(made)
    Path(part.name).replace(path)
    name, _, number = path.stem.rpartition("-")
    builds = path.parent.glob(f"{name}-{'?' * len(number)}.db")
    for old in sorted(builds, key=lambda p: p.stat().st_mtime)[:-KEPT]:
        old.unlink()


def shared(name: str, services: Iterable[str] | None = None) -> World:
    """Return the world that the episodes of this process share until they write.

    It is the whole world, or the tables that these services need.
    """
    return _shared(name, None if services is None else categories_of(services))


@functools.cache
def _shared(name: str, categories: tuple[str, ...] | None) -> World:
    if categories is None:
        return World.open(image(name), all_tables())
    return _shared(name, None).only(tables_of(categories))
