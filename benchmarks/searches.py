"""Everyday queries: how often what a person looks for is among the first three results.

`python -m benchmarks.searches` prints the share by service; `--missed` adds what was not found,
and a folder's path takes the queries from there. A query is an item of `queries/<world>.yaml`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.session import Session
from servers.kit.values import parse_time
from servers.kit.yaml import read

QUERIES = Path(__file__).parent / "queries"
FIRST = 3
"""How far down a person looks."""
AIM = 0.95


class Query(NamedTuple):
    """One search and what should be among its first results: ids or names, any of which will do."""

    world: str
    service: str
    tool: str
    args: dict[str, Any]
    expect: list[str]

    def __str__(self) -> str:
        said = " ".join(f"{key}={value}" for key, value in self.args.items())
        return f"{self.world}: {self.service}.{self.tool} {said}"


def queries(folder: Path = QUERIES) -> list[Query]:
    """Return the queries of a folder, world by world."""
    found = []
    for path in sorted(folder.glob("*.yaml")):
        for item in read(path):
            service, _, tool = item["tool"].rpartition(".")
            service = service or item["service"]
            expect = [str(name) for name in item["expect"]]
            found.append(Query(path.stem.split("_")[0], service, tool, item["args"], expect))
    return found


async def first_results(query: Query) -> list[Any]:
    """Return the first results of each list in the reply, or the refusal."""
    control = Control(parse_time(build.person(query.world)["start"]))
    world = build.shared(query.world, [query.service]).share()
    session = Session([query.service], world, control)
    reply = await session.call(query.service, query.tool, query.args)
    if reply.error is not None:
        return [reply.error]
    found = []
    for items in _lists(reply.data):
        found += items[:FIRST]
    return found


def _lists(data: Any) -> list[list[Any]]:
    """Return the lists of results in a reply."""
    if isinstance(data, list):
        return [data]
    found = []
    for value in data.values() if isinstance(data, dict) else ():
        found += _lists(value)
    return found


def is_found(query: Query, results: list[Any]) -> bool:
    """Whether one of the results is what was looked for."""
    texts = set(_texts(results))
    return any(name.casefold() in texts for name in query.expect)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
    else:
        yield str(value).casefold()


async def missed(asked: list[Query]) -> list[tuple[Query, list[Any]]]:
    """Return the queries that do not find what they should, with their first results."""
    wrong = []
    for query in asked:
        results = await first_results(query)
        if not is_found(query, results):
            wrong.append((query, results))
    return wrong


def main(arguments: list[str]) -> None:
    """Print how many queries find what they should, by service and in all."""
    folders = [Path(word) for word in arguments if not word.startswith("--")]
    asked = queries(folders[0] if folders else QUERIES)
    wrong = anyio.run(missed, asked)
    number = Counter(query.service for query in asked)
    misses = Counter(query.service for query, _ in wrong)
    for service, count in sorted(number.items()):
        print(f"{service:20} {count - misses[service]:3} of {count:3}")
    share = 1 - len(wrong) / len(asked)
    print(f"{'all':20} {len(asked) - len(wrong):3} of {len(asked):3}, {share:.1%} (aim {AIM:.0%})")
    if "--missed" in arguments:
        for query, results in wrong:
            print(f"\n{query}\n  expected {query.expect}")
            for result in results:
                print(f"  found {str(result)[:150]}")


if __name__ == "__main__":
    main(sys.argv[1:])
