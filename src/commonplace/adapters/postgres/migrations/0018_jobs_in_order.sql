-- Jobs are taken in the order of their time, and of one user one at a time: so that neither looks at all that wait.
create index jobs_order on jobs (run_at, no) where due is not null;
drop index jobs_owner;
create index jobs_owner on jobs (tenant, "user", run_at, no);
