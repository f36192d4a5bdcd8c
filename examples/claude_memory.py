"""Claude keeps notes on a user in Commonplace, from run to run. It needs ANTHROPIC_API_KEY.

python examples/claude_memory.py memory-dir "I use Shram and Magnet as productivity tools"
python examples/claude_memory.py memory-dir "What productivity tools do I use?"
"""

import sys

from anthropic import Anthropic

from commonplace import Memory
from commonplace.integrations.claude_memory import MemoryTool


def main(folder: str, said: str) -> None:
    with Memory.open(folder) as memory, Anthropic() as client:
        runner = client.beta.messages.tool_runner(
            model="claude-sonnet-5-5",
            max_tokens=1_000,
            messages=[{"role": "user", "content": said}],
            tools=[MemoryTool(memory, user="alex")],
        )
        answer = runner.until_done()
    print("".join(block.text for block in answer.content if block.type == "text"))


if __name__ == "__main__":
    main(*sys.argv[1:])
