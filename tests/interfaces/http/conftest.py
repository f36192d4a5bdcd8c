"""A service in this process, asked over ASGI: the whole application with its middleware, on a ledger of its own."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest
from fastapi import FastAPI
from numpy.typing import NDArray

from commonplace.domain.keys import new_key
from commonplace.interfaces.http.app import create_app
from commonplace.interfaces.http.service import Service, opened_service
from commonplace.wiring import Location

MakeKey = Callable[..., Awaitable[str]]


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Words as directions: alike texts are near each other, and no model is needed."""
    rows = np.zeros((len(texts), 64), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in text.lower().split():
            row[sum(word.encode()) % 64] += 1
        row[0] += 0.01
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


@dataclass(frozen=True, slots=True)
class Running:
    service: Service
    app: FastAPI
    client: httpx2.AsyncClient
    """Shows no key of its own."""

    async def key(self, **given: Any) -> dict[str, str]:
        """Make a key and return the header that shows it."""
        values = {"tenant": "default", "user": None, "role": "admin", "label": "", "now": datetime.now(UTC)} | given
        key, token = new_key(**values)
        await self.service.keys.add_key(key)
        return {"Authorization": f"Bearer {token}"}


@asynccontextmanager
async def running(
    place: str | Path | None = None, *, key_needed: bool = False, **settings: object
) -> AsyncIterator[Running]:
    """`place` is a folder or a URL, unless the settings name it: `**backend.at(folder)` does."""
    async with opened_service(Location.parse(place), settings, embedder=embed, key_needed=key_needed) as service:
        app = create_app(service)
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield Running(service, app, client)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Running]:
    """A service that nobody needs a key for, as it starts for who tries it."""
    async with running(tmp_path / "home") as server:
        yield server


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[Running]:
    """A service that nobody enters without a key."""
    async with running(tmp_path / "home", key_needed=True) as server:
        yield server
