-- The words of rows of users who do not fit in memory: each is the user's number and the hash of a term, so the index
-- keeps users apart by itself and holds no text.
create table full_text (
    row bigint primary key,
    terms tsvector not null,
    tenant text collate "C" not null default current_setting('commonplace.tenant')
);
create index full_text_terms on full_text using gin (terms);
alter table full_text enable row level security;
alter table full_text force row level security;
create policy one_tenant on full_text using (
    tenant = (select current_setting('commonplace.tenant', true))
    or (select current_setting('commonplace.every_tenant', true)) = 'on'
);

-- The planner's statistics quote values, and a forget does not reach them. No query is planned by what was said.
alter table messages alter column text set statistics 0;
alter table messages alter column name set statistics 0;
alter table messages alter column metadata set statistics 0;
alter table facts alter column text set statistics 0;
alter table facts alter column value set statistics 0;
alter table facts alter column subject set statistics 0;
alter table facts alter column metadata set statistics 0;
alter table facts alter column terms set statistics 0;
alter table fact_history alter column reason set statistics 0;
alter table passages alter column terms set statistics 0;
alter table summaries alter column text set statistics 0;
alter table summaries alter column terms set statistics 0;
alter table vectors alter column vector set statistics 0;
alter table vectors alter column tokens set statistics 0;
alter table blocks alter column text set statistics 0;
alter table sessions alter column state set statistics 0;
alter table embeddings alter column vector set statistics 0;
alter table answers alter column body set statistics 0;
alter table answers alter column headers set statistics 0;
alter table jobs alter column payload set statistics 0;
alter table jobs alter column error set statistics 0;
alter table full_text alter column terms set statistics 0;
