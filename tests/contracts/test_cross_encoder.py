"""The cross-encoder on onnxruntime, with a model so small that the test makes it: it counts the word "tools"."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from commonplace.adapters.onnx.cross_encoder import CrossEncoder
from tests.contracts.reranker import RerankerContract


def make(folder: Path) -> Path:
    """Write a model whose odds are the sum of one number for each token: 1 for "tools", 0 for any other."""
    tokenizer = Tokenizer(WordLevel({"[PAD]": 0, "tools": 1, "[UNK]": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    table = numpy_helper.from_array(np.array([0, 1, 0], np.float32), "table")
    axes = numpy_helper.from_array(np.array([1]), "axes")
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["each"]),
        helper.make_node("ReduceSum", ["each", "axes"], ["logits"], keepdims=1),
    ]
    graph = helper.make_graph(
        nodes,
        "count",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["b", "t"])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b", 1])],
        [table, axes],
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "model.onnx"
    )
    return folder


class TestCrossEncoder(RerankerContract):
    @pytest.fixture
    def reranker(self, tmp_path: Path) -> CrossEncoder:
        return CrossEncoder(make(tmp_path))

    @pytest.fixture
    def broken(self, tmp_path: Path) -> CrossEncoder:
        return CrossEncoder(tmp_path / "nothing")
