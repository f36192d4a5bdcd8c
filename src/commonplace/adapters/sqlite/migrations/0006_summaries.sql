-- What older stretches of sessions come down to. Row numbers are shared with messages and facts: the indexes hold them
-- alike.
create table summaries (
    row integer primary key,
    partition integer not null references partitions (no),
    changed integer not null,
    id any not null,
    session any not null,
    since integer not null,
    until integer not null,
    made_at integer not null,
    expires_at integer,
    author any not null,
    terms blob not null,
    text any not null
) strict;
create unique index summaries_id on summaries (partition, id);
create index summaries_session on summaries (partition, session, until);
create index summaries_changed on summaries (changed);

-- A message is covered by one summary at most.
create table summary_messages (
    message integer primary key references messages (row),
    summary integer not null references summaries (row)
) strict;
create index summary_messages_summary on summary_messages (summary);
