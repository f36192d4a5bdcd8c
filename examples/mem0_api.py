"""An app written for mem0, with its import changed. Run it again and again: it remembers from run to run.

python examples/mem0_api.py memory-dir tell "I use Shram and Magnet as productivity tools"
python examples/mem0_api.py memory-dir ask "What productivity tools do I use?"
"""

import sys

from commonplace.integrations.mem0 import Memory  # was: from mem0 import Memory


def main(folder: str, verb: str, text: str) -> None:
    with Memory(folder) as memory:
        if verb == "tell":
            for learned in memory.add([{"role": "user", "content": text}], user_id="alex")["results"]:
                print(learned["event"], learned["memory"])
        else:
            for found in memory.search(text, filters={"user_id": "alex"}, top_k=3)["results"]:
                print(found["memory"])


if __name__ == "__main__":
    main(*sys.argv[1:])
