"""Without its framework an integration says what to install, in one sentence."""

import subprocess
import sys

import pytest

ABSENT = [
    ("agent_framework", "agent_framework", "agent-framework"),
    ("anthropic", "claude_memory", "anthropic"),
    ("google.adk", "google_adk", "google-adk"),
    ("langchain_core", "langchain", "langchain"),
    ("langgraph", "langgraph", "langgraph"),
    ("llama_index", "llama_index", "llama-index"),
    ("agents", "openai_agents", "openai-agents"),
    ("smolagents", "smolagents", "smolagents"),
]


@pytest.mark.parametrize(("framework", "module", "extra"), ABSENT)
def test_an_integration_without_its_framework_names_the_command(
    framework: str, module: str, extra: str, environment: dict[str, str]
) -> None:
    code = f"import sys; sys.modules[{framework!r}] = None; import commonplace.integrations.{module}"
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    said = f"this integration needs more packages: pip install 'commonplace[{extra}]'"
    assert ran.stderr.splitlines()[-1] == f"ModuleNotFoundError: {said}"
