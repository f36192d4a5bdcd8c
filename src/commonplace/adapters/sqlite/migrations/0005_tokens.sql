-- The short vectors of a row's words, for late interaction: in the row of its vector, so they come and go together.
alter table vectors add column tokens blob;
