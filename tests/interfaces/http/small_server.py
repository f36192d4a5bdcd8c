"""A process of a crew that loads in no time: it tells who connects its number, or it cannot start."""

import contextlib
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from commonplace.domain.errors import InvalidInput
from commonplace.interfaces.http.crew import Crew
from commonplace.interfaces.listening import listen, url_of


def work(listening: socket.socket, refuses: Path, *, ready: Callable[[], None]) -> None:
    """Answer until SIGTERM; refuse to start while that file is there, and wait while `waits` is beside it."""
    if refuses.exists():
        raise InvalidInput("it cannot start")
    while refuses.with_name("waits").exists():
        time.sleep(0.02)
    told = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: told.set())
    listening.settimeout(0.05)
    ready()
    while not told.is_set():
        with contextlib.suppress(TimeoutError):
            connection, _ = listening.accept()
            connection.recv(4)
            connection.sendall(str(threading.get_native_id()).encode())
            connection.close()


def main(refuses: str) -> None:
    with listen("127.0.0.1", 0) as listening:
        url = url_of(listening)
        Crew(2, partial(work, listening, Path(refuses)), ready=lambda: print(url, flush=True)).run()  # noqa: T201


if __name__ == "__main__":
    from tests.interfaces.http.small_server import main as run  # by its name, which the processes under it know

    try:
        run(sys.argv[1])
    except InvalidInput as error:
        sys.exit(str(error))
