"""What holds for the adapters of whole products, beside what holds for all adapters."""

from __future__ import annotations

from typing import ClassVar

import pytest

from client_harness.telling import Told
from tests.harness.adapters.proof import AdapterProof
from tests.harness.fake_endpoint import say
from tests.harness.wires import Line
from tests.support import new_session


class ProductProof(AdapterProof):
    """A product reads its key from the variable `key`, and opens with remarks on its surroundings.

    `remark` is how such a remark begins, which is no part of the conversation.
    """

    key: ClassVar[str]
    remark: ClassVar[str]

    @pytest.fixture(autouse=True)
    def worthless_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A key that is worth nothing, whatever the environment holds."""
        monkeypatch.setenv(self.key, "scripted")

    def check_native(self, said: list[Line]) -> None:
        """Check the conversation without the remarks."""
        super().check_native([line for line in said if not line.text.startswith(self.remark)])

    async def test_what_the_run_tells_follows_its_own_prompt(self) -> None:
        _, endpoint = await self.converse(
            [say("Hello.")], new_session("clock"), "Hi", told=Told("plain")
        )
        told = "\n".join(line.text for line in endpoint.lines() if line.role == "system")
        assert told.index("You are a personal assistant") > 1000
        assert "Today is Saturday" in told
