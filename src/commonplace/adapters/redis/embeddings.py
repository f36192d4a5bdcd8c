"""The vectors of texts, for every process: Redis before the ledger's own cache. A digest of a text is its name."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import uuid4

import numpy as np

from commonplace.adapters.redis.keys import Keys
from commonplace.adapters.redis.server import Command, Server
from commonplace.ports.ledger import EmbeddingCache, Vector

LIFE = 3_600
"""Seconds."""
TOKEN = 16
"""Bytes at the start of each value: a forget changes the token, and no vector from before it is used any more."""


class RedisEmbeddings:
    def __init__(self, ledger: EmbeddingCache, server: Server, keys: Keys) -> None:
        self._ledger, self._server, self._keys = ledger, server, keys

    async def cached_embeddings(self, identity: str, digests: Sequence[bytes]) -> Mapping[bytes, bytes]:
        if not digests:
            return {}
        token, held = await self._held(identity, digests)
        missing = [digest for digest in digests if digest not in held]
        self._server.hits += len(held)
        self._server.misses += len(missing)
        if not missing:
            return held
        found = await self._ledger.cached_embeddings(identity, missing)
        if token:
            await self._keep(identity, token, found)
        return {**held, **found}

    async def cache_embeddings(self, identity: str, vectors: Mapping[bytes, Vector], *, now: datetime) -> None:
        token, _ = await self._held(identity, [])
        await self._ledger.cache_embeddings(identity, vectors, now=now)
        if token:
            packed = {digest: np.asarray(one, np.float32).tobytes() for digest, one in vectors.items()}
            await self._keep(identity, token, packed)

    async def forget(self) -> None:
        """Use none of the vectors that are there now."""
        if await self._server.pipe(("UNLINK", self._keys.token), urgent=True) is None:
            self._server.owe(self._keys.token, seconds=LIFE)

    async def _held(self, identity: str, digests: Sequence[bytes]) -> tuple[bytes | None, dict[bytes, bytes]]:
        new = uuid4().bytes
        names = [self._name(identity, digest) for digest in digests]
        answers = await self._server.pipe(
            ("SET", self._keys.token, new, "EX", LIFE, "NX"),
            ("GET", self._keys.token),
            *([("MGET", *names)] if names else []),
        )
        if answers is None or answers[1] is None:
            return None, {}
        token: bytes = answers[1]
        values = answers[2] if names else []
        held = {
            digest: value[TOKEN:]
            for digest, value in zip(digests, values, strict=True)
            if value is not None and value[:TOKEN] == token
        }
        return token, held

    async def _keep(self, identity: str, token: bytes, vectors: Mapping[bytes, bytes]) -> None:
        commands: list[Command] = [
            ("SET", self._name(identity, digest), token + vector, "EX", LIFE) for digest, vector in vectors.items()
        ]
        if commands:
            await self._server.keep(self._keys.token, token, *commands)

    def _name(self, identity: str, digest: bytes) -> str:
        return self._keys.embeddings(identity) + digest.hex()
