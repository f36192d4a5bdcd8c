-- The model whose vectors a user has; null: the one that `meta` names, as nearly everybody's.
alter table partitions add column own_model text collate "C";
create index partitions_own_model on partitions (tenant) where own_model is not null;

-- Vectors of models that users have of their own. They take no part in a switch of everybody's.
create table vectors_own (
    row bigint primary key,
    vector vector not null,
    tokens bytea,
    tenant text collate "C" not null default current_setting('commonplace.tenant')
);
alter table vectors_own alter column vector set statistics 0;
alter table vectors_own alter column tokens set statistics 0;
alter table vectors_own enable row level security;
alter table vectors_own force row level security;
create policy one_tenant on vectors_own using (
    tenant = (select current_setting('commonplace.tenant', true))
    or (select current_setting('commonplace.every_tenant', true)) = 'on'
);
