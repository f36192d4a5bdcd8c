-- Row numbers of messages, passages, facts and vectors are (partition << 32) | n: one user's rows lie side by side.
-- `changed` is (partition << 32) | version, so that one plain index finds what changed in a partition since a version.
-- Columns of type ANY hold text: as TEXT, or as a BLOB where it has a NUL or a lone surrogate, which TEXT cannot keep.

create table meta (
    key text primary key,
    value any not null
) strict, without rowid;

create table partitions (
    no integer primary key,
    tenant any not null,
    user any not null,                     -- '' is the anonymous user
    version integer not null default 0,
    fact_version integer not null default 0,
    epoch integer not null default 0,
    next_row integer not null default 1,
    rows integer not null default 0,
    unique (tenant, user)
) strict;

create table messages (
    row integer primary key,               -- of its first passage
    partition integer not null references partitions (no),
    id any not null,
    session any,
    role text not null,
    name any,
    agent any,
    at integer not null,
    recorded_at integer not null,
    expires_at integer,
    metadata text,
    text any not null                      -- last: a long one spills over, and the others are read without it
) strict;
create unique index messages_id on messages (partition, id);
create index messages_at on messages (partition, at);
create index messages_session on messages (partition, session, at) where session is not null;

create table passages (
    row integer primary key,
    first integer not null references messages (row),
    changed integer not null,
    start integer not null,
    stop integer not null,
    terms blob not null
) strict;
create index passages_changed on passages (changed);

create table facts (
    row integer primary key,
    partition integer not null references partitions (no),
    first integer not null references facts (row),    -- the row of its first version stands for the fact
    changed integer not null,
    id any not null,
    version integer not null,
    kind text not null,
    confidence real not null,
    importance real not null,
    said_at integer not null,
    valid_from integer,
    valid_to integer,
    recorded_at integer not null,
    retracted_at integer,
    expires_at integer,
    replaced_by any,
    subject any not null,
    attribute any not null,
    value any not null,
    extractor any not null,
    metadata text,
    terms blob not null,
    text any not null
) strict;
create unique index facts_id on facts (partition, id, version);
create unique index facts_first on facts (first, version);
create unique index facts_open on facts (first) where retracted_at is null;
create index facts_attribute on facts (partition, subject, attribute) where retracted_at is null;
create index facts_text on facts (partition, text) where retracted_at is null;
create index facts_changed on facts (changed);

create table fact_sources (
    no integer primary key,
    fact integer not null references facts (row),
    message integer not null references messages (row),
    start integer not null,
    stop integer not null,
    role text not null,
    unique (fact, message, role, start, stop)
) strict;
create index fact_sources_message on fact_sources (message);

create table fact_history (
    no integer primary key,
    fact integer not null references facts (row),
    version integer not null,
    change text not null,
    at integer not null,
    reason any not null,
    message integer references messages (row)
) strict;
create index fact_history_fact on fact_history (fact);
create index fact_history_message on fact_history (message) where message is not null;

-- A table with rowids: without them a vector of 1.5 KB would take 4.8 KB.
create table vectors (
    row integer primary key,
    vector blob not null
) strict;

-- Numbers of rows that were forgotten, for indexes that still hold them.
create table removals (
    row integer primary key,
    changed integer not null
) strict;
create index removals_changed on removals (changed);

create table deliveries (
    partition integer not null references partitions (no),
    receiver any not null,
    version integer not null,
    primary key (partition, receiver)
) strict, without rowid;

create table blocks (
    partition integer not null references partitions (no),
    name any not null,
    position integer not null,
    updated_at integer not null,
    text any not null,
    primary key (partition, name)
) strict, without rowid;

create table sessions (
    partition integer not null references partitions (no),
    id any not null,
    started_at integer not null,
    last_seen integer not null,
    expires_at integer not null,
    ended_at integer,
    state text,
    primary key (partition, id)
) strict, without rowid;
create index sessions_state on sessions (expires_at) where state is not null;

create table embeddings (
    no integer primary key autoincrement,  -- rises with age, so the oldest are pruned by number
    identity text not null,
    digest blob not null,
    vector blob not null,
    cached_at integer not null,
    unique (digest, identity)
) strict;

create table jobs (
    no integer primary key,
    id any not null unique,
    tenant any not null,
    user any not null,
    kind text not null,
    payload text not null,
    epoch integer not null,
    attempts integer not null,
    run_at integer not null,
    due integer,                           -- when it may be taken: its time, the end of its lease, or never
    status text not null,
    error any not null
) strict;
create index jobs_due on jobs (due) where due is not null;
create index jobs_owner on jobs (tenant, user);
