"""Outlook: quick steps, several actions on a mail item in one call."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from servers.email import _rules as rules
from servers.email.outlook._model import EmailId
from servers.email.outlook.organising import Organising
from servers.kit.control import seeded
from servers.kit.service import Setup, reads, writes
from servers.kit.values import Cursor, Limit, page

_STEP = {
    "name": "File and read",
    "actions": [{"type": "mark_read"}, {"type": "move_to_folder", "params": {"folder": "archive"}}],
}
_MADE = (Setup("create_quick_step", _STEP, "made"),)


class Params(TypedDict, total=False):
    """What an action needs: `folder`, `category` or `to`."""

    folder: Annotated[str, Field(description="For move_to_folder: name of the folder.")]
    category: Annotated[str, Field(description="For categorize: name of the category.")]
    to: Annotated[list[str], Field(description="For forward_to: email addresses.")]


class _Typed(TypedDict):
    type: Annotated[
        Literal["move_to_folder", "mark_read", "flag", "categorize", "forward_to"],
        Field(description="What to do."),
    ]


class Action(_Typed, total=False):
    """One action of a quick step."""

    params: Annotated[
        Params, Field(description="What the action needs; nothing for mark_read and flag.")
    ]


_NEEDS = {"move_to_folder": "folder", "categorize": "category", "forward_to": "to"}

Actions = Annotated[
    list[Action],
    Field(min_length=1, max_length=10, description="Actions in the order in which they run."),
]
StepId = Annotated[str, Field(description="quick_step_id, as list_quick_steps gives it.")]


class QuickSteps(Organising):
    """Tools for macros. A step runs whole or not at all."""

    def _checked(self, action: Action, place: int) -> dict[str, Any]:
        kind = action["type"]
        params: dict[str, Any] = {**action.get("params", {})}
        wanted = _NEEDS.get(kind)
        if set(params) != ({wanted} if wanted else set()):
            needs = f"exactly the parameter {wanted!r}" if wanted else "no parameters"
            self.fail(
                "INVALID_QUICK_STEP",
                f"Action {place} ({kind}) takes {needs}.",
                "Example: {'type': 'flag'}.",
                action=place,
            )
        if kind == "move_to_folder":
            params["folder"] = self.folder(params["folder"])
        elif kind == "categorize":
            params["category"] = self.category_name(params["category"])
        elif kind == "forward_to":
            params["to"] = rules.complete(rules.drafted(params["to"], None, None, "check", None)).to
        return {"type": kind, "params": params}

    @writes(example=_STEP)
    def create_quick_step(
        self,
        name: Annotated[
            str,
            Field(
                min_length=1, max_length=80, description="A name of its own, e.g. 'File receipts'."
            ),
        ],
        actions: Actions,
    ) -> dict[str, Any]:
        """Save several actions under a name, to be run on mail items with run_quick_step. Types: move_to_folder (params: folder),
        mark_read, flag, categorize (params: category), forward_to (params: to).
        """
        rows = self.db.rows("outlook_quick_steps", "account=?", self.own)
        if any(r["name"].lower() == name.strip().lower() for r in rows):
            self.fail(
                "QUICK_STEP_EXISTS",
                f"There is already a quick step {name!r}.",
                "list_quick_steps shows all.",
            )
        checked = [self._checked(a, n) for n, a in enumerate(actions, 1)]
        row = {
            "id": self.new_id("oqs"),
            "account": self.own,
            "name": name.strip(),
            "actions": checked,
            "created_at": self.time,
        }
        self.db.insert("outlook_quick_steps", row)
        return {"quick_step_id": row["id"], "name": row["name"], "status": "created"}

    @reads()
    def list_quick_steps(
        self, max_results: Limit = 20, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """List quick steps by name with their actions."""
        rows = self.db.rows("outlook_quick_steps", "account=?", self.own, order="name, id")
        items = [
            {"quick_step_id": r["id"], "name": r["name"], "actions": r["actions"]} for r in rows
        ]
        return page(items, "quick_steps", max_results, cursor)

    def _step(self, quick_step_id: str) -> dict[str, Any]:
        row = self.db.get("outlook_quick_steps", quick_step_id)
        if row is None or row["account"] != self.own:
            self.fail(
                "QUICK_STEP_NOT_FOUND",
                f"The quick step {quick_step_id!r} was not found.",
                "list_quick_steps shows what there is.",
            )
        return row

    @writes(
        example={
            "quick_step_id": "${made.quick_step_id}",
            "email_id": seeded("oem", "chicago_agenda_1"),
        },
        setup=_MADE,
        destructive=True,
    )
    def run_quick_step(self, quick_step_id: StepId, email_id: EmailId) -> dict[str, Any]:
        """Run a quick step's actions on a mail item in order; if one fails, none takes effect. A forward cannot be taken back."""
        step = self._step(quick_step_id)
        performed = []
        for action in step["actions"]:
            kind = action["type"]
            params = action["params"]
            done: dict[str, Any] = {"type": kind}
            if kind == "move_to_folder":
                done["folder"] = self.move(email_id, params["folder"])["folder"]
            elif kind == "mark_read":
                self.mark(email_id, "read", True)
            elif kind == "flag":
                self.mark(email_id, "starred", True)
            elif kind == "categorize":
                done["categories"] = self.categorise(email_id, params["category"])
            else:
                original = self.item(email_id)
                done["forwarded_email_id"] = rules.post(
                    self, rules.forwarded(original, params["to"], None), original
                )["email_id"]
            performed.append(done)
        return {
            "quick_step_id": quick_step_id,
            "email_id": email_id,
            "actions_performed": performed,
            "status": "completed",
        }

    @writes(example={"quick_step_id": "${made.quick_step_id}"}, setup=_MADE, destructive=True)
    def delete_quick_step(self, quick_step_id: StepId) -> dict[str, Any]:
        """Delete a quick step for good."""
        self._step(quick_step_id)
        self.db.delete("outlook_quick_steps", quick_step_id)
        return {"quick_step_id": quick_step_id, "status": "deleted"}
