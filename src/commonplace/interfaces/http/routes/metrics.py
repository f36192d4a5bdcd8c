"""Numbers for Prometheus. They are about all tenants, so only the service's own tenant may read them."""

from fastapi import APIRouter, Request, Response

from commonplace.interfaces.http.access import Admin, Forbidden
from commonplace.interfaces.http.observing import MEDIA_TYPE
from commonplace.interfaces.http.service import Service

router = APIRouter(tags=["health"])


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"description": "Prometheus.", "content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(access: Admin, request: Request) -> Response:
    """Return the numbers of the service. For an admin key of the service's own tenant."""
    access.everybody()
    service: Service = request.app.state.service
    if access.caller.tenant != service.settings.tenant:
        raise Forbidden("these numbers are about every tenant: only a key of the service's own tenant may read them")
    told = await service.observer.exposition(list(service.memories.values()), now=service.now())
    return Response(told, media_type=MEDIA_TYPE)
