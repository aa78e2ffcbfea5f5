"""Every fault kind on tools of every service (`client_harness list faults --matrix`), played by two
processes with different hash seeds.

Each process does half of the services, and both do one tool of each category, so that their results
can be compared. Every third tool is tried here, and all of them by `make prove`.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from types import ModuleType
from typing import Any

import anyio
import pytest
import yaml

from fault_profiles.matrix import Matrix, matrix
from fault_profiles.model import Fault, check_together, kinds, parse
from fault_profiles.sample import PROMISES
from servers.kit.call import Call, Next, Reply
from servers.kit.service import categories, of_category, services, tool
from servers.kit.yaml import Loader
from tests.commands import ROOT, command, process, refusal
from tests.support import new_session

every_kind = pytest.mark.parametrize("kind", list(kinds()))


def shared() -> list[str]:
    """Return one tool of each category: reads in some categories, writes in others."""
    tools = []
    for place, category in enumerate(categories()):
        *_, cls = of_category(category).values()
        effects = sorted({spec.effect for spec in cls.tools.values()})
        effect = effects[place % len(effects)]
        first = next(spec for spec in cls.tools.values() if spec.effect == effect)
        tools.append(f"{cls.name}.{first.name}")
    return tools


def tried(service: str) -> list[str]:
    """Return every third tool of a service, by name."""
    return [f"{service}.{name}" for name in sorted(services()[service].tools)[::3]]


def halves() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the matrices of two halves of all services.

    Each comes from its own process, which also does the shared tools.
    """
    split: tuple[list[str], list[str]] = ([], [])
    counts = [0, 0]
    for name, cls in sorted(services().items(), key=lambda s: -len(s[1].tools)):
        lighter = counts.index(min(counts))
        split[lighter].extend(tried(name))
        counts[lighter] += len(cls.tools)
    running = []
    for half, seed, zone in zip(split, "12", ("UTC", "Asia/Tokyo"), strict=True):
        command_line = ["list", "faults", "--matrix", "--json", "--on"]
        command_line.append(",".join([*half, *shared()]))
        running.append(process(*command_line, env={"PYTHONHASHSEED": seed, "TZ": zone}))
    first, second = (p.communicate(timeout=400) for p in running)
    assert not first[1] and not second[1], first[1] or second[1]
    return json.loads(first[0]), json.loads(second[0])


@pytest.mark.long
def test_every_kind_keeps_its_promises_on_tools_of_every_service() -> None:
    """This is a single test, so that no two workers play all cells."""
    one, two = halves()
    for name in shared():
        assert one["tools"][name] == two["tools"][name], f"{name}: two processes disagree"
    for kind, cls in kinds().items():
        rows = [half["kinds"][kind] for half in (one, two)]
        assert [row["problems"] for row in rows] == [{}, {}], kind
        fires = sum(row["fires"] for row in rows)
        quiet = sum(sum(row["reasons"].values()) for row in rows)
        tools = sum(row["tools"] for row in rows)
        assert fires > 0, kind
        assert fires + quiet == tools, kind
        every = handled(cls) & {*shared(), *itertools.chain(*map(tried, services()))}
        assert tools == len(every) + len(every & set(shared())), kind


def handled(kind: type[Fault]) -> set[str]:
    """Return the tools that a kind handles."""
    names = set()
    for service, cls in services().items():
        specs = [spec for spec in cls.tools.values() if spec.effect in kind.effects]
        names |= {f"{service}.{spec.name}" for spec in specs}
    return names


@every_kind
def test_a_kind_declares_known_promises_that_do_not_contradict_each_other(kind: str) -> None:
    cls = kinds()[kind]
    assert set(cls.promises) <= set(PROMISES)
    for either, other in (("unchanged", "committed"), ("honest", "altered")):
        assert not {either, other} <= set(cls.promises)
    says = cls.denies or cls.promises or "sample" in vars(cls)
    assert says, f"{kind}: it declares neither `denies` nor `promises` nor `sample`"


def test_matrix_and_on_are_refused_where_they_make_no_sense() -> None:
    assert "--matrix works with `list faults`" in refusal(command("list", "checks", "--matrix"))
    assert "--on only works with --matrix" in refusal(command("list", "faults", "--on", "venmo.*"))


# -- the matrix itself finds what is wrong -------------------------------------------------------
def play(kind: type[Fault], *names: str) -> Matrix:
    def begin(services: tuple[str, ...], faults: Any, watches: Any) -> Any:
        return new_session(*services, faults=faults, watches=watches)

    kinds()[kind.kind] = kind
    try:
        return anyio.run(matrix, begin, [tool(n) for n in names], [kind.kind])
    finally:
        del kinds()[kind.kind]


class _Broken(Fault):
    """A kind that breaks what it promises."""

    kind = "broken_for_test"
    promises = ("unchanged", "refused", "waits")

    async def act(self, call: Call, call_next: Next, acting: Any) -> Reply:
        return await call_next(call)


class _Denies(_Broken):
    kind = "denies_for_test"
    promises = ()
    denies = True


class _Sneaks(_Broken):
    kind = "sneaks_for_test"
    promises = ()

    async def act(self, call: Call, call_next: Next, acting: Any) -> Reply:
        reply = await call_next(call)
        call.world.stamp(call.now, "fault:someone")
        call.world.insert("venmo_contacts", {**call.world.rows("venmo_contacts")[0], "id": "x"})
        call.world.commit()
        return reply


class _Crashes(_Broken):
    kind = "crashes_for_test"

    async def act(self, call: Call, call_next: Next, acting: Any) -> Reply:
        raise KeyError("ours")


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (_Broken, {"promises unchanged", "promises refused", "promises waits"}),
        (_Denies, {"the call ran"}),
        (_Sneaks, {"rows changed by fault:someone"}),
        (_Crashes, {"KeyError"}),
    ],
)
def test_a_kind_that_breaks_a_promise_is_caught(kind: type[Fault], wrong: set[str]) -> None:
    (cell,) = play(kind, "venmo.send_money").cells
    assert cell.outcome == "broken"
    for part in wrong:
        assert any(part in p for p in cell.problems), cell.problems


# -- the page that teaches -----------------------------------------------------------------------
PAGE = (ROOT / "docs" / "writing-faults.md").read_text()


@pytest.mark.parametrize("block", re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
def test_the_declarations_on_the_page_load_together(block: str) -> None:
    check_together([parse(item) for item in yaml.load(block, Loader=Loader)])


def test_the_kind_that_the_page_adds_works_and_keeps_its_promises(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    module = ModuleType("taught")
    monkeypatch.setitem(sys.modules, "taught", module)  # annotations are looked up there
    exec(compile(code, "docs/writing-faults.md", "exec", dont_inherit=True), vars(module))
    classes = [value for value in vars(module).values() if isinstance(value, type)]
    subclasses = [cls for cls in classes if issubclass(cls, Fault)]
    subclasses.remove(Fault)
    (kind,) = subclasses
    played = play(kind, "venmo.list_transactions", "venmo.send_money", "venmo.get_balance")
    assert [cell.outcome for cell in played.cells[:2]] == ["fires", "fires"], played.cells
    assert played.by_kind()["cut_texts"]["problems"] == {}
