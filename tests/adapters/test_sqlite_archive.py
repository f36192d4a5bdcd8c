"""A table that is added to the ledger is either in its archive, or can be made again from what is."""

from commonplace.adapters.sqlite import SqliteLedger
from commonplace.adapters.sqlite.columns import Connection

ARCHIVED = {
    "meta",
    "partitions",
    "messages",
    "attachments",
    "passages",
    "facts",
    "fact_sources",
    "fact_history",
    "vectors",
    "blocks",
    "block_versions",
    "sessions",
    "jobs",
    "usage",
    "erasures",
    "api_keys",
    "holds",
    "summaries",
    "summary_messages",
}
MADE_AGAIN = {
    "migrations",
    "removals",  # rows that indexes of this ledger may still hold
    "deliveries",  # what those indexes were fed
    "embeddings",  # a cache
    "vectors_aside",  # of a model that is to come, or was before
    "models",  # how those are opened; whose vectors there are is in meta
    "answers",  # kept for a day, for a caller who asks again
    "turns",  # when a chore is due
    "leases",  # who is at one now
    "sqlite_sequence",
}


def tables(connection: Connection) -> set[str]:
    return {name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")}


async def test_every_table_is_in_the_archive_or_can_be_made_again() -> None:
    async with SqliteLedger(None) as ledger:
        there = await ledger._read(tables)
    assert there - MADE_AGAIN == ARCHIVED, "extend domain.archive, ports.archive's adapters and their contract suite"
