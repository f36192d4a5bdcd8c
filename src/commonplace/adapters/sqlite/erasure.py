"""Forgetting, in one transaction. Tables in memory name the rows that go, while it lasts.

A summary that covers a forgotten message goes as a whole: nobody can tell which of its words were whose.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime

from commonplace.adapters.sqlite import answers, erasure_log, feed, full_text, partitions, retention
from commonplace.adapters.sqlite.columns import Connection, Text, json_column, optional_micros, text_column, text_of
from commonplace.adapters.sqlite.full_text import Unpack
from commonplace.adapters.sqlite.partitions import N_MASK, Partition
from commonplace.domain.errors import Conflict
from commonplace.domain.receipts import Part, digest_of
from commonplace.domain.scope import Scope
from commonplace.domain.times import to_micros
from commonplace.domain.values import FactId, MessageId, SessionId
from commonplace.ports.erasure import Erased, Removal, Reopened, Reworded, without

_GOING = ("going", "going_facts", "going_summaries")
VECTORS = ("vectors", "vectors_aside")
_WORDS = "subject, value, terms, text"
_COPIED = "kind, confidence, said_at, subject, attribute, value, extractor, metadata, expires_at, terms, text"


def chosen(connection: Connection, scope: Scope, what: Part) -> Sequence[MessageId]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return []
    named = {
        "session": None if what.session is None else text_column(what.session),
        "id": None if what.message is None else text_column(what.message),
    }
    clauses = [f"{column} = :{column}" for column, value in named.items() if value is not None]
    clauses += ["at < :before"] if what.before is not None else []
    clauses += ["(expires_at <= :due or at < :message)"] if what.due is not None else []
    due = {} if what.due is None else {"due": to_micros(what.due.at), **retention.cutoffs(what.due, "message")}
    rows = connection.execute(
        f"select id from messages where {' and '.join(['partition = :partition', *clauses])} order by at, row",
        {**named, **due, "before": optional_micros(what.before), "partition": partition.no},
    )
    return [MessageId(text_of(id_)) for (id_,) in rows]


def touched(connection: Connection, scope: Scope, messages: Sequence[MessageId]) -> Sequence[FactId]:
    partition = partitions.find(connection, scope)
    if partition is None:
        return []
    rows: set[int] = set()
    for message in messages:
        rows |= {
            row
            for (row,) in connection.execute(
                "select s.fact from fact_sources s join messages m on m.row = s.message"
                " where m.partition = ?1 and m.id = ?2"
                " union select h.fact from fact_history h join messages m on m.row = h.message"
                " where m.partition = ?1 and m.id = ?2",
                (partition.no, text_column(message)),
            )
        }
    found = (connection.execute("select id from facts where row = ?", (row,)).fetchone() for row in sorted(rows))
    return [FactId(text_of(id_)) for (id_,) in found]


def sessions_before(connection: Connection, scope: Scope, moment: datetime) -> Sequence[SessionId]:
    partition = partitions.find(connection, scope)
    rows = connection.execute(
        "select id from sessions where partition = ? and last_seen < ? order by started_at, id",
        (partition.no if partition else 0, to_micros(moment)),
    )
    return [SessionId(text_of(id_)) for (id_,) in rows]


def erase(connection: Connection, scope: Scope, removal: Removal, *, unpack: Unpack | None) -> Erased:
    retention.refuse_held(connection, scope)
    partition = partitions.obtain(connection, scope)
    if removal.facts_seen not in (None, partition.fact_version):
        raise Conflict("the facts of this user have changed since they were read")
    eraser = _Eraser(connection, scope, partition, removal, unpack)
    return eraser.erase()


def erase_tenant(
    connection: Connection, tenant: str, *, at: datetime, new_id: Callable[[], str], unpack: Unpack | None
) -> Sequence[Erased]:
    owner = (text_column(tenant),)
    queued = connection.execute("select distinct tenant, user from jobs where tenant = ?", owner).fetchall()
    # In the order of their numbers, then those who hold nothing but a queued job.
    scopes = dict.fromkeys([*feed.scopes(connection, tenant), *(partitions.scope_of(*one) for one in queued)])
    erased = [erase(connection, scope, Removal(id=new_id(), what=Part(), at=at), unpack=unpack) for scope in scopes]
    connection.execute("delete from usage where tenant = ?", owner)
    return erased


@dataclass(slots=True)
class _Eraser:
    connection: Connection
    scope: Scope
    partition: Partition
    removal: Removal
    unpack: Unpack | None
    counts: dict[str, int] = field(default_factory=dict)

    def erase(self) -> Erased:
        self._name_what_goes()
        messages, facts = self._ids("going", "messages"), self._ids("going_facts", "facts")
        digest = digest_of(map(MessageId, messages), map(FactId, facts))
        self._remove_full_text()
        self._keep_tombstones()
        self._remove_rows()
        self._remove_around_them()
        self._mend_facts()
        added = self._reopen()
        self._finish(added)
        version = self.partition.version + 1
        erased = Erased(
            id=self.removal.id,
            scope=self.scope,
            number=self.partition.no,
            version=version,
            what=self.removal.what,
            at=self.removal.at,
            counts=self.counts,
            digest=digest,
        )
        erasure_log.record(self.connection, erased)
        for table in _GOING:
            self.connection.execute(f"drop table {table}")
        return erased

    def _name_what_goes(self) -> None:
        """Fill two tables in memory: the first rows of messages, and those of facts."""
        run, no = self.connection.execute, self.partition.no
        for table in _GOING:
            run(f"drop table if exists {table}")
            run(f"create temporary table {table} (row integer primary key)")
        if self.removal.what.whole:
            run("insert into going select row from messages where partition = ?", (no,))
            run("insert into going_facts select row from facts where partition = ? and row = first", (no,))
            run("insert into going_summaries select row from summaries where partition = ?", (no,))
            return
        for table, source, ids in (
            ("going", "select row from messages where partition = ? and id = ?", self.removal.messages),
            ("going_facts", "select first from facts where partition = ? and id = ? limit 1", self.removal.facts),
        ):
            self.connection.executemany(f"insert into {table} {source}", [(no, text_column(one)) for one in ids])
        run(
            "insert into going_summaries"
            " select distinct summary from summary_messages where message in (select row from going)"
        )

    def _ids(self, going: str, table: str) -> list[str]:
        return [text_of(id_) for (id_,) in self.connection.execute(f"select id from {table} join {going} using (row)")]

    _ROWS = (
        "select row from passages where first in (select row from going)"
        " union all select row from facts where first in (select row from going_facts)"
        " union all select row from going_summaries"
    )

    def _remove_full_text(self) -> None:
        if not full_text.exists(self.connection):
            return
        if self.unpack is None:
            # The words of a row are needed to take it out. Without them all of it goes, and is built again when needed.
            full_text.drop(self.connection)
            return
        self.counts["full_text"] = self._leave_full_text(self._ROWS)

    def _leave_full_text(self, which: str) -> int:
        """Take rows out of the full text, if it is there. Returns how many were in it."""
        if self.unpack is None or not full_text.exists(self.connection):
            return 0
        removed = 0
        for table in ("passages", "facts", "summaries"):
            rows = self.connection.execute(
                f"select t.row, t.terms from {table} t join full_text_docsize d on d.id = t.row"
                f" where t.row in ({which})"
            ).fetchall()
            for row, terms in rows:
                full_text.remove(self.connection, row, terms, unpack=self.unpack)
            removed += len(rows)
        return removed

    def _keep_tombstones(self) -> None:
        changed = self.partition.base | (self.partition.version + 1)
        self.connection.execute(f"insert or replace into removals select row, ? from ({self._ROWS})", (changed,))

    def _remove_rows(self) -> None:
        gone, facts = "(select row from going)", "(select row from going_facts)"
        summaries = "(select row from going_summaries)"
        self._delete("summary_messages", f"summary in {summaries}", named=False)
        self._delete("vectors_aside", f"row in ({self._ROWS})", named=False)
        # A kept fact whose sources change is fed again: the sessions of a fact are part of its row.
        self.connection.execute(
            f"update facts set changed = ? where first in (select fact from fact_sources where message in {gone})",
            (self.partition.base | (self.partition.version + 1),),
        )
        for table, condition in (
            ("vectors", f"row in ({self._ROWS})"),
            ("fact_sources", f"message in {gone} or fact in {facts}"),
            ("fact_history", f"message in {gone} or fact in {facts}"),
            ("summaries", f"row in {summaries}"),
            ("passages", f"first in {gone}"),
            ("attachments", f"message in {gone}"),
            ("messages", f"row in {gone}"),
        ):
            self._delete(table, condition)
        self.counts["facts"] = self._delete("facts", f"first in {facts} and row = first", count_only=True)
        self.connection.execute("pragma defer_foreign_keys = on")  # the versions of a fact point to the first of them
        self.counts["fact_versions"] = self._delete("facts", f"first in {facts}", named=False)

    def _delete(
        self,
        table: str,
        condition: str,
        values: Sequence[object] = (),
        *,
        named: bool = True,
        count_only: bool = False,
    ) -> int:
        if count_only:
            found = self.connection.execute(f"select count(*) from {table} where {condition}", values).fetchone()
            return int(found[0])
        deleted = self.connection.execute(f"delete from {table} where {condition}", values).rowcount
        if named:
            self.counts[table] = deleted
        return deleted

    def _remove_around_them(self) -> None:
        """Jobs, sessions, blocks, and what caches and indexes were told."""
        no = (self.partition.no,)
        if self.removal.what.whole:
            self._delete("jobs", "tenant = ? and user = ?", partitions.owner_columns(self.scope))
            self._delete("sessions", "partition = ?", no)
            self._delete("block_versions", "partition = ?", no)
            self._delete("blocks", "partition = ?", no)
        else:
            self.counts["jobs"] = self._prune_jobs()
            self.counts["sessions"] = sum(
                self._delete("sessions", "partition = ? and id = ?", (*no, text_column(one)), named=False)
                for one in self.removal.sessions
            )
        self._delete("deliveries", "partition = ?", no, named=False)
        self._delete("embeddings", "true")
        answers.forget(self.connection, self.scope)

    def _prune_jobs(self) -> int:
        """Take forgotten ids out of the queue, and queue what is left again in the new epoch. Returns how many went."""
        forgotten, removed = frozenset(self.removal.messages), 0
        jobs = self.connection.execute(
            "select no, payload from jobs where tenant = ? and user = ?", partitions.owner_columns(self.scope)
        ).fetchall()
        for no, payload in jobs:
            left = without(erasure_log.loaded(payload), forgotten)
            if left is None:
                removed += self.connection.execute("delete from jobs where no = ?", (no,)).rowcount
            else:
                self.connection.execute(
                    "update jobs set payload = ?, epoch = ?, due = case status when 'running' then run_at else due end,"
                    " status = case status when 'running' then 'queued' else status end where no = ?",
                    (json_column(left), self.partition.epoch + 1, no),
                )
        return removed

    def _mend_facts(self) -> None:
        changed = self.partition.base | (self.partition.version + 1)
        for one in self.removal.reworded:
            self._reword(one, changed)
        for fact in self.removal.stripped:
            self.connection.execute(
                "update facts set metadata = null, expires_at = null, changed = ? where partition = ? and id = ?",
                (changed, self.partition.no, text_column(fact)),
            )
        if self.removal.facts:
            self._point_nowhere({text_column(fact) for fact in self.removal.facts}, changed)
        if self.removal.quotes:
            self._empty_reasons()

    def _point_nowhere(self, gone: Set[Text], changed: int) -> None:
        """Empty what says that one of these facts has replaced another."""
        replaced = self.connection.execute(
            "select row, replaced_by from facts where partition = ? and replaced_by is not null", (self.partition.no,)
        )
        self.connection.executemany(
            "update facts set replaced_by = null, changed = ? where row = ?",
            [(changed, row) for row, replaced_by in replaced.fetchall() if replaced_by in gone],
        )

    def _reword(self, one: Reworded, changed: int) -> None:
        row, like = self._version_row(one.fact, one.version), self._version_row(one.fact, one.like)
        held = self._leave_full_text(f"select {row} as row")
        self.connection.execute(
            f"update facts set ({_WORDS}, changed) = (select {_WORDS}, ? from facts where row = ?) where row = ?",
            (changed, like, row),
        )
        for table in VECTORS:
            self.connection.execute(f"delete from {table} where row = ?", (row,))
        self._copy_index(like, row, full_text_too=bool(held))

    def _copy_index(self, like: int, row: int, *, full_text_too: bool) -> None:
        """Give a row what the indexes hold about another one with the same words."""
        for table in VECTORS:
            self.connection.execute(
                f"insert into {table} select ?, vector, tokens from {table} where row = ?", (row, like)
            )
        if full_text_too and self.unpack is not None:
            (terms,) = self.connection.execute("select terms from facts where row = ?", (like,)).fetchone()
            full_text.add(self.connection, row, terms, unpack=self.unpack)

    def _empty_reasons(self) -> None:
        quotes = [quote.casefold() for quote in self.removal.quotes]
        reasons = self.connection.execute(
            "select no, reason from fact_history where fact > ? and fact <= ? and reason <> ''",
            (self.partition.base, self.partition.last),
        ).fetchall()
        quoting = [no for no, reason in reasons if any(quote in text_of(reason).casefold() for quote in quotes)]
        self.connection.executemany("update fact_history set reason = '' where no = ?", [(no,) for no in quoting])

    def _reopen(self) -> int:
        for offset, one in enumerate(self.removal.reopened):
            self._insert(one, self.partition.base | (self.partition.next_row + offset))
        return len(self.removal.reopened)

    def _insert(self, one: Reopened, row: int) -> None:
        like, changed = self._version_row(one.fact, one.like), self.partition.base | (self.partition.version + 1)
        now = to_micros(self.removal.at)
        self.connection.execute(
            "update facts set retracted_at = ?, changed = ? where partition = ? and id = ? and retracted_at is null",
            (now, changed, self.partition.no, text_column(one.fact)),
        )
        self.connection.execute(
            "insert into facts (row, partition, first, changed, id, version, importance, valid_from, valid_to,"
            f" recorded_at, replaced_by, {_COPIED}) select ?, partition, first, ?, id, ?, ?, ?, ?, ?, ?, {_COPIED}"
            " from facts where row = ?",
            (
                row,
                changed,
                one.version,
                one.importance,
                optional_micros(one.valid_from),
                optional_micros(one.valid_to),
                now,
                None if one.replaced_by in (None, *self.removal.facts) else text_column(one.replaced_by or ""),
                like,
            ),
        )
        self._copy_index(like, row, full_text_too=bool(self.partition.full_text))
        self.connection.execute(
            "insert into fact_history (fact, version, change, at, reason)"
            " select first, version, ?, ?, ? from facts where row = ?",
            (one.change, now, one.reason, row),
        )

    def _version_row(self, fact: FactId, version: int) -> int:
        (row,) = self.connection.execute(
            "select row from facts where partition = ? and id = ? and version = ?",
            (self.partition.no, text_column(fact), version),
        ).fetchone()
        return int(row)

    def _finish(self, added: int) -> None:
        gone = self.counts["passages"] + self.counts["fact_versions"] + self.counts["summaries"]
        self.connection.execute(
            "update partitions set version = version + 1, fact_version = fact_version + 1, epoch = epoch + 1,"
            " next_row = next_row + ?, rows = rows + ? where no = ?",
            (added, added - gone, self.partition.no),
        )
        assert self.partition.next_row + added <= N_MASK
