"""Whether the service lives, and whether it can work; and what is wrong if it cannot."""

import asyncio
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from commonplace.domain.errors import CommonplaceError
from commonplace.interfaces.http.service import Service
from commonplace.interfaces.http.wire import described, reply

router = APIRouter(tags=["health"])

SOON = 5.0
"""Seconds for the ledger to answer. A request may wait for it longer; whoever asks this wants to know now."""
OPEN: dict[str, object] = {"security": []}
"""No key is needed."""


@dataclass(frozen=True, slots=True)
class Health:
    """`ok`, or what is wrong."""

    status: str
    checks: dict[str, str]


@router.get("/healthz", openapi_extra=OPEN, responses=described(Health, what="It lives."))
async def healthz() -> Response:
    """Say that the process answers. Needs no key."""
    return reply(Health("ok", {}))


@router.get(
    "/readyz",
    openapi_extra=OPEN,
    responses=described(Health, what="It can work.") | described(Health, status=503, what="It cannot."),
)
async def readyz(request: Request) -> Response:
    """Say whether the parts that requests need do answer. Needs no key."""
    service: Service = request.app.state.service
    checks = await _checks(service)
    if any(checks[part] != "ok" for part in ("service", "ledger")):
        return reply(Health("not ready", checks), 503)
    return reply(Health("ok" if set(checks.values()) == {"ok"} else "degraded", checks))


async def _checks(service: Service) -> dict[str, str]:
    checks = {"service": "about to end" if service.closing.is_set() else "ok"}
    try:
        async with asyncio.timeout(SOON):
            await service.keys.any_usable_key(now=service.now())
        checks["ledger"] = "ok"
    except TimeoutError:
        checks["ledger"] = f"LedgerUnavailable: no answer within {SOON:g} s"
    except CommonplaceError as error:
        checks["ledger"] = type(error).__name__
    checks["embedder"] = await service.embedder_state()
    if service.index_state is not None:
        checks["index"] = await service.index_state.state()
    if service.copies is not None:
        checks[service.copies.name] = await service.copies.state()
    return checks
