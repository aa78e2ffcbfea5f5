"""Generation of targets: stages, filters, the model's words, files, and the measured checker."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from client_harness.haystack import checker, generating, rewording
from client_harness.haystack.generating import Candidate, Request, Stage
from client_harness.haystack.rewording import Rewording
from scenarios.haystack import targets
from scenarios.haystack.generation import alignment, bank, filters, trying
from scenarios.haystack.targets import KINDS, Target
from scenarios.load import load, resolve
from servers.kit.service import tool
from tests.commands import ROOT, command, files, refusal
from tests.harness import fake_endpoint

REQUEST = Request(count=1, seed=5, people=("maya",), services=("venmo",))


def first(request: Request) -> Candidate:
    """The first candidate of a request that passes the filters."""
    asked = request.checked()
    stages = {name: Stage(name) for name in generating.STAGES}
    able = generating.chains(asked, stages["alignment"])
    return next(generating.filtered(asked, able, stages, None))


@pytest.fixture(scope="module")
def made() -> Candidate:
    """A candidate for Maya's Venmo."""
    return first(REQUEST)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one proven target."""
    home = tmp_path_factory.mktemp("woven") / "mine"
    wanted = ["--person", "maya", "--service", "venmo", "--kind", "missing_hard", "--seed", 5]
    done = command("weave", "--out", home, *wanted, "--jobs", 1, "--json")
    assert done.status == 0, done
    stages = {stage["stage"]: stage for stage in done.json["stages"]}
    assert list(stages) == list(generating.STAGES)
    assert stages["proof"]["kept"] == 1
    assert [one["person"] for one in done.json["targets"]] == ["maya"]
    return home


def test_alignment_binds_arguments_by_type_name_and_meaning() -> None:
    chains = {chain.tool: chain for chain in alignment.alignment().kept}
    paid = chains["venmo.send_money"]
    assert (paid.frame, chains["venmo.request_money"].frame) == ("owe", "owed")
    assert {slot: one.argument for slot, one in paid.sources.items()} == {
        "amount": "amount",
        "who": "contact_id",
        "note": "note",
    }
    giver = paid.sources["who"].giver
    assert giver is not None
    assert (giver.tool, giver.rows, giver.label) == ("venmo.list_friends", "friends", "name")
    alert = chains["fidelity.set_stock_alert"].sources
    assert (alert["price"].argument, alert["direction"].by) == ("threshold", "fixed")


def test_alignment_covers_many_tools_and_counts_the_others() -> None:
    aligned = alignment.alignment()
    assert len(aligned.kept) >= 25
    assert len({chain.service for chain in aligned.kept}) >= 15
    assert aligned.proposed == len(aligned.kept) + sum(aligned.dropped.values())
    for chain in aligned.kept:
        required = tool(chain.tool)[1].schema.get("required", [])
        assert set(required) <= {source.argument for source in chain.sources.values()}


@pytest.mark.parametrize("person", bank.voices())
def test_every_frame_has_words_for_everybody_and_every_errand_works(person: str) -> None:
    voice = bank.voice(person)
    for name, frame in bank.frames().items():
        assert person in frame.words, name
        assert frame.type in voice.rivals, name
    for errand in voice.errands:
        trying.steps(person, [{"call": errand.call, "args": errand.args}], {})


@pytest.mark.parametrize("frame", ["event", "mail", "town"])
def test_candidates_of_other_frames_are_targets_too(frame: str) -> None:
    services = {"event": "google_calendar", "mail": "outlook", "town": "yahoo_weather"}
    people = ("maya", "rafael")
    one = first(Request(seed=3, people=people, services=(services[frame],)))
    assert one.frame == frame
    target = Target.model_validate(one.raw)
    assert target.generated
    assert list(target.kinds) == list(KINDS)


def test_the_same_seed_gives_the_same_bytes_in_another_process(made: Candidate) -> None:
    code = (
        "from client_harness.haystack.generating import Request;"
        "from tests.harness.test_weave_generation import first;"
        f"print(first({REQUEST!r}).text, end='')"
    )
    other = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert other.stdout == made.text
    assert first(Request(1, 6, ("maya",), ("venmo",))).text != made.text


def test_filters_find_what_is_wrong(made: Candidate) -> None:
    assert filters.problems(made.raw, "maya") == []
    value = made.raw["pieces"]["amount"][0]["said"]

    def wrong(kind: str, change: Any) -> list[str]:
        raw = copy.deepcopy(made.raw)
        change(raw["kinds"][kind])
        return filters.problems(raw, "maya", next(one for one in KINDS if one == kind), (0,))

    def leak(telling: Any) -> None:
        telling["ask"][0] += f" It's {value}."

    def repeat(telling: Any) -> None:
        telling["needles"][0]["talk"].append({"user": f"So {value}, as I said."})

    def stray(telling: Any) -> None:
        telling["needles"][0]["talk"][0]["user"] = "Elephants swim ${amount.said} better."

    def mark(telling: Any) -> None:
        telling["ask"][1] += " {side}"

    assert "a value is leaked to the last message, or missing there" in wrong("missing_easy", leak)
    assert "a value is said where it should not be" in wrong("missing_hard", repeat)
    assert "a needle has no word in common with the last message" in wrong("recall_single", stray)
    assert wrong("recall_multi", mark) == ["a text is malformed"]


def test_filters_check_that_a_situation_leads_to_the_value(made: Candidate) -> None:
    raw = copy.deepcopy(made.raw)
    raw["pieces"]["amount"][0]["double"] = "$1.00"
    assert filters.problems(raw, "maya", "shift_implicit") == ["a situation leads to another value"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("I owe Ben [A] for the rope, still.", None),
        ("I owe Ben for the rope, still.", "a value is lost or doubled"),
        ("I owe Ben [A], no, [A] for the rope.", "a value is lost or doubled"),
        ("I owe Ben [A] for 2 ropes, still.", "a figure is new or lost"),
        ("I owe [A] for the rope to a friend, still.", "a name is lost"),
        ("I owe Ben and Priya [A] for the rope.", "a name is new"),
        ("Sure!\nI owe Ben [A] for the rope.", "not one message"),
        ("", "the same, or nothing"),
        ("Ben [A].", "much shorter or longer"),
    ],
)
def test_a_rewording_is_checked(answer: str, why: str | None) -> None:
    assert rewording.refused("For the rope I still owe Ben [A].", answer) == why


def test_a_model_rewords_and_the_banks_stand_in_for_it(made: Candidate) -> None:
    def polite(prompt: str) -> str:
        text = prompt.rpartition("Message: ")[2]
        return text.replace("Please", "Kindly").replace("Could you", "Would you")

    good = Rewording("polite", complete=polite)
    kinds = good.kinds(made.raw, "maya")
    counted = good.counted()
    assert counted["taken"] > 0
    assert not filters.problems({**made.raw, "kinds": kinds}, "maya")
    assert any("Kindly" in ask or "Would you" in ask for ask in kinds["recall_single"]["ask"])
    bad = Rewording("babbler", complete=lambda prompt: "I am a language model with 7 ideas.")
    assert bad.kinds(made.raw, "maya") == made.raw["kinds"]
    assert bad.counted()["badly"]
    lines = generating.remarks(
        generating.Generated([], {}, bad.counted()), Request(count=0, people=("maya",))
    )
    assert lines[-1] == "babbler words badly; most texts are those of the banks."


def test_a_model_is_asked_through_litellm_and_one_that_is_away_is_one_line() -> None:
    def answer(body: dict[str, Any], number: int) -> fake_endpoint.Step:
        text = body["messages"][0]["content"].rpartition("Message: ")[2]
        return fake_endpoint.say(text.replace("Please", "Kindly"))

    async def asked() -> str:
        async with fake_endpoint.playing(answer) as endpoint:
            model = Rewording("openai/scripted", endpoint.url)
            return await anyio.to_thread.run_sync(model.text, "Please pay Ben ${amount.said} now.")

    assert anyio.run(asked) == "Kindly pay Ben ${amount.said} now."
    away = Rewording("openai/away", "http://127.0.0.1:9/v1")
    with pytest.raises(generating.InputError, match="--model openai/away: the model does not"):
        away.text("Please pay Ben.")


def test_a_generated_target_is_a_file_that_check_list_and_run_take(folder: Path) -> None:
    (path,) = folder.glob("maya/*.yaml")
    assert yaml.safe_load(path.read_text())["generated"] is True
    found = resolve([str(folder)])
    assert found == [path / kind for kind in KINDS]
    made = load(found[-1])
    assert made.id == f"haystack/missing_hard/maya/{path.stem}"
    listed = command("list", "instances", "--targets", folder, "--json").json["instances"]
    assert [one["generated"] for one in listed] == [True] * 6
    out = folder.parent / "run"
    agents = ["--agent", "oracle", "--agent", "recall_guess"]
    done = command(
        "run", path / "recall_single", "--history", "sessions=3", *agents, "--out", out, "--json"
    )
    rates = {one["agent"]: one["base"]["passed"] for one in done.json["agents"]}
    assert rates == {"oracle": 1, "recall_guess": 0}


def test_an_instance_does_not_depend_on_the_folder(folder: Path, tmp_path: Path) -> None:
    (path,) = folder.glob("maya/*.yaml")
    copied = tmp_path / "maya" / path.name
    copied.parent.mkdir()
    copied.write_bytes(path.read_bytes())
    one = load(path / "recall_multi")
    other = load(copied / "recall_multi")
    assert one.history is not None and other.history is not None
    assert one.id == other.id
    assert one.history.replace(str(path), "") == other.history.replace(str(copied), "")


def test_bad_input_is_one_line_and_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "new"
    before = files(folder)
    wrong = {
        ("--count", "0"): "--count: expected at least 1, got 0",
        ("--person", "mia"): "unknown person 'mia'",
        ("--service", "venom"): "unknown service 'venom'",
        ("--service", "sign_in"): "no frame fits its tools",
        ("--api-base", "http://127.0.0.1:1"): "name it with --model",
    }
    for options, line in wrong.items():
        assert line in refusal(command("weave", "--out", out, *options))
    assert "--out FOLDER" in refusal(command("weave"))
    taken = tmp_path / "taken"
    taken.write_text("mine")
    assert "name a folder" in refusal(command("weave", "--out", taken))
    (path,) = folder.glob("maya/*.yaml")
    stray = tmp_path / "nobody" / path.name
    stray.parent.mkdir()
    stray.write_bytes(path.read_bytes())
    assert "named after its person" in refusal(command("check", stray))
    shipped = tmp_path / "maya" / "glaze_share.yaml"
    shipped.parent.mkdir()
    shipped.write_bytes(targets.index()["maya/glaze_share"].read_bytes())
    assert "a shipped target is called" in refusal(command("check", shipped))
    assert not out.exists()
    assert files(folder) == before


def test_a_target_that_exists_is_left_alone(made: Candidate, tmp_path: Path) -> None:
    (path,) = generating.write(tmp_path, [made])
    with pytest.raises(generating.InputError, match="exists already"):
        generating.write(tmp_path, [made])
    assert path.read_text() == made.text


def test_labels_are_compared_with_the_verdicts(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.yaml"
    labels = {"i01": "good", "i02": "bad", "i03": "bad", "i04": "good"}
    entries = [{"id": key, "label": label} for key, label in labels.items()]
    sheet.write_text(yaml.safe_dump(entries))
    verdicts = {"i01": "good", "i02": "bad", "i03": "good", "i04": "good"}
    known = {key: {"verdict": verdict} for key, verdict in verdicts.items()}
    sheet.with_suffix(".verdicts.json").write_text(json.dumps(known))
    found = command("weave", "--labels", sheet, "--json").json
    assert found["disagreed"] == ["i03"]
    assert (found["both_good"], found["both_bad"], found["missed"]) == (2, 1, 1)
    assert (found["mcc"], found["accuracy"]) == (0.577, 0.75)
    sheet.write_text("i01: perhaps")
    assert "it has to be good or bad" in refusal(command("weave", "--labels", sheet))


@pytest.mark.parametrize("error", checker.ERRORS, ids=lambda error: error.__name__)
def test_a_careless_error_changes_what_it_can(error: checker.Error, made: Candidate) -> None:
    changed = []
    for kind in KINDS:
        raw = copy.deepcopy(made.raw)
        if error(raw, kind, made.raw, checker.Random(1)):
            changed.append(raw != made.raw)
    assert changed and any(changed)
