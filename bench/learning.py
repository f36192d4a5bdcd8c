"""Precision and recall of learning by rules, by category. `python -m bench.learning [--json] [--misses] [FILE …]`"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from commonplace import AsyncMemory
from commonplace.adapters.rules import RuleExtractor
from commonplace.domain.claims import Claim
from commonplace.domain.values import Message, MessageId

DATA = Path(__file__).parent.parent / "tests" / "learning" / "data"
SETS = (DATA / "statements.jsonl", DATA / "statements_heldout.jsonl")
SAID_AT = datetime(2026, 5, 12, 9, 30, tzinfo=UTC)
Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Example:
    id: str
    category: str
    text: str
    before: tuple[str, ...]
    expected: frozenset[Key]
    optional: frozenset[Key]


@dataclass(slots=True)
class Score:
    """How many claims were right, wrong and missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    misses: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


def normal(value: str) -> str:
    """Values are compared without case, articles and marks."""
    words = value.casefold().replace("’", "'").strip(" .,!").split()
    return " ".join(word for word in words if word not in {"a", "an", "the", "my", "their"})


def load(path: Path) -> list[Example]:
    return [_example(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _example(row: dict[str, object]) -> Example:
    claims = row["expect"]
    before = row.get("before", [])
    assert isinstance(claims, list) and isinstance(before, list)
    return Example(
        id=str(row["id"]),
        category=str(row["category"]),
        text=str(row["text"]),
        before=tuple(str(text) for text in before),
        expected=frozenset(_key(claim) for claim in claims if not claim.get("optional")),
        optional=frozenset(_key(claim) for claim in claims if claim.get("optional")),
    )


def _key(claim: dict[str, object]) -> Key:
    return (
        str(claim.get("subject", "user")),
        str(claim["attribute"]),
        normal(str(claim["value"])),
        str(claim.get("standing", "holds")),
    )


def key_of(claim: Claim) -> Key:
    return (claim.subject, claim.attribute, normal(claim.value), claim.standing)


def a_message(text: str, number: int = 0) -> Message:
    return Message(id=MessageId(f"m{number}"), role="user", text=text, at=SAID_AT, recorded_at=SAID_AT)


def score(examples: Iterable[Example], extractor: RuleExtractor) -> dict[str, Score]:
    """Compare what is read with what should be, by category, with the sum under "all"."""
    scores: dict[str, Score] = {}
    for example in examples:
        before = [a_message(text, number) for number, text in enumerate(example.before)]
        got = {key_of(claim) for claim in extractor.claims(a_message(example.text, 99), before=before)}
        wrong = got - example.expected - example.optional
        missed = example.expected - got
        for name in (example.category, "all"):
            part = scores.setdefault(name, Score())
            part.right += len(got & example.expected)
            part.wrong += len(wrong)
            part.missed += len(missed)
        scores["all"].misses.extend(_complaints(example, wrong, missed))
    return scores


def _complaints(example: Example, wrong: Iterable[Key], missed: Iterable[Key]) -> list[str]:
    lines = [f"{example.id} wrong  {key}  in {example.text!r}" for key in wrong]
    return lines + [f"{example.id} missed {key}  in {example.text!r}" for key in missed]


def speed(examples: Sequence[Example], extractor: RuleExtractor, rounds: int = 5) -> dict[str, float]:
    """Median microseconds a message, for messages that teach something and for those that do not."""
    spent: dict[str, list[float]] = {"facts": [], "nothing": []}
    for example in examples:
        message = a_message(example.text)
        best = min(_timed(extractor, message) for _ in range(rounds))
        spent["facts" if example.expected else "nothing"].append(best * 1e6)
    return {kind: round(statistics.median(times), 1) for kind, times in spent.items() if times}


def _timed(extractor: RuleExtractor, message: Message) -> float:
    begin = time.perf_counter()
    extractor.claims(message)
    return time.perf_counter() - begin


def report(path: Path, extractor: RuleExtractor) -> dict[str, object]:
    examples = load(path)
    scores = score(examples, extractor)
    categories = {
        name: {
            "precision": round(part.precision, 3),
            "recall": round(part.recall, 3),
            "claims": part.right + part.missed,
        }
        for name, part in scores.items()
    }
    return {
        "set": path.name,
        "messages": len(examples),
        "nothing": sum(not example.expected for example in examples),
        "categories": categories,
        "microseconds": speed(examples, extractor),
        "misses": scores["all"].misses,
        "count": dict(Counter(example.category for example in examples)),
    }


def show(result: dict[str, object], *, misses: bool) -> str:
    categories, count = result["categories"], result["count"]
    assert isinstance(categories, dict) and isinstance(count, dict)
    lines = [
        f"{result['set']}: {result['messages']} messages, {result['nothing']} of them must yield nothing; "
        f"µs a message {result['microseconds']}"
    ]
    lines += [
        f"  {name:24} {count.get(name, result['messages']):5} messages  "
        f"precision {part['precision']:.3f}  recall {part['recall']:.3f}"
        for name, part in categories.items()
    ]
    complaints = result["misses"]
    assert isinstance(complaints, list)
    return "\n".join(lines + (complaints if misses else []))


async def cost_of_adding(examples: Sequence[Example], folder: str) -> dict[str, float]:
    """Median milliseconds of `add`, with and without learning, message by message in turn; the real embedder."""
    spent: dict[bool, list[float]] = {True: [], False: []}
    async with AsyncMemory.open(folder, index="exact") as memory:
        for example in examples[:20]:
            await memory.add(example.text, user="to warm up")
        for number, example in enumerate(examples):
            for learn in (True, False) if number % 2 else (False, True):
                text = example.text + (" " if learn else "  ")  # not in the cache of embeddings yet
                begin = time.perf_counter()
                await memory.add(text, user=f"learn {learn} {number // 20}", learn=learn)
                spent[learn].append((time.perf_counter() - begin) * 1e3)
    learned, kept = (statistics.median(spent[learn]) for learn in (True, False))
    return {"learn": round(learned, 2), "keep": round(kept, 2), "ratio": round(learned / kept, 2)}


def show_cost() -> str:
    with tempfile.TemporaryDirectory() as folder:
        cost = asyncio.run(cost_of_adding(load(SETS[0]), folder))
    return f"add: {cost['learn']} ms with learning, {cost['keep']} ms without, at the median: {cost['ratio']}x"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=list(SETS))
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.add_argument("--misses", action="store_true", help="show every claim that was wrong or missed")
    parser.add_argument("--add", action="store_true", help="measure what learning adds to the time of add, too")
    options = parser.parse_args(arguments)
    extractor = RuleExtractor()
    results = [report(path, extractor) for path in options.files]
    sys.stdout.write(
        json.dumps(results, indent=2, ensure_ascii=False)
        if options.json
        else "\n\n".join(show(result, misses=options.misses) for result in results)
    )
    sys.stdout.write(f"\n\n{show_cost()}\n" if options.add and not options.json else "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
