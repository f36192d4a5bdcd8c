"""Words alone find most things in five languages: a floor, below which segmentation or stemming has broken."""

import pytest

from bench.languages import LANGUAGES, measured
from commonplace.evaluation.run import WORDS


@pytest.mark.parametrize("language", LANGUAGES)
async def test_words_alone_find_most_things_in_each_language(language: str) -> None:
    report = await measured(language, WORDS)
    assert report.questions == 10
    assert report.figures["R@5"].value >= 90
    assert report.figures["hit@1"].value >= 70
