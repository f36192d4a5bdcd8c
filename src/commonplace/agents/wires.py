"""What a bare SDK is asked, and where the words are in its answers: OpenAI's and Anthropic's, blocking or not.

The client is used as it was given, with its own key, address and retries. It is told by what it has, and not imported.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from commonplace.domain.errors import InvalidInput, ModelUnavailable

Kind = Literal["openai", "anthropic"]
MOST_TOKENS = 1_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a streamed answer: some words, and whether it says that it is the last."""

    text: str = ""
    last: bool = False


@dataclass(frozen=True, slots=True)
class Wire:
    client: Any
    kind: Kind
    model: str

    @classmethod
    def of(cls, client: object, model: str) -> "Wire":
        if hasattr(client, "chat") and hasattr(client, "responses"):
            return cls(client, "openai", model)
        if hasattr(client, "messages"):
            return cls(client, "anthropic", model)
        raise InvalidInput(f"client={type(client).__name__}: expected a client of the openai or the anthropic SDK")

    def create(self, said: str, prompt: str, *, stream: bool) -> Any:
        """Return what the SDK returns: an answer or a stream of pieces, to be awaited where the client is async."""
        user = {"role": "user", "content": said}
        if self.kind == "openai":
            messages = [{"role": "system", "content": prompt}, user] if prompt else [user]
            return self.client.chat.completions.create(model=self.model, messages=messages, stream=stream)
        given: Mapping[str, Any] = {"system": prompt} if prompt else {}
        return self.client.messages.create(
            model=self.model, messages=[user], max_tokens=MOST_TOKENS, stream=stream, **given
        )

    def reply(self, answer: Any) -> str:
        """Return the words of a whole answer."""
        if self.kind == "openai":
            return answer.choices[0].message.content or ""
        return "".join(block.text for block in answer.content if block.type == "text")

    def piece(self, event: Any) -> Piece:
        if self.kind == "openai":
            choice = event.choices[0] if event.choices else None
            return Piece(choice.delta.content or "", choice.finish_reason is not None) if choice else Piece()
        if event.type == "content_block_delta" and event.delta.type == "text_delta":
            return Piece(event.delta.text)
        return Piece(last=event.type == "message_stop")

    def whole(self, pieces: list[Piece]) -> str:
        """Return the whole reply. Raises ModelUnavailable for one that broke off."""
        if not any(piece.last for piece in pieces):
            raise ModelUnavailable(f"{self.model} broke off in the middle of its answer")
        return "".join(piece.text for piece in pieces)
