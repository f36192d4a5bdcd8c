"""The part of Anthropic's API that is served here. Its shapes are Anthropic's own, so OpenAPI does not repeat them."""

from fastapi import APIRouter, Request, Response

from commonplace.interfaces.http.access import Reader
from commonplace.interfaces.http.proxies.anthropic_wire import MESSAGES
from commonplace.interfaces.http.proxies.relay import converse, pass_on

router = APIRouter(prefix="/anthropic/v1", include_in_schema=False)


@router.post("/messages")
async def messages(request: Request, access: Reader) -> Response:
    return await converse(
        MESSAGES, request.app.state.upstream.anthropic, "/v1/messages", access=access, request=request
    )


@router.post("/messages/count_tokens")
async def count_tokens(request: Request, access: Reader) -> Response:
    """Count what the app sends; what memory adds is not in it."""
    upstream = request.app.state.upstream
    return await pass_on(upstream, upstream.anthropic, "/v1/messages/count_tokens", request=request)


@router.get("/models")
async def models(request: Request, access: Reader) -> Response:
    upstream = request.app.state.upstream
    return await pass_on(upstream, upstream.anthropic, "/v1/models", request=request)
