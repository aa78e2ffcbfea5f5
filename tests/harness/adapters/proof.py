"""What every adapter must show; what it declares in its adapter.yaml decides what is expected."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, ClassVar

import anyio
import pytest

from client_harness.adapters import adapter, install
from client_harness.contract import ProviderOutage, TurnResult
from client_harness.results import Results
from client_harness.run import RunRequest, start
from scenarios.haystack.history import LivedSession
from servers.kit.events import Attempt, from_json
from servers.kit.session import Session
from tests.harness.adapters.careful import SCENARIO, Careful
from tests.harness.adapters.support import Subject, attempts, converse, talking
from tests.harness.fake_endpoint import Endpoint, Step, call, calls, fails, playing, say
from tests.harness.wires import Line
from tests.support import HISTORY, new_session

PRICE = 100
"""Tokens that go into each answer of the scripted model."""


class AdapterProof:
    """Tests of one adapter. A subclass names its `subject`, and replaces what is otherwise."""

    pytestmark: ClassVar[Any] = pytest.mark.anyio
    subject: ClassVar[Subject]

    @pytest.fixture(autouse=True)
    def environment(self) -> Path:
        """The adapter's own environment, built if it is missing."""
        return install.ensure(self.subject.name)

    async def converse(
        self, script: Any, session: Session, *texts: str, **options: Any
    ) -> tuple[list[TurnResult], Endpoint]:
        return await converse(self.subject, script, session, *texts, **options)

    async def test_it_calls_tools_together_and_keeps_the_conversation(self) -> None:
        """Two calls in one step, and a second turn, after a history."""
        named = self.subject.named
        session = new_session("clock", "venmo")
        script = [
            calls((named("clock.get_time"), {}), (named("venmo.get_balance"), {})),
            call(named("venmo.list_friends")),
            say("Done."),
            call(named("clock.get_time")),
            say("Again."),
        ]
        (first, second), endpoint = await self.converse(
            script, session, "Look", "And now?", history=HISTORY
        )
        assert (first.text, first.status) == ("Done.", "done"), first
        assert (second.text, second.status) == ("Again.", "done"), second
        assert not any(a.is_error for a in attempts(session))
        self.check_steps(attempts(session))
        assert first.usage["prompt_tokens"] == 3 * PRICE, first.usage
        assert second.usage["prompt_tokens"] == 2 * PRICE, second.usage
        self.check_request(endpoint)

    def check_steps(self, made: list[Attempt]) -> None:
        """Check which calls were made, and that those of one answer are one step."""
        steps = [(a.name, a.step) for a in made]
        numbers = (1, 2, 1) if self.subject.about.steps else (None, None, None)
        together = {("clock.get_time", numbers[0]), ("venmo.get_balance", numbers[0])}
        assert set(steps[:2]) == together
        assert steps[2:] == [("venmo.list_friends", numbers[1]), ("clock.get_time", numbers[2])]

    def check_request(self, endpoint: Endpoint) -> None:
        """Check that the last request has told the model everything, in the declared form."""
        lines = endpoint.lines()
        told = [line for line in lines if line.role == "system"]
        if self.subject.about.instructions == "replace":
            (only,) = told
            assert only.text.startswith("You are a personal assistant")
        said = [line for line in lines if line.role != "system"]
        if self.subject.about.history == "native":
            self.check_native(said)
        everything = "\n".join(line.text for line in said)
        texts = ["2026-02-03T09:00:00Z", "How much is in my Venmo?", "Five dollars."]
        places = [everything.index(text) for text in [*texts, "Look", "Done.", "And now?"]]
        assert places == sorted(places)
        assert self.subject.named("clock.get_time") in {line.of for line in said}

    def check_native(self, said: list[Line]) -> None:
        """Check that the past session is told as what it was, ahead of the conversation."""
        past = said[:5]
        assert [line.role for line in past] == ["user", "call", "result", "assistant", "user"]
        opened = "[Conversation of 2026-02-03T09:00:00Z]\n"
        assert past[0].text == f"{opened}How much is in my Venmo?"
        assert past[1].text == past[2].of == self.subject.named("venmo.get_balance")
        assert "balance" in past[2].text and "5" in past[2].text
        assert past[3].text == "Five dollars."
        assert past[4].text.startswith("[Conversation of ") and past[4].text.endswith("\nLook")

    async def test_it_keeps_all_past_sessions_if_it_remembers(self) -> None:
        """Sessions that came one by one are to the model what a history in one piece is."""
        if not self.subject.about.remembers:
            pytest.skip("its adapter.yaml does not say `remembers: true`")
        later: LivedSession = {**HISTORY[0], "at": "2026-02-04T09:00:00Z"}
        sessions = [*HISTORY, later]
        session = new_session("venmo")
        async with (
            playing([say("Five.")], self.subject.wire) as endpoint,
            talking(self.subject, session, endpoint, [], to_remember=2) as made,
        ):
            for number, past in enumerate(sessions, 1):
                taken = await made.remember(past, number, 2)
                assert (taken.status, taken.usage) == ("done", {})
            assert endpoint.bodies == []
            assert (await made.turn("And now?")).text == "Five."
        _, other = await self.converse(
            [say("Five.")], new_session("venmo"), "And now?", history=sessions
        )
        assert other.lines() == endpoint.lines()

    async def test_tools_of_the_same_name_are_kept_apart(self) -> None:
        session = new_session("venmo", "zelle")
        named = self.subject.named
        script = [call(named("zelle.list_transfers")), say("Done.")]
        (result,), endpoint = await self.converse(script, session, "Go")
        assert result.text == "Done.", result
        assert [a.name for a in attempts(session)] == ["zelle.list_transfers"]
        wanted = set()
        for name, service in session.classes.items():
            wanted |= {named(f"{name}.{tool}") for tool in service.tools}
        assert wanted <= endpoint.offered(0)

    async def test_a_disclosed_service_appears_when_it_is_declared_to(self) -> None:
        """Within the turn, in the next one, or never: then it is listed, but locked."""
        named = self.subject.named
        session = new_session("clock", "venmo", hidden=["venmo"])

        def disclose(attempt: Attempt) -> None:
            if "venmo" in session.hidden:
                session.disclose("venmo")

        session.on_attempt.append(disclose)
        within = [call(named("clock.get_time")), call(named("venmo.get_balance")), say("Found.")]
        between = [call(named("clock.get_time")), say("No."), *within[1:]]
        refresh = self.subject.about.tool_refresh
        script = between if refresh == "turn" else within
        texts = ["Go", "Again"] if refresh == "turn" else ["Go"]
        results, endpoint = await self.converse(script, session, *texts)
        assert results[-1].text == "Found.", results
        balance = named("venmo.get_balance")
        seen = [balance in endpoint.offered(n) for n in range(len(script))]
        expected = {"turn": [False, False, True, True], "call": [False, True, True]}
        expected["notify"] = expected["call"]
        assert seen == expected.get(refresh, [True] * 3)
        assert [a.is_error for a in attempts(session)] == [False, False]

    async def test_errors_reach_the_model(self) -> None:
        """Two in a row: a value that the schema forbids, and one that is of another type."""
        wait = self.subject.named("clock.wait")
        session = new_session("clock")
        script = [call(wait, seconds=-1), call(wait, seconds="soon"), say("Sorry.")]
        (result,), endpoint = await self.converse(script, session, "Go")
        assert result.text == "Sorry.", result
        self.check_errors(session, endpoint)

    def check_errors(self, session: Session, endpoint: Endpoint) -> None:
        """Check that both calls have reached the service, and its words the model."""
        made = attempts(session)
        assert [a.is_error for a in made] == [True, True]
        results = [line.text for line in endpoint.lines() if line.role == "result"]
        for text in results:
            assert "INVALID" in text, results

    async def test_an_endless_loop_ends_at_its_limit(self) -> None:
        if "max_steps" not in self.subject.about.options:
            pytest.skip("its adapter.yaml does not name the option max_steps")

        def loop(body: dict[str, Any], number: int) -> Step:
            return call(self.subject.named("clock.get_time"))

        session = new_session("clock")
        (result,), endpoint = await self.converse(loop, session, "Go", max_steps=3)
        assert result.status == "limit", result
        assert len(endpoint.bodies) <= 3
        assert result.usage["prompt_tokens"] == PRICE * len(endpoint.bodies)
        assert 2 <= len(attempts(session)) <= 3

    async def test_a_model_that_refuses_is_an_outage(self) -> None:
        with pytest.raises(ProviderOutage, match="scripted failure 401"):
            await self.converse([fails(401)], new_session("clock"), "Go")

    async def test_a_model_that_cannot_be_reached_is_an_outage(self) -> None:
        with pytest.raises(ProviderOutage):
            await self.converse(
                [say("Never.")], new_session("clock"), "Go", api_base="http://127.0.0.1:9/v1"
            )

    async def test_it_tells_how_long_it_waits_for_a_busy_provider(self) -> None:
        subject = self.subject
        if not subject.tells_waits:
            pytest.skip("its adapter.yaml says that it cannot")
        told: list[tuple[str, Any]] = []
        async with (
            playing([fails(503, after=0.2), say("Done.")], subject.wire) as endpoint,
            talking(subject, new_session("clock"), endpoint, []) as made,
        ):
            made._peer.hears = lambda *said: told.append(said)
            result = await made.turn("Go")
        assert (result.text, len(endpoint.bodies)) == ("Done.", 2), result
        waits = [said["seconds"] for method, said in told if method == "backoff"]
        assert len(waits) == 1 and waits[0] > 0, told

    def test_a_careful_model_passes_a_scenario_with_faults(self, tmp_path: Path) -> None:
        """It also holds a service back, and is judged from the services' trace."""
        subject = self.subject
        locked = subject.about.tool_refresh not in ("call", "notify")

        async def go() -> None:
            script = Careful(subject.wire, subject.tool, locked=locked)
            async with playing(script, subject.wire) as endpoint:
                request = RunRequest(
                    [SCENARIO],
                    [subject.name],
                    options=subject.reached(endpoint),
                    disclosure="locked" if locked else "notify",
                )
                await anyio.to_thread.run_sync(lambda: start(request, tmp_path / "run").finish())

        anyio.run(go)
        (trial,) = Results.open(tmp_path / "run").trials()
        values = {setting: verdict["value"] for setting, verdict in trial.verdicts.items()}
        assert values == {"base": "pass", "relaxed": "pass"}, trial
        events = []
        for line in (tmp_path / "run" / trial.trace).read_text().splitlines():
            events.append(from_json(line))
        made = [event for event in events if isinstance(event, Attempt)]
        fired = []
        for attempt in made:
            fired += [firing.fault for firing in attempt.firings]
        assert fired == ["zelle_breaks", "venmo_drops"]
        paying = [a.name for a in made if a.opened]
        assert paying == ["zelle.send_transfer", "venmo.send_money", "venmo.send_money"]
        assert all((a.step is not None) == subject.about.steps for a in made)

    async def test_its_environment_is_its_own_and_hashed(self, environment: Path) -> None:
        folder = adapter(self.subject.name).folder
        locks = [folder / name for name in (install.PIP_LOCK, install.NPM_LOCK)]
        there = {lock.name: lock.read_text() for lock in locks if lock.exists()}
        assert there
        pip = there.get(install.PIP_LOCK, "--hash=sha256:")
        assert "--hash=sha256:" in pip and "://" not in pip
        npm = there.get(install.NPM_LOCK, '"integrity"')
        assert '"integrity"' in npm and '"resolved"' not in npm
        assert install.ensure(self.subject.name) == environment
        code = (
            "import importlib.util as u; "
            "print([n for n in ('servers', 'client_harness') if u.find_spec(n)])"
        )
        done = await anyio.run_process(
            [str(environment), "-I", "-c", code], stderr=subprocess.STDOUT
        )
        assert done.stdout.strip() == b"[]"
