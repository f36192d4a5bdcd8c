-- What a fact is about and what it says, as hashes in columns of their own. An index on a function of a text is of no use
-- under row-level security (see 0016), so who looked for one fact read all that the user had; to compare numbers leaks nothing.
alter table facts
    add column about bigint not null generated always as (hashtextextended(attribute, hashtextextended(subject, 0))) stored,
    add column wording bigint not null generated always as (hashtextextended(text, 0)) stored;
alter table facts alter column about set statistics 0;
alter table facts alter column wording set statistics 0;
drop index facts_attribute, facts_text;
create index facts_about on facts (partition, about) where retracted_at is null;
create index facts_wording on facts (partition, wording) where retracted_at is null;
