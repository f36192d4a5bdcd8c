"""A process that writes to a memory until it is killed, and says what it has been promised."""

import json
import sys

from commonplace.adapters.hashing import HashEmbedder
from commonplace.sync import Memory


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(place: str, round_: int) -> None:
    with Memory.open(**json.loads(place), embedder=HashEmbedder(dimensions=32)) as memory:
        say("ready")
        for number in range(100_000):
            name = f"{round_}-{number}"
            added = memory.add(f"I use tool{round_}x{number} for the garden", user="u", session="s")
            say(f"message {added.messages[0]}")
            fact = memory.remember(f"Likes colour {name}", user="u")
            say(f"fact {fact.id} Likes")
            memory.revise(fact.id, f"Loves colour {name}", user="u")
            say(f"fact {fact.id} Loves")
            if number % 2:
                memory.retract(fact.id, user="u")
                say(f"fact {fact.id} retracted")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
