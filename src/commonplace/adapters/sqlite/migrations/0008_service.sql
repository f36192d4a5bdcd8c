-- What the service keeps: its keys, of which the secret is never here, and the answers it gave to whom may ask again.
create table api_keys (
    no integer primary key,
    id text not null unique,
    tenant any not null,
    user any,                              -- null: every user of the tenant
    role text not null,
    label any not null,
    salt blob not null,
    digest blob not null,
    created_at integer not null,
    expires_at integer,
    revoked_at integer
) strict;

create table answers (
    no integer primary key,
    owner text not null,
    key any not null,
    digest blob,                           -- null: what it was about has been forgotten
    until integer not null,                -- the end of the lease while status is null, else of keeping it
    tenant any not null,
    user any,                              -- '' is the anonymous user; null: not known yet, or more than one
    status integer,                        -- null while it is being worked on
    headers text,
    body blob,
    unique (owner, key)
) strict;
create index answers_owner on answers (tenant, user);
create index answers_until on answers (until);
