"""An embedded memory is private: no file that others can read, and no connection that nobody asked for."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
OUT = re.compile(r"(connect|sendto|sendmsg)\(.*(AF_INET6?)")
HERE = re.compile(r'inet_addr\("127\.|"::1"|inet_addr\("0\.0\.0\.0"\)')


def spent(folder: Path, environment: dict[str, str], *watcher: str) -> None:
    command = [*watcher, sys.executable, "-m", "tests.e2e.quiet_day", str(folder)]
    own = environment | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    ran = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_nothing_opens_a_connection_that_nobody_asked_for(tmp_path: Path, environment: dict[str, str]) -> None:
    """strace sees what native code does, too, which a guard inside Python would not."""
    if shutil.which("strace") is None:
        pytest.skip("needs strace (make servers): nothing else sees the sockets of native code")
    log = tmp_path / "calls.txt"
    spent(tmp_path, environment, "strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg", "-o", str(log))
    lines = log.read_text(errors="replace").splitlines()
    assert [line for line in lines if OUT.search(line) and not HERE.search(line)] == []


def test_every_file_and_folder_is_the_user_s_own(tmp_path: Path, environment: dict[str, str]) -> None:
    spent(tmp_path, environment)
    kept = [
        path for name in ("memory", "backups", "other") for path in [tmp_path / name, *(tmp_path / name).rglob("*")]
    ]
    assert {path.name for path in kept} >= {"ledger.db", "chroma", "manifest.json"}
    open_ = [str(path) for path in kept if path.stat().st_mode & 0o077]
    assert open_ == []
