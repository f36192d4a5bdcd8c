-- Names quote what was said, too: those of sessions and blocks, and the ids of what was forgotten. The planner does
-- without them, since every query asks for them within a partition, by an index. A column that is given the type it has
-- loses the statistics that were kept of it.
do $$
declare
    named text[];
begin
    foreach named slice 1 in array array[
        ['messages', 'id'], ['messages', 'session'], ['messages', 'agent'], ['facts', 'id'], ['facts', 'attribute'],
        ['facts', 'replaced_by'], ['summaries', 'id'], ['summaries', 'session'], ['sessions', 'id'], ['blocks', 'name'],
        ['block_versions', 'name'], ['attachments', 'id'], ['holds', 'reason'], ['answers', 'key']
    ] loop
        execute format('alter table %I alter column %I set statistics 0', named[1], named[2]);
        if (select reltuples > 0 from pg_class where oid = named[1]::regclass) then
            execute format('alter table %I alter column %I type text collate "C"', named[1], named[2]);
        end if;
    end loop;
end $$;
