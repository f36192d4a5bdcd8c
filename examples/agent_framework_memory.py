"""An agent of the Microsoft Agent Framework that knows its user. A stand-in takes the model's place: put yours there.

python examples/agent_framework_memory.py memory-dir "I use Shram and Magnet as productivity tools"
python examples/agent_framework_memory.py memory-dir "What do I use?" "I don't use Magnet anymore" "What do I use?"
"""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from agent_framework import Agent, BaseChatClient, ChatResponse, FunctionInvocationLayer, Message

from commonplace import Memory
from commonplace.integrations.agent_framework import MemoryContextProvider


class StandIn(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Answers with the facts that stand in the prompt."""

    async def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **_: Any
    ) -> ChatResponse:
        prompt = str(options["instructions"]).splitlines()
        facts = [line.removeprefix("- ") for line in prompt if line.startswith("- User uses")]
        return ChatResponse(messages=[Message("assistant", ["; ".join(facts) or "Noted."])])


async def chat(memory: Memory, said: Sequence[str]) -> None:
    agent = Agent(StandIn(), "Be brief.", context_providers=[MemoryContextProvider(memory, user="alex")])
    session = agent.create_session()
    for text in said:
        print((await agent.run(text, session=session)).text)


def main(folder: str, *said: str) -> None:
    with Memory.open(folder) as memory:
        asyncio.run(chat(memory, said))


if __name__ == "__main__":
    main(*sys.argv[1:])
