"""Read scenarios from YAML and cross-check every name in them.

A mistake is one `InputError` that names the file, the place in it and what would be right.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fault_profiles.model import check_together
from fault_profiles.model import parse as parse_fault
from judge import checks as check_kinds
from scenarios.model import Scenario
from scenarios.script import check_names, flat
from scenarios.worlds import build
from servers.kit.errors import InputError, UnknownName, explain
from servers.kit.service import Service, known_tables, narrowed, service
from servers.kit.yaml import read

SUITES = Path(__file__).parent / "suites"
HAYSTACK = Path(__file__).parent / "haystack"
MOST_TOOLS = 128
"""How many tools an agent may be offered: VS Code and the large providers' APIs refuse more."""


@functools.cache
def index() -> dict[str, Path]:
    """Return the shipped scenarios: id → file."""
    return {
        p.relative_to(SUITES).with_suffix("").as_posix(): p
        for p in sorted(SUITES.rglob("*.yaml"))
        if not p.name.startswith("_")
    }


def suites() -> dict[str, list[str]]:
    """Return suite → scenario ids: each folder is one, `_<suite>.yaml` beside them lists ids or
    folders of a mixed one.
    """
    found: dict[str, list[str]] = {}
    for name in index():
        found.setdefault(name.partition("/")[0], []).append(name)
    for path in sorted(SUITES.glob("_*.yaml")):
        listed = read(path)
        if not isinstance(listed, list):
            raise InputError(f"{path}: a suite is a list of scenario ids or folders")
        found[path.stem.removeprefix("_")] = [
            n for item in listed for n in _members(str(item), path)
        ]
    return dict(sorted(found.items()))


def _members(item: str, path: Path) -> list[str]:
    picked = [n for n in index() if n == item or n.startswith(item + "/")]
    if not picked:
        raise UnknownName("scenario", item, index(), str(path))
    return picked


def resolve(names: list[str]) -> list[str | Path]:
    """Return scenario ids (or paths of files elsewhere) for suites, ids, folders and paths.

    Raises `UnknownName`.
    """
    groups = suites()
    found = []
    for name in names:
        path = Path(name)
        if name in groups:
            found += groups[name]
        elif name in index():
            found.append(name)
        elif path.suffix == ".yaml" and path.exists():
            found.append(_shipped(path))
        elif path.is_dir():
            found += [
                _shipped(p) for p in sorted(path.rglob("*.yaml")) if not p.name.startswith("_")
            ]
        elif any(n.startswith(name + "/") for n in index()):
            found += [n for n in index() if n.startswith(name + "/")]
        else:
            raise UnknownName("suite or scenario", name, [*groups, *index()])
    return list(dict.fromkeys(found))


def _shipped(path: Path) -> str | Path:
    whole = path.resolve()
    return (
        whole.relative_to(SUITES).with_suffix("").as_posix()
        if whole.is_relative_to(SUITES)
        else path
    )


def path_of(name: str | Path) -> Path:
    """Return the file of a scenario by id, or the file itself. Raises `UnknownName`."""
    if isinstance(name, str) and name not in index():
        raise UnknownName("scenario", name, index())
    return index()[name] if isinstance(name, str) else name


def load(name: str | Path) -> Scenario:
    """Return a scenario by id or from a file, cross-checked. Raises `InputError`."""
    path = path_of(name)
    return parse(read(path), name if isinstance(name, str) else path.stem, str(path))


def parse(raw: Any, name: str, where: str) -> Scenario:
    """Return a scenario from parsed YAML. Raises `InputError`."""
    try:
        if not isinstance(raw, dict):
            raise InputError("a scenario is a mapping")
        raw = build.with_ids(raw, raw.get("world", Scenario.model_fields["world"].default))
        for key in ("faults", "checks"):
            if not isinstance(raw.get(key, []), list):
                raise InputError(f"{key} is a list of one-key items")
        faults = [parse_fault(f, f"faults[{i}]") for i, f in enumerate(raw.get("faults", []))]
        checks = [check_kinds.parse(c, f"checks[{i}]") for i, c in enumerate(raw.get("checks", []))]
        made = Scenario.model_validate({**raw, "id": name, "faults": faults, "checks": checks})
        _cross_check(made)
    except ValidationError as wrong:
        raise InputError(f"{where}: {explain(wrong, Scenario)}") from None
    except InputError as wrong:
        raise InputError(f"{where}: {wrong}") from None
    return made


def _cross_check(made: Scenario) -> None:
    build.person(made.world)
    exposed = set(made.services)
    for name in made.services:
        service(name)
    for what, name in (
        ("primary", made.primary),
        ("fallback", made.fallback),
        *(("disclose", d.service) for d in made.disclose),
    ):
        if name is not None and name not in exposed:
            raise UnknownName("service", name, exposed, what)
    offered = offer(made)
    check_together(made.faults)
    known_faults = [f.name for f in made.faults]
    for fault in made.faults:
        if not fault.on.services & exposed:
            raise InputError(
                f"fault {fault.name}: {', '.join(fault.on.patterns)} is on no service of this scenario"
            )
    for disclosure in made.disclose:
        if disclosure.after.fired is not None and disclosure.after.fired not in known_faults:
            raise UnknownName(
                "fault", disclosure.after.fired, known_faults, f"disclose {disclosure.service}"
            )
    _check_checks(made, exposed, known_faults)
    for label, steps in (("oracle", made.scripts.oracle), ("naive", made.scripts.naive)):
        check_names(steps, f"scripts.{label}")
        for step in flat(steps):
            if step.call is not None:
                owner, _, short = step.call.partition(".")
                if owner not in exposed:
                    raise UnknownName("service", owner, exposed, f"scripts.{label}")
                if short not in offered[owner].tools:
                    raise UnknownName(
                        "tool", short, offered[owner].tools, f"scripts.{label}: {owner}"
                    )
    _check_violations(made)
    if made.failure != "none" and not made.twin and not made.faults:
        raise InputError(f"failure is {made.failure} but there are no faults")
    if made.history is not None and not (HAYSTACK / f"{made.history}.yaml").exists():
        raise UnknownName("history", made.history, [p.stem for p in HAYSTACK.glob("*.yaml")])


def offer(made: Scenario) -> dict[str, type[Service]]:
    """Return the services as the agent is offered them.

    Raises `InputError` where they have too many tools together.
    """
    found = {name: service(name) for name in made.services}
    for name, patterns in made.tools.items():
        if name not in found:
            raise UnknownName("service", name, found, "tools")
        found[name] = narrowed(found[name], patterns)
    count = sum(len(cls.tools) for cls in found.values())
    if count > MOST_TOOLS:
        raise InputError(
            f"services offer {count} tools together, and clients take at most {MOST_TOOLS}; narrow some of them with `tools`"
        )
    return found


def fewer(made: Scenario, most: int) -> Scenario:
    """Return a scenario narrowed to at most `most` tools, for a client that takes no more.

    What its scripts and their violations call is kept; the other tools fill the list by turns from
    each service, readings first. Raises `InputError` where the scripts alone need more.
    """
    offered = offer(made)
    if sum(len(cls.tools) for cls in offered.values()) <= most:
        return made
    scripts = [
        made.scripts.oracle,
        made.scripts.naive,
        *(v.edit(made.scripts.oracle) for v in made.violations),
    ]
    needed = {step.call for steps in scripts for step in flat(steps) if step.call is not None}
    if len(needed) > most:
        raise InputError(
            f"scenario {made.id}: its scripts call {len(needed)} tools, and the client takes {most}"
        )
    kept = {
        name: [t for t in cls.tools if f"{name}.{t}" in needed] for name, cls in offered.items()
    }
    spare = {
        n: sorted((t for t in c.tools.values() if t.name not in kept[n]), key=lambda t: t.effect)
        for n, c in offered.items()
    }
    turns = [
        name
        for place in range(max(map(len, spare.values())))
        for name in spare
        if place < len(spare[name])
    ]
    for name in turns[: most - len(needed)]:
        kept[name].append(spare[name].pop(0).name)
    return made.model_copy(
        update={"services": [n for n in made.services if kept[n]], "tools": kept}
    )


def _check_checks(made: Scenario, exposed: set[str], known_faults: list[str]) -> None:
    names = [c.name for c in made.checks]
    if not names:
        raise InputError("checks: a scenario without checks judges nothing")
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two checks are named {name!r}")
    tables = known_tables(exposed)
    for check in made.checks:
        mentions = check.mentions()
        where = f"check {check.name}"
        turn = getattr(check, "turn", None)
        if isinstance(turn, int) and not 1 <= turn <= len(made.turns):
            raise InputError(f"{where}: there is no turn {turn}; the user has {len(made.turns)}")
        for target in mentions.targets:
            if not target.services & exposed:
                raise InputError(
                    f"{where}: {', '.join(target.patterns)} is on no service of this scenario"
                )
        for table, columns in mentions.tables.items():
            if table not in tables:
                raise UnknownName("table", table, tables, where)
            for column in columns:
                if column not in tables[table].columns:
                    raise UnknownName("column", column, tables[table].columns, f"{where}: {table}")
        for kind, used, known in (
            ("fault", mentions.faults, known_faults),
            ("answer", mentions.answers, made.answers),
            ("check", mentions.checks, names),
        ):
            for name in used:
                if name not in known:
                    raise UnknownName(kind, name, known, where)
        for fault in made.faults:
            if fault.name in mentions.recovered and not fault.recover:
                raise InputError(
                    f"{where}: fault {fault.name} does not say how one recovers from it; give it `recover`"
                )


def _check_violations(made: Scenario) -> None:
    gates = {c.name for c in made.checks if c.gate}
    for violation in made.violations:
        if violation.fails not in gates:
            raise UnknownName("gate", violation.fails, gates, "violation")
        violation.edit(made.scripts.oracle)
    unnamed = gates - {v.fails for v in made.violations}
    if unnamed:
        raise InputError(
            f"no violation names the gate {sorted(unnamed)[0]!r}; every gate needs one that fails it alone"
        )


def fingerprint(made: Scenario) -> str:
    """Return a short hash of all that the scenario says and of its history's file."""
    text = (
        made.model_dump_json()
        + repr([(f.kind, f.model_dump_json()) for f in made.faults])
        + repr([(c.kind, c.model_dump_json()) for c in made.checks])
    )
    if made.history is not None:
        text += (HAYSTACK / f"{made.history}.yaml").read_text()
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
