"""The command that runs the MCP server. Nothing but the protocol goes to stdout."""

import contextlib
from typing import Annotated

import typer

from commonplace.domain.errors import InvalidInput, Unavailable
from commonplace.domain.extras import needing
from commonplace.interfaces.cli.options import OfUser
from commonplace.interfaces.cli.output import Output


def mcp(
    call: OfUser,
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP on this machine, instead of stdio.")] = False,
    port: Annotated[int | None, typer.Option(help="The port for --http; 0 takes a free one. [default: 8765]")] = None,
    graph: Annotated[bool, typer.Option("--graph", help="The tools of the reference memory server instead.")] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse every tool that changes something.")] = False,
) -> None:
    """Serve the memory over MCP, on stdin and stdout."""
    if port is not None and not http:
        raise InvalidInput(f"--port {port}: expected together with --http")
    with needing("mcp", "mcp", Unavailable):
        from commonplace.interfaces.mcp.serving import Serving
    serving = Serving(settings=call.overrides(), user=call.user, read_only=read_only, as_graph=graph)
    if not http:
        serving.run_stdio()
        return
    output = Output(call)
    with contextlib.suppress(KeyboardInterrupt):  # a server is ended by a signal: nothing was interrupted
        serving.run_http(port=8765 if port is None else port, tell=lambda url: output.note(f"Listening on {url}"))
