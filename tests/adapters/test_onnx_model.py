"""The real weights: what the graph computes, how texts become pieces, and how they are put together."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from commonplace.adapters.onnx.build import LIKENESS, build_model, likeness
from commonplace.adapters.onnx.graph import FLOAT32, INT8, build_graph
from commonplace.adapters.onnx.inference import BATCH_TOKENS, WORTH_PADDING, SentenceModel, passes
from commonplace.adapters.onnx.model_files import ModelFiles
from commonplace.adapters.onnx.pinned import DIMENSIONS, MAX_TOKENS, TOKENIZER, WEIGHTS
from commonplace.adapters.onnx.progress import silent
from commonplace.adapters.onnx.tokens import PREFIXES, Pieces
from commonplace.adapters.onnx.weights import Weights, read_weights
from commonplace.domain.errors import EmbedderUnavailable
from tests.adapters.local_model import local_model, original_files

TEXTS = [
    "My sister moved to a small town near the sea.",
    "Does anybody remember where the keys are?",
    "We planted tomatoes, beans and far too many courgettes this year, and the neighbours are hiding from us.",
    "He never learned to swim.",
    "The dentist said to come back in March.",
    "A violin, two suitcases and a parrot.",
    "I would rather walk than take the bus.",
    "Meeting at nine, lunch at twelve, and the rest of the day is mine.",
]


@pytest.fixture(scope="module")
def originals(pytestconfig: pytest.Config) -> Path:
    assert pytestconfig.cache is not None
    return original_files(pytestconfig.cache.mkdir("all-MiniLM-L6-v2"))


@pytest.fixture(scope="module")
def weights(originals: Path) -> Weights:
    return read_weights(originals / WEIGHTS.name)


@pytest.fixture(scope="module")
def tokenizer(originals: Path) -> bytes:
    return (originals / TOKENIZER.name).read_bytes()


@pytest.fixture(scope="module")
def original(weights: Weights, tokenizer: bytes) -> SentenceModel:
    return SentenceModel(build_graph(weights, FLOAT32), tokenizer, threads=1)


@pytest.fixture(scope="module")
def graph(weights: Weights) -> bytes:
    return build_graph(weights, INT8)


@pytest.fixture(scope="module")
def small(graph: bytes, tokenizer: bytes) -> SentenceModel:
    return SentenceModel(graph, tokenizer, threads=1)


def test_the_float32_graph_is_the_published_model(original: SentenceModel) -> None:
    rows = original.embed(["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."])
    expected = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
    assert np.allclose(rows @ rows.T, expected, atol=2e-4)


def test_int8_stays_near_the_original(original: SentenceModel, small: SentenceModel) -> None:
    cosines = np.sum(original.embed(TEXTS) * small.embed(TEXTS), axis=1)
    assert cosines.mean() > 0.99
    assert cosines.min() > 0.98


def test_int8_ranks_as_the_original_does(original: SentenceModel, small: SentenceModel) -> None:
    queries = ["Who lives by the coast?", "vegetables in the garden", "What did the dentist say?"]
    best = [model.embed(queries) @ model.embed(TEXTS).T for model in (original, small)]
    assert best[0].argmax(axis=1).tolist() == best[1].argmax(axis=1).tolist() == [0, 2, 4]


def test_the_same_weights_give_the_same_bytes(weights: Weights, graph: bytes) -> None:
    assert build_graph(weights, INT8) == graph


def test_the_explicit_path_may_hold_the_original_files(originals: Path, tmp_path: Path) -> None:
    files = ModelFiles(tmp_path, build=build_model, explicit=originals)
    status = files.fetch()
    assert (status.ready, status.source) == (True, f"folder {originals}")
    built = files.load()
    assert SentenceModel(built.onnx, built.tokenizer, threads=1).embed(TEXTS).shape == (len(TEXTS), DIMENSIONS)


def test_a_graph_that_is_unlike_the_original_is_not_written(originals: Path, tmp_path: Path) -> None:
    (tmp_path / TOKENIZER.name).write_bytes((originals / TOKENIZER.name).read_bytes())
    data = bytearray((originals / WEIGHTS.name).read_bytes())
    start = 8 + int.from_bytes(data[:8], "little")
    first, end = json.loads(data[8:start])["encoder.layer.2.intermediate.dense.weight"]["data_offsets"]
    channels = np.frombuffer(data, "<f4", count=(end - first) // 4, offset=start + first).reshape(-1, DIMENSIONS)
    # One large weight in each channel: float32 copes, but on a scale that fits it all the others round to nothing.
    channels[:, 7] += 100
    (tmp_path / WEIGHTS.name).write_bytes(data)
    with pytest.raises(EmbedderUnavailable, match="mean cosine"):
        build_model(tmp_path, tmp_path / "model.onnx", silent)
    assert not (tmp_path / "model.onnx").exists()


def test_likeness_of_a_model_to_itself_is_one(small: SentenceModel) -> None:
    assert likeness(small, small) == pytest.approx(1.0, abs=1e-5)
    assert LIKENESS >= 0.99


def test_the_forward_pass_gives_the_vector_of_every_token(small: SentenceModel) -> None:
    seen: set[int] = set()
    for each in small.forward(TEXTS):
        assert each.hidden.shape == (*each.ids.shape, DIMENSIONS)
        assert each.mask.sum(axis=1).tolist() == [np.count_nonzero(ids) for ids in each.ids]
        means = (each.hidden * each.mask[..., None]).sum(axis=1)
        assert np.allclose(
            means / np.linalg.norm(means, axis=1, keepdims=True),
            small.embed([TEXTS[n] for n in each.texts]),
            atol=1e-6,
        )
        seen |= set(each.texts)
    assert seen == set(range(len(TEXTS)))


@given(st.lists(st.integers(2, MAX_TOKENS), max_size=200))
def test_every_text_is_in_one_pass_and_little_of_a_pass_is_padding(lengths: list[int]) -> None:
    groups = passes(lengths)
    assert sorted(row for group in groups for row in group) == list(range(len(lengths)))
    for group in groups:
        padded = len(group) * max(lengths[row] for row in group)
        assert padded <= BATCH_TOKENS
        assert padded <= WORTH_PADDING * sum(lengths[row] for row in group)


@pytest.fixture(scope="module")
def pieces() -> Pieces:
    return Pieces(local_model().load().tokenizer)


@pytest.fixture(scope="module")
def whole() -> Tokenizer:
    """The tokenizer without our shortcuts: it reads every text to its end."""
    tokenizer = Tokenizer.from_buffer(local_model().load().tokenizer)
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=120)


@given(words=st.lists(WORDS, min_size=1, max_size=8), times=st.integers(1, 400))
def test_cutting_a_long_text_before_reading_it_changes_no_piece(
    pieces: Pieces, whole: Tokenizer, words: list[str], times: int
) -> None:
    text = (" ".join(words) * times)[: PREFIXES[-1]]
    assert pieces.of([text]) == [whole.encode(text).ids]


@given(st.text(st.characters(), max_size=200))
def test_any_string_becomes_pieces_between_two_marks(pieces: Pieces, text: str) -> None:
    (ids,) = pieces.of([text])
    start, end = 101, 102
    assert (ids[0], ids[-1]) == (start, end)
    assert len(ids) <= MAX_TOKENS


def test_a_text_that_begins_with_a_page_of_blanks_is_read(pieces: Pieces) -> None:
    assert pieces.of([" " * 50_000 + "peanuts"]) == pieces.of(["peanuts"])
