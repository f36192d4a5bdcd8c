-- Users whose data nobody may remove, and whose turn it is at what one of many processes does from time to time.
create table holds (
    no integer primary key,
    tenant any not null,
    user any not null,                     -- '' is the anonymous user
    since integer not null,
    reason any not null,
    unique (tenant, user)
) strict;

create table turns (
    chore text primary key,
    next_at integer not null
) strict, without rowid;
