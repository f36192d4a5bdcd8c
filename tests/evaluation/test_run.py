"""A whole evaluation on a few messages of our own, through the memory that everybody uses."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from commonplace.adapters.hashing import HashEmbedder
from commonplace.domain.errors import EmbedderUnavailable, InvalidInput
from commonplace.evaluation.asking import Bench, ask, fill
from commonplace.evaluation.data import read
from commonplace.evaluation.embedders import Absent, kept
from commonplace.evaluation.parts import PARTS
from commonplace.evaluation.report import Evaluation, changes
from commonplace.evaluation.run import Wanted, embedder_settings, evaluate
from commonplace.recall.weights import Weights

SETS = Path(__file__).parent.parent.parent / "bench" / "sets" / "everyday"
DATA = [SETS / "kofi.jsonl", SETS / "marta.jsonl"]


@pytest.fixture
def wanted() -> Wanted:
    return Wanted(data=DATA)


async def test_the_shipped_path_finds_most_of_what_was_said(wanted: Wanted) -> None:
    evaluation = await evaluate(wanted, embed=HashEmbedder(dimensions=64))
    (report,) = evaluation.reports
    assert report.questions == sum(len(q.gold) > 0 for path in DATA for q in read(path, "jsonl")[0].questions)
    assert report.figures["R@10"].value > 60
    assert report.figures["within 4000"].value >= report.figures["within 500"].value > 50
    assert report.auroc is not None
    assert report.auroc.value > 0.65  # by hashes of words; the local model has 0.87 on these
    assert report.milliseconds["p50"] > 0


async def test_each_rung_of_the_ladder_leaves_one_part_out_and_embeds_nothing_again(wanted: Wanted) -> None:
    class Counting(HashEmbedder):
        texts = 0

        async def embed(self, texts):  # type: ignore[no-untyped-def]
            self.texts += len(texts)
            return await super().embed(texts)

    once, ladder = Counting(), Counting()
    await evaluate(wanted, embed=once)
    evaluation = await evaluate(replace(wanted, ladder=True, without=["neighbours", "priors"]), embed=ladder)
    assert [report.without for report in evaluation.reports] == [None, "neighbours", "priors"]
    assert ladder.texts == once.texts


async def test_a_part_that_is_left_out_changes_the_figures(wanted: Wanted) -> None:
    evaluation = await evaluate(replace(wanted, ladder=True, without=["lexical"]), embed=HashEmbedder())
    whole, without = (report.figures["MRR"].value for report in evaluation.reports)
    assert without < whole


@pytest.mark.parametrize("name", PARTS)
def test_every_part_is_left_out_by_something(name: str) -> None:
    part = PARTS[name]
    assert part.weights != Weights() or not (part.tokens and part.model and part.threshold)


async def test_words_alone_need_no_embedder(wanted: Wanted) -> None:
    evaluation = await evaluate(replace(wanted, embedder="words"))
    assert evaluation.embedder == "none"
    assert evaluation.reports[0].figures["R@10"].value > 40


async def test_a_missing_model_is_no_evaluation_by_words(wanted: Wanted, tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable):
        await evaluate(wanted, {"model_cache": tmp_path})


async def test_merged_and_with_other_messages_everything_is_one_users(wanted: Wanted) -> None:
    evaluation = await evaluate(replace(wanted, merged=True, others=[SETS / "lin.jsonl"]), embed=HashEmbedder())
    assert evaluation.conversations == 1
    assert evaluation.messages == sum(len(read(path, "jsonl")[0].turns) for path in SETS.iterdir())
    assert evaluation.reports[0].foreign == sum(not q.gold for path in DATA for q in read(path, "jsonl")[0].questions)


async def test_a_kept_memory_is_used_again_and_refused_for_other_data(wanted: Wanted, tmp_path: Path) -> None:
    keeping = replace(wanted, folder=tmp_path / "kept")
    first = await evaluate(keeping, embed=HashEmbedder())
    ledger = (tmp_path / "kept" / "ledger.db").stat().st_ctime_ns
    again = await evaluate(keeping, embed=HashEmbedder())
    assert (tmp_path / "kept" / "ledger.db").stat().st_ctime_ns == ledger
    assert again.reports[0].figures == first.reports[0].figures
    with pytest.raises(InvalidInput, match="expected an empty folder"):
        await evaluate(replace(keeping, data=DATA[:1]), embed=HashEmbedder())


async def test_nothing_of_it_reaches_the_operators_own_memory(
    wanted: Wanted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMMONPLACE_HOME", str(tmp_path / "mine"))
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path}/mine.db")
    monkeypatch.setenv("AGENT_MODEL", "openai:gpt")
    await evaluate(wanted, embed=HashEmbedder())
    assert not await anyio.Path(tmp_path / "mine").exists()
    assert not await anyio.Path(tmp_path / "mine.db").exists()


async def test_a_report_is_read_back_as_it_was_written_and_compared(wanted: Wanted, tmp_path: Path) -> None:
    evaluation = await evaluate(wanted, embed=HashEmbedder())
    evaluation.write(tmp_path / "new" / "run.json")
    read_back = Evaluation.read(tmp_path / "new" / "run.json")
    assert read_back == evaluation
    compared = changes(read_back, evaluation)
    assert {change.measure for change in compared} >= {"R@10", "within 500", "AUROC"}
    assert not any(change.beyond_chance for change in compared)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"reports": [{}]}', '{"reports": []}'])
def test_what_is_no_report_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text(content)
    with pytest.raises(InvalidInput, match="expected the JSON of an earlier run"):
        Evaluation.read(path)


async def test_unknown_parts_and_data_without_questions_are_refused(wanted: Wanted, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="without luck: expected some of neighbours, "):
        await evaluate(replace(wanted, without=["luck"]))
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(InvalidInput, match="expected at least one question"):
        await evaluate(replace(wanted, data=[tmp_path / "empty.jsonl"]))
    with pytest.raises(InvalidInput, match="the same name"):
        await evaluate(replace(wanted, data=[*DATA, DATA[0]]))


def test_an_embedder_is_named_by_its_provider_or_folder() -> None:
    assert embedder_settings(None) == embedder_settings("local") == embedder_settings("words") == {}
    assert embedder_settings("local:/models/m") == {"model_path": "/models/m"}
    assert embedder_settings("openai:m") == {"embedding_provider": "openai", "embedding_model": "m"}
    with pytest.raises(InvalidInput, match="PROVIDER:MODEL"):
        embedder_settings("magic")


async def test_filling_and_asking_can_be_called_apart(tmp_path: Path) -> None:
    conversations = [each for path in DATA for each in read(path, "jsonl")]
    bench = Bench(folder=tmp_path, embedder=HashEmbedder())
    await fill(bench, conversations, learn=False)
    run = await ask(bench, conversations, without=PARTS["threshold"], questions=kept(HashEmbedder()))
    assert not any(run.silent)
    assert all(outcome.within == {} for outcome in run.outcomes)


async def test_an_absent_embedder_says_that_it_is() -> None:
    with pytest.raises(EmbedderUnavailable):
        await Absent().embed(["a"])
