"""Outlook: quick steps, which run several actions on a mail item in one call."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from servers.email import _delivery as delivery
from servers.email import _rules as rules
from servers.email.outlook._model import (
    EmailId,
    categorise,
    find_category,
    find_folder,
    find_item,
    move,
    set_flag,
)
from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page

_STEP = {
    "name": "File and read",
    "actions": [{"type": "mark_read"}, {"type": "move_to_folder", "params": {"folder": "archive"}}],
}
_MADE = (Setup("create_quick_step", _STEP, "made"),)


class Params(TypedDict, total=False):
    """The parameter of an action: `folder`, `category` or `to`."""

    folder: Annotated[str, Field(description="For move_to_folder: the name of the folder.")]
    category: Annotated[str, Field(description="For categorize: the name of the category.")]
    to: Annotated[list[str], Field(description="For forward_to: the email addresses.")]


class _Typed(TypedDict):
    type: Annotated[
        Literal["move_to_folder", "mark_read", "flag", "categorize", "forward_to"],
        Field(description="What to do."),
    ]


class Action(_Typed, total=False):
    """One action of a quick step."""

    params: Annotated[
        Params, Field(description="The parameters of the action; mark_read and flag have none.")
    ]


Actions = Annotated[
    list[Action],
    Field(min_length=1, max_length=10, description="The actions, in the order in which they run."),
]
StepId = Annotated[str, Field(description="quick_step_id, from list_quick_steps.")]
StepName = Annotated[
    str,
    Field(min_length=1, max_length=80, description="A unique name, e.g. 'File receipts'."),
]

_PARAMETER = {"move_to_folder": "folder", "categorize": "category", "forward_to": "to"}
"""The one parameter of each type of action that has one."""


class QuickSteps(Service):
    """Tools for macros. A quick step runs completely or not at all."""

    def _checked(self, action: Action, number: int) -> Json:
        """Return an action as it is stored, or refuse one that could not run."""
        kind = action["type"]
        params: dict[str, Any] = {**action.get("params", {})}
        parameter = _PARAMETER.get(kind)
        expected = {parameter} if parameter else set()
        if set(params) != expected:
            needs = f"exactly one parameter, {parameter!r}" if parameter else "no parameters"
            self.fail(
                "INVALID_QUICK_STEP",
                f"Action {number} ({kind}) takes {needs}.",
                "An example of an action is {'type': 'flag'}.",
                action=number,
            )
        if kind == "move_to_folder":
            params["folder"] = find_folder(self, params["folder"])
        elif kind == "categorize":
            params["category"] = find_category(self, params["category"])
        elif kind == "forward_to":
            params["to"] = rules.complete(rules.drafted(params["to"], None, None, "check", None)).to
        return {"type": kind, "params": params}

    @writes(example=_STEP)
    def create_quick_step(self, name: StepName, actions: Actions) -> Json:
        """Save several actions under a name, to run on mail items with run_quick_step.

        The types of action are move_to_folder (params: folder), mark_read, flag, categorize
        (params: category) and forward_to (params: to).
        """
        own = rules.own_address(self)
        rows = self.db.rows("outlook_quick_steps", "account=?", own)
        if name.strip().lower() in {row["name"].lower() for row in rows}:
            self.fail(
                "QUICK_STEP_EXISTS",
                f"There is already a quick step called {name!r}.",
                "Call list_quick_steps to see all quick steps.",
            )
        checked = [self._checked(action, number) for number, action in enumerate(actions, 1)]
        row = {
            "id": self.new_id("oqs"),
            "account": own,
            "name": name.strip(),
            "actions": checked,
            "created_at": self.time,
        }
        self.db.insert("outlook_quick_steps", row)
        return {"quick_step_id": row["id"], "name": row["name"], "status": "created"}

    @reads()
    def list_quick_steps(self, max_results: Limit = 20, cursor: Cursor | None = None) -> Json:
        """List quick steps and their actions, by name."""
        own = rules.own_address(self)
        rows = self.db.rows("outlook_quick_steps", "account=?", own, order="name, id")
        items = [
            {"quick_step_id": r["id"], "name": r["name"], "actions": r["actions"]} for r in rows
        ]
        return page(items, "quick_steps", max_results, cursor)

    def _find_step(self, quick_step_id: str) -> Row:
        row = self.db.get("outlook_quick_steps", quick_step_id)
        if row is None or row["account"] != rules.own_address(self):
            self.fail(
                "QUICK_STEP_NOT_FOUND",
                f"The quick step {quick_step_id!r} was not found.",
                "Call list_quick_steps to see all quick steps.",
            )
        return row

    def _perform(self, action: Row, email_id: str) -> Json:
        """Perform an action on a mail item and return its type and result."""
        kind = action["type"]
        params = action["params"]
        if kind == "move_to_folder":
            return {"type": kind, "folder": move(self, email_id, params["folder"])["folder"]}
        if kind == "categorize":
            return {"type": kind, "categories": categorise(self, email_id, params["category"])}
        if kind == "forward_to":
            original = find_item(self, email_id)
            forward = rules.forward_of(original, params["to"], None)
            reply = delivery.post(self, forward, original)
            return {"type": kind, "forwarded_email_id": reply["email_id"]}
        set_flag(self, email_id, "read" if kind == "mark_read" else "starred", True)
        return {"type": kind}

    @writes(
        example={
            "quick_step_id": "${made.quick_step_id}",
            "email_id": seeded("oem", "chicago_agenda_1"),
        },
        setup=_MADE,
        destructive=True,
    )
    def run_quick_step(self, quick_step_id: StepId, email_id: EmailId) -> Json:
        """Run a quick step's actions on a mail item, in order.

        If one of them fails, none takes effect. A forwarded message cannot be recalled.
        """
        step = self._find_step(quick_step_id)
        performed = [self._perform(action, email_id) for action in step["actions"]]
        return {
            "quick_step_id": quick_step_id,
            "email_id": email_id,
            "actions_performed": performed,
            "status": "completed",
        }

    @writes(example={"quick_step_id": "${made.quick_step_id}"}, setup=_MADE, destructive=True)
    def delete_quick_step(self, quick_step_id: StepId) -> Json:
        """Delete a quick step permanently."""
        self._find_step(quick_step_id)
        self.db.delete("outlook_quick_steps", quick_step_id)
        return {"quick_step_id": quick_step_id, "status": "deleted"}
