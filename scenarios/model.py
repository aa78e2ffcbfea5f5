"""The model of a scenario. Every key is judged or used; an unknown key is an error."""

from __future__ import annotations

import functools
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SkipValidation

from fault_profiles.model import Fault
from fault_profiles.rows import RowChange
from fault_profiles.schedule import Moment
from judge.change import Freedom
from judge.model import Check
from judge.pattern import Predicate
from judge.statements import Statement
from scenarios.answer import Answer, keyed
from scenarios.script import Route, Step, Violation
from servers.kit.declared import Declared
from servers.kit.expr.predicates import same_text
from servers.kit.seeds import MOST_SEED

_QUOTED = re.compile(r"[\"“]([^\"”]{2,}?)[\"”]|(?<!\w)[‘']([^‘’']{2,}?)[’'](?!\w)")

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


DEFAULT_ANSWER = (
    "Please do what I said, and don't assume anything beyond it. I have nothing to add."
)
"""What the user says to a question that nobody foresaw; it allows no guess."""


class Turn(Declared):
    """A message of the user, sent `gap` simulated seconds after the previous turn."""

    user: str
    gap: Annotated[int, Field(ge=0)] = 60


class Disclosure(Declared):
    """A service that is held back until an event, usually `after: {fired: name}`."""

    service: str
    after: Moment


class Limits(Declared):
    """How many calls and how many questions to the user an agent may make in an episode."""

    calls: Annotated[int, Field(ge=1, le=500)] = 60
    questions: Annotated[int, Field(ge=0, le=20)] = 3


class Variation(Declared):
    """What may vary between right runs; everything else that differs from them is wrong.

    `free` maps `table.column` to a condition on the value, or to `any`. `dictated` lists prose and
    manner (`table.column`) that must be as in the oracle's run; what the user puts in quotation
    marks is dictated by itself. `prose` sets conditions on prose. Rows of the tables in `optional`
    may be there or not. `windows` gives the turns between which a table's rows may come:
    `{outlook_emails: [1, 2]}`.
    """

    free: dict[str, Any] = {}
    dictated: list[str] = []
    prose: dict[str, Predicate] = {}
    optional: list[str] = []
    windows: dict[str, tuple[int, int]] = {}


class Excuse(Declared):
    """A mutant (a name, or a glob with `*`) that may pass, and why."""

    mutant: Annotated[str, Field(min_length=1)]
    because: Annotated[str, Field(min_length=10)]


class Prefix(Declared):
    """The first turns of a conversation, which the oracle's `steps` play ahead of the agent.

    They are played without faults. The agent gets them as the conversation that it goes on with.
    """

    turns: Annotated[int, Field(ge=1)]
    steps: Annotated[list[Step], Field(min_length=1)]


class Scripts(Declared):
    """The oracle, which passes in every setting, and the trusting agent.

    The trusting agent, `naive`, passes clean and fails base.
    """

    oracle: Annotated[list[Step], Field(min_length=1)]
    naive: Annotated[list[Step], Field(min_length=1)]


class Scenario(Declared):
    """One test. `id` is its path under `suites/`, without the ending.

    `failure` and `temporary` classify it; `twin` marks an honest twin (odd-looking but true).
    `primary` and `fallback` name the providers if their order matters. `tools` narrows services to
    the tools that match its patterns (`{gmail: ["*email*"]}`), because clients accept only so many.
    `repairable: false` means that no agent can complete the task, so that reporting this is the
    task. `faults` and `checks` are one-key items named after their kind. `history` names a file of
    `haystack/` that is replayed before the first turn. `setup` lists changes of rows that are part
    of the world in every setting, as if it had always been so.

    `statements` are what the agent must tell, may tell or must not claim. `scripts.oracle` states
    the outcome, beside the `routes`, which are other right ways; `change` says what may vary.
    `excused` names mutants of the oracle that may pass. `verification: false` means that no
    evidence check is needed, although a fault hides behind a good-looking reply; `about` says why.
    `prefix` has the first turns played ahead of the agent; the scripts begin after them.
    """

    id: str
    title: str
    about: str
    failure: Failure
    temporary: bool = False
    twin: bool = False
    repairable: bool = True
    world: str = "maya"
    seed: Annotated[int, Field(ge=-MOST_SEED, le=MOST_SEED)] = 1
    history: str | None = None
    setup: list[RowChange] = []
    services: Annotated[list[str], Field(min_length=1)]
    tools: dict[str, list[str]] = {}
    primary: str | None = None
    fallback: str | None = None
    disclose: list[Disclosure] = []
    turns: Annotated[list[Turn], Field(min_length=1, max_length=40)]
    prefix: Prefix | None = None
    answers: Annotated[dict[str, Answer], AfterValidator(keyed)] = {}
    default_answer: str = DEFAULT_ANSWER
    limits: Limits = Limits()
    faults: SkipValidation[list[Fault]] = []
    checks: SkipValidation[list[Check]] = []
    statements: list[Statement] = []
    change: Variation = Variation()
    scripts: Scripts
    routes: list[Route] = []
    violations: list[Violation] = []
    excused: list[Excuse] = []
    verification: bool = True
    tags: list[str] = []

    @property
    def begun(self) -> int:
        """How many turns are over when the agent begins."""
        return self.prefix.turns if self.prefix is not None else 0

    @functools.cached_property
    def gates(self) -> list[Check]:
        """Everything that is judged: the change, the statements, and the scenario's own checks."""
        from judge.change.check import Changed
        from judge.statements.checks import Mails, Told, Truthful

        musts = [statement for statement in self.statements if statement.mode == "must"]
        told: list[Check] = []
        for statement in musts:
            if not statement.to_others:
                told.append(Told(name=f"told_{statement.name}", statement=statement))
        mailed = tuple(statement for statement in musts if statement.to_others)
        if mailed:
            told.append(Mails(statements=mailed))
        truthful = Truthful(statements=tuple(self.statements))
        return [Changed(), *told, truthful, *self.checks]

    @functools.cached_property
    def freedom(self) -> Freedom:
        """What may vary between right runs."""
        texts = [turn.user for turn in self.turns] + [a.say for a in self.answers.values()]
        quoted = set()
        for text in texts:
            quoted |= {same_text(found[1] or found[2]) for found in _QUOTED.finditer(text)}
        return Freedom(
            free=self.change.free,
            dictated=frozenset(self.change.dictated),
            conditions=self.change.prose,
            quoted=frozenset(quoted),
            asked=frozenset(same_text(" ".join(texts)).split()),
            optional=frozenset(self.change.optional),
        )

    def fault(self, name: str) -> Fault | None:
        """Return a fault by name, or None."""
        return next((f for f in self.faults if f.name == name), None)


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a scenario file, for editors.

    Faults and checks are one-key items of their kinds.
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
