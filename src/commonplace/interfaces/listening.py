"""The socket that a server listens on, before anything of the server is loaded."""

import ipaddress
import socket

from commonplace.domain.errors import Unavailable


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def listen(host: str, port: int) -> socket.socket:
    """Listen. Raises Unavailable where that is not possible."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # asyncio sends small answers at once only where the protocol is named: without it they wait 40 ms.
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(1_024)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        raise Unavailable(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    return listening


def url_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
