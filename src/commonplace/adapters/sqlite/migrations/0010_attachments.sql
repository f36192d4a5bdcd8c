-- What messages carry. The bytes are kept elsewhere; what could be read in them is here, so that an index can be made anew.
create table attachments (
    no integer primary key,
    message integer not null references messages (row),
    place integer not null,
    id text not null,                      -- the SHA-256 of its bytes
    type text not null,
    size integer not null,
    name any,
    caption any not null,
    text any not null,
    unique (message, place)
) strict;
