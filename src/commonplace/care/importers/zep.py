"""Zep and Graphiti: `{"episodes": […], "edges": […]}`, as their nodes and edges are written as JSON.

An episode becomes a message, an edge a fact: true from `valid_at` to `invalid_at`, known since `created_at`.
"""

import re
from collections.abc import Iterator, Mapping

from commonplace.care.importers.making import (
    ROLES,
    Object,
    Said,
    Stated,
    Wording,
    an_object,
    moment,
    object_at,
    objects_at,
    role_of,
    text_at,
)
from commonplace.care.importers.source import Source
from commonplace.domain.archive import OfUser
from commonplace.domain.errors import InvalidInput
from commonplace.domain.imports import Bad, Item, Reading, Taken
from commonplace.domain.values import Json, Role

SPEAKER = re.compile(r"([^:\n(]+?)\s*(?:\(([^)\n]+)\))?\s*:")
"""How a message of Graphiti begins: `assistant: …`, or `Ada (assistant): …`."""


def read(source: Source, reading: Reading) -> Iterator[Item]:
    episodes: list[Object] = []
    edges: list[Object] = []
    for number, value in enumerate(source.values(), start=1):
        try:
            _sort(an_object(value), episodes, edges)
        except InvalidInput as error:
            yield Bad(f"element {number}", str(error))
    yield Taken("the beginning", OfUser(reading.user))
    lengths: dict[str, int] = {}
    for number, episode in enumerate(episodes, start=1):
        try:
            kept = _said(episode, reading).kept()
            lengths[kept.message.id] = len(kept.message.text)
            yield Taken(f"episode {number}", kept)
        except InvalidInput as error:
            yield Bad(f"episode {number}", str(error))
    for number, edge in enumerate(edges, start=1):
        try:
            yield from [Taken(f"edge {number}", record) for record in _stated(edge, lengths, reading).records()]
        except InvalidInput as error:
            yield Bad(f"edge {number}", str(error))


def _sort(value: Object, episodes: list[Object], edges: list[Object]) -> None:
    lists = [*objects_at(value, "episodes"), *objects_at(value, "messages"), *objects_at(value, "edges")]
    lists += objects_at(value, "facts")
    for one in lists or [value]:
        if text_at(one, "fact") is not None:
            edges.append(one)
        elif text_at(one, "content") is not None:
            episodes.append(one)
        else:
            raise InvalidInput("has neither fact nor content: expected an edge or an episode of Graphiti")


def _said(episode: Object, reading: Reading) -> Said:
    created = moment(episode.get("created_at"))
    at = moment(episode.get("valid_at")) or created or reading.now
    origin = text_at(episode, "source_description")
    return Said(
        id=episode.get("uuid"),
        role=_role(episode),
        text=text_at(episode, "content") or "",
        at=at,
        recorded_at=created or at,
        session=text_at(episode, "thread_id", "session_id") or reading.session,
        name=episode.get("role"),
        metadata={"source_description": origin} if origin else {},
    )


def _role(episode: Object) -> Role:
    """Whose words they are: said, or written at the head of a message; documents and data are nobody's."""
    given = text_at(episode, "role_type")
    if given is None and episode.get("source") == "message":
        head = SPEAKER.match(text_at(episode, "content") or "")
        given = next((one for one in (head.groups() if head else ()) if one and one.lower() in ROLES), None)
    elif given == "norole" or episode.get("source") in ("json", "text", "fact_triple"):
        return "tool"
    return role_of(given or "user")


def _stated(edge: Object, lengths: Mapping[str, int], reading: Reading) -> Stated:
    episodes = edge.get("episodes")
    named = [one for one in episodes if isinstance(one, str)] if isinstance(episodes, list) else []
    created = moment(edge.get("created_at")) or moment(edge.get("valid_at")) or reading.now
    name: Mapping[str, Json] = {"relation": found} if (found := text_at(edge, "name")) else {}
    return Stated(
        id=edge.get("uuid"),
        wordings=[Wording(text=text_at(edge, "fact") or "", since=created)],
        origin="Zep",
        valid_from=moment(edge.get("valid_at")),
        valid_to=moment(edge.get("invalid_at")) or moment(edge.get("expired_at")),
        metadata={**object_at(edge, "attributes"), **name},
        said={one: lengths[one] for one in named if one in lengths},
    )
