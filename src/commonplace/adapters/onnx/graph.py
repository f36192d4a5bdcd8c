"""The model as an ONNX graph, made of its weights with numpy and onnx alone.

The int8 graph scales the activations of each token by that token's own largest value. The usual dynamic quantisation
takes one scale for a whole batch, and then a text's vector depends on its company (docs/decisions/0002).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from commonplace.adapters.onnx.weights import Floats, Weights

LAYERS = 6
HEADS = 12
HIDDEN = 384
EPSILON = 1e-12
OPSET = 17
IR_VERSION = 8

ACTIVATION_LEVELS = 127
ACTIVATION_ZERO = 128
# Processors without VNNI add two products in 16 bits: 2 * 255 * 63 fits, 2 * 255 * 127 would saturate, and the same
# text would get other vectors on other machines.
WEIGHT_LEVELS = 63
ROW_LEVELS = 127
# A token whose activations are all zero must not be divided by zero.
TINY = 1e-30
# Large enough that a masked position gets no weight at all in the softmax, small enough to stay finite.
MASKED = -3.0e38


Attribute = int | float | Sequence[int]


class Graph:
    """Nodes and constants, named in the order they come: the same weights always give the same bytes."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, values: NDArray[np.generic]) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def number(self, value: float) -> str:
        return self.constant(np.array(value, np.float32))

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def node(self, kind: str, *inputs: str, **attributes: Attribute) -> str:
        return self.split(kind, *inputs, into=1, **attributes)[0]

    def split(self, kind: str, *inputs: str, into: int, **attributes: Attribute) -> list[str]:
        outputs = [f"n{len(self.nodes)}_{part}" for part in range(into)]
        self.nodes.append(helper.make_node(kind, inputs, outputs, None, None, None, None, **attributes))
        return outputs


Linear = Callable[[Graph, str, Floats, Floats], str]
Lookup = Callable[[Graph, Floats, str], str]


@dataclass(frozen=True, slots=True)
class Precision:
    """How a matrix product and a table look-up are written down; the rest of the graph is always float32."""

    linear: Linear
    lookup: Lookup


def _float_linear(graph: Graph, x: str, weight: Floats, bias: Floats) -> str:
    return graph.node("Add", graph.node("MatMul", x, graph.constant(weight)), graph.constant(bias))


def _float_lookup(graph: Graph, table: Floats, ids: str) -> str:
    return graph.node("Gather", graph.constant(table), ids)


def _int8_linear(graph: Graph, x: str, weight: Floats, bias: Floats) -> str:
    """One scale for each output channel of the weights, and one for each token of the input."""
    largest = graph.node("ReduceMax", graph.node("Abs", x), axes=[-1], keepdims=1)
    largest = graph.node("Max", largest, graph.number(TINY))
    levels = graph.node("Mul", x, graph.node("Div", graph.number(ACTIVATION_LEVELS), largest))
    # The cast cuts the fraction off, so the half turns it into rounding.
    rounded = graph.node("Cast", graph.node("Add", levels, graph.number(ACTIVATION_ZERO + 0.5)), to=TensorProto.UINT8)
    channels = np.abs(weight).max(axis=0) / np.float32(WEIGHT_LEVELS)
    product = graph.node(
        "MatMulInteger",
        rounded,
        graph.constant(np.round(weight / channels).astype(np.int8)),
        graph.constant(np.array(ACTIVATION_ZERO, np.uint8)),
    )
    scaled = graph.node(
        "Mul",
        graph.node("Cast", product, to=TensorProto.FLOAT),
        graph.node("Mul", largest, graph.number(1 / ACTIVATION_LEVELS)),
    )
    return graph.node("Add", graph.node("Mul", scaled, graph.constant(channels)), graph.constant(bias))


def _int8_lookup(graph: Graph, table: Floats, ids: str) -> str:
    """One scale for each row, which is each word piece."""
    scales = np.maximum(np.abs(table).max(axis=1, keepdims=True), np.float32(TINY)) / np.float32(ROW_LEVELS)
    rows = graph.node("Gather", graph.constant(np.round(table / scales).astype(np.int8)), ids)
    return graph.node(
        "Mul",
        graph.node("Cast", rows, to=TensorProto.FLOAT),
        graph.node("Gather", graph.constant(scales), ids),
    )


FLOAT32 = Precision(_float_linear, _float_lookup)
INT8 = Precision(_int8_linear, _int8_lookup)


def build_graph(weights: Weights, precision: Precision) -> bytes:
    """Return the model: `input_ids` and `attention_mask` (texts, tokens) in, `hidden` (texts, tokens, 384) out."""
    graph = Graph()
    x = _embeddings(graph, weights, precision)
    mask = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    absent = graph.node("Sub", graph.number(1), graph.node("Unsqueeze", mask, graph.integers(1, 2)))
    penalty = graph.node("Mul", absent, graph.number(MASKED))
    for layer in range(LAYERS):
        x = _layer(graph, weights, f"encoder.layer.{layer}", x, penalty=penalty, linear=precision.linear)
    graph.nodes.append(helper.make_node("Identity", [x], ["hidden"]))
    return _serialised(graph)


def _embeddings(graph: Graph, weights: Weights, precision: Precision) -> str:
    words = precision.lookup(graph, weights["embeddings.word_embeddings.weight"], "input_ids")
    # There is one text, never a pair: the token type is always the first, and joins the positions.
    positions = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    length = graph.node("Shape", "input_ids", start=1, end=2)
    # Slice, not Gather(Range): onnxruntime rewrites that into a Slice with scalar starts and then rejects it.
    places = graph.node("Slice", graph.constant(positions), graph.integers(0), length, graph.integers(0))
    return _normalised(graph, weights, "embeddings.LayerNorm", graph.node("Add", words, places))


def _layer(graph: Graph, weights: Weights, name: str, x: str, *, penalty: str, linear: Linear) -> str:
    attended = _attention(graph, weights, f"{name}.attention.self", x, penalty=penalty, linear=linear)
    joined = linear(graph, attended, *_dense(weights, f"{name}.attention.output.dense"))
    x = _normalised(graph, weights, f"{name}.attention.output.LayerNorm", graph.node("Add", joined, x))
    inner = _gelu(graph, linear(graph, x, *_dense(weights, f"{name}.intermediate.dense")))
    outer = linear(graph, inner, *_dense(weights, f"{name}.output.dense"))
    return _normalised(graph, weights, f"{name}.output.LayerNorm", graph.node("Add", outer, x))


def _attention(graph: Graph, weights: Weights, name: str, x: str, *, penalty: str, linear: Linear) -> str:
    (query, key, value), biases = zip(
        *(_dense(weights, f"{name}.{part}") for part in ("query", "key", "value")), strict=True
    )
    scale = np.float32(1 / np.sqrt(HIDDEN // HEADS))
    together = linear(
        graph,
        x,
        np.concatenate([query * scale, key, value], axis=1),
        np.concatenate([biases[0] * scale, *biases[1:]]),
    )
    heads = graph.integers(0, 0, HEADS, HIDDEN // HEADS)
    parts = graph.split("Split", together, graph.integers(HIDDEN, HIDDEN, HIDDEN), into=3, axis=-1)
    queries, keys, values = (graph.node("Reshape", part, heads) for part in parts)
    likeness = graph.node(
        "MatMul",
        graph.node("Transpose", queries, perm=[0, 2, 1, 3]),
        graph.node("Transpose", keys, perm=[0, 2, 3, 1]),
    )
    attention = graph.node("Softmax", graph.node("Add", likeness, penalty), axis=-1)
    mixed = graph.node("MatMul", attention, graph.node("Transpose", values, perm=[0, 2, 1, 3]))
    return graph.node("Reshape", graph.node("Transpose", mixed, perm=[0, 2, 1, 3]), graph.integers(0, 0, HIDDEN))


def _dense(weights: Weights, name: str) -> tuple[Floats, Floats]:
    return weights[f"{name}.weight"].T, weights[f"{name}.bias"]


def _normalised(graph: Graph, weights: Weights, name: str, x: str) -> str:
    gain, shift = graph.constant(weights[f"{name}.weight"]), graph.constant(weights[f"{name}.bias"])
    return graph.node("LayerNormalization", x, gain, shift, axis=-1, epsilon=EPSILON)


def _gelu(graph: Graph, x: str) -> str:
    curve = graph.node("Erf", graph.node("Div", x, graph.number(np.sqrt(2))))
    return graph.node("Mul", graph.node("Mul", x, graph.number(0.5)), graph.node("Add", curve, graph.number(1)))


def _serialised(graph: Graph) -> bytes:
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    hidden = helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["texts", "tokens", HIDDEN])
    model = helper.make_model(
        helper.make_graph(graph.nodes, "sentence-encoder", inputs, [hidden], graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))
