"""Much talk that answers nothing: `python -m bench.talk 50000 much.jsonl`, for `commonplace bench recall --others`.

Sentences of everyday talk by our own frames, in sessions of two people or of a user with an assistant, over three
years. It shares the subjects and most of the common words with real talk, which is what makes it stand in the way.
"""

import json
import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.projection import CAUSES, FEELINGS, FOODS, NUMBERS, PEOPLE, PLACES, THINGS, TIMES, WORKS, sentences

SESSION = 20
BEGIN = datetime(2021, 1, 4, 9, tzinfo=UTC)
FIRST = ("Al", "Bea", "Cal", "Dee", "Ed", "Fay", "Gus", "Hal", "Ida", "Jo", "Kit", "Lou", "Max", "Nan", "Odd", "Pia")
LAST = ["ba", "da", "fi", "go", "ka", "la", "mo", "ni", "po", "ra", "sa", "ti", "vo", "ya", "ze"]
PETS = ("a kitten", "the old cat", "two parrots", "our dog", "a rabbit", "the goldfish", "a horse", "some hens")
MEDIA = (
    "a film about the sea",
    "a book on trains",
    "the new album",
    "a play",
    "a series about doctors",
    "an old comic",
)
EVENTS = (
    "the wedding",
    "a concert",
    "the exam",
    "the school fair",
    "a race",
    "the parade",
    "an exhibition",
    "a funeral",
)
SPORTS = (
    "swimming",
    "football",
    "climbing",
    "tennis",
    "running",
    "dancing",
    "rowing",
    "cycling",
    "skiing",
    "basketball",
)
FRAMES = (
    "We adopted {pet} {time}, and {person} already loves it.",
    "I saw {media} {time}. It made me {feeling}, and I want to see it again.",
    "{event} was {time}; {number} people came, and {person} gave a speech.",
    "Do you still go {sport} with {person}?",
    "I hurt my ankle while {sport} near {place}, so I have to rest for {number} weeks.",
    "My dream is to travel to {place} and to learn {thing} there.",
    "How did {event} go? Were you {feeling}?",
    "It went well! {person} cried, and we had {food} afterwards.",
    "I am saving money for {thing}, it costs {number} hundred.",
    "{person} started a new job as a {work}, and the family is {feeling}.",
    "We painted the kitchen blue {time}. The children helped with {thing}.",
    "I volunteer at the shelter near {place}, we look after {pet}.",
    "My favourite memory is when {person} taught me {sport} at {place}.",
    "I read that {cause}; what do you think about it?",
    "Support from {person} means a lot to me, since {cause}.",
    "I took a photo of {pet} at {place}, look!",
    "For dinner I made {food} with {food2}, a recipe of {person}.",
    "We plan {event} for {time}, and I still need a dress and {number} chairs.",
    "I joined a group for {sport}, we meet {time} at {place}.",
    "The doctor said that I should stop {sport} and eat less {food}.",
    "I would start with a list of what you need for {event}, then ask {person} about {place}.",
    "Can you help me to plan {event} in {place}?",
    "I signed up for a course in {thing}, it begins {time}.",
    "Wow, that is great news about {event}! I am {feeling} for you and {person}.",
)


def people() -> list[str]:
    return [first + last for first in FIRST for last in LAST]


def spoken(count: int, draw: random.Random) -> Iterator[str]:
    slots = {
        "pet": PETS,
        "media": MEDIA,
        "event": EVENTS,
        "sport": SPORTS,
        "time": TIMES,
        "person": PEOPLE,
        "feeling": FEELINGS,
        "number": NUMBERS,
        "place": PLACES,
        "thing": THINGS,
        "food": FOODS,
        "food2": FOODS,
        "work": WORKS,
        "cause": CAUSES,
    }
    old = sentences(count, seed=11)
    for _ in range(count):
        if draw.random() < 0.35:
            yield next(old).partition(": ")[2] or next(old)
        else:
            said = draw.choice(FRAMES).format(**{slot: draw.choice(choices) for slot, choices in slots.items()})
            yield said[0].upper() + said[1:]


def messages(count: int, *, seed: int = 3) -> Iterator[dict[str, str]]:
    """Yield lines as `commonplace bench recall` reads them, always the same ones for a seed."""
    draw, names = random.Random(seed), people()
    pair: tuple[str, str] = ("", "")
    with_assistant = False
    for number, text in enumerate(spoken(count, draw)):
        session, place = divmod(number, SESSION)
        if place == 0:
            pair = (draw.choice(names), draw.choice(names))
            with_assistant = draw.random() < 0.3
        at = BEGIN + timedelta(hours=7 * session % (3 * 365 * 24), seconds=20 * place)
        line = {"id": f"m{number}", "session": f"s{session}", "at": at.isoformat(), "content": text}
        other = {"role": "assistant" if place % 2 else "user"} if with_assistant else {"name": pair[place % 2]}
        yield line | other


if __name__ == "__main__":
    lines = (json.dumps(line) for line in messages(int(sys.argv[1])))
    Path(sys.argv[2]).write_text("\n".join(lines) + "\n", encoding="utf-8")
