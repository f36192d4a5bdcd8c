"""A command in a pseudo-terminal, driven as a person would: read what it shows, type, press Ctrl-C."""

import contextlib
import errno
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

PATIENCE = 30.0
"""Seconds until something must have been shown, on a busy machine."""
ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[()][A-Z0-9]|[=>78])")
PROMPT = "you ›"
CTRL_C, CTRL_D = "\x03", "\x04"


class Terminal:
    def __init__(self, process: "subprocess.Popen[bytes]", controller: int) -> None:
        self._process, self._controller = process, controller
        self._raw = b""
        self._read = 0
        """How much of what was shown has been waited for."""

    @property
    def shown(self) -> str:
        return ESCAPES.sub("", self._raw.decode("utf-8", "replace")).replace("\r", "")

    def wait_for(self, text: str) -> str:
        """Wait until the text is shown, after what was waited for before. Returns what came up to its end."""
        until = time.monotonic() + PATIENCE
        while text not in self.shown[self._read :]:
            assert time.monotonic() < until, f"{text!r} never came:\n{self.shown}"
            assert self._take(), f"{text!r} never came before the end:\n{self.shown}"
        place = self.shown.index(text, self._read) + len(text)
        came, self._read = self.shown[self._read : place], place
        return came

    def type(self, text: str) -> None:
        os.write(self._controller, text.encode())

    def ask(self, line: str) -> str:
        """Type a line at the prompt and return what came between it and the next prompt."""
        self.type(f"{line}\r")
        until = time.monotonic() + PATIENCE
        while PROMPT not in (came := self.shown[self._read :].rpartition(line)[2]) or came == self.shown[self._read :]:
            assert time.monotonic() < until, f"no prompt came after {line!r}:\n{self.shown}"
            assert self._take(), f"no prompt came before the end:\n{self.shown}"
        self._read = len(self.shown)
        return came

    @property
    def rest(self) -> str:
        """What came after the last answer."""
        return self.shown[self._read :]

    def leave(self, keys: str = "/quit\r") -> int:
        self.type(keys)
        while self._take():
            pass
        return self._process.wait(PATIENCE)

    def _take(self) -> bool:
        ready, _, _ = select.select([self._controller], [], [], 0.2)
        if not ready:
            return self._process.poll() is None
        try:
            piece = os.read(self._controller, 65_536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return False
        self._raw += piece
        return bool(piece)


@contextlib.contextmanager
def terminal(*arguments: str, environment: Mapping[str, str], folder: Path) -> Iterator[Terminal]:
    """Run a command in a terminal of its own."""
    controller, device = pty.openpty()
    own = {**environment, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", "COLUMNS": "200", "LINES": "50"}
    process = subprocess.Popen(
        [sys.executable, "-m", "commonplace.interfaces.cli", *arguments],
        stdin=device,
        stdout=device,
        stderr=device,
        cwd=folder,
        env=own,
        start_new_session=True,
        preexec_fn=_take_terminal,
    )
    os.close(device)
    try:
        yield Terminal(process, controller)
    finally:
        process.kill()
        process.wait()
        os.close(controller)


def _take_terminal() -> None:
    """Make the terminal the one whose Ctrl-C this process hears."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
