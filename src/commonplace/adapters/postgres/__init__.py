"""The ledger in a PostgreSQL database."""

from commonplace.adapters.postgres.ledger import PostgresLedger

__all__ = ["PostgresLedger"]
