"""LangChain's vector store: each document is a fact of one user, found by meaning and by words.

The memory has an embedding model of its own: `Memory.open(…, embedder=embeddings.embed_documents)` gives it another.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self, cast
from uuid import uuid4

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from langchain_core.vectorstores.utils import maximal_marginal_relevance

from commonplace.domain.errors import InvalidInput
from commonplace.domain.values import Json, Metadata
from commonplace.integrations.shelf import Shelf
from commonplace.sync import Memory

KEY = "langchain_document"


class MemoryEmbeddings(Embeddings):
    """The embedding model of a memory, as LangChain knows one."""

    def __init__(self, memory: Memory, user: str | None = None) -> None:
        self._memory, self._user = memory, user

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return cast(list[list[float]], self._memory.embed(texts, user=self._user).tolist())

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


class MemoryVectorStore(VectorStore):
    """The documents of one user, in one collection. A document that is added again under its id replaces the old."""

    def __init__(self, memory: Memory, *, user: str | None = None, collection: str = "documents") -> None:
        self._memory, self._user, self._collection = memory, user, collection
        self._shelf = Shelf(memory, user)

    @property
    def embeddings(self) -> Embeddings:
        return MemoryEmbeddings(self._memory, self._user)

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Make a store of `memory=…`, and of `user=…` and `collection=…` where they are given, with these texts."""
        if embedding is not None:
            raise InvalidInput(
                "embedding: the memory embeds; expected None, and Memory.open(…, embedder=embedding.embed_documents)"
            )
        store = cls(**kwargs)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        given = list(texts)
        about = metadatas or [{} for _ in given]
        named = [one or str(uuid4()) for one in ids or [None] * len(given)]
        if not len(given) == len(about) == len(named):
            raise InvalidInput(
                f"{len(given)} texts, {len(about)} metadatas, {len(named)} ids: expected as many of each"
            )
        known = {_id(fact.metadata): fact for fact in self._shelf.all(self._where(ids=named))} if ids else {}
        # the last of those with one id counts, as it would had they come one after the other
        for id_, (text, metadata) in dict(zip(named, zip(given, about, strict=True), strict=True)).items():
            kept: dict[str, Json] = {**metadata, KEY: {"id": id_, "collection": self._collection}}
            old = known.get(id_)
            if old is None or (old.text, old.metadata) != (text, kept):
                self._shelf.put(text, kept, over=old)
        return named

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the documents in the order of their ids, without those that are not there."""
        found = {_id(fact.metadata): fact for fact in self._shelf.all(self._where(ids=ids))}
        facts = [found[one] for one in dict.fromkeys(ids) if one in found]
        return [_document(fact.text, fact.metadata) for fact in facts]

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Erase documents, with their history; all of the collection when no ids are named, as LangChain has it."""
        for fact in list(self._shelf.all(self._where(ids=ids))):
            self._shelf.remove(fact)
        return True

    def similarity_search(
        self, query: str, k: int = 4, filter: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> list[Document]:
        return [document for document, _ in self.similarity_search_with_score(query, k, filter)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, filter: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Return k documents, or all if they are fewer, each with its relevance from 0 to 1: the higher the better."""
        hits = self._shelf.nearest(query, self._where(filter=filter), k)
        return [(_document(hit.text, hit.metadata), hit.relevance) for hit in hits]

    def _similarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        return self.similarity_search_with_score(query, k, **kwargs)

    def max_marginal_relevance_search(
        self,
        query: str,
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        filter: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Return k of the `fetch_k` best, chosen so that they differ: `lambda_mult` 1 does not care, 0 cares most."""
        found = self.similarity_search(query, fetch_k, filter)
        texts = [query, *(document.page_content for document in found)]
        asked, *vectors = self._memory.embed(texts, user=self._user)
        chosen = maximal_marginal_relevance(np.asarray(asked), list(vectors), lambda_mult=lambda_mult, k=k)
        return [found[place] for place in chosen]

    def _where(self, *, ids: Sequence[str] | None = None, filter: Mapping[str, Any] | None = None) -> dict[str, Any]:
        parts: list[Any] = [{f"{KEY}.collection": self._collection}]
        parts += [] if ids is None else [{f"{KEY}.id": {"$in": list(ids)}}]
        return {"$and": [*parts, *([] if not filter else [filter])]}


def _id(metadata: Metadata) -> str:
    return str(cast(Mapping[str, Json], metadata[KEY])["id"])


def _document(text: str, metadata: Metadata) -> Document:
    about = {name: value for name, value in metadata.items() if name != KEY}
    return Document(id=_id(metadata), page_content=text, metadata=about)
