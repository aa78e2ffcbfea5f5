"""New targets: aligned, grounded, worded, filtered and proven, with what each stage kept.

The stages are in `scenarios/haystack/generation/`; here they are put together, because the proof
needs the harness. What comes out depends on the request alone.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import yaml

from client_harness.haystack.rewording import Rewording
from client_harness.proof.checking import check_all
from client_harness.proof.standing import found
from scenarios.haystack import pool
from scenarios.haystack.generation import alignment, bank, filters, grounding, wording
from scenarios.haystack.generation.alignment import Chain
from scenarios.haystack.generation.grounding import Dropped
from scenarios.haystack.targets import KINDS, Kind
from scenarios.worlds import build
from servers.kit.errors import InputError, UnknownName
from servers.kit.service import chosen

TRIES = 8
"""How many candidates are drawn at most for each target that is wanted."""
WIDTH = 100
STAGES = ("alignment", "grounding", "wording", "filters", "proof")


@dataclass(frozen=True)
class Request:
    """What to make: how many targets, for whom, with the tools of which services.

    No `people` or `services` means all. `kind` is the only one that is proven then.
    """

    count: int = 1
    seed: int = 0
    people: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    kind: Kind | None = None
    jobs: int | None = None

    def checked(self) -> Request:
        """Return it with all names spelled out. Raises `InputError` for what cannot be."""
        if self.count < 1:
            raise InputError(f"--count: expected at least 1, got {self.count}")
        for person in self.people:
            if person not in bank.voices():
                raise UnknownName("person", person, bank.voices(), "--person")
        services = tuple(chosen(self.services)) if self.services else ()
        people = self.people or tuple(bank.voices())
        return Request(self.count, self.seed, people, services, self.kind, self.jobs)


@dataclass(frozen=True)
class Candidate:
    """A target that was worded. `raw` is what its file holds."""

    person: str
    name: str
    tool: str
    frame: str
    raw: dict[str, Any]

    @property
    def text(self) -> str:
        """What its file holds, as YAML."""
        return yaml.safe_dump(self.raw, sort_keys=False, allow_unicode=True, width=WIDTH)

    @property
    def place(self) -> Path:
        """Its file, below the folder of all."""
        return Path(self.person) / f"{self.name}.yaml"


@dataclass
class Stage:
    """How many candidates came into a stage, how many it kept, and why it dropped the others."""

    name: str
    came: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def keep(self) -> None:
        """Count one that is kept."""
        self.came += 1
        self.kept += 1

    def drop(self, why: str) -> None:
        """Count one that is dropped."""
        self.came += 1
        self.dropped[why] += 1

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        dropped = dict(sorted(self.dropped.items(), key=lambda one: (-one[1], one[0])))
        return {"stage": self.name, "came": self.came, "kept": self.kept, "dropped": dropped}


@dataclass
class Generated:
    """What was made: the proven targets, and the yield of each stage."""

    targets: list[Candidate]
    stages: dict[str, Stage]
    reworded: dict[str, Any] | None = None


def generate(
    request: Request, rewording: Rewording | None = None, tell: Callable[[str], None] = print
) -> Generated:
    """Make targets as requested; `tell` gets a line about the progress now and then.

    Raises `InputError` for a request that cannot be met at all, and if a model does not answer.
    """
    asked = request.checked()
    stages = {name: Stage(name) for name in STAGES}
    able = chains(asked, stages["alignment"])
    made: list[Candidate] = []
    candidates = filtered(asked, able, stages, rewording)
    while len(made) < asked.count:
        batch = []
        for candidate in candidates:
            batch.append(candidate)
            if len(batch) == asked.count - len(made):
                break
        if not batch:
            break
        tell(f"proving {len(batch)} targets")
        made += _proven(asked, batch, stages["proof"])
    counted = rewording.counted() if rewording is not None else None
    return Generated(made, stages, counted)


def chains(asked: Request, stage: Stage) -> list[Chain]:
    """Return the chains of a request, and count them. Raises `InputError` if there are none."""
    aligned = alignment.alignment()
    stage.came = aligned.proposed
    stage.dropped.update(aligned.dropped)
    kept = aligned.kept
    if asked.services:
        kept = [chain for chain in kept if chain.service in asked.services]
        if not kept:
            able = sorted({chain.service for chain in aligned.kept})
            named = ", ".join(asked.services)
            raise InputError(
                f"--service {named}: no frame fits its tools; there are some for {', '.join(able)}"
            )
        stage.dropped["was not asked for"] = len(aligned.kept) - len(kept)
    stage.kept = len(kept)
    return kept


def drawn(asked: Request, able: Sequence[Chain]) -> Iterator[tuple[Chain, str, int]]:
    """Yield chain, person and number of each attempt; every chain and person comes in turn."""
    order = [*itertools.product(able, asked.people)]
    Random(f"order/{asked.seed}").shuffle(order)
    least = len(order) * 2
    for number in range(max(asked.count * TRIES, least)):
        chain, person = order[number % len(order)]
        yield chain, person, number


def candidate(asked: Request, chain: Chain, person: str, number: int) -> Candidate:
    """Ground and word one attempt. Raises `Dropped`."""
    seed = f"{asked.seed}/{number}"
    found_in = grounding.grounded(chain, person, seed, stands)
    raw = wording.target(found_in, seed)
    digest = hashlib.blake2b(f"{person}/{chain.tool}/{seed}".encode(), digest_size=3).hexdigest()
    name = f"{chain.frame}_{chain.service}_{digest}"
    return Candidate(person, name, chain.tool, chain.frame, raw)


def filtered(
    asked: Request,
    able: Sequence[Chain],
    stages: dict[str, Stage],
    rewording: Rewording | None,
) -> Iterator[Candidate]:
    """Yield the candidates that pass all stages but the proof."""
    seen: set[tuple[str, str, str]] = set()
    for chain, person, number in drawn(asked, able):
        try:
            made = candidate(asked, chain, person, number)
        except Dropped as why:
            stages["grounding"].drop(str(why))
            continue
        stages["grounding"].keep()
        if rewording is not None:
            made.raw["kinds"] = rewording.kinds(made.raw, person)
        stages["wording"].keep()
        same = (person, made.tool, made.raw["title"])
        wrong = verdict(made)
        if same in seen:
            wrong = ["one like it was made already"]
        if wrong:
            stages["filters"].drop(wrong[0])
            continue
        seen.add(same)
        stages["filters"].keep()
        yield made


def verdict(made: Candidate, kind: Kind | None = None, values: Sequence[int] = (0, 1)) -> list[str]:
    """Return what the filters have against a candidate (in one kind); [] if nothing."""
    wrong = filters.problems(made.raw, made.person, kind, values)
    if filters.duplicate(made.raw, made.person):
        wrong.append("a shipped target asks for the same")
    return wrong


def _proven(asked: Request, batch: Sequence[Candidate], stage: Stage) -> list[Candidate]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        kinds = KINDS if asked.kind is None else (asked.kind,)
        paths = []
        for one in batch:
            put(home, one)
            paths += [home / one.place / kind for kind in kinds]
        results = check_all(paths, jobs=asked.jobs, fresh=True)
        kept = []
        for one in batch:
            problems = []
            for kind in kinds:
                problems += results[str(home / one.place / kind)]["problems"]
            if problems:
                stage.drop(_short(problems[0], home))
            else:
                stage.keep()
                kept.append(one)
    return kept


def _short(problem: str, home: Path) -> str:
    """Return a problem without folders, in few words."""
    plain = problem.replace(f"{home}/", "")
    return plain if len(plain) <= WIDTH else f"{plain[:WIDTH]}…"


def put(home: Path, made: Candidate) -> Path:
    """Write a candidate below a folder and return its file."""
    path = home / made.place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(made.text, encoding="utf-8")
    return path


def stands(person: str, service: str, value: Any) -> bool:
    """Return whether a value stands in a person's past errands or in the world of a service."""
    forms = [value] if isinstance(value, str) else [value, f"{value:.2f}"]
    if any(str(form) in pool.text(person) for form in forms):
        return True
    return _found(person, service, value) is not None


@functools.cache
def _found(person: str, service: str, value: Any) -> str | None:
    return found(build.shared(person, [service]), value)


def free(out: Path, made: Sequence[Candidate]) -> None:
    """Refuse a folder in which one of the targets could not be written. Raises `InputError`."""
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out}: there is a file of that name; name a folder")
    for one in made:
        if (out / one.place).exists():
            raise InputError(f"{out / one.place} exists already; name another folder or --seed")


def write(out: Path, made: Sequence[Candidate]) -> list[Path]:
    """Write targets into a folder, all of them or none, and return their files.

    Raises `InputError` if the folder cannot be written, or has such a file.
    """
    free(out, made)
    written: list[Path] = []
    try:
        for one in made:
            written.append(out / one.place)
            put(out, one)
    except OSError as wrong:
        for path in written:
            path.unlink(missing_ok=True)
        raise InputError(f"--out {out}: {wrong.strerror}") from None
    return written


def table(made: Generated) -> list[list[str]]:
    """Return the yield of each stage as rows with a heading."""
    rows = [["stage", "came", "kept", "dropped, and why"]]
    for stage in made.stages.values():
        whys = [f"{count} {why}" for why, count in stage.as_json()["dropped"].items()]
        first, *others = whys or ["–"]
        rows.append([stage.name, str(stage.came), str(stage.kept), first])
        rows += [["", "", "", why] for why in others]
    return rows


def remarks(made: Generated, request: Request) -> list[str]:
    """Return what else is to be said: of a model's words, and of targets that are lacking."""
    lines = []
    if made.reworded is not None:
        counted = made.reworded
        refused = sum(counted["refused"].values())
        whys = [f"{count} {why}" for why, count in counted["refused"].items()]
        line = f"{counted['model']}: {counted['taken']} texts taken, {refused} refused"
        lines.append(f"{line} ({'; '.join(whys)})" if whys else line)
        if counted["badly"]:
            lines.append(f"{counted['model']} words badly; most texts are those of the banks.")
    if len(made.targets) < request.count:
        lines.append(
            f"{len(made.targets)} of {request.count} targets were made; try another --seed, or "
            "more persons and services"
        )
    return lines


def as_json(made: Generated, paths: Sequence[Path]) -> dict[str, Any]:
    """Return plain data: `{stages, targets, model}`."""
    targets = []
    for one, path in zip(made.targets, paths, strict=True):
        targets.append(
            {"file": str(path), "person": one.person, "tool": one.tool, "frame": one.frame}
        )
    stages = [stage.as_json() for stage in made.stages.values()]
    return {"stages": stages, "targets": targets, "model": made.reworded}
