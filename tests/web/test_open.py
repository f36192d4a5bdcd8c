"""`commonplace open`: a free port, and the browser that the system names."""

import shutil
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

PATIENCE = 60.0


def test_open_serves_the_local_folder_and_shows_it_to_the_browser(environment: dict[str, str], tmp_path: Path) -> None:
    browser, shown = tmp_path / "browser", tmp_path / "shown"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {shown}.part && mv {shown}.part {shown}\n')
    browser.chmod(0o755)
    command = shutil.which("commonplace", path=environment["PATH"])
    assert command is not None
    environment |= {"BROWSER": f"{browser} %s"}
    with subprocess.Popen([command, "open", "--user", "ana b"], env=environment, stderr=subprocess.PIPE) as process:
        try:
            until = time.monotonic() + PATIENCE
            while not shown.exists():
                assert process.poll() is None, process.stderr.read() if process.stderr else ""
                assert time.monotonic() < until, "no browser was called"
                time.sleep(0.05)
            address = shown.read_text()
            assert address.startswith("http://127.0.0.1:")
            with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
                assert "<h1>ana b</h1>" in answer.read().decode()
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE)
