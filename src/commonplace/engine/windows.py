"""window: what a prompt needs of a conversation that goes on, within a budget; what changes least comes first."""

from collections.abc import Sequence

from commonplace.domain.results import Context, Window
from commonplace.domain.scope import Scope
from commonplace.domain.values import Message, Recalled, SessionId, Summary
from commonplace.engine.contexts import Contexts
from commonplace.engine.parts import Parts
from commonplace.engine.recent import last_said
from commonplace.recall.assemble import assemble
from commonplace.recall.fence import line

BLOCKS, SUMMARY, CONTEXT = 0.5, 0.3, 0.4
"""The most that each may have of what is left when it comes to it. Messages get all the rest."""


class Windows:
    def __init__(self, parts: Parts, contexts: Contexts) -> None:
        self._parts, self._contexts = parts, contexts

    async def window(self, scope: Scope, session: SessionId, *, budget: int, query: str | None) -> Window:
        """Return blocks, summary, last messages and what is recalled for `query`, or for the user's last message."""
        ledger, count = self._parts.ledger, self._parts.count_tokens
        summaries = await ledger.summaries(scope, session)
        covered = {id_ for one in summaries for id_ in one.messages}
        latest = await last_said(self._parts, scope, session, limit=self._parts.options.ring)
        said = [one for one in latest if one.id not in covered and self._lives(one)]
        room = budget
        blocks = assemble([], await ledger.blocks(scope), budget=int(room * BLOCKS), count=count)
        room -= blocks.tokens
        stretches = _ranked([one for one in summaries if one.expires_at is None or one.expires_at > self._parts.now()])
        summary = assemble(stretches, [], budget=int(room * SUMMARY), count=count)
        room -= summary.tokens
        asked = query if query is not None else _last_asked(latest)
        context = Context(text="", tokens=0, budget=0)
        if asked.strip():
            context = await self._contexts.context(
                scope, asked, session=session, budget=int(room * CONTEXT), blocks=False
            )
        window = Window(
            blocks=str(blocks),
            summary=str(summary),
            messages=tuple(said),
            context=context,
            transcript=tuple(spoken(one) for one in said),
            tokens=0,
            budget=budget,
        )
        return _fitted(window, self._parts)

    def _lives(self, message: Message) -> bool:
        return message.expires_at is None or message.expires_at > self._parts.now()


def spoken(message: Message) -> str:
    return f"{line(message.name or message.role)}: {line(message.text)}"


def _ranked(summaries: Sequence[Summary]) -> list[Recalled]:
    """Return summaries as things to show, worth the more the later."""
    return [
        Recalled(
            text=one.text,
            kind="summary",
            id=one.id,
            at=one.until,
            score=1 / (age + 1),
            relevance=1 / (age + 1),
            sources=one.messages,
            session=one.session,
        )
        for age, one in enumerate(reversed(summaries))
    ]


def _last_asked(oldest_first: Sequence[Message]) -> str:
    return next((one.text for one in reversed(oldest_first) if one.role == "user"), "")


def _fitted(window: Window, parts: Parts) -> Window:
    """Leave out the oldest messages, and in the end everything else, until the whole fits."""
    count, budget = parts.count_tokens, window.budget
    costs = [count(one) + 1 for one in window.transcript]
    room = budget - sum(count(part) + 1 for part in (window.blocks, window.summary, str(window.context)) if part)
    first = len(costs)
    while first and costs[first - 1] <= room:
        first -= 1
        room -= costs[first]
    for kept in range(first, len(costs) + 1):
        shorter = window.without(kept)
        if (tokens := count(str(shorter))) <= budget:
            return shorter.counted(tokens)
    return Window(blocks="", summary="", messages=(), transcript=(), context=None, tokens=0, budget=budget)
