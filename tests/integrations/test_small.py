"""Adapters stay small: what is not a matter of a framework's interface belongs in the engine."""

import ast
from pathlib import Path

import pytest

import commonplace.integrations

HERE = Path(commonplace.integrations.__file__).parent
SHARED = {"__init__", "extras", "owned", "shelf", "transcript"}
ADAPTERS = sorted(path for path in HERE.iterdir() if path.stem not in SHARED | {"__pycache__"})
MOST = 300
"""Lines of code: without those that are empty, and without docstrings and comments."""


def lines_of_code(source: str) -> int:
    docs = {
        number
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = [line.strip() for number, line in enumerate(source.splitlines(), 1) if number not in docs]
    return sum(1 for line in lines if line and not line.startswith("#"))


def test_what_counts_as_a_line_of_code() -> None:
    assert (
        lines_of_code('"""One\n\ntwo"""\n\nX = 1  # why\n# alone\n"""What it is."""\nY = {\n    1: """a"""\n}\n') == 4
    )


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda path: str(path.stem))
def test_an_adapter_is_small_and_has_its_page_and_its_example(adapter: Path) -> None:
    modules = sorted(adapter.glob("*.py")) if adapter.is_dir() else [adapter]
    assert sum(lines_of_code(module.read_text()) for module in modules) <= MOST
    root = Path(__file__).parents[2]
    table = (root / "docs/integrations.md").read_text()
    assert f"`{adapter.stem}`: `" in table
    uses = f"commonplace.integrations.{adapter.stem} import"
    assert [one for one in (root / "examples").glob("*.py") if uses in one.read_text()]
    assert [one for one in (root / "docs").glob("integrations-*.md") if uses in one.read_text()]
