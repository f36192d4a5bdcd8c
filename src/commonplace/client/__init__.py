"""A memory that is somewhere else: the methods of Memory and AsyncMemory, answered by a service over HTTP.

with Client("http://127.0.0.1:8000", key="cp_…") as memory:      # instead of Memory.open("folder")
    memory.add("I use Shram and Magnet", user="u1")
"""

from commonplace.client.asking import NotAllowed, NotOverHTTP
from commonplace.client.blocking import Client
from commonplace.client.memory import AsyncClient
from commonplace.client.session import RemoteSession

__all__ = ["AsyncClient", "Client", "NotAllowed", "NotOverHTTP", "RemoteSession"]
