"""What import-linter cannot say: what the domain may know, declared packages, sizes, names that could hold anything."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "commonplace"
MODULES = sorted(PACKAGE.rglob("*.py"))
VAGUE = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}


def imported(module: Path) -> Iterator[str]:
    """Yield the top-level name of each absolute import, also of those inside functions."""
    for node in ast.walk(ast.parse(module.read_text())):
        match node:
            case ast.Import(names=names):
                yield from (alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(module=str(name), level=0):
                yield name.partition(".")[0]


def settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def existing(*names: str) -> set[str]:
    return {
        f"commonplace.{name}"
        for name in names
        if (PACKAGE / f"{name}.py").exists() or (PACKAGE / name / "__init__.py").exists()
    }


def declared() -> set[str]:
    """Return the names of the distributions that pyproject.toml asks for, extras included."""
    project = settings()["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    return {normal(re.split(r"[\[<>=!~; ]", line)[0]) for group in groups for line in group}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_domain_knows_the_standard_library_and_nothing_else() -> None:
    allowed = sys.stdlib_module_names | {"commonplace"}
    foreign = {(path.name, name) for path in PACKAGE.glob("domain/**/*.py") for name in imported(path)}
    assert {(path, name) for path, name in foreign if name not in allowed} == set()


def test_the_contracts_name_each_inner_package_as_soon_as_it_exists() -> None:
    contracts = {one["name"]: one for one in settings()["tool"]["importlinter"]["contracts"]}
    core = contracts["The core needs no driver, client or framework"]["source_modules"]
    above_adapters = contracts["Adapters know ports and domain, and nothing above them"]["forbidden_modules"]
    assert set(core) == existing("care", "domain", "engine", "learning", "ports", "prompts", "recall")
    assert set(above_adapters) == existing("care", "engine", "learning", "prompts", "recall", "settings")


def test_every_package_we_import_is_one_we_declare() -> None:
    names = {name for path in MODULES for name in imported(path)} - sys.stdlib_module_names - {"commonplace"}
    owners = packages_distributions()
    undeclared = {name for name in names if not declared() & {normal(owner) for owner in owners.get(name, [name])}}
    assert undeclared == set()


def test_no_module_has_a_name_that_could_hold_anything() -> None:
    assert [path for path in MODULES if VAGUE & {path.stem, path.parent.name}] == []


def test_no_module_is_longer_than_400_lines() -> None:
    assert [path for path in MODULES if len(path.read_text().splitlines()) > 400] == []


def test_every_folder_of_tests_is_a_package_so_that_two_files_may_share_a_name() -> None:
    folders = {path.parent for path in (ROOT / "tests").rglob("*.py")}
    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []
