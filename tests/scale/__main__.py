"""`make serve-scale`: the whole of it on this machine, until Ctrl-C. What dies is started again."""

import contextlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.scale.stack import Stack, end_once_by_signal, running, serving_under


def main() -> int:
    end_once_by_signal()
    with tempfile.TemporaryDirectory(prefix="commonplace-scale-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)  # PostgreSQL does not run as root, and has to reach its own folder
        say("Starting PostgreSQL, Redis, a Chroma server, 2 API processes and 2 learning processes …\n")
        try:
            with running(Path(folder)) as stack:
                _stay(stack)
        except KeyboardInterrupt:
            say("Ended.\n")
    return 0


def _stay(stack: Stack) -> None:
    try:
        say(f"\nThe API and the web page are at {stack.url}\n\nFor a command on the same memory:\n")
        say("".join(f"  export {name}='{value}'\n" for name, value in stack.environment().items()))
        checked = subprocess.run(stack.command("doctor"), capture_output=True, text=True, check=False)
        say(f"\ncommonplace doctor: {checked.stdout}{checked.stderr}\n")
        say("Kill what you like, it is started again: " + ", ".join(f"{name} {pid}" for name, pid in _pids(stack)))
        say("\nCtrl-C ends all of it; nothing is kept.\n")
        while True:
            time.sleep(1)
            for part, number in stack.ended():
                stack.start_part(part, number)
                say(f"{part} had ended and was started again\n")
    except KeyboardInterrupt:
        say("\nEnding all of it …\n")
        raise


def _pids(stack: Stack) -> list[tuple[str, int]]:
    serving = [(f"api {number}", pid) for number, pid in enumerate(serving_under(stack.pids()["api"]))]
    return [*((name, pid) for name, pid in stack.pids().items() if name != "api"), *serving]


def say(text: str) -> None:
    with contextlib.suppress(OSError):  # the terminal may have been closed, and what runs must still be ended
        sys.stdout.write(text)
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
