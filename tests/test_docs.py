"""Every code block of the README and the docs is run, one test a block: what a reader copies must work.

The blocks of a page run in order and share one folder (and, for Python, one namespace), as they would for a reader.
In a `console` block, what stands below a `$ command` must be what the command prints; `...` stands for anything.
"""

import doctest
import json
import os
import re
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from tests.agents.wire import Service, service
from tests.at_once import commonplace_at_once

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
MARKDOWN = MarkdownIt()
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
NOT_CODE = {"", "text", "mermaid"}
PARSERS: dict[str, Callable[[str], object]] = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
SETTING_UP = re.compile(r"(\w+=\S+ )*(make|(python3? -m )?pip install|git clone|cd|npm install|apt-get install) ")
ENDLESS = re.compile(r"(\w+=\S+ )*commonplace (serve|open|chat|worker|mcp)\b")


@dataclass(frozen=True, slots=True)
class Block:
    page: Path
    line: int
    language: str
    code: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who works through one page from the top."""

    folder: Path
    environment: dict[str, str] = field(repr=False)
    names: dict[str, object] = field(default_factory=lambda: {"__name__": "__main__"}, repr=False)
    tried: set[Block] = field(default_factory=set, repr=False)

    def follow(self, block: Block) -> None:
        match block.language:
            case "python":
                # The blank lines in front make a traceback name the line of the page.
                code = "\n" * block.line + block.code
                exec(compile(code, str(block.page), "exec"), self.names)
            case "bash":
                self.shell("\n".join(map(runnable, block.code.splitlines())))
            case "console":
                for command, shown in exchanges(block.code):
                    printed = self.shell(runnable(command))
                    assert not shown or as_shown(shown, printed), f"$ {command}\n{printed}"
            case language if language in PARSERS:
                PARSERS[language](block.code)
            case language:
                assert language in NOT_CODE, f"no way to run {language!r}: name it text if it is not code"

    def shell(self, script: str) -> str:
        ran = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert ran.returncode == 0, f"{script}\n{ran.stdout}{ran.stderr}"
        return ran.stdout


def blocks(page: Path) -> list[Block]:
    fences = [token for token in MARKDOWN.parse(page.read_text()) if token.type == "fence" and token.map]
    return [
        Block(page=page, line=token.map[0] + 1, language=token.info.strip(), code=token.content)
        for token in fences
        if token.map
    ]


def runnable(line: str) -> str:
    """Return what to run for a line: targets of make are looked up, what would never end is asked for its help."""
    command = line.partition(" #")[0].rstrip()
    unknown = set(re.findall(r"\bmake ([a-z]+)", command)) - TARGETS
    assert not unknown, f"the Makefile has no target {unknown}"
    if SETTING_UP.match(f"{command} "):
        return ":"
    return f"{command} --help" if ENDLESS.match(command) else line


def exchanges(code: str) -> Iterator[tuple[str, str]]:
    """Yield each `$ command` with the output shown below it."""
    for said in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        command, _, shown = said.partition("\n")
        yield command, shown


def as_shown(shown: str, printed: str) -> bool:
    alike = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(shown.strip() + "\n", printed.strip() + "\n", alike)


@pytest.fixture(scope="module")
def readers() -> dict[Path, Reader]:
    return {}


@pytest.fixture(scope="module")
def at_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with commonplace_at_once(tmp_path_factory.mktemp("at-once")) as folder:
        yield folder


@pytest.fixture
def reader(
    request: pytest.FixtureRequest, readers: dict[Path, Reader], tmp_path: Path, environment: dict[str, str]
) -> Reader:
    page: Path = request.getfixturevalue("block").page
    if page.name != "README.md":  # whose commands are started as a reader starts them
        environment["PATH"] = f"{request.getfixturevalue('at_once')}{os.pathsep}{environment['PATH']}"
    return readers.setdefault(page, Reader(folder=tmp_path, environment=environment))


@pytest.fixture(scope="module")
def speaking() -> Iterator[Service]:
    with service() as spoken:
        yield spoken


@pytest.fixture(autouse=True)
def models_at_hand(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the pages about a model one on loopback that speaks its wire, as its key and address would."""
    given = request.node.callspec.params.get("block") if hasattr(request.node, "callspec") else None
    kind = given.page.stem.removeprefix("quickstart-") if given else ""
    if kind not in {"openai", "claude", "local"}:
        return
    url = request.getfixturevalue("speaking").url
    variables = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": url} if kind == "claude" else {}
    variables |= {"COMMONPLACE_AGENT_BASE_URL": url if kind == "claude" else f"{url}/v1"}
    if kind != "claude":
        variables |= {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"{url}/v1"}
    reader: Reader = request.getfixturevalue("reader")
    reader.environment.update(variables)
    for name, value in variables.items():
        if not name.startswith("COMMONPLACE"):
            monkeypatch.setenv(name, value)


@pytest.mark.parametrize("block", [block for page in PAGES for block in blocks(page)], ids=str)
def test_the_block_works(block: Block, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(reader.folder)
    monkeypatch.setenv("COMMONPLACE_HOME", reader.environment["COMMONPLACE_HOME"])
    page = blocks(block.page)
    for step in page[: page.index(block) + 1]:
        if step not in reader.tried:
            reader.tried.add(step)
            reader.follow(step)


def links(page: Path) -> Iterator[str]:
    for token in MARKDOWN.parse(page.read_text()):
        for child in token.children or []:
            target = child.attrGet("href") or child.attrGet("src")
            if isinstance(target, str) and not re.match(r"[a-z]+:", target):
                yield target


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, made as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_inside_the_repository_leads_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{link} is not there"
        assert not anchor or anchor in anchors(target), f"{link} names no heading"
