"""How fault kinds are declared: examples load, mistakes are reported in one line, and profiles suit
any service.
"""

from __future__ import annotations

import inspect
from typing import Any

import anyio
import pytest
import yaml

from fault_profiles.model import Fault, kinds, ordered, parse
from fault_profiles.profiles import profile, profiles
from servers.kit.errors import InputError
from servers.kit.events import from_json
from servers.kit.selector import Selector
from servers.kit.service import Service, ToolSpec, categories, of_category
from servers.kit.session import Session
from servers.kit.yaml import Loader
from tests.support import new_session, sampled


@pytest.mark.parametrize("kind", kinds())
def test_the_example_of_a_kind_loads(kind: str) -> None:
    text = inspect.cleandoc(kinds()[kind].__doc__ or "")
    (item,) = yaml.load(text.split("Example:\n")[1], Loader=Loader)
    assert parse(item).kind == kind


ROW = {"table": "venmo_requests", "where": {}}
VENMO = {"on": "venmo.send_money"}
PART = {"on": "venmo.create_group_payment", "items": "participants"}


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"rewritten_arguments": VENMO | {"edit": []}}, "edit"),
        (
            {"rewritten_arguments": VENMO | {"edit": [{"set": {"amuont": 1}}]}},
            "unknown argument 'amuont'; did you mean 'amount'?",
        ),
        (
            {"fabricated_reply": VENMO | {"reply": {"amount": "${reply.amount}"}}},
            "nothing runs, so there is no reply",
        ),
        ({"fabricated_reply": VENMO}, "missing 'reply'"),
        ({"duplicate_delivery": {"on": "venmo.get_balance"}}, "duplicate_delivery acts on writes"),
        ({"duplicate_delivery": VENMO | {"times": 1}}, "times"),
        ({"partial_batch": PART}, "needs exactly one of `fails`"),
        (
            {"partial_batch": PART | {"items": "participant", "keep": 1}},
            "did you mean 'participants'",
        ),
        (
            {"partial_batch": PART | {"items": "description", "keep": 1}},
            "'description' is not a list",
        ),
        ({"partial_batch": PART | {"keep": 1, "as": "loud"}}, "as: "),
        ({"revert_after_write": VENMO | {"seconds": 5, "calls_later": 1}}, "at most one of"),
        (
            {"revert_after_write": VENMO | {"tables": ["venmo_transaction"]}},
            "did you mean 'venmo_transactions'",
        ),
        ({"credential_expired": {"on": ["venmo.*", "zelle.*"]}}, "declare one for each provider"),
        ({"credential_expired": {"on": "sign_in.sign_in"}}, "selects none"),
        ({"quota": VENMO | {"period": "week"}}, "period"),
        ({"api_sunset": VENMO | {"instead": "venmo.send_mony"}}, "did you mean 'venmo.send_money'"),
        ({"api_sunset": VENMO | {"instead": "venmo.send_money"}}, "would be gone as well"),
        ({"api_sunset": VENMO | {"date": "soon"}}, "must be an ISO-8601"),
        ({"maintenance_window": VENMO}, "needs `from` and `to`"),
        (
            {"maintenance_window": VENMO | {"from": "25:00", "to": "26:00"}},
            "a time of day is written like 22:30",
        ),
        (
            {"replica_disagreement": {"on": "venmo.get_balance", "lags": [0, 0]}},
            "copies that do not lag agree",
        ),
        ({"error_ladder": VENMO | {"steps": []}}, "steps"),
        (
            {"error_ladder": VENMO | {"steps": [{"met": {"note": {"contain": "x", "lt": 2}}}]}},
            "unknown operator 'contain'",
        ),
        (
            {"error_ladder": VENMO | {"steps": [{"met_by": {"seconds": 5}}]}},
            "met_by: must name a call",
        ),
        (
            {"wrong_value": VENMO | {"reply": [{"set": {"amount": "${record.amount}"}}]}},
            "unknown name 'record'",
        ),
        (
            {"wrong_value": VENMO | {"row": ROW | {"restore": True, "when": "copy"}}},
            "`when` must be after",
        ),
        (
            {
                "wrong_value": VENMO
                | {"row": ROW | {"edit": [{"zero": ["amount"]}], "when": "copy"}}
            },
            "only for reads",
        ),
        ({"schema_drift": VENMO}, "needs `rename`"),
    ],
)
def test_a_mistake_is_reported_in_one_line_that_says_what_is_right(
    item: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as wrong:
        parse(item)
    assert message in str(wrong.value)
    assert "\n" not in str(wrong.value)


# -- targets and profiles ------------------------------------------------------------------------
def test_a_target_can_leave_tools_out() -> None:
    some = Selector(["venmo.*", "not:venmo.get_*"])
    assert some.selects("venmo", "send_money")
    assert not some.selects("venmo", "get_balance")
    assert not some.selects("venmo", "get_balance", "read")
    assert some.selects("venmo", "send_money", "write")
    assert some.services == {"venmo"}
    with pytest.raises(InputError, match="excludes tools but selects none"):
        Selector("not:venmo.*")
    with pytest.raises(InputError, match="did you mean 'venmo'"):
        Selector(["*.*", "not:vemno.*"])


def some_tools(category: str) -> list[tuple[type[Service], ToolSpec]]:
    """Return two readings and two writes of each service of a category."""
    tools = []
    for cls in of_category(category).values():
        plain = [spec for spec in cls.tools.values() if not spec.setup]
        for effect in ("read", "write"):
            of_effect = [spec for spec in plain if spec.effect == effect]
            tools += [(cls, spec) for spec in of_effect[:2]]
    return tools


@pytest.mark.parametrize("name", sampled(2, {name: [name] for name in profiles()}))
def test_a_profile_suits_every_service_and_depends_on_the_seed(name: str) -> None:
    faults = ordered(profile(name).faults)
    assert not any(f.required for f in faults)
    one, again, other = (_plagued(faults, seed) for seed in (1, 1, 2))
    assert one == again
    fired_in_one = [_fired(line) for line in one]
    fired_in_other = [_fired(line) for line in other]
    by_chance = any(fault.probability is not None for fault in faults)
    assert (fired_in_one != fired_in_other) is by_chance
    names = set().union(*fired_in_one, *fired_in_other)
    assert len(names) > len(faults) / 2 or not faults


def _fired(line: str) -> list[str]:
    """Return the names of the faults that fired in an event of a trace."""
    return [firing.fault for firing in getattr(from_json(line), "firings", [])]


def _plagued(faults: list[Fault], seed: int) -> list[str]:
    """Make some example calls of each service twice under some faults and return the traces.

    Each category has an episode to itself.
    """
    trace = []
    for category in categories():
        some = some_tools(category)
        session = new_session(*of_category(category), seed=seed, faults=faults)

        async def run(
            session: Session = session, some: list[tuple[type[Service], ToolSpec]] = some
        ) -> None:
            for cls, spec in some * 2:
                await session.call(cls.name, spec.name, spec.example)

        anyio.run(run)
        assert session.bugs == []
        trace += session.control.trace()
        session.world.close()
    return trace
