-- Whether the rows of a partition, present and future, are in the full-text table. The table itself is made when it is
-- first needed, so that a SQLite without FTS5 can still hold a ledger.
alter table partitions add column full_text integer not null default 0;
