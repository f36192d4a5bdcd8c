"""The MCP server at `/mcp`, behind the same keys: each request is its key's, whatever connection it comes on."""

from typing import Any

from fastapi import FastAPI
from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request

from commonplace.domain.scope import Scope
from commonplace.interfaces.http.access import caller_of, note_whose
from commonplace.interfaces.http.service import Service
from commonplace.interfaces.mcp.caller import Caller
from commonplace.interfaces.mcp.server import build_server


def mount_mcp(app: FastAPI, service: Service) -> MCPServer:
    """Add the route. The server's session manager has to run for as long as the application does."""

    async def find(context: ServerRequestContext[Any, Any]) -> Caller:
        request = context.request
        assert isinstance(request, Request)  # this transport gives each request its own
        caller = caller_of(request)
        return Caller(
            memory=await service.memory(caller.tenant),
            user=caller.user,
            fixed=caller.user is not None,
            may_write=caller.may("write"),
            about=lambda user: note_whose(request.scope["state"], Scope(caller.tenant, user)),
        )

    server = build_server(find, of_any_user=True)
    inner = server.streamable_http_app(
        streamable_http_path="/mcp",
        stateless_http=True,  # any process can answer any request
        max_request_body_size=service.settings.api_max_body,
        # The gate has looked at Host and Origin already, and knows which are ours.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    app.router.routes.extend(inner.routes)
    return server
