"""What a child process does: it forgets (a part, or the tenant), and kills itself when it has come to a stage."""

import asyncio
import os
import signal
from typing import Any

from commonplace.domain.receipts import Part
from commonplace.domain.scope import Scope
from tests.care.folders import forgetting_of, parts_of


async def forget(place: dict[str, Any], user: str, what: Part | None, die_at: str) -> None:
    def stage(name: str) -> None:
        if name == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    async with parts_of(**place) as parts:
        forgetting = forgetting_of(parts, stage)
        if what is None:
            await forgetting.forget_tenant()
        else:
            await forgetting.forget(Scope("default", user), what)


def main(place: dict[str, Any], user: str, what: Part | None, die_at: str) -> None:
    asyncio.run(forget(place, user, what, die_at))
