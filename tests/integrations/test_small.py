"""Adapters stay small: what is not a matter of a framework's interface belongs in the engine."""

from pathlib import Path

import pytest

import commonplace.integrations

HERE = Path(commonplace.integrations.__file__).parent
SHARED = {"__init__", "extras", "shelf", "transcript"}
ADAPTERS = sorted(path for path in HERE.iterdir() if path.stem not in SHARED | {"__pycache__"})
MOST = {"mem0": 450}
"""Lines; 300 for an adapter. mem0's API is nine calls in two faces, with filters and shapes of its own."""


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda path: str(path.stem))
def test_an_adapter_is_small_and_has_its_page_and_its_example(adapter: Path) -> None:
    modules = sorted(adapter.glob("*.py")) if adapter.is_dir() else [adapter]
    lines = [len(module.read_text().splitlines()) for module in modules]
    assert max(lines) <= 300
    assert sum(lines) <= MOST.get(adapter.stem, 300)
    root = Path(__file__).parents[2]
    table = (root / "docs/integrations.md").read_text()
    assert f"`{adapter.stem}`: `" in table
    uses = f"commonplace.integrations.{adapter.stem} import"
    assert [one for one in (root / "examples").glob("*.py") if uses in one.read_text()]
    assert [one for one in (root / "docs").glob("integrations-*.md") if uses in one.read_text()]
