"""The command: who answers, in which session, and the life of the conversation."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.interfaces.cli.options import OfSession
from commonplace.interfaces.cli.times import local_now

if TYPE_CHECKING:
    from commonplace import AsyncMemory
    from commonplace.agents.turns import Answering
    from commonplace.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model to talk with, as openai:… or anthropic:…")
    ] = None


def chat(call: OfSession, choice: Model) -> int:
    """Chat with something that remembers. Without a model it answers from memory alone.

    A session goes on where it was left with --session. With --json, each line of input gives one line of output.
    """
    return asyncio.run(_chat(call, choice.model))


async def _chat(call: OfSession, model: str | None) -> int:
    from commonplace.interfaces.cli.chat.conversation import Conversation, Who
    from commonplace.interfaces.cli.chat.display import display_for
    from commonplace.interfaces.cli.chat.lines import lines_for
    from commonplace.settings import Settings

    given = {**call.overrides(), **({"agent_model": model} if model else {})}
    settings = Settings.from_sources(**given)
    who = Who(user=call.user, session=call.session or new_session(), model=settings.agent_model)
    async with _answering(settings, given) as (memory, answering):
        display = display_for(call, person=sys.stdin.isatty() and sys.stdout.isatty())
        lines = await lines_for(memory, who.user, person=display.person)
        conversation = Conversation(memory, answering, who, display, lines, patience=settings.agent_timeout)
        return await conversation.run(resumed=call.session is not None)


@asynccontextmanager
async def _answering(settings: "Settings", given: dict[str, object]) -> AsyncIterator["tuple[AsyncMemory, Answering]"]:
    """Open the memory, and who answers from it."""
    from commonplace.memory import AsyncMemory
    from commonplace.wiring import open_chat_model

    async with AsyncMemory.open(**given) as memory, open_chat_model(settings) as opened:  # type: ignore[arg-type]
        if opened is None:
            from commonplace.agents.notebook import Notebook

            yield memory, Notebook(memory)
        else:
            from commonplace.agents.assistant import Assistant

            yield memory, Assistant(memory, opened[0], name=settings.agent_model, settings=opened[1])


def new_session() -> str:
    return f"chat-{local_now():%Y-%m-%d-%H%M%S-%f}"[:-3]
