"""LangChain's retriever: what is recalled of one user, as documents."""

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from commonplace.domain.values import Recalled
from commonplace.sync import Memory


class MemoryRetriever(BaseRetriever):
    """What is recalled of one user, as documents, the best first. Nothing relevant: none."""

    memory: Memory
    user: str | None = None
    k: int = 10
    kinds: frozenset[str] | None = None
    where: dict[str, Any] | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        limit = self.k if k is None else k
        hits = self.memory.recall(query, user=self.user, limit=limit, kinds=self.kinds, where=self.where)
        return [_document(hit) for hit in hits]


def _document(hit: Recalled) -> Document:
    """What has changed since is said beside the text: whoever reads the document must not take the old for the new."""
    about = {
        "kind": hit.kind,
        "at": hit.at.isoformat(),
        "score": hit.score,
        "relevance": hit.relevance,
        "session": hit.session,
        "sources": list(hit.sources),
    }
    text = f"{hit.text} ({hit.note})" if hit.note else hit.text
    return Document(id=hit.id, page_content=text, metadata={**hit.metadata, **about})
