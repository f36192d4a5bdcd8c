-- Under row-level security an index may only be asked what cannot give away a row by itself (leakproof operators), and to
-- match words is nothing of the kind: as an ordinary role, every search read the words of all users. What a policy asks
-- for is looked up before the rows are anybody's. So the words that are wanted stand in one: that of a table which
-- `full_text` inherits from, for who asks the parent is held to the parent's policy alone. Without words it shows nothing.
create table full_text_matches (
    row bigint not null,
    terms tsvector not null,
    tenant text collate "C" not null
);
alter table full_text inherit full_text_matches;
alter table full_text_matches enable row level security;
alter table full_text_matches force row level security;
create policy one_tenant_and_some_words on full_text_matches using (
    (
        tenant = (select current_setting('commonplace.tenant', true))
        or (select current_setting('commonplace.every_tenant', true)) = 'on'
    )
    and terms @@ (select nullif(current_setting('commonplace.words', true), '')::tsquery)
);
