"""VectorIndex on PostgreSQL with pgvector, beside any ledger."""

from commonplace.adapters.pgvector.index import PgvectorIndex

__all__ = ["PgvectorIndex"]
