"""A reader for safetensors files: a JSON header that says where each tensor lies, then the tensors."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Weights = Mapping[str, Floats]

LENGTH_BYTES = 8


def read_weights(path: Path) -> Weights:
    """Return the float32 tensors by name. The file's sha256 has been checked: its contents are taken at their word."""
    data = path.read_bytes()
    start = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
    header = json.loads(data[LENGTH_BYTES:start])
    tensors: dict[str, Floats] = {}
    for name, tensor in header.items():
        if name != "__metadata__" and tensor["dtype"] == "F32":
            first, end = tensor["data_offsets"]
            flat = np.frombuffer(data, "<f4", count=(end - first) // 4, offset=start + first)
            tensors[name] = flat.reshape(tensor["shape"])
    return tensors
