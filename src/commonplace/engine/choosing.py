"""Which embedding model reads whose texts: the memory's, or one that a tenant or user has of their own.

What a user's vectors were made by is in the ledger, and compared before they are used: another model is refused, for
that user alone.
"""

from commonplace.domain.errors import Conflict, EmbedderMismatch
from commonplace.domain.scope import Scope
from commonplace.engine.embedding import Embedding
from commonplace.engine.parts import Parts
from commonplace.ports.feed import Versions
from commonplace.ports.models import CHANGING


class Choosing:
    def __init__(self, parts: Parts) -> None:
        self._parts, self._own = parts, parts.own
        self._language = parts.options.language
        self._everybodys = Embedding(parts.embedder, language=self._language)
        self._made: dict[str, Embedding] = {}
        self._claimed: set[Scope] = set()
        self._alone = parts.own is None

    async def start(self) -> None:
        """Look whether users of this tenant have vectors of a model of their own."""
        recorded = await self._parts.ledger.own_models(self._parts.options.tenant)
        self._alone = self._own is None and not recorded

    def of(self, scope: Scope) -> Embedding:
        own = None if self._own is None else self._own.of(scope)
        if own is None:
            return self._everybodys
        if own.identity not in self._made:
            self._made[own.identity] = Embedding(own, language=self._language)
        return self._made[own.identity]

    def wanted(self, scope: Scope) -> str | None:
        """Return the identity of the model that a user has of their own."""
        own = None if self._own is None else self._own.of(scope)
        return None if own is None else own.identity

    def clear(self) -> None:
        """Let go of everything that is kept of texts."""
        for embedding in (self._everybodys, *self._made.values()):
            embedding.clear()

    async def claim(self, scope: Scope) -> None:
        """Make sure that vectors of a user's model may be written. Raises EmbedderMismatch if there are others."""
        if self._alone or scope in self._claimed:
            return
        await self._agree(scope, await self._parts.ledger.versions(scope))
        self._claimed.add(scope)

    async def agreed(self, scope: Scope, versions: Versions) -> Versions:
        """Return where a user's rows stand, once their vectors are of their model. Raises EmbedderMismatch."""
        if (versions.model is None and self._own is None) or not versions.rows:
            return versions
        if versions.model == self.wanted(scope):
            return versions
        await self._agree(scope, versions)
        return await self._parts.ledger.versions(scope)

    async def mismatch(self, scope: Scope) -> str | None:
        """Say what is wrong, if a user's vectors are of another model than theirs."""
        try:
            await self.agreed(scope, await self._parts.ledger.versions(scope))
        except EmbedderMismatch as error:
            return str(error)
        return None

    async def begin_anew(self, scope: Scope) -> bool:
        """Make room for all vectors of a user, if those that are there are of another model. Says whether they were."""
        versions, wanted = await self._parts.ledger.versions(scope), self.wanted(scope)
        if versions.model == wanted or not versions.rows:
            return False
        self._claimed.discard(scope)
        mark = f"{CHANGING}{self._parts.embedder_of(scope).identity}"
        await self._parts.ledger.set_own_model(scope, mark, clear=True)
        return True

    async def end_anew(self, scope: Scope) -> None:
        """Every vector of a user has been made."""
        await self._parts.ledger.set_own_model(scope, self.wanted(scope))

    async def _agree(self, scope: Scope, versions: Versions) -> None:
        wanted = self.wanted(scope)
        if versions.model == wanted:
            return
        if versions.model is not None and versions.model.startswith(CHANGING):
            raise EmbedderMismatch(f"the vectors of {named(scope)} were not all made anew: run {_way_out(scope)} again")
        try:
            await self._parts.ledger.set_own_model(scope, wanted)
        except Conflict as error:
            recorded = versions.model or await self._parts.ledger.embedder_identity()
            ours = self._parts.embedder_of(scope).identity
            raise EmbedderMismatch(
                f"{named(scope)} has vectors of {recorded!r}, and the embedder for them here is {ours!r}: let "
                f"embedding_models name the model they were made with, or run {_way_out(scope)} to make them anew"
            ) from error


def named(scope: Scope) -> str:
    return "the anonymous user" if scope.user is None else f"user {scope.user!r}"


def _way_out(scope: Scope) -> str:
    whose = "" if scope.user is None else f" --user {scope.user}"
    return f"`commonplace reindex --embed{whose}`"
