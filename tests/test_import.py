"""Importing the package, and asking the command for help, must cost nothing that is not used."""

import json
import subprocess
import sys

import pytest

import commonplace

HEAVY = {
    "anthropic",
    "chromadb",
    "fastapi",
    "httpx",
    "httpx2",
    "mcp",
    "numpy",
    "onnx",
    "onnxruntime",
    "openai",
    "psycopg",
    "pydantic_ai",
    "redis",
    "sqlite3",
    "starlette",
    "tokenizers",
}

REPORT = "import json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"


def loaded_by(code: str, environment: dict[str, str]) -> set[str]:
    """Return the top-level modules that `code` loads in a new process, beyond those of an empty program."""

    def modules(program: str) -> set[str]:
        command = [sys.executable, "-c", f"{program}\n{REPORT}"]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return set(json.loads(ran.stdout.splitlines()[-1]))

    return modules(code) - modules("pass")


def test_importing_the_package_loads_nothing_but_itself_and_the_standard_library(
    environment: dict[str, str],
) -> None:
    loaded = loaded_by("import commonplace", environment)
    assert loaded - sys.stdlib_module_names == {"commonplace"}
    assert loaded.isdisjoint(HEAVY)


def test_asking_for_help_loads_no_driver_sdk_or_model(environment: dict[str, str]) -> None:
    ask = """
import sys
from commonplace.interfaces.cli import main
sys.argv = ["commonplace", "--help"]
try:
    main()
except SystemExit as done:
    assert done.code == 0, done.code
"""
    assert loaded_by(ask, environment).isdisjoint(HEAVY)


@pytest.mark.parametrize("name", commonplace.__all__)
def test_every_public_name_can_be_had(name: str) -> None:
    assert getattr(commonplace, name) is not None
    assert name in dir(commonplace)
