"""The contract of every tool: names, schemas, annotations, its example, and how it refuses."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from servers.kit.mcp import SEPARATOR
from servers.kit.service import Service, ToolSpec, services, tool
from servers.kit.session import Session, as_text
from tests.commands import ROOT
from tests.support import IDS, TOOLS, assert_error, digest, effects, example, new_session, prepared

pytestmark = pytest.mark.anyio
SERVICES = list(services().values())
every_tool = pytest.mark.parametrize(("cls", "spec"), TOOLS, ids=IDS)
WRITES = {name: tool for name, tool in zip(IDS, TOOLS, strict=True) if tool[1].effect == "write"}
IDEMPOTENT = {name: tool for name, tool in WRITES.items() if tool[1].idempotent}
idempotent_tool = pytest.mark.parametrize(("cls", "spec"), IDEMPOTENT.values(), ids=IDEMPOTENT)
every_service = pytest.mark.parametrize("cls", SERVICES, ids=[c.name for c in SERVICES])
WRONG = {
    "string": 12345,
    "integer": "1",
    "number": "1.0",
    "boolean": "true",
    "array": {"a": 1},
    "object": ["a"],
}


# -- publication ----------------------------------------------------------------------------------


@every_service
def test_a_service_says_who_it_is(cls: type[Service]) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]{0,19}", cls.name) and SEPARATOR not in cls.name
    assert cls.title and cls.category and cls.domain and cls.__doc__
    assert cls.tools, "a service needs tools"
    place = cls.__module__.split(".")[1:3]
    assert place == [cls.category, cls.name], "a service is found by the name of its file or folder"
    for code in vars(cls.codes).values():
        assert re.fullmatch(r"[A-Z][A-Z0-9_]*", code)


@every_service
def test_names_fit_every_client(cls: type[Service]) -> None:
    for name in cls.tools:
        assert re.fullmatch(r"[a-z][a-z0-9_]{0,29}", name) and SEPARATOR not in name, name
        assert len(f"{cls.name}{SEPARATOR}{name}") <= 64, name


@every_service
def test_descriptions_tell_tools_apart(cls: type[Service]) -> None:
    texts = {n: t.description for n, t in cls.tools.items()}
    for name, text in texts.items():
        assert 15 <= len(text) <= 1024, name
    assert len(set(texts.values())) == len(texts)
    sentences = Counter[str]()
    for text in texts.values():
        sentences.update(s for s in re.split(r"(?<=[.!?])\s+", text) if len(s) > 60)
    repeated = [sentence for sentence, number in sentences.items() if number > 2]
    assert not repeated, "a sentence in many descriptions does not tell tools apart"


@every_service
def test_schemas_suit_strict_function_calling(cls: type[Service]) -> None:
    for spec in cls.tools.values():
        assert spec.schema["type"] == "object", spec.name
        assert json.loads(json.dumps(spec.schema)) == spec.schema, spec.name
        check_schema(spec.schema, spec.name)


def check_schema(node: dict[str, Any], where: str, top: bool = True) -> None:
    assert not {"$ref", "$defs", "anyOf", "oneOf", "allOf", "title", "not"} & set(node), where
    assert isinstance(node.get("type"), str) and node["type"] != "null", f"{where}: {node}"
    if not top:
        assert node.get("description") or node.get("enum"), f"{where} has no description"
    if "enum" in node:
        assert node["type"] == "string" and all(isinstance(v, str) for v in node["enum"]), where
        assert len(set(node["enum"])) == len(node["enum"]) > 0, where
    if "const" in node:
        raise AssertionError(f"{where}: a constant argument says nothing")
    if node["type"] == "object":
        assert node["additionalProperties"] is False, f"{where} accepts additional properties"
        assert set(node.get("required", [])) <= set(node["properties"]), where
        for name, child in node["properties"].items():
            assert re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_]*", name), f"{where}.{name}"
            check_schema(child, f"{where}.{name}", top=False)
    if node["type"] == "array":
        check_schema(node["items"], f"{where}[]", top=True)


@every_service
def test_annotations_agree(cls: type[Service]) -> None:
    for spec in cls.tools.values():
        if spec.effect == "read":
            assert spec.idempotent and not spec.destructive, spec.name
        assert spec.cost >= 0, spec.name
        for step in spec.setup:
            owner, _, name = step.tool.rpartition(".")
            assert name in services()[owner or cls.name].tools, f"{spec.name}: {step.tool}"


# -- examples -------------------------------------------------------------------------------------


@every_tool
async def test_the_example_succeeds_with_the_effect_declared_and_again_to_the_byte(
    cls: type[Service], spec: ToolSpec
) -> None:
    session = new_session(cls.name, seed=3)
    again = new_session(cls.name, seed=3)
    args = await prepared(session, cls, spec)
    mark = session.world.last_change()
    reply = await session.call(cls.name, spec.name, args)
    assert not session.bugs, session.bugs[0]
    assert not reply.is_error, reply.data
    assert isinstance(reply.data, dict) and json.loads(as_text(reply)) == reply.data
    if spec.effect == "write":
        assert effects(session, mark), "the example of a write should write something"
    else:
        assert not effects(session, mark)
    assert as_text(await example(again, cls, spec)) == as_text(reply)
    assert again.control.trace() == session.control.trace()


@idempotent_tool
async def test_a_repeated_idempotent_call_changes_nothing_more(
    cls: type[Service], spec: ToolSpec
) -> None:
    session = new_session(cls.name)
    args = await prepared(session, cls, spec)
    first = await session.call(cls.name, spec.name, args)
    mark = session.world.last_change()
    again = await session.call(cls.name, spec.name, args)
    assert not effects(session, mark) and not session.bugs
    if not again.is_error:
        assert set(again.data) == set(first.data)


@every_tool
async def test_an_optional_argument_may_be_null(cls: type[Service], spec: ToolSpec) -> None:
    optional = set(spec.schema["properties"]) - set(spec.schema.get("required", []))
    one = new_session(cls.name)
    two = new_session(cls.name)
    args = await prepared(one, cls, spec)
    await prepared(two, cls, spec)
    wanted = await one.call(cls.name, spec.name, args)
    nulls = dict.fromkeys(optional - set(args))
    reply = await two.call(cls.name, spec.name, args | nulls)
    assert as_text(reply) == as_text(wanted)


async def test_another_process_answers_the_same() -> None:
    code = "import anyio; from tests.support import digest; print(anyio.run(digest))"
    command = [sys.executable, "-c", code]
    env = os.environ | {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo"}
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as other:
        here = await digest()
        there, _ = other.communicate(timeout=120)
    assert there.strip() == here
    assert len(here) == 32


# -- refusals -------------------------------------------------------------------------------------


async def refusal(
    session: Session, cls: type[Service], spec: ToolSpec, args: Any
) -> dict[str, Any]:
    """Make a call with bad arguments, which must be refused and change nothing; return the error.

    The error must have the provider's code for bad arguments.
    """
    mark = session.world.last_change()
    reply = await session.call(cls.name, spec.name, args)
    assert not session.bugs, session.bugs[0]
    error = assert_error(reply)
    assert error["code"] == cls.codes.invalid and not error["retryable"] and error["hint"]
    assert not effects(session, mark)
    return error


@every_tool
async def test_bad_arguments_are_refused_by_name(cls: type[Service], spec: ToolSpec) -> None:
    session = new_session(cls.name)
    args = await prepared(session, cls, spec)
    error = await refusal(session, cls, spec, {**args, "verbosity_level": 3})
    assert error["field"] == "verbosity_level" and "verbosity_level" in error["message"]
    for name in spec.schema.get("required", []):
        fewer = {k: v for k, v in args.items() if k != name}
        error = await refusal(session, cls, spec, fewer)
        assert error["field"] == name and name in error["message"]
    for name, node in spec.schema["properties"].items():
        error = await refusal(session, cls, spec, {**args, name: WRONG[node["type"]]})
        assert error["field"].split(".")[0] == name and name in error["message"]
        if "enum" in node:
            error = await refusal(session, cls, spec, {**args, name: "no_such_choice"})
            assert any(choice in error["message"] for choice in node["enum"])


@pytest.mark.parametrize(
    ("name", "argument", "wanted"),
    [
        ("google_calendar.create_event", "attendees", "email and name (optional)"),
        ("instacart.search_stores", "location", "lat and lng"),
        ("venmo.create_group_payment", "participants", "contact_id and amount (optional)"),
    ],
)
async def test_text_where_an_object_is_meant_is_refused_with_what_the_object_consists_of(
    name: str, argument: str, wanted: str
) -> None:
    cls, spec = tool(name)
    session = new_session(cls.name)
    args = await prepared(session, cls, spec)
    is_list = spec.schema["properties"][argument]["type"] == "array"
    wrong = ["Ana Reyes, 12 Main Street"] if is_list else "Portland"
    error = await refusal(session, cls, spec, args | {argument: wrong})
    assert f"must be an object with {wanted}." in error["message"]


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({"lat": 45.5}, "Missing required argument 'location.lng'."),
        (
            {"lat": 45.5, "lng": -122.6, "long": 1},
            "Unknown argument 'location.long'; did you mean 'lng'?",
        ),
    ],
)
async def test_an_object_in_disorder_is_refused_with_what_it_consists_of(
    point: dict[str, float], message: str
) -> None:
    session = new_session("instacart")
    error = assert_error(await session.call("instacart", "search_stores", {"location": point}))
    assert error["message"] == message
    assert error["hint"] == "'location' must be an object with lat and lng."


@every_service
async def test_an_unknown_tool_is_refused_with_the_nearest(cls: type[Service]) -> None:
    session = new_session(cls.name)
    known = next(iter(cls.tools))
    error = assert_error(await session.call(cls.name, known + "s", {}))
    assert error["code"] == "UNKNOWN_TOOL" and known in error["message"]
    for args in ([], "text", 3, None):
        assert assert_error(await session.call(cls.name, known, args))["code"] == cls.codes.invalid
