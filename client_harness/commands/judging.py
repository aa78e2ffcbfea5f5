"""The commands that measure readers, and with which trajectories for that are played."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from client_harness.commands import _print

Model = Annotated[
    str | None,
    typer.Option("--judge-model", help="A model that reads the texts, as litellm names it."),
]
ApiBase = Annotated[
    str | None,
    typer.Option("--judge-api-base", help="Base URL of the judge model's endpoint."),
]
Votes = Annotated[
    int | None,
    typer.Option(
        "--judge-votes", help="Ask the judge model so often, and take what most answers say."
    ),
]


def calibrate(
    judge_model: Model = None,
    judge_api_base: ApiBase = None,
    judge_votes: Votes = None,
    locked: Annotated[
        bool,
        typer.Option("--locked", help="Score the locked ones instead, which is logged."),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Score the locked ones once more.")
    ] = False,
    date: Annotated[
        str | None,
        typer.Option(help="The date for the log; by default that of the last commit."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of texts and trajectories; by default judge/calibration."),
    ] = None,
    mistakes: Annotated[
        bool, typer.Option("--mistakes", help="List each text and run that was judged wrongly.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Measure how well texts are read: by phrases, and by a model if one is named.

    Labelled texts are judged on the recorded runs that they belong to, honest trajectories are
    played anew, and the scripted user is asked questions. The figures are kept, and reports show
    them.

    \b
    Example: client_harness calibrate --judge-model openai/gpt-5 --mistakes
    """
    from client_harness.fingerprints import CALIBRATION
    from client_harness.judging.command import calibrated
    from client_harness.judging.model_reader import judge_model as named

    result = calibrated(
        data or CALIBRATION,
        named(judge_model, judge_api_base, judge_votes),
        locked=locked,
        force=force,
        date=date,
        mistakes=mistakes,
    )
    if json:
        _print.as_json(result)
    else:
        _show(result)


def play(
    file: Annotated[
        Path,
        typer.Argument(
            help="The trajectory, <scenario with / as __>__<number>.yaml; made if it is not there.",
            metavar="FILE",
        ),
    ],
    calls: Annotated[
        list[str] | None,
        typer.Argument(help="'service.tool {argument: value}'.", metavar="[CALL…]"),
    ] = None,
    say: Annotated[
        str | None, typer.Option(help="Then say this to the user.", metavar="TEXT")
    ] = None,
    tools: Annotated[
        str | None,
        typer.Option(
            help="List the tools: all, those of a service, or one with its schema.", metavar="NAME"
        ),
    ] = None,
) -> None:
    """Play a scenario by hand, one step a command, and see what an agent sees.

    The file keeps the steps, as an honest trajectory that calibrate replays. With neither a call
    nor a text, it shows the conversation from its beginning.

    \b
    Example: client_harness play trajectories/recovery__twin__old_timestamp__1.yaml --tools gmail
    """
    import anyio

    from client_harness.authoring.steps import parsed
    from client_harness.judging.by_hand import played
    from client_harness.judging.honest import Deed
    from servers.kit.declared import validated
    from servers.kit.errors import InputError

    if tools is not None and (calls or say is not None):
        raise InputError("--tools only lists them; leave calls and --say out")
    made = [Deed(call=step.call, args=step.args) for step in parsed(calls or [])]
    if say is not None:
        made.append(validated(Deed, {"say": say}, "--say"))
    for line in anyio.run(played, file, made, tools):
        print(line)


def _show(result: dict[str, Any]) -> None:
    part = "locked" if result["locked"] else "open"
    readers = result["readers"]
    noun = "scenario" if result["scenarios"] == 1 else "scenarios"
    print(f"{readers[0]['texts']} texts about {result['scenarios']} {part} {noun}")
    for what in result["left_out"]:
        print(f"The locked {what} were scored twice before, and are left out (see --force).")
    if result["trajectories"]:
        noun = "trajectory" if result["trajectories"] == 1 else "trajectories"
        print(f"{result['trajectories']} honest {noun}")
    labels = result["labellings"]
    if labels["pairs"]:
        print(
            f"The two labellings agree on {labels['raw']:.0%} of {labels['pairs']} pairs "
            f"(kappa {_number(labels['kappa'])})."
        )
    rows = [["", *(one["reader"] for one in readers)]]
    for title, path in _ROWS:
        rows.append([title, *(_cell(_at(one, path)) for one in readers)])
    for path in ("by_kind", "by_claim"):
        keys: set[str] = set()
        for one in readers:
            keys |= one[path].keys()
        for key in sorted(keys):
            cells = [_cell(_of(one[path].get(key))) for one in readers]
            if any(cell != "–" for cell in cells):
                rows.append([f"false caught, {key}", *cells])
    rows.append(["cost", *(_cost(one["cost"]) for one in readers)])
    print()
    _print.columns(rows)
    _show_user(result)
    for reader, listed in result.get("mistakes", {}).items():
        print(f"\nMistakes of {reader}")
        for one in listed:
            place = f"{one['run']}, turn {one['turn']}, " if "run" in one else ""
            print(f"  {one['scenario']} ({place}{one['kind']}): {' '.join(one['text'].split())}")
            print(f"    {one['reason'] or 'nothing was found wrong'}")


def _show_user(result: dict[str, Any]) -> None:
    user = result["user"]
    if not user["of"]:
        return
    print(f"\nThe scripted user understands {_cell(user)} questions:")
    rows = [[f"  asks {_SORTS[sort]}", _cell(one)] for sort, one in user["by_sort"].items()]
    _print.columns(rows)
    for one in result.get("misunderstood", []):
        wanted = " and ".join(one["expects"]) or "silence"
        print(f"  {one['scenario']}: {' '.join(one['text'].split())}")
        print(f"    should get {wanted}, gets {one['answered'] or 'silence'}")


_SORTS = {
    "foreseen": "what an answer foresees",
    "unforeseen": "what no answer foresees",
    "nothing": "nothing",
}
_ROWS = (
    ("honest accepted", ("honest",)),
    ("  of them unclear", ("unclear", "honest")),
    ("false caught", ("false",)),
    ("  of the others unclear", ("unclear", "false")),
    ("readings as labelled", ("stance",)),
    ("MCC", ("stance", "mcc")),
    ("  95% interval", ("stance", "mcc_interval")),
    ("right runs passed", ("trajectories", "right")),
    ("wrong runs failed", ("trajectories", "wrong")),
    ("honest trajectories accepted", ("honest_trajectories",)),
    ("  of them unclear", ("unclear", "honest_trajectories")),
    ("  cannot be replayed", ("honest_trajectories", "stuck")),
    ("abstained", ("cost", "abstain")),
    ("nonsense", ("cost", "nonsense")),
    ("unreachable", ("cost", "unreachable")),
    ("not decided by statements", ("undecided",)),
    ("honest ones that tell too little", ("untold",)),
    ("mails that no statement is about", ("unread",)),
    ("checks that broke down", ("broken_down",)),
)


def _at(figures: dict[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = figures
    for name in path:
        value = value[name]
    return value


def _of(entry: dict[str, Any] | None) -> Any:
    """Return the rate of false texts in an entry of `by_kind` or `by_claim`."""
    if entry is None:
        return None
    return entry.get("false", entry)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, list):
        return " to ".join(_number(edge) for edge in value)
    if not isinstance(value, dict):
        return _number(value)
    if not value["of"]:
        return "–"
    low, high = value["interval"]
    counts = f"{value['hits']}/{value['of']}"
    return f"{counts} {value['rate']:.0%} ({100 * low:.0f}–{100 * high:.0f})"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.2f}"


def _cost(cost: dict[str, Any]) -> str:
    parts = [f"{cost['seconds']:.1f} s"]
    if cost["questions"]:
        parts += [f"{cost['questions']} questions", f"{cost['tokens']} tokens"]
    if cost["dollars"]:
        parts.append(f"${cost['dollars']:.2f}")
    return ", ".join(parts)
