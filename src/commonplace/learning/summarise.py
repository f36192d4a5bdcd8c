"""Which older part of a session is to be summed up, and how that is done without a model: by its own sentences.

Only what people and assistants said takes part; a tool's output and what tries to give orders does not.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

from commonplace.domain.times import day
from commonplace.domain.values import Message
from commonplace.prompts import Prompt

Count = Callable[[str], int]
LONGEST = 40
"""Words of a sentence that are taken."""
LONGEST_MESSAGE = 2_000
"""Characters of one message that a model is shown."""
PLANTED = "planted"

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_WORD = re.compile(r"\w+")
_TELLING = 4
"""Letters. Shorter words say little of what was talked about."""


@cache
def summarise_prompt() -> Prompt:
    return Prompt.load("summarise")


def ask(messages: Sequence[Message], *, words: int) -> str:
    """Return the prompt that asks for a summary."""
    talk = "\n".join(f"[{day(one.at)}] {speaker(one)}: {_inside(one.text[:LONGEST_MESSAGE])}" for one in told(messages))
    return summarise_prompt().render(talk=talk or "(nothing)", words=str(words))


def stretches(messages: Sequence[Message], *, after: int, piece: float, count: Count) -> list[Sequence[Message]]:
    """Return what is to be summed up of messages that no summary covers, oldest first, in pieces of `piece` tokens.

    Nothing while they have up to `after` tokens; what is left has no more than that.
    """
    costs = [count(one.text) for one in messages]
    left, begin, found = sum(costs), 0, list[Sequence[Message]]()
    while left > after:
        end, size = begin, 0
        while size < piece and end < len(messages):
            size += costs[end]
            end += 1
        found.append(messages[begin:end])
        begin, left = end, left - size
    return found


def in_their_words(messages: Sequence[Message], *, tokens: int, count: Count) -> str:
    """Return the sentences that stand for the others, in the order in which they were said, up to so many tokens."""
    said = [(one, sentence) for one in told(messages) for sentence in _sentences(one.text)]
    words = [frozenset(_telling(sentence)) for _, sentence in said]
    weights: Counter[str] = Counter(word for some in words for word in some)
    head = f"Excerpts from {len(messages)} messages, {_span(messages)}:"
    room, chosen = tokens - count(head), set[int]()
    waiting = {n for n, some in enumerate(words) if some}
    while waiting:
        best = max(waiting, key=lambda n: (_weight(words[n], weights) * (1.5 if said[n][0].role == "user" else 1), -n))
        waiting.discard(best)
        room -= count(said[best][1]) + 3
        if room < 0:
            break
        chosen.add(best)
        for word in words[best]:
            weights[word] //= 4
    return f"{head} {_joined([said[n] for n in sorted(chosen)])}".strip()


def told(messages: Sequence[Message]) -> list[Message]:
    return [one for one in messages if one.role in ("user", "assistant") and one.metadata.get(PLANTED) is not True]


def speaker(message: Message) -> str:
    return _inside(" ".join((message.name or message.role).split()))


def _sentences(text: str) -> list[str]:
    parts = (part.split() for part in _SENTENCE.findall(text))
    return [" ".join(words[:LONGEST]) + (" …" if len(words) > LONGEST else "") for words in parts if words]


def _telling(sentence: str) -> list[str]:
    words = _WORD.findall(sentence.casefold())
    return [word for word in words if len(word) >= _TELLING or not word.isascii() or word.isdigit()]


def _weight(words: frozenset[str], weights: Counter[str]) -> float:
    return sum(weights[word] for word in words) / (len(words) + 3)


def _joined(said: Sequence[tuple[Message, str]]) -> str:
    parts: list[str] = []
    last: str | None = None
    for message, sentence in said:
        who = speaker(message)
        parts.append(sentence if who == last else f"{who}: {sentence}")
        last = who
    return " ".join(parts)


def _span(messages: Sequence[Message]) -> str:
    first, last = day(messages[0].at), day(messages[-1].at)
    return first if first == last else f"{first} to {last}"


def _inside(text: str) -> str:
    """Keep the text from opening or closing one of the parts of a prompt."""
    return " ".join(text.split()).replace("<", "‹").replace(">", "›")
