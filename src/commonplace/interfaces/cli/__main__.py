"""`python -m commonplace.interfaces.cli`: the command where its script is not installed."""

from commonplace.interfaces.cli import main

main()
