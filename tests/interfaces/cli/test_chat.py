"""`commonplace chat` in a real terminal: it remembers across runs, goes on after failures, and loses nothing."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace import Memory
from tests.agents.wire import BreakOff, Call, Fail, Garble, Reply, Say, Service, Sleep, from_memory, service
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.terminal import CTRL_C, CTRL_D, PROMPT, Terminal, terminal

TOLD = "I use Shram and Magnet as productivity tools"
ASKED = "What productivity tools do I use?"
CHANGED = "I don't use Magnet anymore"


@pytest.fixture
def here(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    own = {name: value for name, value in environment.items() if name != "NO_COLOR"}
    return own | {"COMMONPLACE_MODEL_CACHE": str(tmp_path / "no-model")}


@pytest.fixture
def spoken() -> Iterator[Service]:
    with service() as spoken:
        yield spoken


def with_model(here: dict[str, str], spoken: Service, kind: str = "openai") -> dict[str, str]:
    """Return the variables of somebody who has a model."""
    url = spoken.url if kind == "anthropic" else f"{spoken.url}/v1"
    return here | {
        "AGENT_MODEL": f"{kind}:m",
        "COMMONPLACE_AGENT_BASE_URL": url,
        "COMMONPLACE_AGENT_RETRIES": "0",
        "COMMONPLACE_AGENT_TIMEOUT": "10",
    }


def story(here: dict[str, str], folder: Path) -> list[str]:
    """Tell it, ask it, change one's mind, ask again: each in a run and a session of its own. Returns the answers."""
    answers = []
    for line in (TOLD, ASKED, CHANGED, ASKED):
        with terminal("chat", "--user", "u1", environment=here, folder=folder) as screen:
            screen.wait_for(PROMPT)
            answer = screen.ask(line)
            assert screen.leave() == 0
            answers.append(answer + screen.rest)  # what took longer to learn is told in the end
    return answers


def test_without_a_key_it_remembers_across_runs_and_changes_its_mind(here: dict[str, str], tmp_path: Path) -> None:
    told, before, _, after = story(here, tmp_path)
    assert "Noted" in told
    assert "Here is what I remember" in before and "Shram" in before and "Magnet" in before
    assert "Shram" in after and "Magnet" not in after


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_with_a_model_over_the_wire_it_does_the_same(
    kind: str, here: dict[str, str], spoken: Service, tmp_path: Path
) -> None:
    told, before, changed, after = story(with_model(here, spoken, kind), tmp_path)
    assert "+ learned: User uses Shram" in told
    assert "You use Shram and Magnet." in before and "remembered" in before
    assert "− ended: User uses Magnet" in changed
    assert "You use Shram." in after


FAILURES: list[tuple[str, Reply, str]] = [
    ("One", Fail(500), "did not answer with status 500"),
    ("Two", Fail(401), "refused the request with status 401"),
    ("Three", BreakOff("Half of an ans"), "broke off"),
    ("Four", BreakOff("Half of an ans", cut=True), "did not answer"),
    ("Five", Garble("Half of an ans"), "not"),
    ("Six", Call("no_such_tool", "{}"), "called a tool in a way that does not exist"),
    ("Seven", Call("update_memory", '{"update": "?"}'), "called a tool in a way that does not exist"),
    ("Eight", Sleep(3), "did not answer in time"),
]


def test_a_model_that_fails_is_told_and_the_conversation_goes_on(
    here: dict[str, str], spoken: Service, tmp_path: Path
) -> None:
    replies = {line: reply for line, reply, _ in FAILURES}
    spoken.script = lambda asked: replies.get(asked.said, Say("Back again."))
    said = "".join(f"{line}\n" for line in [*replies, "Nine"])
    command = [sys.executable, "-m", "commonplace.interfaces.cli", "chat", "--json"]
    own = with_model(here, spoken) | {"COMMONPLACE_AGENT_TIMEOUT": "2"}
    ran = subprocess.run(command, input=said, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
    assert ran.returncode == 4, ran.stderr
    printed = [json.loads(line) for line in ran.stdout.splitlines()]
    for (line, _, told), failed in zip(FAILURES, [one for one in printed if "error" in one], strict=True):
        assert told in failed["message"], line
    assert [one["reply"] for one in printed if "reply" in one] == ["Back again."]
    with Memory.open(here["COMMONPLACE_HOME"]) as memory:
        kept = [(message.role, message.text) for message in memory.messages()]
    assert kept == [*(("user", line) for line in [*replies, "Nine"]), ("assistant", "Back again.")]


def test_ctrl_c_amid_an_answer_keeps_what_was_said_and_goes_on(
    here: dict[str, str], spoken: Service, tmp_path: Path
) -> None:
    spoken.script = lambda asked: Say("word " * 100_000) if "long" in asked.said else from_memory(asked)
    with terminal("chat", environment=with_model(here, spoken), folder=tmp_path) as screen:
        screen.wait_for(PROMPT)
        screen.type("Tell me a long story\r")
        screen.wait_for("word word word")
        screen.type(CTRL_C)
        screen.wait_for("what you said is kept")
        screen.wait_for(PROMPT)
        assert "Understood." in screen.ask("Thanks")
        assert screen.leave(CTRL_D) == 0
    with Memory.open(here["COMMONPLACE_HOME"]) as memory:
        kept = [(message.role, message.text) for message in memory.messages()]
    assert kept == [("user", "Tell me a long story"), ("user", "Thanks"), ("assistant", "Understood.")]


def test_ctrl_c_twice_at_the_prompt_leaves(here: dict[str, str], tmp_path: Path) -> None:
    with terminal("chat", environment=here, folder=tmp_path) as screen:
        screen.wait_for(PROMPT)
        screen.type(f"half a line{CTRL_C}")
        screen.wait_for("Ctrl-C again")
        screen.wait_for(PROMPT)
        assert screen.leave(CTRL_C) == 0


def test_a_session_goes_on_and_the_lines_of_before_are_at_hand(here: dict[str, str], tmp_path: Path) -> None:
    with terminal("chat", "--session", "s1", environment=here, folder=tmp_path) as screen:
        screen.wait_for(PROMPT)
        screen.ask("I live in Paris")
        screen.leave()
    with terminal("chat", "--session", "s1", environment=here, folder=tmp_path) as screen:
        screen.wait_for("user: I live in Paris")
        screen.wait_for(PROMPT)
        screen.type("\x1b[A")  # the arrow up
        screen.wait_for("I live in Paris")
        screen.leave(f"{CTRL_C}{CTRL_D}")
    assert not list(Path(here["COMMONPLACE_HOME"]).glob("*history*"))


def commands(screen: Terminal) -> dict[str, str]:
    lines = (
        "/facts",
        "/why 1",
        "/recall where do I live?",
        "/blocks profile A doctor",
        "/session",
        "/forget 1",
        "/facts",
    )
    return {f"{n} {line}": screen.ask(line) for n, line in enumerate([*lines, "/facts"])}


def test_the_commands_show_explain_and_forget(here: dict[str, str], tmp_path: Path) -> None:
    with terminal("chat", "--session", "s1", environment=here, folder=tmp_path) as screen:
        screen.wait_for(PROMPT)
        screen.ask("I live in Paris")
        shown = commands(screen)
        assert "no such command" in screen.ask("/dance")
        assert "no line of the last list" in screen.ask("/why 99")
        screen.leave()
    assert "1  User lives in Paris" in shown["0 /facts"]
    assert "because of “I live in Paris”" in shown["1 /why 1"]
    assert "User lives in Paris" in shown["2 /recall where do I live?"]
    assert "profile: A doctor" in shown["3 /blocks profile A doctor"]
    assert "--session s1" in shown["4 /session"]
    assert "Forgotten" in shown["5 /forget 1"]
    assert "No facts yet." in shown["6 /facts"]


def test_piped_lines_give_one_json_object_each(cli: Cli) -> None:
    ran = cli("chat", "--json", "--session", "s1", stdin="I live in Paris\n\nWhere do I live?\n/facts\n")
    opening, told, asked, facts = map(json.loads, ran.out.splitlines())
    assert ran.code == 0
    assert opening["model"] is None and opening["note"].startswith("No model is configured")
    assert told["changes"][0]["text"] == "User lives in Paris"
    assert asked["reply"] == "Here is what I remember:\n- User lives in Paris"
    assert facts["result"][0]["text"] == "User lives in Paris"


def test_odd_lines_are_answered_and_control_characters_do_not_act(cli: Cli) -> None:
    ran = cli("chat", stdin="\x1b[31mI live in Paris\n🦜 日本語 \n" + "x" * 20_000 + "\nWhere do I live?\n")
    assert ran.code == 0
    assert "Paris" in ran.out and "\x1b" not in ran.out


def test_a_model_without_a_key_is_one_sentence(cli: Cli) -> None:
    ran = cli("chat", "--model", "openai:gpt-5.2")
    assert ran.code == 4
    sentence = "no key for agent_model='openai:gpt-5.2': set OPENAI_API_KEY, or unset AGENT_MODEL to learn by rules"
    assert ran.err == f"commonplace: {sentence}\n"
