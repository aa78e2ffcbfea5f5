"""Style that the linter cannot see: a statement does one thing, and nothing is dense."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.commands import ROOT
from tests.test_layering import FILES, TESTS, at, parsed

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
EVERYTHING = [*FILES, *TESTS, *sorted((ROOT / "benchmarks").glob("*.py"))]


Rule = Callable[[ast.AST], bool]
"""Returns whether a node breaks the rule."""


def broken(rule: Rule) -> list[str]:
    """Return each place where a rule is broken."""
    places = []
    for path in EVERYTHING:
        places += [at(path, line) for line in sorted(lines_that_break(path, rule))]
    return places


def lines_that_break(path: Path, rule: Rule) -> Iterator[int]:
    for node in ast.walk(parsed(path)):
        if rule(node):
            yield getattr(node, "lineno", 0)


def is_boolean(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    return isinstance(node, ast.Compare)


def packs(node: ast.AST) -> bool:
    """Whether a node assigns several values at once, of which none needs another's old value."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return False
    target = node.targets[0]
    if not isinstance(target, ast.Tuple):
        return False
    names = {ast.unparse(part) for part in target.elts}
    values = [part for part in ast.walk(node.value) if isinstance(part, ast.expr)]
    return not names & {ast.unparse(value) for value in values}


def adds_booleans(node: ast.AST) -> bool:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        return False
    return is_boolean(node.left) or is_boolean(node.right)


def is_dense(node: ast.AST) -> bool:
    """Whether a comprehension holds another one, or has several loops or conditions."""
    if not isinstance(node, COMPREHENSIONS):
        return False
    if len(node.generators) > 1:
        return True
    (loop,) = node.generators
    conditions = len(loop.ifs)
    for condition in loop.ifs:
        if isinstance(condition, ast.BoolOp):
            conditions += len(condition.values) - 1
    inner = [part for part in ast.walk(node) if isinstance(part, COMPREHENSIONS)]
    return conditions > 1 or len(inner) > 1


def test_values_are_packed_only_to_swap_them() -> None:
    assert not broken(packs)


def test_booleans_are_not_added() -> None:
    assert not broken(adds_booleans)


def test_comprehensions_are_simple() -> None:
    assert not broken(is_dense)


def test_the_rules_find_what_they_forbid() -> None:
    cases: dict[str, tuple[Rule, bool]] = {
        "a, b = 1, 2": (packs, True),
        "a, b = b, a": (packs, False),
        "a, b = pair": (packs, False),
        "n + (a == b)": (adds_booleans, True),
        "'s' * (n != 1)": (adds_booleans, True),
        "n + 1": (adds_booleans, False),
        "[x for y in z for x in y]": (is_dense, True),
        "[[x for x in y] for y in z]": (is_dense, True),
        "[x for x in y if x and x > 1]": (is_dense, True),
        "[x for x in y if x]": (is_dense, False),
    }
    for code, (rule, forbidden) in cases.items():
        assert any(rule(node) for node in ast.walk(ast.parse(code))) is forbidden, code
