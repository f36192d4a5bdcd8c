"""The composition root: the only module that knows which adapters exist.

Drivers are imported here, inside the functions that need them, so that a program pays only for what it uses.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote, urlsplit

from numpy.typing import ArrayLike

from commonplace.domain.errors import EmbedderMismatch, InvalidInput
from commonplace.engine.parts import Options, Parts
from commonplace.ports.embedder import Embedder
from commonplace.ports.extractor import Extractor
from commonplace.ports.index import VectorIndex
from commonplace.ports.ledger import Ledger

if TYPE_CHECKING:
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
    embedder = await open_embedder(settings, embed)
    async with open_ledger(settings, in_process=location.in_process) as ledger:
        replacing = await agree_on_embedder(ledger, embedder, replace=settings.replace_vectors)
        async with open_index(settings, in_process=location.in_process) as index:
            yield Parts(
                ledger=ledger,
                embedder=embedder,
                index=index,
                extractor=open_extractor(),
                options=options_of(settings),
                replacing_vectors=replacing,
            )


def options_of(settings: "Settings") -> Options:
    return Options(
        tenant=settings.tenant,
        index=settings.index,
        exact_up_to=settings.exact_up_to,
        cache_bytes=settings.cache_bytes,
        language=settings.language,
        learn=settings.learn,
        relevance_weight=settings.weight_relevance,
        importance_weight=settings.weight_importance,
        recency_weight=settings.weight_recency,
        recency_half_life_days=settings.recency_half_life_days,
        min_relevance=settings.min_relevance,
        session_ttl=settings.session_ttl,
        ring=settings.ring,
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
            f"this memory holds vectors of {recorded!r}, and the embedder here is {wanted!r}: open it with the model it "
            f"was made with, or run `commonplace reindex --embed` to make every vector anew (replace_vectors=True)"
        )
    await ledger.set_embedder_identity(f"changing to {wanted}", replacing=recorded)
    return True


@asynccontextmanager
async def open_sqlite(settings: "Settings", path: Path | None) -> AsyncIterator[Ledger]:
    from commonplace.adapters.sqlite import SqliteLedger

    async with SqliteLedger(path, synchronous=settings.synchronous, busy_timeout=settings.busy_timeout) as ledger:
        yield ledger


def open_ledger(settings: "Settings", *, in_process: bool) -> AbstractAsyncContextManager[Ledger]:
    if in_process:
        return open_sqlite(settings, None)
    if settings.database_url is None:
        return open_sqlite(settings, settings.home / "ledger.db")
    url = urlsplit(settings.database_url)
    if url.scheme != "sqlite" or not url.path.strip("/"):
        raise InvalidInput(
            f"database_url: {url.scheme}://…: expected sqlite:///relative/path or sqlite:////absolute/path"
        )
    return open_sqlite(settings, Path(unquote(url.path[1:])))


async def open_embedder(settings: "Settings", embed: Embed | None) -> Embedder:
    """Return the embedder that was given, or the local model. No model is loaded before it is needed."""
    if embed is None:
        return local_embedder(settings)
    if isinstance(embed, Embedder):
        return embed
    if not callable(embed):
        raise InvalidInput(f"embedder={embed!r}: expected an Embedder or a function list[str] -> (n, d) array")
    from commonplace.adapters.function import FunctionEmbedder

    return await FunctionEmbedder.of(embed)


def open_extractor() -> Extractor:
    from commonplace.adapters.rules import RuleExtractor

    return RuleExtractor()
