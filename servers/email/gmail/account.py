"""Gmail: templates, contacts, and signing in to another account."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.email import _delivery as delivery
from servers.email import _rules as rules
from servers.email._rules import Address, Addresses, Body, Subject
from servers.email.gmail._model import find_owned
from servers.kit.fields import PersonName
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json
from servers.kit.values import Cursor, Limit, page

_TEMPLATE = {"name": "Kiln thanks", "subject": "Thank you", "body": "Thank you for the firing!"}
_MADE = (Setup("create_template", _TEMPLATE, "made"),)

TemplateId = Annotated[str, Field(description="template_id, from list_templates.")]
TemplateName = Annotated[
    str, Field(min_length=1, max_length=80, description="A unique name, e.g. 'Late invoice'.")
]
Username = Annotated[
    str,
    Field(description="username or email_address of an account, from list_accounts."),
]


class Account(Service):
    """Tools for templates, contacts and accounts."""

    # -- templates ----------------------------------------------------------------------------
    @writes(example=_TEMPLATE)
    def create_template(self, name: TemplateName, subject: Subject, body: Body) -> Json:
        """Save a subject and body for reuse under a new name."""
        own = rules.own_address(self)
        rows = self.db.rows("gmail_templates", "account=?", own)
        if name.strip().lower() in {row["name"].lower() for row in rows}:
            self.fail(
                "TEMPLATE_EXISTS",
                f"There is already a template called {name!r}.",
                "Choose another name, or delete the old template with delete_template.",
            )
        row = {
            "id": self.new_id("gtp"),
            "account": own,
            "name": name.strip(),
            "subject": subject,
            "body": body,
        }
        self.db.insert("gmail_templates", row)
        return {"template_id": row["id"], "name": row["name"], "status": "created"}

    @reads()
    def list_templates(self, max_results: Limit = 20, cursor: Cursor | None = None) -> Json:
        """List the templates of the signed-in account, by name."""
        own = rules.own_address(self)
        rows = self.db.rows("gmail_templates", "account=?", own, order="name, id")
        items = [
            {"template_id": r["id"], "name": r["name"], "subject": r["subject"], "body": r["body"]}
            for r in rows
        ]
        return page(items, "templates", max_results, cursor)

    def _find_template(self, template_id: str) -> dict[str, Any]:
        return find_owned(
            self, "gmail_templates", template_id, "TEMPLATE_NOT_FOUND", "template", "list_templates"
        )

    @writes(example={"template_id": "${made.template_id}"}, setup=_MADE, destructive=True)
    def delete_template(self, template_id: TemplateId) -> Json:
        """Delete a template permanently."""
        self._find_template(template_id)
        self.db.delete("gmail_templates", template_id)
        return {"template_id": template_id, "status": "deleted"}

    @writes(
        example={"template_id": "${made.template_id}", "to": ["ana.ruiz@brightkiln.com"]},
        setup=_MADE,
        destructive=True,
    )
    def send_from_template(
        self,
        template_id: TemplateId,
        to: Addresses,
        cc: Addresses | None = None,
        bcc: Addresses | None = None,
    ) -> Json:
        """Send a template's subject and body, unchanged, to one or more recipients."""
        template = self._find_template(template_id)
        mail = rules.drafted(to, cc, bcc, template["subject"], template["body"])
        return delivery.post(self, rules.complete(mail))

    # -- contacts -----------------------------------------------------------------------------
    @writes(example={"name": "Jo Marsh", "email_address": "jo.marsh@fastmail.com"})
    def add_contact(self, name: PersonName, email_address: Address) -> Json:
        """Add someone to the contacts of the signed-in account, once per address."""
        bare = rules.address(email_address)
        own = rules.own_address(self)
        same = self.db.rows("gmail_contacts", "account=? AND email_address=?", own, bare)
        if same:
            self.fail(
                "CONTACT_EXISTS",
                f"{bare} is already saved as the contact {same[0]['name']}.",
                "Call list_contacts to see all contacts.",
            )
        row = {
            "id": self.new_id("gct"),
            "account": own,
            "name": name.strip(),
            "email_address": bare,
        }
        self.db.insert("gmail_contacts", row)
        return {"name": row["name"], "email_address": bare}

    @reads()
    def list_contacts(self, max_results: Limit = 50, cursor: Cursor | None = None) -> Json:
        """List the contacts of the signed-in account, by name."""
        own = rules.own_address(self)
        rows = self.db.rows("gmail_contacts", "account=?", own, order="name, email_address")
        items = [{"name": r["name"], "email_address": r["email_address"]} for r in rows]
        return page(items, "contacts", max_results, cursor)

    # -- accounts -----------------------------------------------------------------------------
    @writes(example={"username": "studio"}, idempotent=True)
    def switch_user(self, username: Username) -> Json:
        """Sign in to another of the user's accounts. All tools then work on that account."""
        return rules.sign_in(self, username, "list_accounts")
