"""The command for servers that are not ours: proxy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from client_harness.commands import _print
from servers.kit.seeds import MOST_SEED

if TYPE_CHECKING:
    from client_harness.proxy import Proxied


def proxy(
    command: Annotated[
        list[str] | None,
        typer.Argument(help="The command that starts the server, after --.", metavar="COMMAND…"),
    ] = None,
    url: Annotated[str | None, typer.Option(help="The server's URL, instead of a command.")] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(help="A header for the URL; may be repeated.", metavar="'NAME: VALUE'"),
    ] = None,
    faults: Annotated[
        str | None,
        typer.Option(help="A fault profile: a name or a YAML file.", metavar="PROFILE"),
    ] = None,
    name: Annotated[
        str, typer.Option(help="The server's name in fault targets; by default its own name.")
    ] = "",
    seed: Annotated[
        int, typer.Option(min=-MOST_SEED, max=MOST_SEED, help="Seed for random choices.")
    ] = 0,
    trace: Annotated[
        Path | None,
        typer.Option(
            help="Write the trace to this file, one JSON object per line.", metavar="FILE"
        ),
    ] = None,
    stdio: Annotated[bool, typer.Option("--stdio", help="Speak MCP on stdin and stdout.")] = False,
    port: Annotated[int, typer.Option(help="Port of the HTTP host; 0 picks a free one.")] = 8765,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(
            help="The token that clients must send; by default a random one.",
            envvar="HAYWIRE_TOKEN",
        ),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option(help="How long the server may take for a call, in real seconds.", min=0.1),
    ] = 60.0,
    json: Annotated[bool, typer.Option("--json", help="Print the server as JSON.")] = False,
) -> None:
    """Put any MCP server behind faults that do not need its state, and record what happens.

    \b
    Example: client_harness proxy --faults flaky --trace trace.jsonl --stdio -- uvx mcp-server-time
    """
    import anyio

    from client_harness import proxy as proxying
    from servers.kit.errors import InputError

    if bool(command) == bool(url):
        raise InputError("name one server: a command after --, or --url URL")
    headers = {}
    for line in header or ():
        key, colon, value = line.partition(":")
        if not (colon and key.strip() and url):
            raise InputError(
                f"--header {line!r}: write 'NAME: VALUE', and only for a server with --url"
            )
        headers[key.strip()] = value.strip()
    upstream = proxying.Upstream(tuple(command or ()), url, headers, name, timeout)
    served = proxying.Served(proxying.faults_of(faults), seed, trace)

    def note(session: Proxied) -> None:
        for idle in proxying.idle(session):
            _print.note(f"note: fault {idle} applies to none of the server's tools")

    def say(session: Proxied, way: dict[str, Any]) -> None:
        note(session)
        if json:
            _print.as_json(way)
        else:
            _print.columns([[way["name"], way["url"]]])
            print(f"Header: Authorization: {way['headers']['Authorization']}")
            print("Press Ctrl-C to stop.")
        sys.stdout.flush()

    if stdio:
        anyio.run(proxying.stdio, upstream, served, note)
        return
    try:
        anyio.run(lambda: proxying.http(upstream, served, say, port=port, host=host, token=token))
    except KeyboardInterrupt:
        _print.note("stopped")
