"""What only a process of its own can show: signals, pipes, exit codes, the encoding of a terminal."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.interfaces.cli.conftest import Cli

COMMAND = [sys.executable, "-m", "commonplace.interfaces.cli"]


def test_a_command_prints_its_answer_and_exits_with_its_code(process: Cli) -> None:
    assert process("add", "I use Shram", "--id", "m1").out.startswith("Kept m1.")
    assert process("recall", "Shram", "--json").json[0]["id"]
    assert process("recall", "submarine").code == 1


def test_an_error_is_one_line_on_stderr(process: Cli) -> None:
    ran = process("recall", "x", "--limit", "-1")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "commonplace: limit=-1: expected a whole number from 0 to 10,000\n"


def test_wrong_use_is_json_when_json_was_asked_for(process: Cli) -> None:
    ran = process("recall", "--json", "--limit", "many")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith('{"error": "WrongUse", "message": "')


def test_interrupting_is_one_line_and_130(environment: dict[str, str], tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "add", "-"],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # What runs in the background of a shell ignores interrupts, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as waiting:
        assert waiting.stdin and waiting.stderr
        while not _reads_stdin(waiting.pid):
            assert waiting.poll() is None
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait() == 130
        assert waiting.stderr.read() == b"commonplace: interrupted\n"


def _reads_stdin(pid: int) -> bool:
    """Whether the process is blocked on a pipe: only then has it come as far as waiting for the text."""
    return "pipe" in Path(f"/proc/{pid}/wchan").read_text()


def test_a_reader_that_leaves_early_is_no_error(environment: dict[str, str], tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        ran = subprocess.run(
            [*COMMAND, "stats"], cwd=tmp_path, env=environment, stdout=pipe, stderr=subprocess.PIPE, check=False
        )
    assert (ran.returncode, ran.stderr) == (141, b"")


def test_what_a_terminal_cannot_show_does_not_break_the_output(process: Cli) -> None:
    process("add", "naïve 猫", "--no-learn")
    ran = process("recall", "naïve", PYTHONIOENCODING="ascii")
    assert ran.code == 0
    assert "na\\xefve \\u732b" in ran.out
