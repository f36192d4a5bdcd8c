"""onnxruntime's reporting is native code, which the guard against the network in conftest.py cannot see."""

import subprocess
import sys
from pathlib import Path

from commonplace.adapters.onnx.pinned import IDENTITY
from tests.adapters.local_model import local_model

SOURCE = Path(__file__).parent.parent.parent / "src"

PROGRAM = """
import sys
from pathlib import Path
from commonplace.adapters.onnx.model_files import read_model
from commonplace.adapters.onnx.inference import SentenceModel
files = read_model(Path(sys.argv[1]))
print(SentenceModel(files.onnx, files.tokenizer, threads=1).embed(["tea"]).shape)
"""


def test_embedding_leaves_no_identifier_and_no_reports_behind(tmp_path: Path) -> None:
    folder = local_model().describe().path
    # Nothing else of the environment: onnxruntime is silent of its own accord where a variable says CI.
    environment = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", PROGRAM, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "(1, 384)\n"
    assert list(tmp_path.rglob("*")) == [], f"{IDENTITY} wrote where it should not"
