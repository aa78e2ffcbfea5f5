"""The command line.

This file only names the commands. Each command imports what it needs when it runs, so that help is
quick.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from client_harness.collecting import seldom_collecting
from client_harness.commands import (
    agents,
    authoring,
    catalogue,
    haystack,
    judging,
    proxying,
    running,
    serving,
    weaving,
    wild,
)

app = typer.Typer(
    name="client_harness",
    help=(
        "Haywire: simulated services, each a real MCP server, "
        "that fail the way production services do."
    ),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _print_version(asked: bool) -> None:
    if not asked:
        return
    from importlib import metadata

    print(f"haywire {metadata.version('haywire')}")
    raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Take the options that precede a command."""


for command in (
    catalogue.list_,
    catalogue.show,
    catalogue.check,
    authoring.try_,
    authoring.schema,
    running.run,
    running.resume,
    running.judge,
    running.report,
    running.trace,
    agents.test_agent,
    agents.ablate,
    haystack.curves,
    wild.compose,
    weaving.weave,
    judging.calibrate,
    judging.play,
    serving.serve,
    serving.connect,
    proxying.proxy,
):
    app.command(command.__name__.rstrip("_").replace("_", "-"))(command)


app.add_typer(authoring.new, name="new")


def main() -> None:
    """Run a command.

    An `InputError` is one line on stderr and exit status 2; any other exception is a bug and shows
    its traceback.
    """
    try:
        with seldom_collecting():
            app()
    except Exception as problem:
        from servers.kit.errors import InputError

        if not isinstance(problem, InputError):
            raise
        print("error: " + " ".join(str(problem).split()), file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
