"""The loop of a chat: read a line, answer it, say what was learned. Whatever fails is told, and the chat goes on."""

import asyncio
import contextlib
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commonplace.agents.telling import Told, told
from commonplace.agents.turns import Answering, Ended, Remembered, Turn, Words
from commonplace.domain.errors import CommonplaceError
from commonplace.domain.results import Added
from commonplace.domain.values import FactChange
from commonplace.interfaces.cli.chat.display import Display
from commonplace.interfaces.cli.chat.lines import Interrupted, Lines
from commonplace.interfaces.cli.chat.slashes import Slashes
from commonplace.interfaces.cli.exits import Exit
from commonplace.memory import AsyncMemory

NO_MODEL = (
    "No model is configured, so I answer from memory alone. To talk with one: AGENT_MODEL=openai:… with "
    "OPENAI_API_KEY, anthropic:… with ANTHROPIC_API_KEY, or a server of your own such as ollama:…"
)
KEPT = "interrupted; what you said is kept"
MOMENT = 1.5
"""Seconds that the prompt waits for what a model learns, to show it with its turn."""
RESUMED = 4


@dataclass(frozen=True, slots=True)
class Who:
    user: str | None
    session: str
    model: str | None


class Conversation:
    def __init__(
        self,
        memory: AsyncMemory,
        answering: Answering,
        who: Who,
        display: Display,
        lines: Lines,
        *,
        patience: float,
    ) -> None:
        """`patience`: seconds to wait in the end for what is still being learned."""
        self._memory, self._answering, self._who = memory, answering, who
        self._display, self._lines, self._patience = display, lines, patience
        self._slashes = Slashes(memory, display, who.user, who.session)
        self._learning: list[asyncio.Task[Added]] = []
        self._failed = False

    async def run(self, *, resumed: bool) -> int:
        note = "" if self._who.model else NO_MODEL
        earlier = await self._earlier() if resumed else []
        self._display.opening(session=self._who.session, model=self._who.model, note=note, resumed=earlier)
        while (line := await self._next()) is not None:
            await self._tell_learned(0)
            if not line.strip():
                continue
            if line.strip() in {"/quit", "/exit"}:
                break
            if line.startswith("/"):
                await self._slashes.run(line.strip())
            else:
                await self._turn(line)
        await self._finish()
        return Exit.UNAVAILABLE if self._failed and not self._display.person else Exit.OK

    async def _next(self) -> str | None:
        """Return the next line. One Ctrl-C clears it, a second one leaves."""
        try:
            return await self._lines.read()
        except Interrupted:
            self._display.note("Ctrl-C again, or /quit, leaves.")
        try:
            return await self._lines.read()
        except Interrupted:
            return None

    async def _turn(self, line: str) -> None:
        turn = asyncio.create_task(self._answer(line), name="commonplace-turn")
        try:
            with interruptible(turn):
                ended = await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                raise
            self._display.note(KEPT)
        except CommonplaceError as error:
            self._failed = True
            self._display.failed(type(error).__name__, str(error))
        else:
            self._display.ended(ended, await self._told(ended.changes))
            if ended.added.pending:
                self._learning.append(asyncio.create_task(self._memory.settle(ended.added)))
                await self._tell_learned(MOMENT if self._display.person else 0)

    async def _answer(self, line: str) -> Turn:
        user, session = self._who.user, self._who.session
        async for event in self._answering.stream(line, user=user, session=session):
            match event:
                case Remembered(items):
                    if self._who.model:
                        self._display.remembered(items)
                case Words(text):
                    self._display.words(text)
                case Ended(turn):
                    return turn
        raise AssertionError("a stream ends with Ended, or raises")

    async def _tell_learned(self, seconds: float) -> None:
        """Show what has been learned since; what takes longer than this is shown with a later turn."""
        if self._learning:
            done, waiting = await asyncio.wait(self._learning, timeout=seconds)
            self._learning = [*waiting]
            for task in done:
                await self._show_learned(task)

    async def _show_learned(self, task: "asyncio.Task[Added]") -> None:
        try:
            added = task.result()
        except CommonplaceError as error:
            self._display.failed(type(error).__name__, str(error))
        else:
            self._display.learned(await self._told(added.changes), added.notes)

    async def _finish(self) -> None:
        """Wait for what is still being learned. It is queued durably: who does not wait loses nothing."""
        if not self._learning:
            return
        self._display.note("learning what you said; Ctrl-C leaves it to the next start")
        finishing = asyncio.create_task(self._tell_learned(self._patience))
        with contextlib.suppress(asyncio.CancelledError), interruptible(finishing):
            await finishing
        for task in self._learning:
            task.cancel()

    async def _told(self, changes: Sequence[FactChange]) -> list[Told]:
        return await told(self._memory, changes, user=self._who.user)

    async def _earlier(self) -> list[str]:
        recent = await self._memory.session(self._who.session, user=self._who.user).recent(RESUMED)
        return [f"{message.role}: {message.text}" for message in recent]


@contextlib.contextmanager
def interruptible(task: asyncio.Task[Turn] | asyncio.Task[None]) -> Iterator[None]:
    """Let Ctrl-C cancel this task instead of the program."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, task.cancel)
    except (NotImplementedError, RuntimeError, ValueError):  # not on Windows, and not outside the main thread
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
