"""Runs an example again and again, each time in a process of its own, forked from one that has imported what it needs.

Nothing is opened before the fork: a run shares with the one before it what is in the folder, and nothing else.
"""

import json
import os
import runpy
import sys
import threading


def main(example: str) -> None:
    runpy.run_path(example)
    assert threading.active_count() == 1, "a thread that was started by an import would not live on after the fork"
    for line in sys.stdin:
        if (run := os.fork()) == 0:
            return perform(example, **json.loads(line))
        _, status = os.waitpid(run, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()
    return None


def perform(example: str, *, arguments: list[str], out: str, err: str) -> None:
    for number, path in enumerate((os.devnull, out, err)):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
    sys.argv = [example, *arguments]
    runpy.run_path(example, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1])
