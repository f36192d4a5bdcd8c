-- What the models of a tenant have cost, by day (UTC, ISO 8601).
create table usage (
    tenant any not null,
    day text not null,
    requests integer not null,
    input_tokens integer not null,
    output_tokens integer not null,
    ungrounded integer not null,
    primary key (tenant, day)
) strict, without rowid;
