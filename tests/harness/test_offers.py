"""Offers: what a client gets that names no services, and how it gets others."""

from __future__ import annotations

import subprocess

import pytest

from client_harness import offers
from client_harness.connect import clients
from client_harness.serve import open_session
from servers.kit.errors import UnknownName
from servers.kit.service import narrowed, service, services
from tests.commands import command, process, refusal


@pytest.mark.parametrize("name", offers.offers())
def test_what_the_tools_of_an_offer_build_on_is_offered_too(name: str) -> None:
    for known, patterns in offers.offer(name).items():
        cls = narrowed(service(known), patterns)
        for spec in cls.tools.values():
            for before in spec.setup:
                owner, _, tool = before.tool.rpartition(".")
                if not owner or owner == known:
                    assert tool in cls.tools, f"{known}.{spec.name} builds on {before.tool}"


def test_whoever_names_nothing_gets_few_enough_tools_for_every_client() -> None:
    session, _ = open_session()
    tools = sum(len(cls.tools) for cls in session.classes.values())
    assert 60 < tools <= 80
    crowded = [name for name, client in clients().items() if not client.takes(tools)]
    assert crowded == ["windsurf"]
    written = command("connect", "windsurf").out
    assert "--expose" in written and "search" in written
    domains = {cls.domain for cls in session.classes.values()}
    assert domains == {cls.domain for cls in services().values()}


def test_everything_and_single_services_are_still_there() -> None:
    session, _ = open_session(None, ["all"])
    assert set(session.classes) == set(services())
    session, _ = open_session(None, ["everyday", "amazon"])
    assert session.classes["amazon"].tools == service("amazon").tools
    assert len(session.classes["gmail"].tools) < len(service("gmail").tools)
    session, _ = open_session(None, ["amazon", "everyday"])
    assert session.classes["amazon"].tools == service("amazon").tools


def test_a_name_near_an_offer_is_suggested() -> None:
    with pytest.raises(UnknownName, match="did you mean 'everyday'"):
        offers.offered(["everday"])
    assert "did you mean 'payments'" in refusal(command("serve", "--services", "payment"))


@pytest.mark.parametrize("name", clients())
def test_connect_says_how_to_get_other_services(name: str) -> None:
    done = command("connect", name)
    (line,) = [text for text in done.err.splitlines() if text.startswith("note:")]
    assert "for everyday use" in line and "--services" in line and "`all`" in line
    assert "everyday use" not in command("connect", name, "--services", "venmo").err


def test_serve_says_how_to_get_other_services() -> None:
    with process("serve", "--stdio", stdin=subprocess.PIPE) as host:
        out, err = host.communicate("")
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("note: 80 tools of 16 services for everyday use")
