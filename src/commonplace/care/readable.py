"""An export for the person concerned: what is believed of them and why, and what was said, as Markdown or HTML.

Every text in it is data: nothing that somebody has said can be a heading, a link or a script here.
"""

import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Literal, NamedTuple

from commonplace.care.export import Export
from commonplace.care.lines import record_of
from commonplace.domain.archive import KeptErasure, KeptFact, KeptMessage, KeptSummary
from commonplace.domain.values import Block, Fact, FactId, Message, MessageId, Source, Summary

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
MARKS = re.compile(r"([\\`*_{}\[\]<>#+\-!|~&$])")
NUMBERED = re.compile(r"^(\s*\d+)([.)])", re.MULTILINE)
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:46em;margin:2em auto;padding:0 1em}}
blockquote{{margin:.2em 0 .8em 1em;white-space:pre-wrap}}small{{color:#666}}</style></head><body>
"""


class Piece(NamedTuple):
    """One piece of the page, not escaped yet."""

    kind: Literal["title", "section", "part", "item", "quote", "note"]
    text: str
    detail: str = ""


class _Place(NamedTuple):
    session: str
    at: datetime
    place: int


@dataclass(slots=True)
class _Held:
    """What is kept in RAM of an export: facts, and where each message stands."""

    messages: list[_Place] = field(default_factory=list)
    where: dict[MessageId, int] = field(default_factory=dict)
    facts: dict[FactId, Fact] = field(default_factory=dict)
    sources: dict[FactId, list[Source]] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    erasures: list[KeptErasure] = field(default_factory=list)


def markdown(export: Export) -> Iterator[str]:
    """Yield the page in pieces, to be joined."""
    forms: dict[str, Callable[[str, str], str]] = {
        "title": lambda text, _: f"# {text}\n\n",
        "section": lambda text, _: f"## {text}\n\n",
        "part": lambda text, _: f"### {text}\n\n",
        "item": lambda text, detail: f"- **{text}**{f' ({detail})' if detail else ''}\n",
        "quote": lambda text, detail: f"\n{detail}\n\n> {text}\n\n",
        "note": lambda text, _: f"{text}\n\n",
    }
    last = ""
    for piece in pieces(export):
        gap = "\n" if last == "item" and piece.kind not in ("item", "quote") else ""
        text = _marked(piece.text).replace("\n", "  \n> " if piece.kind == "quote" else " ")
        yield gap + forms[piece.kind](text, _marked(piece.detail).replace("\n", " "))
        last = piece.kind


def page(export: Export) -> Iterator[str]:
    """Yield the page as HTML in pieces, to be joined. It loads nothing and runs nothing."""
    forms: dict[str, Callable[[str, str], str]] = {
        "title": lambda text, _: f"{PAGE.format(title=text)}<h1>{text}</h1>\n",
        "section": lambda text, _: f"<h2>{text}</h2>\n",
        "part": lambda text, _: f"<h3>{text}</h3>\n",
        "item": lambda text, detail: f"<p><strong>{text}</strong> <small>{detail}</small></p>\n",
        "quote": lambda text, detail: f"<blockquote><small>{detail}</small>\n{text}</blockquote>\n",
        "note": lambda text, _: f"<p>{text}</p>\n",
    }
    for piece in pieces(export):
        yield forms[piece.kind](html.escape(_harmless(piece.text)), html.escape(_harmless(piece.detail)))
    yield "</body></html>\n"


def pieces(export: Export) -> Iterator[Piece]:
    held = _read(export)
    whose = "the anonymous user" if export.user is None else export.user
    yield Piece("title", f"What is remembered about {whose}")
    believed = [fact for fact in held.facts.values() if fact.retracted_at is None]
    yield from _facts("What holds", [fact for fact in believed if fact.valid_to is None], held, export)
    yield from _facts("What has ended", [fact for fact in believed if fact.valid_to is not None], held, export)
    retracted = [fact for fact in held.facts.values() if fact.retracted_at is not None]
    yield from _facts("What is no longer believed", retracted, held, export)
    yield Piece("section", "Always in mind")
    yield from (Piece("quote", block.text, block.name) for block in held.blocks)
    yield from [] if held.blocks else [Piece("note", "Nothing.")]
    yield from _conversations(held, export)
    yield from _summaries(held.summaries)
    yield from _forgotten(held.erasures)


def _read(export: Export) -> _Held:
    held = _Held()
    for place, line in export.places():
        match record_of(line):
            case KeptMessage(message=message):
                held.messages.append(_Place(message.session or "", message.at, place))
                held.where[message.id] = place
            case KeptFact(fact=fact):
                held.facts[fact.id] = fact
            case Source() as source:
                held.sources.setdefault(source.fact, []).append(source)
            case Block() as block:
                held.blocks.append(block)
            case KeptSummary(summary=summary):
                held.summaries.append(summary)
            case KeptErasure() as erasure:
                held.erasures.append(erasure)
    return held


def _facts(title: str, facts: Iterable[Fact], held: _Held, export: Export) -> Iterator[Piece]:
    yield Piece("section", title)
    in_order = sorted(facts, key=lambda fact: fact.said_at)
    yield from [] if in_order else [Piece("note", "Nothing.")]
    for fact in in_order:
        yield Piece("item", fact.text, _since(fact))
        for source in held.sources.get(fact.id, []):
            if source.message in held.where:
                said = _message(export, held.where[source.message])
                verb = "ended by" if source.role == "ended" else "from"
                yield Piece("quote", said.text[source.start : source.stop], f"{verb} {_who(said)}, {_shown(said.at)}")


def _since(fact: Fact) -> str:
    parts = [
        f"since {_shown(fact.valid_from)}" if fact.valid_from else f"said {_shown(fact.said_at)}",
        f"until {_shown(fact.valid_to)}" if fact.valid_to else "",
        f"given up {_shown(fact.retracted_at)}" if fact.retracted_at else "",
        "" if fact.kind == "fact" else fact.kind,
    ]
    return ", ".join(part for part in parts if part)


def _conversations(held: _Held, export: Export) -> Iterator[Piece]:
    yield Piece("section", "Conversations")
    yield from [] if held.messages else [Piece("note", "None.")]
    began: dict[str, datetime] = {}
    for one in held.messages:
        began[one.session] = min(one.at, began.get(one.session, one.at))
    in_order = sorted(held.messages, key=lambda one: (began[one.session], one.session, one.at, one.place))
    for session, places in groupby(in_order, key=lambda one: one.session):
        yield Piece("part", f"{_shown(began[session])}: {session or 'outside of any conversation'}")
        for one in places:
            message = _message(export, one.place)
            yield Piece("quote", message.text, f"{_who(message)}, {_shown(message.at)}")


def _summaries(summaries: Iterable[Summary]) -> Iterator[Piece]:
    for number, summary in enumerate(sorted(summaries, key=lambda summary: summary.since)):
        if number == 0:
            yield Piece("section", "Summaries")
        yield Piece("quote", summary.text, f"{summary.session}, {_shown(summary.since)} to {_shown(summary.until)}")


def _forgotten(erasures: Iterable[KeptErasure]) -> Iterator[Piece]:
    for number, erasure in enumerate(erasures):
        if number == 0:
            yield Piece("section", "What was forgotten")
        counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in erasure.counts.items() if count)
        yield Piece("item", _shown(erasure.at), f"{counts or 'nothing'}; receipt {erasure.id}")


def _message(export: Export, place: int) -> Message:
    record = record_of(export.at(place))
    assert isinstance(record, KeptMessage)
    return record.message


def _who(message: Message) -> str:
    return message.name or message.role


def _shown(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _harmless(text: str) -> str:
    return CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)


def _marked(text: str) -> str:
    return NUMBERED.sub(r"\1\\\2", MARKS.sub(r"\\\1", _harmless(text)))
