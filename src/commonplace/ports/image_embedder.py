"""An embedder that also takes images, into the space of its texts: then an image is found by words."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from commonplace.ports.embedder import Vectors


@runtime_checkable
class ImageEmbedder(Protocol):
    async def embed_images(self, images: Sequence[bytes]) -> Vectors:
        """Return one row of unit length per image (PNG, JPEG, GIF or WebP), in order.

        Raises EmbedderUnavailable as `embed` does, also for an image that cannot be read.
        """
        ...
