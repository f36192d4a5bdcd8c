"""Tokens as a language model counts them: by its own `tokenizer.json`, in the form of the tokenizers library."""

from collections.abc import Callable
from pathlib import Path

from tokenizers import Tokenizer

from commonplace.domain.errors import InvalidInput


def token_counter(path: Path) -> Callable[[str], int]:
    """Return what counts the tokens of a text, without marks of its beginning and end. Raises InvalidInput."""
    try:
        tokenizer = Tokenizer.from_buffer(path.read_bytes())
    except Exception as error:
        # The library raises bare Exception for what it cannot read.
        raise InvalidInput(f"tokenizer={str(path)!r}: expected a model's tokenizer.json: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        readable = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return len(tokenizer.encode(readable, add_special_tokens=False).ids)

    return count
