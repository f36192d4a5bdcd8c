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


NOTHING = Usage()
