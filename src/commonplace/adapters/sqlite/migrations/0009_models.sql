-- Vectors of another model than the one in use: of the one that is to come, or of the one before. A switch lets the two
-- tables change names, so that it takes no longer for a million rows than for one.
create table vectors_aside (
    row integer primary key,
    vector blob not null,
    tokens blob
) strict;

-- The models that have taken part in a switch, and how each is opened.
create table models (
    identity any primary key,
    name any,                              -- null: only who has it can give it
    dimensions integer not null,
    aside text                             -- 'building', 'kept' or 'clearing' for the one whose vectors are aside
) strict, without rowid;
