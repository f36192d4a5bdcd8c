"""Which model turns texts into vectors, where its files come from, and whose vectors a ledger holds."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from numpy.typing import ArrayLike

from commonplace.domain.errors import EmbedderMismatch, EmbedderUnavailable, InvalidInput
from commonplace.domain.extras import needing
from commonplace.engine.following import Following
from commonplace.ports.embedder import Embedder
from commonplace.ports.ledger import Ledger
from commonplace.ports.models import Models
from commonplace.wiring.access import access_to
from commonplace.wiring.ledgers import refuse_part

if TYPE_CHECKING:
    from commonplace.adapters.onnx.model_files import ModelFiles, ModelStatus
    from commonplace.adapters.onnx.progress import Progress
    from commonplace.settings import Settings

Embed = Embedder | Callable[[list[str]], ArrayLike]
"""An embedder, or a plain function from texts to one row of numbers each."""
LOCAL_MODEL = "all-MiniLM-L6-v2"
HOSTED = {"cohere": "embed-v4.0", "google": "gemini-embedding-001", "openai": "text-embedding-3-small"}
"""Services that do not have the local model, and a model that they have."""


@asynccontextmanager
async def open_embedder(settings: "Settings", embed: Embed | None) -> AsyncIterator[Embedder]:
    """Yield the embedder that was given, or the local model, which is loaded when it is first needed."""
    if embed is None:
        if settings.embedding_provider != "local":
            async with _hosted_embedder(settings) as hosted:
                yield hosted
            return
        if settings.embedding_model != LOCAL_MODEL:
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
    if provider in HOSTED and settings.embedding_model == LOCAL_MODEL and settings.embedding_base_url is None:
        raise InvalidInput(f"embedding_provider={provider!r}: set embedding_model, too, as {HOSTED[provider]}")
    with needing("models", f"embedding_provider={provider!r}", EmbedderUnavailable):
        from commonplace.adapters.models.reaching import opened_embedder
    access = access_to(settings, url=settings.embedding_base_url, retries=settings.agent_retries)
    name = f"{provider}:{settings.embedding_model}"
    async with opened_embedder(name, access, dimensions=settings.embedding_dimensions) as embedder:
        yield embedder


def keep_vectors(embedder: Embedder, ledger: Ledger, *, tenant: str) -> None:
    """Let an embedder that costs something keep its vectors in the ledger, and count what it spends."""
    keep_in = getattr(embedder, "keep_in", None)
    if keep_in is not None:
        keep_in(ledger, lambda usage: ledger.count_usage(tenant, datetime.now(UTC).date(), usage))


async def agree_on_embedder(ledger: Ledger, embedder: Embedder, *, replace: bool) -> bool:
    """Record whose vectors the ledger holds. Returns whether they have to be made anew first.

    Raises EmbedderMismatch if they are another model's. While they are made anew the record is neither model's, so that
    a memory that was interrupted in the middle of it is not opened as if nothing had happened.
    """
    recorded, wanted = await ledger.embedder_identity(), embedder.identity
    if recorded == wanted:
        return False
    refuse_part(recorded)
    if recorded is None or not await ledger.holds_vectors():
        await ledger.set_embedder_identity(wanted, replacing=recorded)
        return False
    if not replace:
        if isinstance(ledger, Models) and {recorded, wanted} <= (await ledger.models()).known.keys():
            return False  # the settings name the model before a migration, or after one that was taken back
        raise EmbedderMismatch(
            f"this memory holds vectors of {recorded!r}, and the embedder here is {wanted!r}: open it with the model "
            "it was made with, and change to another with `commonplace migrate-embeddings --to`; or run `commonplace "
            "reindex --embed` to make every vector anew in its place (replace_vectors=True)"
        )
    await ledger.set_embedder_identity(f"changing to {wanted}", replacing=recorded)
    return True


@asynccontextmanager
async def follow_ledger(
    settings: "Settings", ledger: Ledger, embedder: Embedder, *, named: bool
) -> AsyncIterator[Following | None]:
    """Yield the embedder of the model whose vectors the ledger holds, now and later; None where it never changes."""
    if not isinstance(ledger, Models):
        yield None
        return
    name = name_of(settings) if named else None
    async with Following(embedder, ledger, name=name, open_named=partial(open_named, settings, ledger)) as following:
        await following.follow()
        yield following


def name_of(settings: "Settings") -> str:
    """Return how the embedder of the settings is opened by name."""
    if settings.embedding_provider != "local":
        return f"{settings.embedding_provider}:{settings.embedding_model}"
    return "local" if settings.model_path is None else f"local:{settings.model_path}"


@asynccontextmanager
async def open_named(
    settings: "Settings", ledger: Ledger, name: object, dimensions: int | None
) -> AsyncIterator[Embedder]:
    """Open an embedder by name: `local`, `local:FOLDER` or `PROVIDER:MODEL`; or take the one that is given."""
    if name is None:
        raise InvalidInput("to=None: expected local, local:FOLDER, PROVIDER:MODEL as openai:…, or an embedder")
    if not isinstance(name, str):
        async with open_embedder(settings, cast(Embed, name)) as given:
            yield given
        return
    provider, _, model = name.partition(":")
    changes: dict[str, object] = {"embedding_provider": provider, "embedding_dimensions": dimensions}
    if provider == "local":
        changes |= {"embedding_model": LOCAL_MODEL, "model_path": Path(model) if model else None}
    elif provider and model:
        changes["embedding_model"] = model
    else:
        raise InvalidInput(f"to={name!r}: expected local, local:FOLDER, or PROVIDER:MODEL as openai:…")
    async with open_embedder(settings.model_copy(update=changes), None) as embedder:
        keep_vectors(embedder, ledger, tenant=settings.tenant)
        yield embedder


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
