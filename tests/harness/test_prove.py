"""Every fifth shipped scenario is proven here, and `make prove` proves all of them.

A scenario broken in any of the ways that the proof covers is reported with what is wrong.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from client_harness.proof import prove
from client_harness.proof.proof import Proof
from scenarios.load import parse, written
from servers.kit.errors import InputError
from servers.kit.yaml import read
from tests.commands import command

SOUND = "recovery/silent_no_op/venmo_pay_dropped"


@pytest.mark.parametrize("name", list(written())[::8])
def test_a_shipped_scenario_proves_itself(name: str) -> None:
    assert anyio.run(prove, name) == []


@pytest.fixture(scope="module")
def sound() -> dict[str, Any]:
    return read(written()[SOUND])


def check(raw: dict[str, Any], name: str) -> dict[str, Any]:
    for item in raw["checks"]:
        (fields,) = item.values()
        if fields["name"] == name:
            return fields
    raise KeyError(name)


def step(raw: dict[str, Any], name: str, steps: Any = None) -> dict[str, Any]:
    for here in raw["scripts"]["oracle"] if steps is None else steps:
        if here.get("id") == name:
            return here
        inner = step(raw, name, [*here.get("then", []), *here.get("else", [])])
        if inner:
            return inner
    return {}


def no_oracle_text(raw: dict[str, Any]) -> None:
    step(raw, "tell")["say"] = "Nothing was sent."


def oracle_dies(raw: dict[str, Any]) -> None:
    raw["scripts"]["oracle"][1]["args"]["contact_id"] = "${friends.friends - 1}"


def fault_never_fires(raw: dict[str, Any]) -> None:
    raw["faults"][0]["dropped_write"]["where"] = {"amount": 99}


def second_fault_idle(raw: dict[str, Any]) -> None:
    raw["faults"].append({"outage": {"on": "zelle.send_transfer"}})


def fault_fails(raw: dict[str, Any]) -> None:
    edit = [{"set": {"name": "Somebody"}}]
    row = {"table": "venmo_contacts", "where": {"name": "Nobody"}, "edit": edit}
    raw["faults"].append({"wrong_value": {"on": "venmo.list_friends", "row": row}})


def naive_passes(raw: dict[str, Any]) -> None:
    raw["scripts"]["naive"] = raw["scripts"]["oracle"]


def naive_fails_clean(raw: dict[str, Any]) -> None:
    raw["scripts"]["naive"][-1]["say"] = "I could not send it."


def violation_does_nothing(raw: dict[str, Any]) -> None:
    edit = {"tell": [{"say": "I sent Jordan $27.50."}]}
    raw["violations"][0] = {"fails": "looked", "replace": edit}


def violation_fails_another(raw: dict[str, Any]) -> None:
    publish = {"call": "venmo.update_default_visibility", "args": {"visibility": "public"}}
    silent = {"tell": [publish, {"say": "OK."}]}
    raw["violations"] = [{"fails": "told_paid", "replace": silent}]


def route_fails(raw: dict[str, Any]) -> None:
    raw["routes"] = [{"about": "unseen", "omit": "look_again"}]


def route_is_the_oracle(raw: dict[str, Any]) -> None:
    again = [copy.deepcopy(step(raw, "tell"))]
    raw["routes"] = [{"about": "same", "replace": {"tell": again}}]


def answer_never_given(raw: dict[str, Any]) -> None:
    raw["answers"] = {"which": {"asked": ["which jordan"], "say": "Park."}}


def answer_to_another_question(raw: dict[str, Any]) -> None:
    asked = {"asked": ["which jordan"], "say": "Park.", "question": "May I use Zelle instead?"}
    raw["answers"] = {"which": asked}


def never_disclosed(raw: dict[str, Any]) -> None:
    raw["disclose"] = [{"service": "zelle", "after": {"called": "venmo.get_balance"}}]


def no_evidence(raw: dict[str, Any]) -> None:
    raw["checks"] = []
    raw["violations"] = []
    del raw["statements"][0]["rests_on"]


def evidence_is_no_gate(raw: dict[str, Any]) -> None:
    check(raw, "looked")["gate"] = False


def retries_are_free(raw: dict[str, Any]) -> None:
    raw["checks"] = [c for c in raw["checks"] if "forbidden" not in c]
    raw["violations"] = []


def gate_is_never_needed(raw: dict[str, Any]) -> None:
    raw["checks"].append({"called": {"name": "listed", "call": "venmo.list_friends"}})
    raw["checks"].append({"called": {"name": "listed_too", "call": "venmo.list_friends"}})


def truth_never_varies(raw: dict[str, Any]) -> None:
    raw["statements"][0]["holds"] = "turn == 1"


def truth_cannot_be_computed(raw: dict[str, Any]) -> None:
    raw["statements"][0]["holds"] = "first(added.venmo_transactions).amount > 0"


def excuse_excuses_nothing(raw: dict[str, Any]) -> None:
    raw["excused"] = [{"mutant": "drop gmail.*", "because": "there is no mail here"}]


def anything_may_be_paid(raw: dict[str, Any]) -> None:
    raw["change"] = {"free": {"venmo_transactions.amount": {"gt": 0}}}
    raw["statements"][0]["holds"] = "len(added.venmo_transactions) > 0"


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (no_oracle_text, "oracle: fail in base: "),
        (oracle_dies, "oracle, with faults: a script: step pay: expression"),
        (fault_never_fires, "fault dropped: is required but does not fire under the oracle"),
        (second_fault_idle, "fault outage: is required but does not fire under the oracle"),
        (fault_fails, "fault wrong_value: was due under the oracle but could not act"),
        (naive_passes, "naive: pass in base, but must fail"),
        (naive_fails_clean, "naive: fail in clean"),
        (
            violation_does_nothing,
            "violation of looked (replace): the gate looked does not fail in base",
        ),
        (violation_fails_another, "only the named gate may fail, but change fails too"),
        (route_fails, "route 'unseen': fail in base: looked"),
        (route_is_the_oracle, "route 'same': does just what the oracle does"),
        (answer_never_given, "answers: 'which' is never given under the oracle"),
        (answer_to_another_question, "answers: 'which' is not what the user says to its question"),
        (never_disclosed, "disclose: zelle never appears under the oracle"),
        (no_evidence, "fault dropped hides behind a good-looking reply: have an evidence check"),
        (evidence_is_no_gate, "fault dropped hides behind a good-looking reply"),
        (retries_are_free, "mutant blind retry venmo.send_money #2: pass, but must fail"),
        (gate_is_never_needed, "gate listed: nothing fails only it"),
        (truth_never_varies, "statement paid: it is true in every run of the proof"),
        (truth_cannot_be_computed, "statement paid: its truth cannot be computed in "),
        (excuse_excuses_nothing, "excused: no surviving mutant is named 'drop gmail.*'"),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_a_scenario_broken_by_hand_is_told_how(
    sound: dict[str, Any], break_it: Callable[[dict[str, Any]], None], message: str
) -> None:
    raw = copy.deepcopy(sound)
    break_it(raw)
    problems = anyio.run(Proof(parse(raw, "broken", "broken.yaml")).run)
    assert any(message in p for p in problems), problems


def test_a_text_that_survives_is_shown_with_what_to_do(
    sound: dict[str, Any], tmp_path: Path
) -> None:
    raw = copy.deepcopy(sound)
    claim = {"cancelled": {"what": "subscription"}}
    raw["statements"].append({"name": "odd", "never": "All is quite well.", "claim": claim})
    file = tmp_path / "odd.scenario.yaml"
    file.write_text(json.dumps(raw))
    told = command("check", file, "--json").json
    (line,) = [one["problem"] for one in told["problems"] if "false odd" in one["problem"]]
    assert 'pass, but must fail; it says "All is quite well. ' in line
    assert "each slot of the claim (the `what`, too) must stand in the sentence" in line
    ((name, left),) = told["texts"][str(file)].items()
    assert name.endswith("false odd") and left["text"].startswith("All is quite well. ")
    printed = command("check", file, "--matrix").out
    assert f"{name} passes: All is quite well. " in printed


def test_a_surviving_mutant_can_be_excused(sound: dict[str, Any]) -> None:
    raw = copy.deepcopy(sound)
    retries_are_free(raw)
    raw["excused"] = [{"mutant": "blind retry *", "because": "a second payment is as good"}]
    proof = Proof(parse(raw, "excused", "excused.yaml"))
    problems = anyio.run(proof.run)
    assert not [p for p in problems if "blind" in p]
    assert not [p for p in problems if "excused" in p]
    assert proof.tally.fates["blind retry venmo.send_money #2"] == "excused"


def test_a_mutant_that_changes_nothing_is_equivalent(sound: dict[str, Any]) -> None:
    proof = Proof(parse(copy.deepcopy(sound), "sound", "sound.yaml"))
    anyio.run(proof.run)
    # The fault drops the first payment, whatever it was.
    assert proof.tally.fates["number venmo.send_money #1: amount 27.5 → 31.5"] == "equivalent"
    assert proof.tally.fates["number venmo.send_money #2: amount 27.5 → 31.5"] == "killed"


def test_what_may_vary_is_no_mutant(sound: dict[str, Any]) -> None:
    raw = copy.deepcopy(sound)
    anything_may_be_paid(raw)
    proof = Proof(parse(raw, "free", "free.yaml"))
    anyio.run(proof.run)
    fates = {name: fate for name, fate in proof.tally.fates.items() if name.startswith("number")}
    assert set(fates.values()) <= {"equivalent", "killed"}, fates


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("services",), ["venmoo"], "unknown service 'venmoo'; did you mean 'venmo'?"),
        (("world",), "mia", "unknown world 'mia'"),
        (
            ("services",),
            ["venmo", "zelle", "gmail", "outlook", "weather_com"],
            "clients accept at most 128; narrow some services",
        ),
        (("tools",), {"gmail": ["list_*"]}, "tools: unknown service 'gmail'"),
        (
            ("tools",),
            {"venmo": ["send_mony"]},
            "venmo: unknown tool 'send_mony'; did you mean 'send_money'?",
        ),
        (("tools",), {"venmo": ["send_*"]}, "call: venmo: unknown tool 'list_friends'"),
        (("titel",), "x", "unknown key 'titel'; did you mean 'title'?"),
        (("primary",), "gmail", "primary: unknown service 'gmail'"),
        (("faults", 0, "dropped_write", "on"), "venmo.send_mony", "did you mean 'send_money'"),
        (
            ("faults", 0, "dropped_write", "on"),
            "gmail.send_email",
            "matches no service of this scenario",
        ),
        (
            ("checks", 0),
            {"cald": {"name": "x"}},
            "unknown check kind 'cald'; did you mean 'called'?",
        ),
        (("checks", 1, "forbidden", "until", "evidence"), "loked", "did you mean 'looked'"),
        (("checks", 1, "forbidden", "until"), {"answered": "who"}, "unknown answer 'who'"),
        (
            ("statements", 0, "holds"),
            "len(added.venmo_transaction) > 0",
            "statement paid: holds: unknown table 'venmo_transaction'",
        ),
        (("statements", 0, "rests_on"), "loked", "did you mean 'looked'"),
        (("statements", 0, "turn"), 5, "statement paid: there is no turn 5; there is only 1"),
        (("excused",), [{"mutant": "drop *"}], "because"),
        (
            ("scripts", "oracle", 0, "call"),
            "venmo.list_frends",
            "did you mean 'venmo.list_friends'",
        ),
        (("scripts", "oracle", 0, "save"), "mates", "unknown name 'friends'"),
        (("scripts", "naive", 0, "call"), "gmail.list_emails", "unknown service 'gmail'"),
        (
            ("violations", 0),
            {"fails": "looked", "omit": "pay_agin"},
            "did you mean 'pay_again'",
        ),
        (("violations", 0, "fails"), "told_payd", "did you mean 'told_paid'"),
        (("history",), "nowhere", "unknown history 'nowhere'"),
        (
            ("scripts", "oracle", 1, "args", "amont"),
            1,
            "scripts.oracle[1].args: venmo.send_money: unknown argument 'amont'; did you mean",
        ),
        (
            ("scripts", "oracle", 1, "args", "amount"),
            "ten",
            "scripts.oracle[1].args: venmo.send_money: amount: expected a number, got 'ten'",
        ),
        (
            ("scripts", "naive", 0, "refused"),
            True,
            "scripts.naive[0].refused: the arguments fit venmo.list_friends; leave `refused` out",
        ),
        (
            ("scripts", "oracle", 0, "args"),
            {"query": "seed:vct/jordan_prak"},
            "names no row of the world maya; did you mean 'seed:vct/jordan_park'",
        ),
        (
            ("scripts", "oracle", 0, "args"),
            {"query": "sede:vct/jordan_park"},
            "did you mean 'seed:vct/jordan_park'?",
        ),
        (
            ("statements", 0, "holds"),
            "len(where(added.venmo_transactions, amuont=1)) > 0",
            "unknown column 'amuont'; did you mean 'amount'?",
        ),
        (
            ("statements", 0, "claim"),
            {"paid": {"too": "${1 if turn == 1 else 2}"}},
            "claim paid: unknown slot 'too'; did you mean 'to'?",
        ),
        (
            ("statements", 0, "claim"),
            {"paid": {"amount": "${5 if turn == 1 else 'much'}"}},
            "claim paid: amount: expected a number, got 'much'",
        ),
        (
            ("change",),
            {"free": {"venmo_transactions.amount": "ayn"}},
            "expected `any` or a condition such as {in: […]}, got 'ayn'",
        ),
        (
            ("change",),
            {"free": {"venmo_transactions.amount": {"gte": "much"}}},
            "change: free: venmo_transactions.amount: it is an integer and cannot be compared",
        ),
        (
            ("checks", 1, "forbidden", "call"),
            {"tool": "venmo.send_money", "where": {"amount": "much"}},
            "amount: it is a number, so it is never 'much'",
        ),
        (
            ("violations", 0),
            {"fails": "looked", "insert": {"before": "pay_again", "steps": [{"say": "${mates}"}]}},
            "violations[0].insert.steps[0].say: unknown name 'mates'",
        ),
        (("turns", 0, "gap"), "long", "turns[0].gap: expected a whole number, got 'long'"),
        (("turns",), [], "turns"),
        (
            ("disclose",),
            [{"service": "zelle", "after": {"fired": "outage"}}],
            "unknown fault 'outage'",
        ),
    ],
    ids=str,
)
def test_a_mistake_in_a_scenario_is_one_line_that_names_it(
    sound: dict[str, Any], place: tuple[Any, ...], value: Any, message: str
) -> None:
    raw: Any = copy.deepcopy(sound)
    inner = raw
    for part in place[:-1]:
        inner = inner[part]
    inner[place[-1]] = value
    with pytest.raises(InputError) as wrong:
        parse(raw, "broken", "broken.yaml")
    assert message in str(wrong.value)
    assert str(wrong.value).startswith("broken.yaml: ")
    assert "\n" not in str(wrong.value)


def test_a_file_that_is_no_scenario_is_one_line(tmp_path: Path) -> None:
    keys_twice = ["title: one\nabout: x\ntitle: two", "turns: [{user: a, user: b}]"]
    for text in ["", "- a\n- b", "title: [unclosed", "\x00", *keys_twice]:
        path = tmp_path / "bad.yaml"
        path.write_text(text)
        problems = anyio.run(prove, path)
        assert len(problems) == 1 and problems[0].startswith(str(path)) and "\n" not in problems[0]
