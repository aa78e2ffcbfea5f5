"""Matches calls to the nodes of a graph as they come in, without listing any paths.

A node is *out* once a reply to a call that fits it has come back, so that nodes which need it may
follow. A call may stand for one node; which of several it stands for is decided late, by a maximum
matching that grows along augmenting paths (Kuhn 1955), so the order in which alike calls are made
does not matter. A lookup is met by any reply that holds its value, and one reply may meet several.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from servers.kit.errors import InputError, UnknownName


@dataclass(frozen=True)
class Node:
    """A needed call: its name and the names of the nodes whose replies it needs.

    A `lookup` is there for a value, and any reply that holds the value will do. What is `optional`
    may be done or left.
    """

    name: str
    needs: tuple[str, ...] = ()
    lookup: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Score:
    """How far a run came.

    `met` are nodes that were accomplished once their inputs were out. `early` is how many more were
    reached only by calls that came before their inputs, which were guessed. `needless` are calls
    (their numbers) for which no node was left, the later of two that did the same; `repeated` are
    those of them that fit a node or answer a lookup all the same. `steps` counts steps with a call
    that was neither free nor only for an optional node; `longest` is the longest chain of required
    nodes that were not known at the start, and `required` how many of these there are.
    """

    met: frozenset[str]
    missing: tuple[str, ...]
    early: int
    needless: tuple[int, ...]
    repeated: tuple[int, ...]
    steps: int
    longest: int
    required: int

    @property
    def complete(self) -> bool:
        """Whether every required node was accomplished."""
        return not self.missing

    @property
    def optimal(self) -> bool:
        """Whether nothing is missing or needless, in as few steps as can be."""
        return self.complete and not self.needless and self.steps <= self.longest


@dataclass
class _Call:
    number: int
    step: int
    fits: list[str]
    useful: bool
    known: bool
    free: bool


@dataclass
class _Matching:
    """Which call stands for which node; both sides only ever gain members."""

    call_of: dict[str, int] = field(default_factory=dict)
    node_of: dict[int, str] = field(default_factory=dict)

    def add(self, call: int, edges: Mapping[int, Sequence[str]], open_to: Collection[str]) -> bool:
        """Let a call stand for a node, which may move other calls to other nodes.

        Only nodes of `open_to` may be gained. Returns whether there was a place for the call.
        """
        came_from: dict[str, int] = {}
        waiting = deque([call])
        while waiting:
            asking = waiting.popleft()
            for node in edges[asking]:
                if node in came_from:
                    continue
                came_from[node] = asking
                holder = self.call_of.get(node)
                if holder is not None:
                    waiting.append(holder)
                elif node in open_to:
                    self._shift(node, came_from)
                    return True
        return False

    def _shift(self, node: str, came_from: Mapping[str, int]) -> None:
        gained: str | None = node
        while gained is not None:
            call = came_from[gained]
            left = self.node_of.get(call)
            self.node_of[call] = gained
            self.call_of[gained] = call
            gained = left


class Matcher:
    """Takes the calls of a turn one after another.

    `known` are lookups whose values were out before the turn. Raises `InputError` for a graph with
    a cycle, and `UnknownName` for a need that is no node.
    """

    def __init__(self, nodes: Iterable[Node], known: Collection[str] = ()) -> None:
        self.nodes: dict[str, Node] = {}
        for node in nodes:
            if node.name in self.nodes:
                raise InputError(f"graph: two nodes are called {node.name!r}")
            self.nodes[node.name] = node
        self._known = frozenset(known)
        self._depths = _depths(self.nodes, self._known)
        self._required = {name for name, node in self.nodes.items() if not node.optional}
        self._out: dict[str, int] = {}
        self._calls: list[_Call] = []
        self._matching = _Matching()
        self._edges: dict[int, list[str]] = {}

    @property
    def met(self) -> frozenset[str]:
        """The nodes that have been accomplished so far."""
        found = [name for name in self._out if self.nodes[name].lookup]
        return self._known | self._matching.call_of.keys() | frozenset(found)

    def take(
        self,
        number: int,
        step: int,
        fits: Iterable[str] = (),
        holds: Iterable[str] = (),
        *,
        free: bool = False,
    ) -> None:
        """Take a call: its number, its step, the nodes that it fits and the lookups it answers.

        Steps never fall from call to call; calls of one step do not know each other's replies. A
        `free` call (a read after a write) is never needless and takes no step.
        """
        if self._calls and step < self._calls[-1].step:
            raise ValueError("steps never fall")
        named = list(dict.fromkeys(fits))
        eligible = [name for name in named if self._inputs_out(name, step)]
        answered = [name for name in holds if name not in self._known]
        new = [name for name in answered if name not in self._out]
        known = len(answered) > len(new) or any(name in self._known for name in holds)
        call = _Call(number, step, named, bool(new), known, free)
        for name in (*eligible, *new):
            self._out.setdefault(name, step)
        self._calls.append(call)
        place = len(self._calls) - 1
        self._edges[place] = eligible
        if not self._matching.add(place, self._edges, self._required):
            self._matching.add(place, self._edges, self.nodes)

    def _inputs_out(self, name: str, step: int) -> bool:
        for need in self.nodes[name].needs:
            if need not in self._known and self._out.get(need, step) >= step:
                return False
        return True

    def score(self) -> Score:
        """Return how far the calls so far have come."""
        reached = _Matching()
        fitting = {place: call.fits for place, call in enumerate(self._calls)}
        needless = []
        repeated = []
        steps = set()
        for place, call in enumerate(self._calls):
            has_place = reached.add(place, fitting, self.nodes)
            if call.free and not call.useful and not has_place:
                continue
            if call.useful or not has_place or not self._only_optional(call):
                steps.add(call.step)
            if not call.useful and not has_place:
                needless.append(call.number)
                if call.fits or call.known:
                    repeated.append(call.number)
        met = self.met
        return Score(
            met=met,
            missing=tuple(name for name in self.nodes if name in self._required - met),
            early=len(reached.call_of) - len(self._matching.call_of),
            needless=tuple(needless),
            repeated=tuple(repeated),
            steps=len(steps),
            longest=max((self._depths[name] for name in self._required), default=0),
            required=len(self._required - self._known),
        )

    def _only_optional(self, call: _Call) -> bool:
        return self._required.isdisjoint(call.fits)


def _depths(nodes: Mapping[str, Node], known: Collection[str]) -> dict[str, int]:
    """Return for each node how many required nodes its longest chain has, itself included.

    What is known adds nothing.
    """
    depths: dict[str, int] = {}
    opened: set[str] = set()
    for name in nodes:
        stack = [name]
        while stack:
            current = stack[-1]
            unseen = []
            for need in nodes[current].needs:
                if need not in nodes:
                    raise UnknownName("node", need, nodes, f"graph, {current}.needs")
                if need not in depths:
                    unseen.append(need)
            again = [need for need in unseen if need in opened]
            if again:
                raise InputError(f"graph: {current} and {again[0]} need each other")
            opened.add(current)
            if unseen:
                stack += unseen
                continue
            stack.pop()
            opened.discard(current)
            before = max((depths[need] for need in nodes[current].needs), default=0)
            free = current in known or nodes[current].optional
            depths[current] = before if free else before + 1
    return depths
