"""An agent of LlamaIndex that knows its user from run to run. A stand-in takes the model's place: put yours there.

python examples/llama_index_memory.py memory-dir "I use Shram and Magnet as productivity tools"
python examples/llama_index_memory.py memory-dir "What do I use?" "I don't use Magnet anymore" "What do I use?"
"""

import asyncio
import sys
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory as ShortTermMemory

from commonplace import Memory
from commonplace.integrations.llama_index import MemoryDBChatStore, RecallBlock


def stand_in(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
    """Answer with the facts that stand in the prompt."""
    prompt = messages[0].content or ""
    facts = [line for line in prompt.splitlines() if line.startswith("- User uses")]
    return ChatMessage(role="assistant", content="\n".join(facts) or "Noted.")


async def chat(memory: Memory, said: Sequence[str]) -> None:
    conversation = ShortTermMemory.from_defaults(
        session_id=str(uuid4()),
        chat_store=MemoryDBChatStore(memory=memory, user="alex"),
        memory_blocks=[RecallBlock(memory=memory, user="alex", accept_short_term_memory=False)],
    )
    agent = FunctionAgent(llm=MockFunctionCallingLLM(response_generator=stand_in))
    for text in said:
        print(await agent.run(text, memory=conversation))


def main(folder: str, *said: str) -> None:
    with Memory.open(folder) as memory:
        asyncio.run(chat(memory, said))


if __name__ == "__main__":
    main(*sys.argv[1:])
