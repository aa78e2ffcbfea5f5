"""Two tools in place of all: one finds tools by a query, the other calls one that was found.

A listing of all tools costs an agent more than a hundred thousand tokens; these two cost a few
hundred. The inner call is a call like any other: the session traces it under its own service and
tool, and faults and checks see nothing else.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from servers.kit.call import Reply
from servers.kit.errors import ServiceError, UnknownName, quoted, sentence
from servers.kit.service import Codes, Service, ToolSpec
from servers.kit.session import SEPARATOR, Session, split
from servers.kit.types import Json
from servers.kit.yaml import read

FIND = "find_tools"
CALL = "call_tool"
ALSO = 8
"""How many further tools are named without their schemas."""
_CODES = Codes()


def _find(
    self: Any,
    query: Annotated[
        str, Field(min_length=1, max_length=200, description="What the tool should do, in words.")
    ],
    service: Annotated[
        str | None, Field(description="Only tools of this service, by its name, e.g. `gmail`.")
    ] = None,
    limit: Annotated[int, Field(ge=1, le=10, description="How many tools to describe.")] = 4,
) -> None:
    """Find tools by what they do, best match first, each with the schema of its arguments."""


def _call(
    self: Any,
    name: Annotated[str, Field(description="The tool's name, as find_tools returns it.")],
    arguments: Annotated[
        dict[str, Any],
        Field(description="The tool's arguments, as its input_schema says."),
    ],
) -> None:
    """Call a tool that find_tools has found, and return its reply."""


FINDING = ToolSpec(FIND, _find, "read", {}, idempotent=True)
CALLING = ToolSpec(CALL, _call, "write", {}, destructive=True)


def about_services(session: Session, only: str | None) -> str:
    """Return one line that names the services whose tools can be found.

    Services that are held back are not named, not even later: a list of tools must not change.
    """
    names = [only] if only else [n for n in session.classes if n not in session.held_back]
    titles = [f"{session.classes[name].title} (`{name}`)" for name in names]
    return f"Services: {', '.join(titles)}."


async def answer(
    session: Session,
    tool: str,
    args: Json,
    only: str | None = None,
    *,
    step: int | None = None,
    arrived: int | None = None,
) -> Reply:
    """Answer a call of one of the two tools.

    `only` limits both to one service, whose tools then have no prefix. What is neither of the two
    tools, or names none, is refused and recorded.
    """
    try:
        if tool == FIND:
            return await _found(session, FINDING.arguments(args, _CODES), only)
        if tool != CALL:
            message = sentence(f"There is no tool {quoted(tool)}")
            hint = f"{FIND} finds tools, and {CALL} calls one of them."
            raise ServiceError("UNKNOWN_TOOL", message, hint)
        # The arguments are the inner call's own: its service refuses those that do not fit.
        name = CALLING.arguments({"arguments": {}, **_plainly(args)}, _CODES)["name"]
    except ServiceError as wrong:
        return await session.call("", tool, args, step=step, arrived=arrived, refused=wrong)
    service, inner = (only, name) if only else split(name)
    given = args.get("arguments")
    return await session.call(
        service, inner, {} if given is None else given, step=step, arrived=arrived
    )


def _plainly(args: Json) -> Json:
    return {key: value for key, value in args.items() if key != "arguments"}


async def _found(session: Session, asked: Json, only: str | None) -> Reply:
    listed = session.listed()
    if only is not None:
        listed = [name for name in listed if name == only]
    within = asked["service"]
    if within is not None and within not in listed:
        message = sentence(str(UnknownName("service", within, listed)))
        raise ServiceError("UNKNOWN_SERVICE", message, about_services(session, only))
    if within is not None:
        listed = [within]
    services = {name: session.classes[name] for name in listed}
    ranked = rank(asked["query"], services)
    names = [tool if only else f"{service}{SEPARATOR}{tool}" for service, tool in ranked]
    shown = []
    for name, (service, tool) in zip(names[: asked["limit"]], ranked, strict=False):
        spec = session.classes[service].tools[tool]
        schema = session.schema(service, tool) if session.faults else spec.schema
        description = session.description(service, spec)
        shown.append({"name": name, "description": description, "input_schema": schema})
    reply: Json = {"tools": shown}
    further = names[asked["limit"] : asked["limit"] + ALSO]
    if further:
        reply["also"] = further
    if not shown:
        reply["hint"] = f"Nothing matches; use other words. {about_services(session, only)}"
    await session.looked(asked["query"], names[: asked["limit"]])
    return Reply(reply)


# -- ranking -------------------------------------------------------------------------------------
_NAME = 4.0
_TITLE = 3.0
_DESCRIPTION = 2.0
_DEED = 2.0
_ARGUMENT = 0.5
_SATURATION = 1.2
_LENGTH = 0.4
_RETURNS = re.compile(r"(?:^|\band )[Rr]eturns? |\breturned\b")
"""What descriptions say of their replies, which has nothing to do with sending goods back."""
_WORD = re.compile(r"[a-z0-9]+")


@functools.cache
def vocabulary() -> dict[str, tuple[str, ...]]:
    """Return stem → those of the words that tools use for it, from the file beside this one."""
    meant: dict[str, tuple[str, ...]] = {}
    for words, others in read(Path(__file__).with_suffix(".yaml"))["same"].items():
        for word in words.split():
            meant[_stem(word)] = tuple(_stem(other) for other in others.split())
    return meant


@functools.cache
def _stop_words() -> frozenset[str]:
    return frozenset(read(Path(__file__).with_suffix(".yaml"))["stop"].split())


def _stem(word: str) -> str:
    """Return a word without the ending of a plural or of a form of its verb."""
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word.removesuffix(ending) + instead
            break
    return word.removesuffix("e") if len(word) > 3 else word


def stems(text: str) -> list[str]:
    """Return the words of a text without their endings; words that say nothing are left out."""
    return [_stem(word) for word in _WORD.findall(text.lower()) if word not in _stop_words()]


@functools.cache
def _deeds(category: str) -> Mapping[str, str]:
    """Return `service.tool` → what its category's counterparts say that it does."""
    path = Path(__file__).parent.parent / category / "counterparts.yaml"
    deeds: dict[str, str] = {}
    for match in read(path) if path.exists() else ():
        for name in match["tools"]:
            deeds[name] = f"{deeds.get(name, '')} {match['does']}"
    return deeds


@functools.cache
def _weights(
    service: str, title: str, category: str, spec: ToolSpec
) -> tuple[Mapping[str, float], float]:
    """Return how much each word says about a tool, and the sum."""
    counts: dict[str, float] = {}
    about = f"{service} {title} {category}".replace("_", " ")
    texts = [(spec.name.replace("_", " "), _NAME), (about, _TITLE)]
    texts.append((_RETURNS.sub(" ", spec.description), _DESCRIPTION))
    texts.append((_deeds(category).get(f"{service}.{spec.name}", ""), _DEED))
    # The schema would say the same, but making those of all tools takes most of a second.
    names = list(inspect.signature(spec.run).parameters)[1:]
    texts.append((" ".join(names).replace("_", " "), _ARGUMENT))
    for text, weight in texts:
        for stem in set(stems(text)):
            counts[stem] = counts.get(stem, 0.0) + weight
    return counts, sum(counts.values())


def rank(query: str, services: Mapping[str, type[Service]]) -> list[tuple[str, str]]:
    """Return the tools that match a query, as (service, tool), best match first.

    A tool matches if it has any of the words, or one that means the same; rare words count more
    than common ones (BM25 over names, titles, descriptions and arguments).
    """
    tools = {}
    for name, cls in services.items():
        for tool, spec in cls.tools.items():
            tools[name, tool] = _weights(name, cls.title, cls.category, spec)
    if not tools:
        return []
    mean = sum(size for _, size in tools.values()) / len(tools)
    scores: dict[tuple[str, str], float] = {}
    for word in dict.fromkeys(stems(query)):
        meant = (word, *vocabulary().get(word, ()))
        best: dict[tuple[str, str], float] = {}
        for term in meant:
            having = [key for key, (weights, _) in tools.items() if term in weights]
            rarity = math.log(1 + (len(tools) - len(having) + 0.5) / (len(having) + 0.5))
            for key in having:
                weights, size = tools[key]
                weight = weights[term]
                norm = _SATURATION * (1 - _LENGTH + _LENGTH * size / mean)
                score = rarity * weight / (weight + norm)
                best[key] = max(best.get(key, 0.0), score if term == word else 0.8 * score)
        for key, score in best.items():
            scores[key] = scores.get(key, 0.0) + score
    return sorted(scores, key=lambda key: (-scores[key], key))
