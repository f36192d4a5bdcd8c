"""How the service and the MCP server listen."""

import gc
import socket

import pytest

from commonplace.domain.errors import Unavailable
from commonplace.interfaces.listening import listen


def test_small_answers_are_sent_at_once() -> None:
    with listen("127.0.0.1", 0) as listening:
        # asyncio turns TCP_NODELAY on for connections whose protocol is named, and for no others.
        assert listening.proto == socket.IPPROTO_TCP


@pytest.mark.filterwarnings("error:unclosed:ResourceWarning")
def test_a_port_that_is_taken_is_told_and_no_socket_is_left_open() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Unavailable, match=f"cannot listen on 127.0.0.1:{port}: Address already in use"):
            listen("127.0.0.1", port)
        gc.collect()  # which warns of what is still open
