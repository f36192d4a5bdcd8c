"""`make serve-scale`: the whole of it on this machine, until Ctrl-C."""

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType

from tests.scale.stack import running


def _end(number: int, frame: FrameType | None) -> None:
    """End once: a second Ctrl-C must not leave half of it running."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


def main() -> int:
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, _end)
    say = sys.stdout.write
    with tempfile.TemporaryDirectory(prefix="commonplace-scale-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)  # PostgreSQL does not run as root, and has to reach its own folder
        say("Starting PostgreSQL, Redis, a Chroma server, 2 API processes and 2 learning processes …\n")
        sys.stdout.flush()
        try:
            with running(Path(folder)) as stack:
                say(f"\nThe API and the web page are at {stack.url}\n\nFor a command on the same memory:\n")
                say("".join(f"  export {name}='{value}'\n" for name, value in stack.environment().items()))
                checked = subprocess.run(stack.command("doctor"), capture_output=True, text=True, check=False)
                say(
                    f"\ncommonplace doctor: {checked.stdout}{checked.stderr}\nCtrl-C ends all of it; nothing is kept.\n"
                )
                sys.stdout.flush()
                while True:
                    time.sleep(1)
        except KeyboardInterrupt:
            say("Ended.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
