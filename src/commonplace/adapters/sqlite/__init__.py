"""The ledger in one SQLite file."""

from commonplace.adapters.sqlite.ledger import SqliteLedger

__all__ = ["SqliteLedger"]
