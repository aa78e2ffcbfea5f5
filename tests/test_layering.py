"""The layout holds: who imports whom, who uses time and chance, and how long files are."""

from __future__ import annotations

import ast
import functools
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAY_IMPORT = {
    "servers": set(),
    "fault_profiles": {"servers"},
    "judge": {"servers"},
    "scenarios": {"servers", "fault_profiles", "judge"},
    "client_harness": {"servers", "fault_profiles", "judge", "scenarios"},
}
SIMULATED = ("servers", "fault_profiles", "judge", "scenarios")
FILES = sorted(itertools.chain(*((ROOT / package).rglob("*.py") for package in MAY_IMPORT)))
ADAPTERS = ROOT / "client_harness" / "adapters"
IN_OUR_PROCESS = [path for path in FILES if ADAPTERS not in path.parents[1:]]
"""All but the adapters' own files, which run in processes and environments of their own."""
TESTS = sorted((ROOT / "tests").rglob("*.py"))
FORBIDDEN = {
    "time.time", "time.monotonic", "time.perf_counter", "time.sleep",
    "datetime.now", "datetime.utcnow", "datetime.today", "date.today",
    "uuid.uuid1", "uuid.uuid4", "os.urandom", "secrets.token_hex",
    "random.random", "random.randint", "random.choice", "random.choices", "random.shuffle",
    "random.sample", "random.uniform", "random.gauss", "random.seed",
}  # fmt: skip
CONTAINERS = ("dict", "list", "set", "defaultdict", "deque", "Counter")
MUTABLE = (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def at(path: Path, line: int) -> str:
    return f"{name_of(path)}, line {line}"


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@functools.cache
def imported(path: Path) -> set[str]:
    """Return the full names of the modules that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}: relative import"
            names.add(node.module or "")
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def roots(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imported(path)}


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_follow_the_layout(package: str) -> None:
    for path in (ROOT / package).rglob("*.py"):
        wrong = (roots(path) & (set(MAY_IMPORT) | {"tests"})) - MAY_IMPORT[package] - {package}
        assert not wrong, f"{name_of(path)} must not import {', '.join(sorted(wrong))}"


def test_services_do_not_know_each_other_and_the_kit_knows_no_service() -> None:
    for path in (ROOT / "servers").rglob("*.py"):
        category = path.relative_to(ROOT / "servers").parts[0]
        for module in imported(path):
            owner = module.split(".")
            if owner[0] == "servers" and len(owner) > 1 and owner[1] != "kit":
                assert owner[1] == category, f"{name_of(path)} imports {module}"


@pytest.mark.parametrize(
    ("modules", "allowed"),
    [
        ({"mcp", "mcp_types"}, {"servers/kit/mcp.py"}),
        ({"uvicorn"}, {"servers/kit/app.py"}),
    ],
)
def test_a_protocol_library_is_imported_by_one_file_of_the_servers(
    modules: set[str], allowed: set[str]
) -> None:
    files = [path for path in FILES if path.is_relative_to(ROOT / "servers")]
    assert {name_of(path) for path in files if roots(path) & modules} <= allowed


def test_mcp_below_the_harness_is_the_servers_business_alone() -> None:
    between = [p for p in FILES if not name_of(p).startswith(("servers", "client_harness"))]
    assert not [name_of(path) for path in between if roots(path) & {"mcp", "mcp_types"}]


@pytest.mark.parametrize("library", ["litellm", "openai", "anthropic"])
def test_each_llm_library_is_imported_by_one_file_inside_a_function(library: str) -> None:
    importers = [path for path in IN_OUR_PROCESS if library in roots(path)]
    assert len(importers) <= 1, f"{library} is imported by {', '.join(map(name_of, importers))}"
    for path in importers:
        assert name_of(path).startswith("client_harness")
        for node in top_level(parsed(path)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert library not in ast.unparse(node), f"{name_of(path)} imports it at its top"


def top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield a module's statements, including those under a `try` or an `if`.

    Statements under `if TYPE_CHECKING` are left out.
    """
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop(0)
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) != "TYPE_CHECKING":
            waiting += node.body + node.orelse
        elif isinstance(node, ast.Try):
            waiting += node.body + node.orelse + node.finalbody


def test_no_file_outgrows_its_reader() -> None:
    sizes = {name_of(path): len(path.read_text().splitlines()) for path in [*FILES, *TESTS]}
    too_long = {name: lines for name, lines in sizes.items() if lines > 600}
    assert not too_long, f"files have at most 600 lines; split these by topic: {too_long}"


def test_no_state_lives_in_a_module() -> None:
    wrong = []
    for path in FILES:
        for node in top_level(parsed(path)):
            wrong += [
                f"{at(path, node.lineno)}: {name} is mutable; write a constant in capitals"
                for name in variables(node)
            ]
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Global):
                wrong.append(f"{at(path, node.lineno)}: global statement")
    assert not wrong, "\n".join(wrong)


def variables(node: ast.stmt) -> list[str]:
    """Return the names that a statement binds to a container, except names of constants."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return []
    built = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in CONTAINERS
    if not built and not isinstance(node.value, MUTABLE):
        return []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return [name for name in names if name not in ("__all__", name.upper())]


def test_time_ids_and_chance_come_from_the_episode() -> None:
    wrong = []
    for path in FILES:
        if not name_of(path).startswith(SIMULATED):
            continue
        for module in sorted(roots(path) & {"uuid", "secrets"}):
            wrong.append(f"{name_of(path)}: {module}")
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if ".".join(called.split(".")[-2:]) in FORBIDDEN:
                wrong.append(f"{at(path, node.lineno)}: {called}")
            if called == "hash":
                wrong.append(f"{at(path, node.lineno)}: hash() differs between processes")
            if called == "random.Random" and not node.args:
                wrong.append(f"{at(path, node.lineno)}: a generator without a seed")
    assert not wrong, "\n".join(wrong)


def test_layers_that_only_compute_import_no_slow_library() -> None:
    wrong = []
    for path in IN_OUR_PROCESS:
        slow = {"litellm", "ray", "inspect_ai", "mcp"}
        if name_of(path) == "servers/kit/mcp.py":
            slow.remove("mcp")
        for node in top_level(parsed(path)):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            if {name.partition(".")[0] for name in names} & slow:
                wrong.append(
                    f"{at(path, node.lineno)}: import it inside the function that needs it"
                )
    assert not wrong, "\n".join(wrong)


def test_every_service_package_loads_without_mcp_or_an_llm_library() -> None:
    code = (
        "import sys; from servers.kit.service import services; services(); "
        "import servers.kit.session; "
        "print(sorted({'mcp', 'mcp_types', 'litellm', 'uvicorn', 'starlette'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    printed = subprocess.check_output(command, cwd=ROOT, text=True, env=dict(os.environ))
    assert printed.strip() == "[]"
