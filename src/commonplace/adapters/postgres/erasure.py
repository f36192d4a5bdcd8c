"""Forgetting, in one transaction that holds the user's partition: others wait, and see a new epoch.

A summary that covers a forgotten message goes as a whole: nobody can tell which of its words were whose.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from commonplace.adapters.postgres import answers, erasure_log, feed, full_text, partitions, retention
from commonplace.adapters.postgres.columns import Connection, json_column, optional_micros, text_column, text_of
from commonplace.adapters.postgres.partitions import N_MASK, VECTORS, Partition
from commonplace.domain.errors import Conflict
from commonplace.domain.receipts import Part, digest_of
from commonplace.domain.scope import Scope
from commonplace.domain.times import to_micros
from commonplace.domain.values import FactId, MessageId, SessionId
from commonplace.ports.erasure import Erased, Removal, Reopened, Reworded, without

_WORDS = ("subject", "value", "terms", "text")
_COPIED = "kind, confidence, said_at, subject, attribute, value, extractor, metadata, expires_at, terms, text"


async def chosen(connection: Connection, scope: Scope, what: Part) -> Sequence[MessageId]:
    partition = await partitions.find(connection, scope)
    if partition is None:
        return []
    named = {
        "session": None if what.session is None else text_column(what.session),
        "id": None if what.message is None else text_column(what.message),
    }
    clauses = [f"{column} = %({column})s" for column, value in named.items() if value is not None]
    clauses += ["at < %(before)s"] if what.before is not None else []
    clauses += ["(expires_at <= %(due)s or at < %(message)s)"] if what.due is not None else []
    due = {} if what.due is None else {"due": to_micros(what.due.at), **retention.cutoffs(what.due, "message")}
    found = await connection.execute(
        f"select id from messages where {' and '.join(['partition = %(partition)s', *clauses])} order by at, row",
        {**named, **due, "before": optional_micros(what.before), "partition": partition.no},
    )
    return [MessageId(text_of(id_)) for (id_,) in await found.fetchall()]


async def touched(connection: Connection, scope: Scope, messages: Sequence[MessageId]) -> Sequence[FactId]:
    partition = await partitions.find(connection, scope)
    if partition is None or not messages:
        return []
    found = await connection.execute(
        "with said as (select row from messages where partition = %s and id = any(%s))"
        " select id from facts where row in (select fact from fact_sources where message in (select row from said)"
        " union select fact from fact_history where message in (select row from said)) order by row",
        (partition.no, [text_column(message) for message in messages]),
    )
    return [FactId(text_of(id_)) for (id_,) in await found.fetchall()]


async def sessions_before(connection: Connection, scope: Scope, moment: datetime) -> Sequence[SessionId]:
    partition = await partitions.find(connection, scope)
    found = await connection.execute(
        "select id from sessions where partition = %s and last_seen < %s order by started_at, id",
        (partition.no if partition else 0, to_micros(moment)),
    )
    return [SessionId(text_of(id_)) for (id_,) in await found.fetchall()]


async def erase(connection: Connection, scope: Scope, removal: Removal) -> Erased:
    await connection.execute("set local statement_timeout = 0")  # a user can have said a lot, and nobody else waits
    partition = await partitions.obtain(connection, scope)
    await retention.refuse_held(connection, scope)
    if removal.facts_seen not in (None, partition.fact_version):
        raise Conflict("the facts of this user have changed since they were read")
    return await _Eraser(connection, scope, partition, removal).erase()


async def erase_tenant(
    connection: Connection, tenant: str, *, at: datetime, new_id: Callable[[], str]
) -> Sequence[Erased]:
    owner = (text_column(tenant),)
    queued = await connection.execute('select distinct tenant, "user" from jobs where tenant = %s', owner)
    waiting = [partitions.scope_of(*one) for one in await queued.fetchall()]
    # In the order of their numbers, then those who hold nothing but a queued job.
    scopes = dict.fromkeys([*await feed.scopes(connection, tenant), *waiting])
    erased = [await erase(connection, scope, Removal(id=new_id(), what=Part(), at=at)) for scope in scopes]
    await connection.execute("delete from usage where tenant = %s", owner)
    return erased


@dataclass(slots=True)
class _Eraser:
    connection: Connection
    scope: Scope
    partition: Partition
    """Locked."""
    removal: Removal
    messages: list[int] = field(default_factory=list)
    """The rows that go: first rows of messages and of facts, those of summaries, and all that the indexes hold."""
    facts: list[int] = field(default_factory=list)
    summaries: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def changed(self) -> int:
        """The stamp of this change."""
        return self.partition.base | (self.partition.version + 1)

    async def erase(self) -> Erased:
        digest = await self._name_what_goes()
        self.counts["full_text"] = await full_text.remove(self.connection, self.rows)
        await self._keep_tombstones()
        await self._remove_rows()
        await self._remove_around_them()
        await self._mend_facts()
        added = await self._reopen()
        await self._finish(added)
        erased = Erased(
            id=self.removal.id,
            scope=self.scope,
            number=self.partition.no,
            version=self.partition.version + 1,
            what=self.removal.what,
            at=self.removal.at,
            counts=self.counts,
            digest=digest,
        )
        await erasure_log.record(self.connection, erased)
        return erased

    async def _run(self, sql: str, *values: object) -> int:
        return (await self.connection.execute(sql, values)).rowcount

    async def _all(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return await (await self.connection.execute(sql, values)).fetchall()

    async def _name_what_goes(self) -> str:
        """List the rows that go. Returns the digest of the messages and facts."""
        no = self.partition.no
        if self.removal.what.whole:
            messages = await self._all("select row, id from messages where partition = %s", no)
            facts = await self._all("select row, id from facts where partition = %s and row = first", no)
            summaries = await self._all("select row from summaries where partition = %s", no)
        else:
            named = "select row, id from messages where partition = %s and id = any(%s)"
            messages = await self._all(named, no, [text_column(one) for one in self.removal.messages])
            named = "select distinct first, id from facts where partition = %s and id = any(%s)"
            facts = await self._all(named, no, [text_column(one) for one in self.removal.facts])
            covering = "select distinct summary from summary_messages where message = any(%s)"
            summaries = await self._all(covering, [row for row, _ in messages])
        self.messages, self.facts = [row for row, _ in messages], [row for row, _ in facts]
        self.summaries = [row for (row,) in summaries]
        indexed = await self._all(
            "select row from passages where first = any(%s) union all select row from facts where first = any(%s)",
            self.messages,
            self.facts,
        )
        self.rows = [row for (row,) in indexed] + self.summaries
        return digest_of((MessageId(text_of(id_)) for _, id_ in messages), (FactId(text_of(id_)) for _, id_ in facts))

    async def _keep_tombstones(self) -> None:
        await self._run(
            "insert into removals (row, changed) select row, %s::bigint from unnest(%s::bigint[]) as gone (row)"
            " on conflict (row) do update set changed = excluded.changed",
            self.changed,
            self.rows,
        )

    async def _remove_rows(self) -> None:
        messages, facts, delete = self.messages, self.facts, self._delete
        await delete("summary_messages", "summary = any(%s)", self.summaries, named=False)
        if not self.removal.what.whole:
            # A kept fact whose sources change is fed again: the sessions of a fact are part of its row.
            await self._run(
                "update facts set changed = %s where first in (select fact from fact_sources where message = any(%s))",
                self.changed,
                messages,
            )
        self.counts["vectors"] = await delete(self.partition.vectors, "row = any(%s)", self.rows, named=False)
        await delete(self.partition.aside, "row = any(%s)", self.rows, named=False)
        await delete("fact_sources", "message = any(%s) or fact = any(%s)", messages, facts)
        await delete("fact_history", "message = any(%s) or fact = any(%s)", messages, facts)
        await delete("summaries", "row = any(%s)", self.summaries)
        await delete("passages", "first = any(%s)", messages)
        await delete("attachments", "message = any(%s)", messages)
        await delete("messages", "row = any(%s)", messages)
        self.counts["facts"] = len(facts)
        # All versions in one statement: they point to the first of them.
        self.counts["fact_versions"] = await delete("facts", "first = any(%s)", facts, named=False)

    async def _delete(self, table: str, condition: str, *values: object, named: bool = True) -> int:
        deleted = await self._run(f"delete from {table} where {condition}", *values)
        if named:
            self.counts[table] = deleted
        return deleted

    async def _remove_around_them(self) -> None:
        """Jobs, sessions, blocks, and what caches and indexes were told."""
        no = self.partition.no
        if self.removal.what.whole:
            await self._delete("jobs", 'tenant = %s and "user" = %s', *partitions.owner_columns(self.scope))
            await self._delete("sessions", "partition = %s", no)
            await self._delete("block_versions", "partition = %s", no)
            await self._delete("blocks", "partition = %s", no)
        else:
            self.counts["jobs"] = await self._prune_jobs()
            ended = [text_column(one) for one in self.removal.sessions]
            await self._delete("sessions", "partition = %s and id = any(%s)", no, ended)
        await self._delete("deliveries", "partition = %s", no, named=False)
        await self._delete("embeddings", "true")
        await answers.forget(self.connection, self.scope)

    async def _prune_jobs(self) -> int:
        """Take forgotten ids out of the queue, and queue what is left again in the new epoch. Returns how many went."""
        forgotten, removed = frozenset(self.removal.messages), 0
        jobs = await self._all(
            'select no, payload from jobs where tenant = %s and "user" = %s order by no for update',
            *partitions.owner_columns(self.scope),
        )
        for no, payload in jobs:
            left = without(json.loads(payload), forgotten)
            if left is None:
                removed += await self._run("delete from jobs where no = %s", no)
            else:
                await self._run(
                    "update jobs set payload = %s, epoch = %s,"
                    " due = case status when 'running' then run_at else due end,"
                    " status = case status when 'running' then 'queued' else status end where no = %s",
                    json_column(left),
                    self.partition.epoch + 1,
                    no,
                )
        return removed

    async def _mend_facts(self) -> None:
        for one in self.removal.reworded:
            await self._reword(one)
        if self.removal.stripped:
            await self._run(
                "update facts set metadata = null, expires_at = null, changed = %s"
                " where partition = %s and id = any(%s)",
                self.changed,
                self.partition.no,
                [text_column(fact) for fact in self.removal.stripped],
            )
        if self.removal.facts:
            await self._run(
                "update facts set replaced_by = null, changed = %s where partition = %s and replaced_by = any(%s)",
                self.changed,
                self.partition.no,
                [text_column(fact) for fact in self.removal.facts],
            )
        if self.removal.quotes:
            await self._empty_reasons()

    async def _reword(self, one: Reworded) -> None:
        row, like = await self._version_row(one.fact, one.version), await self._version_row(one.fact, one.like)
        words = ", ".join(f"{word} = l.{word}" for word in _WORDS)
        await self._run(
            f"update facts f set {words}, changed = %s from facts l where l.row = %s and f.row = %s",
            self.changed,
            like,
            row,
        )
        await full_text.remove(self.connection, [row])
        for table in VECTORS:
            await self._run(f"delete from {table} where row = %s", row)
        await self._copy_index(like, row)

    async def _copy_index(self, like: int, row: int) -> None:
        """Give a row what the indexes hold about another one with the same words."""
        for table in VECTORS:
            copied = f"insert into {table} (row, vector, tokens) select %s, vector, tokens from {table} where row = %s"
            await self._run(copied, row, like)
        await self._run("insert into full_text (row, terms) select %s, terms from full_text where row = %s", row, like)

    async def _empty_reasons(self) -> None:
        quotes = [quote.casefold() for quote in self.removal.quotes]
        reasons = await self._all(
            "select no, reason from fact_history where fact > %s and fact <= %s",
            self.partition.base,
            self.partition.last,
        )
        quoting = [no for no, reason in reasons if any(quote in text_of(reason).casefold() for quote in quotes)]
        await self._run("update fact_history set reason = %s where no = any(%s)", text_column(""), quoting)

    async def _reopen(self) -> int:
        for offset, one in enumerate(self.removal.reopened):
            await self._insert(one, self.partition.base | (self.partition.next_row + offset))
        return len(self.removal.reopened)

    async def _insert(self, one: Reopened, row: int) -> None:
        like, now = await self._version_row(one.fact, one.like), to_micros(self.removal.at)
        await self._run(
            "update facts set retracted_at = %s, changed = %s"
            " where partition = %s and id = %s and retracted_at is null",
            now,
            self.changed,
            self.partition.no,
            text_column(one.fact),
        )
        replaced_by = None if one.replaced_by in (None, *self.removal.facts) else text_column(one.replaced_by or "")
        await self._run(
            "insert into facts (row, partition, first, changed, id, version, importance, valid_from, valid_to,"
            f" recorded_at, replaced_by, {_COPIED}) select %s, partition, first, %s, id, %s, %s, %s, %s, %s, %s,"
            f" {_COPIED} from facts where row = %s",
            row,
            self.changed,
            one.version,
            one.importance,
            optional_micros(one.valid_from),
            optional_micros(one.valid_to),
            now,
            replaced_by,
            like,
        )
        await self._copy_index(like, row)
        await self._run(
            "insert into fact_history (fact, version, change, at, reason)"
            " select first, version, %s, %s, %s from facts where row = %s",
            one.change,
            now,
            text_column(one.reason),
            row,
        )

    async def _version_row(self, fact: FactId, version: int) -> int:
        ((row,),) = await self._all(
            "select row from facts where partition = %s and id = %s and version = %s",
            self.partition.no,
            text_column(fact),
            version,
        )
        return int(row)

    async def _finish(self, added: int) -> None:
        gone = self.counts["passages"] + self.counts["fact_versions"] + self.counts["summaries"]
        await self._run(
            "update partitions set version = version + 1, fact_version = fact_version + 1, epoch = epoch + 1,"
            " next_row = next_row + %s, rows = rows + %s where no = %s",
            added,
            added - gone,
            self.partition.no,
        )
        assert self.partition.next_row + added <= N_MASK
