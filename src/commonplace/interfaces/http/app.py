"""The application: routes, what every request passes before them, and how errors are told.

Routers of other interfaces are mounted here; they take `access.Reader` and its kin like the routes beside them.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route
from starlette.types import Lifespan

from commonplace.domain.errors import CommonplaceError, InvalidInput
from commonplace.interfaces.http.limiting import Limiter
from commonplace.interfaces.http.middleware.bounds import Bound, Bounds
from commonplace.interfaces.http.middleware.edge import Edge
from commonplace.interfaces.http.middleware.gate import Gate
from commonplace.interfaces.http.middleware.idempotency import Idempotency
from commonplace.interfaces.http.mounting import mount_mcp
from commonplace.interfaces.http.pages.routers import ROUTERS as PAGES
from commonplace.interfaces.http.problems import NotServed, WrongMethod, problem, problem_of
from commonplace.interfaces.http.proxies import anthropic, openai
from commonplace.interfaces.http.proxies.upstream import open_upstream
from commonplace.interfaces.http.routes import (
    attachments,
    blocks,
    care,
    carrying,
    chat,
    facts,
    health,
    jobs,
    keeping,
    messages,
    metrics,
    recall,
    sessions,
    snapshots,
    upkeep,
)
from commonplace.interfaces.http.service import Service
from commonplace.interfaces.http.strays import refuse_strays
from commonplace.interfaces.http.wire import COMPONENTS, REFUSALS

NATIVE = tuple(
    module.router
    for module in (
        messages,
        attachments,
        recall,
        facts,
        blocks,
        sessions,
        care,
        carrying,
        keeping,
        snapshots,
        jobs,
        upkeep,
        chat,
    )
)
OTHERS = (*(module.router for module in (health, metrics, openai, anthropic)), *PAGES)
ROUTERS = (*NATIVE, *OTHERS)


IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key with the same request is answered as before; with another request it is refused.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}


def create_app(service: Service) -> FastAPI:
    """Return the application on a service that is open, and stays open for as long as it is used."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_upstream(service.settings) as app.state.upstream, mcp.session_manager.run():
            yield

    app = _routed(_middleware(service), lifespan)
    app.state.service = service
    mcp = mount_mcp(app, service)
    _tell_errors(app)
    return app


def openapi_document() -> dict[str, Any]:
    """Return the description of the service, which is the same whatever it stands on."""
    return _routed([]).openapi()


def _routed(middleware: list[Middleware], lifespan: Lifespan[FastAPI] | None = None) -> FastAPI:
    app = FastAPI(
        title="Commonplace",
        summary="Long-term memory for LLM agents and chat apps.",
        version="1",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        middleware=middleware,
        lifespan=lifespan,
        telemetry={"tracing": False, "logs": False, "metrics": False},
        responses=REFUSALS,
    )
    for router in NATIVE:
        app.include_router(router, dependencies=[Depends(refuse_strays)])
    for router in OTHERS:
        app.include_router(router)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _middleware(service: Service) -> list[Middleware]:
    settings = service.settings
    limiter = Limiter(
        {"read": settings.api_limit_read, "write": settings.api_limit_write, "costly": settings.api_limit_costly},
        shared=service.limits,
    )
    hosts, origins = [settings.api_host], settings.api_cors_origins
    models = Bound(max_body=settings.proxy_max_body, timeout=settings.proxy_timeout)
    uploads = Bound(max_body=settings.attachment_bytes, timeout=settings.api_import_timeout)
    files = Bound(max_body=settings.api_max_import, timeout=settings.api_import_timeout)
    passing = [
        Middleware(Edge, observe=service.observer),
        Middleware(
            Bounds,
            usual=Bound(max_body=settings.api_max_body, timeout=settings.api_timeout),
            by_prefix={"/openai/": models, "/anthropic/": models, "/v1/import": files, "/v1/attachments": uploads},
        ),
        Middleware(Gate, service=service, limiter=limiter, hosts=hosts, origins=origins),
        Middleware(Idempotency, service=service, lease=settings.api_timeout),
    ]
    if origins:
        cors = Middleware(CORSMiddleware, allow_origins=origins, allow_methods=["*"], allow_headers=["*"])
        passing.insert(1, cors)
    return passing


def _tell_errors(app: FastAPI) -> None:
    async def ours(request: Request, error: Exception) -> Response:
        request.scope["state"]["problem"] = type(error).__name__
        return problem_of(error, request_id=request.state.request_id)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        request.scope["state"]["problem"] = "InvalidInput"
        errors = [{"where": ".".join(map(str, one["loc"])), "message": str(one["msg"])} for one in error.errors()]
        detail = "; ".join(f"{one['where']}: {one['message']}" for one in errors[:5])
        return problem(422, "InvalidInput", detail, request_id=request.state.request_id, errors=errors)

    async def by_status(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        told, headers = _told(request, error)
        return problem_of(told, request_id=request.state.request_id, headers=headers)

    handlers: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
        CommonplaceError: ours,
        RequestValidationError: invalid,
        HTTPException: by_status,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def _told(request: Request, error: HTTPException) -> tuple[Exception, dict[str, str]]:
    if error.status_code == 405:
        allowed = ", ".join(_methods(request))
        return WrongMethod(f"{request.method}: expected {allowed}"), {"Allow": allowed}
    if error.status_code == 404:
        return NotServed("there is nothing at this path: /openapi.json lists what there is"), {}
    return InvalidInput(f"the request could not be read: {error.detail}"), {}


def _methods(request: Request) -> list[str]:
    """Return every method that a path is for: one path may have several routes."""
    path = request.scope["path"]
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, Route | APIRoute)]
    return sorted({method for route in routes if route.path_regex.match(path) for method in route.methods or ()})


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
        components = made.setdefault("components", {})
        components["schemas"] = {**components.get("schemas", {}), **COMPONENTS}
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "bearerFormat": "cp_…"}}
        made["security"] = [{"key": []}]
        for operations in made["paths"].values():
            if "post" in operations:
                operations["post"].setdefault("parameters", []).append(IDEMPOTENCY_KEY)
        app.openapi_schema = made
    return app.openapi_schema
