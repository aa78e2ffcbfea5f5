"""Read scenarios from YAML and cross-check every name in them.

A mistake is one `InputError` that names the file, the place in it and, where possible, the right
name.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fault_profiles.arguments import Schema, of_column
from fault_profiles.arguments import check_arguments as fitting_conditions
from fault_profiles.arguments import problem as unmeetable
from fault_profiles.model import check_together
from fault_profiles.model import parse as parse_fault
from judge import checks as check_kinds
from judge.pattern import patterns_in
from scenarios import setup
from scenarios.arguments import check_arguments
from scenarios.haystack import history, instances, targets
from scenarios.haystack.history import with_lived
from scenarios.model import Scenario
from scenarios.script import Edit, Step, check_names, flat, located
from scenarios.wild import dialogues
from scenarios.worlds import build
from scenarios.worlds.seeds import check_seeds
from servers.kit.errors import InputError, UnknownName, explain, placing, quoted
from servers.kit.expr import check_predicate
from servers.kit.expr.predicates import OPERATORS, is_operators
from servers.kit.plain import check_name, is_there
from servers.kit.service import Service, known_tables, narrowed, service
from servers.kit.tables import Table
from servers.kit.yaml import read

SUITES = Path(__file__).parent / "suites"
HAYSTACK = Path(__file__).parent / "haystack"
MOST_TOOLS = 128
"""How many tools an agent may be offered; VS Code and the large providers' APIs refuse more."""


@functools.cache
def written() -> dict[str, Path]:
    """Return the shipped scenarios that have a file of their own: id → file."""
    return {_id(path): path for path in _scenarios_below(SUITES)}


@functools.cache
def index() -> dict[str, Path]:
    """Return the shipped scenarios, written, instances and dialogues: id → file.

    The file of an instance is that of its target, that of a dialogue is its story's.
    """
    files = dict(written())
    for name in instances.names():
        files[name] = targets.index()[instances.split(name)[1]]
    return files | dialogues.index()


def _scenarios_below(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*.yaml")) if not path.name.startswith("_")]


def _id(path: Path) -> str:
    return path.relative_to(SUITES).with_suffix("").as_posix()


def _inside(folder: str) -> list[str]:
    """Return the ids of the shipped scenarios in a folder of `suites/`, at any depth."""
    return [name for name in index() if name.startswith(folder + "/")]


@functools.cache
def suites() -> dict[str, list[str]]:
    """Return suite → scenario ids.

    Each folder is a suite. A file `_<suite>.yaml` next to the folders lists the ids or folders of a
    mixed suite.
    """
    members: dict[str, list[str]] = {}
    for name in index():
        members.setdefault(name.partition("/")[0], []).append(name)
    for path in sorted(SUITES.glob("_*.yaml")):
        listed = read(path)
        if not isinstance(listed, list):
            raise InputError(f"{path}: a suite must be a list of scenario ids or folders")
        suite: list[str] = []
        for item in listed:
            suite += _members(str(item), path)
        members[path.stem.removeprefix("_")] = suite
    return dict(sorted(members.items()))


def _members(item: str, path: Path) -> list[str]:
    picked = [item] if item in index() else _inside(item)
    if not picked:
        raise UnknownName("scenario", item, index(), str(path))
    return picked


def resolve(names: list[str]) -> list[str | Path]:
    """Return the scenarios that suites, ids, folders and paths name.

    They are ids of shipped scenarios and paths of other files. Raises `UnknownName`.
    """
    scenarios: list[str | Path] = []
    for name in names:
        if name in written():
            scenarios.append(name)  # without a look at instances and stories, which are many
            continue
        groups = suites()
        path = Path(name)
        if name in groups:
            scenarios += groups[name]
        elif name in index() or dialogues.is_dialogue(name):
            scenarios.append(name)
        elif path.suffix == ".yaml" and is_there(path):
            scenarios += _in_file(path)
        elif instances.is_inside(path):
            scenarios.append(path)
        elif is_there(path) and path.is_dir():
            for inner in _scenarios_below(path):
                scenarios += _in_file(inner)
        elif _inside(name):
            scenarios += _inside(name)
        else:
            raise UnknownName("suite or scenario", name, [*groups, *index()])
    return list(dict.fromkeys(scenarios))


def _in_file(path: Path) -> list[str | Path]:
    """Return what a file holds: a scenario, or the instances of a target.

    They are ids of shipped scenarios, and else paths. Raises `InputError`.
    """
    whole = Path(os.path.realpath(path))  # `resolve` raises for a link to itself
    if whole.is_relative_to(SUITES):
        return [_id(whole)]
    if whole.is_relative_to(targets.HERE):
        return [f"haystack/{kind}/{targets.named(whole)}" for kind in targets.KINDS]
    return [*instances.in_file(path)] if targets.is_target(path) else [path]


def path_of(name: str | Path) -> Path:
    """Return the file of a scenario, given its id or the file itself.

    Raises `UnknownName`.
    """
    if isinstance(name, Path):
        return name.parent if instances.is_inside(name) else name
    if name in written():
        return written()[name]
    whole = name.partition(dialogues.TASK)[0]
    if whole not in index():
        raise UnknownName("scenario", name, index())
    return index()[whole]


def load(name: str | Path) -> Scenario:
    """Return a scenario by its id or from a file, cross-checked. Raises `InputError`."""
    if isinstance(name, str) and instances.is_instance(name):
        return instances.instance(name)
    if isinstance(name, str) and dialogues.is_dialogue(name):
        return dialogues.dialogue(name)
    if isinstance(name, Path) and instances.is_inside(name):
        return instances.inside(name)
    path = path_of(name)
    known = name if isinstance(name, str) else check_name(path.stem, f"{path}: the scenario")
    raw = read(path)
    if dialogues.is_composed(raw):
        return dialogues.composed(raw, known, str(path))
    return parse(raw, known, str(path))


def parse(raw: Any, name: str, where: str, model: type[Scenario] = Scenario) -> Scenario:
    """Return a scenario of a model from parsed YAML. Raises `InputError`."""
    try:
        if not isinstance(raw, dict):
            raise InputError("a scenario must be a mapping")
        world = raw.get("world", Scenario.model_fields["world"].default)
        check_seeds(raw, world)
        raw = with_lived(build.with_ids(raw, world), raw.get("history"))
        for key in ("faults", "checks"):
            if not isinstance(raw.get(key, []), list):
                raise InputError(f"{key} must be a list of one-key items")
        faults = [parse_fault(f, f"faults[{i}]") for i, f in enumerate(raw.get("faults", []))]
        checks = [check_kinds.parse(c, f"checks[{i}]") for i, c in enumerate(raw.get("checks", []))]
        made = model.model_validate({**raw, "id": name, "faults": faults, "checks": checks})
        _cross_check(made)
    except ValidationError as wrong:
        raise InputError(f"{where}: {explain(wrong, model)}") from None
    except InputError as wrong:
        raise InputError(f"{where}: {wrong}") from None
    return made


def _cross_check(made: Scenario) -> None:
    build.person(made.world)
    exposed = set(made.services)
    for name in made.services:
        service(name)
    named = [("primary", made.primary), ("fallback", made.fallback)]
    named += [("disclose", disclosure.service) for disclosure in made.disclose]
    for what, name in named:
        if name is not None and name not in exposed:
            raise UnknownName("service", name, exposed, what)
    offered = offer(made)
    held_back = {f"disclose {later.service}": later.after for later in made.disclose}
    check_together(made.faults, held_back)
    setup.check(made)
    known_faults = [fault.name for fault in made.faults]
    for fault in made.faults:
        if not fault.on.services & exposed:
            patterns = ", ".join(fault.on.patterns)
            raise InputError(f"fault {fault.name}: {patterns} matches no service of this scenario")
    for disclosure in made.disclose:
        if disclosure.after.corrected:
            raise InputError(f"disclose {disclosure.service}: `corrected` only clears a fault")
        awaited = disclosure.after.fired
        if awaited is not None and awaited not in known_faults:
            raise UnknownName("fault", awaited, known_faults, f"disclose {disclosure.service}")
    _check_checks(made, exposed, known_faults)
    if made.prefix is not None:
        _check_script(made, made.prefix.steps, "prefix.steps", offered)
    for name, steps in (("oracle", made.scripts.oracle), ("naive", made.scripts.naive)):
        _check_script(made, steps, f"scripts.{name}", offered, _before(made) + steps)
    _check_statements(made, exposed, known_faults)
    _check_variation(made, exposed)
    for number, route in enumerate(made.routes):
        _check_edit(made, route, f"routes[{number}]", offered)
    _check_violations(made, offered)
    if made.failure != "none" and not made.twin and not made.faults:
        raise InputError(f"the failure is {made.failure}, but there are no faults")
    if made.history is not None:
        if not history.is_known(made.history):
            raise UnknownName("history", made.history, history.names())
        lived_by = history.world_of(made.history)
        if lived_by != made.world:
            raise InputError(
                f"the history {made.history} is {lived_by}'s, but the world is {made.world}'s"
            )


def _check_script(
    made: Scenario,
    steps: list[Step],
    where: str,
    offered: Mapping[str, type[Service]],
    whole: list[Step] | None = None,
) -> None:
    check_names(steps, where, whole)
    for place, step in located(steps, where):
        if step.call is not None:
            check_arguments(step, place, offered, made.faults)


def _check_edit(
    made: Scenario, edit: Edit, where: str, offered: Mapping[str, type[Service]]
) -> None:
    with placing(where):
        whole = edit.edit(made.scripts.oracle)
    for place, steps in edit.own(where):
        _check_script(made, steps, place, offered, _before(made) + whole)
    played = _played(whole, len(made.turns) - made.begun)
    check_names(played, f"{where}: the oracle after this edit", _before(made) + played)


def _before(made: Scenario) -> list[Step]:
    """Return the steps that are played ahead of a scenario's scripts."""
    return made.prefix.steps if made.prefix is not None else []


def _played(steps: list[Step], turns: int) -> list[Step]:
    """Return a script up to the text with which the last turn may end; an edit may end it early."""
    played = []
    for step in steps:
        played.append(step)
        if step.say is not None:
            turns -= 1
        if turns == 0:
            break
    return played


def offer(made: Scenario) -> dict[str, type[Service]]:
    """Return the services as the agent gets them.

    Raises `InputError` if they have too many tools in total.
    """
    offered = {name: service(name) for name in made.services}
    for name, patterns in made.tools.items():
        if name not in offered:
            raise UnknownName("service", name, offered, "tools")
        offered[name] = narrowed(offered[name], patterns)
    count = sum(len(cls.tools) for cls in offered.values())
    if count > MOST_TOOLS:
        raise InputError(
            f"the services have {count} tools in total, but clients accept at most {MOST_TOOLS}; "
            "narrow some services with `tools`"
        )
    return offered


def fewer(made: Scenario, most: int) -> Scenario:
    """Return a scenario narrowed to at most `most` tools, for a client that accepts no more.

    The tools that its scripts and violations call are kept. The services take turns in filling the
    rest of the list, reads first. Raises `InputError` if the scripts alone need more.
    """
    offered = offer(made)
    if sum(len(cls.tools) for cls in offered.values()) <= most:
        return made
    scripts = [made.scripts.oracle, made.scripts.naive]
    edits = [*made.routes, *made.violations]
    scripts += [edit.edit(made.scripts.oracle) for edit in edits]
    needed: set[str] = set()
    for steps in scripts:
        needed |= {step.call for step in flat(steps) if step.call is not None}
    if len(needed) > most:
        raise InputError(
            f"scenario {made.id}: its scripts call {len(needed)} tools, "
            f"but the client accepts {most}"
        )
    kept: dict[str, list[str]] = {}
    spare: dict[str, list[str]] = {}
    for name, cls in offered.items():
        kept[name] = [tool for tool in cls.tools if f"{name}.{tool}" in needed]
        others = [spec for tool, spec in cls.tools.items() if tool not in kept[name]]
        spare[name] = [spec.name for spec in sorted(others, key=lambda spec: spec.effect)]
    room = most - len(needed)
    while room and any(spare.values()):
        for name, tools in spare.items():
            if tools and room:
                kept[name].append(tools.pop(0))
                room -= 1
    services = [name for name in made.services if kept[name]]
    return made.model_copy(update={"services": services, "tools": kept})


def _check_checks(made: Scenario, exposed: set[str], known_faults: list[str]) -> None:
    names = [c.name for c in made.gates]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two checks are named {quoted(name)}")
    new: dict[str, Schema] = {}
    for fault in made.faults:
        new |= fault.new_arguments()
    for check in made.checks:
        where = f"check {check.name}"
        for place, pattern in patterns_in(check, where):
            fitting_conditions(pattern.where or {}, pattern.tool, f"{place}.where", new)
        mentions = check.mentions()
        for target in mentions.targets:
            if not target.services & exposed:
                patterns = ", ".join(target.patterns)
                raise InputError(f"{where}: {patterns} matches no service of this scenario")
        _check_known("fault", mentions.faults, known_faults, where)
        _check_known("answer", mentions.answers, made.answers, where)
        _check_known("check", mentions.checks, names, where)
        for fault in made.faults:
            if fault.name in mentions.recovered and not fault.recover:
                raise InputError(
                    f"{where}: fault {fault.name} does not say how to recover from it; "
                    "give it `recover`"
                )


def _check_statements(made: Scenario, exposed: set[str], known_faults: list[str]) -> None:
    tables = known_tables(exposed)
    evidence = [check.name for check in made.checks if check.watches()]
    for statement in made.statements:
        where = f"statement {statement.name}"
        if isinstance(statement.turn, int):
            _check_turn(statement.turn, made, where)
        if statement.rests_on is not None:
            _check_known("evidence check", [statement.rests_on], evidence, where)
        statement.check(where, tables, known_faults, evidence)


def _check_variation(made: Scenario, exposed: set[str]) -> None:
    tables = known_tables(exposed)
    change = made.change
    for column in (*change.free, *change.dictated, *change.prose):
        table, dot, name = column.partition(".")
        if not dot:
            raise InputError(
                f"change: {quoted(column)} must be a table and a column: `table.column`"
            )
        _check_columns({table: [name]}, tables, "change")
    for column, wanted in change.free.items():
        if wanted == "any":
            continue
        if not isinstance(wanted, Mapping):
            raise InputError(
                f"change: free: {column}: expected `any` or a condition such as {{in: […]}}, "
                f"got {quoted(wanted)}"
            )
        _check_condition(column, wanted, tables, "free")
    for column, wanted in change.prose.items():
        _check_condition(column, wanted, tables, "prose")
    _check_known("table", (*change.optional, *change.windows), tables, "change")
    for table, (first, last) in change.windows.items():
        _check_turn(first, made, f"change: windows: {table}")
        _check_turn(last, made, f"change: windows: {table}")
        if first > last:
            raise InputError(f"change: windows: {table}: turn {first} is after turn {last}")


def _check_condition(column: str, wanted: Any, tables: Mapping[str, Table], part: str) -> None:
    """Refuse a condition that no value of a column could meet."""
    where = f"change: {part}: {column}"
    check_predicate({"value": wanted}, where)
    table, _, name = column.partition(".")
    kind = tables[table].columns[name][0]
    if isinstance(wanted, Mapping) and kind != "dict" and not is_operators(wanted):
        raise UnknownName("operator", next(iter(wanted)), OPERATORS, where)
    wrong = unmeetable(of_column(kind), wanted)
    if wrong is not None:
        raise InputError(f"{where}: {wrong}")


def _check_turn(turn: int, made: Scenario, where: str) -> None:
    if not 1 <= turn <= len(made.turns):
        count = "there is only 1" if len(made.turns) == 1 else f"there are {len(made.turns)}"
        raise InputError(f"{where}: there is no turn {turn}; {count}")


def _check_columns(
    mentioned: Mapping[str, Iterable[str]], tables: Mapping[str, Table], where: str
) -> None:
    for table, columns in mentioned.items():
        if table not in tables:
            raise UnknownName("table", table, tables, where)
        known = tables[table].columns
        _check_known("column", columns, known, f"{where}: {table}")


def _check_known(kind: str, used: Iterable[str], known: Collection[str], where: str) -> None:
    for name in used:
        if name not in known:
            raise UnknownName(kind, name, known, where)


def _check_violations(made: Scenario, offered: Mapping[str, type[Service]]) -> None:
    gates = {check.name for check in made.gates if check.gate}
    for number, violation in enumerate(made.violations):
        where = f"violations[{number}]"
        if violation.fails not in gates:
            raise UnknownName("gate", violation.fails, gates, f"{where}.fails")
        _check_edit(made, violation, where, offered)


def fingerprint(made: Scenario) -> str:
    """Return a short hash of everything in the scenario and of its history's file."""
    faults = [(fault.kind, fault.model_dump_json()) for fault in made.faults]
    checks = [(check.kind, check.model_dump_json()) for check in made.checks]
    text = made.model_dump_json() + repr(faults) + repr(checks)
    if made.history is not None:
        text += history.text(made.history)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
