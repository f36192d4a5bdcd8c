-- Which process has which duty, and until when, unless it prolongs it.
create table leases (
    duty text primary key,
    holder text not null,
    until integer not null
) strict, without rowid;
