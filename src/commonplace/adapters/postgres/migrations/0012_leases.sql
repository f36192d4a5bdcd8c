-- Which process has which duty, and until when, unless it prolongs it.
create table leases (
    duty text collate "C" primary key,
    holder text not null,
    until bigint not null
);
