-- The erasure log: what was forgotten, and the receipt for it. Ids and numbers, no content.
create table erasures (
    no integer primary key,
    id any not null unique,
    partition integer not null references partitions (no),
    version integer not null,              -- of the partition; the removals of this erasure carry it, too
    what text not null,                    -- JSON: the part that was named
    at integer not null,
    counts text not null,                  -- JSON: rows removed, by table
    digest text not null,
    receipt text                           -- JSON; null while caches, indexes and files are still to be seen to
) strict;
create index erasures_pending on erasures (no) where receipt is null;
create index erasures_partition on erasures (partition);
