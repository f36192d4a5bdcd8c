-- Vectors of a second model. Those of even generations are in `vectors`, those of odd ones here: a switch to another
-- model only raises the generation, in `meta`, so a transaction sees those of one model, and nobody waits for a table.
create table vectors_odd (
    row bigint primary key,
    vector vector not null,
    tokens bytea,
    tenant text collate "C" not null default current_setting('commonplace.tenant')
);
alter table vectors_odd alter column vector set statistics 0;
alter table vectors_odd alter column tokens set statistics 0;
alter table vectors_odd enable row level security;
alter table vectors_odd force row level security;
create policy one_tenant on vectors_odd using (
    tenant = (select current_setting('commonplace.tenant', true))
    or (select current_setting('commonplace.every_tenant', true)) = 'on'
);

-- The models that have taken part in a switch, and how each is opened.
create table models (
    identity text collate "C" primary key,
    name text collate "C",                 -- null: only who has it can give it
    dimensions bigint not null,
    aside text collate "C"                 -- 'building', 'kept' or 'clearing' for the one whose vectors are not in use
);
