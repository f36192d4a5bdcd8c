"""A move that is killed: after so many transactions by itself, or at any moment by others."""

import asyncio
import os
import signal
from collections.abc import Sequence

from commonplace.domain.archive import Held
from commonplace.domain.scope import Scope
from commonplace.engine.moving import Moving
from commonplace.wiring import Location
from commonplace.wiring.moving import _parts
from tests.faults.killing import Say


class Killed(Moving):
    left = 0

    async def _flush(self, scope: Scope, held: Sequence[Held]) -> None:
        await super()._flush(scope, held)
        self.left -= bool(held)
        if held and not self.left:
            os.kill(os.getpid(), signal.SIGKILL)


def main(say: Say, source: str, target: str, after: int = 0) -> None:
    asyncio.run(_main(say, source, target, after))


async def _main(say: Say, source: str, target: str, after: int) -> None:
    async with _parts(Location.parse(source), {}) as out, _parts(Location.parse(target), {}) as into:
        moving = Killed(out, into, names=(source, target))
        moving.left = after
        say()
        await moving.move(progress=lambda *_: None)
