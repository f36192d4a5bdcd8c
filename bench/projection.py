"""Make the matrix that shortens token vectors from 384 numbers to 64, out of sentences written here.

    python -m bench.projection src/commonplace/recall/projection.npy

Principal directions of the token vectors of a few thousand sentences of everyday talk. Nothing of the data that recall
is measured on goes into it.
"""

import asyncio
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from commonplace.ports.token_embedder import TokenEmbedder
from commonplace.settings import Settings
from commonplace.wiring import open_embedder

WIDTH = 64
SENTENCES = 4_000

NAMES = [
    "Ada",
    "Ben",
    "Chloe",
    "Dario",
    "Elif",
    "Farid",
    "Grace",
    "Hugo",
    "Ines",
    "Jonas",
    "Kira",
    "Leo",
    "Mina",
    "Noor",
    "Otto",
    "Priya",
    "Quinn",
    "Rosa",
    "Sven",
    "Tara",
]
PLACES = [
    "Lisbon",
    "the lake",
    "our old school",
    "Kyoto",
    "the harbour",
    "Nairobi",
    "a small village",
    "the mountains",
    "Oslo",
    "the library",
    "the hospital",
    "my aunt's farm",
    "Montreal",
    "the beach",
    "the office",
    "a cafe downtown",
    "Prague",
    "the national park",
    "the gym",
    "home",
]
THINGS = [
    "guitar",
    "bread",
    "a telescope",
    "the garden",
    "a novel",
    "watercolours",
    "a motorbike",
    "chess",
    "the piano",
    "pottery",
    "a puppy",
    "yoga",
    "a podcast",
    "bees",
    "a marathon",
    "old maps",
    "soup",
    "a web shop",
    "a sweater",
    "photography",
    "the violin",
    "tomatoes",
    "a tent",
    "karate",
]
PEOPLE = [
    "my sister",
    "my boss",
    "an old friend",
    "our neighbour",
    "my daughter",
    "my grandfather",
    "the doctor",
    "my team",
    "my partner",
    "a colleague",
    "my cousin",
    "the kids",
    "my teacher",
    "her brother",
    "his parents",
    "our landlord",
]
TIMES = [
    "yesterday",
    "last week",
    "in March",
    "two years ago",
    "on Friday",
    "next summer",
    "this morning",
    "since 2019",
    "last weekend",
    "tomorrow",
    "a month ago",
    "in the evening",
    "on my birthday",
    "when I was ten",
    "at the end of May",
    "every Tuesday",
]
FEELINGS = [
    "happy",
    "nervous",
    "proud",
    "tired",
    "relieved",
    "curious",
    "lonely",
    "excited",
    "angry",
    "calm",
    "grateful",
    "worried",
    "bored",
    "hopeful",
]
WORKS = [
    "nurse",
    "carpenter",
    "software engineer",
    "teacher",
    "baker",
    "lawyer",
    "photographer",
    "pilot",
    "student",
    "designer",
    "farmer",
    "accountant",
    "researcher",
    "musician",
    "electrician",
    "translator",
]
CAUSES = [
    "it reminded me of home",
    "the price went up",
    "we lost the game",
    "the weather changed",
    "I needed a break",
    "they moved away",
    "the train was late",
    "I wanted to learn something new",
    "the contract ended",
    "the dog was ill",
    "my knee hurt",
    "we won a prize",
]
FOODS = [
    "noodles",
    "pancakes",
    "lentils",
    "grilled fish",
    "peanuts",
    "cheese",
    "curry",
    "apple pie",
    "coffee",
    "green tea",
    "olives",
    "rice",
]
NUMBERS = ["two", "three", "five", "ten", "a dozen", "forty", "a hundred", "seven", "several", "a couple of"]

FRAMES = (
    "{name}: I started with {thing} {time} and I am {feeling} about it.",
    "{name}: What did {person} say when you told them about {place}?",
    "{name}: We went to {place} {time} with {person}, and we ate {food} there.",
    "{name}: I work as a {work} near {place}, but I would rather be a {work2}.",
    "{name}: I stopped with {thing} because {cause}.",
    "{name}: {person} gave me {number} tickets for {place}.",
    "{name}: How long have you been doing {thing}?",
    "{name}: Thanks! I have done it for {number} years, it keeps me {feeling}.",
    "{name}: {person} is allergic to {food}, so we cook {food2} instead.",
    "{name}: That sounds wonderful, I am so {feeling} for you!",
    "{name}: My plan is to move to {place} {time} and to open a shop for {thing}.",
    "{name}: I was {feeling} {time}, since {cause}.",
    "When did {name} go to {place}?",
    "What does {name} do for a living since {time}?",
    "Why did {name} give up {thing}?",
    "Who went with {name} to {place} {time}?",
    "Which food can {name} not eat, {food} or {food2}?",
    "How many times has {name} visited {place}?",
    "I prefer {food} to {food2}, and I never drink {food3}.",
    "Please remind me to call {person} {time} about {thing}.",
    "The {work} told {person} that {cause}, and that it costs {number} thousand.",
    "You could try {thing} first; many people find it makes them {feeling}.",
    "To set it up, install the package, write the settings file, and restart the server {time}.",
    "The meeting about the budget moved from {place} to {place2}, {time}.",
    "[8 May 2023] {name}: Look at this picture! [shares a photo of {thing} at {place}]",
    "[21 November 2024] {name}: {person} moved to {place}, because {cause}.",
)


def sentences(count: int, *, seed: int = 7) -> Iterator[str]:
    """Yield sentences of everyday talk, always the same ones for a seed."""
    draw = random.Random(seed)
    slots = {
        "name": NAMES,
        "thing": THINGS,
        "time": TIMES,
        "person": PEOPLE,
        "place": PLACES,
        "place2": PLACES,
        "feeling": FEELINGS,
        "food": FOODS,
        "food2": FOODS,
        "food3": FOODS,
        "work": WORKS,
        "work2": WORKS,
        "cause": CAUSES,
        "number": NUMBERS,
    }
    for number in range(count):
        filled = {slot: draw.choice(choices) for slot, choices in slots.items()}
        sentence = FRAMES[number % len(FRAMES)].format(**filled)
        yield sentence if draw.random() < 0.7 else f"{sentence} {FRAMES[draw.randrange(len(FRAMES))].format(**filled)}"


def principal(tokens: Sequence[NDArray[np.float32]], width: int) -> NDArray[np.float32]:
    """Return the directions, as columns, along which vectors of unit length differ most, their mean included."""
    total = np.zeros((tokens[0].shape[1],) * 2)
    for each in tokens:
        unit = each / np.linalg.norm(each, axis=1, keepdims=True)
        total += unit.T.astype(np.float64) @ unit
    _, directions = np.linalg.eigh(total)
    return directions[:, ::-1][:, :width].astype(np.float32)


async def made(count: int, width: int) -> NDArray[np.float16]:
    async with open_embedder(Settings.from_sources(), None) as embedder:
        if not isinstance(embedder, TokenEmbedder):
            raise SystemExit(f"{embedder.identity} shows no tokens")
        readings = await embedder.read(list(sentences(count)))
    words = [reading.tokens[[bool(word) for word in reading.words]] for reading in readings]
    return principal(words, width).astype(np.float16)


if __name__ == "__main__":
    np.save(Path(sys.argv[1]), asyncio.run(made(SENTENCES, WIDTH)))
