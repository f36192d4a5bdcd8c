"""A graph that keeps what it is told in Commonplace, and looks it up in later runs.

python examples/langgraph_store.py memory-dir "I use Shram and Magnet as productivity tools"
python examples/langgraph_store.py memory-dir "What productivity tools do I use?"
"""

import sys
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

from commonplace import Memory
from commonplace.integrations.langgraph import MemoryStore


class State(TypedDict):
    said: str
    answer: str


def answer(state: State, *, store: BaseStore) -> dict[str, str]:
    if state["said"].endswith("?"):
        found = store.search(("profile",), query=state["said"], limit=1)
        return {"answer": found[0].value["text"] if found else "I do not know."}
    store.put(("profile",), "tools", {"text": state["said"]})
    return {"answer": "Noted."}


def main(folder: str, said: str) -> None:
    builder = StateGraph(State)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    with Memory.open(folder) as memory:
        graph = builder.compile(store=MemoryStore(memory, user="alex"))
        print(graph.invoke({"said": said, "answer": ""})["answer"])


if __name__ == "__main__":
    main(*sys.argv[1:])
