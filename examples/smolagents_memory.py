"""An agent of smolagents with tools for its user's memory. A stand-in takes the model's place: put yours there.

python examples/smolagents_memory.py memory-dir "I use Shram and Magnet as productivity tools"
python examples/smolagents_memory.py memory-dir "What do I use?" "I don't use Magnet anymore" "What do I use?"
"""

import sys
from typing import Any

from smolagents import ChatMessage, LogLevel, MessageRole, Model, ToolCallingAgent
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

from commonplace import Memory
from commonplace.integrations.smolagents import memory_tools


class StandIn(Model):  # type: ignore[misc]
    """Searches for a question, keeps everything else, and answers with what the tool says."""

    def generate(self, messages: list[ChatMessage], **_: Any) -> ChatMessage:
        texts = [(message.role, part["text"]) for message in messages for part in message.content]
        results = [text for role, text in texts if role == MessageRole.TOOL_RESPONSE]
        said = [text for role, text in texts if role == MessageRole.USER][-1].removeprefix("New task:\n")
        if results:
            return call("final_answer", {"answer": results[-1].removeprefix("Observation:\n")})
        return call("search_memory", {"query": said}) if "?" in said else call("add_memory", {"said": said})


def call(tool: str, arguments: dict[str, str]) -> ChatMessage:
    function = ChatMessageToolCallFunction(name=tool, arguments=arguments)
    chosen = ChatMessageToolCall(id="call", type="function", function=function)
    return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[chosen])


def main(folder: str, *said: str) -> None:
    with Memory.open(folder) as memory:
        tools = memory_tools(memory, user="alex")
        for text in said:
            agent = ToolCallingAgent(tools=tools, model=StandIn(), verbosity_level=LogLevel.OFF)
            print(agent.run(text))


if __name__ == "__main__":
    main(*sys.argv[1:])
