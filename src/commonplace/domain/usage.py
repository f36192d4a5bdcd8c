"""What asking a model has cost, and what became of its answers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    ungrounded: int = 0
    """Claims that were dropped because the message does not say them."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            ungrounded=self.ungrounded + other.ungrounded,
        )

    def beyond(self, other: "Usage") -> "Usage":
        """Return how much more this is, number by number, and nothing where it is less."""
        return Usage(
            requests=max(self.requests - other.requests, 0),
            input_tokens=max(self.input_tokens - other.input_tokens, 0),
            output_tokens=max(self.output_tokens - other.output_tokens, 0),
            ungrounded=max(self.ungrounded - other.ungrounded, 0),
        )


NOTHING = Usage()
