"""Conversations with questions whose evidence is known, read from the formats that people have them in."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

from commonplace.domain.errors import InvalidInput
from commonplace.domain.values import Json, Role

UNDATED = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message, as `add` gets it."""

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


def read_locomo(text: str, name: str) -> list[Conversation]:
    """Read the list of conversations of LoCoMo: two people, sessions with a date, questions with evidence."""
    return [_locomo(sample) for sample in _dicts(json.loads(text))]


def _locomo(sample: dict[str, Json]) -> Conversation:
    talk, name = _dict(sample["conversation"]), str(sample["sample_id"])
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


def read_chats(text: str, name: str) -> list[Conversation]:
    """Read chats of a user with an assistant: batches with a date, questions with the ids of their messages."""
    return [_chat(chat) for chat in _dicts(json.loads(text))]


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


MESSAGE_KEYS = {"id", "content", "role", "name", "session", "at", "caption"}
ROLES: tuple[Role, ...] = get_args(Role)
QUESTION_KEYS = {"question", "evidence", "category"}


def read_jsonl(text: str, name: str) -> list[Conversation]:
    """Read one conversation of an operator's own: lines that are messages, and lines that are questions.

    `{"id", "content", "role"?, "name"?, "session"?, "at"?, "caption"?}`, or
    `{"question", "evidence": [id], "category"?}`.
    """
    turns: list[Turn] = []
    asked: list[tuple[int, Asked]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = _dict(json.loads(line))
            if "question" in row:
                asked.append((number, _jsonl_question(row)))
            else:
                turns.append(_jsonl_turn(row, number=len(turns)))
        except (ValueError, TypeError) as error:
            raise InvalidInput(f"line {number}: {error}") from None
    known = {turn.id for turn in turns}
    if len(known) < len(turns):
        raise InvalidInput("two messages have the same id")
    for number, question in asked:
        if unknown := sorted(question.gold - known):
            raise InvalidInput(f"line {number}: evidence {unknown}: expected the ids of messages in this file")
    return [Conversation(name=name, turns=tuple(turns), questions=tuple(question for _, question in asked))]


def _jsonl_question(row: dict[str, Json]) -> Asked:
    _refuse_others(row, QUESTION_KEYS)
    evidence = row.get("evidence", [])
    if not isinstance(evidence, list):
        raise InvalidInput(f"evidence {evidence!r}: expected a list of ids")
    return Asked(
        text=_text(row["question"], "question"),
        gold=frozenset(map(str, evidence)),
        category=_text(row.get("category", "all"), "category"),
    )


def _jsonl_turn(row: dict[str, Json], *, number: int) -> Turn:
    _refuse_others(row, MESSAGE_KEYS)
    if missing := {"id", "content"} - row.keys():
        raise InvalidInput(f"{sorted(missing)} missing: expected a message with id and content, or a question")
    said = row.get("at")
    at = datetime.fromisoformat(_text(said, "at")) if said is not None else UNDATED + timedelta(seconds=number)
    role = next((role for role in ROLES if role == row.get("role", "user")), None)
    if role is None:
        raise InvalidInput(f"role {row['role']!r}: expected one of {', '.join(ROLES)}")
    name, caption = row.get("name"), row.get("caption")
    return Turn(
        id=str(row["id"]),
        session=str(row.get("session", "s")),
        role=role,
        name=None if name is None else _text(name, "name"),
        text=_text(row["content"], "content"),
        at=at if at.tzinfo else at.replace(tzinfo=UTC),
        caption=None if caption is None else _text(caption, "caption"),
    )


def _refuse_others(row: dict[str, Json], known: set[str]) -> None:
    if unknown := sorted(row.keys() - known):
        raise InvalidInput(f"unknown keys {unknown}; expected some of {sorted(known)}")


Reader = Callable[[str, str], list[Conversation]]
READERS: Mapping[str, Reader] = {"jsonl": read_jsonl, "locomo": read_locomo, "chats": read_chats}


def read(path: Path, form: str) -> list[Conversation]:
    """Return the conversations of a file. Raises InvalidInput, which names the file and what is wrong with it."""
    if form not in READERS:
        raise InvalidInput(f"format {form!r}: expected one of {', '.join(READERS)}")
    others = " or ".join(other for other in READERS if other != form)
    try:
        return READERS[form](path.read_text(encoding="utf-8"), path.stem)
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read: {error.strerror}") from error
    except KeyError as error:
        raise InvalidInput(f"{path}: is not in the format {form} (perhaps {others}): no {error}") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidInput(f"{path}: is not in the format {form} (perhaps {others}): {error}") from error


def merged(conversations: Sequence[Conversation]) -> Conversation:
    """Return all of them as what one user has said, each message and session renamed after its conversation."""
    return Conversation(
        name="merged",
        turns=tuple(_renamed(turn, each.name) for each in conversations for turn in each.turns),
        questions=tuple(
            replace(q, gold=frozenset(f"{each.name}/{g}" for g in q.gold))
            for each in conversations
            for q in each.questions
        ),
    )


def _renamed(turn: Turn, conversation: str) -> Turn:
    return replace(turn, id=f"{conversation}/{turn.id}", session=f"{conversation}/{turn.session}")


def joined(conversation: Conversation, others: Sequence[Conversation]) -> Conversation:
    """Return a conversation with messages added that answer nothing."""
    more = tuple(_renamed(turn, f"others/{each.name}") for each in others for turn in each.turns)
    return replace(conversation, turns=conversation.turns + more)


def borrowed(asker: Conversation, asked: Conversation) -> list[str]:
    """Return the questions of one conversation, asked of another: with the names of the people there."""
    names = dict(zip(_people(asker), _people(asked), strict=False))
    return [
        re.sub(r"\w+", lambda word: names.get(word[0], word[0]), question.text)
        for question in asker.questions
        if question.gold
    ]


def _people(conversation: Conversation) -> list[str]:
    return list(dict.fromkeys(turn.name for turn in conversation.turns if turn.name))


def _dict(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise InvalidInput(f"expected an object, got {json.dumps(value)[:40]}")
    return value


def _dicts(value: Json) -> list[dict[str, Json]]:
    if not isinstance(value, list):
        raise InvalidInput(f"expected a list of objects, got {json.dumps(value)[:40]}")
    return [_dict(item) for item in value]


def _text(value: Json, name: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} {value!r}: expected a string")
    return value


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
