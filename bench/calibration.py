"""Fit the table of numbers in `recall/calibrate.py`: how likely it is that a question can be answered at all.

    python -m bench.calibration --data FILE --format locomo [--data …]

Questions of a conversation, against questions of the next one with the names swapped; asked of all of it and of short
stretches around the evidence, since in a small memory little is near by chance. Prints a logistic fit for each of the
three tables, with its AUROC on conversations that were left out of the fit, beside that of the table that ships.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from commonplace.domain.scope import Scope
from commonplace.engine.embedding import Embedding
from commonplace.evaluation.asking import Bench, fill
from commonplace.evaluation.data import READERS, Conversation, borrowed, read
from commonplace.evaluation.metrics import auroc
from commonplace.ports.ledger import Feed, Versions
from commonplace.recall.calibrate import (
    WITH_TOKENS,
    WITH_VECTORS,
    WITH_WORDS,
    Calibration,
    Evidence,
    answerable,
    signs_of,
)
from commonplace.recall.corpus import Corpus, Filters
from commonplace.recall.search import Asked, best_rows, evidence, fused_parts, retrieve
from commonplace.settings import Settings
from commonplace.wiring import Location, open_embedder, opened

Floats = NDArray[np.float64]
SIZES = (20, 60, 200)
"""Rows of the short stretches; every fifth question is asked of them."""
PENALTY = 1e-3
LOST = 0.01
"""The share of questions with an answer that the threshold may lose."""
TABLES: Mapping[str, Calibration] = {
    "WITH_TOKENS": WITH_TOKENS,
    "WITH_VECTORS": WITH_VECTORS,
    "WITH_WORDS": WITH_WORDS,
}


@dataclass(frozen=True, slots=True)
class Case:
    conversation: int
    known: bool
    """Whether the conversation answers the question."""
    whole: bool
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    gold: frozenset[str]


async def cases(conversations: Sequence[Conversation], folder: Path) -> dict[str, list[Case]]:
    """Return what speaks for the best item of every question, by the table that would judge it."""
    found: dict[str, list[Case]] = {name: [] for name in TABLES}
    async with open_embedder(Settings.from_sources(), None) as embedder:
        await fill(Bench(folder=folder, embedder=embedder), conversations, learn=False)
        embedding = Embedding(embedder)
        async with opened(Location(home=folder), {}, embedder) as parts:
            for number, conversation in enumerate(conversations):
                feed = await parts.ledger.feed(Scope("default", conversation.name), since=0)
                for question, corpus, whole in _asked(conversations, number, feed, embedder.dimensions):
                    (sense,) = await embedding.embed_all([question.text])
                    asked = Asked(text=question.text, vector=sense.vector, tokens=sense.tokens)
                    forms = (asked, replace(asked, tokens=None), replace(asked, tokens=None, vector=None))
                    for name, form in zip(TABLES, forms, strict=True):
                        if (seen := _evidence(corpus, form)) is not None:
                            found[name].append(Case(number, bool(question.gold), whole, seen))
    return found


def _asked(
    conversations: Sequence[Conversation], number: int, feed: Feed, dimensions: int
) -> Iterator[tuple[Question, Corpus, bool]]:
    mine, other = conversations[number], conversations[(number + 1) % len(conversations)]
    own = [Question(question.text, question.gold) for question in mine.questions if question.gold]
    foreign = [Question(text, frozenset()) for text in borrowed(other, mine)]
    whole = _corpus(feed, slice(None), dimensions)
    yield from ((question, whole, True) for question in own + foreign)
    for question, stranger in zip(own[::5], foreign[::5], strict=False):
        place = next(at for at, row in enumerate(feed.messages) if row.id in question.gold)
        for size in SIZES:
            start = max(0, place - size // 2)
            part = _corpus(feed, slice(start, start + size), dimensions)
            yield question, part, False
            yield stranger, part, False


def _corpus(feed: Feed, rows: slice, dimensions: int) -> Corpus:
    corpus, kept = Corpus(dimensions=dimensions), feed.messages[rows]
    corpus.apply(Feed(Versions(1, 1, 0, len(kept)), kept, [], []))
    return corpus


def _evidence(corpus: Corpus, asked: Asked) -> Evidence | None:
    now = time.time_ns() // 1000
    found = retrieve(corpus, asked, mask=corpus.mask(Filters(now=now)), now=now)
    if not len(found.slots):
        return None
    found, parts = fused_parts(corpus, found, asked.tokens, limit=10)
    return evidence(corpus, found, best_rows(corpus, found.slots, np.sum(list(parts.values()), axis=0)))


def fitted(signs: Floats, known: Floats) -> Floats:
    """Return the weights of a logistic regression, by Newton's method."""
    weights = np.zeros(signs.shape[1])
    for _ in range(50):
        likely = 1 / (1 + np.exp(-signs @ weights))
        slope = signs.T @ (likely - known) / len(known) + PENALTY * weights
        curve = (signs.T * (likely * (1 - likely))) @ signs / len(known) + PENALTY * np.eye(len(weights))
        weights -= np.linalg.solve(curve, slope)
    return weights


def report(name: str, found: Sequence[Case], console: Console) -> None:
    ships = TABLES[name]
    used = [place for place, field in enumerate(fields(ships)) if getattr(ships, field.name)]
    signs = np.array([signs_of(case.evidence) for case in found])[:, used]
    known = np.array([case.known for case in found], float)
    of = np.array([case.conversation for case in found])
    left_out = np.zeros(len(found))
    for each in np.unique(of):
        left_out[of == each] = signs[of == each] @ fitted(signs[of != each], known[of != each])
    whole = np.array([case.whole for case in found])
    now = np.array([answerable(case.evidence) for case in found])
    numbers = ", ".join(
        f"{fields(ships)[place].name}={weight:.2f}" for place, weight in zip(used, fitted(signs, known), strict=True)
    )
    console.print(f"{name} = Calibration({numbers})")
    for label, scores in (("  left out of the fit", left_out), ("  as it ships", now)):
        value = auroc(list(scores[whole & (known == 1)]), list(scores[whole & (known == 0)]))
        console.print(f"{label}: AUROC {value}")
    lost = np.quantile(now[whole & (known == 1)], LOST)
    console.print(f"  as it ships, a threshold of {lost:.2f} loses {LOST:.0%} of the questions that have an answer")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.calibration", description=__doc__)
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--format", choices=READERS, default="jsonl")
    wanted = parser.parse_args(arguments)
    conversations = [each for path in wanted.data for each in read(path, wanted.format)]
    if len(conversations) < 2:
        parser.error("expected at least two conversations: one is judged by what was fitted on the others")
    with tempfile.TemporaryDirectory(prefix="commonplace-calibration-") as folder:
        found = asyncio.run(cases(conversations, Path(folder)))
    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)
    for name in TABLES:
        report(name, found[name], console)
    return 0


if __name__ == "__main__":
    sys.exit(main())
