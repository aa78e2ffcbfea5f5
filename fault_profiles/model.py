"""What a fault is: an envelope that every kind shares, and one method that each kind adds.

A kind is a subclass in `kinds/<kind>.py` with its own fields and `act`. The envelope decides
whether the fault acts on a call; `act` does the rest. State (counters, captured values) lives in
the episode's control record, so a fault object is a constant.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from fault_profiles.arguments import Schema, check_arguments
from fault_profiles.decide import Acting, Decider, armed, waits
from fault_profiles.rows import Conditions, RowChange
from fault_profiles.sample import Example
from fault_profiles.schedule import ASKED, Moment, Schedule, check_names
from fault_profiles.state import ALL, State, scope_of
from servers.kit.call import Call, Layer, Next, Reply
from servers.kit.declared import Declared, kind_of, validated
from servers.kit.errors import InputError, UnknownName
from servers.kit.events import Attempt
from servers.kit.expr import chains, check_operations, check_predicate, matches, names, taken
from servers.kit.expr.paths import parse as parse_path
from servers.kit.registry import subclasses
from servers.kit.selector import Selector, arguments_of
from servers.kit.service import Service, ToolSpec, known_tables, tool
from servers.kit.session import Session

FIRED = ASKED | {"number"}
"""Names that the fields of a firing may use; `number` is the number of the firing."""
TOLD = FIRED | {"reply"}
"""Names that edits of a reply may use; `reply` is the reply before them."""


_COUNTED = ("fault", "tool", "record", "service")
_STATE = frozenset({"stored", "result", "row", "rows", "record"})
"""Fields that need the state behind the tools, or a copy of it to get the honest reply from."""


class CallShape(Declared):
    """A kind of call, by tool and arguments: one that could expose a fault or recover from it."""

    tool: Selector
    where: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        return {"tool": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _plain(self) -> CallShape:
        if used := check_predicate(self.where, "where"):
            raise InputError(
                f"where: expressions cannot use names here; got {', '.join(sorted(used))}"
            )
        return self

    def fits(self, service: str, tool: str, args: dict[str, Any]) -> bool:
        """Return whether a call is of this kind."""
        return self.tool.selects(service, tool) and matches(self.where, args)


class Fault(Schedule):
    """The envelope. In YAML a fault is a one-key item, `- <kind>: {on: venmo.send_money, …}`.

    - `on`: the tools. `where`: a condition on the arguments. `stored`: a row that must exist, or a
      list of such conditions. `result`: a condition on the honest reply.
    - `per`: how due calls are counted: by `fault`, `tool`, `record`, `service`, or the value at a
      path into the arguments.
    - `after` and `until` arm and clear the fault; with `rearm` it can arm again after it has
      cleared.
    - `priority`: the order of faults on the same tool; a higher one is further out.
    - `tell`: how strongly the lie shows.
    - `capture`: values that a firing keeps for other faults (`faults.<name>.<value>`, and
      `faults.<name>.all` for those of every firing). `reply` is what the service honestly said,
      `seen` what the agent saw.
    - `exposed_by`: readings that could expose the fault. `recover`: calls, any one of which
      recovers from it. `repairable`: whether anything does.
    - `required`: whether a trial must come near the fault to count as exposed.
    """

    kind: ClassVar[str]
    effects: ClassVar[tuple[str, ...]] = ("read", "write")
    tells: ClassVar[tuple[str, ...]] = ("none",)
    denies: ClassVar[bool] = False
    """Whether the kind replies in place of the call, so that nothing inside it runs."""
    needs_world: ClassVar[bool] = False
    """Whether the kind needs copies or rows of the state, which only our own servers provide."""
    promises: ClassVar[tuple[str, ...]] = ()
    """What holds for every firing of a sample (see `fault_profiles.sample.PROMISES`)."""
    edits: ClassVar[tuple[str, ...]] = ()
    """Fields that hold operations on a reply."""
    own: ClassVar[tuple[str, ...]] = ()
    """Fields whose expressions the kind checks itself."""

    name: str = ""
    on: Selector
    where: dict[str, Any] = {}
    stored: Conditions | None = None
    result: dict[str, Any] = {}
    per: str = "fault"
    after: Moment | None = None
    until: Moment | None = None
    rearm: bool = False
    priority: int = 0
    tell: Literal["none", "indirect", "explicit"] = "none"
    capture: dict[str, str] = {}
    exposed_by: list[CallShape] = []
    recover: list[CallShape] = []
    repairable: bool = True
    required: bool = True

    @model_validator(mode="after")
    def _sound(self) -> Fault:
        self._check_names()
        if self.tell not in self.tells:
            raise InputError(f"tell: {self.kind} has {', '.join(self.tells)}; got {self.tell}")
        if not self.repairable and self.recover:
            raise InputError("recover: nothing recovers from a fault with `repairable: false`")
        if self.rearm and (self.after is None or self.until is None):
            raise InputError("rearm: needs both `after` and `until`")
        if self.after is not None and self.after.corrected:
            raise InputError("after: `corrected` clears a fault, so it belongs under `until`")
        if self.on.open:
            return self
        self._check_tools()
        if self.stored is not None:
            used = self.stored.check(known_tables(self.on.services), "stored")
            check_names(used, ASKED, "stored")
        self._check_arguments()
        return self

    def _check_names(self) -> None:
        """Refuse names that an expression cannot use in its field, and captured ones that clash."""
        check_names(check_predicate(self.where, "where"), ASKED, "where")
        check_names(check_predicate(self.result, "result"), ASKED | {"reply"}, "result")
        check_names(names(self.capture), TOLD | {"seen"}, "capture")
        for name in self.capture:
            if name == ALL or not name.isidentifier() or name.startswith("_"):
                raise InputError(
                    f"capture: {name!r} cannot be the name of a value; "
                    "write letters, digits and underscores, and not `all`"
                )
        for field in self.edits:
            check_names(check_operations(getattr(self, field), field), TOLD, field)
        rest = type(self).model_fields.keys() - _ENVELOPE - {*self.edits, *self.own}
        for field in sorted(rest):
            check_names(names(self.model_dump(include={field})), FIRED, field)

    def _check_tools(self) -> None:
        """Refuse a selector if the kind handles none of its tools, or not one that it names."""
        handled = {name for name in self.on.tools if self.handles(*tool(name))}
        if not handled:
            does = " and ".join(effect + "s" for effect in self.effects)
            raise InputError(
                f"{self.kind} acts on {does}; {', '.join(self.on.patterns)} selects none"
            )
        for name in sorted(self.on.tools - handled):
            if name in self.on.patterns:
                raise InputError(f"{self.kind} cannot act on {name} (a {tool(name)[1].effect})")

    def _check_arguments(self) -> None:
        # With schema drift, calls may use argument names that no tool declares.
        new = self.new_arguments()
        check_arguments(self.where, self.on, "where", new)
        if self.until is not None:
            check_arguments(self.until.corrected, self.on, "until: corrected", new)
        used = taken(self.model_dump(exclude={"on", "after", "until"}), "args")
        known = arguments_of(self.on) | new.keys() if used else set()
        if self.per not in _COUNTED:
            path = parse_path(self.per)
            known = arguments_of(self.on) | new.keys()
            if not path or str(path[0]) not in known:
                raise UnknownName("argument", self.per, {*_COUNTED, *known}, "per")
        for argument in sorted(used - known):
            place = f"{self.kind} on {', '.join(self.on.patterns)}"
            raise UnknownName("argument", argument, known, place)

    def new_arguments(self) -> dict[str, Schema]:
        """Return the arguments that calls get through the fault, with their schemas."""
        return {}

    def calls_meant(self) -> Iterator[tuple[str, Selector, dict[str, Any]]]:
        """Yield the other calls that it speaks of: place, tools, a condition on arguments."""
        for part, moment in (("after", self.after), ("until", self.until)):
            if moment is not None and moment.called is not None:
                yield part, moment.called, moment.where
        for part, shapes in (("exposed_by", self.exposed_by), ("recover", self.recover)):
            for shape in shapes:
                yield part, shape.tool, shape.where

    @property
    def always(self) -> bool:
        """Whether it acts on every call of its tools, from the start to the end."""
        conditions = self.where or self.stored or self.result or self.after or self.until
        return self.duration == "permanent" and self.calls is None and not conditions

    @property
    def shuts_out(self) -> bool:
        """Whether no call ever gets past it to the layers inside."""
        return self.denies and self.always

    @functools.cached_property
    def acts_on(self) -> frozenset[str]:
        """Every `service.tool` of ours around which the fault puts a layer."""
        return frozenset(t for t in self.on.tools if self.handles(*tool(t)))

    # -- for a kind ------------------------------------------------------------------------------
    @classmethod
    def sample(cls, example: Example) -> dict[str, Any] | str:
        """Return the kind's own fields of the smallest declaration that acts on this call, or why
        it makes no sense there.
        """
        return {}

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Do what the kind does to one call and return what the agent sees."""
        raise NotImplementedError

    def schema_now(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema that a tool publishes while the fault is armed."""
        return schema

    @property
    def changes(self) -> Sequence[RowChange]:
        """The changes of stored rows that it makes, as far as they are declared."""
        return ()

    # -- for a session ---------------------------------------------------------------------------
    def handles(self, cls: type[Service], spec: ToolSpec) -> bool:
        """Whether the fault puts a layer around calls of a tool."""
        return spec.effect in self.effects and self.on.selects(cls.name, spec.name, spec.effect)

    def publish(
        self, session: Session, cls: type[Service], spec: ToolSpec, schema: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the schema to publish now."""
        state = State.load(session.control, self.name)
        return self.schema_now(schema) if armed(self, session.control.now, state) else schema

    def layer(self, session: Session) -> Layer:
        """Return the fault's layer in a session."""
        return Decider(self, session).run

    @functools.cached_property
    def _listens(self) -> tuple[tuple[str, Moment], ...]:
        """The moments that wait for a call or a firing; most faults have none."""
        waiting = []
        for part, moment in (("after", self.after), ("until", self.until)):
            if moment is not None and moment.listens:
                waiting.append((part, moment))
        return tuple(waiting)

    def listen(self, session: Session) -> None:
        """Subscribe the fault to attempts, if any part of it waits for one."""
        if self._listens or type(self).hear is not Fault.hear:
            session.on_attempt.append(lambda attempt: self.hear(session, attempt))

    def hear(self, session: Session, attempt: Attempt) -> None:
        """Take note of a call that arms or clears the fault."""
        for part, moment in self._listens:
            times = self.times_in(moment, session, attempt)
            if times:
                state = State.load(session.control, self.name)
                state.heard[part] = state.heard.get(part, 0) + times
                state.save()

    def times_in(self, moment: Moment, session: Session, attempt: Attempt) -> int:
        """Return how many events that a moment waits for an attempt holds.

        A condition that cannot be computed does not hold, and the fault counts as failed.
        """
        try:
            return moment.times_in(attempt, scope_of(session.control, attempt))
        except InputError as wrong:
            if not waits(moment.where, session.control):
                state = State.load(session.control, self.name)
                state.failed += 1
                state.save()
                session.notice("fault_failed", fault=self.name, why=str(wrong))
            return 0


_ENVELOPE = frozenset(Fault.model_fields) | {"name"}


@functools.cache
def kinds() -> dict[str, type[Fault]]:
    """Return every fault kind by name; a new file in `kinds/` adds one."""
    return subclasses("fault_profiles.kinds", Fault, "kind")


def parse(item: Any, where: str = "fault", *, open: bool = False) -> Fault:
    """Return the fault that an item `{kind: {…}}` declares. Raises `InputError`.

    Without a `name` the fault is named after its kind. With `open` it is for servers that are not
    ours: it may target any tool, and whatever needs the state behind the tools is refused.
    """
    kind, given = kind_of(item, kinds(), "fault", "- outage: {on: venmo.*}", where)
    if open and (kind.needs_world or _STATE & given.keys()):
        raise InputError(
            f"{where}: {kind.kind}: needs the state behind the tools, "
            "which is only available for Haywire's own services"
        )
    named = {"name": kind.kind, **given}
    return validated(kind, named, f"{where}: {kind.kind}", {"open": open})


def check_together(faults: list[Fault], moments: Mapping[str, Moment] | None = None) -> None:
    """Refuse faults that cannot be used together, with the reason. Raises `InputError`.

    Refused are a name used twice; an event or an expression that refers to an unknown fault or to a
    value that is not captured; a condition that no call could meet; and a fault inside one that
    always denies the call. `moments` are other events that may use what faults capture.
    """
    known: dict[str, Fault] = {}
    for fault in faults:
        if fault.name in known:
            raise InputError(f"two faults are named {fault.name!r}; give each a `name`")
        known[fault.name] = fault
    new: dict[str, Schema] = {}
    for fault in faults:
        new |= fault.new_arguments()
    wanted: set[str] = set()
    for fault in faults:
        place = f"fault {fault.name}"
        for moment in (fault.after, fault.until):
            if moment is not None and moment.fired is not None and moment.fired not in known:
                raise UnknownName("fault", moment.fired, known, place)
        for part, selector, where in fault.calls_meant():
            check_arguments(where, selector, f"{place}: {part}", new)
        wanted |= check_captured(fault.model_dump(exclude={"on"}), known, place)
    for part, moment in (moments or {}).items():
        if moment.called is not None:
            check_arguments(moment.where, moment.called, part, new)
        wanted |= check_captured(moment.where, known, part)
    for fault in faults:
        if fault.capture and fault.name not in wanted:
            raise InputError(
                f"fault {fault.name}: no fault uses what it captures (${{faults.{fault.name}.…}})"
            )
    outside = ordered(faults)
    for place, fault in enumerate(outside):
        for inner in outside[place + 1 :]:
            _check_inside(fault, inner)


def check_captured(value: Any, known: Mapping[str, Fault], place: str) -> set[str]:
    """Return the faults whose captured values expressions use. Raises `InputError`."""
    place = f"{place}: expression"
    others: set[str] = set()
    for chain in sorted(chains(value)):
        if chain[0] != "faults":
            continue
        if len(chain) == 1:
            raise InputError(f"{place}: say whose value: faults.<fault>.<value>")
        other = chain[1]
        if other not in known:
            raise UnknownName("fault", other, known, place)
        kept = known[other].capture
        if not kept:
            raise InputError(f"{place}: fault {other} captures nothing")
        if len(chain) == 2:
            raise InputError(f"{place}: say which value: faults.{other}.{next(iter(kept))}")
        asked = chain[3:4] if chain[2] == ALL else chain[2:3]
        for name in asked:
            if name not in kept:
                raise UnknownName("value", name, kept, f"{place}: faults.{other}")
        others.add(other)
    return others


def _check_inside(outer: Fault, inner: Fault) -> None:
    if outer.on.open or inner.on.open:
        return
    if outer.shuts_out and inner.acts_on <= outer.acts_on:
        raise InputError(
            f"fault {inner.name} can never act: {outer.name}, which is further out, denies every "
            f"call of {', '.join(inner.on.patterns)}"
        )
    shared = inner.acts_on & outer.acts_on
    both = set(getattr(outer, "rename", {})) & set(getattr(inner, "rename", {}))
    if shared and both and outer.always and inner.always:
        raise InputError(
            f"faults {outer.name} and {inner.name} both rename {min(both)!r} of {min(shared)}"
        )


def ordered(faults: list[Fault]) -> list[Fault]:
    """Return faults outermost first: by priority, then as declared."""
    return sorted(faults, key=lambda f: -f.priority)
