-- What messages carry. The bytes are kept elsewhere; what could be read in them is here, so that an index can be made anew.
create table attachments (
    message bigint not null references messages (row),
    place integer not null,
    id text collate "C" not null,
    type text collate "C" not null,
    size bigint not null,
    name text collate "C",
    caption text collate "C" not null,
    text text collate "C" not null,
    tenant text collate "C" not null default current_setting('commonplace.tenant'),
    primary key (message, place)
);
alter table attachments alter column name set statistics 0;
alter table attachments alter column caption set statistics 0;
alter table attachments alter column text set statistics 0;
alter table attachments enable row level security;
alter table attachments force row level security;
create policy one_tenant on attachments using (
    tenant = (select current_setting('commonplace.tenant', true))
    or (select current_setting('commonplace.every_tenant', true)) = 'on'
);
