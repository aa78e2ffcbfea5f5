"""A solver that forgets the past and looks everything up: it calls every tool that only lists."""

from __future__ import annotations

import json
from contextlib import AbstractAsyncContextManager

from client_harness.agents._recall import Recaller, recalling
from client_harness.contract import Agent, Assignment
from servers.kit.service import service

ABOUT = "of instances: forgets everything and looks into every list"


class Looker(Recaller):
    """Reads all lists that take no argument, as far as the limit of calls allows."""

    async def look(self) -> None:
        """Call every tool that reads and needs no argument."""
        room = self.instance.limits.calls // 2
        for name in self.instance.services:
            for spec in service(name).tools.values():
                if spec.effect != "read" or spec.schema.get("required") or room == 0:
                    continue
                room -= 1
                self.given.tools.step()
                data, is_error = await self.given.tools.call(name, spec.name, {})
                if not is_error:
                    self.texts.append(json.dumps(data, ensure_ascii=False))


def agent(given: Assignment) -> AbstractAsyncContextManager[Agent]:
    """Look everything up."""
    return recalling(Looker(given, lambda found: found[-1], window=0))
