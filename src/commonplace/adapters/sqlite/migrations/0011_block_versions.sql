create table block_versions (
    partition integer not null references partitions (no),
    name any not null,
    no integer not null,
    since integer not null,
    until integer not null,
    text any not null,
    primary key (partition, name, no)
) strict, without rowid;
