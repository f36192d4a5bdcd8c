"""How the service listens."""

import socket

from commonplace.interfaces.http.listening import listen


def test_small_answers_are_sent_at_once() -> None:
    with listen("127.0.0.1", 0) as listening:
        # asyncio turns TCP_NODELAY on for connections whose protocol is named, and for no others.
        assert listening.proto == socket.IPPROTO_TCP
