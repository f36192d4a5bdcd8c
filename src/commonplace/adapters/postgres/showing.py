"""What a recall shows, by the ids that it has found: one statement, whatever kinds of things they are.

It gives one row, of one moment, in which each kind is a list of rows as JSON.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from commonplace.adapters.postgres import facts as known
from commonplace.adapters.postgres import messages as said
from commonplace.adapters.postgres import partitions
from commonplace.adapters.postgres import summaries as stretches
from commonplace.adapters.postgres.columns import text_column, text_of
from commonplace.adapters.postgres.lanes import WHOSE
from commonplace.domain.scope import Scope
from commonplace.domain.values import Fact, FactId, Message, MessageId, Summary, SummaryId
from commonplace.ports.ledger import Shown

_MINE = 'with mine as materialized (select no from partitions where tenant = %s and "user" = %s)'
_NO = "(select no from mine)"
_MESSAGES = f"""
    (select json_agg(json_build_array({said.COLUMNS})) from messages where partition = {_NO} and id = any(%s)),
    (select json_agg(json_build_array(m.id, {known.SAID}, {known.COLUMNS}) order by f.first)
        {known.TAUGHT.format(number=_NO)})
"""
_FACTS = f"""
    (select json_agg(json_build_array({known.SAID}, {known.COLUMNS}))
        from facts f join unnest(%s::text[], %s::bigint[]) as wanted (id, version) using (id, version)
        where f.partition = {_NO})
"""
_SUMMARIES = f"""
    (select json_agg(json_build_array({stretches.COVERED}, {stretches.COLUMNS}))
        from summaries where partition = {_NO} and id = any(%s))
"""
_Rows = Sequence[Sequence[Any]] | None


class Asked(NamedTuple):
    """The ids. What nobody asks for is not looked for."""

    messages: Sequence[MessageId]
    facts: Sequence[tuple[FactId, int]]
    summaries: Sequence[SummaryId]

    @property
    def statement(self) -> str:
        wanted = [
            _MESSAGES if self.messages else "null, null",
            _FACTS if self.facts else "null",
            _SUMMARIES if self.summaries else "null",
        ]
        return f"{_MINE} select {', '.join(wanted)}, {WHOSE}"

    def values(self, scope: Scope) -> Sequence[object]:
        values: list[object] = [*partitions.owner_columns(scope)]
        if self.messages:
            values += [[text_column(id_) for id_ in self.messages]] * 2
        if self.facts:
            values += [[text_column(id_) for id_, _ in self.facts], [version for _, version in self.facts]]
        if self.summaries:
            values.append([text_column(id_) for id_ in self.summaries])
        return values

    def shown(self, row: tuple[_Rows, ...]) -> Shown:
        messages, taught, facts, summaries = row
        return Shown(
            _messages(messages, self.messages), _facts(facts, self.facts), _taught(taught), _summaries(summaries)
        )


def _messages(rows: _Rows, wanted: Sequence[MessageId]) -> Mapping[MessageId, Message]:
    found = {message.id: message for message in map(said.to_message, map(tuple, rows or ()))}
    return {id_: found[id_] for id_ in wanted if id_ in found}


def _taught(rows: _Rows) -> Mapping[MessageId, Sequence[Fact]]:
    found: dict[MessageId, list[Fact]] = {}
    for message, sources, *row in rows or ():
        found.setdefault(MessageId(text_of(message)), []).append(known.to_fact(tuple(row), map(text_of, sources)))
    return found


def _facts(rows: _Rows, wanted: Sequence[tuple[FactId, int]]) -> Mapping[tuple[FactId, int], Fact]:
    facts = [known.to_fact(tuple(row), map(text_of, sources)) for sources, *row in rows or ()]
    found = {(fact.id, fact.version): fact for fact in facts}
    return {key: found[key] for key in wanted if key in found}


def _summaries(rows: _Rows) -> Mapping[SummaryId, Summary]:
    found = [stretches.to_summary(tuple(row), map(text_of, covered)) for covered, *row in rows or ()]
    return {summary.id: summary for summary in found}
