"""A note that is kept in LangChain's vector store on Commonplace, found in a later run, and corrected.

python examples/langchain_vectors.py memory-dir "I use Shram and Magnet as productivity tools"
python examples/langchain_vectors.py memory-dir "What do I use?" "I use Shram as a productivity tool" "What do I use?"
"""

import sys

from commonplace import Memory
from commonplace.integrations.langchain import MemoryVectorStore


def main(folder: str, *said: str) -> None:
    with Memory.open(folder) as memory:
        notes = MemoryVectorStore(memory, user="alex", collection="notes")
        for text in said:
            if text.endswith("?"):
                print(notes.similarity_search(text, k=1)[0].page_content)
            else:
                notes.add_texts([text], ids=["tools"])


if __name__ == "__main__":
    main(*sys.argv[1:])
