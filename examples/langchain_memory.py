"""LangChain's retriever and chat history on Commonplace: told in one run, found in the next.

python examples/langchain_memory.py memory-dir "I use Shram and Magnet as productivity tools"
python examples/langchain_memory.py memory-dir "What productivity tools do I use?"
"""

import sys

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from commonplace import Memory
from commonplace.integrations.langchain import MemoryChatHistory, MemoryRetriever

FACTS = frozenset({"fact", "preference"})


def shown(found: list[Document]) -> str:
    return "\n".join(document.page_content for document in found)


def main(folder: str, said: str) -> None:
    with Memory.open(folder) as memory:
        retriever = MemoryRetriever(memory=memory, user="alex", k=3, kinds=FACTS)
        chain = retriever | RunnableLambda(shown)
        print(chain.invoke(said))
        MemoryChatHistory("today", memory, user="alex").add_user_message(said)


if __name__ == "__main__":
    main(*sys.argv[1:])
