"""The part of OpenAI's API that is served here. Its shapes are OpenAI's own, so OpenAPI does not repeat them."""

from fastapi import APIRouter, Request, Response

from commonplace.interfaces.http.access import Reader
from commonplace.interfaces.http.proxies.embeddings import embed, is_own
from commonplace.interfaces.http.proxies.given import given_of
from commonplace.interfaces.http.proxies.openai_wire import CHAT
from commonplace.interfaces.http.proxies.relay import converse, pass_on
from commonplace.interfaces.http.proxies.responses_wire import RESPONSES
from commonplace.interfaces.http.proxies.turn import object_of
from commonplace.interfaces.http.wire import reply

router = APIRouter(prefix="/openai/v1", include_in_schema=False)


@router.post("/chat/completions")
async def chat_completions(request: Request, access: Reader) -> Response:
    return await converse(CHAT, request.app.state.upstream.openai, "/chat/completions", access=access, request=request)


@router.post("/responses")
async def responses(request: Request, access: Reader) -> Response:
    return await converse(RESPONSES, request.app.state.upstream.openai, "/responses", access=access, request=request)


@router.get("/responses/{response:segment}")
@router.delete("/responses/{response:segment}")
@router.get("/responses/{response:segment}/input_items")
@router.post("/responses/{response:segment}/cancel")
async def response(response: str, request: Request, access: Reader) -> Response:
    """Passed on, for who was given it."""
    upstream = request.app.state.upstream
    user = access.user(request.headers.get("x-commonplace-user"))
    if (given := given_of(access, upstream.openai, user)) is not None:
        await given.check(response)
    path = request.scope["path"].removeprefix("/openai/v1")
    return await pass_on(upstream, upstream.openai, path, request=request)


@router.get("/models")
async def models(request: Request, access: Reader) -> Response:
    upstream = request.app.state.upstream
    return await pass_on(upstream, upstream.openai, "/models", request=request)


@router.get("/models/{model:path}")
async def model(model: str, request: Request, access: Reader) -> Response:
    upstream = request.app.state.upstream
    return await pass_on(upstream, upstream.openai, f"/models/{model}", request=request)


@router.post("/embeddings")
async def embeddings(request: Request, access: Reader) -> Response:
    """The memory's own model under its name, or as `commonplace`; any other is the service behind's."""
    service = request.app.state.service
    asked = object_of(await request.body())
    if asked is not None and is_own(asked.get("model"), service.embedder):
        return reply(await embed(asked, service.embedder))
    return await pass_on(request.app.state.upstream, request.app.state.upstream.openai, "/embeddings", request=request)
