"""The matcher gives what trying all assignments gives, in a fraction of the time."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from judge.graph import Matcher, Node, Score
from servers.kit.errors import InputError


@dataclass(frozen=True)
class Call:
    """A call of a random run."""

    step: int
    fits: tuple[str, ...]
    holds: tuple[str, ...]
    free: bool


def random_run(seed: int) -> tuple[list[Node], list[Call], list[str]]:
    """Return a random graph of up to seven nodes, a run over it, and what is known before."""
    chance = random.Random(seed)
    nodes: list[Node] = []
    for number in range(chance.randint(1, 7)):
        before = [node.name for node in nodes]
        needs = chance.sample(before, min(len(before), chance.choice([0, 0, 1, 1, 2])))
        lookup = chance.random() < 0.25
        nodes.append(Node(f"n{number}", tuple(needs), lookup, chance.random() < 0.2))
    acts = [node.name for node in nodes if not node.lookup]
    lookups = [node.name for node in nodes if node.lookup]
    calls = []
    step = 1
    for _ in range(chance.randint(0, 7)):
        step += chance.choice([0, 1, 1])
        fits = chance.sample(acts, min(len(acts), chance.choice([0, 1, 1, 2, 3])))
        holds = [name for name in lookups if chance.random() < 0.3]
        calls.append(Call(step, tuple(fits), tuple(holds), chance.random() < 0.1))
    known = [name for name in lookups if chance.random() < 0.2]
    return nodes, calls, known


def played(nodes: list[Node], calls: list[Call], known: list[str]) -> Score:
    matcher = Matcher(nodes, known)
    for number, call in enumerate(calls):
        matcher.take(number, call.step, call.fits, call.holds, free=call.free)
    return matcher.score()


# -- the reference, which tries everything --------------------------------------------------------
def out_at(nodes: list[Node], calls: list[Call], known: list[str]) -> dict[str, int]:
    """Return node → the first step in which a reply that serves it came back."""
    moments = dict.fromkeys(known, 0)
    for node in nodes:  # needs stand before the nodes that need them
        for call in calls:
            if node.name in moments:
                break
            if node.name in call.holds or (node.name in call.fits and ready(node, call, moments)):
                moments[node.name] = call.step
    return moments


def ready(node: Node, call: Call, moments: dict[str, int]) -> bool:
    return all(moments.get(need, 99) < call.step for need in node.needs)


def assignments(edges: list[tuple[str, ...]]) -> Iterator[list[str]]:
    """Yield every list of nodes that calls can stand for, each node at most once."""
    for chosen in itertools.product(*((*names, None) for names in edges)):
        taken = [name for name in chosen if name is not None]
        if len(taken) == len(set(taken)):
            yield taken


def covers(edges: list[tuple[str, ...]]) -> bool:
    """Whether every call can stand for a node of its own."""
    return any(len(taken) == len(edges) for taken in assignments(edges))


def longest_chain(nodes: list[Node], known: list[str]) -> int:
    lengths: dict[str, int] = {}
    for node in nodes:
        before = max((lengths[need] for need in node.needs), default=0)
        lengths[node.name] = before + int(node.name not in known and not node.optional)
    required = [lengths[node.name] for node in nodes if not node.optional]
    return max(required, default=0)


def compare(seed: int) -> None:
    nodes, calls, known = random_run(seed)
    score = played(nodes, calls, known)
    moments = out_at(nodes, calls, known)
    by_name = {node.name: node for node in nodes}
    optional = {node.name for node in nodes if node.optional}
    in_time = []
    for call in calls:
        in_time.append(tuple(n for n in call.fits if ready(by_name[n], call, moments)))
    looked_up = {node.name for node in nodes if node.lookup} & moments.keys()
    most = max(len(taken) for taken in assignments(in_time))
    most_required = max(len(set(taken) - optional) for taken in assignments(in_time))
    assert len(score.met - looked_up) == most
    assert len(score.met - looked_up - optional) == most_required
    assert looked_up <= score.met
    fitting = [call.fits for call in calls]
    assert score.early == max(len(taken) for taken in assignments(fitting)) - most

    with_place: list[tuple[str, ...]] = []
    needless = []
    seen = set(known)
    for number, call in enumerate(calls):
        new = set(call.holds) - seen
        seen |= new
        if covers([*with_place, call.fits]):
            with_place.append(call.fits)
        elif not new and not call.free:
            needless.append(number)
    assert list(score.needless) == needless
    assert set(score.missing) == {node.name for node in nodes} - optional - score.met
    assert score.longest == longest_chain(nodes, known)


@pytest.mark.parametrize("block", range(10))
def test_ten_thousand_random_graphs_agree_with_trying_everything(block: int) -> None:
    for seed in range(block * 1000, (block + 1) * 1000):
        compare(seed)


# -- what the figures mean ------------------------------------------------------------------------
MIXED = [
    Node("find", lookup=True),
    Node("weather"),
    Node("book", ("find",)),
    Node("pay", ("book",)),
    Node("tell", ("book", "weather")),
]


def test_any_order_that_the_needs_allow_is_optimal() -> None:
    score = played(
        MIXED,
        [
            Call(1, ("weather",), (), False),
            Call(1, (), ("find",), False),
            Call(2, ("book",), (), False),
            Call(3, ("tell",), (), False),
            Call(3, ("pay",), (), False),
        ],
        [],
    )
    assert score.optimal and score.steps == score.longest == 3


def test_one_call_after_the_other_is_complete_but_not_optimal() -> None:
    order = ["weather", "", "book", "pay", "tell"]
    calls = []
    for step, name in enumerate(order, 1):
        calls.append(Call(step, (name,) if name else (), () if name else ("find",), False))
    score = played(MIXED, calls, [])
    assert score.complete and not score.optimal and score.steps == 5


def test_a_call_whose_inputs_were_not_out_is_too_early() -> None:
    score = played(MIXED, [Call(1, (), ("find",), False), Call(1, ("book",), (), False)], [])
    assert (score.early, score.needless) == (1, ())
    assert "book" in score.missing


def test_alike_calls_in_any_order_serve_alike_nodes() -> None:
    nodes = [Node("any_note"), Node("note_for_ana")]
    to_ana = Call(1, ("any_note", "note_for_ana"), (), False)
    to_ben = Call(2, ("any_note",), (), False)
    assert played(nodes, [to_ana, to_ben], []).complete
    swapped = [Call(1, to_ben.fits, (), False), Call(2, to_ana.fits, (), False)]
    assert played(nodes, swapped, []).complete


def test_what_was_known_before_needs_no_call_and_asking_again_is_needless() -> None:
    nodes = [Node("find", lookup=True), Node("book", ("find",))]
    known = ["find"]
    assert played(nodes, [Call(1, ("book",), (), False)], known).optimal
    again = [Call(1, (), ("find",), False), Call(2, ("book",), (), False)]
    score = played(nodes, again, known)
    assert score.complete and not score.optimal
    assert score.needless == score.repeated == (0,)


def test_a_read_back_is_neither_needless_nor_a_step() -> None:
    calls = [Call(1, ("book",), (), False), Call(2, (), (), True)]
    score = played([Node("book")], calls, [])
    assert score.optimal and score.steps == 1


def test_what_is_optional_may_be_done_or_left() -> None:
    nodes = [Node("book"), Node("thank", ("book",), optional=True)]
    booked = Call(1, ("book",), (), False)
    assert played(nodes, [booked], []).optimal
    assert played(nodes, [booked, Call(2, ("thank",), (), False)], []).optimal


def test_a_circle_and_a_need_that_is_no_node_are_refused() -> None:
    with pytest.raises(InputError, match="need each other"):
        Matcher([Node("a", ("b",)), Node("b", ("c",)), Node("c", ("a",))])
    with pytest.raises(InputError, match="unknown node 'finb'; did you mean 'find'"):
        Matcher([Node("find"), Node("book", ("finb",))])
    with pytest.raises(InputError, match="two nodes are called 'a'"):
        Matcher([Node("a"), Node("a")])


def test_wide_and_deep_graphs_need_no_listing_of_paths() -> None:
    wide = [Node(f"n{number}") for number in range(20)]
    everything = tuple(node.name for node in wide)
    assert played(wide, [Call(1, everything, (), False)] * 20, []).optimal
    layers = []
    for number in range(40):
        before = tuple(f"n{other}" for other in range(number // 4 * 4 - 4, number // 4 * 4))
        layers.append(Node(f"n{number}", before if number >= 4 else ()))
    calls = [Call(number // 4, (f"n{number}",), (), False) for number in range(40)]
    score = played(layers, calls, [])
    assert score.optimal and score.steps == 10
