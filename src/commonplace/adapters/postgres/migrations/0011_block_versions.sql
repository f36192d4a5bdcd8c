-- What blocks said before.
create table block_versions (
    partition bigint not null references partitions (no),
    name text collate "C" not null,
    no bigint not null,
    since bigint not null,
    until bigint not null,
    text text collate "C" not null,
    tenant text collate "C" not null default current_setting('commonplace.tenant'),
    primary key (partition, name, no)
);
alter table block_versions alter column text set statistics 0;
alter table block_versions enable row level security;
alter table block_versions force row level security;
create policy one_tenant on block_versions using (
    tenant = (select current_setting('commonplace.tenant', true))
    or (select current_setting('commonplace.every_tenant', true)) = 'on'
);
