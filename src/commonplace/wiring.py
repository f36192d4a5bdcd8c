"""The composition root: the only module that knows which adapters exist.

Drivers are imported here, inside the functions that need them, so that a program pays only for what it uses.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Self

from numpy.typing import ArrayLike

from commonplace.domain.errors import EmbedderMismatch, EmbedderUnavailable, InvalidInput, ModelUnavailable
from commonplace.domain.retention import Retention
from commonplace.engine.parts import Options, Parts
from commonplace.ports.embedder import Embedder
from commonplace.ports.extractor import Extractor
from commonplace.ports.full_text import FullText
from commonplace.ports.index import VectorIndex
from commonplace.ports.keys import KeyRing
from commonplace.ports.ledger import Ledger
from commonplace.ports.reranker import Reranker
from commonplace.ports.summariser import Summariser
from commonplace.storing import open_ledger, open_premises, open_seal, open_store

if TYPE_CHECKING:
    from pydantic import SecretStr
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

    from commonplace.adapters.models.reaching import Access
    from commonplace.adapters.onnx.model_files import ModelFiles, ModelStatus
    from commonplace.adapters.onnx.progress import Progress
    from commonplace.settings import Settings

Embed = Embedder | Callable[[list[str]], ArrayLike]
"""An embedder, or a plain function from texts to one row of numbers each."""


@dataclass(frozen=True, slots=True)
class Location:
    """Where a memory is kept. Nothing named means: where the settings say."""

    home: Path | None = None
    url: str | None = None
    in_process: bool = False

    @classmethod
    def parse(cls, location: str | PathLike[str] | None) -> Self:
        if location is None:
            return cls()
        if not isinstance(location, (str, PathLike)) or not fspath(location):
            raise InvalidInput(f"location={location!r}: expected a folder or a URL like sqlite:///…")
        text = fspath(location)
        return cls(url=text) if "://" in text else cls(home=Path(text).expanduser())

    @classmethod
    def nowhere(cls) -> Self:
        return cls(in_process=True)

    def settings(self) -> dict[str, object]:
        given = {"home": self.home, "database_url": self.url}
        return {name: value for name, value in given.items() if value is not None}


@asynccontextmanager
async def opened(location: Location, overrides: Mapping[str, object], embed: Embed | None) -> AsyncIterator[Parts]:
    """Open every part that the settings ask for, and close them in the end."""
    from commonplace.settings import Settings

    settings = Settings.from_sources(**location.settings(), **overrides)
    async with AsyncExitStack() as stack:
        embedder = await stack.enter_async_context(open_embedder(settings, embed))
        ledger = await stack.enter_async_context(open_ledger(settings, in_process=location.in_process))
        keep_vectors(embedder, ledger, tenant=settings.tenant)
        replacing = await agree_on_embedder(ledger, embedder, replace=settings.replace_vectors)
        index = await stack.enter_async_context(open_index(settings, in_process=location.in_process))
        yield Parts(
            ledger=ledger,
            embedder=embedder,
            index=index,
            extractor=await stack.enter_async_context(open_extractor(settings)),
            options=options_of(settings),
            summariser=await stack.enter_async_context(open_summariser(settings)),
            full_text=ledger if isinstance(ledger, FullText) else None,
            reranker=open_reranker(settings),
            planted=open_guard(),
            count_tokens=open_tokenizer(settings.tokenizer),
            replacing_vectors=replacing,
            premises=None if location.in_process else open_premises(settings),
            open_store=partial(open_store, settings),
            seal=open_seal(settings),
        )


@asynccontextmanager
async def open_keys(settings: "Settings") -> AsyncIterator[KeyRing]:
    """Open the ledger for the sake of its keys."""
    async with open_ledger(settings, in_process=False) as ledger:
        if not isinstance(ledger, KeyRing):
            raise InvalidInput(f"{type(ledger).__name__}: this ledger keeps no keys")
        yield ledger


def options_of(settings: "Settings") -> Options:
    return Options(
        tenant=settings.tenant,
        index=settings.index,
        exact_up_to=settings.exact_up_to,
        cache_bytes=settings.cache_bytes,
        language=settings.language,
        relevance_weight=settings.weight_relevance,
        importance_weight=settings.weight_importance,
        recency_weight=settings.weight_recency,
        recency_half_life_days=settings.recency_half_life_days,
        min_relevance=settings.min_relevance,
        session_ttl=settings.session_ttl,
        ring=settings.ring,
        retention=Retention.parse(settings.retention_days),
        purge_interval=settings.purge_interval,
        summarise_after=settings.summarise_after,
        summary_tokens=settings.summary_tokens,
        snapshot_to=settings.snapshot_place,
        snapshot_interval=settings.snapshot_interval,
        snapshot_keep=settings.snapshot_keep,
        learning_concurrency=settings.learning_concurrency,
        learning_attempts=settings.learning_attempts,
        learning_retry_delay=settings.learning_retry_delay,
        learning_tokens_per_day=settings.learning_tokens_per_day,
    )


async def agree_on_embedder(ledger: Ledger, embedder: Embedder, *, replace: bool) -> bool:
    """Record whose vectors the ledger holds. Returns whether they have to be made anew first.

    Raises EmbedderMismatch if they are another model's. While they are made anew the record is neither model's, so that
    a memory that was interrupted in the middle of it is not opened as if nothing had happened.
    """
    recorded, wanted = await ledger.embedder_identity(), embedder.identity
    if recorded == wanted:
        return False
    if recorded is None or not await ledger.holds_vectors():
        await ledger.set_embedder_identity(wanted, replacing=recorded)
        return False
    if not replace:
        raise EmbedderMismatch(
            f"this memory holds vectors of {recorded!r}, and the embedder here is {wanted!r}: open it with the model "
            f"it was made with, or run `commonplace reindex --embed` to make every vector anew (replace_vectors=True)"
        )
    await ledger.set_embedder_identity(f"changing to {wanted}", replacing=recorded)
    return True


@asynccontextmanager
async def open_embedder(settings: "Settings", embed: Embed | None) -> AsyncIterator[Embedder]:
    """Yield the embedder that was given, or the local model, which is loaded when it is first needed."""
    if embed is None:
        if settings.embedding_provider != "local":
            async with _hosted_embedder(settings) as hosted:
                yield hosted
            return
        if settings.embedding_model != "all-MiniLM-L6-v2":
            raise InvalidInput(
                f"embedding_model={settings.embedding_model!r}: expected all-MiniLM-L6-v2, the one local model; "
                "for another set embedding_provider, as openai or cohere"
            )
        from commonplace.adapters.onnx.embedder import OnnxEmbedder

        async with OnnxEmbedder(_model_files(settings, fetch=False), threads=settings.embed_threads or 1) as local:
            yield local
    elif isinstance(embed, Embedder):
        yield embed
    elif callable(embed):
        from commonplace.adapters.function import FunctionEmbedder

        yield await FunctionEmbedder.of(embed)
    else:
        raise InvalidInput(f"embedder={embed!r}: expected an Embedder or a function list[str] -> (n, d) array")


@asynccontextmanager
async def _hosted_embedder(settings: "Settings") -> AsyncIterator[Embedder]:
    provider = settings.embedding_provider
    try:
        from commonplace.adapters.models.reaching import opened_embedder
    except ImportError as error:
        raise EmbedderUnavailable(
            f"embedding_provider={provider!r} needs more packages: pip install 'commonplace[models]'"
        ) from error
    access = _access(settings, url=settings.embedding_base_url, retries=settings.agent_retries)
    name = f"{provider}:{settings.embedding_model}"
    async with opened_embedder(name, access, dimensions=settings.embedding_dimensions) as embedder:
        yield embedder


def keep_vectors(embedder: Embedder, ledger: Ledger, *, tenant: str) -> None:
    """Let an embedder that costs something keep its vectors in the ledger, and count what it spends."""
    keep_in = getattr(embedder, "keep_in", None)
    if keep_in is not None:
        keep_in(ledger, lambda usage: ledger.count_usage(tenant, datetime.now(UTC).date(), usage))


def describe_model(settings: "Settings") -> "ModelStatus":
    """Say where the local embedding model comes from and whether it is ready, without loading it."""
    return _model_files(settings, fetch=True).describe()


def fetch_model(settings: "Settings", progress: "Progress") -> "ModelStatus":
    """Get the local embedding model. Raises EmbedderUnavailable, which says what was tried."""
    return _model_files(settings, fetch=True).fetch(progress)


def _model_files(settings: "Settings", *, fetch: bool) -> "ModelFiles":
    """Opening a memory never goes to the network for a model: only who asks for a fetch does."""
    from commonplace.adapters.onnx.model_files import ModelFiles, default_sources
    from commonplace.adapters.onnx.sources import InstalledWheel

    sources = default_sources() if fetch else (InstalledWheel(),)
    return ModelFiles(settings.model_cache, build=_build_model, explicit=settings.model_path, sources=sources)


def _build_model(folder: Path, target: Path, progress: "Progress") -> None:
    """The builder takes a quarter of a second to import, and is needed once in the life of a machine."""
    from commonplace.adapters.onnx.build import build_model

    build_model(folder, target, progress)


def open_reranker(settings: "Settings") -> Reranker | None:
    if settings.rerank is None:
        return None
    if settings.rerank.startswith(("http://", "https://")):
        from commonplace.adapters.rerank_api import RerankApi

        return RerankApi(settings.rerank, key=_secret(settings.rerank_key), model=settings.rerank_model)
    from commonplace.adapters.onnx.cross_encoder import CrossEncoder

    return CrossEncoder(Path(settings.rerank).expanduser(), threads=settings.embed_threads)


def open_guard() -> Callable[[str], bool]:
    from commonplace.adapters.rules import plants_instructions

    return plants_instructions


def open_tokenizer(path: Path | None) -> Callable[[str], int]:
    """Return what counts the tokens of a text. Raises InvalidInput for a file that is no tokenizer."""
    from commonplace.recall.tokens import count_tokens

    if path is None:
        return count_tokens
    from commonplace.adapters.tokenizer import token_counter

    return token_counter(path)


@asynccontextmanager
async def open_extractor(settings: "Settings") -> AsyncIterator[Extractor | None]:
    """Yield what learns: a model if one is named, else rules; None if nothing is to be learned."""
    if not settings.learn:
        yield None
    elif settings.agent_model is None:
        from commonplace.adapters.rules import RuleExtractor

        yield RuleExtractor()
    else:
        async with _model_extractor(settings, settings.agent_model) as extractor:
            yield extractor


@asynccontextmanager
async def _model_extractor(settings: "Settings", name: str) -> AsyncIterator[Extractor]:
    from commonplace.learning.asking import ask, extract_prompt

    async with _opened_model(settings, name, retries=0) as model:
        from commonplace.adapters.models.extractor import ModelExtractor
        from commonplace.adapters.models.reaching import speaks_chat

        async with ModelExtractor(
            model,
            name=name,
            ask=ask,
            prompt=extract_prompt().version,
            temperature=settings.agent_temperature,
            timeout=settings.agent_timeout,
            max_tokens=settings.agent_max_tokens,
            by_schema=speaks_chat(name, settings.agent_base_url),
        ) as extractor:
            yield extractor


@asynccontextmanager
async def open_summariser(settings: "Settings") -> AsyncIterator[Summariser | None]:
    """Yield the model that sums up; None where none is named, and conversations are summed up by their own words."""
    name = settings.agent_model
    if name is None or not settings.summarise_after:
        yield None
        return
    from commonplace.learning.summarise import ask, summarise_prompt

    async with _opened_model(settings, name, retries=0) as model:
        from commonplace.adapters.models.summariser import ModelSummariser

        async with ModelSummariser(
            model,
            name=name,
            ask=partial(ask, words=settings.summary_tokens * 2 // 3),
            prompt=summarise_prompt().version,
            timeout=settings.agent_timeout,
            max_tokens=settings.agent_max_tokens,
        ) as summariser:
            yield summariser


@asynccontextmanager
async def open_chat_model(settings: "Settings") -> AsyncIterator["tuple[Model, ModelSettings] | None"]:
    """Yield the model that answers, and how it is to be asked; None where none is named."""
    if settings.agent_model is None:
        yield None
        return
    async with _opened_model(settings, settings.agent_model, retries=settings.agent_retries) as model:
        asked: ModelSettings = {"timeout": settings.agent_timeout, "max_tokens": settings.agent_max_tokens}
        if settings.agent_temperature is not None:
            asked["temperature"] = settings.agent_temperature
        yield model, asked


def _opened_model(settings: "Settings", name: str, *, retries: int) -> AbstractAsyncContextManager["Model"]:
    try:
        from commonplace.adapters.models.reaching import opened_model
    except ImportError as error:
        raise ModelUnavailable(
            f"agent_model={name!r} needs more packages: pip install 'commonplace[models]'"
        ) from error
    return opened_model(name, _access(settings, url=settings.agent_base_url, retries=retries))


def _access(settings: "Settings", *, url: str | None, retries: int) -> "Access":
    from commonplace.adapters.models.reaching import Access

    keys = {"openai": _secret(settings.openai_api_key), "anthropic": _secret(settings.anthropic_api_key)}
    return Access(base_url=url, keys=keys, retries=retries)


def _secret(value: "SecretStr | None") -> str | None:
    return None if value is None else value.get_secret_value()


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
