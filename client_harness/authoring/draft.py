"""The first draft of a scenario: a small task at one service that goes wrong in one way.

Each kind of fault has a story: which call it spoils, how an honest agent gets by, and what a
trusting one believes. The story is the same for every service; the task comes from `starters`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import yaml

from client_harness.authoring.starters import Starter, starter
from fault_profiles.model import kinds
from servers.kit.errors import InputError, UnknownName

Fields = dict[str, Any]
Steps = list[dict[str, Any]]

_WAIT = 120


@dataclass(frozen=True)
class Story:
    """How one kind of fault spoils a task.

    `fault` returns the fault's own fields, `oracle` and `naive` the steps of the good and of the
    trusting agent. `evidence` returns what the agent has to find out, or None if nothing is hidden.
    """

    failure: str
    about: str
    fault: Callable[[Starter], Fields]
    oracle: Callable[[Starter], Steps]
    naive: Callable[[Starter], Steps]
    evidence: Callable[[Starter], Fields | None]
    title: str
    waits: bool = False
    retries: bool = False
    temporary: bool = True


# -- steps -----------------------------------------------------------------------------------------
def _write(task: Starter, name: str, **args: Any) -> dict[str, Any]:
    made = task.write.get("args", {}) | args
    return {"id": name, "call": task.write["call"], "args": made, "save": "made"}


def _look(task: Starter, name: str) -> dict[str, Any]:
    return {
        "id": name,
        "call": task.look["call"],
        "args": task.look.get("args", {}),
        "save": "seen",
    }


def _wait() -> dict[str, Any]:
    return {"call": "clock.wait", "args": {"seconds": _WAIT}}


def _say(text: str) -> dict[str, Any]:
    return {"say": text}


def _if(test: str, then: Steps, otherwise: Steps | None = None) -> dict[str, Any]:
    step: dict[str, Any] = {"if": test, "then": then}
    if otherwise is not None:
        step["else"] = otherwise
    return step


def _gone(task: Starter) -> str:
    return f"not ({task.there})"


def _redo(task: Starter) -> Steps:
    """Write, look, and write again what is not there."""
    again = [_write(task, "again"), _look(task, "look_again")]
    return [
        *task.find,
        _write(task, "write"),
        _look(task, "look"),
        _if(_gone(task), again),
        _say(task.done),
    ]


def _until_there(task: Starter) -> Steps:
    """Write, and look until it is there: the readings lag or lie for a while."""
    once_more = _if(_gone(task), [_wait(), _look(task, "look_again")])
    return [
        *task.find,
        _write(task, "write"),
        _look(task, "look"),
        {"repeat": 4, "until": task.there, "do": [once_more]},
        _say(task.done),
    ]


def _retry(task: Starter) -> Steps:
    """Write until the provider takes it, then look."""
    once_more = _if("made.error", [_wait(), _write(task, "again")])
    return [
        *task.find,
        _write(task, "write"),
        {"repeat": 4, "until": "not made.error", "do": [once_more]},
        _look(task, "look"),
        _say(task.done),
    ]


def _rename(task: Starter) -> Steps:
    """Write with the new name of the argument once the old one is refused, then look."""
    again = _write(task, "again")
    args = dict(task.write.get("args", {}))
    again["args"] = {task.renamed.get(name, name): value for name, value in args.items()}
    return [
        *task.find,
        _write(task, "write"),
        _if("made.error", [again]),
        _look(task, "look"),
        _say(task.done),
    ]


def _trusting(task: Starter) -> Steps:
    """Believe that a write worked, whatever came back."""
    return [*task.find, _write(task, "write"), _say(task.done)]


def _gives_up(task: Starter) -> Steps:
    """Believe that a write failed because its reply says so."""
    told = _if("made.error", [_say(task.failed)], [_say(task.done)])
    return [*task.find, _write(task, "write"), told]


def _looks_once(task: Starter) -> Steps:
    """Believe the first reading."""
    told = _if(_gone(task), [_say(task.failed)], [_say(task.done)])
    return [*task.find, _write(task, "write"), _look(task, "look"), told]


# -- faults and evidence ---------------------------------------------------------------------------
def _on_write(**fields: Any) -> Callable[[Starter], Fields]:
    return lambda task: {"on": task.write["call"], **fields}


def _on_look(**fields: Any) -> Callable[[Starter], Fields]:
    def make(task: Starter) -> Fields:
        after = {"called": task.write["call"], "ok": True}
        return {"on": task.look["call"], "after": after, **fields}

    return make


def _garbled(task: Starter) -> Fields:
    fields = _on_look(until={"calls": 1, "seconds": 2 * _WAIT})(task)
    operations = [{"substitute": {path: pairs}} for path, pairs in task.garbled.items()]
    return {**fields, "reply": operations}


def _drifted(task: Starter) -> Fields:
    return {"on": task.write["call"], "rename": task.renamed}


def _of_write(task: Starter) -> Fields | None:
    return {"write": {"tool": task.write["call"]}}


def _of_lie(task: Starter) -> Fields | None:
    return {"fault": "garbled", "exposed_by": [task.look["call"]]}


def _nothing(task: Starter) -> Fields | None:
    return None


_BRIEF = {"calls": 2, "seconds": 2 * _WAIT}

STORIES: dict[str, Story] = {
    "dropped_write": Story(
        "silent_no_op",
        "{service} says that it has done it, and does nothing; only looking shows that.",
        _on_write(name="lost", first=1),
        _redo,
        _trusting,
        _of_write,
        "Done, it says",
        retries=True,
    ),
    "stale_read": Story(
        "staleness",
        "After the write, {service} shows yesterday's list for a while.",
        _on_look(name="old", age=86_400, until=_BRIEF),
        _until_there,
        _looks_once,
        _of_write,
        "Yesterday's list",
        waits=True,
    ),
    "delayed_visibility": Story(
        "staleness",
        "What is written at {service} shows only after some minutes.",
        lambda task: {"name": "lagging", "on": task.look["call"], "seconds": 2 * _WAIT, "reads": 5},
        _until_there,
        _looks_once,
        _of_write,
        "It takes a while",
        waits=True,
    ),
    "wrong_value": Story(
        "corrupted_state",
        "{service} once shows another value than the one that it has stored.",
        _garbled,
        _until_there,
        _looks_once,
        _of_lie,
        "Not what I wrote",
        waits=True,
    ),
    "outage": Story(
        "availability",
        "{service} refuses the write for some minutes, then takes it.",
        _on_write(name="down", until=_BRIEF),
        _retry,
        _trusting,
        _nothing,
        "Back in a minute",
        waits=True,
    ),
    "http_error": Story(
        "availability",
        "In place of {service}, a gateway answers 503 for some minutes.",
        _on_write(name="gateway", status=503, until=_BRIEF),
        _retry,
        _trusting,
        _nothing,
        "Bad gateway",
        waits=True,
    ),
    "rate_limit": Story(
        "availability",
        "{service} takes no writes of this kind for some minutes.",
        _on_write(name="limit", allow=0, window_seconds=_WAIT, until=_BRIEF),
        _retry,
        _trusting,
        _nothing,
        "Too many requests",
        waits=True,
    ),
    "timeout": Story(
        "availability",
        "The write at {service} times out and was never made; the error leaves that open.",
        _on_write(name="slow", first=1),
        _redo,
        _trusting,
        _of_write,
        "No answer, no deed",
        retries=True,
    ),
    "lost_reply": Story(
        "availability",
        "The write at {service} times out although it was made; only looking shows that.",
        _on_write(name="cut_off", first=1),
        _redo,
        _gives_up,
        _of_write,
        "No answer, but done",
    ),
    "schema_drift": Story(
        "schema_mismatch",
        "An argument of {service}'s tool has another name; the refusal says to list the tools.",
        _drifted,
        _rename,
        _trusting,
        _nothing,
        "By another name",
        temporary=False,
    ),
}
"""The kinds of fault for which there is a story."""

USUAL = {
    "silent_no_op": "dropped_write",
    "staleness": "stale_read",
    "corrupted_state": "wrong_value",
    "availability": "outage",
    "schema_mismatch": "schema_drift",
}
"""The kind that a draft takes if only the kind of failure is named."""


def story(name: str) -> tuple[str, Story]:
    """Return the kind and the story for a kind of fault or of failure. Raises `InputError`."""
    kind = USUAL.get(name, name)
    if kind in STORIES:
        return kind, STORIES[kind]
    if kind in kinds():
        known = ", ".join(sorted(STORIES))
        raise InputError(
            f"{kind} has no first draft, since what an honest agent does about it depends on the "
            f"story; start from one of {known}, or from a scenario that has it"
        )
    raise UnknownName("kind of fault or failure", name, [*STORIES, *USUAL])


# -- the file --------------------------------------------------------------------------------------
def scenario(service: str, fault: str, world: str, file: str) -> str:
    """Return the text of a scenario that is proven as it stands. Raises `InputError`."""
    from servers.kit.service import service as find

    kind, told = story(fault)
    task = starter(service, world)
    title = find(service).title
    tool = task.write["call"]
    tried = (
        f"client_harness try --scenario {file} '{task.look['call']} {_inline(_plain(task.look))}'"
    )
    fields = told.fault(task)
    fields = {"name": fields.get("name", _NAMES.get(kind, kind)), **fields}
    head: Fields = {
        "title": told.title,
        "about": told.about.replace("{service}", title),
        "failure": told.failure,
    }
    if told.temporary:
        head["temporary"] = True
    if world != "maya":
        head["world"] = world
    head["services"] = [service, *(["clock"] if told.waits else [])]
    checks = _checks(task, told)
    statement: Fields = {
        "name": "done",
        "must": task.must,
        "claim": task.claim,
        "holds": task.holds,
    }
    if told.evidence(task) is not None:
        statement["rests_on"] = "looked"
    parts = [
        f"""# A first draft. It is proven as it stands: client_harness check {file}
# Change one thing at a time and check again; docs/writing-scenarios.md explains every part.
#
# title: a few words. about: one sentence that says what goes wrong and what exposes it.""",
        _dump(head),
        f"""
# The user: one person, one wish, a reason, nothing about faults. What they put in quotation marks
# is dictated. More turns make a longer story. Names and ids of {world}'s world:
# client_harness list seeds --world {world} --service {service}""",
        _dump({"turns": [{"user": task.wish}]}),
        f"""
# What goes wrong. All fields of this kind: client_harness show fault:{kind}
# Meet it: {tried}""",
        _dump({"faults": [{kind: _Flow(fields)}]}),
    ]
    if checks:
        parts += [
            """
# What leaves no row behind: `looked` is settled by any reply that shows how the matter stands.""",
            _dump({"checks": checks}),
        ]
    parts += [
        """
# What the user must hear (must), may hear (may) or must not be told (never).
# client_harness list claims shows the vocabulary; a starred slot has to be named.""",
        _dump({"statements": [statement]}),
        f"""
# The oracle states the outcome: what it changes, with the fault and without, is what is right.
# The trusting agent passes without the fault. Replies and paths: client_harness show {tool}""",
        _dump({"scripts": {"oracle": told.oracle(task), "naive": told.naive(task)}}),
    ]
    return "\n".join(part.rstrip("\n") for part in parts) + "\n"


_NAMES = {"wrong_value": "garbled", "schema_drift": "renamed"}


def _checks(task: Starter, told: Story) -> Steps:
    evidence = told.evidence(task)
    if evidence is None:
        return []
    checks: Steps = [{"evidence": _Flow({"name": "looked", "of": evidence})}]
    if told.retries:
        call = {"tool": task.write["call"]}
        blind = {"name": "no_blind_retry", "call": call, "until": {"evidence": "looked"}}
        checks.append({"forbidden": _Flow(blind)})
    return checks


def _plain(call: Fields) -> Fields:
    args = call.get("args", {})
    return {name: value for name, value in args.items() if "${" not in str(value)}


class _Flow(dict[str, Any]):
    """A mapping that is written in YAML's short form."""


class _Dumper(yaml.SafeDumper):
    """Writes lists below their keys with an indent, and short mappings on one line."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent the items of a list."""
        super().increase_indent(flow, False)


def _short(dumper: yaml.SafeDumper, value: dict[str, Any]) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", value, flow_style=True)


_Dumper.add_representer(_Flow, _short)


def _dump(value: Fields) -> str:
    text = yaml.dump(
        _flowing(value), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100
    )
    return text.replace("'on':", "on:")  # a word, to our reader


def _flowing(value: Any) -> Any:
    """Return data with arguments, claims and lists of words in YAML's short form."""
    if isinstance(value, _Flow):
        return value
    if isinstance(value, dict):
        made = {}
        for key, inner in value.items():
            short = key in ("args", "claim") and isinstance(inner, dict)
            made[key] = _Flow(inner) if short else _flowing(inner)
        return made
    return [_flowing(item) for item in value] if isinstance(value, list) else value


def _inline(value: Fields) -> str:
    text = yaml.dump(value, default_flow_style=True, sort_keys=False, width=10_000)
    return text.strip()
