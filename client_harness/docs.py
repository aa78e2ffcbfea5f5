"""Generated parts of the documentation: tables in README.md between markers, docs/cli.md,
docs/faults.md and docs/services.md.

`--write` renews them, else they are compared.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast, get_args

from pydantic import BaseModel

from servers.kit.errors import InputError

ROOT = Path(__file__).parent.parent


def services_table() -> str:
    """Return the table of services, by domain and category."""
    from servers.kit.counterparts import counterparts
    from servers.kit.service import providers

    rows = [
        "| domain | category | service | tools | reads | writes | counterparts |",
        "|---|---|---|---|---|---|---|",
    ]
    total = [0, 0]
    for cls in sorted(providers().values(), key=lambda c: (c.domain, c.category, c.name)):
        reads = sum(t.effect == "read" for t in cls.tools.values())
        total = [total[0] + reads, total[1] + len(cls.tools) - reads]
        others = ", ".join(f"`{o}`" for o in counterparts()[cls.name])
        counts = f"{len(cls.tools)} | {reads} | {len(cls.tools) - reads}"
        rows.append(
            f"| {cls.domain} | {cls.category} | [`{cls.name}`](docs/services.md#{cls.name}) | {counts} | {others} |"
        )
    return "\n".join(
        [*rows, f"| | | {len(providers())} services | {sum(total)} | {total[0]} | {total[1]} | |"]
    )


def services() -> str:
    """Return the page of services: by category, what each is, its tools, and which tool of one does
    what which of another does.
    """
    from servers.kit.counterparts import matches
    from servers.kit.service import ENVIRONMENT
    from servers.kit.service import services as known

    parts = [
        "# Services",
        "",
        "Generated from the code by `make docs`; `client_harness show SERVICE.TOOL` tells the arguments of a tool.",
        "",
    ]
    places = sorted(
        {(cls.domain == ENVIRONMENT, cls.domain, cls.category) for cls in known().values()}
    )
    for _, domain, category in places:
        parts += [f"## {category.replace('_', ' ').capitalize()} ({domain})", ""]
        for cls in (c for c in known().values() if c.category == category):
            parts += [
                f"### {cls.name}",
                "",
                f"{cls.title}. {inspect.cleandoc(cls.__doc__ or '')}",
                "",
                "| tool | | what it does |",
                "|---|---|---|",
            ]
            parts += [
                f"| `{t.name}` | {t.effect}s | {_first_sentence(t.description)} |"
                for t in cls.tools.values()
            ] + [""]
        if listed := matches().get(category):
            parts += ["**Counterparts**", "", "| to | call one of | in part |", "|---|---|---|"]
            for match in listed:
                partly = "; ".join(f"`{tool}`: {why}" for tool, why in match.partial.items())
                parts.append(
                    f"| {match.does} | {', '.join(f'`{t}`' for t in match.tools)} | {partly} |"
                )
            parts.append("")
    return "\n".join(parts)


def worlds_table() -> str:
    """Return the table of worlds: whose, and when an episode begins."""
    from scenarios.worlds.build import folder, names, person

    rows = ["| world | who | an episode begins |", "|---|---|---|"]
    for name in names():
        text = (folder(name) / "README.md").read_text().split("\n\n")[1]
        rows.append(
            f"| [`{name}`](scenarios/people/{name}/README.md) | {_first_sentence(text)} | {person(name)['start']} |"
        )
    return "\n".join(rows)


def _kinds_table(found: Mapping[str, type], head: str) -> str:
    rows = [f"| {head} | what it does |", "|---|---|"]
    for name, cls in found.items():
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
    return "\n".join([*rows, *(f"| `{name}` | {agent(name).ABOUT} |" for name in agents())])


def scenarios_table() -> str:
    """Return the number of scenarios by failure."""
    from scenarios.load import index, load

    counted: dict[str, list[int]] = {}
    for name in index():
        made = load(name)
        counts = counted.setdefault("honest twin" if made.twin else made.failure, [0, 0])
        counts[int(made.temporary)] += 1
    rows = ["| failure | lasting | temporary |", "|---|---|---|"]
    return "\n".join(
        [
            *rows,
            *(
                f"| {failure.replace('_', ' ')} | {a} | {b} |"
                for failure, (a, b) in sorted(counted.items())
            ),
        ]
    )


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
}


def readme(text: str) -> str:
    """Return README's text with every generated table renewed."""

    def renew(found: re.Match[str]) -> str:
        name = found[1]
        if name not in TABLES:
            raise InputError(f"README.md: no generated table is called {name!r}")
        return f"<!-- generated: {name} -->\n{TABLES[name]()}\n<!-- end -->"

    return re.sub(r"<!-- generated: (\w+) -->.*?<!-- end -->", renew, text, flags=re.DOTALL)


def cli() -> str:
    """Return the command line reference: every command's help."""
    from click import Context, Group
    from typer.main import get_command

    from client_harness.cli import app

    root = cast(Group, get_command(app))
    parts = ["# Command line", "", "Generated from the commands' own help by `make docs`.", ""]
    top = Context(root, info_name="client_harness", max_content_width=110, terminal_width=110)
    for name in root.list_commands(top):
        command = root.get_command(top, name)
        assert command is not None
        with Context(
            command, info_name=name, parent=top, max_content_width=110, terminal_width=110
        ) as context:
            parts += [
                f"## client_harness {name}",
                "",
                "```text",
                command.get_help(context),
                "```",
                "",
            ]
    return "\n".join(parts)


def faults() -> str:
    """Return the catalogue of faults: what all kinds share, then each kind with its fields and its
    example.
    """
    from fault_profiles.model import CallShape, Fault, Stored, kinds
    from fault_profiles.refusal import Refusal
    from fault_profiles.sample import PROMISES
    from fault_profiles.schedule import Moment, Schedule

    parts = [
        "# Catalogue of faults",
        "",
        "Generated from the code by `make docs`; [writing-faults.md](writing-faults.md) teaches the language.",
        "",
    ]
    parts += [
        "## What every kind shares",
        "",
        _prose(Fault)[0],
        "",
        *_fields("outage", shared=True),
        "",
    ]
    for model, about in (
        (Schedule, "The schedule"),
        (Moment, "`after` and `until`"),
        (Stored, "`stored`"),
        (CallShape, "Items of `exposed_by` and `recover`"),
        (Refusal, "`error`, where a kind answers with one"),
    ):
        parts += [f"**{about}.** {_prose(model)[0]}", ""]
    for name, cls in kinds().items():
        text, example = _prose(cls)
        facts = [f"on {' and '.join(e + 's' for e in cls.effects)}"]
        facts += ["answers in place of the call"] if cls.denies else []
        facts += (
            ["needs the state of the service, so not behind a proxy"] if cls.needs_world else []
        )
        facts += [f"tell: {', '.join(cls.tells)}"] if cls.tells != Fault.tells else []
        parts += [f"## {name}", "", f"*{'; '.join(facts)}*", "", text, ""]
        parts += ["```yaml", *example, "```", ""] if example else []
        parts += (
            [f"Held on every tool: {'; '.join(PROMISES[p] for p in cls.promises)}.", ""]
            if cls.promises
            else []
        )
        parts += [*own, ""] if len(own := _fields(name, shared=False)) > 2 else []
        inside = {
            m: None
            for n, f in cls.model_fields.items()
            if n not in Fault.model_fields
            for m in _models(f.annotation)
        }
        parts += [
            line
            for m in inside
            if m is not Refusal
            for line in (f"**{m.__name__}.** {_prose(m)[0]}", "")
        ]
    return "\n".join(parts)


def _prose(described: type) -> tuple[str, list[str]]:
    """Split a docstring into its text and the lines of the example that ends it."""
    text, _, example = inspect.cleandoc(described.__doc__ or "").partition("\nExample:\n")
    return text.strip(), textwrap.dedent(example).splitlines()


def _fields(kind: str, *, shared: bool) -> list[str]:
    from client_harness.commands._catalogue import find
    from fault_profiles.model import Fault

    rows = ["| field | type | default |", "|---|---|---|"]
    for field in find(f"fault:{kind}")["fields"]:
        if (field["name"] in Fault.model_fields) is shared:
            default = "" if field["default"] in (None, "") else f"`{json.dumps(field['default'])}`"
            rows.append(
                f"| `{field['name']}` | {field['type']} | {'required' if field['required'] else default} |"
            )
    return rows


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    """Yield the models in a field's type."""
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def pages() -> dict[Path, str]:
    """Return every generated page as it should be."""
    pages = {ROOT / "README.md": readme((ROOT / "README.md").read_text())}
    made = {"cli.md": cli, "faults.md": faults, "services.md": services}
    return pages | {ROOT / "docs" / name: make() for name, make in made.items()}


def stale() -> list[str]:
    """Return the names of pages that are not as they should be."""
    return [
        str(p.relative_to(ROOT))
        for p, text in pages().items()
        if not p.exists() or p.read_text() != text
    ]


if __name__ == "__main__":
    if "--write" in sys.argv:
        for path, content in pages().items():
            path.write_text(content)
    elif stale():
        sys.exit(f"stale: {', '.join(stale())}; run `make docs`")
