"""Which vector index answers, and which ones did before: what is forgotten goes from all of them."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from commonplace.domain.errors import IndexUnavailable, InvalidInput
from commonplace.domain.extras import needing
from commonplace.ports.index import VectorIndex
from commonplace.recall.attended import Attended
from commonplace.wiring.access import secret
from commonplace.wiring.location import checked

if TYPE_CHECKING:
    from commonplace.settings import Settings


class Indexes(NamedTuple):
    used: Attended | None
    """Costs nothing until it is used; None where exact search answers everything."""
    former: tuple[VectorIndex, ...] = ()


@asynccontextmanager
async def open_indexes(settings: "Settings", *, in_process: bool) -> AsyncIterator[Indexes]:
    """Yield the index that is used, and the folder that another one has filled before, if there is one."""
    name = settings.index_beyond if settings.index == "auto" else settings.index
    folder = settings.chroma_path or settings.home / "chroma"
    embedded = name == "chroma" and settings.chroma_url is None
    # The default folder beside a database somewhere else may be another memory's, and in use.
    ours = settings.database_url is None or {"home", "chroma_path"} & settings.model_fields_set
    if in_process or embedded or not ours or not folder.exists():
        async with _attended(settings, name, in_process=in_process, server=not embedded) as used:
            yield Indexes(used)
        return
    async with _attended(settings, name) as used, _chroma_folder(settings) as former:
        yield Indexes(used, (former,))


@asynccontextmanager
async def _attended(
    settings: "Settings", name: str, *, in_process: bool = False, server: bool = True
) -> AsyncIterator[Attended | None]:
    async with _opened(settings, name, in_process=in_process) as index:
        if index is None:
            yield None
            return
        async with Attended(index, server=server) as attended:
            yield attended


@asynccontextmanager
async def _opened(settings: "Settings", name: str, *, in_process: bool) -> AsyncIterator[VectorIndex | None]:
    if name == "exact":
        yield None
    elif name in OPENERS:
        async with OPENERS[name](settings) as index:
            yield index
    else:
        async with _chroma(settings, in_process=in_process) as index:
            yield index


def _chroma(settings: "Settings", *, in_process: bool) -> AbstractAsyncContextManager[VectorIndex]:
    from commonplace.adapters.chroma.index import ChromaIndex, InProcess, Server

    if settings.chroma_url is None and not in_process:
        return _chroma_folder(settings)
    place: InProcess | Server = InProcess()
    if settings.chroma_url is not None:
        token, ca_file = secret(settings.chroma_token), settings.chroma_ca_file
        place = Server(settings.chroma_url, token=token, ca_file=ca_file)
    return ChromaIndex(place, prefix=settings.chroma_collection)


def _chroma_folder(settings: "Settings") -> AbstractAsyncContextManager[VectorIndex]:
    from commonplace.adapters.chroma.index import ChromaIndex, Embedded

    folder = settings.chroma_path or settings.home / "chroma"
    return ChromaIndex(Embedded(folder), prefix=settings.chroma_collection)


def _pgvector(settings: "Settings") -> AbstractAsyncContextManager[VectorIndex]:
    url = settings.pgvector_url or settings.database_url or ""
    if not url.startswith(("postgresql://", "postgres://")):
        raise InvalidInput("index='pgvector': expected pgvector_url, or a database_url, that is postgresql://…")
    with needing("postgres", "pgvector", IndexUnavailable):
        from commonplace.adapters.pgvector import PgvectorIndex
    return PgvectorIndex(checked("pgvector_url", url), large=settings.pgvector_graph_from)


def _qdrant(settings: "Settings") -> AbstractAsyncContextManager[VectorIndex]:
    if settings.qdrant_url is None or "://" not in settings.qdrant_url:
        raise InvalidInput("index='qdrant': expected qdrant_url, as http://host:port")
    with needing("qdrant", "qdrant", IndexUnavailable):
        from commonplace.adapters.qdrant import QdrantIndex
    return QdrantIndex.at(settings.qdrant_url, key=secret(settings.qdrant_key), ca_file=settings.qdrant_ca_file)


def _milvus(settings: "Settings") -> AbstractAsyncContextManager[VectorIndex]:
    if settings.milvus_url is None:
        raise InvalidInput("index='milvus': expected milvus_url, as http://host:port")
    with needing("milvus", "milvus", IndexUnavailable):
        from commonplace.adapters.milvus import MilvusIndex
    return MilvusIndex(settings.milvus_url, token=secret(settings.milvus_token), ca_file=settings.milvus_ca_file)


OPENERS: Mapping[str, "Callable[[Settings], AbstractAsyncContextManager[VectorIndex]]"] = {
    "pgvector": _pgvector,
    "qdrant": _qdrant,
    "milvus": _milvus,
}
