"""What helps to search: the vector index, the reranker, the counter of tokens, and the guard against planted orders."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from commonplace.ports.index import VectorIndex
from commonplace.ports.reranker import Reranker
from commonplace.wiring.access import secret

if TYPE_CHECKING:
    from commonplace.settings import Settings


@asynccontextmanager
async def open_index(settings: "Settings", *, in_process: bool) -> AsyncIterator[VectorIndex | None]:
    """Yield the vector index, which costs nothing until it is used; None where exact search answers everything.

    A folder that an index once filled is yielded all the same: what is forgotten must go from there, too.
    """
    folder = settings.chroma_path or settings.home / "chroma"
    unused = settings.index == "exact"
    if unused and (in_process or not folder.exists()):
        yield None
        return
    from commonplace.adapters.chroma.index import ChromaIndex, Embedded, InProcess, Server

    if settings.chroma_url is not None and not unused:
        place: Embedded | InProcess | Server = Server(settings.chroma_url)
    else:
        place = InProcess() if in_process else Embedded(folder)
    async with ChromaIndex(place, prefix=settings.chroma_collection) as index:
        yield index


def open_reranker(settings: "Settings") -> Reranker | None:
    if settings.rerank is None:
        return None
    if settings.rerank.startswith(("http://", "https://")):
        from commonplace.adapters.rerank_api import RerankApi

        return RerankApi(settings.rerank, key=secret(settings.rerank_key), model=settings.rerank_model)
    from commonplace.adapters.onnx.cross_encoder import CrossEncoder

    return CrossEncoder(Path(settings.rerank).expanduser(), threads=settings.embed_threads)


def open_tokenizer(path: Path | None) -> Callable[[str], int]:
    """Return what counts the tokens of a text. Raises InvalidInput for a file that is no tokenizer."""
    from commonplace.recall.tokens import count_tokens

    if path is None:
        return count_tokens
    from commonplace.adapters.tokenizer import token_counter

    return token_counter(path)


def open_guard() -> Callable[[str], bool]:
    from commonplace.adapters.rules import plants_instructions

    return plants_instructions
