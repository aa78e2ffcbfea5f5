"""What a scenario is. Every key is judged or used; an unknown one is an error."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, SkipValidation

from fault_profiles.model import Fault
from fault_profiles.schedule import Moment
from judge.model import Check
from scenarios.script import Step, Violation
from servers.kit.declared import Declared

Failure = Literal[
    "availability",
    "staleness",
    "silent_no_op",
    "corrupted_state",
    "schema_mismatch",
    "disambiguation",
    "cascade",
    "none",
]


class Turn(Declared):
    """What the user says, `gap` simulated seconds after the turn before."""

    user: str
    gap: Annotated[int, Field(ge=0)] = 60


class Answer(Declared):
    """What the user says when asked: `asked` are phrases (as in `said` checks) of which the
    question holds one.
    """

    asked: Annotated[list[str], Field(min_length=1)]
    say: str


class Disclosure(Declared):
    """A service that is held back until an event; `after: {fired: name}` is the usual one."""

    service: str
    after: Moment


class Limits(Declared):
    """How much an agent may do before the episode ends: calls in all, questions to the user."""

    calls: Annotated[int, Field(ge=1, le=500)] = 40
    questions: Annotated[int, Field(ge=0, le=20)] = 3


class Scripts(Declared):
    """The oracle, which passes everywhere, and the trusting agent, which passes clean and fails
    base.
    """

    oracle: Annotated[list[Step], Field(min_length=1)]
    naive: Annotated[list[Step], Field(min_length=1)]


class Scenario(Declared):
    """One test. `id` is its path under `suites/`, without the ending.

    `failure` and `temporary` classify it; `twin` marks an honest twin (odd-looking but true).
    `primary` and `fallback` name the providers where the order matters. `tools` narrows services to
    the tools that patterns name (`{gmail: ["*email*"]}`), for clients take only so many.
    `repairable: false` says that no agent can complete the task, so that reporting it is the task.
    `faults` and `checks` are one-key items named by their kind. `history` names a file of
    `haystack/` that is replayed before the first turn.
    """

    id: str
    title: str
    about: str
    failure: Failure
    temporary: bool = False
    twin: bool = False
    repairable: bool = True
    world: str = "maya"
    seed: int = 1
    history: str | None = None
    services: Annotated[list[str], Field(min_length=1)]
    tools: dict[str, list[str]] = {}
    primary: str | None = None
    fallback: str | None = None
    disclose: list[Disclosure] = []
    turns: Annotated[list[Turn], Field(min_length=1)]
    answers: dict[str, Answer] = {}
    default_answer: str = "I don't know; do what you think is best."
    limits: Limits = Limits()
    faults: SkipValidation[list[Fault]] = []
    checks: SkipValidation[list[Check]]
    scripts: Scripts
    violations: Annotated[list[Violation], Field(min_length=1)]
    tags: list[str] = []

    def fault(self, name: str) -> Fault | None:
        """Return a fault by name."""
        return next((f for f in self.faults if f.name == name), None)


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a scenario file, for editors: faults and checks are one-key items
    of their kinds.
    """
    from fault_profiles.model import kinds
    from judge import checks

    schema = Scenario.model_json_schema(by_alias=True)
    definitions = schema.setdefault("$defs", {})
    schema["properties"].pop("id")
    schema["required"] = [r for r in schema["required"] if r != "id"]
    for key, models in (("faults", kinds()), ("checks", checks.kinds())):
        options = []
        for name, model in models.items():
            part = model.model_json_schema(by_alias=True, ref_template="#/$defs/{model}")
            definitions.update(part.pop("$defs", {}))
            definitions[f"{key}.{name}"] = part
            item = {"type": "object", "required": [name], "additionalProperties": False}
            options.append(item | {"properties": {name: {"$ref": f"#/$defs/{key}.{name}"}}})
        schema["properties"][key] = {"type": "array", "items": {"oneOf": options}}
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Haywire scenario"
    return schema
