"""Commands that find: recall, context, facts and their history."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.domain.results import Recollection, WhyNot
from commonplace.domain.values import Fact, FactVersion, Recalled, Why
from commonplace.interfaces.cli.exits import Exit
from commonplace.interfaces.cli.keeping import FactId
from commonplace.interfaces.cli.opening import object_of, open_memory
from commonplace.interfaces.cli.options import Moments, Narrowing, OfSession, OfUser, Span
from commonplace.interfaces.cli.output import Output
from commonplace.interfaces.cli.times import local_now, parse_when, shown

if TYPE_CHECKING:
    from commonplace.interfaces.cli.screen import Screen

Query = Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")]
LARGEST_PAGE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    min_relevance: Annotated[float | None, typer.Option(help="Nothing less relevant than this, from 0 to 1.")] = None
    agent: Annotated[str | None, typer.Option(help="Only what was said to this agent.")] = None
    explain: Annotated[bool, typer.Option("--explain", help="Show every number that made the order.")] = False


def recall(
    call: OfSession, narrowing: Narrowing, moments: Moments, span: Span, ranking: Ranking, query: Query = ""
) -> int:
    """Find what matters for a query, the best first. Without a query: the latest."""
    output, now = Output(call), local_now()
    during = (parse_when(span.since, name="--since", now=now), parse_when(span.until, name="--until", now=now))
    with open_memory(call) as memory:
        found = memory.recall(
            query,
            user=call.user,
            session=call.session,
            agent=ranking.agent,
            limit=narrowing.limit,
            kinds=narrowing.kind or None,
            during=None if during == (None, None) else during,
            valid_at=parse_when(moments.valid_at, name="--valid-at", now=now),
            as_of=parse_when(moments.as_of, name="--as-of", now=now),
            where=object_of(narrowing.where, name="--where"),
            min_relevance=ranking.min_relevance,
            explain=ranking.explain,
        )
    output.answer(found, lambda screen: _tell_found(screen, found))
    for note in found.notes:
        output.note(note)
    return Exit.OK if found else Exit.NO


def _tell_found(screen: "Screen", found: Recollection) -> None:
    if not found:
        screen.say("Nothing relevant.")
        return
    screen.entries((f"{item.score:.2f}", _said(item), _about(item)) for item in found)


def _said(item: Recalled) -> str:
    """Return the text with who said it, unless that was the user."""
    speaker = item.name or (item.role if item.role != "user" else None)
    text = item.passage or item.text
    return f"{speaker}: {text}" if speaker else text


def _about(item: Recalled) -> list[str]:
    until = f", until {shown(item.valid_to)}" if item.valid_to else ""
    lines = [f"{item.kind}, {shown(item.at)}{until}, {item.id}", item.note or ""]
    lines += [f"said: {item.said}"] if item.said else []
    lines += [f"carries {one.name or one.type}, {one.id}" for one in item.attachments]
    return lines + (_numbers(item.why) if item.why else [])


def _numbers(why: Why) -> list[str]:
    shares = {"relevance": why.relevance, "importance": why.importance, "recency": why.recency}
    lines = [", ".join(f"{name} {value:.2f}{_weight(why, name)}" for name, value in shares.items())]
    lines += [f"{arm}: rank {rank}, score {score:.3f}" for arm, (rank, score) in why.arms.items()]
    lines += [f"{part}: {value:+.3f}" for part, value in why.parts.items()]
    lines.append(f"fused score {why.fused:.3f}, relevance at least {why.threshold:.3f}")
    if why.evidence:
        best = ", ".join(f"{name} {value:.3g}" for name, value in why.evidence.items())
        lines.append(f"the best item's evidence: {best}")
    if why.rerank is not None:
        lines.append(f"reranker: rank {why.rerank[0]}, score {why.rerank[1]:.3f}")
    return [*lines, f"answered by {why.path}"]


def _weight(why: Why, name: str) -> str:
    return f" x {why.weights[name]:g}" if name in why.weights else ""


def why_not(
    call: OfSession,
    narrowing: Narrowing,
    moments: Moments,
    span: Span,
    item: Annotated[str, typer.Argument(metavar="FACT", help="The id of a fact, message or summary.")],
    query: Query,
    min_relevance: Annotated[float | None, typer.Option(help="As for recall, from 0 to 1.")] = None,
    agent: Annotated[str | None, typer.Option(help="As for recall.")] = None,
) -> int:
    """Say why a fact or message was not recalled."""
    output, now = Output(call), local_now()
    during = (parse_when(span.since, name="--since", now=now), parse_when(span.until, name="--until", now=now))
    with open_memory(call) as memory:
        found = memory.why_not(
            item,
            query,
            user=call.user,
            session=call.session,
            agent=agent,
            limit=narrowing.limit,
            kinds=narrowing.kind or None,
            during=None if during == (None, None) else during,
            valid_at=parse_when(moments.valid_at, name="--valid-at", now=now),
            as_of=parse_when(moments.as_of, name="--as-of", now=now),
            where=object_of(narrowing.where, name="--where"),
            min_relevance=min_relevance,
        )
    output.answer(found, lambda screen: _tell_why_not(screen, found))
    return Exit.NO if found.reason == "unknown" else Exit.OK


def _tell_why_not(screen: "Screen", found: WhyNot) -> None:
    numbers = _numbers(found.why) if found.why else []
    screen.entries([(found.reason, found.text or found.id, [found.explanation, *numbers])])
    if found.last is not None:
        last = found.last
        screen.say("The last one returned:")
        screen.entries([(f"{last.score:.2f}", _said(last), _about(last))])


def context(
    call: OfSession,
    query: Query,
    budget: Annotated[int, typer.Option(help="At most so many tokens.")] = 800,
) -> None:
    """Print what matters for a query, to put in a prompt."""
    output = Output(call)
    with open_memory(call) as memory:
        packed = memory.context(query, user=call.user, session=call.session, budget=budget)
    output.answer(packed, lambda screen: screen.say(str(packed)))
    for note in packed.notes:
        output.note(note)


def facts(call: OfUser, narrowing: Narrowing, moments: Moments) -> None:
    """List the facts that hold, the latest first."""
    output, now = Output(call), local_now()
    found: list[Fact] = []
    cursor: str | None = None
    with open_memory(call) as memory:
        while len(found) < narrowing.limit:
            page = memory.facts(
                user=call.user,
                kinds=narrowing.kind or None,
                valid_at=parse_when(moments.valid_at, name="--valid-at", now=now),
                as_of=parse_when(moments.as_of, name="--as-of", now=now),
                where=object_of(narrowing.where, name="--where"),
                limit=min(narrowing.limit - len(found), LARGEST_PAGE),
                cursor=cursor,
            )
            found += page
            cursor = page.next_cursor
            if cursor is None:
                break
    output.answer(found, lambda screen: _tell_facts(screen, found))
    if cursor is not None:
        output.note(f"There are more than {narrowing.limit}: ask for them with --limit.")


def _tell_facts(screen: "Screen", found: list[Fact]) -> None:
    if not found:
        screen.say("No facts.")
        return
    screen.entries((fact.kind, fact.text, [held(fact), fact.id]) for fact in found)


def held(fact: Fact) -> str:
    """Return when a fact held, as far as that is known."""
    since = f"since {shown(fact.valid_from)}" if fact.valid_from else ""
    until = f"until {shown(fact.valid_to)}" if fact.valid_to else ""
    return ", ".join(filter(None, (since, until)))


def history(call: OfUser, fact: FactId) -> None:
    """Show every version of a fact, and what led to it."""
    with open_memory(call) as memory:
        versions = memory.history(fact, user=call.user)
    Output(call).answer(versions, lambda screen: _tell_history(screen, versions))


def _tell_history(screen: "Screen", versions: list[FactVersion]) -> None:
    screen.entries(
        (
            f"{shown(change.at)}  {change.change}",
            version.fact.text,
            [held(version.fact), f"because of {change.message}" if change.message else "", change.reason],
        )
        for version in versions
        for change in version.changes
    )
