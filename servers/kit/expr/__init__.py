"""One small language for faults, checks, scripts and disclosure.

It has paths, expressions, predicates and operations, and cannot run general code.
"""

from servers.kit.expr.chains import chains, taken
from servers.kit.expr.evaluate import ExpressionError, fields, names, render
from servers.kit.expr.operation import OperationError
from servers.kit.expr.operations import apply, check_operations, heads, targets
from servers.kit.expr.paths import PathError, get
from servers.kit.expr.predicates import check_predicate, is_operators, matches

__all__ = [
    "ExpressionError",
    "OperationError",
    "PathError",
    "apply",
    "chains",
    "check_operations",
    "check_predicate",
    "fields",
    "get",
    "heads",
    "is_operators",
    "matches",
    "names",
    "render",
    "taken",
    "targets",
]
