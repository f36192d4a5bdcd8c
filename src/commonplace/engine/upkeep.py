"""stats, doctor and reindex: what there is, whether the parts agree, and how to make them agree again."""

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import nlargest

from commonplace.domain.errors import EmbedderUnavailable, IndexUnavailable
from commonplace.domain.results import Checkup, Finding, PartitionStats, Reindexed, Stats
from commonplace.domain.scope import Scope
from commonplace.engine.attaching import Attaching
from commonplace.engine.checking import check_attachments
from commonplace.engine.choosing import Choosing, named
from commonplace.engine.corpora import Corpora, Part
from commonplace.engine.examining import CHECKS, Examining
from commonplace.engine.indexing import Indexing
from commonplace.engine.parts import Parts
from commonplace.engine.planner import Planner
from commonplace.ports.ledger import Feed, Versions
from commonplace.recall.corpus import Corpus
from commonplace.recall.late import packed
from commonplace.recall.projector import numbers_of, without_vector
from commonplace.recall.slabs import slabs

SHOWN = 20
"""Partitions that `stats` lists: the largest."""
BATCH = 256
"""Rows embedded at a time."""
LATER = "meaning is not searched there; a repair embeds them, once there is a model (commonplace model fetch)"

EXACTLY = (
    "exact search answers meanwhile, more slowly for large users; what is forgotten goes from there when it is back"
)

ELSEWHERE = "they were forgotten while another index was used; a repair removes them"


class Upkeep:
    def __init__(
        self,
        parts: Parts,
        corpora: Corpora,
        choosing: Choosing,
        indexing: Indexing,
        planner: Planner,
        attaching: Attaching,
    ) -> None:
        self._parts, self._corpora, self._indexing, self._planner = parts, corpora, indexing, planner
        self._choosing, self._attaching = choosing, attaching

    async def stats(self) -> Stats:
        options, ledger = self._parts.options, self._parts.ledger
        counts = await ledger.counts(options.tenant)
        standing = await ledger.scopes(options.tenant)
        largest = nlargest(SHOWN, standing, key=lambda scope: standing[scope].rows)
        partitions = [await self._partition(scope, standing[scope]) for scope in largest]
        return Stats(
            tenant=options.tenant,
            counts={
                "users": counts.users,
                "messages": counts.messages,
                "facts": counts.facts,
                "fact_versions": counts.fact_versions,
                "blocks": counts.blocks,
                "sessions": counts.sessions,
                "rows": counts.rows,
                "rows_without_vector": counts.rows_without_vector,
            },
            bytes_on_disk=counts.bytes_on_disk,
            embedder=self._parts.embedder.identity,
            index=options.index,
            exact_up_to=options.exact_up_to,
            partitions=tuple(partitions),
            collections=await self._planner.collections(any(each.answered_by != "exact" for each in partitions)),
            cache={"users": len(self._corpora), "bytes": self._corpora.nbytes, "hits": self._corpora.hits},
            jobs=dict(counts.jobs),
            index_calls=self._parts.index_state.figures() if self._parts.index_state else {},
            copies=await self._copies(),
            own_embedders=Counter((await ledger.own_models(options.tenant)).values()),
        )

    async def _copies(self) -> Mapping[str, int]:
        """Ask first: what was never used would be counted as up."""
        if self._parts.copies is None:
            return {}
        await self._parts.copies.state()
        return self._parts.copies.figures()

    async def doctor(self, *, repair: bool) -> Checkup:
        """Check each part against the ledger. A repair never changes what the ledger says."""
        findings = [*await Examining(self._parts).examine(repair=repair)]
        if self._parts.copies is not None:
            findings += await self._parts.copies.inspect()
        away, outlived = await self._outlived()
        for scope in await self._parts.ledger.scopes(self._parts.options.tenant):
            findings += await self._check_user(scope, index=not away, repair=repair)
        findings += away
        findings += await self._check_outlived(outlived, repair=repair)
        findings += await check_attachments(self._parts, self._attaching, repair=repair)
        elsewhere = (self._parts.copies.name,) if self._parts.copies else ()
        checks = (*CHECKS, "vectors", "cache", "index", "attachments", *elsewhere)
        return Checkup(findings=tuple(findings), checks=checks)

    async def _outlived(self) -> tuple[Sequence[Finding], Sequence[str]]:
        """Say that the index does not answer: once, and not for every user who has a collection there.

        If it does, return the collections of users who are no more.
        """
        if self._parts.index_state is None:
            return (), ()
        try:
            return (), await self._planner.outlived(await self._parts.index_state.look())
        except IndexUnavailable as error:
            return (Finding(check="index", severity="warning", message=f"no answer from {error}", means=EXACTLY),), ()

    async def _check_outlived(self, collections: Sequence[str], *, repair: bool) -> Sequence[Finding]:
        if not collections:
            return ()
        message = f"the index holds vectors of {len(collections)} users who are no more"
        try:
            if repair:
                await self._planner.remove(collections)
        except IndexUnavailable as error:
            return (Finding(check="index", severity="warning", message=f"{message}; {error}", means=ELSEWHERE),)
        return (Finding(check="index", severity="warning", message=message, means=ELSEWHERE, repaired=repair),)

    async def _check_user(self, scope: Scope, *, index: bool, repair: bool) -> Sequence[Finding]:
        wrong = await self._choosing.mismatch(scope)
        if wrong is not None:
            means = "their questions are refused until then"
            return (Finding(check="model", severity="error", message=wrong, means=means),)
        return [
            *await self._check_vectors(scope, repair=repair),
            *await self._check_cache(scope, repair=repair),
            *(await self._check_index(scope, repair=repair) if index else ()),
        ]

    async def reindex(self, *, embed: bool, users: Sequence[str | None] | None = None) -> Reindexed:
        """Drop every cache and collection and build them anew; with `embed`, make every vector anew as well."""
        tenant = self._parts.options.tenant
        if users is not None:
            return await self._reindex([Scope(tenant, user) for user in users], embed=embed)
        _, outlived = await self._outlived()
        if outlived:
            await self._planner.remove(outlived)
        return await self._reindex([*await self._parts.ledger.scopes(tenant)], embed=embed)

    async def replace_vectors(self) -> None:
        """Make the vectors of every tenant by another model, for the one that is recorded is that of them all."""
        following = self._parts.following
        if following is None:
            everyone = [*await self._parts.ledger.scopes(self._parts.options.tenant)]
        else:
            held = await following.models.everyone()
            everyone = [scope for scope, versions in held.items() if versions.model is None]
        await self._reindex(everyone, embed=True)
        recorded = await self._parts.ledger.embedder_identity()
        await self._parts.ledger.set_embedder_identity(self._parts.embedder.identity, replacing=recorded)

    async def _reindex(self, scopes: Sequence[Scope], *, embed: bool) -> Reindexed:
        self._corpora.clear()
        rows = embedded = collections = 0
        for scope in scopes:
            rows += (await self._parts.ledger.versions(scope)).rows
            if embed:
                embedded += await self._embed_anew(scope)
            collections += await self._planner.rebuild(scope)
        return Reindexed(rows=rows, embedded=embedded, collections=collections)

    async def _embed_anew(self, scope: Scope) -> int:
        """Make every vector of a user, by their model, also where another's are. Returns how many."""
        other = await self._choosing.begin_anew(scope)
        if other:
            await self._planner.drop(scope)
        embedded = 0
        async for feed in slabs(self._parts.ledger, scope, vectors=False):
            embedded += await self._embed(scope, sorted(numbers_of(feed)), feed)
        if other:
            await self._choosing.end_anew(scope)
        return embedded

    async def _partition(self, scope: Scope, versions: Versions) -> PartitionStats:
        return PartitionStats(
            user=scope.user,
            rows=versions.rows,
            answered_by=self._answered_by(scope, versions),
            waiting=await self._planner.waiting(scope, versions),
        )

    def _answered_by(self, scope: Scope, versions: Versions) -> str:
        dense = self._planner.answered_by(versions.rows)
        if self._corpora.fits(scope, versions):
            return dense
        words = "slabs" if self._parts.full_text is None else "full text"
        return words if dense == "exact" else f"{words} and {dense}"

    async def _check_vectors(self, scope: Scope, *, repair: bool) -> Sequence[Finding]:
        missing, failure = 0, ""
        async for feed in slabs(self._parts.ledger, scope):
            numbers = without_vector(feed)
            missing += len(numbers)
            if repair and not failure:
                failure = await self._try_to_embed(scope, numbers, feed)
        if not missing:
            return ()
        message = f"{missing} rows of {named(scope)} have no vector: they are found by their words only{failure}"
        return (
            Finding(check="vectors", severity="warning", message=message, means=LATER, repaired=repair and not failure),
        )

    async def _try_to_embed(self, scope: Scope, numbers: Sequence[int], feed: Feed) -> str:
        """Return why it could not be done, if so."""
        try:
            await self._embed(scope, numbers, feed)
        except EmbedderUnavailable as error:
            return f"; {error}"
        return ""

    async def _check_cache(self, scope: Scope, *, repair: bool) -> Sequence[Finding]:
        if not self._corpora.fits(scope, await self._parts.ledger.versions(scope)):
            return ()
        feed = await self._parts.ledger.feed(scope, vectors=False)
        there = numbers_of(feed)
        async with self._corpora.at_hand(scope, _nothing) as part:
            cached = set(part.corpus.slot_of)
            same_moment = part.path is None and part.corpus.version == feed.versions.version
        if not same_moment or cached == there:
            return ()
        if repair:
            self._corpora.clear()
        message = f"the rows of {named(scope)} in RAM differ from the ledger's by {len(cached ^ there)}"
        means = "answers of this process may be wrong; a repair reads them anew"
        return (Finding(check="cache", severity="error", message=message, means=means, repaired=repair),)

    async def _check_index(self, scope: Scope, *, repair: bool) -> Sequence[Finding]:
        try:
            drift, failure = await self._planner.drift(scope), self._planner.failure(scope)
            mended = bool(await self._planner.rebuild(scope)) if repair and (drift or failure) else False
        except IndexUnavailable as error:
            return (Finding(check="index", severity="note", message=f"not looked at: {error}"),)
        if not drift and not failure:
            return ()
        message = (
            f"{named(scope)} is not indexed: {failure}"
            if failure
            else f"the index of {named(scope)} differs from the ledger by {drift} rows"
        )
        means = "the index may miss something; a repair builds it anew, and exact search answers meanwhile"
        return (Finding(check="index", severity="warning", message=message, means=means, repaired=mended),)

    async def _embed(self, scope: Scope, numbers: Sequence[int], feed: Feed) -> int:
        """Make the vectors of these rows and write them. Raises EmbedderUnavailable."""
        texts = await self._indexing.texts_of(self._parts.ledger, scope, feed, frozenset(numbers))
        images = await self._indexing.images_of(self._parts.ledger, scope, feed, frozenset(numbers))
        pictures = {n: await self._indexing.picture(scope, image) for n, image in images.items()}
        seen = {n: sense.vector for n, sense in pictures.items() if sense is not None}
        if seen:
            await self._parts.ledger.set_vectors(scope, seen, model=self._parts.embedder_of(scope).identity)
        rows = sorted(texts.keys() - seen.keys())
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            senses = await self._indexing.senses([texts[n] for n in batch], scope=scope)
            await self._parts.ledger.set_vectors(
                scope,
                {n: sense.vector for n, sense in zip(batch, senses, strict=True)},
                tokens={n: packed(sense.tokens) for n, sense in zip(batch, senses, strict=True) if sense.tokens},
                model=senses[0].model,
            )
        return len(rows) + len(seen)


async def _nothing(versions: Versions) -> Part:
    """A user who has outgrown the budget just now is not cached: there is nothing to compare."""
    return Part(Corpus(dimensions=1, vectors=False), "none")
