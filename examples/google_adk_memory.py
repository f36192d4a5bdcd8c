"""An agent of Google's ADK that knows its user from run to run. A stand-in takes the model's place: put yours there.

python examples/google_adk_memory.py memory-dir "I use Shram and Magnet as productivity tools"
python examples/google_adk_memory.py memory-dir "What do I use?" "I don't use Magnet anymore" "What do I use?"
"""

import asyncio
import sys
from collections.abc import AsyncGenerator

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types

from commonplace import Memory
from commonplace.integrations.google_adk import MemoryService


class StandIn(BaseLlm):
    """Answers with the facts that stand in the prompt."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        prompt = "\n".join(part.text or "" for content in llm_request.contents for part in content.parts or ())
        said = [line.removeprefix("user: ") for line in prompt.splitlines() if line.startswith("user: User uses")]
        answer = types.Part(text="; ".join(said) or "Noted.")
        yield LlmResponse(content=types.Content(role="model", parts=[answer]))


async def keep(callback_context: CallbackContext) -> None:
    """After each turn, as ADK's documentation has it."""
    await callback_context.add_session_to_memory()


async def chat(memory: Memory, said: tuple[str, ...]) -> None:
    agent = LlmAgent(
        name="assistant", model=StandIn(model="stand-in"), tools=[PreloadMemoryTool()], after_agent_callback=keep
    )
    runner = Runner(
        app_name="example",
        agent=agent,
        session_service=InMemorySessionService(),
        memory_service=MemoryService(memory),
    )
    for text in said:
        session = await runner.session_service.create_session(app_name="example", user_id="alex")
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for event in runner.run_async(user_id="alex", session_id=session.id, new_message=message):
            if event.is_final_response() and event.content and event.content.parts:
                print(event.content.parts[0].text)


def main(folder: str, *said: str) -> None:
    with Memory.open(folder) as memory:
        asyncio.run(chat(memory, said))


if __name__ == "__main__":
    main(*sys.argv[1:])
