"""Opens every part of a memory that the settings ask for, and closes them in the end."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from commonplace.domain.prices import Prices
from commonplace.domain.retention import Retention
from commonplace.engine.parts import Options, Parts
from commonplace.ports.full_text import FullText
from commonplace.wiring.attachments import open_attachment_seal, open_attachments
from commonplace.wiring.caches import open_front
from commonplace.wiring.embedders import Embed, agree_on_embedder, follow_ledger, keep_vectors, open_embedder
from commonplace.wiring.indexes import open_indexes
from commonplace.wiring.ledgers import open_ledger
from commonplace.wiring.location import Location
from commonplace.wiring.models import open_extractor, open_summariser
from commonplace.wiring.own_embedders import Embeds, open_own_embedders
from commonplace.wiring.searching import open_guard, open_reranker, open_tokenizer
from commonplace.wiring.stores import open_premises, open_seal, open_store

if TYPE_CHECKING:
    from commonplace.settings import Settings


@asynccontextmanager
async def opened(
    location: Location, overrides: Mapping[str, object], embed: Embed | None, own: Embeds | None = None
) -> AsyncIterator[Parts]:
    """Open every part that the settings ask for, and close them in the end."""
    from commonplace.settings import Settings

    settings = Settings.from_sources(**location.settings(), **overrides)
    async with AsyncExitStack() as stack:
        embedder = await stack.enter_async_context(open_embedder(settings, embed))
        plain = await stack.enter_async_context(open_ledger(settings, in_process=location.in_process))
        ledger, recent, copies = await stack.enter_async_context(open_front(settings, plain))
        keep_vectors(embedder, ledger, tenant=settings.tenant)
        replacing = await agree_on_embedder(plain, embedder, replace=settings.replace_vectors)
        following = await stack.enter_async_context(follow_ledger(settings, plain, embedder, named=embed is None))
        everybodys = embedder if embed is None else None
        own_embedders = await stack.enter_async_context(
            open_own_embedders(settings, ledger, own, everybodys=everybodys)
        )
        indexes = await stack.enter_async_context(open_indexes(settings, in_process=location.in_process))
        yield Parts(
            ledger=ledger,
            embedder=following or embedder,
            following=following,
            own=own_embedders,
            index=indexes.used,
            index_state=indexes.used,
            former_indexes=indexes.former,
            extractor=await stack.enter_async_context(open_extractor(settings)),
            options=options_of(settings),
            summariser=await stack.enter_async_context(open_summariser(settings)),
            full_text=ledger if isinstance(ledger, FullText) else None,
            reranker=open_reranker(settings),
            planted=open_guard(),
            count_tokens=open_tokenizer(settings.tokenizer),
            replacing_vectors=replacing,
            recent=recent,
            copies=copies,
            premises=None if location.in_process else open_premises(settings),
            open_store=partial(open_store, settings),
            seal=open_seal(settings),
            attachments=open_attachments(settings, in_process=location.in_process),
            attachment_seal=open_attachment_seal(settings),
        )


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
        attachment_bytes=settings.attachment_bytes,
        attachment_types=settings.attachment_types,
        learning_concurrency=settings.learning_concurrency,
        learning_attempts=settings.learning_attempts,
        learning_retry_delay=settings.learning_retry_delay,
        learning_lease=settings.learning_lease,
        learning_price=Prices.parse(settings.model_prices).of(settings.agent_model),
        learning_tokens_per_day=settings.learning_tokens_per_day,
    )
