import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interfaces.cli.conftest import Cli

SPECIFIED = {
    *(
        "demo",
        "chat",
        "open",
        "add",
        "recall",
        "why-not",
        "context",
        "facts",
        "history",
        "blocks",
        "sessions",
        "forget",
    ),
    *("export", "import", "learn", "relearn", "consolidate", "serve", "worker", "mcp", "key", "snapshot", "restore"),
    *("migrate", "doctor", "reindex", "model", "stats", "bench"),
}


def listed(help_text: str) -> list[str]:
    return re.findall(r"^  ([a-z-]+) ", help_text.partition("Commands:")[2], re.MULTILINE)


@pytest.mark.parametrize("arguments", [["--help"], ["recall", "--help"], ["blocks", "set", "--help"]])
def test_help_loads_the_parser_and_nothing_else(
    arguments: list[str], tmp_path: Path, environment: dict[str, str]
) -> None:
    ask = f"""
import sys
from commonplace.interfaces.cli.app import run
assert run({arguments}) == 0
loaded = {{name.partition(".")[0] for name in sys.modules}} - sys.stdlib_module_names
print(sorted(name for name in loaded if not name.startswith("_")))
"""
    ran = subprocess.run(
        [sys.executable, "-c", ask], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    # Typer itself takes pydantic as soon as it has to look at a value.
    by_typer = {"annotated_doc", "annotated_types", "pydantic", "pydantic_core", "shellingham", "typing_extensions"}
    loaded = set(ast.literal_eval(ran.stdout.splitlines()[-1]))
    assert loaded - by_typer - {"typing_inspection"} == {"commonplace", "typer"}
    assert arguments != ["--help"] or "pydantic" not in loaded


def test_every_command_says_in_one_line_what_it_does(cli: Cli) -> None:
    helped = cli("--help")
    assert helped.code == 0
    assert "..." not in helped.out.partition("Commands:")[2]


def test_every_specified_command_is_there(cli: Cli) -> None:
    assert {*listed(cli("--help").out)} >= SPECIFIED


def test_a_misspelt_command_is_refused_with_the_right_one(cli: Cli) -> None:
    ran = cli("recal")
    assert ran.code == 2
    assert "Did you mean 'recall'?" in ran.err


def test_the_shell_completes_commands_and_options(process: Cli) -> None:
    def completed(words: str) -> list[str]:
        return process(
            _COMMONPLACE_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(len(words.split(" ")) - 1)
        ).out.split()

    assert {"recall", "remember", "revise", "retract", "relearn", "reindex"} <= set(completed("commonplace re"))
    assert completed("commonplace recall --va") == ["--valid-at"]
    assert completed("commonplace mig") == ["migrate", "migrate-embeddings"]
