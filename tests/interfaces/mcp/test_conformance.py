"""The published conformance suite of the protocol, as far as it asks for no tools, prompts and resources of its own.

The other scenarios call fixtures by name (`test_image_content`, `test://static-text` …) that only a test server has, or
ask for what this server does not offer: logging, sampling, elicitation, subscriptions of the older kind.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interfaces.mcp.test_transports import serving, surroundings

__all__ = ["surroundings"]

SCENARIOS = [
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-error",
    "completion-complete",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
]
BIN = Path(sys.executable).parent
SUITE = BIN.parent / "mcp-conformance" / "node_modules" / ".bin" / "conformance"


def test_the_applicable_scenarios_pass(surroundings: dict[str, str]) -> None:
    node = shutil.which("node", path=str(BIN))
    if node is None or not SUITE.exists():
        pytest.skip("needs the MCP conformance suite: make servers")
    with serving(surroundings) as url:
        for scenario in SCENARIOS:
            command = [node, str(SUITE), "server", "--url", url, "--scenario", scenario]
            ran = subprocess.run(command, env=surroundings, capture_output=True, text=True, timeout=120, check=False)
            assert ran.returncode == 0, f"{scenario}\n{ran.stdout}{ran.stderr}"
