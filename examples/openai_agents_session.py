"""An agent of the OpenAI Agents SDK that knows its user from run to run. It needs OPENAI_API_KEY.

python examples/openai_agents_session.py memory-dir monday "I use Shram and Magnet as productivity tools"
python examples/openai_agents_session.py memory-dir friday "What productivity tools do I use?"
"""

import sys

from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner
from openai import AsyncOpenAI

from commonplace import Memory
from commonplace.integrations.openai_agents import MemorySession


def main(folder: str, conversation: str, said: str) -> None:
    with Memory.open(folder) as memory:
        agent = Agent(
            name="Assistant",
            instructions=f"Be brief.\n{memory.context(said, user='alex', session=conversation)}",
            model=OpenAIChatCompletionsModel("gpt-4.1-mini", AsyncOpenAI()),
        )
        session = MemorySession(conversation, memory, user="alex")
        result = Runner.run_sync(agent, said, session=session, run_config=RunConfig(tracing_disabled=True))
    print(result.final_output)


if __name__ == "__main__":
    main(*sys.argv[1:])
