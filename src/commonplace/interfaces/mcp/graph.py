"""A graph of entities, observations and relations, kept as facts: each is recalled and forgotten as every fact is.

What belongs to the graph is told by its metadata; its wording is for recall and for people.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from commonplace.domain.values import Fact, FactId, Json
from commonplace.memory import AsyncMemory

PAGE = 1_000
Part = Literal["entity", "observation", "relation"]
PARTS: tuple[Part, ...] = ("entity", "observation", "relation")


@dataclass(frozen=True, slots=True, order=True)
class Entity:
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Observation:
    entity: str
    content: str


@dataclass(frozen=True, slots=True)
class Relation:
    source: str
    target: str
    type: str


Piece = Entity | Observation | Relation


@dataclass(frozen=True, slots=True)
class Graph:
    """What is known of one user, with the facts that hold it, in the order in which it was told."""

    facts: dict[Piece, FactId]

    def entities(self) -> list[Entity]:
        return [piece for piece in self.facts if isinstance(piece, Entity)]

    def relations(self) -> list[Relation]:
        return [piece for piece in self.facts if isinstance(piece, Relation)]

    def observations(self, name: str) -> list[str]:
        return [one.content for one in self.facts if isinstance(one, Observation) and one.entity == name]

    def names(self) -> set[str]:
        return {entity.name for entity in self.entities()}

    def matching(self, query: str) -> set[str]:
        """Return the entities whose name, type or observations have the query in them, in any case of letters."""
        wanted = query.casefold()
        return {
            entity.name
            for entity in self.entities()
            if any(wanted in text.casefold() for text in (entity.name, entity.type, *self.observations(entity.name)))
        }


class Graphs:
    """The graph of one user in a memory."""

    def __init__(self, memory: AsyncMemory, user: str | None) -> None:
        self._memory, self._user = memory, user

    async def read(self) -> Graph:
        facts: list[Fact] = []
        cursor: str | None = None
        while True:
            page = await self._memory.facts(
                user=self._user, where={"graph": {"$in": list(PARTS)}}, limit=PAGE, cursor=cursor
            )
            facts += page
            cursor = page.next_cursor
            if cursor is None:
                return Graph({_piece(fact): fact.id for fact in reversed(facts)})

    async def add(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            text, metadata = _written(piece)
            kept = await self._memory.remember(text, user=self._user, kind="semantic", metadata=metadata)
            if kept.metadata != metadata:
                # Another piece reads the same, as "c" about "A: b" does as "b: c" about "A": its parts tell them apart.
                text = f"{text} ({', '.join(f'{name} {value}' for name, value in metadata.items())})"
                await self._memory.remember(text, user=self._user, kind="semantic", metadata=metadata)

    async def forget(self, graph: Graph, goes: Callable[[Piece], bool]) -> None:
        for piece, fact in graph.facts.items():
            if goes(piece):
                await self._memory.forget(user=self._user, fact=fact)

    async def recalled(self, query: str) -> set[str]:
        """Return the entities that recall finds for a query."""
        found = await self._memory.recall(query, user=self._user, where={"graph": {"$in": list(PARTS)}}, limit=20)
        return {str(one.metadata[name]) for one in found for name in ("name", "entity") if name in one.metadata}


def _written(piece: Piece) -> tuple[str, dict[str, Json]]:
    match piece:
        case Entity(name, type_):
            return f"{name} is a {type_}", {"graph": "entity", "name": name, "type": type_}
        case Observation(entity, content):
            return f"{entity}: {content}", {"graph": "observation", "entity": entity, "content": content}
        case Relation(source, target, type_):
            return f"{source} {type_} {target}", {"graph": "relation", "from": source, "to": target, "type": type_}


def _piece(fact: Fact) -> Piece:
    told = {name: str(value) for name, value in fact.metadata.items()}
    match told["graph"]:
        case "entity":
            return Entity(told["name"], told["type"])
        case "observation":
            return Observation(told["entity"], told["content"])
        case _:
            return Relation(told["from"], told["to"], told["type"])


def new_ones(pieces: Sequence[Piece], graph: Graph) -> list[Piece]:
    """Return the pieces that are not there yet, each once. An entity is known by its name."""
    names, fresh = graph.names(), dict[Piece, None]()
    for piece in pieces:
        if isinstance(piece, Entity):
            if piece.name in names:
                continue
            names.add(piece.name)
        if piece not in graph.facts:
            fresh[piece] = None
    return list(fresh)
