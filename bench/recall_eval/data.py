"""Conversations with questions whose evidence is known, read from the formats that people have them in."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from commonplace.domain.values import Json, Role

UNDATED = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message, as `add` would get it."""

    id: str
    session: str
    role: Role
    text: str
    at: datetime
    name: str | None = None
    caption: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question and the ids of the messages that answer it; none for a question that nothing answers."""

    text: str
    gold: frozenset[str]
    category: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What one user has said and heard, and what is asked of it."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Asked, ...]


LOCOMO = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_EVIDENCE = re.compile(r"D(\d+):(\d+)")


def read_locomo(path: Path) -> list[Conversation]:
    """Read the list of conversations of LoCoMo: two people, sessions with a date, questions with evidence."""
    return [_locomo(sample) for sample in json.loads(path.read_text(encoding="utf-8"))]


def _locomo(sample: dict[str, Json]) -> Conversation:
    talk, name = sample["conversation"], str(sample["sample_id"])
    assert isinstance(talk, dict)
    turns = [turn for session in talk for turn in _locomo_session(talk, session)]
    known = {turn.id for turn in turns}
    asked = []
    for qa in _dicts(sample["qa"]):
        gold = {f"D{int(s)}:{int(t)}" for s, t in _EVIDENCE.findall(json.dumps(qa["evidence"]))} & known
        category = qa["category"]
        if gold and isinstance(category, int):
            asked.append(Asked(text=str(qa["question"]), gold=frozenset(gold), category=LOCOMO[category]))
    return Conversation(name=name, turns=tuple(turns), questions=tuple(asked))


def _locomo_session(talk: Mapping[str, Json], session: str) -> Iterator[Turn]:
    if not re.fullmatch(r"session_\d+", session):
        return
    day = datetime.strptime(str(talk[f"{session}_date_time"]), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    for number, turn in enumerate(_dicts(talk[session])):
        caption = turn.get("blip_caption")
        yield Turn(
            id=str(turn["dia_id"]),
            session=session,
            role="user",
            name=str(turn["speaker"]),
            text=str(turn["text"]),
            at=day + timedelta(seconds=number),
            caption=str(caption) if caption else None,
        )


def read_chats(path: Path) -> list[Conversation]:
    """Read chats of a user with an assistant: batches with a date, questions with the ids of their messages."""
    return [_chat(chat) for chat in json.loads(path.read_text(encoding="utf-8"))]


def _chat(chat: dict[str, Json]) -> Conversation:
    turns, day = [], UNDATED
    for number, message in enumerate(_dicts(chat["messages"])):
        if anchor := message.get("time_anchor"):
            day = datetime.strptime(str(anchor), "%B-%d-%Y").replace(tzinfo=UTC)
        turns.append(
            Turn(
                id=str(message["id"]),
                session=f"batch {message['batch']}",
                role="assistant" if message["role"] == "assistant" else "user",
                text=str(message["content"]),
                at=day + timedelta(seconds=number),
            )
        )
    known = {turn.id for turn in turns}
    asked = [
        Asked(
            text=str(question["question"]),
            gold=frozenset(str(found) for found in _numbers(question["source_chat_ids"])) & known,
            category=str(question["kind"]),
        )
        for question in _dicts(chat["questions"])
    ]
    return Conversation(name=f"chat {chat['chat']}", turns=tuple(turns), questions=tuple(asked))


def read_jsonl(path: Path) -> list[Conversation]:
    """Read one conversation of an operator's own: lines that are messages, and lines that are questions.

    `{"id", "content", "role"?, "name"?, "session"?, "at"?, "caption"?}`, or
    `{"question", "evidence": [id], "category"?}`.
    """
    turns: list[Turn] = []
    asked: list[Asked] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line) if line.strip() else {}
        if "question" in row:
            gold = frozenset(map(str, row.get("evidence", ())))
            asked.append(Asked(text=row["question"], gold=gold, category=row.get("category", "all")))
        elif row:
            turns.append(_jsonl_turn(row, number=len(turns)))
    return [Conversation(name=path.stem, turns=tuple(turns), questions=tuple(asked))]


def _jsonl_turn(row: dict[str, str], *, number: int) -> Turn:
    at = datetime.fromisoformat(row["at"]) if "at" in row else UNDATED + timedelta(seconds=number)
    return Turn(
        id=str(row["id"]),
        session=row.get("session", "s"),
        role="assistant" if row.get("role") == "assistant" else "user",
        name=row.get("name"),
        text=row["content"],
        at=at if at.tzinfo else at.replace(tzinfo=UTC),
        caption=row.get("caption"),
    )


READERS: Mapping[str, Callable[[Path], list[Conversation]]] = {
    "locomo": read_locomo,
    "chats": read_chats,
    "jsonl": read_jsonl,
}


def merged(conversations: list[Conversation]) -> Conversation:
    """Return all of them as what one user has said, each message and session renamed after its conversation."""
    return Conversation(
        name="merged",
        turns=tuple(_renamed(turn, each.name) for each in conversations for turn in each.turns),
        questions=tuple(
            Asked(text=q.text, gold=frozenset(f"{each.name}/{g}" for g in q.gold), category=q.category)
            for each in conversations
            for q in each.questions
        ),
    )


def _renamed(turn: Turn, conversation: str) -> Turn:
    return Turn(
        id=f"{conversation}/{turn.id}",
        session=f"{conversation}/{turn.session}",
        role=turn.role,
        text=turn.text,
        at=turn.at,
        name=turn.name,
        caption=turn.caption,
    )


def _dicts(value: Json) -> list[dict[str, Json]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _numbers(value: Json) -> Iterator[int]:
    """Yield every number in nested lists and dicts."""
    match value:
        case bool():
            return
        case int():
            yield value
        case list():
            for item in value:
                yield from _numbers(item)
        case dict():
            for item in value.values():
                yield from _numbers(item)
