"""One evaluation from files to figures."""

import hashlib
import json
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from commonplace.domain.errors import InvalidInput
from commonplace.evaluation.asking import Bench, Progress, ask, fill
from commonplace.evaluation.data import Conversation, joined, merged, read
from commonplace.evaluation.embedders import Absent, kept
from commonplace.evaluation.metrics import BUDGETS
from commonplace.evaluation.parts import NOTHING, PARTS
from commonplace.evaluation.report import Evaluation, report_of
from commonplace.settings import Settings
from commonplace.wiring import Embed, open_embedder

WORDS = "words"
"""The name of no embedder at all."""
FILLED = "evaluation.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to evaluate."""

    data: Sequence[Path]
    form: str = "jsonl"
    without: Sequence[str] = ()
    """Parts to leave out, one after the other; the first report is of all of them in place if this is a ladder."""
    ladder: bool = False
    merged: bool = False
    others: Sequence[Path] = ()
    learn: bool = True
    embedder: str | None = None
    folder: Path | None = None
    """Where to keep the filled memory, or find it. None: nowhere."""


async def evaluate(
    wanted: Wanted,
    settings: dict[str, object] | None = None,
    *,
    embed: Embed | None = None,
    report: Progress = lambda what, done, total: None,
) -> Evaluation:
    """Fill a memory and ask it everything, once for each part that is left out.

    Raises InvalidInput, and EmbedderUnavailable: where a model is missing, its figures are not those of words alone.
    """
    left_out = _left_out(wanted)
    conversations = _conversations(wanted)
    chosen = {**(settings or {}), **embedder_settings(wanted.embedder)}
    started = datetime.now(UTC).isoformat(timespec="seconds")
    with ExitStack() as stack:
        folder = wanted.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="commonplace-eval-")))
        by_words = Absent() if wanted.embedder == WORDS else None
        async with open_embedder(Settings.from_sources(**chosen), by_words or embed) as embedder:
            if not by_words:
                await embedder.embed(["Is there a model?"])
            bench = Bench(folder=folder, embedder=embedder, settings=chosen, report=report)
            await _filled(bench, conversations, wanted)
            questions = kept(embedder)
            reports = []
            for name in left_out:
                part = PARTS[name] if name else NOTHING
                budgets = BUDGETS if name is None or not wanted.ladder else ()
                run = await ask(bench, conversations, without=part, questions=questions, budgets=budgets)
                reports.append(report_of(run, without=name))
    return Evaluation(
        started=started,
        data=[path.name for path in wanted.data],
        conversations=len(conversations),
        messages=sum(len(each.turns) for each in conversations),
        embedder=embedder.identity,
        merged=wanted.merged,
        reports=reports,
    )


def _left_out(wanted: Wanted) -> list[str | None]:
    if unknown := sorted(set(wanted.without) - PARTS.keys()):
        raise InvalidInput(f"without {', '.join(unknown)}: expected some of {', '.join(PARTS)}")
    if wanted.ladder:
        return [None, *(wanted.without or PARTS)]
    return list(wanted.without) or [None]


def _conversations(wanted: Wanted) -> list[Conversation]:
    found = [each for path in wanted.data for each in read(path, wanted.form)]
    if not any(each.questions for each in found):
        raise InvalidInput(f"{', '.join(map(str, wanted.data)) or 'no data'}: expected at least one question")
    if len({each.name for each in found}) < len(found):
        raise InvalidInput("two conversations have the same name: each is one user of its own")
    if wanted.merged:
        found = [merged(found)]
    others = [each for path in wanted.others for each in read(path, "jsonl")]
    return [joined(each, others) for each in found] if others else found


def embedder_settings(name: str | None) -> dict[str, object]:
    """Return the settings that an embedder's name stands for: `local`, `local:FOLDER`, `PROVIDER:MODEL`, `words`."""
    if name is None or name in (WORDS, "local"):
        return {}
    provider, _, model = name.partition(":")
    if not model:
        raise InvalidInput(f"embedder {name!r}: expected {WORDS}, local, local:FOLDER or PROVIDER:MODEL")
    if provider == "local":
        return {"model_path": model}
    return {"embedding_provider": provider, "embedding_model": model}


async def _filled(bench: Bench, conversations: Sequence[Conversation], wanted: Wanted) -> None:
    """Fill the memory, unless it holds just this already."""
    mark, content = bench.folder / FILLED, _digest(conversations, wanted, bench.embedder.identity)
    if mark.is_file() and mark.read_text(encoding="utf-8") == content:
        return
    if bench.folder.is_dir() and any(bench.folder.iterdir()):
        raise InvalidInput(
            f"{bench.folder}: expected an empty folder, or one that an earlier run filled with this data"
        )
    await fill(bench, conversations, learn=wanted.learn)
    mark.write_text(content, encoding="utf-8")


def _digest(conversations: Sequence[Conversation], wanted: Wanted, embedder: str) -> str:
    digest = hashlib.sha256(json.dumps([wanted.learn, embedder]).encode())
    for conversation in conversations:
        for turn in conversation.turns:
            digest.update(json.dumps([conversation.name, *map(str, asdict(turn).values())]).encode())
    return json.dumps({"content": digest.hexdigest()})
