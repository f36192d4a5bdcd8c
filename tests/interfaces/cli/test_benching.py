import sys
from pathlib import Path

import pytest

import commonplace
from tests.interfaces.cli.conftest import Cli

OWN = (
    '{"id": 1, "session": "a", "content": "I teach chemistry at a school in Porto."}\n'
    '{"id": 2, "session": "b", "content": "My husband Rui is a firefighter."}\n'
    '{"question": "What do I teach?", "evidence": [1]}\n'
    '{"question": "What does Rui, my husband, do?", "evidence": [2], "category": "people"}\n'
)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.jsonl"
    path.write_text(OWN)
    return path


def test_benchmarks_without_the_repository_are_explained(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commonplace, "__file__", str(tmp_path / "lib" / "commonplace" / "__init__.py"))
    for command in (("bench",), ("bench", "--size", "3"), ("bench", "speed")):
        ran = cli(*command)
        assert (ran.code, ran.out) == (4, "")
        assert "the benchmarks come with the repository" in ran.err


def test_benchmarks_are_given_their_options_and_their_exit_code_is_ours(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "__init__.py").touch()
    (tmp_path / "bench" / "__main__.py").write_text("import sys; sys.exit(sys.argv[1:] == ['--size', '3'] and 7)")
    monkeypatch.setattr(commonplace, "__file__", str(tmp_path / "src" / "commonplace" / "__init__.py"))
    assert cli("bench", "--size", "3").code == 7
    assert cli("bench", "speed", "--size", "3").code == 7
    assert cli("bench").code == 0


def test_ones_own_questions_are_asked_and_counted(cli: Cli, own: Path) -> None:
    ran = cli("bench", "recall", "--data", own, "--embedder", "words", "--json")
    assert ran.code == 0
    (report,) = ran.json["reports"]
    assert report["questions"] == 2
    assert report["figures"]["R@10"]["value"] == 100
    assert set(report["categories"]) == {"all", "people"}


def test_figures_are_shown_written_drawn_and_compared(cli: Cli, own: Path, tmp_path: Path) -> None:
    ask = ("bench", "recall", "--data", own, "--embedder", "words", "--ladder", "--without", "priors")
    ran = cli(*ask, "--out", tmp_path / "out")
    assert ran.code == 0
    assert "R@10" in ran.out
    assert "95 % interval" in ran.out
    assert "priors" in ran.out
    figures, picture = sorted((tmp_path / "out").iterdir())
    assert (figures.suffix, picture.suffix) == (".json", ".png")
    assert picture.stat().st_size
    compared = cli(*ask, "--compare", figures)
    assert "What has changed" in compared.out
    assert cli(*ask, "--compare", figures, "--json").json["changes"]


def test_without_matplotlib_there_are_figures_and_no_picture(
    cli: Cli, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "commonplace.evaluation.plot", None)
    ran = cli("bench", "recall", "--data", own, "--embedder", "words", "--out", tmp_path / "out")
    assert ran.code == 0
    assert "pip install 'commonplace[bench]'" in ran.err
    assert [path.suffix for path in (tmp_path / "out").iterdir()] == [".json"]


def test_a_missing_model_is_said_and_not_passed_over(cli: Cli, own: Path) -> None:
    ran = cli("bench", "recall", "--data", own)
    assert ran.code == 4
    assert "commonplace model fetch" in ran.err


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--data", "nowhere.jsonl"), "cannot be read"),
        (("--data", "own.jsonl", "--format", "csv"), "expected one of jsonl"),
        (("--data", "own.jsonl", "--without", "luck"), "expected some of neighbours"),
        (("--data", "own.jsonl", "--compare", "own.jsonl"), "expected the JSON of an earlier run"),
        (("--data", "own.jsonl", "--embedder", "magic"), "PROVIDER:MODEL"),
    ],
)
def test_wrong_use_is_refused_in_one_sentence(cli: Cli, own: Path, options: tuple[str, ...], complaint: str) -> None:
    ran = cli("bench", "recall", *options)
    assert (ran.code, ran.out) == (2, "")
    assert complaint in ran.err
    assert ran.err.count("\n") == 1
