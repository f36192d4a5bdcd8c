"""`commonplace` on the command line. A command imports what it needs when it runs, so that `--help` answers at once."""

import sys


def main() -> None:
    from commonplace.interfaces.cli.app import run

    sys.exit(run(sys.argv[1:]))
