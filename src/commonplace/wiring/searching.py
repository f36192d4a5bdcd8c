"""What helps to search: the reranker, the counter of tokens, and the guard against planted orders."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from commonplace.ports.reranker import Reranker
from commonplace.wiring.access import secret

if TYPE_CHECKING:
    from commonplace.settings import Settings


def open_reranker(settings: "Settings") -> Reranker | None:
    if settings.rerank is None:
        return None
    if settings.rerank.startswith(("http://", "https://")):
        from commonplace.adapters.rerank_api import RerankApi

        return RerankApi(settings.rerank, key=secret(settings.rerank_key), model=settings.rerank_model)
    from commonplace.adapters.onnx.cross_encoder import CrossEncoder

    return CrossEncoder(Path(settings.rerank).expanduser(), threads=settings.embed_threads)


def open_tokenizer(path: Path | None) -> Callable[[str], int]:
    """Return what counts the tokens of a text. Raises InvalidInput for a file that is no tokenizer."""
    from commonplace.recall.tokens import count_tokens

    if path is None:
        return count_tokens
    from commonplace.adapters.tokenizer import token_counter

    return token_counter(path)


def open_guard() -> Callable[[str], bool]:
    from commonplace.adapters.rules import plants_instructions

    return plants_instructions
