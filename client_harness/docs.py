"""The generated parts of the documentation.

They are the tables between markers in README.md and docs/adapters.md, and docs/cli.md,
docs/faults.md and docs/services.md.
`--write` renews them; otherwise they are only compared.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from pydantic import BaseModel

from servers.kit.errors import InputError

if TYPE_CHECKING:
    from fault_profiles.model import Fault
    from servers.kit.service import Service

ROOT = Path(__file__).parent.parent


def services_table() -> str:
    """Return the table of services, by domain and category."""
    from servers.kit.counterparts import counterparts
    from servers.kit.service import providers

    rows = [
        "| domain | category | service | tools | reads | writes | counterparts |",
        "|---|---|---|---|---|---|---|",
    ]
    all_tools = 0
    all_reads = 0
    for cls in sorted(providers().values(), key=lambda c: (c.domain, c.category, c.name)):
        tools = len(cls.tools)
        reads = len([tool for tool in cls.tools.values() if tool.effect == "read"])
        all_tools += tools
        all_reads += reads
        link = f"[`{cls.name}`](docs/services.md#{cls.name})"
        others = ", ".join(f"`{other}`" for other in counterparts()[cls.name])
        counts = f"{tools} | {reads} | {tools - reads}"
        rows.append(f"| {cls.domain} | {cls.category} | {link} | {counts} | {others} |")
    totals = f"{all_tools} | {all_reads} | {all_tools - all_reads}"
    rows.append(f"| | | {len(providers())} services | {totals} | |")
    return "\n".join(rows)


def services() -> str:
    """Return the page of services: each with its tools, and the counterparts of each category."""
    from servers.kit.service import ENVIRONMENT
    from servers.kit.service import services as known

    lines = [
        "# Services",
        "",
        "Generated from the code by `make docs`; "
        "`client_harness show SERVICE.TOOL` shows the arguments of a tool.",
        "",
    ]
    classes = list(known().values())
    places = {(cls.domain == ENVIRONMENT, cls.domain, cls.category) for cls in classes}
    for _, domain, category in sorted(places):
        lines += [f"## {category.replace('_', ' ').capitalize()} ({domain})", ""]
        for cls in classes:
            if cls.category == category:
                lines += _service_section(cls)
        lines += _counterparts_section(category)
    return "\n".join(lines)


def _service_section(cls: type[Service]) -> list[str]:
    lines = [
        f"### {cls.name}",
        "",
        f"{cls.title}. {inspect.cleandoc(cls.__doc__ or '')}",
        "",
        "| tool | | what it does |",
        "|---|---|---|",
    ]
    for tool in cls.tools.values():
        lines.append(f"| `{tool.name}` | {tool.effect}s | {_first_sentence(tool.description)} |")
    return [*lines, ""]


def _counterparts_section(category: str) -> list[str]:
    from servers.kit.counterparts import matches

    listed = matches().get(category)
    if not listed:
        return []
    lines = ["**Counterparts**", "", "| to | call one of | in part |", "|---|---|---|"]
    for match in listed:
        tools = ", ".join(f"`{tool}`" for tool in match.tools)
        partly = "; ".join(f"`{tool}`: {why}" for tool, why in match.partial.items())
        lines.append(f"| {match.does} | {tools} | {partly} |")
    return [*lines, ""]


def worlds_table() -> str:
    """Return the table of worlds: the person, and when an episode begins."""
    from scenarios.worlds.build import folder, names, person

    rows = ["| world | who | an episode begins |", "|---|---|---|"]
    for name in names():
        text = (folder(name) / "README.md").read_text().split("\n\n")[1]
        link = f"[`{name}`](scenarios/people/{name}/README.md)"
        rows.append(f"| {link} | {_first_sentence(text)} | {person(name)['start']} |")
    return "\n".join(rows)


def _kinds_table(kinds: Mapping[str, type], head: str) -> str:
    rows = [f"| {head} | what it does |", "|---|---|"]
    for name, cls in kinds.items():
        rows.append(f"| `{name}` | {_first_sentence(cls.__doc__)} |")
    return "\n".join(rows)


def faults_table() -> str:
    """Return the table of fault kinds."""
    from fault_profiles.model import kinds

    return _kinds_table(kinds(), "fault")


def checks_table() -> str:
    """Return the table of check kinds."""
    from judge.checks import kinds

    return _kinds_table(kinds(), "check")


def agents_table() -> str:
    """Return the table of agents."""
    from client_harness.agents import agent, agents

    rows = ["| agent | what it does |", "|---|---|"]
    for name in agents():
        rows.append(f"| `{name}` | {agent(name).ABOUT} |")
    return "\n".join(rows)


def scenarios_table() -> str:
    """Return the table of scenarios: how many there are of each failure."""
    from scenarios.load import load, written

    lasting: Counter[str] = Counter()
    temporary: Counter[str] = Counter()
    for name in written():
        scenario = load(name)
        failure = "honest twin" if scenario.twin else scenario.failure
        counts = temporary if scenario.temporary else lasting
        counts[failure] += 1
    rows = ["| failure | lasting | temporary |", "|---|---|---|"]
    for failure in sorted(lasting | temporary):
        words = failure.replace("_", " ")
        rows.append(f"| {words} | {lasting[failure]} | {temporary[failure]} |")
    return "\n".join(rows)


def adapters_table() -> str:
    """Return the table of adapters."""
    from client_harness.adapters.table import table

    return table()


def _first_sentence(text: str | None) -> str:
    flat = " ".join((text or "").split())
    return re.split(r"(?<=[.:]) (?=[A-Z`])", flat)[0].removesuffix(":").replace("|", "\\|")


TABLES = {
    "services": services_table,
    "worlds": worlds_table,
    "faults": faults_table,
    "checks": checks_table,
    "agents": agents_table,
    "scenarios": scenarios_table,
    "adapters": adapters_table,
}


def marked(text: str, page: str) -> str:
    """Return a page's text with every generated table renewed."""

    def renew(found: re.Match[str]) -> str:
        name = found[1]
        if name not in TABLES:
            raise InputError(f"{page}: no generated table is called {name!r}")
        return f"<!-- generated: {name} -->\n{TABLES[name]()}\n<!-- end -->"

    return re.sub(r"<!-- generated: (\w+) -->.*?<!-- end -->", renew, text, flags=re.DOTALL)


def cli() -> str:
    """Return the command line reference: the help of every command."""
    from click import Context, Group
    from typer.main import get_command

    from client_harness.cli import app

    root = cast(Group, get_command(app))
    lines = ["# Command line", "", "Generated from the commands' own help by `make docs`.", ""]
    top = root.make_context("client_harness", [], resilient_parsing=True, terminal_width=110)
    with top:
        lines += ["```text", root.get_help(top), "```", ""]
    for name in root.list_commands(top):
        command = root.get_command(top, name)
        assert command is not None
        with Context(command, info_name=name, parent=top) as context:
            text = command.get_help(context)
            inner = dict(command.commands) if isinstance(command, Group) else {}
            for part, under in inner.items():
                with Context(under, info_name=part, parent=context) as below:
                    text += f"\n\n{under.get_help(below)}"
        lines += [f"## client_harness {name}", "", "```text", text, "```", ""]
    return "\n".join(lines)


def faults() -> str:
    """Return the catalogue of faults: what all kinds share, then each kind."""
    from fault_profiles.model import CallShape, Fault, kinds
    from fault_profiles.refusal import Refusal
    from fault_profiles.rows import RowChange, Stored
    from fault_profiles.schedule import Moment, Schedule

    lines = [
        "# Catalogue of faults",
        "",
        "Generated from the code by `make docs`; "
        "[writing-faults.md](writing-faults.md) explains the language.",
        "",
        "## What all kinds share",
        "",
        _prose(Fault)[0],
        "",
        *_fields("outage", shared=True),
        "",
    ]
    shared_models = (
        (Schedule, "The schedule"),
        (Moment, "`after` and `until`"),
        (Stored, "`stored` and `record`"),
        (RowChange, "`row`, `rows`, and a scenario's `setup`"),
        (CallShape, "Items of `exposed_by` and `recover`"),
        (Refusal, "`error`, for kinds that answer with one"),
    )
    for model, about in shared_models:
        lines += [f"**{about}.** {_prose(model)[0]}", ""]
    lines += _operations()
    for name, cls in kinds().items():
        lines += _fault_section(name, cls)
    return "\n".join(lines)


def _operations() -> list[str]:
    from servers.kit.expr.operations import OPERATIONS

    lines = ["## Operations", "", "| operation | takes | does |", "|---|---|---|"]
    for name, operation in OPERATIONS.items():
        does = " ".join(_prose(type(operation))[0].split())
        lines.append(f"| `{name}` | {operation.takes} | {does} |")
    return [*lines, ""]


def _fault_section(name: str, cls: type[Fault]) -> list[str]:
    from fault_profiles.model import Fault
    from fault_profiles.refusal import Refusal
    from fault_profiles.sample import PROMISES

    text, example = _prose(cls)
    facts = [f"on {' and '.join(f'{effect}s' for effect in cls.effects)}"]
    if cls.denies:
        facts.append("answers in place of the call")
    if cls.needs_world:
        facts.append("needs the service's state, so it does not work behind a proxy")
    if cls.tells != Fault.tells:
        facts.append(f"tell: {', '.join(cls.tells)}")
    lines = [f"## {name}", "", f"*{'; '.join(facts)}*", "", text, ""]
    if example:
        lines += ["```yaml", *example, "```", ""]
    if cls.promises:
        promises = "; ".join(PROMISES[promise] for promise in cls.promises)
        lines += [f"Tested on every tool: {promises}.", ""]
    own_fields = _fields(name, shared=False)
    if len(own_fields) > 2:  # more than the head of the table
        lines += [*own_fields, ""]
    own_models: dict[type[BaseModel], None] = {}
    for field, about in cls.model_fields.items():
        if field not in Fault.model_fields:
            own_models |= dict.fromkeys(_models(about.annotation))
    own_models.pop(Refusal, None)  # described once, above the kinds
    for model in own_models:
        lines += [f"**{model.__name__}.** {_prose(model)[0]}", ""]
    return lines


def _prose(described: type) -> tuple[str, list[str]]:
    """Split a docstring into its text and the lines of the example at its end."""
    text, _, example = inspect.cleandoc(described.__doc__ or "").partition("\nExample:\n")
    return text.strip(), textwrap.dedent(example).splitlines()


def _fields(kind: str, *, shared: bool) -> list[str]:
    from client_harness.commands._catalogue import find
    from fault_profiles.model import Fault

    rows = ["| field | type | default |", "|---|---|---|"]
    for field in find(f"fault:{kind}")["fields"]:
        if (field["name"] in Fault.model_fields) is shared:
            default = "" if field["default"] in (None, "") else f"`{json.dumps(field['default'])}`"
            if field["required"]:
                default = "required"
            rows.append(f"| `{field['name']}` | {field['type']} | {default} |")
    return rows


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    """Yield the models in a field's type."""
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def pages() -> dict[Path, str]:
    """Return every generated page in its current form."""
    docs = ROOT / "docs"
    with_tables = (ROOT / "README.md", docs / "adapters.md")
    return {
        **{page: marked(page.read_text(), page.name) for page in with_tables},
        docs / "cli.md": cli(),
        docs / "faults.md": faults(),
        docs / "services.md": services(),
    }


def stale() -> list[str]:
    """Return the names of the pages that are out of date."""
    names = []
    for page, text in pages().items():
        if not page.exists() or page.read_text() != text:
            names.append(str(page.relative_to(ROOT)))
    return names


if __name__ == "__main__":
    if "--write" in sys.argv:
        for path, content in pages().items():
            path.write_text(content)
    else:
        outdated = stale()
        if outdated:
            sys.exit(f"stale: {', '.join(outdated)}; run `make docs`")
