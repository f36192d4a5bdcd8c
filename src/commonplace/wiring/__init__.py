"""The composition root: the only package that knows which adapters exist.

Drivers are imported here, inside the functions that need them, so that a program pays only for what it uses.
"""

from commonplace.wiring.caches import open_limits
from commonplace.wiring.embedders import Embed, describe_model, fetch_model, open_embedder
from commonplace.wiring.ledgers import open_keys
from commonplace.wiring.location import Location
from commonplace.wiring.models import open_chat_model
from commonplace.wiring.moving import moved
from commonplace.wiring.opening import opened
from commonplace.wiring.own_embedders import Embeds
from commonplace.wiring.restoring import restored
from commonplace.wiring.searching import open_guard

__all__ = [
    "Embed",
    "Embeds",
    "Location",
    "describe_model",
    "fetch_model",
    "moved",
    "open_chat_model",
    "open_embedder",
    "open_guard",
    "open_keys",
    "open_limits",
    "opened",
    "restored",
]
