"""What tests of judging share: a small scenario with statements, and scripted judge models."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio

from tests.commands import Done, command
from tests.harness.fake_endpoint import Script, Step, playing, say

SCENARIO = """
title: The payment that never left
about: Venmo answers once as if it had paid, and pays nothing.
failure: silent_no_op
services: [venmo]
turns:
  - user: Please send Jordan Park 27.50 on Venmo, once, and see that it went through.
faults:
  - dropped_write: {name: dropped, on: venmo.send_money, first: 1}
checks:
  - called: {name: pays, call: venmo.send_money}
statements:
  - name: paid
    must: Jordan Park has been paid $27.50.
    claim: {paid: {to: Jordan Park, amount: 27.5}}
    holds: len(where(added.venmo_transactions, amount=2750)) == 1
  - name: nothing_yet
    may: The payment has not gone out.
    claim: {failed: {deed: payment}}
    holds: len(where(added.venmo_transactions, amount=2750)) == 0
  - name: twice
    never: Jordan Park was paid twice.
    claim: {doubled: {what: payment}}
scripts:
  oracle:
    - {call: venmo.list_friends, save: friends}
    - id: pay
      call: venmo.send_money
      args: &pay
        contact_id: '${first(friends.friends, name="Jordan Park").contact_id}'
        amount: 27.5
        note: day pass
      save: paid
    - {call: venmo.get_transaction, args: {transaction_id: "${paid.transaction_id}"}, save: seen}
    - if: seen.error
      then: [{id: again, call: venmo.send_money, args: *pay}]
    - say: Jordan Park has been paid $27.50.
  naive:
    - {call: venmo.list_friends, save: friends}
    - {call: venmo.send_money, args: *pay}
    - say: Jordan Park has been paid $27.50.
violations: [{fails: pays, steps: [{say: "Jordan Park has been paid $27.50."}]}]
"""
MODEL = "openai/judge"


def scenario_in(folder: Path) -> Path:
    """Write the scenario into a folder and return its file."""
    path = folder / "pays.yaml"
    path.write_text(SCENARIO)
    return path


def asked(body: dict[str, Any]) -> dict[str, str]:
    """Return the parts of a question that a judge model got: user, assistant, statement, …"""
    content = body["messages"][-1]["content"]
    return {name: text.strip() for name, text in re.findall(r"<(\w+)>(.*?)</\1>", content, re.S)}


def answering(answer: Callable[[str, str], str]) -> Script:
    """Return a script that answers each question by its statement and text."""

    def script(body: dict[str, Any], number: int) -> Step:
        parts = asked(body)
        return say(answer(parts["statement"], parts["assistant"]))

    return script


def same(statement: str, text: str) -> str:
    """Claim what the text says in the same words."""
    return "claims" if statement.casefold() in text.casefold() else "silent"


async def with_model(script: Script, *arguments: object) -> tuple[Done, list[dict[str, Any]]]:
    """Run a command with a judge model on loopback; return its result and the requests."""
    async with playing(script) as endpoint:
        given = ("--judge-model", MODEL, "--judge-api-base", endpoint.url)
        done = await without_model(*arguments, *given)
    return done, endpoint.bodies


async def without_model(*arguments: object) -> Done:
    """Run a command from an asynchronous test."""
    return await anyio.to_thread.run_sync(lambda: command(*arguments))
